//! Facts about menus that ask the app, files of a form, closing, and what an agent learns.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::offered;
use crate::state::tests::stage::{BOT, GHOST, NETWORK, Stage};
use crate::state::tests::view::modal;

fn menu(least: Value) -> Value {
    let mut element = json!({"type": "external_select", "action_id": "host"});
    if !least.is_null() {
        element["min_query_length"] = least;
    }
    json!([{"type": "actions", "block_id": "b", "elements": [element]}])
}

fn typed(stage: &mut Stage, least: Value, value: &str) -> Option<Value> {
    let card = json!({"channel": NETWORK, "text": "x", "blocks": menu(least)});
    let ts = stage.ok("chat.postMessage", card)["ts"].clone();
    let args = json!({"user": "bob", "channel": NETWORK, "ts": ts, "action_id": "host", "value": value});
    let now = stage.time();
    stage.workspace.suggest(&Args::of(args), now).unwrap().map(|asked| asked.payload)
}

#[test]
fn an_app_is_asked_for_options_once_enough_is_typed() {
    let mut stage = Stage::new();
    assert_eq!(typed(&mut stage, Value::Null, "we"), None);
    assert_eq!(typed(&mut stage, json!(5), "web-"), None);
    assert!(typed(&mut stage, json!(0), "").is_some());
    let payload = typed(&mut stage, Value::Null, "web").unwrap();
    assert_eq!(payload["type"], "block_suggestion");
    assert_eq!((&payload["value"], &payload["block_id"]), (&json!("web"), &json!("b")));
    assert_eq!(payload["channel"]["id"], NETWORK);
    assert!(payload.get("trigger_id").is_none() && payload.get("response_url").is_none());
}

#[test]
fn only_a_menu_that_asks_is_asked_about() {
    let mut stage = Stage::new();
    let ts = stage.posts("no menu");
    let args = json!({"user": "bob", "channel": NETWORK, "ts": ts, "action_id": "host", "value": "web"});
    assert_eq!(
        stage.workspace.suggest(&Args::of(args), stage.time()).unwrap_err().code(),
        "action_not_found"
    );
}

#[test]
fn what_an_app_offers_is_judged() {
    let option = json!({"text": {"type": "plain_text", "text": "web-1"}, "value": "1"});
    assert_eq!(offered(&json!({"options": [option]})).unwrap(), json!({"ok": true, "options": [option]}));
    let groups = json!([{"label": {"type": "plain_text", "text": "EU"}, "options": [option]}]);
    assert_eq!(offered(&json!({"option_groups": groups})).unwrap()["option_groups"], groups);
    assert_eq!(offered(&json!({"options": []})).unwrap()["options"], json!([]));
    for answer in [
        json!(null),
        json!({}),
        json!({"options": [{"text": "web-1"}]}),
        json!({"options": vec![option.clone(); 101]}),
        json!({"options": [option], "option_groups": groups}),
    ] {
        let refused = offered(&answer).unwrap_err();
        assert_eq!(refused.code(), "invalid_options", "{answer}");
        assert!(refused.body()["response_metadata"]["messages"][0].is_string());
    }
}

#[test]
fn a_choice_is_sent_as_it_was_offered() {
    let mut stage = Stage::new();
    let card = json!({"channel": NETWORK, "text": "x", "blocks": menu(json!(1))});
    let ts = stage.ok("chat.postMessage", card)["ts"].clone();
    let option = json!({"text": {"type": "plain_text", "text": "web-1"}, "value": "1"});
    let mut chosen = |value: &Value| {
        let args = json!({"user": "bob", "channel": NETWORK, "ts": ts, "action_id": "host", "value": value});
        let now = stage.time();
        let pressed = stage.workspace.press(&Args::of(args), now).unwrap().payload;
        pressed["actions"][0]["selected_option"].clone()
    };
    assert_eq!(chosen(&option), option);
    assert_eq!(chosen(&json!("1"))["value"], "1");
}

