//! The part of a client that outlives a game: clocks, roster, counters.

use std::collections::BTreeMap;

use super::departures::Departures;
use super::input_delay::InputDelay;
use super::stats::{Counter, Stats};
use crate::clock::delay::Delay;
use crate::clock::lead::Lead;
use crate::clock::pll::Pll;
use crate::ids::PlayerId;
use crate::limits::{SEATS_MAX, WATCHERS_MAX};
use crate::time::{LocalTime, Micros, Offset, Rates, ServerTime};
use crate::wire::control::{Seat, ServerMessage, Welcome};
use crate::wire::round::{House, Poll, Presence, RoundNotice};

/// The longest plausible vote: an hour.
const POLL_MS_MAX: u32 = 3_600_000;

/// The part of a client that outlives a game: clock, counters, its own seat and all others.
#[derive(Debug)]
pub struct Common {
    pub(super) rates: Rates,
    /// Seed of the rules and the map.
    pub(super) seed: u64,
    /// Index of the game in the server's rotation, modulo 256.
    pub(super) number: u8,
    pub(super) player: PlayerId,
    /// Whether snapshots come in plain coding.
    pub(super) plain: bool,
    pub(super) welcome_offset: Offset,
    pub(super) unix_micros: i64,
    /// Players and spectators.
    pub(super) roster: BTreeMap<PlayerId, Seat>,
    pub(super) presence: BTreeMap<PlayerId, Presence>,
    pub(super) house: House,
    /// The current vote, and when it ends.
    pub(super) poll: Option<(Poll, LocalTime)>,
    pub(super) watchers: BTreeMap<PlayerId, Seat>,
    /// Delay of a spectator; `None` for a player.
    pub(super) watching: Option<Micros>,
    pub(super) pll: Pll,
    pub(super) lead: Lead,
    pub(super) input_delay: InputDelay,
    pub(super) departures: Departures,
    pub(super) delay: Delay,
    /// Whether the server has measured this client's clock. Until then inputs have no ticks.
    pub(super) measured: bool,
    /// The server's epoch.
    pub(super) epoch: u8,
    pub(super) started: LocalTime,
    /// Send time of the newest packet on the server's clock, and its arrival.
    pub(super) heard: Option<(u32, LocalTime)>,
    pub(super) counter: Counter,
}

impl Common {
    /// Creates the state from the server's welcome. `hello_sent` is when the hello that it answers
    /// was sent.
    pub fn new(welcome: &Welcome, hello_sent: LocalTime, now: LocalTime) -> Self {
        let round_trip = now - hello_sent;
        // The offset in the welcome was computed as if the hello had arrived without delay.
        let offset = Offset(welcome.offset.0.saturating_sub(round_trip.0 / 2));
        Self {
            rates: welcome.rates,
            seed: welcome.seed,
            number: welcome.number,
            player: welcome.player,
            plain: false,
            welcome_offset: welcome.offset,
            unix_micros: welcome.unix_micros,
            roster: BTreeMap::new(),
            presence: BTreeMap::new(),
            house: House::default(),
            poll: None,
            watchers: BTreeMap::new(),
            watching: welcome.watching,
            pll: Pll::new(now, offset),
            lead: Lead::new(now, round_trip, welcome.rates.step()),
            input_delay: InputDelay::default(),
            departures: Departures::new(),
            delay: Delay::new(now, round_trip, welcome.rates.snapshot_interval()),
            measured: false,
            epoch: welcome.epoch,
            started: now,
            heard: None,
            counter: Counter::new(round_trip),
        }
    }

    /// Sets whether the client's hello asked for plain coding.
    #[must_use]
    pub fn plain(self, plain: bool) -> Self {
        Self { plain, ..self }
    }

    /// Moves on to the next game of the same server.
    pub(super) fn rotate(&mut self, welcome: &Welcome, now: LocalTime) {
        let rates = welcome.rates;
        // Lead and delay are counted in ticks and snapshots.
        if self.rates != rates {
            let round_trip = self.counter.stats.round_trip;
            self.delay = Delay::new(now, round_trip, rates.snapshot_interval());
            self.lead = Lead::new(now, round_trip, rates.step());
        }
        // A player who becomes a spectator goes back in time.
        let later = welcome.offset.0.saturating_sub(self.welcome_offset.0);
        if later != 0 {
            self.pll.shift(Micros(later));
        }
        self.welcome_offset = welcome.offset;
        self.watching = welcome.watching;
        if self.watching.is_some() {
            // Only players vote.
            self.poll = None;
        }
        self.input_delay.restart();
        self.departures = Departures::new();
        self.rates = rates;
        self.seed = welcome.seed;
        self.number = welcome.number;
        self.player = welcome.player;
        self.unix_micros = welcome.unix_micros;
        self.epoch = welcome.epoch;
        self.started = now;
        self.heard = None;
        self.counter.go_on();
    }

    /// Handles the first measurement of the server's clock.
    pub(super) fn handle_first_measurement(&mut self, now: LocalTime, round_trip: Micros) {
        self.lead = Lead::new(now, round_trip, self.rates.step());
        self.delay = Delay::new(now, round_trip, self.rates.snapshot_interval());
    }

