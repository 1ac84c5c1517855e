//! The `ghost` program: picks the subcommand, nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    ghost_agent::cli::main()
}
