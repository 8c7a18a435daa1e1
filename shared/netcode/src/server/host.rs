//! The room's state that outlives a game: settings, clock, mailbox, counters of ids and tokens, and
//! whether it sleeps or is drained.

use std::collections::BTreeMap;

use super::clock::{RoomClock, RoomTime};
use super::config::{RoomConfig, RoomSettings};
use super::control::Event;
use super::draining::{DrainOrder, Draining};
use super::mailbox::Mailbox;
use super::member::Terms;
use super::output::{ClientId, Output};
use super::workers::Workers;
use crate::identity::{PublicKey, ResumeToken};
use crate::ids::PlayerId;
use crate::limits::BOTS_MAX;
use crate::motion::send_rule::SendRule;
use crate::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use crate::wire::control::ServerMessage;
use crate::wire::disconnect::Disconnect;

/// Maximum number of goodbyes kept for players who are away. Arbitrary.
const FAREWELLS_MAX: usize = 256;
/// Maximum number of resume tokens issued after a room's last checkpoint; far more than is
/// possible.
const TOKENS_BETWEEN: u64 = 1 << 16;

/// Lowest ticket of those who wait behind the players who are expected.
const UNEXPECTED: u64 = 1 << 63;

/// Whether a room sleeps because it is empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Sleep {
    /// People are here, or the room never sleeps.
    #[default]
    Awake,
    /// The room is empty.
    Empty { since: LocalTime },
    /// No tick runs.
    Asleep { since: LocalTime, look_at: LocalTime },
}

/// Counters of the ids that the room issues.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    /// The next player id to try.
    player: PlayerId,
    /// The next resume token. Tokens count up from the time of the start, in a separate range for
    /// each room, so that no two sessions ever share one. They are not secret: using one requires
    /// proof of the player's key.
    token: u64,
    /// The last ticket in the queue for a seat.
    ticket: u64,
}

/// The part of this state that a checkpoint contains.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostState {
    pub(super) seed: u64,
    pub(super) map_seed: u64,
    pub(super) number: u8,
    pub(super) epoch_number: u8,
    pub(super) next_player: PlayerId,
    pub(super) next_token: u64,
}

/// The room's state that outlives a game.
#[derive(Debug)]
pub(super) struct Host {
    config: RoomConfig,
    /// Index of the game in the rotation, modulo 256.
    number: u8,
    clock: RoomClock,
    mailbox: Mailbox,
    numbers: Numbers,
    draining: Option<Draining>,
    sleep: Sleep,
    /// Goodbyes to players who were removed while they were away, and how long to keep them.
    farewells: BTreeMap<PublicKey, (Disconnect, LocalTime)>,
}

impl Host {
    /// Creates the state before the first game.
    pub(super) fn new(config: RoomConfig) -> Self {
        Self {
            number: 0,
            clock: RoomClock::new(config.start),
            mailbox: Mailbox::default(),
            numbers: Numbers {
                player: PlayerId(config.settings.bots.min(BOTS_MAX)),
                token: ResumeToken::first(config.number, config.unix_micros).0,
                ticket: 0,
            },
            draining: None,
            sleep: Sleep::default(),
            farewells: BTreeMap::new(),
            config,
        }
    }

    /// Moves on to the next game of the rotation.
    pub(super) fn rotate(self) -> Self {
        Self { number: self.number.wrapping_add(1), ..self }
    }

    /// Returns the state for a checkpoint.
    pub(super) fn state(&self) -> HostState {
        HostState {
            seed: self.config.seed,
            map_seed: self.config.map_seed,
            number: self.number,
            epoch_number: self.clock.number(),
            next_player: self.numbers.player,
            next_token: self.numbers.token,
        }
    }

    /// Continues from a checkpoint made at `tick`. The clock did not run in between.
    pub(super) fn restore(&mut self, kept: HostState, tick: Tick) {
        let passed = Micros(self.config.rates.time_of(tick).0);
        self.clock = self.clock.resumed(kept.epoch_number, passed);
        self.config.unix_micros = self.config.unix_micros.saturating_add((Micros::ZERO - passed).0);
        (self.config.seed, self.config.map_seed) = (kept.seed, kept.map_seed);
        self.number = kept.number;
        // Tokens issued since the checkpoint are unknown to the room.
        self.numbers.token = kept.next_token.wrapping_add(TOKENS_BETWEEN);
        self.numbers.player = kept.next_player;
    }

    pub(super) fn config(&self) -> &RoomConfig {
        &self.config
    }

    pub(super) fn rates(&self) -> Rates {
        self.config.rates
    }

    pub(super) fn settings(&self) -> &RoomSettings {
        &self.config.settings
    }

    /// Changes the settings.
    pub(super) fn configure(&mut self, settings: RoomSettings) {
        self.config.settings = settings;
    }

    /// Sets the send rule of a kind of entity, also for later games.
    pub(super) fn set_rule(&mut self, kind: String, rule: SendRule) {
        self.config.settings.send.retain(|(name, _)| !name.eq_ignore_ascii_case(&kind));
        self.config.settings.send.push((kind, rule));
    }

