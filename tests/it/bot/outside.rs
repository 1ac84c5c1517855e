//! Requests of agents that no session drives: asked in a thread of their own, answered once, for exactly the same text.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ghost_agent::http::{Patience, Vitals, serve};
use ghost_base::{Secret, SystemClock};
use ghost_investigate::event::Impact;
use ghost_session::outside::{
    Caller, Callers, Client, HttpLink, HttpPlace, Kept, Link, LinkError, OutsideAnswer, OutsideKind,
    OutsideRequest, OutsideServer, Rates, Standing, StandingQuery, StoreLink, routes,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::stage::{World, has_button, look_once, text, ts};
use crate::lab::stage::NETWORK;

/// A token of one caller, and of another one.
pub(super) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const OTHER_TOKEN: &str = "fedcba9876543210fedcba9876543210";

/// The bot's port for callers.
pub(super) struct Port {
    pub(super) url: String,
    stop: ghost_shell::Cancel,
    task: JoinHandle<()>,
}

impl Port {
    /// Opens it on a port of its own; `owner` is the person whose agents ask with the first token.
    #[expect(clippy::disallowed_methods, reason = "the test owns the server's task and waits for it")]
    pub(super) async fn open(world: &World, owner: Option<&str>, requests_per_minute: usize) -> Self {
        let caller = |name: &str, owner: Option<&str>| Caller {
            name: name.to_owned(),
            owner: owner.map(str::to_owned),
        };
        let token = |text: &'static str| -> Arc<dyn Fn() -> Secret + Send + Sync> {
            Arc::new(move || Secret::new(text))
        };
        let all = vec![(caller("m1", owner), token(TOKEN)), (caller("m2", None), token(OTHER_TOKEN))];
        let rates = Rates { requests_per_minute, calls_per_minute: 10_000 };
        let callers = Arc::new(Callers::new(all, rates, Arc::new(SystemClock)));
        let server =
            OutsideServer { store: Arc::clone(&world.store), clock: Arc::clone(&world.clock) as _, callers };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stop, mut stopped) = ghost_shell::Cancel::new();
        let task = tokio::spawn(async move {
            let stop = async move { stopped.canceled().await };
            serve(listener, routes(server), Vitals::default(), Patience::default(), stop).await;
        });
        Self { url, stop, task }
    }

    pub(super) async fn close(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }

    fn link(&self, token: &str) -> HttpLink {
        HttpLink::new(HttpPlace { url: self.url.clone(), token: Secret::new(token) }).unwrap()
    }
}

fn request(text: &str) -> OutsideRequest {
    OutsideRequest {
        agent: "Claude Code".to_owned(),
        machine: "build-3".to_owned(),
        folder: "/srv/app".to_owned(),
        conversation: "s1".to_owned(),
        kind: OutsideKind::Command,
        text: text.to_owned(),
        reasoning: "the deploy needs it".to_owned(),
        rule: "unknown".to_owned(),
        reason: "touch is not on the list".to_owned(),
        impact: Impact::Change,
    }
}

/// One process of an agent's machine.
fn client(world: &World, link: impl Link + 'static) -> Client {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let nonce = || format!("nonce{:08}", NUMBER.fetch_add(1, Ordering::SeqCst));
    Client::new(Arc::new(link), Kept::below(&world.folder.path().join("agent")), Arc::new(nonce))
}

const PATIENCE: Duration = Duration::from_secs(60);

impl World {
    /// Waits for the thread of a request; returns its root and its card.
    pub(super) async fn outside_card(&self, part: &str) -> (Value, Value) {
        let wanted = |message: &Value| text(message).contains(" asks: ") && text(message).contains(part);
        let root = self.in_channel("bob", NETWORK, wanted).await;
        let card = self.card(&ts(&root)).await;
        (root, card)
    }

    /// Waits until the message that a thread hangs on says something.
    pub(super) async fn root_says(&self, root: &Value, part: &str) {
        let name = ts(root);
        self.sees("bob", &name, part, |message| {
            message["ts"] == root["ts"] && message.to_string().contains(part)
        })
        .await;
    }

    fn store_link(&self) -> StoreLink {
        StoreLink::new(Arc::clone(&self.store), Arc::clone(&self.clock) as _, "build-3", None)
    }
}

