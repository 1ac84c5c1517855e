//! The other entry points of the bot: commands, the shortcut, direct messages, the Home tab, alerts.

use std::collections::BTreeSet;

use serde_json::json;

use super::stage::{Over, World, look_once, text, ts};
use crate::lab::stage::NETWORK;

#[tokio::test]
async fn a_direct_message_is_a_session() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let said = json!({"user": "alice", "channel": "@ghost", "text": "the link to web-1 is down"});
            let answer = world.slack.person("message", said).await;
            world.concluded_in("alice", answer["channel"].as_str().unwrap(), &ts(&answer)).await;
        })
        .await;
}

#[tokio::test]
async fn commands_answer_only_whoever_typed_them() {
    for over in [Over::Sockets, Over::Requests] {
        World::new(&look_once())
            .await
            .talk_over(over, async |world| {
                let root = world.mention("alice", "the link to web-1 is down").await;
                world.concluded("alice", &root).await;
                for (typed, part) in [
                    ("/ghost help", "Mention me"),
                    ("/ghost sessions", "ghost-"),
                    ("/ghost status", "No session yet"),
                    ("/ghost approvals", "Nothing waits"),
                    ("/ghost policy", "rules"),
                    ("/ghost freeze", "Not yours"),
                    ("/ghost nonsense", "Mention me"),
                ] {
                    let answer = world.command("alice", typed).await;
                    assert!(answer.to_string().contains(part), "{typed}: {answer}");
                }
            })
            .await;
    }
}

#[tokio::test]
async fn a_command_opens_a_session_below_a_message_of_its_own() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let typed = "/ghost investigate the link to web-1 is down";
            let typed = json!({"user": "alice", "channel": NETWORK, "text": typed});
            assert_eq!(world.slack.person("command", typed).await["ok"], true);
            let asks = world.in_channel("bob", NETWORK, |message| text(message).contains("asks:")).await;
            assert!(text(&asks).contains("<@U0LABALICE>"), "{asks}");
            world.concluded("bob", &ts(&asks)).await;
        })
        .await;
}

#[tokio::test]
async fn a_command_that_takes_long_is_answered_in_time_and_opens_its_session_all_the_same() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            world.fault(json!({"kind": "delay", "method": "chat.postMessage", "millis": 2_500})).await;
            let answer = world.command("alice", "/ghost investigate the link to web-1 is down").await;
            assert!(text(&answer).contains("takes a moment"), "{answer}");
            let asks = world.in_channel("bob", NETWORK, |message| text(message).contains("asks:")).await;
            world.concluded("bob", &ts(&asks)).await;
        })
        .await;
}

#[tokio::test]
async fn a_command_where_nothing_can_be_said_is_answered_with_the_reason_and_opens_nothing() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let method = "chat.postMessage";
            world.fault(json!({"kind": "error", "method": method, "error": "not_in_channel"})).await;
            let answer = world.command("alice", "/ghost investigate the link to web-1 is down").await;
            assert!(text(&answer).contains("Invite me"), "{answer}");
            assert_eq!(world.store.list(None, 9).await.unwrap(), []);
        })
        .await;
}

#[tokio::test]
async fn the_shortcut_opens_a_session_in_the_thread_of_its_message() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let root = world.say("bob", NETWORK, "web-1 does not answer").await;
            let used = json!({"user": "alice", "callback_id": "investigate", "channel": NETWORK, "ts": root});
            let view = world.slack.person("shortcut", used).await["view"].clone();
            assert!(view.to_string().contains("web-1 does not answer"), "{view}");
            world.note_view(&view);
            world.submits("alice", &view, "symptom", "web-1 does not answer on 443").await;
            world.concluded("bob", &root).await;
            // The dialog says that the thread is read as well.
            let quotes = world.state(NETWORK, &root).await.unwrap().opened.quotes;
            let said: Vec<&str> = quotes.iter().map(|quote| quote.text.as_str()).collect();
            assert_eq!(said, ["web-1 does not answer"]);
        })
        .await;
}

#[tokio::test]
async fn the_home_tab_shows_what_waits_for_me() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            for (user, shown) in [("bob", true), ("chloe", false)] {
                let home = world.home(user, |_| true).await;
                assert_eq!(home.to_string().contains("tee -a"), shown, "{user}: {home}");
            }
            world.approved(&root, &card).await;
            world.home("bob", |view| !view.to_string().contains("tee -a")).await;
        })
        .await;
}

#[tokio::test]
async fn an_alert_of_a_listed_program_opens_a_session_and_another_one_does_not() {
    for listed in [true, false] {
        let mut world = World::new(&look_once()).await;
        let state = world.look("state", &[]).await;
        let mut apps = state["apps"].as_array().unwrap().iter();
        let id = apps.find(|app| app["bot_user_id"] == "U0LABALERT").unwrap()["bot_id"].as_str().unwrap();
        world.settings.alert_bots = BTreeSet::from([if listed { id } else { "B0OTHER" }.to_owned()]);
        world
            .talk(async |world| {
                let root = world.say("U0LABALERT", NETWORK, "packet loss on web-1").await;
                if listed {
                    world.concluded("alice", &root).await;
                    return;
                }
                // What comes later was handled later.
                let later = world.mention("alice", "help").await;
                world.hears("alice", &later, "/ghost").await;
                assert_eq!(world.store.list(None, 9).await.unwrap(), []);
            })
            .await;
    }
}

#[tokio::test]
async fn a_summary_goes_to_the_channel_where_the_configuration_says_so() {
    let mut world = World::new(&look_once()).await;
    world.settings.broadcast = true;
    world
        .talk(async |world| {
            let root = world.mention("alice", "the link to web-1 is down").await;
            world.concluded("alice", &root).await;
            let answer =
                world.in_channel("chloe", NETWORK, |message| text(message).starts_with("Inconclusive")).await;
            assert!(
                answer.to_string().contains("the answer in its thread") && answer["thread_ts"] == root,
                "{answer}"
            );
        })
        .await;
}
