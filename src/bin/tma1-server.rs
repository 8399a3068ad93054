//! `tma1-server`: the daemon under its own name, `tma1 serve` when given no subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    tma1::cli::main(tma1::cli::serve_by_default(std::env::args_os().collect()))
}
