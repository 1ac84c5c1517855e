//! A place that changes under a session: the bot is removed, the channel is closed, its messages vanish.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use serde_json::{Value, json};

use super::stage::{World, text, ts};
use crate::lab::stage::NETWORK;

/// Waits until the bot sent the requester a direct message with the end; returns what they see.
async fn direct_answer(world: &World, user: &str, why: &str) -> Vec<Value> {
    let channel = world.slack.person("open", json!({"user": user, "with": "ghost"})).await;
    let channel = channel["channel"].as_str().unwrap().to_owned();
    let first = world.in_channel(user, &channel, |message| text(message).contains(why)).await;
    let direct = world
        .until("the report in a direct message", async || {
            let all = world.thread_in(user, &channel, &ts(&first)).await;
            all.iter().any(|message| !message["files"].is_null()).then_some(all)
        })
        .await;
    for message in &direct {
        world.note(&channel, message);
        for file in message["files"].as_array().into_iter().flatten() {
            assert!(!world.file(user, file).await.is_empty());
        }
    }
    direct
}

#[tokio::test]
async fn whoever_asked_gets_the_report_directly_where_the_bot_was_removed() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            let left = json!({"user": "U0LABGHOST", "channel": NETWORK});
            assert_eq!(world.slack.person("leave", left).await["ok"], true);
            world.expects("not_in_channel");
            // The card still stands there, and a click on it still counts.
            world.press("bob", &card, "approve").await;
            let direct = direct_answer(world, "alice", "not_in_channel").await;
            let report = direct.iter().find(|message| text(message).starts_with("Inconclusive")).unwrap();
            assert!(super::stage::has_button(report, "evidence"), "{report}");
            assert_eq!(world.runs(), 1);
            // What nobody may change any more stays as it was.
            world.reads_all("bob", &root).await;
            world.abandons(NETWORK);
        })
        .await;
}

#[tokio::test]
async fn whoever_asked_gets_the_report_directly_where_the_channel_was_archived() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            world.may_manage(true).await;
            let archived = world.slack.api("conversations.archive", json!({"channel": NETWORK})).await;
            assert_eq!(archived["ok"], true, "{archived}");
            world.may_manage(false).await;
            world.expects("is_archived");
            world.press("bob", &card, "approve").await;
            direct_answer(world, "alice", "is_archived").await;
            assert_eq!(world.runs(), 1);
            world.reads_all("bob", &root).await;
            world.abandons(NETWORK);
        })
        .await;
}

#[tokio::test]
async fn what_somebody_deleted_keeps_no_session_from_ending() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            let board =
                world.sees("alice", &root, "the board", |message| text(message).starts_with("Session")).await;
            for message in [&card, &board] {
                let gone = json!({"channel": NETWORK, "ts": ts(message)});
                assert_eq!(world.slack.api("chat.delete", gone).await["ok"], true);
            }
            world.expects("message_not_found");
            world.reply("chloe", &root, "stop").await;
            world.hears("chloe", &root, "Stopping.").await;
            let shared = world
                .sees("alice", &root, "the files", |message| message["files"].to_string().contains("rca.md"))
                .await;
            for file in shared["files"].as_array().unwrap() {
                world.file("alice", file).await;
            }
            // The card says how it ended, as a new message.
            world
                .sees("alice", &root, "the card", |message| text(message).starts_with("Session stopped"))
                .await;
            world.reads_all("alice", &root).await;
            assert_eq!(world.runs(), 0);
        })
        .await;
}
