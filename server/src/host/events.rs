//! Events of the rooms, handled for the host: the roster, chat and commands of players.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use phaselock::limits::ROOMS_MAX;
use phaselock::server::{Command, Event, Target};
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::server::RoomEvent;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, broadcast, oneshot};

use super::results::{COUNT_SECS, OfRound, Score, played};
use super::roster::Person;
use super::state::Host;
use crate::api::HostEvent;
use crate::clocks::Now;
use crate::sentence::Act;

/// Maximum commands that run at a time, for players with a role and for all others separately.
/// Beyond that, commands are ignored. Arbitrary.
const COMMANDS_MAX: usize = 16;
/// Maximum scores of a round that are remembered for a room. Arbitrary: three for each player of a
/// full one.
const NUMBERS_MAX: usize = 4096;

/// Handles the rooms' events until it is stopped, including those sent before that.
pub(crate) async fn listen(
    host: Arc<Host>,
    mut news: broadcast::Receiver<Arc<RoomEvent>>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut numbers = BTreeMap::new();
    // Players with a role do not wait behind strangers.
    let [of_role, of_others, of_ghosts] = [(); 3].map(|()| Arc::new(Semaphore::new(COMMANDS_MAX)));
    loop {
        let told = tokio::select! {
            biased;
            told = news.recv() => told,
            _ = &mut stopped => return host.note_times(true),
        };
        match told.map(Arc::unwrap_or_clone) {
            Ok(RoomEvent { room, event: Event::Asked { player, text } }) => {
                // Runs as a task of its own: rooms or the disk may delay a command.
                let person = host.roster().at(&room, player).cloned();
                let Some(person) = person else { continue };
                let has_role = host.access.role(person.key).is_some();
                let places = if has_role { &of_role } else { &of_others };
                if let Ok(permit) = Arc::clone(places).try_acquire_owned() {
                    let host = Arc::clone(&host);
                    tokio::spawn(async move {
                        let _permit = permit;
                        host.handle_line(&person, &text).await;
                    });
                }
            }
            Ok(RoomEvent { room, event: Event::GhostsAsked { player, course, request } }) => {
                // If the disk is slow, the client asks again.
                let person = host.roster().at(&room, player).cloned();
                let permit = Arc::clone(&of_ghosts).try_acquire_owned();
                if let (Some(person), Ok(permit)) = (person, permit) {
                    let host = Arc::clone(&host);
                    tokio::spawn(async move {
                        let _permit = permit;
                        host.answer_ghosts(&person, course, request).await;
                    });
                }
            }
            Ok(told) => {
                if let Event::Joined { player, key, is_kept: false, .. } = told.event {
                    let newcomer = Target { seat: player, key: Some(key) };
                    tokio::spawn(Arc::clone(&host).greet(told.room.clone(), newcomer));
                }
                host.handle_event(told, &mut numbers).await;
                // Strangers choose the codes of rooms, so rooms that are gone must be removed.
                if numbers.len() > ROOMS_MAX.into() {
                    let rooms = host.handle.rooms();
                    numbers.retain(|code, _| rooms.iter().any(|room| room.status.code == *code));
                }
            }
            Err(RecvError::Lagged(lost)) => {
                tracing::warn!(
                    name: "host_lagged",
                    lost,
                    "too many room events at once; some are missing from the event stream, \
                     webhooks and stored results"
                );
                host.roster().correct(&host.handle.rooms(), host.clocks.now());
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// The scores of the current round in each room.
type Numbers = BTreeMap<RoomCode, OfRound>;

impl Host {
    pub(super) async fn handle_event(&self, told: RoomEvent, numbers: &mut Numbers) {
        let moment = self.clocks.now();
        let now = moment.unix;
        let person = self.roster().note(&told, moment);
        let RoomEvent { room, event } = told;
        let code = room.as_str().to_owned();
        let name = || person.as_ref().map(|it| it.name.clone());
        let news = match event {
            Event::Joined { player, name, key, address, is_kept } => {
                let address = address.map(|it| it.to_string());
                self.note_join(person.as_ref(), is_kept, now).await;
                HostEvent::Joined {
                    room: code,
                    seat: player.0,
                    name,
                    key: key.to_string(),
                    address,
                }
            }
            Event::Left { player, reason, .. } => {
                self.note_leave(person.as_ref(), moment);
                HostEvent::Left {
                    room: code,
                    seat: player.0,
                    name: name().unwrap_or_default(),
                    reason,
                }
            }
            Event::Away { player } => {
                let name = name().unwrap_or_default();
                HostEvent::Away { room: code, seat: player.0, name, away: true }
            }
            Event::Resumed { player } => {
                let name = name().unwrap_or_default();
                HostEvent::Resumed { room: code, seat: player.0, name, away: false }
            }
            Event::Moved { player, address, is_muted } => {
                self.note_move(person.as_ref(), is_muted, now).await;
                let name = name().unwrap_or_default();
                let address = address.to_string();
                HostEvent::Moved { room: code, seat: player.0, name, address }
            }
            Event::Renamed { player, name } => {
                HostEvent::Renamed { room: code, seat: player.0, name }
            }
            Event::Chat { player, to, text } => HostEvent::Chat {
                room: Some(code),
                seat: Some(player.0),
                name: name(),
                to: to.name().to_owned(),
                text,
            },
            Event::Game { name } => {
                numbers.remove(&room);
                HostEvent::Game { room: code, name: name.to_owned() }
            }
            Event::Round { played } => {
                if let Some(numbers) = numbers.remove(&room) {
                    self.note_results(&room, played, numbers, now);
                }
                HostEvent::Round { room: code, played }
            }
            Event::Report { value, .. } if !value.is_finite() => return,
            Event::Report { name: measure, player, value, run } => {
                if let Some((player, person)) = player.zip(person.as_ref()) {
                    let numbers = numbers.entry(room).or_default();
                    if numbers.len() < NUMBERS_MAX {
                        numbers.insert((player, measure), (person.clone(), value));
                    }
                    self.note_record(person, Score { measure, value, run }, now);
                }
                HostEvent::Report { room: code, name: measure.to_owned(), player: name(), value }
            }
            _ => return,
        };
        self.publish(news);
    }

    /// Counts a player who joined, and kicks the player if banned.
    async fn note_join(&self, person: Option<&Person>, is_kept: bool, now: i64) {
        if !is_kept {
            self.joins.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(person) = person {
            self.put_out_if_banned(person, now).await;
        }
    }

    /// Counts a player who left, and the time played.
    fn note_leave(&self, person: Option<&Person>, now: Now) {
        self.leaves.fetch_add(1, Ordering::Relaxed);
        let Some(person) = person else { return };
        let secs = now.awake - person.counted;
        // A player who stays only a moment leaves no row behind.
        if person.is_counted || secs >= COUNT_SECS {
            self.store.note(vec![played(person, secs, now.unix)]);
        }
    }

    /// Applies the bans and mutes of the address that a player has moved to.
    async fn note_move(&self, person: Option<&Person>, is_muted: bool, now: i64) {
        let Some(person) = person else { return };
        self.put_out_if_banned(person, now).await;
        // Most moves need no order, for which all other events would wait.
        if is_muted || self.mute_of(person, now).is_some() {
            self.renew_mute(person, now).await;
        }
    }

    /// Kicks a player who was banned while the hello was on its way, or who has moved to a banned
    /// address.
    async fn put_out_if_banned(&self, person: &Person, now: i64) {
        if let Some(ban) = self.access.against(Act::Ban, Some(person.key), person.address, now) {
            let order = Command::Ban { player: person.target(), text: ban.goodbye(now) };
            // Fails only if the player has left.
            let _ = self.handle.command_in(&person.room, order).await;
        }
    }

    /// Shifts bans and mutes with the date, after that has changed by `secs` seconds.
    pub(super) async fn follow_date(&self, secs: i64) {
        let mut changes = self.access.shift(secs);
        changes.push(self.access.calendar(self.clocks.state()));
        self.store.note(changes);
        let here: Vec<_> = self.roster().people().cloned().collect();
        let now = self.clocks.unix();
        for person in here {
            self.put_out_if_banned(&person, now).await;
            self.renew_mute(&person, now).await;
        }
    }

    /// Sends a newcomer the host's welcome line.
    async fn greet(self: Arc<Self>, room: RoomCode, player: Target) {
        let greeting = self.config.borrow().joining.greeting.clone();
        if let Some(text) = greeting {
            // Fails only if the player has left.
            let _ = self.handle.command_in(&room, Command::Tell { player, text }).await;
        }
        if let Some(key) = player.key {
            self.offer(&room, player, key).await;
        }
    }
}
