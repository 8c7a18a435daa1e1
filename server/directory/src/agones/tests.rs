//! A stand-in for Agones' allocator, over real TLS with client certificates, written from its
//! published interface.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SanType};
use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;

/// An authority, and certificates that it signs.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    der: CertificateDer<'static>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("a certificate");
        let (pem, der) = (certificate.pem(), certificate.der().clone());
        Self { issuer: Issuer::new(params, key), pem, der }
    }

    /// Returns a certificate for 127.0.0.1 and its key, in PEM.
    fn sign(&self) -> [String; 2] {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![SanType::IpAddress([127, 0, 0, 1].into())];
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        [certificate.pem(), key.serialize_pem()]
    }
}

type Answers = Arc<Mutex<VecDeque<(u16, Value)>>>;
type Requests = Arc<Mutex<Vec<Value>>>;

/// A running allocator.
struct Allocator {
    url: String,
    answers: Answers,
    requests: Requests,
}

impl Allocator {
    /// Starts an allocator that accepts clients of an authority.
    fn start(authority: &Authority) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("https://{}", listener.local_addr().expect("an address"));
        let mut roots = RootCertStore::empty();
        roots.add(authority.der.clone()).expect("an authority");
        let provider = Arc::new(default_provider());
        let clients =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let [certificate, key] = authority.sign();
        let files = KeyPairFiles { certificate: "server".into(), key: "its key".into() };
        let (chain, key) = files.parse(certificate.as_bytes(), key.as_bytes()).expect("a pair");
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_client_cert_verifier(clients.build().expect("a verifier"))
            .with_single_cert(chain, key)
            .expect("a certificate");
        let (config, answers, requests) =
            (Arc::new(config), Answers::default(), Requests::default());
        let allocator =
            Self { url, answers: Arc::clone(&answers), requests: Arc::clone(&requests) };
        // Ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = ServerConnection::new(Arc::clone(&config)).expect("TLS");
                // A client that is refused, or that refuses, ends its own connection only.
                let _ = answer(StreamOwned::new(connection, stream), &answers, &requests);
            }
        });
        allocator
    }

    fn will(&self, status: u16, answer: Value) {
        self.answers.lock().expect("no panic").push_back((status, answer));
    }

    fn requests(&self) -> Vec<Value> {
        std::mem::take(&mut self.requests.lock().expect("no panic"))
    }
}

