//! A stay on a server, from the first hello to the last goodbye. It reconnects when the server is
//! lost, and continues through all games of the rotation.
//!
//! Call a session in this order; it never blocks and never reads a clock:
//!
//! 1. `handle_*` with events of the transport: [`Session::handle_connected`],
//!    [`Session::handle_control`], [`Session::handle_datagram`], [`Session::handle_lost`], each
//!    stamped with its arrival; then [`Session::handle_timeout`] with the current time;
//! 2. [`Session::press_frame`] with the player's commands in a frame, or [`Session::press`] or
//!    [`Session::press_by`] with those for each due tick;
//! 3. [`Session::poll_output`] for what the transport should do;
//! 4. [`Session::poll_notice`] for what the player should know, and [`Session::picture`] for what
//!    to draw.
//!
//! Another order only loses time. All queues of data to fetch are bounded.
//!
//! *Invariant:* the session's behaviour follows only from its input. [`Session::record`] records
//! the input, and [`Session::feed`] makes the same pictures from the recording.

use std::any::Any;
use std::collections::VecDeque;

use super::any::AnyClient;
use super::controller::{Controller, downcast};
use super::footage::GameOrigin;
use super::game::Client;
use super::ghosts::Ghosts;
use super::last_minutes::LastMinutes;
use super::output::{MotionSample, Notice, Output, Redirect, SessionConfig, State};
use super::picture::Picture;
use super::session_input::SessionInput;
use crate::clock::pll::LoopFilter;
use crate::fields::{Packed, Record};
use crate::game::Game;
use crate::identity::{Credentials, ResumeToken};
use crate::limits::{FIELDS_MAX, NOTICES_MAX, RECORDED_INPUTS_MAX};
use crate::motion::choice::Choice;
use crate::snapshot::store::Received;
use crate::time::{LocalTime, Micros, Tick};
use crate::wire::WireError;
use crate::wire::control::{ClientMessage, Hello, ServerMessage, frame};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::ghost::GhostRequest;
use crate::wire::protocol::wire_hash;
use crate::wire::snapshot::KindSet;

/// How long to wait for an answer to the hello.
const HELLO_TIMEOUT: Micros = Micros::from_ms(4000);
/// Minimum time for three games of a rotation, so that the client can play.
const GAME_MIN: Micros = Micros::from_ms(1000);
/// Length of a stay after which the count of failures is reset. Arbitrary, and longer than a server
/// runs that crashes whenever a player joins.
const STEADY: Micros = Micros::from_ms(5000);
/// Longest delay in seconds that a server may ask for before the next attempt.
const RETRY_SECS_MAX: u32 = 3600;
/// Maximum number of redirects in a row.
const REDIRECTS_MAX: u32 = 4;
/// Failed attempts in a row after which a redirect is abandoned.
const REDIRECT_ATTEMPTS: u32 = 2;
/// Time without calls after which the program counts as stalled. Packets may be waiting then, so
/// the silence timer restarts, but only once per received packet.
const STALL: Micros = Micros::from_ms(1000);

/// State, with the data that the transition out of it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The transport connects.
    Dialing,
    /// The hello was sent at this time, and its answer is awaited.
    Greeted(LocalTime),
    /// In the game.
    Playing,
    /// Waiting until this time before another attempt.
    Waiting(LocalTime),
    /// Ended for good.
    Ended,
}

/// A stay on a server: the top-level state machine of a client.
#[derive(Debug)]
pub struct Session {
    config: SessionConfig,
    step: Step,
    state: State,
    attempt: u32,
    client: Option<Box<dyn AnyClient>>,
    /// Number of games begun.
    stays: u32,
    /// Start times of the last games, newest first.
    begun: [LocalTime; 3],
    /// When the last welcome that answered a hello arrived.
    joined: LocalTime,
    /// Token for resuming the last session.
    token: Option<ResumeToken>,
    /// The server that the player was redirected to, and the number of redirects since the last
    /// steady stay.
    redirect: Option<Redirect>,
    redirects: u32,
    /// Ticket for that server, or for the first one, until it has welcomed the player. No other
    /// server gets it.
    ticket: Option<Vec<u8>>,
    /// Arrival of the last datagram, or the end of a stall after it.
    heard: LocalTime,
    /// Whether the silence timer was restarted since the last datagram.
    excused: bool,
    /// Time of the last call of [`handle_timeout`](Self::handle_timeout).
    looked: LocalTime,
    outputs: VecDeque<Output>,
    notices: VecDeque<Notice>,
    /// Recorded motion of the local player, as far as the client has delivered it; `None` if it is
    /// not recorded.
    motion: Option<VecDeque<MotionSample>>,
    /// Recorded input, if it is recorded, and whether the recording overflowed.
    recorded_inputs: Option<VecDeque<SessionInput>>,
    recorded_over: bool,
    /// The last minutes of the session, if they are kept, and where the present game is from.
    minutes: Option<LastMinutes>,
    origin: Option<GameOrigin>,
    /// Kinds for which the server was last asked for early steering, and when.
    early_told: (KindSet, Option<LocalTime>),
    /// The ghosts that the server offers.
    ghosts: Ghosts,
}

