//! What `/metrics` tells after a whole conversation, read over a real connection.

use std::net::SocketAddr;
use std::time::Duration;

use ghost_agent::bot::EventSource;
use ghost_agent::http::{Patience, serve};
use ghost_shell::Cancel;
use ghost_slack::socket::Settings as SocketSettings;
use serde_json::json;
use tokio::task::JoinHandle;

use super::stage::{World, is_private, text};
use crate::session::world::{conclude, run, suppose};

/// A bot whose numbers are served.
struct Measured {
    cancel: Cancel,
    task: JoinHandle<()>,
    address: SocketAddr,
    http: reqwest::Client,
}

impl Measured {
    #[expect(clippy::disallowed_methods, reason = "the test owns the bot's task and waits for it")]
    async fn new(world: &World) -> Self {
        let application = world.application(EventSource::Sockets(SocketSettings::default())).await;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (cancel, stop) = Cancel::new();
        let (vitals, mut stopped) = (application.vitals.clone(), stop.clone());
        let task = tokio::spawn(async move {
            let over = async move { stopped.canceled().await };
            let serving = serve(listener, axum::Router::new(), vitals, Patience::default(), over);
            tokio::join!(application.run(stop), serving).0.unwrap();
        });
        Self { cancel, task, address, http: world.slack.http.clone() }
    }

    async fn read(&self) -> String {
        let answer = self.http.get(format!("http://{}/metrics", self.address)).send().await.unwrap();
        answer.text().await.unwrap()
    }

    /// Waits until every line is there.
    async fn shows(&self, world: &World, lines: &[&str]) -> String {
        let metrics = std::cell::RefCell::new(String::new());
        let missing = || {
            let text = metrics.borrow();
            let absent = lines.iter().filter(|line| !text.lines().any(|found| found == **line));
            format!("{:?} in\n{text}", absent.collect::<Vec<_>>())
        };
        let deadline = std::time::Instant::now() + Duration::from_secs(30);
        loop {
            *metrics.borrow_mut() = self.read().await;
            if lines.iter().all(|line| metrics.borrow().lines().any(|found| found == *line)) {
                return metrics.take();
            }
            assert!(std::time::Instant::now() < deadline, "never: {}", missing());
            world.until("another look", async || Some(())).await;
        }
    }

    async fn stop(self) {
        self.cancel.cancel();
        self.task.await.unwrap();
    }
}

/// Returns the number behind a name.
fn number(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} is not in\n{text}")).parse().unwrap()
}

