//! What is claimed, what of it holds, and what was supposed.

use std::collections::BTreeSet;

use crate::changed::{self, LogReading, log_reading};
use crate::event::{Citation, Finding, FindingAccepted, ObservationId};
use crate::finding::{Fault, title};
use crate::report::amount::moment;
use crate::report::answer::is_playbook;
use crate::report::markdown::{code, inline, quote, table, text};
use crate::report::rca::proof;
use crate::state::State;
use crate::{Fence, Hypothesis, HypothesisState};

/// Returns the section with what a model says; empty where the playbook spoke, whose words are the answer.
pub(super) fn claim(state: &State) -> String {
    let Some((_, concluded)) = &state.concluded else { return String::new() };
    if is_playbook(&state.opened.investigator) || concluded.summary.trim().is_empty() {
        return String::new();
    }
    format!("## In the investigator's words\n\n{}", quote(concluded.summary.trim()))
}

/// Returns the section with the findings that hold.
pub(super) fn accepted(state: &State) -> String {
    let title = "## What is broken, and what proves it";
    if state.accepted.is_empty() {
        return format!("{title}\n\nNo fault is borne out by the evidence.");
    }
    // What is said of several flows in the same words is one fault with several proofs.
    let mut named: Vec<(String, Vec<&FindingAccepted>)> = Vec::new();
    for accepted in &state.accepted {
        let name = title_of(&accepted.finding);
        match named.iter_mut().find(|(known, _)| *known == name) {
            Some((_, same)) => same.push(accepted),
            None => named.push((name, vec![accepted])),
        }
    }
    let mut explained = BTreeSet::new();
    let lines = (1..).zip(&named).flat_map(|(number, (_, same))| {
        let Some((accepted, others)) = same.split_first() else { return Vec::new() };
        // How a fault works is explained once, however often it is found.
        let effect = explained.insert(&accepted.finding.code);
        let mut lines = holds(state, number, &accepted.finding, &accepted.why, effect);
        let more = others.iter().flat_map(|other| reasons(&other.why));
        lines.extend(more.map(|reason| format!("   - Shown, too: {}", inline(reason))));
        lines
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let dated =
        state.accepted.iter().any(|found| is_dated(&found.why) || found.finding.code == Fault::NoDrift);
    let since = match log_reading(state) {
        Some(LogReading::Unread(why)) if !dated => {
            format!("\n\nSince when: not known, the activity log was not read: {why}.")
        }
        None if !dated => {
            "\n\nSince when: nothing that was read carries a date, and no baseline was compared.".to_owned()
        }
        Some(LogReading::Read(..) | LogReading::Unread(_)) | None => String::new(),
    };
    format!("{title}\n\n{lines}{since}")
}

fn title_of(finding: &Finding) -> String {
    title(&finding.code, &finding.object)
}

fn holds(state: &State, number: usize, finding: &Finding, why: &str, effect: bool) -> Vec<String> {
    let marker = format!("{number}. ");
    let indent = " ".repeat(marker.len());
    let mut lines = vec![format!("{marker}**{}**", text(&title_of(finding)))];
    let reasons = reasons(why);
    lines.extend(reasons.iter().map(|reason| format!("{indent}- Shown: {}", inline(reason))));
    if !finding.statement.trim().is_empty() && !reasons.contains(&finding.statement.trim()) {
        lines.push(format!("{indent}- In the investigator's words: {}", text(&finding.statement)));
    }
    let cited = finding.evidence.iter().map(|cited| cite(state, cited)).collect::<Vec<_>>();
    lines.extend((!cited.is_empty()).then(|| format!("{indent}- Proof: {}", cited.join("; "))));
    if let (true, Some(fault)) = (effect, finding.code.fault()) {
        lines.push(format!("{indent}- Effect: {}", fault.mechanism()));
    }
    for (origin, shown) in changed::origins(state) {
        if finding.code.as_str() == origin.fault && finding.object == origin.object {
            let shown: Vec<String> = shown.iter().map(ToString::to_string).collect();
            lines.push(format!("{indent}- Since when: {} ({})", text(&origin.sentence), shown.join(", ")));
        }
    }
    if is_dated(why) {
        lines.push(format!("{indent}- Since when: it was not so when the baseline was taken"));
    }
    lines
}

fn is_dated(why: &str) -> bool {
    why.contains("since the baseline")
}

/// Splits what supports a finding, `o3: why; o4: why`: each reason once, without the names of observations.
pub(in crate::report) fn reasons(why: &str) -> Vec<&str> {
    let mut reasons: Vec<&str> = Vec::new();
    let mut rest = why;
    loop {
        let next =
            rest.match_indices("; o").find(|(at, _)| after_id(rest.get(at + 2..).unwrap_or("")).is_some());
        let (one, more) = match next {
            Some((at, _)) => rest.split_at_checked(at).unwrap_or((rest, "")),
            None => (rest, ""),
        };
        let bare = after_id(one).unwrap_or(one).trim();
        if !bare.is_empty() && !reasons.contains(&bare) {
            reasons.push(bare);
        }
        match more.get(2..) {
            Some(more) => rest = more,
            None => return reasons,
        }
    }
}

/// Returns what stands behind the name of an observation and its colon.
fn after_id(text: &str) -> Option<&str> {
    let (id, rest) = text.split_once(": ")?;
    id.parse::<ObservationId>().ok().map(|_| rest)
}

/// Returns the section with the findings that do not hold; empty where there are none.
pub(super) fn rejected(state: &State) -> String {
    if state.rejected.is_empty() {
        return String::new();
    }
    let findings = (1..).zip(&state.rejected);
    let lines =
        findings.flat_map(|(number, rejected)| fails(state, number, &rejected.finding, &rejected.why));
    let intro = "These were claimed meanwhile, and the evidence does not support them:";
    format!("## Claims that were rejected\n\n{intro}\n\n{}", lines.collect::<Vec<_>>().join("\n"))
}

fn fails(state: &State, number: usize, finding: &Finding, why: &str) -> Vec<String> {
    let marker = format!("{number}. ");
    let indent = " ".repeat(marker.len());
    let (fault, object, statement) = (code(&finding.code), code(&finding.object), text(&finding.statement));
    let mut lines = vec![
        format!("{marker}{fault} · {object}: {statement}"),
        format!("{indent}- rejected: {}", text(why)),
    ];
    if finding.evidence.is_empty() {
        lines.push(format!("{indent}- no observation was named"));
    }
    lines.extend(finding.evidence.iter().map(|citation| format!("{indent}- {}", cite(state, citation))));
    lines
}

fn cite(state: &State, citation: &Citation) -> String {
    let id = citation.observation;
    let quote =
        citation.quote.as_deref().map(|quote| format!(", which says {}", code(quote))).unwrap_or_default();
    match state.observation(id) {
        Some(found) => {
            let (what, how) = (proof::looked(state, &found.observed), proof::source(found.observed.source));
            format!("{id}, {what} ({how}, {} UTC){quote}", moment(found.at))
        }
        None => format!("{id}{quote} (there is no such observation)"),
    }
}

/// Returns the section with what was ruled out, and how; empty where nothing was.
pub(super) fn ruled_out(state: &State) -> String {
    let lines = lines(state, HypothesisState::Refuted, "no");
    if lines.is_empty() {
        String::new()
    } else {
        format!("## What was ruled out, and how\n\n{}", lines.join("\n"))
    }
}

/// Returns lines about what is open on the board.
pub(super) fn open(state: &State) -> Vec<String> {
    [
        (HypothesisState::Active, "still being tested"),
        (HypothesisState::Unverifiable, "not known"),
        (HypothesisState::Contradicted, "contradicted by the evidence"),
    ]
    .into_iter()
    .flat_map(|(wanted, word)| lines(state, wanted, word))
    .collect()
}

fn lines(state: &State, wanted: HypothesisState, word: &str) -> Vec<String> {
    let of = state.hypotheses.iter().filter(|hypothesis| hypothesis.state == wanted);
    of.map(|hypothesis| {
        let name = if hypothesis.description.is_empty() { &hypothesis.id } else { &hypothesis.description };
        let why = match hypothesis.why.as_deref().map(str::trim).filter(|why| !why.is_empty()) {
            Some(why) => text(&Fence::without_markers(why)),
            None => tested(state, hypothesis),
        };
        format!("- {}: **{word}.** {why}", text(name.trim().trim_end_matches('.')))
    })
    .collect()
}

fn tested(state: &State, hypothesis: &Hypothesis) -> String {
    let by = tests(state, &hypothesis.id).iter().map(ToString::to_string).collect::<Vec<_>>();
    if by.is_empty() {
        "No observation was made for it.".to_owned()
    } else {
        format!("Tested by {}.", by.join(", "))
    }
}

/// Returns the section with the board.
pub(in crate::report) fn hypotheses(state: &State) -> String {
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
            text(&Fence::without_markers(hypothesis.why.as_deref().unwrap_or_default())),
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

#[cfg(test)]
mod tests_of_words {
    use super::reasons;

    #[test]
    fn the_same_reason_is_shown_once() {
        assert_eq!(reasons("o8: it denies; it does; o9: it denies; it does"), ["it denies; it does"]);
        assert_eq!(reasons("o1: a; o2 says \"b\""), ["a; o2 says \"b\""]);
        assert_eq!(reasons("rule 1 matches"), ["rule 1 matches"]);
        assert!(reasons("").is_empty());
    }
}