/// Returns the reason for an end with a text for the player, even if the peer sent none.
fn explained(reason: Disconnect) -> Disconnect {
    let text = match reason.code {
        // A player's own goodbye always has a text.
        Code::Left if reason.text.trim().is_empty() => {
            "the server closed the connection without a reason".to_owned()
        }
        _ => reason.to_string(),
    };
    Disconnect { text, ..reason }
}

impl Session {
    /// Creates a session and starts joining.
    pub fn new(config: SessionConfig, now: LocalTime) -> Self {
        let mut ghosts = Ghosts::default();
        ghosts.choose(config.ghost.clone());
        let mut session = Self {
            token: config.resume,
            minutes: config.keeps_minutes.then(LastMinutes::default),
            origin: None,
            ticket: config.ticket.clone(),
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
            recorded_inputs: None,
            recorded_over: false,
            early_told: (KindSet::NONE, None),
            ghosts,
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
            // Chat is dropped first, so that no state and no game is missed.
            let said = |notice: &Notice| !matches!(notice, Notice::State(_) | Notice::Game { .. });
            self.notices.remove(self.notices.iter().position(said).unwrap_or_default());
        }
        self.notices.push_back(notice);
    }

    fn note(&mut self, input: impl FnOnce() -> SessionInput) {
        if let Some(log) = self.recorded_inputs.as_mut().filter(|_| !self.recorded_over) {
            log.push_back(input());
            self.recorded_over = log.len() >= RECORDED_INPUTS_MAX;
        }
    }

