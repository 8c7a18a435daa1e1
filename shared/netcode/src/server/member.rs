//! One client in the room: its clock, its inputs, and the states that it has.

use core::net::SocketAddr;

use crate::clock::offset::OffsetEstimator;
use crate::fields::Record;
use crate::game::{Game, Inputs, Late, Step};
use crate::identity::{PublicKey, ResumeToken};
use crate::ids::PlayerId;
use crate::inputs::{Accepted, InputBuffer};
use crate::interest::Relevant;
use crate::limits::{DATAGRAM_BYTES_MAX, INPUT_PACKETS_PER_TICK_MAX};
use crate::path::{PathWindow, SendRate};
use crate::snapshot::encodings::Encodings;
use crate::snapshot::history::History;
use crate::snapshot::sender::{Begun, NeverSent, Sender, Shared};
use crate::time::{LocalTime, Micros, Offset, Rates, ServerTime, Tick};
use crate::wire::control::Hello;
use crate::wire::input::read_input;
use crate::wire::snapshot::{KindSet, Perceived, References, SnapshotHeader};
use crate::wire::talk::{Look, person};
use crate::wire::{Echo, WireError, is_of_game, mark_game};

use super::activity::Activity;
use super::allowance::TalkAllowance;
use super::bucket::Bucket;
use super::config::RoomConfig;
use super::interest::Sight;
use super::people::{MemberStats, Muted, Pass, Target};
use super::view::ViewEstimate;

mod figures;

/// Reason why a datagram changed nothing, or ends the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DatagramError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("the packet came twice or too late")]
    Stale,
    #[error("the packet belongs to another game of the rotation")]
    OtherGame,
    #[error("too many input packets")]
    TooMany,
    /// The session ends: no honest client does this.
    #[error(transparent)]
    NeverSent(#[from] NeverSent),
}

/// One client of the server; it outlives a game.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) player: PlayerId,
    pub(super) name: String,
    pub(super) look: Look,
    pub(super) key: PublicKey,
    pub(super) token: ResumeToken,
    /// End of the time for which the seat is kept, if the connection is lost.
    pub(super) away_until: Option<LocalTime>,
    /// Index of the game in which the connection was lost.
    pub(super) away_in: u8,
    /// Time of the first hello.
    pub(super) joined: LocalTime,
    pub(super) address: Option<SocketAddr>,
    pub(super) muted: Option<Muted>,
    /// One of the host's people, as the pass says.
    pub(super) is_staff: bool,
    /// Allowances of talk and of the game's requests.
    pub(super) talk: TalkAllowance,
    pub(super) requests: Bucket,
    /// Allowance of requests about the round.
    pub(super) round: Bucket,
    /// Ready for the round.
    pub(super) is_ready: bool,
    /// The same of changes between watching and playing, and the number of them: packets of the
    /// time before are told by it.
    pub(super) changes: Bucket,
    changed: u8,
    /// Time by which the server's time, as the client is told it, is set back.
    delay: Micros,
    /// Place in the line of those who wait for a seat.
    pub(super) waits: Option<u64>,
    /// Free seats and others before it in the line, as the client was told.
    pub(super) places_told: Option<(u16, Option<u16>)>,
    /// Games of the client's build, with their hashes.
    pub(super) games: Vec<(String, u64)>,
    /// The client gets snapshots in plain coding.
    pub(super) plain: bool,
    /// The client reads what a snapshot's silence says.
    reads_silence: bool,
    /// Most bytes of a datagram on this client's path.
    pub(super) datagram_bytes: usize,
    /// Arrival of the last valid input packet.
    pub(super) heard_at: LocalTime,
    pub(super) activity: Activity,
    pub(super) stats: MemberStats,
    offset: OffsetEstimator,
    /// Offset in the welcome; snapshots carry changes to it.
    pub(super) welcome_offset: Offset,
    /// A recent time on the client's clock, to complete the low bits of the next one.
    client_time: LocalTime,
    /// Input packets that may still arrive; refilled every tick.
    allowance: u64,
    epoch: u8,
    /// Send rate at the beginning of the game.
    rate: SendRate,
    view: ViewEstimate,
    /// Time that the last input packet took, by the two clocks.
    transit: Option<Micros>,
    /// Jitter in sixteenths of a microsecond.
    jitter: i64,
}

/// Part of a change by which the jitter follows it: a sixteenth (RFC 3550, 6.4.1).
const JITTER_GAIN: i64 = 16;
/// Changes beyond are those of a clock that was set.
const TRANSIT_CHANGE_MAX: Micros = Micros::from_ms(2000);

impl Member {
    /// Sets the most bytes of snapshots a second.
    pub(super) fn set_bytes_per_second(&mut self, most: u32) {
        self.rate.set_most(most);
    }

