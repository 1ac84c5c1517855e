//! Facts about one approval, without a store.

use std::time::Duration;

use super::*;
use crate::Lease;
use ghost_base::Timestamp;

fn asked(votes_needed: u32) -> Approval {
    Approval::new(ApprovalRecord {
        id: "a1".parse().unwrap(),
        session: "s1".parse().unwrap(),
        digest: "d".to_owned(),
        opened_at: Timestamp::from_millis(0),
        expires_at: Timestamp::from_millis(100),
        body: "{}".to_owned(),
        votes_needed,
    })
}

fn vote(reviewer: &str, choice: Choice, at: i64) -> Vote {
    let at = Timestamp::from_millis(at);
    Vote {
        reviewer: reviewer.to_owned(),
        choice,
        note: String::new(),
        at,
        key: format!("{reviewer}-{choice:?}"),
    }
}

fn lease(session: &str) -> Lease {
    let until = Timestamp::from_millis(0);
    Lease {
        session: session.parse().unwrap(),
        owner: "w".to_owned(),
        epoch: 7,
        ttl: Duration::ZERO,
        until,
        orphans: false,
    }
}

#[test]
fn the_vote_that_completes_the_number_is_the_decision() {
    let (next, outcome) = asked(2).vote(&vote("ana", Choice::Approve, 1));
    assert_eq!(outcome, Outcome::Voted { so_far: 1 });
    let (next, outcome) = next.unwrap().vote(&vote("ben", Choice::Approve, 2));
    assert_eq!(outcome, Outcome::Decided(Choice::Approve));
    assert_eq!(next.unwrap().votes.len(), 2);
}

#[test]
fn one_person_cannot_vote_twice_but_can_still_say_no() {
    let next = asked(2).vote(&vote("ana", Choice::Approve, 1)).0.unwrap();
    let mut again = vote("ana", Choice::Approve, 2);
    again.key = "another click".to_owned();
    assert_eq!(next.vote(&again), (None, Outcome::VotedBefore { so_far: 1 }));
    assert_eq!(next.vote(&vote("ana", Choice::Deny, 3)).1, Outcome::Decided(Choice::Deny));
}

#[test]
fn one_denial_decides_whatever_the_number() {
    assert_eq!(asked(3).vote(&vote("ana", Choice::Deny, 1)).1, Outcome::Decided(Choice::Deny));
}

#[test]
fn an_approval_that_needs_nobody_still_needs_one() {
    let asked = asked(0);
    assert_eq!(asked.state, ApprovalState::Pending);
    assert_eq!(asked.vote(&vote("ana", Choice::Approve, 1)).1, Outcome::Decided(Choice::Approve));
}

#[test]
fn a_vote_at_the_moment_of_expiry_is_too_late() {
    assert_eq!(asked(1).vote(&vote("ana", Choice::Approve, 99)).1, Outcome::Decided(Choice::Approve));
    let (next, outcome) = asked(1).vote(&vote("ana", Choice::Approve, 100));
    assert_eq!((next.unwrap().state, outcome), (ApprovalState::Expired, Outcome::Expired));
}

#[test]
fn a_repeated_click_learns_that_it_was_the_decision() {
    let click = vote("ana", Choice::Approve, 1);
    let decided = asked(1).vote(&click).0.unwrap();
    assert_eq!(decided.vote(&click).1, Outcome::AlreadyDecided { by: click.clone(), repeated: true });
    let other = vote("ben", Choice::Deny, 2);
    assert_eq!(decided.vote(&other).1, Outcome::AlreadyDecided { by: click, repeated: false });
}

#[test]
fn only_the_owner_of_its_session_uses_an_approval_and_only_once() {
    let decided = asked(1).vote(&vote("ana", Choice::Approve, 1)).0.unwrap();
    assert_eq!(decided.consume(&lease("s2")), (None, Consumed::Unknown));
    let (next, consumed) = decided.consume(&lease("s1"));
    assert_eq!(consumed, Consumed::Now(Box::new(decided)));
    let used = ApprovalState::Consumed { epoch: 7 };
    assert_eq!(next.unwrap().consume(&lease("s1")), (None, Consumed::No(used)));
}

#[test]
fn what_was_denied_or_is_pending_cannot_be_used() {
    assert_eq!(asked(1).consume(&lease("s1")), (None, Consumed::No(ApprovalState::Pending)));
    let denied = asked(1).vote(&vote("ana", Choice::Deny, 1)).0.unwrap();
    assert_eq!(denied.consume(&lease("s1")), (None, Consumed::No(denied.state.clone())));
}

#[test]
fn a_stored_record_of_format_1_is_still_read() {
    let written = r#"{"record":{"id":"a1","session":"s1","digest":"d","opened_at":0,"expires_at":100,"body":"{}","votes_needed":1},"votes":[{"reviewer":"ana","choice":"approve","note":"","at":1,"key":"ana-Approve"}],"state":{"is":"decided","reviewer":"ana","choice":"approve","note":"","at":1,"key":"ana-Approve"}}"#;
    let decided = asked(1).vote(&vote("ana", Choice::Approve, 1)).0.unwrap();
    assert_eq!(serde_json::from_str::<Approval>(written).unwrap(), decided);
    assert_eq!(serde_json::to_string(&decided).unwrap(), written);
}
