//! What narrows a list: conditions, and the values that they are about.

use std::path::Path;

use rusqlite::types::Value;

use crate::agent::Agent;
use crate::history::{HistoryError, Reader};

/// How many projects one name may mean.
const MAX_PROJECTS: usize = 500;

/// The conditions of a `WHERE`, which hold all, with their values in order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Narrowing {
    conditions: Vec<String>,
    pub values: Vec<Value>,
}

impl Narrowing {
    /// Adds a condition with a `?` for each of its values.
    pub fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        self.conditions.push(condition.to_owned());
        self.values.extend(values);
    }

    /// Only where `column` has one of these values.
    pub fn one_of(&mut self, column: &str, values: impl IntoIterator<Item = String>) {
        let values: Vec<_> = values.into_iter().map(Value::from).collect();
        let places = vec!["?"; values.len()].join(", ");
        self.and(&format!("{column} IN ({places})"), values);
    }

    /// Only what this agent did, or one that this version knows. No index is used for it: the one that
    /// has the order of the list is worth more.
    pub fn agent(&mut self, agent: Option<Agent>) {
        self.one_of("+agent_source", names(agent));
    }

    /// Only what happened in the project, if one is named: by its root, a folder in which it lies, or
    /// the last part of its path.
    pub fn project(&mut self, reader: &Reader, project: Option<&str>) -> Result<(), HistoryError> {
        if let Some(project) = project {
            self.one_of("project_root", roots_of(reader, project)?);
        }
        Ok(())
    }

    /// ` WHERE …`, or nothing.
    pub fn clause(&self) -> String {
        if self.conditions.is_empty() {
            return String::new();
        }
        format!(" WHERE {}", self.conditions.join(" AND "))
    }
}

/// The name of the agent, or those of all that this version knows.
pub(super) fn names(agent: Option<Agent>) -> impl Iterator<Item = String> {
    let agents = agent.map_or_else(|| Agent::ALL.to_vec(), |agent| vec![agent]);
    agents.into_iter().map(|agent| agent.name().to_owned())
}

/// The roots of the projects that `project` means.
pub(super) fn roots_of(reader: &Reader, project: &str) -> Result<Vec<String>, HistoryError> {
    let mut roots = roots(reader)?;
    roots.retain(|root| is_meant(project, root));
    roots.truncate(MAX_PROJECTS);
    Ok(roots)
}

/// Whether `project` means the project at `root`.
fn is_meant(project: &str, root: &str) -> bool {
    let (project, root) = (Path::new(project), Path::new(root));
    root.starts_with(project) || root.file_name() == Some(project.as_os_str())
}

/// The roots of all projects, each looked up in the index right after the one before.
fn roots(reader: &Reader) -> Result<Vec<String>, HistoryError> {
    let roots = "
        WITH RECURSIVE roots (root) AS (
            SELECT min(project_root) FROM tma1_sessions
            UNION ALL
            SELECT (SELECT min(project_root) FROM tma1_sessions WHERE project_root > root)
            FROM roots WHERE root IS NOT NULL
        )
        SELECT root FROM roots WHERE root IS NOT NULL";
    let read = || {
        let mut statement = reader.connection.prepare(roots)?;
        statement.query_map((), |row| row.get(0))?.collect::<rusqlite::Result<_>>()
    };
    read().map_err(|error| reader.failed(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_all_and_keep_their_values_in_order() {
        let mut narrowing = Narrowing::default();
        assert_eq!(narrowing.clause(), "");
        narrowing.agent(Some(Agent::Codex));
        narrowing.and("(ts, id) < (?, ?)", [7.into(), 8.into()]);
        narrowing.agent(None);
        narrowing.one_of("project_root", []);
        assert_eq!(
            narrowing.clause(),
            " WHERE +agent_source IN (?) AND (ts, id) < (?, ?) AND +agent_source IN (?, ?) \
             AND project_root IN ()"
        );
        let text = |text: &str| Value::from(text.to_owned());
        let expected =
            [text("codex"), Value::from(7), 8.into(), text("claude-code"), text("codex")];
        assert_eq!(narrowing.values, expected);
    }

    #[test]
    fn a_project_is_meant_by_its_root_its_folder_and_its_name() {
        for (project, root, meant) in [
            ("/home/dev/shop", "/home/dev/shop", true),
            ("/home/dev/shop/", "/home/dev/shop", true),
            ("/home/dev", "/home/dev/shop", true),
            ("shop", "/home/dev/shop", true),
            ("/home/dev/sho", "/home/dev/shop", false),
            ("/home/dev/shop/src", "/home/dev/shop", false),
            ("hop", "/home/dev/shop", false),
            ("dev", "/home/dev/shop", false),
            ("'; --", "/home/dev/shop", false),
        ] {
            assert_eq!(is_meant(project, root), meant, "{project} {root}");
        }
    }
}
