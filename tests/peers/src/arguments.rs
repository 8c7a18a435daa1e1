//! The command line.

use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};

use crate::course::Task;
use crate::floor::{self, Packets};
use crate::{ours, run};

/// A way to carry the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Library {
    /// Phaselock
    Ours,
    /// Bare quinn with the packets of ours: the floor
    Quinn,
}

/// One crowd on Phaselock and on other libraries, side by side.
#[derive(Debug, Parser)]
#[command(name = "peers")]
pub struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
    /// Numbers of clients, each 2 to 256
    #[arg(long, value_delimiter = ',', default_values_t = [16, 64, 128, 256],
        value_parser = clap::value_parser!(u16).range(2..=256))]
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
    /// Serves the scene, and prints its port
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
        match self.part {
            None => {
                let all = Library::value_variants().to_vec();
                let libraries = if self.only.is_empty() { all } else { self.only };
                run::run(&libraries, &self.clients, self.seconds)
            }
            Some(Part::Serve { library, clients, packets }) => match library {
                Library::Ours => ours::serve(clients),
                Library::Quinn => floor::serve(packets),
            },
            Some(Part::Load { library, clients, port, seconds, packets }) => {
                let span = Duration::from_secs(seconds);
                let task = Task { clients: clients.into(), span };
                match library {
                    Library::Ours => ours::load(port, task),
                    Library::Quinn => floor::load(port, packets, task),
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

    /// Version and settings, for the head of the table.
    pub fn settings(self) -> &'static str {
        match self {
            Self::Ours => {
                "Phaselock: own tables, 8 Mbit/s a client at most, tokio on all cores, AES-GCM"
            }
            Self::Quinn => {
                "quinn 0.11: packets of ours in number and size, its settings, a fixed window, one \
                 thread, AES-GCM"
            }
        }
    }
}
