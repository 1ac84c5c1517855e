//! `ghost capture orphans`.

use std::fs;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::command::{BAD_NEWS, Common};
use super::start::configured;
use super::terminal::gate;
use ghost_base::Timestamp;
use ghost_base::{Clock as _, SessionId, SystemClock};
use ghost_cloud::capture::CaptureTask;
use ghost_cloud::capture::{FoundOrphan, Issue, Life, Search, TaskStore, left_over, search};
use ghost_cloud::{Name, ResourceGroup};
use ghost_tools::consent::Consent;
use ghost_tools::name::new_session;
use ghost_tools::print::harmless;
use ghost_tools::print::{Hinted, line, note};
use ghost_tools::setup::Setup;
use ghost_tools::wait::drive;

/// A session that was silent for so long is over: no capture lasts longer.
const SILENT: Duration = Duration::from_secs(6 * 3600);

/// The arguments of `ghost capture orphans`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, value_name = "ID")]
    subscription: Option<String>,
    /// Remove them; asks first.
    #[arg(long)]
    clean: bool,
    #[command(flatten)]
    common: Common,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let (tasks, problems) = TaskStore::open(setup.data()?)?.all()?;
    let storage = configured(setup, (&None, &None, &None))?;
    let subscription =
        arguments.subscription.as_deref().map(Name::parse).transpose().context("checking --subscription")?;
    if arguments.clean {
        note(&arguments.common.approve.describe(setup));
    }
    let mut search = drive(|| async {
        let (gate, place) = (
            gate(setup, &new_session("capture")?, arguments.common.approve.approver(setup), &tasks)?,
            place(subscription)?,
        );
        let known = |session: &SessionId| life(setup, session);
        let mut search = search(&gate, &place, &tasks, storage.as_ref(), &known).await.map_err(hinted)?;
        if arguments.clean {
            for name in search.clean(&gate, &place, storage.as_ref()).await {
                note(&format!("{name} is gone"));
            }
        }
        anyhow::Ok(search)
    })??;
    search.warnings.extend(problems.iter().map(ToString::to_string));
    let left = left_over(&tasks, SystemClock.now());
    tell(&search, &left, arguments)?;
    let bad = !search.orphans.is_empty() || !left.is_empty();
    Ok(if arguments.common.exit_code && bad { BAD_NEWS } else { 0 })
}

/// Watchers have a group of their own: the lines that are used name none.
fn place(subscription: Option<Name>) -> anyhow::Result<ResourceGroup> {
    Ok(ResourceGroup { subscription, group: Name::parse("none")? })
}

fn hinted(trouble: Issue) -> anyhow::Error {
    let error = anyhow::Error::msg(harmless(&trouble.text));
    match trouble.hint {
        Some(hint) => Hinted::new(error, harmless(&hint)).into(),
        None => error,
    }
}

/// A capture that no session owns any more.
pub(in crate::cli) struct LeftoverCapture {
    /// The id of a task of this folder, or the name of a capture in the cloud.
    pub(in crate::cli) name: String,
    /// The session that began it.
    pub(in crate::cli) session: SessionId,
    /// The machines whose packets it holds.
    pub(in crate::cli) machine: String,
    /// When its session last recorded something.
    pub(in crate::cli) since: Timestamp,
}

/// Returns leftover captures: tasks of this folder, and captures in the cloud, which is asked only where captures are configured or
/// were made. It asks nobody for consent; what runs is on record under `session`.
pub(in crate::cli) async fn left_behind(
    setup: &Setup,
    session: &SessionId,
) -> anyhow::Result<Vec<LeftoverCapture>> {
    let data = setup.data()?;
    let kept = data.join("captures").is_dir();
    let (tasks, _) = if kept { TaskStore::open(data)?.all()? } else { (Vec::new(), Vec::new()) };
    let ids = left_over(&tasks, SystemClock.now());
    let of_task = |task: &CaptureTask| LeftoverCapture {
        name: task.id(),
        session: task.session.clone(),
        machine: task.order.machines.join(" and "),
        since: task.opened,
    };
    let mut left: Vec<LeftoverCapture> =
        tasks.iter().filter(|task| ids.contains(&task.id())).map(of_task).collect();
    let storage = configured(setup, (&None, &None, &None))?;
    if storage.is_some() || !tasks.is_empty() {
        let gate = gate(setup, session, Consent::Deny.approver(setup), &tasks)?;
        let known = |session: &SessionId| life(setup, session);
        let found = search(&gate, &place(None)?, &tasks, storage.as_ref(), &known).await;
        left.extend(found.map_err(hinted)?.orphans.into_iter().map(|found| LeftoverCapture {
            name: found.name.to_string(),
            since: last_recorded(setup, &found.orphan.origin.session).unwrap_or_else(|| SystemClock.now()),
            session: found.orphan.origin.session,
            machine: found.orphan.machine,
        }));
    }
    Ok(left)
}

