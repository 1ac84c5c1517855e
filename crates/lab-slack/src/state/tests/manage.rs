//! Facts about channels that change, and who is in them.

use serde_json::json;

use crate::state::args::Args;
use crate::state::tests::stage::{BOT, GHOST, NETWORK, Stage};

#[test]
fn a_channel_is_made_and_archived() {
    let mut stage = Stage::new();
    let made = stage.ok("conversations.create", json!({"name": "outage-7"}))["channel"].clone();
    assert_eq!((&made["name"], &made["is_member"]), (&json!("outage-7"), &json!(true)));
    let id = &made["id"];
    stage.ok("conversations.archive", json!({"channel": id}));
    assert_eq!(stage.refused("conversations.archive", json!({"channel": id})), "already_archived");
    assert_eq!(stage.refused("chat.postMessage", json!({"channel": id, "text": "x"})), "is_archived");
    let args = Args::of(json!({"user": "alice", "channel": id, "text": "anybody?"}));
    assert_eq!(stage.workspace.write(&args, stage.time()).unwrap_err().code(), "is_archived");
    assert_eq!(stage.kinds(), ["channel_created", "channel_archive"]);
    let general = json!({"channel": "C0LAB1GENE"});
    assert_eq!(stage.refused("conversations.archive", general), "cant_archive_general");
}

#[test]
fn a_private_channel_is_invisible_outside() {
    let mut stage = Stage::new();
    let made = stage.ok("conversations.create", json!({"name": "quiet", "is_private": "true"}));
    assert_eq!(made["channel"]["is_private"], true);
    assert!(stage.events().is_empty());
    stage.ok("conversations.archive", json!({"channel": made["channel"]["id"]}));
    assert_eq!(stage.kinds(), ["group_archive"]);
}

#[test]
fn a_name_that_cannot_be_is_refused_for_its_reason() {
    let mut stage = Stage::new();
    for (name, code) in [
        (json!(""), "invalid_name_required"),
        (json!("x".repeat(81)), "invalid_name_maxlength"),
        (json!("Outage"), "invalid_name_specials"),
        (json!("a b"), "invalid_name_specials"),
        (json!("--"), "invalid_name_punctuation"),
        (json!("general"), "name_taken"),
    ] {
        assert_eq!(stage.refused("conversations.create", json!({"name": name})), code, "{name}");
    }
    stage.workspace.caps.channels = stage.workspace.channels.len();
    assert_eq!(stage.refused("conversations.create", json!({"name": "one-more"})), "cannot_create_channel");
}

#[test]
fn leaving_is_an_event() {
    let mut stage = Stage::new();
    let now = stage.time();
    let leave = |channel: &str| Args::of(json!({"user": "bob", "channel": channel}));
    stage.workspace.person_leaves(&leave(NETWORK), now).unwrap();
    assert_eq!(stage.kinds(), ["member_left_channel"]);
    assert_eq!(stage.workspace.person_leaves(&leave(NETWORK), now).unwrap_err().code(), "not_in_channel");
    let general = stage.workspace.person_leaves(&leave("C0LAB1GENE"), now).unwrap_err();
    assert_eq!(general.code(), "cant_leave_general");
}

#[test]
fn who_an_event_is_for_is_answered() {
    let stage = Stage::new();
    let authorizations = |context: &str| {
        stage.workspace.authorizations_list(GHOST, &Args::of(json!({"event_context": context})))
    };
    assert_eq!(authorizations("4-Ev0LAB000001").unwrap()["authorizations"][0]["user_id"], BOT);
    assert_eq!(authorizations("x").unwrap_err().code(), "invalid_event_context");
}
