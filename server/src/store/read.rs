//! Reads from the database: what the server keeps in memory, and lists for the host.

use std::sync::Arc;

use phaselock::identity::PublicKey;
use phaselock::limits::GHOSTS_MAX;
use phaselock::wire::ghost::GhostOffer;
use rusqlite::{Connection, Params, Row, params};

use super::changes::ALL_TIME;
use crate::api::{AuditRow, PlayerResult, RecordRow, ResultRow};
use crate::author::Role;
use crate::clocks::{BootId, CalendarState};
use crate::sentence::{Act, Sentence};
use crate::subject::{Subject, parse_key};

/// Everything that the server keeps in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Everything {
    /// Bans and mutes.
    pub sentences: Vec<Sentence>,
    /// Roles of players: key, name, role, who gave it and when.
    pub roles: Vec<(PublicKey, Option<String>, Role, String, i64)>,
    /// API tokens: name, hash, role, and time of creation.
    pub tokens: Vec<(String, String, Role, i64)>,
    /// The calendar, if one was stored.
    pub calendar: Option<CalendarState>,
    /// Number of the last ban or mute that did not move with it.
    pub settled: i64,
}

/// Returns the rows of a query without those that cannot be read: another program may have written
/// them.
fn rows<T>(
    connection: &Connection,
    query: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<Option<T>>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map(params, |row| read(row))?;
    let mut all = Vec::new();
    for row in rows {
        match row {
            Ok(Some(row)) => all.push(row),
            Err(error) if !is_of_row(&error) => return Err(error),
            _ => tracing::warn!(
                name: "database_row_invalid",
                query,
                "skipped an invalid row of the database"
            ),
        }
    }
    Ok(all)
}

/// Whether an error is about a value, so that the other rows can be read.
fn is_of_row(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
    };
    matches!(
        error,
        FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | Utf8Error(..)
    )
}

pub(super) fn everything(connection: &Connection) -> rusqlite::Result<Everything> {
    let sentences = rows(
        connection,
        "SELECT id, act, kind, subject, name, reason, author, role, made, until
         FROM sentences",
        [],
        |row| {
            let (act, kind): (String, String) = (row.get(1)?, row.get(2)?);
            let subject = Subject::parse(&kind, &row.get::<_, String>(3)?);
            let role = Role::parse(&row.get::<_, String>(7)?);
            let Some((act, subject)) = Act::parse(&act).zip(subject.ok()) else { return Ok(None) };
            let Some(role) = role else { return Ok(None) };
            Ok(Some(Sentence {
                id: row.get(0)?,
                act,
                subject,
                name: row.get(4)?,
                reason: row.get(5)?,
                author: row.get(6)?,
                role,
                made: row.get(8)?,
                until: row.get(9)?,
            }))
        },
    )?;
    let roles = rows(connection, "SELECT key, name, role, author, made FROM roles", [], |row| {
        let (key, role): (String, String) = (row.get(0)?, row.get(2)?);
        let Some((key, role)) = parse_key(&key).zip(Role::parse(&role)) else { return Ok(None) };
        Ok(Some((key, row.get(1)?, role, row.get(3)?, row.get(4)?)))
    })?;
    let tokens = rows(connection, "SELECT name, hash, role, made FROM tokens", [], |row| {
        let role = Role::parse(&row.get::<_, String>(2)?);
        let Some(role) = role else { return Ok(None) };
        Ok(Some((row.get(0)?, row.get(1)?, role, row.get(3)?)))
    })?;
    let query =
        "SELECT unix, floor, unsure, boot, since_boot, moved, settled, candidate FROM calendar";
    let calendar = rows(connection, query, [], |row| {
        let boot: Option<String> = row.get(3)?;
        let boot = boot.and_then(|text| BootId::parse(&text)).zip(row.get(4)?);
        let (unix, floor, unsure, moved) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(5)?);
        let candidate = row.get(7)?;
        let kept = CalendarState { unix, floor, unsure, candidate, moved, boot };
        let settled: i64 = row.get(6)?;
        Ok(kept.is_plausible().then_some((kept, settled)))
    })?;
    let (calendar, settled) = calendar.first().copied().unzip();
    let settled = settled.unwrap_or(0);
    Ok(Everything { sentences, roles, tokens, calendar, settled })
}

/// Returns the newest lines of the audit log before a number, newest first.
pub(crate) fn audit(
    connection: &Connection,
    before: Option<i64>,
    limit: u32,
) -> rusqlite::Result<Vec<AuditRow>> {
    rows(
        connection,
        "SELECT id, time, author, role, act, whom, why, detail FROM audit
         WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
        params![before.unwrap_or(i64::MAX), limit],
        |row| {
            Ok(Some(AuditRow {
                id: row.get(0)?,
                time: row.get(1)?,
                by: row.get(2)?,
                role: row.get(3)?,
                act: row.get(4)?,
                whom: row.get(5)?,
                why: row.get(6)?,
                detail: row.get(7)?,
            }))
        },
    )
}

/// Maximum scores of a round, and of all rounds read at a time. Arbitrary.
const NUMBERS_MAX: u32 = 20_000;

