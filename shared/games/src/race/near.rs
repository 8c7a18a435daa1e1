//! Finds the nearest point of a closed line, with a grid of cells.

use glam::Vec2;

/// Side length of a cell in metres. Arbitrary: smaller cells use memory, larger ones time.
const CELL: f32 = 4.0;
/// Metres around the line that cells cover; beyond, all segments are checked.
const MARGIN: f32 = 24.0;

/// The segments of a closed line, by the cells of the plane in which one of their points may be
/// nearest.
#[derive(Debug)]
pub(super) struct Near {
    points: Vec<Vec2>,
    min: Vec2,
    columns: usize,
    rows: usize,
    /// Start of each cell's list in `segments`, and the end of the last one.
    begins: Vec<u32>,
    segments: Vec<u16>,
}

impl Near {
    /// Creates the grid for a line of fewer than 65536 points.
    pub(super) fn new(points: &[Vec2]) -> Self {
        let min = points.iter().fold(Vec2::MAX, |least, point| least.min(*point)) - MARGIN;
        let max = points.iter().fold(Vec2::MIN, |most, point| most.max(*point)) + MARGIN;
        let [columns, rows] = ((max - min) / CELL).ceil().to_array().map(|it| it as usize);
        let mut near = Self {
            points: points.to_vec(),
            min,
            columns,
            rows,
            begins: vec![0],
            segments: Vec::new(),
        };
        // Half of a cell's diagonal, the maximum distance from its centre.
        let half = CELL * 0.5 * std::f32::consts::SQRT_2;
        for cell in 0..columns * rows {
            let at = Vec2::new((cell % columns) as f32 + 0.5, (cell / columns) as f32 + 0.5);
            let middle = min + at * CELL;
            let distances: Vec<f32> =
                (0..points.len()).map(|n| near.on(n, middle).1.distance(middle)).collect();
            let least = distances.iter().copied().fold(f32::MAX, f32::min);
            let may = distances.iter().zip(0..).filter(|(it, _)| **it <= least + 2.0 * half + 0.01);
            near.segments.extend(may.map(|(_, n): (_, u16)| n));
            near.begins.push(near.segments.len() as u32);
        }
        near
    }

    /// Returns the point of a segment that is nearest to a position, after its fraction of the
    /// segment.
    fn on(&self, segment: usize, position: Vec2) -> (f32, Vec2) {
        let (a, b) = (self.points[segment], self.points[(segment + 1) % self.points.len()]);
        let way = b - a;
        let part = ((position - a).dot(way) / way.length_squared()).clamp(0.0, 1.0);
        (part, a + way * part)
    }

    /// Returns the segment that is nearest to a position, the fraction along it, and the point.
    pub(super) fn nearest(&self, position: Vec2) -> (usize, f32, Vec2) {
        let cell = ((position - self.min) / CELL).floor();
        let (column, row) = (cell.x as usize, cell.y as usize);
        let inside = cell.min_element() >= 0.0 && column < self.columns && row < self.rows;
        let mut best = (f32::MAX, (0, 0.0, self.points[0]));
        let mut look = |segment: usize| {
            let (part, at) = self.on(segment, position);
            let distance = at.distance_squared(position);
            if distance < best.0 {
                best = (distance, (segment, part, at));
            }
        };
        if inside {
            let cell = row * self.columns + column;
            let list = self.begins[cell] as usize..self.begins[cell + 1] as usize;
            self.segments[list].iter().for_each(|segment| look(usize::from(*segment)));
        } else {
            (0..self.points.len()).for_each(look);
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::physics::direction;
    use proptest::prelude::*;

    fn ring() -> Vec<Vec2> {
        (0..60).map(|n| direction(n as f32 / 60.0) * Vec2::new(70.0, 25.0)).collect()
    }

    proptest! {
        #[test]
        fn cells_find_what_looking_at_everything_finds(
            x in -120.0_f32..120.0, y in -80.0_f32..80.0,
        ) {
            let near = Near::new(&ring());
            let position = Vec2::new(x, y);
            let distance = |n| near.on(n, position).1.distance(position);
            let all = (0..60).map(distance).fold(f32::MAX, f32::min);
            let found = near.nearest(position).2.distance(position);
            prop_assert!((found - all).abs() < 1e-4, "{} and {}", found, all);
        }
    }

    #[test]
    fn positions_without_numbers_have_a_nearest_point() {
        let near = Near::new(&ring());
        for position in [Vec2::NAN, Vec2::splat(f32::INFINITY), Vec2::splat(-1e30)] {
            assert!(near.nearest(position).2.is_finite());
        }
    }
}
