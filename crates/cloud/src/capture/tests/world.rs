//! A cloud that fits a test: captures, files, and what `az` says of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;

use crate::capture::{
    CaptureRequest, CaptureStep, CaptureTask, CommandOutcome, Filter, Group, Limits, NextStep, StepKind,
    Storage,
};
use crate::{Account, Container, Name};
use ghost_base::Timestamp;

pub(super) const THROTTLED: &str = "ERROR: (TooManyRequests) The request is being throttled.";
pub(super) const BROKEN: &str = "ERROR: (InternalServerError) An error occurred.";
pub(super) const FORBIDDEN: &str = "ERROR: (AuthorizationFailed) The client 'a' does not have authorization to perform action 'Microsoft.Network/networkWatchers/packetCaptures/read' over scope '/s'.";

pub(super) fn order(machines: &[&str]) -> CaptureRequest {
    CaptureRequest {
        group: Group { subscription: None, name: Name::parse("nw-forensics-rg").unwrap() },
        machines: machines.iter().map(|&name| name.to_owned()).collect(),
        storage: Storage {
            account: Account::parse("nwlogs080613").unwrap(),
            container: Container::parse("pktcaptures").unwrap(),
            group: None,
        },
        folder: "/tmp/captures".to_owned(),
        limits: Limits::default(),
        filters: Vec::<Filter>::new(),
    }
}

pub(super) fn task(machines: &[&str]) -> CaptureTask {
    CaptureTask::new("s1".parse().unwrap(), 1, order(machines).check(&[]).unwrap(), at(0)).unwrap()
}

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + seconds * 1_000)
}

pub(super) fn printed(stdout: impl ToString) -> CommandOutcome {
    CommandOutcome::Ran { exit: Some(0), stdout: stdout.to_string(), stderr: String::new() }
}

pub(super) fn failed(stderr: &str) -> CommandOutcome {
    CommandOutcome::Ran { exit: Some(1), stdout: String::new(), stderr: stderr.to_owned() }
}

pub(super) fn denied(all: bool) -> CommandOutcome {
    CommandOutcome::Denied { reason: "not now".to_owned(), all }
}

/// A capture in the cloud.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) machine: String,
    pub(super) path: String,
    pub(super) since: Timestamp,
    pub(super) stopped: bool,
}

/// The cloud.
pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) captures: BTreeMap<String, Session>,
    pub(super) blobs: BTreeSet<String>,
    pub(super) created: BTreeMap<String, u32>,
    pub(super) ran: Vec<(StepKind, String)>,
    pub(super) power: &'static str,
    pub(super) writes: bool,
}

impl World {
    pub(super) fn new() -> Self {
        let theirs = Session {
            machine: "other-vm".to_owned(),
            path: "https://nwlogs080613.blob.core.windows.net/pktcaptures/nightly.cap".to_owned(),
            since: at(-1_000),
            stopped: false,
        };
        Self {
            now: at(0),
            captures: BTreeMap::from([("nightly".to_owned(), theirs)]),
            blobs: BTreeSet::from(["nightly.cap".to_owned()]),
            created: BTreeMap::new(),
            ran: Vec::new(),
            power: "VM running",
            writes: true,
        }
    }

    /// Whether anything of Ghost is there.
    pub(super) fn holds_ours(&self) -> bool {
        let ours = |name: &String| name.starts_with("ghost-");
        self.captures.keys().any(ours) || self.blobs.iter().any(ours)
    }

    pub(super) fn advance(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
    }

