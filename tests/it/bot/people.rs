//! Who speaks with the bot, where, and in which ways.

use std::collections::{BTreeMap, BTreeSet};

use ghost_agent::bot::Place;
use ghost_agent::shell::Scope;
use pulldown_cmark::{Event, Parser, Tag};
use serde_json::{Value, json};

use super::stage::{World, has_button, is_private, settings, text, ts};
use crate::lab::stage::NETWORK;
use crate::session::world::{conclude, run, suppose};

const LOOK: &str = "cat /proc/net/dev";
const GENERAL: &str = "C0LAB1GENE";

fn script() -> Vec<String> {
    vec![suppose(), run(LOOK), conclude("REFUTED")]
}

/// Waits for a message that somebody sees in a channel.
async fn in_channel(world: &World, user: &str, channel: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    world
        .until("a message in the channel", async || {
            let seen = world.look("channel", &[("user", user), ("channel", channel)]).await;
            seen.get("messages")?.as_array()?.iter().find(|message| wanted(message)).cloned()
        })
        .await
}

/// Types a command; returns what only its writer sees.
async fn command(world: &World, user: &str, text: &str) -> Value {
    let before = Box::pin(world.look("channel", &[("user", user), ("channel", NETWORK)])).await;
    let before = before.get("messages").and_then(Value::as_array).unwrap();
    let known: BTreeSet<String> = before.iter().map(ts).collect();
    let answer = world.slack.person("command", json!({"user": user, "channel": NETWORK, "text": text})).await;
    assert_eq!(answer.get("ok"), Some(&json!(true)), "{answer}");
    in_channel(world, user, NETWORK, |message| is_private(message) && !known.contains(&ts(message))).await
}

