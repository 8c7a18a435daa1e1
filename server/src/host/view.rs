//! The host's state as the API shows it.

use phaselock::identity::PublicKey;
use phaselock::server::{MemberStats, PlayerFigures};
use phaselock::time::Micros;
use phaselock_quic::server::{Measured, RoomFigures};

use super::roster::Person;
use super::state::{Host, IN_MEMORY};
use crate::api::{
    AllowListView, AllowedView, AuditEvent, LeftView, MuteView, PlayerView, RoleView, RoomView,
    ScoreView, SentenceView, TickView,
};
use crate::clocks::Now;
use crate::people::GivenRole;
use crate::sentence::Sentence;
use crate::store::{AuditLine, Written};

impl SentenceView {
    /// Returns the view of a ban or mute that was made just now.
    pub(crate) fn made(it: &Sentence, written: Written) -> Self {
        let note = (written == Written::Later).then(|| IN_MEMORY.to_owned());
        Self { note, ..Self::from(it) }
    }
}

impl From<&Sentence> for SentenceView {
    fn from(it: &Sentence) -> Self {
        Self {
            id: it.id,
            kind: it.subject.kind().to_owned(),
            subject: it.subject.to_string(),
            name: it.name.clone(),
            reason: it.reason.clone(),
            by: it.author.clone(),
            made: it.made,
            until: it.until,
            note: None,
        }
    }
}

impl RoleView {
    /// Returns the view of a given role.
    pub(crate) fn of(key: PublicKey, given: GivenRole) -> Self {
        let GivenRole { name, role, author, made } = given;
        Self { key: key.to_string(), name, role, by: author, made }
    }
}

impl AuditEvent {
    pub(super) fn of(line: &AuditLine) -> Self {
        Self {
            time: line.time,
            by: line.author.clone(),
            role: line.role,
            act: line.act.to_owned(),
            whom: line.whom.clone(),
            why: line.why.clone(),
            detail: line.detail.clone(),
        }
    }
}

fn millis(span: Micros) -> f64 {
    span.0 as f64 / 1000.0
}

fn score((measure, value): &(&'static str, f64)) -> ScoreView {
    ScoreView { measure: (*measure).to_owned(), value: *value }
}

impl RoomView {
    /// Returns the view of a room; `busy` is its share of a processor core.
    pub(super) fn of(figures: &RoomFigures, busy: f64) -> Self {
        let RoomFigures { status, is_open, panics, rounds, measured, .. } = figures;
        let Measured { tick, is_asleep, inputs, last_second, .. } = &**measured;
        Self {
            code: status.code.as_str().to_owned(),
            game: status.game.clone(),
            players: status.players,
            seats: status.players_max,
            bots: status.bots,
            open: *is_open,
            tick: *tick,
            asleep: *is_asleep,
            round: *rounds,
            late_inputs: inputs.late,
            panics: *panics,
            busy,
            tick_micros: TickView {
                mean: last_second.mean,
                p99: last_second.p99,
                max: last_second.max,
            },
        }
    }
}

impl Host {
    /// Returns the allow list.
    pub(crate) fn allow_list(&self) -> AllowListView {
        let list = self.config.borrow().joining.allow_list.clone();
        let file = list.as_ref().map(|list| list.path.display().to_string());
        let keys = list.map(|list| list.keys).unwrap_or_default();
        let view = |(key, name): (PublicKey, String)| AllowedView { key: key.to_string(), name };
        AllowListView { file, players: keys.into_iter().map(view).collect() }
    }

    /// Returns players who have left, the most recent first.
    pub(crate) fn left(&self) -> Vec<LeftView> {
        let now = self.clocks.now();
        let view = |(person, left): &(Person, i64)| LeftView {
            name: person.name.clone(),
            key: person.key.to_string(),
            address: person.address.map(|it| it.to_string()),
            room: person.room.as_str().to_owned(),
            left: now.unix_at(*left),
        };
        self.roster().left().map(view).collect()
    }

    /// Returns the view of a player. `before` has the counters of the previous second.
    pub(super) fn player_view(
        &self,
        person: &Person,
        figures: &PlayerFigures,
        before: MemberStats,
        now: Now,
    ) -> PlayerView {
        let mute = self.mute_of(person, now.unix);
        let stats = &figures.stats;
        let missing = stats.missing.saturating_sub(before.missing) as f64;
        let accepted = stats.accepted.saturating_sub(before.accepted) as f64;
        let sum = missing + accepted;
        PlayerView {
            room: person.room.as_str().to_owned(),
            seat: person.player.0,
            name: person.name.clone(),
            key: person.key.to_string(),
            address: person.address.map(|it| it.to_string()),
            role: self.access.role(person.key),
            joined: now.unix_at(person.joined),
            away: figures.is_away,
            idle: figures.idle.0 / 1_000_000,
            ping: figures.round_trip.map(millis),
            jitter: figures.round_trip.map(|_| millis(figures.jitter)),
            loss: if sum > 0.0 { missing / sum } else { 0.0 },
            offset: figures.offset.map(|it| it.0 as f64 / 1000.0),
            offset_error: figures.error_max.map(millis),
            late_inputs: stats.late,
            bytes_out_per_second: stats.bytes.saturating_sub(before.bytes),
            scores: figures.scores.iter().map(score).collect(),
            muted: mute.map(|it| MuteView { until: it.until, reason: it.reason }),
        }
    }
}
