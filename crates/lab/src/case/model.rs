//! A case.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fault::Fault;
use crate::azure::BlobRole;
use crate::host::{Behavior, Protocol};
use crate::kubernetes::WrittenCluster;

/// What is wrong, what a person says about it, what has to be found.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its short name: `a`, or whatever its author likes.
    pub id: String,
    pub title: String,
    /// The file of the estate, beside the case's; the one that is there, if none is named.
    pub estate: Option<String>,
    /// The subscriptions of the estate in which whoever investigates has no role.
    pub closed: Vec<String>,
    /// What whoever investigates may do with blobs.
    pub blob_role: BlobRole,
    /// Flows of before, which the flow logs of networks have.
    pub logged: Vec<Logged>,
    /// Machines that are there beside those of the estate.
    pub vms: Vec<Vm>,
    /// Public addresses that interfaces get.
    pub publics: Vec<Public>,
    /// Other changes to the estate, before anything goes wrong.
    pub changes: Vec<Change>,
    /// Who listens.
    pub services: Vec<Service>,
    /// Who talks to whom.
    pub traffic: Vec<Traffic>,
    /// What is wrong.
    pub faults: Vec<PlacedFault>,
    /// Kubernetes clusters, with what is wrong inside of them.
    pub clusters: Vec<WrittenCluster>,
    /// What was remembered before.
    pub baselines: Vec<Baseline>,
    /// How a person sees what is wrong.
    pub seen: Vec<Observation>,
    /// What nobody may conclude.
    pub forbidden: Vec<Forbidden>,
    /// What is asked, and what is to be found; at least one.
    pub phases: Vec<Phase>,
    /// For whoever shows it.
    pub notes: String,
}

/// A fault in its place in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedFault {
    /// By this name baselines and later phases speak of it.
    pub id: Option<String>,
    /// Where it stands in the file.
    pub line: Option<usize>,
    pub fault: Fault,
}

/// What is asked at one time, and what is to be found then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// What the person says.
    pub prompt: String,
    /// What has to be found.
    pub expected: Vec<Pair>,
    /// What may be found beside it.
    pub may: Vec<Pair>,
    /// The outcomes that are right.
    pub outcome: Vec<Outcome>,
    /// The faults that were taken away before.
    pub fixes: Vec<String>,
}

/// A finding: a code, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The code of the fault.
    pub fault: String,
    /// What it is about.
    pub object: String,
}

impl Pair {
    /// Makes one.
    #[must_use]
    pub fn new(fault: &str, object: impl Into<String>) -> Self {
        Self { fault: fault.to_owned(), object: object.into() }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.fault, self.object)
    }
}

/// How an investigation may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// A proven cause.
    Confirmed,
    /// A cause with good reasons.
    Likely,
    /// What was seen does not settle it.
    Inconclusive,
    /// Everything was looked at, and nothing is wrong.
    NoFaultFound,
}

/// A machine that is there beside those of the estate.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vm {
    /// Its name; its interface is called `NAME-nic`.
    pub name: String,
    pub address: IpAddr,
    /// Its subnet, as `VNET/SUBNET`.
    pub subnet: String,
    /// A security group that is there; none, if none is named.
    pub nsg: Option<String>,
    /// Whether its interface passes on packets that are not its own.
    #[serde(default)]
    pub forwards: bool,
}

/// A public address for the first interface of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Public {
    /// The machine.
    pub vm: String,
    /// The name of the address.
    pub name: String,
    pub address: IpAddr,
}

/// A document that is put into the estate.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// What it is, below the resource group: `Microsoft.Network/virtualNetworks/spoke`; its whole id in another group.
    pub put: String,
    /// The document, in the resource manager's form.
    pub body: Value,
}

impl Change {
    /// Returns what it is, without the group in which it is.
    pub(super) fn below(&self) -> &str {
        let rest = self.put.starts_with("/subscriptions/").then(|| self.put.split_once("/providers/"));
        rest.flatten().map_or(self.put.as_str(), |(_, rest)| rest)
    }
}

