//! The room: one world, its members, and what they are told.
//!
//! A driver feeds it with `handle_*`, then drains [`AnyRoom::poll_output`], and calls
//! [`AnyRoom::handle_timeout`] at the time of [`AnyRoom::next_timeout`]. It reads no clock and
//! does no I/O.
//!
//! *Invariants:*
//! - The world steps by the clock alone; no client can hold it up or hurry it.
//! - No client is believed about state, time or identity. It states its player's inputs, the
//!   packets that it received, and its clock, which affects only itself.

use std::collections::{BTreeMap, VecDeque};

use crate::fields::Record;
use crate::game::{Bot, Game, Inputs, Late, World, new_bot};
use crate::ids::PlayerId;
use crate::limits::{
    CATCH_UP_TICKS_MAX, DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MIN, PLAYERS_MAX, SILENCE_MAX,
};
use crate::random::Random;
use crate::rewind::{Past, Rewind, Rewound};
use crate::snapshot::encodings::Encodings;
use crate::snapshot::history::History;
use crate::time::{LocalTime, Micros, Offset, Tick};
use crate::wire::control::{ClientMessage, Hello, ServerMessage, Status, Welcome, clean_name};
use crate::wire::protocol::{game_hash, wire_hash};
use crate::wire::state::Codec;

use super::any::AnyRoom;
use super::config::RoomConfig;
use super::interest::Interest;
use super::member::{DatagramError, Member, MemberStats, Seated};
use super::output::{ClientId, Output};
use super::rotation::{Host, Rotation};
use super::seating::{free_name, free_seat};

#[derive(Debug)]
struct BotSeat<G: Game> {
    name: String,
    bot: Box<dyn Bot<G>>,
    random: Random,
}

/// One world and its members.
#[derive(Debug)]
pub struct Room<G: Game> {
    host: Host,
    game: G,
    world: World<G>,
    history: History,
    encodings: Encodings<G>,
    interest: Interest<G>,
    members: BTreeMap<ClientId, Seated<G::Input>>,
    bots: BTreeMap<PlayerId, BotSeat<G>>,
    /// Clients that have not got the newest snapshot yet.
    due: VecDeque<ClientId>,
    /// Inputs of this tick.
    inputs: Inputs<G::Input>,
}

impl<G: Game> Room<G> {
    /// A room at tick 0, with its bots in it.
    pub fn new(config: RoomConfig) -> Self {
        Self::open(Rotation::new(config))
    }

