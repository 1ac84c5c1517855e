//! The arguments, and where the log comes from.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use super::show;
use crate::global::Global;
use crate::guest::place;
use crate::input;
use crate::live::{Live, or_fail, plan};
use crate::moment::moment;
use crate::print::{Hinted, line};
use crate::setup::Setup;
use ghost_base::{Clock as _, SystemClock, Timestamp};
use ghost_cloud::operation::{CommandRequest, ReadOperation};
use ghost_cloud::probe::topology::TopologyOperation;
use ghost_cloud::{ResourceGroup, line as az};
use ghost_inspect::changes::{
    Attributed, Change, Log, Origin, Question, ReportedChange, ReportedOrigin, Subject,
};

/// The largest log that is read.
const MAX_LOG_BYTES: usize = 64 << 20;

/// The platform keeps its activity log as long.
const KEPT_MILLIS: i64 = 90 * 86_400_000;

/// Events are seen in the log this much later, at most.
const DELAY_MILLIS: i64 = 20 * 60_000;

/// The arguments of `ghost changes`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost changes -g prod --since 6h\n  ghost changes -g prod --since 2026-11-24T01:00:00Z --until 2026-11-24T03:00:00Z\n  ghost changes -g prod --around nsg/app-nsg/deny-db --first-failure 2026-11-24T02:17:00Z\n  ghost changes -g prod --since 1d --by deploy-pipeline\n  az monitor activity-log list -g prod --offset 1d --max-events 1000 -o json > log.json\n  ghost changes --log log.json --around app-nsg\n\nAn OBJECT is an object as findings name it (nsg/GROUP/RULE, route/TABLE/ROUTE, peering/NETWORK/PEERING, machine/NAME …), the name of anything, or a resource id. With -g a machine's name stands for its interface, groups, subnet and route table, too. A change that failed, began after the first failure, or touched something else is listed and not connected. The log is read as it is: events appear in it up to 20 minutes late, it keeps 90 days, and it records nothing of what happens inside machines. With --exit-code: 3 where something was changed (with --around: that object), 4 where the log is not whole and shows none."
)]
pub struct Arguments {
    /// The resource group.
    #[arg(long, short = 'g', value_name = "GROUP", required_unless_present = "log")]
    resource_group: Option<String>,
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, alias = "subscription-id", value_name = "ID", requires = "resource_group")]
    subscription: Option<String>,
    /// The log, as `az monitor activity-log list -o json` prints it; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resource_group", "plan"])]
    log: Option<PathBuf>,
    /// Changes since then: 2026-11-24T08:00:00Z, or how long ago, as 90m, 6h, 3d. Six hours unless said; of a file, all of it.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Changes until then; until now unless said.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only what touched this object, and what the log says of its making.
    #[arg(long, value_name = "OBJECT")]
    around: Option<String>,
    /// When it failed first: what began later made nothing that is at fault.
    #[arg(long, value_name = "TIME", requires = "around")]
    first_failure: Option<String>,
    /// Only what somebody did: a part of their name, or an id.
    #[arg(long, value_name = "WHO")]
    by: Option<String>,
    /// At most so many events are asked for.
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    max_events: u16,
    /// Print every command that it would run, with its verdict, and run none.
    #[arg(long)]
    plan: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where something was changed, with 4 where the log is not whole and shows none.
    #[arg(long)]
    exit_code: bool,
}

/// What was found, and what is not in it.
pub(super) struct Found<'a> {
    pub log: &'a Log,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// The changes that were asked for, by their places in the log.
    pub shown: Vec<usize>,
    /// The object that was asked about, and what the log says about it.
    pub around: Option<(&'a str, Attributed)>,
    /// Why this need not be all.
    pub remarks: Vec<String>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let now = SystemClock.now();
    let at = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
    let (since, until, failure) =
        (at(&arguments.since)?, at(&arguments.until)?, at(&arguments.first_failure)?);
    if since.zip(until).is_some_and(|(since, until)| since > until) {
        let error = anyhow::anyhow!("--since is later than --until");
        return Err(Hinted::new(error, "--since 6h --until 2h is from six hours ago to two hours ago").into());
    }
    let Some(dated) = arguments.log(global, (since, until), now)? else { return Ok(0) };
    let log = &dated.log;
    let found = arguments.select(&dated, failure, now);
    if arguments.json {
        line(&serde_json::to_string(&document(&found))?)?;
    } else {
        show::page(&found).print()?;
    }
    let is_changed = found.shown.iter().any(|at| is_done(log, *at));
    Ok(match (arguments.exit_code, is_changed) {
        (false, _) => 0,
        (true, true) => 3,
        (true, false) if log.is_cut || !log.warnings.is_empty() => 4,
        (true, false) => 0,
    })
}

