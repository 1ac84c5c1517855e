//! A command: judged, asked about, run or refused, and how a takeover continues it.

use crate::decision::forecast::foreseen;
use crate::decision::{DecisionContext, Effect, approval_name};
use crate::event::{
    ApprovalRequested, Classified, DeclaredScript, Done, Event, Impact, PlanJudgement, Reply, StepId, Unknown,
};
use crate::state::{Phase, State, Step};
use crate::{check_destinations, check_sandbox, is_reclassified, ruling_of};
use ghost_base::Timestamp;
use ghost_shell::{Policy, Request, Ruling, Verdict};

/// Limits how often one command is modified.
pub(crate) const MAX_ROUNDS: u32 = 5;

/// Judges a command; a declared script has its declared verdict where it is exactly the one that was declared.
pub(super) fn judge(
    state: &State,
    step: StepId,
    round: u32,
    (command, script): (&str, Option<&DeclaredScript>),
    context: &DecisionContext<'_>,
) -> Classified {
    let (scope, policy) = (state.opened.scope.as_ref(), context.policy);
    let command = command.trim_matches([' ', '\t', '\n', '\r']);
    let ruling = match script {
        None => check_destinations(state, policy, context.evidence, policy.classify_within(command, scope)),
        Some(DeclaredScript { carrier, script, variables }) => {
            match policy.declared(carrier, script, variables, command) {
                Ok(filled) => check_sandbox(state, policy.classify_script_within(carrier, &filled, scope)),
                Err(why) => policy.classify_as_refused(command, &why.to_string()),
            }
        }
    };
    classified(step, round, command, &ruling, policy)
}

/// Writes a ruling on a text down.
pub(crate) fn classified(
    step: StepId,
    round: u32,
    text: &str,
    ruling: &Ruling,
    policy: &Policy,
) -> Classified {
    Classified {
        step,
        round,
        command: text.to_owned(),
        verdict: ruling.verdict.as_str().to_owned(),
        tier: ruling.tier.number(),
        rule: ruling.rule.clone().into_owned(),
        reason: ruling.reason.clone().into_owned(),
        impact: ruling.impact,
        digest: Request::digest_of(text, ruling),
        policy: policy.digest(),
    }
}

/// Says what to do next for a command that is not over.
pub(super) fn advance(state: &State, step: &Step, context: &DecisionContext<'_>, now: Timestamp) -> Effect {
    let stopped = state.end_request.is_some();
    let first = || {
        let judged = judge(state, step.id, 1, (&step.command, step.script.as_ref()), context);
        Effect::Record(vec![Event::Classified(judged)])
    };
    let Some(round) = step.round() else { return first() };
    let verdict = round.classified.verdict.as_str();
    let together = || {
        let steps = together(state, step);
        (steps.len() > 1).then_some(Effect::ExecuteTogether { steps })
    };
    match &step.phase {
        Phase::Proposed => first(),
        Phase::Judged if stopped => abandon(step),
        Phase::Judged => match verdict {
            "SAFE" => {
                let alone = Effect::Execute { step: step.id, consumes: None, intended: false };
                together().unwrap_or(alone)
            }
            "BLOCKED" => Effect::Refuse { step: step.id },
            _ => match state.covering(step) {
                Some(asked) => {
                    let consumes = Some(asked.requested.approval.clone());
                    Effect::Execute { step: step.id, consumes, intended: false }
                }
                None => request(state, step, false, context, now),
            },
        },
        Phase::AwaitingApproval { approval } if stopped => Effect::Withdraw { approval: approval.clone() },
        Phase::AwaitingApproval { approval } => {
            Effect::Wait { until: state.approvals.get(approval).map(|asked| asked.requested.expires_at) }
        }
        Phase::Decided { answer: Reply::Approve | Reply::Modify { .. }, .. } if stopped => abandon(step),
        Phase::Decided { approval, answer, .. } => match answer {
            Reply::Approve => match beside(state, step) {
                // What is to be recorded at two places at the same time begins when both are answered.
                Beside::Asked(other) => advance(state, other, context, now),
                Beside::Approved(steps) => Effect::ExecuteTogether { steps },
                Beside::Nobody => {
                    Effect::Execute { step: step.id, consumes: Some(approval.clone()), intended: false }
                }
            },
            // A plan can be approved or denied as a whole, not changed.
            Reply::Modify { .. } if state.denied_as_plan(step) => Effect::Refuse { step: step.id },
            Reply::Modify { command }
                if round.classified.round < MAX_ROUNDS && !command.trim().is_empty() =>
            {
                let judged = judge(state, step.id, round.classified.round + 1, (command, None), context);
                Effect::Record(vec![Event::Classified(judged)])
            }
            Reply::Deny { .. } | Reply::Modify { .. } => Effect::Refuse { step: step.id },
        },
        Phase::Expired { .. } => Effect::Refuse { step: step.id },
        Phase::Intended { .. } if stopped => abandon(step),
        Phase::Intended { approval } => {
            Effect::Execute { step: step.id, consumes: approval.clone(), intended: true }
        }
        // Whoever asks is not the owner that ran it: that one would have recorded its end. What only reads may repeat.
        Phase::Executing { .. } if verdict == "SAFE" && !stopped => {
            let alone = Effect::Execute { step: step.id, consumes: None, intended: true };
            together().unwrap_or(alone)
        }
        Phase::Executing { .. } if verdict == "SAFE" => abandon(step),
        Phase::Executing { epoch } => {
            Effect::Record(vec![Event::Unknown(Unknown { step: step.id, epoch: *epoch })])
        }
        Phase::Unknown if stopped => abandon(step),
        Phase::Unknown => request(state, step, true, context, now),
        Phase::Done => Effect::Rest,
    }
}