    /// A room of the next game: server time goes on, and members keep seats, names and clocks.
    /// Members without the game are put out.
    pub fn open(rotation: Rotation) -> Self {
        let Rotation { host, tick, members, bots } = rotation;
        let config = &host.config;
        // A new game is a new world.
        let [seed, map_seed] =
            [config.seed, config.map_seed].map(|seed| seed.wrapping_add(u64::from(host.number)));
        let game = G::new(config.rates, map_seed);
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
            encodings: Encodings::new(Codec::new(config.rates)),
            interest: Interest::default(),
            members: BTreeMap::new(),
            bots: BTreeMap::new(),
            due: VecDeque::new(),
            inputs: Inputs::default(),
            host,
        };
        let mut random = Random::new(seed ^ 0xb07);
        for (player, name) in bots {
            let seat = BotSeat { name, bot: new_bot::<G>(), random: random.fork() };
            room.bots.insert(player, seat);
            room.game.join(&mut room.world, player);
        }
        let (staying, lost): (Vec<_>, Vec<_>) = members
            .into_iter()
            .map(|(client, member)| (client, room.check_games(&member.games).err(), member))
            .partition(|(_, reason, _)| reason.is_none());
        for (client, _, member) in staying {
            room.seat(client, member);
        }
        for (client, reason, member) in lost {
            room.host.put_out(client, &reason.unwrap_or_default(), false);
            room.broadcast(&ServerMessage::Left { player: member.player });
        }
        room.world.snap();
        room
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
    }

    fn drop_silent(&mut self, now: LocalTime) {
        let silent = self.members.iter().filter(|(_, s)| now - s.member.heard_at > SILENCE_MAX);
        for client in silent.map(|(client, _)| *client).collect::<Vec<_>>() {
            let secs = SILENCE_MAX.0 / 1_000_000;
            let reason = format!(
                "the server received nothing from your client for {secs} seconds; check your \
                 network and join again"
            );
            self.close(client, &reason, true);
        }
    }

    fn handle_hello(&mut self, now: LocalTime, client: ClientId, hello: Hello) {
        if let Err(reason) = self.check_games(&hello.games) {
            return self.close(client, &reason, false);
        }
        let seats = self.host.config.players_max.min(PLAYERS_MAX);
        if self.members.len() >= usize::from(seats) {
            let reason =
                format!("the server is full ({seats} of {seats} seats taken); try again later");
            return self.close(client, &reason, true);
        }
        let people =
            self.members.values().map(|seated| (seated.member.player, &*seated.member.name));
        let bots = self.bots.iter().map(|(player, seat)| (*player, &*seat.name));
        let taken = people.chain(bots);
        let next = &mut self.host.next_player;
        let player = free_seat(taken.clone().map(|(player, _)| player), next);
        let wanted = clean_name(&hello.name).unwrap_or_else(|| "Player".into());
        let name = free_name(taken.map(|(_, name)| name), wanted);
        let offset = Offset(self.host.server_time(now).0.saturating_sub(hello.sent.0));
        tracing::info!(client = client.0, %player, name, version = hello.version, "joined");
        let roster = self.roster();
        let times = (now, hello.sent);
        let (epoch, config) = (self.host.epoch_number, &self.host.config);
        let member = Member::new(player, name.clone(), hello.games, times, offset, epoch, config);
        self.seat(client, member);
        for message in roster {
            self.host.send(client, message);
        }
        self.broadcast(&ServerMessage::Joined { player, name, bot: false });
        self.world.snap();
    }

    /// Puts a client out and forgets it.
    fn close(&mut self, client: ClientId, reason: &str, retry: bool) {
        self.host.put_out(client, reason, retry);
        self.handle_lost(client, reason);
    }

    fn broadcast(&mut self, message: &ServerMessage) {
        for client in self.members.keys() {
            self.host.send(*client, message.clone());
        }
    }

    /// Lets a member of the game before in.
    fn seat(&mut self, client: ClientId, member: Member) {
        let player = member.player;
        let welcome = self.welcome(player, member.welcome_offset);
        self.host.send(client, welcome);
        let seated = Seated::new::<G>(member, self.host.number, self.host.config.rates);
        self.members.insert(client, seated);
        self.game.join(&mut self.world, player);
    }

    /// Checks that a build with these games can play this one; the error is the reason.
    fn check_games(&self, games: &[(String, u64)]) -> Result<(), String> {
        match games.iter().find(|(name, _)| name == G::NAME) {
            Some((_, hash)) if *hash == game_hash::<G>() => Ok(()),
            Some(_) => Err(format!(
                "your client's rules of {} differ from this server's; use the server's version",
                G::NAME
            )),
            None => Err(format!(
                "this server plays {}, which your client does not have; use a client that has it",
                G::NAME
            )),
        }
    }

    fn welcome(&self, player: PlayerId, offset: Offset) -> ServerMessage {
        let Host { ref config, number, epoch_number, .. } = self.host;
        ServerMessage::Welcome(Welcome {
            server: config.name.clone(),
            game: G::NAME.into(),
            number,
            seed: config.map_seed.wrapping_add(u64::from(number)),
            rates: config.rates,
            player,
            tick: self.world.tick,
            offset,
            epoch: epoch_number,
            unix_micros: config.unix_micros,
        })
    }

    fn roster(&self) -> Vec<ServerMessage> {
        let people = self.members.values().map(|s| (s.member.player, s.member.name.clone(), false));
        let bots = self.bots.iter().map(|(player, seat)| (*player, seat.name.clone(), true));
        let joined = |(player, name, bot)| ServerMessage::Joined { player, name, bot };
        people.chain(bots).map(joined).collect()
    }

    /// The answer to a query.
    pub fn status(&self) -> Status {
        Status {
            server: self.host.config.name.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            game: G::NAME.into(),
            players: self.members.len() as u16,
            players_max: self.host.config.players_max,
            bots: self.bots.len() as u16,
            tick: self.world.tick,
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
        if self.members.contains_key(&client) {
            let reason = match ClientMessage::parse(body) {
                Ok(_) => {
                    "protocol error: your client sent an unexpected message after the hello".into()
                }
                Err(error) => format!("protocol error: {error}"),
            };
            return self.close(client, &reason, false);
        }
        // The builds are compared before anything that another build might not be able to read.
        if let Ok((wire, version)) = ClientMessage::parse_hello_head(body)
            && wire != wire_hash()
        {
            let ours = env!("CARGO_PKG_VERSION");
            let reason = format!(
                "your version {version} and the server's version {ours} have different protocols; \
                 use the same version"
            );
            return self.close(client, &reason, false);
        }
        match ClientMessage::parse(body) {
            Ok(ClientMessage::Hello(hello)) => self.handle_hello(now, client, hello),
            Ok(ClientMessage::Query) => {
                let status = ServerMessage::Status(self.status());
                self.host.send(client, status);
                self.host.outputs.push_back(Output::Close { client, reason: "answered".into() });
            }
            Err(error) => self.close(client, &format!("protocol error: {error}"), false),
        }
    }

    fn handle_datagram(&mut self, now: LocalTime, client: ClientId, bytes: &[u8]) {
        let server_time = self.host.server_time(now);
        let (tick, rates) = (self.world.tick, self.host.config.rates);
        let Some(seated) = self.members.get_mut(&client) else { return };
        match seated.handle_datagram(bytes, now, server_time, tick, rates) {
            Ok(()) => {}
            Err(DatagramError::NeverSent(error)) => self.close(client, &error.to_string(), false),
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

    fn handle_lost(&mut self, client: ClientId, reason: &str) {
        let Some(Seated { member, .. }) = self.members.remove(&client) else { return };
        let Member { player, name, stats, .. } = member;
        tracing::info!(client = client.0, %player, name, reason, ?stats, "left");
        self.game.leave(&mut self.world, player);
        self.broadcast(&ServerMessage::Left { player });
    }

    fn handle_timeout(&mut self, now: LocalTime) {
        let rates = self.host.config.rates;
        let due = rates.tick_at(self.host.server_time(now));
        let behind = due.since(self.world.tick);
        if behind > CATCH_UP_TICKS_MAX {
            self.lose_time(now, behind - CATCH_UP_TICKS_MAX);
        }
        let due = rates.tick_at(self.host.server_time(now));
        let mut snapshot = false;
        while self.world.tick < due {
            self.step();
            if self.world.tick.0.is_multiple_of(rates.ticks_per_snapshot()) {
                self.history.push(self.world.tick, &self.world.entities);
                let sessions = self.members.values_mut();
                let told = sessions.map(|seated| (seated.member.player, &mut seated.interest));
                self.interest.update(&self.game, &self.world, told);
                snapshot = true;
            }
        }
        if snapshot {
            // A client that has not been sent the last one yet gets this one instead.
            self.due.clear();
            self.due.extend(self.members.keys());
            self.drop_silent(now);
        }
    }

    fn next_timeout(&self) -> LocalTime {
        let due = self.host.config.rates.time_of(self.world.tick.plus(1));
        self.host.epoch + Micros(due.0)
    }

    fn shutdown(&mut self, reason: &str) {
        for client in self.members.keys().copied().collect::<Vec<_>>() {
            self.close(client, reason, true);
        }
    }

    fn poll_output_unless(
        &mut self,
        now: LocalTime,
        behind: &dyn Fn(ClientId) -> bool,
    ) -> Option<Output> {
        while self.host.outputs.is_empty() {
            let client = self.due.pop_front()?;
            if behind(client) {
                continue;
            }
            let server_time = self.host.server_time(now);
            let Some(seated) = self.members.get_mut(&client) else { continue };
            let (game, encodings) = (&self.game, &mut self.encodings);
            let outputs = &mut self.host.outputs;
            seated.snapshot(game, encodings, &self.history, now, server_time, |bytes| {
                outputs.push_back(Output::Datagram { client, bytes });
            });
        }
        self.host.outputs.pop_front()
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
