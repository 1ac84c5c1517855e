//! A lab in this process: the real cloud, and guests that only remember what was run on them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::Timestamp;
use ghost_lab::azure::{Answer, Cloud, Description, EstateError, Request};
use ghost_lab::case::{LabAccess, SnapshotAction};
use ghost_lab::host::{
    CaptureOrder, ConnectOutcome, Fabric, Host, HostError, Protocol, Script, ScriptOutput, Stage,
};
use serde_json::Value;

/// The estate of the use cases.
pub(super) fn usual() -> Cloud {
    Cloud::usual().unwrap()
}

/// What was run on each machine, and the stage.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Guests {
    pub(super) ran: BTreeMap<String, Vec<String>>,
    pub(super) stage: Stage,
}

/// Guests that remember what was run on them.
#[derive(Debug, Default)]
pub(super) struct Remembering {
    pub(super) now: Mutex<Guests>,
    snapshot: Mutex<Guests>,
    /// A command that has this in it fails.
    pub(super) fails: Mutex<Option<String>>,
}

#[async_trait]
impl Host for Remembering {
    async fn fabric(&self, _: Fabric) -> Result<(), HostError> {
        Ok(())
    }

    async fn stage(&self, stage: Stage) -> Result<(), HostError> {
        self.now.lock().unwrap().stage = stage;
        Ok(())
    }

    async fn run(&self, machine: &str, script: &Script) -> Result<ScriptOutput, HostError> {
        // Whoever waits can go away here.
        tokio::task::yield_now().await;
        let mut ran = ScriptOutput { out: String::new(), err: String::new(), code: 0, took: Duration::ZERO };
        if self.fails.lock().unwrap().as_ref().is_some_and(|part| script.text.contains(part)) {
            ran.err = "no, thank you".to_owned();
            ran.code = 2;
            return Ok(ran);
        }
        match script.text.split(' ').next().unwrap() {
            "iptables-nft-save" | "ip6tables-nft-save" => {
                ran.out = "*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n".to_owned();
            }
            "nft" if script.text.contains("list") => ran.out = "{\"nftables\": []}".to_owned(),
            name if name.ends_with("-save") || name == "ipset" || name == "cat" => ran.code = 127,
            "update-alternatives" => ran.out = "Value: /usr/sbin/iptables-nft\n".to_owned(),
            _ => {
                self.now.lock().unwrap().ran.entry(machine.to_owned()).or_default().push(script.text.clone());
            }
        }
        Ok(ran)
    }

    async fn dial(&self, _: &str, _: IpAddr, _: Protocol, _: u16) -> Result<ConnectOutcome, HostError> {
        Ok(ConnectOutcome::Silent)
    }

    async fn capture(&self, _: &str, _: CaptureOrder) -> Result<(), HostError> {
        Ok(())
    }

    async fn captured(&self, _: &str) -> Result<Vec<u8>, HostError> {
        Ok(Vec::new())
    }

    async fn keep(&self) -> Result<(), HostError> {
        *self.snapshot.lock().unwrap() = self.now.lock().unwrap().clone();
        Ok(())
    }

    async fn restore(&self) -> Result<(), HostError> {
        *self.now.lock().unwrap() = self.snapshot.lock().unwrap().clone();
        Ok(())
    }

    async fn close(&self) {}
}

/// A lab in this process.
pub(super) struct Here {
    pub(super) cloud: Mutex<Cloud>,
    snapshot: Mutex<Option<Cloud>>,
    pub(super) guests: Remembering,
    pub(super) data: tempfile::TempDir,
}

impl Here {
    /// Brings one up.
    pub(super) fn up() -> Self {
        Self {
            cloud: Mutex::new(usual()),
            snapshot: Mutex::default(),
            guests: Remembering::default(),
            data: tempfile::tempdir().unwrap(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.data.path()
    }

    /// Returns the estate, byte by byte.
    pub(super) fn estate(&self) -> String {
        serde_json::to_string(&self.documents()).unwrap()
    }

    /// Returns the estate without tags, which every change makes anew.
    pub(super) fn essence(&self) -> Vec<Value> {
        let mut documents = self.documents();
        documents.iter_mut().for_each(untagged);
        documents
    }

    pub(super) fn guests(&self) -> Guests {
        self.guests.now.lock().unwrap().clone()
    }

    /// Returns the files below the data folder.
    pub(super) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.push(path.strip_prefix(self.path()).unwrap().to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found
    }
}

fn untagged(document: &mut Value) {
    match document {
        Value::Object(map) => {
            map.remove("etag");
            map.values_mut().for_each(untagged);
        }
        Value::Array(list) => list.iter_mut().for_each(untagged),
        _ => {}
    }
}

#[async_trait]
impl LabAccess for Here {
    async fn manage(&self, request: &Request) -> Answer {
        tokio::task::yield_now().await;
        self.cloud.lock().unwrap().answer(request, self.now()).0
    }

    fn documents(&self) -> Vec<Value> {
        self.cloud.lock().unwrap().documents()
    }

    async fn replace(&self, about: Description) -> Result<(), EstateError> {
        *self.cloud.lock().unwrap() = Cloud::new(about)?;
        Ok(())
    }

    async fn snapshot(&self, snapshot: SnapshotAction) -> Result<(), HostError> {
        match snapshot {
            SnapshotAction::Save => {
                let cloud = self.cloud.lock().unwrap().clone();
                *self.snapshot.lock().unwrap() = Some(cloud);
                self.guests.keep().await
            }
            SnapshotAction::Restore => {
                if let Some(snapshot) = self.snapshot.lock().unwrap().clone() {
                    *self.cloud.lock().unwrap() = snapshot;
                }
                self.guests.restore().await
            }
        }
    }

    fn host(&self) -> &dyn Host {
        &self.guests
    }

    fn now(&self) -> Timestamp {
        "2025-06-02T09:31:00.000Z".parse().unwrap()
    }
}
