//! The arguments, and one judgement.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use super::live::LiveEstate;
use super::remedy::{Remedy, remedies};
use super::{bundle, collect, diff, place, show};
use crate::cli::guest;
use crate::cli::live::Live;
use crate::cli::print::{Hinted, line};
use crate::cli::root::Global;
use crate::cli::setup::Setup;
use ghost_inspect::path::{Bundle, Estate, Flow, Protocol, Report};

/// The arguments of `ghost path`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  ghost path -g prod --from web-1 --to db-1:5432\n  ghost path collect -g prod --out estate/\n  ghost path --bundle estate.json --from web-1 --to db-1:5432\n  ghost path --bundle estate/ --from internet --to web-1:443 --explain\n  ghost path --bundle estate/ --from 10.0.0.4 --to 10.1.0.4 --protocol icmp --json\n  ghost path diff before/ after/ --from web-1 --to db-1:5432\n\nIt judges both directions: guests, security groups, routes, peerings, appliances, shaping and who listens. INDETERMINATE names what\nwas not read. With --exit-code: 3 for BLOCKED and DEGRADED, 4 for INDETERMINATE."
)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Option<Sub>,
    /// The documents that were read: a JSON file, or a folder.
    #[arg(long, value_name = "PATH", conflicts_with = "resource_group")]
    bundle: Option<PathBuf>,
    /// The resource group to read them from now.
    #[arg(long, short = 'g', value_name = "GROUP")]
    resource_group: Option<String>,
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, alias = "subscription-id", value_name = "ID", requires = "resource_group")]
    subscription: Option<String>,
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
    /// Reads an estate into a folder.
    Collect(collect::Arguments),
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
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    match &arguments.command {
        Some(Sub::Diff(arguments)) => return diff::run(arguments),
        Some(Sub::Collect(arguments)) => return collect::run(arguments, &Setup::new(global)?),
        None => {}
    }
    // clap has made sure that both are there.
    let (Some(from), Some(to)) = (&arguments.ends.from, &arguments.ends.to) else {
        anyhow::bail!("--from and --to are needed");
    };
    let setup = Setup::new(global)?;
    let question = Question { from, to, protocol: arguments.ends.protocol.into() };
    let judged = match (&arguments.bundle, &arguments.resource_group) {
        (Some(path), _) => question.judged_offline(path)?,
        (None, Some(group)) => question.judged_now(&setup, group, arguments.subscription.as_deref())?,
        (None, None) => {
            let error = anyhow::anyhow!("nothing is named to judge from");
            return Err(Hinted::new(error, "name -g GROUP to read the cloud, or --bundle PATH").into());
        }
    };
    let JudgedFlow { bundle, flow, report } = judged;
    let remedies = match report.causes.is_empty() {
        true => Vec::new(),
        false => remedies(&bundle, &flow, arguments.resource_group.as_deref(), &*setup.policy_at_once()?),
    };
    let verdict = report.verdict;
    if arguments.json {
        line(&serde_json::to_string(&Document { report, remedies })?)?;
    } else {
        show::page(&report, &remedies, arguments.explain).print()?;
    }
    Ok(if arguments.exit_code { show::code(verdict) } else { 0 })
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    #[serde(flatten)]
    report: Report,
    remedies: Vec<Remedy>,
}

/// A flow as it is asked about.
pub(in crate::cli) struct Question<'a> {
    /// Who calls.
    pub(in crate::cli) from: &'a str,
    /// Who is called, and on which port.
    pub(in crate::cli) to: &'a str,
    /// The protocol.
    pub(in crate::cli) protocol: Protocol,
}

/// What became of a flow, and the documents that say so.
pub(in crate::cli) struct JudgedFlow {
    bundle: Bundle,
    flow: Flow,
    /// The judgement.
    pub(in crate::cli) report: Report,
}

impl JudgedFlow {
    fn new(bundle: Bundle, flow: Flow) -> Self {
        let estate = Estate::of(&bundle);
        let report = estate.judge(&flow).report(&estate);
        Self { bundle, flow, report }
    }
}

impl Question<'_> {
    /// Judges the flow from documents that were read.
    pub(in crate::cli) fn judged_offline(&self, bundle: &Path) -> anyhow::Result<JudgedFlow> {
        let bundle = bundle::read(bundle)?;
        let flow = place::flow(&Estate::of(&bundle), self.from, self.to, self.protocol)?;
        Ok(JudgedFlow::new(bundle, flow))
    }

    /// Reads what decides over the flow, and judges it.
    pub(in crate::cli) fn judged_now(
        &self,
        setup: &Setup,
        group: &str,
        subscription: Option<&str>,
    ) -> anyhow::Result<JudgedFlow> {
        let group = guest::place(group, subscription)?;
        let mut live = LiveEstate::open(Live::open(setup, "path", None, None)?, group)?;
        let flow = place::flow(&live.estate(), self.from, self.to, self.protocol)?;
        live.read_for(std::slice::from_ref(&flow))?;
        Ok(JudgedFlow::new(live.bundle().clone(), flow))
    }
}
