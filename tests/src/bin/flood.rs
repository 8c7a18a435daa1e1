//! Floods a server, to measure what its players notice.
//!
//! `cargo run --release -p phaselock-tests --bin flood -- 127.0.0.1:4433 initials --rate 100000`
//! sends first packets of handshakes, each valid and each from a new connection. All sources are
//! addresses of 127.0.0.0/8, so it reaches only this machine and needs no privileges.
//! `tests/FIGURES.md` has the figures.

#![allow(clippy::print_stdout, reason = "a program to be run by hand")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bytes::BytesMut;
use clap::{Parser, ValueEnum};
use phaselock::game::Game;
use phaselock::random::Random;
use phaselock::time::LocalTime;
use phaselock::wire::control::{ClientMessage, frame};
use phaselock::wire::protocol::ALPN;
use phaselock::wire::query::question;
use phaselock_games::skirmish::Skirmish;
use phaselock_quic::identity::Identity;
use phaselock_quic::player::{PlayerKey, PlayerKeys};
use phaselock_quic::verify::client_crypto;
use quinn::crypto::ServerConfig as _;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::udp::{Transmit, UdpSocketState};
use quinn::{ClientConfig, ConnectionId, Endpoint};

/// Size of a handshake's first packet.
const INITIAL_BYTES: usize = 1200;
/// Number of packets that are made before the flood, and sent over and over.
const PACKETS: usize = 40_000;
/// Packets between two readings of the clock.
const BURST: u64 = 32;

/// Kind of a flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// First packets of handshakes from `--sources` addresses.
    Initials,
    /// First packets of handshakes, each from another address of 127.0.0.0/8.
    Forged,
    /// Random bytes of random length.
    Garbage,
    /// As many silent connections as `--sources`, reopened when they end.
    Idle,
    /// Joins with a proven key, which leave at once.
    Joins,
    /// No flood: one join every half a second, each from a new address. Prints how long each takes.
    Newcomers,
    /// Queries for the status from `--sources` addresses.
    Queries,
}

#[derive(Debug, Parser)]
#[command(about = "Floods a server on this machine")]
struct Args {
    /// Address of the server, of 127.0.0.0/8.
    address: SocketAddr,
    kind: Kind,
    /// Packets or joins per second; not for silent connections.
    #[arg(long, default_value_t = 100_000)]
    rate: u64,
    /// Number of source addresses, each in its own network of 256 addresses.
    #[arg(long, default_value_t = 256)]
    sources: u32,
    /// Duration.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

fn main() -> Result<()> {
    let args = Args::parse();
    ensure!(args.address.ip().is_loopback(), "{} is not this machine's", args.address);
    let runtime = tokio::runtime::Runtime::new().context("no runtime")?;
    match args.kind {
        Kind::Initials | Kind::Forged | Kind::Garbage | Kind::Queries => send(&args),
        Kind::Idle => runtime.block_on(connect(&args, false)),
        Kind::Joins => runtime.block_on(connect(&args, true)),
        Kind::Newcomers => runtime.block_on(come(&args)),
    }
}

/// Address of a source: one per network, outside the networks of the measuring programs.
fn source(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(127, 64, 0, 7).to_bits() + (number << 8))
}

/// Sends packets, and prints how many.
fn send(args: &Args) -> Result<()> {
    let packets = packets(args)?;
    let socket = UdpSocket::bind("0.0.0.0:0").context("no socket")?;
    socket.set_nonblocking(true)?;
    let state = UdpSocketState::new((&socket).into())?;
    let (begun, time) = (Instant::now(), Duration::from_secs(args.seconds));
    let (mut sent, mut refused) = (0_u64, 0_u64);
    while begun.elapsed() < time {
        let due = begun.elapsed().as_secs_f64() * args.rate as f64;
        if sent as f64 > due {
            std::thread::sleep(Duration::from_micros(100));
            continue;
        }
        for _ in 0..BURST {
            let from = match args.kind {
                Kind::Forged => Ipv4Addr::from_bits(
                    (127 << 24) | ((sent as u32).wrapping_mul(7919) & 0xff_ffff),
                ),
                _ => source(sent as u32 % args.sources),
            };
            let transmit = Transmit {
                destination: args.address,
                ecn: None,
                contents: &packets[sent as usize % packets.len()],
                segment_size: None,
                src_ip: Some(from.into()),
            };
            sent += 1;
            refused += u64::from(state.try_send((&socket).into(), &transmit).is_err());
        }
    }
    let secs = begun.elapsed().as_secs_f64();
    let rate = (sent - refused) as f64 / secs;
    println!("{:?}: {rate:.0} packets a second for {secs:.1} s, {refused} not sent", args.kind);
    Ok(())
}

