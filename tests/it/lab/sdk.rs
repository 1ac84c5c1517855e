//! Apps on Slack's own SDKs, which cannot tell the workspace from Slack; `tests/sdk` holds them.
//!
//! `GHOST_TEST_WITHOUT=python-sdk` or `js-sdk` runs without one of them.
#![expect(clippy::indexing_slicing, reason = "an answer without the field stops the test")]

use std::time::Duration;

use ghost_lab_slack::Timing;
use serde_json::{Value, json};

use crate::lab::bolt::{Bolt, Sdk, Transport};
use crate::lab::stage::{NETWORK, Stage};

const BOTH: [Transport; 2] = [Transport::Sockets, Transport::Requests];

/// An app is waited for as long as a busy machine may need.
fn patient() -> Timing {
    let long = Duration::from_secs(60);
    Timing { acknowledge: long, view: long, ..Timing::compressed(60) }
}

#[tokio::test]
async fn an_incident_goes_well_with_the_sdk_for_python() {
    incident(Sdk::Python).await;
}

#[tokio::test]
async fn an_incident_goes_well_with_the_sdk_for_javascript() {
    incident(Sdk::JavaScript).await;
}

async fn incident(sdk: Sdk) {
    if sdk.is_left_out() {
        return;
    }
    for transport in BOTH {
        let bolt = Bolt::start(sdk, transport, patient()).await;
        asked_refused_and_reported(&bolt).await;
        bolt.does("fault", json!({"kind": "grid"})).await;
        asked_refused_and_reported(&bolt).await;
        bolt.does("fault", json!({"kind": "grid", "on": false})).await;
        approved_through_the_address_of_the_answer(&bolt).await;
        direct_messages(&bolt).await;
        home_commands_and_shortcuts(&bolt).await;
        views_on_views(&bolt).await;
        assert_eq!(bolt.end().await, Vec::<String>::new(), "{sdk:?} over {transport:?}");
    }
}

/// Mention, buttons, a modal that changes and refuses, the message changed, a whisper, a file.
async fn asked_refused_and_reported(bolt: &Bolt) {
    let root = bolt.mention("restart web-1").await;
    let card = bolt.reply("bob", &root, "Restart web-1?").await;
    let confirm = &card["blocks"][1]["elements"][0]["confirm"];
    assert_eq!(
        (&confirm["title"]["text"], &card["metadata"]["event_type"]),
        (&json!("Sure?"), &json!("asked"))
    );

    let press = json!({"user": "bob", "channel": NETWORK, "ts": card["ts"], "action_id": "refuse"});
    let pressed = bolt.does("press", press).await;
    assert_eq!(pressed["view"]["callback_id"], "refusal", "{pressed}");
    let view = &pressed["view"]["id"];
    let press = json!({"user": "bob", "view_id": view, "action_id": "example", "wait_ms": 0});
    bolt.does("press", press).await;
    let field = "/blocks/0/element/initial_value";
    let began = bolt.until("bob", "view?user=bob", |view| view.pointer(field).cloned()).await;
    assert_eq!(began, "no");
    // What the field began with is sent, and refused.
    let submit = json!({"user": "bob", "view_id": view});
    let refused = bolt.stage.person("submit", submit).await;
    assert_eq!(refused, json!({"ok": false, "errors": {"again": "Please say more."}}));
    let values = json!({"again": {"text": "it carries traffic"}});
    bolt.does("submit", json!({"user": "bob", "view_id": view, "values": values})).await;

    let reported = bolt.reply("bob", &root, "Refused by <@U0LABBOB01>: it carries traffic").await;
    assert_eq!((&reported["ts"], reported["edited"].is_object()), (&card["ts"], true));
    bolt.reply("bob", &root, "Only you see this").await;
    let shared = bolt.reply("alice", &root, "What was said").await;
    assert!(!bolt.replies("alice", &root).await.contains(&"Only you see this".to_owned()));
    let file = &shared["files"][0];
    assert_eq!((&file["name"], &file["title"]), (&json!("refusal.txt"), &json!("Refusal")));
    let url = format!(
        "{}lab/file?user=alice&id={}",
        bolt.stage.name("SLACK_WORKSPACE_URL"),
        file["id"].as_str().unwrap()
    );
    let bytes = bolt.stage.http.get(url).send().await.unwrap().text().await.unwrap();
    assert_eq!(bytes, "it carries traffic");
}

async fn approved_through_the_address_of_the_answer(bolt: &Bolt) {
    let root = bolt.mention("restart web-2").await;
    let card = bolt.reply("bob", &root, "Restart web-1?").await;
    let press =
        json!({"user": "bob", "channel": NETWORK, "ts": card["ts"], "action_id": "approve", "wait_ms": 0});
    bolt.does("press", press).await;
    let new = bolt.reply("bob", &root, "Approved by <@U0LABBOB01>").await;
    assert_eq!(new["ts"], card["ts"]);
}

