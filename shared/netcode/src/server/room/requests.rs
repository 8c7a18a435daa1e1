//! Control messages of members, which are hostile: this file decodes all of them, limits their
//! rate, and answers those that are refused.

use super::Room;
use super::talk::Talk;
use crate::game::Game;
use crate::server::member::allowances::Request;
use crate::server::output::ClientId;
use crate::time::LocalTime;
use crate::wire::WireError;
use crate::wire::control::{ClientMessage, Refusal, ServerMessage};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::snapshot::KindSet;

impl<G: Game> Room<G> {
    /// Handles a member's message. One that cannot be decoded ends the session.
    pub(super) fn handle_request(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        let message = match ClientMessage::parse(body) {
            Ok(ClientMessage::Hello(_) | ClientMessage::Query) => {
                let text = "protocol error: your client sent another hello";
                return self.close(client, Disconnect::new(Code::Protocol, text));
            }
            Ok(message) => message,
            Err(WireError::Message(kind)) => return self.refuse(client, kind, Refusal::Unknown),
            Err(error) => {
                let text = format!("protocol error: {error}");
                return self.close(client, Disconnect::new(Code::Protocol, text));
            }
        };
        let kind = message.kind();
        if let Err(refusal) = self.handle_message(now, client, message) {
            self.refuse(client, kind, refusal);
        }
    }

    fn handle_message(
        &mut self,
        now: LocalTime,
        client: ClientId,
        message: ClientMessage,
    ) -> Result<(), Refusal> {
        match message {
            ClientMessage::Chat { to, text } => self.handle_talk(now, client, to, Talk::Chat(text)),
            ClientMessage::Quick { to, number } => {
                self.handle_talk(now, client, to, Talk::Quick(number))
            }
            ClientMessage::Mark { to, mark } => self.handle_talk(now, client, to, Talk::Mark(mark)),
            ClientMessage::Game { number, bytes } => self.handle_game(now, client, number, &bytes),
            ClientMessage::Round(request) => self.handle_round(now, client, request),
            ClientMessage::Watch { on } => self.handle_watch(now, client, on),
            ClientMessage::Early { number, kinds } => {
                self.handle_early(now, client, (number, KindSet::from_bits(kinds)));
                Ok(())
            }
            ClientMessage::Ghosts(request) => {
                self.handle_ghosts(now, client, request);
                Ok(())
            }
            ClientMessage::Restyle { name, look } => self.handle_restyle(now, client, &name, look),
            // The driver passes a client's first message to another method.
            ClientMessage::Hello(_) | ClientMessage::Query => Err(Refusal::Unknown),
        }
    }

    /// Notifies a client that its request was refused.
    fn refuse(&mut self, client: ClientId, request: u32, refusal: Refusal) {
        if let Some(member) = self.seats.member_mut(client) {
            member.stats_mut().requests_refused += 1;
        }
        self.host.send(client, ServerMessage::Refused { request, refusal });
    }

    /// Notes of which kinds a client wants to know early inputs, in the game of this number. No
    /// player asked for it, so none is told of a refusal.
    fn handle_early(&mut self, now: LocalTime, client: ClientId, (number, kinds): (u8, KindSet)) {
        // A spectator sees the past.
        if !self.seats.players().has(client) {
            return;
        }
        let Some(seated) = self.seats.seated_mut(client) else { return };
        let is_current = number == seated.member().attendance().number(self.host.number());
        if seated.member_mut().may_ask(now, Request::Early) && is_current {
            seated.set_early(kinds);
        }
    }

    fn handle_game(
        &mut self,
        now: LocalTime,
        client: ClientId,
        number: u8,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        if !self.seats.players().has(client) {
            return Ok(());
        }
        let Some(member) = self.seats.member_mut(client) else { return Ok(()) };
        if !member.may_ask(now, Request::Game) {
            return Err(Refusal::TooMany);
        }
        if number != member.attendance().number(self.host.number()) {
            return Err(Refusal::Game);
        }
        let player = member.person().player();
        self.simulation.request(player, bytes).map_err(|_| Refusal::Game)
    }
}
