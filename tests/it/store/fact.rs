//! What holds for ledgers, inboxes, leases and the line of work, whatever the store is made of.

use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ghost_base::{Clock as _, SystemClock};
use ghost_store::{Delivered, Item, Lease, MAX_LINE_BYTES, StoreError};
use tokio::task::JoinSet;

use super::{LONG, SHORT, World, id, lines, until};

pub(super) async fn events_come_back_in_order(world: &World) {
    let lease = world.lease("s1").await;
    assert_eq!(world.store.append(&lease, 0, &lines(&["a", "b\nc"]), 0).await.unwrap(), 2);
    assert_eq!(world.store.append(&lease, 2, &lines(&["", "ü"]), 0).await.unwrap(), 4);
    assert_eq!(world.store.read(&id("s1"), 0).await.unwrap(), ["a", "b\nc", "", "ü"]);
    assert_eq!(world.store.read(&id("s1"), 3).await.unwrap(), ["ü"]);
    assert_eq!(world.store.read(&id("s1"), 9).await.unwrap(), [""; 0]);
    assert_eq!(world.store.read(&id("s"), 0).await.unwrap(), [""; 0]);
    assert_eq!(world.store.length(&id("s1")).await.unwrap(), 4);
    assert_eq!(world.store.length(&id("s")).await.unwrap(), 0);
}

pub(super) async fn an_append_at_another_length_writes_nothing(world: &World) {
    let lease = world.lease("s1").await;
    world.store.append(&lease, 0, &lines(&["a"]), 0).await.unwrap();
    for expected in [0, 2] {
        let refused = world.store.append(&lease, expected, &lines(&["b"]), 0).await;
        assert!(matches!(refused, Err(StoreError::LengthMismatch { length: 1 })), "{refused:?}");
    }
    assert_eq!(world.store.read(&id("s1"), 0).await.unwrap(), ["a"]);
}

pub(super) async fn an_append_takes_what_it_used_out_of_the_inbox(world: &World) {
    for item in ["one", "two", "three"] {
        world.deliver("s1", item).await;
    }
    let lease = world.lease("s1").await;
    world.store.append(&lease, 0, &lines(&["a"]), 2).await.unwrap();
    let left = world.store.inbox(&id("s1")).await.unwrap();
    assert_eq!(left, [Item::Delivered("three".to_owned())]);
    // A wrong length keeps the inbox as well.
    assert!(world.store.append(&lease, 0, &lines(&["b"]), 1).await.is_err());
    assert_eq!(world.store.inbox(&id("s1")).await.unwrap(), left);
}

pub(super) async fn an_append_cannot_use_up_more_than_there_is(world: &World) {
    world.deliver("s1", "one").await;
    let lease = world.lease("s1").await;
    let refused = world.store.append(&lease, 0, &lines(&["a"]), 2).await;
    assert!(matches!(refused, Err(StoreError::InboxTooShort { held: 1 })), "{refused:?}");
    assert_eq!(world.store.read(&id("s1"), 0).await.unwrap(), [""; 0]);
}

/// Takes a lease and waits until its time is over.
async fn ended(world: &World, session: &str) -> Lease {
    let stale = world.store.acquire(&id(session), "worker-a", SHORT).await.unwrap().unwrap();
    until("the lease ends", async || {
        let renewed = world.store.append(&stale, u64::MAX, &[], 0).await;
        matches!(renewed, Err(StoreError::Fenced)).then_some(())
    })
    .await;
    stale
}

pub(super) async fn a_lease_says_whether_another_owner_went_away_before(world: &World) {
    ended(world, "s1").await;
    let next = world.store.acquire(&id("s1"), "worker-b", LONG).await.unwrap().unwrap();
    assert!(next.is_orphans());
    assert!(world.store.renew(&next).await.unwrap().is_orphans());
    world.store.release(&next).await.unwrap();
    let later = world.store.acquire(&id("s1"), "worker-c", LONG).await.unwrap().unwrap();
    assert!(!later.is_orphans());
    ended(world, "s2").await;
    let same = world.store.acquire(&id("s2"), "worker-a", LONG).await.unwrap().unwrap();
    assert!(!same.is_orphans());
}

pub(super) async fn a_stale_owner_writes_nothing(world: &World) {
    world.deliver("s1", "one").await;
    let stale = ended(world, "s1").await;
    let next = world.store.acquire(&id("s1"), "worker-b", LONG).await.unwrap().unwrap();
    assert!(next.epoch() > stale.epoch());
    let refused = world.store.append(&stale, 0, &lines(&["stale"]), 1).await;
    assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    assert!(matches!(world.store.renew(&stale).await, Err(StoreError::Fenced)));
    assert!(matches!(world.store.release(&stale).await, Err(StoreError::Fenced)));
    assert_eq!(world.store.inbox(&id("s1")).await.unwrap().len(), 1);
    assert_eq!(world.store.append(&next, 0, &lines(&["next"]), 1).await.unwrap(), 1);
    assert_eq!(world.store.read(&id("s1"), 0).await.unwrap(), ["next"]);
}

