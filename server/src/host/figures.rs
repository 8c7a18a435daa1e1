//! Figures of the server, its rooms and players, once a second.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use phaselock::ids::PlayerId;
use phaselock::server::MemberStats;
use phaselock::wire::disconnect::Disconnect;
use phaselock::wire::rooms::RoomCode;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::state::{Directory, Host};
use crate::api::{
    DirectoryView, DrainView, FailedLoginsView, Figures, LogView, RoomView, StatusView, TrafficView,
};
use crate::clocks::Now;
use crate::people::Secret;

/// Interval at which the calendar is stored: the most that a reboot loses.
const CALENDAR_INTERVAL: Duration = Duration::from_secs(600);

/// Takes the figures of all rooms once a second, for as long as the server runs.
pub(crate) async fn watch_figures(host: Arc<Host>) {
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
            host.store.note(vec![host.access.calendar(host.clocks.state())]);
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

    /// Returns the state of the server and its rooms as of the last second. The drain, the next
    /// restart and the state in Agones are current, so that a host who has just changed one sees
    /// it.
    pub(crate) fn status_now(&self) -> StatusView {
        let status = self.figures().borrow().status.clone();
        let now = self.clocks.now();
        let (draining, next_restart) = (self.draining(now.unix), self.schedule().next(now));
        let agones = self.agones_state().map(|it| it.text());
        StatusView { draining, next_restart, agones, ..status }
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
            agones: self.agones_state().map(|it| it.text()),
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
