//! Asks Agones' allocator for servers, over its REST interface.
//!
//! Written from `allocation.proto` of Agones, whose gateway answers at `/gameserverallocation`. It
//! writes 64-bit numbers as text.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use phaselock::fingerprint::Fingerprint;
use phaselock_quic::address::Address;
use phaselock_quic::reach::{game_port, known_ip, looked_up};
use rustls::RootCertStore;
use rustls::crypto::ring::default_provider;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use crate::core::{Allocate, AllocatedServer, Allocators, NotAllocated};
use crate::pem::{self, KeyPairFiles};

/// Time for an answer. Less than the core's patience.
const PATIENCE: Duration = Duration::from_secs(8);
/// Maximum bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 256 * 1024;
/// Maximum seats that a server is believed to have.
const SEATS_MAX: u32 = u16::MAX as u32;
/// Maximum bytes of an error in the log.
const ERROR_CHARS_MAX: usize = 200;
/// Label of servers that a directory allocated, so that it finds them again, and no private match.
const MATCH: &str = "phaselock.dev/match";
/// Annotations and labels that a server sets of itself.
const OF_SERVER: &str = "agones.dev/sdk-";
/// Maximum characters of a label's value, by the rules of Kubernetes.
const LABEL_CHARS_MAX: usize = 63;

/// Where allocators are, and how to speak to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgonesSettings {
    /// Each region, with the URL of its allocator. Players who have measured no ping get servers of
    /// the first one.
    pub allocators: Vec<(String, String)>,
    /// Address in each region by which players measure its ping.
    pub beacons: BTreeMap<String, Address>,
    /// Namespace of the Fleet.
    pub namespace: String,
    /// Name of the Fleet.
    pub fleet: String,
    /// Games that the Fleet's servers can play.
    pub games: Vec<String>,
    /// The client's certificate and key.
    pub client: Option<(PathBuf, PathBuf)>,
    /// Certificates of the authority that signed the allocators'.
    pub authority: Option<PathBuf>,
}

/// The contents of the files, and the agent that was made from them.
#[derive(Debug)]
struct Client {
    files: Vec<Vec<u8>>,
    agent: Agent,
}

/// Clients for Agones' allocators.
#[derive(Debug)]
pub struct Agones {
    settings: AgonesSettings,
    client: Mutex<Client>,
}

impl AgonesSettings {
    /// Fails if a setting is invalid.
    fn check(&self) -> Result<()> {
        for (_, url) in &self.allocators {
            let is_plain = url.starts_with("http://");
            ensure!(
                is_plain || url.starts_with("https://"),
                "the allocator's address {url} must begin with https:// or http://"
            );
            ensure!(
                is_plain || self.client.is_some(),
                "the allocator at {url} needs --agones-cert and --agones-key"
            );
            ensure!(
                !is_plain || self.client.is_none() && self.authority.is_none(),
                "{url} has no encryption, so certificates are of no use; write https://"
            );
            ensure!(
                !is_plain || is_loopback(url),
                "{url} has no encryption, so anyone on the way can send players elsewhere; write \
                 https://, or http:// with the address of a proxy on this machine, such as \
                 http://127.0.0.1:8001"
            );
        }
        for game in &self.games {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
            let fits = game.len() <= LABEL_CHARS_MAX && game.chars().all(is_plain);
            ensure!(
                fits && ends(game.chars().next()) && ends(game.chars().last()),
                "{game:?} cannot be the value of a label, so Agones has no servers for it"
            );
        }
        Ok(())
    }

    fn client_files(&self) -> Option<KeyPairFiles> {
        let (certificate, key) = self.client.clone()?;
        Some(KeyPairFiles { certificate, key })
    }

    fn read(&self) -> Result<Vec<Vec<u8>>> {
        let mut files = Vec::new();
        if let Some(client) = self.client_files() {
            files.extend(client.read()?);
        }
        if let Some(authority) = &self.authority {
            files.push(pem::read(authority)?);
        }
        Ok(files)
    }

