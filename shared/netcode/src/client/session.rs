//! A stay on a server, from the first hello to the last goodbye, however often the server is lost
//! in between and whatever games it plays.
//!
//! Call a session in this order; it never blocks and never reads a clock:
//!
//! 1. `handle_*` with what the transport has: [`Session::handle_connected`],
//!    [`Session::handle_control`], [`Session::handle_datagram`], [`Session::handle_lost`], each
//!    stamped with its arrival; then [`Session::handle_timeout`] with the present time;
//! 2. [`Session::press`] (or [`Session::press_by`]) with the player's commands of each due tick;
//! 3. [`Session::poll_output`] for the transport's orders;
//! 4. [`Session::poll_notice`] for the player's news, and [`Session::picture`] for the picture.
//!
//! Calls in another order lose time and nothing else, and everything that waits to be fetched is
//! bounded.
//!
//! *Invariant:* all that a session does follows from its input. [`Session::record`] records it, and
//! [`Session::feed`] makes the same pictures of the recording.

use std::collections::VecDeque;

use super::any::AnyClient;
use super::controller::{Controller, downcast_mut, downcast_ref};
use super::fed::Fed;
use super::game::Client;
use super::output::{MotionSample, Notice, Output, SessionConfig, State};
use super::picture::Picture;
use crate::clock::pll::LoopFilter;
use crate::fields::{Packed, Record};
use crate::game::Game;
use crate::identity::{Credentials, ResumeToken};
use crate::limits::{FED_MAX, FIELDS_MAX, NOTICES_MAX};
use crate::motion::choice::Choice;
use crate::presentation::presenter::Trace;
use crate::snapshot::store::Received;
use crate::time::{LocalTime, Micros, Tick};
use crate::wire::WireError;
use crate::wire::control::{ClientMessage, Hello, ServerMessage, frame};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::protocol::wire_hash;

/// Time for an answer to the hello.
const HELLO_TIMEOUT: Micros = Micros::from_ms(4000);
/// Least time for three games of a rotation, so that the client can play.
const GAME_MIN: Micros = Micros::from_ms(1000);
/// Length of a steady stay, after which failures count from the first again. Arbitrary, and longer
/// than a server runs that crashes over each newcomer.
const STEADY: Micros = Micros::from_ms(5000);
/// Longest wait that a server may ask for before the next attempt, in seconds.
const RETRY_SECS_MAX: u32 = 3600;
/// Redirects in a row.
const REDIRECTS_MAX: u32 = 4;
/// Failed attempts in a row after which a redirect is given up.
const REDIRECT_ATTEMPTS: u32 = 2;
/// Time without calls after which a program counts as stalled. Packets may wait then, so the
/// silence counts anew, once for each packet heard.
const STALL: Micros = Micros::from_ms(1000);

/// State with what it takes to leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The transport connects.
    Dialing,
    /// The hello was sent at that time, and awaits its answer.
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
    /// The last times that a game began, the newest first.
    begun: [LocalTime; 3],
    /// Time of the last welcome that answered a hello.
    joined: LocalTime,
    /// Token of the last session, to resume it.
    token: Option<ResumeToken>,
    /// The server that the last one sent the player to, and how many did since the last steady
    /// stay.
    redirect: Option<String>,
    redirects: u32,
    /// Arrival of the last datagram, or the end of a stall after it.
    heard: LocalTime,
    /// True if the silence was excused since the last datagram.
    excused: bool,
    /// Last call of [`handle_timeout`](Self::handle_timeout).
    looked: LocalTime,
    outputs: VecDeque<Output>,
    notices: VecDeque<Notice>,
    /// The own player's motion, if that is recorded, as far as the client has handed it over.
    motion: Option<VecDeque<MotionSample>>,
    /// Input so far, if that is recorded, and whether it was too long.
    fed: Option<VecDeque<Fed>>,
    fed_over: bool,
}

/// The reason of an end with words for the player, whatever the peer has said.
fn explained(reason: Disconnect) -> Disconnect {
    let text = match reason.code {
        // The player's own goodbye is never without words.
        Code::Left if reason.text.trim().is_empty() => {
            "the server closed the connection without a reason".to_owned()
        }
        _ => reason.to_string(),
    };
    Disconnect { text, ..reason }
}

