//! What a card speaks of.

use std::borrow::Cow;

use crate::agent::event::Classified;
use crate::agent::event::Reply;
use crate::agent::state::{Approval, Ending, State, Step};

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

    /// Returns what exactly is asked about: the command, or all commands of a plan, numbered, one a line.
    pub(super) fn shown(&self) -> Cow<'a, str> {
        if !self.approval.requested.is_plan() {
            return Cow::Borrowed(&self.judged.command);
        }
        let lines = self
            .approval
            .requested
            .plan
            .iter()
            .zip(1..)
            .map(|(command, at)| format!("{at}. {}", command.replace('\n', "\\n")));
        Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Returns who changed the command into this one, and what it was before.
    pub(super) fn changed(&self) -> Option<(&'a str, &'a str)> {
        let before = self.judged.round.checked_sub(1)?;
        let round = self.step.rounds.iter().find(|round| round.classified.round == before)?;
        let who = round.approvals.iter().rev().find_map(|name| {
            match self.state.approvals.get(name)?.ending.as_ref()? {
                Ending::Decided { answer: Reply::Modify { .. }, who, .. } => Some(who.as_str()),
                Ending::Decided { .. } | Ending::Expired { .. } => None,
            }
        });
        Some((who?, &round.classified.command))
    }

    /// Returns the question that was asked about the same step after this one.
    pub(super) fn later(&self) -> Option<&'a Approval> {
        let mut names = self.step.rounds.iter().flat_map(|round| &round.approvals);
        names.find(|name| name.as_str() == self.name)?;
        names.next().and_then(|name| self.state.approvals.get(name))
    }
}
