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
//! - A room without people may stand still; its clock then stands still too, and nothing is caught
//!   up.
//! - No client is believed about state, time or identity. It states its player's inputs, the
//!   packets that it received, and its clock, which affects only itself.

use std::collections::{BTreeMap, VecDeque};

use crate::fields::{Entity, Record, find_kind};
use crate::game::{Bot, Game, Inputs, Late, Profile, World, assert_name, new_bot};
use crate::ids::PlayerId;
use crate::limits::{BOTS_MAX, ROOM_EVENTS_MAX, SILENCE_MAX};
use crate::motion::send_rule::SendRule;
use crate::random::Random;
use crate::rewind::{Past, Rewind};
use crate::snapshot::encodings::Encodings;
use crate::snapshot::history::History;
use crate::snapshot::sender::Begun;
use crate::time::{LocalTime, Micros, Tick};
use crate::wire::control::{ServerMessage, Status};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::protocol::game_hash;
use crate::wire::state::Codec;

use super::any::AnyRoom as _;
use super::config::RoomConfig;
use super::control::Event;
use super::gallery::Gallery;
use super::interest::Interest;
use super::member::Seated;
use super::output::ClientId;
use super::people::MemberStats;
use super::presence::Assembly;
use super::rotation::{Host, Rotation};

mod assembly;
mod changes;
pub(super) mod checkpoint;
mod driven;
mod idle;
mod reception;
mod requests;
mod sleep;
mod talk;
mod watching;

#[derive(Debug)]
pub(super) struct BotSeat<G: Game> {
    pub(super) name: String,
    pub(super) bot: Box<dyn Bot<G>>,
    pub(super) random: Random,
}

/// One world and its members.
#[derive(Debug)]
pub struct Room<G: Game> {
    pub(super) host: Host,
    pub(super) game: G,
    pub(super) world: World<G>,
    pub(super) history: History,
    /// Hash of the rules, which is not cheap to make.
    pub(super) hash: u64,
    /// Configuration of the rules.
    pub(super) setup: Vec<u8>,
    pub(super) encodings: Encodings<G>,
    /// The same for clients with plain coding, from the first one on.
    pub(super) plain_encodings: Option<Encodings<G>>,
    pub(super) interest: Interest<G>,
    pub(super) members: BTreeMap<ClientId, Seated<G::Input>>,
    /// Those who watch, who are no members.
    pub(super) gallery: Gallery<G>,
    pub(super) bots: BTreeMap<PlayerId, BotSeat<G>>,
    /// Seeds of the bots' whims.
    bot_random: Random,
    /// Clients that have not got the newest snapshot yet.
    pub(super) due: VecDeque<ClientId>,
    /// First tick of which a snapshot is made, if everybody has got the one before.
    pub(super) next_snapshot: Tick,
    /// Some got theirs since the last tick.
    pub(super) has_packed: bool,
    /// Memory for those of whom the snapshot is packed.
    pub(super) begun: Vec<(ClientId, Begun)>,
    /// Knowledge of the people in it.
    pub(super) assembly: Assembly,
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
        const { assert_name::<G>() };
        let Rotation { host, tick, mut members, watchers, bots } = rotation;
        let config = &host.config;
        // A new game is a new world.
        let [seed, map_seed] =
            [config.seed, config.map_seed].map(|seed| seed.wrapping_add(u64::from(host.number)));
        if !(G::KIT.coding.tables)().are_of(<G::Entity as Entity>::KINDS) {
            tracing::warn!(
                name: "game_tables_stale",
                game = G::NAME,
                "the coding tables were trained on other records, so snapshots take more bytes; \
                 train them anew"
            );
        }
        let make = |setup: &[u8]| (G::KIT.configure)(config.rates, map_seed, setup);
        let (game, setup) = match make(setup) {
            Ok(game) => (game, setup.to_vec()),
            Err(error) => {
                tracing::error!(
                    name: "game_setup_invalid",
                    game = G::NAME,
                    %error,
                    "the configuration is not of this game"
                );
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
            hash: game_hash::<G>(),
            setup,
            encodings: Encodings::new(Codec::new(config.rates)),
            plain_encodings: None,
            interest: Interest::default(),
            members: BTreeMap::new(),
            gallery: Gallery::new(&host),
            bots: BTreeMap::new(),
            bot_random: Random::new(seed ^ 0xb07),
            due: VecDeque::new(),
            next_snapshot: config.rates.next_snapshot(tick),
            has_packed: false,
            begun: Vec::new(),
            assembly: Assembly::default(),
            inputs: Inputs::default(),
            host,
        };
        room.host.tell(Event::Game { name: G::NAME });
        for (kind, rule) in room.host.config.send.clone() {
            if let Ok(kind) = find_kind(G::Entity::KINDS, &kind) {
                room.send_by(kind, rule);
            }
        }
        // People come first; bots have what is left.
        let left = usize::from(G::SEATS_MAX).saturating_sub(members.len());
        let (bots, too_many) = bots.split_at(bots.len().min(left));
        for (player, name) in bots.iter().cloned() {
            room.sit_down(player, name);
            room.game.join(&mut room.world, player);
        }
        let mut lost = Vec::new();
        members.iter_mut().for_each(|(_, member)| member.is_ready = false);
        // Who is away gives way to who is there, and the host's people have seats of their own.
        members.sort_by_key(|(_, member)| (member.away_until.is_some(), member.is_staff));
        for (client, member) in members {
            let has_game = room.check_games(&member.games, member.plain);
            let seats = room.seats_max();
            let has_seat = (room.members.len() < room.seats_for(member.is_staff))
                .then_some(())
                .ok_or_else(|| {
                    let text = format!("{} has {seats} seats, and all are taken", G::NAME);
                    Disconnect::new(Code::Full, text)
                });
            match has_game.and(has_seat) {
                Ok(()) => {
                    room.welcome(client, &member, false);
                    room.seat(client, member);
                }
                Err(goodbye) => {
                    lost.push((member.player, goodbye.clone()));
                    if member.away_until.is_none() {
                        room.host.put_out(client, goodbye);
                    }
                }
            }
        }
        for (player, _) in too_many {
            room.broadcast(&ServerMessage::Left { player: *player, code: Code::Left });
        }
        room.open_gallery(watchers, &mut lost);
        for (player, Disconnect { code, text: reason, .. }) in lost {
            room.broadcast(&ServerMessage::Left { player, code });
            room.host.tell(Event::Left { player, code, reason });
        }
        room.drop_vote();
        room.tell_house();
        room.world.snap();
        room
    }

