//! Where the messages of a long-running command go.

use anyhow::Context as _;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::cli::Failure;

/// What libraries say of what goes well, which agents show as if it were an error.
const QUIET: &str = "rmcp=error";

/// Sends messages to `writer`, those that `filter` lets through.
pub(super) fn to<W>(writer: W, colors: bool, filter: &str) -> Result<(), Failure>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::try_new(format!("{QUIET},{filter}"))
        .with_context(|| format!("TMA1_LOG is {filter:?}, which is not a log filter"))
        .map_err(|error| Failure::new(error, Some("set it to `debug`, say, or unset it".into())))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(colors)
        // It would write to standard error itself.
        .log_internal_errors(false)
        .init();
    Ok(())
}
