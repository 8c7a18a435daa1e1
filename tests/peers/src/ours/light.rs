//! A light client: it says hello, sends inputs and acknowledges snapshots as the real one does,
//! and reads no more of a snapshot than the header.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use phaselock::games::Games;
use phaselock::ids::PlayerId;
use phaselock::time::{LocalTime, Tick};
use phaselock::wire::control::{ClientMessage, Hello, ServerMessage, Welcome, body_len, frame};
use phaselock::wire::input::{Ack, InputPacket, Pressed, VIEW_PARTS, write_input};
use phaselock::wire::protocol::wire_hash;
use phaselock::wire::snapshot::read_header;
use phaselock::wire::state::Codec;
use phaselock::wire::{Echo, is_of_game, mark_game};
use phaselock_quic::clock::Clock;
use phaselock_quic::player::{PlayerKey, PlayerKeys};
use quinn::RecvStream;
use tokio::time::{MissedTickBehavior, interval_at};

use super::game::{Crowd, Press};
use crate::load::Client;
use crate::{quic, scene};

/// Ticks between the newest snapshot's and the tick of the input that goes out, at first and at
/// most: both ways, and a margin. As the real client's, it follows how early inputs come.
const LEAD_TICKS: f64 = 3.0;
const LEAD_TICKS_MAX: f64 = 30.0;
/// Microseconds by which inputs should come early; below, the lead grows, else it shrinks slowly.
const EARLY_MICROS: i32 = 8_000;
/// Age of what such a client would show, in ticks: two intervals of snapshots.
const SHOWN_TICKS: u16 = 4;
/// Inputs that are repeated at most.
const INPUTS_MAX: u64 = 8;

/// Joins, and plays for ever. Errors are the network's and the server's.
pub(super) async fn play(
    server: SocketAddr,
    clock: Clock,
    client: Arc<Client>,
    phase: Duration,
) -> Result<()> {
    let (_endpoint, connection) = quic::connect(server).await?;
    client.connect(&connection);
    let (mut send, mut receive) = connection.open_bi().await?;
    let hello = Hello {
        wire: wire_hash(),
        version: env!("CARGO_PKG_VERSION").into(),
        name: "Crowd".into(),
        games: Games::new().with::<Crowd>().hashes(false),
        sent: clock.now(),
        credentials: PlayerKey::load(&PlayerKeys::Ephemeral)?.credentials(&connection)?,
        resume: None,
        wishes: 0,
        room: None,
    };
    send.write_all(&frame(&ClientMessage::Hello(hello))?).await?;
    let welcome = match read(&mut receive).await? {
        ServerMessage::Welcome(welcome) => welcome,
        other => bail!("no welcome: {other:?}"),
    };
    let mut light = Light::new(&welcome);
    let begin = tokio::time::Instant::now() + phase;
    let mut ticks = interval_at(begin, Duration::from_secs(1) / scene::TICK_HZ);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Reading is never broken off in the middle of a message.
    tokio::spawn(async move {
        // Who comes and goes. A goodbye ends the connection too.
        while read(&mut receive).await.is_ok() {}
    });
    loop {
        tokio::select! {
            bytes = connection.read_datagram() => {
                let bytes = bytes?;
                let is_new = light.handle(&bytes, clock.now());
                client.update(|counts| {
                    counts.payload_down.count(bytes.len());
                    counts.snapshots += u64::from(is_new);
                });
            }
            _ = ticks.tick() => {
                let packet = light.transmit(clock.now());
                client.update(|counts| {
                    counts.inputs += 1;
                    counts.payload_up.count(packet.len());
                });
                connection.send_datagram(packet.into())?;
            }
        }
    }
}

/// Reads the next control message.
async fn read(receive: &mut RecvStream) -> Result<ServerMessage> {
    let mut prefix = [0; 2];
    receive.read_exact(&mut prefix).await?;
    let mut body = vec![0; body_len(prefix)?];
    receive.read_exact(&mut body).await?;
    Ok(ServerMessage::parse(&body)?)
}

