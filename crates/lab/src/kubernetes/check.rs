//! Whether a cluster of a case is what the case says of it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use serde::Deserialize;
use serde::de::Error as _;

use super::kubectl::is_known_kind;
use super::model::{Cluster, ObjectName, Protocol, is_label};
use super::truth::{Called, Culprit, Fate, FlowTruth};
use super::written::WrittenCluster;

/// A cluster has so many objects of a kind at most.
const MAX_OBJECTS: usize = 200;

/// A flow of a pod, and whether it passes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterCheck {
    from: ObjectName,
    to: CheckTarget,
    #[serde(default)]
    protocol: Protocol,
    /// Whether it passes while the faults are there.
    pub(super) passes: bool,
}

/// Who is called, and on which port; written `NAMESPACE/NAME:PORT` or `ADDRESS:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CheckTarget {
    called: Called,
    port: u16,
}

impl<'de> Deserialize<'de> for CheckTarget {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hint = || {
            D::Error::custom(format!("`{text}` is no flow's end; write NAMESPACE/NAME:PORT or ADDRESS:PORT"))
        };
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self { called: Called::Address(address.ip()), port: address.port() });
        }
        let (name, port) = text.rsplit_once(':').ok_or_else(hint)?;
        let name: ObjectName = name.parse().map_err(|_| hint())?;
        let port = port.parse().map_err(|_| hint())?;
        Ok(Self { called: Called::Object(name), port })
    }
}

impl ClusterCheck {
    /// Returns what becomes of it; nothing where an end of it is not there.
    pub(crate) fn follow(&self, cluster: &Cluster) -> Option<FlowTruth> {
        cluster.follow(&self.from, &self.to.called, self.to.port, self.protocol)
    }

    /// Returns what a person would type to see it.
    pub(crate) fn command(&self, cluster: &str) -> String {
        let ObjectName { namespace, name } = &self.from;
        let (end, udp) = match (&self.to.called, self.protocol) {
            (Called::Object(to), _) if to.namespace == *namespace => (to.name.clone(), ""),
            (Called::Object(to), Protocol::Tcp) => (format!("{}.{}", to.name, to.namespace), ""),
            (Called::Object(to), Protocol::Udp) => (format!("{}.{}", to.name, to.namespace), "u"),
            (Called::Address(address), _) => (address.to_string(), ""),
        };
        let port = self.to.port;
        format!("kubectl --context {cluster} -n {namespace} exec {name} -- nc -vz{udp} -w 3 {end} {port}")
    }

    /// Tells whether it passes while the faults are there.
    pub(crate) fn passes(&self) -> bool {
        self.passes
    }

    /// Returns its ends as they are written.
    pub(crate) fn ends(&self) -> (String, String) {
        (self.from.to_string(), format!("{}:{}", self.to.called, self.to.port))
    }

    /// Returns the word that documents have for its protocol.
    pub(crate) fn protocol(&self) -> &'static str {
        self.protocol.word()
    }

    fn text(&self) -> String {
        let (from, to) = self.ends();
        format!("{from} -> {to} {}", self.protocol())
    }
}

/// What is wrong with a cluster of a case, and where in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// The place in the text; nothing where it is the cluster's own.
    pub(crate) at: Option<usize>,
    pub(crate) what: String,
    pub(crate) hint: &'static str,
}

/// What is right to find in a phase: code and object.
pub(crate) struct ExpectedPhase<'a> {
    pub(crate) gone: BTreeSet<&'a str>,
    pub(crate) expected: BTreeSet<(&'a str, &'a str)>,
    pub(crate) may: BTreeSet<(&'a str, &'a str)>,
}

const NAMES: &str = "names are small letters, digits and `-`, and each is there once";
const REAL: &str = "with its faults a flow fails by what is expected, and without them it passes";

impl WrittenCluster {
    /// Returns the cluster as it is in a phase. One whose faults are about nothing was not let through by the reader.
    pub(crate) fn cluster(&self, gone: &BTreeSet<&str>) -> Cluster {
        self.with_faults(gone).unwrap_or_else(|_| self.working())
    }

