//! What is claimed, what of it holds, and what was supposed.

use std::collections::BTreeSet;

use crate::agent::event::{Citation, Finding, ObservationId};
use crate::agent::report::markdown::{code, quote, table, text};
use crate::agent::state::State;
use crate::agent::{Hypothesis, Outcome};

/// Returns the section with what the model claims.
pub(super) fn claim(state: &State) -> String {
    let Some((_, concluded)) = &state.concluded else { return String::new() };
    let title = match concluded.outcome {
        Outcome::Confirmed | Outcome::Likely => "Root cause",
        Outcome::Inconclusive | Outcome::NoFaultFound => "Summary",
    };
    let claim = if concluded.summary.trim().is_empty() {
        "No summary was given.".to_owned()
    } else {
        format!(
            "In the words of the investigator, a claim; what holds stands below.\n\n{}",
            quote(&concluded.summary)
        )
    };
    format!("## {title}\n\n{claim}")
}

/// Returns the section with the findings that hold.
pub(super) fn accepted(state: &State) -> String {
    let title = "## Findings that hold against the evidence";
    if state.accepted.is_empty() {
        return format!("{title}\n\nNone.");
    }
    let findings = (1..).zip(&state.accepted);
    let lines = findings.flat_map(|(number, accepted)| {
        finding(state, number, &accepted.finding, ("borne out", &accepted.why))
    });
    format!("{title}\n\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Returns the section with the findings that do not hold; empty where there are none.
pub(super) fn rejected(state: &State) -> String {
    if state.rejected.is_empty() {
        return String::new();
    }
    let findings = (1..).zip(&state.rejected);
    let lines = findings.flat_map(|(number, rejected)| {
        finding(state, number, &rejected.finding, ("rejected", &rejected.why))
    });
    format!("## Claims that were rejected\n\n{}", lines.collect::<Vec<_>>().join("\n"))
}

fn finding(state: &State, number: usize, finding: &Finding, (label, why): (&str, &str)) -> Vec<String> {
    let marker = format!("{number}. ");
    let indent = " ".repeat(marker.len());
    let (fault, object, statement) = (code(&finding.code), code(&finding.object), text(&finding.statement));
    let mut lines =
        vec![format!("{marker}{fault} · {object}: {statement}"), format!("{indent}- {label}: {}", text(why))];
    if finding.evidence.is_empty() {
        lines.push(format!("{indent}- no observation was named"));
    }
    lines.extend(finding.evidence.iter().map(|citation| format!("{indent}- {}", cite(state, citation))));
    lines
}

fn cite(state: &State, citation: &Citation) -> String {
    let id = citation.observation;
    let quote = citation.quote.as_deref().map(|quote| format!(" says {}", code(quote))).unwrap_or_default();
    match state.observation(id) {
        Some(found) => format!("{id}{quote} ({}, {})", text(&found.observed.what), found.at),
        None => format!("{id}{quote} (there is no such observation)"),
    }
}

/// Returns the section with the board.
pub(in crate::agent::report) fn hypotheses(state: &State) -> String {
    let title = "## Hypotheses";
    if state.hypotheses.is_empty() {
        return format!("{title}\n\nNone.");
    }
    let row = |hypothesis: &Hypothesis| {
        let tests = tests(state, &hypothesis.id).iter().map(ToString::to_string).collect::<Vec<_>>();
        vec![
            text(&hypothesis.id),
            text(&hypothesis.description),
            hypothesis.state.to_string(),
            text(hypothesis.why.as_deref().unwrap_or_default()),
            hypothesis.denials.to_string(),
            tests.join(", "),
        ]
    };
    let rows = state.hypotheses.iter().map(row).collect::<Vec<_>>();
    let header = ["Id", "Hypothesis", "State", "Why", "Denials", "Tested by"];
    format!("{title}\n\n{}", table(&header, &rows))
}

/// Returns the observations of the calls whose steps test a hypothesis.
fn tests(state: &State, hypothesis: &str) -> BTreeSet<ObservationId> {
    let steps = state.steps.iter().filter(|step| step.hypothesis.as_deref() == Some(hypothesis));
    let calls = steps.map(|step| step.call.as_str()).collect::<BTreeSet<_>>();
    let observed = state.observations.iter().map(|observation| &observation.observed);
    let belongs = observed.filter(|observed| match observed.step.and_then(|step| state.step(step)) {
        Some(step) => step.hypothesis.as_deref() == Some(hypothesis),
        None => calls.contains(observed.call.as_str()),
    });
    belongs.map(|observed| observed.id).collect()
}
