//! The track along the circuit: its ground, gates, and grid.
//!
//! Everything is computed with additions, multiplications, divisions and square roots, so all
//! machines have a bit-identical track.

use std::sync::LazyLock;

use glam::Vec2;

use super::circuit::even_points;
pub use super::circuit::{BARRIER, BEND, HALF_WIDTH, KERB, Sample};
use super::line::racing_line;
use super::near::Near;
use phaselock::replay::run_hash;

/// Number of gates around the track.
pub const GATES: u16 = 32;
/// Number of laps in a race.
pub const LAPS: u16 = 3;
/// Number of gates passed at the end of a race; see [`lap_of`].
pub const FINISH: u16 = (LAPS + 1) * GATES + 1;

/// A line across the track that must be passed in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// Centre of the gate.
    pub at: Vec2,
    /// Unit vector of the direction of travel.
    pub along: Vec2,
    /// Reach to the left and to the right in metres: to the barriers, or less where gates of a
    /// tight bend would meet.
    pub reach: [f32; 2],
    /// Metres from the start line along the centre of the track.
    pub station: f32,
    /// The shortest way from any of its points to any of the next gate's, in metres.
    pub to_next: f32,
}

/// A position relative to the track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Metres from the start line along the centre of the track: 0 up to but excluding its length.
    pub station: f32,
    /// Metres to the right of the centre line; negative to the left.
    pub beside: f32,
    /// The nearest point of the centre line.
    pub at: Vec2,
    /// Unit vector of the direction of travel there.
    pub along: Vec2,
    /// Curvature of the track there, in 1/m; positive to the right.
    pub curvature: f32,
}

/// Kind of ground under a wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// The road.
    Asphalt,
    /// The painted border of a bend.
    Kerb,
    /// All other ground.
    Grass,
}

/// The circuit.
#[derive(Debug)]
pub struct Track {
    /// The centre line, closed, in even steps from the start line on.
    pub samples: Vec<Sample>,
    /// The gates in order; the first is the start line.
    pub gates: Vec<Gate>,
    /// Length in metres along the centre.
    pub length: f32,
    /// Metres from one sample to the next.
    pub spacing: f32,
    /// Sums of the ways between gates: before gate 0, 1, ... of the first round.
    sums: Vec<f32>,
    near: Near,
}

