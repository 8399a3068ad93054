//! The `tma1` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    tma1::cli::main(std::env::args_os().collect())
}
