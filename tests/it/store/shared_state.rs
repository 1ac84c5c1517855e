//! What holds for flags and for the lines about sessions, whatever the store is made of.

use ghost_base::Timestamp;
use ghost_store::{Backlog, Claimed, MAX_LINE_BYTES, StoreError};

use super::{World, id};

async fn posted(world: &World, limit: usize) -> Vec<(String, String)> {
    let found = world.store.posted(limit).await.unwrap();
    found.into_iter().map(|(session, line)| (session.to_string(), line)).collect()
}

fn row(session: &str, line: &str) -> (String, String) {
    (session.to_owned(), line.to_owned())
}

pub(super) async fn a_flag_is_what_was_set_last(world: &World) {
    let flag = async || world.store.flag("freeze").await.unwrap();
    assert_eq!(flag().await, None);
    world.store.set_flag("freeze", None).await.unwrap();
    for value in ["by ben", "", "by ana"] {
        world.store.set_flag("freeze", Some(value)).await.unwrap();
        assert_eq!(flag().await.as_deref(), Some(value));
        assert_eq!(world.store.flag("other").await.unwrap(), None);
    }
    world.store.set_flag("freeze", None).await.unwrap();
    assert_eq!(flag().await, None);
}

pub(super) async fn lines_about_sessions_come_latest_first(world: &World) {
    assert_eq!(posted(world, 9).await, []);
    for (session, at) in [("s1", 10), ("s2", 30), ("s3", 20)] {
        world.store.post(&id(session), session, Timestamp::from_millis(at)).await.unwrap();
    }
    assert_eq!(posted(world, 9).await, [row("s2", "s2"), row("s3", "s3"), row("s1", "s1")]);
    assert_eq!(posted(world, 1).await, [row("s2", "s2")]);
    assert_eq!(posted(world, 0).await, []);
    world.store.post(&id("s1"), "again", Timestamp::from_millis(40)).await.unwrap();
    assert_eq!(posted(world, 2).await, [row("s1", "again"), row("s2", "s2")]);
    assert_eq!(posted(world, 9).await.len(), 3);
}

pub(super) async fn the_line_about_an_erased_session_is_gone(world: &World) {
    for session in ["s1", "s2"] {
        world.deliver(session, "one").await;
        world.store.post(&id(session), session, Timestamp::from_millis(1)).await.unwrap();
    }
    world.store.erase(&id("s1"), &["kept".to_owned()]).await.unwrap();
    world.store.expire(&id("s2"), Timestamp::from_millis(1)).await.unwrap();
    assert_eq!(posted(world, 9).await, [row("s2", "s2")]);
    assert_eq!(world.store.erase_expired(Timestamp::from_millis(2)).await.unwrap(), [id("s2")]);
    assert_eq!(posted(world, 9).await, []);
}

pub(super) async fn what_is_too_long_is_not_put_up(world: &World) {
    let long = "x".repeat(MAX_LINE_BYTES + 1);
    let refused = world.store.post(&id("s1"), &long, Timestamp::from_millis(1)).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    assert!(matches!(world.store.set_flag("freeze", Some(&long)).await, Err(StoreError::TooLarge { .. })));
    assert_eq!(posted(world, 9).await, []);
}

pub(super) async fn the_journal_grows_by_one_line_at_a_time(world: &World) {
    let notes = async |limit| world.store.notes(limit).await.unwrap();
    assert_eq!(notes(9).await, (0, Vec::new()));
    world.store.note(0, "a").await.unwrap();
    for expected in [0, 2] {
        let refused = world.store.note(expected, "b").await;
        assert!(matches!(refused, Err(StoreError::LengthMismatch { length: 1 })), "{refused:?}");
    }
    world.store.note(1, "b\nc").await.unwrap();
    assert_eq!(notes(1).await, (2, vec!["b\nc".to_owned()]));
    assert_eq!(notes(usize::MAX).await, (2, vec!["a".to_owned(), "b\nc".to_owned()]));
    assert_eq!(notes(0).await, (2, Vec::new()));
}

