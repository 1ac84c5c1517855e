//! The answer about machines.

use serde::Serialize;

use super::gather::Unread;
use super::snapshot::Snapshot;
use ghost_inspect::host::{
    Answer, Certainty, ContainerNetwork, Context, Difference, Evidence, Fate, Flow, Handshake, Host, Part,
    PartError, Probe, Protocol, Question, UnreadPart, Weight, compare, is_reached_by, judge,
};

/// Everything that is said about some machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Report {
    format: u8,
    /// When they were gathered.
    pub taken: String,
    /// The answer in a word.
    pub verdict: Verdict,
    /// What the answer needs and was not read.
    pub missing: Vec<Missing>,
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

/// The answer in a word, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Verdict {
    /// Something does not work.
    Broken,
    /// A destination was tried and is not reached, and nothing that was read explains it.
    NotReached,
    /// Something works worse than it could.
    Degraded,
    /// Something is not as it was.
    Changed,
    /// A read that the answer needs failed.
    Indeterminate,
    /// Everything that the answer needs was read, and is well.
    Ok,
}

impl Verdict {
    /// Returns the word with which the headline begins.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Broken => "BROKEN",
            Self::NotReached => "NOT REACHED",
            Self::Degraded => "DEGRADED",
            Self::Changed => "CHANGED",
            Self::Indeterminate => "INDETERMINATE",
            Self::Ok => "OK",
        }
    }
}

/// Something that the answer needs and that was not read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Missing {
    pub host: String,
    /// The part of what is gathered; nothing where it is a whole machine or a destination.
    pub document: Option<String>,
    pub what: String,
    pub why: String,
    /// What makes it readable.
    #[serde(rename = "do")]
    pub remedy: Option<String>,
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
    /// Whether a try of a flow shows that it does not stop that flow.
    pub is_refuted: bool,
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
        let mut asked: Vec<(&str, Option<u16>, Protocol)> = Vec::new();
        let mut unknown = Vec::new();
        for (to, port) in &called.to {
            match flow(&hosts, called, to, *port) {
                Some(flow) => {
                    asked.push((to, *port, flow.protocol));
                    context.flows.push(flow);
                }
                None => unknown.push((to.as_str(), *port)),
            }
        }
        let judged = judge(&hosts, &context);
        let findings = judged.findings.iter().map(|found| ReportedFinding {
            weight: found.weight,
            fault: found.fault.to_string(),
            object: found.object.to_string(),
            certainty: found.certainty,
            words: found.words(),
            evidence: found.evidence.clone(),
            is_refuted: judged
                .contradictions
                .iter()
                .any(|one| one.fault == found.fault && one.object == found.object),
            remedy: found.fault.text().remedy,
        });
        let reached = hosts.iter().flat_map(|host| {
            host.probes.iter().map(|probe| {
                let is_it = |(to, port, _): &(&str, Option<u16>, Protocol)| {
                    *to == probe.host && *port == probe.port && host.name == called.from
                };
                let at = asked.iter().position(is_it);
                let (fate, why) = words(at.and_then(|at| judged.fates.get(at)));
                let against = judged.contradictions.iter().find(|one| Some(one.flow) == at);
                let why = against.map(ToString::to_string).or(why);
                let is_reached = match at.and_then(|at| asked.get(at)) {
                    Some((_, _, protocol)) => is_reached_by(probe, *protocol),
                    None => probe.is_reached(),
                };
                ReportedProbe { from: host.name.clone(), probe: probe.clone(), is_reached, fate, why }
            })
        });
        let reached: Vec<ReportedProbe> = reached.collect();
        let mut missing: Vec<Missing> = judged.missing.iter().map(missing_part).collect();
        missing.extend(unread.iter().map(|one| Missing {
            host: one.name.clone(),
            document: None,
            what: "the machine".to_owned(),
            why: one.issue.text.clone(),
            remedy: one.issue.hint.clone(),
        }));
        for ((to, port, _), fate) in asked.iter().zip(&judged.fates) {
            let is_it = |one: &&ReportedProbe| {
                one.from == called.from && one.probe.host == *to && one.probe.port == *port
            };
            let tried = reached.iter().find(is_it);
            // What was tried is known, and what was not is as well known as the documents are.
            if let (Fate::NotKnown(why), None) = (fate, tried.and_then(|one| one.is_reached)) {
                missing.push(untried(called, (to, *port), tried, why));
            }
        }
        for (to, port) in unknown {
            let is_it = |one: &ReportedProbe| {
                one.from == called.from && one.probe.host == to && one.probe.port == port
            };
            if !reached.iter().any(is_it) {
                missing.push(untried(
                    called,
                    (to, port),
                    None,
                    "it was not tried, and its address is not known",
                ));
            }
        }
        if well.is_some() {
            missing.extend(hosts.iter().flat_map(|host| unread_before(host, &before)));
        }
        missing.sort();
        missing.dedup();
        let changes = well.map(|_| changes(&before, &hosts));
        let findings: Vec<ReportedFinding> = findings.collect();
        let verdict = verdict(&findings, &reached, changes.as_deref(), &missing);
        Self {
            format: 1,
            taken: now.taken.clone(),
            verdict,
            missing,
            findings,
            reached,
            hosts: hosts.iter().map(reported).collect(),
            unread: unread.iter().map(unread_host).collect(),
            changes,
            since: well.map(|well| well.taken.clone()),
        }
    }

    /// Returns the exit code: bad news, something open, or neither.
    pub(super) const fn code(&self) -> u8 {
        match self.verdict {
            Verdict::Broken | Verdict::NotReached | Verdict::Degraded | Verdict::Changed => 3,
            Verdict::Indeterminate => 4,
            Verdict::Ok => 0,
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
        self.verdict == other.verdict
            && self.missing == other.missing
            && causes(self) == causes(other)
            && reached(self) == reached(other)
            && self.unread == other.unread
            && self.changes == other.changes
    }
}

