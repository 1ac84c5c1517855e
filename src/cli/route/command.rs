//! The subcommands of `ghost route`.

use std::path::Path;

use clap::{Args, Subcommand};

use super::{audit, select};
use crate::cli::knowledge::parsed;
use crate::net::Tags;
use crate::route::Table;

/// The arguments of `ghost route`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Says which route carries a packet to an address, and what it beat.
    Select(select::Arguments),
    /// Lists what a reviewer of a route table would want to know.
    Audit(audit::Arguments),
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Select(arguments) => select::run(arguments),
        Sub::Audit(arguments) => audit::run(arguments),
    }
}

/// Reads an effective route table.
pub(super) fn table(path: &Path, tags: Option<&Tags>) -> anyhow::Result<Table> {
    let hint = "save what `az network nic show-effective-route-table -n NIC -g GROUP -o json` prints";
    parsed(path, hint, |text| Ok(Table::parse(text, tags)?))
}
