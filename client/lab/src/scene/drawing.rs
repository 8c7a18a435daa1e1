//! A path being drawn: positions of the mouse, with times.

use crate::Recording;
use crate::file::Point;

use super::model::SECS_MAX;
use phaselock_ui::words::tr;

/// Seconds between points of a drawn path: finer than any mouse reports.
const STEP_SECS: f64 = 0.004;
/// Length in seconds below which a drawing was a click. Arbitrary.
const SECS_MIN: f64 = 0.15;
/// Extent in points below which a drawing was a click. Arbitrary.
const EXTENT_MIN: f64 = 6.0;

/// A path while it is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    began: f64,
    /// Seconds since then, rising, and positions.
    points: Vec<(f64, [f64; 2])>,
}

/// Too little was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", tr("Hold the mouse button and move the mouse to draw a path."))]
pub(crate) struct NoPath;

impl Drawing {
    pub(crate) fn new(now: f64, position: [f64; 2]) -> Self {
        Self { began: now, points: vec![(0.0, position)] }
    }

    /// Adds the mouse's positions since the last call. Their times are unknown, so they are spread
    /// evenly. Without positions, the mouse did not move.
    pub(crate) fn follow(&mut self, now: f64, positions: &[[f64; 2]]) {
        let (from, last) = self.points.last().copied().unwrap_or_default();
        let to = (now - self.began).min(SECS_MAX);
        if !to.is_finite() || to <= from {
            return;
        }
        let finite = |position: &&[f64; 2]| position.iter().all(|value| value.is_finite());
        let positions: Vec<_> = positions.iter().filter(finite).copied().collect();
        let count = positions.len().max(1) as f64;
        let positions = if positions.is_empty() { &[last][..] } else { &positions };
        for (nth, position) in (1_u32..).zip(positions) {
            let time = from + (to - from) * f64::from(nth) / count;
            // If positions come too fast to be distinguished, the last one counts.
            match self.points.last_mut() {
                Some(last) if time - last.0 < STEP_SECS / 2.0 => last.1 = *position,
                _ => self.points.push((time, *position)),
            }
        }
    }

    pub(crate) fn secs(&self) -> f64 {
        self.points.last().map_or(0.0, |(time, _)| *time)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.secs() >= SECS_MAX
    }

    pub(crate) fn positions(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        self.points.iter().map(|(_, position)| *position)
    }

    /// Makes the path, in even steps of time.
    pub(crate) fn finish(&self) -> Result<Recording, NoPath> {
        let secs = self.secs();
        let span = |axis: usize| {
            let all = self.points.iter().map(|(_, position)| position[axis]);
            let bounds = (f64::INFINITY, f64::NEG_INFINITY);
            let bounds = all.fold(bounds, |(least, most), at| (at.min(least), at.max(most)));
            bounds.1 - bounds.0
        };
        if secs < SECS_MIN || span(0).max(span(1)) < EXTENT_MIN {
            return Err(NoPath);
        }
        let steps = (secs / STEP_SECS).ceil() as u32;
        let points = (0..=steps).map(|step| {
            let time = secs * f64::from(step) / f64::from(steps);
            let [x, y] = self.at(time);
            Point { time, x, y, segment: 0 }
        });
        let points: Vec<_> = points.collect();
        Recording::of_points(&points).ok_or(NoPath)
    }

    fn at(&self, time: f64) -> [f64; 2] {
        let next = self.points.partition_point(|(at, _)| *at <= time);
        let from = self.points[next.saturating_sub(1)];
        let to = self.points.get(next).copied().unwrap_or(from);
        let span = to.0 - from.0;
        let part = if span > 0.0 { (time - from.0) / span } else { 0.0 };
        std::array::from_fn(|axis| from.1[axis] + (to.1[axis] - from.1[axis]) * part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_where_the_mouse_was_when_it_was_there() {
        let mut drawing = Drawing::new(100.0, [10.0, 10.0]);
        drawing.follow(100.1, &[[20.0, 10.0], [30.0, 10.0]]);
        drawing.follow(100.2, &[]);
        drawing.follow(100.3, &[[30.0, 50.0]]);
        let path = drawing.finish().expect("a path");
        assert!((path.secs() - 0.3).abs() < 1e-9);
        for (time, position) in
            [(0.025, [15.0, 10.0]), (0.1, [30.0, 10.0]), (0.2, [30.0, 10.0]), (0.25, [30.0, 30.0])]
        {
            let shown = path.truth(time).expect("it is there").position;
            let off = (shown[0] - position[0]).abs().max((shown[1] - position[1]).abs());
            assert!(off < 0.5, "at {time}: {shown:?}");
        }
    }

    #[test]
    fn a_click_is_no_path() {
        let mut drawing = Drawing::new(0.0, [1.0, 1.0]);
        assert_eq!(drawing.finish().err(), Some(NoPath));
        drawing.follow(3.0, &[[2.0, 2.0], [f64::NAN, 0.0]]);
        assert_eq!(drawing.finish().err(), Some(NoPath), "it hardly moved");
        drawing.follow(3.1, &[[200.0, 2.0]]);
        assert!(drawing.finish().is_ok());
    }

    #[test]
    fn it_ends_after_a_minute() {
        let mut drawing = Drawing::new(0.0, [0.0, 0.0]);
        for frame in 1..10_000 {
            let way = f64::from(frame);
            drawing.follow(way / 100.0, &[[way, 0.0]; 20]);
            if drawing.is_full() {
                break;
            }
        }
        assert!(drawing.is_full());
        let path = drawing.finish().expect("a path");
        assert_eq!(path.secs(), SECS_MAX);
        assert!(path.samples.len() <= 15_001);
    }
}
