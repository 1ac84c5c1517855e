//! One step of what is recommended, taken apart into its labeled lines.

use super::answer::capital;
use crate::report::rca::LABELS;
use crate::state::State;

/// A step, with what stands behind each label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step<'a> {
    /// What is done, in a sentence.
    pub(super) what: &'a str,
    lines: Vec<(&'a str, &'a str)>,
}

impl<'a> Step<'a> {
    fn of(action: &'a str) -> Self {
        let mut lines = action.lines().map(str::trim).filter(|line| !line.is_empty());
        let what = lines.next().unwrap_or_default();
        let labeled =
            lines.filter_map(|line| line.split_once(": ").filter(|(label, _)| LABELS.contains(label)));
        Self { what, lines: labeled.collect() }
    }

    /// Returns what stands behind a label.
    pub(super) fn line(&self, label: &str) -> Option<&'a str> {
        self.lines.iter().find(|(own, _)| *own == label).map(|(_, text)| *text)
    }
}

/// Returns the steps that the report recommends, in their order.
pub(super) fn steps(state: &State) -> Vec<Step<'_>> {
    let actions = state.concluded.iter().flat_map(|(_, concluded)| &concluded.actions);
    actions.map(|action| Step::of(action)).collect()
}

/// So many steps stand in an answer.
const MAX_STEPS: usize = 3;

/// Writes one line for each step that has something behind a label, numbered where there are several.
fn lines_of(state: &State, label: &str) -> Option<String> {
    let all = steps(state);
    let several = all.len() > 1;
    let line = |(number, step): (usize, &Step<'_>)| {
        let text = step.line(label)?;
        Some(if several { format!("{number}. {}: {text}", capital(short(step.what))) } else { capital(text) })
    };
    let lines: Vec<String> = (1..).zip(&all).filter_map(line).take(MAX_STEPS).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Cuts a sentence at its first comma or full stop.
fn short(what: &str) -> &str {
    let start =
        what.strip_prefix("On ").and_then(|rest| rest.split_once(", ")).map_or(what, |(_, rest)| rest);
    start.split([',', ';', '.']).next().unwrap_or(start).trim()
}

const NOTHING: &str = "Nothing is recommended: nothing that was found is to be taken away.";

/// Returns what is to be done: each step with its command.
pub(super) fn fix(state: &State) -> Option<String> {
    state.concluded.as_ref()?;
    let line = |(number, step): (usize, Step<'_>)| {
        let command = step.line("Command").map(|command| format!("\n    Command: {command}"));
        format!("{number}. {}{}", step.what, command.unwrap_or_default())
    };
    let lines: Vec<String> = (1..).zip(steps(state)).take(2).map(line).collect();
    if lines.is_empty() {
        return Some(NOTHING.to_owned());
    }
    let more = steps(state).len().saturating_sub(lines.len());
    let more = if more > 0 { format!(" {more} more stand in the report.") } else { String::new() };
    Some(format!(
        "{}\nNothing of this was carried out.{more} The report says how to check each step.",
        lines.join("\n")
    ))
}

/// Says how each step is taken back.
pub(super) fn undo(state: &State) -> Option<String> {
    state.concluded.as_ref()?;
    Some(lines_of(state, "Risk").unwrap_or_else(|| NOTHING.to_owned()))
}

/// Says how it is seen that each step worked.
pub(super) fn verify(state: &State) -> Option<String> {
    state.concluded.as_ref()?;
    Some(lines_of(state, "Verify").unwrap_or_else(|| "Repeat the call that failed.".to_owned()))
}

/// Says what becomes of the connections with each step: it was tried on what was read.
pub(super) fn effect(state: &State) -> Option<String> {
    state.concluded.as_ref()?;
    match lines_of(state, "Checked") {
        Some(lines) => Some(lines),
        None if steps(state).is_empty() => Some(NOTHING.to_owned()),
        None => Some("That was not tried on what was read: the documents do not decide it.".to_owned()),
    }
}

/// Says what the steps risk, what they do to others, and who may decide.
pub(super) fn safe(state: &State, approvers: Option<&str>) -> Option<String> {
    state.concluded.as_ref()?;
    let all = steps(state);
    let Some(first) = all.first() else { return Some(NOTHING.to_owned()) };
    let mut lines = Vec::new();
    for (label, name) in [("Checked", "Tried on what was read"), ("Risk", "Risk"), ("Class", "Class")] {
        lines.extend(first.line(label).map(|text| format!("{name}: {text}")));
    }
    let more = all.len() - 1;
    lines.extend(match more {
        0 => None,
        1 => Some("One more step stands in the report, with its risk.".to_owned()),
        _ => Some(format!("{more} more steps stand in the report, each with its risk.")),
    });
    lines.extend(approvers.map(|who| format!("It needs the consent of {who}.")));
    (!lines.is_empty()).then(|| lines.join("\n"))
}
