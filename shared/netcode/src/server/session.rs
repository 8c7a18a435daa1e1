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

use super::room::RoomConfig;
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
pub struct SessionStats {
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

/// What the server keeps of a client when it goes on to another game.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) player: PlayerId,
    pub(super) name: String,
    /// The games that its build knows, with their hashes.
    pub(super) games: Vec<(String, u64)>,
    /// Most bytes of a datagram on this client's path.
    pub(super) budget: usize,
    /// When a valid input packet last came.
    pub(super) heard_at: LocalTime,
    pub(super) stats: SessionStats,
    offset: OffsetEstimator,
    /// What changes to the offset are told against.
    pub(super) welcome_offset: Offset,
    /// Some recent time on the client's clock, to complete the low bits of the next one.
    client_time: LocalTime,
    /// Input packets that may still come; refilled every tick.
    allowance: u64,
    /// The number of the server's epoch.
    epoch: u8,
    path: Budget,
    view: ViewEstimate,
}

impl Guest {
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
            stats: SessionStats::default(),
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

#[derive(Debug)]
pub(super) struct Session<I> {
    pub(super) player: PlayerId,
    pub(super) name: String,
    games: Vec<(String, u64)>,
    /// Which of the server's games this is.
    game: u8,
    inputs: InputBuffer<I>,
    view: ViewEstimate,
    pub(super) budget: usize,
    pub(super) heard_at: LocalTime,
    pub(super) stats: SessionStats,
    offset: OffsetEstimator,
    welcome_offset: Offset,
    sender: Sender,
    /// What it is told of, as of the newest snapshot.
    pub(super) interest: Lingering,
    /// Sequence number and send time (low bits, by the client's clock) of the newest input packet,
    /// and when it came.
    newest: Option<(u64, u32, LocalTime)>,
    /// Which of the last 64 input packets came: bit `n` is the one `n` before the newest. Those before
    /// the first count as having come.
    came: u64,
    client_time: LocalTime,
    allowance: u64,
    epoch: u8,
    /// Echoes of packets before this one were stamped in an epoch before.
    trusted_from: u64,
}

/// Ticks whose allowance of input packets may be saved up: a client that stalled for half a second
/// sends everything at once.
const ALLOWANCE_TICKS: u64 = 64;

impl<I: Record> Session<I> {
    /// A packet counts as missing when so many after it have come: half a second at 60 Hz. Bit of
    /// the mask.
    const OVERDUE: u64 = 1 << 32;

    /// A guest's stay in the server's game of that number.
    pub(super) fn new<G: Game<Input = I>>(guest: Guest, game: u8, rates: Rates) -> Self {
        let Guest { player, path, mut view, .. } = guest;
        // Packets are numbered anew.
        view.restart();
        Self {
            player,
            name: guest.name,
            games: guest.games,
            game,
            inputs: InputBuffer::new(G::LATE),
            view,
            budget: guest.budget,
            heard_at: guest.heard_at,
            stats: guest.stats,
            offset: guest.offset,
            welcome_offset: guest.welcome_offset,
            sender: Sender::with_budget(player, path),
            interest: Lingering::new(rates),
            newest: None,
            came: u64::MAX,
            client_time: guest.client_time,
            allowance: guest.allowance,
            epoch: guest.epoch,
            trusted_from: 0,
        }
    }

    /// The game ends; what was learnt of the client remains.
    pub(super) fn into_guest(self) -> Guest {
        Guest {
            player: self.player,
            name: self.name,
            games: self.games,
            budget: self.budget,
            heard_at: self.heard_at,
            stats: self.stats,
            offset: self.offset,
            welcome_offset: self.welcome_offset,
            client_time: self.client_time,
            allowance: self.allowance,
            epoch: self.epoch,
            path: self.sender.into_budget(),
            view: self.view,
        }
    }

    /// Tick 0 moved: what was measured and sent before is void.
    pub(super) fn handle_epoch(&mut self, epoch: u8) {
        self.epoch = epoch;
        self.offset.clear();
        self.inputs.restart();
        self.view.restart();
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
        let (buffer, view) = (&mut self.inputs, &mut self.view);
        let mut seen = |at: Tick, claim| {
            // A step that runs late may not look further back than others.
            let late = rates.time_of(tick) - rates.time_of(at);
            let view = view.accept(at, claim, rewind_most - late);
            view.filter(|_| rewind_most > Micros::ZERO)
        };
        inputs.set_steps(self.player, |steps| match G::LATE {
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
        self.allowance = (self.allowance + INPUT_PACKETS_PER_TICK_MAX).min(most);
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
        self.allowance = self.allowance.checked_sub(1).ok_or(DatagramError::TooMany)?;
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
        let trusted = acked >= Some(self.trusted_from) && packet.epoch == self.epoch;
        let sent = LocalTime::widen(packet.sent, self.client_time);
        self.count(seq);
        if newer {
            self.newest = Some((seq, packet.sent, now));
            self.client_time = sent;
            if let Some(echo) = packet.echo.filter(|_| trusted) {
                // The echo is of the newest packet acknowledged.
                let echoed = ServerTime::widen(echo.time, server_time);
                self.offset.observe(server_time, sent, echoed, Micros(i64::from(echo.held)));
                let held = Micros(i64::from(echo.held));
                self.sender.handle_round_trip(now, server_time - echoed - held);
                if let Some((newest, ack)) = acked.zip(packet.ack) {
                    self.view.handle_ack(now, server_time, newest, ack.mask, held);
                }
            }
        }
        self.heard_at = now;
        self.stats.accepted += 1;
        if packet.epoch != self.epoch {
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
            let claim = self.view.judge(early, lag);
            if self.inputs.insert(tick, at, pressed.input, claim, early) == Accepted::Late {
                self.stats.late += 1;
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
            self.stats.missing += seq - near - remembered;
            for _ in 0..remembered {
                self.came <<= 1;
                self.stats.missing += u64::from(self.came & Self::OVERDUE == 0);
            }
            self.came |= 1;
        } else if seq < near {
            let back = 1 << (near - seq);
            self.stats.missing -= u64::from(back >= Self::OVERDUE);
            self.came |= back;
        }
    }

    /// Hands out the packets of the newest snapshot, to be sent now.
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
            let change = offset.0.saturating_sub(self.welcome_offset.0);
            change.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
        };
        let micros = |span: Micros| span.0.clamp(0, i64::from(u32::MAX)) as u32;
        let perceived = self.offset.estimate(server_time).map(|estimate| Perceived {
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
            inputs: self.inputs.report(self.stats.missing),
            references: References::NONE,
        };
        let room = Room { packet_bytes: self.budget, now };
        let told = self.interest.told();
        let stats = &mut self.stats;
        let tick = history.newest().map(|frame| frame.tick);
        let first = self.sender.next_seq();
        self.sender.snapshot(encodings, game, history, told, header, room, |mut packet| {
            mark_game(&mut packet, self.game);
            stats.packets += 1;
            stats.bytes += packet.len() as u64;
            send(packet);
        });
        for seq in first..self.sender.next_seq() {
            self.view.handle_sent(seq, tick.unwrap_or_default());
        }
        self.stats.left_out += self.sender.left_out() as u64;
        self.stats.rate = self.sender.rate();
    }
}