/// Does some work, and searches for leftover captures meanwhile; `tell` takes a line where there is one.
pub(in crate::cli) async fn beside<T>(
    setup: &Setup,
    tell: impl FnOnce(String),
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    let left = tokio::select! {
        biased;
        done = &mut work => return done,
        left = async { left_behind(setup, &new_session("capture")?).await } => left,
    };
    match left {
        Ok(left) if left.is_empty() => {}
        Ok(left) => {
            let (count, were) = if left.len() == 1 { ("One capture", "was") } else { ("Captures", "were") };
            let names = left.iter().map(|left| left.name.as_str()).collect::<Vec<_>>().join(", ");
            let names = harmless(&names);
            tell(format!(
                "{count} {were} left behind ({names}): `ghost capture orphans` says what can be done."
            ));
        }
        Err(error) => tracing::debug!("search for leftover captures failed: {error}"),
    }
    work.await
}

/// Returns when a session last recorded something.
fn last_recorded(setup: &Setup, session: &SessionId) -> Option<Timestamp> {
    let audit = setup.data().ok()?.join("audit").join(format!("{session}.jsonl"));
    let silent = fs::metadata(audit).ok()?.modified().ok()?.elapsed().ok()?;
    let millis = i64::try_from(silent.as_millis()).ok()?;
    Some(Timestamp::from_millis(SystemClock.now().as_millis().checked_sub(millis)?))
}

/// Says what is known of a session: its audit file shows that it was one of ours, and when it last recorded something.
fn life(setup: &Setup, session: &SessionId) -> Life {
    let Ok(data) = setup.data() else { return Life::Unknown };
    let Ok(found) = fs::metadata(data.join("audit").join(format!("{session}.jsonl"))) else {
        return Life::Unknown;
    };
    let silent = found.modified().ok().and_then(|at| at.elapsed().ok());
    if silent.is_some_and(|silent| silent > SILENT) { Life::Dead } else { Life::Alive }
}

fn tell(search: &Search, left: &[String], arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.common.json {
        let orphan = |found: &FoundOrphan| {
            json!({"name": found.name.as_str(), "region": found.region.as_str(), "machine": found.orphan.machine,
                "session": found.orphan.origin.session.as_str(), "file": found.orphan.file})
        };
        let orphans: Vec<_> = search.orphans.iter().map(orphan).collect();
        return line(
            &json!({"orphans": orphans, "left": left, "foreign": search.foreign, "warnings": search.warnings}).to_string(),
        );
    }
    for warning in &search.warnings {
        note(&harmless(&format!("warning: {warning}")));
    }
    let mut text = Vec::new();
    for found in &search.orphans {
        let (machine, session) = (&found.orphan.machine, &found.orphan.origin.session);
        text.push(format!(
            "orphan {} of {machine} in {}: session {session} is over",
            found.name, found.region
        ));
    }
    text.extend(left.iter().map(|id| format!("left over: {id}; `ghost capture status {id}` says what")));
    text.extend(search.foreign.iter().map(|name| {
        format!("not ours: {name} is named as Ghost names captures, but its session is not known here")
    }));
    if text.is_empty() {
        text.push("Nothing of ours is left.".to_owned());
    } else if !arguments.clean && !search.orphans.is_empty() {
        text.push("`ghost capture orphans --clean` removes the orphans, after asking.".to_owned());
    }
    line(&harmless(&text.join("\n")))
}
