//! Cards: who may press what, and that it counts once.

use serde_json::json;

use super::stage::{World, has_button, is_private, text};
use crate::session::world::{conclude, run, suppose};

/// Returns a command that asks: it leaves a line in a file each time it runs.
fn note(world: &World) -> String {
    format!("echo ran | tee -a {}", world.path("ran"))
}

fn runs(world: &World) -> usize {
    std::fs::read_to_string(world.path("ran")).map(|text| text.lines().count()).unwrap_or(0)
}

/// A session that asks once.
async fn asking() -> World {
    let world = World::new(&[]).await;
    let command = note(&world);
    world.plays(&[suppose(), run(&command), conclude("REFUTED")])
}

#[tokio::test]
async fn an_approved_command_runs_once_and_the_card_says_who_and_what_came_of_it() {
    let world = asking().await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    assert!(text(&card).starts_with("Approval needed"), "{card}");
    assert_eq!(runs(&world), 0);
    world.press("bob", &card, "approve").await;
    world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(runs(&world), 1);
    let after =
        world.sees("alice", &root, "the card as it ended", |message| message["ts"] == card["ts"]).await;
    assert!(text(&after).contains("<@U0LABBOB01>") && text(&after).contains("exit 0"), "{after}");
    assert!(!has_button(&after, "approve"), "{after}");
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn who_may_not_approve_is_told_privately_and_nothing_runs() {
    let world = asking().await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    // The requester of a change, a member whom nobody named.
    for (user, part) in [("alice", "somebody else"), ("chloe", "not among those")] {
        world.press(user, &card, "approve").await;
        let why = world
            .sees(user, &root, part, |message| is_private(message) && text(message).contains(part))
            .await;
        assert!(text(&why).starts_with("not yours to approve"), "{why}");
    }
    assert_eq!(runs(&world), 0);
    world.card(&root).await;
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_denial_takes_its_reason_from_a_dialog() {
    let world = asking().await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    let pressed = world.press("bob", &card, "deny").await;
    let view = &pressed["view"];
    assert_eq!(view["callback_id"], "deny", "{pressed}");
    let done = world.submit("bob", view, json!({"reason": {"reason": "not during the day"}})).await;
    assert_eq!(done["ok"], true, "{done}");
    world.reads("alice", &root, "Inconclusive").await;
    let after =
        world.sees("alice", &root, "the card as it ended", |message| message["ts"] == card["ts"]).await;
    assert!(after.to_string().contains("not during the day"), "{after}");
    assert_eq!(runs(&world), 0);
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_changed_command_is_judged_again_and_asked_about_again() {
    let world = asking().await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    let pressed = world.press("bob", &card, "modify").await;
    let view = &pressed["view"];
    let refused = world.submit("bob", view, json!({"command": {"command": "rm -rf /"}})).await;
    assert!(refused["errors"]["command"].is_string(), "{refused}");
    let other = format!("echo changed | tee -a {}", world.path("ran"));
    let done = world.submit("bob", view, json!({"command": {"command": other}})).await;
    assert_eq!(done["ok"], true, "{done}");
    let second = world
        .sees("bob", &root, "a second card", |message| {
            has_button(message, "approve") && message["ts"] != card["ts"]
        })
        .await;
    assert!(second.to_string().contains("changed"), "{second}");
    world.press("bob", &second, "approve").await;
    world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(std::fs::read_to_string(world.path("ran")).unwrap(), "changed\n");
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn of_two_people_and_two_clicks_one_decides() {
    let world = asking().await;
    let bot = world.bot().await;
    let root = world.mention("chloe", "the link is down").await;
    let card = world.card(&root).await;
    tokio::join!(
        world.press("bob", &card, "approve"),
        world.press("alice", &card, "approve"),
        world.press("bob", &card, "approve"),
    );
    world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(runs(&world), 1);
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_card_outlives_the_bot_that_posted_it() {
    let world = asking().await;
    let first = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    first.die().await;
    let second = world.bot().await;
    world.press("bob", &card, "approve").await;
    world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(runs(&world), 1);
    let cards = world.thread("alice", &root).await;
    // One card, one board: nobody posted them a second time.
    assert_eq!(cards.iter().filter(|message| message["ts"] == card["ts"]).count(), 1);
    assert_eq!(cards.iter().filter(|message| text(message).starts_with("Session")).count(), 1, "{cards:#?}");
    second.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_forged_button_names_nothing() {
    let world = asking().await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    let blocks = json!([{"type": "actions", "elements": [{"type": "button", "action_id": "approve", "value": "somebody-else-s",
        "text": {"type": "plain_text", "text": "Approve"}}]}]);
    let forged = json!({"channel": crate::lab::stage::NETWORK, "thread_ts": root, "text": "Approve", "blocks": blocks});
    let forged = world.slack.api("chat.postMessage", forged).await;
    world.press("bob", &forged, "approve").await;
    world.sees("bob", &root, "a refusal", is_private).await;
    assert_eq!(runs(&world), 0);
    world.press("bob", &card, "approve").await;
    world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(runs(&world), 1);
    bot.stop().await;
    world.end().await;
}
