//! One client in the room: its clock, its inputs, what it has of the world.

use crate::clock::offset::OffsetEstimator;
use crate::fields::Record;
use crate::game::{Game, Inputs, Late, Step};
use crate::ids::PlayerId;
use crate::inputs::{Accepted, InputBuffer};
use crate::interest::Lingering;
use crate::limits::{DATAGRAM_BYTES_MAX, INPUT_PACKETS_PER_TICK_MAX};
use crate::snapshot::budget::Budget;
use crate::snapshot::encodings::Encodings;
use crate::snapshot::history::History;
use crate::snapshot::sender::{NeverSent, Room, Sender};
use crate::time::{LocalTime, Micros, Offset, Rates, ServerTime, Tick};
use crate::wire::input::read_input;
use crate::wire::snapshot::{Perceived, References, SnapshotHeader};
use crate::wire::{Echo, WireError, is_of_game, mark_game};

use super::config::RoomConfig;
use super::view::ViewEstimate;

/// Why a datagram changed nothing, or ends the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DatagramError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("it came before, or too late")]
    Stale,
    #[error("it is of another of this server's games")]
    OtherGame,
    #[error("too many input packets")]
    TooMany,
    /// No honest client does this: the session ends.
    #[error(transparent)]
    NeverSent(#[from] NeverSent),
}

/// What is counted of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberStats {
    /// Input packets that were read.
    pub accepted: u64,
    /// Datagrams that were refused: garbage, duplicates, stragglers, floods.
    pub refused: u64,
    /// Input packets that were sent but did not come, as far as their numbers tell.
    pub missing: u64,
    /// Inputs that came after their tick.
    pub late: u64,
    /// Snapshot packets sent.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Entities that had no room in a snapshot, summed over all snapshots.
    pub left_out: u64,
    /// Bytes a second that the client's path is given at present.
    pub rate: u32,
}

/// One client of the server: what outlives a game.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) player: PlayerId,
    pub(super) name: String,
    /// The games that its build knows, with their hashes.
    pub(super) games: Vec<(String, u64)>,
    /// Most bytes of a datagram on this client's path.
    pub(super) budget: usize,
    /// When a valid input packet last came.
    pub(super) heard_at: LocalTime,
    pub(super) stats: MemberStats,
    offset: OffsetEstimator,
    /// What changes to the offset are told against.
    pub(super) welcome_offset: Offset,
    /// Some recent time on the client's clock, to complete the low bits of the next one.
    client_time: LocalTime,
    /// Input packets that may still come; refilled every tick.
    allowance: u64,
    /// The number of the server's epoch.
    epoch: u8,
    /// As of the beginning of the game.
    path: Budget,
    view: ViewEstimate,
}

impl Member {
    /// One who has just come, and whose clock showed `client_time` when it said hello.
    pub(super) fn new(
        player: PlayerId,
        name: String,
        games: Vec<(String, u64)>,
        (now, client_time): (LocalTime, LocalTime),
        offset: Offset,
        epoch: u8,
        config: &RoomConfig,
    ) -> Self {
        let interval = config.rates.snapshot_interval();
        Self {
            player,
            name,
            games,
            budget: DATAGRAM_BYTES_MAX,
            heard_at: now,
            stats: MemberStats::default(),
            offset: OffsetEstimator::default(),
            welcome_offset: offset,
            client_time,
            allowance: ALLOWANCE_TICKS,
            epoch,
            path: Budget::new(now, config.client_bytes_per_second, interval),
            view: ViewEstimate::new(config.rates),
        }
    }
}

/// A member seated in one game.
#[derive(Debug)]
pub(super) struct Seated<I> {
    pub(super) member: Member,
    /// Index of the game in the server's rotation, modulo 256.
    game: u8,
    inputs: InputBuffer<I>,
    sender: Sender,
    /// Entities that it is told of, as of the newest snapshot.
    pub(super) interest: Lingering,
    /// Sequence number and send time (low bits, by the client's clock) of the newest input packet,
    /// and when it came.
    newest: Option<(u64, u32, LocalTime)>,
    /// Which of the last 64 input packets came: bit `n` is the one `n` before the newest. Those before
    /// the first count as having come.
    came: u64,
    /// Echoes of packets before this one were stamped in an epoch before.
    trusted_from: u64,
}

