//! The room: one world, its members, and what they are sent.
//!
//! A driver calls its `handle_*` methods, then drains [`AnyRoom::poll_output`], and calls
//! [`AnyRoom::handle_timeout`] at the time of [`AnyRoom::next_timeout`]. The room reads no clock
//! and does no I/O.
//!
//! Its parts have private state; the modules below make them work together:
//!
//! | part | contains |
//! |---|---|
//! | [`Host`] | what outlives a game: settings, clock, mailbox, counters of ids, drain, sleep |
//! | [`Simulation`] | the world and its history, under the rules |
//! | [`Seats`] | players, spectators, the queue for seats, bots |
//! | [`Broadcast`] | snapshots: interest, encodings, packing, the spectators' delay |
//! | [`Conversation`] | chat, votes, readiness |
//!
//! Clients are hostile. Only `seated/uplink.rs` decodes their datagrams, only `room/reception.rs`
//! their first messages, only `room/requests.rs` all later ones, and only `naming.rs` checks their
//! names.
//!
//! *Invariants:*
//! - Only the clock advances the world; no client can delay or hurry it.
//! - When time is short, snapshots are made less often, always of the newest tick and for all
//!   clients alike. Ticks and inputs take precedence, and nothing queues up.
//! - A room without people may pause. Its clock then stops too, and nothing is caught up.
//! - Clients are not trusted about state, time or identity. They only report their player's inputs,
//!   the packets that they received, and their clock, which affects only themselves.
//!
//! [`AnyRoom::poll_output`]: super::AnyRoom::poll_output
//! [`AnyRoom::handle_timeout`]: super::AnyRoom::handle_timeout
//! [`AnyRoom::next_timeout`]: super::AnyRoom::next_timeout

use crate::fields::{Entity, find_kind};
use crate::game::{Game, Profile, World, assert_name};
use crate::ids::PlayerId;
use crate::limits::{BOTS_MAX, SILENCE_MAX};
use crate::motion::send_rule::SendRule;
use crate::random::Random;
use crate::replay::News;
use crate::time::{LocalTime, Micros, Tick};
use crate::wire::control::{ServerMessage, Status};
use crate::wire::disconnect::{Code, Disconnect};

use super::broadcast::Broadcast;
use super::config::RoomConfig;
use super::control::Event;
use super::conversation::Conversation;
use super::host::Host;
use super::member::Member;
use super::output::ClientId;
use super::people::MemberStats;
use super::rotation::{Rotation, Waiting};
use super::script::Script;
use super::seated::Part;
use super::seats::Seats;
use super::simulation::Simulation;

mod changes;
pub(super) mod checkpoint;
mod driven;
mod ghosts;
mod idle;
mod orders;
mod reception;
mod recording;
mod requests;
mod round;
mod screening;
mod sides;
mod sleep;
mod talk;
mod transferring;
mod voting;
mod watching;

/// One world and its members.
#[derive(Debug)]
pub struct Room<G: Game> {
    host: Host,
    simulation: Simulation<G>,
    seats: Seats<G>,
    broadcast: Broadcast<G>,
    conversation: Conversation,
    /// The recording that the room shows in place of playing.
    script: Option<Script>,
}

/// Players without a seat in the next game, with their goodbyes.
type Lost = Vec<(PlayerId, Disconnect)>;

impl<G: Game> Room<G> {
    /// Creates a room at tick 0, with its bots.
    pub fn new(config: RoomConfig) -> Self {
        Self::open(Rotation::new(config), &[])
    }

    /// Opens a room for the next game. Server time continues, and members keep seats, names and
    /// clocks. Members whose build lacks the game, or for whom it has no seat, are disconnected.
    /// `setup` configures its rules, see [`Kit::configure`](crate::game::Kit::configure); if it is
    /// empty or cannot be read, the default applies.
    pub fn open(rotation: Rotation, setup: &[u8]) -> Self {
        const { assert!(G::SEATS_MAX > BOTS_MAX, "a game needs more seats than bots") };
        const { assert_name::<G>() };
        let Rotation { host, conversation, tick, waiting } = rotation;
        let Waiting { members, watchers, bots } = waiting;
        let config = host.config();
        let seed = config.seed.wrapping_add(u64::from(host.number()));
        let mut room = Self {
            simulation: Simulation::new(config, host.number(), tick, setup),
            seats: Seats::new(Random::new(seed ^ 0xb07)),
            broadcast: Broadcast::new(config, tick),
            conversation,
            script: None,
            host,
        };
        room.host.push_event(Event::Game { name: G::NAME });
        for (kind, rule) in room.host.settings().send.clone() {
            if let Ok(kind) = find_kind(G::Entity::kinds(), &kind) {
                room.send_by(kind, rule);
            }
        }
        let left_out = room.open_to_bots(bots, members.len());
        let mut lost = room.open_to_players(members);
        for player in left_out {
            room.broadcast(&ServerMessage::Left { player, code: Code::Left });
        }
        lost.extend(room.open_to_watchers(watchers));
        for (player, Disconnect { code, text: reason, .. }) in lost {
            room.broadcast(&ServerMessage::Left { player, code });
            room.host.push_event(Event::Left { player, code, reason });
        }
        room.drop_vote();
        room.send_house();
        room.simulation.snap();
        room.record();
        room
    }

