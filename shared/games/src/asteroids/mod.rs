//! Asteroids: ships that thrust, turn and fire in a field without edges, among rocks that split.
//!
//! A client predicts everything that its player sees nearby up to the player's own time
//! ([`Game::co_predicts`]): rocks and bullets keep their courses exactly, and other ships are
//! assumed to hold their last keys. So what looks like a hit also hits on the server, whatever the
//! round trip, and nothing is rewound. `tests/it/asteroids.rs` checks that at 20, 100 and 200 ms.

mod bot;
pub mod entities;
pub mod field;
pub mod flight;
pub mod rocks;
mod rules;
mod strikes;

use glam::Vec2;

use crate::records::owned;
use crate::rounds::{self, Round};
use phaselock::fields::Holds;
use phaselock::game::{
    Ahead, Best, Coding, Entities, Game, Inputs, Kit, Late, Measure, Misprediction,
    MispredictionCause, Relevance, Slot, Unit, Viewpoint, World,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::SendRule;
use phaselock::motion::choice::Choice;
use phaselock::rewind::{Favour, Rewind};
use phaselock::time::{Micros, Rates};

pub use bot::Bot;
pub use entities::{Bullet, Command, Piece, Rock, Score, Ship, ship_of};
use field::{FIELD, SIZE};
pub use rules::{
    Asteroids, HULL, LENGTHS, Memory, POINTS_MAX, RESPAWN_SECS, SHIELD_SECS, SHIP_WORTH,
};

/// How far a player sees, in metres: a screen to its corners, and the radar around it. Less than
/// half of the field, so that nothing is seen twice.
pub const REACH: f32 = 52.0;
/// Range of co-prediction in metres: a screen to its corners.
const CO_PREDICTION_REACH: f32 = 42.0;

impl Game for Asteroids {
    const NAME: &'static str = "asteroids";
    const RULES_VERSION: u32 = 1;
    // Waiting for late inputs would show their player in the past, while everything else here is in
    // the present. Repeating costs one correction in half a minute at 150 ms and 5 % loss, which
    // `a_round_is_played_to_its_end_over_a_bad_link_and_all_agree` checks.
    const LATE: Late = Late::Repeat;
    // Everything is shown in the present.
    const REWIND: Rewind = Rewind { most: Micros::ZERO, favour: Favour::Shooter };
    const KIT: Kit<Self> = Kit {
        bot: Some(|| Box::<Bot>::default()),
        rounds_played: rounds::played,
        clock: rounds::clock,
        set_ticks_left: rounds::set_ticks_left,
        measures: &[Measure {
            name: "points",
            best: Best::Most,
            unit: Unit::Count,
            of: |entities, player| Some(owned::<Score, _>(entities, player)?.1.points.into()),
        }],
        // Entities beyond the screen are shown in the present like the rest, so that they come into
        // range without a jump. The rules run rocks and bullets exactly; see the test
        // `an_undisturbed_rock_costs_next_to_nothing_and_is_where_it_is`.
        presentation: |_| Choice::RunForward,
        // Entities that the rules run exactly are sent only when something else moves them: an
        // equal picture for fewer bytes, according to the snapshot bench (`--scene senders`). No
        // rule saves bytes for ships.
        sending: |kind| {
            let is_exact = kind.is::<Rock>() || kind.is::<Bullet>();
            if is_exact { SendRule::Predictable } else { SendRule::Every }
        },
        // The trigger stays unknown until its tick.
        early: |piece, command| {
            let Piece::Ship(ship) = piece else { return None };
            Some(Ship { turn: command.turn, thrust: command.thrust, ..*ship }.into())
        },
        coding: Coding { extrapolate: Self::extrapolate, goes_on: |_| true, ..Coding::GENERAL },
        ..Kit::NONE
    };
    type Input = Command;
    type Entity = Piece;
    type Memory = Memory;

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { rates }
    }

    fn populate(&self, world: &mut World<Self>) {
        world.spawn(None, Round::new(world.tick).into());
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        self.enter(world, player);
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

    fn co_predicts(&self, entities: &Entities<Piece>, own: EntityId, other: &Slot<Piece>) -> bool {
        let here = entities.get(own).and_then(|slot| slot.entity.position());
        let there = other.entity.position();
        here.zip(there).is_some_and(|((here, a), (there, b))| {
            here == there && FIELD.distance(a, b) < CO_PREDICTION_REACH
        })
    }

    fn predicted_spawn(entity: &Piece) -> Option<u16> {
        let bullet: &Bullet = entity.record()?;
        Some(u16::from(bullet.shot))
    }

    fn misprediction_cause(&self, missed: &Misprediction<'_, Piece>) -> Option<MispredictionCause> {
        let (Piece::Ship(predicted), Piece::Ship(truth)) = (missed.predicted, missed.truth) else {
            return None;
        };
        match (predicted.is_alive(), truth.is_alive()) {
            // Rocks are predicted, unless they have just appeared.
            (true, false) => Some(MispredictionCause::Shot),
            // Another player shot the rock that was in the way.
            (false, true) => Some(MispredictionCause::Prop),
            _ if truth.hull < predicted.hull => Some(MispredictionCause::Shot),
            _ => None,
        }
    }

    fn repeat(last: &Command, missed: u64) -> Command {
        // Keys are held for 0.1 s to aim and to fire, and for 0.25 s to thrust, at 60 Hz.
        // Arbitrary.
        Command {
            turn: if missed <= 6 { last.turn } else { 0 },
            thrust: last.thrust && missed <= 15,
            fire: last.fire && missed <= 6,
        }
    }

    fn position(&self, entity: &Piece) -> Option<Vec2> {
        entity.position().map(|(_, position)| position)
    }

    fn wraps(&self) -> Option<Vec2> {
        Some(Vec2::splat(SIZE))
    }

    fn viewpoint(&self, entities: &Entities<Piece>, player: PlayerId) -> Option<Viewpoint> {
        let position = ship_of(entities, player)?.entity.position();
        Some(Viewpoint { position, range: REACH })
    }

    fn relevance(
        &self,
        entities: &Entities<Piece>,
        player: PlayerId,
        other: &Slot<Piece>,
    ) -> Relevance {
        let Some((sector, _)) = other.entity.position() else { return Relevance::Matters(2) };
        if ship_of(entities, player).is_none_or(|own| own.entity.sector != sector) {
            return Relevance::Secret;
        }
        // Entities that are rarely sent continue as extrapolated, which is exact for a rock.
        Relevance::Matters(match other.entity {
            Piece::Ship(_) => 8,
            Piece::Bullet(_) => 4,
            _ => 2,
        })
    }

    /// All sectors.
    fn relevance_to_watchers(&self, _: &Entities<Piece>, other: &Slot<Piece>) -> Relevance {
        Relevance::Matters(if matches!(other.entity, Piece::Ship(_)) { 8 } else { 2 })
    }

    fn avatar(entities: &Entities<Piece>, player: PlayerId) -> Option<EntityId> {
        ship_of(entities, player).map(|slot| slot.id)
    }
}

#[cfg(test)]
mod tests;
