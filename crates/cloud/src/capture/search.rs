//! Finds captures of ours without an owner in the cloud, and removes them.

use async_trait::async_trait;
use serde::de::DeserializeOwned;

use super::document::{ListedCapture, Watcher, read};
use super::drive::CaptureShell;
use super::orphan::{Life, Orphan, Ownership, judge};
use super::request::Storage;
use super::state::State;
use super::step::{CaptureStep, StepKind};
use super::task::CaptureTask;
use crate::line::{self, Line};
use crate::operation::{self, CommandOutcome, Issue, ReadOperation};
use crate::{Name, ResourceGroup};
use ghost_base::{Clock as _, SessionId, SystemClock, Timestamp};
use ghost_shell::CancelSignal;

/// A task that is not over so long after it should be has nobody who drives it, in seconds.
const FORGOTTEN_SECONDS: u64 = 3_600;

/// What was found in the cloud.
#[derive(Debug, Default)]
pub struct Search {
    /// Captures of ours without an owner.
    pub orphans: Vec<FoundOrphan>,
    /// Names of captures that look like ours, of sessions that nobody here knows.
    pub foreign: Vec<String>,
    /// What could not be looked at, or removed.
    pub warnings: Vec<String>,
}

/// A capture of ours without an owner.
#[derive(Debug)]
pub struct FoundOrphan {
    pub name: Name,
    pub region: Name,
    /// Whose it was.
    pub orphan: Orphan,
}

/// Returns the ids of tasks that want somebody to look after them.
#[must_use]
pub fn left_over(tasks: &[CaptureTask], now: Timestamp) -> Vec<String> {
    let is_left = |task: &&CaptureTask| {
        let length = u64::from(task.order.limits.seconds) + FORGOTTEN_SECONDS;
        let forgotten = now.since(task.opened).as_secs() > length;
        task.state() == State::NeedsCleanup || (!task.state().is_over() && forgotten)
    };
    tasks.iter().filter(is_left).map(CaptureTask::id).collect()
}

/// Searches for captures in every region that has a watcher. `life` says what is known of a session.
///
/// # Errors
/// Fails where not even the watchers can be listed; a region that cannot be looked at is a warning.
pub async fn search(
    gate: &CaptureShell,
    place: &ResourceGroup,
    tasks: &[CaptureTask],
    storage: Option<&Storage>,
    life: &(dyn Fn(&SessionId) -> Life + Sync),
) -> Result<Search, Issue> {
    let why = "which regions have a network watcher?";
    let watchers: Vec<Watcher> =
        ask(gate, line::watchers(place), why, "looking for network watchers").await?;
    let mut search = Search::default();
    for location in watchers.into_iter().filter_map(|watcher| watcher.location) {
        let Ok(region) = Name::parse(&location) else { continue };
        let why = format!("which captures of ours does {region} have?");
        let doing = format!("listing the captures of {region}");
        match ask::<Vec<ListedCapture>>(gate, line::captures(place, &region), &why, &doing).await {
            Ok(listed) => {
                let judged = |one: ListedCapture| (judge(&one, tasks, storage, life), one.name);
                listed.into_iter().map(judged).for_each(|(whose, name)| search.take(whose, &name, &region));
            }
            Err(trouble) => search.warnings.push(trouble.text),
        }
    }
    Ok(search)
}

impl Search {
    fn take(&mut self, whose: Ownership, name: &str, region: &Name) {
        match (whose, Name::parse(name)) {
            (Ownership::Orphan(orphan), Ok(name)) => {
                self.orphans.push(FoundOrphan { name, region: region.clone(), orphan });
            }
            (Ownership::Foreign(_), Ok(name)) => self.foreign.push(name.to_string()),
            (Ownership::Orphan(_) | Ownership::Foreign(_), Err(_))
            | (Ownership::Another | Ownership::CaptureTask(_) | Ownership::Alive(_), _) => {}
        }
    }

