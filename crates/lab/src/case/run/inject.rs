//! A case, injected; and everything as it was.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::access::{LabAccess, SnapshotAction};
use super::baseline;
use super::error::InjectError;
use super::journal::{Entry, Journal};
use super::perform::perform;
use crate::azure::{Description, LoggedFlow};
use crate::case::model::Case;
use crate::case::plan::{PlanAction, PlanStep, View, lift, plan, stage};
use crate::case::problem::Problems;
use crate::host::{ConnectOutcome, Protocol};
use crate::kubernetes::Cluster;
use ghost_base::Timestamp;

/// What was injected.
#[derive(Debug, Clone, PartialEq)]
pub struct Injected {
    pub case: Case,
    /// The phase that is there, from 1.
    pub phase: usize,
    /// What was done, in order.
    pub done: Vec<String>,
    /// The case that had to go before.
    pub before: Option<String>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
}

/// What is there.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveCase {
    /// The case; nothing where the journal is about one that cannot be read any more.
    pub case: Option<Case>,
    /// The phase, from 1.
    pub phase: usize,
    /// Whether all of it is there.
    pub done: bool,
    /// Since when, by the lab's clock.
    pub at: String,
}

/// Injects a case, up to a phase. Whatever was injected before goes first; a later phase of what is there only takes faults away.
///
/// # Errors
/// Fails where the case does not fit the estate, and where a step fails; then everything is as it was before the case.
pub async fn inject(
    lab: &dyn LabAccess,
    data: &Path,
    text: &str,
    estate: Option<&Value>,
    phase: usize,
) -> Result<Injected, InjectError> {
    let case = Case::read(text).map_err(InjectError::Case)?;
    let has = case.phases.len();
    if phase == 0 || phase > has {
        return Err(InjectError::Phase { phase, has });
    }
    let about = estate.map(described).transpose().map_err(InjectError::Case)?;
    let journal = Journal::below(data);
    let disk = |error| InjectError::Disk(data.to_owned(), error);
    let found = journal.read().map_err(disk)?;
    if let Some(entry) = found
        .as_ref()
        .filter(|entry| entry.done && entry.case == text && entry.phase < phase && estate.is_none())
    {
        // Whoever changes the lab may do everything there.
        lab.close(&[]);
        return onward(lab, data, &journal, case, entry.clone(), phase).await;
    }
    // What is impossible is reported before anything is removed; after that it is checked again.
    let before = found.map(|entry| title(&entry.case));
    if before.is_none() && about.is_none() {
        plan(&case, &View::new(lab.documents())).map_err(InjectError::Case)?;
    }
    reset(lab, data).await?;
    let files: Vec<PathBuf> = case.baselines.iter().map(baseline::file).collect();
    if let Some(taken) = files.iter().map(|file| data.join(file)).find(|path| path.exists()) {
        return Err(InjectError::Baseline(taken));
    }
    lab.snapshot(SnapshotAction::Save).await.map_err(|error| InjectError::Reset(error.to_string()))?;
    let mut entry = Entry {
        done: false,
        phase,
        at: lab.now().to_string(),
        case: text.to_owned(),
        files: files.clone(),
        steps: Vec::new(),
    };
    journal.write(&entry).map_err(disk)?;
    match steps(lab, data, &case, about, phase).await {
        Ok((done, undo)) => {
            lab.close(&case.closed);
            lab.blob_role(case.blob_role);
            entry.done = true;
            entry.steps = undo;
            journal.write(&entry).map_err(disk)?;
            Ok(Injected { case, phase, done, before, files })
        }
        Err(failed) => Err(back(lab, data, failed).await),
    }
}

/// Takes away what later phases take away from what is there.
async fn onward(
    lab: &dyn LabAccess,
    data: &Path,
    journal: &Journal,
    case: Case,
    mut entry: Entry,
    phase: usize,
) -> Result<Injected, InjectError> {
    let disk = |error| InjectError::Disk(data.to_owned(), error);
    let view = View::new(lab.documents());
    let already = fixed(&case, entry.phase);
    let from = entry.phase;
    entry.done = false;
    journal.write(&entry).map_err(disk)?;
    let mut done = Vec::new();
    let gone: BTreeSet<usize> = fixed(&case, phase);
    let run = async {
        for step in lift(&entry.steps, &gone)
            .into_iter()
            .filter(|step| !step.faults.iter().all(|fault| already.contains(fault)))
        {
            undo(lab, data, step).await?;
            done.push(format!("{} is taken away", step.what));
        }
        on_stage(lab, &case, &view, &gone).await
    };
    let ran = run.await;
    if let Err(failed) = ran {
        return Err(back(lab, data, failed).await);
    }
    lab.set_clusters(clusters(&case, phase));
    logged(lab, &case, phase).await;
    lab.close(&case.closed);
    entry.done = true;
    entry.phase = phase;
    journal.write(&entry).map_err(disk)?;
    let before = Some(format!("{} (phase {from})", case.id));
    Ok(Injected { case, phase, done, before, files: entry.files })
}

