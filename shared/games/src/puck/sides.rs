//! Changes of seats: people go before bots, and choose their side.

use super::entities::Mallet;
use super::seats::{self, Seat};
use super::{ShufflePuck, score_of};
use crate::records::owned;
use phaselock::game::World;
use phaselock::ids::PlayerId;

impl ShufflePuck {
    /// The seat for a newcomer: where people wait for one, a bot of theirs takes the free seat, so
    /// that nobody plays alone while bots are in company.
    pub(super) fn before_bots(
        &self,
        world: &mut World<Self>,
        player: PlayerId,
        free: Seat,
    ) -> Seat {
        let is_bot = |it: PlayerId| world.profile(it).is_some_and(|profile| profile.key.is_none());
        if is_bot(player) {
            return free;
        }
        let taken: Vec<_> = world
            .entities
            .records::<Mallet>()
            .filter_map(|slot| Some((slot.owner?, slot.id, Seat::of(&slot.entity))))
            .map(|(owner, id, seat)| (is_bot(owner), id, seat))
            .collect();
        let Some((id, seat)) = seats::of_a_bot(&taken, free) else { return free };
        let owner = world.entities.get(id).and_then(|slot| slot.owner);
        if let Some(mallet) = world.entities.record_mut::<Mallet>(id) {
            seats::put(mallet, free);
        }
        if let Some(score) = score_of(world, owner) {
            (score.rink, score.right) = (free.rink, free.right);
        }
        seat
    }

    /// See [`Sides::put`].
    pub(super) fn put(
        &self,
        world: &mut World<Self>,
        player: PlayerId,
        side: u8,
        exchange: Option<PlayerId>,
    ) -> bool {
        let seat_of = |world: &World<Self>, player| {
            let (id, mallet) = owned::<Mallet, _>(&world.entities, player)?;
            Some((id, Seat::of(mallet)))
        };
        let Some((id, from)) = seat_of(world, player) else { return false };
        let other = exchange.and_then(|other| Some((other, seat_of(world, other)?)));
        let to = match other {
            Some((_, (_, seat))) => Some(seat),
            None => seats::free_on(&world.entities, from.rink, side == 1),
        };
        let is_other = to.is_some_and(|to| (to.rink, to.right) != (from.rink, from.right));
        let Some(to) = to.filter(|to| is_other && u8::from(to.right) == side) else {
            return false;
        };
        let other = other.map(|(other, (id, _))| (other, id, from));
        for (player, id, seat) in other.into_iter().chain([(player, id, to)]) {
            if let Some(mallet) = world.entities.record_mut::<Mallet>(id) {
                seats::put(mallet, seat);
            }
            if let Some(score) = score_of(world, Some(player)) {
                (score.rink, score.right) = (seat.rink, seat.right);
            }
        }
        true
    }
}
