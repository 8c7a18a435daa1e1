//! A stay on a server, from the first hello to the last goodbye, however often the server is lost in
//! between and whatever games it plays.
//!
//! Call it in this order, as often as you like; it never blocks and never reads a clock:
//!
//! 1. `handle_*` with what the transport has: [`Session::handle_connected`],
//!    [`Session::handle_control`], [`Session::handle_datagram`], [`Session::handle_lost`], each
//!    stamped with the time at which it came; then [`Session::handle_timeout`] with the time now;
//! 2. [`Session::press`] (or [`Session::press_by`]) with what the player commands in each tick that is
//!    due;
//! 3. [`Session::poll_output`] for what the transport is to do;
//! 4. [`Session::poll_notice`] for what the player is to be told, and [`Session::view`] for what to
//!    draw.
//!
//! *Invariant:* all that a session does follows from what went in. [`Session::record`] takes that down,
//! and [`Session::feed`] feeds it back: the same pictures come out.

use std::collections::VecDeque;

use super::any::{AnyClient, Controller, downcast_mut, downcast_ref};
use super::common::Common;
use super::fed::Fed;
use super::game::{Client, View};
use super::recorder::Recorded;
use crate::clock::pll::LoopFilter;
use crate::fields::{Kind, Packed, Record};
use crate::game::Game;
use crate::games::Games;
use crate::limits::{FED_MAX, FIELDS_MAX, MOTION_MAX, NOTICES_MAX};
use crate::motion::choice::Choice;
use crate::presentation::presenter::Trace;
use crate::snapshot::store::Received;
use crate::time::{LocalTime, Micros, Rates, Tick};
use crate::wire::control::{ClientMessage, Hello, ServerMessage, Welcome, frame};
use crate::wire::protocol::wire_hash;

/// A server that does not answer the hello for so long is tried again later.
const HELLO_TIMEOUT: Micros = Micros::from_ms(4000);
/// No server rotates sooner than that; one that does would keep the client from playing.
const GAME_MIN: Micros = Micros::from_ms(1000);
/// A program that looks so seldom was suspended or stalled: what came meanwhile may not have been
/// handed on yet, so the silence counts anew.
const STALL: Micros = Micros::from_ms(1000);

/// What a session is told when it begins.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The games that this client knows.
    pub games: Games,
    /// The player's name; the server may add a number to it.
    pub name: String,
    /// The loop that keeps the clock in phase.
    pub filter: LoopFilter,
    /// A server from which nothing comes for so long is lost: 3 s by default, ninety snapshots at 30
    /// a second.
    pub silence_max: Micros,
}

impl SessionConfig {
    /// The defaults for a player of these games.
    pub fn new(games: Games, name: impl Into<String>) -> Self {
        let silence_max = Micros::from_ms(3000);
        Self { games, name: name.into(), filter: LoopFilter::default(), silence_max }
    }
}

/// How a session stands with its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Trying to join.
    Connecting {
        /// Attempts in a row, this one included; 1 or more.
        attempt: u32,
    },
    /// In the game.
    Connected,
    /// Out of the game, and about to try again.
    Waiting {
        /// Why the last attempt failed, or the game before it.
        reason: String,
        /// When it tries again.
        retry_at: LocalTime,
        /// Attempts in vain.
        attempt: u32,
    },
    /// Out of the game for good.
    Ended {
        /// Why.
        reason: String,
    },
}

/// What the transport is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Connect, and say so by [`Session::handle_connected`] or [`Session::handle_lost`].
    Connect,
    /// Send a framed message on the control stream.
    Control(Vec<u8>),
    /// Send a datagram, now or never.
    Datagram(Vec<u8>),
    /// Close the connection, or stop connecting, for this reason.
    Close(String),
}

/// What the player is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The session stands otherwise with its server.
    State(State),
    /// A game began: [`Session::client`] plays it.
    Game {
        /// The server's name.
        server: String,
        /// The game's name.
        game: &'static str,
    },
}

