//! What holds of every session in the end, however many replicas died.

use std::collections::{BTreeMap, BTreeSet};

use ghost_base::SessionId;
use ghost_investigate::event::{Content, Delivered, Event, Recorded, Reply};
use ghost_investigate::state::State;
use serde_json::Value;

use super::people::Talk;
use super::stage::Stage;
use crate::bot::stage::has_button;

/// When a replica died, and what it held then.
pub(super) struct Death {
    pub(super) died: u64,
    pub(super) held: Vec<SessionId>,
}

impl Stage {
    /// Proves that a session is over, and that nothing in it happened twice or got lost.
    pub(super) async fn prove(&self, talk: &Talk, ran: &[String]) {
        let recorded = self.recorded(talk).await;
        let state = State::fold(&talk.session, &recorded).unwrap();
        assert!(state.is_reported(), "{talk:?}");
        let events = known(&recorded);
        let times = |kind: &str| recorded.iter().filter(|event| event.kind == kind).count();
        assert_eq!((times("opened"), times("concluded"), times("reopened")), (1, 1, 0), "{talk:?}");
        let reports = events.iter().filter(
            |event| matches!(event, Event::Delivered(delivered) if delivered.what == Delivered::REPORT),
        );
        assert_eq!(reports.count(), 1, "{talk:?}");
        let yes = decisions(talk, &events);
        let lines = ran.iter().filter(|line| **line == talk.number.to_string()).count();
        if talk.waits {
            // Somebody was asked again where nobody could know whether it ran.
            let unknown = times("unknown");
            assert!(
                lines <= yes && lines + unknown >= yes && yes >= 1,
                "{talk:?}: ran {lines} times, allowed {yes}"
            );
        }
        once_in_the_thread(talk, &state, &self.said(talk).await);
    }
}

fn known(recorded: &[Recorded]) -> Vec<&Event> {
    let known = recorded.iter().filter_map(|event| match &event.content {
        Content::Known(event) => Some(event.as_ref()),
        Content::Foreign | Content::Erased => None,
    });
    known.collect()
}

/// Holds that every question was decided once at most, and every consent used once; returns how often somebody said yes.
#[track_caller]
fn decisions(talk: &Talk, events: &[&Event]) -> usize {
    let (mut decided, mut used, mut ids) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut yes, mut executed) = (0, BTreeMap::new());
    for event in events {
        if let Event::ApprovalRequested(asked) = event {
            assert!(ids.insert(&asked.approval), "{talk:?}: asked twice");
        }
        if let Event::ApprovalDecided(answer) = event {
            assert!(decided.insert(&answer.approval), "{talk:?}: decided twice");
            yes += usize::from(answer.answer == Reply::Approve);
        }
        if let Event::Intent(intent) = event
            && let Some(approval) = &intent.approval
        {
            assert!(used.insert(approval), "{talk:?}: a consent was used twice");
        }
        if let Event::Executing(executing) = event {
            *executed.entry(executing.step).or_insert(0_usize) += 1;
        }
    }
    let most = executed.values().max().copied().unwrap_or(0);
    assert!(!talk.waits || most <= yes, "{talk:?}: it ran {most} times with {yes} consents");
    yes
}

/// Holds that everything that is shown is shown once, and nothing is left to press.
#[track_caller]
fn once_in_the_thread(talk: &Talk, state: &State, said: &[Value]) {
    let mut deliveries: BTreeMap<String, usize> = BTreeMap::new();
    let mut files = 0;
    for message in said {
        let what = message.pointer("/metadata/event_payload/what").and_then(Value::as_str);
        match (what, message["files"].as_array().filter(|files| !files.is_empty())) {
            (Some(what), _) => *deliveries.entry(what.to_owned()).or_default() += 1,
            (None, Some(_)) => files += 1,
            (None, None) => panic!("{talk:?}: the bot says more than it should: {message:#}"),
        }
        for button in ["approve", "deny", "stop"] {
            assert!(!has_button(message, button), "{talk:?}: {button} is left: {message:#}");
        }
    }
    let mut wanted: BTreeMap<String, usize> = BTreeMap::from([("board".to_owned(), 1)]);
    wanted.extend(state.approvals.keys().map(|name| (Delivered::card_of(name), 1)));
    let parts = deliveries.keys().filter(|what| what.starts_with("report 1 part ")).count();
    assert!(parts >= 1, "{talk:?}: no report");
    wanted.extend((1..=parts).map(|part| (format!("report 1 part {part}"), 1)));
    assert_eq!((deliveries, files), (wanted, 1), "{talk:?}");
}

/// Returns how long it took from each death until somebody else wrote, in order.
pub(super) fn takeovers(deaths: &[Death], ledgers: &BTreeMap<SessionId, Vec<Recorded>>) -> Vec<u64> {
    let mut took = Vec::new();
    for death in deaths {
        for session in &death.held {
            let events = ledgers.get(session).into_iter().flatten();
            let moments = events.map(|event| u64::try_from(event.at.as_millis()).unwrap());
            // Where nothing was left to write nobody had to take it over.
            took.extend(moments.filter(|at| *at > death.died).min().map(|at| at - death.died));
        }
    }
    took.sort_unstable();
    took
}