    /// A newcomer who said hello.
    pub(super) fn new(
        (player, name): (PlayerId, String),
        token: ResumeToken,
        hello: Hello,
        now: LocalTime,
        offset: Offset,
        epoch: u8,
        config: &RoomConfig,
    ) -> Self {
        let interval = config.rates.snapshot_interval();
        Self {
            player,
            name,
            look: hello.look.worn_by(person(hello.credentials.key)),
            key: hello.credentials.key,
            token,
            away_until: None,
            away_in: 0,
            joined: now,
            address: None,
            muted: None,
            is_staff: false,
            talk: TalkAllowance::default(),
            requests: Bucket::default(),
            round: Bucket::default(),
            is_ready: false,
            changes: Bucket::default(),
            changed: 0,
            delay: Micros::ZERO,
            waits: None,
            places_told: None,
            plain: hello.wishes_plain(),
            reads_silence: hello.wishes_silence(),
            games: hello.games,
            datagram_bytes: DATAGRAM_BYTES_MAX,
            heard_at: now,
            activity: Activity::new(now),
            stats: MemberStats::default(),
            offset: OffsetEstimator::default(),
            welcome_offset: offset,
            client_time: hello.sent,
            allowance: ALLOWANCE_TICKS,
            epoch,
            rate: SendRate::new(now, config.client_bytes_per_second, interval),
            view: ViewEstimate::new(config.rates),
            transit: None,
            jitter: 0,
        }
    }

    /// True if an order for that player is for this one.
    pub(super) fn is(&self, target: Target) -> bool {
        self.player == target.seat && target.key.is_none_or(|key| key == self.key)
    }

    /// The same with what the host knows.
    pub(super) fn with(mut self, pass: Pass) -> Self {
        (self.address, self.is_staff) = (pass.address, pass.is_staff);
        let now = self.heard_at;
        self.muted = pass.mute.map(|mute| Muted::from(mute, now));
        self
    }

    /// Notes the time that an input packet took, on two clocks (RFC 3550, A.8).
    fn note_transit(&mut self, transit: Micros) {
        if let Some(before) = self.transit.replace(transit) {
            let change = (transit - before).0.saturating_abs().min(TRANSIT_CHANGE_MAX.0);
            self.jitter += change - (self.jitter + JITTER_GAIN / 2) / JITTER_GAIN;
        }
    }
}

impl Member {
    /// Takes over from the same player's session before.
    pub(super) fn resume(&mut self, before: &Self) {
        (self.token, self.joined) = (before.token, before.joined);
        if self.muted.is_none() {
            self.muted = before.muted.clone();
        }
        (self.talk, self.requests, self.round) = (before.talk, before.requests, before.round);
        (self.allowance, self.stats) = (before.allowance, before.stats);
        self.changes = before.changes;
    }

    /// Sets the server's time, as the client is told it with its next welcome, back by `delay`.
    pub(super) fn set_delay(&mut self, delay: Micros) {
        if self.delay != delay {
            let by = delay - std::mem::replace(&mut self.delay, delay);
            self.welcome_offset = Offset(self.welcome_offset.0.saturating_sub(by.0));
            self.offset.clear();
        }
    }

    /// Goes on in another part, watching or playing, with another delay.
    pub(super) fn change_part(&mut self, now: LocalTime, delay: Micros) {
        self.set_delay(delay);
        self.changed = self.changed.wrapping_add(1);
        self.activity.note(now);
        self.places_told = None;
    }

    /// Index of the game in the server's rotation, as this client counts it.
    pub(super) fn number(&self, number: u8) -> u8 {
        number.wrapping_add(self.changed)
    }
}

/// A member seated in one game.
#[derive(Debug)]
pub(super) struct Seated<I> {
    pub(super) member: Member,
    /// Index of the game in the server's rotation, modulo 256, as the client counts it.
    pub(super) game: u8,
    /// Inputs count for nothing.
    watches: bool,
    inputs: InputBuffer<I>,
    sender: Sender,
    pub(super) sight: Sight,
    /// Newest input that came.
    pressed: I,
    /// Newest input packet: sequence number, send time (low bits, by the client's clock), arrival.
    newest: Option<(u64, u32, LocalTime)>,
    /// Arrivals of the last 64 input packets: bit `n` stands for the one `n` before the newest.
    /// Those before the first count as arrived.
    came: u64,
    /// First packet that was stamped in this epoch.
    trusted_from: u64,
}

/// Ticks whose allowance of input packets may be saved up: a stall of half a second.
const ALLOWANCE_TICKS: u64 = 64;

impl<I: Record> Seated<I> {
    /// Bit of the mask from which on a packet counts as missing: half a second at 60 Hz.
    const OVERDUE: u64 = 1 << 32;

