//! The client of GreptimeDB's HTTP API: one statement a request, a deadline for all of it.

use std::io::{ErrorKind, Read};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use crate::export::Target;
use crate::export::answer::{Answer, Reply, Silence, judge};

/// How much of an answer is read, in bytes; the columns of our tables take a few thousand.
const MAX_ANSWER: u64 = 1024 * 1024;

/// The server repeats a value that it can't read in a header, however long it is.
const MAX_HEADERS: usize = 4 * 1024 * 1024;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

/// A connection to a server, kept open between statements.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    endpoint: String,
    authorization: Option<String>,
}

impl Client {
    /// A client that waits for `patience` at most. It uses no proxy and follows no redirection: what it
    /// carries is meant for this server alone.
    pub(super) fn new(target: &Target, patience: Duration) -> Self {
        let certificates = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .tls_config(certificates)
            .timeout_connect(Some(CONNECT.min(patience)))
            .timeout_global(Some(patience))
            .max_response_header_size(MAX_HEADERS)
            .max_idle_connections(1)
            .user_agent(concat!("tma1/", env!("CARGO_PKG_VERSION")))
            .build();
        let authorization = target.user.as_ref().map(|(user, password)| {
            let credentials = format!("{user}:{}", password.reveal());
            format!("Basic {}", BASE64_STANDARD.encode(credentials))
        });
        Self {
            agent: config.new_agent(),
            endpoint: format!("{}/v1/sql", target.url),
            authorization,
        }
    }

    /// Has `sql` run in `database`, or in none: a database that is not there can't be selected.
    pub(super) fn run(&self, database: Option<&str>, sql: &str) -> Answer {
        judge(&self.send(database, sql), sql.len())
    }

    fn send(&self, database: Option<&str>, sql: &str) -> Result<Reply, Silence> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("sql", sql);
        let mut request = self
            .agent
            .post(&self.endpoint)
            .header("Content-Type", "application/x-www-form-urlencoded");
        if let Some(database) = database {
            request = request.query("db", database);
        }
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let response = request.send(form.finish()).map_err(silence)?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let mut reader = response.into_body().into_reader().take(MAX_ANSWER);
        reader.read_to_end(&mut body).map_err(|error| silence(error.into()))?;
        Ok(Reply { status, body: String::from_utf8_lossy(&body).into_owned() })
    }
}

fn silence(error: ureq::Error) -> Silence {
    match error {
        ureq::Error::Timeout(_) => Silence::Timeout,
        ureq::Error::Io(error) if error.kind() == ErrorKind::TimedOut => Silence::Timeout,
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
            Silence::Broken("nothing listens there: the connection was refused".to_owned())
        }
        ureq::Error::Io(error) => Silence::Broken(format!("the connection broke: {error}")),
        ureq::Error::HostNotFound => Silence::Broken("the host is not known".to_owned()),
        error => Silence::Broken(error.to_string()),
    }
}
