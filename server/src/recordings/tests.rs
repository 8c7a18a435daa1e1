//! Recordings in a folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use phaselock::game::Game as _;
use phaselock::replay::{Assembly, Pace, Replay};
use phaselock::server::{AnyRoom, RecordConfig, Room, RoomConfig};
use phaselock::time::{Micros, Tick};
use phaselock_games::race::Race;

use super::*;
use crate::config::Config;

/// Recordings in a folder, by a thread that is waited for.
struct Studio {
    dir: tempfile::TempDir,
    recordings: Arc<Recordings>,
    thread: RecordingsThread,
}

impl Studio {
    fn new(mode: RecordMode, bytes: u64) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let (recordings, thread) = Self::open(mode, bytes, dir.path());
        Self { dir, recordings, thread }
    }

    fn open(mode: RecordMode, bytes: u64, dir: &Path) -> (Arc<Recordings>, RecordingsThread) {
        Self::open_with(mode, bytes, dir, &[])
    }

    fn open_with(
        mode: RecordMode,
        bytes: u64,
        dir: &Path,
        stored: &[RoomCode],
    ) -> (Arc<Recordings>, RecordingsThread) {
        let settings = Recording { mode, dir: dir.to_owned(), days: 30, bytes, owner: None };
        Recordings::open(settings, Clocks::begin(None), stored).expect("it opens")
    }

    fn end(self) -> (tempfile::TempDir, Vec<PathBuf>) {
        assert!(self.thread.end(), "the thread ends");
        let mut files: Vec<_> = fs::read_dir(self.dir.path()).expect("a folder").collect();
        files.sort_by_key(|file| file.as_ref().map(fs::DirEntry::path).ok());
        let paths = files.into_iter().map(|file| file.expect("readable").path());
        let paths = paths.collect();
        (self.dir, paths)
    }
}

fn room(code: &str) -> RoomCode {
    code.parse().expect("a code")
}

/// A room with people, in a round.
fn recorded(people: usize, round: u32) -> Recorded {
    let secrecy = Secrecy { round: Some(round), watch_delay: Micros::ZERO };
    Recorded { people, secrecy }
}

