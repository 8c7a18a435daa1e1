//! Requests of the player to the server.

use serde::Serialize;

use super::{Session, Step};
use crate::client::ghosts::GhostChoice;
use crate::client::output::{Notice, Output, Part};
use crate::client::session_input::SessionInput;
use crate::game::{MessageError, write_message};
use crate::limits::TEXT_BYTES_MAX;
use crate::time::{LocalTime, Micros};
use crate::wire::control::{
    ClientMessage, ServerMessage, WISH_GAME, WISH_PLAIN, WISH_SILENCE, WISH_WAIT, WISH_WATCH, frame,
};
use crate::wire::round::{Poll, RoundNotice, RoundRequest};
use crate::wire::talk::{Audience, Look, Mark};
use crate::wire::text::clip;

/// Minimum time between two messages about early steering: the server's allowance.
const EARLY_INTERVAL: Micros = Micros::from_ms(250);
/// Maximum number of requests waiting for the transport; beyond that new ones are refused.
const REQUESTS_MAX: usize = 64;

impl Session {
    /// Returns the games of a hello and the number of preferred ones, which come first.
    pub(super) fn games_and_wishes(&self) -> (Vec<(String, u64)>, u32) {
        let mut games = self.config.games.hashes(self.config.plain);
        let is_wished = |(name, _): &(String, u64)| Some(name) == self.config.game.as_ref();
        let wished = games.iter().position(is_wished);
        if let Some(at) = wished {
            games[..=at].rotate_right(1);
        }
        let coding = if self.config.plain { WISH_PLAIN } else { WISH_SILENCE };
        let part = match self.config.part {
            Part::Play => 0,
            Part::Watch => WISH_WATCH,
            Part::Wait => WISH_WAIT,
        };
        (games, coding | part | wished.map_or(0, |_| WISH_GAME))
    }

    /// Sends a chat line to all players; see [`say`](Self::say).
    pub fn chat(&mut self, text: &str) -> Result<(), MessageError> {
        self.say(Audience::All, text)
    }

    /// Sends a chat line, clipped to [`TEXT_BYTES_MAX`] bytes. The server refuses lines that come
    /// too fast.
    pub fn say(&mut self, to: Audience, text: &str) -> Result<(), MessageError> {
        self.note(|| SessionInput::Chat(to, text.into()));
        self.ask(&ClientMessage::Chat { to, text: clip(text, TEXT_BYTES_MAX).into() })
    }

    /// Sends a quick message, by number.
    pub fn say_quick(&mut self, to: Audience, number: u8) -> Result<(), MessageError> {
        self.note(|| SessionInput::Quick(to, number));
        self.ask(&ClientMessage::Quick { to, number })
    }

    /// Sets a mark on the map.
    pub fn mark(&mut self, to: Audience, mark: Mark) -> Result<(), MessageError> {
        self.note(|| SessionInput::Mark(to, mark));
        self.ask(&ClientMessage::Mark { to, mark })
    }

    /// Asks for another name and appearance, now and in later sessions.
    pub fn restyle(&mut self, name: &str, look: Look) -> Result<(), MessageError> {
        self.note(|| SessionInput::Restyle(name.into(), look));
        let name = clip(name, TEXT_BYTES_MAX).to_owned();
        (self.config.name, self.config.look) = (name.clone(), look);
        self.ask(&ClientMessage::Restyle { name, look })
    }

    /// Sends a request about the round, such as readiness, a side or a vote.
    pub fn ask_round(&mut self, request: RoundRequest) -> Result<(), MessageError> {
        self.note(|| SessionInput::Round(request.clone()));
        self.ask(&ClientMessage::Round(request))
    }

    /// Becomes a spectator, or plays as soon as a seat is free.
    pub fn watch(&mut self, on: bool) -> Result<(), MessageError> {
        self.note(|| SessionInput::Watch(on));
        self.ask(&ClientMessage::Watch { on })?;
        // This also applies when the server is joined again.
        self.config.part = if on { Part::Watch } else { Part::Wait };
        Ok(())
    }

