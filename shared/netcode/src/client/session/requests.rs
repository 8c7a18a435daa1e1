//! Requests of the player to the server.

use serde::Serialize;

use super::{Session, Step};
use crate::client::fed::Fed;
use crate::client::output::{Notice, Output};
use crate::game::{MessageError, write_message};
use crate::limits::TEXT_BYTES_MAX;
use crate::time::LocalTime;
use crate::wire::control::{ClientMessage, frame};
use crate::wire::round::{Poll, RoundNotice, RoundRequest};
use crate::wire::text::clip;

/// Requests that wait for the transport; of more the newest are lost.
const REQUESTS_MAX: usize = 64;

impl Session {
    /// Says a line to everybody. The line is clipped to [`TEXT_BYTES_MAX`] bytes; a server refuses
    /// lines that come too fast.
    pub fn chat(&mut self, text: &str) -> Result<(), MessageError> {
        self.note(|| Fed::Chat(text.into()));
        self.ask(&ClientMessage::Chat { text: clip(text, TEXT_BYTES_MAX).into() })
    }

    /// Sends a request about the round: readiness, side, votes.
    pub fn ask_round(&mut self, request: RoundRequest) -> Result<(), MessageError> {
        self.note(|| Fed::Round(request.clone()));
        self.ask(&ClientMessage::Round(request))
    }

    /// Sends a request to the game.
    pub fn request<R: Serialize>(&mut self, request: &R) -> Result<(), MessageError> {
        self.request_bytes(write_message(request)?)
    }

    /// Sends a request to the game that [`write_message`] wrote.
    pub fn request_bytes(&mut self, bytes: Vec<u8>) -> Result<(), MessageError> {
        self.note(|| Fed::Request(bytes.clone()));
        let number = self.client.as_ref().map_or(0, |client| client.common().number);
        self.ask(&ClientMessage::Game { number, bytes })
    }

    /// News about the round came.
    pub(super) fn handle_round(&mut self, notice: RoundNotice, arrival: LocalTime) {
        let Some(client) = &mut self.client else { return };
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

    /// Sends a request, as long as few enough wait for the transport.
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
