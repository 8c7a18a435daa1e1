//! Bodies of the fuzz targets: for each decoder of foreign bytes, a function that accepts any
//! bytes.
//!
//! Each panics if an invariant does not hold, and returns whether the decoder accepted anything, so
//! that a corpus that is refused throughout is noticed. They run under libFuzzer, in the one
//! program of `fuzz/`, and in `cargo test`, over the checked-in corpus and mutations of it
//! ([`mutate`]). [`corpus`] makes the packets of that corpus.

mod c;
mod client;
mod control;
pub mod corpus;
mod directory;
mod files;
pub mod mutate;
mod packets;
mod query;
mod replay;
mod room;
mod snapshot;
mod texts;
mod web;

use std::collections::BTreeMap;
use std::fmt::{Debug, Display, Write};
use std::hash::{DefaultHasher, Hasher};
use std::path::PathBuf;
use std::{fs, io};

pub use c::{c_client, c_description};
pub use client::client;
pub use control::{client_message, server_message};
pub use directory::directory;
pub use files::{config, identity, known_hosts, motion};
pub use packets::{bits, input};
pub use query::query;
pub use replay::replay;
pub use room::room;
pub use snapshot::snapshot;
pub use texts::{address, conditions, fingerprint, invitation};
pub use web::{web, web_control};

/// Runs a target on any bytes. Returns whether its decoder accepted any of them.
pub type Body = fn(&[u8]) -> bool;

/// All targets, by their names in `fuzz/`.
pub const TARGETS: [(&str, Body); 22] = [
    ("address", address),
    ("bits", bits),
    ("c_client", c_client),
    ("c_description", c_description),
    ("client", client),
    ("client_message", client_message),
    ("conditions", conditions),
    ("config", config),
    ("directory", directory),
    ("fingerprint", fingerprint),
    ("identity", identity),
    ("input", input),
    ("invitation", invitation),
    ("known_hosts", known_hosts),
    ("motion", motion),
    ("query", query),
    ("replay", replay),
    ("room", room),
    ("server_message", server_message),
    ("snapshot", snapshot),
    ("web", web),
    ("web_control", web_control),
];

fn corpus_folder(target: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus")).join(target)
}

/// A target's checked-in seeds, in the order of their file names.
pub fn seeds(target: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(corpus_folder(target)).expect("every target has a corpus");
    let read = |entry: io::Result<fs::DirEntry>| {
        let path = entry.expect("the folder can be listed").path();
        let bytes = fs::read(&path).expect("a seed can be read");
        (path.display().to_string(), bytes)
    };
    entries.map(read).collect()
}

/// Returns a decoder's value, if it accepted the bytes. An error must have a text.
fn taken<T, E: Display>(result: Result<T, E>) -> Option<T> {
    result.inspect_err(|error| assert!(!error.to_string().is_empty())).ok()
}

/// Reads a script; beyond the end it reads zeros.
struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    /// Returns the next byte, or None at the end.
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn u8(&mut self) -> u8 {
        self.next().unwrap_or(0)
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.u8(), self.u8()])
    }

    fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }

    /// Returns this many bytes, or fewer at the end.
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Returns bytes that follow their count in two bytes.
    fn block(&mut self) -> &'a [u8] {
        let count = self.u16();
        self.take(usize::from(count))
    }
}

/// The reverse of [`Script::block`].
fn push_block(script: &mut Vec<u8>, block: &[u8]) {
    let count = u16::try_from(block.len()).expect("packets and messages are shorter");
    script.extend(count.to_le_bytes());
    script.extend(block);
}

/// A digest of a value's `Debug` text, to notice changes. Allocates nothing.
fn digest(of: &dyn Debug) -> u64 {
    struct Digest(DefaultHasher);
    impl Write for Digest {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut digest = Digest(DefaultHasher::new());
    write!(digest, "{of:?}").expect("a digest takes everything");
    digest.0.finish()
}
