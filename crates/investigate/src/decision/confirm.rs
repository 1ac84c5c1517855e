//! Whether the forecast of a change came true: what the change touches is read once more, and the flows are judged again.
//!
//! Goes in: a session in which a change with a forecast has run. Comes out: the next command that reads, or what was found. Never: a
//! command that asks; an answer from documents that are older than the change.

use crate::decision::DecisionContext;
use crate::decision::forecast::{Drawn, Record, changing, drawn, typed};
use crate::event::{ForecastChecked, ForecastVerdict};
use crate::state::{CallState, State, Step};
use crate::tool::ProposedCommand;
use ghost_inspect::forecast::{Confirmation, Contradiction, Edit, undo_read};

/// What such a command is recorded to belong to: it is none that a tool wanted.
pub(super) const LOOK_AGAIN: &str = "look_again";
/// So many commands read again at the most.
const MAX_READS: usize = 24;
/// So many flows are named that end otherwise.
const MAX_SHOWN: usize = 6;

/// What follows a change that had a forecast.
pub(super) enum LookAgain {
    /// This is read first.
    Read(Box<ProposedCommand>),
    /// Nothing more is read.
    Over(ForecastChecked),
}

/// Says what follows the change of a call; nothing where it made none, where that had no forecast, and where all was said.
pub(super) fn look_again(
    state: &State,
    call: &CallState,
    context: &DecisionContext<'_>,
) -> Option<LookAgain> {
    let change = call.steps.first().and_then(|id| state.step(*id)).filter(|step| is_due(state, step))?;
    let (policy, evidence) = (context.policy, context.evidence);
    let over = |verdict, words: String, flows, undo| {
        Some(LookAgain::Over(ForecastChecked { step: change.id, verdict, words, flows, undo }))
    };
    let words = changing(policy, &[change.current()]);
    let before = Record::only(state, evidence, |step| step.id < change.id);
    let Drawn { place, edits, found, bundle } = match drawn(&before, policy, &words) {
        Ok(drawn) => drawn,
        Err(why) => return over(ForecastVerdict::Unknown, why, Vec::new(), None),
    };
    let reads = before.used().into_iter().filter_map(|id| state.step(id));
    let reads: Vec<&Step> = reads.filter(|step| is_old_after(&edits, step)).take(MAX_READS).collect();
    if !is_ending(state) {
        let mut taken = call.steps.iter().filter_map(|id| state.step(*id)).skip(1);
        let is_open = |look: &&&Step| !taken.any(|step| step.command.trim() == look.current().trim());
        let mut open = reads.iter().filter(is_open);
        if let Some(look) = open.find(|look| is_safe(state, look, context)) {
            return Some(LookAgain::Read(Box::new(ProposedCommand {
                command: look.current().to_owned(),
                reasoning: again(look),
                hypothesis: None,
                script: look.script.clone(),
                plan: Vec::new(),
            })));
        }
    }
    // What was read before the change stays good where the change does not touch it; what was changed there since is carried out on it.
    let after = Record::only(state, evidence, |step| {
        let stays = if step.consents.is_empty() {
            !is_old_after(&edits, step)
        } else {
            changing(policy, &[step.current()]).is_empty() || !touches_same(&edits, step)
        };
        step.id > change.id || (step.id != change.id && stays)
    });
    let Some(now) = after.bundle(&place, policy) else {
        return over(
            ForecastVerdict::Unknown,
            "what it touches could not be read again".to_owned(),
            Vec::new(),
            None,
        );
    };
    let undo = words.first().and_then(|words| undo_read(words, &bundle, &now)).map(|words| typed(&words));
    let (verdict, words, flows) = worded(&found.confirm(&now), found.flows.len());
    over(verdict, words, flows, undo)
}

/// Says why a command runs again; nothing where a model or a person wrote it, whose words were about something else.
fn again(look: &Step) -> String {
    match look.tool.as_str() {
        "run_shell_cmd" => String::new(),
        LOOK_AGAIN => look.reasoning.clone(),
        _ => format!("{} again", look.reasoning.trim()),
    }
}

/// Tells whether a step is a change whose forecast nobody has looked at again.
fn is_due(state: &State, step: &Step) -> bool {
    let asked = step.consents.last().and_then(|name| state.approvals.get(name));
    let forecast = asked.and_then(|asked| asked.requested.forecast.as_ref());
    let ran = step.done.as_ref().is_some_and(|done| done.status == "completed" && done.exit_code == Some(0));
    ran && forecast.is_some_and(|forecast| forecast.is_confirmed_later)
        && !state.forecasts_checked.iter().any(|checked| checked.step == step.id)
}

fn is_ending(state: &State) -> bool {
    state.end_request.is_some()
        || state.budget_spent.is_some()
        || state.spent.commands >= state.limits.commands
}

/// Tells whether a command runs without asking anybody, as things stand now.
fn is_safe(state: &State, look: &Step, context: &DecisionContext<'_>) -> bool {
    let judged = super::command::judge(state, look.id, 1, (look.current(), look.script.as_ref()), context);
    judged.verdict == "SAFE"
}

/// Tells whether what a step read is not so any more after some edits.
fn is_old_after(edits: &[Edit], read: &Step) -> bool {
    match &read.script {
        // What a machine says of its inside.
        Some(script) => {
            let mut machines = edits.iter().filter_map(Edit::machine);
            machines.any(|machine| script.carrier.iter().any(|word| word.eq_ignore_ascii_case(machine)))
        }
        None => edits.iter().any(|edit| edit.machine().is_none()),
    }
}

/// Tells whether an earlier change is visible in what is read again after some edits.
fn touches_same(edits: &[Edit], earlier: &Step) -> bool {
    let words = || earlier.current().split_whitespace();
    let inside = words().any(|word| word == "run-command");
    if inside {
        let mut machines = edits.iter().filter_map(Edit::machine);
        return machines.any(|machine| words().any(|word| word.eq_ignore_ascii_case(machine)));
    }
    edits.iter().any(|edit| edit.machine().is_none())
}

fn worded(found: &Confirmation, changing: usize) -> (ForecastVerdict, String, Vec<String>) {
    let Confirmation { judged, changed, contradictions } = found;
    if !contradictions.is_empty() {
        let line = |one: &Contradiction| {
            let port = one.flow.dst_port.map(|port| format!("/{port}")).unwrap_or_default();
            format!(
                "{} → {} {}{port}: the forecast was that it {}, but it {}",
                one.from, one.to, one.flow.protocol, one.expected, one.found
            )
        };
        let flows = contradictions.iter().take(MAX_SHOWN).map(line).collect();
        let words = format!("{} of {judged} flows end otherwise than forecast", contradictions.len());
        return (ForecastVerdict::Contradicted, words, flows);
    }
    let open = *judged == 0 || (changing > 0 && *changed == 0);
    let words = match (open, *changed) {
        (true, _) => "the flows that it is about could not be judged again".to_owned(),
        (false, 0) => format!("{judged} flows were judged again and end as before"),
        (false, changed) => format!(
            "{judged} flows were judged again and end as forecast, {changed} of them otherwise than before"
        ),
    };
    let verdict = if open { ForecastVerdict::Unknown } else { ForecastVerdict::Confirmed };
    (verdict, words, Vec::new())
}