    /// Handles an established connection, with the player's credentials for it: sends the hello.
    pub fn handle_connected(&mut self, now: LocalTime, credentials: Credentials) {
        self.note(|| SessionInput::Connected(now, credentials));
        if self.step != Step::Dialing {
            return;
        }
        let (games, wishes) = self.games_and_wishes();
        let hello = ClientMessage::Hello(Hello {
            wire: wire_hash(),
            version: self.config.games.version().into(),
            name: self.config.name.clone(),
            games,
            sent: now,
            credentials,
            resume: self.token,
            wishes,
            // The player chose a room of the first server.
            room: self.config.room.clone().filter(|_| self.redirect.is_none()),
            password: self.config.password.clone(),
            look: self.config.look,
            ticket: self.ticket.clone().filter(|_| self.has_checked_target()),
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

    /// Whether the server is the player's choice, or the transport has checked that it is the one
    /// that the player was redirected to.
    fn has_checked_target(&self) -> bool {
        self.redirect.as_ref().is_none_or(|it| match self.config.checks_fingerprint {
            true => it.fingerprint.is_some(),
            false => !it.web.is_empty(),
        })
    }

    /// Handles a connection that was lost or could not be established.
    pub fn handle_lost(&mut self, now: LocalTime, reason: Disconnect) {
        self.note(|| SessionInput::Lost(now, reason.clone()));
        if !matches!(self.step, Step::Waiting(_) | Step::Ended) {
            self.end(now, reason);
        }
    }

    /// Handles the body of a control message that arrived at `arrival`.
    pub fn handle_control(&mut self, body: &[u8], arrival: LocalTime) {
        self.note(|| SessionInput::Control(arrival, body.into()));
        let hello_sent = match self.step {
            Step::Greeted(sent) => Some(sent),
            Step::Playing => None,
            Step::Dialing | Step::Waiting(_) | Step::Ended => return,
        };
        match (ServerMessage::parse(body), hello_sent) {
            (Ok(ServerMessage::Disconnect(reason)), _) => self.close(arrival, reason),
            (Ok(ServerMessage::Welcome(welcome)), _) => self.begin(&welcome, hello_sent, arrival),
            (Ok(ServerMessage::Round(notice)), None) => self.handle_round(notice, arrival),
            (Ok(ServerMessage::Ghosts(notice)), None) => self.ghosts.handle(notice, arrival),
            (Ok(message), None) => self.handle_message(message),
            // A message of a later version.
            (Err(WireError::Message(_)), _) => {}
            (Ok(_) | Err(_), Some(_)) => {
                let text = "protocol error: the server did not answer the hello with a welcome; it \
                            may run a different version";
                self.close(arrival, Disconnect::new(Code::Protocol, text));
            }
            (Err(error), None) => {
                let text = format!("protocol error: {error}");
                self.close(arrival, Disconnect::new(Code::Protocol, text));
            }
        }
    }

    /// Handles a message during a game.
    fn handle_message(&mut self, message: ServerMessage) {
        if self.handle_talk(&message) {
            return;
        }
        let Some(client) = &mut self.client else { return };
        match message {
            // An older server; no player asked for it.
            ServerMessage::Refused { request, .. }
                if request == ClientMessage::Ghosts(GhostRequest::List).kind() =>
            {
                self.ghosts.stop();
            }
            ServerMessage::Refused { request, refusal } => {
                self.notify(Notice::Refused { request, refusal });
            }
            ServerMessage::Places { free, ahead } => self.notify(Notice::Places { free, ahead }),
            message => {
                client.note_footage(&message);
                match message {
                    ServerMessage::Game(bytes) => self.notify(Notice::Event(bytes)),
                    message => client.handle_message(&message),
                }
            }
        }
    }

    /// Handles a datagram that arrived at `arrival`. `None` means that it was refused and only a
    /// counter has changed.
    pub fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime) -> Option<Received> {
        self.note(|| SessionInput::Datagram(arrival, bytes.into()));
        if self.step != Step::Playing {
            return None;
        }
        (self.heard, self.excused) = (self.heard.max(arrival), false);
        let received = self.client.as_mut()?.handle_datagram(bytes, arrival).ok()?;
        self.collect_footage(arrival);
        Some(received)
    }

    /// Handles the passage of time: gives up on a silent server, or starts the next attempt.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        self.note(|| SessionInput::Timeout(now));
        if now - self.looked > STALL && !self.excused {
            (self.heard, self.excused) = (now, true);
        }
        self.looked = now;
        self.tell_early(now);
        self.ask_ghosts(now);
        match self.step {
            Step::Greeted(sent) if now - sent >= HELLO_TIMEOUT => {
                let text = "the server did not answer the hello";
                self.close(now, Disconnect::new(Code::Lost, text));
            }
            Step::Playing if now - self.heard >= self.config.silence_max => {
                let text = "the server stopped responding";
                self.close(now, Disconnect::new(Code::Lost, text));
            }
            Step::Waiting(until) if now >= until => {
                self.attempt += 1;
                self.dial();
            }
            _ => {}
        }
    }

    /// Returns the time of the player's next tick or of the next
    /// [`handle_timeout`](Self::handle_timeout), whichever is first. `None` after the end.
    pub fn next_timeout(&self, now: LocalTime) -> Option<LocalTime> {
        let silent = self.heard + self.config.silence_max;
        match self.step {
            // The transport has its own timeout.
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

    /// Leaves the server for good.
    pub fn leave(&mut self, reason: &str) {
        self.note(|| SessionInput::Leave(reason.into()));
        if self.step != Step::Ended {
            self.close(self.looked, Disconnect::new(Code::Left, reason));
        }
    }

    /// Closes the connection.
    fn close(&mut self, now: LocalTime, reason: Disconnect) {
        self.end(now, reason.clone());
        self.outputs.push_back(Output::Close(reason));
    }

    /// Handles the end of a connection, discarding pending outputs.
    fn end(&mut self, now: LocalTime, reason: Disconnect) {
        self.collect_motion();
        self.outputs.clear();
        if self.step == Step::Playing && now - self.joined >= STEADY {
            (self.attempt, self.redirects) = (0, 0);
        }
        if reason.code == Code::BadToken {
            self.token = None;
        }
        let mut reason = self.sent_back(explained(reason));
        let ticket = reason.ticket.take();
        if let Some(address) = reason.redirect.clone() {
            self.redirects += 1;
            let (fingerprint, web) = (reason.fingerprint, reason.web.clone());
            self.redirect = Some(Redirect { address, fingerprint, web });
            (self.ticket, self.token) = (ticket, None);
        } else if self.step != Step::Playing && self.attempt > REDIRECT_ATTEMPTS {
            // The server that the player was redirected to does not answer: return to the player's
            // choice.
            self.go_back();
        }
        // A retry delay applies to the server that asked for it, not to the redirect's target.
        let retry_after = reason.redirect.as_ref().map_or(reason.retry_after, |_| Some(0));
        let Some(secs) = retry_after.filter(|_| self.redirects <= REDIRECTS_MAX) else {
            self.step = Step::Ended;
            return self.enter(State::Ended { reason });
        };
        let wished = Micros::from_ms(1000 * i64::from(secs.min(RETRY_SECS_MAX)));
        let retry_at = match reason.redirect.is_some() && self.redirects == 1 {
            // The player should not notice the change of servers.
            true => now,
            false => now + wished.max(back_off(self.attempt.max(1))),
        };
        self.step = Step::Waiting(retry_at);
        self.enter(State::Waiting { reason, retry_at, attempt: self.attempt });
    }

    /// Returns the reason for an end. If a redirect's target refuses the player for good, the
    /// session does not end but returns to the player's choice.
    fn sent_back(&mut self, reason: Disconnect) -> Disconnect {
        let is_final = reason.retry_after.is_none() && reason.redirect.is_none();
        let is_refused = is_final && self.step != Step::Playing && reason.code != Code::Left;
        let Some(server) = self.redirect.clone().filter(|_| is_refused) else { return reason };
        self.go_back();
        let Redirect { address, .. } = server;
        let text = format!("the server sent you to {address}, which answered: {}", reason.text);
        Disconnect { text, retry_after: Some(0), ..reason }
    }

    /// Returns to the server of the player's choice. A token stays with the server that issued it,
    /// and a ticket is for one server only.
    fn go_back(&mut self) {
        self.ticket = None;
        if self.redirect.take().is_some() {
            self.token = None;
        }
    }

    /// Asks `press` for the player's command of each due tick, if the session plays the game `G`.
    pub fn press<G: Game>(
        &mut self,
        now: LocalTime,
        mut press: impl FnMut(&Client<G>, Tick) -> G::Input,
    ) {
        let is_recorded = self.recorded_inputs.is_some();
        let is_playing = self.step == Step::Playing;
        let Some(client) = self.client_of_mut::<G>().filter(|_| is_playing) else {
            return self.press_with(now, |_, _| None);
        };
        let mut inputs = Vec::new();
        while let Some(tick) = client.poll_tick(now) {
            let input = match client.watching() {
                // A spectator presses nothing.
                Some(_) => <G::Input as Record>::unpack(&[0; FIELDS_MAX]),
                None => press(client, tick).snapped(),
            };
            client.handle_input(now, tick, input);
            if is_recorded {
                inputs.push(input.pack().to_vec());
            }
        }
        self.note(|| SessionInput::Press(now, inputs));
    }

    /// Runs all due ticks with the input of the frame that is drawn next, if the session plays the
    /// game `G`. Call it once per frame, whether or not a tick is due: the time of the frame in
    /// which an action begins is its instant ([`Game::SUBTICKS`]). Returns whether the input was
    /// used; a key that was pressed only briefly must count as held until then.
    pub fn press_frame<G: Game>(
        &mut self,
        now: LocalTime,
        press: impl FnOnce(&Client<G>) -> G::Input,
    ) -> bool {
        let is_playing = self.step == Step::Playing;
        let Some(client) = self.client_of_mut::<G>().filter(|_| is_playing) else { return true };
        let input = match client.watching() {
            // A spectator presses nothing.
            Some(_) => <G::Input as Record>::unpack(&[0; FIELDS_MAX]),
            None => press(client).snapped(),
        };
        let is_used = client.handle_frame_input(now, input);
        self.note(|| SessionInput::PressFrame(now, input.pack().to_vec()));
        is_used
    }

    /// Asks a controller for the player's command of each due tick.
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
            // A spectator presses nothing.
            let idle = client.common().watching().map(|_| [0; FIELDS_MAX]);
            let Some(input) = idle.or_else(|| press(&**client, tick)) else { break };
            client.handle_packed_input(now, tick, &input);
            if self.recorded_inputs.is_some() {
                inputs.push(input.to_vec());
            }
        }
        self.note(|| SessionInput::Press(now, inputs));
    }

    /// Marks the start of a frame; see [`AnyClient::handle_frame`].
    pub fn handle_frame(&mut self, now: LocalTime) {
        self.note(|| SessionInput::Frame(now));
        if let Some(client) = self.client.as_mut().filter(|_| self.step == Step::Playing) {
            client.handle_frame(now);
        }
    }

    /// Takes the next output for the transport.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.poll_output_if(true)
    }

