//! Changes of the database, and how each is written.

use std::sync::Arc;

use phaselock::game::Best;
use phaselock::identity::PublicKey;
use phaselock::replay::run_hash;
use rusqlite::{Savepoint, Transaction, params};

use crate::author::Role;
use crate::clocks::CalendarState;
use crate::sentence::Sentence;

/// A line of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AuditLine {
    /// Unix time in seconds.
    pub time: i64,
    /// Name of the token or player that did it.
    pub author: String,
    /// Role of that token or player.
    pub role: Role,
    /// What was done, as one word.
    pub act: &'static str,
    /// The player or thing that it was done to.
    pub whom: Option<String>,
    /// The reason given.
    pub why: Option<String>,
    /// Other details.
    pub detail: Option<String>,
}

/// A player's score at the end of a round.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Result {
    /// Unix time in seconds.
    pub time: i64,
    /// Code of the room.
    pub room: String,
    /// Name of the game.
    pub game: String,
    /// Number of the round.
    pub round: u32,
    /// The player.
    pub key: PublicKey,
    /// The player's name.
    pub name: String,
    /// Name of the score.
    pub measure: String,
    /// Value of the score.
    pub value: f64,
}

/// A player's score that may be the player's best.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// Unix time in seconds.
    pub time: i64,
    /// Name of the game.
    pub game: String,
    /// Name of the score.
    pub measure: String,
    /// The player.
    pub key: PublicKey,
    /// The player's name.
    pub name: String,
    /// Value of the score.
    pub value: f64,
    /// Which of two values is better.
    pub best: Best,
    /// Whether it was reached in a public room.
    pub is_public: bool,
    /// The run that set it.
    pub run: Option<RecordRun>,
}

/// The run that set a record, which players can race as a ghost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordRun {
    /// The course that it was made on.
    pub course: u64,
    /// The run.
    pub bytes: Arc<[u8]>,
    /// Whether others may race it: it was made in a public room.
    pub is_shared: bool,
}

/// What a session adds to a player's totals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlayerTotals {
    /// Unix time in seconds.
    pub time: i64,
    /// The player.
    pub key: PublicKey,
    /// The player's name.
    pub name: String,
    /// Sessions started.
    pub sessions: u32,
    /// Seconds played.
    pub seconds: u32,
}

/// A change of the database.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// A ban or a mute.
    Sentence(Sentence),
    /// The end of a ban or mute, by its number.
    Lift(i64),
    /// A player's role was given or removed.
    Role {
        /// The player.
        key: PublicKey,
        /// The player's name, if known.
        name: Option<String>,
        /// The role; `None` removes it.
        role: Option<Role>,
        /// The token or player that gave it.
        author: String,
        /// Unix time in seconds.
        made: i64,
    },
    /// An API token.
    Token {
        /// Name of the token.
        name: String,
        /// SHA-256 of the token, in hexadecimal digits, and its role; `None` deletes it.
        grant: Option<(String, Role)>,
        /// Unix time in seconds.
        made: i64,
    },
    /// A line of the audit log.
    Audit(AuditLine),
    /// A score at the end of a round.
    Result(Result),
    /// A score that may be a record.
    Record(Record),
    /// An addition to a player's totals.
    Played(PlayerTotals),
    /// The calendar, and the last ban or mute that does not move with it.
    Calendar {
        /// The calendar.
        state: CalendarState,
        /// Number of the ban or mute.
        settled: i64,
    },
    /// Deletes everything that a host has decided, before the following changes restore it.
    Clear,
    /// Deletes a player's results, records and totals.
    Forget(PublicKey),
}

/// The day of public bests of all time.
pub(super) const ALL_TIME: i64 = -1;
/// Public bests that are kept for each score, per day and of all time: twice the number shown, so
/// that lists stay full when a player is forgotten.
const PUBLIC_BESTS_MAX: u32 = 20;

/// Runs that are kept for each score, those of the best records. Arbitrary: at most 30 MB, and with
/// the runs that were measured 2 MB.
const RUNS_MAX: u32 = 500;

