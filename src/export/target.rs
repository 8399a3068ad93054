//! Where the history goes.

use std::fmt;
use std::time::Duration;

/// A database on a GreptimeDB server, and who we are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// `TMA1_GREPTIMEDB_URL`, without a slash at its end: `http` or `https`, and no user in it.
    pub url: String,
    /// `TMA1_GREPTIMEDB_DATABASE`: `tma1` unless it is set.
    pub database: String,
    /// `TMA1_GREPTIMEDB_USER` and `TMA1_GREPTIMEDB_PASSWORD`; none where the server asks nobody.
    pub user: Option<(String, Password)>,
    /// `TMA1_GREPTIMEDB_TTL`: for how long the tables keep a row; none if for ever.
    pub ttl: Option<Duration>,
}

impl Target {
    /// The name in `information_schema`: what is before the first dash is a catalog.
    pub(super) fn schema(&self) -> &str {
        self.database.split_once('-').map_or(&self.database, |(_, schema)| schema)
    }

    /// The option of a table.
    pub(super) fn ttl_option(&self) -> String {
        let Some(ttl) = self.ttl.map(|ttl| ttl.as_secs()) else {
            return "forever".to_owned();
        };
        match (ttl % 86_400, ttl % 3_600) {
            (0, _) => format!("{}d", ttl / 86_400),
            (_, 0) => format!("{}h", ttl / 3_600),
            _ => format!("{ttl}s"),
        }
    }
}

/// A password, which nothing prints.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// A password that the user has set.
    pub const fn new(password: String) -> Self {
        Self(password)
    }

    /// For the header that needs it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[REDACTED]")
    }
}
