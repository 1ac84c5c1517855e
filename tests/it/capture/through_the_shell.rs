//! A pair of captures from the first look to the removal, with answers of `az` as it gives them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{Clock as _, ManualClock, Timestamp};
use ghost_capture_files::CaptureFolder;
use ghost_cloud::capture::{
    Analysis, AnalysisJob, CaptureExecutor, CaptureRequest, CaptureShell, CaptureStep, CaptureTask,
    CommandOutcome, Ended, FileProblem, Group, Instruction, Limits, NextStep, SaveError, State, Storage,
    TaskStore, drive,
};
use ghost_cloud::{Account, Container, Name};
use ghost_shell::{
    Approver, CancelSignal, Choice, Decision, Impact, Known, Policy, Recorded, Request, Reviewer, Shell,
};
use serde_json::json;

/// Agrees to what contains none of some words, and notes what it was asked.
struct Human {
    never: &'static str,
    asked: Arc<Mutex<Vec<Vec<String>>>>,
    impacts: Arc<Mutex<Vec<Option<Impact>>>>,
}

#[async_trait]
impl Approver for Human {
    async fn decide(&self, request: &Request) -> Decision {
        let mut commands: Vec<String> = request.plan.iter().map(|step| step.command.clone()).collect();
        if commands.is_empty() {
            commands.push(request.command.clone());
        }
        let denied = !self.never.is_empty() && commands.iter().any(|command| command.contains(self.never));
        self.asked.lock().unwrap().push(commands);
        self.impacts.lock().unwrap().push(request.ruling.impact);
        let choice = if denied { Choice::Deny { reason: "keep it".to_owned() } } else { Choice::Approve };
        Decision { choice, who: Reviewer::new("ana") }
    }
}

/// An executor whose clock jumps to the time it waits for.
struct FakeExecutor {
    gate: CaptureShell,
    store: TaskStore,
    clock: ManualClock,
}

#[async_trait]
impl CaptureExecutor for FakeExecutor {
    async fn run(&self, step: &CaptureStep, plan: &[String]) -> CommandOutcome {
        self.clock.advance(Duration::from_secs(1));
        self.gate.run(step, plan, CancelSignal::never()).await
    }

    async fn verify(&self, file: &str, bytes: u64) -> Result<(u64, bool), FileProblem> {
        CaptureFolder::new(self.gate.captures()).verify(file, bytes).await
    }

    async fn analyze(&self, work: &[AnalysisJob]) -> Analysis {
        CaptureFolder::new(self.gate.captures()).analyze(work).await
    }

    async fn wait(&self, until: Timestamp) -> Instruction {
        self.clock.advance(until.since(self.clock.now()));
        Instruction::GoOn
    }

    fn save(&self, task: &CaptureTask) -> Result<(), SaveError> {
        self.store.save(task).map_err(|error| SaveError(error.to_string()))
    }

    fn tell(&self, _task: &CaptureTask, _next: &NextStep) {}
}

/// What the real `az` printed, but for names.
fn recordings(size: usize) -> String {
    let machine = json!({"location": "eastus", "powerState": "VM running", "provisioningState": "Succeeded",
        "resources": [{"id": "/subscriptions/00000000-0000-0000-0000-000000000001/x"}]});
    let extension = json!([{"autoUpgradeMinorVersion": true, "name": "NetworkWatcherAgentLinux", "provisioningState": "Succeeded",
        "publisher": "Microsoft.Azure.NetworkWatcher", "type": "Microsoft.Compute/virtualMachines/extensions",
        "typeHandlerVersion": "1.4", "typePropertiesType": "NetworkWatcherAgentLinux"}]);
    let watcher = json!([{"location": "eastus", "name": "NetworkWatcher_eastus", "provisioningState": "Succeeded", "runningOperationIds": []}]);
    let account = json!({"allowSharedKeyAccess": true, "customDomain": null, "networkRuleSet": {"bypass": "AzureServices", "defaultAction": "Allow",
        "ipRules": [], "resourceAccessRules": null}});
    let status = json!({"captureStartTime": "2025-06-02T09:31:00.0000000Z", "packetCaptureError": [], "packetCaptureStatus": "Stopped",
        "stopReason": "TimeExceeded"});
    // A list that is longer than what a model is shown.
    let others: Vec<_> = (0..300)
        .map(|at| {
            json!({"name": format!("nightly-{at}"), "provisioningState": "Succeeded",
                "target": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/other"})
        })
        .collect();
    let blob =
        |end: &str| json!([{"name": format!("ghost-s1-1-{end}.cap"), "properties": {"contentLength": size}}]);
    let lines = [
        ("az vm show .*", machine),
        ("az vm extension list .*", extension),
        ("az network watcher list .*", watcher),
        ("az network watcher packet-capture list .*", json!(others)),
        ("az network watcher packet-capture show-status .*", status),
        ("az network watcher packet-capture create .*", json!({"provisioningState": "Succeeded"})),
        ("az storage account show .*", account),
        ("az storage container exists .*", json!({"exists": true})),
        ("az storage blob exists .*", json!({"exists": false})),
        ("az storage blob list .*src.*", blob("src")),
        ("az storage blob list .*", blob("dst")),
        ("az storage blob download .*", json!({"name": "x"})),
        ("az (network watcher packet-capture|storage blob) delete .*", json!(null)),
    ];
    let line = |(command, answer): (&str, serde_json::Value)| {
        let stdout = if answer.is_null() { String::new() } else { answer.to_string() };
        json!({"command": command, "origin": "az 2.91.0", "stdout": stdout}).to_string()
    };
    lines.map(line).join("\n")
}

struct Ran {
    task: CaptureTask,
    asked: Vec<Vec<String>>,
    impacts: Vec<Option<Impact>>,
    store: TaskStore,
    captures: PathBuf,
    _place: tempfile::TempDir,
}

/// Returns what a session knows whose account of captures is configured.
pub(super) fn known(account: &str) -> Known {
    let mut known = Known::default();
    known.add_words(account);
    known
}

async fn run(never: &'static str) -> Ran {
    let place = tempfile::tempdir().unwrap();
    let (data, captures) = (place.path().join("data"), place.path().join("captures"));
    fs::create_dir(&captures).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pcap/tcp_trouble.pcap");
    let content = fs::read(fixture).unwrap();
    // The recording fetches nothing: what it would fetch is there.
    for end in ["src", "dst"] {
        fs::write(captures.join(format!("ghost-s1-1-{end}.cap")), &content).unwrap();
    }
    let (asked, impacts) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let runner = Recorded::parse(&recordings(content.len()), Duration::ZERO).unwrap();
    let shell = Shell::builder("s1".parse().unwrap(), &data)
        .runner(Arc::new(runner))
        .approver(Arc::new(Human { never, asked: Arc::clone(&asked), impacts: Arc::clone(&impacts) }))
        .policy(Arc::new(Policy::builtin().unwrap().clone().captures_in(&captures)))
        .captures(captures.clone())
        .known(known("logs1"))
        .build()
        .unwrap();
    let store = TaskStore::open(&data).unwrap();
    let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000));
    let order = CaptureRequest {
        group: Group { subscription: None, name: Name::parse("rg").unwrap() },
        machines: vec!["web-1".to_owned(), "db-1".to_owned()],
        storage: Storage {
            account: Account::parse("logs1").unwrap(),
            container: Container::parse("captures").unwrap(),
            group: None,
        },
        folder: captures.to_string_lossy().into_owned(),
        limits: Limits::default(),
        filters: Vec::new(),
    };
    let mut task =
        CaptureTask::new("s1".parse().unwrap(), 1, order.check(&[]).unwrap(), clock.now()).unwrap();
    let gate = CaptureShell::new(Arc::new(shell), data.join("evidence"), captures.clone());
    let executor = FakeExecutor { gate, store: store.clone(), clock };
    assert_eq!(drive(&mut task, &executor, &executor.clock).await, Ok(Ended::Over), "{task:#?}");
    let (asked, impacts) = (asked.lock().unwrap().clone(), impacts.lock().unwrap().clone());
    Ran { task, asked, impacts, store, captures, _place: place }
}

