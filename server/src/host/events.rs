//! Events of the rooms, handled for the host: the roster, results and records, chat and commands of
//! players.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use phaselock::ids::PlayerId;
use phaselock::limits::ROOMS_MAX;
use phaselock::server::{Command, Event, MemberStats, Target};
use phaselock::wire::disconnect::Disconnect;
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::server::RoomEvent;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, broadcast, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::roster::Person;
use super::state::{Directory, Host};
use crate::api::{
    DirectoryView, DrainView, FailedLoginsView, Figures, HostEvent, LogView, NumberView, RoomView,
    StatusView, TrafficView,
};
use crate::clocks::Now;
use crate::people::Secret;
use crate::sentence::Act;
use crate::store::{Change, PlayerTotals, Record, RoundResult};

/// Maximum commands that run at a time, for players with a role and for all others separately.
/// Beyond that, commands are ignored. Arbitrary.
const COMMANDS_MAX: usize = 16;
/// Maximum scores of a round that are remembered for a room. Arbitrary: three for each player of a
/// full one.
const NUMBERS_MAX: usize = 4096;

/// Time between two times that the calendar is stored: the most that a reboot loses.
const CALENDAR_INTERVAL: Duration = Duration::from_secs(600);

/// Maximum scores of a round that are reported, the best first. Arbitrary.
const NUMBERS_TOLD_MAX: usize = 256;

/// Seconds of play after which they are added to a player's total; the session is counted with the
/// first of them. A killed server forgets at most this much.
const COUNT_SECS: i64 = 60;