/// A state of the own player's motion, and what it is a state of.
#[derive(Clone, Debug)]
pub struct Motion {
    /// The game's name.
    pub game: &'static str,
    /// The kinds of its entities.
    pub kinds: &'static [Kind],
    /// The world's rates.
    pub rates: Rates,
    /// Seed of the rules and the map.
    pub seed: u64,
    /// Games begun in this session before this one.
    pub stay: u32,
    /// The state.
    pub recorded: Recorded,
}

/// How a session gets from one state to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The transport connects.
    Dialing,
    /// The hello was sent, at that time; none came back.
    Greeted(LocalTime),
    /// In the game.
    Playing,
    /// Until the time to try again.
    Waiting(LocalTime),
    /// Nothing more happens.
    Ended,
}

/// A stay on a server.
#[derive(Debug)]
pub struct Session {
    config: SessionConfig,
    step: Step,
    state: State,
    attempt: u32,
    client: Option<Box<dyn AnyClient>>,
    /// Games begun.
    stays: u32,
    begun: LocalTime,
    /// When a datagram last came, and when [`handle_timeout`](Self::handle_timeout) was last called.
    heard: LocalTime,
    looked: LocalTime,
    outputs: VecDeque<Output>,
    notices: VecDeque<Notice>,
    /// The own player's motion, if that is recorded, as far as the client has no more of it.
    motion: Option<VecDeque<Motion>>,
    /// What went in, if that is recorded.
    fed: Option<VecDeque<Fed>>,
}

impl Session {
    /// Begins to join.
    pub fn new(config: SessionConfig, now: LocalTime) -> Self {
        let mut session = Self {
            config,
            step: Step::Dialing,
            state: State::Connecting { attempt: 1 },
            attempt: 1,
            client: None,
            stays: 0,
            begun: now,
            heard: now,
            looked: now,
            outputs: VecDeque::new(),
            notices: VecDeque::new(),
            motion: None,
            fed: None,
        };
        session.dial();
        session
    }

    fn dial(&mut self) {
        self.step = Step::Dialing;
        self.outputs.push_back(Output::Connect);
        self.enter(State::Connecting { attempt: self.attempt });
    }

    fn enter(&mut self, state: State) {
        self.state = state.clone();
        self.notify(Notice::State(state));
    }