#[tokio::test]
async fn an_approved_request_is_handed_over_once_and_the_bot_runs_nothing() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let port = Port::open(world, None, 100).await;
            let file = world.path("made");
            let command = format!("touch {file}");
            let asks = client(world, port.link(TOKEN));
            let asked = request(&command);
            let (answer, root) = tokio::join!(asks.decide(&asked, PATIENCE), async {
                let (root, card) = world.outside_card("touch").await;
                for part in ["Claude Code on build-3", "/srv/app", "the deploy needs it", "m1"] {
                    assert!(root.to_string().contains(part), "{part}: {root}");
                }
                assert!(text(&card).starts_with("Approval needed") && card.to_string().contains(&command));
                // Somebody whom nobody named cannot answer, and somebody else's name counts for nothing.
                world.press("chloe", &card, "approve").await;
                world.hears("chloe", &ts(&root), "not among those").await;
                world.press("bob", &card, "approve").await;
                world
                    .card_says(&ts(&root), &card, &["Approved by <@U0LABBOB01>", "Handed over to the agent"])
                    .await;
                root
            });
            let OutsideAnswer::Granted(granted) = answer.unwrap() else { panic!("no consent") };
            assert_eq!((granted.text.as_str(), granted.changed), (command.as_str(), false));
            assert!(granted.by.starts_with('@'), "{}", granted.by);
            world.root_says(&root, "handed over").await;
            assert!(!std::path::Path::new(&file).exists(), "the bot ran it");
            // It counted once: the same again is another question.
            let (answer, ()) = tokio::join!(asks.decide(&asked, PATIENCE), async {
                let wanted =
                    |message: &Value| text(message).contains(" asks: ") && message["ts"] != root["ts"];
                let again = world.in_channel("bob", NETWORK, wanted).await;
                let card = world.card(&ts(&again)).await;
                let view = world.opens("bob", &card, "deny").await;
                world.submits("bob", &view, "reason", "not before 22:00").await;
                world.card_says(&ts(&again), &card, &["Denied", "not before 22:00"]).await;
                world.root_says(&again, "not before 22:00").await;
            });
            let OutsideAnswer::Denied { by, reason } = answer.unwrap() else { panic!("no denial") };
            assert!(by.starts_with('@') && reason == "not before 22:00", "{by} {reason}");
            port.close().await;
        })
        .await;
}

#[tokio::test]
async fn an_answer_that_comes_late_counts_once_for_exactly_the_same_text() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let asks = client(world, world.store_link());
            let asked = request("touch late");
            let answer = asks.decide(&asked, Duration::from_millis(500)).await.unwrap();
            assert!(matches!(answer, OutsideAnswer::Pending { .. }), "{answer:?}");
            let (root, card) = world.outside_card("touch late").await;
            world.press("bob", &card, "approve").await;
            world.card_says(&ts(&root), &card, &["Approved by", "once, until"]).await;
            // Another text, however similar, is another question; it is given up at once.
            let other = request("touch late ");
            assert!(other.text != asked.text);
            let similar = request("touch  late");
            let answer = asks.decide(&similar, Duration::from_millis(500)).await.unwrap();
            assert!(matches!(answer, OutsideAnswer::Pending { .. }), "{answer:?}");
            // Of two processes that want it at the same moment one gets it.
            let (one, two) = (client(world, world.store_link()), client(world, world.store_link()));
            let short = Duration::from_secs(5);
            let answers = tokio::join!(one.decide(&asked, short), two.decide(&asked, short));
            let granted = [answers.0.unwrap(), answers.1.unwrap()];
            let count = granted.iter().filter(|answer| matches!(answer, OutsideAnswer::Granted(_))).count();
            assert_eq!(count, 1, "{granted:?}");
            // What is left open is denied, so that nobody is asked any more.
            for _ in 0..2 {
                let open =
                    world.store.pending(None, ghost_base::Clock::now(world.clock.as_ref())).await.unwrap();
                let Some(open) = open.first() else { break };
                let state = world.outside_state(&open.record.session).await;
                let place = state.delivered.iter().find(|one| one.what == "board").unwrap().place.clone();
                let (_, root) = place.split_once('/').unwrap();
                let card = world.card(root).await;
                let view = world.opens("bob", &card, "deny").await;
                world.submits("bob", &view, "reason", "no longer needed").await;
                world.card_says(root, &card, &["no longer needed"]).await;
                world.root_says(&json!({ "ts": root }), "Denied").await;
                world.reads_all("bob", root).await;
            }
            world.reads_all("bob", &ts(&root)).await;
        })
        .await;
}

