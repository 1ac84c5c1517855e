//! Facts about connections that go badly.

use std::collections::BTreeSet;
use std::time::Duration;

use ghost_lab_slack::Timing;
use ghost_slack::arrive::Arrival;
use ghost_slack::socket::Settings;
use serde_json::json;

use crate::slack::stage::{App, Stage, Taken, card, eager, press, quick, said};

fn texts(all: &[Arrival]) -> BTreeSet<String> {
    all.iter().map(said).collect()
}

fn keys(all: &[Arrival]) -> BTreeSet<&str> {
    all.iter().map(|arrival| arrival.origin.key.as_str()).collect()
}

/// A click is never sent again, so that every one has to find a connection.
#[tokio::test]
async fn no_click_is_lost_while_connections_are_refreshed() {
    let timing = Timing {
        acknowledge: Duration::from_secs(10),
        warning: Duration::from_secs(2),
        drain: Duration::from_millis(500),
        ..quick()
    };
    let stage = Stage::with(timing).await;
    let taken = Taken::all();
    let app = App::connect(&stage, taken.clone(), eager()).await;
    let ts = card(&stage, "ap-1").await;
    let mut clicks = 0;
    for round in 1..=2 {
        stage.fault(json!({"kind": "refresh"})).await;
        while app.watch.counts().ended < 2 * round || clicks < 100 * round {
            let pressed = press(&stage, &ts).await;
            assert_eq!(pressed["ok"], true, "{pressed}, {:?}", app.watch.counts());
            clicks += 1;
        }
    }
    let all = taken.until(|all| all.iter().filter(|one| said(one) == "ap-1").count() as u64 >= clicks).await;
    let presses: Vec<Arrival> = all.into_iter().filter(|one| said(one) == "ap-1").collect();
    assert_eq!((presses.len() as u64, keys(&presses).len() as u64), (clicks, clicks));
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn no_event_is_lost_through_refreshes_and_cuts() {
    let stage = Stage::new().await;
    let taken = Taken::all();
    let app = App::connect(&stage, taken.clone(), eager()).await;
    for number in 0..300 {
        stage.whispers(&format!("event {number}")).await;
        match number % 60 {
            20 => stage.fault(json!({"kind": "refresh", "at_once": true})).await,
            50 => stage.fault(json!({"kind": "cut"})).await,
            _ => {}
        }
    }
    let all = taken.until(|all| texts(all).len() >= 300).await;
    // What came twice has one key.
    assert_eq!(keys(&all).len(), 300);
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn what_stands_behind_a_farewell_is_read_and_acknowledged() {
    let timing = Timing { drain: Duration::from_secs(30), acknowledge: Duration::from_secs(10), ..quick() };
    let stage = Stage::with(timing).await;
    let taken = Taken::holding("before");
    let app = App::connect(&stage, taken.clone(), Settings { connections: 1, ..eager() }).await;
    let ts = card(&stage, "before").await;
    let clicking = async { press(&stage, &ts).await };
    let refreshing = async {
        taken.until(|all| all.iter().any(|one| said(one) == "before")).await;
        stage.fault(json!({"kind": "refresh", "at_once": true})).await;
        app.watch.until(|counts| counts.reconnects == 1 && counts.connected == 1).await;
        // The old connection is asked for nothing new, and still carries what is due on it.
        taken.gate.send_replace(true);
    };
    let (pressed, ()) = tokio::join!(clicking, refreshing);
    assert_eq!(pressed["ok"], true, "{pressed}");
    assert_eq!(app.watch.counts().unsent, 0);
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn a_silent_connection_is_noticed_and_replaced() {
    let stage = Stage::new().await;
    let taken = Taken::all();
    let settings = Settings {
        ping: Duration::from_millis(50),
        silence: Duration::from_millis(400),
        connections: 1,
        ..eager()
    };
    let app = App::connect(&stage, taken.clone(), settings).await;
    stage.fault(json!({"kind": "silence", "seconds": 3000})).await;
    let counts = app.watch.until(|counts| counts.failures > 0).await;
    assert!(counts.last_failure.unwrap().starts_with("no sign of life"));
    stage.fault(json!({"kind": "clear"})).await;
    stage.whispers("hello again").await;
    taken.until(|all| texts(all).contains("hello again")).await;
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn a_429_is_obeyed_before_a_connection_is_opened() {
    let stage = Stage::new().await;
    stage
        .fault(json!({"kind": "rate_limit", "method": "apps.connections.open", "retry_after": 1, "count": 2}))
        .await;
    let app = App::connect(&stage, Taken::all(), eager()).await;
    let counts = app.watch.counts();
    assert_eq!((counts.failures, counts.connected), (2, 2));
    assert!(counts.last_failure.unwrap().contains("too many calls"));
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn an_unwell_slack_is_asked_again() {
    let stage = Stage::new().await;
    for fault in [
        json!({"kind": "error", "method": "apps.connections.open", "status": 503, "count": 2}),
        json!({"kind": "error", "method": "apps.connections.open", "error": "internal_error", "count": 2}),
    ] {
        stage.fault(fault).await;
    }
    let app = App::connect(&stage, Taken::all(), eager()).await;
    assert_eq!(app.watch.counts().failures, 4);
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn a_duplicate_has_the_same_key_and_a_changed_order_loses_nothing() {
    let stage = Stage::new().await;
    let taken = Taken::all();
    let app = App::connect(&stage, taken.clone(), eager()).await;
    stage.fault(json!({"kind": "duplicate"})).await;
    stage.whispers("twice").await;
    let all = taken.until(|all| all.len() == 2).await;
    assert_eq!(keys(&all).len(), 1);
    stage.fault(json!({"kind": "reorder"})).await;
    stage.whispers("second").await;
    stage.whispers("first").await;
    taken.until(|all| texts(all).len() == 3).await;
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn a_late_redelivery_says_that_it_is_one() {
    let stage = Stage::new().await;
    let taken = Taken::all();
    let app = App::connect(&stage, taken.clone(), eager()).await;
    stage.whispers("hello").await;
    taken.until(|all| all.len() == 1).await;
    stage.fault(json!({"kind": "redeliver"})).await;
    let all = taken.until(|all| all.len() == 2).await;
    assert_eq!((keys(&all).len(), all[1].origin.retry), (1, 3));
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn an_eleventh_connection_waits_for_its_place() {
    let stage = Stage::new().await;
    let taken = Taken::all();
    let app = App::run(ghost_slack::socket::Socket::new(
        &stage.web(),
        taken.clone(),
        Settings { connections: 11, ..eager() },
    ));
    let turned_away = |counts: &ghost_slack::socket::Counts| {
        counts.connected == 10 && counts.last_failure.as_deref().is_some_and(|what| what.contains("too_many"))
    };
    app.watch.until(turned_away).await;
    stage.whispers("hello").await;
    taken.until(|all| all.len() == 1).await;
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn a_slack_that_comes_back_finds_the_app_again() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::open(quick(), 0, Some(folder.path())).await;
    let port = stage.port;
    let taken = Taken::all();
    let app = App::connect(&stage, taken.clone(), eager()).await;
    stage.end().await;
    app.watch.until(|counts| counts.connected == 0 && counts.failures > 2).await;
    let stage = Stage::open(quick(), port, Some(folder.path())).await;
    app.watch.until(|counts| counts.connected == 2).await;
    stage.whispers("back again").await;
    taken.until(|all| texts(all).contains("back again")).await;
    app.end().await;
    stage.end().await;
}
