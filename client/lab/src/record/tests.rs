//! Tests of files with recorded motion: when they are touched, what they contain, and when they
//! end.

use std::fs;

use phaselock::fields::{Entity, Values};
use phaselock::game::Game;
use phaselock::time::{Rates, Tick};
use phaselock_games::race::Race;

use super::*;
use crate::file::read;

fn source() -> Result<Source, RecordError> {
    Ok(Source::of(Race::NAME, <Race as Game>::Entity::KINDS, 0, Rates::DEFAULT, 7)
        .expect("cars move"))
}

/// Takes ticks at 60 Hz, each at its end.
fn take(files: &mut MotionFiles, ticks: std::ops::Range<u64>) -> Result<(), RecordError> {
    for tick in ticks {
        let values = Values::default();
        let recorded = Recorded { tick: Tick(tick), kind: 0, values, segment: 0 };
        let time = tick as f64 / 60.0;
        let now = LocalTime((time * 1e6) as i64);
        files.take(now, source, time, &recorded)?;
        files.flush(now)?;
    }
    Ok(())
}

fn points(path: &Path) -> usize {
    let motion = read(&fs::read(path).expect("it is there"), &phaselock_games::all())
        .expect("it can be read");
    assert_eq!(motion.source, source().ok());
    motion.points.len()
}

#[test]
fn a_file_is_emptied_by_its_first_line_and_grows_every_second() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.csv");
    fs::write(&path, "x".repeat(100_000)).expect("it can be written");
    drop(MotionFiles::prepare(&path).expect("it can be opened"));
    assert_eq!(fs::read(&path).expect("it is there").len(), 100_000);

    let mut files = MotionFiles::prepare(&path).expect("it can be opened");
    take(&mut files, 0..100).expect("there is space");
    assert_eq!(points(&path), 61, "to the last whole second");
    files.begin().expect("there is space");
    assert_eq!(points(&path), 100);
    // A game in which nothing was recorded has no file.
    files.begin().expect("there is space");
    take(&mut files, 500..510).expect("there is space");
    drop(files);
    assert_eq!(points(&path), 100);
    assert_eq!(points(&folder.path().join("run-2.csv")), 10);
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 2);
}

#[test]
fn nothing_is_left_of_a_file_that_was_not_needed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    drop(MotionFiles::prepare(&path).expect("it can be opened"));
    assert!(!path.exists());
    assert_eq!(numbered(&path, 3), folder.path().join("run-3"));
    let error = MotionFiles::prepare(&folder.path().join("no/such.csv")).expect_err("no folder");
    let sentence = error.to_string();
    assert!(sentence.starts_with("cannot write the motion to ") && sentence.contains("such.csv"));
}

#[test]
fn a_file_ends_where_it_could_not_be_read_any_longer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.csv");
    let mut files = MotionFiles::prepare(&path).expect("it can be opened");
    for (number, room, has) in [(1, (70, 1 << 20), 70), (2, (1 << 20, 4096), 0)] {
        files.room = room;
        let path = numbered(&path, number);
        let error = take(&mut files, 0..500).expect_err("it is full");
        assert!(matches!(&error, RecordError::Full(full) if *full == path), "{error}");
        let bytes = fs::metadata(&path).expect("it is there").len();
        assert!(has == 0 || points(&path) == has);
        assert!(bytes <= 4096 || number == 1, "{bytes} bytes");
        assert!(points(&path) > 2);
        // Reported once.
        take(&mut files, 500..600).expect("nothing more is recorded");
        files.begin().expect("there is space");
    }
    // A day and a second.
    let error = take(&mut files, 0..1).and_then(|()| take(&mut files, 86_401 * 60..86_402 * 60));
    assert!(matches!(error, Err(RecordError::Full(_))));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_recording_and_nothing_else() {
    let mut files = MotionFiles::prepare(Path::new("/dev/full")).expect("it can be opened");
    let error = take(&mut files, 0..100).expect_err("nothing fits there");
    assert!(error.to_string().starts_with("the motion in /dev/full ends here"), "{error}");
    take(&mut files, 100..300).expect("nothing more is recorded");
}