impl World {
    pub(super) async fn outside_state(
        &self,
        session: &ghost_base::SessionId,
    ) -> ghost_investigate::state::State {
        let lines = self.store.read(session, 0).await.unwrap();
        let recorded = ghost_investigate::event::read(session, lines.iter().map(String::as_str)).unwrap();
        ghost_investigate::state::State::fold(session, &recorded).unwrap()
    }
}

#[tokio::test]
async fn a_changed_command_is_judged_again_and_whoever_changed_it_does_not_approve_it_alone() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let asks = client(world, world.store_link());
            let asked = request("touch one");
            let (answer, root) = tokio::join!(asks.decide(&asked, PATIENCE), async {
                let (root, card) = world.outside_card("touch one").await;
                let view = world.opens("bob", &card, "modify").await;
                world.submits("bob", &view, "command", "touch two").await;
                world.card_says(&ts(&root), &card, &["Changed by"]).await;
                let wanted = |message: &Value| has_button(message, "approve") && message["ts"] != card["ts"];
                let second = world.sees("bob", &ts(&root), "a second card", wanted).await;
                world.press("bob", &second, "approve").await;
                world.hears("bob", &ts(&root), "you changed this command").await;
                world.press("alice", &second, "approve").await;
                world.card_says(&ts(&root), &second, &["Approved by", "Handed over to the agent"]).await;
                world.card_says(&ts(&root), &card, &["has a card of its own"]).await;
                root
            });
            let OutsideAnswer::Granted(granted) = answer.unwrap() else { panic!("no consent") };
            assert_eq!((granted.text.as_str(), granted.changed), ("touch two", true));
            world.root_says(&root, "handed over").await;
        })
        .await;
}

#[tokio::test]
async fn whoever_drives_the_agent_is_not_the_approver() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let port = Port::open(world, Some("U0LABBOB01"), 100).await;
            let asks = client(world, port.link(TOKEN));
            let asked = request("touch own");
            let (answer, root) = tokio::join!(asks.decide(&asked, PATIENCE), async {
                let (root, card) = world.outside_card("touch own").await;
                world.press("bob", &card, "approve").await;
                world.hears("bob", &ts(&root), "somebody else").await;
                world.press("alice", &card, "approve").await;
                world.card_says(&ts(&root), &card, &["Approved by", "Handed over to the agent"]).await;
                root
            });
            assert!(matches!(answer, Ok(OutsideAnswer::Granted(_))), "{answer:?}");
            world.root_says(&root, "handed over").await;
            port.close().await;
        })
        .await;
}

#[tokio::test]
async fn an_approval_survives_the_bot_that_asked() {
    let world = World::new(&look_once()).await;
    let first = world.bot().await;
    let asks = client(&world, world.store_link());
    let asked = request("touch survivor");
    let (answer, second) = tokio::join!(asks.decide(&asked, PATIENCE), async {
        let (root, card) = world.outside_card("touch survivor").await;
        first.die().await;
        let second = world.bot().await;
        world.press("bob", &card, "approve").await;
        world.card_says(&ts(&root), &card, &["Approved by", "Handed over to the agent"]).await;
        world.root_says(&root, "handed over").await;
        second
    });
    assert!(matches!(answer, Ok(OutsideAnswer::Granted(_))), "{answer:?}");
    second.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_yes_that_nobody_uses_ends_by_its_own_clock_and_the_thread_says_so() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let asks = client(world, world.store_link());
            let asked = request("touch unused");
            let answer = asks.decide(&asked, Duration::from_millis(200)).await.unwrap();
            assert!(matches!(answer, OutsideAnswer::Pending { .. }), "{answer:?}");
            let (root, card) = world.outside_card("touch unused").await;
            world.press("bob", &card, "approve").await;
            world.card_says(&ts(&root), &card, &["Approved by", "once, until"]).await;
            world.root_says(&root, "the agent can use it once").await;
            // The agent never comes back: nothing arrives for the session.
            world.clock.by(16);
            world.card_says(&ts(&root), &card, &["Did not run", "nobody came back for it in time"]).await;
            world.root_says(&root, "Expired").await;
        })
        .await;
}

#[tokio::test]
async fn a_question_runs_out_and_what_is_blocked_here_is_never_asked() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let asks = client(world, world.store_link());
            let blocked = asks.decide(&request("sudo reboot"), PATIENCE).await.unwrap();
            assert!(matches!(blocked, OutsideAnswer::Refused { .. }), "{blocked:?}");
            let wanted = |message: &Value| text(message).contains("reboot");
            let root = world.in_channel("bob", NETWORK, wanted).await;
            world.root_says(&root, "Refused").await;
            let asked = request("touch slow");
            let (answer, root) = tokio::join!(asks.decide(&asked, PATIENCE), async {
                let (root, card) = world.outside_card("touch slow").await;
                world.clock.by(16);
                world.card_says(&ts(&root), &card, &["Expired"]).await;
                root
            });
            assert!(matches!(answer, Ok(OutsideAnswer::Expired { .. })), "{answer:?}");
            world.root_says(&root, "Expired").await;
        })
        .await;
}

