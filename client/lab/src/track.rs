//! Data for a plot of a path: the connected pieces, and the fates of the updates.

use super::{Carried, LabSetup, Recording};

/// Numbers the legs of a track: a new one begins on another segment, and at the other edge of a
/// world that wraps. Lines are drawn within legs.
#[derive(Debug, Default)]
pub struct Legs {
    last: Option<([f64; 2], u32)>,
    number: u32,
}

impl Legs {
    /// Number of the leg of the next position.
    pub fn of(&mut self, recording: &Recording, position: [f64; 2], segment: u32) -> u32 {
        if let Some((before, last)) = self.last.replace((position, segment)) {
            let way = recording.way(before, position);
            let jumps = [0, 1].iter().any(|axis: &usize| {
                let straight = position[*axis] - before[*axis];
                (straight - way[*axis]).abs() > straight.abs() / 2.0
            });
            self.number += u32::from(jumps || last != segment);
        }
        self.number
    }

    /// The drawable pieces of a track, also broken where there is no position.
    pub fn pieces(
        recording: &Recording,
        positions: impl Iterator<Item = Option<([f64; 2], u32)>>,
    ) -> Vec<Vec<[f64; 2]>> {
        let mut legs = Self::default();
        let mut pieces: Vec<Vec<[f64; 2]>> = Vec::new();
        let mut before = None;
        for position in positions {
            let Some((position, segment)) = position else {
                before = None;
                continue;
            };
            let leg = legs.of(recording, position, segment);
            match pieces.last_mut().filter(|_| before == Some(leg)) {
                Some(piece) => piece.push(position),
                None => pieces.push(vec![position]),
            }
            before = Some(leg);
        }
        pieces
    }
}

/// An update that was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// Departure in seconds.
    pub sent: f64,
    /// True position then.
    pub position: [f64; 2],
    /// Fate of the update.
    pub fate: Fate,
}

/// The fate of an update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// Arrives at a time in seconds.
    Arrives(f64),
    /// Never arrives.
    Lost,
    /// The path ends before this is known.
    Open,
}

/// The fates of all updates, in order of departure, as far as known at the last frame.
pub fn updates(recording: &Recording, carried: &Carried, setup: &LabSetup) -> Vec<Update> {
    // An update that comes after the last frame is not seen.
    let end = carried.frames.last().map_or(0.0, |frame| frame.now);
    let longest = setup.network.latency_jitter_ms();
    // If nothing arrived, late updates cannot be distinguished from lost ones.
    let unknown = if carried.arrivals.is_empty() { f64::INFINITY } else { 0.0 };
    let mut slowest = longest.map_or(unknown, |(latency, jitter)| (latency + jitter) / 1e3);
    let mut came = vec![f64::INFINITY; carried.sent.len()];
    for arrival in &carried.arrivals {
        if let Ok(at) = carried.sent.binary_search_by(|sent| sent.total_cmp(&arrival.sent)) {
            came[at] = came[at].min(arrival.at);
            slowest = slowest.max(arrival.at - arrival.sent);
        }
    }
    let update = |(&sent, came): (&f64, f64)| {
        let (values, _) = recording.state(sent)?;
        let position = recording.position_of(&recording.shape.coords(&values, None));
        let fate = if came.is_finite() {
            Fate::Arrives(came)
        } else if sent + slowest < end {
            Fate::Lost
        } else {
            Fate::Open
        };
        Some(Update { sent, position, fate })
    };
    carried.sent.iter().zip(came).filter_map(update).collect()
}

#[cfg(test)]
mod tests {
    use phaselock::fields::Record;
    use phaselock::motion::NoRules;
    use phaselock::time::Micros;

    use super::super::file::Point;
    use super::super::{LabNetwork, RecordedSample};
    use super::*;

    phaselock::record! {
        /// On a world that wraps at 128.
        struct Ring {
            x: f32 = Field::wrapping(16, 9),
            y: f32 = Field::wrapping(16, 9),
        }
    }

    fn points(secs: f64, count: u32) -> Recording {
        let point = |at: u32| {
            let time = secs * f64::from(at) / f64::from(count - 1);
            Point { time, x: time * 100.0, y: 0.0, segment: 0 }
        };
        Recording::of_points(&(0..count).map(point).collect::<Vec<_>>()).expect("points")
    }

    fn over(network: LabNetwork, recording: &Recording) -> Vec<Update> {
        let setup = LabSetup { network, ..LabSetup::new(recording) };
        updates(recording, &Carried::new(recording, &setup), &setup)
    }

    fn latency(ms: i64, loss: f32) -> LabNetwork {
        LabNetwork::Latency { latency: Micros::from_ms(ms), jitter: Micros::ZERO, loss }
    }

    #[test]
    fn an_update_comes_or_is_lost_and_the_end_leaves_it_open() {
        let recording = points(10.0, 101);
        let all = over(latency(350, 0.3), &recording);
        let count = |fate: fn(&Fate) -> bool| all.iter().filter(|it| fate(&it.fate)).count();
        let (came, lost) =
            (count(|it| matches!(it, Fate::Arrives(_))), count(|it| *it == Fate::Lost));
        assert!(came > 50 && lost > 20, "{came} came and {lost} were lost");
        for update in &all {
            assert!((update.position[0] - update.sent * 100.0).abs() < 0.1, "{update:?}");
            match update.fate {
                Fate::Arrives(at) => assert!((at - update.sent - 0.35).abs() < 1e-5, "{update:?}"),
                Fate::Lost => assert!(update.sent < 9.65, "{update:?}"),
                Fate::Open => assert!(update.sent > 9.64, "{update:?}"),
            }
        }
        // If the path ends before anything arrives, nothing is lost or known.
        for network in [latency(365, 0.0), "delay=365ms".parse().expect("a network")] {
            let all = over(network, &points(0.3, 31));
            assert!(all.len() > 1 && all.iter().all(|it| it.fate == Fate::Open), "{all:?}");
        }
    }

    #[test]
    fn a_line_is_broken_at_cuts_and_at_the_edge_of_a_world_that_wraps() {
        let recording = points(1.0, 11);
        let at = |x: f64, segment| Some(([x, 0.0], segment));
        let pieces = |positions: Vec<_>| Legs::pieces(&recording, positions.into_iter());
        let broken = pieces(vec![at(0.0, 0), at(1.0, 0), None, at(2.0, 0), at(3.0, 1)]);
        assert_eq!(
            broken,
            [vec![[0.0, 0.0], [1.0, 0.0]], vec![[2.0, 0.0]], vec![[3.0, 0.0]]],
            "where it was not, and at a teleport"
        );
        assert_eq!(pieces(vec![at(-1e4, 0), at(1e4, 0)]).len(), 1, "no edge, no break");

        // What leaves on one side enters on the other.
        let sample = |(time, x): (f64, f32)| RecordedSample {
            time,
            values: Ring { x, y: 64.0 }.values(),
            segment: 0,
        };
        let samples = [(0.0, 126.0), (0.1, 1.0)].map(sample).to_vec();
        let round = Recording::of(Ring::FIELDS, samples, Box::new(NoRules)).expect("two samples");
        let over = Legs::pieces(&round, [at(125.0, 0), at(127.0, 0), at(1.0, 0)].into_iter());
        assert_eq!(over, [vec![[125.0, 0.0], [127.0, 0.0]], vec![[1.0, 0.0]]]);
    }
}
