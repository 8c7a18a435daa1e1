//! A member's input packets. *Everything in them is hostile*: only this file decodes them.
//!
//! A packet is decoded and checked completely before it changes anything. It then states the
//! player's inputs, which packets arrived, and the client's clock, each within limits.

use crate::fields::Record;
use crate::game::{Game, Inputs, Late, Origin, Step, Timed};
use crate::inputs::{Accepted, Arrived, InputBuffer};
use crate::path::Ways;
use crate::server::clock::RoomTime;
use crate::server::member::Member;
use crate::server::member::view::HeldAck;
use crate::snapshot::sender::{NeverSent, Sender};
use crate::time::{LocalTime, Micros, Rates, Tick};
use crate::wire::input::{InputPacket, read_input};
use crate::wire::snapshot::InputReport;
use crate::wire::{Echo, WireError, is_of_game};

/// Number of arrivals before the newest input packet that are remembered.
const REMEMBERED: u64 = u64::BITS as u64 - 1;
/// Bit of the mask from which on a packet counts as missing: half a second at 60 Hz.
const OVERDUE: u64 = 1 << 32;

/// Why a datagram changed nothing, or ends the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::server) enum DatagramError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("the packet is a duplicate or too late")]
    Stale,
    #[error("the packet belongs to another game of the rotation")]
    OtherGame,
    #[error("too many input packets")]
    TooMany,
    /// The session ends, since no honest client does this.
    #[error(transparent)]
    NeverSent(#[from] NeverSent),
}

/// The newest input packet.
#[derive(Clone, Copy, Debug)]
struct Newest {
    seq: u64,
    /// Low bits of the send time on the client's clock.
    sent: u32,
    arrival: LocalTime,
}

/// The input packets of one game.
#[derive(Debug)]
pub(super) struct Uplink<I> {
    /// Index of the game in the server's rotation, modulo 256, as the client counts it.
    game: u8,
    /// Whether the client watches, so that its inputs are ignored.
    watches: bool,
    inputs: InputBuffer<I>,
    /// The newest input that came.
    pressed: I,
    newest: Option<Newest>,
    /// Arrivals of the last 64 input packets: bit `n` stands for the one `n` before the newest.
    /// Packets before the first count as arrived.
    came: u64,
    /// First packet that was stamped in this epoch.
    trusted_from: u64,
    /// Inputs since the last tick that came too late for theirs.
    late: u64,
}

impl<I: Record> Uplink<I> {
    pub(super) fn new(game: u8, late: Late, watches: bool) -> Self {
        Self {
            game,
            watches,
            inputs: InputBuffer::new(late),
            pressed: I::default(),
            newest: None,
            came: u64::MAX,
            trusted_from: 0,
            late: 0,
        }
    }

    /// Discards inputs after tick 0 moved. Packets to the client are stamped in the new epoch from
    /// `next_seq` on.
    pub(super) fn restart(&mut self, next_seq: u64) {
        self.inputs.restart();
        self.trusted_from = next_seq;
    }

    /// Returns the inputs of the ticks after the last one that ran, up to the first missing one,
    /// while the world is at tick `now`.
    pub(super) fn ahead(&self, now: Tick) -> impl Iterator<Item = I> + Clone {
        self.inputs.ahead(now)
    }

    /// Returns the newest packet's send time, to be echoed.
    pub(super) fn echo(&self, now: LocalTime) -> Option<Echo> {
        self.newest.and_then(|newest| Echo::new(newest.sent, now - newest.arrival))
    }

    /// Returns the report on the client's inputs and `missing` packets, for the snapshot of `tick`.
    pub(super) fn report(&mut self, tick: Tick, missing: u64) -> Option<InputReport> {
        self.inputs.report(tick, missing)
    }

    /// Returns the sequence number of a packet from its low bits, and whether it is the newest. An
    /// error means that it is a duplicate, or too old to know.
    fn place(&self, low: u16) -> Result<(u64, bool), DatagramError> {
        let Some(Newest { seq: near, .. }) = self.newest else {
            return Ok((Tick::widen(low, Tick(0)).0, true));
        };
        let seq = Tick::widen(low, Tick(near)).0;
        if seq > near {
            return Ok((seq, true));
        }
        let back = near - seq;
        if back > REMEMBERED || self.came & (1 << back) != 0 {
            return Err(DatagramError::Stale);
        }
        Ok((seq, false))
    }

    /// Counts the first arrival of an input packet.
    fn count(&mut self, seq: u64, missing: &mut u64) {
        let near = self.newest.map_or(seq, |newest| newest.seq);
        if seq > near {
            // The mask remembers only the end of a long gap.
            let remembered = (seq - near).min(u64::from(u64::BITS));
            *missing += seq - near - remembered;
            for _ in 0..remembered {
                self.came <<= 1;
                *missing += u64::from(self.came & OVERDUE == 0);
            }
            self.came |= 1;
        } else if seq < near {
            let back = 1 << (near - seq);
            *missing -= u64::from(back >= OVERDUE);
            self.came |= back;
        }
    }

