//! `ghost route select`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

use super::command::table;
use crate::cli::input::harmless;
use crate::cli::knowledge::Knowledge;
use crate::cli::print::line;
use crate::route::{Outcome, Selection};

/// The arguments of `ghost route select`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost route select --table routes.json --to 10.1.2.3\n  az network nic show-effective-route-table -n web-nic -g prod -o json | ghost route select --table - --to 8.8.8.8\n  ghost route select --table a.json --to 10.1.0.4 --from 10.0.0.4 --return-table b.json --inventory nics.json"
)]
pub(super) struct Arguments {
    /// The effective route table as `az` prints it; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    table: PathBuf,
    /// The destination.
    #[arg(long, value_name = "IP")]
    to: IpAddr,
    /// The source: where the way back leads.
    #[arg(long, value_name = "IP")]
    from: Option<IpAddr>,
    /// The other end's effective route table: says whether the way back is another one.
    #[arg(long, value_name = "FILE", requires = "from")]
    return_table: Option<PathBuf>,
    #[command(flatten)]
    knowledge: Knowledge,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where there is no route or an anomaly, with 4 where the answer is INDETERMINATE.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (tags, inventory) = (arguments.knowledge.tags()?, arguments.knowledge.inventory()?);
    let routes = table(&arguments.table, tags.as_ref())?;
    let mut selection = routes.select_knowing(arguments.to, inventory.as_ref());
    if let (Some(path), Some(from)) = (&arguments.return_table, arguments.from) {
        let back = table(path, tags.as_ref())?;
        routes.compare_return(&mut selection, arguments.to, &back, from);
    }
    selection.warnings.to_mut().extend(tags.iter().flat_map(|tags| tags.warnings().to_vec()));
    selection.warnings.to_mut().extend(inventory.iter().flat_map(|inventory| inventory.warnings().to_vec()));
    if arguments.json {
        line(&serde_json::to_string(&selection)?)?;
    } else {
        line(&harmless(&told(&selection, arguments.to)))?;
    }
    Ok(match selection.result {
        _ if !arguments.exit_code => 0,
        Outcome::NoRoute => 3,
        Outcome::Indeterminate => 4,
        Outcome::Winner | Outcome::Tied => {
            if selection.anomalies.is_empty() {
                0
            } else {
                3
            }
        }
    })
}

fn told(selection: &Selection<'_>, to: IpAddr) -> String {
    let mut lines = vec![match (&selection.winner, selection.result) {
        (Some(winner), _) => {
            let reason =
                selection.reason.map(|reason| format!(": {}", reason.sentence())).unwrap_or_default();
            format!("{to}  {winner}{reason}")
        }
        (None, Outcome::NoRoute) => format!("{to}  no route carries it: the packet is dropped"),
        (None, Outcome::Indeterminate) => {
            let names = selection.unresolved.join(", ");
            format!("{to}  not decided: the service tag {names} could carry it (resolve it with --tags)")
        }
        (None, Outcome::Winner | Outcome::Tied) => {
            format!("{to}  {} equal routes share the load", selection.tied.len())
        }
    }];
    lines.extend(
        selection.anomalies.iter().map(|found| format!("  ! {}  {}", found.code.as_str(), found.detail)),
    );
    if !selection.trace.is_empty() {
        lines.push("\nEvery route that contains it, the winner first:".to_owned());
        lines.extend(selection.trace.iter().map(|step| format!("  {}\n      {}", step.route, step.what)));
    }
    if !selection.warnings.is_empty() {
        lines.push("\nNot read:".to_owned());
        lines.extend(selection.warnings.iter().map(|warning| format!("  {warning}")));
    }
    lines.join("\n")
}
