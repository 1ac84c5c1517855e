//! What a session does that was opened for a request from outside: judge it again, ask, hand the answer over.

use serde_json::json;

use crate::decision::command::{MAX_ROUNDS, classified, ended, request};
use crate::decision::{DecisionContext, Effect};
use crate::event::{Classified, Event, ModelAnswered, Outside, OutsideKind, Proposed, Reply, StepId};
use crate::model::{Call, Investigator, Stop, Usage};
use crate::state::{Ending, Phase, State, Step};
use ghost_base::Timestamp;
use ghost_shell::{Impact, Ruling, Verdict};

/// The provider that is recorded where an agent elsewhere decided what it wants to do.
pub const PROVIDER: &str = "outside";

/// The one call of such a session, and its tool.
const CALL: &str = "c1";
const TOOL: &str = "outside";

/// Says what to do next. It never runs anything.
pub(crate) fn next(
    state: &State,
    outside: &Outside,
    context: &DecisionContext<'_>,
    now: Timestamp,
) -> Effect {
    if state.is_over() {
        return Effect::Rest;
    }
    let Some(step) = state.steps.first() else { return Effect::Record(begin(state, outside)) };
    let first =
        || Effect::Record(vec![Event::Classified(judge(step.id, 1, &step.command, outside, context, state))]);
    let Some(round) = step.round() else { return first() };
    let refuse = Effect::Refuse { step: step.id };
    match &step.phase {
        Phase::Proposed => first(),
        Phase::Judged => match round.classified.verdict.as_str() {
            "SAFE" => offered(state, step, None, now),
            "BLOCKED" => refuse,
            _ if state.opened.origin.channel.is_none() => {
                ended(step, "blocked", "the bot has no channel for requests from outside ([outside] channel)")
            }
            _ => request(state, step, false, context, now),
        },
        Phase::AwaitingApproval { approval } => {
            Effect::Wait { until: state.approvals.get(approval).map(|asked| asked.requested.expires_at) }
        }
        Phase::Decided { approval, answer, .. } => match answer {
            Reply::Approve => offered(state, step, Some(approval), now),
            Reply::Modify { command }
                if outside.request.kind == OutsideKind::Command
                    && round.classified.round < MAX_ROUNDS
                    && !command.trim().is_empty() =>
            {
                let next = round.classified.round + 1;
                Effect::Record(vec![Event::Classified(judge(
                    step.id, next, command, outside, context, state,
                ))])
            }
            Reply::Modify { .. } | Reply::Deny { .. } => refuse,
        },
        Phase::Expired { .. } => refuse,
        // These are recorded together with their end.
        Phase::Intended { .. } | Phase::Executing { .. } | Phase::Unknown => {
            ended(step, "user_abandoned", "it was handed over, and how is not on record")
        }
        Phase::Done => Effect::Rest,
    }
}

/// Records what the agent wants, as a turn with one call.
fn begin(state: &State, outside: &Outside) -> Vec<Event> {
    let asked = &outside.request;
    let turn = ModelAnswered {
        turn: 0,
        investigator: Investigator {
            provider: PROVIDER.to_owned(),
            model: asked.agent.clone(),
            host: None,
            window: state.opened.investigator.window,
        },
        text: String::new(),
        calls: vec![Call {
            id: CALL.to_owned(),
            tool: TOOL.to_owned(),
            arguments: json!({ "text": asked.text }),
        }],
        carry: None,
        usage: Usage::default(),
        cost_micros: Some(0),
        latency_ms: 0,
        stop: Stop::Calls,
    };
    let proposed = Proposed {
        step: StepId(1),
        call: CALL.to_owned(),
        tool: TOOL.to_owned(),
        command: asked.text.clone(),
        reasoning: asked.reasoning.clone(),
        hypothesis: None,
        script: None,
        plan: Vec::new(),
    };
    vec![Event::ModelAnswered(turn), Event::Proposed(proposed)]
}

/// Judges what is asked: by the policy here and by what the agent's machine found, whichever is stricter. What a human put in its place is
/// judged by the policy here.
fn judge(
    step: StepId,
    round: u32,
    text: &str,
    outside: &Outside,
    context: &DecisionContext<'_>,
    state: &State,
) -> Classified {
    let asked = &outside.request;
    let there = Ruling {
        verdict: Verdict::Risky,
        rule: asked.rule.clone().into(),
        reason: asked.reason.clone().into(),
        impact: Some(asked.impact),
        ..Ruling::default()
    };
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let ruling = match asked.kind {
        OutsideKind::Call => there,
        OutsideKind::Command => {
            let here = context.policy.classify_within(text, state.opened.scope.as_ref());
            combined(here, (round == 1).then_some(there))
        }
    };
    // What runs elsewhere is the text, whatever words it has here.
    let ruling = Ruling { argv: None, ..ruling };
    classified(step, round, text, &ruling, context.policy)
}

fn combined(here: Ruling, there: Option<Ruling>) -> Ruling {
    let followed = here.profiles().iter().any(|profile| profile.redirected);
    match (here.verdict, there) {
        (Verdict::Blocked, _) | (Verdict::Risky, None) => here,
        (Verdict::Safe, Some(there)) => there,
        (Verdict::Risky, Some(there)) => {
            let reason = match here.rule == there.rule {
                true => here.reason.clone(),
                false => format!("{}; there: {}", here.reason, there.reason).into(),
            };
            Ruling { reason, impact: here.impact.max(there.impact), ..here }
        }
        // Where it runs nobody follows it from server to server.
        (Verdict::Safe, None) if followed => Ruling {
            verdict: Verdict::Risky,
            rule: Ruling::REDIRECTED.into(),
            reason: "it would go wherever the server sends it, and nobody judges that where it runs".into(),
            impact: Some(Impact::Change),
            ..here
        },
        (Verdict::Safe, None) => here,
    }
}

/// Returns until when a consent can be used up; nothing where there is none.
#[must_use]
pub fn offered_until(state: &State) -> Option<Timestamp> {
    let names = state.steps.iter().flat_map(|step| &step.rounds).flat_map(|round| &round.approvals);
    let decided = names.filter_map(|name| match state.approvals.get(name)?.ending.as_ref()? {
        Ending::Decided { at, .. } => Some(*at),
        Ending::Expired { .. } => None,
    });
    decided.max().map(|at| at.plus(state.limits.approval()))
}

/// Gives the consent to whoever wants it, and otherwise keeps it until it runs out.
fn offered(state: &State, step: &Step, consumes: Option<&str>, now: Timestamp) -> Effect {
    let Some(until) = offered_until(state).filter(|until| *until > now) else {
        return ended(step, "expired", "it was approved, and nobody came back for it in time");
    };
    match &state.taker {
        Some(key) => {
            let consumes = consumes.map(str::to_owned);
            Effect::HandOver { step: step.id, consumes, key: key.clone() }
        }
        None => Effect::Wait { until: Some(until) },
    }
}
