//! The room: one world, its members, and what they are told.
//!
//! A driver feeds it with `handle_*`, then drains [`AnyRoom::poll_output`], and calls
//! [`AnyRoom::handle_timeout`] at the time of [`AnyRoom::next_timeout`]. It reads no clock and
//! does no I/O.
//!
//! *Invariants:*
//! - The world steps by the clock alone; no client can hold it up or hurry it.
//! - When time is short, snapshots are made less often, of the newest tick and for all alike; ticks
//!   and inputs go before them, and nothing queues up.
//! - No client is believed about state, time or identity. It states its player's inputs, the
//!   packets that it received, and its clock, which affects only itself.

use std::collections::{BTreeMap, VecDeque};

use crate::fields::{Entity, Record, find_kind};
use crate::game::{Bot, Game, Inputs, Late, Profile, World, new_bot};
use crate::ids::PlayerId;
use crate::limits::{
    BOTS_MAX, CATCH_UP_TICKS_MAX, DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MIN, ROOM_EVENTS_MAX,
    SILENCE_MAX,
};
use crate::motion::send_rule::SendRule;
use crate::path::PathWindow;
use crate::random::Random;
use crate::rewind::{Past, Rewind, Rewound};
use crate::snapshot::encodings::Encodings;
use crate::snapshot::history::History;
use crate::snapshot::sender::Begun;
use crate::time::{LocalTime, Micros, Tick};
use crate::wire::control::{ServerMessage, Status};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::state::Codec;

use super::any::AnyRoom;
use super::config::RoomConfig;
use super::control::{Command, CommandError, Event};
use super::interest::Interest;
use super::member::{DatagramError, MemberStats, Seated};
use super::output::{ClientId, Output};
use super::rotation::{Host, Rotation};

/// Snapshots by which one may be late in a room that does not catch up. Arbitrary.
const SNAPSHOTS_LATE_MAX: u64 = 4;

#[derive(Debug)]
pub(super) struct BotSeat<G: Game> {
    pub(super) name: String,
    bot: Box<dyn Bot<G>>,
    random: Random,
}

/// One world and its members.
#[derive(Debug)]
pub struct Room<G: Game> {
    pub(super) host: Host,
    pub(super) game: G,
    pub(super) world: World<G>,
    pub(super) history: History,
    /// Configuration of the rules.
    pub(super) setup: Vec<u8>,
    pub(super) encodings: Encodings<G>,
    /// The same for clients with plain coding, from the first one on.
    pub(super) plain_encodings: Option<Encodings<G>>,
    pub(super) interest: Interest<G>,
    pub(super) members: BTreeMap<ClientId, Seated<G::Input>>,
    pub(super) bots: BTreeMap<PlayerId, BotSeat<G>>,
    /// Clients that have not got the newest snapshot yet.
    pub(super) due: VecDeque<ClientId>,
    /// First tick of which a snapshot is made, if everybody has got the one before.
    pub(super) next_snapshot: Tick,
    /// Some got theirs since the last tick.
    pub(super) has_packed: bool,
    /// Memory for those of whom the snapshot is packed.
    pub(super) begun: Vec<(ClientId, Begun)>,
    /// Inputs of this tick.
    pub(super) inputs: Inputs<G::Input>,
}

impl<G: Game> Room<G> {
    /// A room at tick 0, with its bots in it.
    pub fn new(config: RoomConfig) -> Self {
        Self::open(Rotation::new(config), &[])
    }

