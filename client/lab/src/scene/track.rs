//! Curves on the canvas: one point per frame, cut into what is painted.

use std::ops::Range;

use egui_macroquad::egui::{Pos2, pos2};

/// Minimum distance between points of a line, in points of the window.
const APART: f32 = 1.2;
/// Maximum number of points of a line; beyond that, some are left out.
const POINTS_MAX: usize = 1000;
/// Maximum number of dashes of a track; an older part is painted without gaps.
const DASHES_MAX: f32 = 350.0;

/// The shown track of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    /// Knots, one per frame; `None` where nothing is shown.
    knots: Vec<Option<Knot>>,
}

#[derive(Clone, Copy, Debug)]
struct Knot {
    at: Pos2,
    /// Length of the track up to here.
    along: f32,
    /// No line leads here.
    fresh: bool,
}

impl Track {
    /// A track through positions, each with its segment; segments are not connected.
    pub(crate) fn new(positions: impl Iterator<Item = Option<(Pos2, u32)>>) -> Self {
        let (mut along, mut last) = (0.0, None);
        let knots = positions.map(|position| {
            let Some((at, segment)) = position else {
                last = None;
                return None;
            };
            let before = last.replace((at, segment)).filter(|(_, other)| *other == segment);
            along += before.map_or(0.0, |(before, _): (Pos2, u32)| before.distance(at));
            Some(Knot { at, along, fresh: before.is_none() })
        });
        Self { knots: knots.collect() }
    }

    pub(crate) fn at(&self, frame: usize) -> Option<Pos2> {
        self.knots.get(frame)?.map(|knot| knot.at)
    }

    fn part(&self, frames: Range<usize>) -> &[Option<Knot>] {
        let end = frames.end.min(self.knots.len());
        &self.knots[frames.start.min(end)..end]
    }

    /// The lines of some frames, without invisible details.
    pub(crate) fn lines(&self, frames: Range<usize>) -> Vec<Vec<Pos2>> {
        let part = self.part(frames);
        let length = match (part.iter().flatten().next(), part.iter().flatten().next_back()) {
            (Some(first), Some(last)) => last.along - first.along,
            _ => return Vec::new(),
        };
        let apart = APART.max(length / POINTS_MAX as f32);
        let mut lines: Vec<Vec<Pos2>> = Vec::new();
        let mut skipped = None;
        for knot in part {
            if lines.is_empty() || knot.is_none_or(|knot| knot.fresh) {
                end(&mut lines, skipped.take());
                lines.push(Vec::new());
            }
            let (Some(knot), Some(line)) = (knot, lines.last_mut()) else { continue };
            let near = line.last().is_some_and(|last| last.distance(knot.at) < apart);
            skipped = near.then_some(knot.at);
            if !near {
                line.push(knot.at);
            }
        }
        end(&mut lines, skipped);
        lines.retain(|line| line.len() > 1);
        lines
    }

    /// The dashes of some frames: lengths alternately drawn and left out, which stay where they are
    /// as the curve grows. Beyond the maximum, gaps are left out.
    pub(crate) fn dashes(&self, frames: Range<usize>, pattern: &[f32]) -> Vec<Vec<Pos2>> {
        let period: f32 = pattern.iter().sum();
        if pattern.is_empty() || period <= 0.0 {
            return self.lines(frames);
        }
        let part = self.part(frames.clone());
        let Some(end) = part.iter().flatten().next_back() else { return Vec::new() };
        let first = end.along - DASHES_MAX * period / (pattern.len() / 2).max(1) as f32;
        let old = part.iter().take_while(|knot| knot.is_none_or(|knot| knot.along < first)).count();
        let mut dashes = self.lines(frames.start..(frames.start + old));
        let mut last: Option<Knot> = old.checked_sub(1).and_then(|old| part[old]);
        for knot in &part[old..] {
            if let (Some(from), Some(to)) = (last, knot.as_ref().filter(|knot| !knot.fresh)) {
                dash(&mut dashes, (from, *to), pattern, period);
            }
            last = *knot;
        }
        dashes.retain(|dash| dash.len() > 1);
        dashes
    }
}

/// Ends the last line at a point that was left out.
fn end(lines: &mut [Vec<Pos2>], skipped: Option<Pos2>) {
    if let Some(line) = lines.last_mut() {
        line.extend(skipped);
    }
}

/// Adds the dashes between two points. A dash that began before continues.
fn dash(dashes: &mut Vec<Vec<Pos2>>, (from, to): (Knot, Knot), pattern: &[f32], period: f32) {
    let length = to.along - from.along;
    if length <= 0.0 {
        return;
    }
    let point = |along: f32| from.at.lerp(to.at, ((along - from.along) / length).clamp(0.0, 1.0));
    let mut begin = (from.along / period).floor() * period;
    // No more than the length has room for, whatever rounding does.
    for (nth, len) in pattern.iter().cycle().take(pattern.len() * 400).enumerate() {
        if begin >= to.along {
            break;
        }
        let (start, stop) = (begin.max(from.along), (begin + len).min(to.along));
        if nth % 2 == 0 && stop > start {
            match dashes.last_mut() {
                // It goes on from the point before.
                Some(dash) if start > begin && dash.last() == Some(&from.at) => {
                    dash.push(point(stop))
                }
                _ => dashes.push(vec![point(start), point(stop)]),
            }
        }
        begin += len;
    }
}

