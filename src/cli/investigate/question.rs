//! A question of a session, put to whoever sits at the terminal.

use std::sync::Arc;

use ghost_base::Clock as _;
use ghost_base::SystemClock;
use ghost_investigate::event::{ChangeForecast, Impact, Reply};
use ghost_investigate::state::State;
use ghost_investigate::{RequesterMay, SelfApproval, check_destinations};
use ghost_session::{Engine, SubmittedVote, VoteResult, submit_vote};
use ghost_shell::{Approver, Choice, PlannedCommand, Request, Ruling, Verdict};
use ghost_store::Outcome;
use ghost_tools::config;
use ghost_tools::name::random;
use ghost_tools::setup::Setup;

/// Returns what whoever sits at the terminal may approve. Unless the configuration says otherwise they act with their own
/// rights: there is no second person to ask.
pub(in crate::cli) fn rule(setup: &Setup) -> SelfApproval {
    let approval = &setup.config.approval;
    let requester = match approval.requester {
        Some(config::RequesterMay::Measure) => RequesterMay::Measure,
        Some(config::RequesterMay::Nothing) => RequesterMay::Nothing,
        Some(config::RequesterMay::Everything) | None => RequesterMay::Everything,
    };
    SelfApproval { requester, modifier: approval.modifier.unwrap_or(true) }
}

/// What came of asking.
pub(in crate::cli) enum QuestionOutcome {
    /// Somebody answered, and the store knows.
    Answered,
    /// The answer did not count, and why.
    Lost(String),
}

/// Asks, and brings the answer to the store.
pub(in crate::cli) async fn ask(
    engine: &Engine,
    state: &State,
    name: &str,
    approver: &Arc<dyn Approver>,
    rule: SelfApproval,
) -> anyhow::Result<QuestionOutcome> {
    let Some(request) = request(engine, state, name) else {
        return Ok(QuestionOutcome::Lost("the question is gone".to_owned()));
    };
    let decision = approver.decide(&request).await;
    let answer = match decision.choice {
        Choice::Approve => Reply::Approve,
        Choice::Deny { reason } => Reply::Deny { reason },
        Choice::Modify { command } => Reply::Modify { command },
        Choice::Expired => return Ok(QuestionOutcome::Lost("nobody answered in time".to_owned())),
    };
    let vote = SubmittedVote {
        approval: name.to_owned(),
        who: decision.who.to_string(),
        name: String::new(),
        answer,
        key: random::<8>()?,
        at: SystemClock.now(),
    };
    let counted = submit_vote(engine.store.as_ref(), state, rule, &vote).await?;
    Ok(match counted {
        VoteResult::Counted(Outcome::Decided(_) | Outcome::Voted { .. } | Outcome::VotedBefore { .. }) => {
            QuestionOutcome::Answered
        }
        VoteResult::Counted(Outcome::AlreadyDecided { by, .. }) => {
            QuestionOutcome::Lost(format!("{} answered before", by.reviewer))
        }
        VoteResult::Counted(Outcome::Expired) => {
            QuestionOutcome::Lost("the answer came too late; nothing ran".to_owned())
        }
        VoteResult::Counted(Outcome::Unknown) | VoteResult::Unknown => {
            QuestionOutcome::Lost("the question is gone".to_owned())
        }
        VoteResult::Refused(why) => QuestionOutcome::Lost(why),
    })
}

fn request(engine: &Engine, state: &State, name: &str) -> Option<Request> {
    let asked = &state.approvals.get(name)?.requested;
    let step = state.step(asked.step)?;
    let (policy, evidence) = (&engine.policy, engine.evidence.as_ref());
    let judge = |command: &str| check_destinations(state, policy, evidence, policy.classify(command));
    let impacts = asked.judgements.iter().map(|judged| judged.impact).chain(std::iter::repeat(None));
    let one = |(command, impact): (&String, Option<Impact>)| {
        let ruling = judge(command);
        let impact = impact.or(ruling.impact);
        PlannedCommand { command: command.clone(), ruling: Ruling { impact, ..ruling } }
    };
    let plan: Vec<PlannedCommand> = asked.plan.iter().zip(impacts).map(one).collect();
    let command = match asked.is_plan() {
        true => format!("{}, and what belongs to it", step.reasoning),
        false => step.current().to_owned(),
    };
    let ruling = Ruling { impact: Some(asked.impact), ..judge(step.current()) };
    // What is on record is what is asked about: it holds what the gate found, too.
    let judged = step.round().map(|round| &round.classified).filter(|_| !asked.is_plan());
    let ruling = match judged {
        Some(judged) => Ruling {
            verdict: Verdict::Risky,
            rule: judged.rule.clone().into(),
            reason: judged.reason.clone().into(),
            ..ruling
        },
        None => ruling,
    };
    Some(Request {
        session: state.session.clone(),
        command,
        reasoning: step.reasoning.clone(),
        forecast: asked.forecast.as_ref().map(foreseen).unwrap_or_default(),
        ruling,
        round: asked.round,
        plan,
        outcome_unknown: asked.outcome_unknown,
        identity: engine.acts_as.clone(),
    })
}
/// Returns what a change would do to flows, and how it is taken back, line by line.
fn foreseen(forecast: &ChangeForecast) -> Vec<String> {
    let mut lines = vec![format!("{}, {}", forecast.verdict, forecast.words)];
    lines.extend(forecast.flows.iter().cloned());
    if forecast.more > 0 {
        lines.push(format!("… and {} more", forecast.more));
    }
    lines.extend(forecast.undo.iter().map(|undo| format!("undone by: {undo}")));
    lines.extend(forecast.is_undone_later.then(|| "how it is undone is said after the run".to_owned()));
    lines
}
