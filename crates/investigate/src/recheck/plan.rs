//! Which calls run again: those whose record bore out a finding, each once.

use serde_json::{Map, Value};

use crate::decision::DecisionContext;
use crate::event::FindingAccepted;
use crate::finding::Fault;
use crate::model::Call;
use crate::recheck::attempt::Attempt;
use crate::recheck::next::call_context;
use crate::state::{CallState, State};
use crate::suspect::SupportedFaults;
use ghost_base::Timestamp;

/// Arguments that keep something under a name: nothing is kept a second time.
const KEEPS: [&str; 2] = ["is_baseline", "session_id"];

/// Why nothing is checked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The report is not there yet.
    AtWork,
    /// It is being checked again.
    Running,
    /// No fault was found that could be gone.
    NothingFound,
}

/// Says whether a session can be checked again now.
///
/// # Errors
/// Says why not.
pub fn possible(state: &State) -> Result<(), Refused> {
    match (state.is_reported(), state.rechecking) {
        (false, Some(_)) => Err(Refused::Running),
        (false, None) => Err(Refused::AtWork),
        (true, _) if faults(state).next().is_none() => Err(Refused::NothingFound),
        (true, _) => Ok(()),
    }
}

/// Returns the findings that say that something is wrong.
pub(super) fn faults(state: &State) -> impl Iterator<Item = &FindingAccepted> {
    let accepted = &state.accepted;
    let is_repeated = |at: usize, found: &FindingAccepted| {
        accepted.iter().take(at).any(|before| {
            before.finding.code == found.finding.code && before.finding.object == found.finding.object
        })
    };
    let each = accepted.iter().enumerate().filter(move |(at, found)| !is_repeated(*at, found));
    each.map(|(_, found)| found).filter(|found| found.finding.code != Fault::NoDrift)
}

/// A call that runs again, and the findings that it bore out.
pub(super) struct Again<'a> {
    pub(super) call: &'a CallState,
    pub(super) supported: SupportedFaults,
    pub(super) findings: Vec<&'a FindingAccepted>,
}

/// Plans what runs again. The plan stays the same while it runs: it goes by what the findings cite.
pub(super) fn plan<'a>(state: &'a State, context: &DecisionContext<'_>, now: Timestamp) -> Vec<Again<'a>> {
    let mut plan: Vec<Again<'a>> = Vec::new();
    for found in faults(state) {
        let Some((call, supported)) = shown_by(state, found, context, now) else { continue };
        let same = |known: &&mut Again<'_>| {
            known.call.call.tool == call.call.tool && arguments(known.call) == arguments(call)
        };
        match plan.iter_mut().find(same) {
            Some(known) => known.findings.push(found),
            None => plan.push(Again { call, supported, findings: vec![found] }),
        }
    }
    plan
}

/// Returns the call whose record supports a finding; where no record does any more, the call that it cites first.
fn shown_by<'a>(
    state: &'a State,
    found: &FindingAccepted,
    context: &DecisionContext<'_>,
    now: Timestamp,
) -> Option<(&'a CallState, SupportedFaults)> {
    let cited = found.finding.evidence.iter().filter_map(|cited| state.observation(cited.observation));
    let calls: Vec<&CallState> =
        cited.filter_map(|observation| state.call_named(&observation.observed.call)).collect();
    let with_faults = |call: &&'a CallState| (*call, call_context(state, call, context, now).supported(call));
    let shows = |(_, supported): &(&CallState, SupportedFaults)| {
        supported
            .suspects
            .iter()
            .any(|suspect| suspect.code == found.finding.code && suspect.object == found.finding.object)
    };
    calls.iter().map(with_faults).find(shows).or_else(|| calls.first().map(with_faults))
}

/// Returns the calls, each under a name that no call of the session has.
pub(super) fn calls(state: &State, plan: &[Again<'_>], attempts: &[Attempt]) -> Vec<Call> {
    let named = |number: usize| {
        let mut id = format!("again{}_{number}", state.earlier.len());
        while state.call_named(&id).is_some() {
            id.push('_');
        }
        id
    };
    let call = |(number, again): (usize, &Again<'_>)| Call {
        id: named(number),
        tool: again.call.call.tool.clone(),
        arguments: Value::Object(arguments(again.call)),
    };
    let tries = (plan.len() + 1..).zip(attempts).map(|(number, attempt)| attempt.call(named(number)));
    (1..).zip(plan).map(call).chain(tries).collect()
}

fn arguments(call: &CallState) -> Map<String, Value> {
    let mut arguments = call.call.arguments.as_object().cloned().unwrap_or_default();
    arguments.retain(|key, _| !KEEPS.contains(&key.as_str()));
    if arguments.contains_key("reasoning") {
        let why = "Somebody says that it is fixed: I take the look again that had shown the fault.";
        arguments.insert("reasoning".to_owned(), Value::from(why));
    }
    arguments
}
