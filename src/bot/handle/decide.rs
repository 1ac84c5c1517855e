//! An answer to a question: who gives it is looked up now, and the store counts it once.

use std::sync::Arc;

use crate::bot::core::Core;
use crate::bot::journal::{Entry, JournalAction, note};
use crate::bot::show::{self, Refusal, RenderContext};
use crate::bot::{AccessError, ChannelRules, Freeze, Groups, People, Person, Thread, may_take_part};
use ghost_investigate::event::{Impact, Reply};
use ghost_investigate::may_approve_modified;
use ghost_investigate::state::{Ending, State};
use ghost_session::{SubmittedVote, VoteResult, submit_vote};
use ghost_slack::pace::Priority;
use ghost_store::{Approval, ApprovalId, ApprovalState, Choice, Outcome, StoreError};

/// A question that somebody wants to answer.
pub(super) struct Question {
    pub(super) state: State,
    pub(super) approval: Approval,
    pub(super) thread: Thread,
    pub(super) rules: ChannelRules,
}

impl Question {
    /// Returns the command that is asked about; of a plan the first one.
    pub(super) fn command(&self) -> Option<&str> {
        let asked = self.state.approvals.get(self.approval.record.id.as_str())?;
        let mut rounds = self.state.step(asked.requested.step)?.rounds.iter().map(|round| &round.classified);
        let judged = rounds.find(|judged| judged.round == asked.requested.round)?;
        Some(judged.command.as_str())
    }

    fn impact(&self) -> Impact {
        let asked = self.state.approvals.get(self.approval.record.id.as_str());
        // What is not known is a change.
        asked.map_or(Impact::Change, |asked| asked.requested.impact)
    }

    /// Returns who decides about it.
    pub(super) fn approvers(&self) -> &People {
        self.rules.approvers.about(self.impact())
    }

    /// Says whether somebody may approve or change it.
    pub(super) fn may_approve(&self, person: &Person, groups: &Groups) -> Result<(), AccessError> {
        self.rules.approvers.may_approve(person, &self.state.opened.requester, self.impact(), groups)
    }

    /// Says whether somebody's yes counts: whoever changed the command is not its only approver.
    pub(super) fn may_vote(&self, person: &Person, groups: &Groups) -> Result<(), AccessError> {
        self.may_approve(person, groups)?;
        let Some(asked) = self.state.approvals.get(self.approval.record.id.as_str()) else { return Ok(()) };
        let modifier = self.state.modified(&asked.requested).map(|(who, _)| who);
        let rule = self.rules.approvers.own;
        Ok(may_approve_modified(rule, modifier, &person.id, asked.requested.votes_needed)?)
    }
}

impl Core {
    /// Finds the question that a button names. What it says about itself counts for nothing: everything is read from the store.
    pub(super) async fn question(&self, name: &str) -> Result<Result<Question, Refusal>, StoreError> {
        let Ok(id) = name.parse::<ApprovalId>() else { return Ok(Err(Refusal::Gone)) };
        let Some(approval) = self.store.find(&id, self.clock.now()).await? else {
            return Ok(Err(Refusal::Gone));
        };
        let state = match self.readable(&approval.record.session).await? {
            Ok(Some(state)) => state,
            Ok(None) => return Ok(Err(Refusal::Gone)),
            Err(why) => return Ok(Err(Refusal::Unreadable { why })),
        };
        let Some(thread) = Thread::of_state(&state) else { return Ok(Err(Refusal::Gone)) };
        let Some(rules) = self.settings.rules(&thread.channel).cloned() else {
            return Ok(Err(Refusal::Gone));
        };
        if let Some(refused) = closed(&approval, &state) {
            return Ok(Err(refused));
        }
        Ok(Ok(Question { state, approval, thread, rules }))
    }

    /// Says whether somebody may approve or change what is asked about.
    pub(super) async fn may_approve(
        &self,
        question: &Question,
        user: &str,
    ) -> Result<Result<Person, Refusal>, StoreError> {
        // Who it is comes first: whoever could never approve learns nothing of a freeze, and is on record for the attempt.
        let found = self.may_ever_approve(question, user).await?;
        let person = match self.on_record(question, user, found).await? {
            Ok(person) => person,
            refused @ Err(_) => return Ok(refused),
        };
        let Some(freeze) = Freeze::current(self.store.as_ref()).await? else { return Ok(Ok(person)) };
        self.record_refusal(question, user, "everything is held back").await?;
        let frozen = self.context(Some(&freeze), self.clock.now()).frozen;
        Ok(Err(frozen.map_or(Refusal::Unverified, Refusal::Frozen)))
    }

    /// Puts it on record where somebody wanted to decide what is not theirs to decide.
    async fn on_record<T>(
        &self,
        question: &Question,
        user: &str,
        found: Result<T, Refusal>,
    ) -> Result<Result<T, Refusal>, StoreError> {
        if let Err(Refusal::NotYours { why }) = &found {
            self.record_refusal(question, user, why).await?;
        }
        Ok(found)
    }

