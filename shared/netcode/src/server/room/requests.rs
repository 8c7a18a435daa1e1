//! Requests of members, and orders of the host.

use super::Room;
use super::talk::clean_line;
use crate::fields::{Entity, find_kind};
use crate::game::Game;
use crate::limits::{COMMANDS_MAX, RESUME_MAX};
use crate::server::bucket::RequestLimit;
use crate::server::control::{Command, CommandError};
use crate::server::member::{Member, Seated};
use crate::server::output::ClientId;
use crate::server::people::{Muted, Target};
use crate::server::rotation::Draining;
use crate::time::{LocalTime, Micros};
use crate::wire::WireError;
use crate::wire::control::{ClientMessage, Refusal, ServerMessage};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::talk::Audience;

/// Seconds before the end of a drained server at which players are told.
const COUNTDOWN: [i64; 9] = [1, 2, 3, 4, 5, 10, 30, 60, 300];
/// Farewells that wait. Arbitrary.
const FAREWELLS_MAX: usize = 256;
/// Requests to the game. Arbitrary; inputs are for what happens all the time.
const REQUESTS: RequestLimit = RequestLimit { burst: 8, interval: Micros::from_ms(250) };

impl<G: Game> Room<G> {
    /// A message of a member.
    pub(super) fn handle_request(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        let done = match ClientMessage::parse(body) {
            Ok(ClientMessage::Chat { to, text }) => {
                self.handle_chat(now, client, (to, &text)).map_err(|refusal| (2, refusal))
            }
            Ok(ClientMessage::Game { number, bytes }) => {
                self.handle_game(now, client, number, &bytes).map_err(|refusal| (3, refusal))
            }
            Ok(ClientMessage::Round(request)) => {
                self.handle_round(now, client, request).map_err(|refusal| (4, refusal))
            }
            Ok(ClientMessage::Watch { on }) => {
                self.handle_watch(now, client, on).map_err(|refusal| (5, refusal))
            }
            Ok(ClientMessage::Quick { to, number }) => {
                self.handle_quick(now, client, (to, number)).map_err(|refusal| (6, refusal))
            }
            Ok(ClientMessage::Mark { to, mark }) => {
                self.handle_mark(now, client, (to, mark)).map_err(|refusal| (7, refusal))
            }
            Ok(ClientMessage::Restyle { name, look }) => {
                self.handle_restyle(now, client, (&name, look)).map_err(|refusal| (8, refusal))
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
            if let Some(seated) = self.seated_mut(client) {
                seated.member.stats.requests_refused += 1;
            }
            self.host.send(client, ServerMessage::Refused { request, refusal });
        }
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
        if number != member.number(self.host.number) {
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
        let does = if draining.restarts { "restarts" } else { "stops" };
        let text = format!("the server {does} in {}", Micros::from_ms(secs * 1000).in_words());
        self.broadcast(&ServerMessage::Chat { from: None, to: Audience::All, text });
    }

    /// Carries out an order.
    pub(super) fn carry_out(
        &mut self,
        now: LocalTime,
        command: Command,
    ) -> Result<(), CommandError> {
        match command {
            Command::Kick { player, text } => self.expel(Code::Kicked, player, &text)?,
            Command::Ban { player, text } => self.expel(Code::Banned, player, &text)?,
            Command::Offer { player, mut commands } => {
                let here = |member: &Member| member.away_until.is_none() && member.is(player);
                let client = self.everybody().find(|(_, member)| here(member));
                let (client, _) = client.ok_or(CommandError::NoPlayer(player.seat))?;
                commands.truncate(COMMANDS_MAX);
                self.host.send(client, ServerMessage::Commands(commands));
            }
            Command::Say { text } => {
                let text = clean_line(&text).ok_or(CommandError::Empty)?;
                self.broadcast(&ServerMessage::Chat { from: None, to: Audience::All, text });
            }
            Command::Tell { player, text } => {
                let text = clean_line(&text).ok_or(CommandError::Empty)?;
                let here = |member: &Member| member.away_until.is_none() && member.is(player);
                let client = self.everybody().find(|(_, member)| here(member));
                let (client, _) = client.ok_or(CommandError::NoPlayer(player.seat))?;
                self.host.send(client, ServerMessage::Chat { from: None, to: Audience::All, text });
            }
            Command::Mute { player, mute } => {
                let watchers = self.gallery.watchers.values_mut();
                let mut members = self.members.values_mut().chain(watchers);
                let seated = members.find(|seated| seated.member.is(player));
                let member = &mut seated.ok_or(CommandError::NoPlayer(player.seat))?.member;
                member.muted = mute.map(|mute| Muted::from(mute, now));
            }
            Command::Undrain => {
                if self.host.draining.take().is_some() {
                    tracing::info!(name: "room_undrained", "the drain was called off");
                    let text = "the server goes on".to_owned();
                    self.broadcast(&ServerMessage::Chat { from: None, to: Audience::All, text });
                }
            }
            Command::Send { kind, rule } => {
                let found = find_kind(G::Entity::KINDS, &kind)?;
                self.host.config.send.retain(|(name, _)| !name.eq_ignore_ascii_case(&kind));
                self.host.config.send.push((kind, rule));
                self.send_by(found, rule);
            }
            Command::Configure(changes) => self.configure(*changes),
            Command::Drain { goodbye, within, restarts } => {
                let text = goodbye.text.clone();
                tracing::info!(
                    name: "room_draining",
                    %text,
                    within_secs = within.as_secs(),
                    "draining"
                );
                let end = now + within.clamp(Micros::ZERO, RESUME_MAX);
                let rounds = (G::KIT.rounds_played)(&self.world);
                let left = (end - now).0 / 1_000_000;
                let countdown = COUNTDOWN.into_iter().filter(|secs| *secs < left).collect();
                self.host.draining = Some(Draining { goodbye, end, restarts, rounds, countdown });
                if let Some(text) = clean_line(&text) {
                    self.broadcast(&ServerMessage::Chat { from: None, to: Audience::All, text });
                }
            }
        }
        Ok(())
    }

    /// Puts a player out, and remembers the goodbye for whoever is away.
    fn expel(&mut self, code: Code, player: Target, text: &str) -> Result<(), CommandError> {
        if self.bots.contains_key(&player.seat) {
            return Err(CommandError::Bot(player.seat));
        }
        let member = self.everybody().find(|(_, member)| member.is(player));
        let (client, member) = member.ok_or(CommandError::NoPlayer(player.seat))?;
        let (key, away_until) = (member.key, member.away_until);
        let text = clean_line(text).unwrap_or_else(|| "the host put you out".into());
        let goodbye = Disconnect::new(code, text);
        let farewells = &mut self.host.farewells;
        let away = away_until.filter(|_| farewells.len() < FAREWELLS_MAX);
        if let Some(until) = away {
            farewells.insert(key, (goodbye.clone(), until));
        }
        self.close(client, goodbye);
        Ok(())
    }
}
