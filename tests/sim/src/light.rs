//! A light client: it sends inputs and acknowledges snapshots like the real one, but reads only the
//! headers of snapshots. A crowd of them loads a server at little cost.
//!
//! It does no I/O and has no timers. To drive one, a program:
//! 1. connects, sends a hello, and makes a [`Light`] of the welcome;
//! 2. passes it each later control message ([`Light::handle_message`]) and datagram
//!    ([`Light::handle_datagram`]) on arrival;
//! 3. sends what [`Light::transmit`] returns as a datagram, once a tick.
//!
//! `tests/peers/src/ours/light.rs` drives 256 of them over QUIC on one thread.

use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::time::{LocalTime, Rates, Tick};
use phaselock::wire::control::{ServerMessage, Welcome};
use phaselock::wire::input::{Ack, InputPacket, Pressed, VIEW_PARTS, write_input};
use phaselock::wire::snapshot::read_header;
use phaselock::wire::state::Codec;
use phaselock::wire::{Echo, is_of_game, mark_game};

/// Ticks between the newest snapshot and the input that is sent, at first and at most: the round
/// trip, and a margin. Like the real client's lead, it follows how early inputs arrive.
const LEAD_TICKS: f64 = 3.0;
const LEAD_TICKS_MAX: f64 = 30.0;
/// Microseconds by which inputs should arrive early. If they arrive later, the lead grows;
/// otherwise it shrinks slowly.
const EARLY_MICROS: i32 = 8_000;
/// Age of what a real client would show, in ticks: two snapshot intervals.
const SHOWN_TICKS: u16 = 4;
/// Maximum number of repeated inputs.
const INPUTS_MAX: u64 = 8;

/// A light client's state.
#[derive(Debug)]
pub struct Light<G> {
    codec: Codec<G>,
    rates: Rates,
    /// Player of the client.
    pub player: PlayerId,
    number: u8,
    epoch: u8,
    ack: Option<Ack>,
    /// Tick, send time and arrival time of the newest snapshot.
    newest: Tick,
    heard: Option<(u32, LocalTime)>,
    /// Whether the server has measured this client's clock.
    measured: bool,
    /// Newest input that the server has.
    confirmed: Tick,
    /// Number of ticks for which the server had no input in time, and the low bits of that number.
    late_inputs: u64,
    late_low: u16,
    /// Lead in ticks.
    lead: f64,
    /// Newest input sent, and the number of the next packet.
    pressed: Tick,
    seq: u16,
}

impl<G: Game> Light<G> {
    /// Creates a client from its welcome.
    pub fn new(welcome: &Welcome) -> Self {
        Self {
            codec: Codec::new(welcome.rates),
            rates: welcome.rates,
            player: welcome.player,
            number: welcome.number,
            epoch: welcome.epoch,
            ack: None,
            newest: welcome.tick,
            heard: None,
            measured: false,
            confirmed: Tick(0),
            late_inputs: 0,
            late_low: 0,
            lead: LEAD_TICKS,
            pressed: Tick(0),
            seq: 0,
        }
    }

    /// Handles a control message. Without this, the server distrusts the client's times after a
    /// stall of the server.
    pub fn handle_message(&mut self, message: &ServerMessage) {
        if let ServerMessage::Epoch { epoch, .. } = message {
            self.epoch = *epoch;
        }
    }

    /// Handles a datagram. Returns whether its snapshot is newer than all earlier ones.
    pub fn handle_datagram(&mut self, bytes: &[u8], now: LocalTime) -> bool {
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
            // An overtaken report counts backwards.
            let more = report.late.map_or(0, |late| late.wrapping_sub(self.late_low));
            if more < 1 << 15 {
                self.late_low = self.late_low.wrapping_add(more);
                self.late_inputs += u64::from(more);
            }
        }
        let is_new = self.heard.is_none() || header.tick > self.newest;
        if is_new {
            self.newest = header.tick;
            self.heard = Some((header.sent, now));
        }
        is_new
    }

    /// Returns the tick of the newest snapshot.
    pub fn newest_tick(&self) -> Tick {
        self.newest
    }

    /// Returns the number of ticks for which the server had no input in time, as last reported.
    pub fn late_inputs(&self) -> u64 {
        self.late_inputs
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

    /// Returns a tick's packet, with the inputs that the server does not have; `press` makes the
    /// input of a tick. Call it once per tick.
    pub fn transmit(&mut self, now: LocalTime, press: impl Fn(Tick) -> G::Input) -> Vec<u8> {
        let mut inputs = Vec::new();
        if let Some((_, arrival)) = self.heard.filter(|_| self.measured) {
            let hz = f64::from(self.rates.tick_hz);
            let due = self.newest.plus(((now - arrival).as_secs() * hz + self.lead) as u64);
            // Advance by one tick, unless this clock and the server's have drifted apart.
            let next = self.pressed.plus(1);
            let is_near = next.since(due) < 3 && due.since(next) < 3;
            self.pressed = if is_near { next } else { due.max(self.pressed) };
            let count = self.pressed.since(self.confirmed).clamp(1, INPUTS_MAX);
            inputs.extend((0..count).map(|back| Pressed {
                input: press(self.pressed.minus(back)),
                lag: (back == 0).then_some(SHOWN_TICKS * VIEW_PARTS as u16),
                subtick: None,
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
}
