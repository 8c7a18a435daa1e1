//! The room: the one true world, who is in it, and what they are told of it.
//!
//! Feed it with `handle_*`, then drain [`Room::poll_output`]; call [`Room::handle_timeout`] when
//! the time of [`Room::next_timeout`] has come. It reads no clock and does no I/O.
//!
//! *Invariants:*
//! - The world steps by the clock alone; no client can hold it up or hurry it.
//! - Nothing that a client says is believed about state, time or identity: it says what its player
//!   presses, what it received, and what its clock shows, and the last only affects itself.

use std::collections::{BTreeMap, VecDeque};

use crate::fields::Record;
use crate::game::{Bot, Game, Inputs, Late, World, new_bot};
use crate::ids::PlayerId;
use crate::limits::{
    CATCH_UP_TICKS_MAX, DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MIN, PLAYERS_MAX, SILENCE_MAX,
    TEXT_BYTES_MAX,
};
use crate::random::Random;
use crate::rewind::{Past, Rewind, Rewound};
use crate::snapshot::encodings::Encodings;
use crate::snapshot::history::History;
use crate::time::{LocalTime, Micros, Offset, ServerTime, Tick};
use crate::wire::control::{
    ClientMessage, Hello, ServerMessage, Status, Welcome, clean_name, clip,
};
use crate::wire::protocol::{game_hash, wire_hash};
use crate::wire::state::Codec;

use super::config::RoomConfig;
use super::interest::Interest;
use super::member::{DatagramError, Member, MemberStats, Seated};
use super::output::{ClientId, Output};
use super::rotation::Rotation;
use super::seating::{free_name, free_seat};

#[derive(Debug)]
struct BotSeat<G: Game> {
    name: String,
    bot: Box<dyn Bot<G>>,
    random: Random,
}

/// The room.
#[derive(Debug)]
pub struct Room<G: Game> {
    config: RoomConfig,
    /// Which of the server's games this is, modulo 256.
    number: u8,
    game: G,
    world: World<G>,
    history: History,
    encodings: Encodings<G>,
    interest: Interest<G>,
    /// When tick 0 would have been, had no time been lost.
    epoch: LocalTime,
    /// How often it moved, modulo 256.
    epoch_number: u8,
    members: BTreeMap<ClientId, Seated<G::Input>>,
    bots: BTreeMap<PlayerId, BotSeat<G>>,
    next_player: PlayerId,
    outputs: VecDeque<Output>,
    /// Who is to get the newest snapshot.
    due: VecDeque<ClientId>,
    /// What everybody does in this tick; kept for its memory.
    inputs: Inputs<G::Input>,
}

impl<G: Game> Room<G> {
    /// A room at tick 0, with its bots in it.
    pub fn new(config: RoomConfig) -> Self {
        Self::open(Rotation::new(config))
    }

    /// A room with those in it who wait in a lobby: server time goes on, and so do seats, names and clocks.
    /// Whoever's build does not have the game is put out.
    pub fn open(rotation: Rotation) -> Self {
        let Rotation {
            config,
            number,
            tick,
            epoch,
            epoch_number,
            members,
            next_player,
            outputs,
            ..
        } = rotation;
        // A new game is a new world.
        let [seed, map_seed] =
            [config.seed, config.map_seed].map(|seed| seed.wrapping_add(u64::from(number)));
        let game = G::new(config.rates, map_seed);
        let mut world = World::new(seed);
        world.tick = tick;
        let most = config.rewind.unwrap_or(G::REWIND.most);
        let favour = config.favour.unwrap_or(G::REWIND.favour);
        world.past = Past::new(config.rates, Rewind { most, favour });
        game.populate(&mut world);
        let mut room = Self {
            number,
            epoch,
            epoch_number,
            game,
            world,
            history: History::default(),
            encodings: Encodings::new(Codec::new(config.rates)),
            interest: Interest::default(),
            members: BTreeMap::new(),
            bots: BTreeMap::new(),
            next_player,
            outputs,
            due: VecDeque::new(),
            inputs: Inputs::default(),
            config,
        };
        let mut random = Random::new(seed ^ 0xb07);
        for (player, name) in rotation.bots {
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
            room.put_out(client, &reason.unwrap_or_default(), false);
            // The others know of the seat.
            room.broadcast(&ServerMessage::Left { player: member.player });
        }
        room.world.snap();
        room
    }

