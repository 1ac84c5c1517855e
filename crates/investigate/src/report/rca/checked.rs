//! What was looked at, what was not, and who decided.

use crate::event::{ApprovalRequested, Reply};
use crate::report::amount::moment;
use crate::report::markdown::{code, text};
use crate::report::rca::proof;
use crate::report::request::{MachineNames, asked_action};
use crate::report::step_outcome::{
    StepOutcome, answer, command, decider, decision, questions, sentence, step_outcome,
};
use crate::state::{Approval, Ending, State, Step, Vote};

/// Returns the section that nobody may miss: what may have taken effect, and what nobody consented to. Empty where there
/// is nothing of the kind.
pub(super) fn attention(state: &State) -> String {
    let of = |wanted: StepOutcome| state.steps.iter().filter(move |step| step_outcome(state, step) == wanted);
    // A later run that ended does not take back that an earlier one was cut off.
    let cut_off = state.unknown_steps().filter(|step| step_outcome(state, step) != StepOutcome::Unknown);
    let unknown = of(StepOutcome::Unknown).chain(cut_off).collect::<Vec<_>>();
    let refused = of(StepOutcome::Refused).collect::<Vec<_>>();
    let mut blocks = Vec::new();
    if !unknown.is_empty() {
        let lines = unknown.iter().map(|step| item(step, &text(&sentence(state, step))));
        let intro = "**Outcome unknown.** These may have taken effect; look before you rely on it:";
        blocks.push(format!("{intro}\n\n{}", lines.collect::<Vec<_>>().join("\n")));
    }
    if !refused.is_empty() {
        let lines = refused.iter().map(|step| item(step, &refusal(state, step)));
        let intro = "**Denied or expired.** These did not run, so what they would have shown is not known:";
        blocks.push(format!("{intro}\n\n{}", lines.collect::<Vec<_>>().join("\n")));
    }
    if blocks.is_empty() { String::new() } else { format!("## Attention\n\n{}", blocks.join("\n\n")) }
}

fn item(step: &Step, outcome: &str) -> String {
    let hypothesis = step.hypothesis.as_deref().map(|id| format!(" for {}", text(id))).unwrap_or_default();
    // A declared script is shown by its purpose; what a human may have to judge is shown word for word.
    let what =
        if step.scripted().is_some() { proof::command(step, &step.command) } else { code(command(step)) };
    format!("- {}{hypothesis}, {}: {outcome}\n  - {what}", step.id, moment(step.at))
}

fn refusal(state: &State, step: &Step) -> String {
    if let Some((who, Reply::Deny { reason }, at)) = decider(state, step) {
        let reason = if reason.trim().is_empty() { "no reason given".to_owned() } else { text(reason) };
        return format!("denied by {} at {at}: {reason}", text(who));
    }
    let last = questions(state, step).last().map(|(_, approval)| approval);
    match last.and_then(|approval| approval.ending.as_ref().map(|ending| (approval, ending))) {
        Some((approval, Ending::Expired { .. })) => {
            format!("expired: nobody answered by {}", approval.requested.expires_at)
        }
        Some((_, Ending::Decided { .. })) | None => text(&sentence(state, step)),
    }
}

/// Returns the section with commands that gave no result; empty where there are none.
pub(super) fn failures(state: &State) -> String {
    let failed = state
        .steps
        .iter()
        .filter(|step| matches!(step_outcome(state, step), StepOutcome::Failed | StepOutcome::Open));
    let lines = failed.map(|step| item(step, &text(&sentence(state, step)))).collect::<Vec<_>>();
    if lines.is_empty() {
        String::new()
    } else {
        format!("## Commands without a result\n\n{}", lines.join("\n"))
    }
}

/// Returns the section with the questions to humans, in the order in which they were asked.
pub(in crate::report) fn approvals(state: &State, with_ids: bool) -> String {
    let title = "## Approvals";
    if state.approvals.is_empty() {
        return format!("{title}\n\nNobody had to be asked.");
    }
    let lines = in_order(state)
        .into_iter()
        .map(|(name, approval)| question(state, with_ids.then_some(name), approval));
    format!("{title}\n\n{}", lines.collect::<Vec<_>>().join("\n"))
}

fn in_order(state: &State) -> Vec<(&str, &Approval)> {
    let mut all = state.steps.iter().flat_map(|step| questions(state, step)).collect::<Vec<_>>();
    all.sort_by_key(|(_, approval)| approval.asked_at);
    all
}

