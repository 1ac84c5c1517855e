//! Clicks that nobody may make, or that are not what they say.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use ghost_base::{Clock as _, SystemClock, hmac_sha256};
use serde_json::{Value, json};

use super::stage::{Over, World, has_button, text, ts};
use crate::lab::stage::NETWORK;

const SHARED: &str = "C0LAB3SHAR";

/// Posts a message of the bot's own user, as a mistake or a stolen token might.
async fn posted(world: &World, channel: &str, root: &str, action: &str, value: &str) -> Value {
    let button = json!({"type": "button", "action_id": action, "value": value,
        "text": {"type": "plain_text", "text": "Approve"}});
    let blocks = json!([{"type": "actions", "block_id": "another", "elements": [button]}]);
    let message = json!({"channel": channel, "thread_ts": root, "text": "Approve", "blocks": blocks});
    let answer = world.slack.api("chat.postMessage", message).await;
    assert_eq!(answer["ok"], true, "{answer}");
    answer
}

/// Takes such a message away again.
async fn removed(world: &World, channel: &str, message: &Value) {
    let answer = world.slack.api("chat.delete", json!({"channel": channel, "ts": ts(message)})).await;
    assert_eq!(answer["ok"], true, "{answer}");
}

#[tokio::test]
async fn a_click_from_another_organization_counts_for_nothing() {
    for over in [Over::Sockets, Over::Requests] {
        let mut world = World::asking().await;
        // Even where the configuration names the stranger.
        world.settings.anywhere.approvers.change.users.insert("U0LABPAULA".to_owned());
        world
            .talk_over(over, async |world| {
                let root = world.say("alice", SHARED, "@Ghost the link is down").await;
                let card = world.card_in("paula", SHARED, &root).await;
                for action in ["approve", "deny", "modify"] {
                    let pressed = world.press_in("paula", SHARED, &card, action).await;
                    assert!(pressed["view"].is_null(), "{pressed}");
                    world.hears_in("paula", SHARED, &root, "other organizations").await;
                }
                // Neither may they stop it, nor put words into it.
                let stop = json!({"user": "paula", "channel": SHARED, "thread_ts": root, "text": "stop"});
                world.slack.person("message", stop).await;
                assert_eq!(world.runs(), 0);
                world.press_in("bob", SHARED, &card, "approve").await;
                world.concluded_in("bob", SHARED, &root).await;
                world
                    .card_says_in("bob", SHARED, &root, &card, &["Approved by <@U0LABBOB01>", "exit 0"])
                    .await;
                assert_eq!(world.events(SHARED, &root, "said").await, Vec::<Value>::new());
                let refused = world.refused("U0LABPAULA").await;
                // The same attempt within an hour is written down once.
                assert!(refused.len() == 1 && refused[0].contains("other organizations"), "{refused:?}");
            })
            .await;
    }
}

#[tokio::test]
async fn a_button_with_a_value_that_somebody_made_up_names_nothing() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            for value in ["somebody-else-s", "../x", "a".repeat(1_900).as_str(), "\u{202e}\n*"] {
                for action in ["approve", "deny", "modify", "whole"] {
                    let forged = posted(world, NETWORK, &root, action, value).await;
                    let pressed = world.press("bob", &forged, action).await;
                    assert!(pressed["view"].is_null(), "{pressed}");
                    world.hears("bob", &root, "this question is closed").await;
                    removed(world, NETWORK, &forged).await;
                }
            }
            assert_eq!(world.runs(), 0);
            world.approved(&root, &card).await;
        })
        .await;
}

#[tokio::test]
async fn a_button_that_names_a_question_elsewhere_than_on_its_card_counts_for_nothing() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            let state = world
                .until("the card's place", async || {
                    world.state(NETWORK, &root).await.filter(|state| {
                        state.delivered.iter().any(|delivered| delivered.what.starts_with("card"))
                    })
                })
                .await;
            let approval = state.approvals.keys().next().unwrap().clone();
            let other = world.mention("alice", "help").await;
            world.hears("alice", &other, "/ghost").await;
            for action in ["approve", "deny", "modify"] {
                let forged = posted(world, NETWORK, &other, action, &approval).await;
                let pressed = world.press("bob", &forged, action).await;
                assert!(pressed["view"].is_null(), "{pressed}");
                world.hears("bob", &other, "this question is closed").await;
                removed(world, NETWORK, &forged).await;
            }
            assert_eq!(world.runs(), 0);
            let refused = world.refused("U0LABBOB01").await;
            assert_eq!(refused, [format!("{approval}: the click did not come from its card")]);
            world.approved(&root, &card).await;
        })
        .await;
}

