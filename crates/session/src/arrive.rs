//! What arrives while a session is driven: messages, and the end of questions.

use std::time::Duration;

use crate::owned::{OwnedSession, retry_until_available};
use crate::vote::{name_of, reply};
use crate::{Engine, EngineError, InboxMessage};
use ghost_base::SessionId;
use ghost_investigate::event::{
    ApprovalDecided, ApprovalExpired, ApprovalVoted, Discarded, Event, HumanMessage, Instruction, Opened,
    Reopened, Reworded,
};
use ghost_investigate::recheck;
use ghost_investigate::state::State;
use ghost_store::{ApprovalState, Choice, Item, Notice, Vote};

/// How often the inbox is read for a stop while a session is driven.
const INBOX_POLL_INTERVAL: Duration = Duration::from_millis(300);

/// How long words wait for the incident that they belong to: longer than Slack and senders of alerts repeat what was not
/// acknowledged.
const INCIDENT_WAIT: Duration = Duration::from_secs(15 * 60);

impl Engine {
    /// Turns what arrived into events.
    pub(super) async fn drain(&self, owned: &mut OwnedSession<'_>) -> Result<(), EngineError> {
        let items = owned.inbox().await?;
        let opened = match owned.state() {
            Some(_) => 0,
            // Nothing can be recorded before the session is opened.
            None => match open(owned, &items).await? {
                0 => return self.drop_orphans(owned, &items).await,
                taken => taken,
            },
        };
        for item in items.into_iter().skip(opened) {
            // Who goes on behind the report does so when there is one.
            if owned.state().is_some_and(|state| state.concluded.is_some() && !state.is_reported())
                && is_again(&item)
            {
                return Ok(());
            }
            let mut events = match &item {
                Item::Delivered(text) => events_of(owned.state(), text),
                Item::Closed(notice) => self.closed(owned.state(), notice).await?,
            };
            if events.is_empty() {
                let why = "it says nothing about this session, or not for the first time".to_owned();
                events.push(Event::Discarded(Discarded { why }));
            }
            owned.record(&events, 1).await?;
        }
        Ok(())
    }

    /// Drops messages of a session that never began, or that the store has lost, once no incident can come for them any more.
    async fn drop_orphans(&self, owned: &mut OwnedSession<'_>, items: &[Item]) -> Result<(), EngineError> {
        let now = self.clock.now();
        let is_orphan = |item: &&Item| match item {
            Item::Delivered(text) => {
                InboxMessage::arrived(text).is_some_and(|at| now.since(at) > INCIDENT_WAIT)
            }
            // A question is opened after its session.
            Item::Closed(_) => true,
        };
        let orphans = items.iter().take_while(is_orphan).count();
        if orphans == 0 {
            return Ok(());
        }
        owned.drain_only(orphans).await?;
        let session = owned.session();
        tracing::warn!(session.id = %session, "{orphans} messages of session {session} dropped: the store has no incident for them");
        Ok(())
    }

    async fn closed(&self, state: Option<&State>, notice: &Notice) -> Result<Vec<Event>, EngineError> {
        let name = notice.approval.as_str();
        let Some(approval) = state.and_then(|state| state.approvals.get(name)) else { return Ok(Vec::new()) };
        if approval.ending.is_some() {
            return Ok(Vec::new());
        }
        let (approval, step) = (name.to_owned(), approval.requested.step);
        let now = self.clock.now();
        let found = retry_until_available(self, || self.store.find(&notice.approval, now)).await?;
        let votes = found.map(|found| found.votes).unwrap_or_default();
        let voted = |vote: &Vote| {
            Event::ApprovalVoted(ApprovalVoted {
                approval: approval.clone(),
                who: vote.reviewer.clone(),
                approves: vote.choice == Choice::Approve,
                at: vote.at,
            })
        };
        let mut events: Vec<Event> = votes.iter().map(voted).collect();
        match &notice.state {
            ApprovalState::Decided(vote) => events.push(Event::ApprovalDecided(ApprovalDecided {
                approval,
                step,
                answer: reply(vote),
                who: vote.reviewer.clone(),
                name: name_of(vote),
                at: vote.at,
            })),
            ApprovalState::Expired => events.push(Event::ApprovalExpired(ApprovalExpired { approval, step })),
            ApprovalState::Pending | ApprovalState::Consumed { .. } => return Ok(Vec::new()),
        }
        Ok(events)
    }
}

/// Opens a session with the incident that waits for it. Words that came before the incident follow it. Returns how many items
/// that took, zero where no incident waits.
async fn open(owned: &mut OwnedSession<'_>, items: &[Item]) -> Result<usize, EngineError> {
    let read = |item: &Item| match item {
        Item::Delivered(text) => serde_json::from_str::<InboxMessage>(text).ok(),
        Item::Closed(_) => None,
    };
    let (mut before, mut taken) = (Vec::new(), 0);
    for item in items {
        taken += 1;
        let message = match item {
            // Words for a session that the store does not have begin it.
            Item::Delivered(text) => InboxMessage::opens(text).map(InboxMessage::Open).or_else(|| read(item)),
            Item::Closed(_) => None,
        };
        before.push(match message {
            Some(InboxMessage::Open(opened)) => {
                if let Item::Delivered(text) = item
                    && let Some(at) = InboxMessage::arrived(text)
                {
                    owned.engine.observer.arrived(owned.session(), at);
                }
                before.insert(0, Event::Opened(*opened));
                owned.record(&before, taken).await?;
                return Ok(before.len());
            }
            Some(InboxMessage::Said(said) | InboxMessage::Again(said)) => Event::HumanMessage(said),
            Some(InboxMessage::Ask(outside)) => {
                before.insert(0, Event::Opened((owned.engine.open_outside)(*outside)));
                owned.record(&before, taken).await?;
                return Ok(before.len());
            }
            Some(
                InboxMessage::Recheck(_)
                | InboxMessage::Reword(_)
                | InboxMessage::Take(_)
                | InboxMessage::Attend(_)
                | InboxMessage::Alert(_),
            )
            | None => Event::Discarded(Discarded { why: "it came before the incident".to_owned() }),
        });
    }
    Ok(0)
}

