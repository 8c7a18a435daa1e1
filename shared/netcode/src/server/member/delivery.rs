//! Which formats a member's client can read, and how much its path carries.

use std::sync::Arc;

use crate::limits::{DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MIN, RUN_PART_BYTES};
use crate::path::SendRate;
use crate::replay::run_hash;
use crate::server::clock::RoomTime;
use crate::wire::control::Hello;
use crate::wire::ghost::GhostNotice;

/// How snapshots are delivered to a client, in all games.
#[derive(Debug)]
pub(in crate::server) struct Delivery {
    /// Games of the client's build, with their hashes.
    games: Vec<(String, u64)>,
    /// Version of the client's build, as it states it; empty after a restart of the server.
    version: String,
    /// Whether the client gets snapshots in plain coding.
    plain: bool,
    /// Whether the client understands what an entity's absence from a snapshot means.
    reads_silence: bool,
    /// Maximum size of a datagram on the client's path, in bytes.
    datagram_bytes: usize,
    /// Send rate at the start of the game.
    rate: SendRate,
    /// The run that is being sent.
    run: Option<OutgoingRun>,
}

/// A run that is being sent.
#[derive(Debug)]
struct OutgoingRun {
    hash: u64,
    bytes: Arc<[u8]>,
    /// Number of bytes sent.
    sent: usize,
}

impl Delivery {
    pub(in crate::server) fn new(hello: Hello, time: RoomTime, bytes_per_second: u32) -> Self {
        let interval = time.rates.snapshot_interval();
        Self {
            plain: hello.wishes_plain(),
            reads_silence: hello.wishes_silence(),
            games: hello.games,
            version: hello.version,
            datagram_bytes: DATAGRAM_BYTES_MAX,
            rate: SendRate::new(time.now, bytes_per_second, interval),
            run: None,
        }
    }

    /// Returns the games of the client's build, with their hashes.
    pub(in crate::server) fn games(&self) -> &[(String, u64)] {
        &self.games
    }

    /// Returns the version of the client's build, as it states it.
    pub(in crate::server) fn version(&self) -> &str {
        &self.version
    }

    /// Whether the client gets snapshots in plain coding.
    pub(in crate::server) fn is_plain(&self) -> bool {
        self.plain
    }

    pub(in crate::server) fn reads_silence(&self) -> bool {
        self.reads_silence
    }

    pub(in crate::server) fn datagram_bytes(&self) -> usize {
        self.datagram_bytes
    }

    /// Limits datagrams to the maximum of the path.
    pub(in crate::server) fn handle_path(&mut self, bytes_max: usize) {
        self.datagram_bytes = bytes_max.clamp(DATAGRAM_BYTES_MIN, DATAGRAM_BYTES_MAX);
    }

    pub(in crate::server) fn rate(&self) -> &SendRate {
        &self.rate
    }

    /// Sends a run, in place of one that is being sent.
    pub(in crate::server) fn set_run(&mut self, bytes: Arc<[u8]>) {
        self.run = Some(OutgoingRun { hash: run_hash(&bytes), bytes, sent: 0 });
    }

    /// Takes the next part of the run that is being sent.
    pub(in crate::server) fn poll_run(&mut self) -> Option<GhostNotice> {
        let OutgoingRun { hash, bytes, sent } = self.run.as_mut()?;
        let part: Vec<_> = bytes.iter().skip(*sent).take(RUN_PART_BYTES).copied().collect();
        let notice =
            GhostNotice::Part { hash: *hash, from: u32::try_from(*sent).ok()?, bytes: part };
        *sent += RUN_PART_BYTES;
        if *sent >= bytes.len() {
            self.run = None;
        }
        Some(notice)
    }

    pub(in crate::server) fn set_rate(&mut self, rate: SendRate) {
        self.rate = rate;
    }
}
