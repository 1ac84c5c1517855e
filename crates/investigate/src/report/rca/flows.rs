//! The flows that people complain about, and what was noticed beside them.

use crate::event::ComplaintOutcome;
use crate::judged::{FlowVerdict, JudgedFlow, judged};
use crate::platform_answer::{PlatformAnswer, platform_answers};
use crate::report::answer::decider;
use crate::report::markdown::{code, text};
use crate::state::State;

/// So many things that do not matter are listed; the others are counted.
const MAX_NOTICED: usize = 8;

/// Returns the section on the flows; empty where none was judged.
pub(super) fn flows(state: &State) -> String {
    let Some((_, judged)) = judged(state).filter(|(_, judged)| !judged.flows.is_empty()) else {
        return String::new();
    };
    let lines: Vec<String> = judged.flows.iter().map(line).collect();
    let complaints = state.concluded.iter().flat_map(|(_, concluded)| &concluded.complaints);
    let complaints: Vec<String> = complaints.map(complaint).collect();
    let complaints = match complaints.len() {
        0 => String::new(),
        _ => format!("{}\n\n", complaints.join("\n")),
    };
    format!("## Flows in question\n\n{complaints}{}", lines.join("\n"))
}

/// Tells in a line what came of a complaint.
fn complaint(one: &ComplaintOutcome) -> String {
    let outcome = one.outcome.as_str().replace('_', " ").to_lowercase();
    format!("- **{}**, {outcome}: {}", text(&one.about), text(&one.why))
}

fn line(flow: &JudgedFlow) -> String {
    let name = code(&flow.name());
    match flow.verdict {
        FlowVerdict::Passes if flow.cluster.is_some() => format!("- {name}: {}", text(&flow.passing())),
        FlowVerdict::Passes => format!("- {name}: {}, judged end to end", flow.passing()),
        FlowVerdict::Blocked => match flow.gap() {
            Some(gap) => format!("- {name}: nothing leads there: {}", text(gap)),
            None => format!("- {name}: blocked{}", causes(flow)),
        },
        FlowVerdict::Degraded => format!("- {name}: degraded{}", causes(flow)),
        FlowVerdict::Indeterminate => {
            let missing: Vec<String> =
                flow.missing.iter().map(|one| format!("{} ({})", text(&one.what), text(&one.why))).collect();
            format!("- {name}: not certain; not read: {}", missing.join("; "))
        }
    }
}

fn causes(flow: &JudgedFlow) -> String {
    let objects: Vec<String> = flow.causes.iter().map(|cause| text(&decider(cause))).collect();
    let behind: Vec<String> = flow.behind.iter().map(|cause| text(&decider(cause))).collect();
    let behind = if behind.is_empty() {
        String::new()
    } else {
        format!("; once that is gone, by {}", behind.join(", "))
    };
    format!(" by {}{behind}", objects.join(", "))
}

/// Returns the section on what Azure itself says of flows; empty where Network Watcher was not asked.
pub(super) fn platform(state: &State) -> String {
    let lines: Vec<String> = platform_answers(state).iter().map(said).collect();
    if lines.is_empty() {
        return String::new();
    }
    let intro = "Network Watcher sees one interface at one moment, and nothing inside machines.";
    format!("## What Azure itself says\n\n{intro}\n\n{}", lines.join("\n"))
}

fn said(answer: &PlatformAnswer) -> String {
    let PlatformAnswer { observation, flow, verdict, .. } = answer;
    let agrees = match verdict.agrees {
        Some(true) => "Ghost agrees",
        Some(false) => "**Ghost disagrees**",
        None => "Not compared",
    };
    let seen = observation.map(|id| format!(" ({id})")).unwrap_or_default();
    let said = (text(&verdict.said), text(&verdict.why));
    format!("- {} on {}{seen}: {}. {agrees}: {}", code(verdict.command), code(flow), said.0, said.1)
}

/// Returns the section on what seems alarming and is not the cause; empty where nothing was noticed.
pub(super) fn noticed(state: &State) -> String {
    let Some((_, judged)) = judged(state).filter(|(_, judged)| !judged.noticed.is_empty()) else {
        return String::new();
    };
    let all = judged.noticed.iter();
    let mut lines: Vec<String> = all
        .take(MAX_NOTICED)
        .map(|one| {
            format!("- {}: {}. Not the cause: {}", code(&one.object), text(&one.what), text(&one.why_not))
        })
        .collect();
    if let Some(more) = judged.noticed.len().checked_sub(MAX_NOTICED).filter(|more| *more > 0) {
        lines.push(format!("- and {more} more"));
    }
    format!("## Noticed, and not the cause\n\n{}", lines.join("\n"))
}
