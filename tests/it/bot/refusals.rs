//! What Slack refuses, and what reaches people all the same; what is edited, taken back, or switched on.

use serde_json::{Value, json};

use super::stage::{World, look_once, text};
use crate::lab::stage::NETWORK;
use crate::session::world::{conclude, run, suppose};

const QUESTION: &str = "Who cannot reach whom";

#[tokio::test]
async fn an_answer_that_slack_refuses_because_of_its_blocks_comes_in_plain_words() {
    for code in ["invalid_blocks", "msg_blocks_too_long"] {
        World::new(&look_once())
            .await
            .talk(async |world| {
                let fault = json!({"kind": "error", "method": "chat.postMessage", "error": code, "count": 1});
                world.fault(fault).await;
                let root = world.mention("alice", "please look").await;
                let asked = world
                    .sees("alice", &root, "the question", |message| text(message).contains(QUESTION))
                    .await;
                assert_eq!(asked.get("blocks").and_then(Value::as_array).map_or(0, Vec::len), 0, "{asked}");
            })
            .await;
    }
}

#[tokio::test]
async fn an_answer_that_its_place_does_not_take_goes_to_the_person() {
    for code in
        ["restricted_action_thread_locked", "restricted_action_non_threadable_channel", "ekm_access_denied"]
    {
        World::new(&look_once())
            .await
            .talk(async |world| {
                let fault = json!({"kind": "error", "method": "chat.postMessage", "error": code, "count": 1});
                world.fault(fault).await;
                world.mention("alice", "please look").await;
                let direct = world.slack.person("open", json!({"user": "alice", "with": "ghost"})).await;
                let place = direct["channel"].as_str().unwrap().to_owned();
                world
                    .until("the question in the direct conversation", async || {
                        let seen = world.look("channel", &[("user", "alice"), ("channel", &place)]).await;
                        let messages = seen["messages"].as_array().cloned().unwrap_or_default();
                        messages.iter().for_each(|message| world.note(&place, message));
                        let seen = seen["messages"].to_string();
                        (seen.contains(QUESTION) && seen.contains("I cannot write in")).then_some(())
                    })
                    .await;
            })
            .await;
    }
}

#[tokio::test]
async fn a_mention_below_a_complaint_is_investigated_and_the_board_says_from_where() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let root = world.say("chloe", NETWORK, "web-1 cannot reach db-1 on port 5432").await;
            world.reply("alice", &root, "@Ghost please look").await;
            let from = "from chloe's message at the top of this thread";
            world.sees("alice", &root, from, |message| message.to_string().contains(from)).await;
            world.concluded("alice", &root).await;
            let opened = world.state(NETWORK, &root).await.unwrap().opened;
            assert_eq!(
                (opened.symptom.as_str(), opened.quotes.len()),
                ("web-1 cannot reach db-1 on port 5432", 0)
            );
        })
        .await;
}

#[tokio::test]
async fn an_edited_complaint_replaces_the_question_and_says_so() {
    let end = conclude("REFUTED");
    let look = run("cat /proc/net/dev");
    World::new(&[suppose(), look.clone(), end.clone(), look, end])
        .await
        .talk(async |world| {
            let root = world.mention("alice", "web-1 cannot reach db-1 on port 8081").await;
            world.concluded("alice", &root).await;
            let edit = |text: &str| json!({"user": "alice", "channel": NETWORK, "ts": root, "text": text});
            world.slack.person("edit", edit("@Ghost web-1 can't reach db-1 on port 8081")).await;
            world.slack.person("edit", edit("@Ghost web-1 cannot reach db-1 on port 8080")).await;
            world.hears("alice", &root, "The complaint changed. I now look at").await;
            world.concluded("alice", &root).await;
            assert_eq!(
                world.state(NETWORK, &root).await.unwrap().opened.symptom,
                "web-1 cannot reach db-1 on port 8080"
            );
            assert_eq!(world.events(NETWORK, &root, "reworded").await.len(), 1);
        })
        .await;
}

#[tokio::test]
async fn a_deleted_complaint_stops_the_work_and_says_so() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            world.slack.person("delete", json!({"user": "alice", "channel": NETWORK, "ts": root})).await;
            world.hears("bob", &root, "The message that asked me was deleted, so I stopped").await;
            world.concluded("bob", &root).await;
            world.card_says(&root, &card, &["Session stopped"]).await;
            assert_eq!(world.runs(), 0);
        })
        .await;
}

#[tokio::test]
async fn an_emoji_begins_an_investigation_if_a_team_wants_that() {
    let mut world = World::new(&look_once()).await;
    world.settings.start_emoji = Some("mag".to_owned());
    world
        .talk(async |world| {
            let more = ["reaction_added"];
            let events: Vec<&str> = ghost_agent::bot::EVENTS.iter().copied().chain(more).collect();
            let scopes: Vec<&str> =
                ghost_agent::bot::SCOPES.iter().copied().chain(["reactions:read"]).collect();
            world.slack.person("app", json!({"events": events, "scopes": scopes})).await;
            let root = world.say("chloe", NETWORK, "web-1 cannot reach db-1 on port 5432").await;
            let react = |name: &str| json!({"user": "bob", "channel": NETWORK, "ts": root, "name": name});
            world.slack.person("reaction", react("tada")).await;
            world.slack.person("reaction", react("mag")).await;
            world.concluded("bob", &root).await;
            let opened = world.state(NETWORK, &root).await.unwrap().opened;
            assert_eq!(opened.symptom, "web-1 cannot reach db-1 on port 5432");
            assert_eq!(opened.requester, "U0LABBOB01");
        })
        .await;
}
