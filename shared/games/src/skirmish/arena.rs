//! Skirmish's map.

use glam::Vec2;

use super::bodies::{BodyShape, overlap};
use super::entities::{Goods, Prop};
use phaselock::physics::Aabb;

/// Half of the arena's inside, in metres.
pub const HALF: Vec2 = Vec2::new(24.0, 15.0);

/// The map: walls, starts, points for bots to walk between, and objects at the start of a round.
#[derive(Clone, Debug)]
pub struct Arena {
    /// The four outer walls first, then those inside.
    pub walls: Vec<Aabb>,
    /// Where players start.
    pub spawns: Vec<Vec2>,
    /// Points that are clear of walls, on a grid.
    pub waypoints: Vec<Vec2>,
    /// Crates and barrels.
    pub props: Vec<Prop>,
    /// Pickups, and their positions.
    pub goods: Vec<(Goods, Vec2)>,
}

/// Thickness of the outer walls; more than a player moves in a tick.
pub const BORDER: f32 = 2.0;

impl Arena {
    /// Returns the only arena: a court in the centre, cover in the corners, lanes along the sides.
    pub fn new() -> Self {
        let outer = HALF + BORDER;
        let middle = HALF + BORDER / 2.0;
        let mut walls = vec![
            Aabb::centred(Vec2::new(0.0, -middle.y), Vec2::new(outer.x, BORDER / 2.0)),
            Aabb::centred(Vec2::new(0.0, middle.y), Vec2::new(outer.x, BORDER / 2.0)),
            Aabb::centred(Vec2::new(-middle.x, 0.0), Vec2::new(BORDER / 2.0, outer.y)),
            Aabb::centred(Vec2::new(middle.x, 0.0), Vec2::new(BORDER / 2.0, outer.y)),
            // A pillar in the centre of the court.
            Aabb::centred(Vec2::ZERO, Vec2::new(1.5, 1.5)),
        ];
        // Repeated in each quarter, given as centre and half the size.
        let quarter = [
            ((5.0, 5.5), (3.0, 0.5)),
            ((7.5, 4.0), (0.5, 2.0)),
            ((13.0, 0.0), (0.5, 3.0)),
            ((15.0, 8.5), (2.5, 1.0)),
            ((20.0, 5.0), (1.0, 1.0)),
            ((8.0, 11.5), (1.0, 1.0)),
            ((20.5, 11.5), (0.75, 0.75)),
        ];
        for ((x, y), half) in quarter {
            walls.extend(quarters(x, y).map(|at| Aabb::centred(at, half.into())));
        }
        let clear =
            |point: &Vec2| walls.iter().all(|wall| wall.nearest(*point).distance(*point) > 0.8);
        let waypoints: Vec<_> = (-11..=11)
            .flat_map(|x| (-7..=7).map(move |y| Vec2::new(x as f32, y as f32) * 2.0))
            .filter(clear)
            .collect();
        let spawns = waypoints
            .iter()
            .filter(|point| point.x.abs() > 16.0 || point.y.abs() > 11.0)
            .copied()
            .collect();
        Self { walls, spawns, waypoints, props: props(), goods: goods() }
    }

    /// Whether a shape is clear of all walls.
    pub fn is_clear(&self, position: Vec2, shape: BodyShape) -> bool {
        self.walls.iter().all(|wall| {
            let half = wall.size() / 2.0;
            overlap(wall.min + half, BodyShape::Box(half), position, shape).is_none()
        })
    }
}

/// Mirrors a position into each quarter, without duplicates.
fn quarters(x: f32, y: f32) -> impl Iterator<Item = Vec2> {
    let signs = [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)];
    let all = signs
        .into_iter()
        .filter(move |(sign_x, sign_y)| (*sign_x > 0.0 || x != 0.0) && (*sign_y > 0.0 || y != 0.0));
    all.map(move |(sign_x, sign_y)| Vec2::new(x * sign_x, y * sign_y))
}

fn props() -> Vec<Prop> {
    let crates = [(10.4, 1.0), (10.4, 2.2), (4.5, 8.0), (5.6, 8.0), (16.5, 5.5)];
    let barrels = [(11.2, 10.6), (17.5, 1.6), (3.2, 3.7)];
    let positions = |of: &[(f32, f32)]| -> Vec<Vec2> {
        of.iter().flat_map(|(x, y)| quarters(*x, *y)).collect()
    };
    let put = |barrel| move |at: Vec2| Prop { barrel, x: at.x, y: at.y, ..Prop::default() };
    let crates = positions(&crates).into_iter().map(put(false));
    crates.chain(positions(&barrels).into_iter().map(put(true))).collect()
}

fn goods() -> Vec<(Goods, Vec2)> {
    let positions = [
        (Goods::Health, (0.0, 8.5)),
        (Goods::Health, (18.5, 0.0)),
        (Goods::Health, (11.0, 13.4)),
        (Goods::Rockets, (4.2, 0.0)),
        (Goods::Rockets, (22.6, 13.4)),
        (Goods::Grenades, (10.5, 7.0)),
        (Goods::Mines, (22.6, 8.2)),
    ];
    let all = |(goods, (x, y))| quarters(x, y).map(move |at| (goods, at));
    positions.into_iter().flat_map(all).collect()
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_has_room_to_start_and_fits_its_fields() {
        let arena = Arena::new();
        assert!(arena.spawns.len() >= 32, "{}", arena.spawns.len());
        assert!(arena.waypoints.len() > 100);
        assert!((HALF + BORDER).max_element() < 32.0, "positions are sent within 32 m");
    }

    #[test]
    fn things_stand_clear_of_walls_and_of_each_other() {
        let arena = Arena::new();
        assert_eq!((arena.props.len(), arena.goods.len()), (32, 22));
        for (n, prop) in arena.props.iter().enumerate() {
            assert!(arena.is_clear(prop.position(), prop.shape()), "{prop:?}");
            for other in &arena.props[n + 1..] {
                let both = overlap(prop.position(), prop.shape(), other.position(), other.shape());
                assert_eq!(both, None, "{prop:?} and {other:?}");
            }
        }
        for (goods, at) in &arena.goods {
            assert!(arena.is_clear(*at, BodyShape::Circle(0.5)), "{goods:?} at {at}");
        }
    }
}
