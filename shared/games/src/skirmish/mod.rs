//! Skirmish: a top-down arena shooter. Players have momentum, aim with the mouse, and carry a
//! hitscan rifle, rockets, grenades and mines. There are crates to push and barrels to blow up.
//!
//! Lag compensation judges a rifle's shots where the shooter saw the targets. Shells are judged and
//! shown in the present, so that they can be dodged.

pub mod arena;
mod blast;
mod bodies;
mod bot;
mod entities;
pub mod flight;
mod messages;
pub mod movement;
mod pickups;
pub mod props;
mod rules;
mod scratch;
mod shadow;
mod shots;
mod turn;
pub mod visibility;
mod weapons;

use std::sync::LazyLock;

use glam::Vec2;

use crate::records::owned;
use crate::rounds::{self, Round};
use phaselock::game::{
    Ahead, Best, Coding, Entities, Game, Inputs, Kit, Known, Measure, Misprediction,
    MispredictionCause, Relevance, Slot, Subticks, Unit, Viewpoint, World,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::SendRule;
use phaselock::motion::choice::Choice;
use phaselock::time::Rates;
use phaselock::wire::model::Tables;

pub use blast::BLAST_REACH;
pub use bodies::BodyShape;
pub use bot::Bot;
use entities::avatar_of;
pub use entities::{
    Command, Goods, Mine, Pickup, Piece, Player, Prop, Score, Shell, player, players, scores,
};
pub use messages::SkirmishEvent;
use movement::extrapolate;
use rules::CO_PREDICTION_REACH;
pub use rules::{FRAGS, HEALTH, LENGTHS, RANGE, RESPAWN_SECS, Skirmish};
pub use scratch::Scratch;
pub use shots::{BARREL_WEAR, ray_to_prop};
pub use turn::{ARMING_SECS, MINES_MAX};
use visibility::{PlayerView, REACH};
pub use weapons::{Means, Weapon};

/// Range of co-predicted props that the player has just thrown, in metres.
const THROWN_REACH: f32 = 12.0;

impl Skirmish {
    /// Implements [`Coding::extrapolate`].
    pub fn extrapolate(&self, known: Known<'_, Piece>) -> Option<Piece> {
        let Known { base, steering, ticks } = known;
        let (arena, rates) = (&self.arena, self.rates);
        Some(match (base, steering) {
            (Piece::Player(base), Piece::Player(steering)) => {
                extrapolate(arena, rates, base, steering, ticks).into()
            }
            (Piece::Shell(base), _) => flight::extrapolate(arena, rates, base, ticks).into(),
            (Piece::Prop(base), _) => props::extrapolate(arena, rates, base, ticks).into(),
            _ => *base,
        })
    }

    /// Returns the game's own frozen tables.
    pub fn tables() -> &'static Tables {
        static TABLES: LazyLock<Tables> =
            LazyLock::new(|| Tables::included(include_bytes!("skirmish.tables")));
        &TABLES
    }
}

impl Game for Skirmish {
    const NAME: &'static str = "skirmish";
    const RULES_VERSION: u32 = 3;
    const SUBTICKS: Subticks = Subticks::Actions;
    const KIT: Kit<Self> = Kit {
        bot: Some(|| Box::<Bot>::default()),
        rounds_played: rounds::played,
        clock: rounds::clock,
        set_ticks_left: rounds::set_ticks_left,
        measures: &[Measure {
            name: "frags",
            best: Best::Most,
            unit: Unit::Count,
            of: |entities, player| Some(owned::<Score, _>(entities, player)?.1.frags.into()),
        }],
        // Shells move as extrapolated, so they are shown in the present (`tests/it/skirmish.rs` has
        // the figures). Targets are shown in the past, with lag compensation; of such methods the
        // presentation bench finds none clearly better (`tests/it/presentation.rs` checks that).
        // Props are shown at the time of the players who push them.
        presentation: |kind| {
            if kind.is::<Shell>() { Choice::RunForward } else { Choice::Hermite }
        },
        // Entities that no player steers move as extrapolated, or stand still. Sending them only
        // when they do not shows an equal picture for fewer bytes, according to the snapshot bench
        // (`--scene senders`). No rule saves bytes for players.
        sending: |kind| {
            let is_thrown = kind.is::<Shell>() || kind.is::<Mine>();
            let is_exact = is_thrown || kind.is::<Prop>() || kind.is::<Pickup>();
            if is_exact { SendRule::Predictable } else { SendRule::Every }
        },
        // Others may know where a player runs, but not that it shoots.
        early: |piece, command| {
            let Piece::Player(player) = piece else { return None };
            Some(Player { right: command.right, down: command.down, ..*player }.into())
        },
        coding: Coding { extrapolate: Self::extrapolate, goes_on: |_| true, tables: Self::tables },
        ..Kit::NONE
    };
    type Input = Command;
    type Entity = Piece;
    type Memory = Scratch;

