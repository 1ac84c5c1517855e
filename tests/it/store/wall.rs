//! What holds for flags and for the lines about sessions, whatever the store is made of.

use ghost_agent::base::Timestamp;
use ghost_agent::store::{LARGEST_LINE, StoreError};

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
    let long = "x".repeat(LARGEST_LINE + 1);
    let refused = world.store.post(&id("s1"), &long, Timestamp::from_millis(1)).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    assert!(matches!(world.store.set_flag("freeze", Some(&long)).await, Err(StoreError::TooLarge { .. })));
    assert_eq!(posted(world, 9).await, []);
}
