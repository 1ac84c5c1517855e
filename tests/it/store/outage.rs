//! What the Redis store goes through: a killed server, a paused one, a cut wire and answers that get lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ghost_base::Timestamp;
use ghost_store::{
    ApprovalRecord, Approvals as _, Choice, Delivered, Inbox as _, Leases as _, Ledger as _, Outcome,
    RedisConfig, RedisStore, StoreError, Vote,
};
use tokio::task::JoinSet;

use super::proxy::Proxy;
use super::server::Server;
use super::{LONG, SHORT, id, lines, quick, until};

fn place(url: String) -> RedisConfig {
    let quarter = Duration::from_millis(250);
    RedisConfig { answer: quarter, connect: quarter, ..RedisConfig::new(url, "ghost") }
}

async fn connect(url: String) -> RedisStore {
    RedisStore::connect(&place(url), quick()).await.unwrap()
}

#[tokio::test]
async fn a_killed_server_loses_nothing_that_was_acknowledged() {
    let Some(mut server) = Server::start() else { return };
    let store = connect(server.url()).await;
    let lease = store.acquire(&id("s1"), "worker-a", LONG).await.unwrap().unwrap();
    for round in 0..4 {
        let stored = Arc::new(AtomicU64::new(0));
        let (writer, seen, lease) = (store.clone(), Arc::clone(&stored), lease.clone());
        let before = until("it answers", async || store.read(&id("s1"), 0).await.ok()).await.len() as u64;
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut length = before;
            loop {
                let key = format!("{round}-{length}");
                let Ok(_) = writer.deliver(&id("s2"), &key, &key).await else { return length };
                let Ok(next) = writer.append(&lease, length, &[length.to_string()], 0).await else {
                    return length;
                };
                length = next;
                seen.fetch_add(1, Ordering::SeqCst);
            }
        });
        until("some are stored", async || (stored.load(Ordering::SeqCst) > 20).then_some(())).await;
        server.kill();
        let acknowledged = task.join_next().await.unwrap().unwrap();
        assert!(matches!(store.read(&id("s1"), 0).await, Err(StoreError::Unavailable { .. })));
        server.restart();
        let events = until("it answers", async || store.read(&id("s1"), 0).await.ok()).await;
        // One more may be there than was acknowledged.
        let length = events.len() as u64;
        assert!((acknowledged..=acknowledged + 1).contains(&length), "{acknowledged} of {length}");
        assert!(events.iter().enumerate().all(|(at, event)| *event == at.to_string()));
        let delivered = store.inbox(&id("s2")).await.unwrap().len() as u64;
        assert!(delivered >= acknowledged, "{delivered} of {acknowledged}");
    }
}

