//! Every method over every combination of path, network and rates.
//!
//! A *cell* is one combination of everything except a method; what the network does is drawn once
//! for it, so that all methods are shown the same. Cells do not depend on each other, so they may
//! be measured in any order and at once; the rows of a plan are the same whatever the order.

use std::fmt;
use std::sync::Arc;

use phaselock::time::Micros;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::scores::timeline_name;
use super::{
    Carried, Contender, DelayRule, LabNetwork, LabSetup, Recording, Scores, SendPolicy, Stamps,
};

/// A recording with a name.
#[derive(Clone, Debug)]
pub struct SweepSubject {
    /// Name of the path.
    pub name: String,
    /// The motion.
    pub recording: Arc<Recording>,
}

/// The measurements of a sweep.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Motions.
    pub subjects: Vec<SweepSubject>,
    /// Seconds between updates.
    pub intervals: Vec<f64>,
    /// Networks.
    pub networks: Vec<LabNetwork>,
    /// Number of past intervals averaged to predict the next update.
    pub histories: Vec<usize>,
    /// Frames per second.
    pub frame_rates: Vec<f64>,
    /// Methods.
    pub contenders: Vec<Contender>,
    /// Rule that decides whether a state is put into an update.
    pub sending: SendPolicy,
    /// Times of the states.
    pub stamps: Stamps,
    /// Interpolation delay.
    pub delay: DelayRule,
    /// Horizon of combinations in seconds.
    pub horizon: f64,
    /// Seeds for each cell.
    pub repeats: u64,
    /// The first seed.
    pub seed: u64,
    /// Maximum seconds of each path.
    pub secs: f64,
}

/// A combination without its method.
#[derive(Clone, Debug)]
pub struct Cell<'a> {
    /// The motion.
    pub subject: &'a SweepSubject,
    /// Settings of the measurement.
    pub setup: LabSetup,
}

impl Plan {
    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.sizes().into_iter().fold(1, usize::saturating_mul)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.cells().saturating_mul(self.contenders.len())
    }

    fn sizes(&self) -> [usize; 6] {
        [
            self.subjects.len(),
            self.networks.len(),
            self.intervals.len(),
            self.histories.len(),
            self.frame_rates.len(),
            usize::try_from(self.repeats).unwrap_or(usize::MAX),
        ]
    }

    /// The cell with a number below [`cells`](Self::cells).
    pub fn cell(&self, number: usize) -> Cell<'_> {
        let mut rest = number;
        let mut at = [0; 6];
        for (at, size) in at.iter_mut().zip(self.sizes()).rev() {
            (*at, rest) = (rest % size, rest / size);
        }
        let subject = &self.subjects[at[0]];
        let seed = self.seed.wrapping_add(at[5] as u64);
        let setup = LabSetup {
            interval: self.intervals[at[2]],
            sending: self.sending,
            network: self.networks[at[1]].clone(),
            stamps: self.stamps,
            history: self.histories[at[3]],
            delay: self.delay,
            horizon: self.horizon,
            frame: 1.0 / self.frame_rates[at[4]],
            phase: LabSetup::phase_of(seed),
            seed,
            ..LabSetup::lasting(&subject.recording, self.secs)
        };
        Cell { subject, setup }
    }

    /// Measures a cell while `go_on` returns true: one row per method. Unfinished rows are left
    /// out.
    pub fn measure(&self, number: usize, go_on: impl Fn() -> bool) -> Vec<Measurement> {
        self.measuring(number, &go_on).collect()
    }

    /// Measures a cell row by row, while `go_on` returns true.
    pub fn measuring<'a>(
        &'a self,
        number: usize,
        go_on: &'a dyn Fn() -> bool,
    ) -> impl Iterator<Item = Measurement> + 'a {
        let Cell { subject, setup } = self.cell(number);
        let recording = &*subject.recording;
        let carried = Carried::new_while(recording, &setup, go_on);
        let row = move |method: Contender, scores: Scores| Measurement {
            path: subject.name.clone(),
            latency_ms: setup.network.latency_jitter_ms().map(|(latency, _)| tidied(latency)),
            jitter_ms: setup.network.latency_jitter_ms().map(|(_, jitter)| tidied(jitter)),
            loss: setup.network.loss().map(tidied),
            network: setup.network.clone(),
            sending: setup.sending.name(),
            stamps: setup.stamps.name(),
            interval_ms: tidied(setup.interval * 1e3),
            history: setup.history,
            frame_hz: tidied(1.0 / setup.frame),
            seed: setup.seed,
            method,
            timeline: timeline_name(method.timeline()),
            horizon_ms: matches!(method, Contender::Waypoints(..))
                .then(|| tidied(setup.horizon * 1e3)),
            delay: setup.delay.name(),
            delay_ms: Micros(carried.delay_mean.0).as_ms(),
            sends_per_second: carried.sends_per_second,
            scores,
        };
        self.contenders.iter().map_while(move |&method| {
            if !go_on() {
                return None;
            }
            let scores = Scores::of_while(recording, &carried, method, go_on);
            go_on().then(|| row(method, scores))
        })
    }

    /// The cells in which every method was measured, from rows in the plan's order.
    pub fn whole<'a>(&'a self, rows: &'a [Measurement]) -> impl Iterator<Item = &'a [Measurement]> {
        // No method is in a plan twice, and an interruption leaves out the last methods of a cell.
        let first = self.contenders.first();
        let cells = rows.chunk_by(move |_, next| Some(&next.method) != first);
        cells.filter(|cell| cell.len() == self.contenders.len())
    }
}

