//! Seats on rinks: six per rink, three per side, filled so that sides are balanced.

use glam::Vec2;

use super::entities::{Board, Mallet, Piece, Puck};
use super::motion::position;
use super::rink::MALLET;
use crate::records::{owned, remove_where};
use phaselock::game::{Entities, Game, Place, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::time::Rates;

/// Seats per side.
pub const SIDE_SEATS: u8 = 3;
/// Maximum number of rinks: one for every six seats of a room, and as many again for rinks that are
/// not full.
pub const RINKS_MAX: u8 = 127;

/// Number of seats for people and bots.
pub const SEATS_MAX: u16 = 512;

const _: () = assert!(SEATS_MAX as usize <= RINKS_MAX as usize * 2 * SIDE_SEATS as usize);

/// A seat of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RinkSeat {
    /// The rink.
    pub rink: u8,
    /// Whether it is on the right side.
    pub right: bool,
    /// Number on its side.
    pub number: u8,
}

impl RinkSeat {
    /// Returns the seat of a mallet.
    pub fn of(mallet: &Mallet) -> Self {
        Self { rink: mallet.rink, right: mallet.right, number: mallet.number }
    }

    /// Returns its starting position: one in front of the goal, the others further out.
    pub fn home(self) -> Vec2 {
        let side = if self.right { 1.0 } else { -1.0 };
        match self.number {
            0 => Vec2::new(5.9 * side, 0.0),
            1 => Vec2::new(3.6 * side, 2.2),
            _ => Vec2::new(3.6 * side, -2.2),
        }
    }
}

/// Returns the number of players on a rink's left and right.
pub fn sides(entities: &Entities<Piece>, rink: u8) -> [u8; 2] {
    let mut sides = [0_u8; 2];
    for slot in entities.records::<Mallet>().filter(|slot| slot.entity.rink == rink) {
        let side = &mut sides[usize::from(slot.entity.right)];
        *side = side.saturating_add(1);
    }
    sides
}

/// Returns the rinks that exist, in order.
pub fn rinks(entities: &Entities<Piece>) -> Vec<u8> {
    let mut rinks: Vec<_> = entities.records::<Board>().map(|slot| slot.entity.rink).collect();
    rinks.sort_unstable();
    rinks
}

/// Returns the seat for a newcomer: where a player is needed most, otherwise where the fewest wait,
/// otherwise on a new rink. `None` if there is none.
pub fn free_seat(entities: &Entities<Piece>) -> Option<RinkSeat> {
    let mut taken = vec![[0_u8; 2]; usize::from(RINKS_MAX)];
    let mut numbers = vec![[0_u8; 2]; usize::from(RINKS_MAX)];
    for slot in entities.records::<Mallet>() {
        let (rink, side) = (usize::from(slot.entity.rink), usize::from(slot.entity.right));
        if let (Some(taken), Some(numbers)) = (taken.get_mut(rink), numbers.get_mut(rink)) {
            taken[side] += 1;
            numbers[side] |= 1 << slot.entity.number;
        }
    }
    let open = |[left, right]: [u8; 2]| left.min(right) < SIDE_SEATS;
    let rink =
        (0..RINKS_MAX).filter(|rink| open(taken[usize::from(*rink)])).min_by_key(|rink| {
            let [left, right] = taken[usize::from(*rink)];
            // The most uneven rink first, then those with players, then the first.
            (u8::MAX - left.abs_diff(right), left + right == 0, *rink)
        })?;
    let [left, right] = taken[usize::from(rink)];
    let side = usize::from(right < left);
    let number = (0..SIDE_SEATS).find(|n| numbers[usize::from(rink)][side] & (1 << n) == 0)?;
    Some(RinkSeat { rink, right: side == 1, number })
}

/// Returns the place of a player among the sides; the right one is 1.
pub fn place_of(entities: &Entities<Piece>, player: PlayerId) -> Option<Place> {
    let (_, mallet) = owned::<Mallet, _>(entities, player)?;
    Some(Place { group: mallet.rink.into(), side: mallet.right.into() })
}

/// Returns a free seat on a side of a rink.
pub fn free_on(entities: &Entities<Piece>, rink: u8, right: bool) -> Option<RinkSeat> {
    let mallets = entities.records::<Mallet>().map(|slot| RinkSeat::of(&slot.entity));
    let here: Vec<_> = mallets.filter(|it| (it.rink, it.right) == (rink, right)).collect();
    let number = (0..SIDE_SEATS).find(|number| here.iter().all(|it| it.number != *number))?;
    Some(RinkSeat { rink, right, number })
}

