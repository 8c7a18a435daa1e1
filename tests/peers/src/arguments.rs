//! The command line.

use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};

use crate::course::Task;
use crate::floor::{self, Packets};
use crate::on_renet::Coding;
use crate::process::end_with_parent;
use crate::{on_renet, on_replicon, ours, run};

/// A way to carry the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Library {
    /// Phaselock
    Ours,
    /// Bare quinn with the packets of ours: the floor
    Quinn,
    /// renet, states as serde writes them
    Renet,
    /// renet, states quantised by hand
    RenetPacked,
    /// bevy_replicon over renet
    Replicon,
}

/// One crowd on Phaselock and on other libraries, side by side.
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
}

/// A process that the program starts.
#[derive(Debug, Subcommand)]
enum Part {
    /// Serves the scene, prints its port, and ends with whoever started it
    Serve {
        /// The library
        library: Library,
        /// Seats
        clients: u16,
        #[command(flatten)]
        packets: Packets,
    },
    /// Joins a server on this machine, and prints what it measured
    Load {
        /// The library
        library: Library,
        /// Clients
        clients: u16,
        /// The server's port
        port: u16,
        /// Seconds of the span
        seconds: u64,
        #[command(flatten)]
        packets: Packets,
    },
}

impl Arguments {
    /// Carries the command out.
    pub fn run(self) -> Result<()> {
        if self.part.is_some() {
            end_with_parent();
        }
        match self.part {
            None => {
                let all = Library::value_variants().to_vec();
                let libraries = if self.only.is_empty() { all } else { self.only };
                run::run(&libraries, &self.clients, self.seconds)
            }
            Some(Part::Serve { library, clients, packets }) => match library {
                Library::Ours => ours::serve(clients),
                Library::Quinn => floor::serve(packets),
                Library::Renet => on_renet::serve(clients, Coding::Plain),
                Library::RenetPacked => on_renet::serve(clients, Coding::Packed),
                Library::Replicon => on_replicon::serve(clients),
            },
            Some(Part::Load { library, clients, port, seconds, packets }) => {
                let span = Duration::from_secs(seconds);
                let task = Task { clients: clients.into(), span };
                match library {
                    Library::Ours => ours::load(port, task),
                    Library::Quinn => floor::load(port, packets, task),
                    Library::Renet => on_renet::load(port, Coding::Plain, task),
                    Library::RenetPacked => on_renet::load(port, Coding::Packed, task),
                    Library::Replicon => on_replicon::load(port, task),
                }
            }
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

/// Version of a package that this program was built with.
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
