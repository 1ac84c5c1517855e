//! Facts about commands that a lab answers: through the whole safety shell, as every other runner is driven.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use super::{CAPTURES_ACCOUNT, CAPTURES_CONTAINER, InProcess, memory_lab};
use crate::azure::Description;
use crate::case::{LabAccess, Profile, drawn, inject, reset};
use crate::control::Lab;
use ghost_base::{Clock as _, Timestamp};
use ghost_capture_files::CaptureFolder;
use ghost_cloud::capture::{
    self, Analysis, AnalysisJob, CaptureRequest, CaptureStep, CaptureTask, FileProblem, Instruction, Limits,
    NextStep, SaveError, Storage,
};
use ghost_cloud::guest::{GuestAccess, Hop, Identity, Ssh};
use ghost_cloud::meter::TestType;
use ghost_cloud::meter::run::{self, AccessMethod, Compare, MeasurementRequest, Run, TestSeconds};
use ghost_cloud::operation::{self, CommandOutcome};
use ghost_cloud::probe::{GuestProbe, effective, firewall, qdisc, topology};
use ghost_cloud::{Account, Container, Name, ResourceGroup};
use ghost_shell::{Approver, CancelSignal, Choice, Decision, DenyAll, Policy, Request, Reviewer, Shell};

struct Yes;

#[async_trait]
impl Approver for Yes {
    async fn decide(&self, _request: &Request) -> Decision {
        Decision { choice: Choice::Approve, who: Reviewer::new("ana") }
    }
}

fn place() -> ResourceGroup {
    ResourceGroup { subscription: None, group: Name::parse("nw-forensics-rg").unwrap() }
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn ssh(address: &str) -> Ssh {
    let hop = Hop::new("azureuser", address, 22, Identity::Key("/lab/key".into())).unwrap();
    Ssh::new(hop, None, Path::new("/lab/known_hosts")).unwrap()
}

fn storage() -> Storage {
    Storage {
        account: Account::parse(CAPTURES_ACCOUNT).unwrap(),
        container: Container::parse(CAPTURES_CONTAINER).unwrap(),
        group: None,
    }
}

/// A lab, and a shell whose commands it answers.
struct Fixture {
    lab: Arc<Lab>,
    shell: Arc<Shell>,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lab = memory_lab(1).unwrap();
        let known = [ssh("10.0.1.4"), ssh("10.0.1.5")];
        let carriers = known.iter().filter_map(|ssh| GuestAccess::Ssh(Box::new(ssh.clone())).known());
        let policy = Policy::builtin().unwrap().clone();
        let policy = policy.carried_by(carriers);
        let shell = Shell::builder("s1".parse().unwrap(), folder.path())
            .policy(Arc::new(policy))
            .runner(Arc::new(InProcess::new(Arc::clone(&lab))))
            .captures(folder.path().join("captures"))
            .approver(Arc::new(Yes))
            .build()
            .unwrap();
        Self { lab, shell: Arc::new(shell), folder }
    }

    fn gate(&self) -> operation::ShellExecutor {
        operation::ShellExecutor::new(Arc::clone(&self.shell), self.folder.path().join("evidence"))
    }

    async fn on_guest(&self, text: &str) {
        let script = crate::host::Script {
            text: text.to_owned(),
            arguments: Vec::new(),
            variables: Vec::new(),
            transport: crate::host::ScriptTransport::Ssh,
        };
        assert_eq!(self.lab.host().run("tf-dest-vm", &script).await.unwrap().code, 0);
    }

    async fn carry<E: operation::Operation>(&self, request: &mut E) -> E::Result {
        let executor = GateExecutor { gate: self.gate(), lab: Arc::clone(&self.lab) };
        operation::drive(request, &executor, self.lab.clock()).await.unwrap()
    }
}

fn pass(lab: &Lab, until: Timestamp) {
    lab.clock().pass(until.since(lab.clock().now()));
}

struct GateExecutor {
    gate: operation::ShellExecutor,
    lab: Arc<Lab>,
}

#[async_trait]
impl operation::OperationExecutor for GateExecutor {
    async fn run(&self, order: &operation::CommandRequest) -> CommandOutcome {
        self.gate.run(order, CancelSignal::never()).await
    }

    async fn wait(&self, until: Timestamp, _why: &str) -> bool {
        pass(&self.lab, until);
        true
    }
}

