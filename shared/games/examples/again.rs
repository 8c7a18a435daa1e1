//! Records rounds of each game with bots, and runs recordings again, on any target. `.ci/again`
//! compares machines with it: what one has recorded, another one runs.
//!
//! ```text
//! again record FOLDER SECONDS BOTS    plays each game, and writes FOLDER/GAME.plr
//! again FILE...                       runs the files again, and compares every tick
//! ```
//!
//! In WebAssembly the file is what the page downloads, and the result is the page's status.

use phaselock::game::Game;
use phaselock::replay::{Assembly, Pace, Piece, Replay};
use phaselock::server::{AnyRoom, RecordConfig, Room, RoomConfig};

/// Plays a game with bots. Returns the recording.
fn record<G: Game>(secs: u64, bots: u16) -> Vec<u8> {
    let record = Some(RecordConfig { pace: Pace::DEFAULT, ..RecordConfig::default() });
    let config = RoomConfig { seed: 41, map_seed: 41, record, ..RoomConfig::default() };
    let ticks = secs * u64::from(config.rates.tick_hz);
    let mut room = Room::<G>::new(config.with(|it| it.bots = bots));
    let (mut file, mut assembly) = (Vec::new(), Assembly::default());
    let mut add = |piece: Piece| {
        file.extend(assembly.push(&piece).expect("the pieces are in order"));
    };
    while room.tick().0 < ticks {
        let now = room.next_timeout();
        room.handle_timeout(now);
        while room.poll_output(now).is_some() {}
        while let Some(piece) = room.poll_replay() {
            add(piece);
        }
    }
    room.cut_replay();
    while let Some(piece) = room.poll_replay() {
        add(piece);
    }
    file.extend(assembly.end());
    file
}

/// Runs a recording again. Returns the result in words, or why it is not identical.
fn run_again(bytes: Vec<u8>) -> Result<String, String> {
    let replay = Replay::open(bytes).map_err(|error| error.to_string())?;
    let game = replay.header().game.clone();
    let games = phaselock_games::all();
    let verify = games.get(&game).map_err(|error| error.to_string())?.verify;
    let verdict = verify(&replay).map_err(|error| error.to_string())?;
    match verdict.difference {
        None if verdict.skipped == 0 => Ok(format!("{game}: identical, {} ticks", verdict.ticks)),
        None => Err(format!("{game}: {} ticks could not be run", verdict.skipped)),
        Some(difference) => Err(format!("{game}: differs at {difference}")),
    }
}

#[cfg(not(target_arch = "wasm32"))]
#[allow(clippy::print_stdout, reason = "it prints the results")]
fn main() {
    use phaselock_games::{asteroids, platformer, puck, race, skirmish};

    let words: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    if let ["record", folder, secs, bots] = words[..] {
        let (secs, bots) = (secs.parse().expect("seconds"), bots.parse().expect("a number"));
        let write = |name: &str, bytes: &[u8]| {
            let path = std::path::Path::new(folder).join(name).with_extension("plr");
            std::fs::write(path, bytes).expect("the folder is writable");
        };
        write("skirmish", &record::<skirmish::Skirmish>(secs, bots));
        write("race", &record::<race::Race>(secs, bots));
        write("asteroids", &record::<asteroids::Asteroids>(secs, bots));
        write("puck", &record::<puck::ShufflePuck>(secs, bots));
        write("platformer", &record::<platformer::Platformer>(secs, bots));
        return;
    }
    for file in words {
        let bytes = std::fs::read(file).expect("the file is readable");
        println!("{}", run_again(bytes).expect("it is identical"));
    }
}

#[cfg(target_arch = "wasm32")]
fn main() {
    use phaselock_web::download::{WebDownload, WebProgress};

    let WebProgress::Done(bytes) = WebDownload::dropped(1 << 28).view() else {
        return phaselock_web::page::publish_status("there is no file");
    };
    let result = run_again(bytes).unwrap_or_else(|error| error);
    phaselock_web::page::publish_status(&result);
}