async fn home_commands_and_shortcuts(bolt: &Bolt) {
    bolt.does("home", json!({"user": "alice", "tab": "home"})).await;
    let greeting = "/blocks/0/text/text";
    let said = bolt.until("alice", "home?user=alice", |home| home.pointer(greeting).cloned()).await;
    assert_eq!(said, "Hello <@U0LABALICE>");

    let seen = |user: &'static str, text: &'static str| async move {
        let look = format!("channel?user={user}&channel={NETWORK}");
        bolt.until(user, &look, |channel| {
            let messages = channel["messages"].as_array().unwrap();
            messages.iter().find(|message| message["text"] == text).cloned()
        })
        .await
    };
    for text in ["/ghost status", "/ghost report"] {
        bolt.does("command", json!({"user": "alice", "channel": NETWORK, "text": text})).await;
    }
    assert_eq!(seen("alice", "All is well").await["is_ephemeral"], true);
    assert_eq!(seen("bob", "/ghost report, for all").await["is_ephemeral"], Value::Null);

    let root = bolt.stage.says("alice", "web-1 is slow").await;
    let quote = json!({"user": "bob", "callback_id": "quote", "channel": NETWORK, "ts": root, "wait_ms": 0});
    bolt.does("shortcut", quote).await;
    let root = root.as_str().unwrap();
    let place = bolt.stage.name("SLACK_WORKSPACE_URL");
    let link = format!("> web-1 is slow\n<{place}archives/{NETWORK}/p{}>", root.replace('.', ""));
    bolt.reply("bob", root, &link).await;
}

/// One view on top of another, one in place of another, none any more; and one that is closed.
async fn views_on_views(bolt: &Bolt) {
    let about = json!({"user": "alice", "callback_id": "about"});
    let first = bolt.does("shortcut", about.clone()).await["view"].clone();
    let on = async |page: &str| {
        bolt.until("alice", "view?user=alice", |view| {
            (view["private_metadata"] == page).then(|| view.clone())
        })
        .await
    };
    let submit = async |view: &Value| {
        bolt.does("submit", json!({"user": "alice", "view_id": view["id"]})).await;
    };
    submit(&first).await;
    let second = on("2").await;
    assert_eq!((&second["root_view_id"], &second["previous_view_id"]), (&first["id"], &first["id"]));
    submit(&second).await;
    let third = on("3").await;
    assert_eq!(third["id"], second["id"]);
    submit(&third).await;
    bolt.until("alice", "view?user=alice", |view| view.is_null().then_some(())).await;

    let again = bolt.does("shortcut", about).await["view"].clone();
    bolt.does("close", json!({"user": "alice", "view_id": again["id"]})).await;
    said_directly(bolt, "Closed on page 1").await;
}

/// A direct message, and which events the app receives about its own messages, a change and a deletion.
async fn direct_messages(bolt: &Bolt) {
    let said = bolt.does("message", json!({"user": "alice", "channel": "@ghost", "text": "ping"})).await;
    said_directly(bolt, "pong, <@U0LABALICE>").await;
    let (channel, ts) = (&said["channel"], &said["ts"]);
    let new = json!({"user": "alice", "channel": channel, "ts": ts, "text": "never mind"});
    bolt.does("edit", new).await;
    bolt.does("delete", json!({"user": "alice", "channel": channel, "ts": ts})).await;
}

async fn said_directly(bolt: &Bolt, text: &str) {
    let direct = bolt.does("open", json!({"user": "alice", "with": "@ghost"})).await;
    let look = format!("channel?user=alice&channel={}", direct["channel"].as_str().unwrap());
    bolt.until("alice", &look, |channel| {
        channel["messages"].as_array().unwrap().iter().find(|message| message["text"] == text).map(|_| ())
    })
    .await;
}

#[tokio::test]
async fn an_sdk_with_another_secret_does_not_take_a_request() {
    for sdk in [Sdk::Python, Sdk::JavaScript].into_iter().filter(|sdk| !sdk.is_left_out()) {
        let stage = Stage::new(patient()).await;
        let (bolt, url) = Bolt::run(stage, sdk, Transport::Requests, "another").await;
        let set = bolt.stage.person("app", json!({"request_url": url})).await;
        assert_eq!(set["error"], "url_verification_failed", "{sdk:?}");
        bolt.end().await;
    }
}

#[tokio::test]
async fn the_sdk_for_python_works() {
    sdk_works(Sdk::Python).await;
}

#[tokio::test]
async fn the_sdk_for_javascript_works() {
    sdk_works(Sdk::JavaScript).await;
}

/// What apps ask for page by page, a stream, and a limit that is waited out.
async fn sdk_works(sdk: Sdk) {
    if sdk.is_left_out() {
        return;
    }
    let bolt = Bolt::start(sdk, Transport::Sockets, patient()).await;
    let root = bolt.mention("look around").await;
    bolt.reply("alice", &root, "Ghost met alice in network-incidents: all there, channel_not_found").await;
    let root = bolt.mention("stream").await;
    bolt.reply("alice", &root, "one, two, three").await;
    assert_eq!(bolt.end().await, Vec::<String>::new(), "{sdk:?}");

    let bolt = Bolt::start(sdk, Transport::Sockets, patient()).await;
    let limit = json!({"kind": "rate_limit", "method": "chat.postMessage", "retry_after": 1});
    bolt.does("fault", limit).await;
    let root = bolt.mention("hello").await;
    bolt.reply("alice", &root, "received hello [0 ]").await;
    bolt.end().await;
}

