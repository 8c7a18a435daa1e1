//! What members say: chat, quick messages, marks on the map, names and appearance.
//!
//! Each kind has a rate limit per member; what reaches others has a shared one as well. A muted
//! member cannot use any of them.

use super::Room;
use super::orders::line;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{QUICK_MESSAGES_MAX, TEXT_BYTES_MAX};
use crate::server::control::Event;
use crate::server::conversation::clean_line;
use crate::server::member::allowances::Request;
use crate::server::naming::checked;
use crate::server::output::ClientId;
use crate::time::LocalTime;
use crate::wire::control::{Refusal, ServerMessage};
use crate::wire::talk::{Audience, Look, Mark};
use crate::wire::text::clip;

/// Something that a member says, in any form.
pub(super) enum Talk {
    /// A chat line.
    Chat(String),
    /// The number of a quick message.
    Quick(u8),
    /// A mark on the map.
    Mark(Mark),
}

impl Talk {
    /// Checks and cleans what a client sent.
    fn checked(self) -> Result<Self, Refusal> {
        match self {
            Self::Chat(text) => clean_line(&text).map(Self::Chat).ok_or(Refusal::Length),
            Self::Quick(number) if number >= QUICK_MESSAGES_MAX => Err(Refusal::Range),
            Self::Mark(mark) if !mark.is_valid() => Err(Refusal::Range),
            Self::Quick(_) | Self::Mark(_) => Ok(self),
        }
    }

    fn request(&self) -> Request {
        match self {
            Self::Chat(_) => Request::Chat,
            Self::Quick(_) => Request::Quick,
            Self::Mark(_) => Request::Mark,
        }
    }

    fn message(&self, from: PlayerId, to: Audience) -> ServerMessage {
        match self {
            Self::Chat(text) => ServerMessage::Chat { from: Some(from), to, text: text.clone() },
            Self::Quick(number) => ServerMessage::Quick { from, to, number: *number },
            Self::Mark(mark) => ServerMessage::Mark { from, to, mark: *mark },
        }
    }
}

impl<G: Game> Room<G> {
    /// Handles something that a member says.
    pub(super) fn handle_talk(
        &mut self,
        now: LocalTime,
        client: ClientId,
        to: Audience,
        talk: Talk,
    ) -> Result<(), Refusal> {
        let talk = talk.checked()?;
        let Some(player) = self.speaker(now, client, talk.request())? else { return Ok(()) };
        if let Talk::Chat(text) = &talk
            && text.starts_with('/')
            && self.host.config().takes_commands
        {
            self.host.push_event(Event::Asked { player, text: text.clone() });
            return Ok(());
        }
        if self.is_muted(now, client) {
            return Ok(());
        }
        self.say_to(player, to, &talk.message(player, to))?;
        if let Talk::Chat(text) = talk {
            let name = self.seats.member(client).map_or("", |member| member.person().name());
            tracing::info!(name: "player_chat", %player, name, to = to.name(), text, "chat");
            self.host.push_event(Event::Chat { player, to, text });
        }
        Ok(())
    }

    /// Handles a member's request for another name or appearance. A deceptive name is refused as a
    /// newcomer's would be.
    pub(super) fn handle_restyle(
        &mut self,
        now: LocalTime,
        client: ClientId,
        name: &str,
        look: Look,
    ) -> Result<(), Refusal> {
        if name.len() > TEXT_BYTES_MAX {
            return Err(Refusal::Length);
        }
        if !look.is_wish() {
            return Err(Refusal::Range);
        }
        if self.speaker(now, client, Request::Style)?.is_none() {
            return Ok(());
        }
        let wanted = match checked(name) {
            Ok(wanted) => wanted,
            Err(bad) => {
                self.answer(client, &bad.to_string());
                return Ok(());
            }
        };
        let found = self.seats.member(client);
        let before = found.map(|member| member.person().name().to_owned()).unwrap_or_default();
        // A name would be a way to speak.
        if wanted != before && self.is_muted(now, client) {
            return Ok(());
        }
        let name = self.seats.free_name(wanted, Some(client));
        let Some(member) = self.seats.member_mut(client) else { return Ok(()) };
        let person = member.person_mut();
        if person.restyle(name, look) {
            self.show_restyled(client, &before);
        }
        Ok(())
    }

    /// Notifies everybody that a member has another name or look than before.
    pub(super) fn show_restyled(&mut self, client: ClientId, before: &str) {
        let Some(member) = self.seats.member(client) else { return };
        let person = member.person();
        let (player, name) = (person.player(), person.name().to_owned());
        let (seat, profile) = (person.seat(), person.profile());
        self.broadcast(&ServerMessage::Joined(vec![(player, seat)]));
        if self.seats.players().has(client) {
            self.simulation.set_profile(player, profile);
        } else {
            let watching = ServerMessage::Watching { players: vec![player], watching: true };
            self.broadcast(&watching);
        }
        if name != before {
            tracing::info!(name: "player_renamed", %player, before, name, "renamed");
            self.host.push_event(Event::Renamed { player, name });
        }
    }

    /// Takes one request from a member's allowance of its kind, and from the shared one. `None` if
    /// the client is not a member.
    fn speaker(
        &mut self,
        now: LocalTime,
        client: ClientId,
        request: Request,
    ) -> Result<Option<PlayerId>, Refusal> {
        let Some(member) = self.seats.member_mut(client) else { return Ok(None) };
        if !member.may_ask(now, request) {
            return Err(Refusal::TooMany);
        }
        member.attendance_mut().note_activity(now);
        let player = member.person().player();
        match self.conversation.may_talk(now) {
            true => Ok(Some(player)),
            false => Err(Refusal::TooMany),
        }
    }

    /// Returns whether a member is muted, and if so notifies the member.
    fn is_muted(&mut self, now: LocalTime, client: ClientId) -> bool {
        let member = self.seats.member_mut(client);
        let answer = member.and_then(|member| member.person_mut().answer_if_muted(now));
        if let Some(answer) = &answer {
            self.answer(client, answer);
        }
        answer.is_some()
    }

    /// Sends one client a line from the host.
    pub(super) fn answer(&mut self, client: ClientId, text: &str) {
        self.host.send(client, line(clip(text, TEXT_BYTES_MAX).to_owned()));
    }

    /// Sends what a player says to its recipients, including the player. Spectators may see what
    /// players must not know, so only spectators receive what they say.
    fn say_to(
        &mut self,
        from: PlayerId,
        to: Audience,
        message: &ServerMessage,
    ) -> Result<(), Refusal> {
        if self.seats.watchers().players().any(|player| player == from) {
            match to {
                Audience::All => self.send_to_watchers(message),
                Audience::Side => return Err(Refusal::NoSide),
            }
            return Ok(());
        }
        if to == Audience::All {
            self.broadcast(message);
            return Ok(());
        }
        let side = self.simulation.place_of(from).ok_or(Refusal::NoSide)?;
        for (client, member) in self.seats.players().present() {
            let player = member.person().player();
            if player == from || self.simulation.place_of(player) == Some(side) {
                self.host.send(client, message.clone());
            }
        }
        Ok(())
    }
}
