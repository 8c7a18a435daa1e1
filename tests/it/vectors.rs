//! The test vectors in `shared/netcode/vectors`: the code generates exactly these, and reads them
//! back.

use std::fs;

use phaselock::ids::PlayerId;
use phaselock::time::Tick;
use phaselock::wire::control::{ClientMessage, ServerMessage, body_len};
use phaselock::wire::input::read_input;
use phaselock_tests::vectors::session::Reader;
use phaselock_tests::vectors::specimens::Command;
use phaselock_tests::vectors::{files, folder, inputs, messages};
use serde_json::Value;

use crate::tidy::root;

const WRITE: &str = "cargo run -p phaselock-tests --bin vectors";

fn file(name: &str) -> Value {
    let text = fs::read_to_string(folder().join(name)).unwrap_or_else(|error| {
        panic!("{name}: {error}; `{WRITE}` writes it");
    });
    parsed(&text)
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("a vector is JSON")
}

fn items<'a>(all: &'a Value, name: &str) -> &'a [Value] {
    all[name].as_array().map_or(&[], Vec::as_slice)
}

fn bytes(hex: &Value) -> Vec<u8> {
    let digits = hex.as_str().expect("bytes are a text");
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("of hexadecimals");
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// The reader of a session's file.
fn reader(session: &Value) -> Reader {
    let player = u16::try_from(number(&session["player"])).expect("a seat");
    let game = u8::try_from(number(&session["number"])).expect("an index modulo 256");
    Reader::new(
        session["coding"] == "plain",
        PlayerId(player),
        game,
        Tick(number(&session["tick"])),
    )
}

/// Asserts that a reader gets from a datagram what its line says.
fn check(reader: &mut Reader, line: &Value) {
    let mut read = parsed(&reader.read(&bytes(&line["bytes"])));
    for name in ["session", "after", "why"] {
        if let Some(value) = line.get(name) {
            read[name] = value.clone();
        }
    }
    assert_eq!(&read, line);
}

#[test]
fn vectors_are_those_that_the_code_makes() {
    let mut size = 0;
    for (name, text) in files() {
        let held = fs::read_to_string(folder().join(name)).unwrap_or_default();
        size += held.len();
        let line = 1 + held.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
        assert!(held == text, "{name} differs from line {line} on: run `{WRITE}` to rewrite it");
    }
    assert!(size < 640_000, "{size} bytes of vectors");
    let readme = fs::read_to_string(folder().join("README.md")).expect("the folder is described");
    let mut names: Vec<_> = files().iter().map(|(name, _)| (*name).to_owned()).collect();
    names.push("README.md".into());
    for entry in fs::read_dir(folder()).expect("the folder is there").flatten() {
        let name = entry.file_name().into_string().expect("names are texts");
        assert!(names.contains(&name), "no code writes {name}");
        assert!(name == "README.md" || readme.contains(&name), "README.md lacks {name}");
    }
}

#[test]
fn the_drivers_own_test_proves_what_the_vector_says() {
    let identity = file("identity.json");
    let test = fs::read_to_string(root().join("shared/quic/src/player.rs")).expect("the source");
    let (key, proof) = (identity["key"].as_str().expect("a text"), &identity["proof"]);
    let (first, second) = proof.as_str().expect("a text").split_at(64);
    for half in [key, first, second] {
        assert!(test.contains(&format!("\"{half}\"")), "shared/quic/src/player.rs lacks {half}");
    }
}

#[test]
fn recorded_datagrams_are_read_as_their_files_say() {
    for name in ["plain.json", "trained.json"] {
        let session = file(name);
        let mut reader = reader(&session);
        let datagrams = items(&session, "datagrams");
        assert!((300..=500).contains(&datagrams.len()), "{name} has {}", datagrams.len());
        let mut baselines = Vec::new();
        for line in datagrams {
            check(&mut reader, line);
            baselines.extend(line["references"].get(0).map(number));
        }
        let is_old = |age: &u64| *age > 32;
        let old = baselines.iter().position(is_old).expect("baselines grew old");
        assert!(
            baselines[old..].iter().any(|age| !is_old(age)),
            "{name}: no entity became younger"
        );
        let has = |refused: &str| datagrams.iter().any(|line| line["refused"] == refused);
        assert!(has("doubled"), "{name}: no datagram came twice");
    }
}

#[test]
fn messages_and_inputs_are_read_as_their_files_say() {
    let control = file("control.json");
    let [client, server] = ["client", "server"].map(|side| items(&control, side));
    for line in client {
        let message = ClientMessage::parse(&bytes(&line["bytes"])[2..]).expect("it is a message");
        assert_eq!(parsed(&messages::client_values(&message)), line["message"]);
    }
    for line in server {
        let message = ServerMessage::parse(&bytes(&line["bytes"])[2..]).expect("it is a message");
        assert_eq!(parsed(&messages::server_values(&message)), line["message"]);
    }
    let packets = file("inputs.json");
    let packets = items(&packets, "packets");
    for line in packets {
        assert_eq!(&parsed(&inputs::line(&bytes(&line["bytes"]))), line);
    }
    assert!(client.len() > 5 && server.len() > 20 && packets.len() > 20);
}

#[test]
fn malformed_datagrams_and_messages_are_refused() {
    let all = file("malformed.json");
    let sessions = ["plain.json", "trained.json"].map(|name| (name, file(name)));
    let mut count = 0;
    for line in items(&all, "snapshots").iter().chain(items(&all, "odd_snapshots")) {
        let found = sessions.iter().find(|(name, _)| line["session"] == *name);
        let (_, session) = found.expect("it belongs to one of the sessions");
        let mut reader = reader(session);
        let after = usize::try_from(number(&line["after"])).expect("a count");
        for before in &items(session, "datagrams")[..after] {
            check(&mut reader, before);
        }
        check(&mut reader, line);
        count += 1;
    }
    for line in items(&all, "inputs") {
        assert!(read_input::<Command>(&bytes(&line["bytes"])).is_err(), "{line}");
        count += 1;
    }
    for side in ["client", "server"] {
        for line in items(&all, side) {
            let framed = bytes(&line["bytes"]);
            let (prefix, body) = framed.split_first_chunk::<2>().expect("a length");
            let is_read = match side {
                "client" => ClientMessage::parse(body).is_ok(),
                _ => ServerMessage::parse(body).is_ok(),
            };
            assert!(body_len(*prefix).is_err() || !is_read, "{line}");
            count += 1;
        }
    }
    assert!(count > 100, "{count} cases");
}