    /// Ends the game; those who are in it wait for the next.
    pub fn close_game(self) -> Rotation {
        let members =
            self.members.into_iter().map(|(client, seated)| (client, seated.into_member()));
        Rotation {
            config: self.config,
            number: self.number.wrapping_add(1),
            tick: self.world.tick,
            epoch: self.epoch,
            epoch_number: self.epoch_number,
            members: members.collect(),
            bots: self.bots.into_iter().map(|(player, seat)| (player, seat.name)).collect(),
            next_player: self.next_player,
            outputs: self.outputs,
        }
    }

    /// Whether as many rounds were played as the game is to last.
    pub fn is_over(&self) -> bool {
        self.config.rounds.is_some_and(|rounds| (G::KIT.rounds_played)(&self.world) >= rounds)
    }

    fn server_time(&self, now: LocalTime) -> ServerTime {
        ServerTime((now - self.epoch).0)
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due next.
    pub fn next_timeout(&self) -> LocalTime {
        let due = self.config.rates.time_of(self.world.tick.plus(1));
        self.epoch + Micros(due.0)
    }

    /// Runs the ticks that are due; everybody then gets the newest snapshot, if one is due.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        let rates = self.config.rates;
        let due = rates.tick_at(self.server_time(now));
        let behind = due.since(self.world.tick);
        if behind > CATCH_UP_TICKS_MAX {
            self.lose_time(now, behind - CATCH_UP_TICKS_MAX);
        }
        let due = rates.tick_at(self.server_time(now));
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
            // Whoever has not been sent the last one yet gets this one instead.
            self.due.clear();
            self.due.extend(self.members.keys());
            self.drop_silent(now);
        }
    }

    /// The server stalled for longer than it may catch up: the world's clock stands still for the
    /// rest, so that its time remains ticks times step.
    fn lose_time(&mut self, now: LocalTime, ticks: u64) {
        let rates = self.config.rates;
        let due = rates.tick_at(self.server_time(now));
        let lost = rates.time_of(due) - rates.time_of(due.minus(ticks));
        tracing::warn!(%lost, ticks, "the server stalled; the world's clock stood still");
        self.epoch = self.epoch + lost;
        self.epoch_number = self.epoch_number.wrapping_add(1);
        self.config.unix_micros = self.config.unix_micros.saturating_add(lost.0);
        for seated in self.members.values_mut() {
            seated.handle_epoch(self.epoch_number);
        }
        let unix_micros = self.config.unix_micros;
        self.broadcast(&ServerMessage::Epoch { epoch: self.epoch_number, unix_micros });
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
            seated.take::<G>(self.config.rates, tick, most, inputs);
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
            self.close(client, "nothing was heard from you for 15 seconds", true);
        }
    }

    /// A control message came: the body of its frame. The first must be a hello or a query.
    pub fn handle_control(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        if self.members.contains_key(&client) {
            match ClientMessage::parse(body) {
                Ok(_) => self.close(client, "you have said all there is to say", false),
                Err(error) => self.close(client, &error.to_string(), false),
            }
            return;
        }
        // Whether the builds match comes before everything that might not be readable otherwise.
        if let Ok((wire, version)) = ClientMessage::parse_hello_head(body)
            && wire != wire_hash()
        {
            let ours = env!("CARGO_PKG_VERSION");
            let reason = format!(
                "your version {version} and the server's version {ours} speak different protocols; \
                 use the same version"
            );
            self.close(client, &reason, false);
            return;
        }
        match ClientMessage::parse(body) {
            Ok(ClientMessage::Hello(hello)) => self.handle_hello(now, client, hello),
            Ok(ClientMessage::Query) => {
                let status = ServerMessage::Status(self.status());
                self.outputs.push_back(Output::Control { client, message: status });
                self.outputs.push_back(Output::Close { client, reason: "answered".into() });
            }
            Err(error) => self.close(client, &error.to_string(), false),
        }
    }

    fn handle_hello(&mut self, now: LocalTime, client: ClientId, hello: Hello) {
        if let Err(reason) = self.check_games(&hello.games) {
            return self.close(client, &reason, false);
        }
        if self.members.len() >= usize::from(self.config.players_max.min(PLAYERS_MAX)) {
            let reason = format!("the server is full ({} players)", self.members.len());
            return self.close(client, &reason, true);
        }
        let people =
            self.members.values().map(|seated| (seated.member.player, &*seated.member.name));
        let bots = self.bots.iter().map(|(player, seat)| (*player, &*seat.name));
        let taken = people.chain(bots);
        let player = free_seat(taken.clone().map(|(player, _)| player), &mut self.next_player);
        let wanted = clean_name(&hello.name).unwrap_or_else(|| "Player".into());
        let name = free_name(taken.map(|(_, name)| name), wanted);
        let offset = Offset(self.server_time(now).0.saturating_sub(hello.sent.0));
        tracing::info!(client = client.0, %player, name, version = hello.version, "joined");
        let welcome = self.welcome(player, offset);
        self.outputs.push_back(Output::Control { client, message: welcome });
        for message in self.roster() {
            self.outputs.push_back(Output::Control { client, message });
        }
        let member = Member::new(
            player,
            name.clone(),
            hello.games,
            (now, hello.sent),
            offset,
            self.epoch_number,
            &self.config,
        );
        let seated = Seated::new::<G>(member, self.number, self.config.rates);
        self.members.insert(client, seated);
        self.broadcast(&ServerMessage::Joined { player, name, bot: false });
        self.game.join(&mut self.world, player);
        self.world.snap();
    }

    /// A datagram came. A bad one changes nothing; one that no honest client sends ends the
    /// seated.
    pub fn handle_datagram(&mut self, now: LocalTime, client: ClientId, bytes: &[u8]) {
        let server_time = self.server_time(now);
        let (tick, rates) = (self.world.tick, self.config.rates);
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

    /// The client's path carries datagrams of at most so many bytes.
    pub fn handle_path(&mut self, client: ClientId, bytes_max: usize) {
        if let Some(seated) = self.members.get_mut(&client) {
            seated.member.datagram_bytes = bytes_max.clamp(DATAGRAM_BYTES_MIN, DATAGRAM_BYTES_MAX);
        }
    }

    /// The connection is gone; `reason` is for the log.
    pub fn handle_lost(&mut self, client: ClientId, reason: &str) {
        let Some(seated) = self.members.remove(&client) else { return };
        let stats = seated.member.stats;
        tracing::info!(client = client.0, player = %seated.member.player, name = seated.member.name, reason, ?stats, "left");
        self.game.leave(&mut self.world, seated.member.player);
        self.broadcast(&ServerMessage::Left { player: seated.member.player });
    }

    /// Tells a client why it is put out or refused, and forgets it.
    fn close(&mut self, client: ClientId, reason: &str, retry: bool) {
        self.put_out(client, reason, retry);
        self.handle_lost(client, reason);
    }

    fn put_out(&mut self, client: ClientId, reason: &str, retry: bool) {
        tracing::debug!(client = client.0, reason, "closing");
        let reason = clip(reason, TEXT_BYTES_MAX).to_owned();
        let message = ServerMessage::Closed { reason: reason.clone(), retry };
        self.outputs.push_back(Output::Control { client, message });
        self.outputs.push_back(Output::Close { client, reason });
    }

    /// Tells everybody why the server ends.
    pub fn shutdown(&mut self, reason: &str) {
        for client in self.members.keys().copied().collect::<Vec<_>>() {
            self.close(client, reason, true);
        }
    }

    fn broadcast(&mut self, message: &ServerMessage) {
        for client in self.members.keys() {
            let message = message.clone();
            self.outputs.push_back(Output::Control { client: *client, message });
        }
    }

    /// Lets somebody in who was in the game before.
    fn seat(&mut self, client: ClientId, member: Member) {
        let (player, offset) = (member.player, member.welcome_offset);
        let welcome = self.welcome(player, offset);
        self.outputs.push_back(Output::Control { client, message: welcome });
        let seated = Seated::new::<G>(member, self.number, self.config.rates);
        self.members.insert(client, seated);
        self.game.join(&mut self.world, player);
    }

    /// Whether a build that knows these games can play this one.
    fn check_games(&self, games: &[(String, u64)]) -> Result<(), String> {
        match games.iter().find(|(name, _)| name == G::NAME) {
            Some((_, hash)) if *hash == game_hash::<G>() => Ok(()),
            Some(_) => Err(format!("your build's rules of {} differ from this server's", G::NAME)),
            None => Err(format!("this server plays {}, which your build lacks", G::NAME)),
        }
    }

    fn welcome(&self, player: PlayerId, offset: Offset) -> ServerMessage {
        ServerMessage::Welcome(Welcome {
            server: self.config.name.clone(),
            game: G::NAME.into(),
            number: self.number,
            seed: self.config.map_seed.wrapping_add(u64::from(self.number)),
            rates: self.config.rates,
            player,
            tick: self.world.tick,
            offset,
            epoch: self.epoch_number,
            unix_micros: self.config.unix_micros,
        })
    }

    fn roster(&self) -> Vec<ServerMessage> {
        let people = self.members.values().map(|s| (s.member.player, s.member.name.clone(), false));
        let bots = self.bots.iter().map(|(player, seat)| (*player, seat.name.clone(), true));
        let joined = |(player, name, bot)| ServerMessage::Joined { player, name, bot };
        people.chain(bots).map(joined).collect()
    }

    /// The next thing to do. A client's snapshot is packed here, so that the time that is stamped on
    /// it is the time at which it leaves, however long the tick and the other snapshots took.
    pub fn poll_output(&mut self, now: LocalTime) -> Option<Output> {
        self.poll_output_unless(now, |_| false)
    }

    /// The same, but a client that is `behind` goes without its snapshot. That is asked before it is
    /// packed: a packet that has a number but is never sent would look lost to the client, and what
    /// is reported but once, as the worst input, would be lost indeed.
    pub fn poll_output_unless(
        &mut self,
        now: LocalTime,
        behind: impl Fn(ClientId) -> bool,
    ) -> Option<Output> {
        while self.outputs.is_empty() {
            let client = self.due.pop_front()?;
            if behind(client) {
                continue;
            }
            let server_time = self.server_time(now);
            let Some(seated) = self.members.get_mut(&client) else { continue };
            let (game, encodings) = (&self.game, &mut self.encodings);
            let outputs = &mut self.outputs;
            seated.snapshot(game, encodings, &self.history, now, server_time, |bytes| {
                outputs.push_back(Output::Datagram { client, bytes });
            });
        }
        self.outputs.pop_front()
    }

    /// The next shot that was tested against the past, for whoever wants to know; of those that nobody asked
    /// for only the last are kept.
    pub fn poll_rewound(&mut self) -> Option<Rewound> {
        self.world.past.poll_rewound()
    }

    /// How the server is.
    pub fn status(&self) -> Status {
        Status {
            server: self.config.name.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            game: G::NAME.into(),
            players: self.members.len() as u16,
            players_max: self.config.players_max,
            bots: self.bots.len() as u16,
            tick: self.world.tick,
        }
    }

    /// The world, to look at.
    pub fn world(&self) -> &World<G> {
        &self.world
    }

    /// The world's tick.
    pub fn tick(&self) -> Tick {
        self.world.tick
    }

    /// What was counted of a client.
    pub fn member_stats(&self, client: ClientId) -> Option<MemberStats> {
        self.members.get(&client).map(|seated| seated.member.stats)
    }
}