/// A log, the time that it covers, and what stands for the object that was asked about.
struct Dated {
    log: Log,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    subjects: Vec<Subject>,
}

impl Arguments {
    /// Reads the log; `None` where only the plan was wanted.
    fn log(
        &self,
        global: &Global,
        (since, until): (Option<Timestamp>, Option<Timestamp>),
        now: Timestamp,
    ) -> anyhow::Result<Option<Dated>> {
        if let Some(path) = &self.log {
            let text = input::text(path, MAX_LOG_BYTES)?;
            let log = Log::parse(&text).map_err(|error| {
                Hinted::new(error, "give what `az monitor activity-log list --output json` printed")
            })?;
            let subjects = self.around.iter().map(|text| Subject::named(text)).collect();
            return Ok(Some(Dated { log, since, until, subjects }));
        }
        let Some(group) = &self.resource_group else { anyhow::bail!("no resource group is named") };
        let (since, until) = (since.unwrap_or(back(now, 6 * 3_600_000)), until.unwrap_or(now));
        if since < back(now, KEPT_MILLIS) {
            let error = anyhow::anyhow!("the platform keeps its activity log 90 days");
            return Err(Hinted::new(error, "name a later --since, or a log that was kept: --log FILE").into());
        }
        let group = place(group, self.subscription.as_deref())?;
        // The end is read to its whole second: events have parts of one.
        let (from, to) = (back(since, since.as_millis().rem_euclid(1000)), back(until, -1000));
        let most = usize::from(self.max_events);
        let request =
            CommandRequest::line(az::activity_between(&group, from, to, most), "find what was changed");
        let setup = Setup::new(global)?;
        if self.plan {
            let names_machine = self.around.as_ref().is_some_and(|name| !name.contains('/'));
            let listed = if names_machine { TopologyOperation::foreseen(&group) } else { Vec::new() };
            let requests: Vec<CommandRequest> = std::iter::once(request).chain(listed).collect();
            return plan(&setup, None, &requests, self.json).map(|()| None);
        }
        let live = Live::open(&setup, "changes", None, None)?;
        let text = or_fail(live.drive(ReadOperation::new(request, "reading the activity log"))?)?;
        let mut log = Log::parse(&text).context("reading the activity log")?;
        log.is_cut |= log.events >= most;
        let subjects = match &self.around {
            Some(name) => subjects(&live, &group, name)?,
            None => Vec::new(),
        };
        Ok(Some(Dated { log, since: Some(since), until: Some(until), subjects }))
    }

    /// Selects what was asked for.
    fn select<'a>(&'a self, dated: &'a Dated, failure: Option<Timestamp>, now: Timestamp) -> Found<'a> {
        let Dated { log, since, until, subjects } = dated;
        let (since, until) = (*since, *until);
        let question = Question { first_failure: failure, last_good: None };
        let fits = |change: &Change| {
            since.is_none_or(|since| change.ended.unwrap_or(change.at) >= since)
                && until.is_none_or(|until| change.at <= until)
                && self.by.as_ref().is_none_or(|who| change.who.is(who))
                && (subjects.is_empty() || subjects.iter().any(|one| one.concerns(&change.resource)))
        };
        let shown =
            log.changes.iter().enumerate().filter(|(_, change)| fits(change)).map(|(at, _)| at).collect();
        let around = self.around.as_deref().map(|object| (object, log.attribute(subjects, &question)));
        let mut remarks = Vec::new();
        if log.is_cut {
            remarks.push(format!(
                "the log is not whole: {} events were read of it, and there are more",
                log.events
            ));
        }
        let is_fresh = self.log.is_none() && until.is_some_and(|until| until > back(now, DELAY_MILLIS));
        if is_fresh {
            remarks.push(
                "events appear in the log up to 20 minutes late: the last ones may be missing".to_owned(),
            );
        }
        Found { log, since, until, shown, around, remarks }
    }
}