fn packets(args: &Args) -> Result<Vec<Vec<u8>>> {
    let mut random = Random::new(1);
    if args.kind == Kind::Garbage {
        let packet = |_| {
            let len = 1 + random.below(INITIAL_BYTES as u32) as usize;
            (0..len).map(|_| random.bits() as u8).collect()
        };
        return Ok((0..PACKETS).map(packet).collect());
    }
    if args.kind == Kind::Queries {
        return Ok(vec![question([7; 8])]);
    }
    let mint = Mint::new()?;
    (0..PACKETS).map(|_| mint.packet(random.bits())).collect()
}

/// Makes first packets with one TLS hello, each with its own id and keys.
struct Mint {
    crypto: Arc<QuicServerConfig>,
    hello: Vec<u8>,
}

/// Offsets of a packet's length, number and contents, with an id of 8 bytes, no source id, and no
/// token.
const LENGTH_AT: usize = 1 + 4 + 1 + 8 + 1 + 1;
const NUMBER_AT: usize = LENGTH_AT + 2;
const NUMBER_BYTES: usize = 4;
const BODY_AT: usize = NUMBER_AT + NUMBER_BYTES;
const TAG_BYTES: usize = 16;

impl Mint {
    /// Extracts the TLS hello from a real client's first packet.
    fn new() -> Result<Self> {
        let tls = Identity::ephemeral()?.server_crypto(ALPN)?;
        let crypto = Arc::new(QuicServerConfig::try_from(tls)?);
        let listener = UdpSocket::bind("127.0.0.1:0")?;
        let runtime = tokio::runtime::Runtime::new()?;
        let _inside = runtime.enter();
        let mut endpoint = Endpoint::client("127.0.0.1:0".parse()?)?;
        endpoint.set_default_client_config(client()?);
        let _connecting = endpoint.connect(listener.local_addr()?, "phaselock")?;
        let mut packet = vec![0; 2048];
        let (len, _) = listener.recv_from(&mut packet)?;
        packet.truncate(len);
        let id_bytes = usize::from(packet[5]);
        let id = ConnectionId::new(&packet[6..6 + id_bytes]);
        let keys = crypto.initial_keys(1, &id).map_err(|_| anyhow::anyhow!("no keys"))?;
        let source_at = 6 + id_bytes;
        let token_at = source_at + 1 + usize::from(packet[source_at]);
        ensure!(packet[token_at] == 0, "a token in a first packet");
        let number_at = token_at + 1 + 2;
        keys.header.remote.decrypt(number_at, &mut packet);
        let number_bytes = usize::from(packet[0] & 3) + 1;
        let (header, body) = packet.split_at(number_at + number_bytes);
        let mut hello = BytesMut::from(body);
        let opened = keys.packet.remote.decrypt(0, header, &mut hello);
        opened.map_err(|_| anyhow::anyhow!("the client's first packet cannot be read"))?;
        let hello = hello.iter().rposition(|byte| *byte != 0).map(|last| hello[..=last].to_vec());
        let Some(hello) = hello else { bail!("the client's first packet is empty") };
        Ok(Self { crypto, hello })
    }

    fn packet(&self, id: u64) -> Result<Vec<u8>> {
        let id = id.to_be_bytes();
        let keys = self.crypto.initial_keys(1, &ConnectionId::new(&id));
        let keys = keys.map_err(|_| anyhow::anyhow!("no keys"))?;
        let mut packet = vec![0xc0 | (NUMBER_BYTES as u8 - 1), 0, 0, 0, 1, 8];
        packet.extend(id);
        packet.extend([0, 0]);
        let len = INITIAL_BYTES - NUMBER_AT;
        packet.extend((0x4000 | len as u16).to_be_bytes());
        packet.extend([0; NUMBER_BYTES]);
        packet.extend(&self.hello);
        ensure!(packet.len() <= INITIAL_BYTES - TAG_BYTES, "the hello is too long");
        packet.resize(INITIAL_BYTES, 0);
        keys.packet.remote.encrypt(0, &mut packet, BODY_AT);
        keys.header.remote.encrypt(NUMBER_AT, &mut packet);
        Ok(packet)
    }
}