impl Track {
    /// Returns the only circuit.
    pub fn get() -> &'static Self {
        static TRACK: LazyLock<Track> = LazyLock::new(Track::new);
        &TRACK
    }

    /// Returns a hash of the gates, which tells circuits apart.
    pub fn hash(&self) -> u64 {
        let points = self.gates.iter().flat_map(|gate| gate.at.to_array());
        run_hash(&points.flat_map(f32::to_le_bytes).collect::<Vec<_>>())
    }

    fn new() -> Self {
        let (points, spacing) = even_points(GATES);
        let count = points.len();
        let point = |n: usize| points[n % count];
        // Over a few steps each way, since the spline's bends are not smooth to the last metre.
        let along = |n: usize| (point(n + 2) - point(n + count - 2)).normalize_or(Vec2::X);
        let curvature = |n: usize| {
            let turn = along(n + count - 2).perp_dot(along(n + 2));
            turn.clamp(-1.0, 1.0) / (4.0 * spacing)
        };
        let mut samples: Vec<Sample> = (0..count)
            .map(|n| Sample {
                at: point(n),
                along: along(n),
                curvature: curvature(n),
                line: 0.0,
                pace: 0.0,
            })
            .collect();
        racing_line(&mut samples, spacing);
        let near = Near::new(&points);
        let mut track = Self {
            length: count as f32 * spacing,
            spacing,
            gates: gates(&samples, spacing),
            sums: Vec::new(),
            samples,
            near,
        };
        let mut sum = 0.0;
        for gate in &track.gates {
            track.sums.push(sum);
            sum += gate.to_next;
        }
        track.sums.push(sum);
        track
    }

    /// Returns a position relative to the track, by the nearest point of the centre line.
    pub fn spot(&self, position: Vec2) -> Spot {
        let (segment, part, at) = self.near.nearest(position);
        let [a, b] = [segment, segment + 1].map(|n| &self.samples[n % self.samples.len()]);
        let along = a.along.lerp(b.along, part).normalize_or(a.along);
        let away = position - at;
        let beside = if along.perp_dot(away) < 0.0 { -away.length() } else { away.length() };
        let station = (segment as f32 + part) * self.spacing;
        let curvature = a.curvature + (b.curvature - a.curvature) * part;
        let station = if station < self.length { station } else { 0.0 };
        Spot { station, beside, at, along, curvature }
    }

    /// Returns the sample nearest to a station of any lap.
    pub fn sample(&self, station: f32) -> &Sample {
        let n = (station.rem_euclid(self.length) / self.spacing).round() as usize;
        &self.samples[n % self.samples.len()]
    }

    /// Returns the position at a station of any lap, `beside` metres to the right of the centre.
    pub fn position(&self, station: f32, beside: f32) -> Vec2 {
        let at = station.rem_euclid(self.length) / self.spacing;
        let (n, part) = (at as usize, at.fract());
        let [a, b] = [n, n + 1].map(|n| &self.samples[n % self.samples.len()]);
        a.at.lerp(b.at, part) + a.along.lerp(b.along, part).normalize_or(a.along).perp() * beside
    }

    /// Returns the metres from one station to another, along the shorter way around; negative
    /// backwards.
    pub fn ahead(&self, from: f32, to: f32) -> f32 {
        let way = (to - from).rem_euclid(self.length);
        if way > self.length / 2.0 { way - self.length } else { way }
    }

    /// Returns the kind of ground at a spot.
    pub fn ground(&self, spot: &Spot) -> Ground {
        let beside = spot.beside.abs();
        if beside <= HALF_WIDTH {
            Ground::Asphalt
        } else if beside <= HALF_WIDTH + KERB && spot.curvature.abs() >= BEND {
            Ground::Kerb
        } else {
            Ground::Grass
        }
    }

    /// Returns the next gate after this many.
    pub fn next_gate(&self, passed: u16) -> &Gate {
        &self.gates[usize::from(passed % GATES)]
    }

    /// Returns the gate passed last.
    pub fn last_gate(&self, passed: u16) -> &Gate {
        self.next_gate(passed + GATES - 1)
    }

    /// Returns how many gates count as passed at a station, in the round before the first lap.
    pub fn gates_at(&self, station: f32) -> u16 {
        let gap = self.length / f32::from(GATES);
        1 + (station.rem_euclid(self.length) / gap) as u16 % GATES
    }

    /// Returns the progress of a car that has passed this many gates, in metres of the shortest way
    /// from gate to gate. It is continuous at gates and increases by no more than the car moves:
    /// the distance to the next gate decreases no faster, and is at least [`Gate::to_next`] at the
    /// gate before.
    pub fn progress(&self, passed: u16, position: Vec2) -> f32 {
        let last = self.last_gate(passed);
        let gates = usize::from(GATES);
        let count = usize::from(passed).saturating_sub(1);
        let before = self.sums[gates] * (count / gates) as f32 + self.sums[count % gates];
        let left = self.next_gate(passed).distance(position);
        before + (last.to_next - left).clamp(0.0, last.to_next)
    }

    /// Returns the station of a slot on the grid with this many cars, and metres to the right of
    /// the centre. Up to 32 cars stand in two staggered columns, more in rows of four; all seats of
    /// a room fit.
    pub fn slot(&self, slot: usize, cars: usize) -> (f32, f32) {
        let (behind, beside) = if cars <= 32 {
            (4.0 + 5.0 * slot as f32, if slot.is_multiple_of(2) { -3.0 } else { 3.0 })
        } else {
            let (row, column) = (slot / 4, slot % 4);
            (4.0 + 7.0 * row as f32 + 1.2 * column as f32, -5.1 + 3.4 * column as f32)
        };
        ((self.length - behind).rem_euclid(self.length), beside)
    }
}

/// Returns the lap after this many gates: 0 before the line, [`LAPS`] + 1 after the last.
pub fn lap_of(passed: u16) -> u16 {
    passed.saturating_sub(1) / GATES
}

fn gates(samples: &[Sample], spacing: f32) -> Vec<Gate> {
    let count = samples.len();
    let gap = count / usize::from(GATES);
    let mut gates: Vec<Gate> = (0..usize::from(GATES))
        .map(|n| {
            let sample = samples[n * gap];
            // The tightest curve between its neighbours.
            let near =
                (0..2 * gap).map(|by| samples[(n * gap + count - gap + by) % count].curvature);
            let reach = [-1.0, 1.0].map(|side: f32| {
                let most = near.clone().fold(0.0, |most: f32, curve| most.max(curve * side));
                (0.8 / most.max(1e-3)).min(BARRIER)
            });
            let station = (n * gap) as f32 * spacing;
            Gate { at: sample.at, along: sample.along, reach, station, to_next: 0.0 }
        })
        .collect();
    for n in 0..gates.len() {
        let next = gates[(n + 1) % gates.len()];
        let gate = &mut gates[n];
        // Two lines that do not meet are closest at an end of one of them.
        let here = gate.ends().map(|end| next.distance(end));
        let there = next.ends().map(|end| gate.distance(end));
        gate.to_next = here.into_iter().chain(there).fold(f32::MAX, f32::min);
    }
    gates
}

