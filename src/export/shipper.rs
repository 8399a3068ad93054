//! Sends what waits, one statement a step, and decides by the answer.
//!
//! Rows go at least once and in the order of the log. A statement whose answer is lost is sent again:
//! the rows have the same keys, and are the same rows there.

mod lane;
mod preparation;

use std::path::PathBuf;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::clock::{Tally, Timestamp};
use crate::export::answer::{Answer, Verdict};
use crate::export::backoff::{LONG, pause, spread};
use crate::export::client::Client;
use crate::export::outbox::{Batch, Outbox, Progress, tables};
use crate::export::schema::Table;
use crate::export::{Report, Target};
use lane::{Lane, Refused};

/// For how long the log is read over one connection: the file may be another one by then.
const REOPEN: Duration = Duration::from_secs(30);

/// How often a statement is tried again that may be at fault itself.
const MAX_TRIES: u32 = 4;

/// The export to one target.
#[derive(Debug)]
pub struct Shipper {
    target: Target,
    /// The log.
    path: PathBuf,
    /// What this machine is called now.
    host: String,
    client: Client,
    outbox: Option<(Outbox, Timestamp)>,
    progress: Progress,
    /// Whether the tables are there and have the columns.
    is_prepared: bool,
    /// Whether they were made again since rows were stored last.
    is_remade: bool,
    failures: u32,
    lanes: Vec<Lane>,
    /// The table whose turn it is.
    turn: usize,
    error: Option<String>,
    next_attempt: Option<Timestamp>,
    set_aside: Option<String>,
    refused: Tally,
}

/// What comes after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// There is more to do.
    Now,
    /// An attempt failed; the next one is due after this.
    After(Duration),
    /// Everything is sent.
    Idle,
}

/// Why a step came to nothing.
#[derive(Debug)]
enum Setback {
    /// It passes.
    Passing(String),
    /// Somebody has to do something.
    Lasting(String),
}

impl From<rusqlite::Error> for Setback {
    fn from(error: rusqlite::Error) -> Self {
        Self::Passing(format!("the event log can't be read: {error}"))
    }
}

impl Shipper {
    /// The export of the log at `path` to `target`, by a machine called `host`. The server has
    /// `patience` for each answer.
    pub fn new(target: Target, path: PathBuf, host: String, patience: Duration) -> Self {
        Self {
            client: Client::new(&target, patience),
            target,
            path,
            host,
            outbox: None,
            progress: Progress::default(),
            is_prepared: false,
            is_remade: false,
            failures: 0,
            lanes: tables().map(|_| Lane::default()).collect(),
            turn: 0,
            error: None,
            next_attempt: None,
            set_aside: None,
            refused: Tally::default(),
        }
    }

    /// Sends one statement, if something waits. `random` spreads the pauses of many machines.
    pub fn step(&mut self, now: Timestamp, random: u8) -> Next {
        let (error, pause) = match self.attempt(now) {
            Ok(next) => return next,
            Err(Setback::Passing(error)) => {
                self.failures = self.failures.saturating_add(1);
                (error, pause(self.failures, random))
            }
            Err(Setback::Lasting(error)) => (error, spread(LONG, random)),
        };
        if self.error.as_ref() != Some(&error) {
            tracing::warn!(reason = error, "the export is held up");
        }
        self.error = Some(error);
        self.next_attempt = Some(now.plus(pause));
        Next::After(pause)
    }

    /// Whether something was written to the log since `version`, which is updated.
    pub(super) fn has_news(&self, version: &mut Option<i64>) -> bool {
        let found = self.outbox.as_ref().and_then(|(outbox, _)| outbox.version().ok());
        std::mem::replace(version, found) != found
    }

    /// How the export is.
    pub fn report(&self) -> Report {
        let (mut rows_behind, mut behind_since) = (0, None);
        if let Some((outbox, _)) = &self.outbox {
            for (place, table) in tables() {
                let doubted = self.lanes.get(place).and_then(Lane::doubted_since);
                let cursor = doubted.unwrap_or_else(|| self.progress.cursor(table));
                let (rows, since) = outbox.waiting(table, cursor).unwrap_or_default();
                rows_behind += rows;
                behind_since = [behind_since, since].into_iter().flatten().min();
            }
        }
        let halted = self.lanes.iter().find_map(|lane| lane.halted.as_ref());
        Report {
            url: self.target.url.clone(),
            database: self.target.database.clone(),
            host: self.progress.host.clone(),
            rows_behind,
            behind_since,
            rows_sent: self.progress.shipped,
            sent_at: self.progress.shipped_at,
            rows_set_aside: self.progress.set_aside,
            set_aside: self.set_aside.clone(),
            rows_expired: self.progress.expired,
            rows_missing: self.progress.gaps,
            error: self.error.clone().or_else(|| halted.map(|(error, _)| error.clone())),
            next_attempt: self
                .next_attempt
                .or_else(|| halted.map(|(_, until)| *until))
                .map(Timestamp::as_unix_millis),
        }
    }