pub(super) async fn the_backlog_tells_of_work_and_of_questions(world: &World) {
    assert_eq!(world.store.backlog().await.unwrap(), Backlog::default());
    world.deliver("s1", "one").await;
    world.deliver("s2", "one").await;
    let waiting = world.store.backlog().await.unwrap();
    assert_eq!(waiting, Backlog { queued: 2, asked: 0 });
    let lease = world.lease("s1").await;
    assert!(!lease.is_orphans());
    assert_eq!(world.store.backlog().await.unwrap().queued, 1);
}

/// Whoever reads where the chain ends while others write either writes behind its end or is refused.
pub(super) async fn notes_of_many_at_once_are_each_written_behind_what_was_read(world: &World) {
    let write = async |who: usize| {
        for _ in 0..20 {
            loop {
                let (length, last) = world.store.notes(1).await.unwrap();
                let before = last.last().and_then(|line| line.split(' ').next()).unwrap_or("nothing");
                let line = format!("{length}.{who} {before}");
                match world.store.note(length, &line).await {
                    Ok(()) => break,
                    Err(StoreError::LengthMismatch { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    };
    futures_util::future::join_all((0..6).map(write)).await;
    let (length, lines) = world.store.notes(usize::MAX).await.unwrap();
    assert_eq!((length, lines.len()), (120, 120));
    for (at, (line, next)) in lines.iter().zip(lines.iter().skip(1)).enumerate() {
        let (name, behind) = (line.split(' ').next(), next.rsplit(' ').next());
        assert_eq!(name, behind, "line {} says what it was written behind", at + 2);
    }
}

pub(super) async fn of_all_who_claim_a_name_one_has_it(world: &World) {
    let claims = (0..20).map(|caller| {
        let store = std::sync::Arc::clone(&world.store);
        async move { store.claim("group", None, &format!("s{caller}"), super::LONG).await.unwrap() }
    });
    let answers = futures_util::future::join_all(claims).await;
    assert_eq!(answers.iter().filter(|answer| **answer == Claimed::Set).count(), 1, "{answers:?}");
    let held = world.store.claimed("group").await.unwrap();
    assert!(held.is_some());
    for answer in answers.into_iter().filter(|answer| *answer != Claimed::Set) {
        assert_eq!(answer, Claimed::Held(held.clone()));
    }
}

pub(super) async fn a_claim_replaces_only_what_its_caller_knew(world: &World) {
    let claim = async |expected: Option<&str>, value: &str| {
        world.store.claim("a {b}\n", expected, value, super::LONG).await.unwrap()
    };
    assert_eq!(claim(Some("s1"), "s2").await, Claimed::Held(None));
    assert_eq!(claim(None, "s1").await, Claimed::Set);
    assert_eq!(claim(Some("s2"), "s3").await, Claimed::Held(Some("s1".to_owned())));
    assert_eq!(claim(Some(""), "s3").await, Claimed::Held(Some("s1".to_owned())));
    assert_eq!(claim(Some("s1"), "").await, Claimed::Set);
    assert_eq!(claim(None, "s4").await, Claimed::Held(Some(String::new())));
    assert_eq!(claim(Some(""), "s4").await, Claimed::Set);
    assert_eq!(world.store.claimed("a {b}\n").await.unwrap().as_deref(), Some("s4"));
    assert_eq!(world.store.claimed("a").await.unwrap(), None);
}

pub(super) async fn a_claim_ends_with_its_time(world: &World) {
    assert_eq!(world.store.claim("short", None, "s1", super::SHORT).await.unwrap(), Claimed::Set);
    let begun = std::time::Instant::now();
    while world.store.claimed("short").await.unwrap().is_some() {
        assert!(begun.elapsed() < super::PATIENCE, "the claim does not end");
        tokio::task::yield_now().await;
    }
    assert_eq!(world.store.claim("short", None, "s2", super::LONG).await.unwrap(), Claimed::Set);
}
