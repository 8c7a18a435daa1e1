//! Commands of the host.

use super::Room;
use crate::fields::{Entity, find_kind};
use crate::game::Game;
use crate::limits::COMMANDS_MAX;
use crate::replay::News;
use crate::server::control::{Command, CommandError};
use crate::server::conversation::clean_line;
use crate::server::draining::DrainOrder;
use crate::server::mute::{Mute, Muted};
use crate::server::output::ClientId;
use crate::server::people::Target;
use crate::time::LocalTime;
use crate::wire::control::ServerMessage;
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::talk::Audience;

/// Returns a line from the host as a message.
pub(super) fn line(text: String) -> ServerMessage {
    ServerMessage::Chat { from: None, to: Audience::All, text }
}

impl<G: Game> Room<G> {
    /// Carries out a command.
    pub(super) fn carry_out(
        &mut self,
        now: LocalTime,
        command: Command,
    ) -> Result<(), CommandError> {
        match command {
            Command::Kick { player, text } => self.expel(Code::Kicked, player, &text)?,
            Command::Ban { player, text } => self.expel(Code::Banned, player, &text)?,
            Command::Offer { player, mut commands } => {
                let client = self.client_of(player)?;
                commands.truncate(COMMANDS_MAX);
                self.host.send(client, ServerMessage::Commands(commands));
            }
            Command::Ghosts { player, ghosts } => self.offer_ghosts(player, ghosts)?,
            Command::SendRun { player, bytes } => self.send_run(player, bytes)?,
            Command::Say { text } => {
                let text = clean_line(&text).ok_or(CommandError::Empty)?;
                self.broadcast(&line(text));
            }
            Command::Mark { text } => {
                let text = clean_line(&text).ok_or(CommandError::Empty)?;
                let recorder = self.simulation.recorder_mut().filter(|it| it.error().is_none());
                recorder.ok_or(CommandError::NotRecorded)?.news(News::Mark(text));
            }
            Command::Tell { player, text } => {
                let text = clean_line(&text).ok_or(CommandError::Empty)?;
                let client = self.client_of(player)?;
                self.host.send(client, line(text));
            }
            Command::Mute { player, mute } => self.mute(now, player, mute)?,
            Command::Undrain => {
                if self.host.undrain() {
                    tracing::info!(name: "room_undrained", "the drain was cancelled");
                    self.broadcast(&line("the server stays up after all".to_owned()));
                }
            }
            Command::Send { kind, rule } => {
                let found = find_kind(G::Entity::kinds(), &kind)?;
                self.host.set_rule(kind, rule);
                self.send_by(found, rule);
            }
            Command::Configure(changes) => self.configure(*changes),
            Command::Drain { goodbye, within, restarts } => {
                self.drain(now, DrainOrder { goodbye, within, restarts });
            }
        }
        Ok(())
    }

    /// Returns the client of a player who is present.
    pub(super) fn client_of(&self, target: Target) -> Result<ClientId, CommandError> {
        let mut everybody = self.seats.everybody();
        let found = everybody.find(|(_, member)| member.is_here() && member.person().is(target));
        found.map(|(client, _)| client).ok_or(CommandError::NoPlayer(target.seat))
    }

    fn mute(
        &mut self,
        now: LocalTime,
        target: Target,
        mute: Option<Mute>,
    ) -> Result<(), CommandError> {
        let mut everybody = self.seats.everybody_mut();
        let found = everybody.find(|seated| seated.member().person().is(target));
        let seated = found.ok_or(CommandError::NoPlayer(target.seat))?;
        let muted = mute.map(|mute| Muted::from(mute, now));
        seated.member_mut().person_mut().mute(muted);
        Ok(())
    }

    fn drain(&mut self, now: LocalTime, order: DrainOrder) {
        let text = order.goodbye.text.clone();
        tracing::info!(
            name: "room_draining",
            %text,
            within_secs = order.within.as_secs(),
            "draining"
        );
        self.host.drain(now, order, self.simulation.rounds_played());
        if let Some(text) = clean_line(&text) {
            self.broadcast(&line(text));
        }
    }

    /// Announces the remaining time of a drained server.
    pub(super) fn count_down(&mut self, now: LocalTime) {
        if let Some(text) = self.host.count_down(now) {
            self.broadcast(&line(text));
        }
    }

    /// Removes a player, and keeps the goodbye if the player is away.
    fn expel(&mut self, code: Code, target: Target, text: &str) -> Result<(), CommandError> {
        if self.seats.is_bot(target.seat) {
            return Err(CommandError::Bot(target.seat));
        }
        let member = self.seats.everybody().find(|(_, member)| member.person().is(target));
        let (client, member) = member.ok_or(CommandError::NoPlayer(target.seat))?;
        let (key, away_until) = (member.person().key(), member.attendance().away_until());
        let text = clean_line(text).unwrap_or_else(|| "the host kicked you".into());
        let goodbye = Disconnect::new(code, text);
        if let Some(until) = away_until {
            self.host.keep_farewell(key, goodbye.clone(), until);
        }
        self.close(client, goodbye);
        Ok(())
    }
}
