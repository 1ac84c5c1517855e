//! A rollout: what an earlier version left in the store is gone on with, and what a later one left is refused.

use std::time::Duration;

use ghost_base::Timestamp;
use ghost_store::{
    ApprovalId, ApprovalState, Approvals as _, Choice, Consumed, Delivered, Dispatch as _, EmbeddedStore,
    Inbox as _, Item, Leases as _, Ledger as _, Notice, Outcome, RedisConfig, RedisStore, StoreError, Vote,
};

use super::server::Server;
use super::{LONG, id, lines, quick};

const FORMAT_1: &str = include_str!("../../fixtures/store/format-1.redis");

fn name(text: &str) -> ApprovalId {
    text.parse().unwrap()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn approve(reviewer: &str, millis: i64) -> Vote {
    Vote {
        reviewer: reviewer.to_owned(),
        choice: Choice::Approve,
        note: "because".to_owned(),
        at: at(millis),
        key: format!("{reviewer}-{millis}"),
    }
}

fn closed(approval: &str, state: ApprovalState) -> Item {
    Item::Closed(Notice { approval: name(approval), state })
}

/// Starts a server that holds what format 1 wrote.
async fn format_1() -> Option<(Server, RedisStore)> {
    let server = Server::start()?;
    for line in FORMAT_1.lines().filter(|line| !line.starts_with('#')) {
        let answer = server.say(line);
        assert!(answer.starts_with(['+', ':']), "{line}: {answer}");
    }
    let store = RedisStore::connect(&RedisConfig::new(server.url(), "ghost"), quick()).await.unwrap();
    Some((server, store))
}

#[tokio::test]
async fn what_format_1_wrote_is_taken_over_voted_on_used_and_continued() {
    let Some((_server, store)) = format_1().await else { return };
    assert_eq!(store.next_work("new", Duration::ZERO).await.unwrap(), Some(id("waiting")));
    let lease = store.acquire(&id("waiting"), "new", LONG).await.unwrap().unwrap();
    assert!(lease.epoch() > 1_700_000_000_000_000);
    let asked = r#"{"kind":"asked","approval":"a-pending"}"#;
    assert_eq!(
        store.read(&id("waiting"), 0).await.unwrap(),
        [r#"{"kind":"opened","n":0}"#, "{\"kind\":\"said\",\"text\":\"Grüße, \\\"eth0\\\"\\n\"}", asked]
    );
    let news = Item::Delivered(r#"{"text":"any news?"}"#.to_owned());
    let decided = closed("a-approved", ApprovalState::Decided(approve("ana", 20)));
    assert_eq!(store.inbox(&id("waiting")).await.unwrap(), [decided, news]);
    assert_eq!(store.deliver(&id("waiting"), "event-2", "again").await.unwrap(), Delivered::Seen);

    let pending = store.pending(None, at(30)).await.unwrap();
    assert_eq!(
        pending.iter().map(|one| one.record.id.as_str()).collect::<Vec<_>>(),
        ["a-expired", "a-pending"]
    );
    let twice = store.vote(&name("a-pending"), &approve("ana", 25)).await.unwrap();
    assert_eq!(twice, Outcome::VotedBefore { so_far: 1 });
    let second = store.vote(&name("a-pending"), &approve("ben", 30)).await.unwrap();
    assert_eq!(second, Outcome::Decided(Choice::Approve));
    for approval in ["a-approved", "a-pending"] {
        let used = store.consume(&name(approval), &lease).await.unwrap();
        let Consumed::Now(now) = used else { panic!("{approval}: {used:?}") };
        assert_eq!(now.record.body, r#"{"line":"ip link set eth0 down"}"#);
        let again = store.consume(&name(approval), &lease).await.unwrap();
        assert_eq!(again, Consumed::No(ApprovalState::Consumed { epoch: lease.epoch() }));
    }
    assert_eq!(store.sweep(at(1000)).await.unwrap(), [name("a-expired")]);
    assert_eq!(store.append(&lease, 3, &lines(&["continued"]), 2).await.unwrap(), 4);
    let left = [
        closed("a-pending", ApprovalState::Decided(approve("ben", 30))),
        closed("a-expired", ApprovalState::Expired),
    ];
    assert_eq!(store.inbox(&id("waiting")).await.unwrap(), left);
}

#[tokio::test]
async fn a_living_owner_of_format_1_keeps_its_session_and_what_it_used_stays_used() {
    let Some((_server, store)) = format_1().await else { return };
    assert_eq!(store.acquire(&id("owned"), "new", LONG).await.unwrap(), None);
    let used = store.find(&name("a-used"), at(2000)).await.unwrap().unwrap();
    assert_eq!(used.state, ApprovalState::Consumed { epoch: 1_700_000_000_050_367 });
    let late = store.vote(&name("a-used"), &approve("ana", 40)).await.unwrap();
    assert_eq!(late, Outcome::AlreadyDecided { by: approve("ben", 30), repeated: false });
    assert_eq!(store.deliver(&id("owned"), "event-4", "more").await.unwrap(), Delivered::New);
    assert_eq!(store.inbox(&id("owned")).await.unwrap().len(), 3);
    assert_eq!(store.next_work("new", Duration::ZERO).await.unwrap(), Some(id("waiting")));
    store.acquire(&id("waiting"), "new", LONG).await.unwrap().unwrap();
    assert_eq!(store.next_work("new", Duration::ZERO).await.unwrap(), None);
    assert_eq!(store.list(None, 9).await.unwrap(), [id("done"), id("owned"), id("waiting")]);
    assert_eq!(store.erase_expired(at(5000)).await.unwrap(), [id("done")]);
    store.erase(&id("owned"), &lines(&["digest"])).await.unwrap();
    assert_eq!(store.find(&name("a-used"), at(2000)).await.unwrap(), None);
    assert_eq!(store.list(None, 9).await.unwrap(), [id("owned"), id("waiting")]);
}

#[test]
fn a_file_of_a_later_format_is_refused_and_stays_as_it_is() {
    const NUMBERS: redb::TableDefinition<&str, u64> = redb::TableDefinition::new("numbers");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    drop(EmbeddedStore::open(&path, quick()).unwrap());
    let database = redb::Database::open(&path).unwrap();
    let write = database.begin_write().unwrap();
    let before = write.open_table(NUMBERS).unwrap().insert("format", 2).unwrap().map(|found| found.value());
    assert_eq!(before, Some(1));
    write.commit().unwrap();
    drop(database);
    for _ in 0..2 {
        let refused = EmbeddedStore::open(&path, quick()).unwrap_err();
        assert!(matches!(refused, StoreError::Newer { found: 2, known: 1 }), "{refused:?}");
    }
}
