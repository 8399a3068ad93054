//! The tables at the other end, and the statements that make, migrate and fill them.
//!
//! Rows of one table with the same primary key and the same `ts` are one row there, the last one that
//! came. Columns are only ever added, and all but the first four may be empty: machines with older and
//! newer versions write to the same tables.

use std::fmt::Write as _;

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its name, here and there.
    pub name: &'static str,
    /// What its rows are grouped by within a host: the second column of the primary key.
    pub group: &'static str,
    /// The columns after `ts`, `host`, the group and `event_id`, in their order.
    pub columns: &'static [Column],
    /// What is read of the log for a row: its group, then its columns, or, of an event and of a build,
    /// what they are derived from.
    pub(super) source: &'static str,
}

/// A column that may be empty.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// How it is looked for.
    index: &'static str,
}

/// What a column takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number of 64 bits.
    Integer,
    /// True or false.
    Boolean,
}

impl Kind {
    const fn sql(self) -> &'static str {
        match self {
            Self::Text => "STRING",
            Self::Integer => "BIGINT",
            Self::Boolean => "BOOLEAN",
        }
    }
}

/// For few values that are filtered on.
const INVERTED: &str = " INVERTED INDEX";
/// For ids, of which there are many.
const SKIPPING: &str = " SKIPPING INDEX";
/// For texts in which people search.
const FULLTEXT: &str =
    " FULLTEXT INDEX WITH (analyzer = 'English', case_sensitive = 'false', backend = 'bloom')";

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text, index: "" }
}

const fn indexed(name: &'static str, index: &'static str) -> Column {
    Column { name, kind: Kind::Text, index }
}

const fn integer(name: &'static str) -> Column {
    Column { name, kind: Kind::Integer, index: "" }
}

const fn boolean(name: &'static str) -> Column {
    Column { name, kind: Kind::Boolean, index: "" }
}

/// The events and what is derived from them.
pub const TABLES: [Table; 6] = [EVENTS, MESSAGES, BUILDS, CHANGES, PROJECTS, ANOMALIES];

const EVENTS: Table = Table {
    name: "tma1_hook_events",
    group: "session_id",
    columns: &[
        indexed("event_type", INVERTED),
        indexed("agent_source", INVERTED),
        indexed("tool_name", INVERTED),
        text("tool_input"),
        text("tool_result"),
        indexed("tool_use_id", SKIPPING),
        text("agent_id"),
        text("agent_type"),
        text("notification_type"),
        indexed("message", FULLTEXT),
        indexed("cwd", INVERTED),
        text("transcript_path"),
        text("permission_mode"),
        text("metadata"),
        indexed("tool_file_path", SKIPPING),
        text("tool_command_prefix"),
        boolean("tool_success"),
        text("tool_error_summary"),
    ],
    source: "session_id, agent_source, project_root, payload",
};

const MESSAGES: Table = Table {
    name: "tma1_messages",
    group: "session_id",
    columns: &[
        indexed("message_type", INVERTED),
        indexed("role", INVERTED),
        indexed("model", INVERTED),
        indexed("content", FULLTEXT),
        indexed("tool_name", INVERTED),
        indexed("tool_use_id", SKIPPING),
        integer("input_tokens"),
        integer("output_tokens"),
        integer("cache_read_tokens"),
        integer("cache_creation_tokens"),
        integer("duration_ms"),
    ],
    source: "session_id, message_type, role, model, content, tool_name, tool_use_id, input_tokens,
        output_tokens, cache_read_tokens, cache_creation_tokens, duration_ms",
};

/// `lines` is the end of what the command printed, which the event of the row has.
const BUILDS: Table = Table {
    name: "tma1_build_events",
    group: "project",
    columns: &[
        indexed("build_id", SKIPPING),
        indexed("event_type", INVERTED),
        text("tag"),
        text("command"),
        text("cwd"),
        integer("exit_code"),
        text("signal"),
        integer("duration_ms"),
        indexed("lines", FULLTEXT),
        text("error_summary"),
    ],
    source: "project_root, build_id, event_type, tag, command, cwd, exit_code, signal, duration_ms,
        (SELECT payload FROM tma1_hook_events AS event
            WHERE event.ts = row.ts AND event.session_id = row.session_id
                AND event.tool_use_id = row.build_id
                AND event.event_type IN ('PostToolUse', 'PostToolUseFailure')),
        error_summary",
};

const CHANGES: Table = Table {
    name: "tma1_external_changes",
    group: "project",
    columns: &[
        indexed("session_id", SKIPPING),
        indexed("path", SKIPPING),
        indexed("change_type", INVERTED),
        indexed("source", INVERTED),
        integer("file_count"),
        text("detail"),
    ],
    source: "project_root, session_id, path, change_type, source, file_count, detail",
};

