//! Facts about channels that change, pins, bookmarks and links.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::tests::stage::{BOT, GHOST, NETWORK, Stage};

#[test]
fn a_channel_is_made_renamed_put_away_and_brought_back() {
    let mut stage = Stage::new();
    let made = stage.ok("conversations.create", json!({"name": "outage-7"}))["channel"].clone();
    assert_eq!((&made["name"], &made["is_member"]), (&json!("outage-7"), &json!(true)));
    let id = &made["id"];
    let renamed = stage.ok("conversations.rename", json!({"channel": id, "name": "outage-8"}));
    assert_eq!(renamed["channel"]["name"], "outage-8");
    let topic = stage.ok("conversations.setTopic", json!({"channel": id, "topic": "web-1"}));
    assert_eq!(topic["channel"]["topic"]["value"], "web-1");
    let purpose = stage.ok("conversations.setPurpose", json!({"channel": id, "purpose": ""}));
    assert_eq!(purpose["purpose"], "");
    stage.ok("conversations.archive", json!({"channel": id}));
    assert_eq!(stage.refused("conversations.setTopic", json!({"channel": id, "topic": "x"})), "is_archived");
    assert_eq!(stage.refused("chat.postMessage", json!({"channel": id, "text": "x"})), "is_archived");
    assert_eq!(stage.refused("conversations.join", json!({"channel": id})), "is_archived");
    let args = Args::of(json!({"user": "alice", "channel": id, "text": "anybody?"}));
    assert_eq!(stage.workspace.write(&args, stage.time()).unwrap_err().code(), "is_archived");
    stage.ok("conversations.unarchive", json!({"channel": id}));
    assert_eq!(
        stage.kinds(),
        [
            "channel_created",
            "channel_rename",
            "message channel_topic",
            "message channel_purpose",
            "channel_archive",
            "channel_unarchive"
        ]
    );
}