#[tokio::test]
async fn nothing_is_handed_over_while_everything_is_held_back() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let asks = client(world, world.store_link());
            let asked = request("touch frozen");
            assert!(matches!(
                asks.decide(&asked, Duration::from_millis(500)).await,
                Ok(OutsideAnswer::Pending { .. })
            ));
            let (root, card) = world.outside_card("touch frozen").await;
            world.press("bob", &card, "approve").await;
            world.card_says(&ts(&root), &card, &["Approved by"]).await;
            world.command("bob", "freeze change window").await;
            let (answer, ()) = tokio::join!(asks.decide(&asked, PATIENCE), async {
                let id = asks.open(&asked).await.unwrap();
                world
                    .until("somebody wants it", async || {
                        (world.outside_state(&id).await.taker.is_some()).then_some(())
                    })
                    .await;
                assert!(world.outside_state(&id).await.taken.is_none());
                world.command("bob", "thaw").await;
            });
            assert!(matches!(answer, Ok(OutsideAnswer::Granted(_))), "{answer:?}");
            world.root_says(&root, "handed over").await;
            world.card_says(&ts(&root), &card, &["Handed over to the agent"]).await;
        })
        .await;
}

/// A caller sees its own requests alone, and the port takes nothing from anybody else.
#[tokio::test]
async fn the_port_takes_a_token_and_shows_nobody_what_is_not_theirs() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let port = Port::open(world, None, 4).await;
            let query = StandingQuery { wait: Duration::from_secs(5), beyond_granted: false };
            let (one, other) = (port.link(TOKEN), port.link(OTHER_TOKEN));
            let id = one.ask("nonce-less1", &request("sudo reboot")).await.unwrap_err();
            assert!(matches!(id, LinkError::Refused(_)), "{id:?}");
            let id = one.ask("nonceless1", &request("sudo reboot")).await.unwrap();
            assert_eq!(one.ask("nonceless1", &request("sudo reboot")).await.unwrap(), id, "the same attempt");
            world.until("it is refused", async || {
                matches!(one.standing(&id, query).await, Ok(Some(Standing::Refused { .. }))).then_some(())
            })
            .await;
            assert_eq!(other.standing(&id, query).await, Ok(None));
            assert!(other.take(&id, "aaaaaaaa").await.is_err());
            let wrong = port.link("0123456789abcdef0123456789abcdeX");
            assert!(matches!(wrong.standing(&id, query).await, Err(LinkError::Refused(why)) if why.contains("401")));
            let long = OutsideRequest { text: "x".repeat(70_000), ..request("x") };
            assert!(matches!(one.ask("nonceless2", &long).await, Err(LinkError::TooLong { .. })));
            // The port checks by itself, too.
            let raw = async |body: Value| {
                let call = world.slack.http.post(format!("{}/outside", port.url)).bearer_auth(TOKEN).json(&body);
                call.send().await.unwrap().status().as_u16()
            };
            let body = |text: &str| json!({"nonce": "nonceless3", "request": request(text)});
            assert_eq!(raw(body(&"x".repeat(70_000))).await, 413);
            assert_eq!(raw(body(&"x".repeat(400_000))).await, 413);
            // Four requests a minute, and these were more: what is too long counts as soon as it is read.
            assert_eq!(raw(body("touch y")).await, 429);
            let root = world.in_channel("bob", NETWORK, |message| text(message).contains("reboot")).await;
            world.root_says(&root, "Refused").await;
            port.close().await;
        })
        .await;
}

/// What the bot does not know of, or cannot be reached for, is a no.
#[tokio::test]
async fn without_the_bot_there_is_no_consent() {
    let world = World::new(&look_once()).await;
    let port = Port::open(&world, None, 100).await;
    let link = port.link(TOKEN);
    port.close().await;
    let asks = client(&world, link);
    let answer = asks.decide(&request("touch x"), Duration::from_secs(2)).await;
    assert!(matches!(answer, Err(LinkError::Unreachable(_))), "{answer:?}");
    world.end().await;
}
