//! Facts about what a person does to an app's messages and views.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::tests::stage::{NETWORK, Stage};
use crate::state::tests::view::modal;

fn card(stage: &mut Stage) -> String {
    let button = |value: &str| json!({"type": "button", "action_id": "approve", "value": value, "text": {"type": "plain_text", "text": "Approve"}});
    let blocks = json!([{"type": "actions", "elements": [button("1")]}, {"type": "actions", "elements": [button("2")]},
        {"type": "section", "text": {"type": "mrkdwn", "text": "*x*"}, "accessory": {"type": "static_select", "action_id": "pick",
            "options": [{"text": {"type": "plain_text", "text": "One"}, "value": "one"}]}}]);
    let answer = stage
        .ok("chat.postMessage", json!({"channel": NETWORK, "text": "Approval needed", "blocks": blocks}));
    answer["ts"].as_str().unwrap().to_owned()
}

fn press(stage: &mut Stage, more: Value) -> Result<Value, String> {
    let now = stage.time();
    let pressed = stage.workspace.press(&Args::of(more), now);
    pressed.map(|pressed| pressed.payload).map_err(|refused| refused.code().to_owned())
}

#[test]
fn a_press_names_the_button_the_message_and_who_pressed() {
    let mut stage = Stage::new();
    let ts = card(&mut stage);
    let payload = press(&mut stage, json!({"user": "bob", "channel": "network-incidents", "ts": ts, "action_id": "approve", "value": "2"})).unwrap();
    assert_eq!(payload["type"], "block_actions");
    assert_eq!(payload["user"]["id"], "U0LABBOB01");
    assert_eq!(payload["actions"][0]["value"], "2");
    assert_eq!(payload["container"]["message_ts"], ts);
    assert_eq!(payload["message"]["text"], "Approval needed");
    assert!(payload["actions"][0]["block_id"].as_str().is_some_and(|id| !id.is_empty()));
    assert_eq!(payload["team"]["id"], "T0LABTEAM1");
    let payload = press(
        &mut stage,
        json!({"user": "bob", "channel": NETWORK, "ts": ts, "action_id": "pick", "value": "one"}),
    )
    .unwrap();
    assert_eq!(payload["actions"][0]["selected_option"]["text"]["text"], "One");
}

#[test]
fn what_is_not_there_cannot_be_pressed() {
    let mut stage = Stage::new();
    let ts = card(&mut stage);
    let at = |action: &str, value: &str, user: &str| json!({"user": user, "channel": NETWORK, "ts": ts, "action_id": action, "value": value});
    assert_eq!(press(&mut stage, at("fly", "1", "bob")).unwrap_err(), "action_not_found");
    assert_eq!(press(&mut stage, at("approve", "3", "bob")).unwrap_err(), "action_not_found");
    assert_eq!(press(&mut stage, at("pick", "two", "bob")).unwrap_err(), "option_not_found");
    assert_eq!(press(&mut stage, at("approve", "1", "paula")).unwrap_err(), "channel_not_found");
    assert_eq!(press(&mut stage, at("approve", "1", "nobody")).unwrap_err(), "user_not_found");
}

#[test]
fn an_installation_of_an_organization_has_no_team() {
    let mut stage = Stage::new();
    stage.workspace.grid = true;
    let ts = card(&mut stage);
    let payload = press(
        &mut stage,
        json!({"user": "bob", "channel": NETWORK, "ts": ts, "action_id": "approve", "value": "1"}),
    )
    .unwrap();
    assert_eq!((&payload["team"], &payload["is_enterprise_install"]), (&Value::Null, &json!(true)));
    assert_eq!(payload["enterprise"]["id"], "E0LABORG01");
}

#[test]
fn a_submission_lacks_nothing_that_is_required() {
    let mut stage = Stage::new();
    let now = stage.time();
    let trigger = stage.workspace.trigger("A0LABGHOST", "U0LABALICE", now);
    let view = stage.ok("views.open", json!({"trigger_id": trigger, "view": modal()}))["view"]["id"].clone();
    let mut submit = |text: &str| {
        let args = json!({"user": "alice", "view_id": view, "values": {"reason": {"text": text}}});
        stage.workspace.submit(&Args::of(args), now).unwrap()
    };
    for text in ["", "no"] {
        assert!(submit(text).unwrap_err().contains_key("reason"), "{text}");
    }
    let payload = submit("because").unwrap().payload;
    assert_eq!(
        payload["view"]["state"]["values"]["reason"]["text"],
        json!({"type": "plain_text_input", "value": "because"})
    );
}

#[test]
fn an_acknowledgement_closes_changes_or_keeps_a_modal() {
    let mut stage = Stage::new();
    let now = stage.time();
    let trigger = stage.workspace.trigger("A0LABGHOST", "U0LABALICE", now);
    let view = stage.ok("views.open", json!({"trigger_id": trigger, "view": modal()}))["view"]["id"].clone();
    let view = view.as_str().unwrap();
    let errors = json!({"response_action": "errors", "errors": {"reason": "too vague"}});
    assert_eq!(stage.workspace.submitted(view, &errors, now).unwrap()["reason"], "too vague");
    let mut other = modal();
    other["title"]["text"] = json!("Other");
    stage.workspace.submitted(view, &json!({"response_action": "update", "view": other}), now).unwrap();
    let args = Args::of(json!({"user": "alice"}));
    assert_eq!(stage.workspace.seen_view(&args).unwrap()["title"]["text"], "Other");
    stage.workspace.submitted(view, &json!({"response_action": "push", "view": modal()}), now).unwrap();
    assert_eq!(stage.workspace.seen_view(&args).unwrap()["previous_view_id"], view);
    stage.workspace.submitted(view, &json!({"response_action": "clear"}), now).unwrap();
    assert_eq!(stage.workspace.seen_view(&args).unwrap(), Value::Null);
}

#[test]
fn an_address_takes_five_answers_in_half_an_hour() {
    let mut stage = Stage::new();
    let ts = card(&mut stage);
    let payload = press(
        &mut stage,
        json!({"user": "bob", "channel": NETWORK, "ts": ts, "action_id": "approve", "value": "1"}),
    )
    .unwrap();
    let secret = payload["response_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let now = stage.time();
    stage.workspace.hooked(&secret, &json!({"replace_original": true, "text": "done"}), now).unwrap();
    assert_eq!(stage.workspace.at(NETWORK, &ts).unwrap().1.text, "done");
    for _ in 0..4 {
        stage.workspace.hooked(&secret, &json!({"text": "only you see this"}), now).unwrap();
    }
    assert_eq!(stage.workspace.hooked(&secret, &json!({"text": "x"}), now).unwrap_err().code(), "used_url");
    assert_eq!(stage.workspace.hooked("x", &json!({"text": "x"}), now).unwrap_err().code(), "invalid_url");
}

#[test]
fn a_command_has_its_words_and_its_place() {
    let mut stage = Stage::new();
    let now = stage.time();
    let mut command = |text: &str| {
        let args = Args::of(json!({"user": "alice", "channel": NETWORK, "text": text}));
        let payload = stage.workspace.command(&args, now).unwrap().payload;
        (payload["command"].as_str().unwrap().to_owned(), payload["text"].as_str().unwrap().to_owned())
    };
    assert_eq!(command("/ghost status  now "), ("/ghost".into(), "status  now".into()));
    assert_eq!(command("status"), ("/ghost".into(), "status".into()));
    assert_eq!(command("/deploy"), ("/deploy".into(), String::new()));
}
