//! Deletes old records in small parts.

use rusqlite::{Connection, params};

/// Maximum rows deleted from a table at a time, so that a ban never waits long for it.
pub(super) const ROWS_MAX: u32 = 1000;
/// Each deletes at most ?2 rows from before ?1. The best hundred records of a game are kept.
const DELETIONS: [&str; 6] = [
    "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE time < ?1 ORDER BY id LIMIT ?2)",
    "DELETE FROM results WHERE id IN
     (SELECT id FROM results WHERE time < ?1 ORDER BY id LIMIT ?2)",
    "DELETE FROM players WHERE key IN
     (SELECT key FROM players WHERE last_seen < ?1 AND key NOT IN (SELECT key FROM roles)
      LIMIT ?2)",
    "DELETE FROM sentences WHERE id IN
     (SELECT id FROM sentences WHERE until < ?1 ORDER BY id LIMIT ?2)",
    "DELETE FROM records WHERE rowid IN
     (SELECT rowid FROM
      (SELECT rowid, time, ROW_NUMBER() OVER (PARTITION BY game, measure
       ORDER BY CASE best WHEN 'most' THEN -value ELSE value END) AS place FROM records)
      WHERE time < ?1 AND place > 100 LIMIT ?2)",
    "DELETE FROM public_bests WHERE rowid IN
     (SELECT rowid FROM public_bests WHERE day >= 0 AND time < ?1 LIMIT ?2)",
];

/// Deletes some rows from before a Unix time in seconds. Returns the largest number deleted from
/// any table.
pub(super) fn drop_some(connection: &Connection, before: i64) -> rusqlite::Result<u32> {
    let mut most = 0;
    for deletion in DELETIONS {
        let rows = connection.prepare_cached(deletion)?.execute(params![before, ROWS_MAX])?;
        most = most.max(u32::try_from(rows).unwrap_or(u32::MAX));
    }
    Ok(most)
}