/// Turns an incident that came after the session was opened into words. Its sender may not have known of the session.
fn later(state: Option<&State>, opened: Opened) -> Vec<Event> {
    let same = state.is_some_and(|state| {
        state.opened.requester == opened.requester && state.opened.symptom == opened.symptom
    });
    let (who, text, by_program) = (opened.requester, opened.symptom, opened.by_program);
    match state.is_some_and(State::is_reported) {
        _ if same => Vec::new(),
        true if by_program => Vec::new(),
        true => vec![Event::Reopened(Reopened { who, text, recheck: false })],
        false => vec![Event::HumanMessage(HumanMessage { who, text, instruction: Instruction::Steer })],
    }
}

/// Replaces the complaint of a session. One that is over goes on with the new words; one that says this already does nothing.
fn reword(state: Option<&State>, reworded: Reworded) -> Vec<Event> {
    if state.is_some_and(|state| state.opened.symptom == reworded.symptom) {
        return Vec::new();
    }
    let (who, text) = (reworded.who.clone(), reworded.symptom.clone());
    let mut events = vec![Event::Reworded(reworded)];
    if state.is_some_and(State::is_reported) {
        events.push(Event::Reopened(Reopened { who, text, recheck: false }));
    }
    events
}

fn is_again(item: &Item) -> bool {
    match item {
        Item::Delivered(text) => match serde_json::from_str(text) {
            Ok(InboxMessage::Again(_) | InboxMessage::Recheck(_) | InboxMessage::Reword(_)) => true,
            Ok(InboxMessage::Open(opened)) => !opened.by_program,
            Ok(
                InboxMessage::Said(_)
                | InboxMessage::Ask(_)
                | InboxMessage::Take(_)
                | InboxMessage::Attend(_)
                | InboxMessage::Alert(_),
            )
            | Err(_) => false,
        },
        Item::Closed(_) => false,
    }
}

/// Turns a message into events; one that changes nothing has none.
fn events_of(state: Option<&State>, text: &str) -> Vec<Event> {
    let outside = state.filter(|state| state.opened.outside.is_some());
    match serde_json::from_str::<InboxMessage>(text) {
        Ok(InboxMessage::Take(asked)) if outside.is_some_and(|state| !state.is_over()) => {
            vec![Event::TakeRequested(asked)]
        }
        Ok(InboxMessage::Attend(attended))
            if outside.is_some_and(|state| !state.is_over() && state.attended != attended.waits) =>
        {
            vec![Event::Attended(attended)]
        }
        // One session is one request, and nobody speaks with it.
        Ok(InboxMessage::Ask(_) | InboxMessage::Take(_) | InboxMessage::Attend(_)) => Vec::new(),
        Ok(_) if outside.is_some() => Vec::new(),
        // Whether something is checked again is decided when there is something to check.
        // The thread of a person may hang on an alert that another program posted.
        Ok(InboxMessage::Alert(alerted)) => vec![Event::Alerted(alerted)],
        Ok(InboxMessage::Reword(reworded)) => reword(state, reworded),
        Ok(InboxMessage::Again(HumanMessage { who, text, instruction: Instruction::Steer }))
            if state.is_some_and(State::is_reported) =>
        {
            vec![Event::Reopened(Reopened { who, text, recheck: false })]
        }
        // Whoever says it twice, or too early, got the status of the session.
        Ok(InboxMessage::Recheck(HumanMessage { who, text, .. })) => match state.map(recheck::possible) {
            Some(Ok(())) => vec![Event::Reopened(Reopened { who, text, recheck: true })],
            Some(Err(_)) | None => Vec::new(),
        },
        // What people say to each other behind the report is not the session's to keep.
        Ok(InboxMessage::Said(_)) if state.is_some_and(State::is_reported) => Vec::new(),
        Ok(InboxMessage::Said(said) | InboxMessage::Again(said)) => vec![Event::HumanMessage(said)],
        // Of two people who opened it at the same moment the later one said something as well.
        Ok(InboxMessage::Open(opened)) => later(state, *opened),
        Err(error) => {
            let why = format!("it could not be read: {error}");
            vec![Event::Discarded(Discarded { why })]
        }
    }
}

/// Waits until somebody wants the session to end.
pub(super) async fn stop_message(engine: &Engine, session: &SessionId) {
    loop {
        let items = retry_until_available(engine, || engine.store.inbox(session)).await.unwrap_or_default();
        let stops = |item: &Item| match item {
            Item::Delivered(text) => {
                let message = serde_json::from_str(text);
                matches!(message, Ok(InboxMessage::Said(said) | InboxMessage::Again(said)) if said.instruction != Instruction::Steer)
            }
            Item::Closed(_) => false,
        };
        if items.iter().any(stops) {
            return;
        }
        tokio::time::sleep(INBOX_POLL_INTERVAL).await;
    }
}

/// Waits until anything lies in the inbox.
pub(super) async fn any_message(engine: &Engine, session: &SessionId) {
    while retry_until_available(engine, || engine.store.inbox(session)).await.unwrap_or_default().is_empty() {
        tokio::time::sleep(INBOX_POLL_INTERVAL).await;
    }
}
