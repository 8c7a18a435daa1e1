//! The command line.

use std::collections::BTreeMap;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand, ValueEnum};
use phaselock::limits::{NAME_BYTES_MAX, REGION_BYTES_MAX};
use phaselock_cli::Documentation;
use phaselock_quic::address::{Address, DIRECTORY_PORT};

use crate::agones::AgonesSettings;

/// Phaselock's server list and matchmaker: servers announce themselves to it, and players ask it
/// for the list, or for a place to play.
#[derive(Clone, Debug, Parser)]
#[command(name = "phaselock-directory", version)]
pub struct Args {
    /// UDP address or port to serve on; `[::]` includes IPv4
    #[arg(long, value_name = "ADDR", default_value = "4435", value_parser = listen)]
    pub listen: SocketAddr,
    /// Address under which servers and players know this directory, with the port if it is not
    /// 4435; can be repeated. If given, proofs that they made for other directories are refused
    #[arg(long = "name", value_name = "ADDR", value_parser = Address::parse_directory)]
    pub names: Vec<Address>,
    /// Format of the log on standard error
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub log: LogFormat,
    /// Also log which servers are refused, and why
    #[arg(long)]
    pub verbose: bool,
    /// TCP address or port at which browsers ask for a place to play; off by default
    #[arg(long, value_name = "ADDR", value_parser = listen)]
    pub http: Option<SocketAddr>,
    /// Certificate for HTTPS, in PEM; without it, --http is plain HTTP, for a proxy in front of it
    #[arg(long, value_name = "FILE", requires_all = ["http", "http_key"])]
    pub http_cert: Option<PathBuf>,
    /// Key of the certificate for HTTPS, in PEM
    #[arg(long, value_name = "FILE", requires = "http_cert")]
    pub http_key: Option<PathBuf>,
    /// File with the fleet's secret, the same as on its servers: servers that have it are trusted
    #[arg(long, value_name = "FILE", requires = "names")]
    pub fleet_secret_file: Option<PathBuf>,
    /// Agones' allocator
    #[command(flatten)]
    pub agones: AgonesArgs,
    /// A command to run instead of serving
    #[command(subcommand)]
    pub command: Option<DirectoryCommand>,
}

/// How to get servers from Agones.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AgonesArgs {
    /// Agones' allocator, as https://HOST or, with several regions, REGION=https://HOST; can be
    /// repeated
    #[arg(
        long = "agones-allocator", value_name = "URL",
        requires_all = ["fleet", "games"]
    )]
    pub allocators: Vec<String>,
    /// Address in a region by which players measure its ping, as REGION=HOST, with the port if it
    /// is not 4435: of a directory or a server; can be repeated
    #[arg(long = "agones-beacon", value_name = "ADDR", requires = "allocators")]
    pub beacons: Vec<String>,
    /// Namespace of the Fleet
    #[arg(long = "agones-namespace", value_name = "NAME", default_value = "default")]
    pub namespace: String,
    /// Name of the Fleet
    #[arg(long = "agones-fleet", value_name = "NAME", requires = "allocators")]
    pub fleet: Option<String>,
    /// Games that the Fleet's servers can play, separated by commas
    #[arg(
        long = "agones-games",
        value_name = "GAMES",
        value_delimiter = ',',
        requires = "allocators"
    )]
    pub games: Vec<String>,
    /// Client certificate for the allocator, in PEM
    #[arg(long = "agones-cert", value_name = "FILE", requires_all = ["allocators", "key"])]
    pub cert: Option<PathBuf>,
    /// Key of the client certificate, in PEM
    #[arg(long = "agones-key", value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Certificate of the authority that signed the allocator's, in PEM; public authorities by
    /// default
    #[arg(long = "agones-ca", value_name = "FILE", requires = "allocators")]
    pub ca: Option<PathBuf>,
}