/// All that a light client knows.
struct Light {
    codec: Codec<Crowd>,
    number: u8,
    epoch: u8,
    player: PlayerId,
    ack: Option<Ack>,
    /// Tick of the newest snapshot, its send time and its arrival.
    newest: Tick,
    heard: Option<(u32, LocalTime)>,
    /// True if the server has measured this client's clock.
    measured: bool,
    /// Newest input that the server has.
    confirmed: Tick,
    /// Lead in ticks.
    lead: f64,
    /// Newest input sent, and the number of the next packet.
    pressed: Tick,
    seq: u16,
}

impl Light {
    fn new(welcome: &Welcome) -> Self {
        Self {
            codec: Codec::new(welcome.rates),
            number: welcome.number,
            epoch: welcome.epoch,
            player: welcome.player,
            ack: None,
            newest: welcome.tick,
            heard: None,
            measured: false,
            confirmed: Tick(0),
            lead: LEAD_TICKS,
            pressed: Tick(0),
            seq: 0,
        }
    }

    /// Takes in a packet. Returns true if its snapshot is newer than all before.
    fn handle(&mut self, bytes: &[u8], now: LocalTime) -> bool {
        if !is_of_game(bytes, self.number) {
            return false;
        }
        let Ok(header) = read_header(bytes, &self.codec, self.newest) else { return false };
        self.acknowledge(header.seq);
        self.measured |= header.perceived.is_some();
        if let Some(report) = header.inputs {
            let change = if report.worst_early < EARLY_MICROS { 0.25 } else { -0.02 };
            self.lead = (self.lead + change).clamp(LEAD_TICKS, LEAD_TICKS_MAX);
            self.confirmed = self.confirmed.max(Tick::widen(report.newest, header.tick));
        }
        let is_new = self.heard.is_none() || header.tick > self.newest;
        if is_new {
            self.newest = header.tick;
            self.heard = Some((header.sent, now));
        }
        is_new
    }

    fn acknowledge(&mut self, seq: u16) {
        let Some(Ack { newest, mask }) = &mut self.ack else {
            self.ack = Some(Ack { newest: seq, mask: 0 });
            return;
        };
        let ahead = i32::from(seq.wrapping_sub(*newest) as i16);
        let bit = |back: i32| 1_u32.checked_shl(back.unsigned_abs() - 1).unwrap_or(0);
        if ahead > 0 {
            *mask = mask.checked_shl(ahead.unsigned_abs()).unwrap_or(0) | bit(ahead);
            *newest = seq;
        } else if ahead < 0 {
            *mask |= bit(ahead);
        }
    }

    /// The packet of a tick, with the inputs that the server does not have.
    fn transmit(&mut self, now: LocalTime) -> Vec<u8> {
        let mut inputs = Vec::new();
        if let Some((_, arrival)) = self.heard.filter(|_| self.measured) {
            let since = (now - arrival).as_secs() * f64::from(scene::TICK_HZ);
            let due = self.newest.plus((since + self.lead) as u64);
            // One tick after the other, unless this clock and the server's have parted.
            let next = self.pressed.plus(1);
            let is_near = next.since(due) < 3 && due.since(next) < 3;
            self.pressed = if is_near { next } else { due.max(self.pressed) };
            let count = self.pressed.since(self.confirmed).clamp(1, INPUTS_MAX);
            inputs.extend((0..count).map(|back| Pressed {
                input: self.press(self.pressed.minus(back)),
                lag: (back == 0).then_some(SHOWN_TICKS * VIEW_PARTS as u16),
            }));
        }
        self.seq = self.seq.wrapping_add(1);
        let mut packet = write_input(&InputPacket {
            seq: self.seq,
            ack: self.ack,
            sent: now.low(),
            echo: self.heard.and_then(|(sent, arrival)| Echo::new(sent, now - arrival)),
            epoch: self.epoch,
            tick: self.pressed.low(),
            inputs,
        });
        mark_game(&mut packet, self.number);
        packet
    }

    fn press(&self, tick: Tick) -> Press {
        Press::of(scene::input(self.player.0.into(), tick.0))
    }
}