/// Returns the day since 1970 of a Unix time in seconds.
pub(crate) fn day_of(unix: i64) -> i64 {
    unix.div_euclid(86_400).max(0)
}

impl Change {
    /// Whether this is a host's decision; results and statistics matter less.
    pub(super) fn is_essential(&self) -> bool {
        !matches!(self, Self::Result(_) | Self::Record(_) | Self::Played(_) | Self::Calendar { .. })
    }
}

/// Whether an error may go away: it is the disk's, or caused by another program.
pub(super) fn is_of_the_disk(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    let never = [
        ErrorCode::ConstraintViolation,
        ErrorCode::TypeMismatch,
        ErrorCode::TooBig,
        ErrorCode::ParameterOutOfRange,
    ];
    error.sqlite_error_code().is_some_and(|code| !never.contains(&code))
}

/// Writes a group of changes, all or none.
pub(super) fn write(to: &mut Transaction<'_>, group: &[Change]) -> rusqlite::Result<()> {
    let to = to.savepoint()?;
    for change in group {
        change.write(&to)?;
    }
    to.commit()
}

impl Change {
    fn write(&self, to: &Savepoint<'_>) -> rusqlite::Result<()> {
        let key_text = |key: &PublicKey| key.to_string();
        match self {
            Self::Sentence(it) => write_sentence(to, it)?,
            Self::Lift(id) => {
                to.prepare_cached("DELETE FROM sentences WHERE id = ?1")?.execute(params![id])?
            }
            Self::Role { key, role: None, .. } => {
                to.prepare_cached("DELETE FROM roles WHERE key = ?1")?.execute([key_text(key)])?
            }
            Self::Role { key, name, role: Some(role), author, made } => to
                .prepare_cached(
                    "INSERT OR REPLACE INTO roles (key, name, role, author, made)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![key_text(key), name, role.as_str(), author, made])?,
            Self::Token { name, grant: None, .. } => {
                to.prepare_cached("DELETE FROM tokens WHERE name = ?1")?.execute([name])?
            }
            Self::Token { name, grant: Some((hash, role)), made } => to
                .prepare_cached(
                    "INSERT OR REPLACE INTO tokens (name, hash, role, made)
                     VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![name, hash, role.as_str(), made])?,
            Self::Audit(it) => write_audit(to, it)?,
            Self::Result(it) => write_result(to, it)?,
            Self::Record(it) => it.write(to)?,
            Self::Played(it) => to
                .prepare_cached(
                    "INSERT INTO players (key, name, first_seen, last_seen, sessions, seconds)
                     VALUES (?1, ?2, ?3, ?3, ?4, ?5)
                     ON CONFLICT (key) DO UPDATE SET name = excluded.name,
                     last_seen = excluded.last_seen, sessions = sessions + excluded.sessions,
                     seconds = seconds + excluded.seconds",
                )?
                .execute(params![key_text(&it.key), it.name, it.time, it.sessions, it.seconds])?,
            Self::Calendar { state: it, settled } => write_calendar(to, it, *settled)?,
            Self::Clear => {
                to.execute_batch("DELETE FROM sentences; DELETE FROM roles; DELETE FROM tokens")?;
                0
            }
            Self::Forget(key) => {
                let mut rows = 0;
                for table in ["results", "records", "public_bests", "players"] {
                    let delete = format!("DELETE FROM {table} WHERE key = ?1");
                    rows += to.prepare_cached(&delete)?.execute([key_text(key)])?;
                }
                rows
            }
        };
        Ok(())
    }
}

impl Record {
    fn write(&self, to: &Savepoint<'_>) -> rusqlite::Result<usize> {
        let (best, better) = match self.best {
            Best::Least => ("least", "excluded.value < value"),
            Best::Most => ("most", "excluded.value > value"),
        };
        let Self { game, measure, name, value, time, .. } = self;
        let key = self.key.to_string();
        let rows = to
            .prepare_cached(&format!(
                "INSERT INTO records (game, measure, key, name, value, time, best,
                                      run, run_hash, run_course, run_shared)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                 ON CONFLICT (game, measure, key) DO UPDATE
                 SET name = excluded.name, value = excluded.value, time = excluded.time,
                 best = excluded.best, run = excluded.run, run_hash = excluded.run_hash,
                 run_course = excluded.run_course, run_shared = excluded.run_shared
                 WHERE {better}"
            ))?
            .execute(params![
                game,
                measure,
                key,
                name,
                value,
                time,
                best,
                self.run.as_ref().map(|run| &*run.bytes),
                self.run.as_ref().map(|run| run_hash(&run.bytes).cast_signed()),
                self.run.as_ref().map(|run| run.course.cast_signed()),
                self.run.as_ref().is_some_and(|run| run.is_shared),
            ])?;
        if self.run.is_some() {
            to.prepare_cached(
                "UPDATE records SET run = NULL, run_hash = NULL, run_course = NULL
                 WHERE rowid IN
                 (SELECT rowid FROM records
                  WHERE game = ?1 AND measure = ?2 AND run_hash IS NOT NULL
                  ORDER BY CASE best WHEN 'most' THEN -value ELSE value END, time
                  LIMIT -1 OFFSET ?3)",
            )?
            .execute(params![game, measure, RUNS_MAX])?;
        }
        let days = [ALL_TIME, day_of(*time)];
        for day in days.into_iter().filter(|_| self.is_public) {
            to.prepare_cached(&format!(
                "INSERT INTO public_bests (day, game, measure, key, name, value, time, best)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (day, game, measure, key) DO UPDATE
                 SET name = excluded.name, value = excluded.value, time = excluded.time,
                 best = excluded.best WHERE {better}"
            ))?
            .execute(params![day, game, measure, key, name, value, time, best])?;
            to.prepare_cached(
                "DELETE FROM public_bests WHERE rowid IN
                 (SELECT rowid FROM public_bests WHERE day = ?1 AND game = ?2 AND measure = ?3
                  ORDER BY CASE best WHEN 'most' THEN -value ELSE value END, time
                  LIMIT -1 OFFSET ?4)",
            )?
            .execute(params![day, game, measure, PUBLIC_BESTS_MAX])?;
        }
        Ok(rows)
    }
}

