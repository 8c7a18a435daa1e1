//! State of the laboratory behind the picture: a path, its updates over a network, the positions by
//! each method, and the current time.

use std::rc::Rc;

use crate::formulas::Formula;
use crate::scores::Tally;
use crate::track::{self, Update};
use crate::{Carried, Contender, Recording, ScoredFrame, Scores, watch};
use phaselock::motion::Choice;

use super::settings::LabSettings;
use phaselock_ui::words::tr;

/// Maximum length of a path in seconds; a longer one is cut. Arbitrary: bounds painting and memory.
pub(crate) const SECS_MAX: f64 = 60.0;
/// Length of built-in paths in seconds. Arbitrary: quickly seen, and long enough to be scored.
const SHAPE_SECS: f64 = 10.0;

/// Source of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Origin {
    Formula(Formula),
    Drawn,
    File,
}

/// Unit of distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Drawn and built-in paths.
    Pixels,
    /// Recordings of play.
    Metres,
    /// Files.
    Own,
}

/// A path, with the unit of its distances.
#[derive(Clone, Debug)]
pub(crate) struct LabPath {
    pub(crate) origin: Origin,
    pub(crate) title: String,
    pub(crate) unit: Unit,
    pub(crate) recording: Rc<Recording>,
}

impl LabPath {
    pub(crate) fn formula(shape: Formula) -> Self {
        let recording = shape.record(SHAPE_SECS);
        Self::new(Origin::Formula(shape), shape.title().to_owned(), Unit::Pixels, recording)
    }

    fn new(origin: Origin, title: String, unit: Unit, recording: Recording) -> Self {
        Self { origin, title, unit, recording: Rc::new(recording) }
    }
}

/// A method with its run and scores.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) contender: Contender,
    pub(crate) title: String,
    pub(crate) on: bool,
    /// Index of its look.
    pub(crate) look: usize,
    /// Frames that it shows, once computed.
    pub(crate) run: Option<Vec<ScoredFrame>>,
    /// Scores up to the current time.
    pub(crate) scores: Scores,
    /// Scores of `scored` frames, not yet shown.
    next: Scores,
    scored: Option<usize>,
}

/// A path, its network, the methods, and the current time.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) path: LabPath,
    pub(crate) drawn: Option<LabPath>,
    pub(crate) file: Option<LabPath>,
    pub(crate) controls: LabSettings,
    pub(crate) secs: f64,
    /// The least and the greatest coordinates, horizontal and vertical.
    pub(crate) bounds: [[f64; 2]; 2],
    pub(crate) carried: Carried,
    pub(crate) updates: Vec<Update>,
    pub(crate) rows: Vec<Row>,
    pub(crate) head: f64,
    pub(crate) playing: bool,
    /// Speed of time; 1 is real time.
    pub(crate) speed: f64,
    /// Changes with the path, the network and the shown methods.
    pub(crate) version: u64,
    /// Frames up to which methods are being scored, until all are.
    scoring: Option<usize>,
    /// Whether the path was played to its end and started over: its numbers stay until there are
    /// new ones.
    again: bool,
}

/// Methods of different strengths: none, the past, a plain guess, a cautious one.
const FIRST: [Contender; 4] = [
    Contender::Newest,
    Contender::Method(Choice::Linear),
    Contender::Method(Choice::FirLinear),
    Contender::Method(Choice::Projective),
];

impl Model {
    /// A built-in path over a network, with these methods or a few.
    pub(crate) fn new(
        shape: Formula,
        controls: LabSettings,
        methods: Option<&[Contender]>,
    ) -> Self {
        let path = LabPath::formula(shape);
        let setup = controls.setup(&path.recording, SECS_MAX);
        let carried = Carried::new(&path.recording, &setup);
        let mut model = Self {
            path,
            drawn: None,
            file: None,
            controls,
            secs: SHAPE_SECS,
            bounds: [[0.0; 2]; 2],
            carried,
            updates: Vec::new(),
            rows: Vec::new(),
            head: 0.0,
            playing: true,
            speed: 1.0,
            version: 0,
            scoring: None,
            again: false,
        };
        model.carry();
        Contender::playable().for_each(|contender| model.add(contender, false));
        for contender in methods.unwrap_or(&FIRST) {
            model.add(*contender, true);
        }
        model
    }

    /// The true position at the current time; across a cut, the previous one.
    pub(crate) fn place_at_head(&self) -> Option<[f64; 2]> {
        let recording = &self.path.recording;
        if let Some(truth) = recording.truth(self.head) {
            return Some(truth.position);
        }
        let (values, _) = recording.state(self.head)?;
        Some(recording.position_of(&recording.shape.coords(&values, None)))
    }

    pub(crate) fn set_drawn(&mut self, recording: Recording) {
        let path = LabPath::new(Origin::Drawn, tr("Yours").to_owned(), Unit::Pixels, recording);
        self.drawn = Some(path.clone());
        self.choose(path);
    }

    pub(crate) fn set_file(&mut self, name: String, recording: Recording, unit: Unit) {
        let path = LabPath::new(Origin::File, name, unit, recording);
        self.file = Some(path.clone());
        self.choose(path);
    }

    pub(crate) fn choose(&mut self, path: LabPath) {
        self.path = path;
        (self.head, self.playing) = (0.0, true);
        self.carry();
    }

    pub(crate) fn set_controls(&mut self, controls: LabSettings) {
        if controls != self.controls {
            self.controls = controls;
            self.carry();
        }
    }