    fn attempt(&mut self, now: Timestamp) -> Result<Next, Setback> {
        self.open(now).inspect_err(|_| self.outbox = None)?;
        for lane in &mut self.lanes {
            if lane.halted.as_ref().is_some_and(|(_, until)| *until <= now) {
                lane.halted = None;
                self.is_prepared = false;
            }
        }
        if !self.is_prepared {
            self.prepare(now)?;
            self.is_prepared = true;
        }
        let Some((place, table)) = self.next_table(now).inspect_err(|_| self.outbox = None)? else {
            self.goes_on();
            return Ok(Next::Idle);
        };
        self.ship(place, table, now)?;
        Ok(Next::Now)
    }

    /// Opens the log, or opens it again after a while: it may have been replaced.
    fn open(&mut self, now: Timestamp) -> Result<(), Setback> {
        if self.outbox.as_ref().is_some_and(|(_, since)| now.since(*since) < REOPEN) {
            return Ok(());
        }
        let digest = Sha256::digest(format!("{}\n{}", self.target.url, self.target.database));
        let key = u64::from_be_bytes(digest.first_chunk().copied().unwrap_or_default());
        let outbox = Outbox::open(&self.path, &format!("{key:016x}"))?;
        let is_same = self.outbox.as_ref().is_some_and(|(old, _)| old.is_of(&outbox));
        if !is_same {
            self.progress = outbox.progress()?;
            self.lanes = tables().map(|_| Lane::default()).collect();
            if self.progress.host.is_empty() {
                self.progress.host.clone_from(&self.host);
                outbox.keep(&self.progress)?;
            }
        }
        self.outbox = Some((outbox, now));
        Ok(())
    }

    fn outbox(&self) -> Result<&Outbox, Setback> {
        let closed = || Setback::Passing("the event log is not open".to_owned());
        self.outbox.as_ref().map(|(outbox, _)| outbox).ok_or_else(closed)
    }

    /// The next table in turn of which rows wait.
    fn next_table(&mut self, now: Timestamp) -> Result<Option<(usize, &'static Table)>, Setback> {
        let (turn, count) = (self.turn, self.lanes.len());
        let mut all: Vec<_> = tables().collect();
        all.rotate_left(turn % count.max(1));
        for (place, table) in all {
            if self.lanes.get(place).is_none_or(|lane| lane.halted.is_some()) {
                continue;
            }
            let (last, cursor) = (self.outbox()?.last(table)?, self.progress.cursor(table));
            if last < cursor {
                // The log forgot all of them, and counts from the beginning again.
                self.progress.cursors.remove(table.name);
            }
            if last != cursor && last > 0 {
                self.turn = place;
                return Ok(Some((place, table)));
            }
            // No other row shows whose fault it is that the last ones were refused.
            if let Some(lane) = self.lanes.get(place).filter(|it| it.doubted_since().is_some()) {
                let said = lane.said.clone();
                self.halt(place, table, &said, now);
            }
        }
        Ok(None)
    }

    fn ship(&mut self, place: usize, table: &Table, now: Timestamp) -> Result<(), Setback> {
        let limit = self.lanes.get(place).map_or(1, Lane::limit);
        let (cursor, oldest) =
            (self.progress.cursor(table), self.target.ttl.map(|it| now.minus(it)));
        let host = self.progress.host.clone();
        let batch = self.outbox()?.batch(table, cursor, limit, oldest, &host)?;
        if batch.tuples.is_empty()
            || self.lanes.get(place).is_some_and(|it| it.is_beyond_trial(batch.last))
        {
            self.advance(place, table, &batch);
            return Ok(());
        }
        let sql = table.insert() + &batch.tuples.join(", ");
        let answer = self.client.run(Some(&self.target.database), &sql);
        self.take(place, table, &batch, answer, now)
    }

