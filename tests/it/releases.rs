//! Builds of one minor release play together: they have the protocol and the rules that were kept
//! in `tests/releases` when it was published.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use phaselock::replay::Replay;
use phaselock::wire::protocol::wire_hash;

use crate::tidy::root;

/// Returns the folder of this build's minor release.
fn folder() -> PathBuf {
    let version = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
    root().join("tests/releases").join(version)
}

/// Returns what two builds compare when they meet: the hash of packets and messages, and that of
/// each game.
fn protocol() -> String {
    let mut text = format!("wire {:016x}\n", wire_hash());
    for (name, hash) in phaselock_games::all().hashes(false) {
        writeln!(text, "{name} {hash:016x}").expect("a text grows");
    }
    text
}

#[test]
fn the_protocol_is_that_of_the_first_build_of_this_minor_release() {
    let (path, ours) = (folder().join("protocol.txt"), protocol());
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        kept,
        ours,
        "clients and servers of {} could not play together any more; tests/releases/README.md says \
         what to do",
        path.display()
    );
}

#[test]
fn matches_of_the_first_build_of_this_minor_release_run_again_identically() {
    let games = phaselock_games::all();
    for (name, _) in games.hashes(false) {
        let path = folder().join(&name).with_extension("plr");
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let replay = Replay::open(bytes).expect("this build reads recordings of that one");
        let verify = games.get(&replay.header().game).expect("the same games").verify;
        let verdict = verify(&replay).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let difference = verdict.difference.map(|it| it.to_string());
        assert_eq!((difference, verdict.skipped), (None, 0), "the rules of {name} differ");
        assert!(verdict.ticks > 600, "{} ticks", verdict.ticks);
    }
}
