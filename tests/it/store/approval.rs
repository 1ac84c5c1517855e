//! What holds for approvals, whatever the store is made of.

use std::sync::Arc;

use ghost_base::{SessionId, Timestamp};
use ghost_store::{
    Approval, ApprovalId, ApprovalRecord, ApprovalState, Choice, Consumed, Item, Notice, Opened, Outcome,
    StoreError, Vote,
};
use tokio::task::JoinSet;

use super::{LONG, World, id};

fn record(name: &str, session: &str, votes_needed: u32) -> ApprovalRecord {
    ApprovalRecord {
        id: name.parse().unwrap(),
        session: id(session),
        digest: "d1".to_owned(),
        opened_at: at(10),
        expires_at: at(1000),
        body: "{\"line\":\"ip link set eth0 down\"}".to_owned(),
        votes_needed,
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn vote(reviewer: &str, choice: Choice, millis: i64) -> Vote {
    let key = format!("{reviewer}-{millis}");
    Vote { reviewer: reviewer.to_owned(), choice, note: "because".to_owned(), at: at(millis), key }
}

fn name(text: &str) -> ApprovalId {
    text.parse().unwrap()
}

async fn ask(world: &World, name: &str, votes_needed: u32) {
    assert_eq!(world.store.open(&record(name, "s1", votes_needed)).await.unwrap(), Opened::New);
}

async fn news(world: &World, session: &SessionId) -> Vec<Notice> {
    let closed = |item| match item {
        Item::Closed(notice) => Some(notice),
        Item::Delivered(_) => None,
    };
    world.store.inbox(session).await.unwrap().into_iter().filter_map(closed).collect()
}

fn pending(record: ApprovalRecord) -> Approval {
    Approval { record, votes: Vec::new(), state: ApprovalState::Pending }
}

pub(super) async fn an_approval_waits_and_is_found(world: &World) {
    ask(world, "a1", 1).await;
    assert_eq!(world.store.open(&record("a2", "s2", 2)).await.unwrap(), Opened::New);
    let found = world.store.find(&name("a1"), at(20)).await.unwrap();
    assert_eq!(found, Some(pending(record("a1", "s1", 1))));
    let of_s2 = world.store.pending(Some(&id("s2")), at(20)).await.unwrap();
    assert_eq!(of_s2, [pending(record("a2", "s2", 2))]);
    assert_eq!(world.store.pending(None, at(20)).await.unwrap().len(), 2);
    assert_eq!(world.store.pending(None, at(1000)).await.unwrap(), []);
}

pub(super) async fn a_question_is_opened_once(world: &World) {
    ask(world, "a1", 1).await;
    let other = record("a1", "s2", 2);
    let before = Opened::Before(Box::new(pending(record("a1", "s1", 1))));
    assert_eq!(world.store.open(&other).await.unwrap(), before);
    assert_eq!(world.store.pending(Some(&id("s2")), at(20)).await.unwrap(), []);
}

pub(super) async fn the_decision_reaches_the_inbox_and_wakes_the_session(world: &World) {
    ask(world, "a1", 1).await;
    let yes = vote("ana", Choice::Approve, 20);
    let outcome = world.store.vote(&name("a1"), &yes).await.unwrap();
    assert_eq!(outcome, Outcome::Decided(Choice::Approve));
    let notice = Notice { approval: name("a1"), state: ApprovalState::Decided(yes) };
    assert_eq!(news(world, &id("s1")).await, [notice]);
    assert_eq!(world.store.next_work("worker-a", LONG).await.unwrap(), Some(id("s1")));
    assert_eq!(world.store.pending(None, at(30)).await.unwrap(), []);
}

pub(super) async fn of_many_decisions_exactly_one_wins(world: &World) {
    ask(world, "a1", 1).await;
    let mut reviewers = JoinSet::new();
    for number in 0..24 {
        let store = Arc::clone(&world.store);
        let choice = if number % 2 == 0 { Choice::Approve } else { Choice::Deny };
        let vote = vote(&format!("reviewer-{number}"), choice, 20);
        reviewers.spawn(async move { (store.vote(&name("a1"), &vote).await.unwrap(), vote) });
    }
    let mut winners = Vec::new();
    let mut outcomes = Vec::new();
    for (outcome, vote) in reviewers.join_all().await {
        if let Outcome::AlreadyDecided { by, repeated: false } = outcome {
            outcomes.push(by);
        } else {
            assert_eq!(outcome, Outcome::Decided(vote.choice));
            winners.push(vote);
        }
    }
    assert_eq!((winners.len(), outcomes.len()), (1, 23));
    assert!(outcomes.iter().all(|by| Some(by) == winners.first()));
    assert_eq!(news(world, &id("s1")).await.len(), 1);
}

pub(super) async fn of_two_approvers_the_second_vote_is_the_decision(world: &World) {
    ask(world, "a1", 2).await;
    let first = world.store.vote(&name("a1"), &vote("ana", Choice::Approve, 20)).await.unwrap();
    assert_eq!(first, Outcome::Voted { so_far: 1 });
    assert_eq!(news(world, &id("s1")).await, []);
    let mut others = JoinSet::new();
    for number in 0..12 {
        let store = Arc::clone(&world.store);
        let vote = vote(&format!("reviewer-{number}"), Choice::Approve, 30);
        others.spawn(async move { store.vote(&name("a1"), &vote).await.unwrap() });
    }
    let decided =
        others.join_all().await.into_iter().filter(|one| matches!(one, Outcome::Decided(_))).count();
    assert_eq!((decided, news(world, &id("s1")).await.len()), (1, 1));
    assert_eq!(world.store.find(&name("a1"), at(40)).await.unwrap().unwrap().votes.len(), 2);
}

pub(super) async fn the_same_reviewer_cannot_vote_twice(world: &World) {
    ask(world, "a1", 2).await;
    let mut clicks = JoinSet::new();
    for number in 0..12 {
        let store = Arc::clone(&world.store);
        let vote = vote("ana", Choice::Approve, 20 + number);
        clicks.spawn(async move { store.vote(&name("a1"), &vote).await.unwrap() });
    }
    let outcomes = clicks.join_all().await;
    let counted = outcomes.iter().filter(|one| **one == Outcome::Voted { so_far: 1 }).count();
    let ignored = outcomes.iter().filter(|one| **one == Outcome::VotedBefore { so_far: 1 }).count();
    assert_eq!((counted, ignored), (1, 11));
    let no = world.store.vote(&name("a1"), &vote("ana", Choice::Deny, 50)).await.unwrap();
    assert_eq!(no, Outcome::Decided(Choice::Deny));
}

fn expired(approval: &str) -> Notice {
    Notice { approval: name(approval), state: ApprovalState::Expired }
}

pub(super) async fn a_vote_that_is_too_late_expires_it_once(world: &World) {
    ask(world, "a1", 1).await;
    for millis in [1000, 1001] {
        let late = world.store.vote(&name("a1"), &vote("ana", Choice::Approve, millis)).await.unwrap();
        assert_eq!(late, Outcome::Expired);
    }
    assert_eq!(news(world, &id("s1")).await, [expired("a1")]);
    assert_eq!(world.store.sweep(at(2000)).await.unwrap(), []);
}

pub(super) async fn a_sweep_expires_what_is_over_and_says_so_once(world: &World) {
    ask(world, "a1", 1).await;
    ask(world, "a2", 1).await;
    world.store.vote(&name("a2"), &vote("ana", Choice::Deny, 20)).await.unwrap();
    assert_eq!(world.store.sweep(at(999)).await.unwrap(), []);
    let (one, two) = tokio::join!(world.store.sweep(at(1000)), world.store.sweep(at(1000)));
    assert_eq!([one.unwrap(), two.unwrap()].concat(), [name("a1")]);
    assert_eq!(news(world, &id("s1")).await.last(), Some(&expired("a1")));
    assert_eq!(news(world, &id("s1")).await.len(), 2);
    assert_eq!(world.store.next_work("worker-a", LONG).await.unwrap(), Some(id("s1")));
    let late = world.store.vote(&name("a1"), &vote("ana", Choice::Approve, 20)).await.unwrap();
    assert_eq!(late, Outcome::Expired);
}

pub(super) async fn looking_at_an_approval_that_is_over_expires_it(world: &World) {
    ask(world, "a1", 1).await;
    for _ in 0..2 {
        let found = world.store.find(&name("a1"), at(1000)).await.unwrap().unwrap();
        assert_eq!(found.state, ApprovalState::Expired);
    }
    assert_eq!(news(world, &id("s1")).await, [expired("a1")]);
}

pub(super) async fn an_approval_is_used_once(world: &World) {
    ask(world, "a1", 1).await;
    let lease = world.lease("s1").await;
    let early = world.store.consume(&name("a1"), &lease).await.unwrap();
    assert_eq!(early, Consumed::No(ApprovalState::Pending));
    world.store.vote(&name("a1"), &vote("ana", Choice::Approve, 20)).await.unwrap();
    let other = world.lease("s2").await;
    assert_eq!(world.store.consume(&name("a1"), &other).await.unwrap(), Consumed::Unknown);
    let mut users = JoinSet::new();
    for _ in 0..12 {
        let (store, lease) = (Arc::clone(&world.store), lease.clone());
        users.spawn(async move { store.consume(&name("a1"), &lease).await.unwrap() });
    }
    let used = users.join_all().await.into_iter().filter(|one| matches!(one, Consumed::Now(_))).count();
    assert_eq!(used, 1);
    let state = world.store.find(&name("a1"), at(30)).await.unwrap().unwrap().state;
    assert_eq!(state, ApprovalState::Consumed { epoch: lease.epoch() });
}

pub(super) async fn a_stale_owner_uses_no_approval(world: &World) {
    ask(world, "a1", 1).await;
    world.store.vote(&name("a1"), &vote("ana", Choice::Approve, 20)).await.unwrap();
    let stale = world.lease("s1").await;
    world.store.release(&stale).await.unwrap();
    let refused = world.store.consume(&name("a1"), &stale).await;
    assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    let next = world.lease("s1").await;
    assert!(matches!(world.store.consume(&name("a1"), &next).await.unwrap(), Consumed::Now(_)));
}

pub(super) async fn an_unknown_approval_is_unknown(world: &World) {
    let lease = world.lease("s1").await;
    assert_eq!(world.store.find(&name("a1"), at(0)).await.unwrap(), None);
    let outcome = world.store.vote(&name("a1"), &vote("ana", Choice::Approve, 20)).await.unwrap();
    assert_eq!(outcome, Outcome::Unknown);
    assert_eq!(world.store.consume(&name("a1"), &lease).await.unwrap(), Consumed::Unknown);
}

pub(super) async fn an_erased_session_has_no_approvals(world: &World) {
    ask(world, "a1", 1).await;
    assert_eq!(world.store.open(&record("a2", "s2", 1)).await.unwrap(), Opened::New);
    world.store.erase(&id("s1"), &[]).await.unwrap();
    assert_eq!(world.store.find(&name("a1"), at(20)).await.unwrap(), None);
    assert_eq!(world.store.pending(None, at(20)).await.unwrap(), [pending(record("a2", "s2", 1))]);
    assert_eq!(world.store.sweep(at(1000)).await.unwrap(), [name("a2")]);
}

pub(super) async fn a_repeated_click_learns_that_it_counted(world: &World) {
    ask(world, "a1", 1).await;
    let click = vote("ana", Choice::Approve, 20);
    world.store.vote(&name("a1"), &click).await.unwrap();
    let again = world.store.vote(&name("a1"), &click).await.unwrap();
    assert_eq!(again, Outcome::AlreadyDecided { by: click, repeated: true });
    assert_eq!(news(world, &id("s1")).await.len(), 1);
}