#[tokio::test]
async fn the_topology_and_what_holds_at_an_interface_are_read() {
    let fixture = Fixture::new();
    let seen = fixture.carry(&mut topology::TopologyOperation::new(&place())).await.unwrap();
    assert_eq!(seen.machines.len(), 2, "{seen:?}");
    assert_eq!(seen.owner("10.0.1.5".parse().unwrap()).unwrap().name, "tf-dest-vm-nic");
    let what = [effective::EffectiveQuery::Routes, effective::EffectiveQuery::Rules];
    let mut request = effective::Effective::of_machine(&place(), &name("tf-dest-vm"), None, &what);
    let looked = fixture.carry(&mut request).await.unwrap();
    assert!(looked[0].text(effective::EffectiveQuery::Rules).unwrap().contains("allow-iperf"));
}

#[tokio::test]
async fn a_guest_is_looked_into_by_the_platform_and_by_ssh() {
    let fixture = Fixture::new();
    // More rules than one answer of the platform carries.
    let rule = "for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do iptables -A INPUT -s 192.0.2.$i$j -p tcp --dport 5$i$j -j DROP; done; done";
    fixture.on_guest(rule).await;
    let platform = GuestAccess::Platform { place: place(), machine: name("tf-dest-vm") };
    let mut seen = Vec::new();
    for reach in [platform, GuestAccess::Ssh(Box::new(ssh("10.0.1.5")))] {
        let filters = fixture.carry(&mut GuestProbe::new(reach.clone(), &firewall::WANTED)).await.unwrap();
        seen.push(format!("{:?}", filters.sources.get("iptables-nft")));
        assert!(fixture.carry(&mut GuestProbe::new(reach, &qdisc::WANTED)).await.is_ok());
    }
    assert!(seen.iter().all(|text| text.contains("-s 192.0.2.99/32 -p tcp")), "{seen:?}");
}

struct Captures {
    gate: capture::CaptureShell,
    lab: Arc<Lab>,
}

#[async_trait]
impl capture::CaptureExecutor for Captures {
    async fn run(&self, step: &CaptureStep, plan: &[String]) -> CommandOutcome {
        self.gate.run(step, plan, CancelSignal::never()).await
    }

    async fn verify(&self, file: &str, bytes: u64) -> Result<(u64, bool), FileProblem> {
        CaptureFolder::new(self.gate.captures()).verify(file, bytes).await
    }

    async fn analyze(&self, work: &[AnalysisJob]) -> Analysis {
        CaptureFolder::new(self.gate.captures()).analyze(work).await
    }

    async fn wait(&self, until: Timestamp) -> Instruction {
        pass(&self.lab, until);
        Instruction::GoOn
    }

    fn save(&self, _task: &CaptureTask) -> Result<(), SaveError> {
        Ok(())
    }

    fn tell(&self, _task: &CaptureTask, _next: &NextStep) {}
}

/// Captures on two machines, and returns the files that came of it.
async fn captured(fixture: &Fixture, machines: [&str; 2]) -> Vec<String> {
    let captures = fixture.folder.path().join("captures");
    let order = CaptureRequest {
        group: capture::Group { subscription: None, name: name("nw-forensics-rg") },
        machines: machines.map(str::to_owned).to_vec(),
        storage: storage(),
        folder: captures.display().to_string(),
        limits: Limits { seconds: 20, ..Limits::default() },
        filters: Vec::new(),
    };
    let now = fixture.lab.clock().now();
    let mut task = CaptureTask::new("s1".parse().unwrap(), 1, order.check(&[]).unwrap(), now).unwrap();
    let gate = capture::CaptureShell::new(
        Arc::clone(&fixture.shell),
        fixture.folder.path().join("evidence"),
        captures.clone(),
    );
    let executor = Captures { gate, lab: Arc::clone(&fixture.lab) };
    capture::drive(&mut task, &executor, fixture.lab.clock()).await.unwrap();
    assert!(captures.is_dir(), "{task:#?}");
    assert!(fixture.lab.clock().now().since(now).as_secs() >= 20, "{task:#?}");
    let names = std::fs::read_dir(&captures).unwrap().map(|file| file.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.ends_with(".cap")).collect()
}

#[tokio::test]
async fn a_capture_lives_its_whole_life_without_a_wait() {
    let files = captured(&Fixture::new(), ["tf-source-vm", "tf-dest-vm"]).await;
    assert_eq!(files.len(), 2, "{files:?}");
}

