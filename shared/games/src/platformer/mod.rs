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

use glam::Vec2;

use crate::records::{owned, runs};
use crate::rounds::{self, Phase, Round, round};
use phaselock::game::{
    Ahead, Best, Coding, Entities, Game, Inputs, Kit, Known, Late, Measure, Relevance, Slot, Unit,
    Viewpoint, World,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::choice::Choice;
use phaselock::time::{Micros, Rates, Tick};

pub use bot::Bot;
pub use entities::{Command, Piece, Player, Score};
use level::Level;
use movement::{movement, snap};
use race::{LAST_SECS, LENGTHS, Standings, race_at, ran_since_start};

/// How far a player sees other players, in metres: a screen and a half.
pub const REACH: f32 = 36.0;

/// The rules and the level.
#[derive(Debug)]
pub struct Platformer {
    /// The level.
    pub level: &'static Level,
    rates: Rates,
}

impl Platformer {
    /// Runs a player's steps in a tick of the world. Ticks whose inputs never came run without
    /// pressed keys, so a player cannot hang in the air by sending nothing.
    #[expect(clippy::too_many_arguments, reason = "a run depends on all of these")]
    fn run(
        &self,
        now: Tick,
        round: &Round,
        player: &mut Player,
        owner: PlayerId,
        inputs: &Inputs<Command>,
    ) {
        let mut own = now.minus(1 + u64::from(player.age));
        let mut run = |own: &mut Tick, command: &Command| {
            *own = own.plus(1);
            let race = race_at(round, self.rates, *own, now);
            movement(self.level, self.rates, race, *own, player, command);
            // As after each tick: replayed states are on the grid, too.
            snap(player);
        };
        for step in inputs.steps(owner) {
            let at = now.minus(step.age);
            while own.plus(1) < at {
                run(&mut own, &Command::default());
            }
            if own < at {
                run(&mut own, &step.input);
            }
        }
        while own < now.minus(inputs.age(owner)) {
            run(&mut own, &Command::default());
        }
    }

    /// Implements [`Coding::extrapolate`]: the keys of `base` run first, then those of `steering`
    /// for as long as they have been held. Exact if the keys changed at most once, unless the
    /// player's own time waited or another race began.
    fn extrapolate(&self, known: Known<'_, Piece>) -> Option<Piece> {
        let Known { base, steering, ticks } = known;
        let (Piece::Player(base), Piece::Player(steering)) = (base, steering) else {
            return Some(*base);
        };
        let mut player = *base;
        let begin = level::tick_of(self.rates, base.clock);
        for tick in 1..=ticks {
            let keys = runs(base, steering, steering.held, tick, ticks).keys();
            movement(self.level, self.rates, base.race, begin.plus(tick), &mut player, &keys);
            snap(&mut player);
        }
        Some(player.into())
    }

    fn advance_round(&self, world: &mut World<Self>) {
        let World { tick, entities, memory: standings, .. } = world;
        let players = entities.records::<Player>().count();
        let decided = standings.all_arrived();
        let Some((_, _, round)) = entities.records_mut::<Round>().next() else { return };
        let begins = round.advance(*tick, self.rates, LENGTHS, players, decided);
        // When a race begins, `standings` are still those of the last one.
        if round.phase() == Phase::Play && begins.is_none() && standings.arrived() >= 3 {
            let left = movement::ticks(self.rates, LAST_SECS);
            if round.ticks_left(*tick) > left {
                round.until = tick.plus(left);
            }
        }
        match begins {
            Some(Phase::Play) => {
                standings.began = *tick;
                for (_, _, score) in entities.records_mut::<Score>() {
                    *score = Score { wins: score.wins, ..Score::default() };
                }
            }
            Some(Phase::Results) => {
                race::crown(entities);
                rounds::report(world);
            }
            _ => {}
        }
    }
}

/// Returns the entity of a player.
pub fn player_of(entities: &Entities<Piece>, player: PlayerId) -> Option<&Player> {
    owned(entities, player).map(|(_, player)| player)
}

impl Game for Platformer {
    const NAME: &'static str = "platformer";
    const RULES_VERSION: u32 = 1;
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
        // Within a tenth of the best method of the past, and the only one that sinks no feet into
        // the floor where a landing lies between two states (`tests/it/platformer.rs`).
        presentation: |_| Choice::Linear,
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
        let round = round(&world.entities);
        let newcomer = Player {
            race: race_at(&round, self.rates, world.tick, world.tick),
            ran: ran_since_start(&round, world.memory.began, self.rates, world.tick),
            clock: level::clock_at(self.rates, world.tick, 0.0),
            pressed: Command::default().to_pressed(),
            ..Player::default()
        };
        let player_id = world.spawn(Some(player), movement::at_start(self.level, &newcomer).into());
        if player_id.is_some() {
            world.spawn(Some(player), Score::default().into());
        }
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.advance_round(world);
        let World { tick, entities, memory: standings, .. } = world;
        let round = round(entities);
        for (_, owner, player) in entities.records_mut::<Player>() {
            if let Some(owner) = owner {
                self.run(*tick, &round, player, owner, inputs);
            }
        }
        standings.look(self.level, &round, entities);
        standings.write_scores(self.rates, entities, round.phase() == Phase::Play);
    }

    fn predict(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        ahead: Ahead<'_>,
    ) {
        let round = entities.records::<Round>().next().map(|slot| slot.entity);
        let Some(player) = entities.record_mut::<Player>(own) else { return };
        let known = ahead.tick.minus(ahead.ticks);
        let race =
            round.map_or(player.race, |round| race_at(&round, self.rates, ahead.tick, known));
        movement(self.level, self.rates, race, ahead.tick, player, command);
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