/// Handles the rooms' events until it is stopped, including those sent before that.
pub async fn listen(
    host: Arc<Host>,
    mut news: broadcast::Receiver<RoomEvent>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut numbers = BTreeMap::new();
    // Players with a role do not wait behind strangers.
    let [of_role, of_others] = [(); 2].map(|()| Arc::new(Semaphore::new(COMMANDS_MAX)));
    loop {
        let told = tokio::select! {
            biased;
            told = news.recv() => told,
            _ = &mut stopped => return host.note_times(true),
        };
        match told {
            Ok(RoomEvent { room, event: Event::Asked { player, text } }) => {
                // Runs as a task of its own: rooms or the disk may delay a command.
                let person = host.roster().at(&room, player).cloned();
                let Some(person) = person else { continue };
                let has_role = host.book.role(person.key).is_some();
                let places = if has_role { &of_role } else { &of_others };
                if let Ok(permit) = Arc::clone(places).try_acquire_owned() {
                    let host = Arc::clone(&host);
                    tokio::spawn(async move {
                        let _permit = permit;
                        host.handle_line(&person, &text).await;
                    });
                }
            }
            Ok(told) => {
                if let Event::Joined { player, key, is_kept: false, .. } = told.event {
                    let newcomer = Target { seat: player, key: Some(key) };
                    tokio::spawn(Arc::clone(&host).greet(told.room.clone(), newcomer));
                }
                host.hear(told, &mut numbers).await;
                // Strangers choose the codes of rooms, so rooms that are gone must be removed.
                if numbers.len() > ROOMS_MAX.into() {
                    let rooms = host.handle.rooms();
                    numbers.retain(|code, _| rooms.iter().any(|room| room.status.code == *code));
                }
            }
            Err(RecvError::Lagged(lost)) => {
                tracing::warn!(name: "host_lagged", lost, "the host missed events of the rooms");
                host.roster().correct(&host.handle.rooms(), host.clocks.now());
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// The latest score of each player and measure in a round.
type OfRound = BTreeMap<(PlayerId, &'static str), (Person, f64)>;
/// The scores of the current round in each room.
type Numbers = BTreeMap<RoomCode, OfRound>;

impl Host {
    pub(super) async fn hear(&self, told: RoomEvent, numbers: &mut Numbers) {
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
            Event::Report { name: measure, player, value } => {
                if let Some((player, person)) = player.zip(person.as_ref()) {
                    let numbers = numbers.entry(room).or_default();
                    if numbers.len() < NUMBERS_MAX {
                        numbers.insert((player, measure), (person.clone(), value));
                    }
                    self.note_record(person, measure, value, now);
                }
                HostEvent::Report { room: code, name: measure.to_owned(), player: name(), value }
            }
            _ => return,
        };
        self.tell(news);
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
        if let Some(ban) = self.book.against(Act::Ban, Some(person.key), person.address, now) {
            let order = Command::Ban { player: person.target(), text: ban.goodbye(now) };
            // Fails only if the player has left.
            let _ = self.handle.command_in(&person.room, order).await;
        }
    }

    /// Shifts bans and mutes with the date, after that has changed by `secs` seconds.
    async fn follow_date(&self, secs: i64) {
        let mut changes = self.book.shift(secs);
        changes.push(self.book.calendar(self.clocks.state()));
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

    /// Adds the time that players have played since it was last added.
    fn note_times(&self, is_end: bool) {
        let now = self.clocks.now();
        let due = self.roster().count(now.awake, COUNT_SECS, is_end);
        let times = due.iter().map(|(person, secs)| played(person, *secs, now.unix));
        let times: Vec<_> = times.collect();
        if !times.is_empty() {
            self.store.note(times);
        }
    }

    fn note_record(&self, person: &Person, measure: &str, value: f64, time: i64) {
        let known = self.facts.records.get(&(person.game.clone(), measure.to_owned()));
        let Some((best, _)) = known else { return };
        let record = Record {
            time,
            game: person.game.clone(),
            measure: measure.to_owned(),
            key: person.key,
            name: person.name.clone(),
            value,
            best: *best,
            // A result of 0 is not a record.
            is_public: value != 0.0 && self.is_public(&person.room),
        };
        self.store.note(vec![Change::Record(record)]);
    }

    /// Whether a room is public: anyone can get into it without a password.
    pub(crate) fn is_public(&self, room: &RoomCode) -> bool {
        let figures = self.figures.borrow();
        let known = figures.status.rooms.iter().find(|it| it.code == room.as_str());
        self.config.borrow().joining.password.is_none() && known.is_some_and(|it| it.open)
    }

    fn note_results(&self, room: &RoomCode, round: u32, numbers: OfRound, time: i64) {
        self.tell_results(room, round, &numbers);
        let results = numbers.into_iter().map(|((_, measure), (person, value))| {
            Change::Result(RoundResult {
                time,
                room: room.as_str().to_owned(),
                game: person.game,
                round,
                key: person.key,
                name: person.name,
                measure: measure.to_owned(),
                value,
            })
        });
        let results: Vec<_> = results.collect();
        if !results.is_empty() {
            self.store.note(results);
        }
    }
}

impl Host {
    /// Reports the scores of a round. Those of the first measure that has records come first, the
    /// best of them first.
    fn tell_results(&self, room: &RoomCode, round: u32, numbers: &OfRound) {
        let Some((person, _)) = numbers.values().next() else { return };
        let game = person.game.clone();
        let known = |measure: &str| self.facts.records.get(&(game.clone(), measure.to_owned()));
        let first = numbers.keys().find_map(|(_, it)| known(it).map(|(best, _)| (*it, *best)));
        let rank = |player: PlayerId| {
            let (measure, best) = first?;
            let value = numbers.get(&(player, measure))?.1;
            Some(if best.prefers(1.0, 0.0) { -value } else { value })
        };
        let mut all: Vec<_> = numbers.iter().collect();
        all.sort_by(|((a, _), _), ((b, _), _)| {
            let [a, b] = [a, b].map(|player| rank(*player).unwrap_or(f64::INFINITY));
            a.total_cmp(&b)
        });
        let number =
            |((_, measure), (person, value)): (&(PlayerId, &'static str), &(Person, f64))| {
                let (name, key) = (person.name.clone(), person.key.to_string());
                NumberView { name, key, measure: (*measure).to_owned(), value: *value }
            };
        let numbers = all.into_iter().take(NUMBERS_TOLD_MAX).map(number).collect();
        self.tell(HostEvent::Results { room: room.as_str().to_owned(), game, round, numbers });
    }
}

/// Returns what to add to a player's total.
fn played(person: &Person, secs: i64, time: i64) -> Change {
    let seconds = u32::try_from(secs).unwrap_or(0);
    let (key, name) = (person.key, person.name.clone());
    let sessions = u32::from(!person.is_counted);
    Change::Played(PlayerTotals { time, key, name, sessions, seconds })
}

/// Takes the figures of all rooms once a second, for as long as the server runs.
pub async fn watch_figures(host: Arc<Host>) {
    let mut seconds = interval(Duration::from_secs(1));
    seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut before = Before::default();
    let mut calendar_due = None;
    loop {
        seconds.tick().await;
        if let Some(secs) = host.clocks.look() {
            host.follow_date(secs).await;
        }
        if calendar_due.is_none_or(|due| due <= Instant::now()) {
            calendar_due = Some(Instant::now() + CALENDAR_INTERVAL);
            host.store.note(vec![host.book.calendar(host.clocks.state())]);
        }
        host.reloader.warn_of_expiry(&host.clocks);
        let keep_days = host.config.borrow().operation.keep_days;
        host.store.expire_before(host.clocks.expired_before(keep_days));
        let figures = host.look(&mut before);
        host.note_times(false);
        host.figures.send_replace(Arc::new(figures));
    }
}

/// Counters of the previous second.
#[derive(Debug, Default)]
struct Before {
    stats: BTreeMap<(RoomCode, PlayerId), MemberStats>,
    busy: BTreeMap<RoomCode, Duration>,
}

impl Host {
    /// Returns the current figures.
    fn look(&self, before: &mut Before) -> Figures {
        let now = self.clocks.now();
        let rooms = self.handle.rooms();
        self.roster().correct(&rooms, now);
        let mut stats = BTreeMap::new();
        let mut busy = BTreeMap::new();
        let mut views = Vec::with_capacity(rooms.len());
        let mut players = Vec::new();
        for room in &rooms {
            let code = &room.status.code;
            let was = before.busy.get(code).copied().unwrap_or(room.busy);
            let part = room.busy.saturating_sub(was).as_secs_f64();
            busy.insert(code.clone(), room.busy);
            views.push(RoomView::of(room, part));
            for figures in &room.measured.players {
                let at = (code.clone(), figures.player);
                let was = before.stats.get(&at).copied();
                // A counter that fell belongs to another session.
                let was = was.filter(|was| was.accepted <= figures.stats.accepted);
                stats.insert(at.clone(), figures.stats);
                let Some(person) = self.roster().at(code, figures.player).cloned() else {
                    continue;
                };
                let was = was.unwrap_or(figures.stats);
                players.push(self.player_view(&person, figures, was, now));
            }
        }
        *before = Before { stats, busy };
        Figures { time: now.unix * 1000, status: self.status(views, now), players }
    }

    /// Returns the drain in progress, if there is one.
    fn draining(&self, now: i64) -> Option<DrainView> {
        let (Disconnect { text, redirect, .. }, left) = self.handle.draining()?;
        // Rounded to the nearest second, so that the end does not jitter.
        let left = i64::try_from((left.as_millis() + 500) / 1000).unwrap_or(0);
        let restart = self.facts.is_restarting.load(Ordering::Relaxed);
        Some(DrainView { until: now + left, text, redirect, restart })
    }

    /// Returns the state of the server and its rooms as of the last second. The drain and the next
    /// restart are current, so that a host who has just changed one sees it.
    pub(crate) fn status_now(&self) -> StatusView {
        let status = self.figures().borrow().status.clone();
        let now = self.clocks.now();
        let (draining, next_restart) = (self.draining(now.unix), self.schedule().next(now));
        StatusView { draining, next_restart, ..status }
    }

    fn status(&self, rooms: Vec<RoomView>, now: Now) -> StatusView {
        let facts = &self.facts;
        let traffic = self.handle.traffic();
        let sum =
            |count: fn(&RoomView) -> u16| rooms.iter().map(|room| u32::from(count(room))).sum();
        StatusView {
            name: self.config.borrow().play.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            games: self.handle.games(),
            address: facts.addresses.clone(),
            fingerprint: self.reloader.fingerprint().to_string(),
            directories: facts.directories.iter().map(directory).collect(),
            deny_lists: self.deny_lists.view(),
            started: now.unix_at(0),
            now: now.unix,
            tick_hz: facts.rates.tick_hz,
            snapshot_hz: facts.rates.snapshot_hz,
            players: sum(|room| room.players),
            seats: sum(|room| room.seats),
            bots: sum(|room| room.bots),
            draining: self.draining(now.unix),
            next_restart: self.schedule().next(now),
            database: self.store.health().problem.unwrap_or_else(|| "ok".to_owned()),
            clock: self.clocks.problem().unwrap_or_else(|| "ok".to_owned()),
            keeping: self.worlds.health().problem.unwrap_or_else(|| "ok".to_owned()),
            certificate_expires: self.reloader.certificate_expires(),
            failed_logins: FailedLoginsView {
                tokens: self.failed_logins.count(Secret::Token),
                passwords: self.failed_logins.count(Secret::Password),
            },
            log: LogView {
                written: self.log.written(),
                dropped: self.log.dropped(),
                filter: self.log.filter(),
            },
            traffic: TrafficView {
                packets_in: traffic.packets_in,
                packets_out: traffic.packets_out,
                bytes_in: traffic.bytes_in,
                bytes_out: traffic.bytes_out,
            },
            rooms,
        }
    }
}

fn directory(directory: &Directory) -> DirectoryView {
    let standing = directory.standing.borrow().to_string();
    DirectoryView { address: directory.address.clone(), standing }
}