async fn steps(
    lab: &dyn LabAccess,
    data: &Path,
    case: &Case,
    about: Option<Description>,
    phase: usize,
) -> Result<(Vec<String>, Vec<PlanStep>), InjectError> {
    let mut done = Vec::new();
    if let Some(about) = about {
        let replaced = lab.replace(about).await;
        replaced.map_err(|error| InjectError::Step {
            step: "the estate of the case".to_owned(),
            why: error.to_string(),
        })?;
        done.push("the estate of the case".to_owned());
    }
    let view = View::new(lab.documents());
    let plan = plan(case, &view).map_err(InjectError::Case)?;
    let staged = lab.host().stage(plan.stage.clone()).await;
    staged.map_err(|error| InjectError::Step {
        step: "services and traffic".to_owned(),
        why: error.to_string(),
    })?;
    for step in &plan.steps {
        for act in &step.acts {
            let performed = perform(lab, data, act).await;
            performed.map_err(|why| InjectError::Step { step: step.what.clone(), why })?;
        }
        done.push(step.what.clone());
    }
    if !case.clusters.is_empty() {
        lab.set_clusters(clusters(case, phase));
        let named = case.clusters.iter().map(|cluster| format!("the inside of the cluster {}", cluster.name));
        done.extend(named);
    }
    logged(lab, case, 1).await;
    let gone = fixed(case, phase);
    if !gone.is_empty() {
        for step in lift(&plan.steps, &gone) {
            undo(lab, data, step).await?;
            done.push(format!("{} is taken away", step.what));
        }
        on_stage(lab, case, &View::new(lab.documents()), &gone).await?;
    }
    if phase > 1 {
        logged(lab, case, phase).await;
    }
    let only_undo = plan.steps.into_iter().map(|step| PlanStep { acts: Vec::new(), ..step });
    Ok((done, only_undo.collect()))
}

/// Writes the flows of before of a phase into the flow logs that are on, as the guests answer them now.
async fn logged(lab: &dyn LabAccess, case: &Case, phase: usize) {
    let (view, now) = (View::new(lab.documents()), lab.now());
    let before = |minutes: u16| Timestamp::from_millis(now.as_millis() - i64::from(minutes) * 60_000);
    let mut flows = Vec::new();
    for own in case.logged.iter().filter(|own| own.phase == phase) {
        let address = own.to.parse().ok().or_else(|| view.address(&own.to));
        let Some(to) = address else { continue };
        let dialed = lab.host().dial(&own.from, to, own.protocol, own.port).await;
        flows.push(LoggedFlow {
            machine: own.from.clone(),
            to,
            is_udp: own.protocol == Protocol::Udp,
            port: own.port,
            rule: own.rule.clone(),
            since: before(own.since),
            until: before(own.until),
            // A refusal is a packet too.
            is_answered: matches!(dialed, Ok(ConnectOutcome::Open(_) | ConnectOutcome::Refused)),
        });
    }
    if !flows.is_empty() {
        lab.log_flows(&flows);
    }
}

async fn undo(lab: &dyn LabAccess, data: &Path, step: &PlanStep) -> Result<(), InjectError> {
    for act in &step.undo {
        let undone = perform(lab, data, act).await;
        // Somebody may have repaired it by hand, as the prompt of a later phase says.
        if let Err(why) = undone
            && !matches!(act, PlanAction::Run { .. })
        {
            return Err(InjectError::Step { step: format!("{} is taken away", step.what), why });
        }
    }
    Ok(())
}

async fn on_stage(
    lab: &dyn LabAccess,
    case: &Case,
    view: &View,
    gone: &BTreeSet<usize>,
) -> Result<(), InjectError> {
    let (stage, _) = stage(case, view, gone);
    let staged = lab.host().stage(stage).await;
    staged.map_err(|error| InjectError::Step {
        step: "services and traffic".to_owned(),
        why: error.to_string(),
    })
}