    /// Removes the orphans under one consent, and checks once more: what is still there stays. Returns the names of what is gone.
    pub async fn clean(
        &mut self,
        gate: &CaptureShell,
        place: &ResourceGroup,
        storage: Option<&Storage>,
    ) -> Vec<String> {
        let steps = self.steps(place, storage);
        for at in 0..steps.len() {
            let Some((step, _)) = steps.get(at..).and_then(<[CaptureStep]>::split_first) else { break };
            let plan: Vec<String> = steps.iter().skip(at).map(CaptureStep::command).collect();
            match gate.run(step, &plan, CancelSignal::never()).await {
                CommandOutcome::Ran { .. } => {}
                CommandOutcome::Denied { reason, all } => {
                    self.warnings.push(format!("it was denied: {reason}"));
                    if all {
                        break;
                    }
                }
                CommandOutcome::Refused { reason }
                | CommandOutcome::NotRun { reason }
                | CommandOutcome::Unknown { reason } => {
                    self.warnings.push(reason);
                }
            }
        }
        let mut gone = Vec::new();
        for found in std::mem::take(&mut self.orphans) {
            if self.is_gone(&found, gate, place, storage).await {
                gone.push(found.name.to_string());
            } else {
                self.orphans.push(found);
            }
        }
        gone
    }

    fn steps(&self, place: &ResourceGroup, storage: Option<&Storage>) -> Vec<CaptureStep> {
        let mut steps = Vec::new();
        for FoundOrphan { name, region, orphan } in &self.orphans {
            let why =
                format!("remove what session {}, which is over, left in {region}", orphan.origin.session);
            let step = |what, line| CaptureStep { what, end: 0, line, why: why.clone(), room: None };
            steps.push(step(StepKind::Delete, line::capture_delete(place, region, name)));
            if let Some(storage) = storage.filter(|_| orphan.file) {
                let line = line::blob_delete(&storage.account, &storage.container, name);
                steps.push(step(StepKind::DeleteBlob, line));
            }
        }
        steps
    }

    /// Only a read says that something is gone.
    async fn is_gone(
        &mut self,
        found: &FoundOrphan,
        gate: &CaptureShell,
        place: &ResourceGroup,
        storage: Option<&Storage>,
    ) -> bool {
        let (why, doing) =
            (format!("is {} gone?", found.name), format!("looking whether {} is gone", found.name));
        let listed =
            ask::<Vec<ListedCapture>>(gate, line::captures(place, &found.region), &why, &doing).await;
        let mut gone = listed.map(|all| all.iter().all(|one| one.name != found.name.as_str()));
        if let (Ok(true), Some(storage)) = (&gone, storage.filter(|_| found.orphan.file)) {
            let file = format!("{}.cap", found.name);
            let line = line::blob_exists(&storage.account, &storage.container, &file);
            gone = ask::<super::document::Exists>(gate, line, &why, &doing).await.map(|file| !file.exists);
        }
        gone.unwrap_or_else(|trouble| {
            self.warnings.push(trouble.text);
            false
        })
    }
}

/// What reads, with patience.
struct Reader<'a>(&'a CaptureShell);

#[async_trait]
impl operation::OperationExecutor for Reader<'_> {
    async fn run(&self, order: &operation::CommandRequest) -> CommandOutcome {
        self.0.order(order).await
    }

    async fn wait(&self, until: Timestamp, _why: &str) -> bool {
        tokio::time::sleep(until.since(SystemClock.now())).await;
        true
    }
}

async fn ask<T: DeserializeOwned>(
    gate: &CaptureShell,
    line: Line,
    why: &str,
    doing: &str,
) -> Result<T, Issue> {
    let mut reading = ReadOperation::new(operation::CommandRequest::line(line, why), doing);
    let text = operation::drive(&mut reading, &Reader(gate), &SystemClock).await;
    let text = text.unwrap_or_else(|| Err(Issue::new(format!("{doing} was cut off"))))?;
    read(&text, doing).map_err(|setback| setback.trouble)
}