/// Returns the declared scripts of the same call that only read and are not over, the given one first: none needs the result of another.
fn together(state: &State, step: &Step) -> Vec<StepId> {
    let is_ready = |one: &&Step| {
        let only_reads = one.round().is_some_and(|round| round.classified.verdict == "SAFE");
        let is_open =
            matches!(one.phase, Phase::Judged | Phase::Intended { approval: None } | Phase::Executing { .. });
        is_open && only_reads && one.script.is_some() && one.call == step.call
    };
    state.steps.iter().filter(is_ready).map(|one| one.id).collect()
}

/// What stands beside an approved step of a call.
enum Beside<'a> {
    Nobody,
    /// Another one that was proposed together with it, and is not answered yet, or is not to run.
    Asked(&'a Step),
    /// All of them, approved.
    Approved(Vec<StepId>),
}

/// Returns what was proposed together with an approved measurement: declared scripts of one call that begin at the same time.
fn beside<'a>(state: &'a State, step: &Step) -> Beside<'a> {
    let is_own = |one: &&Step| {
        let asks = one.round().is_some_and(|round| round.classified.verdict == "RISKY");
        one.phase != Phase::Done && asks && one.scripted().is_some() && one.call == step.call
    };
    if step.scripted().is_none() {
        return Beside::Nobody;
    }
    let all: Vec<&Step> = state.steps.iter().filter(is_own).collect();
    let is_approved = |one: &&Step| matches!(one.phase, Phase::Decided { answer: Reply::Approve, .. });
    match all.iter().find(|one| !is_approved(one)) {
        Some(other) => Beside::Asked(other),
        None if all.len() > 1 => Beside::Approved(all.iter().map(|one| one.id).collect()),
        None => Beside::Nobody,
    }
}

pub(crate) fn request(
    state: &State,
    step: &Step,
    outcome_unknown: bool,
    context: &DecisionContext<'_>,
    now: Timestamp,
) -> Effect {
    let Some(round) = step.round() else { return Effect::Rest };
    let plan = if outcome_unknown { Vec::new() } else { planned(state, step, context) };
    let held = |command: &String| ruled(state, step, command, context);
    let impact = match plan.is_empty() {
        true => impact_now(state, step, context),
        // By itself each of them would send something to a place that nobody named, or has no sandbox: that is a change,
        // beside whatever.
        false if plan.iter().map(held).any(|ruling| ruling.only_reads()) => Impact::Change,
        false => context.policy.impact_of_plan(&plan.iter().map(String::as_str).collect::<Vec<_>>()),
    };
    let limits = &state.limits;
    let asked: Vec<&str> = match plan.is_empty() {
        true => vec![round.classified.command.as_str()],
        false => plan.iter().map(String::as_str).collect(),
    };
    // A measurement moves no flow from one fate to another.
    let changes = impact != Impact::Measurement;
    let forecast = changes.then(|| foreseen(state, context.policy, context.evidence, &asked)).flatten();
    Effect::Request(ApprovalRequested {
        forecast,
        approval: approval_name(state, step.id),
        step: step.id,
        round: round.classified.round,
        digest: ApprovalRequested::bind(round.classified.digest, &plan),
        expires_at: now.plus(limits.approval()),
        votes_needed: limits.votes_needed(impact),
        impact,
        outcome_unknown,
        judgements: plan
            .iter()
            .map(|command| judgement(ruled(state, step, command, context), impact))
            .collect(),
        plan,
    })
}