    /// Takes the next output for a transport whose control stream may be full: then control
    /// messages keep waiting, in order. Nothing else ever waits behind them.
    pub fn poll_output_if(&mut self, takes_control: bool) -> Option<Output> {
        let packet = || {
            let client = self.client.as_mut().filter(|_| self.step == Step::Playing)?;
            client.poll_transmit().map(Output::Datagram)
        };
        let is_taken = |output: &mut Output| takes_control || !matches!(output, Output::Control(_));
        self.outputs.pop_front_if(is_taken).or_else(packet)
    }

    /// Takes the next notice for the player. At most [`NOTICES_MAX`] wait; beyond that the oldest
    /// are dropped.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// Drops all notices but those of states and games.
    pub(crate) fn forget_news(&mut self) {
        self.notices.retain(|it| matches!(it, Notice::State(_) | Notice::Game { .. }));
    }

    /// Returns the picture of this moment, if the session plays the game `G`.
    pub fn picture<G: Game>(&mut self, now: LocalTime) -> Option<Picture<G>> {
        let picture = self.client_of_mut::<G>()?.picture(now);
        self.note(|| SessionInput::Picture(now));
        Some(picture)
    }

    /// Advances presentation as [`picture`](Self::picture) does, without drawing.
    pub fn handle_picture(&mut self, now: LocalTime) {
        self.note(|| SessionInput::Picture(now));
        if let Some(client) = &mut self.client {
            client.handle_picture(now);
        }
    }

