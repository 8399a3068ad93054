//! The daemon, as tools ask it.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::clock;
use crate::daemon::client::{self, Question, Response};
use crate::daemon::lifecycle::Autostart;
use crate::daemon::token::Token;
use crate::paths::Paths;

/// How long the daemon may take. It answers from memory, in about a millisecond.
const DEADLINE: Duration = Duration::from_secs(2);

/// How long a daemon that is started may take until it answers.
const STARTING: Duration = Duration::from_secs(5);

const PAUSE: Duration = Duration::from_millis(20);

/// Where the daemon is, what to show it, and how to start it.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Its port on 127.0.0.1.
    pub port: u16,
    /// Where its token is. It is read at each call, as the daemon may start after us.
    pub paths: Paths,
    /// Starts it when it is not there, if that is wanted.
    pub autostart: Option<Autostart>,
}

/// Why there is no answer, as the model reads it.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unanswered {
    #[error("the tma1 daemon is not running on port {port} ({source}); `tma1 start` starts it")]
    Away { port: u16, source: io::Error },
    #[error("there is no `{}`, so the tma1 daemon never ran here; `tma1 start` starts it", token.display())]
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
        let file = || self.paths.token();
        let response = match self.ask(target) {
            Err(Unanswered::Away { .. } | Unanswered::NeverRan { .. }) if self.start() => {
                self.ask(target)
            }
            answered => answered,
        }?;
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

    fn ask(&self, target: &str) -> Result<Response, Unanswered> {
        let token = Token::read(&self.paths.token()).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Unanswered::NeverRan { token: self.paths.token() },
            _ => Unanswered::Token(error),
        })?;
        let question = Question { method: "GET", target, token: Some(&token), paths: &self.paths };
        question
            .ask(self.port, clock::monotonic() + DEADLINE)
            .map_err(|source| Unanswered::Away { port: self.port, source })
    }

    /// Has a daemon run that is not older than we are, while the agent starts.
    pub(super) fn prepare(&self) {
        let Some(autostart) = &self.autostart else { return };
        if client::health(self.port, clock::monotonic() + DEADLINE).is_ok() {
            if let Err(error) = autostart.replace_older(clock::now()) {
                tracing::warn!(%error, "the older daemon was not replaced");
            }
        } else {
            self.launch(autostart);
        }
    }

    /// Starts the daemon if it is not there, and waits until it answers. Whether it does.
    fn start(&self) -> bool {
        let Some(autostart) = &self.autostart else { return false };
        self.launch(autostart);
        // If it was not started now, it may be starting already.
        self.answers_by(clock::monotonic() + STARTING)
    }

    fn launch(&self, autostart: &Autostart) {
        match autostart.launch(clock::now()) {
            // Whoever has started a process has to take note of its end.
            Ok(Some(mut daemon)) => drop(thread::spawn(move || daemon.wait())),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, port = self.port, "the daemon was not started"),
        }
    }

    fn answers_by(&self, deadline: Instant) -> bool {
        loop {
            if client::health(self.port, deadline).is_ok() {
                return true;
            }
            if client::remaining(deadline).is_zero() {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }
}
