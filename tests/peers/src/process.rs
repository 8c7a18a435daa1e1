//! Processor time and memory of a process, from Linux.

use std::fs;
use std::os::unix::process::parent_id;
use std::time::Duration;

use anyhow::{Context, Result};

/// Clock ticks per second in `/proc`: Linux has reported 100 to programs for decades, whatever it
/// uses internally.
const TICKS_PER_SECOND: f64 = 100.0;

/// Ends this process within a second after its parent has ended, however that happened.
pub fn end_with_parent() {
    let parent = parent_id();
    std::thread::spawn(move || {
        while parent_id() == parent {
            std::thread::sleep(Duration::from_secs(1));
        }
        std::process::exit(1);
    });
}

/// Keeps all cores busy until this process is killed.
pub fn spin() -> ! {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let spin = || -> ! {
        loop {
            std::hint::spin_loop();
        }
    };
    for _ in 1..cores {
        std::thread::spawn(move || spin());
    }
    spin()
}

/// Returns a process's processor time so far in seconds, user and system.
pub fn cpu_secs(id: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).context("the process is gone")?;
    // The name before it may contain anything except a newline.
    let (_, fields) = stat.rsplit_once(')').context("no name in it")?;
    let times = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = times.map(|it| it.parse::<u64>().unwrap_or(0)).sum();
    Ok(ticks as f64 / TICKS_PER_SECOND)
}

/// Returns the peak of a process's resident memory, in megabytes.
pub fn peak_megabytes(id: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).context("the process is gone")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kilobytes.context("no peak in it")? / 1024.0)
}
