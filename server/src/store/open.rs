//! The database's file: its schema, its migrations, and what becomes of a damaged one.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use phaselock_quic::clock::Clock;
use rusqlite::{Connection, ErrorCode};

use super::files;
use crate::people::span_text;

/// Steps from each version of the schema to the next; the first makes it. A step that stands is
/// never changed: the next version is one more step.
const MIGRATIONS: [&str; 3] = [
    "
    CREATE TABLE sentences (
        id INTEGER PRIMARY KEY, act TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL,
        name TEXT, reason TEXT NOT NULL, author TEXT NOT NULL, made INTEGER NOT NULL, until INTEGER
    ) STRICT;
    CREATE TABLE roles (
        key TEXT PRIMARY KEY, name TEXT, role TEXT NOT NULL, author TEXT NOT NULL,
        made INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE tokens (
        name TEXT PRIMARY KEY, hash TEXT NOT NULL, role TEXT NOT NULL, made INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE audit (
        id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, author TEXT NOT NULL,
        role TEXT NOT NULL, act TEXT NOT NULL, whom TEXT, why TEXT, detail TEXT
    ) STRICT;
    CREATE TABLE results (
        id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, room TEXT NOT NULL,
        game TEXT NOT NULL, round INTEGER NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
        measure TEXT NOT NULL, value REAL NOT NULL
    ) STRICT;
    CREATE INDEX results_by_time ON results (time);
    CREATE TABLE records (
        game TEXT NOT NULL, measure TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
        value REAL NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (game, measure, key)
    ) STRICT;
    CREATE TABLE players (
        key TEXT PRIMARY KEY, name TEXT NOT NULL, first_seen INTEGER NOT NULL,
        last_seen INTEGER NOT NULL, sessions INTEGER NOT NULL, seconds INTEGER NOT NULL
    ) STRICT;
",
    "
    ALTER TABLE sentences ADD COLUMN role TEXT NOT NULL DEFAULT 'admin';
",
    "
    ALTER TABLE records ADD COLUMN best TEXT NOT NULL DEFAULT 'least';
",
];

/// The database cannot be opened.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot open the database {}: {source}; check the directory's rights", file.display())]
    Open { file: PathBuf, source: rusqlite::Error },
    #[error("cannot read the database: {0}")]
    Read(#[from] rusqlite::Error),
    #[error(
        "the database {} is of version {version}, and this program knows versions up to {known}: \
         use the newer program, or a backup of before", file.display()
    )]
    Newer { file: PathBuf, version: usize, known: usize },
    #[error("cannot set the damaged database {} aside: {source}", file.display())]
    Aside { file: PathBuf, source: io::Error },
    #[error("cannot start a thread for the database: {0}")]
    Thread(io::Error),
}

/// True if the file is no database, or damaged.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Opens a database, sets a damaged one aside, and brings the schema up to date. Returns also the
/// problem, if there was one.
pub(super) fn open(file: &Path) -> Result<(Connection, Option<String>), OpenError> {
    match try_open(file) {
        Err(OpenError::Open { source, .. } | OpenError::Read(source)) if is_damage(&source) => {
            let aside = set_aside(file)?;
            let (connection, from) = match restored(file) {
                Some((connection, made)) => (connection, format!("a copy of {made}")),
                None => (try_open(file)?, "nothing".to_owned()),
            };
            tracing::error!(
                file = %file.display(),
                aside = %aside.display(),
                error = %source,
                from,
                "the database is damaged: it is set aside, and the server goes on from its last \
                 copy, or from nothing; restore a backup if there is a newer one"
            );
            let aside = aside.display();
            let problem =
                format!("the database was damaged and is set aside as {aside}; this one is {from}");
            Ok((connection, Some(problem)))
        }
        opened => Ok((opened?, None)),
    }
}

/// The database of the last copy, and when that was made; none if there is none that is whole.
fn restored(file: &Path) -> Option<(Connection, String)> {
    let copy = files::copy_of(file);
    let made = std::fs::metadata(&copy).and_then(|it| it.modified()).ok()?;
    std::fs::copy(&copy, file).ok()?;
    match try_open(file) {
        Ok(connection) => {
            // A clock that was set back makes it new.
            let age = made.elapsed().map_or(0, |age| age.as_secs());
            let age = i64::try_from(age).unwrap_or(i64::MAX);
            Some((connection, format!("{} ago", span_text(age))))
        }
        Err(_) => {
            // Not of use either; the copy itself stays.
            let _ = std::fs::remove_file(file);
            None
        }
    }
}

/// Begins a new database in place of one that failed while it was in use. What there is of the old
/// one is set aside; returns also where that is now.
pub(super) fn begin_anew(file: &Path) -> Result<(Connection, Option<PathBuf>), OpenError> {
    if let Some(directory) = file.parent() {
        // It may be gone with all that was in it; opening says so if it cannot be made.
        let _ = std::fs::create_dir_all(directory);
    }
    // An empty one is what an attempt on a full disk has left.
    let aside = match std::fs::metadata(file) {
        Ok(it) if it.len() > 0 => Some(set_aside(file)?),
        _ => None,
    };
    // Journals without their database would be taken for the new one's.
    for end in ["-wal", "-shm"] {
        let mut journal = OsString::from(file);
        journal.push(end);
        match std::fs::remove_file(PathBuf::from(journal)) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(OpenError::Aside { file: file.to_owned(), source });
            }
            _ => {}
        }
    }
    Ok((try_open(file)?, aside))
}

fn try_open(file: &Path) -> Result<Connection, OpenError> {
    let failed = |source| OpenError::Open { file: file.to_owned(), source };
    files::make_private(file);
    let mut connection = Connection::open(file).map_err(failed)?;
    connection.busy_timeout(Duration::from_secs(2)).map_err(failed)?;
    // Acknowledged changes survive the loss of power too.
    connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
    connection.pragma_update(None, "synchronous", "full").map_err(failed)?;
    let sound: String =
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if sound != "ok" {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        return Err(failed(rusqlite::Error::SqliteFailure(code, Some(sound))));
    }
    migrate(&mut connection, file)?;
    Ok(connection)
}

fn migrate(connection: &mut Connection, file: &Path) -> Result<(), OpenError> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let (version, known) = (usize::try_from(version).unwrap_or(usize::MAX), MIGRATIONS.len());
    if version > known {
        return Err(OpenError::Newer { file: file.to_owned(), version, known });
    }
    for (from, step) in MIGRATIONS.iter().enumerate().skip(version) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(
            None,
            "user_version",
            i64::try_from(from + 1).unwrap_or(i64::MAX),
        )?;
        transaction.commit()?;
        tracing::debug!(version = from + 1, "the database's schema is brought up to date");
    }
    Ok(())
}

/// Renames a damaged database and its journals. Nothing is deleted.
fn set_aside(file: &Path) -> Result<PathBuf, OpenError> {
    let named = |end: &str| {
        let mut name = OsString::from(file);
        name.push(end);
        PathBuf::from(name)
    };
    let aside = named(&format!(".damaged-{}", Clock::unix_secs()));
    for end in ["", "-wal", "-shm"] {
        let mut to = OsString::from(&aside);
        to.push(end);
        match std::fs::rename(named(end), to) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(OpenError::Aside { file: file.to_owned(), source });
            }
            _ => {}
        }
    }
    Ok(aside)
}
