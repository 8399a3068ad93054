//! `tma1 context`: what an agent would be told here now.

use crate::agent::Agent;
use crate::cli::history::source::{ask, told};
use crate::cli::history::{print_json, print_page};
use crate::cli::{Context, ExitStatus, Failure};
use crate::daemon::client::ContextAnswer;
use crate::daemon::lifecycle::Presence;
use crate::printable::printable;

/// Print the block that the agent at work here would be given with its next prompt.
///
/// To look changes nothing: what it says of anomalies is still told to the agent.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Of this agent. Without it, of the one that did something last.
    #[arg(long, value_enum)]
    agent: Option<Agent>,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

pub(in crate::cli) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let Presence::Running { port, .. } = Presence::of(&context.paths, context.config.port)? else {
        let error =
            anyhow::anyhow!("the daemon is not running, and only it knows what it would say");
        return Err(Failure::new(error, Some("`tma1 start` starts it".to_owned())));
    };
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("cwd", &std::env::current_dir()?.to_string_lossy());
    if let Some(agent) = arguments.agent {
        query.append_pair("agent", agent.name());
    }
    let target = format!("/api/context?{}", query.finish());
    let answer: ContextAnswer = told(&ask(port, &context.paths, &target)?)?;
    match answer.context {
        _ if arguments.json => print_json(&answer, context),
        Some(block) => {
            let lines: Vec<_> = block.lines().map(printable).collect();
            print_page(&format!("{}\n", lines.join("\n")), context)
        }
        None => print_page("No agent has reported anything in this project yet.\n", context),
    }
}