/// Returns what the command does as it stands now. A judgement that does not say so was recorded by an earlier version.
fn impact_now(state: &State, step: &Step, context: &DecisionContext<'_>) -> Impact {
    let Some(round) = step.round() else { return Impact::Change };
    let judged = || {
        let command = (round.classified.command.as_str(), step.scripted());
        judge(state, step.id, round.classified.round, command, context).impact
    };
    round.classified.impact.or_else(judged).unwrap_or(Impact::Change)
}

/// Judges one command of a plan; that of the step as it stands on record, with what the gate found.
fn ruled(state: &State, step: &Step, command: &str, context: &DecisionContext<'_>) -> Ruling {
    let own = step.round().map(|round| &round.classified);
    match own.filter(|judged| judged.command == command && is_reclassified(judged)) {
        Some(judged) => ruling_of(judged),
        None => {
            let ruling = context.policy.classify_within(command, state.opened.scope.as_ref());
            check_destinations(state, context.policy, context.evidence, ruling)
        }
    }
}

/// Writes down a judgement on one command of a plan. What is a change by itself can be less beside the others, and never more than all
/// of them.
fn judgement(ruling: Ruling, whole: Impact) -> PlanJudgement {
    let asks = ruling.verdict == Verdict::Risky;
    PlanJudgement {
        verdict: ruling.verdict.as_str().to_owned(),
        rule: ruling.rule.into_owned(),
        reason: ruling.reason.into_owned(),
        impact: asks.then(|| ruling.impact.unwrap_or(Impact::Change).min(whole)),
    }
}

/// Returns the commands that one consent is to cover, beginning with this one; none where it stands alone, was changed, asks for what
/// the gate found, or where any of them may never run.
fn planned(state: &State, step: &Step, context: &DecisionContext<'_>) -> Vec<String> {
    let from = step.plan.iter().position(|planned| planned == step.current());
    let plan = from.and_then(|from| step.plan.get(from..)).unwrap_or_default();
    let found = step.round().is_some_and(|round| ruling_of(&round.classified).asks_for_machine());
    let alone = found || plan.len() < 2 || step.script.is_some() || step.rounds.len() > 1;
    let never = |command: &String| {
        context.policy.classify_within(command, state.opened.scope.as_ref()).verdict == Verdict::Blocked
    };
    if alone || plan.iter().any(never) { Vec::new() } else { plan.to_vec() }
}

/// Ends a command that did not run, or about whose outcome nobody is asked any more, because the session is stopped.
fn abandon(step: &Step) -> Effect {
    let reason = if step.outcome_unknown {
        "the session was stopped; whether the command took effect is not known"
    } else {
        "the session was stopped before the command ran"
    };
    ended(step, "user_abandoned", reason)
}

/// Ends a command that did not run, and about which nobody is asked.
pub(crate) fn ended(step: &Step, action: &str, reason: &str) -> Effect {
    Effect::Record(vec![Event::Done(Done {
        step: step.id,
        status: "denied".to_owned(),
        classification: step.round().map(|round| round.classified.verdict.clone()).unwrap_or_default(),
        action: action.to_owned(),
        exit_code: None,
        output: String::new(),
        stderr: String::new(),
        error: None,
        reason: reason.to_owned(),
        hint: None,
        modified_command: None,
        audit_id: String::new(),
        audit_head: None,
        duration_ms: None,
        evidence: None,
        output_metadata: serde_json::Value::Null,
        restored: false,
    })])
}
