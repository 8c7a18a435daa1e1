//! Two network namespaces, one for the server and one for the clients, connected by a virtual
//! cable.
//!
//! On loopback the kernel charges delivery to the sender. Here the server has one core, and its
//! packets are received on the others, as by another machine.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The server's address.
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The other end of the cable.
const LOAD: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// The clients' network, of 32,768 addresses.
pub const CLIENTS: Ipv4Addr = Ipv4Addr::new(10, 77, 128, 0);
/// Core of the server.
const SERVER_CORE: usize = 0;
/// Number of packets that have to fit between the two cores: a snapshot for the largest crowd.
const BACKLOG_PACKETS_MIN: u32 = 8192;
/// The kernel setting for them, which is global.
const BACKLOG: &str = "/proc/sys/net/core/netdev_max_backlog";
/// Prefix of all namespaces' names, followed by the process id.
const NAMES: &str = "peers-";

/// The namespaces; dropping this removes them.
#[derive(Debug)]
pub struct Namespaces {
    server: String,
    load: String,
}

/// Removes namespaces of processes that are gone, such as an interrupted run.
fn clean_up() {
    let Ok(entries) = fs::read_dir("/run/netns") else { return };
    for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        let process = name.strip_prefix(NAMES).and_then(|rest| rest.rsplit('-').next());
        if process.is_some_and(|id| !Path::new("/proc").join(id).exists()) {
            // Leftovers do no harm.
            let _ = run(&format!("ip netns del {name}"));
        }
    }
}

/// Warns if a kernel setting would make a crowd lose packets.
fn check_backlog() {
    let text = fs::read_to_string(BACKLOG).unwrap_or_default();
    if let Ok(packets) = text.trim().parse::<u32>()
        && packets < BACKLOG_PACKETS_MIN
    {
        eprintln!(
            "peers: the kernel keeps {packets} packets from one core to another, and loses more: \
             rows of large crowds will miss snapshots. \
             'sysctl net.core.netdev_max_backlog={BACKLOG_PACKETS_MIN}' helps"
        );
    }
}

/// Runs a program to its end.
fn run(line: &str) -> Result<()> {
    let mut words = line.split(' ');
    let program = words.next().unwrap_or_default();
    let output = Command::new(program).args(words).output();
    let output = output.with_context(|| format!("cannot start '{program}'; install it"))?;
    if !output.status.success() {
        bail!("'{line}' failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

impl Namespaces {
    /// Creates them. Needs root, the programs `ip` and `taskset`, and two cores.
    pub fn new() -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cores < 2 {
            bail!("with one core the server cannot have its own; leave --namespaces out");
        }
        let of = |part: &str| format!("{NAMES}{part}-{}", std::process::id());
        clean_up();
        check_backlog();
        let made = Self { server: of("server"), load: of("load") };
        let Self { server, load } = &made;
        let others = (1_u64 << cores.min(63)) - 1 - (1 << SERVER_CORE);
        let receive = "/sys/class/net/cable/queues/rx-0/rps_cpus";
        let lines = [
            format!("ip netns add {server}"),
            format!("ip netns add {load}"),
            format!("ip -n {server} link add cable type veth peer name cable netns {load}"),
            format!("ip -n {server} addr add {SERVER}/16 dev cable"),
            format!("ip -n {load} addr add {LOAD}/16 dev cable"),
            format!("ip -n {server} link set cable up"),
            format!("ip -n {load} link set cable up"),
            format!("ip -n {load} link set lo up"),
            format!("ip -n {load} route add local {CLIENTS}/17 dev lo"),
        ];
        let made_all = lines.iter().try_for_each(|line| run(line)).and_then(|()| {
            // One word for the shell.
            let write = format!("echo {others:x} > {receive}");
            let arguments = ["netns", "exec", load, "sh", "-c", &write];
            let status = Command::new("ip").args(arguments).status()?;
            if status.success() { Ok(()) } else { bail!("cannot write {receive}") }
        });
        made_all.context(
            "no network namespaces; run as root on a Linux with veth devices and with the packages \
             iproute2 and util-linux, or leave --namespaces out",
        )?;
        run("taskset --version").context("install util-linux, or leave --namespaces out")?;
        Ok(made)
    }

    /// The server's address, at a port chosen by the system.
    pub fn server_address(&self) -> SocketAddr {
        SocketAddr::from((SERVER, 0))
    }

    /// Words before the command line of a server.
    pub fn for_server(&self) -> Vec<String> {
        let core = SERVER_CORE.to_string();
        ["ip", "netns", "exec", &self.server, "taskset", "-c", &core].map(str::to_owned).to_vec()
    }

    /// Words before the command line of a load.
    pub fn for_load(&self) -> Vec<String> {
        ["ip", "netns", "exec", &self.load].map(str::to_owned).to_vec()
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for namespace in [&self.server, &self.load] {
            // It may not have been made.
            let _ = run(&format!("ip netns del {namespace}"));
        }
    }
}
