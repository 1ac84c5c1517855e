//! Facts about connections that go well.

use ghost_slack::arrive::{Arrival, What};
use ghost_slack::socket::{Answer, Settings};
use serde_json::json;

use crate::slack::stage::{App, NETWORK, Stage, Taken, card, eager, press, said};

#[tokio::test]
async fn a_mention_arrives_once_and_is_acknowledged() {
    let stage = Stage::new().await;
    let taken = Taken::all();
    let app = App::connect(&stage, taken.clone(), Settings::default()).await;
    let mention = json!({"user": "alice", "channel": NETWORK, "text": "@Ghost web-1 is slow"});
    let ts = stage.person("message", mention).await["ts"].clone();
    let counts = app.watch.until(|counts| counts.acked == 2).await;
    assert_eq!((counts.taken, counts.refused, counts.latency.iter().sum::<u64>()), (2, 0, 2));
    let all = taken.until(|all| all.len() == 2).await;
    let mention =
        |arrival: &Arrival| if let What::Mention(words) = &arrival.what { Some(words.clone()) } else { None };
    let mentions: Vec<_> = all.iter().filter_map(mention).collect();
    assert_eq!((mentions.len(), json!(mentions[0].ts)), (1, ts));
    assert_ne!(all[0].origin.key, all[1].origin.key);
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn an_acknowledgement_waits_for_the_handler() {
    let stage = Stage::new().await;
    let taken = Taken::holding("slow");
    let app = App::connect(&stage, taken.clone(), Settings { connections: 1, ..Settings::default() }).await;
    stage.whispers("slow").await;
    taken.until(|all| all.len() == 1).await;
    // Others are taken meanwhile, on the same connection.
    stage.whispers("quick").await;
    app.watch.until(|counts| counts.acked == 1).await;
    taken.gate.send_replace(true);
    app.watch.until(|counts| counts.acked >= 2).await;
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn what_arrives_over_one_connection_is_begun_in_order() {
    let stage = Stage::new().await;
    let taken = Taken::all();
    let app = App::connect(&stage, taken.clone(), Settings { connections: 1, ..Settings::default() }).await;
    for number in 0..100 {
        stage.whispers(&format!("{number:03}")).await;
    }
    let all = taken.until(|all| all.len() >= 100).await;
    let first: Vec<String> = all.iter().filter(|arrival| arrival.origin.retry == 0).map(said).collect();
    assert!(first.is_sorted() && first.len() == 100, "{first:?}");
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn what_is_refused_or_panics_comes_again_under_the_same_key() {
    let stage = Stage::new().await;
    let taken = Taken::answering(None, |arrival| match arrival.origin.retry {
        0 => Answer::Refuse,
        1 => panic!("a handler that breaks"),
        _ => Answer::Done,
    });
    let app = App::connect(&stage, taken.clone(), Settings::default()).await;
    stage.whispers("hello").await;
    let counts = app.watch.until(|counts| counts.acked == 1).await;
    assert_eq!((counts.refused, counts.panicked), (1, 1));
    let all = taken.until(|all| all.len() == 3).await;
    assert!(all.iter().all(|arrival| arrival.origin.key == all[0].origin.key));
    assert_eq!(all[1].origin.retry_reason.as_deref(), Some("timeout"));
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn an_answer_travels_in_the_acknowledgement_where_one_is_taken() {
    let stage = Stage::new().await;
    let taken = Taken::answering(None, |_| Answer::With(json!({"text": "two sessions are active"})));
    let app = App::connect(&stage, taken.clone(), Settings::default()).await;
    let typed =
        stage.person("command", json!({"user": "alice", "channel": NETWORK, "text": "/ghost status"})).await;
    assert_eq!(typed["ok"], true, "{typed}");
    let seen = stage.look(&format!("channel?user=alice&channel={NETWORK}")).await;
    assert!(seen["messages"].to_string().contains("two sessions are active"), "{seen}");
    // An event takes no answer; that it was answered does no harm.
    stage.whispers("hello").await;
    app.watch.until(|counts| counts.acked == 2).await;
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn stopping_lets_handlers_end_and_acknowledges_them() {
    let stage = Stage::new().await;
    let taken = Taken::holding("ap-1");
    let app = App::connect(&stage, taken.clone(), eager()).await;
    let ts = card(&stage, "ap-1").await;
    let pressing = async { press(&stage, &ts).await };
    let stopping = async {
        taken.until(|all| all.iter().any(|arrival| said(arrival) == "ap-1")).await;
        let watch = app.watch.clone();
        let ended = app.stopping();
        watch.until(|counts| counts.connected == 0).await;
        taken.gate.send_replace(true);
        ended.await.unwrap().unwrap();
    };
    let (pressed, ()) = tokio::join!(pressing, stopping);
    assert_eq!(pressed["ok"], true, "{pressed}");
    stage.end().await;
}

#[tokio::test]
async fn grid_payloads_arrive_like_any_other() {
    let stage = Stage::new().await;
    let taken = Taken::all();
    let app = App::connect(&stage, taken.clone(), Settings::default()).await;
    stage.fault(json!({"kind": "grid", "on": true})).await;
    let ts = card(&stage, "ap-1").await;
    assert_eq!(press(&stage, &ts).await["ok"], true);
    let all = taken.until(|all| all.iter().any(|arrival| said(arrival) == "ap-1")).await;
    let click = all.iter().find(|arrival| said(arrival) == "ap-1").unwrap();
    assert_eq!(
        (click.origin.team.as_deref(), click.origin.enterprise.as_deref()),
        (None, Some("E0LABORG01"))
    );
    assert!(click.origin.enterprise_install);
    app.end().await;
    stage.end().await;
}
