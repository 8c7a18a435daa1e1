//! Course of a measurement, equal for all libraries: all clients join, the scene settles, a span is
//! measured. A storm of newcomers has its own course. The load reports to its parent process by
//! lines on its standard output.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::ops::{Add, AddAssign, Sub};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::series::{Point, Sample};

/// Maximum time for all clients to join and receive a snapshot.
const JOINING_MAX: Duration = Duration::from_secs(40);
/// Time in which clocks, rates and baselines settle before the span.
const SETTLING: Duration = Duration::from_secs(3);
/// Time between two clients' joins.
const JOINING_APART: Duration = Duration::from_millis(8);
/// Time within which all newcomers join.
pub const STORM: Duration = Duration::from_secs(1);
/// Time after that within which they have to get in.
pub const AFTER_STORM: Duration = Duration::from_secs(3);
/// Time from one sample to the next.
const SAMPLES_APART: Duration = Duration::from_millis(100);
/// Bytes of the headers of IPv4 and UDP.
pub const HEADER_BYTES: u64 = 28;
/// Number of clients that decode and check everything.
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
    /// Counts a packet of this size.
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
    /// New states of other players; only watchers count them.
    pub updates: u64,
    /// States among them that cannot follow the previous one.
    pub wrong: u64,
    /// States equal to the previous one.
    pub still: u64,
    /// Inputs sent.
    pub inputs: u64,
    /// Tick of the newest snapshot.
    pub tick: u64,
    /// Ticks without an input in time, if the server reports them.
    pub late: u64,
    /// UDP payloads received; only of clients whose traffic is counted, like the next three.
    pub down: Traffic,
    /// UDP payloads sent.
    pub up: Traffic,
    /// Payloads received from the library: snapshots and everything that is not the library's own.
    pub payload_down: Traffic,
    /// Payloads passed to the library.
    pub payload_up: Traffic,
}

impl Counts {
    fn zip(self, other: Self, traffic: fn(Traffic, Traffic) -> Traffic, sign: i64) -> Self {
        let count = |a: u64, b: u64| a.saturating_add_signed(sign * b as i64);
        Self {
            snapshots: count(self.snapshots, other.snapshots),
            updates: count(self.updates, other.updates),
            wrong: count(self.wrong, other.wrong),
            still: count(self.still, other.still),
            inputs: count(self.inputs, other.inputs),
            tick: count(self.tick, other.tick),
            late: count(self.late, other.late),
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
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Samples of each client, if requested.
    pub series: Vec<Sample>,
    /// In a storm, seconds from each client's arrival to its first snapshot; None for those who did
    /// not get in.
    pub waited: Vec<Option<f64>>,
}

/// A load's work.
#[derive(Clone, Copy, Debug, Args)]
pub struct Task {
    /// Address of the server
    pub server: SocketAddr,
    /// Clients
    pub clients: usize,
    /// Seconds of the span
    pub seconds: u64,
    /// Number of the first client
    #[arg(long, default_value_t = 0)]
    pub first: usize,
    /// Lets all join within a second, and measures how soon they are in, instead of a span
    #[arg(long)]
    pub storm: bool,
    /// Samples each client ten times a second, and continues without lost ones
    #[arg(long)]
    pub samples: bool,
}

impl Task {
    /// Clients that decode everything.
    pub fn watchers(&self) -> usize {
        if self.storm { 0 } else { WATCHERS.min(self.clients / 2) }
    }
}

/// A client, for the course.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Its counters.
    pub counts: Counts,
    /// Whether it is out of the game.
    pub is_lost: bool,
}

enum Stage {
    Joining,
    Settling(Instant),
    Measuring(Instant, Counts),
}

/// Course of one measurement. Call [`poll`](Self::poll) every few milliseconds.
pub struct Course {
    task: Task,
    counted: usize,
    begun: Instant,
    stage: Stage,
    series: Vec<Sample>,
    /// When each client of a storm arrived, and after how many seconds it was in.
    newcomers: Vec<(Instant, Option<f64>)>,
}

impl Course {
    /// Begins with the joins. The traffic of `counted` clients is counted.
    pub fn new(task: Task, counted: usize) -> Self {
        let (begun, stage) = (Instant::now(), Stage::Joining);
        Self { task, counted, begun, stage, series: Vec::new(), newcomers: Vec::new() }
    }

