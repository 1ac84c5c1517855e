//! What a card speaks of.

use std::borrow::Cow;

use crate::bot::show::card::target::{script, target};
use crate::bot::show::text::{prose, short};
use ghost_investigate::event::{Classified, Outside, OutsideKind, PlanJudgement};
use ghost_investigate::report::{AskedAction, MachineNames, asked_action};
use ghost_investigate::state::{Approval, State, Step};

/// A question with everything around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) state: &'a State,
    pub(super) name: &'a str,
    pub(super) approval: &'a Approval,
    pub(super) step: &'a Step,
    /// The judgement that the question was asked about.
    pub(super) judged: &'a Classified,
}

impl<'a> Subject<'a> {
    /// Finds a question; `None` where there is none of that name.
    pub(super) fn find(state: &'a State, name: &str) -> Option<Self> {
        let (name, approval) = state.approvals.get_key_value(name)?;
        let step = state.step(approval.requested.step)?;
        let mut rounds = step.rounds.iter().map(|round| &round.classified);
        let judged = rounds.find(|judged| judged.round == approval.requested.round)?;
        Some(Self { state, name, approval, step, judged })
    }

    /// Returns what exactly is asked about: the command, or all commands of a plan, numbered, one a line, each with its judgement.
    pub(super) fn shown(&self) -> Cow<'a, str> {
        let requested = &self.approval.requested;
        if !requested.is_plan() {
            return Cow::Borrowed(&self.judged.command);
        }
        let judgements = requested.judgements.iter().map(Some).chain(std::iter::repeat(None));
        let lines = requested.plan.iter().zip(judgements).zip(1..).map(|((command, judged), at)| {
            let judged = judged.map(|judged| format!("[{}] ", verdict(judged))).unwrap_or_default();
            format!("{at}. {judged}{}", command.replace('\n', "\\n"))
        });
        Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Returns a line for each command of a plan, cut so that all of them fit into so many characters. One that is repeated at once
    /// stands there once, with its numbers.
    pub(super) fn overview(&self, room: usize) -> String {
        let (requested, machines) = (&self.approval.requested, MachineNames::of(self.state));
        let judgements = requested.judgements.iter().map(Some).chain(std::iter::repeat(None));
        let all: Vec<(&String, Option<&PlanJudgement>)> = requested.plan.iter().zip(judgements).collect();
        let mut at = 0;
        let mut rows = Vec::new();
        for row in all.chunk_by(|one, next| one == next) {
            let numbers = match row.len() {
                1 => format!("{}", at + 1),
                many => format!("{}–{}", at + 1, at + many),
            };
            at += row.len();
            rows.extend(row.first().map(|one| (numbers, *one)));
        }
        let each = (room / rows.len().max(1)).saturating_sub(1).max(40);
        let line = |(numbers, (command, judged)): (String, (&String, Option<&PlanJudgement>))| {
            let judged = judged.map(|judged| format!("[{}] ", verdict(judged))).unwrap_or_default();
            let place =
                target(command).map(|place| format!("{}: ", machines.name(&place))).unwrap_or_default();
            let worded = script(command).unwrap_or_else(|| command.clone()).replace('\n', "\\n");
            short(&format!("{numbers}. {judged}{place}{worded}"), each)
        };
        rows.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Returns what is asked, in words: of a plan, what its commands do that need consent.
    pub(super) fn action(&self) -> AskedAction {
        let requested = &self.approval.requested;
        let asks = |at: usize| requested.judgements.get(at).is_none_or(|judged| judged.impact.is_some());
        let all: Vec<&str> =
            self.commands().enumerate().filter(|(at, _)| asks(*at)).map(|(_, one)| one).collect();
        asked_action(&self.step.tool, &all, requested.impact, &MachineNames::of(self.state))
    }

    /// Tells whether somebody can put another command in the place of this one.
    pub(super) fn is_changeable(&self) -> bool {
        let call = |asked: &Outside| asked.request.kind == OutsideKind::Call;
        !self.approval.requested.is_plan() && !self.state.opened.outside.as_deref().is_some_and(call)
    }

    /// Returns every command that is asked about.
    pub(super) fn commands(&self) -> impl Iterator<Item = &'a str> {
        let requested = &self.approval.requested;
        let alone = (!requested.is_plan()).then_some(self.judged.command.as_str());
        alone.into_iter().chain(requested.plan.iter().map(String::as_str))
    }

    /// Returns who changed the command into this one, and what it was before.
    pub(super) fn changed(&self) -> Option<(&'a str, &'a str)> {
        self.state.modified(&self.approval.requested)
    }

    /// Returns why the command is wanted. What was said of a command before somebody changed it was not said of this one.
    ///
    /// A tool says what its commands do; why it was called its caller said, before the first of them was asked about.
    pub(super) fn reasoning(&self) -> &'a str {
        if self.judged.round > 1 {
            return "";
        }
        let mut turns = self.state.turns();
        let turn = turns.find(|turn| turn.calls.iter().any(|call| call.call.id == self.step.call));
        let asked_before = self.state.approvals.values().any(|other| {
            let step = self.state.step(other.requested.step);
            other.requested.step < self.approval.requested.step
                && step.is_some_and(|step| step.call == self.step.call)
        });
        let words = turn.map(|turn| turn.text.trim()).filter(|words| !words.is_empty());
        match words.filter(|_| self.step.tool != "run_shell_cmd" && !asked_before) {
            Some(words) => words,
            None => self.step.reasoning.trim(),
        }
    }

    /// Returns the hypothesis that the command tests, and what it says. A command that somebody changed was chosen for none.
    pub(super) fn hypothesis(&self, most: usize) -> Option<String> {
        let id = self.step.hypothesis.as_deref().filter(|_| self.judged.round <= 1)?;
        let what = self.state.hypothesis(id).map(|found| prose(&found.description, most));
        Some(what.filter(|what| !what.is_empty()).unwrap_or_else(|| short(id, 20)))
    }

    /// Returns the question that was asked about the same step after this one.
    pub(super) fn later(&self) -> Option<&'a Approval> {
        let mut names = self.step.rounds.iter().flat_map(|round| &round.approvals);
        names.find(|name| name.as_str() == self.name)?;
        names.next().and_then(|name| self.state.approvals.get(name))
    }
}

/// Returns the verdict on a command of a plan, and what it would do.
fn verdict(judged: &PlanJudgement) -> String {
    let impact = judged.impact.map(|impact| format!(", {}", impact.as_str())).unwrap_or_default();
    format!("{}{impact}", judged.verdict)
}
