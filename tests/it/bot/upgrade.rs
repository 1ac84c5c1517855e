//! What version 0.1.0 left in the store and in Slack is gone on with by this one.
//!
//! The fixtures are what its program wrote: a session that waits, with its card, in a Redis and in a local Slack. `tests/release/upgrade` does the
//! same with both programs, one replica after the other, and back.

use std::sync::Arc;
use std::time::Duration;

use ghost_base::{Clock as _, SessionId, SystemClock};
use ghost_investigate::event::read;
use ghost_investigate::state::State;
use ghost_store::{Leases as _, Ledger as _, RedisConfig, RedisStore, Settings, Store};

use super::stage::{World, has_button, text};
use crate::session::world::{conclude, run, suppose};
use crate::store::server::Server;

/// What its store held, a command of Redis a line.
const STORE: &str = include_str!("../../fixtures/store/0.1.0.redis.jsonl");
/// What its local Slack held.
const SLACK: &str = include_str!("../../fixtures/store/0.1.0.slack.json");

/// Starts a Redis that holds what the program wrote; nothing where the tests run without it.
async fn left() -> Option<(Server, RedisStore)> {
    let server = Server::start()?;
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    for line in STORE.lines() {
        let words: Vec<String> = serde_json::from_str(line).unwrap();
        let mut command = redis::Cmd::new();
        command.arg(&words);
        command.query_async::<redis::Value>(&mut connection).await.unwrap();
    }
    let store = RedisStore::connect(&RedisConfig::new(server.url(), "ghost"), Settings::default()).await;
    Some((server, store.unwrap()))
}

fn fold(session: &SessionId, lines: &[String]) -> State {
    State::fold(session, &read(session, lines.iter().map(String::as_str)).unwrap()).unwrap()
}

/// Opens the workspace that was kept, some minutes later than when it was asked, so that the question did not lapse; returns the
/// thread.
async fn world(store: &RedisStore, lines: &[String], session: &SessionId) -> (World, String) {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("slack");
    std::fs::create_dir(&workspace).unwrap();
    std::fs::write(workspace.join("slack.json"), SLACK).unwrap();
    let before = fold(session, lines);
    let world = World::kept(folder, &workspace, Arc::new(store.clone()) as Arc<dyn Store>).await;
    let passed = SystemClock.now().since(before.last_at);
    world.clock.by(2 - i64::try_from(passed.as_secs() / 60).unwrap());
    let world = world.plays(&[suppose(), run("echo ran | tee -a ran"), conclude("REFUTED")]);
    (world, before.opened.origin.thread.unwrap())
}

#[tokio::test]
async fn a_card_that_0_1_0_posted_is_pressed_its_command_runs_once_and_the_report_is_written() {
    let Some((_server, store)) = left().await else { return };
    let listed = store.list(None, 9).await.unwrap();
    let [session] = listed.as_slice() else { panic!("{listed:?}") };
    let before = store.read(session, 0).await.unwrap();
    assert_eq!(fold(session, &before).opened.version, "0.1.0");
    let (world, root) = world(&store, &before, session).await;
    world
        .talk(async |world| {
            let thread = world.thread("bob", &root).await;
            let card = thread.into_iter().find(|message| has_button(message, "approve")).unwrap();
            world.press("bob", &card, "approve").await;
            world.concluded("alice", &root).await;
            world.card_says(&root, &card, &["Approved by <@U0LABBOB01>", "exit 0"]).await;
            assert_eq!(world.runs(), 1);
            let thread = world.thread("alice", &root).await;
            let begins = |word: &str| thread.iter().filter(|message| text(message).starts_with(word)).count();
            assert_eq!((begins("Session"), begins("Inconclusive")), (1, 1), "{thread:#?}");
        })
        .await;
    let after = store.read(session, 0).await.unwrap();
    assert!(after.starts_with(&before) && fold(session, &after).is_reported());
}

/// Whatever the bot is asked about such a session, it says why it cannot: nothing runs on what it may misread.
#[tokio::test]
async fn a_card_whose_session_a_later_format_went_on_with_is_refused_in_words_and_nothing_runs() {
    let Some((_server, store)) = left().await else { return };
    let session = store.list(None, 9).await.unwrap().remove(0);
    let lines = store.read(&session, 0).await.unwrap();
    let last = lines.last().unwrap().replace("\"format\":1", "\"format\":2");
    let lease = store.acquire(&session, "later", Duration::from_secs(60)).await.unwrap().unwrap();
    store.append(&lease, u64::try_from(lines.len()).unwrap(), &[last], 0).await.unwrap();
    store.release(&lease).await.unwrap();
    let (world, root) = world(&store, &lines, &session).await;
    let bot = world.bot().await;
    let thread = world.thread("bob", &root).await;
    let card = thread.into_iter().find(|message| has_button(message, "approve")).unwrap();
    world.press("bob", &card, "approve").await;
    world.hears("bob", &root, "event 13 has format 2").await;
    bot.stop().await;
    assert_eq!(world.runs(), 0);
    world.abandon().await;
    assert_eq!(store.read(&session, 0).await.unwrap().len(), lines.len() + 1, "nothing is written behind it");
}
