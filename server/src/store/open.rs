//! Opens the database's file: schema, migrations, and recovery of a damaged one.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ffi::SQLITE_NOTADB;
use rusqlite::{Connection, ErrorCode};

use super::files;
use crate::data_dir;
use crate::time::span_text;

/// Migrations from each version of the schema to the next; the first creates it. A released
/// migration never changes: add another one instead.
const MIGRATIONS: [&str; 8] = [
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
    // A date before the newest record would come from a clock that was never set.
    "
    CREATE TABLE calendar (
        id INTEGER PRIMARY KEY CHECK (id = 1), unix INTEGER NOT NULL, floor INTEGER NOT NULL,
        unsure INTEGER NOT NULL, boot TEXT, since_boot INTEGER
    ) STRICT;
    INSERT INTO calendar (id, unix, floor, unsure)
    SELECT 1, 1000 * newest, 1000 * newest, 0 FROM (SELECT max(time) AS newest FROM (
        SELECT max(time) AS time FROM audit UNION ALL SELECT max(time) FROM results
        UNION ALL SELECT max(last_seen) FROM players UNION ALL SELECT max(made) FROM sentences
        UNION ALL SELECT max(made) FROM tokens))
    WHERE newest IS NOT NULL;
",
    "
    ALTER TABLE calendar ADD COLUMN moved INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE calendar ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
    UPDATE calendar SET settled = (SELECT coalesce(max(id), 0) FROM sentences);
",
    // The best scores in public rooms, by day; those of all time have the day -1.
    "
    CREATE TABLE public_bests (
        day INTEGER NOT NULL, game TEXT NOT NULL, measure TEXT NOT NULL, key TEXT NOT NULL,
        name TEXT NOT NULL, value REAL NOT NULL, time INTEGER NOT NULL, best TEXT NOT NULL,
        PRIMARY KEY (day, game, measure, key)
    ) STRICT;
",
    "
    ALTER TABLE calendar ADD COLUMN candidate INTEGER NOT NULL DEFAULT 0;
",
    // The run that set a record, and whether other players may race it.
    "
    ALTER TABLE records ADD COLUMN run BLOB;
    ALTER TABLE records ADD COLUMN run_hash INTEGER;
    ALTER TABLE records ADD COLUMN run_course INTEGER;
    ALTER TABLE records ADD COLUMN run_shared INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX records_by_run ON records (run_hash) WHERE run_hash IS NOT NULL;
    CREATE INDEX records_by_course ON records (game, run_course, value)
        WHERE run_course IS NOT NULL;
    CREATE INDEX records_with_run ON records (game, measure) WHERE run_hash IS NOT NULL;
",
];

/// The database cannot be opened.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(
        "cannot open the database {}: {source}; check the directory's permissions",
        file.display()
    )]
    Open { file: PathBuf, source: rusqlite::Error },
    #[error("cannot read the database: {0}")]
    Read(#[from] rusqlite::Error),
    #[error(
        "the database {} is of version {version}, but this program supports versions up to \
         {known}: use a newer program, or restore a backup from before the update",
        file.display()
    )]
    Newer { file: PathBuf, version: usize, known: usize },
    #[error("cannot set the damaged database {} aside: {source}", file.display())]
    Aside { file: PathBuf, source: io::Error },
    #[error("cannot start a thread for the database: {0}")]
    Thread(io::Error),
}

/// Whether the file is damaged or not a database.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Checks that an existing database has a version that this program supports. Reads only the file's
/// head, since SQLite would create files next to it.
pub(crate) fn check(file: &Path) -> Result<(), OpenError> {
    // https://www.sqlite.org/fileformat.html#the_database_header
    let mut head = [0; 64];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut head));
    let known = MIGRATIONS.len();
    match head {
        [.., a, b, c, d] if read.is_ok() && head.starts_with(b"SQLite format 3\0") => {
            let version = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
            let newer = || OpenError::Newer { file: file.to_owned(), version, known };
            if version > known { Err(newer()) } else { Ok(()) }
        }
        // Damaged or missing: the start creates a new one.
        _ => Ok(()),
    }
}