pub(super) async fn a_lease_that_ended_writes_nothing_even_if_nobody_followed(world: &World) {
    let stale = ended(world, "s1").await;
    let refused = world.store.append(&stale, 0, &lines(&["stale"]), 0).await;
    assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    assert!(matches!(world.store.renew(&stale).await, Err(StoreError::Fenced)));
    assert_eq!(world.store.read(&id("s1"), 0).await.unwrap(), [""; 0]);
}

pub(super) async fn an_epoch_is_never_given_twice(world: &World) {
    let mut last = 0;
    for round in 0..6 {
        let lease = world.lease("s1").await;
        assert!(lease.epoch() > last, "{} after {last}", lease.epoch());
        last = lease.epoch();
        if round % 2 == 0 {
            world.store.release(&lease).await.unwrap();
        } else {
            world.store.erase(&id("s1"), &[]).await.unwrap();
        }
    }
}

pub(super) async fn a_renewed_lease_outlives_its_first_end(world: &World) {
    let ttl = Duration::from_millis(600);
    let mut lease = world.store.acquire(&id("s1"), "worker-a", ttl).await.unwrap().unwrap();
    let first = lease.until();
    until("the first end is over", async || {
        lease = world.store.renew(&lease).await.unwrap();
        (lease.until() > first.plus(ttl)).then_some(())
    })
    .await;
    assert_eq!(world.store.append(&lease, 0, &lines(&["a"]), 0).await.unwrap(), 1);
    assert_eq!(world.store.acquire(&id("s1"), "worker-b", LONG).await.unwrap(), None);
}

pub(super) async fn a_released_session_is_free_at_once(world: &World) {
    let lease = world.lease("s1").await;
    assert_eq!(world.store.acquire(&id("s1"), "worker-b", LONG).await.unwrap(), None);
    world.store.release(&lease).await.unwrap();
    assert!(matches!(world.store.append(&lease, 0, &[], 0).await, Err(StoreError::Fenced)));
    assert!(world.store.acquire(&id("s1"), "worker-b", LONG).await.unwrap().is_some());
}

pub(super) async fn of_many_owners_one_gets_the_lease(world: &World) {
    let mut owners = JoinSet::new();
    for number in 0..16 {
        let store = Arc::clone(&world.store);
        owners
            .spawn(async move { store.acquire(&id("s1"), &format!("worker-{number}"), LONG).await.unwrap() });
    }
    assert_eq!(owners.join_all().await.into_iter().flatten().count(), 1);
}

pub(super) async fn of_many_appends_at_one_length_one_is_written(world: &World) {
    let lease = world.lease("s1").await;
    let mut writers = JoinSet::new();
    for number in 0..16 {
        let (store, lease) = (Arc::clone(&world.store), lease.clone());
        writers.spawn(async move { store.append(&lease, 0, &[number.to_string()], 0).await.is_ok() });
    }
    assert_eq!(writers.join_all().await.into_iter().filter(|written| *written).count(), 1);
    assert_eq!(world.store.read(&id("s1"), 0).await.unwrap().len(), 1);
}

pub(super) async fn a_delivery_is_taken_once(world: &World) {
    let store = &world.store;
    assert_eq!(store.deliver(&id("s1"), "event-1", "hello").await.unwrap(), Delivered::New);
    assert_eq!(store.deliver(&id("s1"), "event-1", "hello again").await.unwrap(), Delivered::Seen);
    assert_eq!(store.inbox(&id("s1")).await.unwrap(), [Item::Delivered("hello".to_owned())]);
    let lease = world.lease("s1").await;
    store.append(&lease, 0, &[], 1).await.unwrap();
    assert_eq!(store.deliver(&id("s1"), "event-1", "late").await.unwrap(), Delivered::Seen);
    assert_eq!(store.inbox(&id("s1")).await.unwrap(), []);
}

pub(super) async fn of_many_equal_deliveries_one_is_new(world: &World) {
    let mut senders = JoinSet::new();
    for _ in 0..16 {
        let store = Arc::clone(&world.store);
        senders.spawn(async move { store.deliver(&id("s1"), "event-1", "hello").await.unwrap() });
    }
    let new = senders.join_all().await.into_iter().filter(|one| *one == Delivered::New).count();
    assert_eq!((new, world.store.inbox(&id("s1")).await.unwrap().len()), (1, 1));
}