    fn take(
        &mut self,
        place: usize,
        table: &Table,
        batch: &Batch,
        answer: Answer,
        now: Timestamp,
    ) -> Result<(), Setback> {
        let count = batch.tuples.len();
        let Some(lane) = self.lanes.get_mut(place) else {
            return Ok(());
        };
        match answer.verdict {
            Verdict::Done => {
                self.is_remade = false;
                self.goes_on();
                self.progress.shipped += u64::try_from(count).unwrap_or(0);
                self.progress.shipped_at = Some(now.as_unix_millis());
                self.advance(place, table, batch);
                if let Some(lane) = self.lanes.get_mut(place) {
                    if let Some(cursor) = lane.stored(count, batch.last) {
                        self.progress.cursors.insert(table.name.to_owned(), cursor);
                    }
                    if lane.is_settled() {
                        self.turn = place + 1;
                    }
                }
                return Ok(());
            }
            Verdict::Retry => return Err(Setback::Passing(answer.said)),
            Verdict::RetrySmaller => {
                lane.shrink(count);
                return Err(Setback::Passing(answer.said));
            }
            Verdict::Uncertain if lane.tries < MAX_TRIES => {
                lane.tries += 1;
                return Err(Setback::Passing(answer.said));
            }
            Verdict::TooLarge if count > 1 => lane.shrink(count),
            Verdict::BadRow | Verdict::Uncertain if count > 1 => lane.suspect(count),
            Verdict::BadRow | Verdict::Uncertain | Verdict::TooLarge => {
                self.refuse(place, table, batch, &answer.said, now);
            }
            Verdict::NoDatabase | Verdict::NoTable => {
                self.is_prepared = false;
                if std::mem::replace(&mut self.is_remade, true) {
                    return Err(Setback::Passing(answer.said));
                }
            }
            Verdict::NoColumn if !std::mem::replace(&mut lane.is_migrated, true) => {
                self.add_all_columns(table)?;
            }
            Verdict::NoColumn => lane.halt(answer.said, now),
            Verdict::Forbidden | Verdict::Refused => return Err(Setback::Lasting(answer.said)),
        }
        Ok(())
    }

    /// Passes over a row that the server does not take. It is given up only when another one was stored
    /// and it is refused again: if the server takes none at all, that is not the rows' fault, and the
    /// table waits.
    fn refuse(&mut self, place: usize, table: &Table, batch: &Batch, said: &str, now: Timestamp) {
        let cursor = self.progress.cursor(table);
        let Some(lane) = self.lanes.get_mut(place) else {
            return;
        };
        match lane.refuse(cursor, batch.last) {
            Refused::Doubtful => {
                said.clone_into(&mut lane.said);
                self.advance(place, table, batch);
            }
            Refused::Bad => {
                self.progress.set_aside += 1;
                self.advance(place, table, batch);
                if let Some(rows) = self.refused.count(now) {
                    let (table, row) = (table.name, batch.last);
                    tracing::warn!(table, row, rows, reason = said, "rows were not exported");
                }
                self.set_aside = Some(format!("row {} of {}: {said}", batch.last, table.name));
            }
            Refused::All => self.halt(place, table, said, now),
        }
    }

    /// Leaves a table alone that takes none of the last rows; they are sent again later.
    fn halt(&mut self, place: usize, table: &Table, said: &str, now: Timestamp) {
        let Some(lane) = self.lanes.get_mut(place) else {
            return;
        };
        if let Some(cursor) = lane.give_up_doubt() {
            self.progress.cursors.insert(table.name.to_owned(), cursor);
        }
        lane.halt(format!("{} takes no row: {said}", table.name), now);
        self.keep();
    }

    fn advance(&mut self, place: usize, table: &Table, batch: &Batch) {
        self.progress.expired += batch.expired;
        self.progress.gaps += batch.gaps;
        let cursor = match self.lanes.get_mut(place) {
            Some(lane) => lane.after_trial(batch.last),
            None => batch.last,
        };
        self.progress.cursors.insert(table.name.to_owned(), cursor);
        self.keep();
    }

    /// Keeps the progress, up to the first row that is not decided. If that fails, some rows are sent
    /// again after a restart.
    fn keep(&mut self) {
        let mut progress = self.progress.clone();
        for (lane, (_, table)) in self.lanes.iter().zip(tables()) {
            if let Some(cursor) = lane.doubted_since() {
                progress.cursors.insert(table.name.to_owned(), cursor);
            }
        }
        let kept = self.outbox.as_ref().map_or(Ok(()), |(outbox, _)| outbox.keep(&progress));
        if let Err(error) = kept {
            tracing::debug!(%error, "the progress of the export was not kept");
        }
    }

    /// Nothing is in the way any more.
    fn goes_on(&mut self) {
        self.failures = 0;
        self.next_attempt = None;
        if self.error.take().is_some() {
            tracing::info!("the export goes on");
        }
    }
}