#[tokio::test]
async fn a_conversation_is_counted_once_and_nothing_in_the_numbers_names_anybody() {
    let world = World::new(&[]).await;
    let ran = world.path("ran");
    let note = |word: &str| format!("echo {word} | tee -a {ran}");
    let world = world.plays(&[
        suppose(),
        run("uname -r"),
        run(&note("one")),
        run(&note("two")),
        run("rm -rf /"),
        conclude("REFUTED"),
    ]);
    let bot = Measured::new(&world).await;
    bot.shows(&world, &[r#"ghost_sockets{state="open"} 2"#]).await;

    let root = world.mention("alice", "the link is down").await;
    let first = world.card(&root).await;
    let text_of_waiting = bot.shows(&world, &[r#"ghost_sessions{state="waiting"} 1"#]).await;
    assert!(text_of_waiting.contains("ghost_mention_to_first_reply_seconds_count 1\n"), "{text_of_waiting}");
    // Alice asked, so that she cannot approve a change herself.
    world.press("alice", &first, "approve").await;
    world.sees("alice", &root, "a refusal", is_private).await;
    world.press("bob", &first, "approve").await;
    let second = world
        .sees("bob", &root, "a second card", |message| {
            super::stage::has_button(message, "approve") && message["ts"] != first["ts"]
        })
        .await;
    let pressed = world.press("bob", &second, "deny").await;
    world.note_view(&pressed["view"]);
    world.submit("bob", &pressed["view"], json!({"reason": {"reason": "once is enough"}})).await;
    let closing = world.concluded("alice", &root).await;
    world.card_says(&root, &first, &["exit 0"]).await;
    world.card_says(&root, &second, &["once is enough"]).await;
    assert!(text(&closing.answer).starts_with("Inconclusive"));

    let metrics = bot
        .shows(
            &world,
            &[
                r#"ghost_commands_total{verdict="safe"} 1"#,
                r#"ghost_commands_total{verdict="risky"} 2"#,
                r#"ghost_commands_total{verdict="blocked"} 1"#,
                r#"ghost_approvals_total{answer="approved"} 1"#,
                r#"ghost_approvals_total{answer="denied"} 1"#,
                r#"ghost_approvals_total{answer="expired"} 0"#,
                "ghost_approval_wait_seconds_count 2",
                "ghost_mention_to_first_reply_seconds_count 1",
                "ghost_clicks_refused_total 1",
                "ghost_takeovers_total 0",
                "ghost_queue_depth 0",
                r#"ghost_sessions{state="active"} 0"#,
                r#"ghost_sessions{state="waiting"} 0"#,
                r#"ghost_sessions{state="queued"} 0"#,
                r#"ghost_ready{part="store"} 1"#,
                r#"ghost_faults_total{whose="internal"} 0"#,
            ],
        )
        .await;
    // Three clicks and a dialog; the mention, which Slack tells as a message, too.
    assert!(number(&metrics, r#"ghost_events_total{kind="interaction"}"#) >= 4.0, "{metrics}");
    assert!(number(&metrics, r#"ghost_events_total{kind="event"}"#) >= 1.0, "{metrics}");
    assert!(number(&metrics, "ghost_event_to_ack_seconds_count") >= 5.0, "{metrics}");
    // The board, two cards and the report.
    assert!(number(&metrics, r#"ghost_slack_calls_total{method="chat.postMessage",outcome="ok"}"#) >= 4.0);
    assert!(number(&metrics, r#"ghost_slack_calls_total{method="chat.update",outcome="ok"}"#) >= 2.0);
    for secret in ["xoxb-", "xapp-", "ghost-", "U0LAB", "C0LAB", "T0LAB", "link is down", root.as_str()] {
        assert!(!metrics.contains(secret), "{secret} is in\n{metrics}");
    }
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_storm_of_refusals_is_counted_by_method() {
    let world = World::new(&[suppose(), conclude("REFUTED")]).await;
    let bot = Measured::new(&world).await;
    bot.shows(&world, &[r#"ghost_sockets{state="open"} 2"#]).await;
    world
        .fault(json!({"kind": "rate_limit", "method": "chat.postMessage", "count": 1, "retry_after": 1}))
        .await;
    let root = world.mention("alice", "the link is down").await;
    world.concluded("alice", &root).await;
    let metrics =
        bot.shows(&world, &[r#"ghost_slack_rate_limited_total{method="chat.postMessage"} 1"#]).await;
    let limited = r#"ghost_slack_calls_total{method="chat.postMessage",outcome="rate_limited"}"#;
    assert!((number(&metrics, limited) - 1.0).abs() < f64::EPSILON, "{metrics}");
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_look_at_the_home_tab_asks_once_who_belongs_to_a_group() {
    let world = World::asking().await;
    let bot = Measured::new(&world).await;
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(world.asks("alice").await);
    }
    let lists = r#"ghost_slack_calls_total{method="usergroups.users.list",outcome="ok"}"#;
    assert!(!bot.read().await.contains(lists));
    // Chloe may approve nothing: every open question is looked at for her.
    let home = world.home("chloe", |_| true).await;
    assert!(!home.to_string().contains("tee -a"), "{home}");
    assert!((number(&bot.read().await, lists) - 1.0).abs() < f64::EPSILON);
    let home = world.home("bob", |view| view.to_string().contains("tee -a")).await;
    assert_eq!(home.to_string().matches("tee -a").count(), 3, "{home}");
    for (root, card) in asked {
        world.press("bob", &card, "approve").await;
        world.concluded("alice", &root).await;
        world.card_says(&root, &card, &["exit 0"]).await;
    }
    bot.stop().await;
    world.end().await;
}
