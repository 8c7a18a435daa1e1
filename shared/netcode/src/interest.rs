//! Finds the entities near a client, with a uniform grid in the plane.
//!
//! [`Grid`] is rebuilt for each snapshot and queried for each client. [`Lingering`] keeps an entity
//! at the border of a view from appearing and disappearing with each snapshot.

use glam::Vec2;

use crate::limits::LINGER;
use crate::time::{Rates, Tick};

/// An entity in its cell.
#[derive(Clone, Copy, Debug)]
struct Point {
    row: i32,
    column: i32,
    index: u16,
    at: Vec2,
}

/// Entities, sorted by row and column of their cells. Memory use depends only on the number of
/// entities, and a lookup visits each at most once, however large its radius.
///
/// Coordinates are in the game's unit of length. An entity whose position is not finite is near no
/// one.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Side length of a cell.
    cell: f64,
    positions: Vec<Point>,
    everywhere: Vec<u16>,
}

/// Bound of the relative rounding error of a radius.
const ROUNDING: f64 = 1e-6;

/// Returns the cell of a coordinate. Saturates, and never decreases as the coordinate increases.
fn cell_of(coordinate: f64, cell: f64) -> i32 {
    (coordinate / cell).floor() as i32
}

impl Grid {
    /// Replaces the content with the index and position of each entity; an entity without a
    /// position is near every viewpoint. Lookups are fast if the side length `cell` is close to
    /// their radius. A side that is not positive counts as 1.
    pub fn rebuild(&mut self, cell: f32, entities: impl IntoIterator<Item = (u16, Option<Vec2>)>) {
        self.cell = if cell > 0.0 && cell.is_finite() { f64::from(cell) } else { 1.0 };
        self.positions.clear();
        self.everywhere.clear();
        for (index, position) in entities {
            let Some(at) = position else {
                self.everywhere.push(index);
                continue;
            };
            if at.is_finite() {
                let row = cell_of(f64::from(at.y), self.cell);
                let column = cell_of(f64::from(at.x), self.cell);
                self.positions.push(Point { row, column, index, at });
            }
        }
        self.positions
            .sort_unstable_by_key(|position| (position.row, position.column, position.index));
    }

    /// Writes the indices of entities within `radius` of `viewpoint`, and of those without a
    /// position, into `found` in ascending order.
    ///
    /// With a `period` the plane wraps ([`Game::wraps`](crate::game::Game::wraps)).
    pub fn near(&self, viewpoint: Vec2, radius: f32, period: Option<Vec2>, found: &mut Vec<u16>) {
        found.clear();
        found.extend_from_slice(&self.everywhere);
        if viewpoint.is_finite() && radius >= 0.0 {
            // The nearest image of the viewpoint lies in this period or an adjacent one.
            let images = if period.is_some() { -1..=1 } else { 0..=0 };
            let period = period.unwrap_or_default();
            for (right, down) in images.clone().flat_map(|x| images.clone().map(move |y| (x, y))) {
                let shift = Vec2::new(right as f32, down as f32) * period;
                if shift.is_finite() {
                    self.within(viewpoint, shift, f64::from(radius), found);
                }
            }
        }
        sort(found);
    }

    fn within(&self, viewpoint: Vec2, shift: Vec2, radius: f64, found: &mut Vec<u16>) {
        let by = |at: f32, shift: f32| f64::from(at) + f64::from(shift);
        let (x, y) = (by(viewpoint.x, shift.x), by(viewpoint.y, shift.y));
        let reach = radius * (1.0 + ROUNDING);
        let span =
            |middle: f64| (cell_of(middle - reach, self.cell), cell_of(middle + reach, self.cell));
        let ((left, right), (bottom, top)) = (span(x), span(y));
        let mut positions = self.positions.as_slice();
        let mut row = bottom;
        loop {
            let from =
                positions.partition_point(|position| (position.row, position.column) < (row, left));
            positions = &positions[from..];
            let Some(first) = positions.first().filter(|first| first.row <= top) else { return };
            if first.row > row {
                row = first.row;
                continue;
            }
            let cells = |position: &&Point| position.row == row && position.column <= right;
            for position in positions.iter().take_while(cells) {
                // In `f64` the square of an `f32` never overflows.
                let (dx, dy) = (f64::from(position.at.x) - x, f64::from(position.at.y) - y);
                if dx * dx + dy * dy <= radius * radius {
                    found.push(position.index);
                }
            }
            let Some(next) = row.checked_add(1) else { return };
            row = next;
        }
    }
}