    /// Sets the method by which a kind is presented, except for the player's own entity. `kind` is
    /// an index into the game's kinds.
    pub fn choose(&mut self, kind: u8, choice: Choice) {
        self.note(|| SessionInput::Choose(kind, choice));
        if let Some(client) = &mut self.client {
            client.choose(kind, choice);
        }
    }

    /// Sets the clock's loop filter, in this game and all following ones.
    pub fn set_loop_filter(&mut self, now: LocalTime, filter: LoopFilter) {
        self.note(|| SessionInput::LoopFilter(now, filter));
        self.config.filter = filter;
        if let Some(client) = &mut self.client {
            client.set_loop_filter(now, filter);
        }
    }

    /// Sets the player's input delay in ticks, at most
    /// [`INPUT_DELAY_TICKS_MAX`](crate::limits::INPUT_DELAY_TICKS_MAX), in this game and all
    /// following ones.
    pub fn set_input_delay(&mut self, ticks: u8) {
        self.note(|| SessionInput::InputDelay(ticks));
        self.config.input_delay = ticks;
        if let Some(client) = &mut self.client {
            client.set_input_delay(ticks);
        }
    }

    /// Returns the token for resuming the last session.
    pub fn token(&self) -> Option<ResumeToken> {
        self.token
    }

    /// Returns the server that the session was redirected to, if it was.
    pub fn redirect(&self) -> Option<&Redirect> {
        self.redirect.as_ref()
    }

    /// Whether the session is on a server that it was redirected to.
    pub fn is_redirected(&self) -> bool {
        self.redirect.is_some()
    }

    /// Returns the connection state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the client of the current game, or of the last one if the server was lost.
    pub fn client(&self) -> Option<&dyn AnyClient> {
        self.client.as_deref()
    }

    /// Returns that client to change it, in ways that a recording may leave out.
    pub fn client_mut(&mut self) -> Option<&mut (dyn AnyClient + 'static)> {
        self.client.as_deref_mut()
    }

    /// Returns the client if it plays the game `G`.
    pub fn client_of<G: Game>(&self) -> Option<&Client<G>> {
        downcast(self.client()?)
    }

    /// Returns the client if it plays the game `G`, to change it in ways that a recording may leave
    /// out.
    pub fn client_of_mut<G: Game>(&mut self) -> Option<&mut Client<G>> {
        (self.client_mut()? as &mut dyn Any).downcast_mut()
    }
}

/// Delay before the `attempt`-th retry: half a second, doubled each time, at most 8 s.
fn back_off(attempt: u32) -> Micros {
    Micros::from_ms(500 << attempt.saturating_sub(1).min(4))
}

mod games;
mod recording;
mod requests;
mod talk;
#[cfg(test)]
mod tests;