/// Returns the newest rounds with their scores, newest first.
pub(crate) fn results(connection: &Connection, limit: u32) -> rusqlite::Result<Vec<ResultRow>> {
    let numbers = rows(
        connection,
        "SELECT time, room, game, round, name, key, value, measure FROM results
         ORDER BY id DESC LIMIT ?1",
        [NUMBERS_MAX],
        |row| {
            let (time, room, game, round) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let player = PlayerResult {
                name: row.get(4)?,
                key: row.get(5)?,
                value: row.get(6)?,
                measure: row.get(7)?,
            };
            Ok(Some(ResultRow { time, room, game, round, players: vec![player] }))
        },
    )?;
    let mut rounds: Vec<ResultRow> = Vec::new();
    for mut row in numbers {
        let of = |it: &ResultRow| (it.time, it.room.clone(), it.game.clone(), it.round);
        if rounds.last().map(of) == Some(of(&row)) {
            rounds.last_mut().into_iter().for_each(|it| it.players.append(&mut row.players));
        } else if rounds.len() < limit as usize {
            rounds.push(row);
        } else {
            break;
        }
    }
    // They were written in the order of seats.
    rounds.iter_mut().for_each(|round| round.players.reverse());
    Ok(rounds)
}

/// Returns the records of a game, or of all (`None`), for each score the best first.
pub(crate) fn records(
    connection: &Connection,
    game: Option<&str>,
) -> rusqlite::Result<Vec<RecordRow>> {
    rows(
        connection,
        "SELECT game, measure, key, name, value, time FROM records
         WHERE ?1 IS NULL OR game = ?1
         ORDER BY game, measure, CASE best WHEN 'most' THEN -value ELSE value END LIMIT 1000",
        [game],
        |row| {
            Ok(Some(RecordRow {
                game: row.get(0)?,
                measure: row.get(1)?,
                key: row.get(2)?,
                name: row.get(3)?,
                value: row.get(4)?,
                time: row.get(5)?,
            }))
        },
    )
}

/// Returns the ghosts that a player may race on a course of a game, best first: up to
/// [`GHOSTS_MAX`], and always the player's own.
pub(crate) fn ghosts(
    connection: &Connection,
    game: &str,
    course: u64,
    key: &PublicKey,
) -> rusqlite::Result<Vec<GhostOffer>> {
    let limit = u32::try_from(GHOSTS_MAX).unwrap_or(u32::MAX);
    let mut ghosts = rows(
        connection,
        "SELECT name, value, run_hash, length(run), key = ?3 FROM records
         WHERE game = ?1 AND run_course = ?2 AND run_course IS NOT NULL
             AND (run_shared OR key = ?3)
         ORDER BY key = ?3 DESC, value, time LIMIT ?4",
        params![game, course.cast_signed(), key.to_string(), limit],
        |row| {
            Ok(Some(GhostOffer {
                name: row.get(0)?,
                hundredths: (row.get::<_, f64>(1)? * 100.0).round() as u32,
                hash: row.get::<_, i64>(2)?.cast_unsigned(),
                bytes: row.get(3)?,
                own: row.get(4)?,
            }))
        },
    )?;
    ghosts.sort_by_key(|ghost| ghost.hundredths);
    Ok(ghosts)
}

/// Returns the run with this hash, if it belongs to a record that a player may race.
pub(crate) fn run(
    connection: &Connection,
    game: &str,
    hash: u64,
    key: &PublicKey,
) -> rusqlite::Result<Option<Arc<[u8]>>> {
    let runs = rows(
        connection,
        "SELECT run FROM records
         WHERE run_hash = ?2 AND game = ?1 AND (run_shared OR key = ?3) LIMIT 1",
        params![game, hash.cast_signed(), key.to_string()],
        |row| Ok(Some(row.get::<_, Vec<u8>>(0)?.into())),
    )?;
    Ok(runs.into_iter().next())
}

/// A player's best public score in a game.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PublicBest {
    /// Name of the game.
    pub game: String,
    /// Name of the score.
    pub measure: String,
    /// The player's name.
    pub name: String,
    /// Value of the score.
    pub value: f64,
    /// Unix time in seconds.
    pub time: i64,
}

/// Returns public bests since a [day](super::day_of), or of all time (`None`): up to `limit`
/// players for each score, best first.
pub(crate) fn public_bests(
    connection: &Connection,
    since: Option<i64>,
    limit: u32,
) -> rusqlite::Result<Vec<PublicBest>> {
    let (first, last) = since.map_or((ALL_TIME, ALL_TIME), |day| (day.max(0), i64::MAX));
    rows(
        connection,
        "WITH all_days AS
         (SELECT *, CASE best WHEN 'most' THEN -value ELSE value END AS rank FROM public_bests
          WHERE day BETWEEN ?1 AND ?2),
         own_bests AS
         (SELECT *, ROW_NUMBER() OVER (PARTITION BY game, measure, key ORDER BY rank, time)
          AS nth FROM all_days),
         places AS
         (SELECT *, ROW_NUMBER() OVER (PARTITION BY game, measure ORDER BY rank, time)
          AS place FROM own_bests WHERE nth = 1)
         SELECT game, measure, name, value, time FROM places WHERE place <= ?3
         ORDER BY game, measure, place",
        params![first, last, limit],
        |row| {
            Ok(Some(PublicBest {
                game: row.get(0)?,
                measure: row.get(1)?,
                name: row.get(2)?,
                value: row.get(3)?,
                time: row.get(4)?,
            }))
        },
    )
}
