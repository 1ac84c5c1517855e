//! Facts about calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ghost_base::Secret;
use ghost_slack::arrive::{ConversationKind, What};
use ghost_slack::block::{SlackModalView, input, markdown, multiline, plain, section};
use ghost_slack::pace::Priority;
use ghost_slack::socket::Settings;
use ghost_slack::web::{
    Address, CallError, Message, Prompt, Response, Roots, SessionState, Settings as WebSettings, Tokens,
    UpdateOutcome, Upload, Web,
};
use serde_json::json;

use crate::slack::stage::{App, NETWORK, Stage, Taken, card, press, said};

#[tokio::test]
async fn a_thread_is_posted_changed_read_and_taken_back() {
    let stage = Stage::new().await;
    let web = stage.web();
    let root = web.post(&Address::channel(NETWORK), &Message::text("root")).await.unwrap();
    let to = Address::thread(NETWORK, &root.ts);
    let message = Message::text("first")
        .with_blocks(vec![markdown("**first**")])
        .with_metadata("ghost_card", &[("id", "ap-1")]);
    let first = web.post(&to, &message).await.unwrap();
    web.post(&to.clone().broadcast(), &Message::text("second")).await.unwrap();
    assert_eq!(
        web.update(&first, &Message::text("changed").with_metadata("ghost_card", &[("id", "ap-1")]))
            .await
            .unwrap(),
        UpdateOutcome::Now
    );
    let (thread, whole) = web.thread(NETWORK, &root.ts, 100).await.unwrap();
    let texts: Vec<&str> = thread.iter().map(|words| words.text.as_str()).collect();
    assert_eq!((texts, whole), (vec!["root", "changed", "second"], true));
    assert_eq!(
        (thread[1].metadata_type.as_deref(), &thread[1].metadata["id"]),
        (Some("ghost_card"), &json!("ap-1"))
    );
    assert_eq!((thread[1].channel.as_str(), thread[1].root()), (NETWORK, root.ts.as_str()));
    assert!(web.permalink(&first).await.unwrap().contains("http"));
    web.react(&root, "eyes").await.unwrap();
    web.react(&root, ":eyes:").await.unwrap();
    web.delete(&first).await.unwrap();
    assert_eq!(web.thread(NETWORK, &root.ts, 100).await.unwrap().0.len(), 2);
    let whisper = web.ephemeral(&to, "U0LABALICE", &Message::text("only you")).await.unwrap();
    assert!(!whisper.is_empty());
    stage.end().await;
}

#[tokio::test]
async fn a_long_thread_is_read_page_by_page_and_no_further_than_wanted() {
    let stage = Stage::new().await;
    let web = stage.web();
    let root = stage.person("message", json!({"user": "alice", "channel": NETWORK, "text": "root"})).await;
    let root = root["ts"].as_str().unwrap();
    for number in 0..230 {
        let answer =
            json!({"user": "bob", "channel": NETWORK, "thread_ts": root, "text": number.to_string()});
        stage.person("message", answer).await;
    }
    let (thread, whole) = web.thread(NETWORK, root, 1000).await.unwrap();
    assert_eq!((thread.len(), whole, thread[230].text.as_str()), (231, true, "229"));
    let (thread, whole) = web.thread(NETWORK, root, 210).await.unwrap();
    assert_eq!((thread.len(), whole), (210, false));
    let history = web.history(NETWORK, None, None, None).await.unwrap();
    assert_eq!(history.messages[0].text, "root");
    stage.end().await;
}

#[tokio::test]
async fn people_groups_and_conversations_are_known() {
    let stage = Stage::new().await;
    let web = stage.web();
    let own = web.auth_test().await.unwrap();
    assert_eq!((own.user.as_str(), own.team.as_deref()), ("U0LABGHOST", Some("T0LABTEAM1")));
    let alice = web.user("U0LABALICE").await.unwrap();
    assert_eq!(
        (alice.name(), alice.tz.as_deref(), alice.is_guest, alice.is_bot),
        ("alice", Some("Europe/Paris"), false, false)
    );
    assert!(web.user("U0LABGUEST").await.unwrap().is_guest);
    let paula = web.user("U0LABPAULA").await.unwrap();
    assert_eq!((paula.team.as_deref(), paula.is_stranger), (Some("T0LABTEAM2"), true));
    assert_eq!(web.user("U0NOBODY").await.unwrap_err().code(), Some("user_not_found"));
    assert_eq!(web.group_members("S0LABONCAL").await.unwrap(), ["U0LABALICE", "U0LABBOB01"]);
    assert_eq!(web.groups().await.unwrap()[0].handle, "on-call");
    assert!(web.conversation("C0LAB3SHAR").await.unwrap().shared);
    let network = web.conversation(NETWORK).await.unwrap();
    assert_eq!(
        (network.name.as_deref(), network.shared, network.member),
        (Some("network-incidents"), false, true)
    );
    let direct = web.open_dm("U0LABALICE").await.unwrap();
    assert!(web.conversation(&direct).await.unwrap().direct);
    stage.end().await;
}