/// Returns the seat of a bot that gives way to a newcomer who would otherwise get the seat `free`:
/// on the rink with the most people that has a bot, on the side with fewer people. The first part
/// of each taken seat says whether a bot has it. `None` if the free one is as good.
pub fn of_a_bot(
    taken: &[(bool, EntityId, RinkSeat)],
    free: RinkSeat,
) -> Option<(EntityId, RinkSeat)> {
    let people = |rink, right: Option<bool>| {
        let here = taken.iter().filter(|(_, _, seat)| seat.rink == rink);
        here.filter(|(bot, _, it)| !bot && right.is_none_or(|right| right == it.right)).count()
    };
    let bots = taken.iter().filter(|(is_bot, ..)| *is_bot);
    let lonely = !taken.iter().any(|(_, _, seat)| seat.rink == free.rink);
    let better = bots.filter(|(_, _, seat)| match seat.rink == free.rink {
        // The other side of the same rink, if it has fewer people.
        true => people(seat.rink, Some(seat.right)) < people(free.rink, Some(free.right)),
        false => lonely || people(seat.rink, None) > people(free.rink, None),
    });
    let best = better.max_by_key(|(_, id, seat)| {
        let beside = people(seat.rink, Some(seat.right));
        (people(seat.rink, None), std::cmp::Reverse(beside), std::cmp::Reverse(id.index))
    })?;
    Some((best.1, best.2))
}

/// Returns a bot's move that balances the sides: to the other side of its rink if that has at least
/// two fewer, or to a player who is alone, from the rink that can best spare it. The first part of
/// a seat says whether a bot has it. `None` if sides are balanced or no bot can help.
pub fn change(taken: &[(bool, EntityId, RinkSeat)]) -> Option<(EntityId, RinkSeat)> {
    let count = |rink: u8, right: bool| {
        taken.iter().filter(|(_, _, seat)| (seat.rink, seat.right) == (rink, right)).count()
    };
    let seat_on = |rink: u8, right: bool| {
        let is_free = |seat: &RinkSeat| taken.iter().all(|(_, _, other)| other != seat);
        (0..SIDE_SEATS).map(|number| RinkSeat { rink, right, number }).find(is_free)
    };
    // The one that is needed least in front of its own goal.
    let bot_on = |rink: u8, right: bool| {
        let bots = taken.iter().filter(|(is_bot, ..)| *is_bot);
        let here = bots.filter(|(_, _, seat)| (seat.rink, seat.right) == (rink, right));
        here.max_by_key(|(_, _, seat)| seat.number).map(|(_, id, _)| *id)
    };
    let mut rinks: Vec<_> = taken.iter().map(|(_, _, seat)| seat.rink).collect();
    rinks.sort_unstable();
    rinks.dedup();
    let heavy = rinks.iter().find_map(|rink| {
        let right = count(*rink, true) > count(*rink, false);
        let is_heavy = count(*rink, right) > count(*rink, !right) + 1;
        is_heavy.then(|| Some((bot_on(*rink, right)?, seat_on(*rink, !right)?))).flatten()
    });
    if heavy.is_some() {
        return heavy;
    }
    let is_alone =
        |seat: &RinkSeat| count(seat.rink, seat.right) == 1 && count(seat.rink, !seat.right) == 0;
    let sides = || rinks.iter().flat_map(|rink| [(*rink, false), (*rink, true)]);
    let mut alone = taken.iter().filter(|(_, _, seat)| is_alone(seat));
    // A bot that is alone goes to the others.
    if let Some((_, bot, from)) = alone.clone().find(|(is_bot, ..)| *is_bot) {
        let others = sides().filter(|(rink, _)| *rink != from.rink);
        let (rink, right) = others.min_by_key(|(rink, right)| count(*rink, *right))?;
        return Some((*bot, seat_on(rink, right)?));
    }
    let (_, _, alone) = alone.next()?;
    // From a side that keeps a player, and has as many as the other or one fewer.
    let can_give = |(rink, right): &(u8, bool)| {
        let (own, other) = (count(*rink, *right), count(*rink, !*right));
        own > 1 && own >= other
    };
    let bots = sides()
        .filter(can_give)
        .filter_map(|(rink, right)| Some((count(rink, right), bot_on(rink, right)?)));
    let (_, bot) = bots.max_by_key(|(count, _)| *count)?;
    Some((bot, seat_on(alone.rink, !alone.right)?))
}

