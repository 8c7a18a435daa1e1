//! Talk of members: chat, quick messages, marks on the map, names and looks.
//!
//! Each kind has a rate for one member; what reaches others has one for everybody together. A
//! member who is muted says nothing in any of these ways.

use super::Room;
use crate::game::{Game, Profile};
use crate::ids::PlayerId;
use crate::limits::{QUICK_MESSAGES_MAX, TEXT_BYTES_MAX};
use crate::server::allowance::TalkAllowance;
use crate::server::bucket::{Bucket, RequestLimit};
use crate::server::control::Event;
use crate::server::member::Seated;
use crate::server::naming::{checked, free_name};
use crate::server::output::ClientId;
use crate::time::{LocalTime, Micros};
use crate::wire::control::{Refusal, Seat, ServerMessage};
use crate::wire::talk::{Audience, Look, Mark, person};
use crate::wire::text::{clip, one_line};

/// Chat: a quick exchange, and no more than anybody reads. Arbitrary.
const CHAT: RequestLimit = RequestLimit { burst: 4, interval: Micros::from_ms(1000) };
/// Quick messages: as chat. Arbitrary.
const QUICK: RequestLimit = RequestLimit { burst: 3, interval: Micros::from_ms(1500) };
/// Marks: here, there, and there again. Arbitrary.
const MARKS: RequestLimit = RequestLimit { burst: 4, interval: Micros::from_ms(1000) };
/// Names and looks: somebody tries three, and settles for one. Arbitrary.
const STYLES: RequestLimit = RequestLimit { burst: 3, interval: Micros::from_ms(10_000) };
/// All of it by everybody together: it may not displace a slow reader's game. Arbitrary.
const OF_ALL: RequestLimit = RequestLimit { burst: 32, interval: Micros::from_ms(125) };