/// Returns the names of the files in a folder.
fn names(dir: &Path) -> Vec<String> {
    let files = fs::read_dir(dir).expect("a folder");
    let name = |file: io::Result<fs::DirEntry>| file.expect("readable").file_name();
    let mut names: Vec<_> = files.map(|file| name(file).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Waits until a folder holds this number of finished and of other recordings.
fn wait_for(dir: &Path, finished: usize, others: usize) {
    let begun = std::time::Instant::now();
    loop {
        let names = names(dir);
        let count = names.iter().filter(|name| name.ends_with(".plr")).count();
        if (count, names.len() - count) == (finished, others) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{names:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Saves the last minutes of all rooms, and returns their codes.
fn save(recordings: &Recordings) -> Vec<String> {
    let saved = recordings.save(None);
    saved.into_iter().map(|(code, _)| code.as_str().to_owned()).collect()
}

fn list(recordings: &Recordings, skip: usize, count: usize) -> Vec<Shelved> {
    let mut catalogue = recordings.catalogue.try_lock().expect("no one else lists");
    catalogue.list(skip, count).expect("readable")
}

fn pieces(secs: u64) -> Vec<Piece> {
    let pace = Pace { chunk_secs: 1, ..Pace::DEFAULT };
    let record = Some(RecordConfig { pace, ..RecordConfig::default() });
    let config = RoomConfig { record, ..RoomConfig::default() };
    let mut room = Room::<Race>::new(config.with(|settings| settings.bots = 2));
    let mut pieces = Vec::new();
    while room.tick().0 < secs * 60 {
        room.handle_timeout(room.next_timeout());
        pieces.extend(std::iter::from_fn(|| room.poll_replay()));
    }
    room.cut_replay();
    pieces.extend(std::iter::from_fn(|| room.poll_replay()));
    pieces
}

fn replay(path: &Path) -> Replay {
    Replay::open(fs::read(path).expect("readable")).expect("a recording")
}

#[test]
fn each_recording_gets_a_file_that_is_named_when_it_ends() {
    let studio = Studio::new(RecordMode::Always, 1 << 30);
    for _ in 0..2 {
        for piece in pieces(5) {
            studio.recordings.archive(&room("arena"), piece, recorded(0, 0));
        }
    }
    studio.recordings.end(&room("arena"), RecordingEnd::GameOver);
    let (_dir, files) = studio.end();
    assert_eq!(files.len(), 2, "{files:?}");
    for file in &files {
        let name = file.file_name().and_then(|name| name.to_str()).expect("text");
        assert!(name.contains("_arena") && name.ends_with(".plr"), "{name}");
        let replay = replay(file);
        assert_eq!(replay.check(), Ok(()));
        assert_eq!(replay.chunks().len(), 5);
    }
}

#[test]
fn a_round_is_recorded_only_if_someone_is_there_but_from_its_start() {
    for people in [0, 1] {
        let studio = Studio::new(RecordMode::Rounds, 1 << 30);
        for (number, piece) in pieces(5).into_iter().enumerate() {
            let here = if number >= 3 { people } else { 0 };
            studio.recordings.archive(&room("1"), piece, recorded(here, 0));
        }
        studio.recordings.end(&room("1"), RecordingEnd::GameOver);
        let (_dir, files) = studio.end();
        assert_eq!(files.len(), people);
        assert!(files.iter().all(|file| replay(file).chunks().len() == 5));
    }
    let studio = Studio::new(RecordMode::Off, 1 << 30);
    pieces(5)
        .into_iter()
        .for_each(|piece| studio.recordings.archive(&room("1"), piece, recorded(9, 0)));
    assert_eq!(studio.end().1, [] as [PathBuf; 0]);
}

#[test]
fn the_last_minutes_are_saved_when_someone_asks_and_offered_after_the_round() {
    let studio = Studio::new(RecordMode::Memory, 1 << 30);
    let dir = studio.dir.path().to_owned();
    let mut given = pieces(6).into_iter();
    let mut give = |count, round| {
        let given = given.by_ref().take(count);
        given.for_each(|it| studio.recordings.archive(&room("1"), it, recorded(1, round)));
    };
    give(4, 0);
    assert!(studio.recordings.save(Some(&room("2"))).is_empty());
    assert_eq!(save(&studio.recordings), ["1"]);
    // What happens now is part of it.
    give(1, 0);
    wait_for(&dir, 0, 1);
    give(1, 0);
    assert!(names(&dir)[0].ends_with(".part"), "the round runs on");
    give(1, 1);
    wait_for(&dir, 1, 0);
    let saved = replay(&dir.join(&names(&dir)[0]));
    assert_eq!((saved.check(), saved.chunks().len()), (Ok(()), 4));
    studio.recordings.end(&room("1"), RecordingEnd::GameOver);
    assert!(save(&studio.recordings).is_empty());
    assert_eq!(studio.end().1.len(), 1);
    // A room that sleeps does not end its chunk.
    let studio = Studio::new(RecordMode::Memory, 1 << 30);
    pieces(2).into_iter().for_each(|it| {
        studio.recordings.archive(&room("1"), it, recorded(0, 0));
    });
    assert_eq!(save(&studio.recordings), ["1"]);
    studio.recordings.save_waiting();
    studio.recordings.save_waiting();
    studio.recordings.end(&room("1"), RecordingEnd::GameOver);
    assert_eq!(studio.end().1.len(), 1);
    // One that is written anyway need not be saved.
    let studio = Studio::new(RecordMode::Always, 1 << 30);
    pieces(2).into_iter().for_each(|it| {
        studio.recordings.archive(&room("1"), it, recorded(1, 0));
    });
    assert!(save(&studio.recordings).is_empty());
    studio.end();
}

#[test]
fn a_file_says_when_it_begins_even_if_its_room_began_long_before() {
    let studio = Studio::new(RecordMode::Rounds, 1 << 30);
    let last = RING_CHUNKS + 5;
    for (number, piece) in pieces(last as u64).into_iter().enumerate() {
        let people = usize::from(number == last);
        studio.recordings.archive(&room("1"), piece, recorded(people, 0));
    }
    studio.recordings.end(&room("1"), RecordingEnd::GameOver);
    let (_dir, files) = studio.end();
    let replay = replay(&files[0]);
    assert_eq!((replay.chunks().len(), replay.check()), (RING_CHUNKS, Ok(())));
    let (header, first) = (replay.header(), Tick(replay.chunks()[0].first));
    assert_eq!((header.first, header.people.len()), (first, 2));
    assert_eq!(header.unix_micros, header.rates.time_of(first).0);
}

#[test]
fn the_file_of_a_killed_server_is_finished_by_the_next() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut bytes = Vec::new();
    let mut assembly = Assembly::default();
    for piece in pieces(5) {
        bytes.extend(assembly.push(&piece).expect("in order"));
    }
    bytes.truncate(bytes.len() - 10);
    fs::write(dir.path().join("killed.plr.part"), bytes).expect("writable");
    fs::write(dir.path().join("mine.part"), "something else").expect("writable");
    let (_recordings, thread) = Studio::open(RecordMode::Always, 1 << 30, dir.path());
    assert!(thread.end());
    let replay = replay(&dir.path().join("killed.plr"));
    assert_eq!((replay.check(), replay.chunks().len()), (Ok(()), 4), "it has its index");
    assert!(dir.path().join("mine.part").exists());
}

#[test]
fn a_file_that_cannot_be_completed_or_is_damaged_stays_as_it_is() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("killed.plr.part");
    let whole = phaselock_testing::file_of(&pieces(5));
    let cut = &whole[..whole.len() - 10];
    fs::write(&path, cut).expect("writable");
    // As on a disk that is read-only or full.
    let read_only = File::open(&path).expect("it is there");
    shelf::complete(&read_only).expect_err("it cannot be written");
    assert_eq!(fs::read(&path).expect("readable"), cut);
    // An index would hide the damage.
    let mut damaged = cut.to_vec();
    damaged[Replay::open(whole).expect("intact").chunks()[1].at as usize + 50] ^= 1;
    fs::write(&path, &damaged).expect("writable");
    let (_recordings, thread) = Studio::open(RecordMode::Always, 1 << 30, dir.path());
    assert!(thread.end());
    assert_eq!(fs::read(dir.path().join("killed.plr")).expect("readable"), damaged);
}

#[test]
fn why_nothing_is_written_is_known() {
    let one = room("1");
    let why = |recordings: &Recordings| {
        let unwritten = recordings.unwritten(Some(&one));
        unwritten.into_iter().map(|(_, why)| why).next()
    };
    let studio = Studio::new(RecordMode::Rounds, 1 << 30);
    let mut given = pieces(3).into_iter();
    given.by_ref().take(3).for_each(|it| studio.recordings.archive(&one, it, recorded(0, 0)));
    let nobody = why(&studio.recordings).expect("nobody is there");
    assert!(nobody.contains("once someone is there"), "{nobody}");
    let last = given.next().expect("a chunk");
    studio.recordings.archive(&one, last, recorded(1, 0));
    assert_eq!(why(&studio.recordings), None);
    assert_eq!(studio.recordings.unwritten(Some(&room("2"))), []);
    studio.end();

    let studio = Studio::new(RecordMode::Always, 1 << 30);
    fs::remove_dir_all(studio.dir.path()).expect("removed");
    fs::write(studio.dir.path(), "a file in its place").expect("writable");
    pieces(3).into_iter().for_each(|it| studio.recordings.archive(&one, it, recorded(1, 0)));
    let begun = std::time::Instant::now();
    let failed = loop {
        match why(&studio.recordings) {
            Some(why) => break why,
            None => assert!(begun.elapsed() < Duration::from_secs(60), "nobody says why"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(failed.starts_with("the recording failed: "), "{failed}");
    assert!(studio.thread.end());
    fs::remove_file(studio.dir.path()).expect("removed");
}

#[test]
fn saving_the_last_minutes_does_not_resume_a_recording_that_has_failed() {
    let studio = Studio::new(RecordMode::Always, 1 << 30);
    let dir = studio.dir.path().to_owned();
    let one = room("1");
    let failed = || {
        let unwritten = studio.recordings.unwritten(Some(&one));
        unwritten.iter().any(|(_, why)| why.starts_with("the recording failed: "))
    };
    fs::remove_dir_all(&dir).expect("removed");
    fs::write(&dir, "a file in its place").expect("writable");
    let mut given = pieces(6).into_iter();
    let mut give = |count| {
        let given = given.by_ref().take(count);
        given.for_each(|it| studio.recordings.archive(&one, it, recorded(1, 0)));
    };
    give(3);
    let begun = std::time::Instant::now();
    while !failed() {
        assert!(begun.elapsed() < Duration::from_secs(60), "nobody says why");
        std::thread::sleep(Duration::from_millis(5));
    }
    // The disk works again.
    fs::remove_file(&dir).and_then(|()| fs::create_dir(&dir)).expect("made");
    assert_eq!(save(&studio.recordings), ["1"]);
    give(1);
    wait_for(&dir, 0, 1);
    assert!(failed(), "the recording stays as it is");
    give(3);
    assert_eq!(save(&studio.recordings), ["1"], "another time");
    studio.recordings.save_waiting();
    studio.recordings.end(&one, RecordingEnd::GameOver);
    let (_dir, files) = studio.end();
    let chunks: Vec<_> = files.iter().map(|file| replay(file).chunks().len()).collect();
    assert_eq!(chunks, [3, 6]);
}

#[test]
fn saving_the_last_minutes_does_not_resume_what_the_disk_was_too_slow_for() {
    let (jobs, stuck) = sync_channel(2);
    let settings = Recording::of(&Config::default().operation);
    let settings = Recording { mode: RecordMode::Always, ..settings };
    let recordings = Recordings::new(settings, Clocks::begin(None), Reels::default(), jobs);
    let mut given = pieces(7).into_iter();
    given.by_ref().take(5).for_each(|it| recordings.archive(&room("1"), it, recorded(1, 2)));
    assert_eq!(stuck.try_iter().count(), 2, "the rest was given up");
    recordings.archive(&room("1"), given.next().expect("a chunk"), recorded(1, 2));
    assert!(matches!(stuck.try_iter().collect::<Vec<_>>()[..], [Job::End { .. }]));
    assert_eq!(save(&recordings), ["1"]);
    recordings.archive(&room("1"), given.next().expect("a chunk"), recorded(1, 2));
    let told: Vec<_> = stuck.try_iter().collect();
    assert!(matches!(told[..], [Job::Begin { .. }, Job::End { .. }]), "{told:?}");
    recordings.archive(&room("1"), given.next().expect("a chunk"), recorded(1, 2));
    assert_eq!(stuck.try_iter().count(), 0);
}

#[test]
fn the_oldest_recordings_make_way() {
    let studio = Studio::new(RecordMode::Always, 1_500);
    let old = studio.dir.path().join("old.plr");
    fs::write(&old, [0; 1_000]).expect("writable");
    let past = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    File::options().write(true).open(&old).and_then(|it| it.set_modified(past)).expect("set");
    fs::write(studio.dir.path().join("other.txt"), [0; 9_000]).expect("writable");
    for piece in [pieces(5), pieces(5)].concat() {
        studio.recordings.archive(&room("1"), piece, recorded(1, 0));
    }
    studio.recordings.end(&room("1"), RecordingEnd::GameOver);
    let (_dir, files) = studio.end();
    assert!(!old.exists() && files.len() == 2, "{files:?}");
}

#[test]
fn a_recording_that_takes_more_than_all_may_is_ended() {
    let studio = Studio::new(RecordMode::Always, 100);
    for piece in pieces(9) {
        studio.recordings.archive(&room("1"), piece, recorded(1, 0));
    }
    assert!(list(&studio.recordings, 0, 9).is_empty(), "it still tells what a round hides");
    studio.recordings.end(&room("1"), RecordingEnd::GameOver);
    let (_dir, files) = studio.end();
    assert_eq!(files.len(), 1, "{files:?}");
    let replay = replay(&files[0]);
    assert_eq!((replay.is_complete(), replay.chunks().len()), (false, 0));
}

#[test]
fn finished_recordings_are_listed_and_found_by_their_names_only() {
    let studio = Studio::new(RecordMode::Always, 1 << 30);
    let dir = studio.dir.path();
    for piece in pieces(1) {
        studio.recordings.archive(&room("1"), piece, recorded(1, 0));
    }
    studio.recordings.end(&room("1"), RecordingEnd::GameOver);
    let recordings = Arc::clone(&studio.recordings);
    let (dir, files) = (dir.to_owned(), studio.end());
    fs::write(dir.join("broken.plr"), "something else").expect("writable");
    let past = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let broken = File::options().write(true).open(dir.join("broken.plr"));
    broken.and_then(|it| it.set_modified(past)).expect("set");
    fs::write(dir.join("growing.plr.part"), "").expect("writable");
    fs::write(dir.join("key.pem"), "").expect("writable");
    fs::create_dir(dir.join("folder.plr")).expect("writable");
    let listed = list(&recordings, 0, 9);
    let names: Vec<_> = listed.iter().map(|it| it.name.as_str()).collect();
    let name = files.1[0].file_name().and_then(|name| name.to_str()).expect("text");
    assert_eq!(names, [name, "broken.plr"], "the newest first");
    let Label::Read { game, seconds, players, .. } = &listed[0].label else { panic!("unread") };
    assert_eq!((game.as_str(), *seconds, players.len()), (Race::NAME, Some(1), 0));
    assert_eq!(listed[1].label, Label::Unreadable);
    assert_eq!(list(&recordings, 0, 1).len(), 1);
    let rest = list(&recordings, 1, 9);
    assert_eq!((rest.len(), rest[0].name.as_str()), (1, "broken.plr"));
    assert!(list(&recordings, 2, 9).is_empty());
    assert_eq!(recordings.path(name), Some(dir.join(name)));
    let inside = dir.file_name().and_then(|name| name.to_str()).expect("text");
    for other in [
        "",
        ".",
        "none.plr",
        "folder.plr",
        "growing.plr",
        "growing.plr.part",
        "key.pem",
        &format!("../{inside}/{name}"),
        &format!("./{name}"),
        &format!("{name}/"),
        &dir.join(name).display().to_string(),
    ] {
        assert_eq!(recordings.path(other), None, "{other}");
    }
}

#[test]
fn a_list_reads_few_files_at_a_time_and_remembers_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let whole = phaselock_testing::file_of(&pieces(2));
    let count = catalogue::READ_MAX + 20;
    for number in 0..count {
        // What killed servers leave takes the longest, and broken files do not count less.
        let bytes =
            if number % 3 == 0 { &b"something else"[..] } else { &whole[..whole.len() - 9] };
        fs::write(dir.path().join(format!("{number:03}.plr")), bytes).expect("writable");
    }
    let (recordings, thread) = Studio::open(RecordMode::Off, 1 << 30, dir.path());
    let unread = |skip, count| {
        let listed = list(&recordings, skip, count);
        listed.iter().filter(|it| it.label == Label::Unread).count()
    };
    assert_eq!(unread(0, count), 20);
    assert_eq!(unread(0, count), 0, "the next one reads on");
    let listed = list(&recordings, 0, count);
    let readable = |it: &&Shelved| matches!(it.label, Label::Read { .. });
    assert_eq!(listed.iter().filter(readable).count(), count * 2 / 3);
    // A file that changes is read again.
    let path = dir.path().join("000.plr");
    fs::write(&path, &whole).expect("writable");
    age(&path, 1);
    let oldest = list(&recordings, count - 1, 9);
    assert_eq!((oldest.len(), oldest[0].name.as_str()), (1, "000.plr"));
    assert!(readable(&&oldest[0]), "{oldest:?}");
    // Whatever the file holds, it is not read again if it has not changed.
    let changed = fs::metadata(&path).and_then(|facts| facts.modified()).expect("it has a time");
    fs::write(&path, vec![0; whole.len()]).expect("writable");
    File::options().write(true).open(&path).and_then(|it| it.set_modified(changed)).expect("set");
    assert!(readable(&&list(&recordings, count - 1, 9)[0]));
    assert!(thread.end());
}

#[tokio::test(start_paused = true)]
async fn recordings_are_listed_for_one_at_a_time() {
    let studio = Studio::new(RecordMode::Off, 1 << 30);
    let first = studio.recordings.catalogue().await;
    let recordings = Arc::clone(&studio.recordings);
    let second = tokio::spawn(async move { recordings.catalogue().await.is_some() });
    tokio::task::yield_now().await;
    assert!(!second.is_finished());
    drop(first);
    assert!(second.await.expect("it ends"));
    // A disk that hangs does not collect those who wait for it.
    let stuck = studio.recordings.catalogue().await;
    assert!(stuck.is_some() && studio.recordings.catalogue().await.is_none());
    studio.end();
}

#[test]
fn a_disk_that_cannot_be_written_ends_the_recording_only() {
    let studio = Studio::new(RecordMode::Always, 1 << 30);
    fs::remove_dir_all(studio.dir.path()).expect("removed");
    fs::write(studio.dir.path(), "a file in its place").expect("writable");
    for piece in pieces(5) {
        studio.recordings.archive(&room("1"), piece, recorded(1, 0));
    }
    studio.recordings.end(&room("1"), RecordingEnd::GameOver);
    assert!(studio.thread.end(), "the thread lives on");
    fs::remove_file(studio.dir.path()).expect("removed");
}

#[test]
fn a_thread_that_is_stuck_delays_no_room() {
    let (jobs, stuck) = sync_channel(2);
    let settings = Recording::of(&Config::default().operation);
    let settings = Recording { mode: RecordMode::Always, ..settings };
    let recordings = Recordings::new(settings, Clocks::begin(None), Reels::default(), jobs);
    for piece in pieces(5) {
        recordings.archive(&room("1"), piece, recorded(1, 0));
    }
    recordings.end(&room("1"), RecordingEnd::GameOver);
    let given: Vec<_> = stuck.try_iter().collect();
    assert_eq!(given.len(), 2, "the rest was given up");
    assert!(matches!(given[0], Job::Begin { .. }));
    // Once there is time again, the thread learns that the file has ended.
    recordings.end(&room("2"), RecordingEnd::GameOver);
    assert!(matches!(stuck.try_recv(), Ok(Job::End { .. })));
    assert!(matches!(stuck.try_recv(), Ok(Job::Offer { .. })));
    assert!(stuck.try_recv().is_err());
}

#[test]
fn a_recording_is_held_back_until_its_round_is_over() {
    let studio = Studio::new(RecordMode::Always, 1 << 30);
    let dir = studio.dir.path().to_owned();
    let (one, other) = (room("1"), room("2"));
    let give = |to: &RoomCode, secs, round| {
        for piece in pieces(secs) {
            studio.recordings.archive(to, piece, recorded(1, round));
        }
    };
    // The second file begins in the same round, since the first was long.
    give(&one, 3, 4);
    give(&one, 3, 4);
    give(&other, 1, 0);
    wait_for(&dir, 0, 3);
    std::thread::sleep(Duration::from_millis(50));
    assert!(list(&studio.recordings, 0, 9).is_empty());
    // Another room's round tells nothing about this one's.
    studio.recordings.end(&other, RecordingEnd::GameOver);
    wait_for(&dir, 1, 2);
    // The round ends in the last chunk, and the third file begins with the next round.
    let last = pieces(1).pop().expect("a chunk");
    studio.recordings.archive(&one, last, recorded(1, 5));
    give(&one, 1, 5);
    wait_for(&dir, 3, 1);
    studio.recordings.end(&one, RecordingEnd::GameOver);
    wait_for(&dir, 4, 0);
    studio.end();
}

#[test]
fn a_recording_is_held_back_until_spectators_have_seen_it() {
    let studio = Studio::new(RecordMode::Always, 1 << 30);
    let dir = studio.dir.path().to_owned();
    let late = Micros::from_ms(700);
    for (code, watch_delay) in [("now", Micros::ZERO), ("late", late)] {
        let secrecy = Secrecy { round: None, watch_delay };
        for piece in pieces(1) {
            studio.recordings.archive(&room(code), piece, Recorded { people: 1, secrecy });
        }
    }
    wait_for(&dir, 0, 2);
    let begun = std::time::Instant::now();
    studio.recordings.end(&room("late"), RecordingEnd::GameOver);
    studio.recordings.end(&room("now"), RecordingEnd::GameOver);
    wait_for(&dir, 1, 1);
    assert!(names(&dir)[0].contains("late"), "{:?}", names(&dir));
    wait_for(&dir, 2, 0);
    assert!(begun.elapsed() >= Duration::from_millis(700), "{:?}", begun.elapsed());
    studio.end();
}

#[test]
fn a_recording_whose_round_the_next_start_continues_is_held_back() {
    let studio = Studio::new(RecordMode::Always, 1 << 30);
    for code in ["1", "2", "3"] {
        for piece in pieces(2) {
            studio.recordings.archive(&room(code), piece, recorded(1, 6));
        }
    }
    // The third room is not told of the end, as if its thread had panicked.
    for code in ["1", "2"] {
        studio.recordings.end(&room(code), RecordingEnd::Interrupted);
        // As the room is closed afterwards.
        studio.recordings.end(&room(code), RecordingEnd::GameOver);
    }
    let (folder, files) = studio.end();
    let dir = folder.path();
    wait_for(dir, 0, 3);
    assert!(files.iter().all(|file| replay(file).is_complete()), "they have their index");
    let stored = [room("1"), room("other")];
    let open = || Studio::open_with(RecordMode::Always, 1 << 30, dir, &stored);
    let (recordings, thread) = open();
    // The rooms 2 and 3 were not stored, so their games are over.
    wait_for(dir, 2, 1);
    // Nothing has happened yet when the server is stopped again.
    assert!(thread.end());
    drop(recordings);
    let (recordings, thread) = open();
    let mut more = pieces(3).into_iter();
    for piece in more.by_ref().take(3) {
        recordings.archive(&room("1"), piece, recorded(1, 6));
    }
    wait_for(dir, 2, 2);
    let last = more.next().expect("a chunk");
    recordings.archive(&room("1"), last, recorded(1, 7));
    // The new file goes on, and the former one may be read.
    wait_for(dir, 3, 1);
    recordings.end(&room("1"), RecordingEnd::GameOver);
    wait_for(dir, 4, 0);
    assert!(thread.end());
}

#[test]
fn a_recording_that_the_disk_was_too_slow_for_is_held_back_too() {
    let (jobs, stuck) = sync_channel(2);
    let settings = Recording::of(&Config::default().operation);
    let settings = Recording { mode: RecordMode::Always, ..settings };
    let recordings = Recordings::new(settings, Clocks::begin(None), Reels::default(), jobs);
    let mut given = pieces(5).into_iter();
    given.by_ref().take(5).for_each(|it| recordings.archive(&room("1"), it, recorded(1, 2)));
    assert_eq!(stuck.try_iter().count(), 2, "the rest was given up");
    let last = given.next().expect("a chunk");
    recordings.archive(&room("1"), last, recorded(1, 2));
    let told: Vec<_> = stuck.try_iter().collect();
    assert!(matches!(told[..], [Job::End { .. }]), "{told:?}");
    for piece in pieces(1) {
        recordings.archive(&room("1"), piece, recorded(1, 3));
    }
    let told: Vec<_> = stuck.try_iter().collect();
    assert!(matches!(told[..], [Job::Offer { .. }, Job::Begin { .. }]), "{told:?}");
}

#[test]
fn two_servers_share_a_directory() {
    let studio = Studio::new(RecordMode::Always, 1 << 30);
    let dir = studio.dir.path().to_owned();
    let give = |to: &Recordings| {
        pieces(2).into_iter().for_each(|it| to.archive(&room("1"), it, recorded(1, 0)));
    };
    give(&studio.recordings);
    wait_for(&dir, 0, 1);
    // The second takes the growing file of the first for nobody's, unless that is locked.
    let (recordings, thread) = Studio::open(RecordMode::Always, 1 << 30, &dir);
    give(&recordings);
    wait_for(&dir, 0, 2);
    recordings.end(&room("1"), RecordingEnd::GameOver);
    wait_for(&dir, 1, 1);
    assert!(thread.end());
    studio.recordings.end(&room("1"), RecordingEnd::GameOver);
    wait_for(&dir, 2, 0);
    let (_dir, files) = studio.end();
    assert!(files.iter().all(|file| replay(file).check() == Ok(())), "{files:?}");
}

#[test]
fn a_server_leaves_alone_what_another_one_continues() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let open = |owner: &str, stored: &[RoomCode]| {
        let (mode, owner) = (RecordMode::Always, Some(owner.to_owned()));
        let settings = Recording { mode, dir: dir.to_owned(), days: 30, bytes: 1 << 30, owner };
        Recordings::open(settings, Clocks::begin(None), stored).expect("it opens")
    };
    let (recordings, thread) = open("0000000a", &[]);
    for piece in pieces(2) {
        recordings.archive(&room("1"), piece, recorded(1, 0));
    }
    recordings.end(&room("1"), RecordingEnd::Interrupted);
    assert!(thread.end());
    let [unfinished] = &names(dir)[..] else { panic!("one file") };
    assert!(unfinished.ends_with("_1_0000000a.plr.part"), "{unfinished}");
    // While the first one restarts, the second one starts, and has such a room too.
    for stored in [vec![], vec![room("1")]] {
        assert!(open("0000000b", &stored).1.end());
        assert_eq!(names(dir), [unfinished.as_str()]);
    }
    assert!(open("0000000a", &[]).1.end());
    wait_for(dir, 1, 0);
    // Nobody has come back for this one.
    let left = dir.join("2026-11-01-1200_1_0000000c.plr.part");
    fs::copy(dir.join(&names(dir)[0]), &left).expect("writable");
    age(&left, 2);
    assert!(open("0000000b", &[]).1.end());
    wait_for(dir, 2, 0);
}

#[test]
fn a_server_deletes_no_recording_of_another_one_that_still_records() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = |hour, owner| dir.path().join(format!("2026-11-01-{hour}00_1_{owner}.plr"));
    let [mine, theirs, nobodys] = ["0000000a", "0000000b", "1"].map(|owner| file(12, owner));
    let theirs_too = file(13, "0000000b");
    let open = |bytes| {
        let (mode, owner) = (RecordMode::Off, Some("0000000a".to_owned()));
        let dir = dir.path().to_owned();
        let settings = Recording { mode, dir, days: 30, bytes, owner };
        let (_, thread) = Recordings::open(settings, Clocks::begin(None), &[]).expect("it opens");
        assert!(thread.end());
        [&mine, &theirs, &nobodys].map(|file| file.exists())
    };
    let write = |days: [i64; 3]| {
        for (file, days) in [&mine, &theirs, &nobodys].into_iter().zip(days) {
            fs::write(file, [0; 1000]).expect("writable");
            age(file, days);
        }
    };
    write([31, 31, 31]);
    fs::write(&theirs_too, [0; 1000]).expect("writable");
    assert_eq!(open(1 << 30), [false, true, false], "too old");
    age(&theirs_too, 31);
    assert_eq!(open(1 << 30), [false, false, false], "the other one is gone for good");
    write([1, 3, 2]);
    assert_eq!(open(2000), [true, true, true], "only its own count");
    assert_eq!(open(1500), [true, true, false], "the oldest goes");
    assert_eq!(open(500), [false, true, false]);
}

/// Moves the time of a file's last change by some days.
fn age(path: &Path, days: i64) {
    let file = File::options().write(true).open(path).expect("it is there");
    let before = file.metadata().and_then(|facts| facts.modified()).expect("it has a time");
    let by = Duration::from_secs(days.unsigned_abs() * 86_400);
    let changed = if days > 0 { before - by } else { before + by };
    file.set_modified(changed).expect("it is ours");
}

#[test]
fn old_recordings_go_even_if_nothing_is_recorded() {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, days) in [("old.plr", 31), ("young.plr", 29), ("old.txt", 31)] {
        let path = dir.path().join(name);
        fs::write(&path, "content").expect("writable");
        age(&path, days);
    }
    let (_recordings, thread) = Studio::open(RecordMode::Off, 1 << 30, dir.path());
    assert!(thread.end());
    assert_eq!(names(dir.path()), ["old.txt", "young.plr"]);
}

#[test]
fn a_clock_that_was_set_back_loses_no_recording() {
    let dir = tempfile::tempdir().expect("a folder");
    let future = dir.path().join("future.plr");
    fs::write(&future, "content").expect("writable");
    age(&future, -400);
    let (recordings, thread) = Studio::open(RecordMode::Always, 1 << 30, dir.path());
    // All in the same minute, as after the clock was set back.
    for _ in 0..3 {
        for piece in pieces(1) {
            recordings.archive(&room("1"), piece, recorded(1, 0));
        }
        recordings.end(&room("1"), RecordingEnd::GameOver);
    }
    wait_for(dir.path(), 4, 0);
    assert!(thread.end() && future.exists());
}
