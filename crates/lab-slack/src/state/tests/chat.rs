//! Facts about messages.

use serde_json::json;

use crate::state::args::Args;
use crate::state::tests::stage::{BOT, NETWORK, Stage};

#[test]
fn a_mention_reaches_the_app_as_a_message_and_as_a_mention() {
    let mut stage = Stage::new();
    let ts = stage.says("alice", "network-incidents", "@Ghost web-1 is slow & <b>");
    let events = stage.events();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0]["type"], "message");
    assert_eq!(events[0]["channel_type"], "channel");
    assert_eq!(events[1]["type"], "app_mention");
    assert_eq!(events[1]["text"], format!("<@{BOT}> web-1 is slow &amp; &lt;b&gt;"));
    assert_eq!(events[1]["ts"], ts);
    assert_eq!(events[1]["blocks"][0]["elements"][0]["elements"][1]["text"], " web-1 is slow & <b>");
    assert!(events[1].get("channel_type").is_none());
}

#[test]
fn two_messages_of_one_moment_have_different_names() {
    let mut stage = Stage::new();
    let names: Vec<String> = (0..5).map(|_| stage.posts("x")).collect();
    assert_eq!(names[0], "1700000000.000000");
    assert_eq!(names[4], "1700000000.000004");
}

#[test]
fn a_thread_counts_its_replies_and_who_wrote_them() {
    let mut stage = Stage::new();
    let root = stage.says("bob", NETWORK, "down");
    for _ in 0..2 {
        stage.ok("chat.postMessage", json!({"channel": NETWORK, "text": "looking", "thread_ts": root}));
    }
    let reply = stage.ok("chat.postMessage", json!({"channel": NETWORK, "text": "found", "thread_ts": root}));
    let replies = stage.ok("conversations.replies", json!({"channel": NETWORK, "ts": root}));
    let messages = replies["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[0]["reply_count"], 3);
    assert_eq!(messages[0]["reply_users"], json!([BOT]));
    assert_eq!(messages[0]["latest_reply"], reply["ts"]);
    assert_eq!(messages[3]["parent_user_id"], "U0LABBOB01");
    let history = stage.ok("conversations.history", json!({"channel": NETWORK}));
    assert_eq!(history["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn a_reply_to_a_reply_goes_below_the_root() {
    let mut stage = Stage::new();
    let root = stage.posts("root");
    let reply = stage.ok("chat.postMessage", json!({"channel": NETWORK, "text": "a", "thread_ts": root}));
    let below =
        stage.ok("chat.postMessage", json!({"channel": NETWORK, "text": "b", "thread_ts": reply["ts"]}));
    assert_eq!(below["message"]["thread_ts"], root);
}

#[test]
fn an_app_changes_only_its_own_messages() {
    let mut stage = Stage::new();
    let other = stage.says("bob", NETWORK, "mine");
    let own = stage.posts("mine");
    assert_eq!(
        stage.refused("chat.update", json!({"channel": NETWORK, "ts": other, "text": "x"})),
        "cant_update_message"
    );
    assert_eq!(stage.refused("chat.delete", json!({"channel": NETWORK, "ts": other})), "cant_delete_message");
    assert_eq!(
        stage.refused("chat.update", json!({"channel": NETWORK, "ts": "1.0", "text": "x"})),
        "message_not_found"
    );
    stage.events();
    let answer = stage.ok("chat.update", json!({"channel": NETWORK, "ts": own, "text": "yours"}));
    assert_eq!(answer["message"]["edited"]["user"], BOT);
    stage.ok("chat.delete", json!({"channel": NETWORK, "ts": own}));
    assert_eq!(stage.kinds(), ["message message_changed", "message message_deleted"]);
}

#[test]
fn a_deleted_root_leaves_a_stone_and_its_replies() {
    let mut stage = Stage::new();
    let root = stage.posts("root");
    stage.ok("chat.postMessage", json!({"channel": NETWORK, "text": "reply", "thread_ts": root}));
    stage.ok("chat.delete", json!({"channel": NETWORK, "ts": root}));
    let replies = stage.ok("conversations.replies", json!({"channel": NETWORK, "ts": root}));
    assert_eq!(replies["messages"][0]["subtype"], "tombstone");
    assert_eq!(replies["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn an_ephemeral_message_is_for_one_person_alone() {
    let mut stage = Stage::new();
    let root = stage.says("alice", NETWORK, "root");
    stage.ok("chat.postMessage", json!({"channel": NETWORK, "text": "answer", "thread_ts": root}));
    stage.events();
    let answer = stage.ok(
        "chat.postEphemeral",
        json!({"channel": NETWORK, "user": "U0LABBOB01", "text": "psst", "thread_ts": root}),
    );
    assert!(stage.events().is_empty());
    let seen = |stage: &Stage, user: &str| {
        let args = Args::of(json!({"user": user, "channel": NETWORK, "ts": root}));
        stage.workspace.seen_thread(&args).unwrap()["messages"].as_array().unwrap().len()
    };
    assert_eq!((seen(&stage, "bob"), seen(&stage, "alice")), (3, 2));
    let update = json!({"channel": NETWORK, "ts": answer["message_ts"], "text": "x"});
    assert_eq!(stage.refused("chat.update", update), "message_not_found");
    let stranger = json!({"channel": NETWORK, "user": "U0LABDAN01", "text": "psst"});
    assert_eq!(stage.refused("chat.postEphemeral", stranger), "user_not_in_channel");
}

#[test]
fn what_is_too_much_is_refused_or_cut_and_said() {
    let mut stage = Stage::new();
    let answer = stage.ok("chat.postMessage", json!({"channel": NETWORK, "text": "x".repeat(40_001)}));
    assert_eq!(answer["warning"], "message_truncated");
    assert_eq!(answer["message"]["text"].as_str().unwrap().len(), 40_000);
    let ts = answer["ts"].clone();
    for (method, args, code) in [
        ("chat.postMessage", json!({"channel": NETWORK}), "no_text"),
        ("chat.postMessage", json!({"channel": NETWORK, "blocks": "{"}), "invalid_blocks_format"),
        ("chat.postMessage", json!({"channel": NETWORK, "blocks": [{}]}), "invalid_blocks"),
        (
            "chat.postMessage",
            json!({"channel": NETWORK, "markdown_text": "x".repeat(12_001)}),
            "msg_too_long",
        ),
        (
            "chat.postMessage",
            json!({"channel": NETWORK, "text": "x", "thread_ts": "5.0"}),
            "thread_not_found",
        ),
        ("chat.postMessage", json!({"channel": "nowhere", "text": "x"}), "channel_not_found"),
        ("chat.postMessage", json!({"channel": "random", "text": "x"}), "not_in_channel"),
        ("chat.postMessage", json!({"text": "x"}), "invalid_arguments"),
        ("chat.update", json!({"channel": NETWORK, "ts": ts, "text": "x".repeat(4001)}), "msg_too_long"),
        ("chat.fly", json!({}), "unknown_method"),
    ] {
        assert_eq!(stage.refused(method, args), code, "{method}");
    }
}

#[test]
fn a_stream_grows_until_it_ends_or_is_too_old() {
    let mut stage = Stage::new();
    let root = stage.says("alice", NETWORK, "@Ghost go");
    let to = json!({"channel": NETWORK, "thread_ts": root, "recipient_user_id": "U0LABALICE", "recipient_team_id": "T0LABTEAM1"});
    assert_eq!(
        stage.refused("chat.startStream", json!({"channel": NETWORK, "thread_ts": root})),
        "missing_recipient_user_id"
    );
    let ts = stage.ok("chat.startStream", to.clone())["ts"].clone();
    for text in ["one ", "two"] {
        stage.ok("chat.appendStream", json!({"channel": NETWORK, "ts": ts, "markdown_text": text}));
    }
    let task = |status: &str| json!({"channel": NETWORK, "ts": ts, "chunks": [{"type": "task_update", "id": "1", "title": "Path", "status": status}]});
    stage.ok("chat.appendStream", task("in_progress"));
    stage.ok("chat.appendStream", task("complete"));
    // While it is written nothing else changes it.
    let other = json!({"channel": NETWORK, "ts": ts, "text": "other"});
    assert_eq!(stage.refused("chat.update", other.clone()), "streaming_state_conflict");
    assert_eq!(stage.refused("chat.delete", other), "cant_delete_message");
    let end = stage.ok("chat.stopStream", json!({"channel": NETWORK, "ts": ts}));
    assert_eq!(end["message"]["text"], "one two");
    assert_eq!(end["message"]["blocks"].as_array().unwrap().len(), 2);
    assert_eq!(end["message"]["blocks"][1]["status"], "complete");
    let late = json!({"channel": NETWORK, "ts": ts, "markdown_text": "late"});
    assert_eq!(stage.refused("chat.appendStream", late), "message_not_in_streaming_state");
    let ts = stage.ok("chat.startStream", to)["ts"].clone();
    stage.now += 5 * 60 * 1000;
    let late = json!({"channel": NETWORK, "ts": ts, "markdown_text": "late"});
    assert_eq!(stage.refused("chat.appendStream", late), "message_not_in_streaming_state");
}

#[test]
fn a_file_is_shared_in_three_steps() {
    let mut stage = Stage::new();
    let start = stage.ok("files.getUploadURLExternal", json!({"filename": "rca.md", "length": "3"}));
    let done = json!({"files": [{"id": start["file_id"], "title": "RCA"}], "channel_id": NETWORK, "initial_comment": "here"});
    assert_eq!(stage.refused("files.completeUploadExternal", done.clone()), "file_not_found");
    let ticket = start["upload_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    stage.workspace.bytes_came(&ticket, 3).unwrap();
    let answer = stage.ok("files.completeUploadExternal", done.clone());
    assert_eq!(answer["files"][0]["title"], "RCA");
    assert_eq!(stage.kinds(), ["message", "file_created", "file_shared"]);
    assert_eq!(stage.refused("files.completeUploadExternal", done), "file_update_failed");
    let info = stage.ok("files.info", json!({"file": start["file_id"]}));
    assert_eq!(info["file"]["shares"]["public"][NETWORK].as_array().unwrap().len(), 1);
    assert_eq!(stage.ok("files.list", json!({"channel": NETWORK}))["paging"]["total"], 1);
    assert_eq!(stage.ok("files.list", json!({"types": "images"}))["paging"]["total"], 0);
    stage.ok("files.delete", json!({"file": start["file_id"]}));
    assert_eq!(stage.kinds(), ["message message_changed", "file_deleted"]);
    assert_eq!(stage.workspace.take_gone(), [start["file_id"].as_str().unwrap()]);
    assert_eq!(stage.refused("files.info", json!({"file": start["file_id"]})), "file_not_found");
}
