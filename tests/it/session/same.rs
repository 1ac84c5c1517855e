//! Whether two sessions came to the same end.

use ghost_investigate::Outcome;
use ghost_investigate::event::StepId;
use ghost_investigate::state::{State, Step};

use super::plot::endings;
use super::proof::End;

/// Holds that a session ended as the unbroken one did. Where a command's outcome was unknown, the outline of that command may
/// differ, and nothing else.
pub(super) fn same(at: &str, end: &End, whole: &End) {
    let unknown: Vec<StepId> = end.state.unknown_steps().map(|step| step.id).collect();
    assert_eq!(outline(&end.state, &unknown), outline(&whole.state, &unknown), "{at}");
    let (report, wanted) = (leveled(&end.report), leveled(&whole.report));
    let outcome = |end: &End| end.state.concluded.as_ref().unwrap().1.outcome;
    if unknown.is_empty() {
        assert_eq!(outcome(end), outcome(whole), "{at}");
        assert_eq!(report, wanted, "{at}");
        return;
    }
    // What is not known of a command lowers what the session is sure of; one that was run again is known.
    let lost = end.state.unknown_steps().any(|step| !step.is_completed());
    assert_eq!(outcome(end), if lost { Outcome::Likely } else { outcome(whole) }, "{at}");
    let about = |line: &str| unknown.iter().any(|step| concerns(line, &whole.state, *step));
    // The answer says in one line what did not run and what is not known.
    let joined = |line: &str| line.starts_with("- Not run:");
    for line in wanted.lines().filter(|line| !about(line) && !joined(line)) {
        assert!(report.contains(line), "{at}: the report lacks {line:?}:\n{report}");
    }
}

/// Returns what a session found out, without what depends on when and how often it was interrupted.
fn outline(state: &State, without: &[StepId]) -> Vec<String> {
    let (_, concluded) = state.concluded.as_ref().unwrap();
    let (by, summary, claimed) = (&concluded.by, &concluded.summary, &concluded.claimed);
    let mut outline =
        vec![format!("{by} {summary} {claimed:?}"), format!("{:?} {:?}", state.accepted, state.rejected)];
    outline
        .extend(state.hypotheses.iter().map(|one| format!("{} {} {:?}", one.id, one.description, one.state)));
    outline.extend(state.steps.iter().filter(|step| !without.contains(&step.id)).map(step));
    outline.extend(endings(state));
    let seen = state.observations.iter().map(|seen| &seen.observed);
    let seen = seen.filter(|seen| !seen.step.is_some_and(|step| without.contains(&step)));
    outline
        .extend(seen.map(|seen| format!("{} {:?} {} {}", seen.what, seen.source, seen.digest, seen.bytes)));
    outline
}

fn step(step: &Step) -> String {
    let done = step.done.as_ref().unwrap();
    let verdicts: Vec<&str> = step.rounds.iter().map(|round| round.classified.verdict.as_str()).collect();
    let (what, how) = (step.current(), (&done.status, &done.action, done.exit_code));
    format!(
        "{} {what} {verdicts:?} {how:?} {} {} {} {:?}",
        step.id, done.output, done.stderr, done.reason, done.modified_command
    )
}

/// Tells whether a line of a report is about a step or what it showed.
fn concerns(line: &str, state: &State, step: StepId) -> bool {
    let seen = state.observations.iter().filter(|seen| seen.observed.step == Some(step));
    let mut names: Vec<String> = seen.map(|seen| seen.observed.id.to_string()).collect();
    names.push(step.to_string());
    names.extend(state.step(step).map(|step| leveled(step.current())));
    let words = |name: &str| line.split(|char: char| !char.is_ascii_alphanumeric()).any(|word| word == name);
    // A board counts denials and tests, and observations behind the missing one have other numbers.
    let sure = ["utcome", "onfidence", "belongs to this symptom was looked at"]
        .iter()
        .any(|word| line.contains(word));
    let counts = sure || line.starts_with("# ") || line.starts_with("| H") || line.starts_with("| o");
    counts || names.iter().any(|name| words(name) || line.contains(name.as_str()))
}

/// Replaces what must differ: words that begin with a digit (times, counts, numbers of records) and digests. How long it took is left out.
fn leveled(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("- Time:")).collect();
    let (mut out, text) = (String::new(), lines.join("\n"));
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, tail) = if end == 0 { rest.split_at(first.len_utf8()) } else { rest.split_at(end) };
        let is_digest = word.len() >= 16 && word.chars().all(|char| char.is_ascii_hexdigit());
        out.push_str(if is_digest || first.is_ascii_digit() { "#" } else { word });
        rest = tail;
    }
    out
}

#[test]
fn what_must_differ_is_leveled_and_nothing_else() {
    let line = "o1 at 2025-11-21T15:52:38.123Z by ben (crash-17), 3 commands, deadbeefdeadbeef";
    assert_eq!(leveled(line), "o1 at #-#-#:#:#.# by ben (crash-#), # commands, #");
}
