//! The arguments, and one judgement.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{bundle, diff, place, show};
use crate::cli::print::line;
use ghost_inspect::path::{Estate, Protocol};

/// The arguments of `ghost path`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  ghost path --bundle estate.json --from web-1 --to db-1:5432\n  ghost path --bundle estate/ --from internet --to web-1:443 --explain\n  ghost path --bundle estate/ --from 10.0.0.4 --to 10.1.0.4 --protocol icmp --json\n  ghost path diff before/ after/ --from web-1 --to db-1:5432\n\nIt judges both directions: guests, security groups, routes, peerings, appliances, shaping and who listens. INDETERMINATE names what\nwas not read. With --exit-code: 3 for BLOCKED and DEGRADED, 4 for INDETERMINATE."
)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Option<Sub>,
    /// The documents that were read: a JSON file, or a folder.
    #[arg(long, value_name = "PATH", required = true)]
    bundle: Option<PathBuf>,
    #[command(flatten)]
    ends: Ends,
    /// Show every hop with the rule that decides there.
    #[arg(long)]
    explain: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where the flow does not pass unhurt, with 4 where that is undecided.
    #[arg(long)]
    exit_code: bool,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Says which of some flows have another outcome in a later bundle.
    Diff(diff::Arguments),
}

/// Who calls whom.
#[derive(Debug, Clone, Args)]
pub(super) struct Ends {
    /// Who calls: a machine, an address, or `internet`.
    #[arg(long, value_name = "WHERE", required = true)]
    pub(super) from: Option<String>,
    /// Who is called, and on which port.
    #[arg(long, value_name = "WHERE[:PORT]", required = true)]
    pub(super) to: Option<String>,
    /// The protocol.
    #[arg(long, value_enum, default_value_t = Spoken::Tcp)]
    pub(super) protocol: Spoken,
}

/// A protocol on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Spoken {
    Tcp,
    Udp,
    Icmp,
}

impl From<Spoken> for Protocol {
    fn from(spoken: Spoken) -> Self {
        match spoken {
            Spoken::Tcp => Self::Tcp,
            Spoken::Udp => Self::Udp,
            Spoken::Icmp => Self::Icmp,
        }
    }
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if let Some(Sub::Diff(arguments)) = &arguments.command {
        return diff::run(arguments);
    }
    // clap has made sure that all three are there.
    let (Some(path), Some(from), Some(to)) = (&arguments.bundle, &arguments.ends.from, &arguments.ends.to)
    else {
        anyhow::bail!("--bundle, --from and --to are needed");
    };
    let estate = Estate::of(&bundle::read(path)?);
    let flow = place::flow(&estate, from, to, arguments.ends.protocol.into())?;
    let report = estate.judge(&flow).report(&estate);
    if arguments.json {
        line(&serde_json::to_string(&report)?)?;
    } else {
        show::page(&report, arguments.explain).print()?;
    }
    Ok(if arguments.exit_code { show::code(report.verdict) } else { 0 })
}
