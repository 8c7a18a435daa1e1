//! What lists show of a recording.

use std::io;
use std::ops::Range as Bytes;

use super::*;
use crate::limits::REPLAY_HEADER_BYTES_MAX;

/// Returns the summary of a file, and how many bytes of it were read.
fn summary(bytes: &[u8]) -> (io::Result<Summary>, usize) {
    let mut sum = 0;
    let read = |range: Bytes<u64>| {
        let end = bytes.len().min(range.end as usize);
        let found = bytes[end.min(range.start as usize)..end].to_vec();
        sum += found.len();
        Ok(found)
    };
    (Summary::read(bytes.len() as u64, read), sum)
}

#[test]
fn a_summary_has_the_length_and_everyone_who_was_there() {
    let (pieces, _) = record(6.0, pace(5));
    let bytes = file(&pieces);
    let replay = open(&bytes);
    let (found, _) = summary(&bytes);
    let found = found.expect("it can be read");
    assert_eq!((&found.header, found.secs()), (replay.header(), Some(6)));
    let chunks = (0..6).map(|number| replay.chunk(number).expect("it can be read"));
    let there = chunks.flat_map(|chunk| {
        let came = chunk.entries.into_iter().filter_map(|(_, entry)| match entry {
            Entry::News(News::Joined(people)) => Some(people),
            _ => None,
        });
        chunk.key.people.into_iter().chain(came.flatten())
    });
    let mut people: Vec<_> = there.map(|it| (it.player, it.name)).collect();
    people.sort();
    people.dedup();
    let found = found.people.into_iter().map(|it| (it.player, it.name));
    assert_eq!(found.collect::<Vec<_>>(), people);
    assert!(people.len() > 3, "some came and went: {people:?}");
}

#[test]
fn the_summary_of_a_file_without_an_index_ends_with_its_last_whole_chunk() {
    let (pieces, _) = record(6.0, pace(5));
    let bytes = file(&pieces);
    let replay = open(&bytes);
    let [.., before, last] = replay.chunks() else { panic!("more chunks") };
    let secs = |bytes: &[u8]| summary(bytes).0.expect("it has its header").secs();
    assert_eq!(secs(&bytes[..bytes.len() - 1]), Some(6));
    assert_eq!(secs(&bytes[..last.at as usize + 50]), Some(5));
    let mut changed = bytes[..before.at as usize + 50].to_vec();
    changed[before.at as usize - 20] ^= 1;
    assert_eq!(secs(&changed), Some(3));
    assert_eq!(secs(&bytes[..replay.chunks()[0].at as usize + 50]), None);
    assert!(summary(&bytes[..30]).0.is_err() && summary(b"a text").0.is_err());
}

#[test]
fn a_summary_knows_whose_view_it_is_and_lists_who_came_back_once() {
    let (pieces, _) = record(2.0, pace(5));
    let mut found = summary(&file(&pieces)).0.expect("it can be read");
    let person = |id: u16, name: &str, bot| Person {
        player: PlayerId(id),
        name: name.to_owned(),
        bot,
        look: Default::default(),
    };
    // Ann had the id before Zoe, who made the recording and left for a moment.
    found.people = vec![
        person(1, "Ann", false),
        person(1, "Zoe", false),
        person(4, "Bot", true),
        person(5, "Zoe", false),
    ];
    found.header.people = vec![person(1, "Zoe", false)];
    assert_eq!(found.viewer(), None, "the server made it");
    found.header.viewer = Some(PlayerId(1));
    assert_eq!(found.viewer().map(|person| &*person.name), Some("Zoe"));
    found.header.viewer = Some(PlayerId(5));
    assert_eq!(found.viewer().map(|person| &*person.name), Some("Zoe"), "who came later");
    assert_eq!(found.names(false), ["Ann", "Zoe"].into());
    assert_eq!(found.names(true), ["Bot"].into());
}

#[test]
fn a_summary_reads_little_of_a_long_file() {
    let (pieces, _) = record(2.0, pace(5));
    let [start, chunk, ..] = &pieces[..] else { panic!("a chunk") };
    let (mut bytes, mut assembly) = (Vec::new(), Assembly::default());
    for piece in [start].into_iter().chain(std::iter::repeat_n(chunk, 50_000)) {
        bytes.extend(assembly.push(piece).expect("in order"));
    }
    let (found, read) = summary(&bytes);
    assert!(found.is_ok() && bytes.len() > 10 * read, "{read} of {} bytes", bytes.len());
    assert!(read < REPLAY_HEADER_BYTES_MAX + (2 << 20), "{read}");
}