    fn new(rates: Rates, _seed: u64) -> Self {
        Self::at(rates)
    }

    fn populate(&self, world: &mut World<Self>) {
        // Before play begins, since it takes longer than a tick.
        self.between();
        world.spawn(None, Round::new(world.tick).into());
        for n in 0..self.arena.props.len() {
            world.spawn(None, self.prop(n, 0).into());
        }
        for (goods, at) in &self.arena.goods {
            let sort = *goods as u8;
            world.spawn(None, Pickup { sort, x: at.x, y: at.y, ..Pickup::default() }.into());
        }
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let newcomer = self.newcomer(&world.entities, &mut world.random);
        world.spawn(Some(player), Piece::Player(newcomer));
        world.spawn(Some(player), Piece::Score(Score::default()));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.keep_round(world);
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

    fn co_predicts(&self, entities: &Entities<Piece>, own: EntityId, other: &Slot<Piece>) -> bool {
        let Some(Slot { owner: Some(owner), entity: Piece::Player(player), .. }) =
            entities.get(own)
        else {
            return false;
        };
        match &other.entity {
            // Other players' shells run forward to the present.
            Piece::Shell(_) => other.owner == Some(*owner),
            Piece::Prop(prop) if !prop.gone => {
                let far = prop.position().distance(player.position());
                let own = prop.last_by() == Some(*owner);
                let thrown = own && !prop.held && prop.velocity() != Vec2::ZERO;
                match prop.held {
                    true => own,
                    false => far < CO_PREDICTION_REACH || (thrown && far < THROWN_REACH),
                }
            }
            _ => false,
        }
    }

    fn predicted_spawn(piece: &Piece) -> Option<u16> {
        turn::predicted_spawn(piece)
    }

    fn needs_view(command: &Command) -> bool {
        command.fire
    }

    fn begins_action(before: &Command, now: &Command) -> bool {
        now.fire && !before.fire
    }

    fn misprediction_cause(&self, missed: &Misprediction<'_, Piece>) -> Option<MispredictionCause> {
        let (Piece::Player(predicted), Piece::Player(truth)) = (missed.predicted, missed.truth)
        else {
            return None;
        };
        if truth.health == 0 && predicted.health > 0 {
            return Some(MispredictionCause::Shot);
        }
        let entities = missed.entities;
        let moved = (truth.x, truth.y, truth.vx, truth.vy)
            != (predicted.x, predicted.y, predicted.vx, predicted.vy);
        let near = |position: Vec2, reach: f32| position.distance(truth.position()) < reach;
        // Thrown by a burst that is still there.
        let blown = |piece: &Piece| match piece {
            Piece::Shell(shell) => shell.burst > 0 && near(shell.position(), BLAST_REACH + 1.0),
            Piece::Mine(mine) => mine.burst > 0 && near(mine.position(), BLAST_REACH + 1.0),
            _ => false,
        };
        // A barrel leaves nothing but its position, and nothing else gives such a push.
        let pushed = Vec2::new(truth.vx - predicted.vx, truth.vy - predicted.vy).length() > 1.5;
        let burst =
            |prop: &Prop| prop.barrel && prop.gone && near(prop.position(), BLAST_REACH + 1.0);
        let barrel = || entities.records::<Prop>().any(|slot| burst(&slot.entity));
        let hurt = truth.health < predicted.health || (pushed && barrel());
        if moved && (hurt || entities.iter().any(|slot| blown(&slot.entity))) {
            return Some(MispredictionCause::Shot);
        }
        if !moved && truth.hands == predicted.hands {
            return None;
        }
        // Those that have been in reach since the last known state.
        let reached = |slot: &Slot<Prop>| {
            let secs = (missed.ticks + (missed.age)(slot.id)) as f32 * self.rates.step_secs();
            let moved = slot.entity.velocity().distance(truth.velocity()) * secs;
            near(slot.entity.position(), 1.6 + moved)
        };
        let props = || {
            let there = entities.records::<Prop>().filter(|slot| !slot.entity.gone);
            there.filter(reached).map(|slot| slot.entity)
        };
        // In another player's hands, or pushed by one.
        let others = |prop: &Prop| {
            players(entities).any(|slot| {
                let beside = slot.entity.position().distance(prop.position()) < 1.3;
                slot.entity.health > 0 && beside && !near(slot.entity.position(), 0.5)
            })
        };
        // A prop that approaches. One that the player pushes itself explains nothing.
        let comes = |prop: &Prop| {
            let to = truth.position() - prop.position();
            (prop.velocity() - truth.velocity()).dot(to) > 0.5 && prop.velocity().dot(to) > 0.0
        };
        if props().any(|prop| others(&prop)) {
            Some(MispredictionCause::Player)
        } else if props().any(|prop| comes(&prop)) {
            Some(MispredictionCause::Prop)
        } else {
            None
        }
    }

    fn position(&self, entity: &Piece) -> Option<Vec2> {
        entity.position()
    }

    fn viewpoint(&self, entities: &Entities<Piece>, player: PlayerId) -> Option<Viewpoint> {
        let position = avatar_of(entities, player)?.position();
        Some(Viewpoint { position, range: REACH })
    }

    fn relevance(
        &self,
        entities: &Entities<Piece>,
        player: PlayerId,
        other: &Slot<Piece>,
    ) -> Relevance {
        self.relevance_to(entities, player)(other)
    }

    fn relevance_to<'a>(
        &'a self,
        entities: &'a Entities<Piece>,
        player: PlayerId,
    ) -> impl Fn(&Slot<Piece>) -> Relevance + 'a {
        let viewer = avatar_of(entities, player);
        let view = viewer.map(|viewer| PlayerView::new(&self.arena.walls, self.between(), viewer));
        move |other| match (&other.entity, &view) {
            // They concern all players, and are sent when there is space.
            (Piece::Score(_) | Piece::Round(_), _) => Relevance::Matters(1),
            (_, None) => Relevance::Secret,
            (Piece::Player(other), Some(view)) => view.of_player(other),
            (thing, Some(view)) => view.of_thing(thing),
        }
    }

    /// Everything; the delay hides it from players.
    fn relevance_to_watchers(&self, _: &Entities<Piece>, _: &Slot<Piece>) -> Relevance {
        Relevance::Matters(1)
    }

    fn avatar(entities: &Entities<Piece>, player: PlayerId) -> Option<EntityId> {
        owned::<Player, _>(entities, player).map(|(id, _)| id)
    }

    fn repeat(last: &Command, missed: u64) -> Command {
        // Keys are held for 0.1 s to fire, and for 0.25 s to run, at 60 Hz. Arbitrary.
        Command {
            right: if missed <= 15 { last.right } else { 0 },
            down: if missed <= 15 { last.down } else { 0 },
            aim: last.aim,
            fire: last.fire && missed <= 6,
            // Letting go would throw.
            grab: last.grab,
            weapon: 0,
        }
    }
}

#[cfg(test)]
mod tests;
