//! Runs recordings again, on the command line.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use phaselock::games::Games;
use phaselock::replay::Replay;
use phaselock::server::Verdict;

/// Maximum size of a recording in bytes: days of a full room.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Verifies files and prints a line for each. The status is 0 if all are identical.
pub(crate) fn run(games: &Games, files: &[PathBuf]) -> Result<u8> {
    let mut status = 0;
    for file in files {
        let (line, is_identical) = match verified(games, file) {
            Ok(line) => line,
            Err(error) => (format!("{error:#}"), false),
        };
        writeln!(io::stdout(), "{}: {line}", file.display())
            .context("cannot write to the standard output")?;
        if !is_identical {
            status = 1;
        }
    }
    Ok(status)
}

/// Verifies a file. Returns the result in words, and whether it is identical.
fn verified(games: &Games, file: &Path) -> Result<(String, bool)> {
    let mut bytes = Vec::new();
    let opened = File::open(file).context("cannot open the file")?;
    opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).context("cannot read the file")?;
    anyhow::ensure!(bytes.len() as u64 <= FILE_BYTES_MAX, "the file is larger than 1 GiB");
    let replay = Replay::open(bytes)?;
    let verify = games.get(&replay.header().game)?.verify;
    let is_complete = replay.is_complete();
    // The rules trust their state, and a forged file may hold one that they never reach.
    let verdict = catch_unwind(|| verify(&replay));
    let verdict = verdict.ok().context("the rules panicked: the recording was forged")?;
    Ok(told(&verdict?, is_complete))
}

fn told(verdict: &Verdict, is_complete: bool) -> (String, bool) {
    let Verdict { ticks, skipped, damage, difference } = verdict;
    let mut line = match difference {
        None => format!("identical, {ticks} ticks"),
        Some(difference) => format!("differs at {difference}"),
    };
    if let Some(damage) = damage {
        line += &format!("; {damage}");
    }
    if *skipped > 0 {
        line += &format!(
            "; {skipped} ticks could not be run, because they or the states before them are missing"
        );
    }
    if !is_complete {
        line += "; it has no intact index, so the last seconds may be missing";
    }
    (line, difference.is_none() && damage.is_none() && *skipped == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::replay::Pace;
    use phaselock::server::{RecordConfig, Room, RoomConfig};
    use phaselock::time::Tick;
    use phaselock_games::race::Race;
    use phaselock_testing::{file_of, record_until};

    /// Returns a recording of three seconds, without the chunk of one of them.
    fn recording(missing: Option<usize>) -> Vec<u8> {
        let pace = Pace { chunk_secs: 1, ..Pace::DEFAULT };
        let record = Some(RecordConfig { pace, ..RecordConfig::default() });
        let config = RoomConfig { record, ..RoomConfig::default() };
        let mut room = Room::<Race>::new(config.with(|settings| settings.bots = 2));
        let mut pieces = record_until(&mut room, Tick(180), |_| ());
        missing.into_iter().for_each(|number| drop(pieces.remove(number)));
        file_of(&pieces)
    }

    /// Returns the size of the block at a position.
    fn length_of(bytes: &[u8], at: u64) -> u64 {
        let length = bytes[at as usize + 1..].first_chunk::<4>().expect("a length");
        u64::from(u32::from_le_bytes(*length)) + 9
    }

    #[test]
    fn each_kind_of_file_gets_its_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let whole = recording(None);
        let changed = |at: usize| {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            changed
        };
        let chunks = Replay::open(whole.clone()).expect("it is intact").chunks().to_vec();
        let place = |number: usize| chunks[number].at as usize + 100;
        let (second, first) = (changed(place(1)), changed(place(0)));
        let (header, index) = (changed(50), changed(whole.len() - 30));
        // As a killed server leaves it, in the middle of a block.
        let cut = whole[..whole.len() - 30].to_vec();
        let [first_of_cut, second_of_cut] = [0, 1].map(|number| {
            let mut changed = cut.clone();
            changed[place(number)] ^= 1;
            changed
        });
        let without_index = |what: &str| {
            format!("{what}; it has no intact index, so the last seconds may be missing")
        };
        const SECOND: &str = "identical, 60 ticks; ticks 61 to 120: the recording is damaged; 120 \
            ticks could not be run, because they or the states before them are missing";
        const MISSING: &str = "identical, 60 ticks; 120 ticks could not be run, because they or \
            the states before them are missing";
        let (index_at, end) = (chunks[2].at + length_of(&whole, chunks[2].at), whole.len());
        let of_index =
            format!("identical, 180 ticks; bytes {index_at} to {end}: the recording is damaged");
        let of_first = "nothing of the recording can be run again; ticks 1 to 60: the recording \
            is damaged";
        let of_first_of_cut = format!(
            "nothing of the recording can be run again; bytes {} to {}: the recording is damaged",
            chunks[0].at, chunks[1].at
        );
        for (bytes, expected, is_identical) in [
            (whole, "identical, 180 ticks".to_owned(), true),
            (cut, without_index("identical, 180 ticks"), true),
            (index, without_index(&of_index), false),
            (header, "the recording is damaged".to_owned(), false),
            (first, of_first.to_owned(), false),
            (first_of_cut, of_first_of_cut, false),
            (second, SECOND.to_owned(), false),
            (second_of_cut, without_index(SECOND), false),
            (recording(Some(2)), MISSING.to_owned(), false),
            (b"something else".to_vec(), "this is not a recording of Phaselock".to_owned(), false),
        ] {
            let path = dir.path().join("it.plr");
            std::fs::write(&path, bytes).expect("writable");
            let games = phaselock_games::all();
            let line =
                verified(&games, &path).unwrap_or_else(|error| (format!("{error:#}"), false));
            assert_eq!(line, (expected, is_identical));
        }
        let none = verified(&phaselock_games::all(), &dir.path().join("none"));
        assert!(none.expect_err("there is none").to_string().contains("cannot open"));
    }
}