    fn client(&self, files: Vec<Vec<u8>>) -> Result<Client> {
        let crypto = Arc::new(default_provider());
        let mut tls = TlsConfig::builder().unversioned_rustls_crypto_provider(crypto);
        let mut rest = &files[..];
        if let (Some(client), [certificate, key, others @ ..]) = (self.client_files(), rest) {
            let (chain, _) = client.parse(certificate, key)?;
            let key = PrivateKey::from_pem(key)
                .map_err(|_| anyhow::anyhow!("{} has no private key", client.key.display()))?;
            let chain = chain.iter().map(|it| Certificate::from_der(it).to_owned());
            let chain: Vec<_> = chain.collect();
            tls = tls.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
            rest = others;
        }
        if let (Some(path), Some(pem)) = (&self.authority, rest.first()) {
            let roots = pem::certificates(path, pem)?;
            let mut store = RootCertStore::empty();
            for root in &roots {
                store.add(root.clone()).map_err(|error| {
                    anyhow::anyhow!("{} has an invalid certificate: {error}", path.display())
                })?;
            }
            let roots: Vec<_> =
                roots.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
            tls = tls.root_certs(RootCerts::new_with_certs(&roots));
        }
        let agent = Agent::config_builder()
            .tls_config(tls.build())
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .user_agent(concat!("phaselock-directory/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Client { files, agent: agent.into() })
    }
}

impl Agones {
    /// Reads the files. Fails if one is invalid.
    pub fn new(settings: AgonesSettings) -> Result<Self> {
        settings.check()?;
        let client = settings.client(settings.read()?)?;
        Ok(Self { settings, client: Mutex::new(client) })
    }

    /// Returns what the allocators offer.
    pub fn offers(&self) -> Allocators {
        let AgonesSettings { allocators, games, .. } = &self.settings;
        let regions = allocators.iter().map(|(region, _)| region.clone()).collect();
        Allocators { regions, games: games.clone() }
    }

    /// Returns the regions of which players cannot measure the ping before a server is allocated
    /// there; none if there is only one region.
    pub fn unmeasured(&self) -> Vec<&str> {
        let AgonesSettings { allocators, beacons, .. } = &self.settings;
        let regions = allocators.iter().map(|(region, _)| &**region);
        regions.filter(|it| allocators.len() > 1 && !beacons.contains_key(*it)).collect()
    }

    /// Looks up the addresses by which players measure the ping of each region, which takes up to
    /// some seconds.
    pub fn beacons(&self) -> BTreeMap<String, SocketAddr> {
        let look_up = |(region, address): (&String, &Address)| {
            let found = look_up(address.host(), address.port());
            found.map(|it| (region.clone(), it)).inspect_err(|error| {
                let error = format!("{error:#}");
                tracing::warn!(%region, error, "players cannot measure the ping of a region");
            })
        };
        self.settings.beacons.iter().filter_map(|it| look_up(it).ok()).collect()
    }

    /// Returns the client. If files have changed, it is made from the new ones. Invalid
    /// files are left for later: they are replaced one after the other.
    fn agent(&self) -> Agent {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        let files = self.settings.read();
        let changed = files.and_then(|files| {
            let is_new = files != client.files;
            is_new.then(|| self.settings.client(files)).transpose()
        });
        match changed {
            Ok(None) => {}
            Ok(Some(new)) => {
                *client = new;
                tracing::info!("read the changed certificates for the allocator");
            }
            Err(error) => tracing::warn!(
                error = format!("{error:#}"),
                "cannot use the changed certificates for the allocator; the old ones stay in use"
            ),
        }
        client.agent.clone()
    }

    /// Asks for a server, which takes up to some seconds.
    pub fn allocate(&self, request: &Allocate) -> Result<AllocatedServer, NotAllocated> {
        self.try_allocate(request).unwrap_or_else(|error| {
            tracing::warn!(
                region = request.region,
                game = request.game,
                error = format!("{error:#}"),
                "cannot allocate a server"
            );
            Err(NotAllocated::Failed)
        })
    }

    fn try_allocate(&self, request: &Allocate) -> Result<Result<AllocatedServer, NotAllocated>> {
        let of_region = |(region, _): &&(String, String)| *region == request.region;
        let found = self.settings.allocators.iter().find(of_region);
        let (_, url) = found.context("there is no allocator for the region")?;
        let url = format!("{}/gameserverallocation", url.trim_end_matches('/'));
        let body = request_of(&self.settings, request).to_string();
        let post = self.agent().post(&url).header("content-type", "application/json");
        let mut answer = post.send(body).with_context(|| format!("no answer from {url}"))?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
        let body = body.with_context(|| format!("no answer from {url}"))?;
        if status != 200 {
            return refusal(status, &body);
        }
        let value = serde_json::from_str(&body).context("the answer is no JSON")?;
        server_of(&value, request.seats).map(Ok)
    }
}

/// Whether a URL names this machine.
fn is_loopback(url: &str) -> bool {
    let Ok(uri) = url.parse::<ureq::http::Uri>() else { return false };
    let host = uri.host().unwrap_or_default();
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    ip.map_or(host.eq_ignore_ascii_case("localhost"), |ip| ip.to_canonical().is_loopback())
}

/// Returns the body of a request: for the fullest server in use with enough seats, otherwise for a
/// ready one.
fn request_of(settings: &AgonesSettings, request: &Allocate) -> Value {
    let Allocate { game, seats, ready_only, .. } = request;
    let seats = seats.to_string();
    let counters = json!({ "players": { "minAvailable": seats } });
    let fleet = &settings.fleet;
    let in_use = json!({
        "gameServerState": "ALLOCATED",
        "matchLabels": {
            "agones.dev/fleet": fleet,
            format!("{OF_SERVER}game"): game,
            MATCH: "directory",
        },
        "counters": counters,
    });
    let ready = json!({
        "gameServerState": "READY",
        "matchLabels": { "agones.dev/fleet": fleet },
        "counters": counters,
    });
    let selectors = if *ready_only { vec![ready] } else { vec![in_use, ready] };
    json!({
        "namespace": settings.namespace,
        "gameServerSelectors": selectors,
        // Packed would compare nodes first, and servers only within a node.
        "scheduling": "Distributed",
        "priorities": [{ "type": "Counter", "key": "players", "order": "Ascending" }],
        "counters": { "players": { "action": "Increment", "amount": seats } },
        "metadata": {
            "labels": { MATCH: "directory" },
            // Agones keeps the annotations of earlier matches, so these are emptied.
            "annotations": {
                "phaselock.dev/game": game,
                "phaselock.dev/rooms": "",
                "phaselock.dev/password": "",
                "phaselock.dev/players": "",
            },
        },
    })
}

/// Interprets an answer with an error status.
fn refusal(status: u16, body: &str) -> Result<Result<AllocatedServer, NotAllocated>> {
    let value = serde_json::from_str::<Value>(body).unwrap_or_default();
    // Of gRPC: RESOURCE_EXHAUSTED; the gateway turns it into "too many requests".
    let code = value.get("code").and_then(Value::as_i64);
    if status == 429 || code == Some(8) {
        return Ok(Err(NotAllocated::NoneFree));
    }
    let message = value.get("message").and_then(Value::as_str).unwrap_or("no reason");
    let message: String =
        message.chars().filter(|c| !c.is_control()).take(ERROR_CHARS_MAX).collect();
    bail!("the allocator refused with status {status}: {message}")
}

/// Reads the allocated server from an answer.
fn server_of(value: &Value, seats: u32) -> Result<AllocatedServer> {
    let name = value.get("gameServerName").and_then(Value::as_str).unwrap_or("the server");
    let list = |key: &str| value.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let ports = list("ports");
    let own = game_port(ports.iter().map(|it| text_of(it, "name")));
    let port = own.and_then(|own| number(ports.get(own)?.get("port")?));
    let port = port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0);
    let port = port.with_context(|| format!("{name} has no port"))?;
    let host = text_of(value, "address");
    let all = list("addresses").iter().map(|it| (text_of(it, "type"), text_of(it, "address")));
    let address = match known_ip(host, all) {
        Some(ip) => SocketAddr::new(ip, port),
        None => look_up(host, port).with_context(|| format!("{name} is at {host:?}"))?,
    };
    let annotations = value.get("metadata").and_then(|it| it.get("annotations"));
    let print = annotations.and_then(|it| it.get(format!("{OF_SERVER}fingerprint"))?.as_str());
    let print = print.and_then(|text| text.parse::<Fingerprint>().ok());
    let fingerprint = print.with_context(|| {
        format!("{name} has no annotation {OF_SERVER}fingerprint; is agones = true set for it?")
    })?;
    let players = value.get("counters").and_then(|it| it.get("players"));
    let of_players = |what: &str| players.and_then(|it| number(it.get(what)?));
    let count = of_players("count").unwrap_or_default();
    let capacity = of_players("capacity");
    let free = capacity.map(|capacity| {
        let left = capacity.checked_sub(count).and_then(|left| u32::try_from(left).ok());
        let left = left.filter(|left| *left <= SEATS_MAX && count >= 0);
        left.with_context(|| {
            format!("{name} counts {count} of {capacity} players, which cannot be right")
        })
    });
    let free = free.transpose()?.map(|left| left.saturating_add(seats));
    let seats = capacity.and_then(|capacity| u32::try_from(capacity).ok());
    Ok(AllocatedServer { address, fingerprint, free, seats })
}

/// Returns an address of a host with this name.
fn look_up(host: &str, port: u16) -> Result<SocketAddr> {
    let found = (host, port).to_socket_addrs();
    let found = found.with_context(|| format!("the name {host:?} is unknown"))?;
    looked_up(found).with_context(|| format!("the name {host:?} has no address"))
}

/// Returns a field of an object; empty if it is no text.
fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Reads a number, which may be written as text.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests;
