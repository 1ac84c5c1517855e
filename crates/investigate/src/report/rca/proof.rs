//! What was read, in words: commands by what they look at, and not by their length.

use crate::event::{EvidenceSource, Observed};
use crate::report::amount::moment;
use crate::report::markdown::{code, table, text};
use crate::state::{CallState, Observation, State, Step};
use crate::tool::FileTask;

/// A longer command is cut; the audit holds all of it.
const MAX_COMMAND_CHARS: usize = 200;

/// Says as Markdown what an observation looked at.
pub(in crate::report) fn looked(state: &State, observed: &Observed) -> String {
    match observed.step.and_then(|id| state.step(id)) {
        Some(step) => command(step, &observed.what),
        None => file_task(&observed.what),
    }
}

/// Says as Markdown what a command is for; a script that is declared has a purpose and no spelling.
pub(in crate::report) fn command(step: &Step, what: &str) -> String {
    if step.tool == "run_shell_cmd" || step.scripted().is_none() && step.rounds.len() > 1 {
        return code(&cut(what));
    }
    let purpose = step.reasoning.trim();
    let verbs = ["look at ", "list ", "find ", "read ", "see "];
    let bare = verbs.iter().find_map(|verb| purpose.strip_prefix(verb)).unwrap_or(purpose);
    if bare.is_empty() { code(&cut(what)) } else { text(&cut(bare)) }
}

fn file_task(what: &str) -> String {
    match serde_json::from_str(what) {
        Ok(FileTask::Verify { file, .. }) => format!("the fetched capture {}", text(&cut(&file))),
        Ok(FileTask::Analyze { .. }) => "the analysis of the captured packets".to_owned(),
        Ok(FileTask::Recall { session, .. }) => format!("what was kept as {}", text(&cut(&session))),
        Ok(FileTask::Keep { session, .. }) => format!("what is kept from now on as {}", text(&cut(&session))),
        Err(_) => code(&cut(what)),
    }
}

fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() > MAX_COMMAND_CHARS || line.len() < text.trim_end().len() {
        return line.chars().take(MAX_COMMAND_CHARS).collect::<String>() + " …";
    }
    line.to_owned()
}

/// Says where evidence comes from.
pub(in crate::report) fn source(source: EvidenceSource) -> &'static str {
    match source {
        EvidenceSource::LocalProbe => "probed from here",
        EvidenceSource::GuestProbe => "read inside the machine",
        EvidenceSource::Configured => "as configured",
        EvidenceSource::Effective => "as in effect",
        EvidenceSource::Wire => "packets",
    }
}

/// Returns the section with the evidence, a row a call, in the order in which it was recorded.
pub(super) fn evidence(state: &State) -> String {
    let title = "## Evidence";
    let rows: Vec<Vec<String>> = state.calls().filter_map(|call| row(state, call)).collect();
    if rows.is_empty() {
        return format!("{title}\n\nNothing was observed.");
    }
    let intro = "Every command with its output's digest stands in the audit under its number.";
    format!("{title}\n\n{intro}\n\n{}", table(&["Observed", "What", "How", "When (UTC)"], &rows))
}

fn row(state: &State, call: &CallState) -> Option<Vec<String>> {
    let seen: Vec<&Observation> = call.observations.iter().filter_map(|id| state.observation(*id)).collect();
    let (first, last) = (seen.first()?, seen.last()?);
    // Of several lists that one look takes, the weightiest is what it was for.
    let main = seen.iter().rev().max_by_key(|found| found.observed.source)?;
    let ids = match seen.as_slice() {
        [one] => one.observed.id.to_string(),
        _ => format!("{}–{}", first.observed.id, last.observed.id),
    };
    let what = match call.call.tool.as_str() {
        "topology" => "machines, interfaces, networks, security groups and route tables".to_owned(),
        _ => format!("{}{}", looked(state, &main.observed), flow(call)),
    };
    // What is prose has no bar left; one within code ends a cell all the same.
    let what = what.replace('|', "\\|");
    Some(vec![ids, what, source(main.observed.source).to_owned(), moment(main.at)])
}

/// Names the flow that a call asked about.
fn flow(call: &CallState) -> String {
    let of = |key: &str| {
        let value = call.call.arguments.get(key)?;
        let words =
            value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()));
        words.filter(|words| !words.is_empty()).map(|words| text(&cut(&words)))
    };
    let port =
        of("dst_port").map(|port| format!(", {}/{port}", of("proto").unwrap_or_else(|| "tcp".to_owned())));
    let from = of("src_ip").map(|from| format!(" from {from}"));
    let to = of("dst_ip").map(|to| format!(" to {to}"));
    [port, from, to].into_iter().flatten().collect()
}