    /// Handles a datagram. An error means that only the member's allowance has changed.
    pub(super) fn handle_datagram(
        &mut self,
        member: &mut Member,
        sender: &mut Sender,
        bytes: &[u8],
        time: RoomTime,
    ) -> Result<(), DatagramError> {
        if !member.may_send_packet() {
            return Err(DatagramError::TooMany);
        }
        if !is_of_game(bytes, self.game) {
            return Err(DatagramError::OtherGame);
        }
        let packet = read_input::<I>(bytes)?;
        let (seq, is_newest) = self.place(packet.seq)?;
        let acked = match packet.ack {
            Some(ack) => Some(sender.handle_ack(time.now, ack)?),
            None => None,
        };
        // The packet is valid.
        self.count(seq, &mut member.stats_mut().missing);
        if is_newest {
            self.newest = Some(Newest { seq, sent: packet.sent, arrival: time.now });
            let timing = member.timing_mut();
            if let Some(tick) = acked.and_then(|acked| timing.view().tick_of(acked)) {
                timing.handle_answer(tick, time);
            }
            if let Some(ways) = self.handle_times(member, &packet, acked, time) {
                sender.handle_ways(time.now, ways);
            }
        }
        member.timing_mut().handle_packet(time.now);
        member.stats_mut().accepted += 1;
        // Ticks of another epoch mean other times.
        if !self.watches && packet.epoch == member.timing().epoch() {
            self.handle_inputs(member, packet, is_newest, time);
        }
        Ok(())
    }

    /// Handles the send time and the echo of the newest packet. Returns how long the packets took.
    /// An echo counts only if it was stamped in this epoch, by a client that knows the epoch.
    fn handle_times(
        &self,
        member: &mut Member,
        packet: &InputPacket<I>,
        acked: Option<u64>,
        time: RoomTime,
    ) -> Option<Ways> {
        let timing = member.timing_mut();
        let is_trusted = acked >= Some(self.trusted_from) && packet.epoch == timing.epoch();
        let sent = timing.handle_sent_time(packet.sent, time.now);
        let echo = packet.echo.filter(|_| is_trusted)?;
        let ways = timing.handle_echo(echo, sent, time);
        if let Some((newest, ack)) = acked.zip(packet.ack) {
            let held = Micros(i64::from(echo.held));
            let ack = HeldAck { newest, mask: ack.mask, held };
            timing.view_mut().handle_ack(time.now, time.server_time, ack);
        }
        Some(ways)
    }

    fn handle_inputs(
        &mut self,
        member: &mut Member,
        packet: InputPacket<I>,
        is_newest: bool,
        time: RoomTime,
    ) {
        if let Some(last) = packet.inputs.first()
            && is_newest
            && last.input != self.pressed
        {
            self.pressed = last.input;
            member.attendance_mut().note_activity(time.now);
        }
        let newest = Tick::widen(packet.tick, time.tick);
        let (mut lag, mut late) = (0, 0);
        for (pressed, back) in packet.inputs.into_iter().zip(0..) {
            if back > newest.0 {
                break;
            }
            let tick = newest.minus(back);
            let early = time.rates.time_of(tick) - time.server_time;
            lag = pressed.lag.unwrap_or(lag);
            let claim = member.timing().view().judge(early, lag);
            let input = Timed { input: pressed.input, subtick: pressed.subtick };
            let arrived = Arrived { tick, input, claim, early };
            late += u64::from(self.inputs.insert(time.tick, arrived) == Accepted::Late);
        }
        member.stats_mut().late += late;
        self.late += late;
    }

    /// Adds the member's steps in the tick that runs next, with view times at most `rewind_most`
    /// old.
    pub(super) fn take<G: Game<Input = I>>(
        &mut self,
        member: &mut Member,
        rates: Rates,
        (tick, rewind_most): (Tick, Micros),
        inputs: &mut Inputs<I>,
    ) {
        let player = member.person().player();
        let (buffer, view) = (&mut self.inputs, member.timing_mut().view_mut());
        let mut seen = |at: Tick, claim| {
            // A late step must not look further back than others.
            let late = rates.time_of(tick) - rates.time_of(at);
            let view = view.accept(at, claim, rewind_most - late);
            view.filter(|_| rewind_most > Micros::ZERO)
        };
        let mut origin = Origin::Used;
        inputs.set_steps(player, |steps| match G::LATE {
            Late::Repeat => {
                let (timed, claim) = buffer.take(tick, G::repeat);
                if buffer.is_assumed() {
                    origin = Origin::Repeated;
                }
                steps.push(Step::new(0, timed, seen(tick, claim)));
                0
            }
            Late::Wait => buffer.take_own(rates, tick, |at, timed, claim| {
                steps.push(Step::new(tick.since(at), timed, seen(at, claim)));
            }),
        });
        inputs.note_arrival(player, origin, std::mem::take(&mut self.late));
    }
}
