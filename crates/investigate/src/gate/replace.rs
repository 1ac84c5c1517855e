//! Whether a later look replaces the report before it.
//!
//! Goes in: the report before, what was observed since, and what the later look came to. Comes out: the findings that do not hold any
//! more, each with what contradicts it; or the report before, as it was. Never: a poorer result in place of a better one because somebody
//! asked, stopped, or spent a budget.

use crate::Outcome;
use crate::event::{ComplaintOutcome, Concluded, Event, Finding, Replaced};
use crate::finding::title;
use crate::judged::{FlowVerdict, JudgedFlow, judged, of_complaints};
use crate::state::{CallState, Entry, State};
use crate::suspect::{Layer, Looked, SupportedFaults, Suspect};
use crate::tool::CallContext;

/// So many results of a later look are named.
const MAX_NAMED: usize = 3;

/// Returns the findings of the report before that observations since then contradict. `events` are those of the call that concludes:
/// what it accepts anew is still there.
pub(crate) fn replaced(context: &CallContext<'_>, events: &[Event]) -> Vec<Replaced> {
    let Some(reported) = &context.state.reported else { return Vec::new() };
    let since = reported.entries.len();
    let later: Vec<SupportedFaults> =
        calls(context.state, since..).map(|call| context.supported(call)).collect();
    let is_claimed = |finding: &Finding| {
        let accepted = |event: &Event| {
            if let Event::FindingAccepted(found) = event { is_same(&found.finding, finding) } else { false }
        };
        events.iter().any(accepted)
    };
    let judge = |finding: &Finding| {
        let still = later.iter().flat_map(|one| &one.suspects).any(|one| is_suspect(one, finding));
        if still || is_claimed(finding) {
            return None;
        }
        let why = flow_without(context.state, reported, since, finding)
            .or_else(|| read_again(context, since, &later, finding))?;
        Some(Replaced { code: finding.code.clone(), object: finding.object.clone(), why })
    };
    reported.accepted.iter().filter_map(|found| judge(&found.finding)).collect()
}

/// Returns the report before, as it was, where a later look came to less and nothing that it observed contradicts that. What the later
/// look found, and what it recommends, stands beside it.
pub(crate) fn stands(
    state: &State,
    outcome: Outcome,
    replaced: &[Replaced],
    complaints: &[ComplaintOutcome],
    actions: &[String],
) -> Option<Concluded> {
    let (_, before) = state.reported.as_ref()?.concluded.as_ref()?;
    if weight(outcome) >= weight(before.outcome) || !replaced.is_empty() {
        return None;
    }
    let is_news = |one: &&ComplaintOutcome| {
        !before.complaints.iter().any(|known| known.about == one.about && known.outcome == one.outcome)
    };
    let news: Vec<String> = complaints
        .iter()
        .filter(is_news)
        .take(MAX_NAMED)
        .map(|one| format!("{}: {}", one.about, one.why.trim_end_matches('.')))
        .collect();
    let first = |action: &String| action.lines().next().unwrap_or_default().trim_end_matches('.').to_owned();
    let known: Vec<String> = before.actions.iter().map(first).collect();
    let advice: Vec<String> =
        actions.iter().map(first).filter(|action| !known.contains(action)).take(MAX_NAMED).collect();
    let mut sentences: Vec<String> = [news, advice].into_iter().map(|parts| parts.join("; ")).collect();
    sentences.push("Nothing that was read since contradicts this answer".to_owned());
    sentences.retain(|sentence| !sentence.is_empty());
    Some(left(before, "model", sentences.join(". ")))
}

/// Returns the report before, where what came behind it ended before its time; nothing for a first investigation.
pub(super) fn left_as_it_was(state: &State, by: &str, why: &str) -> Option<Concluded> {
    let (_, before) = state.reported.as_ref()?.concluded.as_ref()?;
    Some(left(before, by, format!("a new look ended early ({why}), and this answer stands as it was")))
}

fn left(before: &Concluded, by: &str, stands: String) -> Concluded {
    Concluded { by: by.to_owned(), stands: Some(stands), replaced: Vec::new(), ..before.clone() }
}

/// How much an outcome says.
fn weight(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Confirmed => 2,
        Outcome::Likely | Outcome::NoFaultFound => 1,
        Outcome::Inconclusive => 0,
    }
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    one.code == other.code && one.object == other.object
}

fn is_suspect(suspect: &Suspect, finding: &Finding) -> bool {
    suspect.code == finding.code && suspect.object == finding.object
}

/// Returns the calls of some entries, oldest first.
fn calls(
    state: &State,
    entries: impl std::slice::SliceIndex<[Entry], Output = [Entry]>,
) -> impl Iterator<Item = &CallState> {
    let turns = state.entries.get(entries).unwrap_or_default().iter().filter_map(|entry| match entry {
        Entry::Turn(turn) => Some(turn),
        Entry::Message { .. } | Entry::Note { .. } => None,
    });
    turns.flat_map(|turn| &turn.calls)
}

/// Says which flow was decided by a finding, and was judged since without it.
fn flow_without(state: &State, reported: &State, since: usize, finding: &Finding) -> Option<String> {
    let (_, before) = judged(reported)?;
    let (decided, _) = before.cause(&finding.code, &finding.object)?;
    let after = calls(state, since..).filter_map(of_complaints).last()?;
    let flow = after.flows.iter().find(|flow| is_same_flow(flow, decided))?;
    let is_gone = flow.verdict != FlowVerdict::Indeterminate
        && !flow.causes.iter().chain(&flow.behind).any(|cause| cause.object == finding.object);
    is_gone.then(|| format!("{} was judged again without it", flow.name()))
}

fn is_same_flow(one: &JudgedFlow, other: &JudgedFlow) -> bool {
    (one.source, one.destination, one.port) == (other.source, other.destination, other.port)
        && one.protocol == other.protocol
        && one.cluster == other.cluster
}

/// Says so where everything that had shown a finding was looked at again, whole, and does not show it any more.
fn read_again(
    context: &CallContext<'_>,
    since: usize,
    later: &[SupportedFaults],
    finding: &Finding,
) -> Option<String> {
    // Silence on the wire says nothing where nobody spoke.
    let layer = finding.code.fault()?.layer();
    if layer == Layer::Wire {
        return None;
    }
    let shows = |found: &SupportedFaults| found.suspects.iter().any(|one| is_suspect(one, finding));
    let showed = calls(context.state, ..since).map(|call| context.supported(call)).find(shows)?;
    let mut needed = showed.looked.iter().filter(|looked| looked.layer == layer).peekable();
    needed.peek()?;
    let is_read = |looked: &Looked| later.iter().any(|one| one.looked.contains(looked));
    needed.all(is_read).then(|| "it was read again, whole, and is not there any more".to_owned())
}

/// Says what of the report before does not hold any more.
pub(crate) fn replacement(concluded: &Concluded) -> Option<String> {
    let line = |one: &Replaced| format!("{}: {}", title(&one.code, &one.object), one.why);
    let lines: Vec<String> = concluded.replaced.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}