impl Session {
    /// Begins to join.
    pub fn new(config: SessionConfig, now: LocalTime) -> Self {
        let mut session = Self {
            token: config.resume,
            config,
            step: Step::Dialing,
            state: State::Connecting { attempt: 1 },
            attempt: 1,
            client: None,
            stays: 0,
            begun: [now - GAME_MIN; 3],
            joined: now,
            redirect: None,
            redirects: 0,
            heard: now,
            excused: false,
            looked: now,
            outputs: VecDeque::new(),
            notices: VecDeque::new(),
            motion: None,
            fed: None,
            fed_over: false,
        };
        session.dial();
        session
    }

    fn dial(&mut self) {
        self.step = Step::Dialing;
        self.outputs.push_back(Output::Connect { redirect: self.redirect.clone() });
        self.enter(State::Connecting { attempt: self.attempt });
    }

    fn enter(&mut self, state: State) {
        self.state = state.clone();
        self.notify(Notice::State(state));
    }

    fn notify(&mut self, notice: Notice) {
        if self.notices.len() >= NOTICES_MAX {
            // What is said gives way first, so that no state and no game is missed.
            let said = |notice: &Notice| !matches!(notice, Notice::State(_) | Notice::Game { .. });
            self.notices.remove(self.notices.iter().position(said).unwrap_or_default());
        }
        self.notices.push_back(notice);
    }

    fn note(&mut self, fed: impl FnOnce() -> Fed) {
        if let Some(log) = self.fed.as_mut().filter(|_| !self.fed_over) {
            log.push_back(fed());
            self.fed_over = log.len() >= FED_MAX;
        }
    }

    /// The transport is connected, and these credentials are for the connection: the hello goes
    /// out.
    pub fn handle_connected(&mut self, now: LocalTime, credentials: Credentials) {
        self.note(|| Fed::Connected(now, credentials));
        if self.step != Step::Dialing {
            return;
        }
        let (games, wishes) = self.games_and_wishes();
        let hello = ClientMessage::Hello(Hello {
            wire: wire_hash(),
            version: env!("CARGO_PKG_VERSION").into(),
            name: self.config.name.clone(),
            games,
            sent: now,
            credentials,
            resume: self.token,
            wishes,
            room: self.config.room.clone(),
            password: self.config.password.clone(),
            look: self.config.look,
        });
        match frame(&hello) {
            Ok(framed) => {
                self.step = Step::Greeted(now);
                self.outputs.push_back(Output::Control(framed));
            }
            Err(error) => {
                let text = format!("the hello is too long: {error}");
                self.close(now, Disconnect::new(Code::Refused, text));
            }
        }
    }

    /// The connection is lost or could not be made.
    pub fn handle_lost(&mut self, now: LocalTime, reason: Disconnect) {
        self.note(|| Fed::Lost(now, reason.clone()));
        if !matches!(self.step, Step::Waiting(_) | Step::Ended) {
            self.end(now, reason);
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
            (Ok(ServerMessage::Disconnect(reason)), _) => self.close(arrival, reason),
            (Ok(ServerMessage::Welcome(welcome)), _) => self.begin(&welcome, hello_sent, arrival),
            (Ok(ServerMessage::Round(notice)), None) => self.handle_round(notice, arrival),
            (Ok(message), None) => self.handle_message(message),
            // A later version may have more to say.
            (Err(WireError::Message(_)), _) => {}
            (Ok(_) | Err(_), Some(_)) => {
                let text = "protocol error: the server did not answer the hello with a welcome; \
                            its version may be another";
                self.close(arrival, Disconnect::new(Code::Protocol, text));
            }
            (Err(error), None) => {
                let text = format!("protocol error: {error}");
                self.close(arrival, Disconnect::new(Code::Protocol, text));
            }
        }
    }

    /// A message came in the middle of a game.
    fn handle_message(&mut self, message: ServerMessage) {
        if self.handle_talk(&message) {
            return;
        }
        let Some(client) = &mut self.client else { return };
        match message {
            ServerMessage::Refused { request, refusal } => {
                self.notify(Notice::Refused { request, refusal });
            }
            ServerMessage::Places { free, ahead } => self.notify(Notice::Places { free, ahead }),
            ServerMessage::Game(bytes) => self.notify(Notice::Event(bytes)),
            message => client.handle_message(&message),
        }
    }

