//! The part of a client that outlives a game: clocks, roster, counters.

use std::collections::BTreeMap;

use super::stats::{Counter, Stats};
use crate::clock::delay::Delay;
use crate::clock::lead::Lead;
use crate::clock::pll::Pll;
use crate::ids::PlayerId;
use crate::limits::{SEATS_MAX, WATCHERS_MAX};
use crate::time::{LocalTime, Micros, Offset, Rates, ServerTime};
use crate::wire::control::{Seat, ServerMessage, Welcome};
use crate::wire::round::{House, Poll, Presence, RoundNotice};

/// Longest vote that is believed: an hour.
const POLL_MS_MAX: u32 = 3_600_000;

/// A client's clock and counters, its own seat and everybody else's.
#[derive(Debug)]
pub struct Common {
    pub(super) rates: Rates,
    /// Seed of the rules and the map.
    pub(super) seed: u64,
    /// Index of the game in the server's rotation, modulo 256.
    pub(super) number: u8,
    pub(super) player: PlayerId,
    /// Snapshots come in plain coding.
    pub(super) plain: bool,
    pub(super) welcome_offset: Offset,
    pub(super) unix_micros: i64,
    /// Those who play, and those who watch.
    pub(super) roster: BTreeMap<PlayerId, Seat>,
    pub(super) presence: BTreeMap<PlayerId, Presence>,
    pub(super) house: House,
    /// The vote that runs, and its end.
    pub(super) poll: Option<(Poll, LocalTime)>,
    pub(super) watchers: BTreeMap<PlayerId, Seat>,
    /// Delay with which the client watches; none if it plays.
    pub(super) watching: Option<Micros>,
    pub(super) pll: Pll,
    pub(super) lead: Lead,
    pub(super) delay: Delay,
    /// True if the server has measured this client's clock. Until then inputs have no ticks.
    pub(super) measured: bool,
    /// The server's epoch.
    pub(super) epoch: u8,
    pub(super) started: LocalTime,
    /// The newest packet's send time on the server's clock, and when it came.
    pub(super) heard: Option<(u32, LocalTime)>,
    pub(super) counter: Counter,
}

impl Common {
    /// Starts from the server's welcome, which answered a hello that was sent at `hello_sent`.
    pub fn new(welcome: &Welcome, hello_sent: LocalTime, now: LocalTime) -> Self {
        let round_trip = now - hello_sent;
        // The welcome's offset takes the hello for as old as its arrival.
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
            delay: Delay::new(now, round_trip, welcome.rates.snapshot_interval()),
            measured: false,
            epoch: welcome.epoch,
            started: now,
            heard: None,
            counter: Counter::new(round_trip),
        }
    }

    /// The same for a client whose hello wished for plain coding, or did not.
    #[must_use]
    pub fn plain(self, plain: bool) -> Self {
        Self { plain, ..self }
    }

    /// Goes on with the next game of the same server.
    pub(super) fn rotate(&mut self, welcome: &Welcome, now: LocalTime) {
        let rates = welcome.rates;
        // Lead and delay are counted in ticks and snapshots.
        if self.rates != rates {
            let round_trip = self.counter.stats.round_trip;
            self.delay = Delay::new(now, round_trip, rates.snapshot_interval());
            self.lead = Lead::new(now, round_trip, rates.step());
        }
        // Who goes to watch goes back in time.
        let later = welcome.offset.0.saturating_sub(self.welcome_offset.0);
        if later != 0 {
            self.pll.shift(Micros(later));
        }
        self.welcome_offset = welcome.offset;
        self.watching = welcome.watching;
        if self.watching.is_some() {
            // Votes are of those who play.
            self.poll = None;
        }
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

    /// The server's clock was measured for the first time.
    pub(super) fn handle_first_measurement(&mut self, now: LocalTime, round_trip: Micros) {
        self.lead = Lead::new(now, round_trip, self.rates.step());
        self.delay = Delay::new(now, round_trip, self.rates.snapshot_interval());
    }

    /// Takes note of who comes and goes, and of a new epoch. Returns whether the clock was set.
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
                // A later tick 0 is an earlier time now.
                self.pll.shift(Micros(self.unix_micros.saturating_sub(*unix_micros)));
                self.unix_micros = *unix_micros;
                self.epoch = *epoch;
                return true;
            }
            // The session handles what ends or starts a game, and what people read.
            _ => {}
        }
        false
    }

    /// Takes note of the house's rules, of people and of votes.
    pub(super) fn handle_round(&mut self, notice: RoundNotice, now: LocalTime) {
        match notice {
            RoundNotice::House(house) => self.house = house,
            RoundNotice::Presence(players) => {
                // Nobody is told of who has no seat.
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

    /// Pings and readiness of people, as far as they are known.
    pub fn presence(&self) -> &BTreeMap<PlayerId, Presence> {
        &self.presence
    }

    /// Rules of the house.
    pub fn house(&self) -> &House {
        &self.house
    }

    /// The vote that runs, and its end.
    pub fn poll(&self) -> Option<&(Poll, LocalTime)> {
        self.poll.as_ref()
    }

    /// The world's rates.
    pub fn rates(&self) -> Rates {
        self.rates
    }

    /// Seed of the rules and the map.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The own seat.
    pub fn player(&self) -> PlayerId {
        self.player
    }

    /// Everybody's seats.
    pub fn roster(&self) -> &BTreeMap<PlayerId, Seat> {
        &self.roster
    }

    /// Those who watch.
    pub fn watchers(&self) -> &BTreeMap<PlayerId, Seat> {
        &self.watchers
    }

    /// Name of somebody who plays or watches.
    pub fn name_of(&self, player: PlayerId) -> Option<&str> {
        self.seat(player).map(|seat| &*seat.name)
    }

    /// Seat of somebody who plays or watches.
    pub fn seat(&self, player: PlayerId) -> Option<&Seat> {
        self.roster.get(&player).or_else(|| self.watchers.get(&player))
    }

    /// Delay with which the client watches; none if it plays.
    pub fn watching(&self) -> Option<Micros> {
        self.watching
    }

    /// The server's time.
    pub fn server_time(&self, now: LocalTime) -> ServerTime {
        self.pll.server_time(now)
    }

    /// Unix time of the server's tick 0 in microseconds, by the server's host.
    pub fn unix_micros(&self) -> i64 {
        self.unix_micros
    }

    /// Time since a snapshot last came, or since one could come.
    pub fn silence(&self, now: LocalTime) -> Micros {
        let started = self.started + self.watching.unwrap_or_default();
        (now - self.heard.map_or(started, |(_, arrival)| arrival)).max(Micros::ZERO)
    }

    /// The locked clock.
    pub fn pll(&self) -> &Pll {
        &self.pll
    }

    /// Steering of prediction: its lead over the server's time, and the reasons.
    pub fn lead(&self) -> &Lead {
        &self.lead
    }

    /// Steering of presentation: its delay behind the server's time, and the reasons.
    pub fn delay(&self) -> &Delay {
        &self.delay
    }

    /// Counters since the client joined.
    pub fn stats(&self) -> &Stats {
        &self.counter.stats
    }
}
