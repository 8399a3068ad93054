//! Makes the tables and looks at what is there: a table of another shape is not made again.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Setback, Shipper};
use crate::clock::Timestamp;
use crate::export::answer::{Answer, Verdict};
use crate::export::outbox::tables;
use crate::export::schema::{Table, columns_query, options_query};

/// The columns of a table: type and part in the key, by name.
type Columns = BTreeMap<String, (String, String)>;

impl Shipper {
    /// Makes what is missing. A table that is not as it must be is left alone, and the others are not.
    pub(super) fn prepare(&mut self, now: Timestamp) -> Result<(), Setback> {
        let ttl = self.target.ttl_option();
        for (_, table) in tables() {
            self.create(&table.create(&ttl))?;
        }
        let Some(found) = self.columns()? else {
            return Ok(());
        };
        let mut is_altered = false;
        for (_, table) in tables() {
            let Some(columns) = found.get(table.name) else { continue };
            if let Some(sql) = table.add_columns(|name| !columns.contains_key(name)) {
                self.execute(&sql)?;
                is_altered = true;
            }
        }
        let found = if is_altered { self.columns()?.unwrap_or_default() } else { found };
        let appending = self.appending()?;
        for (place, table) in tables() {
            let fault = found.get(table.name).and_then(|columns| fault(table, columns));
            let is_appending = appending.iter().any(|name| name == table.name);
            let fault = fault.or_else(|| is_appending.then(|| {
                format!(
                    "the table {} has append_mode, so that a row that is sent again would be there twice",
                    table.name
                )
            }));
            if let (Some(fault), Some(lane)) = (fault, self.lanes.get_mut(place)) {
                lane.halt(fault, now);
            }
        }
        Ok(())
    }

    /// Adds every column that a table may lack.
    pub(super) fn add_all_columns(&self, table: &Table) -> Result<(), Setback> {
        table.add_columns(|_| true).map_or(Ok(()), |sql| self.execute(&sql))
    }

    /// Runs `sql`, and if there is no database for it, makes that first.
    fn create(&self, sql: &str) -> Result<(), Setback> {
        let answer = self.client.run(Some(&self.target.database), sql);
        if answer.verdict != Verdict::NoDatabase {
            return done(answer);
        }
        // A database that is not there can't be selected, not even to make it.
        let database = format!("CREATE DATABASE IF NOT EXISTS \"{}\"", self.target.schema());
        done(self.client.run(None, &database))?;
        self.execute(sql)
    }

    fn execute(&self, sql: &str) -> Result<(), Setback> {
        done(self.client.run(Some(&self.target.database), sql))
    }

    /// The columns by table; none if this user may not ask.
    fn columns(&self) -> Result<Option<BTreeMap<String, Columns>>, Setback> {
        let Some(rows) = self.ask(&columns_query(self.target.schema()))? else {
            return Ok(None);
        };
        let mut tables: BTreeMap<String, Columns> = BTreeMap::new();
        for row in rows {
            if let [Some(table), Some(name), Some(kind), Some(part)] = texts(&row) {
                let columns = tables.entry(table.to_owned()).or_default();
                columns.insert(name.to_owned(), (kind.to_lowercase(), part.to_owned()));
            }
        }
        Ok(Some(tables))
    }

    /// The tables that keep a row once for each time that it comes.
    fn appending(&self) -> Result<Vec<String>, Setback> {
        let rows = self.ask(&options_query(self.target.schema()))?.unwrap_or_default();
        let is_on = |options: &str| options.replace('\'', "").contains("append_mode=true");
        Ok(rows
            .iter()
            .filter_map(|row| match texts(row) {
                [Some(table), Some(options)] if is_on(options) => Some(table.to_owned()),
                _ => None,
            })
            .collect())
    }

    /// The rows that a query finds; none if this user may not ask.
    fn ask(&self, sql: &str) -> Result<Option<Vec<Vec<Value>>>, Setback> {
        let answer = self.client.run(Some(&self.target.database), sql);
        match answer.verdict {
            Verdict::Forbidden => Ok(None),
            Verdict::Done => Ok(Some(answer.rows)),
            _ => done(answer).map(|()| None),
        }
    }
}

/// The first `N` values of a row, as far as they are texts.
fn texts<const N: usize>(row: &[Value]) -> [Option<&str>; N] {
    std::array::from_fn(|index| row.get(index).and_then(Value::as_str))
}

fn done(answer: Answer) -> Result<(), Setback> {
    match answer.verdict {
        Verdict::Done => Ok(()),
        Verdict::Retry | Verdict::RetrySmaller | Verdict::Uncertain => {
            Err(Setback::Passing(answer.said))
        }
        _ => Err(Setback::Lasting(answer.said)),
    }
}

/// What is wrong with a table that has these columns.
fn fault(table: &Table, columns: &Columns) -> Option<String> {
    table.expected().find_map(|(name, kind, part)| match columns.get(name) {
        None => Some(format!("the table {} has no column {name}", table.name)),
        Some((found, its_part)) if found != kind || its_part != part => Some(format!(
            "the column {name} of the table {} is {found} ({its_part}), not {kind} ({part})",
            table.name
        )),
        Some(_) => None,
    })
}
