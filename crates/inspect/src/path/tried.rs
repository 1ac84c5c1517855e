//! What a try of the flow itself showed, held against the judgement: a measurement outranks what was computed.

use serde::Serialize;

use super::document::Document;
use super::estate::Estate;
use super::fault::Fault;
use super::flow::{Flow, Protocol};
use super::judge::{Fate, Judgement};
use super::noticed::Noticed;
use super::report::{Report, ReportedMissing};
use crate::measured::{Computed, Measured, Probe, Weighed, unjudged, weigh};

/// A try of the flow that the documents hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportedTry {
    /// The machine that tried.
    pub from: String,
    /// Whether the destination answered.
    pub is_reached: bool,
    /// Whether that contradicts what the other documents say.
    pub is_contradiction: bool,
}

/// Finds the try of exactly this flow: from its caller, to its destination and port, by its protocol.
fn of<'a>(estate: &'a Estate, flow: &Flow) -> Option<(&'a str, Measured)> {
    let (machine, probes) = estate.probes_at(flow.src)?;
    let showed = |probe: &Probe| match flow.protocol {
        Protocol::Tcp => probe.connection().filter(|_| probe.port == flow.dst_port),
        Protocol::Icmp => probe.echo(),
        Protocol::Udp => None,
    };
    let measured = probes.iter().filter(|probe| probe.is_to(flow.dst)).find_map(showed)?;
    Some((machine, measured))
}

/// Says what the other documents come to.
fn computed(judgement: &Judgement) -> Computed {
    let loses =
        |fault: Fault| !matches!(fault, Fault::NetemDelay | Fault::NetemDuplicate | Fault::NetemReorder);
    match judgement.fate {
        Fate::Passes => Computed::Passes,
        Fate::Degraded if !judgement.hurts().iter().any(|(_, effect)| loses(effect.cause.fault)) => {
            Computed::Slowed
        }
        Fate::Degraded | Fate::Partly => Computed::Lossy,
        Fate::Stopped | Fate::NoPath(_) => Computed::Stopped,
        Fate::Unknown => Computed::NotKnown,
    }
}

impl Report {
    /// Holds what a try of the flow showed against the report.
    pub(super) fn weighed(mut self, estate: &Estate, judgement: &Judgement) -> Self {
        let Some((from, measured)) = of(estate, &judgement.flow) else { return self };
        let computed = computed(judgement);
        let weighed = weigh(computed, Some(measured));
        let is_contradiction = weighed.is_contradiction(computed);
        let is_reached = measured == Measured::Reached;
        self.tried = Some(ReportedTry { from: from.to_owned(), is_reached, is_contradiction });
        let outcome = if is_reached { "is reached" } else { "is not reached" };
        let tried = format!("it was tried from {from} and {outcome}");
        match weighed {
            Weighed::Computed => {}
            Weighed::Agreed => self.fate = format!("{}; {tried}", self.fate),
            Weighed::Reached => {
                self.verdict = Fate::Passes.verdict();
                self.fate = format!("{}: {tried}; the other documents do not decide it", Fate::Passes);
            }
            Weighed::FailsUnexplained if is_contradiction => {
                self.fate =
                    format!("{}: {tried}, although everything that was read lets it pass", Fate::Unknown);
            }
            Weighed::FailsUnexplained => self.fate = format!("{}: {tried}", Fate::Unknown),
            Weighed::PassesAnyway => {
                self.fate = format!("{}: {tried}, although the other documents stop it", Fate::Unknown);
                // What does not stop the flow is not its cause.
                let refuted =
                    std::mem::take(&mut self.causes).into_iter().chain(std::mem::take(&mut self.behind));
                self.noticed.extend(refuted.map(|cause| Noticed {
                    object: cause.object,
                    what: format!("{}: {}", cause.fault, cause.reason),
                    why_not: "the flow was tried and is reached".to_owned(),
                }));
            }
        }
        if is_contradiction {
            self.verdict = Fate::Unknown.verdict();
            self.missing.push(ReportedMissing {
                what: Document::Packets { machine: from.to_owned() }.to_string(),
                why: format!("a try and the documents contradict one another; {}", unjudged()),
            });
        }
        self
    }
}
