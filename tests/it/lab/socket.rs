//! Facts about Socket Mode.

use serde_json::{Value, json};

use crate::lab::stage::{NETWORK, Stage, quick};

#[tokio::test]
async fn a_mention_arrives_as_two_envelopes_in_order() {
    let stage = Stage::new(quick()).await;
    let mut socket = stage.connect().await;
    let hello = socket.next().await;
    assert_eq!((&hello["type"], &hello["num_connections"]), (&json!("hello"), &json!(1)));
    assert!(hello["debug_info"]["host"].is_string());
    let ts = stage.says("alice", "@Ghost web-1 is slow").await;
    for kind in ["message", "app_mention"] {
        let envelope = socket.next().await;
        assert_eq!(envelope["type"], "events_api");
        assert_eq!(
            (&envelope["retry_attempt"], &envelope["accepts_response_payload"]),
            (&json!(0), &json!(false))
        );
        let event = &envelope["payload"]["event"];
        assert_eq!((&event["type"], &event["ts"]), (&json!(kind), &ts));
        socket.acknowledge(&envelope, json!({})).await;
    }
    stage.end().await;
}

#[tokio::test]
async fn how_long_an_app_took_is_reported() {
    let stage = Stage::new(quick()).await;
    let mut socket = stage.connect().await;
    socket.next().await;
    stage.says("alice", "@Ghost web-1 is slow").await;
    for _ in 0..2 {
        let envelope = socket.next().await;
        socket.acknowledge(&envelope, json!({})).await;
    }
    let url = format!("{}lab/acknowledged", stage.name("SLACK_WORKSPACE_URL"));
    let reported = loop {
        let reported: Value = stage.http.get(&url).send().await.unwrap().json().await.unwrap();
        if reported["acknowledged"].as_array().unwrap().len() == 2 {
            break reported;
        }
    };
    for (at, kind) in ["message", "app_mention"].iter().enumerate() {
        assert_eq!(reported["acknowledged"][at]["kind"], *kind);
        assert!(reported["acknowledged"][at]["micros"].as_u64().unwrap() > 0);
    }
    stage.end().await;
}

#[tokio::test]
async fn an_event_that_nobody_acknowledges_comes_four_times() {
    let stage = Stage::new(quick()).await;
    let mut socket = stage.connect().await;
    socket.next().await;
    stage.person("message", json!({"user": "alice", "channel": "@ghost", "text": "hello"})).await;
    let mut ids = Vec::new();
    for attempt in 0..4 {
        let envelope = socket.next().await;
        assert_eq!(envelope["retry_attempt"], attempt);
        assert_eq!(envelope["retry_reason"], if attempt == 0 { "" } else { "timeout" });
        ids.push(envelope["payload"]["event_id"].clone());
    }
    assert!(ids.iter().all(|id| *id == ids[0]));
    stage.end().await;
}

#[tokio::test]
async fn an_event_waits_for_an_app_that_comes_later() {
    let stage = Stage::new(quick()).await;
    stage.person("message", json!({"user": "alice", "channel": "@ghost", "text": "hello"})).await;
    let mut socket = stage.connect().await;
    socket.next().await;
    let envelope = socket.next().await;
    assert_eq!(envelope["payload"]["event"]["text"], "hello");
    assert!(envelope["retry_attempt"].as_u64().unwrap() > 0);
    stage.end().await;
}