fn write_sentence(to: &Savepoint<'_>, it: &Sentence) -> rusqlite::Result<usize> {
    to.prepare_cached(
        "INSERT OR REPLACE INTO sentences
                 (id, act, kind, subject, name, reason, author, role, made, until)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        it.id,
        it.act.as_str(),
        it.subject.kind(),
        it.subject.to_string(),
        it.name,
        it.reason,
        it.author,
        it.role.as_str(),
        it.made,
        it.until
    ])
}

fn write_audit(to: &Savepoint<'_>, it: &AuditLine) -> rusqlite::Result<usize> {
    to.prepare_cached(
        "INSERT INTO audit (time, author, role, act, whom, why, detail)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        it.time,
        it.author,
        it.role.as_str(),
        it.act,
        it.whom,
        it.why,
        it.detail
    ])
}

fn write_result(to: &Savepoint<'_>, it: &Result) -> rusqlite::Result<usize> {
    to.prepare_cached(
        "INSERT INTO results (time, room, game, round, key, name, measure, value)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        it.time,
        it.room,
        it.game,
        it.round,
        it.key.to_string(),
        it.name,
        it.measure,
        it.value
    ])
}

fn write_calendar(to: &Savepoint<'_>, it: &CalendarState, settled: i64) -> rusqlite::Result<usize> {
    to.prepare_cached(
        "INSERT OR REPLACE INTO calendar
                     (id, unix, floor, unsure, boot, since_boot, moved, settled, candidate)
                     VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        it.unix,
        it.floor,
        it.unsure,
        it.boot.map(|(boot, _)| boot.to_string()),
        it.boot.map(|(_, since)| since),
        it.moved,
        settled,
        it.candidate
    ])
}