    fn notify(&mut self, notice: Notice) {
        if self.notices.len() >= NOTICES_MAX {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
    }

    fn note(&mut self, fed: impl FnOnce() -> Fed) {
        if let Some(log) = self.fed.as_mut().filter(|log| log.len() < FED_MAX) {
            log.push_back(fed());
        }
    }

    /// The transport is connected: the hello goes out.
    pub fn handle_connected(&mut self, now: LocalTime) {
        self.note(|| Fed::Connected(now));
        if self.step != Step::Dialing {
            return;
        }
        let hello = ClientMessage::Hello(Hello {
            wire: wire_hash(),
            version: env!("CARGO_PKG_VERSION").into(),
            name: self.config.name.clone(),
            games: self.config.games.hashes(),
            sent: now,
        });
        match frame(&hello) {
            Ok(framed) => {
                self.step = Step::Greeted(now);
                self.outputs.push_back(Output::Control(framed));
            }
            Err(error) => self.close(now, &format!("the hello is too long: {error}"), false),
        }
    }

    /// The connection is lost or could not be made; `retry` says whether another attempt makes sense.
    pub fn handle_lost(&mut self, now: LocalTime, reason: &str, retry: bool) {
        self.note(|| Fed::Lost(now, reason.into(), retry));
        if !matches!(self.step, Step::Waiting(_) | Step::Ended) {
            self.end(now, reason, retry);
        }
    }

    /// The body of a control message came at `arrival`.
    pub fn handle_control(&mut self, body: &[u8], arrival: LocalTime) {
        self.note(|| Fed::Control(arrival, body.into()));
        let hello_sent = match self.step {
            Step::Greeted(sent) => Some(sent),
            Step::Playing => None,
            Step::Dialing | Step::Waiting(_) | Step::Ended => return,
        };
        match (ServerMessage::parse(body), hello_sent) {
            (Ok(ServerMessage::Closed { reason, retry }), _) => {
                self.close(arrival, &reason, retry);
            }
            (Ok(ServerMessage::Welcome(welcome)), Some(sent)) => {
                let common = Common::new(&welcome, sent, arrival);
                if self.begin(&welcome, common, arrival) {
                    self.step = Step::Playing;
                    self.attempt = 0;
                    self.heard = arrival;
                    self.enter(State::Connected);
                }
            }
            (Ok(ServerMessage::Welcome(welcome)), None) => self.rotate(&welcome, arrival),
            (Ok(message), None) => {
                if let Some(client) = &mut self.client {
                    client.handle_message(&message);
                }
            }
            (Ok(_) | Err(_), Some(_)) => {
                let reason = "protocol error: the server did not answer the hello with a welcome; \
                              its version may be another";
                self.close(arrival, reason, false);
            }
            (Err(error), None) => {
                self.close(arrival, &format!("protocol error: {error}"), false);
            }
        }
    }

    /// The server goes on to another game.
    fn rotate(&mut self, welcome: &Welcome, now: LocalTime) {
        if now - self.begun < GAME_MIN {
            return self.close(now, "the server changes its game all the time", false);
        }
        self.collect_motion();
        let Some(client) = self.client.take() else { return };
        self.begin(welcome, client.into_common(), now);
    }

    fn begin(&mut self, welcome: &Welcome, common: Common, now: LocalTime) -> bool {
        self.collect_motion();
        let entry = match self.config.games.get(&welcome.game) {
            Ok(entry) => *entry,
            Err(_) => {
                let reason = format!("the server plays {}, a game unknown here", welcome.game);
                self.close(now, &reason, false);
                return false;
            }
        };
        let mut client = entry.client(welcome, common, now);
        client.set_loop_filter(now, self.config.filter);
        client.record_motion(self.motion.is_some());
        self.client = Some(client);
        self.stays += 1;
        self.begun = now;
        self.notify(Notice::Game { server: welcome.server.clone(), game: entry.name });
        true
    }

    /// A datagram came at `arrival`. None: it was refused and changed nothing but a counter.
    pub fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime) -> Option<Received> {
        self.note(|| Fed::Datagram(arrival, bytes.into()));
        if self.step != Step::Playing {
            return None;
        }
        self.heard = self.heard.max(arrival);
        self.client.as_mut()?.handle_datagram(bytes, arrival).ok()
    }