    /// Seats a member in the game with that index in the rotation.
    pub(super) fn new<G: Game<Input = I>>(mut member: Member, game: u8, rates: Rates) -> Self {
        // Packets are numbered anew.
        member.view.restart();
        Self {
            game: member.number(game),
            watches: false,
            inputs: InputBuffer::new(G::LATE),
            sender: Sender::new(member.player, member.rate.clone())
                .reading_silence(member.reads_silence),
            sight: Sight::new(rates),
            pressed: I::default(),
            newest: None,
            came: u64::MAX,
            trusted_from: 0,
            member,
        }
    }

    /// For one who watches.
    pub(super) fn watching(self) -> Self {
        Self { watches: true, ..self }
    }

    /// Ends the game; what was measured of the client's path and clock remains.
    pub(super) fn into_member(self) -> Member {
        Member { rate: self.sender.rate().clone(), ..self.member }
    }

    /// Voids what was measured and sent before tick 0 moved.
    pub(super) fn handle_epoch(&mut self, epoch: u8) {
        self.member.epoch = epoch;
        self.member.offset.clear();
        self.inputs.restart();
        self.member.view.restart();
        self.trusted_from = self.sender.next_seq();
    }

    /// Adds its player's steps of the tick that runs next, with views at most `rewind_most` old.
    pub(super) fn take<G: Game<Input = I>>(
        &mut self,
        rates: Rates,
        tick: Tick,
        rewind_most: Micros,
        inputs: &mut Inputs<I>,
    ) {
        let (buffer, view) = (&mut self.inputs, &mut self.member.view);
        let mut seen = |at: Tick, claim| {
            // A late step may not look further back than others.
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

    /// Adds one tick's allowance.
    pub(super) fn refill(&mut self) {
        let most = ALLOWANCE_TICKS * INPUT_PACKETS_PER_TICK_MAX;
        self.member.allowance = (self.member.allowance + INPUT_PACKETS_PER_TICK_MAX).min(most);
    }

    /// Takes in a datagram that arrived while the world was at `tick`.
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
        // Echoes count if they were stamped in this epoch, by a client that knows of it.
        let trusted = acked >= Some(self.trusted_from) && packet.epoch == self.member.epoch;
        let sent = LocalTime::widen(packet.sent, self.member.client_time);
        self.count(seq);
        if newer {
            self.newest = Some((seq, packet.sent, now));
            self.member.client_time = sent;
            self.member.note_transit(now - sent);
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
        if self.watches {
            return Ok(());
        }
        if packet.epoch != self.member.epoch {
            return Ok(()); // Its ticks belong to another epoch.
        }
        if let Some(last) = packet.inputs.first().filter(|last| newer && last.input != self.pressed)
        {
            self.pressed = last.input;
            self.member.activity.note(now);
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

    /// Notes the first arrival of an input packet.
    fn count(&mut self, seq: u64) {
        let near = self.newest.map_or(seq, |(newest, ..)| newest);
        if seq > near {
            // The mask remembers only the end of a long gap.
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

    /// True if the newest snapshot would wait on the path.
    pub(super) fn is_path_full(&mut self, now: LocalTime) -> bool {
        self.sender.is_path_full(now)
    }

    /// Bytes that may be on their way to the client at once.
    pub(super) fn window(&mut self, now: LocalTime) -> PathWindow {
        self.sender.window(now)
    }

    /// Begins the newest snapshot.
    pub(super) fn begin_snapshot<G: Game>(
        &self,
        encodings: &mut Encodings<G>,
        history: &History,
    ) -> Begun {
        self.sender.begin(encodings, history)
    }

    /// Packs the snapshot that was begun into packets that leave now. It is of what is `told`, or
    /// else of what the player sees.
    pub(super) fn pack_snapshot<G: Game>(
        &mut self,
        shared: &Shared<'_, G>,
        begun: Begun,
        told: Option<&[Relevant]>,
        (now, server_time): (LocalTime, ServerTime),
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
            silent: KindSet::NONE,
        };
        let told = told.unwrap_or_else(|| self.sight.told());
        let stats = &mut self.member.stats;
        let tick = shared.history.newest().map(|frame| frame.tick);
        let first = self.sender.next_seq();
        let most = self.member.datagram_bytes;
        self.sender.pack(shared, begun, told, header, now, most, |mut packet| {
            mark_game(&mut packet, self.game);
            stats.packets += 1;
            stats.bytes += packet.len() as u64;
            send(packet);
        });
        for seq in first..self.sender.next_seq() {
            self.member.view.handle_sent(seq, tick.unwrap_or_default());
        }
        self.member.stats.left_out += self.sender.left_out() as u64;
        self.member.stats.rate = self.sender.rate().bytes_per_second();
    }
}