#[tokio::test]
async fn captures_work_in_an_estate_that_was_put_in_the_place_of_another() {
    let fixture = Fixture::new();
    let drawn = drawn(Profile::Hub, 5, 0);
    let described = Description::parse(drawn.estate.to_string().as_bytes()).unwrap();
    LabAccess::replace(&fixture.lab, described).await.unwrap();
    let machines = fixture.lab.cloud().machines();
    let [one, next, ..] = machines.as_slice() else { panic!("{machines:?}") };
    let files = captured(&fixture, [one, next]).await;
    assert_eq!(files.len(), 2, "{files:?}");
}

struct Measuring {
    gate: operation::ShellExecutor,
    lab: Arc<Lab>,
}

#[async_trait]
impl run::MeasurementContext for Measuring {
    async fn run(&self, order: &operation::CommandRequest) -> CommandOutcome {
        self.gate.run(order, CancelSignal::never()).await
    }

    async fn wait(&self, until: Timestamp) {
        pass(&self.lab, until);
    }

    fn is_left(&self) -> bool {
        false
    }

    fn tell(&self, _run: &Run, _doing: &str) {}
}

#[tokio::test]
async fn a_measurement_goes_from_the_first_look_to_the_comparison() {
    let fixture = Fixture::new();
    let store = run::Store::open(fixture.folder.path()).unwrap();
    for access in
        [AccessMethod::Platform, AccessMethod::Ssh(Box::new(ssh("10.0.1.4")), Box::new(ssh("10.0.1.5")))]
    {
        let over_ssh = matches!(access, AccessMethod::Ssh(..));
        let end = |name: &str, address: &str| if over_ssh { address.to_owned() } else { name.to_owned() };
        let ask = MeasurementRequest {
            session: if over_ssh { "m2" } else { "m1" }.parse().unwrap(),
            source: end("tf-source-vm", "10.0.1.4"),
            destination: end("tf-dest-vm", "10.0.1.5"),
            place: Some(place()),
            access,
            test_type: TestType::Both,
            iterations: 3,
            both_directions: false,
            seconds: TestSeconds::default(),
            storage: None,
            folder: store.folder().display().to_string(),
            is_baseline: false,
            compare: Compare::Nothing,
            tolerance: 20.0,
            force: false,
        };
        let mut run = Run::new(ask, fixture.lab.clock().now());
        let measuring = Measuring { gate: fixture.gate(), lab: Arc::clone(&fixture.lab) };
        let state = run::carry_out(&mut run, &measuring, &store, fixture.lab.clock()).await.unwrap();
        assert_eq!(format!("{state:?}"), "Success", "{run:#?}");
    }
}

#[tokio::test]
async fn the_inside_of_a_cluster_is_read_without_a_question() {
    let fixture = Fixture::new();
    let case = "id = \"x\"\ntitle = \"x\"\nprompt = \"x\"\noutcome = [\"LIKELY\"]\n\n[[kubernetes]]\nname = \"shop-aks\"\n";
    inject(&fixture.lab, fixture.folder.path(), case, None, 1).await.unwrap();
    let shell = Shell::builder("s2".parse().unwrap(), fixture.folder.path())
        .runner(Arc::new(InProcess::new(Arc::clone(&fixture.lab))))
        .approver(Arc::new(DenyAll))
        .build()
        .unwrap();
    for kinds in ["pods,services,endpointslices,namespaces", "networkpolicies"] {
        let line = format!("kubectl --context shop-aks get {kinds} -A -o json");
        let read = shell.run(&line, "look").await;
        assert_eq!(read.exit_code, Some(0), "{read:?}");
    }
    reset(&fixture.lab, fixture.folder.path()).await.unwrap();
    let gone = shell.run("kubectl --context shop-aks get pods -A -o json", "look").await;
    assert_eq!(gone.exit_code, Some(1), "{gone:?}");
}

#[tokio::test]
async fn what_asks_this_machine_finds_no_network_and_starts_nothing() {
    let fixture = Fixture::new();
    let ping = fixture.shell.run("ping -c 1 10.0.1.5", "look").await;
    assert_eq!(ping.exit_code, Some(2), "{ping:?}");
    let mark = fixture.folder.path().join("mark");
    let touch = fixture.shell.run(&format!("touch {}", mark.display()), "look").await;
    assert_eq!(touch.exit_code, Some(127), "{touch:?}");
    assert!(!mark.exists());
}