/// Opens a database, and migrates its schema. A damaged or missing one is replaced by the last
/// copy; what is damaged is renamed. Also returns the problem, if there was one.
pub(super) fn open(file: &Path) -> Result<(Connection, Option<String>), OpenError> {
    // A database is never empty, except one whose creation failed on a full disk.
    let is_gone = std::fs::metadata(file).map_or(true, |it| it.len() == 0);
    if is_gone && files::copy_of(file).exists() {
        let error = files::failure(SQLITE_NOTADB, "it is missing or empty".to_owned());
        return go_on(file, &error);
    }
    match try_open(file) {
        Err(OpenError::Open { source, .. } | OpenError::Read(source)) if is_damage(&source) => {
            go_on(file, &source)
        }
        opened => Ok((opened?, None)),
    }
}

/// Opens a database that must exist and be undamaged.
pub(super) fn open_sound(file: &Path) -> rusqlite::Result<Connection> {
    match try_open(file) {
        Ok(connection) => Ok(connection),
        Err(OpenError::Open { source, .. } | OpenError::Read(source)) => Err(source),
        Err(error) => Err(files::failure(SQLITE_NOTADB, error.to_string())),
    }
}

/// Continues after an error with the last copy, or with an empty database.
fn go_on(file: &Path, error: &rusqlite::Error) -> Result<(Connection, Option<String>), OpenError> {
    let (connection, lost) = start_over(file)?;
    tracing::error!(
        name: "database_damaged",
        file = %file.display(),
        %error,
        lost,
        "the database is damaged or missing; continuing without the lost data; restore a newer \
         backup if you have one"
    );
    Ok((connection, Some(format!("the database was damaged or missing: {lost}"))))
}

/// Creates a database in place of one that failed, from the last copy or empty. Renames the old one
/// if it is there. Also returns a description of both. If the disk fails, the old one and the copy
/// stay as they are.
pub(super) fn start_over(file: &Path) -> Result<(Connection, String), OpenError> {
    let failed = |source| OpenError::Aside { file: file.to_owned(), source };
    if let Some(directory) = file.parent() {
        // It may be gone with everything in it.
        data_dir::make_private_dir(directory).map_err(failed)?;
    }
    let made = std::fs::metadata(files::copy_of(file)).and_then(|it| it.modified());
    let copied = files::of_copy(file).map_err(failed)?;
    let aside = match std::fs::metadata(file) {
        Ok(it) if it.len() > 0 => {
            format!("the old one is set aside as {}", set_aside(file)?.display())
        }
        _ => "the old one is gone".to_owned(),
    };
    // Journals without their database would be used for the new one.
    for end in ["-wal", "-shm"] {
        match std::fs::remove_file(files::with_end(file, end)) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(failed(source)),
            _ => {}
        }
    }
    let from = match &copied {
        Some(copied) => {
            std::fs::rename(copied, file).map_err(failed)?;
            // A clock that was set back makes the age zero.
            let age = made.ok().and_then(|made| made.elapsed().ok()).unwrap_or_default();
            let age = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
            format!("the new one started from a copy of {} ago", span_text(age))
        }
        None => "the new one started empty".to_owned(),
    };
    Ok((try_open(file)?, format!("{from}, and {aside}")))
}

fn try_open(file: &Path) -> Result<Connection, OpenError> {
    let failed = |source| OpenError::Open { file: file.to_owned(), source };
    files::make_private(file);
    let mut connection = Connection::open(file).map_err(failed)?;
    connection.busy_timeout(Duration::from_secs(2)).map_err(failed)?;
    // Acknowledged changes survive a loss of power, too.
    connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
    connection.pragma_update(None, "synchronous", "full").map_err(failed)?;
    files::check(&connection).map_err(failed)?;
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
        tracing::debug!(version = from + 1, "migrating the database's schema");
    }
    Ok(())
}

/// Renames a damaged database and its journals. Nothing is deleted.
fn set_aside(file: &Path) -> Result<PathBuf, OpenError> {
    // The first free name: an older file is never replaced.
    let named = |number: u32| files::with_end(file, &format!(".damaged-{number}"));
    let mut names = (1..u32::MAX).map(named);
    let aside = names.find(|it| !it.exists()).unwrap_or_else(|| named(u32::MAX));
    for end in ["", "-wal", "-shm"] {
        let to = files::with_end(&aside, end);
        match std::fs::rename(files::with_end(file, end), to) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(OpenError::Aside { file: file.to_owned(), source });
            }
            _ => {}
        }
    }
    Ok(aside)
}
