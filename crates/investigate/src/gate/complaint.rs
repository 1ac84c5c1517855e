//! What came of each complaint, by the flows that it is about.
//!
//! Goes in: the judged flows, the findings that hold, what was not looked at, who denied what. Comes out: an outcome and a sentence for
//! each complaint, and the most that the session's outcome may be. Never: health for what nobody was allowed to look at.

use crate::complaint::Kind;
use crate::event::{ComplaintOutcome, Finding, Reply};
use crate::finding::{Fault, title};
use crate::gate::{cluster, host};
use crate::judged::{FlowVerdict, JudgedCause, JudgedComplaint, JudgedFlow, JudgedFlows};
use crate::state::{Ending, State, Step};
use crate::suspect::{Layer, Looked, Suspect};
use crate::symptom_text::Symptom;
use crate::unlooked::{unknown_ends, why_open};
use crate::{Outcome, suspect};
use ghost_inspect::measured::{Measured, Weighed, weigh};

/// So many flows are named; the others are counted.
const MAX_NAMED: usize = 3;

/// Returns what came of each complaint. `gaps` is what belongs to the symptoms and was not looked at; `packets` what recorded packets show
/// of flows that got no answer.
pub(super) fn outcomes(
    flows: &JudgedFlows,
    findings: &[&Finding],
    (gaps, packets): (&[Looked], &[Suspect]),
    state: &State,
) -> Vec<ComplaintOutcome> {
    let weigh = Weigh { flows, findings, gaps, packets, state };
    flows.complaints.iter().map(|complaint| weigh.outcome(complaint)).collect()
}

/// Lowers the outcome of a session to what its complaints allow: one explained complaint does not confirm the others.
pub(super) fn lowered(outcome: Outcome, complaints: &[ComplaintOutcome]) -> Outcome {
    let all = |wanted: Outcome| complaints.iter().all(|one| one.outcome == wanted);
    match outcome {
        Outcome::Confirmed if !all(Outcome::Confirmed) => Outcome::Likely,
        Outcome::NoFaultFound if !all(Outcome::NoFaultFound) => Outcome::Inconclusive,
        Outcome::Confirmed | Outcome::Likely | Outcome::Inconclusive | Outcome::NoFaultFound => outcome,
    }
}

/// Lowers the outcome of a session in which something was not looked at that the words speak of: nobody may say that all is well.
pub(super) fn unlooked(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::NoFaultFound => Outcome::Inconclusive,
        Outcome::Confirmed | Outcome::Likely | Outcome::Inconclusive => outcome,
    }
}

/// Lowers the outcome of a session in which nobody judged the flows that people complain about.
pub(super) fn unjudged(outcome: Outcome, findings: &[&Finding]) -> Outcome {
    let needs_flow =
        |found: &&Finding| suspect::is_judged_by_flow(&found.code) || found.object.starts_with("flow/");
    match outcome {
        Outcome::Confirmed if findings.iter().any(needs_flow) => Outcome::Likely,
        Outcome::NoFaultFound => Outcome::Inconclusive,
        Outcome::Confirmed | Outcome::Likely | Outcome::Inconclusive => outcome,
    }
}

struct Weigh<'a> {
    flows: &'a JudgedFlows,
    findings: &'a [&'a Finding],
    gaps: &'a [Looked],
    packets: &'a [Suspect],
    state: &'a State,
}