fn question(state: &State, name: Option<&str>, approval: &Approval) -> String {
    let requested = &approval.requested;
    let step = requested.step;
    let command = command_of(state, approval);
    let ending = ending(approval);
    let warned =
        if requested.outcome_unknown { ", with the warning that an earlier run was cut off" } else { "" };
    let mut lines = vec![
        match name {
            Some(name) => format!("- {} for {step}, round {}: {ending}", code(name), requested.round),
            None => format!("- {}: {ending}", text(&asked(state, approval))),
        },
        format!(
            "  - asked {}, {}, {} needed{warned}",
            approval.asked_at,
            requested.impact.as_str(),
            requested.votes_needed
        ),
    ];
    let whole = state.step(step).filter(|step| step.scripted().is_some());
    let what = match whole {
        Some(step) => Some(proof::command(step, &step.command)),
        None => command.map(code),
    };
    match requested.is_plan() {
        true => lines.extend(planned(requested)),
        false => lines.extend(what.map(|what| format!("  - {what}"))),
    }
    lines.extend(
        requested
            .forecast
            .iter()
            .map(|foreseen| format!("  - forecast: {}; {}", text(&foreseen.verdict), text(&foreseen.words))),
    );
    let checked =
        state.forecasts_checked.iter().filter(|checked| checked.step == step && requested.forecast.is_some());
    for checked in checked {
        lines.push(format!(
            "  - after the run: forecast {}; {}",
            checked.verdict.word(),
            text(&checked.words)
        ));
        lines.extend(checked.flows.iter().map(|flow| format!("    - {}", text(flow))));
    }
    lines.extend(approval.votes.iter().map(|given| vote(approval, given)));
    lines.join("\n")
}

/// Says what a question asked, as plain data.
pub(in crate::report) fn asked(state: &State, approval: &Approval) -> String {
    let requested = &approval.requested;
    let command = command_of(state, approval);
    let asks = |at: usize| requested.judgements.get(at).is_none_or(|judged| judged.impact.is_some());
    let planned =
        requested.plan.iter().enumerate().filter(|(at, _)| asks(*at)).map(|(_, line)| line.as_str());
    let all: Vec<&str> = if requested.is_plan() { planned.collect() } else { command.into_iter().collect() };
    let tool = state.step(requested.step).map_or("", |step| step.tool.as_str());
    asked_action(tool, &all, requested.impact, &MachineNames::of(state)).what
}

/// Returns the command that a question is about, as it stood in that round.
fn command_of<'a>(state: &'a State, approval: &Approval) -> Option<&'a str> {
    let mut rounds = state.step(approval.requested.step)?.rounds.iter().map(|round| &round.classified);
    let shown = rounds.find(|classified| classified.round == approval.requested.round);
    shown.map(|classified| classified.command.as_str())
}

/// Returns every command that a plan holds, numbered, with its judgement where that was recorded.
fn planned(requested: &ApprovalRequested) -> impl Iterator<Item = String> {
    let judgements = requested.judgements.iter().map(Some).chain(std::iter::repeat(None));
    requested.plan.iter().zip(judgements).zip(1..).map(|((command, judged), at)| {
        let judged = judged.map(|judged| {
            let impact = judged.impact.map(|impact| format!(", {}", impact.as_str())).unwrap_or_default();
            format!("{}{impact}: ", text(&judged.verdict))
        });
        format!("  - command {at}: {}{}", judged.unwrap_or_default(), code(command))
    })
}

/// Returns how a question ended, as Markdown.
pub(in crate::report) fn ending(approval: &Approval) -> String {
    match (&approval.ending, decision(approval)) {
        (Some(Ending::Expired { at }), _) => format!("expired, recorded {at}"),
        (_, Some((who, reply, at))) => format!("{} by {} at {at}{}", answer(reply), text(who), detail(reply)),
        (_, None) => format!("open until {}", approval.requested.expires_at),
    }
}

fn vote(approval: &Approval, vote: &Vote) -> String {
    let changed = matches!(decision(approval), Some((who, Reply::Modify { .. }, _)) if who == vote.who);
    let answer = match (vote.approves, changed) {
        (true, _) => "yes",
        (false, true) => "change it",
        (false, false) => "no",
    };
    format!("  - vote: {answer} by {} at {}", text(&vote.who), vote.at)
}

fn detail(reply: &Reply) -> String {
    match reply {
        Reply::Approve => String::new(),
        Reply::Deny { reason } => format!(": {}", text(reason)),
        Reply::Modify { command } => format!(" to {}", code(command)),
    }
}
