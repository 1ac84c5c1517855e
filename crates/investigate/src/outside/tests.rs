//! Facts about requests from outside.

use super::*;
use crate::Limits;
use crate::decision::{DecisionContext, Effect, next as decide};
use crate::event::{
    ApprovalDecided, ApprovalExpired, ApprovalRequested, Attended, Chain, Event, Impact, Opened, Origin,
    Outside, OutsideKind, OutsideRequest, Recorded, Reply, TakeRequested,
};
use crate::model::Investigator;
use crate::state::State;
use crate::tool::{Evidence, EvidenceError, Registry};
use ghost_base::{Digest, SessionId, Timestamp};
use ghost_shell::Policy;

struct NoTexts;

impl Evidence for NoTexts {
    fn text(&self, _: &str) -> Option<String> {
        None
    }

    fn keep(&self, text: &str) -> Result<Digest, EvidenceError> {
        Ok(Digest::of(text))
    }
}

/// One session, driven by hand.
struct Session {
    chain: Chain,
    recorded: Vec<Recorded>,
    now: Timestamp,
}

fn name() -> SessionId {
    "ghost-abcdefghjkmn".parse().unwrap()
}

fn investigator() -> Investigator {
    Investigator { provider: PROVIDER.to_owned(), model: String::new(), host: None, window: 0 }
}

impl Session {
    fn new(kind: OutsideKind, text: &str, channel: Option<&str>) -> Self {
        let request = OutsideRequest {
            agent: "Codex".to_owned(),
            machine: "m1".to_owned(),
            folder: "/srv".to_owned(),
            conversation: String::new(),
            kind,
            text: text.to_owned(),
            reasoning: "why".to_owned(),
            rule: "hook.other".to_owned(),
            reason: "nobody there knows it".to_owned(),
            impact: Impact::Measurement,
        };
        let outside = Outside { caller: "m1".to_owned(), owner: None, request };
        let mut session =
            Self { chain: Chain::new(name()), recorded: Vec::new(), now: Timestamp::from_millis(0) };
        session.add(Event::Opened(Opened {
            symptom: text.to_owned(),
            requester: outside.requester(),
            origin: Origin {
                place: "slack".to_owned(),
                team: None,
                channel: channel.map(str::to_owned),
                thread: None,
            },
            quotes: Vec::new(),
            nonce: "n".to_owned(),
            investigator: investigator(),
            limits: Limits::default(),
            scope: None,
            hosts: Vec::new(),
            cloud_too: false,
            clusters: Vec::new(),
            surroundings: None,
            gathered: Box::default(),
            by_program: true,
            outside: Some(Box::new(outside)),
            alert: None,
            version: "0".to_owned(),
        }));
        session
    }

    fn add(&mut self, event: Event) {
        let (_, recorded) = self.chain.seal(self.now, &event).unwrap();
        self.recorded.push(recorded);
    }

    fn state(&self) -> State {
        State::fold(&name(), &self.recorded).unwrap()
    }

    /// Does what follows by itself, and returns the first effect that does not.
    fn go(&mut self) -> Effect {
        let (registry, investigator) = (Registry::default(), investigator());
        for _ in 0..20 {
            let context = DecisionContext {
                policy: Policy::builtin().unwrap(),
                tools: &registry,
                evidence: &NoTexts,
                investigator: &investigator,
                site: None,
            };
            let effect = decide(&self.state(), &context, self.now);
            let Effect::Record(events) = effect else { return effect };
            events.into_iter().for_each(|event| self.add(event));
        }
        panic!("it does not come to rest");
    }

    fn asked(&mut self) -> ApprovalRequested {
        let Effect::Request(asked) = self.go() else { panic!("nobody is asked: {:?}", self.state().steps) };
        self.add(Event::ApprovalRequested(asked.clone()));
        asked
    }

    fn answer(&mut self, asked: &ApprovalRequested, answer: Reply) {
        self.add(Event::ApprovalDecided(ApprovalDecided {
            approval: asked.approval.clone(),
            step: asked.step,
            answer,
            who: "U1".to_owned(),
            name: Some("ben".to_owned()),
            at: self.now,
        }));
    }

    fn wants(&mut self, key: &str) {
        self.add(Event::TakeRequested(TakeRequested { key: key.to_owned() }));
    }

    fn verdict(&self) -> (String, Option<Impact>) {
        let state = self.state();
        let round = state.steps.first().unwrap().round().unwrap();
        (round.classified.verdict.clone(), round.classified.impact)
    }
}

const COMMAND: OutsideKind = OutsideKind::Command;

