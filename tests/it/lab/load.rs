//! Facts about many sockets of many apps while much is said.

use std::collections::BTreeMap;
use std::time::Duration;

use ghost_lab_slack::Timing;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::lab::stage::{Socket, Stage};

const APPS: usize = 4;
const SOCKETS: usize = 10;
const MESSAGES: usize = 500;

/// Times in which a busy machine misses no acknowledgement.
fn patient() -> Timing {
    Timing { acknowledge: Duration::from_secs(600), ..Timing::default() }
}

/// Reads and acknowledges until the connection ends; returns the name and the text of every message.
async fn hear(mut socket: Socket, app: usize) -> (usize, Vec<(String, String)>) {
    let mut received = Vec::new();
    while let Some(envelope) = socket.frame().await {
        let text = |place: &str| envelope.pointer(place).and_then(Value::as_str).map(str::to_owned);
        if text("/payload/event/type").as_deref() == Some("message") {
            assert_eq!(envelope.get("retry_attempt"), Some(&json!(0)));
            received.push((text("/payload/event/ts").unwrap(), text("/payload/event/text").unwrap()));
        }
        if envelope.get("envelope_id").is_some() {
            socket.acknowledge(&envelope, json!({})).await;
        }
    }
    (app, received)
}

#[tokio::test]
async fn forty_sockets_lose_nothing_get_nothing_twice_and_keep_the_order() {
    let stage = Stage::new(patient()).await;
    stage.person("app", json!({"events": []})).await;
    let mut sockets = JoinSet::new();
    for app in 0..APPS {
        let installed =
            stage.person("install", json!({"name": format!("app {app}"), "channels": ["general"]})).await;
        stage.person("app", json!({"app": installed["id"], "events": ["message.channels"]})).await;
        for _ in 0..SOCKETS {
            let mut socket = stage.connect_as(installed["app_token"].as_str().unwrap()).await;
            assert_eq!(socket.next().await["type"], "hello");
            sockets.spawn(hear(socket, app));
        }
    }
    let text = |number: usize| format!("message {number}");
    for number in 0..MESSAGES {
        let reported = json!({"user": "alice", "channel": "general", "text": text(number)});
        assert_eq!(stage.person("message", reported).await["ok"], true);
    }
    // In good order: what was handed to a connection before is read before its end.
    stage.end().await;
    let mut received: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    while let Some(joined) = sockets.join_next().await {
        let (app, row) = joined.unwrap();
        assert!(row.is_sorted_by(|one, next| one.0 < next.0), "a connection received a later message first");
        received.entry(app).or_default().extend(row.into_iter().map(|(_, text)| text));
    }
    let mut expected: Vec<String> = (0..MESSAGES).map(text).collect();
    expected.sort();
    for (app, mut texts) in received {
        texts.sort();
        assert_eq!(texts, expected, "app {app}");
    }
}

#[tokio::test]
async fn an_installed_app_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::open(patient(), Some(folder.path())).await;
    let app = stage.person("install", json!({"name": "Deploy", "channels": ["general"]})).await;
    stage.end().await;
    let stage = Stage::open(patient(), Some(folder.path())).await;
    let mut socket = stage.connect_as(app["app_token"].as_str().unwrap()).await;
    assert_eq!(socket.next().await["connection_info"]["app_id"], app["id"]);
    stage.person("message", json!({"user": "alice", "channel": "general", "text": "@deploy now"})).await;
    let kinds: Vec<Value> = [socket.next().await, socket.next().await]
        .iter()
        .map(|envelope| envelope["payload"]["event"]["type"].clone())
        .collect();
    assert_eq!(kinds, ["message", "app_mention"]);
    stage.end().await;
}
