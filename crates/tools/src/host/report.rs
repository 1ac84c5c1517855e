//! The answer about machines.

use serde::Serialize;

use super::gather::Unread;
use super::snapshot::Snapshot;
use ghost_inspect::host::{
    Answer, Certainty, ContainerNetwork, Context, Difference, Evidence, Fate, Flow, Host, Probe, Protocol,
    Weight, compare, judge,
};

/// Everything that is said about some machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Report {
    format: u8,
    /// When they were gathered.
    pub taken: String,
    pub hosts: Vec<ReportedHost>,
    /// Machines that were not read.
    pub unread: Vec<ReportedUnread>,
    /// What is odd, worst first.
    pub findings: Vec<ReportedFinding>,
    /// What came of trying to reach destinations.
    pub reached: Vec<ReportedProbe>,
    /// What changed since the snapshot; nothing where none was given.
    pub changes: Option<Vec<ReportedChange>>,
    /// When that snapshot was taken.
    pub since: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ReportedHost {
    pub name: String,
    /// Whether it was read with all rights; nothing where that is not known.
    pub is_root: Option<bool>,
    /// What was not read, and why.
    pub closed: Vec<Closed>,
    /// Programs that it does not have.
    pub missing: Vec<String>,
    /// What was odd about the text.
    pub warnings: Vec<String>,
    /// Networks of its containers, by name.
    pub container_networks: Vec<ContainerNetwork>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Closed {
    pub part: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ReportedUnread {
    pub name: String,
    pub why: String,
    pub hint: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ReportedFinding {
    pub weight: Weight,
    pub fault: String,
    pub object: String,
    pub certainty: Certainty,
    pub words: String,
    pub evidence: Vec<Evidence>,
    pub remedy: &'static str,
}

/// A destination, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ReportedProbe {
    /// The machine that tried.
    pub from: String,
    #[serde(flatten)]
    pub probe: Probe,
    pub is_reached: Option<bool>,
    /// What the machines themselves say about the flow, where enough of them were read.
    pub fate: &'static str,
    pub why: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ReportedChange {
    pub host: String,
    #[serde(flatten)]
    pub change: Difference,
}

/// Who calls whom, as it was asked.
#[derive(Debug, Clone)]
pub(super) struct Called {
    /// The machine that calls.
    pub from: String,
    pub to: Vec<(String, Option<u16>)>,
    pub protocol: Option<Protocol>,
}

impl Report {
    /// Judges what was gathered.
    pub(super) fn new(now: &Snapshot, unread: &[Unread], well: Option<&Snapshot>, called: &Called) -> Self {
        let hosts = now.machines();
        let before = well.map(Snapshot::machines).unwrap_or_default();
        let mut context = Context { whole: true, ..Context::default() };
        before.iter().for_each(|host| context.expect(host));
        let mut asked = Vec::new();
        for (to, port) in &called.to {
            let Some(flow) = flow(&hosts, called, to, *port) else { continue };
            context.flows.push(flow);
            asked.push((to.clone(), *port));
        }
        let judged = judge(&hosts, &context);
        let findings = judged.findings.iter().map(|found| ReportedFinding {
            weight: found.weight,
            fault: found.fault.to_string(),
            object: found.object.to_string(),
            certainty: found.certainty,
            words: found.words(),
            evidence: found.evidence.clone(),
            remedy: found.fault.text().remedy,
        });
        let reached = hosts.iter().flat_map(|host| {
            host.probes.iter().map(|probe| {
                let at = asked.iter().position(|(to, port)| *to == probe.host && *port == probe.port);
                let fate = at.filter(|_| host.name == called.from).and_then(|at| judged.fates.get(at));
                let (fate, why) = words(fate);
                ReportedProbe {
                    from: host.name.clone(),
                    probe: probe.clone(),
                    is_reached: probe.is_reached(),
                    fate,
                    why,
                }
            })
        });
        let changes = well.map(|_| changes(&before, &hosts));
        Self {
            format: 1,
            taken: now.taken.clone(),
            findings: findings.collect(),
            reached: reached.collect(),
            hosts: hosts.iter().map(reported).collect(),
            unread: unread.iter().map(unread_host).collect(),
            changes,
            since: well.map(|well| well.taken.clone()),
        }
    }

    /// Returns the exit code: bad news, something open, or neither.
    pub(super) fn code(&self) -> u8 {
        let hurts = |found: &ReportedFinding| found.weight != Weight::Noticed;
        let changed = self.changes.as_ref().is_some_and(|changes| !changes.is_empty());
        let is_bad = self.findings.iter().any(hurts)
            || self.reached.iter().any(|one| one.is_reached == Some(false))
            || changed;
        let is_open = !self.unread.is_empty() || self.hosts.iter().any(|host| !host.closed.is_empty());
        match (is_bad, is_open) {
            (true, _) => 3,
            (false, true) => 4,
            (false, false) => 0,
        }
    }

    /// Tells whether it says the same as another one, apart from the time.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        let causes = |report: &Self| -> Vec<(String, String)> {
            report.findings.iter().map(|found| (found.fault.clone(), found.object.clone())).collect()
        };
        let reached = |report: &Self| -> Vec<Option<bool>> {
            report.reached.iter().map(|one| one.is_reached).collect()
        };
        causes(self) == causes(other)
            && reached(self) == reached(other)
            && self.unread == other.unread
            && self.changes == other.changes
    }
}

fn reported(host: &Host) -> ReportedHost {
    let is_missing = |why: &str| why.ends_with("is not installed");
    let closed = host.closed.iter().filter(|(_, why)| !is_missing(why));
    let missing = host.closed.iter().filter(|(_, why)| is_missing(why));
    let mut missing: Vec<String> =
        missing.map(|(_, why)| why.trim_end_matches(" is not installed").to_owned()).collect();
    missing.sort();
    missing.dedup();
    ReportedHost {
        name: host.name.clone(),
        is_root: match host.is_root {
            Answer::Yes => Some(true),
            Answer::No => Some(false),
            Answer::NotKnown(_) => None,
        },
        closed: closed.map(|(part, why)| Closed { part: part.to_string(), why: why.clone() }).collect(),
        missing,
        container_networks: host.container_networks.clone(),
        warnings: host.warnings.iter().map(|warning| format!("{}: {}", warning.part, warning.what)).collect(),
    }
}

fn unread_host(unread: &Unread) -> ReportedUnread {
    ReportedUnread {
        name: unread.name.clone(),
        why: unread.issue.text.clone(),
        hint: unread.issue.hint.clone(),
    }
}

/// Makes a flow of a destination, where its address is known.
fn flow(hosts: &[Host], called: &Called, to: &str, port: Option<u16>) -> Option<Flow> {
    let caller = hosts.iter().find(|host| host.name == called.from)?;
    let tried = || caller.probes.iter().find(|probe| probe.host == to)?.address;
    let written = || caller.hosts.iter().find(|(name, _)| name == to).map(|(_, ip)| *ip);
    let to = to.parse().ok().or_else(tried).or_else(written)?;
    let usual = if port.is_some() { Protocol::Tcp } else { Protocol::Icmp };
    let protocol = called.protocol.unwrap_or(usual);
    Some(Flow { from: called.from.clone(), source: None, to, protocol, port, is_marked: false })
}

fn words(fate: Option<&Fate>) -> (&'static str, Option<String>) {
    match fate {
        Some(Fate::Passes) => ("passes", None),
        Some(Fate::Stopped) => ("stopped", None),
        Some(Fate::NotKnown(why)) => ("not_known", Some(why.clone())),
        None => ("not_known", None),
    }
}

fn changes(before: &[Host], now: &[Host]) -> Vec<ReportedChange> {
    let mut found = Vec::new();
    for host in now {
        let Some(old) = before.iter().find(|old| old.name == host.name) else { continue };
        found.extend(
            compare(old, host).into_iter().map(|change| ReportedChange { host: host.name.clone(), change }),
        );
    }
    found
}
