//! What should be done, what is open, and what it took.

use std::time::Duration;

use crate::Outcome;
use crate::event::Waived;
use crate::judged::judged;
use crate::platform_answer::is_contradicted;
use crate::report::amount::{cost, of, time};
use crate::report::markdown::{inline, text};
use crate::report::rca::cause;
use crate::state::State;
use crate::unlooked::why_open;

/// The words that begin a line of a remedy and become its label.
pub(in crate::report) const LABELS: [&str; 7] =
    ["Look first", "Command", "Checked", "Class", "Verify", "Risk", "Note"];

/// Returns the section with what should be done; empty where nothing is recommended.
pub(super) fn actions(state: &State) -> String {
    let actions = state.concluded.iter().flat_map(|(_, concluded)| &concluded.actions);
    let lines = (1_u32..).zip(actions).map(|(number, action)| numbered(number, action));
    let lines = lines.collect::<Vec<_>>();
    if lines.is_empty() {
        return String::new();
    }
    let intro = "Nothing of this was carried out. In this order, each with its check; review each before anything is changed.";
    format!("## What to do\n\n{intro}\n\n{}", lines.join("\n"))
}

fn numbered(number: u32, action: &str) -> String {
    let marker = format!("{number}. ");
    let indent = " ".repeat(marker.len());
    let mut lines = action.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = inline(lines.next().unwrap_or_default());
    let rest = lines.map(|line| match line.split_once(": ") {
        Some((label, rest)) if LABELS.contains(&label) => {
            format!("\n{indent}- **{label}:** {}", inline(rest))
        }
        Some(_) | None => format!("\n{indent}- {}", inline(line)),
    });
    std::iter::once(format!("{marker}{first}")).chain(rest).collect()
}

/// Returns the section with what belongs to the symptom and was not looked at, or not to its end.
pub(super) fn waived(state: &State) -> String {
    let Some((_, concluded)) = &state.concluded else {
        let open = cause::open(state);
        return if open.is_empty() {
            String::new()
        } else {
            format!("## What is open\n\n{}", open.join("\n"))
        };
    };
    let line = |waived: &Waived| {
        let of = match waived.what.subject.as_str() {
            "" => String::new(),
            subject => format!(" of {}", text(subject)),
        };
        format!("- {}{of}: {}", capital(waived.what.layer.describe()), text(&waived.why))
    };
    let mut lines = concluded.waived.iter().map(line).collect::<Vec<_>>();
    lines.extend(cause::open(state));
    let judged = judged(state).map(|(_, judged)| judged).unwrap_or_default();
    lines.extend(why_open(&judged).map(|open| format!("- {}.", capital(&text(&open)))));
    let closed = judged.closed;
    lines.extend(closed.iter().map(|one| format!("- {}: {}", capital(&text(&one.what)), text(&one.why))));
    if lines.is_empty() {
        let all = match concluded.outcome {
            Outcome::Confirmed | Outcome::NoFaultFound => {
                "Everything that belongs to this symptom was looked at. What the programs themselves do was not."
            }
            Outcome::Likely | Outcome::Inconclusive => {
                "Nothing was named as left out. What the programs themselves do was not looked at."
            }
        };
        lines.push(all.to_owned());
    }
    format!("## What was not checked\n\n{}", lines.join("\n"))
}

pub(in crate::report) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

/// Returns the section with how sure the outcome is, and why.
pub(super) fn confidence(state: &State) -> String {
    let Some((_, concluded)) = &state.concluded else { return String::new() };
    let is_open = judged(state).is_some_and(|(_, judged)| why_open(&judged).is_some());
    let why = match concluded.outcome {
        Outcome::Confirmed if is_open => {
            "each fault above was checked once more against the recorded output, by code. Not everything that the words speak of was judged, so there may be more"
        }
        Outcome::Confirmed => {
            "each fault above was checked once more against the recorded output, by code. Everything that belongs to this symptom was looked at, and nothing contradicts it"
        }
        Outcome::Likely if is_contradicted(state) => {
            "each fault above was checked once more against the recorded output, by code. Azure itself says otherwise about a flow, so the cause may be another"
        }
        Outcome::Inconclusive if is_contradicted(state) => {
            "nothing that was recorded shows a fault, and Azure itself says otherwise about a flow"
        }
        Outcome::Likely => {
            "each fault above was checked once more against the recorded output, by code. Something that belongs to the symptom was not looked at, or not to its end, so there may be more"
        }
        Outcome::Inconclusive => "nothing that was recorded shows a fault, and not everything could be read",
        Outcome::NoFaultFound => {
            "everything that belongs to this symptom was looked at, and all of it was clean at that time. A fault that comes and goes may not have been there"
        }
    };
    let claimed = concluded.claimed.filter(|claimed| *claimed != concluded.confidence);
    let claimed = claimed.map(|claimed| format!(" The investigator claimed {claimed}.")).unwrap_or_default();
    let rule = "Where sources disagree, packets count most. Then comes what the platform has in effect, then what is configured.";
    format!("## How sure\n\nConfidence {}: {why}.{claimed} {rule}", concluded.confidence)
}

/// Returns the section with what it took.
pub(super) fn cost_and_time(state: &State) -> String {
    let spent = &state.spent;
    let ended = state.concluded.as_ref().map_or(state.last_at, |(at, _)| *at);
    let work = time(spent.at_work(state.opened_at, ended));
    let waited = match spent.waited {
        Duration::ZERO => "no waiting for people".to_owned(),
        waited => format!("{} waiting for people", time(waited)),
    };
    let captured = match spent.captured_bytes {
        0 => String::new(),
        bytes => format!("; recorded packets: {} kB", bytes.div_ceil(1000)),
    };
    let thought = match (spent.tokens, spent.cost_micros, spent.turns_without_price) {
        (0, 0, 0) => "no language model was paid for".to_owned(),
        (tokens, _, _) => format!("{tokens} tokens, {}", cost(spent)),
    };
    let lines = [
        format!(
            "- Commands: {}; rounds: {}; questions to people: {}{captured}",
            spent.commands, spent.turns, spent.approvals
        ),
        format!("- Time: {work} at work, {waited}"),
        format!("- Cost: {thought}"),
    ];
    format!("## Cost and time\n\n{}", lines.join("\n"))
}

/// Returns the section with what would settle what is open; empty where nothing is.
pub(super) fn questions(state: &State) -> String {
    let questions = state.concluded.iter().flat_map(|(_, concluded)| &concluded.open_questions);
    let lines = questions.map(|question| format!("- {}", text(question))).collect::<Vec<_>>();
    if lines.is_empty() { String::new() } else { format!("## What would settle it\n\n{}", lines.join("\n")) }
}

/// Returns the section with what was used.
pub(in crate::report) fn budget(state: &State) -> String {
    let (spent, limits) = (&state.spent, &state.limits);
    let ended = state.concluded.as_ref().map_or(state.last_at, |(at, _)| *at);
    let lines = [
        format!("- Turns: {}", of(spent.turns.into(), limits.turns.into())),
        format!("- Commands: {}", of(spent.commands.into(), limits.commands.into())),
        format!("- Approvals asked: {}", spent.approvals),
        format!("- Tokens: {}", of(spent.tokens, limits.tokens)),
        format!("- Cost: {}", cost(spent)),
        format!("- Captured bytes: {}", of(spent.captured_bytes, limits.captured_bytes)),
        format!("- Time at work: {} of {} min", time(spent.at_work(state.opened_at, ended)), limits.minutes),
        format!("- Time waited: {}", time(spent.waited)),
    ];
    format!("## Budget\n\n{}", lines.join("\n"))
}
