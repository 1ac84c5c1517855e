//! What trying the flows showed, held against what was found: a flow that was reached is stopped by nothing.

use super::context::{Flow, Protocol};
use super::fault::Fault;
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::judge::Fate;
use super::model::Host;
use super::object::Object;
use super::walk::{End, Trace};
use crate::measured::{Computed, Measured, Probe, Weighed, unjudged, weigh};

/// A flow that was reached, and what would stop it by the documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// Which of the flows, by its place among those that were asked about.
    pub flow: usize,
    /// What would stop it.
    pub fault: Fault,
    /// What has that fault.
    pub object: Object,
}

impl std::fmt::Display for Contradiction {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "it is reached, although {} {} would stop it; {}", self.fault, self.object, unjudged())
    }
}

/// A flow with what was computed of it, and what came of trying it.
pub(super) struct Tried<'a> {
    pub(super) flow: &'a Flow,
    pub(super) traces: &'a [Trace],
    /// The try, where the calling machine made one of exactly this flow.
    pub(super) probe: Option<&'a Probe>,
}

impl<'a> Tried<'a> {
    pub(super) fn new(hosts: &'a [Host], flow: &'a Flow, traces: &'a [Trace]) -> Self {
        let caller = hosts.iter().find(|host| host.name == flow.from);
        let probe = caller.and_then(|host| host.probes.iter().find(|probe| is_of(probe, flow)));
        Self { flow, traces, probe }
    }

    fn measured(&self) -> Option<Measured> {
        measured(self.probe?, self.flow.protocol)
    }

    /// Tells whether the flow leaves by a device, in one of its directions.
    fn leaves_by(&self, host: &str, device: &str) -> bool {
        let mut passed = self.traces.iter().flat_map(|trace| &trace.passed);
        passed.any(|one| one.host == host && one.output.as_deref() == Some(device))
    }

    fn passes(&self, host: &str) -> bool {
        host == self.flow.from
            || self.traces.iter().any(|trace| trace.passed.iter().any(|one| one.host == host))
    }

    /// Tells whether a finding, as it stands, stops this very flow.
    fn is_stopped_by(&self, finding: &Finding) -> bool {
        let is_same = |own: &Finding| own.fault == finding.fault && own.object == finding.object;
        let mut stopped = self.traces.iter().filter(|trace| trace.end == End::Stopped);
        let loses_all = if let Object::Qdisc { host, device } = &finding.object {
            finding.fault == Fault::NetemLoss && self.leaves_by(host, device)
        } else {
            false
        };
        finding.weight == Weight::Broken
            && (loses_all || stopped.any(|trace| trace.findings.last().is_some_and(is_same)))
    }

    /// Tells whether packets of a size that was tried passed whole, though the ends of a link are said to differ below it.
    fn shows_whole_packets(&self) -> bool {
        self.probe.is_some_and(|probe| probe.passes.is_some() && probe.lost.is_empty())
    }

    /// Says what documents and findings come to.
    fn computed(&self, fate: &Fate, findings: &[Finding]) -> Computed {
        let own = |finding: &&Finding| {
            let mut shown = finding.evidence.iter().map(|one| one.host.as_str());
            finding.weight != Weight::Noticed && shown.any(|host| self.passes(host))
        };
        let own: Vec<&Finding> = findings.iter().filter(own).collect();
        let may_lose = |finding: &&&Finding| loses(finding.fault);
        match fate {
            Fate::Stopped => Computed::Stopped,
            _ if own.iter().any(|finding| finding.weight == Weight::Broken && loses(finding.fault)) => {
                Computed::Stopped
            }
            _ if own.iter().any(|finding| may_lose(&finding)) => Computed::Lossy,
            Fate::NotKnown(_) => Computed::NotKnown,
            Fate::Passes if own.is_empty() => Computed::Passes,
            Fate::Passes => Computed::Slowed,
        }
    }
}

/// Tells whether a try was made of this flow: of its destination, and of its port.
fn is_of(probe: &Probe, flow: &Flow) -> bool {
    probe.is_to(flow.to) && (flow.protocol == Protocol::Icmp || probe.port == flow.port)
}

/// Says what a try measured of a protocol: a connection says nothing of UDP, and echoes nothing of a port.
const fn measured(probe: &Probe, protocol: Protocol) -> Option<Measured> {
    match protocol {
        Protocol::Tcp => probe.connection(),
        Protocol::Icmp => probe.echo(),
        Protocol::Udp | Protocol::Other(_) => None,
    }
}