fn client() -> Result<ClientConfig> {
    let (tls, _) = client_crypto(None, ALPN)?;
    Ok(ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?)))
}

/// Keeps connections, or joins again and again, and prints how often.
async fn connect(args: &Args, joins: bool) -> Result<()> {
    let (made, failed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let begun = Instant::now();
    let config = client()?;
    let mut tasks = Vec::new();
    for number in 0..args.sources {
        let address = SocketAddr::new(IpAddr::V4(source(number)), 0);
        let mut endpoint = Endpoint::client(address).context("no socket")?;
        endpoint.set_default_client_config(config.clone());
        let (to, made, failed) = (args.address, Arc::clone(&made), Arc::clone(&failed));
        let pause = Duration::from_secs_f64(f64::from(args.sources) / args.rate as f64);
        tasks.push(tokio::spawn(async move {
            if joins {
                tokio::time::sleep(pause.mul_f64(f64::from(number) / 256.0)).await;
            }
            loop {
                let done = match joins {
                    true => join(&endpoint, to).await,
                    false => idle(&endpoint, to, &made).await,
                };
                let count = if joins && done.is_ok() { &made } else { &failed };
                count.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(if joins { pause } else { Duration::from_millis(100) }).await;
            }
        }));
    }
    tokio::time::sleep(Duration::from_secs(args.seconds)).await;
    tasks.iter().for_each(|task| task.abort());
    let secs = begun.elapsed().as_secs_f64();
    let [made, failed] = [made, failed].map(|count| count.load(Ordering::Relaxed) as f64 / secs);
    println!("{:?}: {made:.1} a second came about, {failed:.1} ended or did not", args.kind);
    Ok(())
}

async fn idle(endpoint: &Endpoint, to: SocketAddr, made: &AtomicU64) -> Result<()> {
    let connection = endpoint.connect(to, "phaselock")?.await?;
    made.fetch_add(1, Ordering::Relaxed);
    connection.closed().await;
    Ok(())
}

/// Joins from one new address after the other, and prints the times.
async fn come(args: &Args) -> Result<()> {
    let config = client()?;
    let mut tasks = Vec::new();
    for number in 0..2 * args.seconds {
        let address = SocketAddr::new(IpAddr::V4(source(5000 + number as u32)), 0);
        let mut endpoint = Endpoint::client(address).context("no socket")?;
        endpoint.set_default_client_config(config.clone());
        let to = args.address;
        tasks.push(tokio::spawn(async move {
            let begun = Instant::now();
            while join(&endpoint, to).await.is_err() {
                if begun.elapsed() > Duration::from_secs(10) {
                    return None;
                }
            }
            Some(begun.elapsed().as_secs_f64())
        }));
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let mut took = Vec::new();
    for task in tasks {
        took.extend(task.await?);
    }
    took.sort_by(f64::total_cmp);
    let within = took.iter().filter(|secs| **secs <= 3.0).count();
    let at = |share: f64| took.get((took.len() as f64 * share) as usize).unwrap_or(&f64::NAN);
    let (middle, last) = (at(0.5), took.last().unwrap_or(&f64::NAN));
    let came = 2 * args.seconds;
    println!("{within} of {came} newcomers in within 3 s: {middle:.2} s, {last:.2} s at most");
    Ok(())
}

/// Joins, waits for the answer, and leaves.
async fn join(endpoint: &Endpoint, to: SocketAddr) -> Result<()> {
    let connecting = endpoint.connect(to, "phaselock")?;
    let connection = tokio::time::timeout(Duration::from_secs(2), connecting).await??;
    let (mut send, mut receive) = connection.open_bi().await?;
    let key = PlayerKey::load(&PlayerKeys::Ephemeral)?;
    let mut hello = phaselock_testing::hello::<Skirmish>("Flood", LocalTime(0));
    hello.credentials = key.credentials(&connection)?;
    ensure!(hello.games[0].0 == Skirmish::NAME, "another game");
    send.write_all(&frame(&ClientMessage::Hello(hello))?).await?;
    let mut answer = [0; 3];
    receive.read_exact(&mut answer).await?;
    connection.close(0_u32.into(), b"");
    // A Welcome is the server's message of kind 2.
    ensure!(answer[2] == 2, "refused");
    Ok(())
}