/// Assigns seats to all players, given their current seats: as few rinks as possible, pairs evenly
/// distributed, at most one rink with an odd number. Well-seated players stay. In the order of
/// `now`.
pub fn deal(now: &[RinkSeat]) -> Vec<RinkSeat> {
    let pairs = now.len().div_ceil(2);
    let rinks = pairs.div_ceil(usize::from(SIDE_SEATS)).max(1);
    let mut order: Vec<_> = (0..now.len()).collect();
    order.sort_by_key(|at| now[*at]);
    let mut dealt = now.to_vec();
    let mut rest = &order[..];
    for rink in 0..rinks {
        // The first rinks have one pair more.
        let here = pairs / rinks + usize::from(rink < pairs % rinks);
        let (group, others) = rest.split_at((2 * here).min(rest.len()));
        rest = others;
        let on_right = group.iter().filter(|at| now[**at].right).count();
        let odd = group.len() % 2;
        // The odd one where more are already.
        let right_seats = group.len() / 2 + if on_right > group.len() / 2 { odd } else { 0 };
        let seats = [group.len() - right_seats, right_seats];
        let mut taken = [0_usize; 2];
        // Those who can stay on their side first, then the others.
        let mut moved = Vec::new();
        for at in group {
            let side = usize::from(now[*at].right);
            if taken[side] < seats[side] {
                dealt[*at] = seat(rink, side, &mut taken);
            } else {
                moved.push(*at);
            }
        }
        for at in moved {
            let side = usize::from(taken[0] >= seats[0]);
            dealt[at] = seat(rink, side, &mut taken);
        }
    }
    dealt
}

fn seat(rink: usize, side: usize, taken: &mut [usize; 2]) -> RinkSeat {
    let number = taken[side] as u8;
    taken[side] += 1;
    RinkSeat { rink: rink as u8, right: side == 1, number }
}

/// Puts a mallet on a seat.
pub fn put(mallet: &mut Mallet, seat: RinkSeat) {
    let home = seat.home();
    *mallet = Mallet {
        rink: seat.rink,
        right: seat.right,
        number: seat.number,
        goal_x: home.x,
        goal_y: home.y,
        x: home.x,
        y: home.y,
        placed: (mallet.placed + 1) % 16,
        ..Mallet::default()
    };
}

/// Makes sure that a rink exists; if it is new, its puck waits for a face-off. Returns `false` if
/// the world is full.
pub fn open<G: Game<Entity = Piece>>(rates: Rates, world: &mut World<G>, rink: u8) -> bool {
    if world.entities.records::<Board>().any(|slot| slot.entity.rink == rink) {
        return true;
    }
    let mut puck = Puck { rink, ..Puck::default() };
    position(rates, &mut puck, if rink.is_multiple_of(2) { -1 } else { 1 });
    let board = world.spawn(None, Board { rink, ..Board::default() }.into());
    let puck = world.spawn(None, puck.into());
    match (board, puck) {
        (Some(_), Some(_)) => true,
        (board, puck) => {
            for id in board.into_iter().chain(puck) {
                world.despawn(id);
            }
            false
        }
    }
}

/// Removes rinks without players.
pub fn close_empty<G: Game<Entity = Piece>>(world: &mut World<G>) {
    let played: Vec<_> = world.entities.records::<Mallet>().map(|slot| slot.entity.rink).collect();
    remove_where(&mut world.entities, |slot| match &slot.entity {
        Piece::Board(board) => !played.contains(&board.rink),
        Piece::Puck(puck) => !played.contains(&puck.rink),
        _ => false,
    });
}

