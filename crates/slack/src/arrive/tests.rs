//! Facts about reading what Slack sends.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::arrive::{Arrival, ConversationKind, Farewell, Frame, Press, What, command, event, interactive};

fn callback(inner: &Value) -> Value {
    json!({"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "api_app_id": "A1", "event": inner})
}

fn pressed(arrival: Arrival) -> Press {
    let What::Press(press) = arrival.what else { panic!("{:?} is no press", arrival.what) };
    *press
}

fn click() -> Value {
    json!({
        "type": "block_actions", "team": {"id": "T1"}, "user": {"id": "U1", "team_id": "T1"}, "trigger_id": "1.2.3",
        "channel": {"id": "C1"}, "container": {"message_ts": "5.1", "thread_ts": "5.0", "channel_id": "C1"},
        "message": {"ts": "5.1", "text": "Approve?", "metadata": {"event_type": "x", "event_payload": {"n": {"deep": [1, null]}}}},
        "actions": [{"type": "button", "action_id": "approve", "block_id": "card", "value": "ap-1", "action_ts": "6.0"}],
        "response_url": "https://hooks.slack.com/x",
    })
}

#[test]
fn a_mention_says_who_where_and_in_which_thread() {
    let inner = json!({"type": "app_mention", "user": "U1", "text": "<@U0> web-1 is slow", "channel": "C1", "ts": "1.1", "thread_ts": "1.0"});
    let arrival = event(&callback(&inner));
    assert_eq!((arrival.origin.key.as_str(), arrival.origin.team.as_deref()), ("Ev1", Some("T1")));
    let What::Mention(words) = arrival.what else { panic!("{:?}", arrival.what) };
    assert_eq!((words.user.as_deref(), words.root(), words.is_answer()), (Some("U1"), "1.0", true));
    assert!(words.is_speech());
}

#[test]
fn a_mention_by_a_workflow_has_no_user_and_still_arrives() {
    let inner = json!({"type": "app_mention", "bot_id": "B1", "text": "hi", "channel": "C1", "ts": "1.1"});
    let What::Mention(words) = event(&callback(&inner)).what else { panic!() };
    assert_eq!((words.user, words.bot.unwrap().bot.as_deref()), (None, Some("B1")));
}

#[test]
fn a_message_whose_metadata_is_no_text_keeps_its_words() {
    for payload in [json!({"a": 1, "b": {"c": [true]}}), json!([1]), json!("x"), json!(null)] {
        let inner = json!({"type": "message", "channel": "D1", "ts": "1.1", "user": "U1", "text": "hello",
            "metadata": {"event_type": "ghost", "event_payload": payload}});
        let What::Message(words) = event(&callback(&inner)).what else { panic!() };
        assert_eq!((words.text.as_str(), words.kind), ("hello", ConversationKind::Im));
    }
}

#[test]
fn an_alert_bot_says_it_in_attachments_or_blocks() {
    let inner = json!({"type": "message", "subtype": "bot_message", "bot_id": "B1", "username": "Alerts", "channel": "C1", "ts": "1",
        "attachments": [{"fallback": "unused", "title": "[FIRING] loss", "fields": [{"title": "host", "value": "web-1"}]}],
        "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "5 % loss"}},
            {"type": "rich_text", "elements": [{"elements": [{"type": "text", "text": "since noon"}]}]}]});
    let What::Message(words) = event(&callback(&inner)).what else { panic!() };
    assert_eq!(words.everything(), "5 % loss\nsince noon\n[FIRING] loss\nhost: web-1");
    assert!(words.is_speech());
}

#[test]
fn joining_a_channel_is_no_speech() {
    let inner =
        json!({"type": "message", "subtype": "channel_join", "user": "U1", "channel": "C1", "ts": "1"});
    let What::Message(words) = event(&callback(&inner)).what else { panic!() };
    assert!(!words.is_speech());
}

#[test]
fn edits_deletions_and_tombstones_are_distinguished() {
    let around = |subtype: &str, message: Value| {
        event(&callback(
            &json!({"type": "message", "subtype": subtype, "channel": "C1", "ts": "9", "deleted_ts": "1",
            "message": message, "previous_message": {"ts": "1", "text": "old", "user": "U1"}}),
        ))
        .what
    };
    let What::Edited(edit) = around("message_changed", json!({"ts": "1", "text": "new", "user": "U1"}))
    else {
        panic!()
    };
    assert_eq!((edit.now.ts.as_str(), edit.now.channel.as_str()), ("1", "C1"));
    for (subtype, message) in [
        ("message_deleted", Value::Null),
        ("message_changed", json!({"ts": "1", "subtype": "tombstone", "text": "This message was deleted."})),
    ] {
        let What::Deleted(gone) = around(subtype, message) else { panic!("{subtype}") };
        assert_eq!(
            (gone.channel.as_str(), gone.ts.as_str(), gone.before.unwrap().text.as_str()),
            ("C1", "1", "old")
        );
    }
}

#[test]
fn a_press_says_everything_that_a_decision_needs() {
    let arrival = interactive(&click());
    let key = arrival.origin.key.clone();
    let press = pressed(arrival);
    assert_eq!((press.user.id.as_str(), press.action.action_id.as_str()), ("U1", "approve"));
    assert_eq!(press.action.value.as_deref(), Some("ap-1"));
    assert_eq!((press.message_ts.as_deref(), press.thread_ts.as_deref()), (Some("5.1"), Some("5.0")));
    assert_eq!(press.key, key);
}

#[test]
fn the_same_click_has_the_same_key_and_another_click_another() {
    let key = |change: &dyn Fn(&mut Value)| {
        let mut body = click();
        change(&mut body);
        pressed(interactive(&body)).key
    };
    let one = key(&|_| {});
    assert_eq!(one, key(&|body| body["message"] = Value::Null));
    assert_ne!(one, key(&|body| body["actions"][0]["action_ts"] = json!("6.1")));
    assert_ne!(one, key(&|body| body["user"]["id"] = json!("U2")));
    assert_ne!(one, key(&|body| body["actions"][0]["action_id"] = json!("deny")));
}

#[test]
fn a_grid_installation_names_no_team_and_loses_no_click() {
    let mut body = click();
    body["team"] = Value::Null;
    body["enterprise"] = json!({"id": "E1"});
    body["is_enterprise_install"] = json!(true);
    let arrival = interactive(&body);
    assert_eq!((arrival.origin.team.as_deref(), arrival.origin.enterprise.as_deref()), (None, Some("E1")));
    assert!(arrival.origin.enterprise_install);
    // The team of the one who clicked is read, and not taken for ours.
    assert_eq!(pressed(arrival).user.team.as_deref(), Some("T1"));
}

#[test]
fn no_missing_field_loses_a_click() {
    let whole = click();
    for name in whole.as_object().unwrap().keys() {
        for wrong in [Value::Null, json!(7), json!([]), json!({}), json!("x")] {
            let mut body = whole.clone();
            body[name.as_str()] = wrong.clone();
            let arrival = interactive(&body);
            let seen = matches!(arrival.what, What::Press(_)) || name == "actions" || name == "type";
            assert!(seen, "{name} as {wrong}: {:?}", arrival.what);
            assert!(!arrival.origin.key.is_empty());
        }
    }
}

#[test]
fn a_click_of_an_unknown_kind_is_a_press() {
    let mut body = click();
    body["type"] = json!("block_actions_v2");
    assert_eq!(pressed(interactive(&body)).action.value.as_deref(), Some("ap-1"));
}

#[test]
fn whatever_is_selected_is_read() {
    let mut body = click();
    body["actions"][0] =
        json!({"type": "users_select", "action_id": "who", "action_ts": "6.0", "selected_user": "U9"});
    assert_eq!(pressed(interactive(&body)).action.value.as_deref(), Some("U9"));
    body["actions"][0] =
        json!({"type": "checkboxes", "action_id": "x", "selected_options": [{"value": "a"}, {"value": "b"}]});
    assert_eq!(pressed(interactive(&body)).action.selected, ["a", "b"]);
}

#[test]
fn a_form_is_read_by_block_and_element() {
    let body = json!({"type": "view_submission", "user": {"id": "U1"}, "team": null, "trigger_id": "1", "response_urls": [{"response_url": "u"}, 3],
        "view": {"id": "V1", "callback_id": "deny", "private_metadata": "ap-1", "hash": "h", "state": {"values": {
            "why": {"text": {"type": "plain_text_input", "value": "too risky"}}, "empty": {"text": {"type": "plain_text_input", "value": null}},
            "broken": 7}}}});
    let What::Submit(form) = interactive(&body).what else { panic!() };
    assert_eq!(form.view.values.text("why", "text"), Some("too risky"));
    assert_eq!((form.view.values.text("empty", "text"), form.view.values.text("broken", "x")), (None, None));
    assert_eq!((form.view.private_metadata.as_str(), form.response_urls.len()), ("ap-1", 1));
}

#[test]
fn a_form_that_is_sent_off_again_is_another_one() {
    let body = |trigger: &str| json!({"type": "view_submission", "user": {"id": "U1"}, "trigger_id": trigger, "view": {"id": "V1", "hash": "h"}});
    assert_ne!(interactive(&body("1")).origin.key, interactive(&body("2")).origin.key);
    assert_eq!(interactive(&body("1")).origin.key, interactive(&body("1")).origin.key);
}

#[test]
fn a_command_and_both_shortcuts_arrive() {
    let What::Command(typed) = command(&json!({"command": "/ghost", "text": "status", "user_id": "U1", "channel_id": "D1", "trigger_id": "1"})).what
    else {
        panic!()
    };
    assert_eq!((typed.text.as_str(), typed.kind), ("status", ConversationKind::Im));
    let on = json!({"type": "message_action", "callback_id": "investigate", "user": {"id": "U1"}, "channel": {"id": "C1"},
        "message_ts": "5.1", "message": {"ts": "5.1", "thread_ts": "5.0", "text": "loss"}});
    let What::Shortcut(used) = interactive(&on).what else { panic!() };
    assert_eq!((used.thread_ts.as_deref(), used.message.unwrap().channel.as_str()), (Some("5.0"), "C1"));
    let What::Shortcut(global) =
        interactive(&json!({"type": "shortcut", "callback_id": "x", "user": {"id": "U1"}})).what
    else {
        panic!()
    };
    assert_eq!(global.channel, None);
}

#[test]
fn the_stop_button_names_its_thread() {
    let inner = json!({"type": "agent_session_stopped", "user": "U1", "channel": "C1", "thread_ts": "1.0", "streaming_message_ts": ["2.0"]});
    let What::Stopped(stop) = event(&callback(&inner)).what else { panic!() };
    assert_eq!((stop.thread_ts.as_str(), stop.streams), ("1.0", vec!["2.0".to_owned()]));
}

#[test]
fn people_of_other_organizations_are_marked() {
    let inner = json!({"type": "message", "channel": "C1", "ts": "1", "user": "U2", "text": "x", "user_team": "T2", "source_team": "T2"});
    let mut body = callback(&inner);
    body["is_ext_shared_channel"] = json!(true);
    let arrival = event(&body);
    assert!(arrival.origin.shared);
    let What::Message(words) = arrival.what else { panic!() };
    assert_eq!((words.user_team.as_deref(), words.source_team.as_deref()), (Some("T2"), Some("T2")));
}

#[test]
fn an_event_without_a_name_is_known_again_by_what_it_says() {
    let body = |text: &str| json!({"event": {"type": "message", "channel": "C1", "ts": "1", "text": text}});
    assert_eq!(event(&body("a")).origin.key, event(&body("a")).origin.key);
    assert_ne!(event(&body("a")).origin.key, event(&body("b")).origin.key);
}

#[test]
fn frames_are_distinguished() {
    assert!(matches!(Frame::read(r#"{"type":"hello"}"#), Frame::Hello { connections: None, .. }));
    for (reason, farewell) in [
        ("warning", Farewell::Warning),
        ("refresh_requested", Farewell::Refresh),
        ("link_disabled", Farewell::Disabled),
        ("too_many_websockets", Farewell::TooMany),
        ("tea_time", Farewell::Other("tea_time".to_owned())),
    ] {
        // Without `debug_info`, which nobody needs.
        let frame = json!({"type": "disconnect", "reason": reason}).to_string();
        assert_eq!(Frame::read(&frame), Frame::Disconnect(farewell));
    }
    assert_eq!(Frame::read("{"), Frame::Unreadable);
    assert_eq!(Frame::read(r#"{"type":"news"}"#), Frame::Unknown { kind: "news".to_owned() });
}

#[test]
fn an_envelope_says_which_repetition_it_is_and_whether_it_takes_an_answer() {
    let frame = json!({"type": "interactive", "envelope_id": "e1", "payload": click(), "retry_attempt": 2, "retry_reason": "timeout", "accepts_response_payload": true});
    let Frame::Envelope(envelope) = Frame::read(&frame.to_string()) else { panic!() };
    assert_eq!((envelope.id.as_deref(), envelope.arrival.origin.retry), (Some("e1"), 2));
    assert!(envelope.arrival.origin.accepts_payload);
}

#[test]
fn an_envelope_of_an_unknown_kind_or_without_an_id_still_arrives() {
    for frame in [
        json!({"type": "interactive_v2", "envelope_id": "e1", "payload": click()}),
        json!({"type": "interactive", "payload": click()}),
    ] {
        let Frame::Envelope(envelope) = Frame::read(&frame.to_string()) else { panic!() };
        assert!(matches!(envelope.arrival.what, What::Press(_)));
    }
    let Frame::Envelope(bare) = Frame::read(r#"{"type":"odd","envelope_id":"e1"}"#) else { panic!() };
    assert!(matches!(bare.arrival.what, What::Other { .. }));
}

#[test]
fn a_deep_or_huge_payload_is_read_like_any_other() {
    let mut deep = json!({"type": "section", "text": "bottom"});
    for _ in 0..100 {
        deep = json!({"elements": [deep]});
    }
    let inner = json!({"type": "message", "channel": "C1", "ts": "1", "text": "", "blocks": [deep]});
    let What::Message(words) = event(&callback(&inner)).what else { panic!() };
    assert_eq!(words.everything(), "");
    let huge = "x".repeat(1 << 20);
    let inner = json!({"type": "message", "channel": "C1", "ts": "1", "text": huge});
    let What::Message(words) = event(&callback(&inner)).what else { panic!() };
    assert_eq!(words.text.len(), 1 << 20);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z_]{0,12}".prop_map(Value::from),
        Just(json!("block_actions")),
        Just(json!("message_changed")),
    ];
    let names = prop::sample::select(vec![
        "type",
        "event",
        "payload",
        "actions",
        "user",
        "id",
        "message",
        "container",
        "view",
        "state",
        "values",
        "subtype",
        "team",
        "channel",
        "ts",
        "blocks",
        "text",
        "metadata",
        "previous_message",
        "authorizations",
    ]);
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone(), inner, 0..8)
                .prop_map(|map| map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_comes_has_a_key_and_the_same_one_again(value in any_json()) {
        for arrival in [event(&value), interactive(&value), command(&value)] {
            prop_assert!(!arrival.origin.key.is_empty());
        }
        prop_assert_eq!(event(&value), event(&value));
        prop_assert_eq!(interactive(&value), interactive(&value));
    }

    #[test]
    fn no_frame_is_too_odd_to_read(text in "\\PC{0,200}") {
        let _frame = Frame::read(&text);
    }
}
