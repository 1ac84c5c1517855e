//! Looking in the cloud for captures of ours that nobody looks after, and removing them.

use async_trait::async_trait;
use serde::de::DeserializeOwned;

use super::document::{Listed, Watcher, read};
use super::gate::Gate;
use super::order::Storage;
use super::orphan::{Life, Orphan, Whose, judge};
use super::state::State;
use super::step::{Step, What};
use super::task::Task;
use crate::errand::{self, Answer, Reading, Trouble};
use crate::line::{self, Line};
use crate::{Name, Place};
use ghost_base::{Clock as _, SessionId, SystemClock, Timestamp};
use ghost_shell::CancelSignal;

/// A task that is not over so long after it should be has nobody who drives it, in seconds.
const FORGOTTEN: u64 = 3_600;

/// What was found in the cloud.
#[derive(Debug, Default)]
pub struct Search {
    /// Captures of ours that nobody looks after.
    pub orphans: Vec<Found>,
    /// Names of captures that look like ours, of sessions that nobody here knows.
    pub foreign: Vec<String>,
    /// What could not be looked at, or removed.
    pub warnings: Vec<String>,
}

/// A capture of ours that nobody looks after.
#[derive(Debug)]
pub struct Found {
    /// Its name.
    pub name: Name,
    /// Its region.
    pub region: Name,
    /// Whose it was.
    pub orphan: Orphan,
}

/// Returns the ids of tasks that want somebody to look after them.
#[must_use]
pub fn left_over(tasks: &[Task], now: Timestamp) -> Vec<String> {
    let is_left = |task: &&Task| {
        let length = u64::from(task.order.limits.seconds) + FORGOTTEN;
        let forgotten = now.since(task.opened).as_secs() > length;
        task.state() == State::NeedsCleanup || (!task.state().is_over() && forgotten)
    };
    tasks.iter().filter(is_left).map(Task::id).collect()
}

/// Looks for captures in every region that has a watcher. `life` says what is known of a session.
///
/// # Errors
/// Fails where not even the watchers can be listed; a region that cannot be looked at is a warning.
pub async fn search(
    gate: &Gate,
    place: &Place,
    tasks: &[Task],
    storage: Option<&Storage>,
    life: &(dyn Fn(&SessionId) -> Life + Sync),
) -> Result<Search, Trouble> {
    let why = "which regions have a network watcher?";
    let watchers: Vec<Watcher> =
        ask(gate, line::watchers(place), why, "looking for network watchers").await?;
    let mut search = Search::default();
    for location in watchers.into_iter().filter_map(|watcher| watcher.location) {
        let Ok(region) = Name::parse(&location) else { continue };
        let why = format!("which captures of ours does {region} have?");
        let doing = format!("listing the captures of {region}");
        match ask::<Vec<Listed>>(gate, line::captures(place, &region), &why, &doing).await {
            Ok(listed) => {
                let told = |one: Listed| (judge(&one, tasks, storage, life), one.name);
                listed.into_iter().map(told).for_each(|(whose, name)| search.take(whose, &name, &region));
            }
            Err(trouble) => search.warnings.push(trouble.text),
        }
    }
    Ok(search)
}

impl Search {
    fn take(&mut self, whose: Whose, name: &str, region: &Name) {
        match (whose, Name::parse(name)) {
            (Whose::Orphan(orphan), Ok(name)) => {
                self.orphans.push(Found { name, region: region.clone(), orphan });
            }
            (Whose::Foreign(_), Ok(name)) => self.foreign.push(name.to_string()),
            (Whose::Orphan(_) | Whose::Foreign(_), Err(_))
            | (Whose::Another | Whose::Task(_) | Whose::Alive(_), _) => {}
        }
    }

    /// Removes the orphans under one consent, and looks once more: what is still there stays. Returns the names of what is gone.
    pub async fn clean(&mut self, gate: &Gate, place: &Place, storage: Option<&Storage>) -> Vec<String> {
        let steps = self.steps(place, storage);
        for at in 0..steps.len() {
            let Some((step, _)) = steps.get(at..).and_then(<[Step]>::split_first) else { break };
            let plan: Vec<String> = steps.iter().skip(at).map(Step::command).collect();
            match gate.run(step, &plan, CancelSignal::never()).await {
                Answer::Ran { .. } => {}
                Answer::Denied { reason, all } => {
                    self.warnings.push(format!("it was denied: {reason}"));
                    if all {
                        break;
                    }
                }
                Answer::Refused { reason } | Answer::NotRun { reason } | Answer::Unknown { reason } => {
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

    fn steps(&self, place: &Place, storage: Option<&Storage>) -> Vec<Step> {
        let mut steps = Vec::new();
        for Found { name, region, orphan } in &self.orphans {
            let why =
                format!("remove what session {}, which is over, left in {region}", orphan.origin.session);
            let step = |what, line| Step { what, end: 0, line, why: why.clone(), room: None };
            steps.push(step(What::Delete, line::capture_delete(place, region, name)));
            if let Some(storage) = storage.filter(|_| orphan.file) {
                let line = line::blob_delete(&storage.account, &storage.container, name);
                steps.push(step(What::DeleteBlob, line));
            }
        }
        steps
    }

    /// Only a read says that something is gone.
    async fn is_gone(
        &mut self,
        found: &Found,
        gate: &Gate,
        place: &Place,
        storage: Option<&Storage>,
    ) -> bool {
        let (why, doing) =
            (format!("is {} gone?", found.name), format!("looking whether {} is gone", found.name));
        let listed = ask::<Vec<Listed>>(gate, line::captures(place, &found.region), &why, &doing).await;
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
struct Reader<'a>(&'a Gate);

#[async_trait]
impl errand::Hands for Reader<'_> {
    async fn run(&self, order: &errand::Order) -> Answer {
        self.0.order(order).await
    }

    async fn wait(&self, until: Timestamp, _why: &str) -> bool {
        tokio::time::sleep(until.since(SystemClock.now())).await;
        true
    }
}

async fn ask<T: DeserializeOwned>(gate: &Gate, line: Line, why: &str, doing: &str) -> Result<T, Trouble> {
    let mut reading = Reading::new(errand::Order::line(line, why), doing);
    let text = errand::drive(&mut reading, &Reader(gate), &SystemClock).await;
    let text = text.unwrap_or_else(|| Err(Trouble::new(format!("{doing} was cut off"))))?;
    read(&text, doing).map_err(|setback| setback.trouble)
}