fn answer(
    stream: StreamOwned<ServerConnection, TcpStream>,
    answers: &Answers,
    requests: &Requests,
) -> std::io::Result<()> {
    stream.sock.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut stream = BufReader::new(stream);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        if stream.read_line(&mut line)? == 0 {
            return Ok(());
        }
        assert!(line.starts_with("POST /gameserverallocation HTTP/1.1"), "{line}");
        while line.trim() != "" {
            line.clear();
            stream.read_line(&mut line)?;
            if let Some((_, value)) = line.to_lowercase().split_once("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        requests.lock().expect("no panic").push(serde_json::from_slice(&body).expect("JSON"));
        let (status, answer) = answers.lock().expect("no panic").pop_front().expect("an answer");
        let answer = answer.to_string();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", answer.len());
        stream.get_mut().write_all(format!("{head}{answer}").as_bytes())?;
    }
}

fn settings(folder: &Path, url: &str) -> AgonesSettings {
    let file = |name| Some(folder.join(name));
    AgonesSettings {
        allocators: [("europe".to_owned(), url.to_owned())].into(),
        beacons: BTreeMap::new(),
        namespace: "games".into(),
        fleet: "phaselock".into(),
        games: vec!["race".into()],
        client: file("cert.pem").zip(file("key.pem")),
        authority: file("ca.pem"),
    }
}

fn write(folder: &Path, authority: &Authority) {
    let [certificate, key] = authority.sign();
    for (name, pem) in [("cert.pem", &certificate), ("key.pem", &key), ("ca.pem", &authority.pem)] {
        fs::write(folder.join(name), pem).expect("a file");
    }
}

fn request() -> Allocate {
    let (region, game) = ("europe".into(), "race".into());
    Allocate { number: 1, region, game, seats: 4, ready_only: false }
}

fn game_server() -> Value {
    json!({
        "gameServerName": "phaselock-x7k2p",
        "address": "203.0.113.9",
        "nodeName": "node-1",
        "ports": [{ "name": "game-tcp", "port": 7100 }, { "name": "game-udp", "port": 7101 }],
        "metadata": {
            "labels": { "agones.dev/sdk-game": "race" },
            "annotations": {
                "agones.dev/sdk-fingerprint": Fingerprint([7; 32]).to_string(),
                "phaselock.dev/game": "race",
            },
        },
        // The gateway writes 64-bit numbers as text.
        "counters": { "players": { "count": "20", "capacity": "128" } },
    })
}

#[test]
fn servers_are_allocated_over_mutual_tls() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    write(folder.path(), &authority);
    let allocator = Allocator::start(&authority);
    let agones = Agones::new(settings(folder.path(), &allocator.url)).expect("settings");
    allocator.will(200, game_server());
    let allocated = agones.try_allocate(&request()).expect("an answer").expect("a server");
    let address = "203.0.113.9:7101".parse().expect("an address");
    let fingerprint = Fingerprint([7; 32]);
    assert_eq!(
        allocated,
        AllocatedServer { address, fingerprint, free: Some(112), seats: Some(128) }
    );

    let asked = &allocator.requests()[0];
    assert_eq!(asked["namespace"], "games");
    let [in_use, ready] = [0, 1].map(|at| &asked["gameServerSelectors"][at]);
    assert_eq!(
        (&in_use["gameServerState"], &ready["gameServerState"]),
        (&json!("ALLOCATED"), &json!("READY"))
    );
    let labels = json!({
        "agones.dev/fleet": "phaselock",
        "agones.dev/sdk-game": "race",
        "phaselock.dev/match": "directory",
    });
    assert_eq!(in_use["matchLabels"], labels);
    assert_eq!(in_use["counters"]["players"]["minAvailable"], "4");
    let increment = json!({ "action": "Increment", "amount": "4" });
    assert_eq!(asked["counters"]["players"], increment);
    assert_eq!(asked["metadata"]["annotations"]["phaselock.dev/game"], "race");
    // Those of an earlier match end with it.
    assert_eq!(asked["metadata"]["annotations"]["phaselock.dev/password"], "");

    allocator.will(200, game_server());
    let ready_only = Allocate { ready_only: true, ..request() };
    agones.try_allocate(&ready_only).expect("an answer").expect("a server");
    let selectors = allocator.requests()[0]["gameServerSelectors"].clone();
    assert_eq!(selectors.as_array().expect("a list").len(), 1);
    assert_eq!(selectors[0]["gameServerState"], "READY");

    let full = "there is no available GameServer to allocate";
    allocator.will(429, json!({ "code": 8, "message": full, "details": [] }));
    assert_eq!(agones.try_allocate(&request()).expect("an answer"), Err(NotAllocated::NoneFree));
    // Ages of contention and other errors are failures, with the allocator's words.
    allocator.will(409, json!({ "code": 10, "message": "too many\nconcurrent requests" }));
    let error = agones.try_allocate(&request()).expect_err("a failure").to_string();
    assert_eq!(error, "the allocator refused with status 409: too manyconcurrent requests");
}

