//! Requests of members, and orders of the host.

use super::bucket::RequestLimit;
use super::control::{Command, CommandError, Event};
use super::member::Seated;
use super::output::ClientId;
use super::people::Muted;
use super::room::Room;
use super::rotation::Draining;
use crate::fields::{Entity, find_kind};
use crate::game::Game;
use crate::limits::{RESUME_MAX, TEXT_BYTES_MAX};
use crate::time::{LocalTime, Micros};
use crate::wire::WireError;
use crate::wire::control::{ClientMessage, Refusal, ServerMessage};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::text::{clip, printable};

/// Chat: a quick exchange, and no more than anybody reads. Arbitrary.
const CHAT: RequestLimit = RequestLimit { burst: 4, interval: Micros::from_ms(1000) };
/// Chat of everybody together: it may not displace a slow reader's game. Arbitrary.
const CHAT_OF_ALL: RequestLimit = RequestLimit { burst: 32, interval: Micros::from_ms(125) };
/// Seconds before the end of a drained server at which players are told.
const COUNTDOWN: [i64; 9] = [1, 2, 3, 4, 5, 10, 30, 60, 300];
/// Farewells that wait. Arbitrary.
const FAREWELLS_MAX: usize = 256;
/// Requests to the game. Arbitrary; inputs are for what happens all the time.
const REQUESTS: RequestLimit = RequestLimit { burst: 8, interval: Micros::from_ms(250) };

