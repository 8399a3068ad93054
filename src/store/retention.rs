//! What the log forgets: what is too old, and the oldest of what is too much.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use crate::clock::Timestamp;

/// How many rows of a table one step takes: a millisecond's worth, or little more.
const STEP: i64 = 64;

/// How many pages a step gives back to the disk.
const PAGES: i64 = 64;

/// The newest events, which stay whatever the clock says.
const KEPT: i64 = 1_000;

/// How much one step takes the log below its limit, so that not every event is followed by one.
const SLACK: u64 = 16;

/// The tables with rows that get old, but for the events.
const TABLES: [&str; 4] =
    ["tma1_build_events", "tma1_external_changes", "tma1_project_state", "tma1_anomaly_emits"];

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// For how long: `TMA1_DATA_TTL`.
    pub age: Duration,
    /// How many bytes of the disk: `TMA1_DATA_MAX`.
    pub bytes: u64,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// There is more to forget.
    More,
    /// There is nothing more for now.
    Done,
}

impl Default for Retention {
    fn default() -> Self {
        Self { age: Duration::from_secs(60 * 24 * 60 * 60), bytes: 2 << 30 }
    }
}

impl Retention {
    /// Forgets a few rows that are too old or too many, and gives a few pages back.
    pub(super) fn step(
        &self,
        connection: &mut Connection,
        now: Timestamp,
    ) -> rusqlite::Result<Step> {
        let cutoff = now.minus(self.age).as_unix_millis();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut gone = forget_older(&transaction, cutoff)?;
        if gone == 0 && self.is_exceeded(&transaction)? {
            gone = forget_oldest(&transaction)?;
        }
        transaction.commit()?;
        let freed = give_back(connection)?;
        Ok(if gone > 0 || freed { Step::More } else { Step::Done })
    }

    /// Whether what is used, and not free within the file, is too much. The limit is approached from
    /// above only as long as there are events to forget.
    fn is_exceeded(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let used = number("page_count")?.saturating_sub(number("freelist_count")?);
        let used = u64::try_from(used.saturating_mul(number("page_size")?)).unwrap_or_default();
        Ok(used > self.bytes - self.bytes / SLACK)
    }
}

fn forget_older(connection: &Connection, cutoff: i64) -> rusqlite::Result<usize> {
    let mut gone = connection
        .prepare_cached(
            "DELETE FROM tma1_hook_events WHERE id IN (
                 SELECT id FROM tma1_hook_events WHERE ts < ?1
                     AND id <= (SELECT max(id) FROM tma1_hook_events) - ?2 LIMIT ?3)",
        )?
        .execute(params![cutoff, KEPT, STEP])?;
    gone += forget_messages(connection, cutoff)?;
    for table in TABLES {
        gone += connection
            .prepare_cached(&format!(
                "DELETE FROM {table} WHERE id IN (
                     SELECT id FROM {table} WHERE ts < ?1
                         AND id <= (SELECT max(id) FROM {table}) - ?2 LIMIT ?3)"
            ))?
            .execute(params![cutoff, KEPT, STEP])?;
    }
    // One that has events left is still there to be gone on with.
    gone += connection
        .prepare_cached(
            "DELETE FROM tma1_sessions WHERE id IN (
                 SELECT id FROM tma1_sessions AS old WHERE last_ts < ?1 AND NOT EXISTS (
                     SELECT 1 FROM tma1_hook_events WHERE session_id = old.session_id)
                 LIMIT ?2)",
        )?
        .execute(params![cutoff, STEP])?;
    Ok(gone)
}

fn forget_messages(connection: &Connection, cutoff: i64) -> rusqlite::Result<usize> {
    let which = "SELECT id FROM tma1_messages WHERE ts < ?1
                     AND id <= (SELECT max(id) FROM tma1_messages) - ?2 ORDER BY ts LIMIT ?3";
    let words = format!("DELETE FROM tma1_messages_fts WHERE rowid IN ({which})");
    connection.prepare_cached(&words)?.execute(params![cutoff, KEPT, STEP])?;
    connection
        .prepare_cached(&format!("DELETE FROM tma1_messages WHERE id IN ({which})"))?
        .execute(params![cutoff, KEPT, STEP])
}

