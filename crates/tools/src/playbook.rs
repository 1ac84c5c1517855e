//! `ghost playbook`: what the built-in investigator goes by.

use clap::{Args, Subcommand};
use serde_json::json;

use super::print::line;
use ghost_investigate::coverage::TABLE;
use ghost_investigate::suspect::Layer;

/// The arguments of `ghost playbook`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost playbook show\n  ghost playbook show --json | jq '.[] | select(.symptom == \"slow\")'"
)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Prints which layers belong to which symptom; every investigator is held to it before it may end.
    Show {
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let What::Show { json } = arguments.what;
    if json {
        let row = |row: &ghost_investigate::coverage::Row| json!({"symptom": row.symptom, "told": row.symptom.describe(), "reads": row.reads, "settles": row.settles, "note": row.note});
        line(&serde_json::to_string(&TABLE.iter().map(row).collect::<Vec<_>>())?)?;
        return Ok(0);
    }
    let layers_text =
        |layers: &[Layer]| layers.iter().map(|layer| layer.describe()).collect::<Vec<_>>().join(", ");
    line(
        "Before an investigation may end, these layers were looked at, at both ends where two machines are named, or",
    )?;
    line(
        "the report says why one was not. What only reads needs no consent; what settles is needed where all that is clean.",
    )?;
    for row in TABLE {
        line("")?;
        line(row.symptom.describe())?;
        line(&format!("  reads:   {}", layers_text(row.reads)))?;
        if !row.settles.is_empty() {
            line(&format!("  settles: {}", layers_text(row.settles)))?;
        }
        line(&format!("  note:    {}", row.note))?;
    }
    Ok(0)
}