/// A method's result in a cell, with distances in the path's own unit.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// Name of the path.
    pub path: String,
    /// The network.
    #[serde(serialize_with = "by_name")]
    pub network: LabNetwork,
    /// Minimum latency, of the thesis's network.
    pub latency_ms: Option<f64>,
    /// Maximum extra latency, of the thesis's network.
    pub jitter_ms: Option<f64>,
    /// Share of lost updates, of the thesis's network.
    pub loss: Option<f64>,
    /// Rule that decided whether a state was put into an update.
    pub sending: &'static str,
    /// Times of the states: `sent` or `arrived`.
    pub stamps: &'static str,
    /// Milliseconds between updates.
    pub interval_ms: f64,
    /// Number of past intervals averaged to predict the next update.
    pub history: usize,
    /// Frames per second.
    pub frame_hz: f64,
    /// Seed.
    pub seed: u64,
    /// Method.
    #[serde(serialize_with = "by_name")]
    pub method: Contender,
    /// Time shown: `past` or `present`.
    pub timeline: &'static str,
    /// Horizon of a combination in milliseconds.
    pub horizon_ms: Option<f64>,
    /// Rule of the interpolation delay: `steered` or `fixed`.
    pub delay: &'static str,
    /// Mean interpolation delay.
    pub delay_ms: f64,
    /// States sent per second.
    pub sends_per_second: f64,
    /// The scores.
    #[serde(flatten)]
    pub scores: Scores,
}