#[tokio::test]
async fn a_press_opens_a_modal_that_is_refused_once_and_then_taken() {
    let stage = Stage::new(quick()).await;
    let mut socket = stage.connect().await;
    socket.next().await;
    stage.person("app", json!({"events": []})).await;
    let blocks = json!([{"type": "actions", "elements": [{"type": "button", "action_id": "deny", "text": {"type": "plain_text", "text": "Deny"}}]}]);
    let card = stage
        .api("chat.postMessage", json!({"channel": NETWORK, "text": "Approval needed", "blocks": blocks}))
        .await;
    let press = json!({"user": "bob", "channel": NETWORK, "ts": card["ts"], "action_id": "deny"});
    let app = async {
        let envelope = socket.next().await;
        assert_eq!(envelope["type"], "interactive");
        let view = json!({"type": "modal", "title": {"type": "plain_text", "text": "Why"}, "submit": {"type": "plain_text", "text": "Send"},
            "blocks": [{"type": "input", "block_id": "why", "label": {"type": "plain_text", "text": "Why"}, "element": {"type": "plain_text_input", "action_id": "text"}}]});
        let open = json!({"trigger_id": envelope["payload"]["trigger_id"], "view": view});
        assert_eq!(stage.api("views.open", open).await["ok"], true);
        socket.acknowledge(&envelope, Value::Null).await;
    };
    let (pressed, ()) = tokio::join!(stage.person("press", press), app);
    assert_eq!(pressed["ok"], true);
    let submit = json!({"user": "bob", "view_id": pressed["view"]["id"], "values": {"why": {"text": "no"}}});
    for (answer, expected) in [
        (
            json!({"response_action": "errors", "errors": {"why": "say more"}}),
            json!({"ok": false, "errors": {"why": "say more"}}),
        ),
        (json!({}), json!({"ok": true})),
    ] {
        let app = async {
            let envelope = socket.next().await;
            assert_eq!(envelope["payload"]["type"], "view_submission");
            assert_eq!(envelope["payload"]["view"]["state"]["values"]["why"]["text"]["value"], "no");
            socket.acknowledge(&envelope, answer).await;
        };
        let (submitted, ()) = tokio::join!(stage.person("submit", submit.clone()), app);
        assert_eq!(submitted, expected);
    }
    stage.end().await;
}

#[tokio::test]
async fn a_press_without_an_app_is_reported_as_such() {
    let stage = Stage::new(quick()).await;
    let command = json!({"user": "alice", "channel": NETWORK, "text": "/ghost status"});
    assert_eq!(stage.person("command", command.clone()).await["error"], "dispatch_failed");
    let mut socket = stage.connect().await;
    socket.next().await;
    assert_eq!(stage.person("command", command).await["error"], "operation_timeout");
    stage.end().await;
}

#[tokio::test]
async fn after_a_refresh_only_the_new_connection_gets_events() {
    let stage = Stage::new(quick()).await;
    let mut old = stage.connect().await;
    old.next().await;
    stage.person("fault", json!({"kind": "refresh", "at_once": true})).await;
    for reason in ["warning", "refresh_requested"] {
        let frame = old.next().await;
        assert_eq!((&frame["type"], &frame["reason"]), (&json!("disconnect"), &json!(reason)));
        assert!(frame["debug_info"]["host"].is_string());
    }
    let mut new = stage.connect().await;
    new.next().await;
    stage.person("message", json!({"user": "alice", "channel": "@ghost", "text": "hello"})).await;
    assert_eq!(new.next().await["payload"]["event"]["text"], "hello");
    assert_eq!(old.frame().await, None);
    stage.end().await;
}

#[tokio::test]
async fn a_connection_that_the_app_closes_is_closed_at_both_ends() {
    let stage = Stage::new(quick()).await;
    let mut socket = stage.connect().await;
    socket.next().await;
    assert!(socket.leave().await);
    stage.end().await;
}

#[tokio::test]
async fn an_eleventh_connection_is_turned_away_and_each_event_reaches_one() {
    let stage = Stage::new(quick()).await;
    let mut sockets = Vec::new();
    for number in 1..=10 {
        let mut socket = stage.connect().await;
        assert_eq!(socket.next().await["num_connections"], number);
        sockets.push(socket);
    }
    let mut last = stage.connect().await;
    assert_eq!(last.next().await["reason"], "too_many_websockets");
    assert_eq!(last.frame().await, None);
    stage.person("fault", json!({"kind": "cut"})).await;
    for socket in &mut sockets {
        assert_eq!(socket.frame().await, None);
    }
    stage.end().await;
}

#[tokio::test]
async fn a_duplicate_has_the_same_event_and_another_envelope() {
    let stage = Stage::new(quick()).await;
    let mut socket = stage.connect().await;
    socket.next().await;
    stage.person("fault", json!({"kind": "duplicate"})).await;
    stage.person("message", json!({"user": "alice", "channel": "@ghost", "text": "hello"})).await;
    let (one, two) = (socket.next().await, socket.next().await);
    assert_eq!(one["payload"]["event_id"], two["payload"]["event_id"]);
    assert_ne!(one["envelope_id"], two["envelope_id"]);
    stage.end().await;
}
