//! The embedded store: the facts, and what only a file goes through.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use ghost_base::{ManualClock, Timestamp};
use ghost_store::{
    Delivered, Dispatch as _, EmbeddedStore, Inbox as _, Leases as _, Ledger as _, StoreError,
};

use super::{LONG, World, every_fact, id, lines, process, quick};

async fn world() -> Option<World> {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(&folder.path().join("store.redb"), quick()).unwrap();
    Some(World { store: Arc::new(store), _keep: Box::new(folder) })
}

every_fact!(holds, super::embedded::world);

#[tokio::test]
async fn the_file_is_private_and_keeps_what_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let store = EmbeddedStore::open(&path, quick()).unwrap();
    let lease = store.acquire(&id("s1"), "worker-a", LONG).await.unwrap().unwrap();
    store.append(&lease, 0, &lines(&["a"]), 0).await.unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    drop(store);
    let store = EmbeddedStore::open(&path, quick()).unwrap();
    assert_eq!(store.read(&id("s1"), 0).await.unwrap(), ["a"]);
}

#[tokio::test]
async fn a_dead_process_is_followed_at_once_and_fenced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let clock = Arc::new(ManualClock::new(Timestamp::from_millis(0)));
    let open = || EmbeddedStore::with_clock(&path, quick(), clock.clone()).unwrap();
    let store = open();
    let dead = store.acquire(&id("s1"), "worker-a", LONG).await.unwrap().unwrap();
    store.append(&dead, 0, &lines(&["begun"]), 0).await.unwrap();
    // Another was only claimed, and a third is done.
    store.deliver(&id("s2"), "k", "one").await.unwrap();
    assert_eq!(store.next_work("worker-a", Duration::ZERO).await.unwrap(), Some(id("s2")));
    let done = store.acquire(&id("s3"), "worker-a", LONG).await.unwrap().unwrap();
    store.release(&done).await.unwrap();
    drop(store);

    let store = open();
    let mut handed_out = Vec::new();
    while let Some(session) = store.next_work("worker-b", Duration::ZERO).await.unwrap() {
        handed_out.push(session);
    }
    assert_eq!(handed_out, [id("s1"), id("s2")]);
    for refused in [store.append(&dead, 1, &lines(&["stale"]), 0).await.err(), store.renew(&dead).await.err()]
    {
        assert!(matches!(refused, Some(StoreError::Fenced)), "{refused:?}");
    }
    let next = store.acquire(&id("s1"), "worker-b", LONG).await.unwrap().unwrap();
    assert!(next.epoch() > done.epoch());
    assert!(matches!(store.release(&dead).await, Err(StoreError::Fenced)));
    assert_eq!(store.append(&next, 1, &lines(&["more"]), 0).await.unwrap(), 2);
}

#[tokio::test]
async fn a_killed_process_is_followed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let mut other = process::start(&path);
    assert_eq!(process::acknowledged(&mut other).next(), Some(0));
    other.kill().unwrap();
    other.wait().unwrap();
    let store = EmbeddedStore::open(&path, quick()).unwrap();
    assert_eq!(store.next_work("worker-b", Duration::ZERO).await.unwrap(), Some(id("s1")));
    assert!(store.acquire(&id("s1"), "worker-b", LONG).await.unwrap().is_some());
}

#[test]
fn a_file_that_another_process_holds_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let mut other = process::start(&path);
    // The other process lives as long as somebody listens to it.
    let mut acknowledged = process::acknowledged(&mut other);
    assert_eq!(acknowledged.next(), Some(0));
    let refused = EmbeddedStore::open(&path, quick()).unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused:?}");
    assert!(refused.to_string().contains("store.redb"), "{refused}");
    drop(acknowledged);
    other.kill().unwrap();
    other.wait().unwrap();
    EmbeddedStore::open(&path, quick()).unwrap();
}

#[tokio::test]
async fn a_killed_process_loses_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..6 {
        let path = folder.path().join(format!("{round}.redb"));
        let mut other = process::start(&path);
        let mut acknowledged = process::acknowledged(&mut other);
        let mut last = acknowledged.nth(2 + 3 * round).unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
        last = acknowledged.last().unwrap_or(last);
        let store = EmbeddedStore::open(&path, quick()).unwrap();
        let events = store.read(&id("s1"), 0).await.unwrap();
        // One more may be on the disk than the process could say.
        let length = u64::try_from(events.len()).unwrap();
        assert!((last + 1..=last + 2).contains(&length), "{length} events, {last} was the last");
        assert!(events.iter().enumerate().all(|(at, event)| *event == format!("event {at}")));
        assert!(store.inbox(&id("s1")).await.unwrap().len() <= 1);
    }
}

#[tokio::test]
async fn a_delivery_is_remembered_for_an_hour_at_least() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(Timestamp::from_millis(0)));
    let settings = ghost_store::Settings { remember: Duration::ZERO, ..quick() };
    let path = folder.path().join("store.redb");
    let store = EmbeddedStore::with_clock(&path, settings, clock.clone()).unwrap();
    store.deliver(&id("s1"), "k", "one").await.unwrap();
    clock.advance(Duration::from_secs(3599));
    assert_eq!(store.deliver(&id("s1"), "k", "two").await.unwrap(), Delivered::Seen);
    clock.advance(Duration::from_secs(1));
    assert_eq!(store.deliver(&id("s1"), "k", "three").await.unwrap(), Delivered::New);
}

#[test]
fn a_file_that_is_no_store_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    std::fs::write(&path, "this is something else entirely".repeat(400)).unwrap();
    assert!(EmbeddedStore::open(&path, quick()).is_err());
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("this is"));
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "a process is killed at a moment, not at an event: that is what is tried"
)]
async fn whenever_a_first_start_is_killed_the_folder_works() {
    let (rounds, step) =
        if std::env::var("GHOST_LONG").is_ok_and(|long| long == "1") { (200, 1) } else { (12, 5) };
    for round in 0..rounds {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store.redb");
        let mut process = process::start(&file);
        std::thread::sleep(std::time::Duration::from_millis(round % 66 * step));
        process.kill().unwrap();
        process.wait().unwrap();
        let store =
            EmbeddedStore::open(&file, quick()).unwrap_or_else(|error| panic!("round {round}: {error:?}"));
        store.deliver(&id("s2"), "1", "item").await.unwrap();
        drop(store);
        EmbeddedStore::open(&file, quick()).unwrap();
    }
}

#[test]
fn a_file_that_was_never_finished_is_set_aside_and_one_of_somebody_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("empty", Vec::new()), ("zeros", vec![0; 8_192])] {
        let file = folder.path().join(name);
        std::fs::write(&file, &content).unwrap();
        drop(EmbeddedStore::open(&file, quick()).unwrap());
        assert_eq!(std::fs::read(folder.path().join(format!("{name}.half-made"))).unwrap(), content);
        EmbeddedStore::open(&file, quick()).unwrap();
    }
    let file = folder.path().join("foreign");
    std::fs::write(&file, "somebody's notes").unwrap();
    assert!(EmbeddedStore::open(&file, quick()).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "somebody's notes");
}
