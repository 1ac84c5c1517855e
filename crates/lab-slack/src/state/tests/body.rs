//! Facts about the judge of messages and views, wherever they come from.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::tests::stage::{GHOST, NETWORK, Stage};

fn bad() -> Value {
    json!([{"type": "section"}])
}

#[test]
fn bad_blocks_are_refused_with_every_reason_by_every_method() {
    let mut stage = Stage::new();
    let root = stage.says("alice", NETWORK, "@Ghost go");
    let own = stage.posts("x");
    let to = json!({"channel": NETWORK, "thread_ts": root, "recipient_user_id": "U0LABALICE", "recipient_team_id": "T0LABTEAM1"});
    let stream = stage.ok("chat.startStream", to)["ts"].clone();
    let chunk = json!([{"type": "blocks", "blocks": bad()}]);
    for (method, args) in [
        ("chat.postMessage", json!({"channel": NETWORK, "blocks": bad()})),
        ("chat.postEphemeral", json!({"channel": NETWORK, "user": "U0LABBOB01", "blocks": bad()})),
        ("chat.update", json!({"channel": NETWORK, "ts": own, "blocks": bad()})),
        ("chat.scheduleMessage", json!({"channel": NETWORK, "post_at": 1_700_000_100, "blocks": bad()})),
        ("chat.appendStream", json!({"channel": NETWORK, "ts": stream, "chunks": chunk})),
        ("chat.stopStream", json!({"channel": NETWORK, "ts": stream, "blocks": bad()})),
    ] {
        let body = stage.call(method, args).unwrap_err().body();
        assert_eq!(body["error"], "invalid_blocks", "{method}");
        let first = body["errors"][0].to_string();
        assert!(first.contains("must define either `text` or `fields`"), "{method} {first}");
        assert_eq!(
            body["response_metadata"]["messages"][0],
            "[ERROR] must define either `text` or `fields` [json-pointer:/blocks/0/type]",
            "{method}"
        );
    }
}

#[test]
fn attachments_are_judged_and_what_is_pressed_in_them_is_named() {
    let mut stage = Stage::new();
    let bad = json!({"channel": NETWORK, "text": "x", "attachments": [{"blocks": bad()}]});
    assert_eq!(stage.refused("chat.postMessage", bad), "invalid_attachments");
    let many = json!({"channel": NETWORK, "attachments": vec![json!({"text": "x"}); 101]});
    assert_eq!(stage.refused("chat.postMessage", many), "too_many_attachments");
    let button = json!({"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}});
    let attachments = json!([{"color": "good", "blocks": [{"type": "actions", "elements": [button]}]}]);
    let ts = stage
        .ok("chat.postMessage", json!({"channel": NETWORK, "text": "x", "attachments": attachments}))["ts"]
        .clone();
    let args = json!({"user": "bob", "channel": NETWORK, "ts": ts, "action_id": "go"});
    let now = stage.time();
    let payload = stage.workspace.press(&Args::of(args), now).unwrap().payload;
    assert_eq!(
        (&payload["container"]["type"], &payload["container"]["attachment_id"]),
        (&json!("message_attachment"), &json!(1))
    );
    assert!(payload["actions"][0]["block_id"].as_str().is_some_and(|id| !id.is_empty()));
}

#[test]
fn a_text_that_was_cut_is_posted_with_a_warning_that_says_so() {
    let mut stage = Stage::new();
    let answer = stage.ok("chat.postMessage", json!({"channel": NETWORK, "text": "ä".repeat(40_001)}));
    assert_eq!(answer["message"]["text"].as_str().unwrap().chars().count(), 40_000);
    assert_eq!(answer["response_metadata"]["warnings"], json!(["message_truncated"]));
    assert!(answer["response_metadata"]["messages"][0].as_str().unwrap().starts_with("[WARN]"));
}

#[test]
fn an_edit_without_words_is_refused_unless_a_file_is_there() {
    let mut stage = Stage::new();
    let own = stage.posts("x");
    assert_eq!(stage.refused("chat.update", json!({"channel": NETWORK, "ts": own})), "no_text");
    let start = stage.ok("files.getUploadURLExternal", json!({"filename": "a.md", "length": 1}));
    let ticket = start["upload_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    stage.workspace.bytes_came(&ticket, 1).unwrap();
    let done = json!({"files": [{"id": start["file_id"]}], "channel_id": NETWORK});
    stage.ok("files.completeUploadExternal", done);
    let history = stage.ok("conversations.history", json!({"channel": NETWORK}));
    let ts = history["messages"][0]["ts"].clone();
    stage.ok("chat.update", json!({"channel": NETWORK, "ts": ts}));
}

#[test]
fn a_response_through_an_address_is_judged_too() {
    let mut stage = Stage::new();
    let now = stage.time();
    let args = Args::of(json!({"user": "alice", "channel": NETWORK, "text": "status"}));
    let payload = stage.workspace.command(&args, now).unwrap().payload;
    let secret = payload["response_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    for (answer, code) in [
        (json!({"blocks": bad()}), "invalid_blocks"),
        (json!({"text": ""}), "no_text"),
        (json!({"blocks": {}}), "invalid_blocks_format"),
    ] {
        assert_eq!(stage.workspace.hooked(&secret, &answer, now).unwrap_err().code(), code);
    }
}

#[test]
fn a_view_that_is_too_large_is_refused() {
    let mut stage = Stage::new();
    let field = json!({"type": "mrkdwn", "text": "x".repeat(2000)});
    let view =
        json!({"type": "home", "blocks": vec![json!({"type": "section", "fields": vec![field; 10]}); 13]});
    assert_eq!(
        stage.refused("views.publish", json!({"user_id": "U0LABALICE", "view": view})),
        "view_too_large"
    );
    assert!(stage.workspace.app(GHOST).is_ok());
}