#[tokio::test]
async fn a_paused_server_is_unavailable_and_then_goes_on() {
    let Some(server) = Server::start() else { return };
    let store = connect(server.url()).await;
    server.pause();
    let start = Instant::now();
    let refused = store.deliver(&id("s1"), "k", "one").await;
    assert!(start.elapsed() < Duration::from_secs(5));
    let Err(StoreError::Unavailable { hint, .. }) = refused else { panic!("{refused:?}") };
    assert!(hint.contains("Redis"), "{hint}");
    server.resume();
    until("it answers", async || store.deliver(&id("s1"), "k", "one").await.ok()).await;
    assert_eq!(store.inbox(&id("s1")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_write_that_waited_in_a_paused_server_past_its_lease_is_not_done() {
    let Some(server) = Server::start() else { return };
    let store = connect(server.url()).await;
    let lease = store.acquire(&id("s1"), "worker-a", 2 * SHORT).await.unwrap().unwrap();
    // The script is known to the server, so that the next one is one request.
    store.append(&lease, 0, &lines(&["a"]), 0).await.unwrap();
    server.pause();
    let refused = store.append(&lease, 1, &lines(&["late"]), 0).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    let over = Instant::now() + 2 * SHORT;
    until("the lease ends", async || (Instant::now() > over).then_some(())).await;
    server.resume();
    let next =
        until("it is free", async || store.acquire(&id("s1"), "worker-b", LONG).await.ok().flatten()).await;
    assert_eq!(store.read(&id("s1"), 0).await.unwrap(), ["a"]);
    assert_eq!(store.append(&next, 1, &lines(&["b"]), 0).await.unwrap(), 2);
}

#[tokio::test]
async fn a_cut_wire_is_mended() {
    let Some(server) = Server::start() else { return };
    let proxy = Proxy::before(server.port);
    let store = connect(proxy.url()).await;
    for round in 0..5 {
        proxy.cut();
        let key = round.to_string();
        until("it answers", async || store.deliver(&id("s1"), &key, "one").await.ok()).await;
    }
    assert_eq!(store.inbox(&id("s1")).await.unwrap().len(), 5);
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_happens_once() {
    let Some(server) = Server::start() else { return };
    let proxy = Proxy::before(server.port);
    let store = connect(proxy.url()).await;
    let record = ApprovalRecord {
        id: "a1".parse().unwrap(),
        session: id("s1"),
        digest: String::new(),
        opened_at: Timestamp::from_millis(0),
        expires_at: Timestamp::from_millis(1000),
        body: String::new(),
        votes_needed: 1,
    };
    let vote = Vote {
        reviewer: "ana".to_owned(),
        choice: Choice::Approve,
        note: String::new(),
        at: Timestamp::from_millis(1),
        key: "click".to_owned(),
    };
    store.open(&record).await.unwrap();
    let lease = store.acquire(&id("s1"), "worker-a", LONG).await.unwrap().unwrap();
    store.append(&lease, 0, &[], 0).await.unwrap();

    proxy.mute(true);
    let lost = store.append(&lease, 0, &lines(&["a"]), 0).await;
    assert!(matches!(lost, Err(StoreError::Unavailable { .. })), "{lost:?}");
    proxy.mute(false);
    proxy.cut();
    let again = until("it answers", async || match store.append(&lease, 0, &lines(&["a"]), 0).await {
        Err(StoreError::Unavailable { .. }) => None,
        other => Some(other),
    })
    .await;
    assert!(matches!(again, Err(StoreError::LengthMismatch { length: 1 })), "{again:?}");
    assert_eq!(store.read(&id("s1"), 0).await.unwrap(), ["a"]);

    // The same click, sent until somebody answers.
    proxy.mute(true);
    assert!(store.vote(&record.id, &vote).await.is_err());
    proxy.mute(false);
    proxy.cut();
    let outcome = until("it answers", async || store.vote(&record.id, &vote).await.ok()).await;
    let repeated = Outcome::AlreadyDecided { by: vote.clone(), repeated: true };
    assert!(outcome == Outcome::Decided(Choice::Approve) || outcome == repeated, "{outcome:?}");
    assert_eq!(store.inbox(&id("s1")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_that_forgot_the_scripts_learns_them_again() {
    let Some(server) = Server::start() else { return };
    let store = connect(server.url()).await;
    assert_eq!(store.deliver(&id("s1"), "k", "one").await.unwrap(), Delivered::New);
    assert!(server.say("SCRIPT FLUSH").starts_with("+OK"));
    assert_eq!(store.deliver(&id("s1"), "k", "one").await.unwrap(), Delivered::Seen);
}

#[tokio::test]
async fn two_prefixes_are_two_stores() {
    let Some(server) = Server::start() else { return };
    let one = connect(server.url()).await;
    let other = RedisStore::connect(&RedisConfig::new(server.url(), "other"), quick()).await.unwrap();
    one.deliver(&id("s1"), "k", "one").await.unwrap();
    assert_eq!(other.list(None, 9).await.unwrap(), []);
    assert_eq!(other.deliver(&id("s1"), "k", "one").await.unwrap(), Delivered::New);
}

#[tokio::test]
async fn a_store_of_a_later_format_is_refused() {
    let Some(server) = Server::start() else { return };
    drop(connect(server.url()).await);
    assert!(server.say("SET ghost:{ghost.index}:format 2").starts_with("+OK"));
    let refused = RedisStore::connect(&place(server.url()), quick()).await;
    assert!(matches!(refused, Err(StoreError::Newer { found: 2, known: 1 })), "{refused:?}");
}

#[tokio::test]
async fn nobody_at_the_address_is_said_with_a_hint_and_without_the_password() {
    let Some(mut server) = Server::start() else { return };
    server.kill();
    let place = place(format!("redis://:hunter2@127.0.0.1:{}/", server.port));
    let refused = RedisStore::connect(&place, quick()).await.unwrap_err();
    assert!(refused.to_string().contains("cannot be reached"), "{refused}");
    assert!(!format!("{refused:?} {place:?}").contains("hunter2"));
}