    /// Gives a bot a seat.
    pub(super) fn sit_down(&mut self, player: PlayerId, name: String) {
        self.world.set_profile(player, Some(Profile { name: name.clone(), key: None }));
        let random = self.bot_random.fork();
        let mut bot = new_bot::<G>();
        bot.set_strength(self.host.config.strength);
        self.bots.insert(player, BotSeat { name, bot, random });
    }

    /// Sends a kind by another rule from now on.
    pub(super) fn send_by(&mut self, kind: u8, rule: SendRule) {
        self.encodings.set_rule(kind, rule);
        self.gallery.send_by(kind, rule);
        let kind = G::Entity::KINDS[usize::from(kind)].name;
        tracing::info!(name: "send_rule", kind, %rule, "sending");
        self.host.tell(Event::Sending { kind, rule });
    }

    /// Moves the epoch after a stall that is too long to catch up: the world's clock stood still.
    pub(super) fn lose_time(&mut self, now: LocalTime, ticks: u64) {
        let lost = self.stand_still(now, ticks);
        tracing::warn!(
            name: "server_stalled",
            %lost,
            ticks,
            "the server stalled; the world's clock stood still"
        );
    }

    /// Moves the epoch by the last `ticks` ticks, which do not run. Returns their time.
    pub(super) fn stand_still(&mut self, now: LocalTime, ticks: u64) -> Micros {
        let host = &mut self.host;
        let rates = host.config.rates;
        let due = rates.tick_at(host.server_time(now));
        let lost = rates.time_of(due) - rates.time_of(due.minus(ticks));
        host.epoch = host.epoch + lost;
        host.epoch_number = host.epoch_number.wrapping_add(1);
        host.config.unix_micros = host.config.unix_micros.saturating_add(lost.0);
        let (epoch, unix_micros) = (host.epoch_number, host.config.unix_micros);
        for seated in self.members.values_mut().chain(self.gallery.watchers.values_mut()) {
            seated.handle_epoch(epoch);
        }
        self.broadcast(&ServerMessage::Epoch { epoch, unix_micros });
        lost
    }

    pub(super) fn step(&mut self) {
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
        self.gallery.watchers.values_mut().for_each(Seated::refill);
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
    pub(super) fn drop_silent(&mut self, now: LocalTime) {
        // A watcher gets nothing to acknowledge until something is old enough.
        let patience = |client| match self.gallery.watchers.contains_key(&client) {
            true => SILENCE_MAX + self.gallery.delay,
            false => SILENCE_MAX,
        };
        let late = self.everybody().filter(|(client, member)| match member.away_until {
            Some(until) => now >= until,
            None => now - member.heard_at > patience(*client),
        });
        let late = late.map(|(client, member)| (client, member.away_until));
        for (client, away) in late.collect::<Vec<_>>() {
            if away.is_some() {
                self.free(client, Code::Lost, "the connection was lost");
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
    pub(super) fn send_events(&mut self) {
        while let Some((to, bytes)) = self.world.outbox.pop() {
            let message = ServerMessage::Game(bytes);
            match to {
                None => {
                    if let ServerMessage::Game(event) = &message {
                        self.gallery.keep_event(self.world.tick, event);
                    }
                    self.tell_players(&message);
                }
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
    pub(super) fn tell_of_rounds(&mut self, played_before: u32) {
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
            watchers: self.gallery.present().count() as u16,
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
        self.everybody().any(|(it, member)| it == client && member.away_until.is_some())
    }

    /// Counts of a client's session.
    pub fn member_stats(&self, client: ClientId) -> Option<MemberStats> {
        self.everybody().find(|(it, _)| *it == client).map(|(_, member)| member.stats)
    }
}