/// Rounds off what the conversion from seconds added.
fn tidied(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn by_name<S: Serializer>(what: &impl fmt::Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(what)
}

/// Columns of the comma-separated values, in order.
pub const CSV_HEADER: &str = "\
    path,network,latency_ms,jitter_ms,loss,sending,stamps,interval_ms,history,frame_hz,seed,\
    method,timeline,horizon_ms,delay,delay_ms,sends_per_second,error_now_mean,error_now_p99,\
    error_now_max,error_shown_mean,error_shown_p99,error_shown_max,jerk,jerk_max,\
    missing_per_million,absent_per_million,frames";

impl Measurement {
    /// Whether anything was shown; errors are then known, and jerk perhaps.
    pub fn is_measured(&self) -> bool {
        [self.scores.error_now_mean, self.scores.error_shown_mean].iter().all(|it| it.is_finite())
    }

    /// The row as comma-separated values; an unknown value is empty.
    pub fn csv(&self) -> String {
        let value = serde_json::to_value(self).expect("a row has names, texts and numbers only");
        let cell = |column| match &value[column] {
            Value::String(text) => quoted(text),
            // As Rust writes numbers: without an exponent.
            Value::Number(number) if number.is_f64() => {
                number.as_f64().map(|number| number.to_string()).unwrap_or_default()
            }
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        CSV_HEADER.split(',').map(cell).collect::<Vec<_>>().join(",")
    }
}

/// Quotes a text for comma-separated values (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::formulas::Formula;
    use super::*;
    use phaselock::motion::HORIZON_SECS;

    pub(crate) fn plan() -> Plan {
        let subject = |shape: &Formula| SweepSubject {
            name: shape.name().into(),
            recording: Arc::new(shape.record(4.0)),
        };
        let network = |latency, jitter| LabNetwork::Latency {
            latency: Micros::from_ms(latency),
            jitter: Micros::from_ms(jitter),
            loss: 0.0,
        };
        Plan {
            subjects: Formula::ALL[..2].iter().map(subject).collect(),
            intervals: vec![0.05, 0.1],
            networks: vec![network(0, 0), network(50, 50), "mobile".parse().expect("a profile")],
            histories: vec![0, 4],
            frame_rates: vec![60.0],
            contenders: Contender::playable().collect(),
            sending: SendPolicy::Every,
            stamps: Stamps::Sent,
            delay: DelayRule::Steered,
            horizon: HORIZON_SECS,
            repeats: 2,
            seed: 1,
            secs: 600.0,
        }
    }

    #[test]
    fn each_combination_is_a_cell_once_and_repeats_bit_for_bit() {
        let plan = plan();
        assert_eq!((plan.cells(), plan.rows()), (2 * 2 * 3 * 2 * 2, 48 * 17));
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..plan.cells() {
            let cell = plan.cell(number);
            assert!(seen.insert(format!("{} {:?}", cell.subject.name, cell.setup)));
        }
        let text = |rows: Vec<Measurement>| {
            rows.iter().map(Measurement::csv).collect::<Vec<_>>().join("\n")
        };
        // The last network has random delays and losses.
        let number = (0..plan.cells())
            .find(|number| matches!(plan.cell(*number).setup.network, LabNetwork::Link(_)))
            .expect("there is one");
        assert_eq!(text(plan.measure(number, || true)), text(plan.measure(number, || true)));
        let other = plan.measure(number + 1, || true);
        assert_ne!(other[1].scores, plan.measure(number, || true)[1].scores, "with another seed");
    }

    #[test]
    fn a_row_is_measured_again_by_its_own_seed() {
        let text =
            |plan: &Plan, cell| plan.measure(cell, || true).iter().map(Measurement::csv).collect();
        let plan = Plan { repeats: 3, ..plan() };
        let again = Plan { seed: 2, repeats: 1, ..plan.clone() };
        // For the worst network, which is not the first.
        let at = |plan: &Plan, seed| {
            let fits = |cell: &usize| {
                let setup = plan.cell(*cell).setup;
                setup.seed == seed && matches!(setup.network, LabNetwork::Link(_))
            };
            (0..plan.cells()).find(fits).expect("there is one")
        };
        let [second, alone]: [Vec<String>; 2] =
            [text(&plan, at(&plan, 2)), text(&again, at(&again, 2))];
        assert_eq!(second, alone);
    }

    #[test]
    fn what_is_stopped_amid_is_left_out() {
        use std::cell::Cell;
        let plan = plan();
        let all = plan.measure(0, || true);
        let mut counts = std::collections::BTreeSet::new();
        for most in 0..40 {
            let asked = Cell::new(0);
            let rows = plan.measure(0, || asked.replace(asked.get() + 1) < most);
            assert!(asked.get() <= most + 1, "after the answer it sends no more queries");
            assert!(rows.iter().zip(&all).all(|(row, other)| row.csv() == other.csv()));
            counts.insert(rows.len());
        }
        assert_eq!(counts, (0..=all.len()).collect());
        // An hour of it ends as soon.
        let recording = Formula::Sine.record(3600.0);
        let asked = Cell::new(0);
        let carried = Carried::new_while(&recording, &LabSetup::new(&recording), &|| {
            asked.replace(asked.get() + 1) < 1
        });
        assert!(asked.get() == 2 && carried.frames() < 10_000, "{}", carried.frames());
        let carried = Carried::new(&recording, &LabSetup::new(&recording));
        let newest = Contender::Newest;
        let part = Scores::of_while(&recording, &carried, newest, &|| false);
        assert!(part.frames < 10_000, "{part:?}");
    }

    #[test]
    fn cells_are_whole_or_are_not() {
        let plan = Plan { repeats: 3, ..plan() };
        let [first, second, third] = [0, 1, 2].map(|cell| plan.measure(cell, || true));
        let rows = [&first[..], &second[..16], &third[..]].concat();
        let seeds: Vec<_> = plan.whole(&rows).map(|cell| (cell.len(), cell[0].seed)).collect();
        assert_eq!(seeds, [(17, 1), (17, 3)]);
        assert_eq!((plan.whole(&rows[..16]).count(), plan.whole(&[]).count()), (0, 0));
    }

    #[test]
    fn a_row_has_a_value_for_each_column() {
        let plan = plan();
        for number in [0, plan.cells() - 1] {
            for row in plan.measure(number, || true) {
                let line = row.csv();
                assert_eq!(line.split(',').count(), CSV_HEADER.split(',').count(), "{line}");
            }
        }
        assert_eq!(quoted("a,b\"c"), "\"a,b\"\"c\"");
    }

    #[test]
    fn latency_and_jitter_only_ever_make_it_later() {
        let recording = Formula::Zigzag.record(20.0);
        let network = LabNetwork::Latency {
            latency: Micros::from_ms(50),
            jitter: Micros::from_ms(50),
            loss: 0.0,
        };
        let setup = LabSetup { network, interval: 0.01, ..LabSetup::new(&recording) };
        let carried = Carried::new(&recording, &setup);
        let took = carried.arrivals.iter().map(|state| state.at - state.sent);
        let (least, most) =
            took.fold((1.0_f64, 0.0_f64), |(least, most), it| (least.min(it), most.max(it)));
        assert!(
            (0.0499..0.052).contains(&least) && (0.098..=0.1001).contains(&most),
            "{least} {most}"
        );
        assert!(carried.arrivals.len() > 1980);
    }
}