    /// Returns the ids of its faults.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.fault.iter().filter_map(|placed| placed.get_ref().id())
    }

    /// Returns the flows that it is held against.
    pub(crate) fn checks(&self) -> impl Iterator<Item = &ClusterCheck> {
        self.check.iter().map(toml::Spanned::get_ref)
    }

    /// Returns everything about it that cannot be, or is not as the case says.
    pub(crate) fn flaws(&self, phases: &[ExpectedPhase<'_>]) -> Vec<Flaw> {
        let mut flaws = self.odd_names();
        let with = match self.with_faults(&BTreeSet::new()) {
            Ok(with) => with,
            Err((at, what)) => {
                flaws.push(Flaw { at: Some(at), what, hint: "a fault changes something that is there" });
                return flaws;
            }
        };
        let without = self.working();
        for placed in &self.check {
            let (own, at) = (placed.get_ref(), Some(placed.span().start));
            let flaw = |what: String| Flaw { at, what, hint: REAL };
            let (Some(now), Some(mended)) = (own.follow(&with), own.follow(&without)) else {
                flaws.push(flaw(format!("{}: an end of it is not there", own.text())));
                continue;
            };
            let wanted = if own.passes { Fate::Passes } else { Fate::Fails };
            if now.fate != wanted {
                flaws.push(flaw(format!("{}: {}", own.text(), spoken(&now, &self.name))));
            }
            if mended.fate != Fate::Passes {
                let what = spoken(&mended, &self.name);
                flaws.push(flaw(format!("{}: without the faults, too: {what}", own.text())));
            }
        }
        flaws.extend(self.idle_faults(&without));
        for (at, phase) in phases.iter().enumerate() {
            flaws.extend(self.unexpected(at + 1, phase));
        }
        flaws
    }

    /// Returns the faults that no check sees.
    fn idle_faults(&self, without: &Cluster) -> Vec<Flaw> {
        let is_idle = |fault: &super::fault::PlacedClusterFault| {
            let mut alone = without.clone();
            fault.put(&mut alone).is_ok()
                && self.checks().filter_map(|check| check.follow(&alone)).all(|own| own.fate == Fate::Passes)
        };
        let idle = self.fault.iter().filter(|placed| is_idle(placed.get_ref()));
        idle.map(|placed| Flaw {
            at: Some(placed.span().start),
            what: "no [[kubernetes.check]] fails by this fault".to_owned(),
            hint: REAL,
        })
        .collect()
    }

    /// Returns where what is expected in a phase and what stops its flows differ.
    fn unexpected(&self, number: usize, phase: &ExpectedPhase<'_>) -> Vec<Flaw> {
        let cluster = self.cluster(&phase.gone);
        let culprits: BTreeSet<Culprit> =
            self.checks().filter_map(|check| check.follow(&cluster)).flat_map(|own| own.culprits).collect();
        let pairs: BTreeSet<(&str, String)> =
            culprits.iter().map(|own| (own.code(), own.object(&self.name))).collect();
        let is_listed = |(code, object): &(&str, String)| {
            let pair = (*code, object.as_str());
            phase.expected.contains(&pair) || phase.may.contains(&pair)
        };
        let missing = pairs.iter().filter(|pair| !is_listed(pair));
        let missing = missing.map(|(code, object)| {
            format!("phase {number}: a flow fails by {code} {object}, and it is not expected")
        });
        let own = |object: &str| object.split('/').nth(1) == Some(self.name.as_str());
        let invented = phase.expected.iter().filter(|(code, object)| {
            code.starts_with("k8s_") && own(object) && !pairs.contains(&(*code, (*object).to_owned()))
        });
        let invented = invented.map(|(code, object)| {
            format!("phase {number}: {code} {object} is expected, and no flow fails by it")
        });
        missing.chain(invented).map(|what| Flaw { at: None, what, hint: REAL }).collect()
    }

    fn odd_names(&self) -> Vec<Flaw> {
        let mut flaws = Vec::new();
        let mut flaw = |at: Option<usize>, what: String| flaws.push(Flaw { at, what, hint: NAMES });
        if !is_label(&self.name) {
            flaw(None, format!("`{}` is no name of a cluster", self.name));
        }
        for name in self.namespaces.keys().filter(|name| !is_label(name)) {
            flaw(None, format!("`{name}` is no name of a namespace"));
        }
        for kind in self.forbidden.iter().filter(|kind| !is_known_kind(kind)) {
            flaw(None, format!("`{kind}` is no kind of objects"));
        }
        if !(1..=20).contains(&self.nodes) {
            flaw(None, format!("`nodes` is {}; a cluster has 1 to 20", self.nodes));
        }
        let counts =
            [self.pod.len(), self.service.len(), self.policy.len(), self.fault.len(), self.check.len()];
        if counts.iter().any(|count| *count > MAX_OBJECTS) {
            flaw(None, format!("a cluster has {MAX_OBJECTS} objects of a kind at most"));
        }
        let pods = self.pod.iter().map(|own| ("pod", &own.get_ref().name, own.span().start));
        let services = self.service.iter().map(|own| ("service", &own.get_ref().name, own.span().start));
        let policies = self.policy.iter().map(|own| ("policy", &own.get_ref().name, own.span().start));
        let mut seen = BTreeSet::new();
        for (kind, name, at) in pods.chain(services).chain(policies) {
            if !seen.insert((kind, name)) {
                flaw(Some(at), format!("there are two of {kind} {name}"));
            }
        }
        let mut addresses: BTreeMap<IpAddr, &ObjectName> = BTreeMap::new();
        let working = self.working();
        for pod in working.pods.iter().filter(|pod| !pod.is_on_host && pod.has_address()) {
            if let Some(other) = addresses.insert(pod.address, &pod.name) {
                let placed = self.pod.iter().find(|own| own.get_ref().name == pod.name);
                flaw(placed.map(|own| own.span().start), format!("{} has the address of {other}", pod.name));
            }
        }
        flaws
    }
}

fn spoken(truth: &FlowTruth, cluster: &str) -> String {
    let fate = match truth.fate {
        Fate::Passes => "it passes",
        Fate::Partly => "it reaches some of the pods",
        Fate::Fails => "it fails",
    };
    let by: Vec<String> =
        truth.culprits.iter().map(|own| format!("{} {}", own.code(), own.object(cluster))).collect();
    if by.is_empty() { fate.to_owned() } else { format!("{fate} by {}", by.join(", ")) }
}
