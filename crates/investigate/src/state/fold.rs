//! One event after the other.

use crate::Hypothesis;
use crate::event::{
    ApprovalRequested, Concluded, Content, Done, Event, FindingAccepted, HypothesisSet, Instruction,
    ModelAnswered, Observed, Opened, Proposed, Recorded, Reopened, Reworded, StepId,
};
use crate::service::ServiceTimes;
use crate::state::{
    Approval, CallState, Denial, Ending, Entry, Observation, Phase, Spent, State, Step, Turn, Vote,
};
use ghost_base::{SessionId, Timestamp};

/// The note for the model when a session continues after its report.
const REOPENED: &str = "The report was delivered, and the session goes on. What was observed stays on record and can be cited. \
Answer what follows: test it, and complete the investigation again.";

/// The note for the model when the words of the complaint were replaced.
const REWORDED: &str = "The complaint was reworded; its first message above is the new one. What was observed stays on record and can be cited. \
Answer the new words.";

/// The note in the conversation where findings were checked again.
const RECHECKED: &str = "The report was delivered. Somebody said that it is fixed: the checks that had shown the faults were made again, \
as they were, and the result was reported. What was observed stays on record and can be cited.";

/// Why events are no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// There is none.
    #[error("the session has no events")]
    Empty,
    /// It does not begin as a session does.
    #[error("the session does not begin with its opening")]
    NotOpened,
    /// A later version wrote something that this one does not understand.
    #[error(
        "event {seq} is of the kind `{kind}`, which this version does not know; use the version that wrote it"
    )]
    Foreign { seq: u64, kind: String },
    /// Its content is gone.
    #[error("the content of the session was erased; its chain of digests is all that is left")]
    Erased,
    /// It names something that never happened.
    #[error("event {seq} speaks of {what}, which is not there")]
    Misplaced { seq: u64, what: String },
}

impl State {
    /// Folds a session from its first event on.
    ///
    /// # Errors
    /// Fails where the events are no session, or hold something that this version does not understand.
    pub fn fold(session: &SessionId, events: &[Recorded]) -> Result<Self, FoldError> {
        let (first, rest) = events.split_first().ok_or(FoldError::Empty)?;
        let Event::Opened(opened) = known(first)? else { return Err(FoldError::NotOpened) };
        let mut state = Self::begin(session.clone(), opened.clone(), first);
        rest.iter().try_for_each(|event| state.apply(event))?;
        Ok(state)
    }

    fn begin(session: SessionId, opened: Opened, first: &Recorded) -> Self {
        Self {
            session,
            limits: opened.limits,
            opened,
            opened_at: first.at,
            seq: first.seq,
            last_at: first.at,
            head: first.hash,
            hypotheses: Vec::new(),
            entries: Vec::new(),
            steps: Vec::new(),
            approvals: std::collections::BTreeMap::new(),
            observations: Vec::new(),
            accepted: Vec::new(),
            rejected: Vec::new(),
            denials: Vec::new(),
            asked: None,
            failures: Vec::new(),
            too_long: 0,
            end_request: None,
            budget_spent: None,
            spent: Spent::default(),
            concluded: None,
            delivered: Vec::new(),
            rechecking: None,
            earlier: Vec::new(),
            names: std::collections::BTreeMap::new(),
            taker: None,
            taken: None,
            attended: true,
            alerts: Vec::new(),
            forecasts_checked: Vec::new(),
            is_check_due: false,
            service: ServiceTimes::default(),
            reported: None,
        }
    }

