//! Facts about what ends connections for good, and about handshakes that never end.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::Secret;
use ghost_lab_slack::Timing;
use ghost_slack::socket::{Opener, Settings, Socket, SocketError};
use ghost_slack::web::{CallError, FixedTokens};
use serde_json::json;
use tokio::net::TcpListener;

use crate::slack::stage::{App, Stage, Taken, card, eager, press, quick, said};

#[tokio::test]
async fn a_wrong_token_ends_it_and_says_what_to_do() {
    let stage = Stage::new().await;
    let right = stage.tokens();
    for (app, code) in [
        (Secret::new("xapp-1-wrong"), "invalid_auth"),
        (right.bot.clone(), "not_allowed_token_type"),
        (Secret::new(""), "not_authed"),
    ] {
        let web = stage.web_with(FixedTokens { app, bot: right.bot.clone() });
        let error = App::run(Socket::new(&web, Taken::all(), Settings::default())).fails().await;
        let SocketError::Refused { code: answered, hint } = &error else { panic!("{error}") };
        assert_eq!(answered, code);
        assert!(hint.contains("xapp-") || hint.contains("connections:write"));
    }
    stage.end().await;
}

#[tokio::test]
async fn a_revoked_app_ends_connections_that_stand() {
    let stage = Stage::new().await;
    let app = App::connect(&stage, Taken::all(), eager()).await;
    let error =
        json!({"kind": "error", "method": "apps.connections.open", "error": "account_inactive", "count": 99});
    stage.fault(error).await;
    stage.fault(json!({"kind": "cut"})).await;
    let error = app.fails().await;
    assert!(matches!(error, SocketError::Refused { code, .. } if code == "account_inactive"));
    stage.end().await;
}

#[tokio::test]
async fn what_was_begun_is_acknowledged_even_then() {
    let timing = Timing { drain: Duration::from_secs(30), acknowledge: Duration::from_secs(10), ..quick() };
    let stage = Stage::with(timing).await;
    let taken = Taken::holding("ap-1");
    let app = App::connect(&stage, taken.clone(), eager()).await;
    let ts = card(&stage, "ap-1").await;
    let clicking = async { press(&stage, &ts).await };
    let revoking = async {
        taken.until(|all| all.iter().any(|one| said(one) == "ap-1")).await;
        let error = json!({"kind": "error", "method": "apps.connections.open", "error": "account_inactive", "count": 99});
        stage.fault(error).await;
        stage.fault(json!({"kind": "refresh", "at_once": true})).await;
        app.watch.until(|counts| counts.connected == 0).await;
        taken.gate.send_replace(true);
        app.fails().await
    };
    let (pressed, error) = tokio::join!(clicking, revoking);
    assert_eq!(pressed["ok"], true, "{pressed}");
    assert!(matches!(error, SocketError::Refused { .. }), "{error}");
    stage.end().await;
}

/// Opens every socket at an address where nobody speaks.
struct Mute(u16);

#[async_trait]
impl Opener for Mute {
    async fn open(&self) -> Result<String, CallError> {
        Ok(format!("ws://127.0.0.1:{}/link", self.0))
    }
}

#[tokio::test]
async fn a_handshake_that_nobody_answers_is_given_up() {
    let stage = Stage::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let opener = Arc::new(Mute(listener.local_addr().unwrap().port()));
    let settings = Settings { handshake: Duration::from_millis(100), connections: 1, ..eager() };
    let app = App::run(Socket::with_opener(opener, stage.web().roots().clone(), Taken::all(), settings));
    // The kernel takes the connections; nobody ever reads from them.
    let counts = app.watch.until(|counts| counts.failures >= 3).await;
    assert!(counts.last_failure.unwrap().starts_with("no handshake within"));
    app.end().await;
    stage.end().await;
}
