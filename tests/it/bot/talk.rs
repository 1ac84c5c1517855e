//! Whole conversations: from a mention to the report.

use serde_json::json;

use super::stage::{World, has_button, is_private, text, ts};
use crate::lab::stage::NETWORK;
use crate::session::world::{conclude, run, suppose};

const LOOK: &str = "cat /proc/net/dev";

#[tokio::test]
async fn a_mention_ends_in_a_report_in_the_thread() {
    let world = World::new(&[suppose(), run(LOOK), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link to web-1 is down").await;
    let report = world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(report["user"], "U0LABGHOST");
    // One board, drawn again and again, and never a button on it once all is over.
    let thread = world
        .until("the board says that it is over, and the files are there", async || {
            let thread = world.thread("alice", &root).await;
            let boards = thread.iter().filter(|message| text(message).contains("ghost-")).count();
            let files = thread.iter().any(|message| message["files"][0].is_object());
            (boards >= 1 && files && !thread.iter().any(|message| has_button(message, "stop")))
                .then_some(thread)
        })
        .await;
    let files: Vec<&str> = thread
        .iter()
        .flat_map(|message| message["files"].as_array().into_iter().flatten())
        .filter_map(|file| file["name"].as_str())
        .collect();
    assert_eq!(files, ["rca.md", "audit.jsonl"]);
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_mention_after_the_report_goes_on_with_the_old_evidence() {
    let end = conclude("REFUTED");
    let world = World::new(&[suppose(), run(LOOK), end.clone(), run(LOOK), end]).await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link to web-1 is down").await;
    world.reads("alice", &root, "Inconclusive").await;
    world.reply("bob", &root, "@Ghost look once more").await;
    world
        .until("a second report", async || {
            let thread = world.thread("alice", &root).await;
            (thread.iter().filter(|message| text(message).starts_with("Inconclusive")).count() == 2)
                .then_some(())
        })
        .await;
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn what_people_say_to_each_other_opens_nothing() {
    let world = World::new(&[suppose(), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    let said = json!({"user": "alice", "channel": NETWORK, "text": "good morning"});
    let root = ts(&world.slack.person("message", said).await);
    // What comes later was handled later.
    let other = world.mention("alice", "help").await;
    let help = world.sees("alice", &other, "the help", is_private).await;
    assert!(help["blocks"].to_string().contains("/ghost"), "{help}");
    assert_eq!(world.thread("alice", &root).await.len(), 1);
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_guest_and_a_stranger_are_told_privately_that_they_take_no_part() {
    let world = World::new(&[suppose(), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    for user in ["gus", "paula"] {
        let said = json!({"user": user, "channel": "C0LAB3SHAR", "text": "@Ghost web-1 is slow"});
        let root = ts(&world.slack.person("message", said).await);
        let refused = world
            .until("a refusal", async || {
                let seen =
                    world.look("thread", &[("user", user), ("channel", "C0LAB3SHAR"), ("ts", &root)]).await;
                seen["messages"].as_array().into_iter().flatten().find(|message| is_private(message)).cloned()
            })
            .await;
        assert!(text(&refused).contains("take no part"), "{refused}");
    }
    assert_eq!(world.store.list(None, 9).await.unwrap(), []);
    bot.stop().await;
    world.end().await;
}