impl Weigh<'_> {
    fn outcome(&self, complaint: &JudgedComplaint) -> ComplaintOutcome {
        let flows: Vec<&JudgedFlow> =
            complaint.flows.iter().filter_map(|at| self.flows.flows.get(*at)).collect();
        let (outcome, why) = match complaint.kind {
            _ if self.flows.is_of_clusters() => cluster::outcome(complaint, self.flows, self.findings),
            _ if self.flows.is_of_machines() => {
                host::outcome(complaint, self.flows, self.findings, self.gaps)
            }
            Kind::Exposure => self.exposure(),
            Kind::Trouble | Kind::Drift | Kind::Leftovers if flows.is_empty() => self.without_flow(complaint),
            Kind::Trouble | Kind::Drift | Kind::Leftovers => self.with_flows(complaint, &flows),
        };
        // Nobody says that all is well while something that the words speak of was not looked at.
        let (outcome, why) = match (outcome, why_open(self.flows)) {
            (Outcome::NoFaultFound, Some(open)) => (Outcome::Inconclusive, format!("{open}; {why}")),
            (outcome, _) => (outcome, why),
        };
        ComplaintOutcome { about: about(complaint, &flows), outcome, why }
    }

    fn exposure(&self) -> (Outcome, String) {
        let open: Vec<String> = self
            .findings
            .iter()
            .filter(|found| found.code == Fault::NsgExposure)
            .map(|found| named(found))
            .collect();
        if !open.is_empty() {
            return (Outcome::Confirmed, open.join("; "));
        }
        match self.gap(&[Layer::Exposure, Layer::Rules]) {
            Some(gap) => (Outcome::Inconclusive, gap),
            None => (Outcome::NoFaultFound, "no group lets the internet in".to_owned()),
        }
    }

    fn without_flow(&self, complaint: &JudgedComplaint) -> (Outcome, String) {
        if let Some(unknown) = unknown_ends(&complaint.unknown) {
            return (Outcome::Inconclusive, unknown);
        }
        let found: Vec<String> = self.findings.iter().map(|found| named(found)).collect();
        if found.is_empty() {
            let gap = self.gap(&[]);
            return (
                Outcome::Inconclusive,
                gap.unwrap_or_else(|| "no flow is known that it is about".to_owned()),
            );
        }
        (Outcome::Confirmed, found.join("; "))
    }

    fn with_flows(&self, complaint: &JudgedComplaint, flows: &[&JudgedFlow]) -> (Outcome, String) {
        let mut found: Vec<String> = Vec::new();
        let asks = |symptom: Symptom| complaint.symptoms.contains(&symptom);
        let is_change = complaint.kind == Kind::Drift
            || asks(Symptom::RolledBack)
            || asks(Symptom::NothingChanged)
            || self.flows.is_beside_flows();
        for finding in self.findings {
            let of_flow = flows.iter().any(|flow| {
                let mut causes = flow.causes.iter().chain(&flow.behind);
                let is_cause = causes
                    .any(|cause| finding.code == cause.fault.as_str() && cause.object == finding.object);
                is_cause
                    || flow.is(&finding.object)
                    || !complaint.names_port && flow.is_between(&finding.object)
            });
            let is_beside = is_beside(&finding.code, complaint);
            let name = named(finding);
            if (of_flow || is_beside || is_change) && !found.contains(&name) {
                found.push(name);
            }
        }
        let open: Vec<&&JudgedFlow> =
            flows.iter().filter(|flow| flow.verdict == FlowVerdict::Indeterminate).collect();
        // A gap that is itself among the findings explains the flow.
        let gap = flows.iter().filter(|flow| !self.tells_gap(flow)).find_map(|flow| flow.gap());
        match (found.is_empty(), gap, open.first()) {
            (false, None, None) => (Outcome::Confirmed, found.join("; ")),
            (false, Some(gap), _) => (Outcome::Likely, format!("{}; besides, {gap}", found.join("; "))),
            (false, None, Some(open)) => {
                (Outcome::Likely, format!("{}; not certain for {}", found.join("; "), open.name()))
            }
            (true, Some(gap), _) => (Outcome::Inconclusive, gap.to_owned()),
            (true, None, Some(open)) => {
                let missing: Vec<&str> = open.missing.iter().take(3).map(|one| one.what.as_str()).collect();
                let denied = self.denied().map(|who| format!("; {who}")).unwrap_or_default();
                (Outcome::Inconclusive, format!("not checked: {}{denied}", missing.join(", ")))
            }
            (true, None, None) => self.clear(complaint, flows),
        }
    }

    /// Tells whether what is missing on the path of a flow is among the findings.
    fn tells_gap(&self, flow: &JudgedFlow) -> bool {
        let gaps = flow.causes.iter().filter(|cause| cause.is_gap);
        let is_found = |cause: &JudgedCause| {
            let mut found = self.findings.iter();
            found.any(|found| found.code == cause.fault.as_str() && found.object == cause.object)
        };
        let mut all = gaps.peekable();
        all.peek().is_some() && all.all(is_found)
    }

    /// Says what it comes to where nothing on the flows was claimed.
    fn clear(&self, complaint: &JudgedComplaint, flows: &[&JudgedFlow]) -> (Outcome, String) {
        if let Some(shown) = against(self.packets, complaint, flows) {
            let title = title(&shown.code, &shown.object);
            return (
                Outcome::Inconclusive,
                format!("everything that was read lets it pass, and its own packets do not: {title}"),
            );
        }
        if let Some(cause) = flows.iter().find_map(|flow| flow.causes.first()) {
            return (
                Outcome::Inconclusive,
                format!("it is shown and not claimed: {}", title(&cause.fault, &cause.object)),
            );
        }
        match self.gap(&[
            Layer::Wire,
            Layer::Measure,
            Layer::Rules,
            Layer::Routes,
            Layer::Guest,
            Layer::Shaping,
        ]) {
            Some(gap) => {
                (Outcome::Inconclusive, format!("passes, judged end to end in both directions; {gap}"))
            }
            None => (
                Outcome::NoFaultFound,
                "passes, judged end to end in both directions, and nothing is left open".to_owned(),
            ),
        }
    }

    /// Says what was not checked, among some layers or all, and who did not consent to it.
    fn gap(&self, layers: &[Layer]) -> Option<String> {
        let mut open: Vec<&str> = self
            .gaps
            .iter()
            .filter(|gap| layers.is_empty() || layers.contains(&gap.layer))
            .map(|gap| gap.layer.describe())
            .collect();
        open.dedup();
        if open.is_empty() {
            return None;
        }
        let denied = self.denied().map(|who| format!(", {who}")).unwrap_or_default();
        Some(format!("not checked: {}{denied}", open.join(", ")))
    }

    /// Says who denied something that was to be looked at, the last one.
    fn denied(&self) -> Option<String> {
        let decided = |step: &Step| {
            let asked = step.rounds.iter().flat_map(|round| &round.approvals);
            let endings = asked.filter_map(|name| self.state.approvals.get(name)?.ending.as_ref());
            let mut denials = endings.filter_map(|ending| match ending {
                Ending::Decided { answer: Reply::Deny { .. }, who, .. } => Some(format!("denied by {who}")),
                Ending::Expired { .. } => Some("nobody answered who was asked".to_owned()),
                Ending::Decided { .. } => None,
            });
            denials.next_back()
        };
        self.state.steps.iter().rev().filter(|step| !step.is_completed()).find_map(decided)
    }
}