#[tokio::test]
async fn several_files_come_in_one_message_of_a_thread() {
    let stage = Stage::new().await;
    let web = stage.web();
    let root = web.post(&Address::channel(NETWORK), &Message::text("root")).await.unwrap();
    let file = |name: &str, bytes: &[u8]| Upload {
        name: name.to_owned(),
        title: String::new(),
        alt: None,
        bytes: bytes.to_owned(),
    };
    let files = [file("rca.md", b"# RCA"), file("audit.jsonl", b"{}\n")];
    let to = Address::thread(NETWORK, &root.ts);
    let shared = web.upload(&to, &files, "The report").await.unwrap();
    assert_eq!(shared.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["rca.md", "audit.jsonl"]);
    let (thread, _) = web.thread(NETWORK, &root.ts, 10).await.unwrap();
    assert_eq!((thread.len(), thread[1].text.as_str(), thread[1].files.len()), (2, "The report", 2));
    assert!(web.upload(&to, &[], "nothing").await.unwrap().is_empty());
    assert!(web.upload(&to, &[file("empty", b"")], "").await.is_err());
    stage.end().await;
}

#[tokio::test]
async fn a_press_opens_a_modal_that_is_sent_off() {
    let stage = Stage::new().await;
    let web = stage.web();
    let taken = Taken::all();
    let app = App::connect(&stage, taken.clone(), Settings::default()).await;
    let ts = card(&stage, "ap-1").await;
    assert_eq!(press(&stage, &ts).await["ok"], true);
    let all = taken.until(|all| all.iter().any(|one| said(one) == "ap-1")).await;
    let click =
        all.iter().find_map(|one| if let What::Press(press) = &one.what { Some(press) } else { None });
    let click = click.unwrap();
    let modal = |title: &str| {
        let blocks = vec![section("Why?"), input("why", "Reason", multiline("text", "", true), false)];
        let mut modal = SlackModalView::new(plain(title, 24), blocks).with_submit(plain("Send", 24));
        modal.private_metadata = Some("ap-1".to_owned());
        modal
    };
    let view = web.open_view(click.trigger_id.as_deref().unwrap(), modal("Deny")).await.unwrap();
    let submit = json!({"user": "bob", "view_id": view.id, "values": {"why": {"text": "too risky"}}});
    assert_eq!(stage.person("submit", submit).await["ok"], true);
    let is_form = |one: &ghost_slack::arrive::Arrival| matches!(&one.what, What::Submit(form) if form.view.values.text("why", "text") == Some("too risky") && form.view.private_metadata == "ap-1");
    taken.until(|all| all.iter().any(is_form)).await;
    let late = web.open_view(click.trigger_id.as_deref().unwrap(), modal("again")).await.unwrap_err();
    assert!(late.code().is_some(), "{late}");
    let url = click.response_url.clone().unwrap();
    web.respond(&url, &Response::private("noted")).await.unwrap();
    app.end().await;
    stage.end().await;
}

#[tokio::test]
async fn an_agent_shows_its_work_and_an_unknown_method_is_asked_once() {
    let stage = Stage::new().await;
    let web = stage.web();
    let root = web.post(&Address::channel(NETWORK), &Message::text("root")).await.unwrap();
    web.set_status(NETWORK, &root.ts, "is measuring the path…", &["ping".to_owned()]).await.unwrap();
    web.session_status(NETWORK, &root.ts, SessionState::Processing).await.unwrap();
    let seen = stage.look(&format!("thread?user=alice&channel={NETWORK}&ts={}", root.ts)).await;
    assert_eq!(
        (&seen["session"]["status"], &seen["session"]["can_stop"]),
        (&json!("is measuring the path…"), &json!(true))
    );
    let direct = web.open_dm("U0LABALICE").await.unwrap();
    let prompts = [Prompt { title: "Slow".to_owned(), message: "web-1 is slow".to_owned() }];
    web.suggest(&direct, "Try", &prompts).await.unwrap();
    let method = "agents.sessions.setStatus";
    stage.fault(json!({"kind": "error", "method": method, "error": "unknown_method"})).await;
    web.session_status(NETWORK, &root.ts, SessionState::Suspended).await.unwrap();
    // It would fail if it were asked again.
    stage.fault(json!({"kind": "error", "method": method, "error": "invalid_arguments"})).await;
    web.session_status(NETWORK, &root.ts, SessionState::Closed).await.unwrap();
    stage.end().await;
}