    /// A room of the next game: server time goes on, and members keep seats, names and clocks.
    /// Members without the game are put out, and those for whom it has no seat. `setup` is the
    /// configuration of its rules, see [`Kit::configure`](crate::game::Kit::configure); without
    /// one, or with one that cannot be read, they have their default.
    pub fn open(rotation: Rotation, setup: &[u8]) -> Self {
        const { assert!(G::SEATS_MAX > BOTS_MAX, "a game has a seat beside those of the bots") };
        let Rotation { host, tick, mut members, bots } = rotation;
        let config = &host.config;
        // A new game is a new world.
        let [seed, map_seed] =
            [config.seed, config.map_seed].map(|seed| seed.wrapping_add(u64::from(host.number)));
        if !(G::KIT.coding.tables)().are_of(<G::Entity as Entity>::KINDS) {
            tracing::warn!(
                game = G::NAME,
                "the coding tables were trained on other records, so snapshots take more bytes; \
                 train them anew"
            );
        }
        let make = |setup: &[u8]| (G::KIT.configure)(config.rates, map_seed, setup);
        let (game, setup) = match make(setup) {
            Ok(game) => (game, setup.to_vec()),
            Err(error) => {
                tracing::error!(game = G::NAME, %error, "the configuration is not of this game");
                // As clients make it of none.
                let default = make(&[]).unwrap_or_else(|_| G::new(config.rates, map_seed));
                (default, Vec::new())
            }
        };
        let mut world = World::new(seed);
        world.tick = tick;
        let most = config.rewind.unwrap_or(G::REWIND.most);
        let favour = config.favour.unwrap_or(G::REWIND.favour);
        world.past = Past::new(config.rates, Rewind { most, favour });
        game.populate(&mut world);
        let mut room = Self {
            game,
            world,
            history: History::default(),
            setup,
            encodings: Encodings::new(Codec::new(config.rates)),
            plain_encodings: None,
            interest: Interest::default(),
            members: BTreeMap::new(),
            bots: BTreeMap::new(),
            due: VecDeque::new(),
            next_snapshot: config.rates.next_snapshot(tick),
            has_packed: false,
            begun: Vec::new(),
            inputs: Inputs::default(),
            host,
        };
        room.host.tell(Event::Game { name: G::NAME });
        for (kind, rule) in room.host.config.send.clone() {
            if let Ok(kind) = find_kind(G::Entity::KINDS, &kind) {
                room.send_by(kind, rule);
            }
        }
        let mut random = Random::new(seed ^ 0xb07);
        for (player, name) in bots {
            room.world.set_profile(player, Some(Profile { name: name.clone(), key: None }));
            let seat = BotSeat { name, bot: new_bot::<G>(), random: random.fork() };
            room.bots.insert(player, seat);
            room.game.join(&mut room.world, player);
        }
        let mut lost = Vec::new();
        // Who is away gives way to who is there.
        members.sort_by_key(|(_, member)| member.away_until.is_some());
        for (client, member) in members {
            let has_game = room.check_games(&member.games, member.plain);
            let seats = room.seats_max();
            let has_seat =
                (room.members.len() < usize::from(seats)).then_some(()).ok_or_else(|| {
                    let text = format!("{} has {seats} seats, and all are taken", G::NAME);
                    Disconnect::new(Code::Full, text)
                });
            match has_game.and(has_seat) {
                Ok(()) => {
                    room.welcome(client, &member, false);
                    room.seat(client, member);
                }
                Err(goodbye) => {
                    lost.push((member.player, goodbye.text.clone()));
                    if member.away_until.is_none() {
                        room.host.put_out(client, goodbye);
                    }
                }
            }
        }
        for (player, reason) in lost {
            room.broadcast(&ServerMessage::Left { player });
            room.host.tell(Event::Left { player, reason });
        }
        room.world.snap();
        room
    }

    /// Sends a kind by another rule from now on.
    pub(super) fn send_by(&mut self, kind: u8, rule: SendRule) {
        self.encodings.set_rule(kind, rule);
        let kind = G::Entity::KINDS[usize::from(kind)].name;
        tracing::info!(kind, %rule, "sending");
        self.host.tell(Event::Sending { kind, rule });
    }

    /// Moves the epoch after a stall that is too long to catch up: the world's clock stood still.
    fn lose_time(&mut self, now: LocalTime, ticks: u64) {
        let host = &mut self.host;
        let rates = host.config.rates;
        let due = rates.tick_at(host.server_time(now));
        let lost = rates.time_of(due) - rates.time_of(due.minus(ticks));
        tracing::warn!(%lost, ticks, "the server stalled; the world's clock stood still");
        host.epoch = host.epoch + lost;
        host.epoch_number = host.epoch_number.wrapping_add(1);
        host.config.unix_micros = host.config.unix_micros.saturating_add(lost.0);
        let (epoch, unix_micros) = (host.epoch_number, host.config.unix_micros);
        for seated in self.members.values_mut() {
            seated.handle_epoch(epoch);
        }
        self.broadcast(&ServerMessage::Epoch { epoch, unix_micros });
    }

    fn step(&mut self) {
        let tick = self.world.tick.plus(1);
        let inputs = &mut self.inputs;
        inputs.clear();
        for (player, seat) in &mut self.bots {
            let seen = &self.world.entities;
            let (tick, random) = (self.world.tick, &mut seat.random);
            let input = seat.bot.input(&self.game, tick, seen, *player, random).snapped();
            inputs.set(*player, input);
        }
        let most = self.world.past.policy().most;
        for seated in self.members.values_mut() {
            seated.take::<G>(self.host.config.rates, tick, most, inputs);
            seated.refill();
        }
        self.world.tick = tick;
        self.game.step(&mut self.world, inputs);
        if G::LATE == Late::Wait {
            self.world.state_ages(inputs);
        }
        self.world.snap();
        self.world.past.push(tick, &self.world.entities);
        self.world.outbox.refill(self.host.config.rates);
    }