/// Maps positions to points of the window: as large as fits, with equal scales.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct View {
    middle: Pos2,
    centre: [f64; 2],
    /// Points of the window for one unit.
    scale: f64,
}

impl View {
    /// Shows these bounds within a part of the window of that size around `middle`.
    pub(crate) fn new(bounds: [[f64; 2]; 2], middle: Pos2, size: [f32; 2]) -> Self {
        let span = bounds.map(|[least, most]| (most - least).abs().max(1e-9));
        let fits = [0, 1].map(|axis| f64::from(size[axis].max(1.0)) / span[axis]);
        let centre = bounds.map(|[least, most]| f64::midpoint(least, most));
        Self { middle, centre, scale: fits[0].min(fits[1]) }
    }

    /// Magnified around a position.
    pub(crate) fn nearer(self, times: f64, centre: [f64; 2]) -> Self {
        Self { centre, scale: self.scale * times, ..self }
    }

    pub(crate) fn point(&self, position: [f64; 2]) -> Pos2 {
        // Far outside is far enough; an infinite point would spoil the rest.
        let off =
            |axis: usize| ((position[axis] - self.centre[axis]) * self.scale).clamp(-1e5, 1e5);
        pos2(self.middle.x + off(0) as f32, self.middle.y + off(1) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn straight(frames: u32, step: f32) -> Track {
        Track::new((0..frames).map(|n| Some((pos2(n as f32 * step, 0.0), 0))))
    }

    fn length(lines: &[Vec<Pos2>]) -> f32 {
        let steps = lines.iter().flat_map(|line| line.windows(2));
        steps.map(|ends| ends[0].distance(ends[1])).sum()
    }

    #[test]
    fn lines_end_where_nothing_leads_on() {
        let positions = [Some((0.0, 0)), Some((9.0, 0)), None, Some((20.0, 0)), Some((29.0, 0))]
            .into_iter()
            .chain([Some((50.0, 1)), Some((55.0, 1))]);
        let track = Track::new(positions.map(|it| it.map(|(x, segment)| (pos2(x, 0.0), segment))));
        let ends = |lines: &[Vec<Pos2>]| lines.iter().map(|it| it[0].x).collect::<Vec<_>>();
        assert_eq!(ends(&track.lines(0..9)), [0.0, 20.0, 50.0]);
        assert_eq!(ends(&track.lines(1..5)), [20.0]);
        assert_eq!(length(&track.lines(0..9)), 23.0);
        assert_eq!(length(&track.dashes(0..9, &[1000.0, 1.0])), 23.0);
        assert_eq!((track.at(1), track.at(2)), (Some(pos2(9.0, 0.0)), None));
        assert!(track.lines(7..7).is_empty() && track.dashes(9..99, &[1.0, 1.0]).is_empty());
    }

    #[test]
    fn nothing_is_lost_but_points_that_nobody_sees() {
        let fine = straight(10_001, 0.1);
        let lines = fine.lines(0..usize::MAX);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].len() < 1000 && (length(&lines) - 1000.0).abs() < 0.1);
        assert_eq!(lines[0].last(), fine.at(10_000).as_ref());
        let long = straight(14_401, 7.0);
        assert!(long.lines(0..usize::MAX)[0].len() <= POINTS_MAX + 1);
    }

    #[test]
    fn dashes_stay_where_they_are_as_the_curve_grows() {
        let track = straight(101, 3.0);
        let pattern = [8.0, 4.0];
        let all = track.dashes(0..101, &pattern);
        assert_eq!(all.len(), 25);
        assert!((length(&all) - 200.0).abs() < 0.01, "{}", length(&all));
        for (nth, dash) in all.iter().enumerate() {
            assert!((dash[0].x - nth as f32 * 12.0).abs() < 1e-3, "{dash:?}");
        }
        // From within a dash on: its rest, then the same ones.
        let later = track.dashes(13..101, &pattern);
        assert_eq!(later[0][0].x, 39.0);
        assert_eq!(later[1..], all[4..]);
    }

    #[test]
    fn what_is_painted_is_bounded() {
        let track = straight(14_401, 7.0);
        for pattern in [&[2.0, 3.0][..], &[11.0, 3.0, 2.0, 3.0, 2.0, 3.0]] {
            let dashes = track.dashes(0..usize::MAX, pattern);
            assert!(dashes.len() <= DASHES_MAX as usize + 5, "{}", dashes.len());
            assert!(dashes.iter().map(Vec::len).sum::<usize>() < 4000);
        }
    }

    #[test]
    fn what_is_to_be_seen_fits() {
        let view = View::new([[0.0, 100.0], [0.0, 10.0]], pos2(50.0, 50.0), [200.0, 100.0]);
        assert_eq!(view.point([0.0, 5.0]), pos2(-50.0, 50.0));
        assert_eq!(view.point([100.0, 10.0]), pos2(150.0, 60.0));
        assert_eq!(view.nearer(3.0, [0.0, 5.0]).point([1.0, 5.0]), pos2(56.0, 50.0));
        let point = View::new([[1.0; 2]; 2], pos2(50.0, 50.0), [9.0; 2]).point([1.0, 1e300]);
        assert!(point.x == 50.0 && point.y.is_finite());
    }
}