    /// Tracks arrivals, departures and epochs. Returns whether the clock was set.
    pub(super) fn handle_message(&mut self, message: &ServerMessage) -> bool {
        match message {
            ServerMessage::Joined(seats) => {
                for (player, seat) in seats {
                    let here = self.roster.len() + self.watchers.len();
                    let is_full = here >= usize::from(SEATS_MAX + WATCHERS_MAX);
                    self.watchers.remove(player);
                    if !is_full || self.roster.contains_key(player) {
                        self.roster.insert(*player, seat.clone());
                    }
                }
            }
            ServerMessage::Left { player, .. } => {
                self.roster.remove(player);
                self.presence.remove(player);
                self.watchers.remove(player);
            }
            ServerMessage::Watching { players, watching } => {
                let (from, to) = match watching {
                    true => (&mut self.roster, &mut self.watchers),
                    false => (&mut self.watchers, &mut self.roster),
                };
                to.extend(players.iter().filter_map(|player| from.remove_entry(player)));
                if *watching {
                    self.presence.retain(|player, _| !players.contains(player));
                }
            }
            ServerMessage::Epoch { epoch, unix_micros } => {
                // A later tick 0 means an earlier time now.
                self.pll.shift(Micros(self.unix_micros.saturating_sub(*unix_micros)));
                self.unix_micros = *unix_micros;
                self.epoch = *epoch;
                return true;
            }
            // The session handles messages that start or end a game, and messages for people.
            _ => {}
        }
        false
    }

    /// Tracks the house rules, the players' presence and votes.
    pub(super) fn handle_round(&mut self, notice: RoundNotice, now: LocalTime) {
        match notice {
            RoundNotice::House(house) => self.house = house,
            RoundNotice::Presence(players) => {
                // Players without a seat are not listed.
                let known = players.into_iter().filter(|(it, _)| self.roster.contains_key(it));
                self.presence.extend(known);
            }
            RoundNotice::Poll(poll) => {
                let ends = now + Micros::from_ms(i64::from(poll.left_ms.min(POLL_MS_MAX)));
                self.poll = Some((poll, ends));
            }
            RoundNotice::Voted { .. } => self.poll = None,
        }
    }

    /// Returns pings and readiness of players, as far as they are known.
    pub fn presence(&self) -> &BTreeMap<PlayerId, Presence> {
        &self.presence
    }

    /// Returns the house rules.
    pub fn house(&self) -> &House {
        &self.house
    }

    /// Returns the current vote, and when it ends.
    pub fn poll(&self) -> Option<&(Poll, LocalTime)> {
        self.poll.as_ref()
    }

    /// Returns the world's rates.
    pub fn rates(&self) -> Rates {
        self.rates
    }

    /// Returns the seed of the rules and the map.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the client's own id.
    pub fn player(&self) -> PlayerId {
        self.player
    }

    /// Returns all seats, by player.
    pub fn roster(&self) -> &BTreeMap<PlayerId, Seat> {
        &self.roster
    }

    /// Returns the spectators' seats.
    pub fn watchers(&self) -> &BTreeMap<PlayerId, Seat> {
        &self.watchers
    }

    /// Returns the name of a player or spectator.
    pub fn name_of(&self, player: PlayerId) -> Option<&str> {
        self.seat(player).map(|seat| &*seat.name)
    }

    /// Returns the seat of a player or spectator.
    pub fn seat(&self, player: PlayerId) -> Option<&Seat> {
        self.roster.get(&player).or_else(|| self.watchers.get(&player))
    }

    /// Returns the delay of a spectator; `None` for a player.
    pub fn watching(&self) -> Option<Micros> {
        self.watching
    }

    /// Returns the server's time.
    pub fn server_time(&self, now: LocalTime) -> ServerTime {
        self.pll.server_time(now)
    }

    /// Returns the Unix time of the server's tick 0 in microseconds, on the clock of the server's
    /// host.
    pub fn unix_micros(&self) -> i64 {
        self.unix_micros
    }

    /// Returns the time since the last snapshot, or since the start if there was none. For a
    /// spectator the delay counts towards the start.
    pub fn silence(&self, now: LocalTime) -> Micros {
        let started = self.started + self.watching.unwrap_or_default();
        (now - self.heard.map_or(started, |(_, arrival)| arrival)).max(Micros::ZERO)
    }

    /// Returns the clock that is locked to the server's.
    pub fn pll(&self) -> &Pll {
        &self.pll
    }

    /// Returns the controller of the lead: how far prediction runs ahead of the server's time, and
    /// why.
    pub fn lead(&self) -> &Lead {
        &self.lead
    }

    /// Returns the controller of the interpolation delay: how far presentation runs behind the
    /// server's time, and why.
    pub fn delay(&self) -> &Delay {
        &self.delay
    }

    /// Returns the counters since the client joined.
    pub fn stats(&self) -> &Stats {
        &self.counter.stats
    }
}
