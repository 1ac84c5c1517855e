//! What came of a complaint about what is inside of a cluster.
//!
//! Goes in: what explains the complaint, the findings that hold. Comes out: an outcome and a sentence. Never: health where something that
//! would decide was not read.

use crate::Outcome;
use crate::complaint::Kind;
use crate::event::Finding;
use crate::finding::title;
use crate::judged::{FlowVerdict, JudgedComplaint, JudgedFlow, JudgedFlows};

/// So much of what is open is named.
const MAX_NAMED: usize = 4;

/// Returns what came of a complaint.
pub(super) fn outcome(
    complaint: &JudgedComplaint,
    judged: &JudgedFlows,
    findings: &[&Finding],
) -> (Outcome, String) {
    if complaint.kind != Kind::Trouble {
        return (Outcome::Inconclusive, "inside of a cluster flows are judged, and nothing else".to_owned());
    }
    let is_found = |fault: &str, object: &str| {
        findings.iter().any(|found| found.code == fault && found.object == object)
    };
    let found: Vec<_> =
        complaint.causes.iter().filter(|cause| is_found(&cause.fault, &cause.object)).collect();
    let names: Vec<String> = found.iter().map(|cause| title(&cause.fault, &cause.object)).collect();
    let unread = judged.clusters.iter().filter(|own| own.unread.is_some());
    let unread = unread.map(|own| format!("{} was not read", own.name));
    let mut open: Vec<String> = complaint.doubts.iter().cloned().chain(unread).collect();
    open.truncate(MAX_NAMED);
    let is_sure = found.iter().any(|cause| !cause.is_likely);
    match (names.is_empty(), open.is_empty()) {
        (false, true) if is_sure => (Outcome::Confirmed, names.join("; ")),
        (false, true) => (Outcome::Likely, names.join("; ")),
        (false, false) => (Outcome::Likely, format!("{}; {}", names.join("; "), open.join("; "))),
        (true, _) if !complaint.causes.is_empty() => {
            let shown = complaint.causes.iter().map(|cause| title(&cause.fault, &cause.object));
            let shown: Vec<String> = shown.collect();
            (Outcome::Inconclusive, format!("it is shown and not claimed: {}", shown.join("; ")))
        }
        (true, false) => (Outcome::Inconclusive, open.join("; ")),
        (true, true) => clear(complaint, judged),
    }
}

/// Says what it comes to where nothing stops the flows.
fn clear(complaint: &JudgedComplaint, judged: &JudgedFlows) -> (Outcome, String) {
    let flows: Vec<&JudgedFlow> = complaint.flows.iter().filter_map(|at| judged.flows.get(*at)).collect();
    if flows.is_empty() || flows.iter().any(|flow| flow.verdict != FlowVerdict::Passes) {
        return (Outcome::Inconclusive, "no flow inside of the cluster is known that it is about".to_owned());
    }
    let why = "policies, services and endpoints let it through; whether the program behind it answers was not tried";
    (Outcome::NoFaultFound, why.to_owned())
}
