//! Rows on their way into the database, in the transaction of their event.

use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::{Build, Change, Exit, Message, Progress, Rows};
use crate::store::search::{facets, segmented};

impl Rows {
    pub(in crate::store) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        for message in &self.messages {
            self.insert_message(connection, message)?;
        }
        for build in &self.builds {
            self.insert_build(connection, build)?;
        }
        for exit in &self.exits {
            self.insert_exit(connection, exit)?;
        }
        for change in &self.changes {
            self.insert_change(connection, change)?;
        }
        self.insert_projects(connection)?;
        self.insert_anomalies(connection)?;
        if let Some(progress) = &self.progress {
            self.update_session(connection, progress)?;
        }
        self.update_tokens(connection)
    }

    fn ts(&self) -> i64 {
        self.at.as_unix_millis()
    }

    fn insert_message(&self, connection: &Connection, message: &Message) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO tma1_messages (ts, agent_source, session_id, project_root,
                     message_type, role, model, content, tool_name, tool_use_id, duration_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(params![
                self.ts(),
                self.agent,
                self.session,
                self.project_root,
                message.kind,
                message.role,
                self.model,
                message.content,
                message.tool,
                message.call,
                message.duration_ms,
            ])?;
        connection
            .prepare_cached(
                "INSERT INTO tma1_messages_fts (rowid, content, facets) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![
                connection.last_insert_rowid(),
                segmented(&message.content),
                facets(self.agent, message.kind, self.project_root.as_deref()),
            ])?;
        Ok(())
    }

    fn insert_build(&self, connection: &Connection, build: &Build) -> rusqlite::Result<()> {
        let duration = match (build.duration_ms, &build.call) {
            (None, Some(call)) => self.since_begun(connection, call)?,
            (duration, _) => duration,
        };
        connection
            .prepare_cached(
                "INSERT INTO tma1_build_events (ts, agent_source, session_id, project_root,
                     build_id, event_type, tag, command, cwd, exit_code, duration_ms, lines,
                     error_summary)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            )?
            .execute(params![
                self.ts(),
                self.agent,
                self.session,
                self.project_root,
                build.call,
                build.outcome,
                build.tag,
                build.command,
                build.cwd,
                build.exit_code,
                duration,
                build.lines,
                build.error,
            ])?;
        Ok(())
    }

    /// How long ago the call began, in milliseconds, for agents that don't say.
    fn since_begun(&self, connection: &Connection, call: &str) -> rusqlite::Result<Option<i64>> {
        // A call is among the last events of its session, or was not begun at all.
        let begun: Option<i64> = connection
            .prepare_cached(
                "SELECT ts FROM (SELECT ts, tool_use_id, event_type FROM tma1_hook_events
                     WHERE session_id = ?1 ORDER BY id DESC LIMIT 64)
                 WHERE tool_use_id = ?2 AND event_type = 'PreToolUse' LIMIT 1",
            )?
            .query_row(params![self.session, call], |row| row.get(0))
            .optional()?;
        Ok(begun.map(|begun| (self.ts() - begun).max(0)))
    }

    /// A row that repeats the one that did not know how the command ended, now that it is known.
    fn insert_exit(&self, connection: &Connection, exit: &Exit) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO tma1_build_events (ts, agent_source, session_id, project_root,
                     build_id, event_type, tag, command, cwd, exit_code, duration_ms, lines,
                     error_summary)
                 SELECT :ts, agent_source, session_id, project_root, build_id,
                     iif(:code = 0, 'passed', 'failed'), tag, command, cwd, :code, duration_ms,
                     lines, error_summary
                 FROM (SELECT * FROM tma1_build_events WHERE session_id = :session
                     ORDER BY id DESC LIMIT 64)
                 WHERE agent_source = :agent AND build_id = :call AND event_type = 'unknown' LIMIT 1",
            )?
            .execute(named_params! {
                ":ts": self.ts(),
                ":agent": exit.agent,
                ":session": exit.session,
                ":call": exit.call,
                ":code": exit.code,
            })?;
        Ok(())
    }

    fn insert_change(&self, connection: &Connection, change: &Change) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO tma1_external_changes (ts, project_root, session_id, path,
                     change_type, source, file_count)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1)",
            )?
            .execute(params![
                self.ts(),
                self.project_root,
                change.session,
                change.path,
                change.kind,
                change.source,
            ])?;
        Ok(())
    }

    fn insert_projects(&self, connection: &Connection) -> rusqlite::Result<()> {
        for (root, index) in &self.projects {
            connection
                .prepare_cached(
                    "INSERT INTO tma1_project_state (ts, project_root, language, build_system,
                         test_runner, branch, head_commit, state)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                )?
                .execute(params![
                    self.ts(),
                    root,
                    index.language(),
                    index.build_system(),
                    index.test_runner(),
                    index.branch,
                    index.head_commit,
                    serde_json::to_string(index).ok(),
                ])?;
        }
        Ok(())
    }

    fn insert_anomalies(&self, connection: &Connection) -> rusqlite::Result<()> {
        for anomaly in &self.anomalies {
            connection
                .prepare_cached(
                    "INSERT INTO tma1_anomaly_emits (ts, agent_source, session_id, project_root,
                         kind, severity, channel, suggestion, evidence)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                )?
                .execute(params![
                    self.ts(),
                    self.agent,
                    self.session,
                    self.project_root,
                    anomaly.kind,
                    anomaly.severity,
                    anomaly.channel,
                    anomaly.suggestion,
                    anomaly.evidence,
                ])?;
        }
        Ok(())
    }

    fn update_session(&self, connection: &Connection, progress: &Progress) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO tma1_sessions AS old (agent_source, session_id, project_root, title,
                     model, first_ts, last_ts, events, prompts, tool_calls, failures, anomalies,
                     ended_ts)
                 VALUES (:agent, :session, :root, :title, :model, :ts, :ts, 1, :prompts,
                     :tool_calls, :failures, :anomalies, :ended)
                 ON CONFLICT (agent_source, session_id) DO UPDATE SET
                     project_root = coalesce(excluded.project_root, old.project_root),
                     title = coalesce(old.title, excluded.title),
                     model = coalesce(excluded.model, old.model),
                     first_ts = min(old.first_ts, excluded.first_ts),
                     last_ts = max(old.last_ts, excluded.last_ts),
                     events = old.events + 1,
                     prompts = old.prompts + excluded.prompts,
                     tool_calls = old.tool_calls + excluded.tool_calls,
                     failures = old.failures + excluded.failures,
                     anomalies = old.anomalies + excluded.anomalies,
                     ended_ts = excluded.ended_ts",
            )?
            .execute(named_params! {
                ":agent": self.agent,
                ":session": self.session,
                ":root": self.project_root,
                ":title": progress.title,
                ":model": self.model,
                ":ts": self.ts(),
                ":prompts": progress.prompts,
                ":tool_calls": progress.tool_calls,
                ":failures": progress.failures,
                ":anomalies": i64::try_from(self.anomalies.len()).unwrap_or(i64::MAX),
                ":ended": progress.has_ended.then(|| self.ts()),
            })?;
        Ok(())
    }

    fn update_tokens(&self, connection: &Connection) -> rusqlite::Result<()> {
        for tokens in &self.usages {
            connection
                .prepare_cached(
                    "UPDATE tma1_sessions SET input_tokens = max(input_tokens, ?3),
                         output_tokens = max(output_tokens, ?4)
                     WHERE agent_source = ?1 AND session_id = ?2",
                )?
                .execute(params![tokens.agent, tokens.session, tokens.input, tokens.output])?;
        }
        Ok(())
    }
}