/// Tells whether a protocol reached what was tried; nothing where that was not tried by it.
#[must_use]
pub fn is_reached_by(probe: &Probe, protocol: Protocol) -> Option<bool> {
    if probe.address.is_none() {
        return Some(false);
    }
    measured(probe, protocol).map(|measured| measured == Measured::Reached)
}

/// Lowers what a flow refutes that was reached; returns what was refuted, by the place of the flow. What stops another flow, which was
/// tried and failed, stays as it is.
pub(super) fn refute(tried: &[Tried<'_>], findings: &mut [Finding]) -> Vec<Contradiction> {
    let mut refuted = Vec::new();
    let failed = |finding: &Finding| {
        let mut own = tried.iter().filter(|one| one.measured() == Some(Measured::NotReached));
        own.any(|one| one.is_stopped_by(finding))
    };
    for finding in findings.iter_mut() {
        let fits_sizes = |one: &&Tried<'_>| {
            finding.fault == Fault::MtuMismatch
                && one.shows_whole_packets()
                && one
                    .traces
                    .iter()
                    .any(|trace| trace.findings.iter().any(|own| own.object == finding.object))
        };
        let refuting = tried.iter().enumerate().find(|(_, one)| {
            (one.measured() == Some(Measured::Reached) && one.is_stopped_by(finding)) || fits_sizes(one)
        });
        let Some((at, refuting)) = refuting.filter(|_| !failed(finding)) else { continue };
        if finding.weight == Weight::Broken {
            refuted.push(Contradiction { flow: at, fault: finding.fault, object: finding.object.clone() });
        }
        // A full queue takes one caller and refuses the next.
        finding.weight = if comes_and_goes(finding.fault) { Weight::Degraded } else { Weight::Noticed };
        finding.certainty = Certainty::Likely;
        let shows = said(refuting);
        finding.evidence.push(super::finding::Evidence {
            host: refuting.flow.from.clone(),
            part: Part::Probes,
            shows,
        });
    }
    refuted
}

fn said(tried: &Tried<'_>) -> String {
    let port = tried.flow.port.map(|port| format!(" port {port}")).unwrap_or_default();
    format!("{}{port} was tried and is reached, so this does not stop it", tried.flow.to)
}

/// Weighs the try of a flow against its documents; returns what holds, and what becomes of the flow.
pub(super) fn outcome(tried: &Tried<'_>, fate: Fate, findings: &[Finding]) -> (Weighed, Fate) {
    let computed = tried.computed(&fate, findings);
    let weighed = weigh(computed, tried.measured());
    let fate = match (weighed, fate) {
        (Weighed::PassesAnyway | Weighed::Reached, _) => Fate::Passes,
        (Weighed::FailsUnexplained, Fate::NotKnown(why)) => {
            Fate::NotKnown(format!("it was tried and is not reached; {why}"))
        }
        (Weighed::FailsUnexplained, Fate::Passes | Fate::Stopped) => Fate::NotKnown(format!(
            "it was tried and is not reached, although everything that was read lets it pass; {}",
            unjudged()
        )),
        (Weighed::Agreed, Fate::Passes | Fate::NotKnown(_))
            if tried.measured() == Some(Measured::NotReached) && computed == Computed::Stopped =>
        {
            Fate::Stopped
        }
        (Weighed::Agreed, Fate::Passes) if tried.measured() == Some(Measured::NotReached) => {
            Fate::NotKnown("it was tried and is not reached; what was found loses a share of it".to_owned())
        }
        (Weighed::Agreed | Weighed::Computed, fate) => fate,
    };
    (weighed, fate)
}

/// Tells whether one try may pass though the fault is there.
const fn comes_and_goes(fault: Fault) -> bool {
    matches!(fault, Fault::AcceptQueueFull | Fault::SynFlood | Fault::ConntrackFull | Fault::SnatPorts)
}

/// Tells whether a fault can keep a connection from being made: what only slows, doubles or shortens packets cannot, and a flow to an
/// address needs no names.
const fn loses(fault: Fault) -> bool {
    !matches!(
        fault,
        Fault::NetemDelay
            | Fault::NetemDuplicate
            | Fault::NetemReorder
            | Fault::ReceiveWindow
            | Fault::ReceiveBuffer
            | Fault::MtuMismatch
            | Fault::FragNeededDrop
            | Fault::DscpRewrite
            | Fault::DnsFailure
            | Fault::DnsWrongRecord
            | Fault::DnsSlow
            | Fault::WrongResolver
            | Fault::NoResolver
            | Fault::HostsOverride
            | Fault::UnitFailed
            | Fault::BgpAsnMismatch
            | Fault::OspfTimerMismatch
    )
}