pub(super) async fn the_same_key_in_two_sessions_is_two_deliveries(world: &World) {
    for session in ["s", "s1", "s10"] {
        assert_eq!(world.store.deliver(&id(session), "event-1", "hello").await.unwrap(), Delivered::New);
        assert_eq!(world.store.inbox(&id(session)).await.unwrap().len(), 1);
    }
}

pub(super) async fn what_was_delivered_comes_up_for_work(world: &World) {
    assert_eq!(world.store.next_work("worker-a", Duration::ZERO).await.unwrap(), None);
    world.deliver("s1", "one").await;
    assert_eq!(world.store.next_work("worker-a", LONG).await.unwrap(), Some(id("s1")));
}

pub(super) async fn an_owned_session_does_not_come_up_until_it_is_released(world: &World) {
    let lease = world.lease("s1").await;
    world.deliver("s1", "one").await;
    assert_eq!(world.store.next_work("worker-b", SHORT).await.unwrap(), None);
    world.store.release(&lease).await.unwrap();
    assert_eq!(world.store.next_work("worker-b", LONG).await.unwrap(), Some(id("s1")));
}

pub(super) async fn a_dead_owner_is_followed_once_its_lease_ended(world: &World) {
    world.deliver("s1", "one").await;
    let dead = world.store.acquire(&id("s1"), "worker-a", 4 * SHORT).await.unwrap().unwrap();
    // It used its inbox up and died in the middle of the work.
    world.store.append(&dead, 0, &lines(&["begun"]), 1).await.unwrap();
    assert_eq!(world.store.next_work("worker-b", LONG).await.unwrap(), Some(id("s1")));
    assert!(world.store.acquire(&id("s1"), "worker-b", LONG).await.unwrap().is_some());
}

pub(super) async fn a_dead_owner_is_followed_even_if_nothing_was_ever_delivered(world: &World) {
    world.store.acquire(&id("s1"), "worker-a", 2 * SHORT).await.unwrap().unwrap();
    assert_eq!(world.store.next_work("worker-b", LONG).await.unwrap(), Some(id("s1")));
}

pub(super) async fn nothing_is_left_behind_between_many_senders_and_workers(world: &World) {
    const SESSIONS: usize = 6;
    const EACH: usize = 10;
    let mut senders = JoinSet::new();
    for number in 0..SESSIONS * EACH {
        let store = Arc::clone(&world.store);
        let session = id(&format!("s{}", number % SESSIONS));
        senders.spawn(async move { store.deliver(&session, &number.to_string(), "item").await.unwrap() });
    }
    let done = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for number in 0..4 {
        let (store, done) = (Arc::clone(&world.store), Arc::clone(&done));
        workers.spawn(async move {
            let owner = format!("worker-{number}");
            while done.load(Ordering::SeqCst) < SESSIONS * EACH {
                let Some(session) = store.next_work(&owner, SHORT).await.unwrap() else { continue };
                let Some(lease) = store.acquire(&session, &owner, LONG).await.unwrap() else { continue };
                let items = store.inbox(&session).await.unwrap().len();
                let length = store.read(&session, 0).await.unwrap().len() as u64;
                let events = vec!["event".to_owned(); items];
                store.append(&lease, length, &events, items as u64).await.unwrap();
                store.release(&lease).await.unwrap();
                done.fetch_add(items, Ordering::SeqCst);
            }
        });
    }
    tokio::time::timeout(LONG, workers.join_all()).await.unwrap();
    senders.join_all().await;
    for number in 0..SESSIONS {
        let session = id(&format!("s{number}"));
        assert_eq!(world.store.read(&session, 0).await.unwrap().len(), EACH);
        assert_eq!(world.store.inbox(&session).await.unwrap(), []);
    }
}

pub(super) async fn a_worker_that_died_before_the_lease_is_followed(world: &World) {
    world.deliver("s1", "one").await;
    assert_eq!(world.store.next_work("worker-a", LONG).await.unwrap(), Some(id("s1")));
    assert_eq!(world.store.next_work("worker-b", LONG).await.unwrap(), Some(id("s1")));
}

pub(super) async fn a_drained_and_released_session_is_no_work(world: &World) {
    world.deliver("s1", "one").await;
    let lease = world.lease("s1").await;
    world.store.append(&lease, 0, &lines(&["done"]), 1).await.unwrap();
    world.store.release(&lease).await.unwrap();
    assert_eq!(world.store.next_work("worker-a", 2 * SHORT).await.unwrap(), None);
}

