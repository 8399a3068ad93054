//! Where the messages of a long-running command go.

use std::io::{self, IsTerminal};

use anyhow::Context as _;
use tracing_subscriber::EnvFilter;

use crate::cli::Failure;

/// What libraries say of what goes well, which agents show as if it were an error.
const QUIET: &str = "rmcp=error";

/// Sends messages to standard error, those that `filter` lets through.
pub(super) fn to_stderr(filter: &str) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(format!("{QUIET},{filter}"))
        .with_context(|| format!("TMA1_LOG is {filter:?}, which is not a log filter"))
        .map_err(|error| Failure::new(error, Some("set it to `debug`, say, or unset it".into())))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
    Ok(())
}