    /// Does what the command says, and answers truthfully.
    pub(super) fn run(&mut self, step: &CaptureStep) -> CommandOutcome {
        self.advance(1);
        self.tick();
        let words = step.line.words();
        let value = |option: &str| {
            let at = words.iter().position(|word| word == option)?;
            words.get(at + 1).cloned()
        };
        let name = value("--name").unwrap_or_default();
        self.ran.push((step.what.clone(), name.clone()));
        match &step.what {
            StepKind::Machine => printed(json!({"location": "eastus", "powerState": self.power})),
            StepKind::Extensions => printed(json!([{"publisher": "Microsoft.Azure.NetworkWatcher",
                "typePropertiesType": "NetworkWatcherAgentLinux", "provisioningState": "Succeeded"}])),
            StepKind::Watchers => printed(json!([{"location": "eastus"}])),
            StepKind::Captures | StepKind::Look | StepKind::Confirm => printed(self.list()),
            StepKind::Rival(_) | StepKind::Status => match self.captures.get(&name) {
                None => CommandOutcome::Ran {
                    exit: Some(3),
                    stdout: String::new(),
                    stderr: "ERROR: (NotFound) Resource not found.".to_owned(),
                },
                Some(one) => {
                    let word = if one.stopped { "Stopped" } else { "Running" };
                    printed(json!({"packetCaptureStatus": word, "packetCaptureError": []}))
                }
            },
            StepKind::Account => printed(
                json!({"allowSharedKeyAccess": true, "networkRuleSet": {"defaultAction": "Allow", "bypass": "AzureServices"}}),
            ),
            StepKind::Container => printed(json!({"exists": true})),
            StepKind::Taken | StepKind::ConfirmBlob => printed(json!({"exists": self.blobs.contains(&name)})),
            StepKind::Create => {
                *self.created.entry(name.clone()).or_default() += 1;
                let (machine, path) = (value("--vm").unwrap(), value("--storage-path").unwrap());
                self.captures.insert(name, Session { machine, path, since: self.now, stopped: false });
                printed(json!({"provisioningState": "Succeeded"}))
            }
            StepKind::Stop => {
                if let Some(one) = self.captures.get_mut(&name) {
                    one.since = at(-100_000);
                }
                self.tick();
                printed("")
            }
            StepKind::Size => {
                let prefix = value("--prefix").unwrap();
                let all = self.blobs.iter().filter(|blob| blob.starts_with(&prefix));
                printed(json!(
                    all.map(|blob| json!({"name": blob, "properties": {"contentLength": 24}}))
                        .collect::<Vec<_>>()
                ))
            }
            StepKind::Fetch if self.blobs.contains(&name) => printed(json!({"name": name})),
            StepKind::Fetch => CommandOutcome::Ran {
                exit: Some(3),
                stdout: String::new(),
                stderr: "ERROR: The specified blob does not exist.\nErrorCode:BlobNotFound".to_owned(),
            },
            StepKind::Delete => {
                if self.captures.remove(&name).is_some_and(|one| !one.stopped) && self.writes {
                    self.blobs.insert(format!("{name}.cap"));
                }
                printed("")
            }
            StepKind::DeleteBlob if self.blobs.remove(&name) => printed(""),
            StepKind::DeleteBlob => CommandOutcome::Ran {
                exit: Some(3),
                stdout: String::new(),
                stderr: "ERROR: The specified blob does not exist.\nErrorCode:BlobNotFound".to_owned(),
            },
        }
    }

    fn tick(&mut self) {
        for (name, one) in &mut self.captures {
            let over = self.now.since(one.since) >= Duration::from_secs(60);
            if name.starts_with("ghost-") && over && !one.stopped {
                one.stopped = true;
                if self.writes {
                    self.blobs.insert(format!("{name}.cap"));
                }
            }
        }
    }

    fn list(&self) -> String {
        let all = self.captures.iter().map(|(name, one)| {
            json!({"name": name, "provisioningState": "Succeeded", "storageLocation": {"storagePath": one.path},
                "target": format!("/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers/Microsoft.Compute/virtualMachines/{}", one.machine)})
        });
        json!(all.collect::<Vec<_>>()).to_string()
    }

    /// Drives a task; `meddle` may answer in place of the cloud. Returns how often it waited.
    pub(super) fn drive(
        &mut self,
        task: &mut CaptureTask,
        meddle: &mut dyn FnMut(&mut Self, &CaptureStep) -> Option<CommandOutcome>,
    ) -> u32 {
        let mut waits = 0;
        for _ in 0..500 {
            match task.next(self.now) {
                NextStep::Run(step) => {
                    assert!(task.begin(&step), "{step:?}");
                    let answer = meddle(self, &step).unwrap_or_else(|| self.run(&step));
                    task.on_result(&step.what, step.end, &answer, self.now);
                }
                NextStep::Verify { end, .. } => task.verified(end, Ok((7, false)), self.now),
                NextStep::Analyze(work) => {
                    task.analyzed(analysis(work.iter().map(|work| work.name.clone()).collect()))
                }
                NextStep::Wait { until, .. } => {
                    assert!(until > self.now, "a wait that is over is a busy loop");
                    waits += 1;
                    self.now = until;
                }
                NextStep::Over => return waits,
            }
        }
        panic!("it never ends: {task:#?}");
    }

    /// Returns what ran, without the reads before the beginning.
    pub(super) fn changes(&self) -> Vec<StepKind> {
        let changing = [StepKind::Create, StepKind::Stop, StepKind::Delete, StepKind::DeleteBlob];
        self.ran.iter().map(|(what, _)| what.clone()).filter(|what| changing.contains(what)).collect()
    }
}

pub(super) fn analysis(files: Vec<String>) -> crate::capture::Analysis {
    crate::capture::Analysis { files, findings: Vec::new(), critical: 0, trouble: None }
}