    /// Seats the bots of the previous game in seats that people leave free. Returns the remaining
    /// ones.
    fn open_to_bots(&mut self, bots: Vec<(PlayerId, String)>, people: usize) -> Vec<PlayerId> {
        // People come first; bots get the remaining seats.
        let left = usize::from(G::SEATS_MAX).saturating_sub(people);
        let mut bots = bots.into_iter();
        for (player, name) in bots.by_ref().take(left) {
            self.add_bot(player, name);
        }
        bots.map(|(player, _)| player).collect()
    }

    /// Seats the players of the previous game.
    fn open_to_players(&mut self, mut members: Vec<(ClientId, Member)>) -> Lost {
        members.iter_mut().for_each(|(_, member)| member.attendance_mut().set_ready(false));
        // Players who are away give way to those who are present. Staff have their own seats.
        members.sort_by_key(|(_, member)| (!member.is_here(), member.person().is_staff()));
        let mut lost = Vec::new();
        for (client, member) in members {
            let has_seat = self.seats.players().len() < self.seats_for(member.person().is_staff());
            let admitted = self.check_games(&member).and_then(|()| {
                let text = || {
                    let seats = self.seats_max();
                    format!("{} has {seats} seats, and all are taken", G::NAME)
                };
                has_seat.then_some(()).ok_or_else(|| Disconnect::new(Code::Full, text()))
            });
            match admitted {
                Ok(()) => {
                    self.welcome(client, &member, false);
                    self.seat(client, member);
                }
                Err(goodbye) => lost.push(self.turn_away(client, &member, goodbye)),
            }
        }
        lost
    }

    /// Lets the spectators of the previous game watch this one.
    fn open_to_watchers(&mut self, watchers: Vec<(ClientId, Member)>) -> Lost {
        let mut lost = Vec::new();
        for (client, mut member) in watchers {
            member.timing_mut().set_delay(self.broadcast.gallery().delay());
            match self.check_games(&member) {
                Ok(()) => {
                    self.welcome_watcher(client, &member);
                    self.seats.take(&self.host, client, member, Part::Watch);
                }
                Err(goodbye) => lost.push(self.turn_away(client, &member, goodbye)),
            }
        }
        lost
    }

    /// Says goodbye to a member who gets no seat in this game.
    fn turn_away(
        &mut self,
        client: ClientId,
        member: &Member,
        goodbye: Disconnect,
    ) -> (PlayerId, Disconnect) {
        if member.is_here() {
            self.host.put_out(client, goodbye.clone());
        }
        (member.person().player(), goodbye)
    }

    /// Adds a bot to the game.
    fn add_bot(&mut self, player: PlayerId, name: String) {
        self.simulation.join(player, Profile { name: name.clone(), key: None });
        self.seats.add_bot(player, name, self.host.settings().strength);
    }

    /// Sets the rule by which a kind is sent.
    fn send_by(&mut self, kind: u8, rule: SendRule) {
        self.broadcast.set_rule(kind, rule);
        let kind = G::Entity::kinds()[usize::from(kind)].name;
        tracing::info!(name: "send_rule", kind, %rule, "sending");
        self.host.push_event(Event::Sending { kind, rule });
    }

    /// Sends a message to all who are present.
    fn broadcast(&mut self, message: &ServerMessage) {
        self.send_to_players(message);
        self.send_to_watchers(message);
    }

    /// Sends a message to all players.
    fn send_to_players(&mut self, message: &ServerMessage) {
        self.record_message(message);
        for (client, _) in self.seats.players().present() {
            self.host.send(client, message.clone());
        }
    }

    /// Sends a message to all spectators.
    fn send_to_watchers(&mut self, message: &ServerMessage) {
        for (client, _) in self.seats.watchers().present() {
            self.host.send(client, message.clone());
        }
    }

    /// Moves the epoch after a stall that is too long to catch up: the world's clock stood still.
    fn lose_time(&mut self, now: LocalTime, ticks: u64) {
        let lost = self.stand_still(now, ticks);
        tracing::warn!(
            name: "server_stalled",
            %lost,
            ticks,
            "the server stalled; ticks were skipped"
        );
    }

    /// Moves the epoch by the last `ticks` ticks, which are not run. Returns their duration.
    fn stand_still(&mut self, now: LocalTime, ticks: u64) -> Micros {
        let lost = self.host.stand_still(now, ticks);
        let (epoch, unix_micros) = (self.host.epoch(), self.host.config().unix_micros);
        self.seats.everybody_mut().for_each(|seated| seated.handle_epoch(epoch));
        self.broadcast(&ServerMessage::Epoch { epoch, unix_micros });
        lost
    }