#[test]
fn what_is_safe_here_asks_all_the_same_and_what_is_blocked_here_never_does() {
    let mut session = Session::new(COMMAND, "uname -s", Some("C1"));
    session.asked();
    assert_eq!(session.verdict(), ("RISKY".to_owned(), Some(Impact::Measurement)));
    // Of two judgements the stricter one counts.
    let mut session = Session::new(COMMAND, "touch /etc/x", Some("C1"));
    assert_eq!(session.asked().impact, Impact::Change);
    let mut session = Session::new(COMMAND, "sudo reboot", Some("C1"));
    assert!(matches!(session.go(), Effect::Refuse { .. }));
    let mut session = Session::new(OutsideKind::Call, "reboot", Some("C1"));
    session.asked();
}

#[test]
fn a_consent_waits_for_whoever_asked_and_is_handed_over_once() {
    let mut session = Session::new(COMMAND, "touch x", Some("C1"));
    let asked = session.asked();
    assert!(matches!(standing(&session.state()), Standing::Waiting { votes_needed: 1, .. }));
    // Who wants it before there is one gets it only once there is.
    session.wants("k0");
    assert!(matches!(session.go(), Effect::Wait { until: Some(_) }));
    session.add(Event::Attended(Attended { waits: false }));
    session.answer(&asked, Reply::Approve);
    assert_eq!(session.go(), Effect::Wait { until: offered_until(&session.state()) });
    let Standing::Granted { granted, .. } = standing(&session.state()) else { panic!() };
    assert_eq!((granted.text.as_str(), granted.by.as_str(), granted.changed), ("touch x", "@ben", false));
    session.wants("k1");
    let step = asked.step;
    let consumes = Some(asked.approval.clone());
    assert_eq!(session.go(), Effect::HandOver { step, consumes, key: "k1".to_owned() });
}

#[test]
fn a_consent_that_nobody_uses_runs_out() {
    let mut session = Session::new(COMMAND, "touch x", Some("C1"));
    let asked = session.asked();
    session.answer(&asked, Reply::Approve);
    let until = session.now.plus(Limits::default().approval());
    assert_eq!(session.go(), Effect::Wait { until: Some(until) });
    session.now = until;
    assert_eq!(session.go(), Effect::Rest);
    assert!(matches!(standing(&session.state()), Standing::Expired { .. }));
    assert!(session.state().is_over() && session.state().is_reported());
    assert_eq!(session.state().standing(), "concluded");
}

#[test]
fn what_a_human_puts_in_its_place_is_judged_again() {
    let change = |text: &str| Reply::Modify { command: text.to_owned() };
    let mut session = Session::new(COMMAND, "touch x", Some("C1"));
    let first = session.asked();
    session.answer(&first, change("touch y"));
    let second = session.asked();
    assert_ne!(first.digest, second.digest);
    session.answer(&second, change("uname -s"));
    // It is SAFE; nobody has to be asked again, and it runs out all the same.
    let until = session.now.plus(Limits::default().approval());
    assert_eq!(session.go(), Effect::Wait { until: Some(until) });
    let Standing::Granted { granted, .. } = standing(&session.state()) else { panic!() };
    assert_eq!((granted.text.as_str(), granted.changed), ("uname -s", true));
    let mut session = Session::new(COMMAND, "touch x", Some("C1"));
    let asked = session.asked();
    session.answer(&asked, change("sudo reboot"));
    assert!(matches!(session.go(), Effect::Refuse { .. }));
    // A call of another tool has no text that somebody could write.
    let mut session = Session::new(OutsideKind::Call, "Write {}", Some("C1"));
    let asked = session.asked();
    session.answer(&asked, change("ls"));
    assert!(matches!(session.go(), Effect::Refuse { .. }));
}

#[test]
fn a_no_and_silence_are_refused() {
    let mut session = Session::new(COMMAND, "touch x", Some("C1"));
    let asked = session.asked();
    session.answer(&asked, Reply::Deny { reason: "not before 22:00".to_owned() });
    assert!(matches!(session.go(), Effect::Refuse { .. }));
    let mut session = Session::new(COMMAND, "touch x", Some("C1"));
    let asked = session.asked();
    let (approval, step) = (asked.approval, asked.step);
    session.add(Event::ApprovalExpired(ApprovalExpired { approval, step }));
    assert!(matches!(session.go(), Effect::Refuse { .. }));
}

#[test]
fn without_a_channel_nobody_is_asked() {
    let mut session = Session::new(COMMAND, "touch x", None);
    assert_eq!(session.go(), Effect::Rest);
    let Standing::Refused { reason } = standing(&session.state()) else { panic!() };
    assert!(reason.contains("[outside] channel"), "{reason}");
}