#[test]
fn the_port_and_address_of_the_game_are_chosen_by_name_and_type() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    write(folder.path(), &authority);
    let allocator = Allocator::start(&authority);
    let agones = Agones::new(settings(folder.path(), &allocator.url)).expect("settings");
    let ask = |of: &Value| {
        let mut server = game_server();
        for (key, value) in of.as_object().expect("an object") {
            server[key] = value.clone();
        }
        allocator.will(200, server);
        agones.try_allocate(&request()).expect("an answer").expect("a server").address.to_string()
    };
    let ports = json!([{ "name": "admin", "port": 7100 }, { "name": "game", "port": 7101 }]);
    assert_eq!(ask(&json!({ "ports": ports })), "203.0.113.9:7101");
    let name = "node-7.example.org";
    let addresses = json!([
        { "type": "InternalIP", "address": "10.0.0.7" },
        { "type": "ExternalIP", "address": "192.0.2.7" },
        { "type": "ExternalDNS", "address": name },
    ]);
    // The name would lead to the inner address within some clouds.
    assert_eq!(ask(&json!({ "address": name, "addresses": addresses })), "192.0.2.7:7101");
    assert!(ask(&json!({ "address": "localhost", "addresses": [] })).ends_with(":7101"));
}

#[test]
fn answers_that_make_no_sense_are_failures() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    write(folder.path(), &authority);
    let allocator = Allocator::start(&authority);
    let agones = Agones::new(settings(folder.path(), &allocator.url)).expect("settings");
    let without = |path: &[&str]| {
        let mut value = game_server();
        let (last, path) = path.split_last().expect("a path");
        let within = path.iter().fold(&mut value, |it, name| &mut it[*name]);
        within.as_object_mut().expect("an object").remove(*last);
        value
    };
    for (wrong, says) in [
        (without(&["ports"]), "phaselock-x7k2p has no port"),
        (without(&["address"]), "phaselock-x7k2p is at \"\""),
        (without(&["metadata"]), "no annotation agones.dev/sdk-fingerprint"),
        (without(&["metadata", "annotations"]), "no annotation agones.dev/sdk-fingerprint"),
        (json!([]), "the server has no port"),
        (json!({ "ports": [{ "port": 99_999_999 }] }), "the server has no port"),
    ] {
        allocator.will(200, wrong);
        let error = agones.try_allocate(&request()).expect_err("a failure");
        assert!(format!("{error:#}").contains(says), "{error:#}");
    }
    // Without the counter, the number of seats is unknown.
    allocator.will(200, without(&["counters"]));
    let allocated = agones.try_allocate(&request()).expect("an answer").expect("a server");
    assert_eq!(allocated.free, None);
    // Counters that cannot be right, and one that is as large as can be.
    let max = i64::MAX;
    for (count, capacity) in [(max, -max), (-max, max), (-1, 5), (6, 5), (0, max), (0, 70_000)] {
        let mut value = game_server();
        let text = |number: i64| number.to_string();
        value["counters"]["players"] = json!({ "count": text(count), "capacity": text(capacity) });
        allocator.will(200, value);
        let error = agones.try_allocate(&request()).expect_err("a failure");
        assert!(format!("{error:#}").contains("which cannot be right"), "{error:#}");
    }
    // Text in place of JSON, and a region without an allocator.
    allocator.will(200, json!("x".repeat(300_000)));
    assert!(agones.try_allocate(&request()).is_err());
    let elsewhere = Allocate { region: "asia".into(), ..request() };
    assert!(agones.try_allocate(&elsewhere).is_err());
}

#[test]
fn strangers_are_refused_on_both_sides_until_the_files_are_renewed() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let allocator = Allocator::start(&authority);
    // Another authority's client, and then one that does not trust the allocator.
    let stranger = Authority::new();
    write(folder.path(), &stranger);
    let agones = Agones::new(settings(folder.path(), &allocator.url)).expect("settings");
    assert_eq!(agones.allocate(&request()), Err(NotAllocated::Failed));
    fs::write(folder.path().join("ca.pem"), &authority.pem).expect("a file");
    assert_eq!(agones.allocate(&request()), Err(NotAllocated::Failed));
    // Half of a renewal changes nothing, and the whole one is used at once.
    let [certificate, key] = authority.sign();
    fs::write(folder.path().join("cert.pem"), certificate).expect("a file");
    assert_eq!(agones.allocate(&request()), Err(NotAllocated::Failed));
    fs::write(folder.path().join("key.pem"), key).expect("a file");
    allocator.will(200, game_server());
    assert!(agones.allocate(&request()).is_ok());
}

