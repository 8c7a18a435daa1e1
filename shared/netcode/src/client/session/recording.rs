//! Recordings of a session: the local player's motion, and all input.

use super::{Session, Step};
use crate::client::last_minutes::{LastMinutes, SavedPart};
use crate::client::output::{MotionSample, Notice};
use crate::client::session_input::SessionInput;
use crate::fields::Packed;
use crate::limits::{FIELDS_MAX, MOTION_MAX};
use crate::time::{LocalTime, Micros};
use crate::wire::control::ServerMessage;

impl Session {
    /// Starts recording the local player's motion, for [`poll_motion`](Self::poll_motion).
    pub fn record_motion(&mut self) {
        self.motion.get_or_insert_default();
        if let Some(client) = &mut self.client {
            client.record_motion(true);
        }
    }

    /// Takes the next state of the local player's motion. At most [`MOTION_MAX`] wait; beyond that
    /// the oldest are dropped.
    pub fn poll_motion(&mut self) -> Option<MotionSample> {
        self.collect_motion();
        self.motion.as_mut()?.pop_front()
    }

    pub(super) fn collect_motion(&mut self) {
        let (Some(motion), Some(client)) = (&mut self.motion, &mut self.client) else { return };
        while let Some(recorded) = client.poll_motion() {
            if motion.len() >= MOTION_MAX {
                motion.pop_front();
            }
            let (game, kinds) = (client.game_name(), client.kinds());
            let (rates, seed) = (client.common().rates(), client.common().seed());
            motion.push_back(MotionSample {
                game,
                kinds,
                rates,
                seed,
                stay: self.stays - 1,
                recorded,
            });
        }
    }

    /// Starts recording all input, for [`poll_input`](Self::poll_input). The recording ends when
    /// [`RECORDED_INPUTS_MAX`](crate::limits::RECORDED_INPUTS_MAX) entries are waiting.
    pub fn record(&mut self) {
        self.recorded_inputs.get_or_insert_default();
    }

    /// Takes the next entry of the recording.
    pub fn poll_input(&mut self) -> Option<SessionInput> {
        self.recorded_inputs.as_mut()?.pop_front()
    }

    /// Starts or stops keeping the last minutes of the session. Stopping discards them.
    pub fn keep_minutes(&mut self, on: bool) {
        if on == self.minutes.is_some() {
            return;
        }
        self.minutes = on.then(LastMinutes::default);
        if let Some(client) = &mut self.client {
            client.record_footage(self.origin.clone().filter(|_| on));
        }
    }

    /// Whether the last minutes of the session are kept.
    pub fn keeps_minutes(&self) -> bool {
        self.minutes.is_some()
    }

    /// Returns the last minutes of the session up to half a second ago, if they are kept: a file
    /// for each game, oldest first.
    pub fn save_last_minutes(&mut self, now: LocalTime) -> Vec<SavedPart> {
        self.cut_footage(now);
        self.minutes.as_ref().map(LastMinutes::save).unwrap_or_default()
    }

    /// Keeps something that was said and that the player has read. What is said by people who are
    /// muted is not kept.
    pub fn keep_said(&mut self, notice: &Notice) {
        let (Some(client), Some(message)) = (&mut self.client, said(notice)) else { return };
        client.note_footage(&message);
    }

    /// Ends what is recorded of the present game so far.
    pub(super) fn cut_footage(&mut self, now: LocalTime) {
        if let Some(client) = self.client.as_mut().filter(|_| self.minutes.is_some()) {
            client.cut_footage();
        }
        self.collect_footage(now);
    }

    pub(super) fn collect_footage(&mut self, now: LocalTime) {
        let (Some(minutes), Some(client)) = (&mut self.minutes, &mut self.client) else { return };
        while let Some(piece) = client.poll_footage() {
            minutes.push(now, client.game_name(), piece);
        }
    }

    /// Reports a delay caused by the machine; see
    /// [`AnyClient::handle_held`](crate::client::AnyClient::handle_held). Not recorded, because no
    /// picture depends on it.
    pub fn handle_held(&mut self, now: LocalTime, held: Micros) {
        if let Some(client) = self.client.as_mut().filter(|_| self.step == Step::Playing) {
            client.handle_held(now, held);
        }
    }

    /// Replays an entry of a recording that was made with the same configuration.
    /// [`SessionInput::Picture`] draws nothing; call [`picture`](Self::picture) with its time to
    /// draw.
    pub fn replay(&mut self, input: &SessionInput) {
        match input {
            SessionInput::Connected(now, credentials) => self.handle_connected(*now, *credentials),
            SessionInput::Control(at, body) => self.handle_control(body, *at),
            SessionInput::Datagram(at, bytes) => {
                self.handle_datagram(bytes, *at);
            }
            SessionInput::Lost(now, reason) => self.handle_lost(*now, reason.clone()),
            SessionInput::Timeout(now) => self.handle_timeout(*now),
            SessionInput::Frame(now) => self.handle_frame(*now),
            SessionInput::Press(now, inputs) => {
                let mut inputs = inputs.iter();
                self.press_with(*now, |_, _| Some(filled(inputs.next()?)));
            }
            SessionInput::PressFrame(now, input) => {
                let client = self.client.as_mut().filter(|_| self.step == Step::Playing);
                if let Some(client) = client {
                    client.handle_packed_frame(*now, &filled(input));
                }
            }
            SessionInput::Picture(now) => self.handle_picture(*now),
            SessionInput::Choose(kind, choice) => self.choose(*kind, *choice),
            SessionInput::LoopFilter(now, filter) => self.set_loop_filter(*now, *filter),
            // What was not sent then is not sent now.
            SessionInput::Chat(to, text) => drop(self.say(*to, text)),
            SessionInput::Quick(to, number) => drop(self.say_quick(*to, *number)),
            SessionInput::Mark(to, mark) => drop(self.mark(*to, *mark)),
            SessionInput::Restyle(name, look) => drop(self.restyle(name, *look)),
            SessionInput::Request(bytes) => drop(self.request_bytes(bytes.clone())),
            SessionInput::Round(request) => drop(self.ask_round(request.clone())),
            SessionInput::Watch(on) => drop(self.watch(*on)),
            SessionInput::InputDelay(ticks) => self.set_input_delay(*ticks),
            SessionInput::Ghost(choice) => self.choose_ghost(choice.clone()),
            SessionInput::Leave(reason) => self.leave(reason),
        }
        // Packets are numbered when they are fetched.
        while self.poll_output().is_some() {}
    }
}

/// Returns the message of something that was said.
fn said(notice: &Notice) -> Option<ServerMessage> {
    match notice {
        Notice::Chat { from, to, text } => {
            let from = from.as_ref().map(|from| from.player);
            Some(ServerMessage::Chat { from, to: *to, text: text.clone() })
        }
        Notice::Quick { from, to, number } => {
            Some(ServerMessage::Quick { from: from.player, to: *to, number: *number })
        }
        Notice::Mark { from, to, mark } => {
            Some(ServerMessage::Mark { from: from.player, to: *to, mark: *mark })
        }
        _ => None,
    }
}

/// Returns a recorded input as a packed record.
fn filled(recorded: &[u32]) -> Packed {
    let mut packed = [0; FIELDS_MAX];
    packed.iter_mut().zip(recorded).for_each(|(to, from)| *to = *from);
    packed
}
