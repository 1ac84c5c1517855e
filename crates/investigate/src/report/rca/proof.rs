//! What was read, in words: commands by what they look at, and not by their length.

use crate::event::{EvidenceSource, Observed};
use crate::report::amount::moment;
use crate::report::looked::Looked;
use crate::report::markdown::{table, text};
use crate::state::{CallState, Observation, State, Step};

/// A longer value of a call is cut.
const MAX_VALUE_CHARS: usize = 200;

/// Says as Markdown what an observation looked at.
pub(in crate::report) fn looked(state: &State, observed: &Observed) -> String {
    Looked::at(state, observed).markdown()
}

/// Says as Markdown what a command is for; a script that is declared has a purpose and no spelling.
pub(in crate::report) fn command(step: &Step, what: &str) -> String {
    Looked::by(step, what).markdown()
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
        "topology" => "machines, networks, rules and routes".to_owned(),
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
        words
            .filter(|words| !words.is_empty())
            .map(|words| text(&words.chars().take(MAX_VALUE_CHARS).collect::<String>()))
    };
    let port =
        of("dst_port").map(|port| format!(", {}/{port}", of("proto").unwrap_or_else(|| "tcp".to_owned())));
    let from = of("src_ip").map(|from| format!(" from {from}"));
    let to = of("dst_ip").map(|to| format!(" to {to}"));
    [port, from, to].into_iter().flatten().collect()
}
