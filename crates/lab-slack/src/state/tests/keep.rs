//! Facts about how much is kept.

use serde_json::json;

use crate::state::tests::stage::{NETWORK, Stage};

#[test]
fn the_oldest_message_of_a_full_channel_leaves_without_a_word() {
    let mut stage = Stage::new();
    stage.workspace.caps.in_one = 3;
    let names: Vec<String> = (0..5).map(|n| stage.posts(&n.to_string())).collect();
    let history = stage.ok("conversations.history", json!({"channel": NETWORK}));
    let texts: Vec<&str> =
        history["messages"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["4", "3", "2"]);
    let gone = json!({"channel": NETWORK, "ts": names[0], "text": "x"});
    assert_eq!(stage.refused("chat.update", gone), "message_not_found");
    assert!(stage.kinds().iter().all(|kind| kind == "message"));
}

#[test]
fn the_fullest_channel_loses_messages_and_a_quiet_one_does_not() {
    let mut stage = Stage::new();
    stage.workspace.caps.messages = 4;
    stage.says("dan", "general", "quiet");
    for n in 0..9 {
        stage.posts(&n.to_string());
    }
    let count = |stage: &Stage, id: &str| stage.workspace.channels[id].messages.len();
    assert_eq!((count(&stage, "C0LAB1GENE"), count(&stage, NETWORK)), (1, 3));
}

#[test]
fn what_messages_hold_together_has_a_limit_and_is_counted_right() {
    let mut stage = Stage::new();
    stage.workspace.caps.bytes = 100_000;
    for _ in 0..20 {
        stage.posts(&"x".repeat(20_000));
    }
    let place = &stage.workspace.channels[NETWORK];
    assert!(place.weight <= 100_000 && place.messages.len() == 4, "{}", place.weight);
    let names: Vec<String> = place.messages.keys().cloned().collect();
    for ts in &names {
        stage.ok("chat.update", json!({"channel": NETWORK, "ts": ts, "text": "short"}));
    }
    assert!(stage.workspace.channels[NETWORK].weight < 4_000);
    for ts in &names {
        stage.ok("chat.delete", json!({"channel": NETWORK, "ts": ts}));
    }
    assert_eq!(stage.workspace.channels[NETWORK].weight, 0);
}

#[test]
fn one_message_larger_than_everything_may_stay() {
    let mut stage = Stage::new();
    stage.workspace.caps.bytes = 10;
    let ts = stage.posts("longer than that");
    assert_eq!(stage.workspace.channels[NETWORK].messages.keys().collect::<Vec<_>>(), [&ts]);
}

#[test]
fn files_beyond_the_limit_are_refused_and_unfinished_ones_are_forgotten() {
    let mut stage = Stage::new();
    stage.workspace.caps.file_bytes = 100;
    let begin = |length: u64| json!({"filename": "a.txt", "length": length});
    let start = stage.ok("files.getUploadURLExternal", begin(60));
    assert_eq!(stage.refused("files.getUploadURLExternal", begin(60)), "storage_limit_reached");
    let ticket = start["upload_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    assert_eq!(stage.workspace.bytes_came(&ticket, 101).unwrap_err().code(), "storage_limit_reached");
    stage.now += 2 * 60 * 60 * 1000;
    stage.ok("files.getUploadURLExternal", begin(60));
    assert_eq!(stage.workspace.take_gone(), [start["file_id"].as_str().unwrap()]);
}

#[test]
fn an_address_for_answers_is_forgotten_when_there_are_too_many() {
    let mut stage = Stage::new();
    stage.workspace.caps.handles = 3;
    for _ in 0..10 {
        stage.now += 1;
        let now = stage.time();
        stage.workspace.trigger("A0LABGHOST", "U0LABALICE", now);
    }
    assert_eq!(stage.workspace.triggers.len(), 3);
    assert!(stage.workspace.triggers.values().all(|trigger| trigger.born > stage.now - 3));
}