#[tokio::test]
async fn the_sdk_for_python_gets_once_what_it_missed_or_got_twice() {
    once(Sdk::Python, ["timeout", "http_error"]).await;
}

#[tokio::test]
async fn the_sdk_for_javascript_gets_once_what_it_missed_or_got_twice() {
    once(Sdk::JavaScript, ["timeout", "http_timeout"]).await;
}

async fn once(sdk: Sdk, reasons: [&str; 2]) {
    if sdk.is_left_out() {
        return;
    }
    for (transport, reason) in BOTH.into_iter().zip(reasons) {
        // Short enough that no SDK gives up first.
        let timing = Timing { acknowledge: Duration::from_secs(2), ..Timing::compressed(60) };
        let bolt = Bolt::start(sdk, transport, timing).await;
        let missed = bolt.mention("miss this").await;
        let answer = format!("received miss this [1 {reason}]");
        bolt.reply("alice", &missed, &answer).await;
        bolt.does("fault", json!({"kind": "duplicate"})).await;
        let twice = bolt.mention("twice").await;
        bolt.reply("alice", &twice, "received twice [0 ]").await;
        bolt.does("fault", json!({"kind": "redeliver", "count": 2})).await;
        // Whatever came before was handled when this is.
        let last = bolt.mention("the last").await;
        bolt.reply("alice", &last, "received the last [0 ]").await;
        assert_eq!(bolt.replies("alice", &missed).await, [answer]);
        assert_eq!(bolt.replies("alice", &twice).await, ["received twice [0 ]"]);
        bolt.end().await;
    }
}

#[tokio::test]
async fn the_sdk_for_python_loses_nothing_in_a_refresh() {
    refreshed(Sdk::Python).await;
}

#[tokio::test]
async fn the_sdk_for_javascript_loses_nothing_in_a_refresh() {
    refreshed(Sdk::JavaScript).await;
}

#[tokio::test]
async fn the_sdk_for_python_loses_nothing_when_the_line_is_cut() {
    cut(Sdk::Python).await;
}

#[tokio::test]
async fn the_sdk_for_javascript_loses_nothing_when_the_line_is_cut() {
    cut(Sdk::JavaScript).await;
}

async fn cut(sdk: Sdk) {
    if sdk.is_left_out() {
        return;
    }
    let bolt = Bolt::start(sdk, Transport::Sockets, Timing::compressed(60)).await;
    let mut roots = vec![bolt.mention("number 0").await];
    bolt.does("fault", json!({"kind": "cut"})).await;
    roots.push(bolt.mention("number 1").await);
    assert_eq!(received(&bolt, &roots).await, ["received number 0", "received number 1"]);
    bolt.end().await;
}

/// Waits for the one answer in each thread, and leaves the number of the attempt away.
async fn received(bolt: &Bolt, roots: &[String]) -> Vec<String> {
    let mut received = Vec::new();
    for root in roots {
        let look = format!("thread?user=alice&channel={NETWORK}&ts={root}");
        let text = bolt.until("alice", &look, |thread| thread.pointer("/messages/1/text").cloned()).await;
        received.push(text.as_str().unwrap().split(" [").next().unwrap().to_owned());
    }
    received
}

/// The SDK for JavaScript is away for five seconds; what came meanwhile arrives as a retry.
async fn refreshed(sdk: Sdk) {
    if sdk.is_left_out() {
        return;
    }
    let bolt = Bolt::start(sdk, Transport::Sockets, Timing::compressed(60)).await;
    let mut roots = Vec::new();
    for number in 0..12 {
        if number == 4 {
            bolt.does("fault", json!({"kind": "refresh"})).await;
        }
        roots.push(bolt.mention(&format!("number {number}")).await);
    }
    let expected: Vec<String> = (0..12).map(|number| format!("received number {number}")).collect();
    assert_eq!(received(&bolt, &roots).await, expected);
    let root = bolt.mention("restart web-1").await;
    let card = bolt.reply("bob", &root, "Restart web-1?").await;
    let press = json!({"user": "bob", "channel": NETWORK, "ts": card["ts"], "action_id": "refuse"});
    assert_eq!(bolt.does("press", press).await["view"]["callback_id"], "refusal");
    for root in &roots {
        assert_eq!(bolt.replies("alice", root).await.len(), 1);
    }
    // It also says so when it cannot acknowledge, because it left at the warning; but never that the line broke.
    let own = |line: &String| line.contains("Failed to send a message") || line.contains("SMSendWhile");
    let complaints: Vec<String> = bolt.end().await.into_iter().filter(|line| !own(line)).collect();
    assert_eq!(complaints, Vec::<String>::new(), "{sdk:?}");
}
