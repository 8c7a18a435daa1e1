//! All measurements, one after the other: a server and a load for each.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::arguments::Library;
use crate::course::{AFTER_STORM, BEGIN, END, Report, STORM, Traffic};
use crate::floor::Packets;
use crate::load::local;
use crate::namespaces::Namespaces;
use crate::process::{cpu_secs, peak_megabytes};
use crate::strain::Strain;
use crate::table::{self, Row};

/// A process of this program that ends with its handle.
struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts this program with these arguments, after a prefix that starts it elsewhere.
    fn start(before: &[String], arguments: &[String]) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let words = before.iter().map(AsRef::as_ref).chain([program.as_os_str()]);
        let mut words = words.chain(arguments.iter().map(AsRef::as_ref));
        let mut child = Command::new(words.next().context("no program")?)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a process")?;
        let output = child.stdout.take().context("it has no output")?;
        Ok(Self { child, lines: BufReader::new(output).lines() })
    }

    fn line(&mut self) -> Result<String> {
        Ok(self.lines.next().context("it ended early")??)
    }

    /// Returns a load's report, which it makes at its end.
    fn report(&mut self) -> Result<Report> {
        loop {
            let line = self.line().context("the load failed")?;
            if let Some(report) = line.strip_prefix(END) {
                return Ok(serde_json::from_str(report)?);
            }
        }
    }

    fn cpu_secs(&self) -> Result<f64> {
        cpu_secs(self.child.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Settings of all measurements.
#[derive(Debug)]
pub struct Settings {
    /// Seconds of each span.
    pub seconds: u64,
    /// Strain to measure instead of the table.
    pub strain: Option<Strain>,
    /// Whether server and load have their own namespaces.
    pub namespaces: Option<Namespaces>,
}

/// A measurement.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The load's part.
    pub report: Report,
    /// Seconds that each newcomer waited; None for those who did not get in.
    pub waited: Vec<Option<f64>>,
    /// Requested length of the span.
    pub span_secs: f64,
    /// Processor seconds per second of the server and of the load, in each part of the time.
    pub cores: Vec<[f64; 2]>,
    /// Peak of the server's resident memory.
    pub server_megabytes: f64,
}

/// Measures each library with each number of clients, and prints a table. A failed measurement is
/// reported in its row, and in the result when all are done.
pub fn run(libraries: &[Library], clients: &[u16], settings: &Settings) -> Result<()> {
    table::print_conditions(libraries, settings.namespaces.is_some())?;
    match settings.strain {
        Some(strain) => strain.print_head()?,
        None => table::print_head()?,
    }
    let mut failed = 0;
    for clients in clients {
        let mut packets = None;
        for library in libraries {
            let measured = measure(*library, *clients, settings, packets);
            failed += usize::from(measured.is_err());
            match measured {
                Ok(measured) => {
                    if *library == Library::Ours {
                        packets = Some(packets_of(&measured.report));
                    }
                    match settings.strain {
                        Some(strain) => strain.print(*library, *clients, &measured)?,
                        None => table::print_row(*library, *clients, &Row::of(&measured))?,
                    }
                }
                Err(error) => table::print_failure(*library, *clients, &error)?,
            }
        }
    }
    if failed > 0 {
        bail!("{failed} measurements failed");
    }
    Ok(())
}

/// The packets as measured with ours.
fn packets_of(report: &Report) -> Packets {
    let counts = report.counts;
    let mean = |traffic: Traffic| (traffic.bytes / traffic.packets.max(1)) as usize;
    // The floor sends this number with each snapshot, even where ours could not send all of them.
    let snapshots = counts.snapshots as f64 * report.counted as f64 / report.clients as f64;
    Packets {
        down_bytes: mean(counts.payload_down),
        down_packets: counts.payload_down.packets as f64 / snapshots.max(1.0),
        up_bytes: mean(counts.payload_up),
    }
}

fn measure(
    library: Library,
    clients: u16,
    settings: &Settings,
    packets: Option<Packets>,
) -> Result<Measured> {
    let Settings { seconds, strain, namespaces } = settings;
    let newcomers = strain.map_or(0, Strain::newcomers);
    let watched = seconds + strain.map_or(0, Strain::more_secs);
    let options = packets.filter(|_| library == Library::Quinn).map(|packets| {
        let Packets { down_bytes, down_packets, up_bytes } = packets;
        [
            format!("--down-bytes={down_bytes}"),
            format!("--down-packets={down_packets}"),
            format!("--up-bytes={up_bytes}"),
        ]
    });
    let options = options.into_iter().flatten().collect::<Vec<_>>();
    let address = namespaces.as_ref().map_or(local(0), Namespaces::server_address);
    let seats = (clients + newcomers).to_string();
    let serve = ["serve".to_owned(), library.name(), address.to_string(), seats];
    let before = namespaces.as_ref().map(Namespaces::for_server).unwrap_or_default();
    let mut server = Process::start(&before, &[&serve[..], &options].concat())?;
    let port = server.line().context("the server does not start")?;
    let address = (address.ip(), port.parse().context("the server says no port")?);
    let address = std::net::SocketAddr::from(address).to_string();
    let before = namespaces.as_ref().map(Namespaces::for_load).unwrap_or_default();
    let load = |clients: u16, first: u16, kind: Option<&str>| {
        let mut words = vec!["load".to_owned(), library.name(), address.clone()];
        words.extend([clients.to_string(), watched.to_string(), format!("--first={first}")]);
        words.extend(kind.map(str::to_owned));
        Process::start(&before, &[&words[..], &options].concat())
    };
    let mut players = load(clients, 0, strain.map(|_| "--samples"))?;
    while players.line().context("the load failed")? != BEGIN {}
    let storm = || load(newcomers, clients, Some("--storm"));
    let (cores, mut strained) =
        watch(&server, &players, *strain, Duration::from_secs(*seconds), &storm)?;
    let report = players.report()?;
    let waited = match (strain, &mut strained) {
        (Some(Strain::Storm(_)), Some(storm)) => storm.report()?.waited,
        _ => Vec::new(),
    };
    let server_megabytes = peak_megabytes(server.child.id())?;
    Ok(Measured { report, waited, span_secs: *seconds as f64, cores, server_megabytes })
}

/// Cores used by the server and by the load in each part of the time, and the newcomers' process,
/// if there are any.
fn watch(
    server: &Process,
    load: &Process,
    strain: Option<Strain>,
    span: Duration,
    storm: &dyn Fn() -> Result<Process>,
) -> Result<(Vec<[f64; 2]>, Option<Process>)> {
    let parts = match strain {
        None => vec![span],
        Some(Strain::Busy) => vec![span / 3; 3],
        Some(Strain::Storm(_)) => vec![span, STORM, AFTER_STORM],
    };
    let now = || anyhow::Ok((std::time::Instant::now(), [server.cpu_secs()?, load.cpu_secs()?]));
    let begun = std::time::Instant::now();
    let mut end = Duration::ZERO;
    let mut cores = Vec::new();
    let mut straining = None;
    for (number, part) in parts.into_iter().enumerate() {
        match (strain, number) {
            (Some(Strain::Busy), 1) => {
                straining = Some(Process::start(&[], &["spin".to_owned()])?);
            }
            // The others have their cores again.
            (Some(Strain::Busy), 2) => straining = None,
            (Some(Strain::Storm(_)), 1) => straining = Some(storm()?),
            _ => {}
        }
        let (since, before) = now()?;
        end += part;
        // The load ends a moment after the last part.
        let margin = Duration::from_millis(20);
        std::thread::sleep(end.saturating_sub(begun.elapsed() + margin));
        let (until, after) = now()?;
        let secs = (until - since).as_secs_f64();
        cores.push([0, 1].map(|at| (after[at] - before[at]) / secs));
    }
    Ok((cores, straining))
}