    /// Acts on the time: gives up a server that is silent, and tries again.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        self.note(|| Fed::Timeout(now));
        if now - self.looked > STALL {
            self.heard = now;
        }
        self.looked = now;
        match self.step {
            Step::Greeted(sent) if now - sent >= HELLO_TIMEOUT => {
                self.close(now, "the server does not answer the hello", true);
            }
            Step::Playing if now - self.heard >= self.config.silence_max => {
                self.close(now, "the server does not answer any more", true);
            }
            Step::Waiting(until) if now >= until => {
                self.attempt += 1;
                self.dial();
            }
            _ => {}
        }
    }

    /// When something is due next: a tick of the player's, or [`handle_timeout`](Self::handle_timeout).
    /// None when the session has ended.
    pub fn next_timeout(&self, now: LocalTime) -> Option<LocalTime> {
        let silent = self.heard + self.config.silence_max;
        match self.step {
            // The transport has its own.
            Step::Dialing => Some(now + STALL),
            Step::Greeted(sent) => Some(sent + HELLO_TIMEOUT),
            Step::Playing => {
                let tick = self.client.as_ref().map(|client| client.next_timeout(now));
                Some(tick.unwrap_or(silent).min(silent))
            }
            Step::Waiting(until) => Some(until),
            Step::Ended => None,
        }
    }

    /// The player has had enough.
    pub fn leave(&mut self, reason: &str) {
        self.note(|| Fed::Leave(reason.into()));
        if self.step != Step::Ended {
            self.collect_motion();
            self.outputs.push_back(Output::Close(reason.to_owned()));
            self.step = Step::Ended;
            self.enter(State::Ended { reason: reason.to_owned() });
        }
    }

    /// Gives the connection up.
    fn close(&mut self, now: LocalTime, reason: &str, retry: bool) {
        self.outputs.push_back(Output::Close(reason.to_owned()));
        self.end(now, reason, retry);
    }

    fn end(&mut self, now: LocalTime, reason: &str, retry: bool) {
        self.collect_motion();
        let reason = reason.to_owned();
        if !retry {
            self.step = Step::Ended;
            return self.enter(State::Ended { reason });
        }
        let retry_at = now + back_off(self.attempt.max(1));
        self.step = Step::Waiting(retry_at);
        self.enter(State::Waiting { reason, retry_at, attempt: self.attempt });
    }

    /// Asks for the player's command in every tick that is due, if the session plays that game.
    pub fn press<G: Game>(
        &mut self,
        now: LocalTime,
        mut press: impl FnMut(&Client<G>, Tick) -> G::Input,
    ) {
        self.press_with(now, |client, tick| Some(press(downcast_ref(client)?, tick).pack()));
    }

    /// The same of a controller.
    pub fn press_by(&mut self, now: LocalTime, controller: &mut dyn Controller) {
        self.press_with(now, |client, tick| Some(controller.press(client, tick)));
    }

    fn press_with(
        &mut self,
        now: LocalTime,
        mut press: impl FnMut(&dyn AnyClient, Tick) -> Option<Packed>,
    ) {
        if self.step != Step::Playing {
            return;
        }
        let Some(client) = &mut self.client else { return };
        let mut inputs = Vec::new();
        while let Some(tick) = client.poll_tick(now) {
            let Some(input) = press(&**client, tick) else { break };
            client.handle_packed_input(now, tick, &input);
            if self.fed.is_some() {
                inputs.push(input.to_vec());
            }
        }
        self.note(|| Fed::Press(now, inputs));
    }

    /// A program that reads its keys once a frame says so at the start of each: inputs are then sent
    /// ahead by a frame more. One that wakes for each tick does not.
    pub fn handle_frame(&mut self, now: LocalTime) {
        self.note(|| Fed::Frame(now));
        if let Some(client) = self.client.as_mut().filter(|_| self.step == Step::Playing) {
            client.handle_frame(now);
        }
    }

    /// The next thing for the transport to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        let packet = || {
            let client = self.client.as_mut().filter(|_| self.step == Step::Playing)?;
            client.poll_transmit().map(Output::Datagram)
        };
        self.outputs.pop_front().or_else(packet)
    }

    /// The next thing to tell the player. Of those that nobody asks for only the last are kept.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// What to draw now, if the session has a client of that game.
    pub fn view<G: Game>(&mut self, now: LocalTime) -> Option<View<G>> {
        self.note(|| Fed::View(now));
        downcast_mut::<G>(&mut **self.client.as_mut()?).map(|client| client.view(now))
    }

    /// See [`Client::traces`].
    pub fn traces<G: Game>(&mut self) -> Vec<Trace<G::Entity>> {
        let client = self.client_mut().and_then(downcast_mut::<G>);
        client.map(Client::traces).unwrap_or_default()
    }

    /// Moves on as [`view`](Self::view) does, for whoever does not draw.
    pub fn handle_view(&mut self, now: LocalTime) {
        self.note(|| Fed::View(now));
        if let Some(client) = &mut self.client {
            client.handle_view(now);
        }
    }

    /// Shows the others of a kind, an index into the game's kinds, by a method of the player's choice.
    pub fn choose(&mut self, kind: u8, choice: Choice) {
        self.note(|| Fed::Choose(kind, choice));
        if let Some(client) = &mut self.client {
            client.choose(kind, choice);
        }
    }

    /// Chooses the loop that keeps the clock in phase, in this game and those that follow.
    pub fn set_loop_filter(&mut self, now: LocalTime, filter: LoopFilter) {
        self.note(|| Fed::LoopFilter(now, filter));
        self.config.filter = filter;
        if let Some(client) = &mut self.client {
            client.set_loop_filter(now, filter);
        }
    }

    /// How it stands with the server.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The client of the game that is played, or was when the server was lost.
    pub fn client(&self) -> Option<&dyn AnyClient> {
        self.client.as_deref()
    }

    /// The same, to change what no recording needs to know.
    pub fn client_mut(&mut self) -> Option<&mut (dyn AnyClient + 'static)> {
        self.client.as_deref_mut()
    }

    /// The client, if it is one of that game.
    pub fn client_of<G: Game>(&self) -> Option<&Client<G>> {
        downcast_ref(self.client()?)
    }

    /// Records the own player's motion from now on, for [`poll_motion`](Self::poll_motion).
    pub fn record_motion(&mut self) {
        self.motion.get_or_insert_default();
        if let Some(client) = &mut self.client {
            client.record_motion(true);
        }
    }

    /// The next state of the own player's motion. [`MOTION_MAX`] wait to be fetched; of more the oldest are lost.
    pub fn poll_motion(&mut self) -> Option<Motion> {
        self.collect_motion();
        self.motion.as_mut()?.pop_front()
    }

    fn collect_motion(&mut self) {
        let (Some(motion), Some(client)) = (&mut self.motion, &mut self.client) else { return };
        while let Some(recorded) = client.poll_motion() {
            if motion.len() >= MOTION_MAX {
                motion.pop_front();
            }
            let (game, kinds) = (client.game_name(), client.kinds());
            let (rates, seed) = (client.common().rates(), client.common().seed());
            motion.push_back(Motion { game, kinds, rates, seed, stay: self.stays - 1, recorded });
        }
    }

    /// Takes down what goes in from now on, for [`poll_fed`](Self::poll_fed). [`FED_MAX`] entries wait to
    /// be fetched; a recording that is not fetched ends there.
    pub fn record(&mut self) {
        self.fed.get_or_insert_default();
    }

    /// The next thing that went in.
    pub fn poll_fed(&mut self) -> Option<Fed> {
        self.fed.as_mut()?.pop_front()
    }

    /// Feeds in what went into another session with the same configuration. [`Fed::View`] draws nothing;
    /// whoever wants the picture calls [`view`](Self::view) with its time instead.
    pub fn feed(&mut self, fed: &Fed) {
        match fed {
            Fed::Connected(now) => self.handle_connected(*now),
            Fed::Control(at, body) => self.handle_control(body, *at),
            Fed::Datagram(at, bytes) => {
                self.handle_datagram(bytes, *at);
            }
            Fed::Lost(now, reason, retry) => self.handle_lost(*now, reason, *retry),
            Fed::Timeout(now) => self.handle_timeout(*now),
            Fed::Frame(now) => self.handle_frame(*now),
            Fed::Press(now, inputs) => {
                let mut inputs = inputs.iter();
                self.press_with(*now, |_, _| {
                    let mut packed = [0; FIELDS_MAX];
                    packed.iter_mut().zip(inputs.next()?).for_each(|(to, from)| *to = *from);
                    Some(packed)
                });
            }
            Fed::View(now) => self.handle_view(*now),
            Fed::Choose(kind, choice) => self.choose(*kind, *choice),
            Fed::LoopFilter(now, filter) => self.set_loop_filter(*now, *filter),
            Fed::Leave(reason) => self.leave(reason),
        }
        // Packets are numbered when they are fetched.
        while let Some(Output::Datagram(_)) = self.poll_output() {}
    }
}

/// Time before the `attempt`-th attempt after the first: half a second, doubled each time, at most 8 s.
fn back_off(attempt: u32) -> Micros {
    Micros::from_ms(500 << attempt.saturating_sub(1).min(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_grows_to_a_bound() {
        let waits: Vec<_> = (1..8).map(|attempt| back_off(attempt).0 / 1000).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }
}
