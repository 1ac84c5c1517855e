//! The subcommands of `ghost nsg`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{audit, reach, verdict};
use crate::cli::knowledge::{Knowledge, parsed};
use crate::cli::page::{Cell, Tone, plain};
use crate::net::Warning;
use crate::nsg::{self, Access, Ruleset};

/// The arguments of `ghost nsg`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Says whether a packet gets through both gates, and which rule decides.
    Verdict(verdict::Arguments),
    /// Lists what a reviewer of the rules would want to know.
    Audit(audit::Arguments),
    /// Says who reaches what, as disjoint regions.
    Reach(reach::Arguments),
}

/// What every subcommand is given.
#[derive(Debug, Args)]
pub(super) struct Given {
    /// The effective rules as `az` prints them; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    rules: PathBuf,
    #[command(flatten)]
    knowledge: Knowledge,
    /// Print one JSON document.
    #[arg(long)]
    pub(super) json: bool,
}

impl Given {
    /// Reads the rules, and what is wrong with the other documents.
    pub(super) fn read(&self) -> anyhow::Result<(Ruleset, Vec<Warning>)> {
        let (tags, inventory) = (self.knowledge.tags()?, self.knowledge.inventory()?);
        let known = nsg::Knowledge { tags: tags.as_ref(), inventory: inventory.as_ref() };
        let hint = "save what `az network nic list-effective-nsg -n NIC -g GROUP -o json` prints";
        let rules = parsed(&self.rules, hint, |text| Ok(Ruleset::parse(text, known)?))?;
        let mut warnings = tags.as_ref().map(|tags| tags.warnings().to_vec()).unwrap_or_default();
        warnings.extend(inventory.iter().flat_map(|inventory| inventory.warnings().to_vec()));
        Ok((rules, warnings))
    }
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Verdict(arguments) => verdict::run(arguments),
        Sub::Audit(arguments) => audit::run(arguments),
        Sub::Reach(arguments) => reach::run(arguments),
    }
}

/// Returns a rule as the cells of a table.
pub(super) fn row(gate: &str, priority: Option<u32>, access: Option<Access>, name: &str) -> Vec<Cell> {
    let priority = priority.map_or_else(|| "?".to_owned(), |priority| priority.to_string());
    let access = match access {
        Some(access @ (Access::Allow | Access::AlwaysAllow)) => (Tone::Good, format!("{access:?}")),
        Some(access @ Access::Deny) => (Tone::Bad, format!("{access:?}")),
        None => (Tone::Odd, "?".to_owned()),
    };
    vec![plain(gate), plain(format!("{priority:>5}")), access, plain(name)]
}