pub(super) async fn a_session_that_is_handed_over_comes_up_at_once_and_no_owner_was_lost(world: &World) {
    world.deliver("s1", "one").await;
    let lease = world.lease("s1").await;
    world.store.append(&lease, 0, &lines(&["begun"]), 1).await.unwrap();
    world.store.hand_over(&lease).await.unwrap();
    assert!(matches!(world.store.renew(&lease).await, Err(StoreError::Fenced)));
    assert_eq!(world.store.next_work("worker-b", LONG).await.unwrap(), Some(id("s1")));
    let next = world.store.acquire(&id("s1"), "worker-b", LONG).await.unwrap().unwrap();
    assert!(!next.is_orphans() && next.epoch() > lease.epoch());
    assert!(matches!(world.store.hand_over(&lease).await, Err(StoreError::Fenced)));
    world.store.release(&next).await.unwrap();
    assert_eq!(world.store.next_work("worker-a", 2 * SHORT).await.unwrap(), None);
}

pub(super) async fn a_session_that_pauses_comes_up_by_itself_and_sooner_where_something_arrives(
    world: &World,
) {
    const HOUR: Duration = Duration::from_secs(3600);
    world.deliver("s1", "one").await;
    let lease = world.lease("s1").await;
    world.store.append(&lease, 0, &lines(&["begun"]), 1).await.unwrap();
    world.store.release_for(&lease, HOUR).await.unwrap();
    assert_eq!(world.store.next_work("worker-a", 2 * SHORT).await.unwrap(), None);
    world.deliver("s1", "two").await;
    assert_eq!(world.store.next_work("worker-a", LONG).await.unwrap(), Some(id("s1")));
    let next = world.lease("s1").await;
    assert!(!next.is_orphans());
    assert!(matches!(world.store.release_for(&lease, HOUR).await, Err(StoreError::Fenced)));
    world.store.append(&next, 1, &lines(&["went on"]), 1).await.unwrap();
    world.store.release_for(&next, SHORT).await.unwrap();
    assert_eq!(world.store.next_work("worker-a", LONG).await.unwrap(), Some(id("s1")));
    // Whoever has it since owes it nothing more.
    let last = world.lease("s1").await;
    world.store.release(&last).await.unwrap();
    assert_eq!(world.store.next_work("worker-b", 2 * SHORT).await.unwrap(), None);
}

pub(super) async fn work_is_handed_out_in_the_order_it_came(world: &World) {
    let names: Vec<_> = (0..5).map(|number| format!("s{}", 9 - number)).collect();
    for name in &names {
        world.deliver(name, "one").await;
        // The order is that of milliseconds.
        let before = SystemClock.now();
        until("the clock moves", async || (SystemClock.now() > before).then_some(())).await;
    }
    for name in &names {
        assert_eq!(world.store.next_work("worker-a", LONG).await.unwrap(), Some(id(name)));
        world.lease(name).await;
    }
}

pub(super) async fn two_workers_get_different_sessions(world: &World) {
    world.deliver("s1", "one").await;
    world.deliver("s2", "one").await;
    let (a, b) = tokio::join!(world.store.next_work("a", LONG), world.store.next_work("b", LONG));
    assert_ne!(a.unwrap().unwrap(), b.unwrap().unwrap());
}

pub(super) async fn a_delivery_wakes_a_waiting_worker(world: &World) {
    let (found, ()) = tokio::join!(world.store.next_work("worker-a", LONG), world.deliver("s1", "one"));
    assert_eq!(found.unwrap(), Some(id("s1")));
}

pub(super) async fn sessions_are_listed_in_pages(world: &World) {
    for name in ["b", "a", "c", "a-1"] {
        world.deliver(name, "one").await;
    }
    world.lease("d").await;
    let first = world.store.list(None, 2).await.unwrap();
    assert_eq!(first, [id("a"), id("a-1")]);
    assert_eq!(world.store.list(first.last(), 9).await.unwrap(), [id("b"), id("c"), id("d")]);
    assert_eq!(world.store.list(Some(&id("d")), 9).await.unwrap(), []);
}

pub(super) async fn a_line_that_is_too_long_is_refused(world: &World) {
    let long = "x".repeat(MAX_LINE_BYTES + 1);
    let lease = world.lease("s1").await;
    let refused = world.store.append(&lease, 0, slice::from_ref(&long), 0).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    assert!(matches!(world.store.deliver(&id("s1"), "k", &long).await, Err(StoreError::TooLarge { .. })));
    let fits = "x".repeat(MAX_LINE_BYTES);
    assert_eq!(world.store.append(&lease, 0, slice::from_ref(&fits), 0).await.unwrap(), 1);
    assert_eq!(world.store.read(&id("s1"), 0).await.unwrap(), [fits]);
}