/// Moves a new mallet away from the puck.
pub fn keep_clear(mallet: &mut Mallet, puck: Vec2) {
    let (home, away) = (mallet.position(), 2.0 * MALLET + 0.2);
    if home.distance_squared(puck) <= away * away {
        // Straight to the side with more space.
        mallet.y = puck.y - away.copysign(puck.y);
        mallet.goal_y = mallet.y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(seats: &[RinkSeat], rink: u8) -> [usize; 2] {
        let on = |right| seats.iter().filter(move |seat| (seat.rink, seat.right) == (rink, right));
        [on(false).count(), on(true).count()]
    }

    fn valid(seats: &[RinkSeat]) {
        let mut seen = seats.to_vec();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), seats.len(), "a seat each: {seats:?}");
        assert!(seats.iter().all(|seat| seat.number < SIDE_SEATS && seat.rink < RINKS_MAX));
    }

    #[test]
    fn any_number_is_dealt_evenly_and_who_sits_well_stays() {
        for players in 0..=usize::from(SEATS_MAX) {
            let everybody_on_one = vec![RinkSeat { rink: 9, right: true, number: 1 }; players];
            let dealt = deal(&everybody_on_one);
            valid(&dealt);
            let rinks = players.div_ceil(6).max(1) as u8;
            let sizes: Vec<_> = (0..rinks).map(|rink| count(&dealt, rink)).collect();
            assert_eq!(sizes.iter().flatten().sum::<usize>(), players);
            let uneven = sizes.iter().filter(|[left, right]| left != right).count();
            assert!(uneven <= 1 && sizes.iter().all(|[l, r]| l.abs_diff(*r) <= 1), "{sizes:?}");
            assert!(sizes.iter().all(|[left, right]| players < 2 || left.min(right) > &0));
            assert_eq!(deal(&dealt), dealt, "repeating it changes nothing");
        }
    }

    /// Returns the seats of people (`p`) and bots (`b`), as in "pb:b" for the sides of a rink,
    /// after all balancing moves.
    fn evened(rinks: &str) -> String {
        let mut taken = Vec::new();
        for (rink, sides) in (0_u8..).zip(rinks.split(' ')) {
            for (right, side) in [false, true].into_iter().zip(sides.split(':')) {
                for (number, who) in (0_u8..).zip(side.chars()) {
                    let id = EntityId { index: taken.len() as u16, generation: 0 };
                    taken.push((who == 'b', id, RinkSeat { rink, right, number }));
                }
            }
        }
        let mut changes = 0;
        while let Some((id, seat)) = change(&taken) {
            changes += 1;
            assert!(changes < 100, "{rinks} is never even");
            taken.iter_mut().filter(|(_, it, _)| *it == id).for_each(|it| it.2 = seat);
            valid(&taken.iter().map(|it| it.2).collect::<Vec<_>>());
        }
        let side = |rink: u8, right: bool| {
            let here = taken.iter().filter(|it| (it.2.rink, it.2.right) == (rink, right));
            let mut who: Vec<_> = here.map(|it| if it.0 { 'b' } else { 'p' }).collect();
            who.sort_unstable();
            who.into_iter().rev().collect::<String>()
        };
        let rinks = (0..rinks.split(' ').count() as u8)
            .map(|rink| format!("{}:{}", side(rink, false), side(rink, true)));
        rinks.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn bots_even_sides_out_and_people_stay() {
        for (before, after) in [
            ("p:b", "p:b"),
            ("pb:b", "pb:b"),
            ("pbb:", "pb:b"),
            ("pb:", "p:b"),
            ("bbb:p", "bb:pb"),
            ("ppp:b", "ppp:b"),
            ("ppb:", "pp:b"),
            ("pp:", "pp:"),
            ("pbb:bbb p:", "pbb:bb p:b"),
            ("ppp:ppb p:", "ppp:pp p:b"),
            ("ppp:ppp p:", "ppp:ppp p:"),
            ("p: b:", "p:b :"),
            ("b: b:", ": b:b"),
            ("pbb:pbb :p", "pbb:pb b:p"),
            ("pb:b b:", "pb:bb :"),
            ("p:p p:", "p:p p:"),
        ] {
            assert_eq!(evened(before), after, "{before}");
        }
    }

    #[test]
    fn after_some_have_left_sides_are_evened_out_with_few_moves() {
        let mut now = deal(&[RinkSeat { rink: 0, right: false, number: 0 }; 12]);
        // Two players of one side leave.
        now.retain(|seat| !(seat.rink == 0 && seat.right && seat.number > 0));
        let dealt = deal(&now);
        valid(&dealt);
        assert_eq!((count(&dealt, 0), count(&dealt, 1)), ([3, 3], [2, 2]));
        let moved = now.iter().zip(&dealt).filter(|(a, b)| (a.rink, a.right) != (b.rink, b.right));
        assert!(moved.count() <= 3);
    }
}
