//! The real `az` as two identities against the lab: who reads, who acts, how each gets in, and what the lab saw.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ghost_base::Secret;
use ghost_cloud::permission::{allows, question, read};
use ghost_cloud::sign_in::{Account, Credential, SignInMethod, identity};
use ghost_lab::azure::Verb;
use ghost_shell::{
    Approver, Choice, Decision, Identities, Identity, Limits, Programs, Request, Reviewer, Shell, Status,
};
use serde_json::{Value, json};

use super::call::{document, request};
use super::real_az::program;
use super::stage::Stage;

const READER: &str = "22222222-0000-0000-0000-00000000000a";
const ACTOR: &str = "22222222-0000-0000-0000-00000000000b";
const TENANT: &str = "11111111-1111-1111-1111-111111111111";
const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000001";
const SECRET: &str = "lab-Secret-4711";
const GROUP: &str = "nw-forensics-rg";
const CREATE: &str = "az network nsg rule create -g nw-forensics-rg --nsg-name tf-dest-vm-nsg -n ghost-was-here --priority 4000 --access Deny --protocol Tcp --direction Inbound -o json";

/// Answers as configured, and records as whom it was asked.
#[derive(Default)]
struct Person {
    says_yes: AtomicBool,
    asked: std::sync::Mutex<Vec<String>>,
}

#[async_trait]
impl Approver for Person {
    async fn decide(&self, request: &Request) -> Decision {
        self.asked.lock().unwrap().push(request.identity.clone().unwrap_or_default());
        let choice = if self.says_yes.load(Ordering::SeqCst) {
            Choice::Approve
        } else {
            Choice::Deny { reason: "not now".to_owned() }
        };
        Decision { choice, who: Reviewer::new("ana") }
    }
}

/// A lab, a data folder, a person, and gates with identities.
struct Place {
    stage: Stage,
    data: tempfile::TempDir,
    person: Arc<Person>,
    az: std::path::PathBuf,
}

impl Place {
    async fn new() -> Option<Self> {
        let az = program()?;
        let data = tempfile::tempdir().unwrap();
        Some(Self { stage: Stage::quiet().await, data, person: Arc::default(), az })
    }

    fn identity(&self, role: &str, method: SignInMethod, subscription: Option<&str>) -> Identity {
        let account = Account { method, subscription: subscription.map(str::to_owned) };
        let like = std::path::PathBuf::from(self.stage.export("AZURE_CONFIG_DIR"));
        identity(role, &account, self.data.path(), Some(&like))
    }

    /// A managed identity that reads, a service principal that acts.
    fn two(&self) -> Identities {
        let reader = SignInMethod::Managed { client: Some(READER.to_owned()) };
        let proof = Credential::Secret(Secret::new(SECRET));
        let actor = SignInMethod::Principal { client: ACTOR.to_owned(), tenant: TENANT.to_owned(), proof };
        Identities::two(
            self.identity("reader", reader, Some(SUBSCRIPTION)),
            self.identity("actor", actor, None),
        )
    }

    fn shell(&self, identities: &Arc<Identities>) -> Shell {
        let mut environment: BTreeMap<String, OsString> =
            self.stage.exports.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect();
        environment.insert("HOME".to_owned(), self.data.path().into());
        let programs = BTreeMap::from([("az".to_owned(), self.az.clone())]);
        let timeout = std::time::Duration::from_secs(300);
        Shell::builder("s1".parse().unwrap(), self.data.path())
            .approver(Arc::clone(&self.person) as Arc<dyn Approver>)
            .environment(environment)
            .programs(Programs::new(programs).unwrap())
            .identities(Arc::clone(identities))
            .limits(Limits { timeout, ..Limits::default() })
            .build()
            .unwrap()
    }

    async fn set(&self, what: Value) {
        self.stage.remote().order("set", &what).await.unwrap();
    }

