//! A player's body and its collisions with the level's tiles, one axis at a time.
//!
//! All tiles on the way are checked, so a body passes through nothing at any speed. Contacts are at
//! whole metres and a body's size is on the wire's grid, so they are exact.

use glam::Vec2;

use super::entities::Player;
use super::level::Level;
use phaselock::physics::Aabb;

/// Half of a player's width, in metres; on the grid, so that contacts are exact.
pub const HALF_WIDTH: f32 = 0.375;
/// A player's height, in metres; on the grid.
pub const HEIGHT: f32 = 1.125;
/// Maximum distance of a contact in metres: four grid steps, since platforms are not on the grid.
pub(super) const TOUCH: f32 = 1.0 / 1024.0;

/// The area that a player occupies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub(super) area: Aabb,
}

impl Body {
    pub(super) fn of(player: &Player) -> Self {
        Self::at(player.feet())
    }

    pub(super) fn at(feet: Vec2) -> Self {
        let min = feet - Vec2::new(HALF_WIDTH, HEIGHT);
        Self { area: Aabb { min, max: feet + Vec2::new(HALF_WIDTH, 0.0) } }
    }

    fn columns(&self) -> std::ops::Range<i32> {
        (self.area.min.x + TOUCH).floor() as i32..(self.area.max.x - TOUCH).ceil() as i32
    }

    fn rows(&self) -> std::ops::Range<i32> {
        (self.area.min.y + TOUCH).floor() as i32..(self.area.max.y - TOUCH).ceil() as i32
    }

    /// Returns the tiles that it overlaps, by column and row.
    pub(super) fn tiles(&self) -> impl Iterator<Item = (i32, i32)> {
        let columns = self.columns();
        self.rows().flat_map(move |row| columns.clone().map(move |column| (column, row)))
    }

    pub(super) fn overlaps(&self, other: Aabb) -> bool {
        let area = self.area;
        area.min.cmplt(other.max).all() && other.min.cmplt(area.max).all()
    }
}

/// Whether a player fits with its feet at a position.
pub(super) fn is_free(level: &Level, feet: Vec2) -> bool {
    Body::at(feet).tiles().all(|(column, row)| !level.is_solid(column, row))
}

/// Moves to the right, up to a wall. Returns whether there was one.
pub(super) fn slide(level: &Level, player: &mut Player, dx: f32) -> bool {
    let body = Body::of(player);
    let blocked = |column: i32| body.rows().any(|row| level.is_solid(column, row));
    let wall = if dx > 0.0 {
        let edge = body.area.max.x;
        let mut columns = (edge - TOUCH).ceil() as i32..(edge + dx).ceil() as i32;
        columns.find(|column| blocked(*column)).map(|column| column as f32 - HALF_WIDTH)
    } else {
        let edge = body.area.min.x;
        let columns = (edge + dx).floor() as i32..(edge + TOUCH).floor() as i32;
        let wall = columns.rev().find(|column| blocked(*column));
        wall.map(|column| (column + 1) as f32 + HALF_WIDTH)
    };
    player.x = wall.unwrap_or(player.x + dx);
    wall.is_some()
}

/// Moves up (`dy` is negative), up to a ceiling. Returns whether there was one.
pub(super) fn rise(level: &Level, player: &mut Player, dy: f32) -> bool {
    let body = Body::of(player);
    let head = body.area.min.y;
    let rows = (head + dy).floor() as i32..(head + TOUCH).floor() as i32;
    let blocked = |row: &i32| body.columns().any(|column| level.is_solid(column, *row));
    let ceiling = rows.rev().find(blocked).map(|row| (row + 1) as f32 + HEIGHT);
    player.y = ceiling.unwrap_or(player.y + dy);
    ceiling.is_some()
}

/// Moves down, onto whatever carries a player. Returns whether there was anything.
pub(super) fn sink(level: &Level, player: &mut Player, dy: f32) -> bool {
    let body = Body::of(player);
    let feet = player.y;
    let carries = |row: &i32| body.columns().any(|column| level.carries(column, *row));
    let mut rows = (feet - TOUCH).ceil() as i32..=(feet + dy).floor() as i32;
    let floor = rows.find(carries).map(|row| row as f32);
    player.y = floor.unwrap_or(player.y + dy);
    floor.is_some()
}

/// Moves with a platform by `dx` and to its upper side at `top`. Returns `false` if a ceiling or a
/// floor takes the player off it.
pub(super) fn carry(level: &Level, player: &mut Player, dx: f32, top: f32) -> bool {
    slide(level, player, dx);
    let dy = top - player.y;
    if dy < 0.0 { !rise(level, player, dy) } else { !sink(level, player, dy) }
}