/// Says the answer in a word: what was found counts, what was tried counts, and without either what was not read.
fn verdict(
    findings: &[ReportedFinding],
    reached: &[ReportedProbe],
    changes: Option<&[ReportedChange]>,
    missing: &[Missing],
) -> Verdict {
    let has = |weight: Weight| findings.iter().any(|found| found.weight == weight);
    if has(Weight::Broken) {
        Verdict::Broken
    } else if reached.iter().any(|one| one.is_reached == Some(false)) {
        Verdict::NotReached
    } else if has(Weight::Degraded) {
        Verdict::Degraded
    } else if changes.is_some_and(|changes| !changes.is_empty()) {
        Verdict::Changed
    } else if missing.is_empty() {
        Verdict::Ok
    } else {
        Verdict::Indeterminate
    }
}

fn missing_part(unread: &UnreadPart) -> Missing {
    Missing {
        host: unread.host.clone(),
        document: Some(unread.part.to_string()),
        what: unread.what.to_owned(),
        why: unread.why.clone(),
        remedy: Some(unread.remedy.clone()),
    }
}

/// What of the earlier state of a machine was not read: nothing is said to be unchanged of it.
fn unread_before(host: &Host, before: &[Host]) -> Vec<Missing> {
    let remedy = Some("save a new snapshot while it works: `ghost host --save FILE`".to_owned());
    let Some(old) = before.iter().find(|old| old.name == host.name) else {
        let why = "the snapshot of --diff does not hold this machine".to_owned();
        let what = "the earlier state".to_owned();
        return vec![Missing { host: host.name.clone(), document: None, what, why, remedy }];
    };
    let unread = Question::Changes.unread(old);
    let earlier = |one: &UnreadPart| Missing {
        what: format!("earlier {}", one.what),
        remedy: remedy.clone(),
        ..missing_part(one)
    };
    unread.iter().map(earlier).collect()
}

/// A destination of which neither a try nor the documents say what becomes of it.
fn untried(
    called: &Called,
    (to, port): (&str, Option<u16>),
    tried: Option<&ReportedProbe>,
    why: &str,
) -> Missing {
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let (why, remedy) = match tried.and_then(|one| one.probe.tcp.as_ref()) {
        Some(Handshake::Other(said)) => (said.as_str(), "install netcat-openbsd or curl"),
        Some(Handshake::Open | Handshake::Refused | Handshake::Silent | Handshake::Unreachable) | None => {
            (why, "gather on the calling machine with --to, or on every machine of the path")
        }
    };
    Missing {
        host: called.from.clone(),
        document: None,
        what: format!("whether {to}{port} is reached"),
        why: why.to_owned(),
        remedy: Some(remedy.to_owned()),
    }
}

fn reported(host: &Host) -> ReportedHost {
    let absent = |error: &PartError| matches!(error, PartError::NotInstalled(_));
    let closed = host.closed.iter().filter(|(_, error)| !absent(error));
    let missing = host.closed.iter().filter(|(_, error)| absent(error));
    let program = |(part, error): &(Part, PartError)| {
        let said = error.to_string();
        said.strip_suffix(" is not installed")
            .filter(|name| !name.contains(' '))
            .unwrap_or(part.as_str())
            .to_owned()
    };
    let mut missing: Vec<String> = missing.map(program).collect();
    missing.sort();
    missing.dedup();
    ReportedHost {
        name: host.name.clone(),
        is_root: match host.is_root {
            Answer::Yes => Some(true),
            Answer::No => Some(false),
            Answer::NotKnown(_) => None,
        },
        closed: closed.map(|(part, why)| Closed { part: part.to_string(), why: why.to_string() }).collect(),
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