#[test]
fn invalid_files_and_settings_are_refused_with_a_reason() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let settings = |change: fn(&mut AgonesSettings)| {
        let mut settings = settings(folder.path(), "https://127.0.0.1:1");
        change(&mut settings);
        Agones::new(settings).map(drop).map_err(|error| format!("{error:#}"))
    };
    let keep: fn(&mut AgonesSettings) = |_| {};
    let refused = |says: &str, change: fn(&mut AgonesSettings)| {
        let error = settings(change).expect_err("it is invalid");
        assert!(error.contains(says), "{error}");
        assert!(!error.contains("SECRET"), "{error}");
    };
    refused("cannot read", keep);
    write(folder.path(), &authority);
    assert_eq!(settings(keep), Ok(()));
    refused("must begin with https://", |it| {
        it.allocators[0].1 = "ftp://a".into();
    });
    refused("needs --agones-cert", |it| it.client = None);
    refused("write https://", |it| {
        it.allocators[0].1 = "http://127.0.0.1:1".into();
    });
    for url in ["http://192.0.2.1", "http://127.0.0.1.example.org", "http://user@192.0.2.1"] {
        let mut plain = self::settings(folder.path(), url);
        (plain.client, plain.authority) = (None, None);
        let error = Agones::new(plain).map(drop).expect_err("it is invalid").to_string();
        assert!(error.contains("on this machine"), "{error}");
    }
    for url in ["http://127.0.0.1:8001", "http://localhost:8001", "http://[::1]:8001"] {
        let mut plain = self::settings(folder.path(), url);
        (plain.client, plain.authority) = (None, None);
        assert!(Agones::new(plain).is_ok(), "{url}");
    }
    refused("cannot be the value of a label", |it| it.games = vec!["no label".into()]);
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    put("key.pem", "SECRET");
    refused("key.pem has no private key", keep);
    put("key.pem", &KeyPair::generate().expect("a key").serialize_pem());
    refused("does not fit", keep);
    write(folder.path(), &authority);
    put("cert.pem", "");
    refused("cert.pem has no certificate", keep);
    write(folder.path(), &authority);
    put("ca.pem", "-----BEGIN CERTIFICATE-----\nSECRET\n-----END CERTIFICATE-----\n");
    refused("ca.pem", keep);
}

#[test]
fn beacons_are_looked_up_and_regions_without_one_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &Authority::new());
    let agones = |regions: &[&str], beacons: &[(&str, &str)]| {
        let own = |it: &&str| ((*it).to_owned(), "https://allocator".to_owned());
        let address = |it| Address::parse_directory(it).expect("an address");
        let beacons = beacons.iter().map(|(region, it)| ((*region).to_owned(), address(it)));
        Agones::new(AgonesSettings {
            allocators: regions.iter().map(own).collect(),
            beacons: beacons.collect(),
            ..settings(folder.path(), "https://allocator")
        })
        .expect("it is valid")
    };
    let beacons = [("europe", "192.0.2.1"), ("asia", "localhost:7"), ("moon", "moon.invalid")];
    let found = agones(&["moon", "europe", "asia"], &beacons).beacons();
    assert_eq!(found["europe"], "192.0.2.1:4435".parse().expect("an address"));
    assert!(found["asia"].ip().is_loopback() && found["asia"].port() == 7);
    assert_eq!(found.len(), 2, "there is no such name");
    assert_eq!(agones(&["europe", "asia"], &beacons[..1]).unmeasured(), ["asia"]);
    assert!(agones(&["europe"], &[]).unmeasured().is_empty(), "there is no choice");
}
