//! Facts about menus that ask the app, over a socket.

use serde_json::{Value, json};

use crate::lab::stage::{NETWORK, Socket, Stage, quick};

async fn card(stage: &Stage) -> Value {
    stage.person("app", json!({"events": []})).await;
    let blocks = json!([{"type": "actions", "elements": [{"type": "external_select", "action_id": "host"}]}]);
    let card = json!({"channel": NETWORK, "text": "Which host", "blocks": blocks});
    let posted = stage.api("chat.postMessage", card).await;
    let ts = posted.get("ts").unwrap();
    json!({"user": "bob", "channel": NETWORK, "ts": ts, "action_id": "host"})
}

/// Types into the menu while the app answers.
async fn typed(stage: &Stage, socket: &mut Socket, menu: &Value, answer: Value) -> Value {
    let mut args = menu.as_object().unwrap().clone();
    args.insert("value".to_owned(), json!("web"));
    let app = async {
        let envelope = socket.next().await;
        let said = |path: &str| envelope.pointer(path).and_then(Value::as_str).unwrap_or_default();
        assert_eq!(said("/type"), "interactive");
        assert_eq!((said("/payload/type"), said("/payload/value")), ("block_suggestion", "web"));
        socket.acknowledge(&envelope, answer).await;
    };
    let (reported, ()) = tokio::join!(stage.person("options", Value::Object(args)), app);
    reported
}

#[tokio::test]
async fn what_is_typed_into_a_menu_reaches_the_app_and_its_offer_the_person() {
    let stage = Stage::new(quick()).await;
    let mut socket = stage.connect().await;
    socket.next().await;
    let menu = card(&stage).await;
    let options = json!([{"text": {"type": "plain_text", "text": "web-1"}, "value": "1"}]);
    let reported = typed(&stage, &mut socket, &menu, json!({"options": options})).await;
    assert_eq!(reported, json!({"ok": true, "options": options}));
    let reported = typed(&stage, &mut socket, &menu, json!({"options": [{"value": "1"}]})).await;
    assert_eq!(reported["error"], "invalid_options");
    // Too little was typed: the app hears nothing, and the next thing that it hears is another.
    let mut little = menu.clone();
    little["value"] = json!("w");
    assert_eq!(stage.person("options", little).await, json!({"ok": true, "options": []}));
    let reported = typed(&stage, &mut socket, &menu, json!({"option_groups": []})).await;
    assert_eq!(reported, json!({"ok": true, "option_groups": []}));
    stage.end().await;
}

#[tokio::test]
async fn a_menu_without_an_app_says_so() {
    let stage = Stage::new(quick()).await;
    let mut menu = card(&stage).await;
    menu["value"] = json!("web");
    assert_eq!(stage.person("options", menu).await["error"], "dispatch_failed");
    stage.end().await;
}