/// Ticks whose allowance of input packets may be saved up: a client that stalled for half a second
/// sends everything at once.
const ALLOWANCE_TICKS: u64 = 64;

impl<I: Record> Seated<I> {
    /// A packet counts as missing when so many after it have come: half a second at 60 Hz. Bit of
    /// the mask.
    const OVERDUE: u64 = 1 << 32;

    /// Seats a member in the game of that index in the rotation.
    pub(super) fn new<G: Game<Input = I>>(mut member: Member, game: u8, rates: Rates) -> Self {
        // Packets are numbered anew.
        member.view.restart();
        Self {
            game,
            inputs: InputBuffer::new(G::LATE),
            sender: Sender::with_budget(member.player, member.path.clone()),
            interest: Lingering::new(rates),
            newest: None,
            came: u64::MAX,
            trusted_from: 0,
            member,
        }
    }

    /// The game ends; what was measured of the client's path and clock remains.
    pub(super) fn into_member(self) -> Member {
        Member { path: self.sender.into_budget(), ..self.member }
    }

    /// Tick 0 moved: what was measured and sent before is void.
    pub(super) fn handle_epoch(&mut self, epoch: u8) {
        self.member.epoch = epoch;
        self.member.offset.clear();
        self.inputs.restart();
        self.member.view.restart();
        self.trusted_from = self.sender.next_seq();
    }

    /// States what its player does in the tick that runs next, and what it saw; rewound by so much at most.
    pub(super) fn take<G: Game<Input = I>>(
        &mut self,
        rates: Rates,
        tick: Tick,
        rewind_most: Micros,
        inputs: &mut Inputs<I>,
    ) {
        let (buffer, view) = (&mut self.inputs, &mut self.member.view);
        let mut seen = |at: Tick, claim| {
            // A step that runs late may not look further back than others.
            let late = rates.time_of(tick) - rates.time_of(at);
            let view = view.accept(at, claim, rewind_most - late);
            view.filter(|_| rewind_most > Micros::ZERO)
        };
        inputs.set_steps(self.member.player, |steps| match G::LATE {
            Late::Repeat => {
                let (input, claim) = buffer.take(tick, G::repeat);
                steps.push(Step { age: 0, input, view: seen(tick, claim) });
                0
            }
            Late::Wait => buffer.take_own(rates, tick, |at, input, claim| {
                steps.push(Step { age: tick.since(at), input, view: seen(at, claim) });
            }),
        });
    }

    /// A tick passed.
    pub(super) fn refill(&mut self) {
        let most = ALLOWANCE_TICKS * INPUT_PACKETS_PER_TICK_MAX;
        self.member.allowance = (self.member.allowance + INPUT_PACKETS_PER_TICK_MAX).min(most);
    }