    /// Returns the number of clients that should have begun to join by now.
    pub fn due(&self) -> usize {
        let Task { clients, storm, .. } = self.task;
        let apart = if storm { STORM / clients.max(1) as u32 } else { JOINING_APART };
        let due = self.begun.elapsed().as_secs_f64() / apart.as_secs_f64() + 1.0;
        clients.min(due as usize)
    }

    /// Whether a lost client is counted; otherwise it ends the measurement.
    pub fn counts_lost(&self) -> bool {
        self.task.storm || matches!(self.stage, Stage::Measuring(..)) && self.task.samples
    }

    /// Continues with all clients that have begun to join. Returns true at the end. Fails if not
    /// all joined in time.
    pub fn poll(&mut self, clients: &[View]) -> Result<bool> {
        let now = Instant::now();
        if self.task.storm {
            return self.poll_storm(clients);
        }
        let sum = || {
            let mut sum = Counts::default();
            clients.iter().for_each(|client| sum += client.counts);
            sum
        };
        match self.stage {
            Stage::Joining => {
                let joined = clients.iter().filter(|it| it.counts.snapshots > 0).count();
                if joined == self.task.clients {
                    self.stage = Stage::Settling(now);
                } else if now - self.begun > JOINING_MAX {
                    bail!("{joined} of {} clients joined in time", self.task.clients);
                }
            }
            Stage::Settling(since) if now - since > SETTLING => {
                say(BEGIN)?;
                self.stage = Stage::Measuring(Instant::now(), sum());
            }
            Stage::Settling(_) => {}
            Stage::Measuring(since, before) => {
                self.sample(since, clients);
                if now - since >= Duration::from_secs(self.task.seconds) {
                    return self.end(since, sum() - before);
                }
            }
        }
        Ok(false)
    }

    fn end(&mut self, since: Instant, counts: Counts) -> Result<bool> {
        let report = Report {
            seconds: since.elapsed().as_secs_f64(),
            clients: self.task.clients,
            watchers: self.task.watchers(),
            counted: self.counted,
            counts,
            series: std::mem::take(&mut self.series),
            waited: self.newcomers.iter().map(|(_, waited)| *waited).collect(),
        };
        say(&format!("{END} {}", serde_json::to_string(&report)?))?;
        Ok(true)
    }

    /// Records which clients are in.
    fn poll_storm(&mut self, clients: &[View]) -> Result<bool> {
        let now = Instant::now();
        for (at, client) in clients.iter().enumerate() {
            if self.newcomers.len() == at {
                self.newcomers.push((now, None));
            }
            let (came, waited) = &mut self.newcomers[at];
            if client.counts.snapshots > 0 {
                waited.get_or_insert((now - *came).as_secs_f64());
            }
        }
        // They stay until the players have been measured.
        let is_over = now - self.begun > STORM + AFTER_STORM + STORM;
        if is_over { self.end(self.begun, Counts::default()) } else { Ok(false) }
    }

    /// Takes a sample if it is time.
    fn sample(&mut self, since: Instant, clients: &[View]) {
        let now = Instant::now();
        let last = self.series.last().map_or(-1.0, |sample| sample.secs);
        let secs = (now - since).as_secs_f64();
        if self.task.samples && secs >= last + SAMPLES_APART.as_secs_f64() {
            self.series.push(Sample { secs, points: clients.iter().map(Point::of).collect() });
        }
    }
}

/// Writes a line for the parent process.
pub fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
