//! Shuffle Puck: air hockey, one to three players per side, on as many rinks as needed.
//!
//! Positions are relative to the centre of the player's rink; [`Game::position`] puts the rinks
//! side by side. [`motion::slide`] moves the puck among mallets, on both sides: a client predicts
//! its own mallet and, when the mallet might reach it soon, the puck with it.

mod bot;
mod entities;
pub mod motion;
pub mod rink;
mod rules;
pub mod seats;
mod sides;

use glam::Vec2;

use crate::records::{owned, remove_where};
use crate::rounds::{self, Round};
use phaselock::game::{
    Ahead, Best, Coding, Entities, Game, Inputs, Kit, Late, Measure, Misprediction,
    MispredictionCause, Relevance, Sides, Slot, Unit, Viewpoint, World,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::choice::Choice;
use phaselock::time::{Micros, Rates};

pub use bot::Bot;
pub use entities::{Board, Command, Mallet, Piece, Puck, Score, mallet_of};
use motion::TOUCH;
pub use rules::{GOALS_TO_WIN, LENGTHS, Memory, ShufflePuck};

/// How far a player sees, in metres: its rink with both goals.
const REACH: f32 = 16.0;

impl Game for ShufflePuck {
    const NAME: &'static str = "puck";
    const RULES_VERSION: u32 = 1;
    const SEATS_MAX: u16 = seats::SEATS_MAX;
    // A mallet whose input is late continues to its last target, which is seldom far from the next
    // one (`tests/it/puck.rs` counts the corrections). The puck, which all share, cannot wait.
    const LATE: Late = Late::Repeat;
    const KIT: Kit<Self> = Kit {
        bot: Some(|| Box::<Bot>::default()),
        // All players see everything.
        watch_delay: Micros::ZERO,
        rounds_played: rounds::played,
        clock: rounds::clock,
        set_ticks_left: rounds::set_ticks_left,
        sides: Sides { count: 2, of: seats::place_of, put: Self::put },
        measures: &[Measure {
            name: "goals",
            best: Best::Most,
            unit: Unit::Count,
            of: |entities, player| Some(owned::<Score, _>(entities, player)?.1.goals.into()),
        }],
        // The present, so that other players' strikes and the puck are shown at the same time.
        // `tests/it/puck.rs` compares: with the adaptive method, the puck is nearest to its true
        // position and jumps less than with the rules; mallets are calmer with the rules.
        presentation: |kind| {
            if kind.is::<Puck>() { Choice::Adaptive } else { Choice::RunForward }
        },
        early: |piece, command| {
            let Piece::Mallet(mallet) = piece else { return None };
            Some(Mallet { goal_x: command.x, goal_y: command.y, ..*mallet }.into())
        },
        coding: Coding { extrapolate: Self::extrapolate, goes_on: |_| true, ..Coding::GENERAL },
        highlight: Some(Self::highlight),
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
        seats::open(self.rates, world, 0);
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let Some(seat) = seats::free_seat(&world.entities) else { return };
        if !seats::open(self.rates, world, seat.rink) {
            return;
        }
        let seat = self.before_bots(world, player, seat);
        let mut mallet = Mallet::default();
        seats::put(&mut mallet, seat);
        if let Some(puck) = Self::puck_of(&world.entities, seat.rink) {
            seats::keep_clear(&mut mallet, puck.entity.position());
        }
        let Some(id) = world.spawn(Some(player), mallet.into()) else { return };
        let score = Score { rink: seat.rink, right: seat.right, ..Score::default() };
        if world.spawn(Some(player), score.into()).is_none() {
            world.despawn(id);
        }
    }

    fn leave(&self, world: &mut World<Self>, player: PlayerId) {
        remove_where(&mut world.entities, |slot| slot.owner == Some(player));
        self.even_out(world);
        // There is always a first rink, reopened if it was empty.
        let empty = |rink: &u8| seats::sides(&world.entities, *rink) == [0, 0];
        if seats::rinks(&world.entities).iter().any(empty) {
            seats::close_empty(world);
            seats::open(self.rates, world, 0);
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

    fn co_predicts(&self, entities: &Entities<Piece>, own: EntityId, other: &Slot<Piece>) -> bool {
        let Piece::Puck(puck) = &other.entity else { return false };
        let me = entities.record::<Mallet>(own);
        me.is_some_and(|me| me.rink == puck.rink && Self::might_touch(me, puck))
    }

    fn misprediction_cause(&self, missed: &Misprediction<'_, Piece>) -> Option<MispredictionCause> {
        let (Piece::Mallet(predicted), Piece::Mallet(truth)) = (missed.predicted, missed.truth)
        else {
            return None;
        };
        if predicted.command() != truth.command() {
            return None; // A different input.
        }
        // Only a jammed puck stops a mallet, or a held one that pushes it out of the circle.
        let puck = Self::puck_of(missed.entities, truth.rink).map(|slot| slot.entity);
        let near = puck.is_some_and(|puck| {
            puck.is_held() || puck.position().distance(truth.position()) < TOUCH + 1.0
        });
        near.then_some(MispredictionCause::Prop)
    }

    fn repeat(last: &Command, _missed: u64) -> Command {
        // It goes to its last target, and stays.
        *last
    }

    fn position(&self, entity: &Piece) -> Option<Vec2> {
        match entity {
            Piece::Mallet(mallet) => Some(self.on_rink(mallet.rink, mallet.position())),
            Piece::Puck(puck) => Some(self.on_rink(puck.rink, puck.position())),
            Piece::Board(_) | Piece::Score(_) | Piece::Round(_) => None,
        }
    }

    fn viewpoint(&self, entities: &Entities<Piece>, player: PlayerId) -> Option<Viewpoint> {
        let rink = mallet_of(entities, player).map_or(0, |mallet| mallet.rink);
        Some(Viewpoint { position: self.on_rink(rink, Vec2::ZERO), range: REACH })
    }

    fn relevance(&self, _: &Entities<Piece>, _: PlayerId, other: &Slot<Piece>) -> Relevance {
        // Only mallets and pucks of the player's rink are in range. Scores are sent when there is
        // space.
        match &other.entity {
            Piece::Puck(_) => Relevance::Matters(16),
            Piece::Mallet(_) | Piece::Round(_) => Relevance::Matters(8),
            Piece::Board(_) => Relevance::Matters(4),
            Piece::Score(_) => Relevance::Matters(1),
        }
    }

    fn avatar(entities: &Entities<Piece>, player: PlayerId) -> Option<EntityId> {
        owned::<Mallet, _>(entities, player).map(|(id, _)| id)
    }
}

#[cfg(test)]
mod tests;
