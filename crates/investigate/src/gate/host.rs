//! What came of a complaint about machines that were read themselves.
//!
//! Goes in: what explains the complaint, the findings that hold, what was closed. Comes out: an outcome and a sentence. Never: health for
//! what was closed, certainty where something that would decide was not read.

use crate::Outcome;
use crate::complaint::Kind;
use crate::event::Finding;
use crate::finding::title;
use crate::judged::{JudgedComplaint, JudgedFlows};
use crate::suspect::Looked;

/// So much of what is open is named.
const MAX_NAMED: usize = 4;

/// Returns what came of a complaint. `gaps` is what was not looked at.
pub(super) fn outcome(
    complaint: &JudgedComplaint,
    judged: &JudgedFlows,
    findings: &[&Finding],
    gaps: &[Looked],
) -> (Outcome, String) {
    match complaint.kind {
        Kind::Trouble => {}
        Kind::Exposure => {
            return (Outcome::Inconclusive, "what is open to whom is not judged on machines".to_owned());
        }
        // What changed is said by what was kept before.
        Kind::Drift => {}
        Kind::Leftovers => {
            return (Outcome::Inconclusive, "what is left over is not judged on machines".to_owned());
        }
    }
    let is_found = |fault: &str, object: &str| {
        findings.iter().any(|found| found.code == fault && found.object == object)
    };
    let found: Vec<_> =
        complaint.causes.iter().filter(|cause| is_found(&cause.fault, &cause.object)).collect();
    let names: Vec<String> = found.iter().map(|cause| title(&cause.fault, &cause.object)).collect();
    let open = open(complaint, judged, gaps);
    let is_sure = found.iter().any(|cause| !cause.is_likely);
    match (names.is_empty(), open.is_empty()) {
        (false, true) if is_sure => (Outcome::Confirmed, names.join("; ")),
        (false, true) => (Outcome::Likely, names.join("; ")),
        (false, false) => (Outcome::Likely, format!("{}; {}", names.join("; "), open.join("; "))),
        (true, _) if !complaint.causes.is_empty() => {
            let shown = complaint.causes.iter().map(|cause| title(&cause.fault, &cause.object));
            (
                Outcome::Inconclusive,
                format!("it is shown and not claimed: {}", shown.collect::<Vec<_>>().join("; ")),
            )
        }
        (true, true) if complaint.doubts.is_empty() && complaint.kind == Kind::Drift => {
            (Outcome::NoFaultFound, "nothing changed since the state that was kept".to_owned())
        }
        (true, true) if complaint.doubts.is_empty() => (
            Outcome::NoFaultFound,
            "everything that could explain it was read on the machines, and is well".to_owned(),
        ),
        (true, _) => {
            let all = complaint.doubts.iter().cloned().chain(open).take(MAX_NAMED);
            (Outcome::Inconclusive, all.collect::<Vec<_>>().join("; "))
        }
    }
}

/// Says what was not read.
fn open(complaint: &JudgedComplaint, judged: &JudgedFlows, gaps: &[Looked]) -> Vec<String> {
    let unread = judged.machines.iter().filter(|machine| machine.unread.is_some());
    let mut open: Vec<String> = unread.map(|machine| format!("{} was not read", machine.name)).collect();
    let is_own =
        |gap: &&Looked| complaint.machines.iter().any(|name| name.eq_ignore_ascii_case(&gap.subject));
    let own = gaps.iter().filter(is_own);
    open.extend(own.map(|gap| format!("not read: {} of {}", gap.layer.describe(), gap.subject)));
    open.truncate(MAX_NAMED);
    open
}
