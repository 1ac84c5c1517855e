//! A lab on a port, captures that go there through the whole shell, and a clock that nobody waits for.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ghost_base::{Clock as _, SystemClock, Timestamp};
use ghost_cloud::capture::{CaptureRequest, CaptureShell, CaptureTask, Group, Limits, Storage, TaskStore};
use ghost_cloud::{Account, Container, Name};
use ghost_lab::LabClock;
use ghost_lab::azure::{Body, Cloud, Description, Request as Asked, Verb};
use ghost_lab::control::{Lab, Remote, Running, Settings};
use ghost_lab::host::Simulated;
use ghost_shell::{Programs, Shell};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::executor::{FakeExecutor, Human};
use super::through_the_shell::known as known_account;

pub(super) const GROUP: &str =
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg";
pub(super) const WATCHER: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/NetworkWatcherRG/providers/Microsoft.Network/networkWatchers/NetworkWatcher_eastus";
pub(super) const ACCOUNT: &str = "nwlogs080613";
pub(super) const CONTAINER: &str = "pktcaptures";
pub(super) const ONE: [&str; 1] = ["tf-dest-vm"];
pub(super) const PAIR: [&str; 2] = ["tf-source-vm", "tf-dest-vm"];

/// A lab that listens, and the folders of somebody who works on it.
pub(super) struct Stage {
    pub(super) folder: TempDir,
    clock: LabClock,
    exports: Vec<(&'static str, String)>,
    behind: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

impl Stage {
    /// Brings one up; `az` is the one that `ghost lab up` brings, unless another one is named.
    pub(super) async fn up(az: Option<&Path>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let cloud = Cloud::new(Description::usual().unwrap()).unwrap();
        let clock = LabClock::new(Arc::new(SystemClock));
        let host = Simulated::new(cloud.fabric(), 1, clock.clone());
        let lab = Lab::new(cloud, Arc::new(host), clock.clone(), Vec::new()).unwrap();
        let settings = Settings {
            port: 0,
            record: folder.path().join("lab.json"),
            program: env!("CARGO_BIN_EXE_ghost").into(),
        };
        let running = Running::open(settings, Arc::clone(&lab)).await.unwrap();
        let exports = running.exports();
        let behind = az.map_or_else(|| running.programs().join("az"), Path::to_owned);
        let (stop, stopped) = oneshot::channel::<()>();
        let served = async move {
            running.serve(async { drop(stopped.await) }).await.unwrap();
        };
        #[expect(clippy::disallowed_methods, reason = "the stage joins what it starts")]
        let served = tokio::spawn(served);
        let stage = Self { folder, clock, exports, behind, stop: Some(stop), served };
        stage.az("");
        fs::create_dir(stage.captures()).unwrap();
        let talk = json!({"machine": "tf-source-vm", "to": "10.0.1.5", "protocol": "icmp", "port": 0, "every_ms": 1000});
        stage.remote().order("stage", &json!({"talks": [talk]})).await.unwrap();
        stage
    }

    /// Puts a script before `az`, which is `$az` to it.
    pub(super) fn az(&self, text: &str) {
        let script = format!("#!/bin/sh\naz='{}'\n{text}\nexec \"$az\" \"$@\"\n", self.behind.display());
        fs::write(self.program(), script).unwrap();
        fs::set_permissions(self.program(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(super) fn exports(&self) -> &[(&'static str, String)] {
        &self.exports
    }

    pub(super) fn program(&self) -> PathBuf {
        self.folder.path().join("az")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(super) fn captures(&self) -> PathBuf {
        self.folder.path().join("captures")
    }

    pub(super) fn store(&self) -> TaskStore {
        TaskStore::open(&self.data()).unwrap()
    }

    pub(super) fn remote(&self) -> Remote {
        Remote::find(&self.folder.path().join("lab.json")).unwrap()
    }

    pub(super) async fn set(&self, knobs: Value) {
        self.remote().order("set", &knobs).await.unwrap();
    }

    pub(super) async fn pass(&self, seconds: u64) {
        self.remote().order("pass", &json!({"seconds": seconds})).await.unwrap();
    }

    /// Sends a request past everybody.
    pub(super) async fn send(&self, verb: Verb, path: &str, body: &Value) -> (u16, Value) {
        let mut request = asked(verb, path);
        request.query.push(("api-version".to_owned(), "2024-11-01".to_owned()));
        if !body.is_null() {
            request.headers.insert("content-type".to_owned(), "application/json".to_owned());
            request.body = body.to_string().into_bytes();
        }
        let answer = self.remote().send(None, &request).await.unwrap();
        let body = if let Body::Json(body) = answer.body { body } else { Value::Null };
        (answer.status, body)
    }

    /// Returns the names of the captures that are there.
    pub(super) async fn there(&self) -> Vec<String> {
        let (_, all) = self.send(Verb::Get, &format!("{WATCHER}/packetCaptures"), &Value::Null).await;
        all["value"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns how a capture is, in the platform's word.
    pub(super) async fn status(&self, name: &str) -> String {
        let path = format!("{WATCHER}/packetCaptures/{name}/queryStatus");
        let mut request = asked(Verb::Post, &path);
        request.query.push(("api-version".to_owned(), "2024-11-01".to_owned()));
        let answer = self.remote().send(None, &request).await.unwrap();
        let place = answer.headers.iter().find(|(name, _)| name == "location").unwrap().1.clone();
        let path = place.split("/subscriptions").nth(1).unwrap().split('?').next().unwrap().to_owned();
        let (_, printed_text) = self.send(Verb::Get, &format!("/subscriptions{path}"), &Value::Null).await;
        printed_text["packetCaptureStatus"].as_str().unwrap().to_owned()
    }

    /// Says whether a file lies in the account.
    pub(super) async fn stored(&self, file: &str) -> bool {
        let mut request = asked(Verb::Get, &format!("/{CONTAINER}/{file}"));
        request.headers.insert("x-ms-version".to_owned(), "2023-11-03".to_owned());
        self.remote().send(Some(ACCOUNT), &request).await.unwrap().status == 200
    }

    /// Ends a capture that is not ours.
    pub(super) async fn finish(&self, name: &str) {
        let path = format!("{WATCHER}/packetCaptures/{name}/stop");
        assert!(self.send(Verb::Post, &path, &Value::Null).await.0 < 300);
    }

    /// Begins a capture that is not ours.
    pub(super) async fn others(&self, name: &str, machine: &str) {
        let path = format!("https://{ACCOUNT}.blob.core.windows.net/{CONTAINER}/{name}.cap");
        let body = json!({"properties": {"target": format!("{GROUP}/providers/Microsoft.Compute/virtualMachines/{machine}"),
            "storageLocation": {"storageId": format!("{GROUP}/providers/Microsoft.Storage/storageAccounts/{ACCOUNT}"), "storagePath": path}}});
        let made = self.send(Verb::Put, &format!("{WATCHER}/packetCaptures/{name}"), &body).await;
        assert_eq!(made.0, 201, "{made:?}");
    }

    pub(super) fn order(&self, machines: &[&str]) -> CaptureRequest {
        CaptureRequest {
            group: Group { subscription: None, name: Name::parse("nw-forensics-rg").unwrap() },
            machines: machines.iter().map(|&machine| machine.to_owned()).collect(),
            storage: Storage {
                account: Account::parse(ACCOUNT).unwrap(),
                container: Container::parse(CONTAINER).unwrap(),
                group: None,
            },
            folder: self.captures().display().to_string(),
            limits: Limits::default(),
            filters: Vec::new(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn task(&self, machines: &[&str]) -> CaptureTask {
        CaptureTask::new("s1".parse().unwrap(), 1, self.order(machines).check(&[]).unwrap(), self.clock.now())
            .unwrap()
    }

    /// Returns an executor whose human agrees to what contains none of some words.
    pub(super) fn executor(&self, never: &'static str) -> FakeExecutor {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let known = self.exports.iter().map(|(name, value)| ((*name).to_owned(), value.into()));
        let programs = Programs::new(BTreeMap::from([("az".to_owned(), self.program())])).unwrap();
        let shell = Shell::builder("s1".parse().unwrap(), &self.data())
            .approver(Arc::new(Human { never, asked: Arc::clone(&asked) }))
            .environment(known.collect())
            .programs(programs)
            .captures(self.captures())
            .known(known_account(ACCOUNT))
            .cwd(self.folder.path().to_owned())
            .build()
            .unwrap();
        let gate = CaptureShell::new(Arc::new(shell), self.data().join("evidence"), self.captures());
        FakeExecutor::new(gate, self.store(), self.clock.clone(), self.remote(), asked)
    }

    /// Writes the configuration of somebody who works on it.
    pub(super) fn config(&self) -> PathBuf {
        let path = self.folder.path().join("ghost.toml");
        let text = format!(
            "[programs]\naz = \"{}\"\n[capture]\nfolder = \"{}\"\nstorage_account = \"{ACCOUNT}\"\nstorage_container = \"{CONTAINER}\"\n",
            self.program().display(),
            self.captures().display()
        );
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs the program, as that person does.
    pub(super) async fn ghost(&self, words: &[&str]) -> Printed {
        self.ghost_with(&self.config(), words).await
    }

    /// The same with another configuration.
    pub(super) async fn ghost_with(&self, config: &Path, words: &[&str]) -> Printed {
        #[expect(clippy::disallowed_methods, reason = "a test runs programs")]
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_ghost"));
        command.args(words).arg("--config").arg(config).arg("--data-dir").arg(self.data());
        command.envs(self.exports.iter().cloned()).stdin(std::process::Stdio::null()).kill_on_drop(true);
        let done = command.output().await.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&done.stdout), text(&done.stderr));
        Printed { code: done.status.code(), json: serde_json::from_str(&out).unwrap_or_default(), out, err }
    }

    /// Takes it down.
    pub(super) async fn down(mut self) {
        drop(self.stop.take());
        (&mut self.served).await.unwrap();
    }
}

/// What the program said.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) code: Option<i32>,
    pub(super) json: Value,
    pub(super) out: String,
    pub(super) err: String,
}

fn asked(verb: Verb, path: &str) -> Asked {
    let (base, path) = (String::new(), path.to_owned());
    Asked { verb, base, path, query: Vec::new(), headers: BTreeMap::new(), body: Vec::new() }
}