impl AgonesArgs {
    /// Returns the settings; `None` without an allocator. Fails if a value is invalid.
    pub fn settings(&self) -> Result<Option<AgonesSettings>> {
        if self.allocators.is_empty() {
            return Ok(None);
        }
        let mut allocators = Vec::new();
        for text in &self.allocators {
            // A region's name has no colon before its equals sign, but a URL may contain one.
            let (region, url) = match text.split_once('=') {
                Some((region, url)) if !region.contains(':') => (region.trim(), url),
                _ => ("", &**text),
            };
            ensure!(region.len() <= REGION_BYTES_MAX, "the region's name {region:?} is too long");
            let is_new = allocators.iter().all(|(other, _)| other != region);
            ensure!(is_new, "--agones-allocator is given twice for region {region:?}");
            allocators.push((region.to_owned(), url.to_owned()));
        }
        let mut beacons = BTreeMap::new();
        for text in &self.beacons {
            let (region, address) = text.split_once('=').with_context(|| {
                format!("{text:?} is no beacon; write --agones-beacon REGION=HOST")
            })?;
            let region = region.trim();
            let is_known = !region.is_empty() && allocators.iter().any(|(it, _)| it == region);
            ensure!(is_known, "--agones-beacon is for region {region:?}, which has no allocator");
            let before = beacons.insert(region.to_owned(), Address::parse_directory(address)?);
            ensure!(before.is_none(), "--agones-beacon is given twice for region {region:?}");
        }
        for game in &self.games {
            let fits = (1..=NAME_BYTES_MAX).contains(&game.len());
            ensure!(fits, "{game:?} is not the name of a game; check --agones-games");
        }
        Ok(Some(AgonesSettings {
            allocators,
            beacons,
            namespace: self.namespace.clone(),
            fleet: self.fleet.clone().unwrap_or_default(),
            games: self.games.clone(),
            client: self.cert.clone().zip(self.key.clone()),
            authority: self.ca.clone(),
        }))
    }
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
    /// Print a completion script, or write the manual pages
    #[command(flatten)]
    Documentation(Documentation),
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
        let args = parse("phaselock-directory --name a.example.org --name 192.0.2.1:1").unwrap();
        let names: Vec<_> = args.names.iter().map(Address::to_string).collect();
        assert_eq!(names, ["a.example.org:4435", "192.0.2.1:1"]);
        let line = "phaselock-directory --http 8443 --http-cert a.pem --http-key b.pem";
        let args = parse(line).unwrap();
        assert_eq!(args.http, Some("[::]:8443".parse().unwrap()));
        assert!(parse("phaselock-directory --http-cert a.pem --http-key b.pem").is_err());
        assert!(parse("phaselock-directory --http 8443 --http-cert a.pem").is_err());
        let secret = "phaselock-directory --fleet-secret-file secret";
        let error = parse(secret).unwrap_err().to_string();
        assert!(error.contains("--name <ADDR>"), "{error}");
        assert!(parse(&format!("{secret} --name a.example.org")).is_ok());
        let args = parse("phaselock-directory list example.org").unwrap();
        let Some(DirectoryCommand::List { directory }) = args.command else { panic!("it lists") };
        assert_eq!(directory.to_string(), "example.org:4435");
        let args = parse("phaselock-directory man pages").unwrap();
        let Some(DirectoryCommand::Documentation(wanted)) = args.command else {
            panic!("it documents itself")
        };
        assert_eq!(wanted, Documentation::Man { folder: "pages".into() });
    }
    #[test]
    fn allocators_are_parsed() {
        let parse = |line: &str| {
            let line = format!("phaselock-directory {line}");
            let args = Args::try_parse_from(line.split_whitespace())?;
            anyhow::Ok(args.agones.settings()?.expect("an allocator"))
        };
        let fleet = "--agones-fleet phaselock --agones-games race,skirmish";
        let one = parse(&format!("--agones-allocator https://allocator {fleet}")).unwrap();
        assert_eq!(one.allocators, [("".into(), "https://allocator".into())]);
        assert_eq!(
            (&*one.namespace, one.games),
            ("default", vec!["race".into(), "skirmish".into()])
        );
        let two = "--agones-allocator europe=https://eu --agones-allocator asia=https://as/?a=b";
        let two = parse(&format!("{two} {fleet}")).unwrap();
        let regions: Vec<_> = two.allocators.iter().map(|(region, _)| &**region).collect();
        assert_eq!(regions, ["europe", "asia"], "in the order of the command line");
        let url = parse(&format!("--agones-allocator https://as/?a=b {fleet}")).unwrap();
        assert_eq!(url.allocators[0].1, "https://as/?a=b");
        let beacon = |beacon| {
            let europe = "--agones-allocator europe=https://eu --agones-beacon";
            parse(&format!("{europe} {beacon} {fleet}"))
        };
        let named = beacon("europe=eu.example.org").unwrap().beacons;
        assert_eq!(named["europe"].to_string(), "eu.example.org:4435");
        assert!(beacon("europe=192.0.2.1:4433 --agones-beacon europe=192.0.2.2").is_err());
        for bad in ["asia=192.0.2.1", "192.0.2.1", "=192.0.2.1", "europe="] {
            assert!(beacon(bad).is_err(), "{bad}");
        }
        for bad in [
            "--agones-allocator https://a",
            "--agones-fleet phaselock",
            &format!("--agones-allocator https://a --agones-cert c.pem {fleet}"),
            &format!("--agones-allocator a=https://a --agones-allocator a=https://b {fleet}"),
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