    /// Takes one more event in.
    ///
    /// # Errors
    /// Fails where it is not understood, or speaks of something that never happened; the state is then of no use.
    pub fn apply(&mut self, recorded: &Recorded) -> Result<(), FoldError> {
        let (seq, at) = (recorded.seq, recorded.at);
        let missing = |what: String| FoldError::Misplaced { seq, what };
        match known(recorded)? {
            Event::Opened(_) => return Err(missing("a second opening".to_owned())),
            Event::HypothesisSet(set) => self.set_hypothesis(set),
            Event::ModelAsked(asked) => self.asked = Some(asked.clone()),
            Event::ModelAnswered(answered) => self.answered(answered, at),
            Event::AnswerFailed(failed) => {
                self.asked = None;
                self.failures.push(failed.problem.clone());
                self.too_long += u32::from(failed.too_long);
            }
            Event::Proposed(proposed) => {
                let step = proposed.step;
                self.call(&proposed.call)
                    .ok_or_else(|| missing(format!("call {}", proposed.call)))?
                    .steps
                    .push(step);
                self.steps.push(propose(proposed, at));
            }
            Event::Classified(classified) => {
                let step =
                    self.change(classified.step).ok_or_else(|| missing(classified.step.to_string()))?;
                step.judge(classified.clone());
            }
            Event::ApprovalRequested(requested) => {
                self.request(requested, at).ok_or_else(|| missing(requested.step.to_string()))?
            }
            Event::ApprovalVoted(voted) => {
                let approval = self
                    .approvals
                    .get_mut(&voted.approval)
                    .ok_or_else(|| missing(format!("approval {}", voted.approval)))?;
                approval.votes.push(Vote { who: voted.who.clone(), approves: voted.approves, at: voted.at });
            }
            Event::ApprovalDecided(decided) => {
                if let Some(name) = &decided.name {
                    self.names.insert(decided.who.clone(), name.clone());
                }
                let (answer, who) = (decided.answer.clone(), decided.who.clone());
                let ending = Ending::Decided { answer: answer.clone(), who: who.clone(), at: decided.at };
                let phase =
                    Phase::Decided { approval: decided.approval.clone(), answer, who, at: decided.at };
                self.end_approval(&decided.approval, decided.step, ending, phase, at)
                    .ok_or_else(|| missing(format!("approval {}", decided.approval)))?;
            }
            Event::ApprovalExpired(expired) => {
                let phase = Phase::Expired { approval: expired.approval.clone() };
                self.end_approval(&expired.approval, expired.step, Ending::Expired { at }, phase, at)
                    .ok_or_else(|| missing(format!("approval {}", expired.approval)))?;
            }
            Event::Intent(intent) => {
                let step = self.change(intent.step).ok_or_else(|| missing(intent.step.to_string()))?;
                step.phase = Phase::Intended { approval: intent.approval.clone() };
                step.consents.extend(intent.approval.clone());
            }
            Event::Executing(executing) => {
                let step = self.change(executing.step).ok_or_else(|| missing(executing.step.to_string()))?;
                step.phase = Phase::Executing { epoch: executing.epoch };
                self.spent.commands += 1;
            }
            Event::Unknown(unknown) => {
                let step = self.change(unknown.step).ok_or_else(|| missing(unknown.step.to_string()))?;
                (step.phase, step.outcome_unknown) = (Phase::Unknown, true);
            }
            Event::Done(done) => self.finish(done, at).ok_or_else(|| missing(done.step.to_string()))?,
            Event::Observed(observed) => {
                let id = observed.id;
                self.count_captured(observed);
                self.call(&observed.call)
                    .ok_or_else(|| missing(format!("call {}", observed.call)))?
                    .observations
                    .push(id);
                self.observations.push(Observation { at, observed: observed.clone() });
            }
            Event::Returned(returned) => {
                let call =
                    self.call(&returned.call).ok_or_else(|| missing(format!("call {}", returned.call)))?;
                call.returned = Some(returned.clone());
            }
            Event::FindingAccepted(finding) => self.accept(finding),
            Event::FindingRejected(finding) => self.rejected.push(finding.clone()),
            Event::HumanMessage(said) => {
                if said.instruction != Instruction::Steer && self.end_request.is_none() {
                    self.end_request = Some((said.who.clone(), said.instruction));
                }
                let (who, text) = (said.who.clone(), said.text.clone());
                self.entries.push(Entry::Message { at, who, text, instruction: said.instruction });
            }
            Event::Noted(noted) => self.entries.push(Entry::Note { text: noted.text.clone() }),
            // What says nothing appears in the timeline alone.
            Event::Discarded(_) => {}
            Event::BudgetSpent(spent) => self.budget_spent = Some(spent.clone()),
            Event::Resumed(_) => self.spent.waited += at.since(self.last_at),
            Event::Concluded(concluded) => self.conclude(concluded, at),
            Event::Delivered(delivered) => self.delivered.push(delivered.clone()),
            Event::Reopened(reopened) => self.reopen(reopened, at),
            Event::Reworded(reworded) => self.reword(reworded, at),
            Event::TakeRequested(asked) => self.taker = Some(asked.key.clone()),
            Event::Taken(taken) => (self.taker, self.taken) = (None, Some(taken.key.clone())),
            Event::Alerted(alerted) => self.alerted(alerted, at),
            Event::ForecastChecked(checked) => self.forecasts_checked.push(checked.clone()),
            Event::Attended(attended) => {
                self.attended = attended.waits;
                // Who left does not want it any more.
                self.taker = self.taker.take().filter(|_| attended.waits);
            }
        }
        self.service.take(known(recorded)?, at.since(self.opened_at));
        (self.seq, self.last_at, self.head) = (seq, at, recorded.hash);
        Ok(())
    }