    /// Puts a click that counts for nothing on record.
    pub(super) async fn record_refusal(
        &self,
        question: &Question,
        user: &str,
        why: &str,
    ) -> Result<(), StoreError> {
        let why = format!("{}: {why}", question.approval.record.id);
        let (place, session) = (question.thread.channel.as_str(), question.state.session.as_str());
        let entry = Entry { what: JournalAction::Refused, who: user, place, why: &why, session };
        note(&self.store, self.clock.as_ref(), entry).await
    }

    /// Says whether somebody may approve or change what is asked about once nothing is held back.
    pub(super) async fn may_ever_approve(
        &self,
        question: &Question,
        user: &str,
    ) -> Result<Result<Person, Refusal>, StoreError> {
        let groups = self.directory.groups(&question.approvers().groups, Priority::Approval);
        let (person, groups) = tokio::join!(self.directory.person_now(user), groups);
        let person = match person {
            Ok(person) => person,
            Err(error) => return Ok(Err(Refusal::NotYours { why: error.to_string() })),
        };
        Ok(match question.may_approve(&person, &groups) {
            Ok(()) => Ok(person),
            Err(error) => Err(Refusal::NotYours { why: error.to_string() }),
        })
    }

    /// Says whether somebody may deny: everybody who takes part may.
    pub(super) async fn may_deny(
        &self,
        question: &Question,
        user: &str,
    ) -> Result<Result<Person, Refusal>, StoreError> {
        let person = self.directory.person_now(user).await;
        let person = person.and_then(|person| may_take_part(&person).map(|()| person));
        self.on_record(question, user, person.map_err(|error| Refusal::NotYours { why: error.to_string() }))
            .await
    }

    /// Counts an answer of somebody who may give it.
    pub(super) async fn count(
        self: &Arc<Self>,
        question: &Question,
        person: &Person,
        answer: Reply,
        key: &str,
    ) -> Result<Option<Refusal>, StoreError> {
        let name = question.approval.record.id.as_str().to_owned();
        let vote = SubmittedVote {
            approval: name,
            who: person.id.clone(),
            name: person.name.clone(),
            answer,
            key: key.to_owned(),
            at: self.clock.now(),
        };
        let rule = question.rules.approvers.own;
        let voted = submit_vote(self.store.as_ref(), &question.state, rule, &vote).await?;
        Ok(match voted {
            VoteResult::Unknown => Some(Refusal::Gone),
            VoteResult::Refused(why) => {
                self.record_refusal(question, &person.id, &why).await?;
                Some(Refusal::NotYours { why })
            }
            VoteResult::Counted(Outcome::AlreadyDecided { repeated: true, .. }) => None,
            VoteResult::Counted(Outcome::Decided(_) | Outcome::Voted { .. }) => {
                self.show_vote(&question.approval.record.id);
                None
            }
            VoteResult::Counted(Outcome::VotedBefore { .. }) => Some(Refusal::Voted),
            VoteResult::Counted(Outcome::Expired) => {
                Some(Refusal::Expired { at: question.approval.record.expires_at })
            }
            VoteResult::Counted(Outcome::Unknown) => Some(Refusal::Gone),
            VoteResult::Counted(Outcome::AlreadyDecided { by, .. }) => {
                let found = Approval { state: ApprovalState::Decided(by), ..question.approval.clone() };
                closed(&found, &question.state)
            }
        })
    }

    /// Tells somebody privately why their answer does not count.
    pub(super) fn refuse(&self, thread: &Thread, user: &str, refused: &Refusal) {
        self.count_refusal(refused);
        self.whisper(thread, user, &show::refusal(refused, &RenderContext::default()));
    }
}

/// Says how a question ended, where it did.
fn closed(approval: &Approval, state: &State) -> Option<Refusal> {
    match &approval.state {
        ApprovalState::Pending => None,
        ApprovalState::Expired => Some(Refusal::Expired { at: approval.record.expires_at }),
        ApprovalState::Decided(vote) => {
            let answer = serde_json::from_str(&vote.note).unwrap_or_else(|_| match vote.choice {
                Choice::Approve => Reply::Approve,
                Choice::Deny => Reply::Deny { reason: vote.note.clone() },
            });
            Some(Refusal::Decided { who: vote.reviewer.clone(), answer, at: vote.at })
        }
        ApprovalState::Consumed { .. } => {
            let ending =
                state.approvals.get(approval.record.id.as_str()).and_then(|found| found.ending.clone());
            Some(match ending {
                Some(Ending::Decided { answer, who, at }) => Refusal::Decided { who, answer, at },
                Some(Ending::Expired { .. }) | None => Refusal::Gone,
            })
        }
    }
}
