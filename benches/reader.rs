//! How long the effective routes and rules of a hundred machines take, read without `az` from a lab that answers as slowly as the platform.
//!
//! The lab answers each request after 0.2 s, and works 2 s on what is in effect at an interface. Asked one after the other that is eight
//! minutes; `GHOST_BENCH_AT_ONCE=1` shows it.
#![expect(clippy::print_stdout, reason = "a benchmark is there to be read")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads its own setting")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use ghost_base::{Clock as _, SystemClock, Timestamp};
use ghost_cloud::operation::{CommandOutcome, CommandRequest, OperationExecutor, ShellExecutor, drive};
use ghost_cloud::probe::effective::{Effective, EffectiveQuery, InterfaceScope};
use ghost_cloud::reader::{NativeReader, Place};
use ghost_cloud::sign_in::{Account, SignInMethod, identity};
use ghost_cloud::{Name, ResourceGroup};
use ghost_lab::LabClock;
use ghost_lab::azure::{Cloud, Description};
use ghost_lab::control::{Lab, LabSetting, Running, Settings};
use ghost_lab::host::{Fabric, Simulated};
use ghost_shell::{CancelSignal, ClipLimits, Identities, Policy, Processes, Shell};
use serde_json::{Value, json};

/// So many machines there are beside the two of the usual estate.
const MACHINES: usize = 100;

/// What each answer, and each operation, takes in milliseconds.
const ANSWER_MS: u64 = 200;
const OPERATION_MS: u64 = 2_000;

/// Makes the usual estate with more machines like the second one.
fn estate() -> Description {
    let mut estate: Value =
        serde_json::from_str(include_str!("../crates/lab/src/azure/default.json")).unwrap();
    let resources = estate.get_mut("resources").and_then(Value::as_array_mut).unwrap();
    let like = |end: &str| {
        resources
            .iter()
            .find(|one| one.get("id").and_then(Value::as_str).unwrap().ends_with(end))
            .unwrap()
            .to_string()
    };
    let (machine, nic) = (like("virtualMachines/tf-dest-vm"), like("networkInterfaces/tf-dest-vm-nic"));
    for number in 0..MACHINES {
        let own = |text: &str| -> Value {
            let named = text
                .replace("tf-dest-vm-nic", &format!("web-{number}-nic"))
                .replace("tf-dest-vm\"", &format!("web-{number}\""));
            serde_json::from_str(&named.replace("10.0.1.5", &format!("10.0.1.{}", 20 + number))).unwrap()
        };
        resources.extend([own(&machine), own(&nic)]);
    }
    Description::parse(estate.to_string().as_bytes()).unwrap()
}

/// Runs commands through the gate.
struct Gate {
    shell: ShellExecutor,
    at_once: usize,
}

#[async_trait]
impl OperationExecutor for Gate {
    async fn run(&self, order: &CommandRequest) -> CommandOutcome {
        self.shell.run(order, CancelSignal::never()).await
    }

    async fn wait(&self, until: Timestamp, _: &str) -> bool {
        tokio::time::sleep(until.since(SystemClock.now())).await;
        true
    }

    fn at_once(&self) -> usize {
        self.at_once
    }
}

#[tokio::main]
async fn main() {
    // `cargo test` builds it and runs nothing.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let clock = LabClock::new(Arc::new(SystemClock));
    let host = Arc::new(Simulated::new(Fabric::default(), 1, clock.clone()));
    let cloud = Cloud::new(estate()).unwrap();
    let lab = Lab::new(cloud, host, clock, Vec::new()).unwrap();
    let settings = Settings {
        port: 0,
        record: folder.path().join("lab.json"),
        program: PathBuf::from("/usr/bin/ghost"),
    };
    let running = Running::open(settings, Arc::clone(&lab)).await.unwrap();
    let delays = json!({"answer_ms": ANSWER_MS, "lro_ms": OPERATION_MS});
    lab.set(LabSetting::read(&delays).unwrap()).await.unwrap();
    let environment: BTreeMap<String, OsString> =
        running.exports().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served = running.serve(async { drop(stopped.await) });
    let measured = async {
        measure(folder.path(), environment).await;
        drop(stop);
    };
    let (served, ()) = tokio::join!(served, measured);
    served.unwrap();
}

async fn measure(folder: &std::path::Path, environment: BTreeMap<String, OsString>) {
    let like = PathBuf::from(environment.get("AZURE_CONFIG_DIR").unwrap());
    let account = Account { method: SignInMethod::Managed { client: None }, subscription: None };
    let data = folder.join("data");
    let reader = identity("reader", &account, &data, Some(&like));
    let place = Place::read(Some(&like), &environment).unwrap();
    let own = reader.folder().unwrap().to_owned();
    let native = NativeReader::new(&account, own, place, Arc::new(Processes)).unwrap();
    let shell = Shell::builder("s1".parse().unwrap(), &data)
        .policy(Arc::new(Policy::builtin().unwrap().clone()))
        .environment(environment)
        .identities(Arc::new(Identities::one(reader)))
        .runner(Arc::new(native))
        .clip(ClipLimits { lines: 1_000_000, tokens: 10_000_000 })
        .build()
        .unwrap();
    let at_once = std::env::var("GHOST_BENCH_AT_ONCE").ok().and_then(|text| text.parse().ok()).unwrap_or(256);
    let gate = Gate { shell: ShellExecutor::new(Arc::new(shell), data.join("evidence")), at_once };
    let place = ResourceGroup { subscription: None, group: Name::parse("nw-forensics-rg").unwrap() };
    let scope = InterfaceScope::Network(Name::parse("forensics-vnet").unwrap());
    let what = [EffectiveQuery::Routes, EffectiveQuery::Rules];
    let begun = Instant::now();
    let found =
        drive(&mut Effective::all(&place, &scope, &what), &gate, &SystemClock).await.unwrap().unwrap();
    let took = begun.elapsed().as_secs_f64();
    let unread = found.iter().flat_map(|one| what.map(|query| one.text(query).is_err()));
    println!(
        "{} interfaces, {} documents, {} not read: {took:.1} s with {at_once} at once",
        found.len(),
        2 * found.len(),
        unread.filter(|unread| *unread).count()
    );
}
