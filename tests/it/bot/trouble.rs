//! What goes wrong between Slack and the bot, and what it must not come to.

use serde_json::json;

use super::stage::{World, has_button, text};
use crate::session::world::{conclude, run, suppose};

const LOOK: &str = "cat /proc/net/dev";

/// Counts the reports of a thread.
async fn reports(world: &World, root: &str) -> usize {
    world
        .thread("alice", root)
        .await
        .iter()
        .filter(|message| text(message).starts_with("Inconclusive"))
        .count()
}

#[tokio::test]
async fn what_slack_delivers_twice_happens_once() {
    let world = World::new(&[suppose(), run(LOOK), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    world.fault(json!({"kind": "duplicate", "count": 20})).await;
    let root = world.mention("alice", "the link is down").await;
    world.reads("alice", &root, "Inconclusive").await;
    world.fault(json!({"kind": "redeliver", "count": 20})).await;
    // What comes later was handled later.
    let other = world.mention("alice", "another link is down").await;
    world.reads("alice", &other, "Inconclusive").await;
    assert_eq!(reports(&world, &root).await, 1);
    assert_eq!(world.store.list(None, 9).await.unwrap().len(), 2);
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_refresh_and_a_cut_in_the_middle_lose_nothing() {
    let world = World::new(&[suppose(), run(LOOK), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    let mut roots = Vec::new();
    for fault in
        [json!({"kind": "refresh", "at_once": true}), json!({"kind": "cut"}), json!({"kind": "refresh"})]
    {
        world.fault(fault).await;
        roots.push(world.mention("alice", "the link is down").await);
    }
    for root in &roots {
        world.reads("alice", root, "Inconclusive").await;
        assert_eq!(reports(&world, root).await, 1);
    }
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_storm_of_rate_limits_delays_and_drops_nothing() {
    let world = World::new(&[suppose(), run(LOOK), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    for method in ["chat.postMessage", "chat.update", "files.getUploadURLExternal"] {
        world.fault(json!({"kind": "rate_limit", "method": method, "count": 2, "retry_after": 1})).await;
    }
    let root = world.mention("alice", "the link is down").await;
    world.reads("alice", &root, "Inconclusive").await;
    world
        .sees("alice", &root, "the files", |message| {
            message["files"].as_array().is_some_and(|files| !files.is_empty())
        })
        .await;
    assert_eq!(reports(&world, &root).await, 1);
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn payloads_of_an_organization_lose_no_click() {
    let world = World::new(&[]).await;
    let command = format!("echo ran | tee -a {}", world.path("ran"));
    let world = world.plays(&[suppose(), run(&command), conclude("REFUTED")]);
    world.fault(json!({"kind": "grid"})).await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    world.press("bob", &card, "approve").await;
    world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(std::fs::read_to_string(world.path("ran")).unwrap(), "ran\n");
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_bot_that_dies_in_the_middle_is_followed_and_reports_once() {
    let world = World::new(&[suppose(), run(LOOK), run(LOOK), conclude("REFUTED")]).await;
    let first = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    world.sees("alice", &root, "the board", |message| has_button(message, "stop")).await;
    first.die().await;
    let second = world.bot().await;
    world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(reports(&world, &root).await, 1);
    let thread = world.thread("alice", &root).await;
    assert_eq!(thread.iter().filter(|message| text(message).starts_with("Session")).count(), 1);
    second.stop().await;
    world.end().await;
}

#[tokio::test]
async fn what_is_frozen_goes_on_after_the_thaw() {
    let world = World::new(&[suppose(), run(LOOK), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    let say =
        |user: &str, text: &str| json!({"user": user, "channel": crate::lab::stage::NETWORK, "text": text});
    world.slack.person("command", say("bob", "/ghost freeze a change window")).await;
    let root = world.mention("alice", "the link is down").await;
    world.sees("alice", &root, "the board", |message| text(message).starts_with("Session")).await;
    // Whoever may not thaw does not.
    world.slack.person("command", say("alice", "/ghost thaw")).await;
    assert!(world.store.flag("freeze").await.unwrap().is_some());
    assert_eq!(reports(&world, &root).await, 0);
    world.slack.person("command", say("bob", "/ghost thaw")).await;
    world.reads("alice", &root, "Inconclusive").await;
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn signed_requests_are_the_same_bot() {
    let world = World::new(&[]).await;
    let command = format!("echo ran | tee -a {}", world.path("ran"));
    let world = world.plays(&[suppose(), run(&command), conclude("REFUTED")]);
    let bot = world.bot_over_requests().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    let pressed = world.press("bob", &card, "modify").await;
    let refused = world.submit("bob", &pressed["view"], json!({"command": {"command": "rm -rf /"}})).await;
    assert!(refused["errors"]["command"].is_string(), "{refused}");
    world.press("bob", &card, "approve").await;
    world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(std::fs::read_to_string(world.path("ran")).unwrap(), "ran\n");
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn two_bots_share_the_work_and_nothing_happens_twice() {
    let world = World::new(&[suppose(), run(LOOK), conclude("REFUTED")]).await;
    let (first, second) = (world.bot().await, world.bot().await);
    let mut roots = Vec::new();
    for number in 0..8 {
        roots.push(world.mention("alice", &format!("link {number} is down")).await);
    }
    for root in &roots {
        world.reads("alice", root, "Inconclusive").await;
    }
    first.stop().await;
    second.stop().await;
    for root in &roots {
        let thread = world.thread("alice", root).await;
        let begins = |word: &str| thread.iter().filter(|message| text(message).starts_with(word)).count();
        assert_eq!((begins("Session"), begins("Inconclusive")), (1, 1), "{thread:#?}");
    }
    world.end().await;
}

#[tokio::test]
async fn while_slack_is_away_nothing_is_lost() {
    let world = World::new(&[suppose(), run(LOOK), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    for method in ["chat.postMessage", "chat.update", "conversations.replies"] {
        world.fault(json!({"kind": "error", "method": method, "count": 3, "status": 503})).await;
    }
    let root = world.mention("alice", "the link is down").await;
    world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(reports(&world, &root).await, 1);
    bot.stop().await;
    world.end().await;
}