    /// Ends, with a result of its own or with that of the report before.
    fn conclude(&mut self, concluded: &Concluded, at: Timestamp) {
        match &self.reported {
            // What a look that changed nothing supposed is no part of the report.
            Some(reported) if concluded.stands.is_some() => self.hypotheses.clone_from(&reported.hypotheses),
            Some(_) | None => self.reported = None,
        }
        self.accepted.retain(|found| !concluded.replaced.iter().any(|one| one.is(&found.finding)));
        self.concluded = Some((at, concluded.clone()));
    }

    /// Continues with everything that is known, and may spend as much again.
    fn reopen(&mut self, reopened: &Reopened, at: Timestamp) {
        if self.concluded.is_some() {
            let mut shown = self.shown().clone();
            shown.reported = None;
            self.reported = Some(Box::new(shown));
        }
        self.earlier.extend(self.concluded.take());
        (self.end_request, self.budget_spent) = (None, None);
        (self.failures, self.too_long) = (Vec::new(), 0);
        self.spent.waited += at.since(self.last_at);
        self.limits = self.opened.limits.beyond(&self.spent, self.spent.at_work(self.opened_at, at));
        self.rechecking = None;
        if reopened.recheck {
            self.is_check_due = false;
            self.entries.push(Entry::Note { text: RECHECKED.to_owned() });
            self.rechecking = Some(self.entries.len());
            return;
        }
        let (who, text) = (reopened.who.clone(), reopened.text.clone());
        self.entries.push(Entry::Note { text: REOPENED.to_owned() });
        self.entries.push(Entry::Message { at, who, text, instruction: Instruction::Steer });
    }

    /// Replaces the complaint. What was observed stays, and what somebody says from here on is about the new words.
    fn reword(&mut self, reworded: &Reworded, at: Timestamp) {
        self.opened.symptom.clone_from(&reworded.symptom);
        *self.opened.gathered = reworded.gathered.clone();
        if self.concluded.is_some() {
            return;
        }
        self.entries.push(Entry::Note { text: REWORDED.to_owned() });
        let (who, text) = (reworded.who.clone(), reworded.symptom.clone());
        self.entries.push(Entry::Message { at, who, text, instruction: Instruction::Steer });
    }

    /// Keeps a claim that holds; the same one, made again after a report, replaces it.
    fn accept(&mut self, found: &FindingAccepted) {
        let same = |known: &&mut FindingAccepted| {
            let (one, other) = (&known.finding, &found.finding);
            (&one.code, &one.object, &one.statement) == (&other.code, &other.object, &other.statement)
        };
        match self.accepted.iter_mut().find(same) {
            Some(known) => known.clone_from(found),
            None => self.accepted.push(found.clone()),
        }
    }

    /// Counts the bytes of a file of packets, once however often it is read.
    fn count_captured(&mut self, observed: &Observed) {
        let Some((file, bytes)) = observed.captured() else { return };
        let known = |seen: &Observation| seen.observed.captured().is_some_and(|(other, _)| other == file);
        if !self.observations.iter().any(known) {
            self.spent.captured_bytes = self.spent.captured_bytes.saturating_add(bytes);
        }
    }

    fn set_hypothesis(&mut self, set: &HypothesisSet) {
        match self.hypotheses.iter_mut().find(|hypothesis| hypothesis.id == set.id) {
            Some(hypothesis) => {
                (hypothesis.state, hypothesis.why) = (set.state, set.why.clone());
                if let Some(description) = &set.description {
                    hypothesis.description.clone_from(description);
                }
            }
            None => self.hypotheses.push(Hypothesis {
                id: set.id.clone(),
                description: set.description.clone().unwrap_or_default(),
                state: set.state,
                why: set.why.clone(),
                denials: 0,
            }),
        }
    }

