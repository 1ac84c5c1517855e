//! Facts about the other transport: signed requests.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use ghost_base::{Clock as _, Secret, SystemClock};
use ghost_slack::arrive::Arrival;
use ghost_slack::signed::{Received, receive};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::slack::stage::{NETWORK, Stage, card, press, said};

struct Receiver {
    secret: Secret,
    all: watch::Sender<Vec<Arrival>>,
}

async fn receiver(
    State(receiver): State<Arc<Receiver>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    match receive(header, &body, &receiver.secret, SystemClock.now()) {
        Ok(Received::Challenge(challenge)) => (StatusCode::OK, challenge),
        Ok(Received::Probe) => (StatusCode::OK, String::new()),
        Ok(Received::Arrival(arrival)) => {
            receiver.all.send_modify(|all| all.push(*arrival));
            (StatusCode::OK, String::new())
        }
        Err(refused) => (StatusCode::from_u16(refused.status()).unwrap(), refused.to_string()),
    }
}

#[tokio::test]
async fn signed_requests_bring_what_sockets_bring() {
    let stage = Stage::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/slack", listener.local_addr().unwrap());
    let secret = Secret::new(stage.name("SLACK_SIGNING_SECRET"));
    let state = Arc::new(Receiver { secret, all: watch::Sender::new(Vec::new()) });
    let mut tasks = JoinSet::new();
    let router = Router::new().route("/slack", post(receiver)).with_state(state.clone());
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    let set_up = stage.person("app", json!({"request_url": url})).await;
    assert_eq!(set_up["transport"], "http", "{set_up}");
    stage.person("message", json!({"user": "alice", "channel": NETWORK, "text": "@Ghost hello"})).await;
    let ts = card(&stage, "ap-1").await;
    assert_eq!(press(&stage, &ts).await["ok"], true);
    let typed =
        stage.person("command", json!({"user": "alice", "channel": NETWORK, "text": "/ghost status"})).await;
    assert_eq!(typed["ok"], true, "{typed}");
    let wanted = ["ap-1", "status"];
    let there = |all: &Vec<Arrival>| {
        wanted.iter().all(|word| all.iter().any(|one| said(one) == *word))
            && all.iter().any(|one| said(one).ends_with("hello"))
    };
    state.all.subscribe().wait_for(there).await.unwrap();
    // Somebody who does not know the secret is refused.
    let forged =
        stage.http.post(&url).header("x-slack-request-timestamp", "1").header("x-slack-signature", "v0=");
    assert_eq!(forged.body("{}").send().await.unwrap().status().as_u16(), 401);
    stage.end().await;
}