/// Returns the clusters of a case as they are in a phase.
pub(super) fn clusters(case: &Case, phase: usize) -> Vec<Cluster> {
    let fixes = case.phases.iter().take(phase).flat_map(|phase| &phase.fixes);
    let gone: BTreeSet<&str> = fixes.map(String::as_str).collect();
    case.clusters.iter().map(|cluster| cluster.cluster(&gone)).collect()
}

/// Returns the faults that are gone in a phase.
fn fixed(case: &Case, phase: usize) -> BTreeSet<usize> {
    let fixes: BTreeSet<&String> = case.phases.iter().take(phase).flat_map(|phase| &phase.fixes).collect();
    let faults = case.faults.iter().enumerate();
    faults
        .filter(|(_, placed)| placed.id.as_ref().is_some_and(|id| fixes.contains(id)))
        .map(|(at, _)| at)
        .collect()
}

/// Makes everything as it was, and tells what failed.
async fn back(lab: &dyn LabAccess, data: &Path, failed: InjectError) -> InjectError {
    match (reset(lab, data).await, failed) {
        (Ok(_), failed) => failed,
        (Err(back), InjectError::Step { step, why }) => {
            InjectError::Stuck { step, why, back: back.to_string() }
        }
        (Err(back), failed) => InjectError::Stuck {
            step: "the case".to_owned(),
            why: failed.to_string(),
            back: back.to_string(),
        },
    }
}

/// Makes everything as it was before what is injected, whether that was completed or not. Returns what that was; without one
/// nothing is done.
///
/// # Errors
/// Fails where the guests cannot be made as they were.
pub async fn reset(lab: &dyn LabAccess, data: &Path) -> Result<Option<String>, InjectError> {
    let journal = Journal::below(data);
    let disk = |error| InjectError::Disk(data.to_owned(), error);
    let Some(entry) = journal.read().map_err(disk)? else { return Ok(None) };
    lab.snapshot(SnapshotAction::Restore).await.map_err(|error| InjectError::Reset(error.to_string()))?;
    journal.clear(data, &entry).map_err(disk)?;
    Ok(Some(title(&entry.case)))
}

/// Takes away what a lab that is gone has left in the data folder. Returns what it had injected.
///
/// # Errors
/// Fails where the disk does not let it go.
pub fn clean(data: &Path) -> Result<Option<String>, InjectError> {
    let journal = Journal::below(data);
    let disk = |error| InjectError::Disk(data.to_owned(), error);
    let Some(entry) = journal.read().map_err(disk)? else { return Ok(None) };
    journal.clear(data, &entry).map_err(disk)?;
    Ok(Some(title(&entry.case)))
}

/// Returns what is injected.
///
/// # Errors
/// Fails where the journal cannot be read.
pub fn active_case(data: &Path) -> Result<Option<ActiveCase>, InjectError> {
    let found = Journal::below(data).read().map_err(|error| InjectError::Disk(data.to_owned(), error))?;
    Ok(found.map(|entry| ActiveCase {
        case: Case::read(&entry.case).ok(),
        phase: entry.phase,
        done: entry.done,
        at: entry.at,
    }))
}

fn title(text: &str) -> String {
    Case::read(text).map_or_else(
        |_| "a case that cannot be read".to_owned(),
        |case| format!("{}: {}", case.id, case.title),
    )
}

fn described(estate: &Value) -> Result<Description, Problems> {
    let read: Result<Description, serde_json::Error> = serde_json::from_value(estate.clone());
    read.map_err(|error| {
        let what = format!("the estate of the case cannot be read: {error}");
        crate::case::problem::Problem::new(what, "it has the form of `ghost lab up --estate FILE`").into()
    })
}

impl Injected {
    /// Returns it as a document.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let phase = self.phase.checked_sub(1).and_then(|at| self.case.phases.get(at));
        json!({
            "id": self.case.id, "title": self.case.title, "phase": self.phase, "phases": self.case.phases.len(),
            "prompt": phase.map(|phase| &phase.prompt), "expected": phase.map(|phase| &phase.expected),
            "may": phase.map(|phase| &phase.may), "outcome": phase.map(|phase| &phase.outcome),
            "done": self.done, "before": self.before, "files": self.files, "notes": self.case.notes,
        })
    }
}
