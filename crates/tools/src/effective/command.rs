//! The subcommands of `ghost effective`.

use clap::{Args, Subcommand};

use super::{compare, diff, snapshot, verify};
use crate::global::Global;

/// The arguments of `ghost effective`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Seals what `az` printed for some network interfaces, and keeps it.
    Snapshot(snapshot::Arguments),
    /// Says what changed since a baseline.
    Compare(compare::Arguments),
    /// Says what changed between two files.
    Diff(diff::Arguments),
    /// Checks a certificate or a snapshot, offline.
    Verify(verify::Arguments),
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Snapshot(arguments) => snapshot::run(arguments, global),
        Sub::Compare(arguments) => compare::run(arguments, global),
        Sub::Diff(arguments) => diff::run(arguments),
        Sub::Verify(arguments) => verify::run(arguments, global),
    }
}