/// Returns what stands for an object: a machine also for what decides over its traffic.
fn subjects(live: &Live, group: &ResourceGroup, name: &str) -> anyhow::Result<Vec<Subject>> {
    let mut names = vec![name.to_owned()];
    if !name.contains('/') {
        let found = or_fail(live.drive(TopologyOperation::new(group))?)?;
        let machine = found.machines.iter().find(|machine| machine.name.eq_ignore_ascii_case(name));
        let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
        for nic in machine.iter().flat_map(|machine| found.of(&machine.name)) {
            names.push(nic.name.clone());
            names.extend(nic.security_group.as_deref().map(last));
            for path in nic.addresses.iter().filter_map(|address| address.subnet.as_deref()) {
                names.push(format!("subnet/{path}"));
                let subnet = found.subnet(path);
                names.extend(subnet.and_then(|subnet| subnet.security_group.as_deref()).map(last));
                names.extend(subnet.and_then(|subnet| subnet.route_table.as_deref()).map(last));
            }
        }
    }
    names.dedup();
    Ok(names.iter().map(|name| Subject::named(name)).collect())
}

/// Tells whether a change was one, and did not fail.
fn is_done(log: &Log, at: usize) -> bool {
    use ghost_inspect::changes::Status;
    log.changes.get(at).is_some_and(|change| {
        change.action.is_change() && matches!(change.status, Status::Succeeded | Status::Unfinished)
    })
}

fn back(at: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(at.as_millis().saturating_sub(millis))
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    format: u32,
    since: Option<String>,
    until: Option<String>,
    /// Whether the log is all that there was of it.
    complete: bool,
    events: usize,
    others: usize,
    changes: Vec<Row>,
    around: Option<Around>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    change: ReportedChange,
    /// Why it is not connected with the object that was asked about; null where it is, or none was asked about.
    not_connected: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Around {
    object: String,
    #[serde(flatten)]
    origin: Option<ReportedOrigin>,
}

fn document(found: &Found<'_>) -> Document {
    let log = found.log;
    let row = |at: &usize| {
        let change = log.changes.get(*at)?;
        Some(Row {
            change: ReportedChange::from(change),
            not_connected: found.unconnected(*at).map(|why| why.as_str()),
        })
    };
    let around = found.around.as_ref().map(|(object, attributed)| Around {
        object: (*object).to_owned(),
        origin: decisive(attributed).map(|origin| log.reported(origin)),
    });
    Document {
        format: 1,
        since: found.since.map(|at| at.to_string()),
        until: found.until.map(|at| at.to_string()),
        complete: !log.is_cut && log.warnings.is_empty(),
        events: log.events,
        others: log.others,
        changes: found.shown.iter().filter_map(row).collect(),
        around,
        warnings: log.warnings.iter().map(ToString::to_string).chain(found.remarks.iter().cloned()).collect(),
    }
}

/// Returns what the log says about an object that stands for several: the latest change of any of them.
pub(super) fn decisive(attributed: &Attributed) -> Option<&Origin> {
    attributed.origins.iter().min_by_key(|origin| match origin {
        Origin::MadeBy { change, .. } => (0, *change),
        Origin::MayBe { change, .. } => (1, *change),
        Origin::None { .. } => (2, 0),
    })
}

impl Found<'_> {
    /// Returns why a change is not connected with the object that was asked about.
    pub(super) fn unconnected(&self, at: usize) -> Option<ghost_inspect::changes::Unconnected> {
        let (_, attributed) = self.around.as_ref()?;
        attributed.unconnected.iter().find(|(known, _)| *known == at).map(|(_, why)| *why)
    }
}
