//! What has to hold of a session however it was interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ghost_investigate::event::{Content, Event, Recorded, Reply, read};
use ghost_investigate::state::State;
use ghost_shell::audit::verify;
use ghost_store::Store;
use serde_json::Value;

use super::plot::{NAMES, patient, runs, session};
use super::same::same;

/// A session that came to its end.
pub(super) struct End {
    pub(super) events: Vec<Recorded>,
    pub(super) state: State,
    /// The report as it was delivered.
    pub(super) report: String,
    audit: Vec<u8>,
    runs: [usize; NAMES.len()],
}

impl End {
    /// Reads what there is. The chain of the ledger is checked as well.
    pub(super) async fn read(folder: &Path, store: &dyn Store) -> Self {
        let lines = patient(async || store.read(&session(), 0).await).await;
        let events = read(&session(), lines.iter().map(String::as_str)).unwrap();
        let state = State::fold(&session(), &events).unwrap();
        Self {
            events,
            state,
            report: std::fs::read_to_string(folder.join("rca.md")).unwrap(),
            audit: std::fs::read(folder.join("data/audit/crash.jsonl")).unwrap(),
            runs: NAMES.map(|name| runs(folder, name)),
        }
    }

    /// Proves that nothing ran twice, without a consent or unseen, and that the end is that of the unbroken session.
    pub(super) fn prove(&self, at: &str, whole: &Self) {
        assert_eq!(self.runs, [1, 0, 1, 0], "{at}: runs of {NAMES:?}");
        assert!(self.state.concluded.is_some(), "{at}");
        assert_eq!(self.state.delivered.len(), 1, "{at}");
        consented(at, &self.events);
        self.audited(at);
        same(at, self, whole);
    }

    fn audited(&self, at: &str) {
        let head = self.state.audit_head().unwrap();
        let found = verify(&self.audit[..], Some(head)).unwrap();
        assert!(found.ok, "{at}: {found:?}");
        let text = String::from_utf8_lossy(&self.audit);
        let records: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        for (name, runs) in NAMES.iter().zip(self.runs) {
            let started = |record: &&Value| {
                let command = record["command"].as_str().unwrap_or_default();
                record["kind"] == "intent" && command.contains(&format!(">> {name};"))
            };
            let intents = records.iter().filter(started).count();
            assert!(intents >= runs, "{at}: {intents} intents for {runs} runs of {name}");
        }
    }
}

/// Follows every command that asks through the ledger.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other events say nothing about consent")]
fn consented(at: &str, events: &[Recorded]) {
    let (mut asked, mut approved, mut used) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    let (mut judged, mut may, mut runs) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    let mut unknown = BTreeSet::new();
    for recorded in events {
        let Content::Known(event) = &recorded.content else { panic!("{at}: {recorded:?}") };
        match event.as_ref() {
            Event::Classified(one) => drop(judged.insert(one.step, (one.verdict == "RISKY", one.digest))),
            Event::ApprovalRequested(one) => {
                assert_eq!(one.outcome_unknown, unknown.remove(&one.step), "{at}: {one:?}");
                asked.insert(one.approval.clone(), (one.step, one.digest));
            }
            Event::ApprovalDecided(one) if one.answer == Reply::Approve => {
                approved.insert(one.approval.clone());
            }
            Event::Intent(one) if judged.get(&one.step).unwrap().0 => {
                let approval = one.approval.clone().unwrap();
                assert!(approved.contains(&approval), "{at}: no consent before {one:?}");
                assert_eq!(
                    asked.get(&approval),
                    Some(&(one.step, one.digest)),
                    "{at}: another command than was shown"
                );
                assert_eq!(
                    judged.get(&one.step).unwrap().1,
                    one.digest,
                    "{at}: another command than was judged"
                );
                assert!(used.insert(approval), "{at}: a consent used twice by {one:?}");
                may.insert(one.step);
            }
            Event::Executing(one) if judged.get(&one.step).unwrap().0 => {
                assert!(may.remove(&one.step), "{at}: no intent before {one:?}");
                assert!(runs.insert(one.step), "{at}: it runs while it may run already: {one:?}");
            }
            Event::Done(one) => drop(runs.remove(&one.step)),
            Event::Unknown(one) => {
                assert!(runs.remove(&one.step), "{at}: {one:?}");
                unknown.insert(one.step);
            }
            _ => {}
        }
    }
    assert!(runs.is_empty() && unknown.is_empty(), "{at}: lost silently: {runs:?} {unknown:?}");
}