    /// Returns the index of the game in the rotation, modulo 256.
    pub(super) fn number(&self) -> u8 {
        self.number
    }

    /// Returns the number of the epoch, modulo 256.
    pub(super) fn epoch(&self) -> u8 {
        self.clock.number()
    }

    pub(super) fn server_time(&self, now: LocalTime) -> ServerTime {
        self.clock.server_time(now)
    }

    /// Returns the newest tick that is due.
    pub(super) fn due(&self, now: LocalTime) -> Tick {
        self.rates().tick_at(self.server_time(now))
    }

    /// Returns the time at which a tick is due.
    pub(super) fn time_of(&self, tick: Tick) -> LocalTime {
        self.clock.local_time(self.rates().time_of(tick))
    }

    /// Returns the present moment as players see it.
    pub(super) fn time(&self, now: LocalTime, tick: Tick) -> RoomTime {
        RoomTime { now, server_time: self.server_time(now), tick, rates: self.rates() }
    }

    /// Returns the terms for a newcomer.
    pub(super) fn terms(&self, now: LocalTime, tick: Tick) -> Terms {
        Terms {
            time: self.time(now, tick),
            epoch: self.epoch(),
            bytes_per_second: self.config.settings.client_bytes_per_second,
        }
    }

    /// Moves the epoch by the last `ticks` ticks, which are not run. Returns their duration.
    pub(super) fn stand_still(&mut self, now: LocalTime, ticks: u64) -> Micros {
        let due = self.due(now);
        let lost = self.rates().time_of(due) - self.rates().time_of(due.minus(ticks));
        self.clock.lose(lost);
        self.config.unix_micros = self.config.unix_micros.saturating_add(lost.0);
        lost
    }

    pub(super) fn send(&mut self, client: ClientId, message: ServerMessage) {
        self.mailbox.send(client, message);
    }

    /// Answers a client's only message, then closes its connection.
    pub(super) fn answer(&mut self, client: ClientId, answer: ServerMessage) {
        self.mailbox.answer(client, answer);
    }

    /// Says goodbye to a client, then closes its connection.
    pub(super) fn put_out(&mut self, client: ClientId, goodbye: Disconnect) {
        self.mailbox.put_out(client, goodbye);
    }

    /// Queues an event for the host.
    pub(super) fn push_event(&mut self, event: Event) {
        self.mailbox.push_event(event);
    }

    /// Queues an event that the rules reported.
    pub(super) fn report(&mut self, event: Event) {
        self.mailbox.report(event);
    }

    pub(super) fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// Returns the threads that pack snapshots, and the mailbox for the packets.
    pub(super) fn packing(&mut self) -> (&dyn Workers, &mut Mailbox) {
        (self.config.workers(), &mut self.mailbox)
    }

    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.mailbox.poll_output()
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        self.mailbox.poll_event()
    }

    /// Returns the next resume token.
    pub(super) fn token(&mut self) -> ResumeToken {
        let token = ResumeToken(self.numbers.token);
        self.numbers.token = self.numbers.token.wrapping_add(1);
        token
    }

    /// Returns a new ticket for the queue for a seat: at its end, or for players who are expected
    /// after the others of these.
    pub(super) fn ticket(&mut self, is_expected: bool) -> u64 {
        self.numbers.ticket += 1;
        if is_expected { self.numbers.ticket } else { UNEXPECTED + self.numbers.ticket }
    }

    /// Returns the next player id to try, which the caller must advance past the one it uses.
    pub(super) fn next_player(&mut self) -> &mut PlayerId {
        &mut self.numbers.player
    }

    pub(super) fn sleep(&self) -> Sleep {
        self.sleep
    }

    pub(super) fn set_sleep(&mut self, sleep: Sleep) {
        self.sleep = sleep;
    }

    /// Refuses newcomers, and ends with the round after `rounds` or when the time is up.
    pub(super) fn drain(&mut self, now: LocalTime, order: DrainOrder, rounds: u32) {
        self.draining = Some(Draining::new(now, order, rounds));
    }

    /// Cancels a drain. Returns `false` if there was none.
    pub(super) fn undrain(&mut self) -> bool {
        self.draining.take().is_some()
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining.is_some()
    }

    /// Returns the drain that goes on, if any.
    pub(super) fn draining(&self) -> Option<&Draining> {
        self.draining.as_ref()
    }

    /// Returns the message for players if a step of the countdown is due.
    pub(super) fn count_down(&mut self, now: LocalTime) -> Option<String> {
        self.draining.as_mut()?.count_down(now)
    }

    /// Keeps a goodbye for a player who is away.
    pub(super) fn keep_farewell(&mut self, key: PublicKey, goodbye: Disconnect, until: LocalTime) {
        if self.farewells.len() < FAREWELLS_MAX {
            self.farewells.insert(key, (goodbye, until));
        }
    }

    /// Takes the goodbye that was kept for a player.
    pub(super) fn farewell(&mut self, now: LocalTime, key: PublicKey) -> Option<Disconnect> {
        self.farewells.retain(|_, (_, until)| now < *until);
        self.farewells.remove(&key).map(|(goodbye, _)| goodbye)
    }
}