impl Gate {
    /// Returns its left and its right end.
    pub fn ends(&self) -> [Vec2; 2] {
        let right = self.along.perp();
        [self.at - right * self.reach[0], self.at + right * self.reach[1]]
    }

    /// Returns the metres beyond it; negative before it.
    pub fn beyond(&self, position: Vec2) -> f32 {
        (position - self.at).dot(self.along)
    }

    /// Returns the metres to its nearest point.
    pub fn distance(&self, position: Vec2) -> f32 {
        let right = self.along.perp();
        let beside = (position - self.at).dot(right).clamp(-self.reach[0], self.reach[1]);
        position.distance(self.at + right * beside)
    }

    /// Whether a straight path passes it forwards. A path that ends on it passes it, one that
    /// starts there does not.
    pub fn is_passed(&self, from: Vec2, to: Vec2) -> bool {
        let (before, after) = (self.beyond(from), self.beyond(to));
        if before >= 0.0 || after < 0.0 {
            return false;
        }
        let crossing = from + (to - from) * (before / (before - after));
        let beside = (crossing - self.at).dot(self.along.perp());
        -self.reach[0] <= beside && beside <= self.reach[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::SEATS_MAX;

    #[test]
    fn the_track_is_long_enough_for_everybody_and_no_bend_too_tight() {
        let track = Track::get();
        assert!((900.0..1300.0).contains(&track.length), "{} m", track.length);
        let rows = (usize::from(SEATS_MAX) / 4) as f32;
        assert!(4.0 + 7.0 * rows + 8.0 < track.length, "the starting grid overlaps itself");
        let tightest = track.samples.iter().map(|s| s.curvature.abs()).fold(0.0, f32::max);
        assert!(tightest < 1.0 / (HALF_WIDTH + 4.0), "a radius of {} m", 1.0 / tightest);
        let most = track.samples.iter().flat_map(|s| s.at.abs().to_array()).fold(0.0, f32::max);
        assert!(most + BARRIER < 256.0, "positions are sent within 256 m");
    }

    #[test]
    fn roads_do_not_meet_and_lines_are_within_them() {
        let track = Track::get();
        for (n, a) in track.samples.iter().enumerate() {
            for (m, b) in track.samples.iter().enumerate() {
                let apart = track.ahead(n as f32 * track.spacing, m as f32 * track.spacing).abs();
                let distance = a.at.distance(b.at);
                assert!(
                    apart < 60.0 || distance > 2.0 * HALF_WIDTH + 2.0,
                    "{n} and {m}: {distance}"
                );
            }
            assert!(a.line.abs() < HALF_WIDTH - 1.0 && a.pace > 8.0, "{a:?}");
        }
    }

    #[test]
    fn spots_are_places() {
        let track = Track::get();
        for n in 0..(track.length as usize) {
            for beside in [-9.0, -3.0, 0.0, 5.0] {
                let position = track.position(n as f32, beside);
                let spot = track.spot(position);
                assert!((spot.beside - beside).abs() < 0.3, "{n}, {beside}: {spot:?}");
                assert!(track.ahead(spot.station, n as f32).abs() < 2.5, "{n}, {beside}: {spot:?}");
            }
        }
    }

    #[test]
    fn gates_are_apart_and_passed_in_turn_by_who_follows_the_track() {
        let track = Track::get();
        for gate in &track.gates {
            assert!(gate.to_next > 5.0 && gate.reach.iter().all(|it| *it > HALF_WIDTH), "{gate:?}");
        }
        for beside in [-6.0, 0.0, 6.0] {
            let mut passed = track.gates_at(track.length - 5.0);
            assert_eq!((passed, lap_of(passed)), (GATES, 0));
            let mut from = track.position(-5.0, beside);
            let mut progress = track.progress(passed, from);
            for step in 0..(track.length * 2.0) as usize {
                let to = track.position(-5.0 + step as f32 * 0.5, beside);
                let gate = track.next_gate(passed);
                passed += u16::from(gate.is_passed(from, to));
                let now = track.progress(passed, to);
                assert!(
                    now - progress <= from.distance(to) + 1e-3,
                    "at {step}: {progress} to {now}"
                );
                (from, progress) = (to, now);
            }
            assert_eq!(lap_of(passed), 1, "one short of a lap: {passed}");
            assert_eq!(passed, 2 * GATES);
            assert_eq!(track.next_gate(passed).station, 0.0);
        }
    }
}
