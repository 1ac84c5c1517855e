//! What holds for the end of a session, whatever the store is made of.

use ghost_base::Timestamp;
use ghost_store::{Delivered, MAX_LINE_BYTES, StoreError};

use super::{LONG, SHORT, World, id, lines};

pub(super) async fn an_erased_session_is_gone_and_its_owner_fenced(world: &World) {
    for name in ["s", "s1", "s10"] {
        world.deliver(name, "one").await;
        let lease = world.lease(name).await;
        world.store.append(&lease, 0, &lines(&["a"]), 0).await.unwrap();
        world.store.release(&lease).await.unwrap();
    }
    let lease = world.lease("s1").await;
    world.store.erase(&id("s1"), &[]).await.unwrap();
    assert!(matches!(world.store.append(&lease, 0, &lines(&["b"]), 0).await, Err(StoreError::Fenced)));
    assert_eq!(world.store.read(&id("s1"), 0).await.unwrap(), [""; 0]);
    assert_eq!(world.store.inbox(&id("s1")).await.unwrap(), []);
    assert_eq!(world.store.list(None, 9).await.unwrap(), [id("s"), id("s10")]);
    for name in ["s", "s10"] {
        assert_eq!(world.store.read(&id(name), 0).await.unwrap(), ["a"]);
        assert_eq!(world.store.inbox(&id(name)).await.unwrap().len(), 1);
    }
    assert_eq!(world.store.deliver(&id("s1"), "one", "one").await.unwrap(), Delivered::New);
}

pub(super) async fn what_is_kept_of_an_erased_session_is_read_and_is_no_work(world: &World) {
    for item in ["one", "two"] {
        world.deliver("s1", item).await;
    }
    let lease = world.lease("s1").await;
    world.store.append(&lease, 0, &lines(&["a", "b", "c"]), 1).await.unwrap();
    world.store.expire(&id("s1"), Timestamp::from_millis(1000)).await.unwrap();
    world.store.erase(&id("s1"), &lines(&["digest a", "digest b"])).await.unwrap();
    assert!(matches!(world.store.append(&lease, 2, &lines(&["d"]), 0).await, Err(StoreError::Fenced)));
    assert!(matches!(world.store.renew(&lease).await, Err(StoreError::Fenced)));
    assert_eq!(world.store.read(&id("s1"), 0).await.unwrap(), ["digest a", "digest b"]);
    assert_eq!(world.store.inbox(&id("s1")).await.unwrap(), []);
    assert_eq!(world.store.list(None, 9).await.unwrap(), [id("s1")]);
    assert_eq!(world.store.next_work("worker-b", SHORT).await.unwrap(), None);
    assert_eq!(world.store.erase_expired(Timestamp::from_millis(2000)).await.unwrap(), []);
}

pub(super) async fn what_was_kept_can_be_worked_on_and_erased_again(world: &World) {
    let first = world.lease("s1").await;
    // A session that the store never saw can be given lines as well.
    for name in ["s1", "s2"] {
        world.store.erase(&id(name), &lines(&["kept"])).await.unwrap();
        assert_eq!(world.store.read(&id(name), 0).await.unwrap(), ["kept"]);
    }
    assert_eq!(world.store.list(None, 9).await.unwrap(), [id("s1"), id("s2")]);
    world.deliver("s1", "one").await;
    assert_eq!(world.store.next_work("worker-b", LONG).await.unwrap(), Some(id("s1")));
    let next = world.lease("s1").await;
    assert!(next.epoch() > first.epoch());
    assert_eq!(world.store.append(&next, 1, &lines(&["more"]), 1).await.unwrap(), 2);
    world.store.erase(&id("s1"), &[]).await.unwrap();
    assert_eq!(world.store.read(&id("s1"), 0).await.unwrap(), [""; 0]);
    assert_eq!(world.store.list(None, 9).await.unwrap(), [id("s2")]);
}

pub(super) async fn a_line_too_long_to_keep_erases_nothing(world: &World) {
    let lease = world.lease("s1").await;
    world.store.append(&lease, 0, &lines(&["a"]), 0).await.unwrap();
    let refused = world.store.erase(&id("s1"), &["x".repeat(MAX_LINE_BYTES + 1)]).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })), "{refused:?}");
    assert_eq!(world.store.append(&lease, 1, &lines(&["b"]), 0).await.unwrap(), 2);
}

pub(super) async fn what_may_expire_is_erased_when_its_moment_came(world: &World) {
    for name in ["s1", "s2", "s3"] {
        let lease = world.lease(name).await;
        world.store.append(&lease, 0, &lines(&["a"]), 0).await.unwrap();
        world.store.expire(&id(name), Timestamp::from_millis(1000)).await.unwrap();
        if name != "s3" {
            world.store.release(&lease).await.unwrap();
        }
    }
    world.store.expire(&id("s2"), Timestamp::from_millis(3000)).await.unwrap();
    assert_eq!(world.store.erase_expired(Timestamp::from_millis(999)).await.unwrap(), []);
    assert_eq!(world.store.erase_expired(Timestamp::from_millis(2000)).await.unwrap(), [id("s1")]);
    assert_eq!(world.store.list(None, 9).await.unwrap(), [id("s2"), id("s3")]);
    assert_eq!(world.store.erase_expired(Timestamp::from_millis(3000)).await.unwrap(), [id("s2")]);
}