    fn audit(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.data.path().join("audit/s1.jsonl")).unwrap();
        assert!(!text.contains(SECRET), "{text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns how often a sign-in ran.
    fn sign_ins(&self) -> usize {
        self.audit()
            .iter()
            .filter(|record| record["rule"] == "own.sign_in" && record["kind"] == "done")
            .count()
    }

    /// Returns who changed something, as the platform's log has it.
    async fn callers(&self) -> Vec<String> {
        let path = format!(
            "/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values"
        );
        let reported = document(&self.stage.remote().send(None, &request(Verb::Get, &path)).await.unwrap());
        let events = reported["value"].as_array().unwrap();
        events.iter().map(|event| event["caller"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

fn is_there(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|document| document["name"] == GROUP)
}

#[tokio::test]
async fn what_reads_runs_as_the_reader_and_what_was_approved_as_the_actor() {
    let Some(place) = Place::new().await else { return };
    place.set(json!({"grants": {READER: [{"actions": ["*/read"]}]}})).await;
    let identities = Arc::new(place.two());
    let shell = place.shell(&identities);
    let read = shell.run(&format!("az group show -n {GROUP} -o json"), "is it there?").await;
    assert!(is_there(&read.output), "{read:?}");

    let denied = shell.run(CREATE, "block it").await;
    assert_eq!(denied.status, Status::Denied);
    assert!(place.callers().await.is_empty(), "nothing was changed");
    let folder = place.data.path().join("identity/actor");
    assert!(!folder.exists(), "nobody signed the acting identity in for what nobody approved");

    place.person.says_yes.store(true, Ordering::SeqCst);
    let done = shell.run(CREATE, "block it").await;
    assert_eq!(done.exit_code, Some(0), "{done:?}");
    assert_eq!(place.callers().await, [ACTOR], "who did it");
    assert!(!folder.join("secret").exists());
    let asked = place.person.asked.lock().unwrap().clone();
    assert_eq!(
        asked,
        [format!("actor (service principal {ACTOR})"), format!("actor (service principal {ACTOR})")]
    );

    for record in place.audit() {
        let wanted = match (record["verdict"].as_str().unwrap(), record["command"].as_str().unwrap()) {
            ("RISKY", _) => ACTOR,
            ("SAFE", command) if command.contains("service-principal") => ACTOR,
            _ => READER,
        };
        assert!(record["identity"].as_str().unwrap().contains(wanted), "{record}");
    }
    place.stage.down().await;
}

#[tokio::test]
async fn a_lost_sign_in_is_renewed_once_and_only_what_reads_is_tried_again() {
    let Some(place) = Place::new().await else { return };
    let refused = |what: &str| {
        json!({"fault": {"match": what, "status": 401, "times": 1,
            "body": {"error": {"code": "ExpiredAuthenticationToken", "message": "The access token expiry UTC time is earlier than current UTC time."}}}})
    };
    let identities = Arc::new(place.two());
    let shell = place.shell(&identities);
    place.person.says_yes.store(true, Ordering::SeqCst);
    place.set(refused("GET .*resource[gG]roups/nw-forensics-rg\\?")).await;
    let read = shell.run(&format!("az group show -n {GROUP} -o json"), "is it there?").await;
    assert!(is_there(&read.output), "{read:?}");
    assert_eq!(place.sign_ins(), 2);

    place.set(refused("PUT .*ghost-was-here")).await;
    let act = shell.run(CREATE, "block it").await;
    assert_eq!(act.exit_code, Some(1), "{act:?}");
    assert!(act.hint.as_deref().is_some_and(|hint| hint.contains("not tried again")), "{act:?}");
    assert_eq!(place.sign_ins(), 4);
    assert!(place.callers().await.is_empty(), "it was not done behind anybody's back");

    // What an earlier run signed in is not signed in again.
    let later = Arc::new(place.two());
    let read = place.shell(&later).run(&format!("az group show -n {GROUP} -o json"), "is it there?").await;
    assert!(is_there(&read.output), "{read:?}");
    assert_eq!(place.sign_ins(), 4);
    place.stage.down().await;
}

#[tokio::test]
async fn a_folder_of_a_person_is_used_as_it_is_where_it_keeps_to_the_subscription() {
    let Some(place) = Place::new().await else { return };
    let folder = || SignInMethod::Folder(place.stage.export("AZURE_CONFIG_DIR").into());
    let own = Arc::new(Identities::one(place.identity("reader and actor", folder(), Some(SUBSCRIPTION))));
    let read = place.shell(&own).run(&format!("az group show -n {GROUP} -o json"), "is it there?").await;
    assert!(is_there(&read.output), "{read:?}");
    assert_eq!(place.sign_ins(), 0);

    let other = Arc::new(Identities::one(place.identity("reader and actor", folder(), Some(TENANT))));
    let shut = place.shell(&other).run(&format!("az group show -n {GROUP} -o json"), "is it there?").await;
    assert_eq!((shut.status, shut.exit_code), (Status::Error, None), "{shut:?}");
    assert!(shut.reason.contains("another subscription"), "{shut:?}");
    place.stage.down().await;
}

#[tokio::test]
async fn an_identity_hears_what_it_is_granted() {
    let Some(place) = Place::new().await else { return };
    let granted = json!([{"group": GROUP, "actions": ["Microsoft.Network/*/read", "Microsoft.Authorization/*/read"],
        "notActions": ["Microsoft.Network/routeTables/read"]}]);
    place.set(json!({"grants": {READER: granted}})).await;
    let identities = Arc::new(place.two());
    let shell = place.shell(&identities);
    let ask = |who: &Arc<Identity>, group: &str| {
        let (shell, who) = (&shell, Arc::clone(who));
        let command = question(SUBSCRIPTION, group).unwrap();
        async move { shell.run_identity_command(&who, command).await }
    };
    let reported = ask(identities.reader(), GROUP).await;
    let reader = read(&reported.output).unwrap_or_else(|error| panic!("{error}: {reported:?}"));
    assert!(allows(&reader, "Microsoft.Network/networkInterfaces/read"));
    assert!(!allows(&reader, "Microsoft.Network/routeTables/read"));
    assert!(!allows(&reader, "Microsoft.Compute/virtualMachines/read"));
    let actor = read(&ask(identities.actor(), GROUP).await.output).unwrap();
    assert!(allows(&actor, "Microsoft.Compute/virtualMachines/runCommand/action"));
    let elsewhere = ask(identities.reader(), "NetworkWatcherRG").await;
    assert!(elsewhere.stderr.contains("Microsoft.Authorization/permissions/read"), "{elsewhere:?}");
    assert!(place.person.asked.lock().unwrap().is_empty(), "nobody had to be asked");

    let refused = shell.run("az vm list -g nw-forensics-rg -o json", "which are there?").await;
    assert!(refused.stderr.contains("Microsoft.Compute/virtualMachines/read"), "{refused:?}");
    place.stage.down().await;
}
