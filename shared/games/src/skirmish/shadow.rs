//! Walls between two points: a table of those that may be in between, and the shadow behind each.
//!
//! Both only rule walls out. The rest is left to the ray test, so that visibility is identical
//! without them, bit for bit.

use glam::Vec2;

use super::arena::HALF;
use phaselock::physics::Aabb;

/// Side length of a cell of the table, in metres.
const CELL: f32 = 2.0;
const COLUMNS: usize = (2.0 * HALF.x / CELL) as usize;
const ROWS: usize = (2.0 * HALF.y / CELL) as usize;
const CELLS: usize = COLUMNS * ROWS;
/// Safety margin in metres: a hundred times the rounding error.
const MARGIN: f32 = 1e-3;
/// Maximum number of walls in a map: one for each bit of [`Walls`].
pub(super) const WALLS_MAX: usize = 32;

/// A set of wall numbers, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Walls(u32);

impl Walls {
    pub(super) fn insert(&mut self, wall: usize) {
        self.0 |= 1 << wall;
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let wall = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (wall < WALLS_MAX).then_some(wall)
        })
    }
}

/// Number of a cell inside the arena; `None` outside.
pub(super) type Cell = Option<u16>;

/// Returns the cell of a position in metres.
pub(super) fn cell(position: Vec2) -> Cell {
    let at = (position + HALF) / CELL;
    let (column, row) = (at.x, at.y);
    let inside = at.cmpge(Vec2::ZERO).all() && column < COLUMNS as f32 && row < ROWS as f32;
    inside.then(|| row as u16 * COLUMNS as u16 + column as u16)
}

/// For each pair of cells, the walls that a line between them may meet.
#[derive(Clone, Debug)]
pub(super) struct Between {
    all: Walls,
    pairs: Vec<Walls>,
}

impl Between {
    /// Creates the table of a map with at most [`WALLS_MAX`] walls.
    pub(super) fn new(walls: &[Aabb]) -> Self {
        assert!(walls.len() <= WALLS_MAX, "every wall of the map has a bit");
        let all = Walls((0..walls.len()).fold(0, |all, wall| all | 1 << wall));
        // All lines between two cells are within a cell's width of the line between their centres.
        let grown: Vec<_> = walls.iter().map(|wall| wall.grown(CELL / 2.0 + MARGIN)).collect();
        let middle = |cell: usize| {
            let at = Vec2::new((cell % COLUMNS) as f32, (cell / COLUMNS) as f32) + 0.5;
            at * CELL - HALF
        };
        let mut pairs = vec![Walls::default(); CELLS * CELLS];
        for from in 0..CELLS {
            for to in from..CELLS {
                let (a, b) = (middle(from), middle(to));
                let met = grown.iter().enumerate().filter(|(_, wall)| meets(a, b, wall));
                let met = Walls(met.fold(0, |met, (wall, _)| met | 1 << wall));
                pairs[from * CELLS + to] = met;
                pairs[to * CELLS + from] = met;
            }
        }
        Self { all, pairs }
    }

    /// Returns the walls that a line between two cells may meet.
    pub(super) fn walls(&self, from: Cell, to: Cell) -> Walls {
        let pair = from.zip(to).map(|(from, to)| usize::from(from) * CELLS + usize::from(to));
        pair.and_then(|pair| self.pairs.get(pair)).copied().unwrap_or(self.all)
    }
}

/// Whether a line meets a box: no axis separates them, neither x, y nor the one across the line.
fn meets(a: Vec2, b: Vec2, wall: &Aabb) -> bool {
    let (half, line) = (wall.size() / 2.0, b - a);
    let away = wall.min + half - a;
    let beside = a.min(b).cmpgt(wall.max).any() || a.max(b).cmplt(wall.min).any();
    !beside && line.perp_dot(away).abs() <= line.perp().abs().dot(half)
}

/// The shadow of a wall, as seen from a viewpoint. Everything is relative to the viewpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shadow {
    wall: Aabb,
    /// Normals of both edges of the shadow, inwards; 0 if the viewpoint is in the wall.
    edges: [Vec2; 2],
    /// Normal of the line through both outermost corners, away from the viewpoint.
    behind: Vec2,
    /// Distance of that line.
    far: f32,
}

/// A wall's effect on a line from the viewpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The wall is not in the way.
    Free,
    /// The wall is in the way.
    Blocked,
    /// Too close to decide without a ray.
    Unsure,
}

impl Shadow {
    pub(super) const NONE: Self = Self {
        wall: Aabb { min: Vec2::ZERO, max: Vec2::ZERO },
        edges: [Vec2::ZERO; 2],
        behind: Vec2::ZERO,
        far: 0.0,
    };

    pub(super) fn new(viewpoint: Vec2, wall: &Aabb) -> Self {
        let wall = Aabb { min: wall.min - viewpoint, max: wall.max - viewpoint };
        let Aabb { min, max } = wall;
        if wall.nearest(Vec2::ZERO).length_squared() <= MARGIN * MARGIN {
            return Self { wall, ..Self::NONE };
        }
        // The outermost corners as seen from the viewpoint.
        let side = |min: f32, max: f32| i8::from(max < 0.0) - i8::from(min > 0.0);
        let (a, b) = match (side(min.x, max.x), side(min.y, max.y)) {
            (0, below) => {
                let y = if below < 0 { min.y } else { max.y };
                (Vec2::new(min.x, y), Vec2::new(max.x, y))
            }
            (right, 0) => {
                let x = if right < 0 { min.x } else { max.x };
                (Vec2::new(x, min.y), Vec2::new(x, max.y))
            }
            (right, below) if right == below => (Vec2::new(min.x, max.y), Vec2::new(max.x, min.y)),
            _ => (min, max),
        };
        let (a, b) = if a.perp_dot(b) < 0.0 { (b, a) } else { (a, b) };
        let behind = -(b - a).perp().normalize_or_zero();
        let edges = [a.perp().normalize_or_zero(), -b.perp().normalize_or_zero()];
        Self { wall, edges, behind, far: behind.dot(a) }
    }

    /// Returns the wall's effect on the line to a point.
    pub(super) fn effect(&self, to: Vec2) -> Effect {
        if self.clears(to, 0.0) {
            Effect::Free
        } else if self.hides(to, 0.0) {
            Effect::Blocked
        } else {
            Effect::Unsure
        }
    }

    /// Returns the distance of a point from the nearer edge of the shadow, in metres; negative
    /// outside.
    fn depth(&self, point: Vec2) -> f32 {
        self.edges[0].dot(point).min(self.edges[1].dot(point))
    }

    /// Whether the wall is not in the way of any line to a point within `radius` of `point`.
    pub(super) fn clears(&self, point: Vec2, radius: f32) -> bool {
        let (least, most) = (point.min(Vec2::splat(radius)), point.max(Vec2::splat(-radius)));
        let margin = radius + MARGIN;
        // On one side of an edge of the shadow, or of a side of the wall, like the viewpoint.
        self.depth(point) < -margin
            || most.cmplt(self.wall.min - margin).any()
            || least.cmpgt(self.wall.max + margin).any()
    }

    /// Whether everything within `radius` of a point is in the shadow.
    pub(super) fn hides(&self, point: Vec2, radius: f32) -> bool {
        let beyond = self.behind.dot(point) - self.far;
        self.depth(point).min(beyond) > radius + MARGIN
    }
}