/// Returns what recorded packets show of a flow that passes by everything that was read: what was measured outranks it.
fn against<'s>(
    packets: &'s [Suspect],
    complaint: &JudgedComplaint,
    flows: &[&JudgedFlow],
) -> Option<&'s Suspect> {
    let contradicts = |flow: &JudgedFlow, shown: &Suspect| {
        let is_any_port = !complaint.names_port || flow.port.is_none();
        let is_of = flow.is(&shown.object) || (is_any_port && flow.is_between(&shown.object));
        is_of && weigh(flow.verdict.computed(), Some(Measured::NotReached)) == Weighed::FailsUnexplained
    };
    packets.iter().find(|shown| flows.iter().any(|flow| contradicts(flow, shown)))
}

/// Tells whether a fault that no flow shows is what a complaint is about.
fn is_beside(code: &str, complaint: &JudgedComplaint) -> bool {
    let asks = |symptom: Symptom| complaint.symptoms.contains(&symptom);
    code.parse::<Fault>().is_ok_and(|fault| {
        (fault == Fault::DnsFailure && asks(Symptom::Names))
            || (fault.layer() == Layer::Storage && asks(Symptom::StorageUnreachable))
            || [Fault::NoDrift, Fault::ArpConflict].contains(&fault)
    })
}

fn named(finding: &Finding) -> String {
    title(&finding.code, &finding.object)
}