/// The events that came first, and the rows of the time before them.
fn forget_oldest(connection: &Connection) -> rusqlite::Result<usize> {
    let until: Option<i64> = connection
        .prepare_cached(
            "SELECT min(ts) FROM (SELECT ts FROM tma1_hook_events
                 WHERE id <= (SELECT max(id) FROM tma1_hook_events) - ?1
                 ORDER BY id LIMIT ?2)",
        )?
        .query_row(params![KEPT, STEP], |row| row.get(0))?;
    let Some(until) = until else {
        return Ok(0);
    };
    let gone = connection
        .prepare_cached(
            "DELETE FROM tma1_hook_events WHERE id IN (SELECT id FROM tma1_hook_events
                 WHERE id <= (SELECT max(id) FROM tma1_hook_events) - ?1
                 ORDER BY id LIMIT ?2)",
        )?
        .execute(params![KEPT, STEP])?;
    Ok(gone + forget_older(connection, until)?)
}

/// Gives pages at the end of the file back; whether there are more.
fn give_back(connection: &Connection) -> rusqlite::Result<bool> {
    let free = || connection.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0));
    let before = free()?;
    // The pragma is done with a row for each page.
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    drop(rows);
    Ok(before > 0 && free()? < before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Database;

    const DAY: i64 = 24 * 60 * 60 * 1_000;

    fn now() -> Timestamp {
        Timestamp::from_unix_millis(1_000 * DAY)
    }

    /// A database with an event at each of these times, and a message of each.
    fn database(times: impl Iterator<Item = i64>) -> (tempfile::TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let connection = Database::open(&folder.path().join("tma1.db")).unwrap().connection;
        connection.execute_batch("BEGIN").unwrap();
        for ts in times {
            let event =
                "INSERT INTO tma1_hook_events (ts, agent_source, session_id, event_type, payload)
                         VALUES (?1, 'codex', 's', 'Stop', hex(zeroblob(500)))";
            connection.execute(event, [ts]).unwrap();
            let message =
                "INSERT INTO tma1_messages (ts, agent_source, session_id, message_type, role,
                               content) VALUES (?1, 'codex', 's', 'prompt', 'user', 'word')";
            connection.execute(message, [ts]).unwrap();
            let words = "INSERT INTO tma1_messages_fts (rowid, content) VALUES (?1, 'word')";
            connection.execute(words, [connection.last_insert_rowid()]).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
        (folder, connection)
    }

    fn run(retention: Retention, connection: &mut Connection) {
        while retention.step(connection, now()).unwrap() == Step::More {}
    }

    fn number(connection: &Connection, query: &str) -> i64 {
        connection.query_row(query, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn what_is_too_old_goes_and_its_words_with_it() {
        let old = std::iter::repeat_n(900 * DAY, 500);
        let (_folder, mut connection) = database(old.chain((0..1_500).map(|_| 999 * DAY)));
        run(Retention::default(), &mut connection);
        assert_eq!(number(&connection, "SELECT count(*) FROM tma1_hook_events"), 1_500);
        assert_eq!(number(&connection, "SELECT min(id) FROM tma1_messages"), 501);
        let words = "SELECT count(*) FROM tma1_messages_fts WHERE tma1_messages_fts MATCH 'word'";
        assert_eq!(number(&connection, words), 1_500);
        assert_eq!(number(&connection, "PRAGMA freelist_count"), 0);
    }

    #[test]
    fn the_newest_stay_however_old_the_clock_makes_them() {
        // The clock was years behind, and years ahead before that.
        let ahead = std::iter::repeat_n(9_000 * DAY, 100);
        let (_folder, mut connection) = database(ahead.chain((0..1_200).map(|_| 5 * DAY)));
        run(Retention::default(), &mut connection);
        assert_eq!(
            number(&connection, "SELECT count(*) FROM tma1_hook_events WHERE id > 300"),
            KEPT
        );
        // What seems to come from later is no reason to keep what is old, and is not old itself.
        assert_eq!(number(&connection, "SELECT count(*) FROM tma1_hook_events"), KEPT + 100);
    }

    #[test]
    fn what_is_too_much_goes_from_the_oldest_on() {
        let (_folder, mut connection) = database((0..5_000).map(|index| 999 * DAY + index));
        let size = |connection: &Connection| {
            number(connection, "PRAGMA page_count") * number(connection, "PRAGMA page_size")
        };
        let before = size(&connection);
        let bytes = u64::try_from(before / 2).unwrap();
        run(Retention { bytes, ..Retention::default() }, &mut connection);
        let after = size(&connection);
        assert!(after <= before / 2 && after > before / 3, "{before}, then {after}");
        let left = number(&connection, "SELECT count(*) FROM tma1_hook_events");
        assert_eq!(number(&connection, "SELECT min(id) FROM tma1_hook_events"), 5_001 - left);
        // However little there may be, the newest stay.
        run(Retention { bytes: 1, ..Retention::default() }, &mut connection);
        assert_eq!(number(&connection, "SELECT count(*) FROM tma1_hook_events"), KEPT);
    }
}
