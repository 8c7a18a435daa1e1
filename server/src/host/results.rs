//! Results of rounds, records, and the time that people have played.

use std::collections::BTreeMap;

use phaselock::ids::PlayerId;
use phaselock::server::MadeRun;
use phaselock::wire::rooms::RoomCode;

use super::roster::{KEY_DIGITS_MIN, Person};
use super::state::{AuditEntry, Host, done};
use crate::api::{HostEvent, NumberView};
use crate::author::{Author, Right};
use crate::error::ActError;
use crate::store::{Change, PlayerTotals, Record, RecordRun, RoundResult};
use crate::subject::Subject;

/// Seconds of play after which they are added to a player's total; the session is counted with the
/// first of them. A killed server forgets at most this much.
pub(super) const COUNT_SECS: i64 = 60;

/// Maximum scores of a round that are reported, the best first. Arbitrary.
const SCORES_REPORTED_MAX: usize = 256;

/// The latest score of each player and measure in a round.
pub(super) type OfRound = BTreeMap<(PlayerId, &'static str), (Person, f64)>;

/// A score that the rules reported.
pub(super) struct Score<'a> {
    pub(super) measure: &'a str,
    pub(super) value: f64,
    /// The run that set it.
    pub(super) run: Option<MadeRun>,
}

impl Host {
    /// Adds the time that players have played since it was last added.
    pub(super) fn note_times(&self, is_end: bool) {
        let now = self.clocks.now();
        let due = self.roster().count(now.awake, COUNT_SECS, is_end);
        let times = due.iter().map(|(person, secs)| played(person, *secs, now.unix));
        let times: Vec<_> = times.collect();
        if !times.is_empty() {
            self.store.note(times);
        }
    }

    /// Keeps a score as the player's record if it is one, with the run that set it.
    pub(super) fn note_record(&self, person: &Person, score: Score<'_>, time: i64) {
        let Score { measure, value, run } = score;
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
            run: run.map(|MadeRun { course, bytes }| RecordRun {
                course,
                bytes,
                is_shared: self.is_public(&person.room),
            }),
        };
        self.store.note(vec![Change::Record(record)]);
    }

    /// Whether a room is public: anyone can get into it without a password.
    pub(crate) fn is_public(&self, room: &RoomCode) -> bool {
        let figures = self.figures.borrow();
        let known = figures.status.rooms.iter().find(|it| it.code == room.as_str());
        self.config.borrow().joining.password.is_none() && known.is_some_and(|it| it.open)
    }

    pub(super) fn note_results(&self, room: &RoomCode, round: u32, numbers: OfRound, time: i64) {
        self.report_results(room, round, &numbers);
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

    /// Reports the scores of a round. Those of the first measure that has records come first, the
    /// best of them first.
    fn report_results(&self, room: &RoomCode, round: u32, numbers: &OfRound) {
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
        let numbers = all.into_iter().take(SCORES_REPORTED_MAX).map(number).collect();
        self.publish(HostEvent::Results { room: room.as_str().to_owned(), game, round, numbers });
    }

    /// Deletes all results, records and totals of a player. The audit log keeps what was done to
    /// the player until its own lines expire.
    pub(crate) async fn forget(&self, by: &Author, key: &str) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let Subject::Key(key) = Subject::parse("key", key)? else {
            return Err(ActError::Bad("give a key".into()));
        };
        // Only a part of the key: the whole key is to be forgotten.
        let whom: String = key.to_string().chars().take(KEY_DIGITS_MIN).collect();
        let entry = AuditEntry { whom: Some(whom.clone()), ..AuditEntry::of("forget") };
        let written = self.record(by, entry, vec![Change::Forget(key)])?.done().await?;
        Ok(done(format!("deleted the results, records and totals of {whom}"), written))
    }
}

/// Returns what to add to a player's total.
pub(super) fn played(person: &Person, secs: i64, time: i64) -> Change {
    let seconds = u32::try_from(secs).unwrap_or(0);
    let (key, name) = (person.key, person.name.clone());
    let sessions = u32::from(!person.is_counted);
    Change::Played(PlayerTotals { time, key, name, sessions, seconds })
}