/// Names what a complaint is about.
fn about(complaint: &JudgedComplaint, flows: &[&JudgedFlow]) -> String {
    let mut names: Vec<String> = flows.iter().take(MAX_NAMED).map(|flow| flow.name()).collect();
    let more = (flows.len() + complaint.unlisted).saturating_sub(MAX_NAMED);
    names.extend((more > 0).then(|| format!("{more} more")));
    if names.is_empty() {
        names.extend(complaint.machines.iter().take(MAX_NAMED).cloned());
    }
    if names.is_empty() {
        names.extend(complaint.unknown.iter().map(|unknown| unknown.word.clone()));
    }
    let what = match complaint.kind {
        Kind::Exposure => "What is open to the internet",
        Kind::Drift => "What changed",
        Kind::Leftovers => "What is left over",
        Kind::Trouble if names.is_empty() => "What was said",
        Kind::Trouble => return names.join(", "),
    };
    if names.is_empty() { what.to_owned() } else { format!("{what}: {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(outcome: Outcome) -> ComplaintOutcome {
        ComplaintOutcome { about: String::new(), outcome, why: String::new() }
    }

    #[test]
    fn one_explained_complaint_does_not_confirm_the_others() {
        let mixed = [one(Outcome::Confirmed), one(Outcome::NoFaultFound)];
        assert_eq!(lowered(Outcome::Confirmed, &mixed), Outcome::Likely);
        assert_eq!(lowered(Outcome::Confirmed, &[one(Outcome::Confirmed)]), Outcome::Confirmed);
        assert_eq!(lowered(Outcome::Confirmed, &[]), Outcome::Confirmed);
        assert_eq!(lowered(Outcome::NoFaultFound, &[one(Outcome::Inconclusive)]), Outcome::Inconclusive);
        assert_eq!(lowered(Outcome::Likely, &mixed), Outcome::Likely);
    }

    #[test]
    fn packets_without_an_answer_outrank_documents_that_let_the_flow_pass() {
        let flow = |verdict: &str| -> JudgedFlow {
            serde_json::from_value(serde_json::json!({"source": "10.0.1.4", "source_machine": "web", "destination": "10.0.2.4",
                "destination_machine": "db", "protocol": "tcp", "port": 5432, "verdict": verdict, "outcome": "", "causes": [],
                "behind": [], "missing": []}))
            .unwrap()
        };
        let complaint: JudgedComplaint =
            serde_json::from_value(serde_json::json!({"kind": "trouble", "symptoms": [],
            "names_port": true, "flows": [0], "machines": [], "unknown": []}))
            .unwrap();
        let shown = |object: &str| [Suspect::new(Fault::SynUnanswered, object.to_owned(), "132 SYNs")];
        let is_against =
            |verdict: &str, object: &str| against(&shown(object), &complaint, &[&flow(verdict)]).is_some();
        let own = "flow/10.0.1.4/10.0.2.4/tcp/5432";
        assert!(is_against("PASSES", own));
        assert!(!is_against("BLOCKED", own) && !is_against("DEGRADED", own));
        assert!(!is_against("PASSES", "flow/10.0.1.4/10.0.2.4/tcp/9999"));
    }

    #[test]
    fn without_a_judgement_of_flows_nothing_about_flows_is_certain() {
        let found = |code: &str, object: &str| Finding {
            code: code.into(),
            object: object.to_owned(),
            statement: String::new(),
            evidence: Vec::new(),
        };
        let (rule, wire) =
            (found("nsg_deny", "nsg/n/r"), found("syn_unanswered", "flow/1.1.1.1/2.2.2.2/tcp/1"));
        let storage = found("storage_firewall_deny", "storage/a");
        assert_eq!(unjudged(Outcome::Confirmed, &[&rule]), Outcome::Likely);
        assert_eq!(unjudged(Outcome::Confirmed, &[&wire]), Outcome::Likely);
        assert_eq!(unjudged(Outcome::Confirmed, &[&storage]), Outcome::Confirmed);
        assert_eq!(unjudged(Outcome::NoFaultFound, &[]), Outcome::Inconclusive);
    }
}
