//! Changes of seats: people go before bots, and choose their side.

use super::entities::Mallet;
use super::rules::{ShufflePuck, score_of};
use super::seats::{self, RinkSeat};
use crate::records::owned;
use phaselock::game::World;
use phaselock::ids::{EntityId, PlayerId};

impl ShufflePuck {
    /// Balances the sides after a player has left: bots change sides until neither side has two
    /// more than the other, and a player who is alone gets a bot. People stay where they are.
    pub(super) fn even_out(&self, world: &mut World<Self>) {
        // Each move reduces a difference by two, or gives an opponent to a player without one.
        for _ in 0..seats::SEATS_MAX {
            let is_bot = |owner| world.profile(owner).is_some_and(|it| it.key.is_none());
            let mallets = world.entities.records::<Mallet>();
            let taken = mallets.filter_map(|slot| {
                Some((is_bot(slot.owner?), slot.id, RinkSeat::of(&slot.entity)))
            });
            let taken: Vec<_> = taken.collect();
            let Some((id, seat)) = seats::change(&taken) else { break };
            self.move_to(world, id, seat);
        }
    }

    /// Moves a mallet and its owner's score to a seat, clear of the puck.
    fn move_to(&self, world: &mut World<Self>, id: EntityId, seat: RinkSeat) {
        let puck = Self::puck_of(&world.entities, seat.rink).map(|slot| slot.entity.position());
        let owner = world.entities.get(id).and_then(|slot| slot.owner);
        if let Some(mallet) = world.entities.record_mut::<Mallet>(id) {
            seats::put(mallet, seat);
            if let Some(puck) = puck {
                seats::keep_clear(mallet, puck);
            }
        }
        if let Some(score) = score_of(world, owner) {
            (score.rink, score.right) = (seat.rink, seat.right);
        }
    }

    /// Returns the seat for a newcomer: if people wait for one, a bot of theirs takes the free
    /// seat, so that no one plays alone while bots have company.
    pub(super) fn before_bots(
        &self,
        world: &mut World<Self>,
        player: PlayerId,
        free: RinkSeat,
    ) -> RinkSeat {
        let is_bot = |it: PlayerId| world.profile(it).is_some_and(|profile| profile.key.is_none());
        if is_bot(player) {
            return free;
        }
        let taken: Vec<_> = world
            .entities
            .records::<Mallet>()
            .filter_map(|slot| Some((slot.owner?, slot.id, RinkSeat::of(&slot.entity))))
            .map(|(owner, id, seat)| (is_bot(owner), id, seat))
            .collect();
        let Some((id, seat)) = seats::of_a_bot(&taken, free) else { return free };
        self.move_to(world, id, free);
        seat
    }

    /// Implements [`Sides::put`](phaselock::game::Sides::put).
    pub(super) fn put(
        &self,
        world: &mut World<Self>,
        player: PlayerId,
        side: u8,
        exchange: Option<PlayerId>,
    ) -> bool {
        let seat_of = |world: &World<Self>, player| {
            let (id, mallet) = owned::<Mallet, _>(&world.entities, player)?;
            Some((id, RinkSeat::of(mallet)))
        };
        let Some((id, from)) = seat_of(world, player) else { return false };
        let other = exchange.and_then(|other| seat_of(world, other));
        let to = match other {
            Some((_, seat)) => Some(seat),
            None => seats::free_on(&world.entities, from.rink, side == 1),
        };
        let is_other = to.is_some_and(|to| (to.rink, to.right) != (from.rink, from.right));
        let Some(to) = to.filter(|to| is_other && u8::from(to.right) == side) else {
            return false;
        };
        let other = other.map(|(id, _)| (id, from));
        for (id, seat) in other.into_iter().chain([(id, to)]) {
            self.move_to(world, id, seat);
        }
        true
    }
}