#[tokio::test]
async fn a_question_outside_the_channels_scope_is_refused_before_anything_is_asked() {
    let mut world = World::new(&script()).await;
    let scope = Scope { resource_groups: vec!["rg-web".to_owned()], ..Scope::default() };
    let place = Place { scope: Some(scope), ..settings().anywhere };
    world.settings.channels = BTreeMap::from([(NETWORK.to_owned(), place)]);
    let bot = world.bot().await;
    let root = world.mention("alice", "db-1 in resource group rg-db is slow").await;
    let refused = world.sees("alice", &root, "a refusal", is_private).await;
    assert!(refused.to_string().contains("rg-db"), "{refused}");
    assert_eq!(world.store.list(None, 9).await.unwrap(), []);
    let root = world.mention("alice", "web-1 in resource group rg-web is slow").await;
    world.reads("alice", &root, "Inconclusive").await;
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_direct_message_is_a_session() {
    let world = World::new(&script()).await;
    let bot = world.bot().await;
    let said = json!({"user": "alice", "channel": "@ghost", "text": "the link to web-1 is down"});
    let answer = world.slack.person("message", said).await;
    let (channel, root) = (answer["channel"].as_str().unwrap().to_owned(), ts(&answer));
    world
        .until("the report", async || {
            let seen = world.look("thread", &[("user", "alice"), ("channel", &channel), ("ts", &root)]).await;
            let all = seen.get("messages")?.as_array()?;
            all.iter().any(|message| text(message).starts_with("Inconclusive")).then_some(())
        })
        .await;
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn commands_answer_only_whoever_typed_them() {
    let world = World::new(&script()).await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link to web-1 is down").await;
    world.reads("alice", &root, "Inconclusive").await;
    for (typed, part) in [
        ("/ghost help", "Mention me"),
        ("/ghost sessions", "ghost-"),
        ("/ghost approvals", "Nothing waits"),
        ("/ghost policy", "rules"),
        ("/ghost freeze", "not yours"),
        ("/ghost nonsense", "Mention me"),
    ] {
        let answer = command(&world, "alice", typed).await;
        assert!(answer.to_string().contains(part), "{typed}: {answer}");
    }
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_command_opens_a_session_below_a_message_of_its_own() {
    let world = World::new(&script()).await;
    let bot = world.bot().await;
    let typed =
        json!({"user": "alice", "channel": NETWORK, "text": "/ghost investigate the link to web-1 is down"});
    assert_eq!(world.slack.person("command", typed).await["ok"], true);
    let asks = in_channel(&world, "bob", NETWORK, |message| text(message).contains("asks:")).await;
    assert!(text(&asks).contains("<@U0LABALICE>"), "{asks}");
    world.reads("bob", &ts(&asks), "Inconclusive").await;
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn the_shortcut_opens_a_session_in_the_thread_of_its_message() {
    let world = World::new(&script()).await;
    let bot = world.bot().await;
    let said = json!({"user": "bob", "channel": NETWORK, "text": "web-1 does not answer"});
    let root = ts(&world.slack.person("message", said).await);
    let used = json!({"user": "alice", "callback_id": "investigate", "channel": NETWORK, "ts": root});
    world.slack.person("shortcut", used).await;
    let view = world
        .until("the dialog", async || {
            Some(world.look("view", &[("user", "alice")]).await)
                .filter(|view| view["callback_id"] == "investigate")
        })
        .await;
    assert!(view.to_string().contains("web-1 does not answer"), "{view}");
    let done =
        world.submit("alice", &view, json!({"symptom": {"symptom": "web-1 does not answer on 443"}})).await;
    assert_eq!(done["ok"], true, "{done}");
    world.reads("bob", &root, "Inconclusive").await;
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn the_home_tab_shows_what_waits_for_me() {
    let world = World::new(&[]).await;
    let asks = format!("echo ran | tee -a {}", world.path("ran"));
    let world = world.plays(&[suppose(), run(&asks), conclude("REFUTED")]);
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    world.card(&root).await;
    for (user, shown) in [("bob", true), ("chloe", false)] {
        world.slack.person("home", json!({"user": user})).await;
        let home = world
            .until("the Home tab", async || {
                Some(world.look("home", &[("user", user)]).await).filter(|view| view["type"] == "home")
            })
            .await;
        assert_eq!(home.to_string().contains("tee -a"), shown, "{user}: {home}");
    }
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn an_alert_of_a_listed_program_opens_a_session_and_another_one_does_not() {
    for listed in [true, false] {
        let mut world = World::new(&script()).await;
        let state = world.look("state", &[]).await;
        let alerts =
            state["apps"].as_array().unwrap().iter().find(|app| app["bot_user_id"] == "U0LABALERT").unwrap();
        let id = alerts["bot_id"].as_str().unwrap().to_owned();
        world.settings.alert_bots = BTreeSet::from([if listed { id } else { "B0OTHER".to_owned() }]);
        let bot = world.bot().await;
        let said = json!({"user": "U0LABALERT", "channel": NETWORK, "text": "packet loss on web-1"});
        let root = ts(&world.slack.person("message", said).await);
        if listed {
            world.reads("alice", &root, "Inconclusive").await;
        } else {
            // What comes later was handled later.
            let later = world.mention("alice", "help").await;
            world.sees("alice", &later, "the help", is_private).await;
            assert_eq!(world.store.list(None, 9).await.unwrap(), []);
        }
        bot.stop().await;
        world.end().await;
    }
}

#[tokio::test]
async fn edits_and_deletions_change_nothing() {
    let world = World::new(&script()).await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link to web-1 is down").await;
    world
        .slack
        .person(
            "edit",
            json!({"user": "alice", "channel": NETWORK, "ts": root, "text": "@Ghost other words"}),
        )
        .await;
    let reply = world.reply("bob", &root, "I saw it, too").await;
    world.slack.person("delete", json!({"user": "bob", "channel": NETWORK, "ts": reply})).await;
    world.reads("alice", &root, "Inconclusive").await;
    assert_eq!(world.store.list(None, 9).await.unwrap().len(), 1);
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn whoever_says_stop_gets_what_there_is() {
    let world = World::new(&[]).await;
    let asks = format!("echo ran | tee -a {}", world.path("ran"));
    let world = world.plays(&[suppose(), run(&asks), conclude("REFUTED")]);
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    world.reply("chloe", &root, "stop").await;
    world.reads("alice", &root, "Inconclusive").await;
    let after =
        world.sees("alice", &root, "the card as it ended", |message| message["ts"] == card["ts"]).await;
    assert!(!has_button(&after, "approve"), "{after}");
    assert!(!std::path::Path::new(&world.path("ran")).exists());
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_guests_click_counts_for_nothing() {
    let world = World::new(&[]).await;
    let asks = format!("echo ran | tee -a {}", world.path("ran"));
    let mut world = world.plays(&[suppose(), run(&asks), conclude("REFUTED")]);
    // Even where the configuration names the guest.
    world.settings.anywhere.approvers.change.users.insert("U0LABGUEST".to_owned());
    let bot = world.bot().await;
    let said = json!({"user": "alice", "channel": GENERAL, "text": "@Ghost the link is down"});
    let root = ts(&world.slack.person("message", said).await);
    let place = [("user", "gus"), ("channel", GENERAL), ("ts", root.as_str())];
    let find = async |wanted: &dyn Fn(&Value) -> bool| {
        world
            .until("a message", async || {
                let seen = world.look("thread", &place).await;
                seen.get("messages")?.as_array()?.iter().find(|message| wanted(message)).cloned()
            })
            .await
    };
    let card = find(&|message: &Value| has_button(message, "approve")).await;
    for action in ["approve", "deny", "modify"] {
        let press = json!({"user": "gus", "channel": GENERAL, "ts": card["ts"], "action_id": action});
        let pressed = world.slack.person("press", press).await;
        assert!(pressed["view"].is_null(), "{pressed}");
    }
    let refused = find(&|message: &Value| is_private(message)).await;
    assert!(text(&refused).contains("guests"), "{refused}");
    assert!(!std::path::Path::new(&world.path("ran")).exists());
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn what_a_command_prints_calls_nobody_and_forges_nothing() {
    let hostile = "echo '<!channel> <@U0LABBOB01> *bold* [x](http://evil.example) `tick`'";
    let world = World::new(&[suppose(), run(hostile), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    world.press("bob", &card, "approve").await;
    world.reads("alice", &root, "Inconclusive").await;
    for message in world.thread("alice", &root).await.iter().filter(|message| message["user"] == "U0LABGHOST")
    {
        assert!(!text(message).contains("<!channel>"), "{message}");
        for forbidden in ["\"type\":\"broadcast\"", "\"url\":\"http://evil.example"] {
            assert!(!message.to_string().contains(forbidden), "{forbidden}: {message}");
        }
        // Elsewhere than in Markdown nothing is interpreted, and there it stands as code.
        let blocks = message["blocks"].as_array().into_iter().flatten();
        for block in blocks {
            assert_ne!(block["text"]["type"], "mrkdwn", "{block}");
            let markdown = block["text"].as_str().filter(|_| block["type"] == "markdown").unwrap_or_default();
            let link = |event: &Event<'_>| matches!(event, Event::Start(Tag::Link { .. }) | Event::Html(_));
            assert!(!Parser::new(markdown).any(|event| link(&event)), "{markdown}");
        }
    }
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn what_goes_on_in_another_channel_is_for_the_people_there() {
    let world = World::new(&script()).await;
    let bot = world.bot().await;
    let said = json!({"user": "alice", "channel": "C0LAB2SECR", "text": "@Ghost the vault is slow"});
    let root = ts(&world.slack.person("message", said).await);
    world
        .until("the report", async || {
            let place = [("user", "alice"), ("channel", "C0LAB2SECR"), ("ts", root.as_str())];
            let seen = world.look("thread", &place).await;
            let all = seen.get("messages")?.as_array()?;
            all.iter().any(|message| text(message).starts_with("Inconclusive")).then_some(())
        })
        .await;
    for (user, shown) in [("alice", true), ("chloe", false)] {
        let answer = command(&world, user, "/ghost sessions").await;
        assert_eq!(answer.to_string().contains("the vault is slow"), shown, "{user}: {answer}");
    }
    bot.stop().await;
    world.end().await;
}