/// Up to this number, indices are sorted by comparison. Arbitrary.
const FEW: usize = 64;

/// Sorts indices in ascending order and removes duplicates.
fn sort(indices: &mut Vec<u16>) {
    if indices.len() < FEW {
        indices.sort_unstable();
        indices.dedup();
        return;
    }
    // Setting a bit for each index is faster than comparing them.
    let mut bits = [0_u64; (u16::MAX as usize + 1) / 64];
    let mut words = 0;
    for index in indices.drain(..) {
        let word = usize::from(index / 64);
        bits[word] |= 1 << (index % 64);
        words = words.max(word + 1);
    }
    for (n, mut word) in (0_u16..).zip(bits[..words].iter().copied()) {
        while word != 0 {
            indices.push(64 * n + word.trailing_zeros() as u16);
            word &= word - 1;
        }
    }
}

/// An entity that is sent to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relevant {
    /// Index of its slot.
    pub index: u16,
    /// Generation of the entity in that slot.
    pub generation: u8,
    /// Priority for this client, 1 or more.
    pub weight: u16,
    /// The last tick in which it was near.
    pub near: Tick,
}

/// The entities that are sent to one client: those that are near, and those that were near within
/// the last [`LINGER`]. A hidden entity does not linger.
#[derive(Clone, Debug)]
pub struct Lingering {
    ticks: u64,
    sent: Vec<Relevant>,
    next: Vec<Relevant>,
}

impl Lingering {
    /// Creates the state of a client that has been sent nothing.
    pub fn new(rates: Rates) -> Self {
        let ticks = LINGER.0.unsigned_abs() * u64::from(rates.tick_hz) / 1_000_000;
        Self { ticks, sent: Vec::new(), next: Vec::new() }
    }

    /// Updates the set with the indices near at `tick`, in ascending order, and returns the
    /// entities to send, in ascending order. `weigh` is called once for each entity that is near or
    /// lingers. It returns the generation, and the weight: 0 if the entity is hidden or gone,
    /// `None` if it is idle and counts as far away. An earlier entity of a slot does not linger.
    pub fn update(
        &mut self,
        tick: Tick,
        near: &[u16],
        mut weigh: impl FnMut(u16) -> (u8, Option<u16>),
    ) -> &[Relevant] {
        debug_assert!(near.windows(2).all(|pair| pair[0] < pair[1]));
        let ticks = self.ticks;
        self.next.clear();
        let next = &mut self.next;
        let mut select = |index: u16, is_near: bool, before: Option<&Relevant>| {
            let (generation, weight) = weigh(index);
            let near = match before {
                _ if is_near && weight.is_some() => tick,
                Some(sent) if sent.generation == generation => sent.near,
                _ => return,
            };
            let weight = weight.unwrap_or(1);
            if weight > 0 {
                next.push(Relevant { index, generation, weight, near });
            }
        };
        let recent = self.sent.iter().filter(|sent| tick.since(sent.near) <= ticks);
        let mut before = recent.peekable();
        for &index in near {
            while let Some(sent) = before.next_if(|sent| sent.index < index) {
                select(sent.index, false, Some(sent));
            }
            let sent = before.next_if(|sent| sent.index == index);
            select(index, true, sent);
        }
        before.for_each(|sent| select(sent.index, false, Some(sent)));
        std::mem::swap(&mut self.sent, &mut self.next);
        &self.sent
    }