    /// Frees the seats of those who stay away, and keeps those of the silent.
    fn drop_silent(&mut self, now: LocalTime) {
        let members = self.members.iter();
        let late = members.filter(|(_, seated)| match seated.member.away_until {
            Some(until) => now >= until,
            None => now - seated.member.heard_at > SILENCE_MAX,
        });
        let late = late.map(|(client, seated)| (*client, seated.member.away_until));
        for (client, away) in late.collect::<Vec<_>>() {
            if away.is_some() {
                self.free(client, "the connection was lost");
                continue;
            }
            let secs = SILENCE_MAX.0 / 1_000_000;
            let text = format!(
                "the server received nothing from your client for {secs} seconds; check your \
                 network and join again"
            );
            self.host.put_out(client, Disconnect::new(Code::Silent, &text));
            self.handle_lost(now, client, &text);
        }
    }

    /// Sends what the game emitted.
    fn send_events(&mut self) {
        while let Some((to, bytes)) = self.world.outbox.pop() {
            let message = ServerMessage::Game(bytes);
            match to {
                None => self.broadcast(&message),
                Some(player) => {
                    let client = self.present().find(|(_, member)| member.player == player);
                    if let Some(client) = client.map(|(client, _)| client) {
                        self.host.send(client, message);
                    }
                }
            }
        }
    }

    /// Tells the host what the rules report, and that a round is over.
    fn tell_of_rounds(&mut self, played_before: u32) {
        while let Some((name, player, value)) = self.world.outbox.pop_report() {
            // They leave room for whoever comes and goes.
            if self.host.events.len() < ROOM_EVENTS_MAX / 2 {
                self.host.tell(Event::Report { name, player, value });
            }
        }
        let played = (G::KIT.rounds_played)(&self.world);
        if played > played_before {
            self.host.tell(Event::Round { played });
        }
    }

    /// The answer to a query.
    pub fn status(&self) -> Status {
        Status {
            server: self.host.config.name.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            game: G::NAME.into(),
            players: self.present().count() as u16,
            players_max: self.seats_max(),
            bots: self.bots.len() as u16,
            tick: self.world.tick,
            rooms: Vec::new(),
        }
    }

    /// The world.
    pub fn world(&self) -> &World<G> {
        &self.world
    }

    /// The world's tick.
    pub fn tick(&self) -> Tick {
        self.world.tick
    }

    /// Seats of people that are taken, kept ones included.
    pub fn seats_taken(&self) -> usize {
        self.members.len()
    }

    /// Returns true if a client's connection is lost, and its seat is kept.
    pub fn is_away(&self, client: ClientId) -> bool {
        self.members.get(&client).is_some_and(|seated| seated.member.away_until.is_some())
    }

    /// Counts of a client's session.
    pub fn member_stats(&self, client: ClientId) -> Option<MemberStats> {
        self.members.get(&client).map(|seated| seated.member.stats)
    }
}