/// A line as others may see it: printable, without blanks around it, at most [`TEXT_BYTES_MAX`]
/// bytes; none if nothing is left.
fn clean_line(text: &str) -> Option<String> {
    let visible = printable(text);
    let line = clip(visible.trim(), TEXT_BYTES_MAX).trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

impl<G: Game> Room<G> {
    /// A message of a member.
    pub(super) fn handle_request(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        let done = match ClientMessage::parse(body) {
            Ok(ClientMessage::Chat { text }) => {
                self.handle_chat(now, client, &text).map_err(|refusal| (2, refusal))
            }
            Ok(ClientMessage::Game { number, bytes }) => {
                self.handle_game(now, client, number, &bytes).map_err(|refusal| (3, refusal))
            }
            Ok(ClientMessage::Round(request)) => {
                self.handle_round(now, client, request).map_err(|refusal| (4, refusal))
            }
            Ok(ClientMessage::Hello(_) | ClientMessage::Query) => {
                let text = "protocol error: your client sent another hello";
                return self.close(client, Disconnect::new(Code::Protocol, text));
            }
            Err(WireError::Message(kind)) => Err((kind, Refusal::Unknown)),
            Err(error) => {
                let text = format!("protocol error: {error}");
                return self.close(client, Disconnect::new(Code::Protocol, text));
            }
        };
        if let Err((request, refusal)) = done {
            if let Some(seated) = self.members.get_mut(&client) {
                seated.member.stats.requests_refused += 1;
            }
            self.host.send(client, ServerMessage::Refused { request, refusal });
        }
    }

    fn handle_chat(&mut self, now: LocalTime, client: ClientId, text: &str) -> Result<(), Refusal> {
        let Some(Seated { member, .. }) = self.members.get_mut(&client) else { return Ok(()) };
        let text = clean_line(text).ok_or(Refusal::Length)?;
        if !member.chat.take(now, CHAT) || !self.host.chat.take(now, CHAT_OF_ALL) {
            return Err(Refusal::TooMany);
        }
        member.activity.note(now);
        let player = member.player;
        if text.starts_with('/') && self.host.config.takes_commands {
            self.host.tell(Event::Asked { player, text });
            return Ok(());
        }
        member.muted.take_if(|mute| !mute.holds(now));
        if let Some(mute) = &member.muted {
            let text = clip(&mute.answer(now), TEXT_BYTES_MAX).to_owned();
            self.host.send(client, ServerMessage::Chat { from: None, text });
            return Ok(());
        }
        tracing::info!(%player, name = member.name, text, "chat");
        self.broadcast(&ServerMessage::Chat { from: Some(player), text: text.clone() });
        self.host.tell(Event::Chat { player, text });
        Ok(())
    }

    fn handle_game(
        &mut self,
        now: LocalTime,
        client: ClientId,
        number: u8,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        let Some(Seated { member, .. }) = self.members.get_mut(&client) else { return Ok(()) };
        if !member.requests.take(now, REQUESTS) {
            return Err(Refusal::TooMany);
        }
        if number != self.host.number {
            return Err(Refusal::Game);
        }
        let player = member.player;
        (G::KIT.request)(&self.game, &mut self.world, player, bytes).map_err(|_| Refusal::Game)?;
        self.world.snap();
        Ok(())
    }

    /// Tells everybody how long a drained server plays on.
    pub(super) fn count_down(&mut self, now: LocalTime) {
        let Some(draining) = &mut self.host.draining else { return };
        // A tick may be late for several of them.
        let left = (draining.end - now).0;
        let due = draining.countdown.iter().filter(|secs| left <= **secs * 1_000_000).count();
        let kept = draining.countdown.len() - due;
        let Some(secs) = draining.countdown.drain(kept..).next() else { return };
        let text = format!("the server stops in {secs} s");
        self.broadcast(&ServerMessage::Chat { from: None, text });
    }

    /// Carries out an order.
    pub(super) fn carry_out(
        &mut self,
        now: LocalTime,
        command: Command,
    ) -> Result<(), CommandError> {
        match command {
            Command::Kick { player, text } => {
                if self.bots.contains_key(&player.seat) {
                    return Err(CommandError::Bot(player.seat));
                }
                let mut members = self.members.iter();
                let member = members.find(|(_, seated)| seated.member.is(player));
                let (client, seated) = member.ok_or(CommandError::NoPlayer(player.seat))?;
                let text = clean_line(&text).unwrap_or_else(|| "the host put you out".into());
                let goodbye = Disconnect::new(Code::Kicked, text);
                let farewells = &mut self.host.farewells;
                let away = seated.member.away_until.filter(|_| farewells.len() < FAREWELLS_MAX);
                if let Some(until) = away {
                    farewells.insert(seated.member.key, (goodbye.clone(), until));
                }
                self.close(*client, goodbye);
            }
            Command::Say { text } => {
                let text = clean_line(&text).ok_or(CommandError::Empty)?;
                self.broadcast(&ServerMessage::Chat { from: None, text });
            }
            Command::Tell { player, text } => {
                let text = clean_line(&text).ok_or(CommandError::Empty)?;
                let client = self.present().find(|(_, member)| member.is(player));
                let (client, _) = client.ok_or(CommandError::NoPlayer(player.seat))?;
                self.host.send(client, ServerMessage::Chat { from: None, text });
            }
            Command::Mute { player, mute } => {
                let mut members = self.members.values_mut();
                let seated = members.find(|seated| seated.member.is(player));
                let member = &mut seated.ok_or(CommandError::NoPlayer(player.seat))?.member;
                member.muted = mute.map(|mute| Muted::from(mute, now));
            }
            Command::Undrain => {
                if self.host.draining.take().is_some() {
                    tracing::info!("the server is drained no more");
                    let text = "the server goes on".to_owned();
                    self.broadcast(&ServerMessage::Chat { from: None, text });
                }
            }
            Command::Send { kind, rule } => {
                let found = find_kind(G::Entity::KINDS, &kind)?;
                self.host.config.send.retain(|(name, _)| !name.eq_ignore_ascii_case(&kind));
                self.host.config.send.push((kind, rule));
                self.send_by(found, rule);
            }
            Command::Configure(changes) => self.configure(*changes),
            Command::Drain { goodbye, within } => {
                let text = goodbye.text.clone();
                tracing::info!(%text, within_secs = within.as_secs(), "draining");
                let end = now + within.clamp(Micros::ZERO, RESUME_MAX);
                let rounds = (G::KIT.rounds_played)(&self.world);
                let left = (end - now).0 / 1_000_000;
                let countdown = COUNTDOWN.into_iter().filter(|secs| *secs < left).collect();
                self.host.draining = Some(Draining { goodbye, end, rounds, countdown });
                if let Some(text) = clean_line(&text) {
                    self.broadcast(&ServerMessage::Chat { from: None, text });
                }
            }
        }
        Ok(())
    }
}