    /// A datagram came while the world was at `tick`.
    pub(super) fn handle_datagram(
        &mut self,
        bytes: &[u8],
        now: LocalTime,
        server_time: ServerTime,
        tick: Tick,
        rates: Rates,
    ) -> Result<(), DatagramError> {
        self.member.allowance =
            self.member.allowance.checked_sub(1).ok_or(DatagramError::TooMany)?;
        if !is_of_game(bytes, self.game) {
            return Err(DatagramError::OtherGame);
        }
        let packet = read_input::<I>(bytes)?;
        let near = self.newest.map_or(0, |(seq, ..)| seq);
        let seq = Tick::widen(packet.seq, Tick(near)).0;
        let newer = self.newest.is_none_or(|(newest, ..)| seq > newest);
        if !newer && (near - seq > 63 || self.came & (1 << (near - seq)) != 0) {
            return Err(DatagramError::Stale);
        }
        let acked = match packet.ack {
            Some(ack) => Some(self.sender.handle_ack(now, ack)?),
            None => None,
        };
        // Stamped in this epoch, by a client that knows of it: one that does not would take the new
        // offset for news, and the news of the epoch for more.
        let trusted = acked >= Some(self.trusted_from) && packet.epoch == self.member.epoch;
        let sent = LocalTime::widen(packet.sent, self.member.client_time);
        self.count(seq);
        if newer {
            self.newest = Some((seq, packet.sent, now));
            self.member.client_time = sent;
            if let Some(echo) = packet.echo.filter(|_| trusted) {
                // The echo is of the newest packet acknowledged.
                let echoed = ServerTime::widen(echo.time, server_time);
                self.member.offset.observe(server_time, sent, echoed, Micros(i64::from(echo.held)));
                let held = Micros(i64::from(echo.held));
                self.sender.handle_round_trip(now, server_time - echoed - held);
                if let Some((newest, ack)) = acked.zip(packet.ack) {
                    self.member.view.handle_ack(now, server_time, newest, ack.mask, held);
                }
            }
        }
        self.member.heard_at = now;
        self.member.stats.accepted += 1;
        if packet.epoch != self.member.epoch {
            return Ok(()); // Its ticks are of another time.
        }
        let newest = Tick::widen(packet.tick, tick);
        let mut lag = 0;
        for (pressed, back) in packet.inputs.into_iter().zip(0..) {
            if back > newest.0 {
                break;
            }
            let at = newest.minus(back);
            let early = rates.time_of(at) - server_time;
            lag = pressed.lag.unwrap_or(lag);
            let claim = self.member.view.judge(early, lag);
            if self.inputs.insert(tick, at, pressed.input, claim, early) == Accepted::Late {
                self.member.stats.late += 1;
            }
        }
        Ok(())
    }

    /// Notes that an input packet came that had not come before.
    fn count(&mut self, seq: u64) {
        let near = self.newest.map_or(seq, |(newest, ..)| newest);
        if seq > near {
            // Of a long gap most were never remembered.
            let remembered = (seq - near).min(u64::from(u64::BITS));
            self.member.stats.missing += seq - near - remembered;
            for _ in 0..remembered {
                self.came <<= 1;
                self.member.stats.missing += u64::from(self.came & Self::OVERDUE == 0);
            }
            self.came |= 1;
        } else if seq < near {
            let back = 1 << (near - seq);
            self.member.stats.missing -= u64::from(back >= Self::OVERDUE);
            self.came |= back;
        }
    }

    /// Controls out the packets of the newest snapshot, to be sent now.
    pub(super) fn snapshot<G: Game>(
        &mut self,
        game: &G,
        encodings: &mut Encodings<G>,
        history: &History,
        now: LocalTime,
        server_time: ServerTime,
        mut send: impl FnMut(Vec<u8>),
    ) {
        let change = |offset: Offset| {
            let change = offset.0.saturating_sub(self.member.welcome_offset.0);
            change.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
        };
        let micros = |span: Micros| span.0.clamp(0, i64::from(u32::MAX)) as u32;
        let perceived = self.member.offset.estimate(server_time).map(|estimate| Perceived {
            offset_change: change(estimate.offset),
            round_trip: micros(estimate.round_trip),
            error_max: micros(estimate.error_max),
        });
        let echo = self.newest.and_then(|(_, sent, arrival)| Echo::new(sent, now - arrival));
        let header = SnapshotHeader {
            seq: 0,
            tick: Tick(0),
            sent: server_time.low(),
            echo,
            perceived,
            inputs: self.inputs.report(self.member.stats.missing),
            references: References::NONE,
        };
        let room = Room { packet_bytes: self.member.budget, now };
        let told = self.interest.told();
        let stats = &mut self.member.stats;
        let tick = history.newest().map(|frame| frame.tick);
        let first = self.sender.next_seq();
        self.sender.snapshot(encodings, game, history, told, header, room, |mut packet| {
            mark_game(&mut packet, self.game);
            stats.packets += 1;
            stats.bytes += packet.len() as u64;
            send(packet);
        });
        for seq in first..self.sender.next_seq() {
            self.member.view.handle_sent(seq, tick.unwrap_or_default());
        }
        self.member.stats.left_out += self.sender.left_out() as u64;
        self.member.stats.rate = self.sender.rate();
    }
}
