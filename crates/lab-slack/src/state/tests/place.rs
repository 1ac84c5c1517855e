//! Facts about people, conversations and what an app may do there.

use serde_json::json;

use crate::state::args::Args;
use crate::state::method::{METHODS, method};
use crate::state::tests::stage::{BOT, GHOST, NETWORK, Stage};

#[test]
fn the_first_channel_is_an_ordinary_one_with_the_bot_and_two_full_members() {
    let stage = Stage::new();
    let state = stage.workspace.state(&Args::default()).unwrap();
    let first = &state["channels"][0];
    assert_eq!(
        (&first["is_channel"], &first["is_private"], &first["is_ext_shared"]),
        (&json!(true), &json!(false), &json!(false))
    );
    let members = first["members"].as_array().unwrap();
    assert!(members.contains(&json!(BOT)));
    assert_eq!(state["apps"][0]["bot_user_id"], BOT);
    let full = state["users"].as_array().unwrap().iter().filter(|user| {
        members.contains(&user["id"])
            && user["is_bot"] == false
            && user["is_restricted"] == false
            && user.get("is_external").is_none()
    });
    assert!(full.count() >= 2);
    assert!(!state.to_string().contains("xoxb-"));
}

#[test]
fn guests_and_strangers_differ_from_members() {
    let mut stage = Stage::new();
    let mut info = |id: &str| stage.ok("users.info", json!({"user": id}))["user"].clone();
    assert_eq!(info("U0LABGUEST")["is_restricted"], true);
    let stranger = info("U0LABPAULA");
    assert_eq!(stranger["team_id"], "T0LABTEAM2");
    assert_eq!(info("U0LABALICE")["profile"]["email"], "alice@ghost-lab.example");
    stage.says("paula", "ext-partner", "@Ghost hello");
    let event = stage.events().pop().unwrap();
    assert_eq!((&event["type"], &event["user_team"]), (&json!("app_mention"), &json!("T0LABTEAM2")));
}

#[test]
fn a_call_without_its_scope_says_what_it_needs_and_has() {
    let mut stage = Stage::new();
    stage.workspace.apps[0].scopes = vec!["chat:write".to_owned()];
    let history = method("conversations.history").unwrap();
    let refused =
        stage.workspace.permitted(GHOST, &history, &Args::of(json!({"channel": "C0LAB2SECR"}))).unwrap_err();
    assert_eq!(
        refused.body(),
        json!({"ok": false, "error": "missing_scope", "needed": "groups:history", "provided": "chat:write"})
    );
    stage.workspace.permitted(GHOST, &method("chat.postMessage").unwrap(), &Args::default()).unwrap();
}

#[test]
fn every_method_of_the_table_is_answered() {
    let mut stage = Stage::new();
    for method in METHODS.iter().filter(|method| method.name.contains('.')) {
        if matches!(method.name, "api.test" | "apps.connections.open") {
            continue;
        }
        if let Err(refused) = stage.call(method.name, json!({})) {
            assert_ne!(refused.code(), "unknown_method", "{}", method.name);
        }
    }
}

#[test]
fn a_fresh_app_may_call_every_method() {
    let stage = Stage::new();
    for method in METHODS {
        stage.workspace.permitted(GHOST, method, &Args::default()).unwrap();
    }
}

#[test]
fn a_direct_message_needs_no_mention_and_gets_none() {
    let mut stage = Stage::new();
    stage.says("alice", "@ghost", "status");
    let events = stage.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["channel_type"], "im");
    let open = stage.ok("conversations.open", json!({"users": "U0LABALICE"}));
    assert_eq!(open["channel"]["id"], events[0]["channel"]);
}

#[test]
fn an_app_does_not_learn_of_private_places_that_it_is_not_in() {
    let mut stage = Stage::new();
    let private = stage.workspace.direct(&["U0LABALICE".into(), "U0LABBOB01".into()], stage.time());
    stage.says("alice", &private, "secret");
    assert!(stage.events().is_empty());
    assert_eq!(stage.refused("conversations.info", json!({"channel": private})), "channel_not_found");
    assert_eq!(stage.refused("conversations.history", json!({"channel": "C0LAB4RAND"})), "not_in_channel");
}

#[test]
fn history_has_pages_and_edges() {
    let mut stage = Stage::new();
    let names: Vec<String> = (0..7).map(|n| stage.posts(&n.to_string())).collect();
    let first = stage.ok("conversations.history", json!({"channel": NETWORK, "limit": 3}));
    assert_eq!((&first["has_more"], &first["messages"][0]["text"]), (&json!(true), &json!("6")));
    let cursor = &first["response_metadata"]["next_cursor"];
    let second = stage.ok("conversations.history", json!({"channel": NETWORK, "limit": 3, "cursor": cursor}));
    assert_eq!(second["messages"][0]["text"], "3");
    let edge = stage
        .ok("conversations.history", json!({"channel": NETWORK, "oldest": names[2], "latest": names[4]}));
    assert_eq!(edge["messages"].as_array().unwrap().len(), 1);
    let edge = stage.ok(
        "conversations.history",
        json!({"channel": NETWORK, "oldest": names[2], "latest": names[4], "inclusive": true}),
    );
    assert_eq!(edge["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn a_reaction_is_there_once_for_each() {
    let mut stage = Stage::new();
    let ts = stage.says("alice", NETWORK, "x");
    stage.events();
    let eyes = json!({"channel": NETWORK, "timestamp": ts, "name": "eyes"});
    stage.ok("reactions.add", eyes.clone());
    assert_eq!(stage.refused("reactions.add", eyes.clone()), "already_reacted");
    let args = Args::of(json!({"user": "bob", "channel": NETWORK, "ts": ts, "name": "eyes"}));
    stage.workspace.person_reacts(&args, stage.time()).unwrap();
    assert_eq!(
        stage.ok("reactions.get", json!({"channel": NETWORK, "timestamp": ts}))["message"]["reactions"][0]["count"],
        2
    );
    stage.ok("reactions.remove", eyes.clone());
    assert_eq!(stage.refused("reactions.remove", eyes), "no_reaction");
    assert_eq!(stage.kinds(), ["reaction_added", "reaction_added", "reaction_removed"]);
}

#[test]
fn a_stopped_session_tells_the_app_which_streams_ended() {
    let mut stage = Stage::new();
    let root = stage.says("alice", NETWORK, "@Ghost go");
    let at = json!({"channel_id": NETWORK, "thread_ts": root, "status": "processing"});
    stage.ok("agents.sessions.setStatus", at);
    let to = json!({"channel": NETWORK, "thread_ts": root, "recipient_user_id": "U0LABALICE", "recipient_team_id": "T0LABTEAM1"});
    let stream = stage.ok("chat.startStream", to)["ts"].clone();
    stage.events();
    let args = Args::of(json!({"user": "alice", "channel": NETWORK, "thread_ts": root}));
    stage.workspace.person_stops(&args, stage.time()).unwrap();
    let event = stage.events().pop().unwrap();
    assert_eq!(
        (&event["type"], &event["streaming_message_ts"]),
        (&json!("agent_session_stopped"), &json!([stream]))
    );
}

#[test]
fn an_app_gets_only_the_events_that_it_asked_for() {
    let mut stage = Stage::new();
    stage.workspace.apps[0].events = Some(vec!["app_mention".to_owned(), "message.im".to_owned()]);
    stage.says("alice", NETWORK, "@Ghost hello");
    stage.says("alice", "@ghost", "hello");
    assert_eq!(stage.kinds(), ["app_mention", "message"]);
}