#[tokio::test]
async fn a_pair_asks_once_to_begin_and_once_to_clean_up() {
    let ran = run("").await;
    assert_eq!(ran.task.state(), State::Done, "{:#?}", ran.task);
    let begins: Vec<usize> = ran.asked.iter().map(Vec::len).collect();
    assert_eq!(begins, [2, 4], "fetching into the configured folder asks nobody: {:#?}", ran.asked);
    assert_eq!(ran.impacts, [Some(Impact::Measurement); 2], "files go with their captures");
    assert!(ran.asked[0].iter().all(|command| command.contains("packet-capture create")));
    assert!(ran.asked[0].iter().all(|command| command.contains("--capture-size 256")));
    let kept = ran.store.load("s1-1").unwrap();
    assert_eq!(kept, ran.task, "what is kept is what is known");
}

#[tokio::test]
async fn reports_lie_in_the_captures_folder_the_source_first() {
    let ran = run("").await;
    for end in ["src", "dst"] {
        for file in ["_semantic.json", "_forensic_report.md"] {
            assert!(ran.captures.join(format!("ghost-s1-1-{end}{file}")).is_file(), "{end}{file}");
        }
    }
    let text = fs::read_to_string(ran.captures.join("ghost-s1-1_comparison.md")).unwrap();
    let place = |end: &str| text.find(&format!("ghost-s1-1-{end}.cap")).unwrap();
    assert!(place("src") < place("dst"));
}

#[tokio::test]
async fn a_denied_clean_up_needs_cleanup_and_is_found_again() {
    let ran = run("delete").await;
    assert_eq!(ran.task.state(), State::NeedsCleanup);
    assert_eq!(ran.asked.len(), 2, "after one no nobody is asked again: {:#?}", ran.asked);
    let (tasks, problems) = ran.store.all().unwrap();
    assert!(problems.is_empty());
    assert_eq!(
        tasks.iter().map(|task| (task.id(), task.state())).collect::<Vec<_>>(),
        [("s1-1".to_owned(), State::NeedsCleanup)]
    );
}

#[tokio::test]
async fn a_denied_beginning_leaves_nothing_and_asks_once() {
    let ran = run("create").await;
    assert_eq!((ran.task.state(), ran.asked.len()), (State::Failed, 1));
}

#[test]
fn one_process_works_on_a_task() {
    let place = tempfile::tempdir().unwrap();
    let store = TaskStore::open(place.path()).unwrap();
    let held = store.hold("s1-1").unwrap();
    assert!(held.is_some() && store.hold("s1-1").unwrap().is_none());
    drop(held);
    assert!(store.hold("s1-1").unwrap().is_some());
}

#[test]
fn a_word_is_taken_once() {
    let place = tempfile::tempdir().unwrap();
    let store = TaskStore::open(place.path()).unwrap();
    store.leave("s1-1", Instruction::Stop).unwrap();
    assert_eq!((store.word("s1-1"), store.word("s1-1")), (Instruction::Stop, Instruction::GoOn));
    assert!(store.leave("../x", Instruction::Stop).is_err() && store.load("../x").is_err());
}
