//! Facts about what time alone brings about.

use serde_json::{Value, json};

use crate::state::tests::stage::{NETWORK, Stage};

const NOW: i64 = 1_700_000_000;

fn at(seconds: i64) -> Value {
    json!({"channel": NETWORK, "text": "later", "post_at": NOW + seconds})
}

#[test]
fn a_scheduled_message_is_posted_when_it_is_due_and_not_before() {
    let mut stage = Stage::new();
    let answer = stage.ok("chat.scheduleMessage", at(100));
    assert_eq!(answer["post_at"], NOW + 100);
    assert_eq!(answer["message"]["text"], "later");
    let listed = stage.ok("chat.scheduledMessages.list", json!({"channel": NETWORK}));
    assert_eq!(listed["scheduled_messages"][0]["id"], answer["scheduled_message_id"]);
    stage.passes(99_999);
    assert!(stage.events().is_empty());
    stage.passes(1);
    let event = stage.events().pop().unwrap();
    assert_eq!((&event["type"], &event["text"]), (&json!("message"), &json!("later")));
    let listed = stage.ok("chat.scheduledMessages.list", json!({}));
    assert_eq!(listed["scheduled_messages"], json!([]));
    stage.passes(100_000);
    assert!(stage.events().is_empty());
}

#[test]
fn a_time_that_is_none_or_past_or_far_is_refused() {
    let mut stage = Stage::new();
    let mut code = |post_at: Value| {
        stage.refused("chat.scheduleMessage", json!({"channel": NETWORK, "text": "x", "post_at": post_at}))
    };
    assert_eq!(code(json!("soon")), "invalid_time");
    assert_eq!(code(json!(NOW)), "time_in_past");
    assert_eq!(code(json!(i64::MAX)), "time_too_far");
    assert_eq!(code(json!(NOW + 121 * 86_400)), "time_too_far");
    assert_eq!(code(Value::Null), "invalid_arguments");
}

#[test]
fn thirty_messages_of_a_channel_fit_into_five_minutes() {
    let mut stage = Stage::new();
    for _ in 0..30 {
        stage.ok("chat.scheduleMessage", at(1_000));
    }
    assert_eq!(stage.refused("chat.scheduleMessage", at(1_000)), "restricted_too_many");
    stage.ok("chat.scheduleMessage", at(2_000));
}

#[test]
fn a_scheduled_message_can_be_taken_back_until_the_last_minute() {
    let mut stage = Stage::new();
    let id = stage.ok("chat.scheduleMessage", at(100))["scheduled_message_id"].clone();
    let delete = json!({"channel": NETWORK, "scheduled_message_id": id});
    let other = json!({"channel": NETWORK, "scheduled_message_id": "Q1"});
    assert_eq!(stage.refused("chat.deleteScheduledMessage", other), "invalid_scheduled_message_id");
    stage.now += 50_000;
    assert_eq!(stage.refused("chat.deleteScheduledMessage", delete.clone()), "invalid_scheduled_message_id");
    stage.now -= 20_000;
    stage.ok("chat.deleteScheduledMessage", delete);
    stage.passes(1_000_000);
    assert!(stage.events().is_empty());
}

#[test]
fn what_cannot_be_posted_any_more_is_dropped() {
    let mut stage = Stage::new();
    stage.ok("chat.scheduleMessage", at(100));
    stage.ok("conversations.archive", json!({"channel": NETWORK}));
    stage.events();
    stage.passes(200_000);
    assert!(stage.events().is_empty());
    assert!(stage.workspace.scheduled.is_empty());
}

#[test]
fn the_words_of_an_agent_vanish_after_two_minutes() {
    let mut stage = Stage::new();
    let root = stage.says("alice", NETWORK, "@Ghost go");
    let set = |status: &str| json!({"channel_id": NETWORK, "thread_ts": root, "status": status});
    let shown = |stage: &Stage| {
        stage.workspace.sessions.values().next().map(|session| session.status.clone()).unwrap()
    };
    stage.ok("assistant.threads.setStatus", set("is looking…"));
    stage.passes(60_000);
    stage.ok("assistant.threads.setStatus", set("is still looking…"));
    stage.passes(119_000);
    assert_eq!(shown(&stage), "is still looking…");
    stage.passes(1_000);
    assert_eq!(shown(&stage), "");
}

#[test]
fn what_is_due_is_known_again_after_a_restart() {
    let mut stage = Stage::new();
    stage.ok("chat.scheduleMessage", at(100));
    let kept = serde_json::to_string(&stage.workspace).unwrap();
    stage.workspace = serde_json::from_str(&kept).unwrap();
    stage.passes(50_000);
    assert!(stage.events().is_empty());
    stage.passes(50_000);
    assert_eq!(stage.kinds(), ["message"]);
}

#[test]
fn a_workspace_that_an_older_program_kept_is_read() {
    let stage = Stage::new();
    let mut kept = serde_json::to_value(&stage.workspace).unwrap();
    kept.as_object_mut().unwrap().remove("scheduled");
    for place in kept["channels"].as_object_mut().unwrap().values_mut() {
        place.as_object_mut().unwrap().remove("weight");
    }
    assert!(serde_json::from_value::<crate::state::Workspace>(kept).is_ok());
}