const PROJECTS: Table = Table {
    name: "tma1_project_state",
    group: "project",
    columns: &[
        text("root"),
        text("language"),
        text("build_system"),
        text("test_runner"),
        text("branch"),
        text("head_commit"),
        text("state"),
    ],
    source: "project_root, project_root, language, build_system, test_runner, branch, head_commit,
        state",
};

const ANOMALIES: Table = Table {
    name: "tma1_anomaly_emits",
    group: "session_id",
    columns: &[
        indexed("kind", INVERTED),
        indexed("severity", INVERTED),
        indexed("channel", INVERTED),
        text("project"),
        text("suggestion"),
        text("evidence"),
    ],
    source: "session_id, kind, severity, channel, project_root, suggestion, evidence",
};

impl Table {
    /// Makes the table, if it is not there.
    pub(super) fn create(&self, ttl: &str) -> String {
        // A session is one of many values, a project one of few.
        let group_index = if self.group == "session_id" { SKIPPING } else { "" };
        let mut sql = format!(
            "CREATE TABLE IF NOT EXISTS \"{}\" (\n  \"ts\" TIMESTAMP(9) NOT NULL,\n  \
             \"host\" STRING NOT NULL,\n  \"{}\" STRING NOT NULL{group_index},\n  \
             \"event_id\" STRING NOT NULL{SKIPPING},\n",
            self.name, self.group,
        );
        for Column { name, kind, index } in self.columns {
            let kind = kind.sql();
            // Writing to a string does not fail.
            let _ = writeln!(sql, "  \"{name}\" {kind} NULL{index},");
        }
        let _ = write!(
            sql,
            "  TIME INDEX (\"ts\"),\n  PRIMARY KEY (\"host\", \"{}\")\n) ENGINE = mito WITH ('ttl' = '{ttl}')",
            self.group,
        );
        sql
    }

    /// Adds those of the columns to the table that it lacks and `is_missing` names; none if it names
    /// none.
    pub(super) fn add_columns(&self, is_missing: impl Fn(&str) -> bool) -> Option<String> {
        let missing: Vec<_> = self
            .columns
            .iter()
            .filter(|column| is_missing(column.name))
            .map(|column| {
                format!("ADD COLUMN IF NOT EXISTS \"{}\" {} NULL", column.name, column.kind.sql())
            })
            .collect();
        let sql = format!("ALTER TABLE \"{}\" {}", self.name, missing.join(", "));
        (!missing.is_empty()).then_some(sql)
    }

    /// What comes before the rows.
    pub(super) fn insert(&self) -> String {
        let first = ["ts", "host", self.group, "event_id"];
        let names = first.into_iter().chain(self.columns.iter().map(|column| column.name));
        let names: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
        format!("INSERT INTO \"{}\" ({}) VALUES ", self.name, names.join(", "))
    }

    /// What `information_schema` says of each column: its name, its type and its part in the key.
    pub(super) fn expected(
        &self,
    ) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        let first = [
            ("ts", "timestamp(9)", "TIMESTAMP"),
            ("host", "string", "TAG"),
            (self.group, "string", "TAG"),
            ("event_id", "string", "FIELD"),
        ];
        let rest = self.columns.iter().map(|column| match column.kind {
            Kind::Text => (column.name, "string", "FIELD"),
            Kind::Integer => (column.name, "bigint", "FIELD"),
            Kind::Boolean => (column.name, "boolean", "FIELD"),
        });
        first.into_iter().chain(rest)
    }
}

/// Asks which columns the tables have.
pub(super) fn columns_query(schema: &str) -> String {
    format!(
        "SELECT table_name, column_name, data_type, semantic_type FROM information_schema.columns \
         WHERE table_schema = '{schema}' AND table_name LIKE 'tma1_%'"
    )
}

/// Asks with which options the tables were made.
pub(super) fn options_query(schema: &str) -> String {
    format!(
        "SELECT table_name, create_options FROM information_schema.tables \
         WHERE table_schema = '{schema}' AND table_name LIKE 'tma1_%'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_those_that_a_server_was_tried_with() {
        let tried = include_str!("../../tests/fixtures/greptimedb/schema.sql");
        let statements: Vec<_> = tried
            .split(";\n")
            .filter_map(|statement| statement.find("CREATE TABLE").map(|at| &statement[at..]))
            .collect();
        assert_eq!(statements.len(), TABLES.len());
        for (table, statement) in TABLES.iter().zip(statements) {
            assert_eq!(table.create("60d"), statement);
        }
    }

    #[test]
    fn only_what_is_missing_is_added() {
        let added = CHANGES.add_columns(|name| ["detail", "file_count"].contains(&name));
        let expected = "ALTER TABLE \"tma1_external_changes\" \
            ADD COLUMN IF NOT EXISTS \"file_count\" BIGINT NULL, \
            ADD COLUMN IF NOT EXISTS \"detail\" STRING NULL";
        assert_eq!(added.as_deref(), Some(expected));
        assert_eq!(CHANGES.add_columns(|_| false), None);
    }
}