/// A text as others may see it: [one line](one_line) without blanks around it, at most
/// [`TEXT_BYTES_MAX`] bytes; none if nothing is left.
pub(super) fn clean_line(text: &str) -> Option<String> {
    let visible = one_line(text);
    let line = clip(visible.trim(), TEXT_BYTES_MAX).trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

impl<G: Game> Room<G> {
    /// A member wrote a line.
    pub(super) fn handle_chat(
        &mut self,
        now: LocalTime,
        client: ClientId,
        (to, text): (Audience, &str),
    ) -> Result<(), Refusal> {
        let text = clean_line(text).ok_or(Refusal::Length)?;
        let Some(player) = self.speaker(now, client, |member| &mut member.chat, CHAT)? else {
            return Ok(());
        };
        if text.starts_with('/') && self.host.config.takes_commands {
            self.host.tell(Event::Asked { player, text });
            return Ok(());
        }
        if self.is_muted(now, client) {
            return Ok(());
        }
        let message = ServerMessage::Chat { from: Some(player), to, text: text.clone() };
        self.say_to(player, to, &message)?;
        let found = self.everybody().find(|(id, _)| *id == client);
        let name = found.map_or("", |(_, member)| &member.name);
        tracing::info!(name: "player_chat", %player, name, to = to.name(), text, "chat");
        self.host.tell(Event::Chat { player, to, text });
        Ok(())
    }

    /// A member chose a quick message.
    pub(super) fn handle_quick(
        &mut self,
        now: LocalTime,
        client: ClientId,
        (to, number): (Audience, u8),
    ) -> Result<(), Refusal> {
        if number >= QUICK_MESSAGES_MAX {
            return Err(Refusal::Range);
        }
        let speaker = self.speaker(now, client, |member| &mut member.quick, QUICK)?;
        match speaker {
            Some(from) if !self.is_muted(now, client) => {
                self.say_to(from, to, &ServerMessage::Quick { from, to, number })
            }
            _ => Ok(()),
        }
    }

    /// A member set a mark.
    pub(super) fn handle_mark(
        &mut self,
        now: LocalTime,
        client: ClientId,
        (to, mark): (Audience, Mark),
    ) -> Result<(), Refusal> {
        if !mark.is_valid() {
            return Err(Refusal::Range);
        }
        let speaker = self.speaker(now, client, |member| &mut member.marks, MARKS)?;
        match speaker {
            Some(from) if !self.is_muted(now, client) => {
                self.say_to(from, to, &ServerMessage::Mark { from, to, mark })
            }
            _ => Ok(()),
        }
    }

    /// A member wishes for another name or other looks. A name that deceives is answered as to a
    /// newcomer.
    pub(super) fn handle_restyle(
        &mut self,
        now: LocalTime,
        client: ClientId,
        (name, look): (&str, Look),
    ) -> Result<(), Refusal> {
        if name.len() > TEXT_BYTES_MAX {
            return Err(Refusal::Length);
        }
        if !look.is_wish() {
            return Err(Refusal::Range);
        }
        let Some(player) = self.speaker(now, client, |member| &mut member.styles, STYLES)? else {
            return Ok(());
        };
        let wanted = match checked(name) {
            Ok(wanted) => wanted,
            Err(bad) => {
                self.answer(client, &bad.to_string());
                return Ok(());
            }
        };
        let found = self.everybody().find(|(id, _)| *id == client);
        let before = found.map(|(_, member)| member.name.clone()).unwrap_or_default();
        // A name would be a way to speak.
        if wanted != before && self.is_muted(now, client) {
            return Ok(());
        }
        let people = self.everybody().filter(|(id, _)| *id != client);
        let people = people.map(|(_, member)| &*member.name);
        let name = free_name(people.chain(self.bots.values().map(|it| &*it.name)), wanted);
        let Some(Seated { member, .. }) = self.seated_mut(client) else { return Ok(()) };
        let look = look.worn_by(person(member.key));
        if member.name == name && member.look == look {
            return Ok(());
        }
        (member.name, member.look) = (name.clone(), look);
        let seat = member.seat();
        let profile = Profile { name: name.clone(), key: Some(member.key) };
        if self.members.contains_key(&client) {
            self.world.set_profile(player, Some(profile));
        }
        let watching = !self.members.contains_key(&client);
        self.broadcast(&ServerMessage::Joined(vec![(player, seat)]));
        if watching {
            self.broadcast(&ServerMessage::Watching { players: vec![player], watching });
        }
        if name != before {
            tracing::info!(name: "player_renamed", %player, before, name, "renamed");
            self.host.tell(Event::Renamed { player, name });
        }
        Ok(())
    }

    /// Takes one request off a member's allowance of its kind. None: no member.
    fn speaker(
        &mut self,
        now: LocalTime,
        client: ClientId,
        allowance: impl Fn(&mut TalkAllowance) -> &mut Bucket,
        limit: RequestLimit,
    ) -> Result<Option<PlayerId>, Refusal> {
        let Some(Seated { member, .. }) = self.seated_mut(client) else { return Ok(None) };
        let is_within = allowance(&mut member.talk).take(now, limit);
        let player = member.player;
        if is_within {
            member.activity.note(now);
        }
        if !is_within || !self.host.talk.take(now, OF_ALL) {
            return Err(Refusal::TooMany);
        }
        Ok(Some(player))
    }

    /// Tells whether a member is muted, and if so that member as well.
    fn is_muted(&mut self, now: LocalTime, client: ClientId) -> bool {
        let Some(Seated { member, .. }) = self.seated_mut(client) else { return false };
        member.muted.take_if(|mute| !mute.holds(now));
        let Some(mute) = &member.muted else { return false };
        let answer = mute.answer(now);
        self.answer(client, &answer);
        true
    }

    /// Tells one client a line in the host's name.
    fn answer(&mut self, client: ClientId, text: &str) {
        let text = clip(text, TEXT_BYTES_MAX).to_owned();
        let line = ServerMessage::Chat { from: None, to: Audience::All, text };
        self.host.send(client, line);
    }

    /// Sends what a player says to those whom it is for, the player included. Watchers may see
    /// what players may not, so they are heard by watchers alone.
    fn say_to(
        &mut self,
        from: PlayerId,
        to: Audience,
        message: &ServerMessage,
    ) -> Result<(), Refusal> {
        if self.gallery.watchers.values().any(|seated| seated.member.player == from) {
            match to {
                Audience::All => self.tell_watchers(message),
                Audience::Side => return Err(Refusal::NoSide),
            }
            return Ok(());
        }
        let side_of = |player| (G::KIT.sides.of)(&self.world.entities, player);
        let side = match to {
            Audience::All => {
                self.broadcast(message);
                return Ok(());
            }
            Audience::Side => side_of(from).ok_or(Refusal::NoSide)?,
        };
        let hears = |player| player == from || side_of(player) == Some(side);
        let present = self.present().filter(|(_, member)| hears(member.player));
        let clients: Vec<_> = present.map(|(client, _)| client).collect();
        for client in clients {
            self.host.send(client, message.clone());
        }
        Ok(())
    }
}

impl crate::server::member::Member {
    /// The member's seat, as everybody is told of it.
    pub(super) fn seat(&self) -> Seat {
        let person = Some(person(self.key));
        Seat { name: self.name.clone(), bot: false, look: self.look, person }
    }
}

/// The seat of a bot, as everybody is told of it.
pub(super) fn bot_seat(player: PlayerId, name: &str) -> Seat {
    Seat { name: name.to_owned(), bot: true, look: Look::of_bot(player), person: None }
}
