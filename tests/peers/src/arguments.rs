//! The command line.

use std::net::SocketAddr;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};

use crate::course::Task;
use crate::floor::{self, Packets};
use crate::namespaces::Namespaces;
use crate::on_renet::Coding;
use crate::process::{end_with_parent, spin};
use crate::run::Settings;
use crate::strain::Strain;
use crate::{on_renet, on_replicon, ours, run};

/// A way to carry the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Library {
    /// Phaselock
    Ours,
    /// Bare quinn with the packets of ours: the floor
    Quinn,
    /// renet, with states written by serde
    Renet,
    /// renet, with states quantised by hand
    RenetPacked,
    /// bevy_replicon over renet
    Replicon,
}

/// Runs the same crowd on Phaselock and on other libraries
#[derive(Debug, Parser)]
#[command(name = "peers")]
pub struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
    /// Numbers of clients, each 2 to 1024
    #[arg(long, value_delimiter = ',', default_values_t = [16, 64, 128, 256],
        value_parser = clap::value_parser!(u16).range(2..=1024))]
    clients: Vec<u16>,
    /// Seconds of each span, 1 to 600
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Libraries; all by default
    #[arg(long, value_delimiter = ',')]
    only: Vec<Library>,
    /// Keeps all cores busy in the middle third of the span, and reports each third
    #[arg(long, conflicts_with = "storm")]
    busy: bool,
    /// Number of newcomers within a second after the span; by default 256, at most 512
    #[arg(long, value_name = "NEWCOMERS", num_args = 0..=1, default_missing_value = "256",
        value_parser = clap::value_parser!(u16).range(1..=512))]
    storm: Option<u16>,
    /// Puts server and load into separate network namespaces; needs root
    #[arg(long)]
    namespaces: bool,
}

/// A process that the program starts.
#[derive(Debug, Subcommand)]
enum Part {
    /// Serves the scene, prints its port, and ends with its parent process
    Serve {
        /// The library
        library: Library,
        /// Address to serve at; port 0 lets the system choose one
        address: SocketAddr,
        /// Seats
        clients: u16,
        #[command(flatten)]
        packets: Packets,
    },
    /// Joins a server on this machine, and prints its measurements
    Load {
        /// The library
        library: Library,
        #[command(flatten)]
        task: Task,
        #[command(flatten)]
        packets: Packets,
    },
    /// Keeps all cores busy, and ends with its parent process
    Spin,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        if self.part.is_some() {
            end_with_parent();
        }
        match self.part {
            None => {
                let all = Library::value_variants().to_vec();
                let libraries = if self.only.is_empty() { all } else { self.only };
                let busy = self.busy.then_some(Strain::Busy);
                let settings = Settings {
                    seconds: self.seconds,
                    strain: busy.or(self.storm.map(Strain::Storm)),
                    namespaces: self.namespaces.then(Namespaces::new).transpose()?,
                };
                run::run(&libraries, &self.clients, &settings)
            }
            Some(Part::Serve { library, address, clients, packets }) => match library {
                Library::Ours => ours::serve(address, clients),
                Library::Quinn => floor::serve(address, packets),
                Library::Renet => on_renet::serve(address, clients, Coding::Plain),
                Library::RenetPacked => on_renet::serve(address, clients, Coding::Packed),
                Library::Replicon => on_replicon::serve(address, clients),
            },
            Some(Part::Load { library, task, packets }) => match library {
                Library::Ours => ours::load(task),
                Library::Quinn => floor::load(packets, task),
                Library::Renet => on_renet::load(Coding::Plain, task),
                Library::RenetPacked => on_renet::load(Coding::Packed, task),
                Library::Replicon => on_replicon::load(task),
            },
            Some(Part::Spin) => spin(),
        }
    }
}

impl Library {
    /// Name on the command line and in the table.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Versions and settings, for the head of the table.
    pub fn settings(self) -> String {
        let of = |package: &str| format!("{package} {}", version(package));
        match self {
            Self::Ours => {
                "its dedicated server's driver on all cores, tables trained on this scene, \
                 8 Mbit/s a client at most, AES-128-GCM"
                    .into()
            }
            Self::Quinn => {
                of("quinn")
                    + ": packets of ours in number and size, settings of ours, a window that is \
                       never full, one thread, AES-128-GCM"
            }
            Self::Renet => {
                of("renet")
                    + " over netcode: f32 states by serde and postcard, encoded once for all, one \
                       thread that wakes once a tick, ChaCha20-Poly1305"
            }
            Self::RenetPacked => {
                of("renet") + " likewise, states packed by hand on the grid of ours"
            }
            Self::Replicon => {
                let versions = [of("bevy_replicon"), of("bevy_app"), of("renet")].join(", ");
                versions + ": f32 states by serde and postcard, one thread that wakes once a tick"
            }
        }
    }
}

/// Returns the version of a package that this program was built with.
fn version(package: &str) -> &'static str {
    let (_, behind) = include_str!("../Cargo.lock")
        .split_once(&format!("name = \"{package}\"\nversion = \""))
        .unwrap_or_default();
    behind.split('"').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_known() {
        for package in ["quinn", "renet", "bevy_replicon", "bevy_app"] {
            assert!(version(package).contains('.'), "{package}");
        }
    }
}