    /// A datagram came at `arrival`. None: it was refused and changed nothing but a counter.
    pub fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime) -> Option<Received> {
        self.note(|| Fed::Datagram(arrival, bytes.into()));
        if self.step != Step::Playing {
            return None;
        }
        (self.heard, self.excused) = (self.heard.max(arrival), false);
        self.client.as_mut()?.handle_datagram(bytes, arrival).ok()
    }

    /// Acts on the time: gives a silent server up, or tries it again.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        self.note(|| Fed::Timeout(now));
        if now - self.looked > STALL && !self.excused {
            (self.heard, self.excused) = (now, true);
        }
        self.looked = now;
        match self.step {
            Step::Greeted(sent) if now - sent >= HELLO_TIMEOUT => {
                let text = "the server does not answer the hello";
                self.close(now, Disconnect::new(Code::Lost, text));
            }
            Step::Playing if now - self.heard >= self.config.silence_max => {
                let text = "the server does not answer any more";
                self.close(now, Disconnect::new(Code::Lost, text));
            }
            Step::Waiting(until) if now >= until => {
                self.attempt += 1;
                self.dial();
            }
            _ => {}
        }
    }

    /// Time of the player's next tick or of the next [`handle_timeout`](Self::handle_timeout); none
    /// after the end.
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

    /// The player leaves for good.
    pub fn leave(&mut self, reason: &str) {
        self.note(|| Fed::Leave(reason.into()));
        if self.step != Step::Ended {
            self.close(self.looked, Disconnect::new(Code::Left, reason));
        }
    }

    /// Gives the connection up.
    fn close(&mut self, now: LocalTime, reason: Disconnect) {
        self.end(now, reason.clone());
        self.outputs.push_back(Output::Close(reason));
    }

    /// The connection is gone, with what was to be sent over it.
    fn end(&mut self, now: LocalTime, reason: Disconnect) {
        self.collect_motion();
        self.outputs.clear();
        if self.step == Step::Playing && now - self.joined >= STEADY {
            (self.attempt, self.redirects) = (0, 0);
        }
        if reason.code == Code::BadToken {
            self.token = None;
        }
        let reason = self.sent_back(explained(reason));
        if let Some(redirect) = &reason.redirect {
            self.redirects += 1;
            self.redirect = Some(redirect.clone());
            self.token = None;
        } else if self.step != Step::Playing && self.attempt > REDIRECT_ATTEMPTS {
            // The server that the player was sent to is not there: back to the player's choice.
            self.go_back();
        }
        // The wait that a server asks for is for itself, not for where it leads.
        let retry_after = reason.redirect.as_ref().map_or(reason.retry_after, |_| Some(0));
        let Some(secs) = retry_after.filter(|_| self.redirects <= REDIRECTS_MAX) else {
            self.step = Step::Ended;
            return self.enter(State::Ended { reason });
        };
        let wished = Micros::from_ms(1000 * i64::from(secs.min(RETRY_SECS_MAX)));
        let retry_at = now + wished.max(back_off(self.attempt.max(1)));
        self.step = Step::Waiting(retry_at);
        self.enter(State::Waiting { reason, retry_at, attempt: self.attempt });
    }

    /// The reason of an end. A server that the player was sent to, and that refuses it for good,
    /// ends no session: back to the player's choice.
    fn sent_back(&mut self, reason: Disconnect) -> Disconnect {
        let is_final = reason.retry_after.is_none() && reason.redirect.is_none();
        let is_refused = is_final && self.step != Step::Playing && reason.code != Code::Left;
        let Some(server) = self.redirect.clone().filter(|_| is_refused) else { return reason };
        self.go_back();
        let text = format!("it leads to {server}, which says: {}", reason.text);
        Disconnect { text, retry_after: Some(0), ..reason }
    }

    /// The player's choice is tried from now on. A token stays with the server that it is from.
    fn go_back(&mut self) {
        if self.redirect.take().is_some() {
            self.token = None;
        }
    }

    /// Asks for the player's command of every due tick, if the session plays that game.
    pub fn press<G: Game>(
        &mut self,
        now: LocalTime,
        mut press: impl FnMut(&Client<G>, Tick) -> G::Input,
    ) {
        let is_recorded = self.fed.is_some();
        let client = self.client.as_deref_mut().filter(|_| self.step == Step::Playing);
        let Some(client) = client.and_then(downcast_mut::<G>) else {
            return self.press_with(now, |_, _| None);
        };
        let mut inputs = Vec::new();
        while let Some(tick) = client.poll_tick(now) {
            let input = match client.watching() {
                // Who watches presses nothing.
                Some(_) => <G::Input as Record>::unpack(&[0; FIELDS_MAX]),
                None => press(client, tick).snapped(),
            };
            client.handle_input(now, tick, input);
            if is_recorded {
                inputs.push(input.pack().to_vec());
            }
        }
        self.note(|| Fed::Press(now, inputs));
    }

    /// Asks a controller for them.
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
            // Who watches presses nothing.
            let idle = client.common().watching().map(|_| [0; FIELDS_MAX]);
            let Some(input) = idle.or_else(|| press(&**client, tick)) else { break };
            client.handle_packed_input(now, tick, &input);
            if self.fed.is_some() {
                inputs.push(input.to_vec());
            }
        }
        self.note(|| Fed::Press(now, inputs));
    }

    /// See [`AnyClient::handle_frame`].
    pub fn handle_frame(&mut self, now: LocalTime) {
        self.note(|| Fed::Frame(now));
        if let Some(client) = self.client.as_mut().filter(|_| self.step == Step::Playing) {
            client.handle_frame(now);
        }
    }

    /// The next order to the transport.
    pub fn poll_output(&mut self) -> Option<Output> {
        let packet = || {
            let client = self.client.as_mut().filter(|_| self.step == Step::Playing)?;
            client.poll_transmit().map(Output::Datagram)
        };
        self.outputs.pop_front().or_else(packet)
    }

    /// The next piece of news for the player; the oldest beyond [`NOTICES_MAX`] are lost.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// The picture of this moment, if the session has a client of that game.
    pub fn picture<G: Game>(&mut self, now: LocalTime) -> Option<Picture<G>> {
        let client = downcast_mut::<G>(&mut **self.client.as_mut()?)?;
        let picture = client.picture(now);
        self.note(|| Fed::Picture(now));
        Some(picture)
    }

    /// See [`Client::traces`].
    pub fn traces<G: Game>(&mut self) -> Vec<Trace<G::Entity>> {
        let client = self.client_mut().and_then(downcast_mut::<G>);
        client.map(Client::traces).unwrap_or_default()
    }

    /// Moves on as [`picture`](Self::picture) does, without drawing.
    pub fn handle_picture(&mut self, now: LocalTime) {
        self.note(|| Fed::Picture(now));
        if let Some(client) = &mut self.client {
            client.handle_picture(now);
        }
    }

    /// Shows the others of a kind, an index into the game's kinds, by a method.
    pub fn choose(&mut self, kind: u8, choice: Choice) {
        self.note(|| Fed::Choose(kind, choice));
        if let Some(client) = &mut self.client {
            client.choose(kind, choice);
        }
    }

    /// Chooses the clock's loop filter, in this game and those that follow.
    pub fn set_loop_filter(&mut self, now: LocalTime, filter: LoopFilter) {
        self.note(|| Fed::LoopFilter(now, filter));
        self.config.filter = filter;
        if let Some(client) = &mut self.client {
            client.set_loop_filter(now, filter);
        }
    }

    /// Token of the last session, by which it is resumed.
    pub fn token(&self) -> Option<ResumeToken> {
        self.token
    }

    /// True at a server that the player did not choose, but was sent to.
    pub fn is_redirected(&self) -> bool {
        self.redirect.is_some()
    }

    /// State towards the server.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The client of the game that is played, or was when the server was lost.
    pub fn client(&self) -> Option<&dyn AnyClient> {
        self.client.as_deref()
    }

    /// The same, for changes that a recording may leave out.
    pub fn client_mut(&mut self) -> Option<&mut (dyn AnyClient + 'static)> {
        self.client.as_deref_mut()
    }

    /// The client, if it is one of that game.
    pub fn client_of<G: Game>(&self) -> Option<&Client<G>> {
        downcast_ref(self.client()?)
    }
}

/// Time before the `attempt`-th retry: half a second, doubled each time, at most 8 s.
fn back_off(attempt: u32) -> Micros {
    Micros::from_ms(500 << attempt.saturating_sub(1).min(4))
}

mod games;
mod recording;
mod requests;
mod talk;
#[cfg(test)]
mod tests;