    fn answered(&mut self, answered: &ModelAnswered, at: Timestamp) {
        (self.asked, self.spent.turns) = (None, self.spent.turns + 1);
        (self.failures, self.too_long) = (Vec::new(), 0);
        let usage = answered.usage;
        let used = usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0));
        self.spent.tokens = self.spent.tokens.saturating_add(used);
        match answered.cost_micros {
            Some(cost) => self.spent.cost_micros = self.spent.cost_micros.saturating_add(cost),
            None => self.spent.turns_without_price += 1,
        }
        let open = |call: &crate::model::Call| CallState {
            call: call.clone(),
            steps: Vec::new(),
            observations: Vec::new(),
            returned: None,
        };
        self.entries.push(Entry::Turn(Turn {
            number: answered.turn,
            at,
            investigator: answered.investigator.clone(),
            text: answered.text.clone(),
            calls: answered.calls.iter().map(open).collect(),
            carry: answered.carry.clone(),
            stop: answered.stop.clone(),
        }));
    }

    fn call(&mut self, id: &str) -> Option<&mut CallState> {
        self.entries.iter_mut().rev().find_map(|entry| match entry {
            Entry::Turn(turn) => turn.calls.iter_mut().find(|call| call.call.id == id),
            Entry::Message { .. } | Entry::Note { .. } => None,
        })
    }

    fn change(&mut self, id: StepId) -> Option<&mut Step> {
        self.steps.iter_mut().find(|step| step.id == id)
    }

    fn request(&mut self, requested: &ApprovalRequested, at: Timestamp) -> Option<()> {
        let name = requested.approval.clone();
        let step = self.change(requested.step)?;
        step.rounds.last_mut()?.approvals.push(name.clone());
        step.phase = Phase::AwaitingApproval { approval: name.clone() };
        self.spent.approvals += 1;
        let approval =
            Approval { requested: requested.clone(), asked_at: at, votes: Vec::new(), ending: None };
        self.approvals.insert(name, approval);
        Some(())
    }

    fn end_approval(
        &mut self,
        name: &str,
        step: StepId,
        ending: Ending,
        phase: Phase,
        at: Timestamp,
    ) -> Option<()> {
        let approval = self.approvals.get_mut(name)?;
        if matches!(ending, Ending::Decided { .. }) {
            self.service.decided(approval, at);
        }
        approval.ending = Some(ending);
        let asked_at = approval.asked_at;
        // Work went on beside a question below an earlier answer.
        let is_beside =
            self.concluded.is_none() && self.step(step).is_some_and(|step| self.is_behind_result(step));
        if !is_beside {
            self.spent.waited += at.since(asked_at);
        }
        self.change(step)?.phase = phase;
        Some(())
    }

    fn finish(&mut self, done: &Done, at: Timestamp) -> Option<()> {
        let step = self.change(done.step)?;
        step.phase = Phase::Done;
        (step.done, step.done_at) = (Some(done.clone()), Some(at));
        if done.action != "user_denied" {
            return Some(());
        }
        let denial = Denial {
            step: step.id,
            command: step.current().to_owned(),
            hypothesis: step.hypothesis.clone(),
            reason: done.reason.clone(),
        };
        self.charge(&denial);
        self.denials.push(denial);
        Some(())
    }

    /// Counts a denial against the hypothesis that it was for; where none was named, against the only active one.
    fn charge(&mut self, denial: &Denial) {
        let only = match self.active().collect::<Vec<_>>().as_slice() {
            [one] => Some(one.id.clone()),
            _ => None,
        };
        let named = denial.hypothesis.clone().filter(|id| self.hypothesis(id).is_some());
        let Some(id) = named.or(only) else { return };
        if let Some(hypothesis) = self.hypotheses.iter_mut().find(|hypothesis| hypothesis.id == id) {
            hypothesis.denials += 1;
        }
    }
}

fn propose(proposed: &Proposed, at: Timestamp) -> Step {
    Step {
        id: proposed.step,
        call: proposed.call.clone(),
        tool: proposed.tool.clone(),
        command: proposed.command.clone(),
        reasoning: proposed.reasoning.clone(),
        hypothesis: proposed.hypothesis.clone(),
        script: proposed.script.clone(),
        plan: proposed.plan.clone(),
        at,
        rounds: Vec::new(),
        consents: Vec::new(),
        phase: Phase::Proposed,
        outcome_unknown: false,
        done: None,
        done_at: None,
    }
}

fn known(recorded: &Recorded) -> Result<&Event, FoldError> {
    match &recorded.content {
        Content::Known(event) => Ok(event),
        Content::Foreign => Err(FoldError::Foreign { seq: recorded.seq, kind: recorded.kind.clone() }),
        Content::Erased => Err(FoldError::Erased),
    }
}