#[test]
fn a_file_of_a_form_is_the_persons_own_and_reaches_the_app_with_the_form() {
    let mut stage = Stage::new();
    let now = stage.time();
    let upload = Args::of(json!({"user": "alice", "name": "dump.txt"}));
    let (answer, id) = stage.workspace.person_shares(&upload, 5, now).unwrap();
    assert_eq!(answer, json!({"ok": true, "file": id}));
    assert!(stage.events().is_empty());
    let mut view = modal();
    view["blocks"] = json!([{"type": "input", "block_id": "f", "label": {"type": "plain_text", "text": "File"},
        "element": {"type": "file_input", "action_id": "files"}}]);
    let trigger = stage.workspace.trigger(GHOST, "U0LABALICE", now);
    let open = stage.ok("views.open", json!({"trigger_id": trigger, "view": view}))["view"]["id"].clone();
    let mut submit = |files: Value| {
        let args = json!({"user": "alice", "view_id": open, "values": {"f": {"files": files}}});
        stage.workspace.submit(&Args::of(args), now).unwrap()
    };
    assert!(submit(json!([])).unwrap_err().contains_key("f"));
    assert!(submit(json!(["F1"])).unwrap_err().contains_key("f"));
    for files in [json!([id]), json!({"type": "file_input", "files": [{"id": id}]})] {
        let payload = submit(files).unwrap().payload;
        let file = &payload["view"]["state"]["values"]["f"]["files"]["files"][0];
        assert_eq!((&file["name"], &file["size"]), (&json!("dump.txt"), &json!(5)));
    }
}

#[test]
fn a_cleared_stack_is_reported_by_its_lowest_view() {
    let mut stage = Stage::new();
    let now = stage.time();
    let mut view = modal();
    view["notify_on_close"] = json!(true);
    let mut ids = Vec::new();
    for method in ["views.open", "views.push", "views.push"] {
        let trigger = stage.workspace.trigger(GHOST, "U0LABALICE", now);
        ids.push(stage.ok(method, json!({"trigger_id": trigger, "view": view}))["view"]["id"].clone());
    }
    let mut close = |id: &Value, clear: bool| {
        let args = json!({"user": "alice", "view_id": id, "clear": clear});
        stage.workspace.close(&Args::of(args), now).unwrap().unwrap().payload
    };
    let one = close(&ids[2], false);
    assert_eq!((&one["view"]["id"], &one["is_cleared"]), (&ids[2], &json!(false)));
    let all = close(&ids[1], true);
    assert_eq!((&all["view"]["id"], &all["is_cleared"]), (&ids[0], &json!(true)));
    assert_eq!(stage.workspace.seen_view(&Args::of(json!({"user": "alice"}))).unwrap(), Value::Null);
}

#[test]
fn an_agent_learns_what_a_person_views() {
    let mut stage = Stage::new();
    let now = stage.time();
    let look = |channel: Value| Args::of(json!({"user": "alice", "channel": channel}));
    stage.workspace.person_views(&look(json!("general")), now).unwrap();
    stage.workspace.person_views(&look(Value::Null), now).unwrap();
    let other = Args::of(json!({"user": "alice", "app": "A0LABALERT"}));
    assert_eq!(stage.workspace.person_views(&other, now).unwrap_err().code(), "app_not_found");
    let events = stage.events();
    assert_eq!(events[0]["context"]["entities"][0]["value"], "C0LAB1GENE");
    assert_eq!((&events[1]["type"], &events[1]["context"]), (&json!("app_context_changed"), &json!({})));
}

#[test]
fn an_assistant_of_the_older_kind_gets_its_thread_and_its_context() {
    let mut stage = Stage::new();
    let now = stage.time();
    let open = Args::of(json!({"user": "alice", "channel": "general"}));
    let begun = stage.workspace.person_assists(&open, now).unwrap();
    let events = stage.events();
    let started = &events[1];
    assert_eq!((&events[0]["subtype"], &events[0]["user"]), (&json!("assistant_app_thread"), &json!(BOT)));
    assert_eq!(started["type"], "assistant_thread_started");
    assert_eq!(started["assistant_thread"]["thread_ts"], begun["thread_ts"]);
    assert_eq!(started["assistant_thread"]["context"]["channel_id"], "C0LAB1GENE");
    let go = Args::of(json!({"user": "alice", "channel": NETWORK, "thread_ts": begun["thread_ts"]}));
    stage.workspace.person_assists(&go, now).unwrap();
    assert_eq!(stage.kinds(), ["assistant_thread_context_changed"]);
    let nowhere = Args::of(json!({"user": "alice", "thread_ts": "1.0"}));
    assert_eq!(stage.workspace.person_assists(&nowhere, now).unwrap_err().code(), "message_not_found");
}