    /// Runs the next tick, or shows that of a recording, and sends the events that the rules
    /// emitted.
    fn step(&mut self) {
        self.seats.refill();
        if self.script.is_some() {
            return self.step_script();
        }
        let Self { host, simulation, seats, .. } = self;
        let played = simulation.rounds_played();
        let rewind_most = simulation.rewind_most();
        simulation.step(host.rates(), |game, world, inputs| {
            seats.steer_bots(game, world, inputs);
            seats.collect(host.rates(), world.tick.plus(1), rewind_most, inputs);
        });
        self.send_events();
        self.send_late_events();
        self.report_rounds(played);
        self.send_runs();
        self.broadcast.handle_tick();
    }

    /// Frees the seats of players who stay away, and disconnects silent ones.
    fn drop_silent(&mut self, now: LocalTime) {
        // A spectator has nothing to acknowledge until the first states are as old as the delay.
        let delay = self.broadcast.gallery().delay();
        let patience = |client| match self.seats.watchers().has(client) {
            true => SILENCE_MAX + delay,
            false => SILENCE_MAX,
        };
        let everybody = self.seats.everybody();
        let late = everybody.filter(|(client, member)| match member.attendance().away_until() {
            Some(until) => now >= until,
            None => now - member.timing().heard_at() > patience(*client),
        });
        let late = late.map(|(client, member)| (client, member.is_here()));
        for (client, is_here) in late.collect::<Vec<_>>() {
            if !is_here {
                self.free(client, Code::Lost, "the connection was lost");
                continue;
            }
            let secs = SILENCE_MAX.0 / 1_000_000;
            let text = format!(
                "the server received nothing from your client for {secs} seconds; check your \
                 network and join again"
            );
            self.host.put_out(client, Disconnect::new(Code::Silent, &text));
            self.lose(now, client, &text);
        }
    }

    /// Sends the game's events.
    fn send_events(&mut self) {
        let has_watchers = !self.seats.watchers().is_empty();
        while let Some((to, bytes)) = self.simulation.poll_event() {
            if let Some(player) = to {
                let mut present = self.seats.players().present();
                let found = present.find(|(_, member)| member.person().player() == player);
                if let Some((client, _)) = found {
                    self.host.send(client, ServerMessage::Game(bytes));
                }
                continue;
            }
            let tick = self.simulation.tick();
            self.broadcast.gallery_mut().keep_event(tick, &bytes, has_watchers);
            self.send_to_players(&ServerMessage::Game(bytes));
        }
    }

    /// Sends spectators the game's events that are old enough.
    fn send_late_events(&mut self) {
        let tick = self.simulation.tick();
        while let Some(event) = self.broadcast.gallery_mut().poll_event(tick) {
            self.send_to_watchers(&ServerMessage::Game(event));
        }
    }

    /// Reports to the host what the rules reported, and that a round is over.
    fn report_rounds(&mut self, played_before: u32) {
        while let Some(report) = self.simulation.poll_report() {
            let run = self.simulation.take_run(&report);
            let (name, player, value) = report;
            self.simulation.note_news(|| Some(News::Report(name.to_owned(), player, value)));
            self.host.report(Event::Report { name, player, value, run });
        }
        let played = self.simulation.rounds_played();
        if played > played_before {
            self.simulation.note_news(|| Some(News::Round(played)));
            self.host.push_event(Event::Round { played });
        }
        self.restart_recording(played > played_before);
    }

    /// Returns the answer to a query.
    pub fn status(&self) -> Status {
        let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        Status {
            server: self.host.settings().name.clone(),
            version: self.host.config().version.into(),
            game: G::NAME.into(),
            players: count(self.seats.players().present().count()),
            players_max: self.seats_max(),
            bots: count(self.seats.bot_count()),
            tick: self.simulation.tick(),
            rooms: Vec::new(),
            watchers: count(self.seats.watchers().present().count()),
        }
    }

    /// Returns the world.
    pub fn world(&self) -> &World<G> {
        self.simulation.world()
    }

    /// Returns the world's tick.
    pub fn tick(&self) -> Tick {
        self.simulation.tick()
    }

    /// Returns the number of seats that people have, including seats kept for them.
    pub fn seats_taken(&self) -> usize {
        self.seats.players().len()
    }

    /// Whether a client's connection is lost and its seat is kept.
    pub fn is_away(&self, client: ClientId) -> bool {
        self.seats.member(client).is_some_and(|member| !member.is_here())
    }

    /// Returns the counters of a client's session.
    pub fn member_stats(&self, client: ClientId) -> Option<MemberStats> {
        self.seats.member(client).map(Member::stats)
    }
}
