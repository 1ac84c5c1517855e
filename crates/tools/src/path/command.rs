//! The arguments, and one judgement.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use super::live::LiveEstate;
use super::remedy::{Remedy, remedies};
use super::{bundle, collect, diff, past, place, show, watch};
use crate::global::Global;
use crate::input::text;
use crate::live::Live;
use crate::page::Page;
use crate::print::{Hinted, line};
use crate::setup::Setup;
use crate::{guest, moment};
use ghost_base::{Clock as _, SystemClock, Timestamp};
use ghost_inspect::path::{Bundle, Estate, Flow, PlatformVerdict, Protocol, Report};
use ghost_shell::Policy;

/// No answers of Network Watcher about one flow are larger.
const MAX_VERDICTS_BYTES: usize = 4 << 20;

/// The arguments of `ghost path`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  ghost path -g prod --from web-1 --to db-1:5432\n  ghost path collect -g prod --out estate/\n  ghost path --bundle estate.json --from web-1 --to db-1:5432\n  ghost path --bundle estate/ --from internet --to web-1:443 --explain\n  ghost path --bundle estate/ --from 10.0.0.4 --to 10.1.0.4 --protocol icmp --json\n  ghost path -g prod --from web-1 --to db-1:5432 --watch\n  ghost path -g prod --from web-1 --to db-1:5432 --at 2h\n  ghost path diff before/ after/ --from web-1 --to db-1:5432\n\nIt judges both directions: guests, security groups, routes, peerings, appliances, shaping and who listens. INDETERMINATE names what was not read. With --exit-code: 3 for BLOCKED and DEGRADED, 4 for INDETERMINATE."
)]
pub struct Arguments {
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
    /// Say what was so at this time, as 2026-11-24T08:00:00Z or 2h ago: from the last of the dated bundles below --bundle, or from what is
    /// there now and nobody changed since.
    #[arg(long, value_name = "TIME", conflicts_with = "watch")]
    at: Option<String>,
    /// Judge again until Ctrl-C, and say so where something changed.
    #[arg(long)]
    watch: bool,
    /// Seconds between two judgements.
    #[arg(long, value_name = "SECONDS", requires = "watch", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    every: u32,
    /// Show every hop with the rule that decides there.
    #[arg(long)]
    explain: bool,
    /// Compare with what `az network watcher test-ip-flow`, `show-next-hop`, `test-connectivity` or
    /// `run-configuration-diagnostic` printed about this flow.
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    compare: Option<PathBuf>,
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
    pub from: Option<String>,
    /// Who is called, and on which port.
    #[arg(long, value_name = "WHERE[:PORT]", required = true)]
    pub to: Option<String>,
    /// The protocol.
    #[arg(long, value_enum, default_value_t = Spoken::Tcp)]
    pub protocol: Spoken,
}

/// A protocol on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Spoken {
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
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
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
    let at = arguments.at.as_deref().map(|text| moment::moment(text, SystemClock.now())).transpose()?;
    let question = Question { from, to, protocol: arguments.ends.protocol.into(), at };
    let judged = || match (&arguments.bundle, &arguments.resource_group) {
        (Some(path), _) => question.judged_offline(path),
        (None, Some(group)) => question.judged_now(&setup, group, arguments.subscription.as_deref()),
        (None, None) => {
            let error = anyhow::anyhow!("nothing is named to judge from");
            Err(Hinted::new(error, "name -g GROUP to read the cloud, or --bundle PATH").into())
        }
    };
    let policy = setup.policy()?;
    let show = |judged: &JudgedFlow, heading: Option<Page>| arguments.show(judged, heading, &policy);
    let verdict = if arguments.watch {
        watch::watch(Duration::from_secs(arguments.every.into()), judged, show)?
    } else {
        let judged = judged()?;
        show(&judged, None)?;
        judged.report.verdict
    };
    Ok(if arguments.exit_code { show::code(verdict) } else { 0 })
}

impl Arguments {
    fn show(&self, judged: &JudgedFlow, heading: Option<Page>, policy: &Policy) -> anyhow::Result<()> {
        let JudgedFlow { bundle, flow, report } = judged;
        // What would help now says nothing about another time.
        let remedies = match report.causes.is_empty() || self.at.is_some() {
            true => Vec::new(),
            false => remedies(bundle, flow, self.resource_group.as_deref(), policy),
        };
        let azure = match &self.compare {
            Some(file) => compared(report, file)?,
            None => Vec::new(),
        };
        if self.json {
            return line(&serde_json::to_string(&Document { report, remedies, azure })?);
        }
        if let Some(heading) = heading {
            heading.print()?;
        }
        show::page(report, &remedies, &azure, self.explain).print()
    }
}

/// Compares a report with what the platform printed about the same flow.
fn compared(report: &Report, file: &Path) -> anyhow::Result<Vec<PlatformVerdict>> {
    report.compared(&text(file, MAX_VERDICTS_BYTES)?).map_err(|error| {
        let error = anyhow::Error::new(error).context(format!("reading {}", file.display()));
        Hinted::new(error, "give what test-ip-flow, show-next-hop, test-connectivity or run-configuration-diagnostic printed as JSON")
            .into()
    })
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a Report,
    remedies: Vec<Remedy>,
    /// What the platform itself says of the flow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    azure: Vec<PlatformVerdict>,
}

/// A flow as it is asked about.
pub struct Question<'a> {
    /// Who calls.
    pub from: &'a str,
    /// Who is called, and on which port.
    pub to: &'a str,
    /// The protocol.
    pub protocol: Protocol,
    /// The time that is asked about; now unless said.
    pub at: Option<Timestamp>,
}

/// What became of a flow, and the documents that say so.
pub struct JudgedFlow {
    bundle: Bundle,
    flow: Flow,
    /// The judgement.
    pub report: Report,
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
    pub fn judged_offline(&self, bundle: &Path) -> anyhow::Result<JudgedFlow> {
        let dated = self.at.map(|at| past::last_before(bundle, at)).transpose()?;
        let read = bundle::read(dated.as_ref().map_or(bundle, |(path, _)| path))?;
        let flow = place::flow(&Estate::of(&read), self.from, self.to, self.protocol)?;
        let mut judged = JudgedFlow::new(read, flow);
        judged
            .report
            .warnings
            .extend(dated.map(|(_, collected)| format!("this is what was collected at {collected}")));
        Ok(judged)
    }

    /// Reads what decides over the flow, and judges it.
    pub fn judged_now(
        &self,
        setup: &Setup,
        group: &str,
        subscription: Option<&str>,
    ) -> anyhow::Result<JudgedFlow> {
        let group = guest::place(group, subscription)?;
        let mut live = LiveEstate::open(Live::open(setup, "path", None, None)?, group)?;
        let flow = live.flow(self.from, self.to, self.protocol)?;
        live.read_for(std::slice::from_ref(&flow))?;
        let mut flow = flow;
        if flow.name.is_some() {
            // What another group holds may lead the name somewhere else.
            let again = live.flow(self.from, self.to, self.protocol)?;
            if again != flow {
                flow = again;
                live.read_for(std::slice::from_ref(&flow))?;
            }
        }
        let mut judged = JudgedFlow::new(live.bundle().clone(), flow);
        if let Some(at) = self.at {
            let events = live.changes(past::hours(at, SystemClock.now())?)?;
            past::restrict(&mut judged.report, &judged.bundle, events, at);
        }
        Ok(judged)
    }
}
