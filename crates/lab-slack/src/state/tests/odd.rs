//! Facts about what is odd in Slack: private messages that nobody sees, mentions that are fired again, messages of other clients.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::tests::stage::{BOT, NETWORK, Stage};

const ALICE: &str = "U0LABALICE";

fn seen(stage: &Stage, what: &str, root: &str, since: Option<&str>) -> Vec<String> {
    let args = Args::of(json!({"user": "alice", "channel": NETWORK, "ts": root, "since": since}));
    let seen = match what {
        "thread" => stage.workspace.seen_thread(&args),
        _ => stage.workspace.seen_channel(&args),
    };
    let texts = |message: &Value| message["text"].as_str().unwrap_or_default().to_owned();
    seen.unwrap()["messages"].as_array().unwrap().iter().map(texts).collect()
}

#[test]
fn a_private_message_of_a_thread_is_shown_only_if_the_thread_has_answers() {
    let mut stage = Stage::new();
    let root = stage.says("alice", NETWORK, "@Ghost help");
    let private = |thread: Option<&str>| json!({"channel": NETWORK, "user": ALICE, "text": "for you", "thread_ts": thread});
    stage.ok("chat.postEphemeral", private(Some(&root)));
    assert!(!seen(&stage, "thread", &root, None).contains(&"for you".to_owned()));
    assert!(!seen(&stage, "channel", &root, None).contains(&"for you".to_owned()));
    stage.ok("chat.postEphemeral", private(None));
    assert!(seen(&stage, "channel", &root, None).contains(&"for you".to_owned()));
    stage.ok("chat.postMessage", json!({"channel": NETWORK, "text": "answer", "thread_ts": root}));
    stage.ok("chat.postEphemeral", private(Some(&root)));
    assert!(seen(&stage, "thread", &root, None).contains(&"for you".to_owned()));
    // It is gone when the page is loaded again, and the others are not.
    let later = seen(&stage, "thread", &root, Some("1800000000.000000"));
    assert!(!later.contains(&"for you".to_owned()) && later.contains(&"answer".to_owned()));
}

#[test]
fn a_mention_that_its_author_edits_is_fired_again() {
    let mut stage = Stage::new();
    let ts = stage.says("alice", NETWORK, "@Ghost port 8081");
    drop(stage.events());
    let now = stage.time();
    let edit = json!({"user": "alice", "channel": NETWORK, "ts": ts, "text": "@Ghost port 8080"});
    stage.workspace.rewrite(&Args::of(edit), now).unwrap();
    let events = stage.events();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "app_mention"]);
    assert_eq!(events[0]["subtype"], "message_changed");
    assert_eq!((&events[1]["ts"], &events[1]["edited"]["user"]), (&json!(ts), &json!(ALICE)));
}

#[test]
fn a_message_of_another_client_stands_as_it_came() {
    let mut stage = Stage::new();
    let now = stage.time();
    let raw = json!({"user": ALICE, "text": "", "attachments": [{"is_share": true, "text": "web-1 is down"}],
        "blocks": [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "user", "user_id": BOT}]}]}]});
    let answer =
        stage.workspace.write_raw(&Args::of(json!({"channel": NETWORK, "message": raw})), now).unwrap();
    let kinds = stage.kinds();
    assert!(kinds.contains(&"app_mention".to_owned()), "{kinds:?}");
    let read = stage.ok("conversations.history", json!({"channel": NETWORK, "limit": 1}));
    assert_eq!(read["messages"][0]["attachments"][0]["text"], "web-1 is down");
    let ts = answer["ts"].as_str().unwrap();
    let raw = json!({"bot_id": "B1", "subtype": "bot_message", "text": "[RESOLVED] x"});
    let replaced = json!({"channel": NETWORK, "ts": ts, "message": raw});
    stage.workspace.write_raw(&Args::of(replaced), now).unwrap();
    assert_eq!(stage.kinds(), ["message message_changed"]);
}