impl<G: Game> AnyRoom for Room<G> {
    fn game_name(&self) -> &'static str {
        G::NAME
    }

    fn handle_control(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        let is_present = |seated: &Seated<_>| seated.member.away_until.is_none();
        if self.members.get(&client).is_some_and(is_present) {
            self.handle_request(now, client, body);
        }
    }

    fn handle_first(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        if !self.members.contains_key(&client) {
            self.receive(now, client, body);
        }
    }

    fn handle_datagram(&mut self, now: LocalTime, client: ClientId, bytes: &[u8]) {
        let server_time = self.host.server_time(now);
        let (tick, rates) = (self.world.tick, self.host.config.rates);
        let seated = self.members.get_mut(&client);
        let Some(seated) = seated.filter(|it| it.member.away_until.is_none()) else { return };
        match seated.handle_datagram(bytes, now, server_time, tick, rates) {
            Ok(()) => {}
            Err(DatagramError::NeverSent(error)) => {
                self.close(client, Disconnect::new(Code::Protocol, error.to_string()));
            }
            Err(error) => {
                seated.member.stats.refused += 1;
                tracing::debug!(client = client.0, %error, len = bytes.len(), "datagram refused");
            }
        }
    }

    fn handle_path(&mut self, client: ClientId, bytes_max: usize) {
        if let Some(seated) = self.members.get_mut(&client) {
            seated.member.datagram_bytes = bytes_max.clamp(DATAGRAM_BYTES_MIN, DATAGRAM_BYTES_MAX);
        }
    }

    fn window(&mut self, now: LocalTime, client: ClientId) -> PathWindow {
        self.members.get_mut(&client).map_or(PathWindow::Open, |seated| seated.window(now))
    }

    fn handle_lost(&mut self, now: LocalTime, client: ClientId, reason: &str) {
        let number = self.host.number;
        let mut until = now + self.host.config.resume;
        if let Some(draining) = &self.host.draining {
            until = until.min(draining.end);
        }
        let Some(seated) = self.members.get_mut(&client) else { return };
        let member = &mut seated.member;
        // A seat is kept for a player, and not for whoever only knocked.
        if until <= now || member.stats.accepted == 0 {
            return self.free(client, reason);
        }
        if member.away_until.is_none() {
            tracing::info!(client = client.0, player = %member.player, reason, "away");
            member.away_until = Some(until);
            member.away_in = number;
            let player = member.player;
            self.host.tell(Event::Away { player });
        }
    }

    fn handle_left(&mut self, client: ClientId, reason: &str) {
        self.free(client, reason);
    }

    fn handle_command(&mut self, now: LocalTime, command: Command) -> Result<(), CommandError> {
        self.carry_out(now, command)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.host.events.pop_front()
    }

    fn handle_timeout_of(&mut self, now: LocalTime, ticks_max: u64) {
        let rates = self.host.config.rates;
        let due = rates.tick_at(self.host.server_time(now));
        let behind = due.since(self.world.tick);
        if behind > CATCH_UP_TICKS_MAX {
            self.lose_time(now, behind - CATCH_UP_TICKS_MAX);
        }
        let due = rates.tick_at(self.host.server_time(now));
        let end = due.min(self.world.tick.plus(ticks_max.min(CATCH_UP_TICKS_MAX)));
        while self.world.tick < end {
            let played = (G::KIT.rounds_played)(&self.world);
            self.step();
            self.send_events();
            self.tell_of_rounds(played);
            self.has_packed = false;
        }
        // What is still due goes first, but not for ever.
        let late = self.world.tick.since(self.next_snapshot);
        let goes_first =
            self.world.tick < due && late < SNAPSHOTS_LATE_MAX * rates.ticks_per_snapshot();
        if self.world.tick >= self.next_snapshot && !goes_first {
            self.drop_silent(now);
            self.drop_idle(now);
            // Until everybody has got the last one, a new one would only take the time for it.
            // Datagrams are stamped by the newest, so none of another may be left either.
            let is_other = |output: &Output| !matches!(output, Output::Datagram { .. });
            if self.due.is_empty() && self.host.outputs.iter().all(is_other) {
                self.make_snapshot();
            }
        }
    }

    fn next_timeout(&self) -> LocalTime {
        let due = self.host.config.rates.time_of(self.world.tick.plus(1));
        self.host.epoch + Micros(due.0)
    }

    fn shutdown(&mut self, goodbye: &Disconnect) {
        for client in self.members.keys().copied().collect::<Vec<_>>() {
            self.close(client, goodbye.clone());
        }
    }

    fn drained(&self, now: LocalTime) -> Option<Disconnect> {
        let draining = self.host.draining.as_ref()?;
        let rounds = (G::KIT.rounds_played)(&self.world);
        let is_over = self.members.is_empty() || now >= draining.end || rounds > draining.rounds;
        is_over.then(|| draining.goodbye.clone())
    }

    fn poll_output_unless(
        &mut self,
        now: LocalTime,
        behind: &dyn Fn(ClientId) -> bool,
    ) -> Option<Output> {
        while self.host.outputs.is_empty() && !self.due.is_empty() && self.has_time(now) {
            self.pack_due(now, behind);
            self.has_packed = true;
        }
        let output = self.host.outputs.pop_front()?;
        Some(self.stamped(now, output))
    }

    fn status(&self) -> Status {
        Self::status(self)
    }

    fn seats_taken(&self) -> usize {
        self.members.len()
    }

    fn poll_rewound(&mut self) -> Option<Rewound> {
        self.world.past.poll_rewound()
    }

    fn is_over(&self) -> bool {
        let rounds = self.host.config.rounds;
        rounds.is_some_and(|rounds| (G::KIT.rounds_played)(&self.world) >= rounds)
    }

    fn close_game(self: Box<Self>) -> Rotation {
        let Self { host, world, members, bots, .. } = *self;
        let members = members.into_iter().map(|(client, seated)| (client, seated.into_member()));
        Rotation {
            host: Host { number: host.number.wrapping_add(1), ..host },
            tick: world.tick,
            members: members.collect(),
            bots: bots.into_iter().map(|(player, seat)| (player, seat.name)).collect(),
        }
    }
}