    /// Returns the last result of [`update`](Self::update).
    pub fn sent(&self) -> &[Relevant] {
        &self.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Finds them by checking each entity.
    fn brute(entities: &[(u16, Option<Vec2>)], viewpoint: Vec2, radius: f32) -> Vec<u16> {
        let inside = |at: Vec2| {
            let (dx, dy) = (
                f64::from(at.x) - f64::from(viewpoint.x),
                f64::from(at.y) - f64::from(viewpoint.y),
            );
            let finite = at.is_finite() && viewpoint.is_finite() && radius >= 0.0;
            finite && dx * dx + dy * dy <= f64::from(radius) * f64::from(radius)
        };
        let mut found: Vec<u16> = entities
            .iter()
            .filter(|(_, position)| position.is_none_or(inside))
            .map(|(index, _)| *index)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn circle_includes_its_rim_and_what_is_everywhere() {
        let entities = [
            (7, Some(Vec2::new(3.0, 4.0))),
            (2, Some(Vec2::new(3.0, 4.01))),
            (5, None),
            (1, Some(Vec2::new(-5.0, 0.0))),
            (4, Some(Vec2::new(f32::NAN, 0.0))),
            (6, Some(Vec2::new(0.0, f32::NEG_INFINITY))),
        ];
        let mut grid = Grid::default();
        let mut found = vec![99];
        grid.near(Vec2::ZERO, 5.0, None, &mut found);
        assert_eq!(found, [0; 0], "before it is filled");
        for cell in [0.3, 1.0, 5.0, 1e9, 0.0, -1.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE] {
            grid.rebuild(cell, entities);
            grid.near(Vec2::ZERO, 5.0, None, &mut found);
            assert_eq!(found, [1, 5, 7], "cells of {cell}");
            grid.near(Vec2::ZERO, f32::INFINITY, None, &mut found);
            assert_eq!(found, [1, 2, 5, 7]);
            for (viewpoint, radius) in
                [(Vec2::NAN, 1.0), (Vec2::ZERO, -1.0), (Vec2::ZERO, f32::NAN)]
            {
                grid.near(viewpoint, radius, None, &mut found);
                assert_eq!(found, [5]);
            }
        }
        assert!(grid.positions.len() + grid.everywhere.len() <= entities.len());
    }

    /// Finds them by checking each entity and its images.
    fn brute_around(entities: &[(u16, Option<Vec2>)], viewpoint: Vec2, radius: f32) -> Vec<u16> {
        let way = |a: f32, b: f32| {
            let way = (f64::from(b) - f64::from(a)).rem_euclid(f64::from(PERIOD));
            way.min(f64::from(PERIOD) - way)
        };
        let inside = |at: Vec2| {
            way(viewpoint.x, at.x).hypot(way(viewpoint.y, at.y)) <= f64::from(radius) * (1.0 + 1e-9)
        };
        let near = entities.iter().filter(|(_, position)| position.is_none_or(inside));
        let mut found: Vec<u16> = near.map(|(index, _)| *index).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    const PERIOD: f32 = 64.0;

    #[test]
    fn viewpoint_near_an_edge_finds_what_is_across_it() {
        let entities =
            [(3, Some(Vec2::new(63.0, 1.0))), (4, Some(Vec2::new(32.0, 32.0))), (9, None)];
        let mut grid = Grid::default();
        let (mut found, period) = (Vec::new(), Some(Vec2::splat(PERIOD)));
        grid.rebuild(8.0, entities);
        grid.near(Vec2::new(1.0, 63.0), 5.0, None, &mut found);
        assert_eq!(found, [9], "it goes around where it is said to");
        grid.near(Vec2::new(1.0, 63.0), 5.0, period, &mut found);
        assert_eq!(found, [3, 9]);
        grid.near(Vec2::new(1.0, 63.0), 1000.0, period, &mut found);
        assert_eq!(found, [3, 4, 9], "each once");
        grid.near(Vec2::NAN, 5.0, period, &mut found);
        assert_eq!(found, [9]);
    }

    proptest! {
        #[test]
        fn indices_rise_and_are_there_once(
            mut indices in
                proptest::collection::vec(prop_oneof![any::<u16>(), Just(u16::MAX)], 0..200),
            low in proptest::collection::vec(0_u16..300, 0..200),
        ) {
            indices.extend(low);
            let all: std::collections::BTreeSet<_> = indices.iter().copied().collect();
            sort(&mut indices);
            prop_assert_eq!(indices, all.into_iter().collect::<Vec<_>>());
        }
    }

    fn sent(lingering: &mut Lingering, tick: u64, near: &[u16], hidden: &[u16]) -> Vec<u16> {
        let weigh = |index| (0, Some(u16::from(!hidden.contains(&index))));
        lingering.update(Tick(tick), near, weigh).iter().map(|sent| sent.index).collect()
    }

    #[test]
    fn entities_linger_unless_they_are_hidden_or_replaced() {
        let mut lingering = Lingering::new(Rates::DEFAULT);
        assert_eq!(lingering.ticks, 30);
        assert_eq!(sent(&mut lingering, 100, &[3, 8], &[]), [3, 8], "at once");
        assert_eq!(sent(&mut lingering, 129, &[1, 5], &[]), [1, 3, 5, 8]);
        assert_eq!(sent(&mut lingering, 130, &[5, 8], &[]), [1, 3, 5, 8], "the last tick");
        assert_eq!(sent(&mut lingering, 131, &[5], &[]), [1, 5, 8]);
        assert_eq!(sent(&mut lingering, 132, &[5], &[5, 8]), [1], "secrets are revealed now");
        assert_eq!(sent(&mut lingering, 133, &[], &[]), [1], "and do not come back by themselves");
        assert_eq!(
            lingering.update(Tick(134), &[], |_| (1, Some(1))),
            [],
            "the slot has a new entity"
        );
        assert_eq!(lingering.sent(), []);
    }

    fn coordinate() -> impl Strategy<Value = f32> {
        prop_oneof![
            8 => -20.0_f32..20.0,
            2 => (-8_i8..8).prop_map(f32::from),
            1 => any::<f32>(),
            1 => prop_oneof![Just(f32::MAX), Just(f32::MIN), Just(f32::NAN), Just(-0.0)],
        ]
    }

    fn point() -> impl Strategy<Value = Vec2> {
        (coordinate(), coordinate()).prop_map(|(x, y)| Vec2::new(x, y))
    }

    proptest! {
        #[test]
        fn grid_finds_what_looking_at_each_finds(
            entities in proptest::collection::vec(
                (0_u16..200, proptest::option::weighted(0.95, point())), 0..120),
            eyes in proptest::collection::vec((point(), coordinate()), 1..10),
            cell in prop_oneof![0.1_f32..30.0, any::<f32>()],
        ) {
            let mut grid = Grid::default();
            grid.rebuild(cell, entities.iter().copied());
            let mut found = Vec::new();
            for (viewpoint, radius) in eyes {
                grid.near(viewpoint, radius, None, &mut found);
                prop_assert_eq!(&found, &brute(&entities, viewpoint, radius));
            }
        }

        #[test]
        fn around_the_edges_it_finds_what_looking_at_each_finds(
            entities in proptest::collection::vec(
                (0_u16..200, proptest::option::weighted(0.95, (0_u16..4096, 0_u16..4096))), 0..80),
            eyes in proptest::collection::vec((0_u16..4096, 0_u16..4096, 0_u8..80), 1..10),
            cell in 0.5_f32..90.0,
        ) {
            let at = |x: u16, y: u16| Vec2::new(f32::from(x), f32::from(y)) / 64.0;
            let entities: Vec<_> =
                entities.iter().map(|(index, at_)| (*index, at_.map(|(x, y)| at(x, y)))).collect();
            let mut grid = Grid::default();
            grid.rebuild(cell, entities.iter().copied());
            let mut found = Vec::new();
            for (x, y, radius) in eyes {
                let (viewpoint, radius) = (at(x, y), f32::from(radius));
                grid.near(viewpoint, radius, Some(Vec2::splat(PERIOD)), &mut found);
                prop_assert_eq!(&found, &brute_around(&entities, viewpoint, radius));
            }
        }

        #[test]
        fn lingering_is_what_a_map_of_last_times_says(
            rounds in proptest::collection::vec(
                (1_u64..12, proptest::collection::btree_set(0_u16..20, 0..12),
                 proptest::collection::btree_set(0_u16..20, 0..4)), 1..60),
        ) {
            let mut lingering = Lingering::new(Rates::DEFAULT);
            let mut last = BTreeMap::new();
            let mut tick = 0;
            for (step, near, hidden) in rounds {
                tick += step;
                last.extend(near.iter().map(|index| (*index, tick)));
                last.retain(|index, near| tick - *near <= 30 && !hidden.contains(index));
                let near: Vec<_> = near.into_iter().collect();
                let hidden: Vec<_> = hidden.into_iter().collect();
                let expected: Vec<_> = last.keys().copied().collect();
                prop_assert_eq!(sent(&mut lingering, tick, &near, &hidden), expected);
            }
        }
    }
}