    /// Sends a request to the game.
    pub fn request<R: Serialize>(&mut self, request: &R) -> Result<(), MessageError> {
        self.request_bytes(write_message(request)?)
    }

    /// Sends a request to the game that was encoded by [`write_message`].
    pub fn request_bytes(&mut self, bytes: Vec<u8>) -> Result<(), MessageError> {
        self.note(|| SessionInput::Request(bytes.clone()));
        let number = self.client.as_ref().map_or(0, |client| client.common().number);
        self.ask(&ClientMessage::Game { number, bytes })
    }

    /// Tells the server which kinds are shown by the rules, if that has changed and the last
    /// message is old enough.
    pub(super) fn tell_early(&mut self, now: LocalTime) {
        let asks = self.config.early && self.step == Step::Playing;
        let Some(client) = self.client.as_ref().filter(|_| asks) else {
            return;
        };
        let (number, kinds) = (client.common().number, client.early());
        let (told, at) = self.early_told;
        if kinds == told || at.is_some_and(|at| now - at < EARLY_INTERVAL) {
            return;
        }
        // If too many requests are waiting, the server is told later.
        if self.ask(&ClientMessage::Early { number, kinds: kinds.to_bits() }).is_ok() {
            self.early_told = (kinds, Some(now));
        }
    }

    /// Chooses the ghost that the player races, in this game and all following ones.
    pub fn choose_ghost(&mut self, choice: GhostChoice) {
        self.note(|| SessionInput::Ghost(choice.clone()));
        self.config.ghost = choice.clone();
        self.ghosts.choose(choice);
    }

    /// Asks for ghosts, and shows the chosen one once it has come.
    pub(super) fn ask_ghosts(&mut self, now: LocalTime) {
        let client = self.client.as_mut().filter(|_| self.step == Step::Playing);
        let Some((client, raced)) = client.and_then(|it| it.raced().map(|raced| (it, raced)))
        else {
            return;
        };
        let ghost = self.ghosts.fetched();
        let wanted = ghost.as_ref().map(|ghost| ghost.hash);
        if wanted != raced && !client.race(ghost.as_ref()) {
            wanted.into_iter().for_each(|hash| self.ghosts.refuse(hash));
        }
        if let Some(request) = self.ghosts.poll_request(now) {
            // If too many requests are waiting, it is asked again later.
            let _ = self.ask(&ClientMessage::Ghosts(request));
        }
    }

    /// Handles a notice about the round.
    pub(super) fn handle_round(&mut self, notice: RoundNotice, arrival: LocalTime) {
        let Some(client) = &mut self.client else { return };
        // What is allowed here makes no difference to a recording.
        if !matches!(notice, RoundNotice::House(_)) {
            client.note_footage(&ServerMessage::Round(notice.clone()));
        }
        let common = client.common_mut();
        let told = match &notice {
            RoundNotice::Poll(poll) => {
                let is_same = |(it, _): &(Poll, _)| (it.by, &it.motion) == (poll.by, &poll.motion);
                let is_known = common.poll.as_ref().is_some_and(is_same);
                let by = common.roster.get(&poll.by).map_or("", |seat| &seat.name).to_owned();
                (!is_known).then(|| Notice::Called { by, motion: poll.motion.clone() })
            }
            RoundNotice::Voted { motion, outcome } => {
                Some(Notice::Voted { motion: motion.clone(), outcome: *outcome })
            }
            RoundNotice::House(_) | RoundNotice::Presence(_) => None,
        };
        common.handle_round(notice, arrival);
        if let Some(told) = told {
            self.notify(told);
        }
    }

    /// Queues a request, unless too many are waiting for the transport.
    fn ask(&mut self, request: &ClientMessage) -> Result<(), MessageError> {
        if self.step != Step::Playing {
            return Err(MessageError::NotConnected);
        }
        if self.outputs.len() >= REQUESTS_MAX {
            return Err(MessageError::TooMany);
        }
        let framed = frame(request).map_err(|_| MessageError::Long)?;
        self.outputs.push_back(Output::Control(framed));
        Ok(())
    }
}
