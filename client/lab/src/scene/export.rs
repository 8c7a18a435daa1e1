//! Files of the laboratory: the picture, the numbers of each frame, and a summary.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::scores::timeline_name;
use crate::track::Fate;
use crate::{Scores, figures};
use serde::Serialize;

use super::against::{Against, error};
use super::model::{Model, Unit};
use phaselock_ui::words::fill;

/// Maximum number tried for a free name.
const NUMBER_MAX: u32 = 9999;
/// The window's picture, the plot of the path and the methods, the frames, and the summary.
const ENDINGS: [&str; 4] = ["png", "svg", "csv", "json"];

/// File names of one export, which differ only in their extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names(PathBuf);

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExportError {
    #[error("{}", crowded(.0))]
    Full(PathBuf),
    #[error("{}", unwritten(path, error))]
    Write { path: PathBuf, error: io::Error },
}

impl Names {
    /// Finds the first free names in a folder.
    pub(super) fn free(folder: &Path) -> Result<Self, ExportError> {
        let names = |number: u32| Self(folder.join(format!("phaselock-lab-{number}")));
        let taken = |ending: &&str, names: &Self| names.of(ending).symlink_metadata().is_ok();
        let free = |names: &Self| !ENDINGS.iter().any(|ending| taken(ending, names));
        let found = (1..=NUMBER_MAX).map(names).find(free);
        found.ok_or_else(|| ExportError::Full(folder.to_owned()))
    }

    /// The file with this extension.
    pub(super) fn of(&self, ending: &str) -> PathBuf {
        self.0.with_extension(ending)
    }

    /// The files with their folder, wherever the program was started.
    pub(super) fn words(&self) -> String {
        let picture = self.of("png");
        let whole = std::path::absolute(&picture).unwrap_or(picture);
        fill("{file}, .svg, .csv and .json", &[("file", &whole.display().to_string())])
    }
}

fn crowded(folder: &Path) -> String {
    let values = [("count", &*NUMBER_MAX.to_string()), ("folder", &*folder.display().to_string())];
    fill("{folder} already holds {count} exports; move some of them away.", &values)
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    let values = [("file", &*path.display().to_string()), ("error", &*error.to_string())];
    fill("Cannot write {file}: {error}.", &values)
}

/// Writes a new file.
pub(super) fn write_new(path: &Path, text: &str) -> Result<(), ExportError> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| ExportError::Write { path: path.to_owned(), error })
}

/// Draws the path and the methods shown.
pub(super) fn figure_svg(model: &Model) -> String {
    let controls = &model.controls;
    let setup = controls.setup(&model.path.recording, model.secs);
    let methods = model.rows.iter().filter(|row| row.on).map(|row| row.contender);
    let methods: Vec<_> = methods.collect();
    figures::curves(&model.path.title, &model.path.recording, &setup, &methods)
}

/// Lists every frame of the methods shown.
pub(super) fn frames_csv(model: &Model) -> String {
    let mut text =
        String::from("method,time,time_shown,truth_x,truth_y,shown_x,shown_y,error,error_now\n");
    for row in model.rows.iter().filter(|row| row.on) {
        for frame in row.run.iter().flatten() {
            let _ = write!(text, "{},{:.6},{:.6}", row.contender, frame.at.now, frame.time);
            let mut pair = |pair: Option<[f64; 2]>| {
                let _ = match pair {
                    Some([x, y]) => write!(text, ",{x:.4},{y:.4}"),
                    None => write!(text, ",,"),
                };
            };
            pair(frame.then.map(|truth| truth.position));
            pair(frame.position);
            for against in [Against::Then, Against::Now] {
                let _ = match error(model, frame, against) {
                    Some(error) => write!(text, ",{error:.4}"),
                    None => write!(text, ","),
                };
            }
            text.push('\n');
        }
    }
    text
}

#[derive(Serialize)]
struct Summary {
    path: String,
    secs: f64,
    network: String,
    interval_ms: f64,
    history: usize,
    frame_hz: f64,
    seed: u64,
    not_scored_secs: f64,
    updates_sent: usize,
    updates_lost: usize,
    interpolation_delay_ms: f64,
    unit: &'static str,
    methods: Vec<MethodSummary>,
}

#[derive(Serialize)]
struct MethodSummary {
    method: String,
    title: String,
    shows: &'static str,
    scores: Scores,
}

/// Lists the settings, and the scores of the methods shown over the whole path.
pub(super) fn summary_json(model: &Model) -> String {
    let (controls, carried) = (&model.controls, &model.carried);
    let lost = model.updates.iter().filter(|update| update.fate == Fate::Lost);
    let methods = model.rows.iter().filter(|row| row.on).map(|row| MethodSummary {
        method: row.contender.to_string(),
        title: row.title.clone(),
        shows: timeline_name(row.contender.timeline()),
        scores: model.scores_of_all(row),
    });
    let summary = Summary {
        path: model.path.title.clone(),
        secs: model.secs,
        network: controls.setup(&model.path.recording, model.secs).network.to_string(),
        interval_ms: controls.interval_ms,
        history: controls.history,
        frame_hz: controls.frame_hz,
        seed: controls.seed,
        not_scored_secs: carried.warm_up,
        updates_sent: model.updates.len(),
        updates_lost: lost.count(),
        interpolation_delay_ms: carried.delay_mean.as_ms(),
        unit: match model.path.unit {
            Unit::Pixels => "pixels",
            Unit::Metres => "metres",
            Unit::Own => "that of the file",
        },
        methods: methods.collect(),
    };
    // This cannot fail: it has only text, whole numbers and finite ones.
    let mut text = serde_json::to_string_pretty(&summary).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulas::Formula;
    use crate::scene::settings::LabSettings;

    #[test]
    fn nothing_is_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = Names::free(folder.path()).expect("it is empty");
        assert!(first.of("png").ends_with("phaselock-lab-1.png"), "{first:?}");
        write_new(&first.of("json"), "{}").expect("it is free");
        assert!(matches!(write_new(&first.of("json"), ""), Err(ExportError::Write { .. })));
        let next = Names::free(folder.path()).expect("a number is free");
        assert!(next.of("csv").ends_with("phaselock-lab-2.csv"), "{next:?}");
        let missing = folder.path().join("none/file");
        let error = write_new(&missing, "").expect_err("there is no such folder").to_string();
        assert!(error.contains("none") && error.contains("Cannot write"), "{error}");
    }

    #[test]
    fn the_numbers_are_those_of_every_frame_and_method() {
        let mut model = Model::new(Formula::Sine, LabSettings::default(), None);
        assert!(model.compute(|_| true));
        let csv = frames_csv(&model);
        let columns = csv.lines().next().expect("a header").split(',').count();
        assert!(csv.lines().all(|line| line.split(',').count() == columns));
        assert_eq!(csv.lines().count(), 1 + 4 * model.carried.frames());
        // For the newest state, the time shown is now, so both errors are equal.
        let line = csv.lines().skip(300).find(|line| line.starts_with("newest-state"));
        let cells: Vec<_> = line.expect("it is shown").split(',').collect();
        assert_eq!((cells[1], cells[7]), (cells[2], cells[8]));
        let json: serde_json::Value =
            serde_json::from_str(&summary_json(&model)).expect("it is JSON");
        assert_eq!(json["methods"].as_array().map(Vec::len), Some(4));
        assert!(json["methods"][1]["scores"]["jerk"].as_f64().is_some_and(|jerk| jerk > 0.0));
    }
}