#[tokio::test]
async fn a_429_delays_a_message_and_loses_none() {
    let stage = Stage::new().await;
    let web = stage.web();
    stage
        .fault(json!({"kind": "rate_limit", "method": "chat.postMessage", "retry_after": 1, "count": 3}))
        .await;
    let to = Address::channel(NETWORK);
    let message = |text: &str| Message::text(text);
    let (one, two, three) = (message("one"), message("two"), message("three"));
    let (one, two, three) = tokio::join!(web.post(&to, &one), web.post(&to, &two), web.post(&to, &three));
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    let history = web.history(NETWORK, None, None, None).await.unwrap();
    assert_eq!(history.messages.len(), 3);
    assert_eq!(web.queue().waiting(), 0);
    stage.end().await;
}

#[tokio::test]
async fn of_many_boards_the_last_one_is_shown_and_tiers_are_kept() {
    let stage = Stage::new().await;
    stage.fault(json!({"kind": "tiers", "on": true})).await;
    let web = stage.web();
    let board = web.post(&Address::channel(NETWORK), &Message::text("board")).await.unwrap();
    let boards = web.at(Priority::Board);
    stage.fault(json!({"kind": "rate_limit", "method": "chat.update", "retry_after": 1})).await;
    let updates = (0..100).map(|number| {
        let (boards, board) = (boards.clone(), board.clone());
        async move { boards.update(&board, &Message::text(format!("step {number}"))).await.unwrap() }
    });
    let shown = futures_util::future::join_all(updates).await;
    assert_eq!(shown.last(), Some(&UpdateOutcome::Now));
    assert!(shown.iter().filter(|shown| **shown == UpdateOutcome::Replaced).count() >= 90, "{shown:?}");
    let seen = web.history(NETWORK, None, None, None).await.unwrap();
    assert_eq!(seen.messages[0].text, "step 99");
    stage.end().await;
}

#[tokio::test]
async fn errors_say_whose_they_are() {
    let stage = Stage::new().await;
    let web = stage.web();
    let to = Address::channel("C0NOWHERE");
    let error = web.post(&to, &Message::text("x")).await.unwrap_err();
    assert_eq!(error.code(), Some("channel_not_found"));
    stage.person("app", json!({"scopes": ["im:read"]})).await;
    let error = web.post(&Address::channel(NETWORK), &Message::text("x")).await.unwrap_err();
    assert!(error.to_string().contains("needed: chat:write"), "{error}");
    stage.fault(json!({"kind": "error", "method": "users.info", "status": 502})).await;
    let error = web.user("U0LABALICE").await.unwrap_err();
    assert!(error.to_string().contains("502"), "{error}");
    stage.end().await;
}

#[tokio::test]
async fn a_call_that_is_never_answered_is_late() {
    let stage = Stage::new().await;
    let mut settings = WebSettings::new(Roots::none().unwrap());
    settings.url = Some(stage.name("SLACK_API_URL").to_owned());
    settings.limit = Duration::from_millis(100);
    let web = Web::new(settings, Arc::new(stage.tokens()));
    stage.fault(json!({"kind": "delay", "method": "users.info", "millis": 600_000})).await;
    let error = web.user("U0LABALICE").await.unwrap_err();
    assert!(matches!(error, CallError::Late { .. }), "{error}");
    stage.end().await;
}

/// Tokens that change after they were read once.
struct Rotating(Mutex<Vec<Secret>>);

impl Tokens for Rotating {
    fn bot(&self) -> Secret {
        let mut left = self.0.lock().unwrap();
        if left.len() > 1 { left.remove(0) } else { left.first().unwrap().clone() }
    }

    fn app(&self) -> Secret {
        Secret::new("")
    }
}

#[tokio::test]
async fn a_token_that_was_changed_is_read_again() {
    let stage = Stage::new().await;
    let mut settings = WebSettings::new(Roots::none().unwrap());
    settings.url = Some(stage.name("SLACK_API_URL").to_owned());
    let tokens = Rotating(Mutex::new(vec![Secret::new("xoxb-old"), stage.tokens().bot]));
    let web = Web::new(settings, Arc::new(tokens));
    assert_eq!(web.auth_test().await.unwrap().user, "U0LABGHOST");
    stage.end().await;
}

#[tokio::test]
async fn a_direct_message_is_known_as_one() {
    let stage = Stage::new().await;
    let taken = Taken::all();
    let app = App::connect(&stage, taken.clone(), Settings::default()).await;
    stage.whispers("hello").await;
    let all = taken.until(|all| all.len() == 1).await;
    let What::Message(words) = &all[0].what else { panic!("{all:?}") };
    assert_eq!((words.kind, words.user.as_deref()), (ConversationKind::Im, Some("U0LABALICE")));
    app.end().await;
    stage.end().await;
}
