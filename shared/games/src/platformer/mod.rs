//! Platformer: a race through a level with gravity, jumps, boards and moving platforms, for coins
//! and places.
//!
//! Late inputs are waited for: each player lives in its own time, which also moves its platforms.
//! Players pass through each other, and each has its own coins. So players are never in each
//! other's way, and never corrected.

mod bot;
mod collide;
pub mod entities;
pub mod level;
pub mod movement;
pub mod race;
mod route;
mod rules;

use glam::Vec2;

use crate::records::owned;
use crate::rounds::{self, Round};
use phaselock::game::{
    Ahead, Best, Coding, Entities, Game, Inputs, Kit, Late, Measure, Relevance, Runs, Slot,
    Subticks, Unit, Viewpoint, World,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::choice::Choice;
use phaselock::time::{Micros, Rates};

pub use bot::Bot;
pub use collide::{HALF_WIDTH, HEIGHT};
pub use entities::{Command, Piece, Player, Score, player_of};
use level::Level;
use race::Standings;
pub use rules::Platformer;

/// How far a player sees other players, in metres: a screen and a half.
pub const REACH: f32 = 36.0;

impl Game for Platformer {
    const NAME: &'static str = "platformer";
    const RULES_VERSION: u32 = 2;
    const SUBTICKS: Subticks = Subticks::Changes;
    const LATE: Late = Late::Wait;
    const KIT: Kit<Self> = Kit {
        bot: Some(|| Box::<Bot>::default()),
        // All players see everything.
        watch_delay: Micros::ZERO,
        rounds_played: rounds::played,
        clock: rounds::clock,
        set_ticks_left: rounds::set_ticks_left,
        measures: &[
            Measure {
                name: "time",
                best: Best::Least,
                unit: Unit::Seconds,
                of: |entities, player| rounds::secs(owned::<Score, _>(entities, player)?.1.time),
            },
            Measure {
                name: "points",
                best: Best::Most,
                unit: Unit::Count,
                of: |entities, player| Some(owned::<Score, _>(entities, player)?.1.points.into()),
            },
        ],
        runs: Some(Runs { measure: "time", stage: Self::stage, map: |game| game.level.hash() }),
        // The best method of the past. Where a landing lies between two states, it sinks feet into
        // the floor in one of a thousand pictures (`tests/it/platformer.rs`).
        presentation: |_| Choice::Hermite,
        early: |piece, command| {
            let Piece::Player(player) = piece else { return None };
            let pressed = command.to_pressed();
            let part = if pressed == player.pressed { player.part } else { 0 };
            Some(Player { pressed, part, ..*player }.into())
        },
        coding: Coding { extrapolate: Self::extrapolate, goes_on: |_| true, ..Coding::GENERAL },
        ..Kit::NONE
    };
    type Input = Command;
    type Entity = Piece;
    type Memory = Standings;

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { level: Level::the(), rates }
    }

    fn populate(&self, world: &mut World<Self>) {
        world.spawn(None, Round::new(world.tick).into());
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let newcomer = self.newcomer(world);
        if world.spawn(Some(player), newcomer.into()).is_some() {
            world.spawn(Some(player), Score::default().into());
        }
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.advance(world, inputs);
    }

    fn predict(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        ahead: Ahead<'_>,
    ) {
        self.ahead(entities, own, command, ahead);
    }

    fn position(&self, entity: &Piece) -> Option<Vec2> {
        match entity {
            Piece::Player(player) => Some(player.feet()),
            _ => None,
        }
    }

    fn viewpoint(&self, entities: &Entities<Piece>, player: PlayerId) -> Option<Viewpoint> {
        let position = player_of(entities, player)?.feet();
        Some(Viewpoint { position, range: REACH })
    }

    fn relevance(
        &self,
        entities: &Entities<Piece>,
        player: PlayerId,
        other: &Slot<Piece>,
    ) -> Relevance {
        match &other.entity {
            // All clients must know when the next race begins.
            Piece::Round(_) => Relevance::Matters(16),
            Piece::Score(_) => Relevance::Matters(1),
            Piece::Player(other) => {
                let near = player_of(entities, player).is_some_and(|player| {
                    player.feet().distance_squared(other.feet()) < 14.0 * 14.0
                });
                Relevance::Matters(if near { 8 } else { 3 })
            }
        }
    }

    fn avatar(entities: &Entities<Piece>, player: PlayerId) -> Option<EntityId> {
        owned::<Player, _>(entities, player).map(|(id, _)| id)
    }

    fn repeat(_last: &Command, _missed: u64) -> Command {
        // For inputs that come too late to be waited for, and those that a stalled client skips.
        Command::default()
    }
}

#[cfg(test)]
mod tests;