#[tokio::test]
async fn a_copy_of_a_card_loses_its_buttons_when_it_is_pressed_after_the_question_is_closed() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            let mut copy = json!({"channel": NETWORK, "thread_ts": root});
            for field in ["text", "blocks", "metadata"] {
                copy[field] = card[field].clone();
            }
            let copy = world.slack.api("chat.postMessage", copy).await;
            assert_eq!(copy["ok"], true, "{copy}");
            world.approved(&root, &card).await;
            world.press("bob", &copy, "deny").await;
            world.hears("bob", &root, "already decided").await;
            let after = world.card_says(&root, &copy, &["Approved by"]).await;
            assert!(!has_button(&after, "approve"), "{after}");
            assert_eq!(world.runs(), 1);
        })
        .await;
}

#[tokio::test]
async fn buttons_that_nobody_knows_do_nothing() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            let approval =
                world.state(NETWORK, &root).await.unwrap().approvals.keys().next().unwrap().clone();
            for action in ["Approve", "approve ", "approve_all", "run", "constructor"] {
                let forged = posted(world, NETWORK, &root, action, &approval).await;
                world.press("bob", &forged, action).await;
                removed(world, NETWORK, &forged).await;
            }
            assert_eq!(world.runs(), 0);
            world.approved(&root, &card).await;
        })
        .await;
}

#[tokio::test]
async fn a_request_that_slack_did_not_sign_changes_nothing() {
    World::asking()
        .await
        .talk_over(Over::Requests, async |world| {
            let (root, card) = world.asks("alice").await;
            let approval = world.state(NETWORK, &root).await.unwrap().approvals.keys().next().unwrap().clone();
            let click = json!({
                "type": "block_actions", "user": {"id": "U0LABBOB01", "team_id": "T0LABTEAM1"},
                "team": {"id": "T0LABTEAM1"}, "channel": {"id": NETWORK}, "trigger_id": "1.2.3",
                "container": {"type": "message", "message_ts": card["ts"], "channel_id": NETWORK, "thread_ts": root},
                "actions": [{"type": "button", "action_id": "approve", "block_id": "b", "value": approval, "action_ts": "1.2"}],
            });
            let body = format!("payload={}", percent(&click.to_string()));
            let now = SystemClock.now().as_millis() / 1000;
            let secret = world.slack.name("SLACK_SIGNING_SECRET").to_owned();
            let good = format!("v0={}", hmac_sha256(secret.as_bytes(), format!("v0:{now}:{body}").as_bytes()));
            let url = world.request_url.lock().unwrap().clone();
            for (time, signature) in [
                (Some(now), None),
                (None, Some(good.clone())),
                (Some(now), Some(good.replace('a', "b").replace('1', "2"))),
                (Some(now - 301), Some(good.clone())),
                (Some(now + 1), Some(good.clone())),
                (Some(now), Some("v0=".to_owned())),
            ] {
                let mut request = world.slack.http.post(&url).body(body.clone());
                request = request.header("content-type", "application/x-www-form-urlencoded");
                if let Some(time) = time {
                    request = request.header("x-slack-request-timestamp", time.to_string());
                }
                if let Some(signature) = signature {
                    request = request.header("x-slack-signature", signature);
                }
                assert_eq!(request.send().await.unwrap().status(), 401);
            }
            assert_eq!(world.events(NETWORK, &root, "approval_decided").await, Vec::<Value>::new());
            world.press("bob", &card, "approve").await;
            world.concluded("alice", &root).await;
            let after = world.card_says(&root, &card, &["exit 0"]).await;
            assert!(text(&after).starts_with("Approved by"), "{after}");
            assert_eq!(world.runs(), 1);
        })
        .await;
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
