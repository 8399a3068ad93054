//! The daemon, as tools ask it.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::clock;
use crate::daemon::client;
use crate::daemon::token::Token;

/// How long the daemon may take. It answers from memory, in about a millisecond.
const DEADLINE: Duration = Duration::from_secs(2);

/// Where the daemon is, and what to show it.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Its port on 127.0.0.1.
    pub port: u16,
    /// The file with its token. It is read at each call, as the daemon may start after us.
    pub token: PathBuf,
}

/// Why there is no answer, as the model reads it.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unanswered {
    #[error("the tma1 daemon is not running on port {port} ({source}); `tma1 serve` starts it")]
    Away { port: u16, source: io::Error },
    #[error("there is no `{}`, so the tma1 daemon never ran here; `tma1 serve` starts it", token.display())]
    NeverRan { token: PathBuf },
    #[error("the token of the tma1 daemon can't be read: {0}")]
    Token(io::Error),
    #[error(
        "the tma1 daemon on port {port} has another data directory than the one of `{}`; \
         `tma1 install` connects the agent with the right one",
        token.display()
    )]
    Stranger { port: u16, token: PathBuf },
    #[error(
        "tma1 has not seen this session: {0}; if its hooks are not installed, `tma1 install` does it"
    )]
    Unseen(String),
    #[error("the tma1 daemon refused the request: {0}")]
    Refused(String),
}

/// The body of an error.
#[derive(Debug, Default, Deserialize)]
struct ErrorBody {
    error: String,
}

impl Upstream {
    /// Asks the daemon for `target` and returns the text that it answers.
    pub(super) fn get(&self, target: &str) -> Result<String, Unanswered> {
        let away = |source| Unanswered::Away { port: self.port, source };
        let file = || self.token.clone();
        let token = Token::read(&self.token).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Unanswered::NeverRan { token: file() },
            _ => Unanswered::Token(error),
        })?;
        let deadline = clock::monotonic() + DEADLINE;
        let response = client::get(self.port, target, &token, deadline).map_err(away)?;
        if response.status == 200 {
            let invalid = |error| away(io::Error::new(ErrorKind::InvalidData, error));
            return String::from_utf8(response.body).map_err(invalid);
        }
        let reason = serde_json::from_slice::<ErrorBody>(&response.body).unwrap_or_default().error;
        Err(match response.status {
            401 => Unanswered::Stranger { port: self.port, token: file() },
            404 => Unanswered::Unseen(reason),
            _ => Unanswered::Refused(reason),
        })
    }
}
