//! All measurements, one after the other: a server and a load for each.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::arguments::Library;
use crate::course::{BEGIN, END, Report, Traffic};
use crate::floor::Packets;
use crate::process::{cpu_secs, peak_megabytes};
use crate::table::{self, Row};

/// A process of this program that ends with its handle.
struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(arguments: &[String]) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut child = Command::new(program)
            .args(arguments)
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

    fn cpu_secs(&self) -> Result<f64> {
        cpu_secs(self.child.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures each library with each number of clients, and prints a table. A measurement that fails
/// is told in its row.
pub fn run(libraries: &[Library], clients: &[u16], seconds: u64) -> Result<()> {
    table::print_head(libraries)?;
    for clients in clients {
        let mut packets = None;
        for library in libraries {
            let measured = measure(*library, *clients, seconds, packets);
            if let (Library::Ours, Ok(row)) = (library, &measured) {
                packets = Some(packets_of(&row.report));
            }
            table::print_row(*library, *clients, &measured)?;
        }
    }
    Ok(())
}

/// The packets that ours was measured with.
fn packets_of(report: &Report) -> Packets {
    let counts = report.counts;
    let mean = |traffic: Traffic| (traffic.bytes / traffic.packets.max(1)) as usize;
    // The floor sends as many with each snapshot, also where ours could not send all of them.
    let snapshots = counts.snapshots as f64 * report.counted as f64 / report.clients as f64;
    Packets {
        down_bytes: mean(counts.payload_down),
        down_packets: counts.payload_down.packets as f64 / snapshots.max(1.0),
        up_bytes: mean(counts.payload_up),
    }
}

fn measure(library: Library, clients: u16, seconds: u64, packets: Option<Packets>) -> Result<Row> {
    let mut common = vec![library.name(), clients.to_string()];
    let options = packets.filter(|_| library == Library::Quinn).map(|packets| {
        let Packets { down_bytes, down_packets, up_bytes } = packets;
        [
            format!("--down-bytes={down_bytes}"),
            format!("--down-packets={down_packets}"),
            format!("--up-bytes={up_bytes}"),
        ]
    });
    let options = options.into_iter().flatten().collect::<Vec<_>>();
    let serve = [vec!["serve".to_owned()], common.clone(), options.clone()].concat();
    let mut server = Process::start(&serve)?;
    let port = server.line().context("the server does not start")?;
    common.extend([port, seconds.to_string()]);
    let mut load = Process::start(&[vec!["load".to_owned()], common, options].concat())?;
    let mut before = None;
    loop {
        let line = load.line().context("the load failed")?;
        let now = || anyhow::Ok([server.cpu_secs()?, load.cpu_secs()?]);
        if line == BEGIN {
            before = Some(now()?);
        } else if let Some(report) = line.strip_prefix(END) {
            let report: Report = serde_json::from_str(report)?;
            let Some(before) = before else { bail!("the span has no beginning") };
            let after = now()?;
            let [server_cores, load_cores] =
                [0, 1].map(|at| (after[at] - before[at]) / report.seconds);
            let server_megabytes = peak_megabytes(server.child.id())?;
            return Ok(Row { report, server_cores, load_cores, server_megabytes });
        }
    }
}
