//! Course of a measurement, the same for each library: all join, the scene settles, a span is
//! measured. The load tells the program that started it by lines on its standard output.

use std::io::{self, Write as _};
use std::ops::{Add, AddAssign, Sub};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// Longest time for all clients to join and hear a snapshot.
const JOINING_MAX: Duration = Duration::from_secs(40);
/// Time in which clocks, rates and baselines settle before the span.
const SETTLING: Duration = Duration::from_secs(3);
/// Bytes of the headers of IPv4 and UDP.
pub const HEADER_BYTES: u64 = 28;
/// Clients that decode all they receive, and check it.
pub const WATCHERS: usize = 2;

/// Line that begins a span; nothing follows.
pub const BEGIN: &str = "begin";
/// Line that ends a span; a [`Report`] in JSON follows.
pub const END: &str = "end";

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Packets.
    pub packets: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Traffic {
    /// Counts a packet of so many bytes.
    pub fn count(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

impl Add for Traffic {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl Sub for Traffic {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { packets: self.packets - other.packets, bytes: self.bytes - other.bytes }
    }
}

/// Counters of a client, or of several.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Snapshots newer than all before.
    pub snapshots: u64,
    /// New states of other players, of watchers alone.
    pub updates: u64,
    /// Those among them that cannot follow the state before.
    pub wrong: u64,
    /// UDP payloads received; of those clients alone whose traffic is counted, like the next three.
    pub down: Traffic,
    /// UDP payloads sent.
    pub up: Traffic,
    /// Payloads handed over by the library, snapshots and all else that is not the library's own.
    pub payload_down: Traffic,
    /// Payloads handed to the library.
    pub payload_up: Traffic,
}

impl Counts {
    fn zip(self, other: Self, traffic: fn(Traffic, Traffic) -> Traffic, sign: i64) -> Self {
        let count = |a: u64, b: u64| a.saturating_add_signed(sign * b as i64);
        Self {
            snapshots: count(self.snapshots, other.snapshots),
            updates: count(self.updates, other.updates),
            wrong: count(self.wrong, other.wrong),
            down: traffic(self.down, other.down),
            up: traffic(self.up, other.up),
            payload_down: traffic(self.payload_down, other.payload_down),
            payload_up: traffic(self.payload_up, other.payload_up),
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        *self = self.zip(other, Traffic::add, 1);
    }
}

impl Sub for Counts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.zip(other, Traffic::sub, -1)
    }
}

/// A load's measurement of one span.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Length of the span in seconds.
    pub seconds: f64,
    /// Clients in the scene.
    pub clients: usize,
    /// Clients that decoded everything.
    pub watchers: usize,
    /// Clients whose traffic was counted.
    pub counted: usize,
    /// Counters of all clients together.
    pub counts: Counts,
}

/// A load's task.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Clients.
    pub clients: usize,
    /// Length of the span.
    pub span: Duration,
}

impl Task {
    /// Clients that decode everything.
    pub fn watchers(&self) -> usize {
        WATCHERS.min(self.clients / 2)
    }
}

enum Stage {
    Joining(Instant),
    Settling(Instant),
    Measuring(Instant, Counts),
}

/// Course of one measurement. Call [`poll`](Self::poll) every few milliseconds.
pub struct Course {
    task: Task,
    counted: usize,
    stage: Stage,
}

impl Course {
    /// Begins with the joining. `counted` clients have their traffic counted.
    pub fn new(task: Task, counted: usize) -> Self {
        Self { task, counted, stage: Stage::Joining(Instant::now()) }
    }

    /// Goes on with `joined` clients that have heard a snapshot, and the counters of all. Returns
    /// true at the end. An error says that not all joined in time.
    pub fn poll(&mut self, joined: usize, counts: impl FnOnce() -> Counts) -> Result<bool> {
        let now = Instant::now();
        match self.stage {
            Stage::Joining(_) if joined == self.task.clients => self.stage = Stage::Settling(now),
            Stage::Joining(since) if now - since > JOINING_MAX => {
                bail!("{joined} of {} clients joined in time", self.task.clients);
            }
            Stage::Settling(since) if now - since > SETTLING => {
                say(BEGIN)?;
                self.stage = Stage::Measuring(Instant::now(), counts());
            }
            Stage::Measuring(since, before) if now - since >= self.task.span => {
                let report = Report {
                    seconds: since.elapsed().as_secs_f64(),
                    clients: self.task.clients,
                    watchers: self.task.watchers(),
                    counted: self.counted,
                    counts: counts() - before,
                };
                say(&format!("{END} {}", serde_json::to_string(&report)?))?;
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }
}

/// Writes a line for the program that started this one.
pub fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
