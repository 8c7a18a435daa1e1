//! The command line.

use std::net::{Ipv6Addr, SocketAddr};

use clap::{Parser, Subcommand, ValueEnum};
use phaselock_quic::address::{Address, DIRECTORY_PORT};

/// Phaselock's server list: servers announce themselves to it, and players ask it for the list.
#[derive(Clone, Debug, Parser)]
#[command(name = "phaselock-directory", version)]
pub struct Args {
    /// UDP address or port to serve on; `[::]` includes IPv4
    #[arg(long, value_name = "ADDR", default_value = "4435", value_parser = listen)]
    pub listen: SocketAddr,
    /// Format of the log on standard error
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub log: LogFormat,
    /// Also log which servers are refused, and why
    #[arg(long)]
    pub verbose: bool,
    /// A command to run instead of serving
    #[command(subcommand)]
    pub command: Option<DirectoryCommand>,
}

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line, for log collectors.
    Json,
}

/// Commands to run instead of serving.
#[derive(Clone, Debug, Subcommand)]
pub enum DirectoryCommand {
    /// Print the servers that a directory lists
    List {
        /// Host name or IP address, with the port if it is not 4435
        #[arg(value_name = "ADDR", value_parser = Address::parse_directory)]
        directory: Address,
    },
    /// Check that a running directory is healthy; the exit status is 0 if it is
    Healthcheck {
        /// Address of the directory
        #[arg(
            value_name = "ADDR", default_value = "127.0.0.1",
            value_parser = Address::parse_directory
        )]
        directory: Address,
    },
}

/// Parses an address to listen on. A port on its own means every IPv4 and IPv6 address of the
/// machine.
fn listen(text: &str) -> Result<SocketAddr, String> {
    let any = |port| SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let rule = format!(
        "write a port such as {DIRECTORY_PORT}, or an IP address and port such as \
         0.0.0.0:{DIRECTORY_PORT}"
    );
    text.parse().map(any).or_else(|_| text.parse()).map_err(|_| rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_parsed() {
        let parse = |line: &str| Args::try_parse_from(line.split_whitespace());
        let args = parse("phaselock-directory").unwrap();
        assert_eq!(args.listen, "[::]:4435".parse().unwrap());
        let args = parse("phaselock-directory --listen 127.0.0.1:0 --log json").unwrap();
        assert_eq!((args.listen.port(), args.log), (0, LogFormat::Json));
        let error = parse("phaselock-directory --listen here").unwrap_err().to_string();
        assert!(error.contains("write a port such as 4435"), "{error}");
        let args = parse("phaselock-directory list example.org").unwrap();
        let Some(DirectoryCommand::List { directory }) = args.command else { panic!("it lists") };
        assert_eq!(directory.to_string(), "example.org:4435");
    }
}
