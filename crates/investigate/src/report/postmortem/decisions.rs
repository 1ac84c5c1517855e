//! What people were asked, and what was carried out.

use super::build::Source;
use super::document::{Decided, ShownLine, Vote};
use super::timeline::purpose;
use crate::event::{Impact, Reply};
use crate::report::rca::asked;
use crate::report::step_outcome::{
    StepOutcome, answer, command, decision, sentence, step_outcome, undone_by,
};
use crate::state::{Approval, Ending, Step};

/// Returns the questions, in the order in which they were asked.
pub(super) fn decisions(source: &Source<'_>) -> Vec<Decided> {
    let mut all: Vec<(&String, &Approval)> = source.state.approvals.iter().collect();
    all.sort_by_key(|(_, approval)| approval.asked_at);
    all.into_iter().map(|(name, approval)| decided(source, name, approval)).collect()
}

fn decided(source: &Source<'_>, name: &str, approval: &Approval) -> Decided {
    let (state, requested) = (source.state, &approval.requested);
    let step = state.step(requested.step);
    let (answer, by, at, reason) = match (&approval.ending, decision(approval)) {
        (Some(Ending::Expired { at }), _) => ("expired", None, Some(at.to_string()), None),
        (_, Some((who, reply, at))) => {
            let reason = match reply {
                Reply::Approve => None,
                Reply::Deny { reason } => Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty()),
                Reply::Modify { command } => Some(command.clone()),
            };
            (answer(reply), Some(source.person(who)), Some(at.to_string()), reason)
        }
        (_, None) => ("open", None, None, None),
    };
    let vote = |vote: &crate::state::Vote| Vote {
        by: source.person(&vote.who),
        approves: vote.approves,
        at: vote.at.to_string(),
    };
    let mut evidence = vec![requested.step.to_string()];
    evidence.extend(step.iter().flat_map(|step| source.observed_by(step)));
    Decided {
        approval: name.to_owned(),
        what: asked(state, approval),
        commands: step.map(|step| commands(step, approval)).unwrap_or_default(),
        impact: requested.impact,
        checked: state
            .forecasts_checked
            .iter()
            .filter(|checked| checked.step == requested.step && requested.forecast.is_some())
            .map(|checked| format!("{}: {}", checked.verdict.word(), checked.words))
            .collect(),
        forecast: requested
            .forecast
            .as_ref()
            .map(|foreseen| format!("{}: {}", foreseen.verdict, foreseen.words)),
        asked_at: approval.asked_at.to_string(),
        answer: answer.to_owned(),
        by,
        at,
        reason,
        votes: approval.votes.iter().map(vote).collect(),
        then: step.map(|step| sentence(state, step)).unwrap_or_default(),
        evidence,
    }
}

fn commands(step: &Step, approval: &Approval) -> Vec<String> {
    if approval.requested.is_plan() {
        return approval.requested.plan.clone();
    }
    if step.scripted().is_some() {
        return vec![purpose(step)];
    }
    let mut rounds = step.rounds.iter().map(|round| &round.classified);
    let shown = rounds.find(|classified| classified.round == approval.requested.round);
    shown.map(|classified| classified.command.clone()).into_iter().collect()
}

/// Returns what changed something or may have, with what undoes it where that was foreseen.
pub(super) fn changed(source: &Source<'_>) -> Vec<ShownLine> {
    let state = source.state;
    let mut lines = Vec::new();
    for step in &state.steps {
        let outcome = step_outcome(state, step);
        if !matches!(outcome, StepOutcome::Ran | StepOutcome::Unknown) {
            continue;
        }
        let asked = step.rounds.iter().flat_map(|round| &round.approvals).chain(&step.consents);
        let mut approvals = asked.filter_map(|name| state.approvals.get(name));
        let Some(approval) = approvals.find(|approval| changes(approval.requested.impact)) else { continue };
        let by = decision(approval).map(|(who, _, _)| format!(", approved by {}", source.person(who)));
        let undo = undone_by(state, step, &approval.requested);
        let undo = undo.map(|line| format!("; undone by {line}")).unwrap_or_default();
        let mut evidence = vec![step.id.to_string()];
        evidence.extend(source.observed_by(step));
        lines.push(ShownLine {
            text: format!("{}: {}{}{undo}", command(step), sentence(state, step), by.unwrap_or_default()),
            evidence,
        });
    }
    lines
}

/// Tells whether something is different afterwards.
fn changes(impact: Impact) -> bool {
    match impact {
        Impact::Change | Impact::Outage => true,
        Impact::Measurement => false,
    }
}