    /// Sends the path again, and drops the runs.
    fn carry(&mut self) {
        let setup = self.controls.setup(&self.path.recording, SECS_MAX);
        self.carried = Carried::new(&self.path.recording, &setup);
        self.secs = setup.secs;
        self.head = self.head.min(self.secs);
        self.bounds = bounds(&self.path.recording, self.secs);
        self.updates = track::updates(&self.path.recording, &self.carried, &setup);
        for row in &mut self.rows {
            // The numbers stay until there are new ones, so that they do not flicker while a slider
            // is moved.
            (row.run, row.scored) = (None, None);
        }
        self.scoring = None;
        self.again = false;
        self.version += 1;
    }

    /// Adds or finds a method, and shows it if `on`.
    pub(crate) fn add(&mut self, contender: Contender, on: bool) {
        let known = self.rows.iter().position(|row| row.contender == contender);
        let at = known.unwrap_or_else(|| {
            let (title, scores) = (contender.title(), Scores::default());
            let (on, look, run, scored) = (false, 0, None, None);
            let next = Scores::default();
            self.rows.push(Row { contender, title, on, look, run, scores, next, scored });
            self.rows.len() - 1
        });
        if on {
            self.turn(at, true);
        }
    }

    /// Shows or hides a method. It keeps its look while it is shown.
    pub(crate) fn turn(&mut self, at: usize, on: bool) {
        let taken = |look: usize| self.rows.iter().any(|row| row.on && row.look == look);
        let free = (0..).find(|look| !taken(*look)).unwrap_or(0);
        let Some(row) = self.rows.get_mut(at).filter(|row| row.on != on) else { return };
        row.on = on;
        if on {
            row.look = free;
        }
        self.version += 1;
    }

    /// Computes what methods show, those in the picture first, while `time` returns true; its
    /// argument is whether the next one is in the picture. Computes at least one, so that it
    /// finishes eventually. Returns whether everything is known.
    pub(crate) fn compute(&mut self, mut time: impl FnMut(bool) -> bool) -> bool {
        let mut first = true;
        for on in [true, false] {
            let next = |row: &&mut Row| row.run.is_none() && row.on == on;
            while let Some(row) = self.rows.iter_mut().find(next) {
                if !first && !time(on) {
                    return false;
                }
                row.run = Some(watch(&self.path.recording, &self.carried, row.contender).collect());
                row.scored = None;
                self.version += 1;
                first = false;
            }
        }
        true
    }

    /// Number of frames up to the current time.
    pub(crate) fn frames(&self) -> usize {
        // Half a microsecond, for times that were added up.
        self.carried.frames.partition_point(|frame| frame.now <= self.head + 5e-7)
    }

    /// Scores all methods up to the current time if new numbers are `due`, while `time` returns
    /// true, but at least one. Scores are shown once all of them are of the same time. Returns
    /// whether the shown ones are current.
    pub(crate) fn score(&mut self, due: bool, mut time: impl FnMut() -> bool) -> bool {
        let now = self.frames();
        let known = |row: &&mut Row| row.run.is_some();
        let behind = |row: &Row| row.scored != Some(now);
        if due
            && self.scoring.is_none()
            && self.rows.iter_mut().filter(known).any(|row| behind(row))
        {
            self.scoring = Some(now);
        }
        let Some(frames) = self.scoring else { return true };
        for row in self.rows.iter_mut().filter(known).filter(|row| row.scored != Some(frames)) {
            row.next = scores(&self.path.recording, &self.carried, row.run.as_deref(), frames);
            row.scored = Some(frames);
            if !time() {
                return false;
            }
        }
        self.scoring = None;
        let again = self.again;
        for row in self.rows.iter_mut().filter(known) {
            if !again || row.next.error_shown_mean.is_finite() {
                row.scores = row.next;
            }
        }
        frames == now
    }

    /// A method's scores over the whole path.
    pub(crate) fn scores_of_all(&self, row: &Row) -> Scores {
        scores(&self.path.recording, &self.carried, row.run.as_deref(), usize::MAX)
    }

    pub(crate) fn advance(&mut self, secs: f64) {
        if !self.playing || !secs.is_finite() {
            return;
        }
        let head = self.head + secs * self.speed;
        self.again |= head > self.secs;
        self.head = if head > self.secs { 0.0 } else { head.max(0.0) };
    }

    pub(crate) fn seek(&mut self, time: f64) {
        if time.is_finite() {
            self.head = time.clamp(0.0, self.secs);
            self.again = false;
        }
    }

    /// Pauses, and moves by a number of frames.
    pub(crate) fn step(&mut self, by: isize) {
        self.playing = false;
        let Some(last) = self.carried.frames.len().checked_sub(1) else { return };
        let at = self.frames().saturating_sub(1).saturating_add_signed(by).min(last);
        self.head = self.carried.frames[at].now;
    }
}

fn bounds(recording: &Recording, secs: f64) -> [[f64; 2]; 2] {
    let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
    for sample in recording.samples.iter().take_while(|sample| sample.time <= secs) {
        let position = recording.position_of(&recording.shape.coords(&sample.values, None));
        for (bounds, value) in bounds.iter_mut().zip(position) {
            *bounds = [bounds[0].min(value), bounds[1].max(value)];
        }
    }
    bounds
}

/// Scores of the first frames, after the warm-up.
fn scores(
    recording: &Recording,
    carried: &Carried,
    run: Option<&[ScoredFrame]>,
    frames: usize,
) -> Scores {
    let mut tally = Tally::new(recording);
    let settled = |frame: &&ScoredFrame| frame.at.now >= carried.warm_up;
    let run = run.unwrap_or_default().iter();
    run.take(frames).filter(settled).for_each(|frame| tally.push(frame));
    tally.scores()
}

#[cfg(test)]
mod tests;