#[test]
fn a_private_channel_is_told_of_to_nobody_outside() {
    let mut stage = Stage::new();
    let made = stage.ok("conversations.create", json!({"name": "quiet", "is_private": "true"}));
    assert_eq!(made["channel"]["is_private"], true);
    assert!(stage.events().is_empty());
    stage.ok("conversations.rename", json!({"channel": made["channel"]["id"], "name": "quieter"}));
    assert_eq!(stage.kinds(), ["group_rename"]);
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
fn whoever_leaves_is_told_of_and_an_app_that_leaves_is_told() {
    let mut stage = Stage::new();
    let now = stage.time();
    let args = Args::of(json!({"user": "bob", "channel": NETWORK}));
    stage.workspace.person_leaves(&args, now).unwrap();
    stage.ok("conversations.kick", json!({"channel": NETWORK, "user": "U0LABCHLOE"}));
    assert_eq!(
        stage.refused("conversations.kick", json!({"channel": NETWORK, "user": BOT})),
        "cant_kick_self"
    );
    stage.ok("conversations.leave", json!({"channel": NETWORK}));
    assert_eq!(stage.kinds(), ["member_left_channel", "member_left_channel", "channel_left"]);
    let again = stage.call("conversations.leave", json!({"channel": NETWORK})).unwrap();
    assert_eq!(again, json!({"ok": false, "not_in_channel": true}));
    assert_eq!(stage.refused("conversations.leave", json!({"channel": "C0LAB1GENE"})), "cant_leave_general");
    let mine = stage.ok("users.conversations", json!({"user": "U0LABBOB01"}));
    assert!(mine["channels"].as_array().unwrap().iter().all(|one| one["id"] != NETWORK));
}

#[test]
fn a_message_is_pinned_once_and_looks_it() {
    let mut stage = Stage::new();
    let ts = stage.posts("keep this");
    stage.events();
    let pin = json!({"channel": NETWORK, "timestamp": ts});
    stage.ok("pins.add", pin.clone());
    assert_eq!(stage.refused("pins.add", pin.clone()), "already_pinned");
    let items = stage.ok("pins.list", json!({"channel": NETWORK}))["items"].clone();
    assert_eq!((&items[0]["message"]["text"], &items[0]["created_by"]), (&json!("keep this"), &json!(BOT)));
    assert_eq!(items[0]["message"]["pinned_to"], json!([NETWORK]));
    let args = Args::of(json!({"user": "bob", "channel": NETWORK, "ts": ts, "remove": true}));
    stage.workspace.person_pins(&args, stage.time()).unwrap();
    assert_eq!(stage.refused("pins.remove", pin), "no_pin");
    let events = stage.events();
    assert_eq!((&events[0]["type"], &events[0]["pin_count"]), (&json!("pin_added"), &json!(1)));
    assert_eq!((&events[1]["type"], &events[1]["has_pins"]), (&json!("pin_removed"), &json!(false)));
    for (args, code) in [
        (json!({"channel": NETWORK}), "no_item_specified"),
        (json!({"channel": NETWORK, "timestamp": "yesterday"}), "bad_timestamp"),
        (json!({"channel": NETWORK, "timestamp": "1.5"}), "message_not_found"),
    ] {
        assert_eq!(stage.refused("pins.add", args), code);
    }
}

#[test]
fn a_bookmark_is_a_link_above_a_channel() {
    let mut stage = Stage::new();
    let add = |link: &str| json!({"channel_id": NETWORK, "title": "Runbook", "type": "link", "link": link});
    assert_eq!(stage.refused("bookmarks.add", add("javascript:x")), "invalid_link");
    let made = stage.ok("bookmarks.add", add("https://runbook.example/"))["bookmark"].clone();
    let listed = stage.ok("bookmarks.list", json!({"channel_id": NETWORK}));
    assert_eq!(listed["bookmarks"], json!([made]));
    let remove = json!({"channel_id": NETWORK, "bookmark_id": made["id"]});
    stage.ok("bookmarks.remove", remove.clone());
    assert_eq!(stage.refused("bookmarks.remove", remove), "not_found");
}

fn with_domain() -> Stage {
    let mut stage = Stage::new();
    stage.workspace.apps[0].domains = vec!["grafana.example".to_owned()];
    stage
}

#[test]
fn a_link_to_what_an_app_knows_is_told_and_unfurled_below_the_message() {
    let mut stage = with_domain();
    let ts = stage.says(
        "alice",
        NETWORK,
        "see https://eu.grafana.example/d/1?a=1&b=2 and https://other.example/x",
    );
    let event = stage.events().pop().unwrap();
    assert_eq!(event["type"], "link_shared");
    let url = "https://eu.grafana.example/d/1?a=1&amp;b=2";
    assert_eq!(event["links"], json!([{"domain": "grafana.example", "url": url}]));
    let unfurl = json!({"https://eu.grafana.example/d/1?a=1&b=2": {"title": "CPU"}});
    stage.ok(
        "chat.unfurl",
        json!({"unfurl_id": event["unfurl_id"], "source": "conversations_history", "unfurls": unfurl}),
    );
    stage.ok("chat.unfurl", json!({"channel": NETWORK, "ts": ts, "unfurls": unfurl.to_string()}));
    let (_, message) = stage.workspace.at(NETWORK, &ts).unwrap();
    let attachments = message.attachments.as_ref().unwrap().as_array().unwrap();
    assert_eq!((attachments.len(), &attachments[0]["title"]), (1, &json!("CPU")));
    assert_eq!(stage.kinds(), ["message message_changed", "message message_changed"]);
}

#[test]
fn an_unfurl_that_fits_nothing_is_refused() {
    let mut stage = with_domain();
    let ts = stage.says("alice", NETWORK, "https://grafana.example/d/1 https://other.example/x");
    let mut code = |unfurls: Value| {
        stage.refused("chat.unfurl", json!({"channel": NETWORK, "ts": ts, "unfurls": unfurls}))
    };
    assert_eq!(code(Value::Null), "missing_unfurls");
    assert_eq!(code(json!("[")), "invalid_unfurls_format");
    assert_eq!(code(json!({"https://grafana.example/d/2": {}})), "cannot_unfurl_message");
    assert_eq!(code(json!({"https://other.example/x": {}})), "cannot_unfurl_url");
    assert_eq!(code(json!({"https://grafana.example/d/1": {"blocks": 5}})), "cannot_parse_attachment");
    assert_eq!(
        stage.refused("chat.unfurl", json!({"unfurl_id": "x", "source": "composer", "unfurls": {}})),
        "invalid_unfurl_id"
    );
}

#[test]
fn an_app_is_not_told_of_its_own_links_or_of_other_domains() {
    let mut stage = with_domain();
    stage.posts("<https://grafana.example/d/1>");
    stage.says("alice", NETWORK, "https://notgrafana.example/ https://grafana.example.evil/");
    assert!(stage.kinds().iter().all(|kind| kind == "message"));
}

#[test]
fn small_questions_have_small_answers() {
    let mut stage = Stage::new();
    assert_eq!(stage.ok("emoji.list", json!({}))["emoji"], json!({}));
    assert_eq!(stage.ok("users.getPresence", json!({"user": "U0LABBOB01"}))["presence"], "active");
    assert_eq!(stage.ok("dnd.info", json!({}))["dnd_enabled"], false);
    assert_eq!(stage.refused("dnd.teamInfo", json!({})), "invalid_arguments");
    let ts = stage.posts("x");
    stage.ok("reactions.add", json!({"channel": NETWORK, "timestamp": ts, "name": "eyes"}));
    assert_eq!(stage.ok("reactions.list", json!({}))["items"][0]["message"]["ts"], ts);
    assert_eq!(stage.ok("reactions.list", json!({"user": "U0LABBOB01"}))["items"], json!([]));
    stage.ok("conversations.mark", json!({"channel": NETWORK, "ts": ts}));
    let now = stage.time();
    stage.says("alice", NETWORK, "x");
    let authorizations = |stage: &Stage, context: &str| {
        stage.workspace.authorizations_list(GHOST, &Args::of(json!({"event_context": context})))
    };
    assert_eq!(authorizations(&stage, "4-Ev0LAB000001").unwrap()["authorizations"][0]["user_id"], BOT);
    assert_eq!(authorizations(&stage, "x").unwrap_err().code(), "invalid_event_context");
    stage.workspace.tidy(now);
}