/// Somebody who listens.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The machine.
    pub vm: String,
    #[serde(default = "tcp")]
    pub protocol: Protocol,
    pub port: u16,
    /// The program, as `ss` names it.
    #[serde(default = "python")]
    pub program: String,
    /// What it does with who comes.
    #[serde(default)]
    pub behavior: Behavior,
    /// The one address that it is bound to; every address of the machine where none is named.
    pub address: Option<IpAddr>,
    /// The status of its pages by path, where it is another than 200; `*` stands for all others.
    #[serde(default)]
    pub pages: BTreeMap<String, u16>,
}

/// Somebody who talks to somebody, again and again.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// The machine that begins.
    pub from: String,
    /// A machine, or an address.
    pub to: String,
    #[serde(default = "tcp")]
    pub protocol: Protocol,
    /// The port; none for ICMP.
    #[serde(default)]
    pub port: u16,
    /// From one to the next.
    #[serde(default = "second")]
    pub every_ms: u64,
    /// How many bytes go there.
    #[serde(default)]
    pub request: u32,
    /// How many come back.
    #[serde(default)]
    pub answer: u32,
    /// How long the far side thinks.
    #[serde(default)]
    pub think_ms: u64,
    /// How many at once.
    #[serde(default = "once")]
    pub parallel: u16,
}

/// A flow that somebody tried once a minute before people complain. What the rules decide about it while all faults are there, or in a
/// later phase, stands in the flow logs that are on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logged {
    /// The machine that begins.
    pub from: String,
    /// A machine, or an address.
    pub to: String,
    #[serde(default = "tcp")]
    pub protocol: Protocol,
    pub port: u16,
    /// So many minutes before.
    pub since: u16,
    /// Until so many minutes before.
    #[serde(default)]
    pub until: u16,
    /// A rule of the called one that denied it then, and is gone; as the rules are where none is named.
    pub rule: Option<String>,
    /// The phase as whose rules are, from 1.
    #[serde(default = "first")]
    pub phase: usize,
}

fn first() -> usize {
    1
}

fn tcp() -> Protocol {
    Protocol::Tcp
}

fn python() -> String {
    "python3".to_owned()
}

fn second() -> u64 {
    1_000
}

fn once() -> u16 {
    1
}

/// What was remembered before something went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    pub kind: BaselineKind,
    pub id: String,
    /// The machine.
    pub vm: String,
    /// The faults that were there already.
    pub after: Vec<String>,
    /// How long before the injection it is dated.
    pub age: Duration,
    /// Where it stands in the file.
    pub line: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BaselineKind {
    /// The packet filter of a machine: `ghost netfilter snapshot`.
    Firewall,
    /// Effective routes and rules: `ghost effective snapshot`.
    Effective,
}

/// How a person sees what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Where the command runs.
    pub sight: ObservationKind,
    /// What is to be seen: a regular expression.
    pub shows: String,
    /// The phase up to which it is there, from 1; in all, if none is named.
    pub until: Option<usize>,
}

/// Where the command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservationKind {
    /// A command on a machine.
    Run {
        /// The machine.
        vm: String,
        command: String,
    },
    /// IP flow verify.
    Flow {
        /// The machine.
        vm: String,
        /// Whether packets come in.
        inbound: bool,
        /// TCP or UDP.
        protocol: Protocol,
        /// Its own end.
        local: String,
        /// The other end.
        remote: String,
    },
    /// The next hop from a machine.
    Hop {
        /// The machine.
        vm: String,
        /// Its address.
        from: IpAddr,
        /// Where to.
        to: IpAddr,
    },
    /// The effective routes of a machine's first interface.
    Routes {
        /// The machine.
        vm: String,
    },
    /// The effective rules of a machine's first interface.
    Rules {
        /// The machine.
        vm: String,
    },
    /// A document of the estate, below the resource group.
    Document {
        /// `Microsoft.Storage/storageAccounts/NAME`.
        path: String,
    },
    /// A capture on a machine, read as `ghost pcap analyze` reads it.
    Capture {
        /// The machine.
        vm: String,
    },
}

/// What nobody may conclude.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forbidden {
    /// What would be wrong to say, for people.
    pub claim: String,
    /// A code that must not be found.
    pub fault: Option<String>,
    /// With this object; with any, if none is named.
    pub object: Option<String>,
    /// Regular expressions that must not match the report.
    #[serde(default)]
    pub says: Vec<String>,
}
