//! Alerts of other programs: they open threads by themselves, join them, and have them looked at again.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use std::collections::BTreeSet;
use std::sync::Arc;

use ghost_agent::bot::journal::JournalAction;
use ghost_agent::bot::{AlertEndpoint, AlertSource, ChannelRules, EventSource, Thread, alerts};
use ghost_agent::http::{Measures, Patience, Vitals, serve};
use ghost_agent::telemetry::{TraceId, trace};
use ghost_base::{Secret, SystemClock, hmac_sha256};
use ghost_investigate::event::read;
use ghost_investigate::state::State;
use ghost_session::alert::{Sender, Window};
use ghost_shell::Scope;
use ghost_store::{RedisConfig, RedisStore};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::stage::{World, has_button, look_once, text, ts};
use crate::lab::stage::NETWORK;
use crate::store::server::Server;

/// What every source of the tests proves itself by.
const SECRET: &str = "a-secret-of-enough-letters";

/// The bot's port for alerts.
struct Port {
    url: String,
    measures: Measures,
    http: reqwest::Client,
    stop: ghost_shell::Cancel,
    task: JoinHandle<()>,
}

/// What a request came to.
#[derive(Debug)]
struct Said {
    status: u16,
    body: Value,
    retry_after: Option<String>,
}

impl Said {
    #[track_caller]
    fn session(&self) -> String {
        assert_eq!(self.status, 202, "{self:?}");
        self.body["session"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }
}

fn endpoint(name: &str, sender: Sender) -> AlertEndpoint {
    AlertEndpoint {
        source: AlertSource {
            name: name.to_owned(),
            sender,
            channel: NETWORK.to_owned(),
            maintenance: Vec::new(),
        },
        secret: Arc::new(|| Secret::new(SECRET)),
        per_minute: 1_000,
    }
}

impl Port {
    /// Opens it for a source of each kind, which has the name of its sender.
    async fn open(world: &World) -> Self {
        Self::with(world, Sender::ALL.map(|sender| endpoint(sender.word(), sender)).into()).await
    }

    #[expect(clippy::disallowed_methods, reason = "the test owns the server's task and waits for it")]
    async fn with(world: &World, endpoints: Vec<AlertEndpoint>) -> Self {
        // It needs nothing of a bot that runs: the store is what they share.
        let core = world.application(EventSource::Requests).await.core;
        let vitals = Vitals::default();
        let measures = vitals.measures.clone();
        let router = alerts(core, endpoints, measures.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/alerts", listener.local_addr().unwrap());
        let (stop, mut stopped) = ghost_shell::Cancel::new();
        let task = tokio::spawn(async move {
            let stop = async move { stopped.canceled().await };
            serve(listener, router, vitals, Patience::default(), stop).await;
        });
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        Self { url, measures, http, stop, task }
    }

    async fn close(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }

    async fn send(&self, path: &str, headers: &[(&str, String)], body: impl Into<reqwest::Body>) -> Said {
        let mut request = self.http.post(format!("{}/{path}", self.url)).body(body);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let answer = request.send().await.unwrap();
        let header = answer.headers().get("retry-after");
        let retry_after = header.map(|value| value.to_str().unwrap().to_owned());
        let status = answer.status().as_u16();
        Said { status, body: answer.json().await.unwrap_or_default(), retry_after }
    }

    /// Sends with the token.
    async fn tell(&self, path: &str, body: &Value) -> Said {
        let token = [("authorization", format!("Bearer {SECRET}"))];
        self.send(path, &token, body.to_string()).await
    }

    fn counted(&self, source: &str, outcome: &str) -> u64 {
        let name = format!("ghost_alerts_total{{source=\"{source}\",outcome=\"{outcome}\"}} ");
        let printed = self.measures.print();
        printed.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok()).unwrap_or(0)
    }
}

fn sign(message: &[u8]) -> String {
    hmac_sha256(SECRET.as_bytes(), message).to_string()
}

/// What Alertmanager sends of a group.
fn group(name: &str, status: &str, began: &str, ended: &str) -> Value {
    json!({
        "version": "4", "groupKey": format!("{{}}:{{alertname=\"{name}\"}}"), "truncatedAlerts": 0, "status": status,
        "receiver": "ghost", "groupLabels": {"alertname": name}, "commonLabels": {"alertname": name},
        "commonAnnotations": {}, "externalURL": "https://alertmanager.example",
        "alerts": [{
            "status": status, "fingerprint": "b6c7d8e9f0a1b2c3", "startsAt": began, "endsAt": ended,
            "labels": {"alertname": name, "severity": "page", "source": "web-1", "destination": "db-1", "port": "5432"},
            "annotations": {"summary": format!("{name}: web-1 cannot connect to db-1 <!channel> *@here*")},
            "generatorURL": "https://prometheus.example/graph"
        }]
    })
}

const NEVER: &str = "0001-01-01T00:00:00Z";

fn firing(name: &str) -> Value {
    group(name, "firing", "2026-11-24T09:00:00Z", NEVER)
}

impl World {
    /// Waits for the message that the thread of an alert hangs on.
    async fn alert(&self, part: &str) -> Value {
        let wanted =
            |message: &Value| text(message).starts_with("Alert from") && text(message).contains(part);
        self.in_channel("bob", NETWORK, wanted).await
    }

    /// Counts the threads of alerts.
    async fn alerts(&self) -> usize {
        let seen = self.look("channel", &[("user", "bob"), ("channel", NETWORK)]).await;
        let messages = seen["messages"].as_array().unwrap();
        messages.iter().filter(|message| text(message).starts_with("Alert from")).count()
    }

    async fn of_session(&self, session: &str) -> State {
        let session = session.parse().unwrap();
        let lines = self.store.read(&session, 0).await.unwrap();
        State::fold(&session, &read(&session, lines.iter().map(String::as_str)).unwrap()).unwrap()
    }

    /// Waits for a message of the bot in a thread.
    async fn shows(&self, root: &Value, part: &str) -> Value {
        self.sees("bob", &ts(root), part, |message| text(message).contains(part)).await
    }

    async fn root_is(&self, root: &Value, part: &str) {
        let name = ts(root);
        let wanted = |message: &Value| message["ts"] == root["ts"] && message.to_string().contains(part);
        self.sees("bob", &name, part, wanted).await;
    }
}

#[tokio::test]
async fn an_alert_opens_a_thread_and_ends_in_a_report_without_a_click() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let port = Port::open(world).await;
            let said = port.tell("alertmanager", &firing("Connect")).await;
            let session = said.session();
            assert_eq!(said.body, json!({"session": session, "duplicate": false}));
            let root = world.alert("Connect").await;
            let closing = world.concluded("alice", &ts(&root)).await;
            assert!(text(&closing.board).contains(&session), "{}", closing.board);
            // What the alert says is shown as it is, and calls nobody.
            let shown = root.to_string();
            assert!(
                shown.contains("rich_text_preformatted") && shown.contains("destination=db-1"),
                "{shown}"
            );
            assert!(
                !text(&root).contains("<!") && text(&root).contains("&lt;!channel&gt;"),
                "{}",
                text(&root)
            );
            assert!(!shown.contains("\"broadcast\""), "{shown}");
            // Whoever speaks there speaks with this session.
            world.reply("bob", &ts(&root), "@Ghost status").await;
            world.hears("bob", &ts(&root), "Over. ").await;
            let state = world.of_session(&session).await;
            assert_eq!(state.opened.requester, "bot alertmanager");
            assert!(
                state.opened.by_program
                    && state.opened.symptom.contains("web-1 cannot connect to db-1 tcp/5432")
            );
            assert_eq!(world.store.list(None, 9).await.unwrap().len(), 1);
            assert_eq!(port.counted("alertmanager", "opened"), 1);
            port.close().await;
        })
        .await;
}

#[tokio::test]
async fn the_same_alert_again_joins_and_its_end_is_shown_in_the_thread() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let port = Port::open(world).await;
            let session = port.tell("alertmanager", &firing("Connect")).await.session();
            let root = world.alert("Connect").await;
            world.concluded("alice", &ts(&root)).await;
            for _ in 0..2 {
                let again = port.tell("alertmanager", &firing("Connect")).await;
                assert_eq!(again.body, json!({"session": session, "duplicate": true}));
            }
            // More of the same group is shown, once.
            let mut more = firing("Connect");
            let mut second = more["alerts"][0].clone();
            second["fingerprint"] = json!("ffff");
            more["alerts"].as_array_mut().unwrap().push(second);
            for _ in 0..2 {
                let joined = port.tell("alertmanager", &more).await;
                assert_eq!((joined.session(), &joined.body["duplicate"]), (session.clone(), &json!(true)));
            }
            world.shows(&root, "2 alerts are firing now").await;
            let end = group("Connect", "resolved", "2026-11-24T09:00:00Z", "2026-11-24T09:30:00Z");
            for _ in 0..2 {
                let over = port.tell("alertmanager", &end).await;
                assert_eq!(over.body, json!({"session": session, "duplicate": true}));
            }
            world.shows(&root, "The report had found no fault").await;
            world.root_is(&root, "resolved").await;
            // What is back so soon goes on there.
            let back = group("Connect", "firing", "2026-11-24T09:40:00Z", NEVER);
            for _ in 0..2 {
                let again = port.tell("alertmanager", &back).await;
                assert_eq!(again.body, json!({"session": session, "duplicate": true}));
            }
            world.shows(&root, "fires again").await;
            let end = group("Connect", "resolved", "2026-11-24T09:40:00Z", "2026-11-24T09:50:00Z");
            assert_eq!(port.tell("alertmanager", &end).await.session(), session);
            let is_over = async || (world.of_session(&session).await.alerts.len() == 4).then_some(());
            world.until("its second end", is_over).await;
            // A repetition that comes late opens nothing; what begins later is another incident.
            assert_eq!(port.tell("alertmanager", &firing("Connect")).await.session(), session);
            assert_eq!(world.alerts().await, 1);
            let later = group("Connect", "firing", "2026-11-24T11:00:00Z", NEVER);
            let other = port.tell("alertmanager", &later).await;
            assert_ne!(other.session(), session);
            let is_new =
                |message: &Value| text(message).starts_with("Alert from") && message["ts"] != root["ts"];
            let second = world.in_channel("bob", NETWORK, is_new).await;
            world.concluded("alice", &ts(&second)).await;
            assert_eq!(world.of_session(&session).await.alerts.len(), 4);
            world.reads_all("bob", &ts(&root)).await;
            port.close().await;
        })
        .await;
}

#[tokio::test]
async fn every_sender_proves_itself_by_its_own_means() {
    let world = World::new(&look_once()).await;
    let port = Port::open(&world).await;
    let azure = json!({"schemaId": "azureMonitorCommonAlertSchema", "data": {"essentials": {"alertId": "/a/1", "alertRule": "db-1 fails",
        "monitorCondition": "Fired", "severity": "Sev1", "firedDateTime": "2026-11-24T09:00:00Z"}, "alertContext": {}}});
    let pager = json!({"event": {"id": "e1", "event_type": "incident.triggered", "occurred_at": "2026-11-24T09:00:00Z",
        "data": {"id": "P1", "type": "incident", "title": "web-1 cannot connect to db-1:5432"}}})
    .to_string();
    let generic = json!({"id": "probe-1", "title": "probe of db-1 fails"}).to_string();
    let now = (ghost_base::Clock::now(&SystemClock).as_millis() / 1000).to_string();
    let signed = [
        ("x-ghost-timestamp", now.clone()),
        ("x-ghost-signature", format!("sha256={}", sign(format!("{now}.{generic}").as_bytes()))),
    ];
    let several = format!("v1={},v1={}", "0".repeat(64), sign(pager.as_bytes()));
    let mut sessions = BTreeSet::new();
    sessions.insert(port.tell("alertmanager", &firing("Connect")).await.session());
    sessions.insert(port.tell("grafana", &firing("Connect")).await.session());
    sessions
        .insert(port.send(&format!("azure-monitor?token={SECRET}"), &[], azure.to_string()).await.session());
    sessions
        .insert(port.send("pagerduty", &[("x-pagerduty-signature", several)], pager.clone()).await.session());
    sessions.insert(port.send("generic", &signed, generic.clone()).await.session());
    assert_eq!(sessions.len(), 5, "{sessions:?}");

    let ping =
        json!({"event": {"event_type": "pagey.ping", "data": {"message": "Hello from your friend Pagey!"}}})
            .to_string();
    let ping = port
        .send("pagerduty", &[("x-pagerduty-signature", format!("v1={}", sign(ping.as_bytes())))], ping)
        .await;
    assert_eq!((ping.status, &ping.body["session"]), (202, &Value::Null), "{ping:?}");

    let token = |text: &str| [("authorization", format!("Bearer {text}"))];
    for (said, status, part) in [
        (
            port.send("alertmanager", &[], firing("x").to_string()).await,
            401,
            "neither a token nor a signature",
        ),
        (
            port.send("alertmanager", &token("wrong-secret-of-length"), "x").await,
            401,
            "not that of this source",
        ),
        (port.send("pagerduty", &token(SECRET), pager.clone()).await, 401, "neither"),
        (
            port.send("pagerduty", &[("x-pagerduty-signature", "v1=00".to_owned())], pager.clone()).await,
            401,
            "not that",
        ),
        (port.send("generic", &signed, format!("{generic} ")).await, 401, "not that"),
        (port.send("nobody", &token(SECRET), "{}").await, 404, "no source"),
        (port.send("alertmanager", &token(SECRET), "no json").await, 400, "no JSON"),
        (port.send("alertmanager", &token(SECRET), "{}").await, 400, "`alerts` is missing"),
        (port.send("alertmanager", &token(SECRET), "x".repeat((1 << 20) + 1)).await, 413, "at most 1 MB"),
    ] {
        assert_eq!(said.status, status, "{said:?}");
        assert!(said.body["error"].as_str().unwrap_or_default().contains(part), "{part}: {said:?}");
        assert!(!said.body.to_string().contains(SECRET));
    }
    assert_eq!(port.counted("alertmanager", "refused"), 2);
    assert_eq!(port.counted("alertmanager", "unreadable"), 3);
    port.close().await;
    world.abandon().await;
}

#[tokio::test]
async fn a_source_that_sends_too_much_learns_when_to_try_again_and_another_one_is_served() {
    let world = World::new(&look_once()).await;
    let mut busy = endpoint("prod", Sender::Alertmanager);
    busy.per_minute = 2;
    let port = Port::with(
        &world,
        vec![busy, endpoint("test", Sender::Alertmanager), endpoint("generic", Sender::Generic)],
    )
    .await;
    for _ in 0..2 {
        assert_eq!(port.tell("prod", &firing("Connect")).await.status, 202);
    }
    let limited = port.tell("prod", &firing("Connect")).await;
    assert_eq!(limited.status, 429);
    assert!(limited.retry_after.unwrap().parse::<u64>().unwrap() <= 60);
    assert_eq!(port.tell("test", &firing("Connect")).await.status, 202);
    // Of two sources of a kind neither is meant by its kind alone; of one, it is.
    assert_eq!(port.tell("alertmanager", &firing("Connect")).await.status, 404);
    assert_eq!(port.tell("generic", &json!({"id": "1", "title": "x"})).await.status, 202);
    port.close().await;
    world.abandon().await;
}

#[tokio::test]
async fn what_an_alert_wants_changed_waits_for_a_person_who_may_decide() {
    World::asking()
        .await
        .talk(async |world| {
            let port = Port::open(world).await;
            let session = port.tell("alertmanager", &firing("Connect")).await.session();
            let root = world.alert("Connect").await;
            let card = world.card(&ts(&root)).await;
            world.press("chloe", &card, "approve").await;
            world.hears("chloe", &ts(&root), "may").await;
            assert_eq!(world.runs(), 0);
            world.approved(&ts(&root), &card).await;
            assert!(world.of_session(&session).await.is_reported());
            assert_eq!(world.refused("U0LABCHLOE").await.len(), 1);
            port.close().await;
        })
        .await;
}

#[tokio::test]
async fn in_a_maintenance_window_and_outside_of_the_scope_nothing_is_opened() {
    let mut world = World::new(&look_once()).await;
    let scope = Scope { resource_groups: vec!["rg-web".to_owned()], ..Scope::default() };
    let rules = ChannelRules { scope: Some(scope), ..world.settings.anywhere.clone() };
    world.settings.channels.insert(NETWORK.to_owned(), rules);
    let mut quiet = endpoint("quiet", Sender::Alertmanager);
    quiet.source.maintenance = vec!["daily 00:00-00:00".parse::<Window>().unwrap()];
    let port = Port::with(&world, vec![quiet, endpoint("generic", Sender::Generic)]).await;
    for _ in 0..3 {
        let said = port.tell("quiet", &firing("Connect")).await;
        assert_eq!(said.body, json!({"session": null, "duplicate": false, "ignored": "maintenance"}));
    }
    let notes = super::freeze::journal(&world).await;
    let noted: Vec<_> =
        notes.iter().map(|note| (note.what, note.who.as_str(), note.place.as_str())).collect();
    assert_eq!(noted, [(JournalAction::Maintenance, "bot quiet", NETWORK)]);
    let elsewhere = json!({"id": "1", "title": "vm db-1 in resource group rg-secret does not answer"});
    let said = port.tell("generic", &elsewhere).await;
    assert_eq!((said.status, &said.body["session"]), (202, &Value::Null), "{said:?}");
    assert_eq!(port.counted("generic", "out_of_scope"), 1);
    let unknown = group("Never", "resolved", "2026-11-24T09:00:00Z", "2026-11-24T09:30:00Z");
    assert_eq!(port.tell("quiet", &unknown).await.body["session"], Value::Null);
    assert_eq!(world.store.list(None, 9).await.unwrap(), []);
    port.close().await;
    world.abandon().await;
}

#[tokio::test]
async fn while_the_store_is_away_the_sender_has_to_try_again_and_nothing_is_lost_or_done_twice() {
    let Some(mut server) = Server::start() else { return };
    let mut world = World::new(&look_once()).await;
    let kept = ghost_store::Settings::default();
    let place = RedisConfig::new(server.url(), "ghost");
    world.store = Arc::new(RedisStore::connect(&place, kept).await.unwrap());
    let port = Port::open(&world).await;
    server.kill();
    let gone = port.tell("alertmanager", &firing("Connect")).await;
    assert_eq!(gone.status, 503, "{gone:?}");
    assert!(gone.retry_after.is_some() && gone.body["error"].as_str().unwrap().contains("send it again"));
    server.restart();
    let session = world
        .until("the store is back", async || {
            let said = port.tell("alertmanager", &firing("Connect")).await;
            (said.status == 202).then(|| said.session())
        })
        .await;
    let bot = world.bot().await;
    let root = world.alert("Connect").await;
    world.concluded("alice", &ts(&root)).await;
    assert_eq!(port.tell("alertmanager", &firing("Connect")).await.session(), session);
    assert_eq!((world.alerts().await, world.store.list(None, 9).await.unwrap().len()), (1, 1));
    port.close().await;
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_bot_that_dies_between_the_message_and_its_record_posts_no_second_one() {
    let world = World::new(&look_once()).await;
    let port = Port::open(&world).await;
    let session = port.tell("alertmanager", &firing("Connect")).await.session();
    let bot = world.bot().await;
    let root = world.alert("Connect").await;
    bot.die().await;
    let bot = world.bot().await;
    world.concluded("alice", &ts(&root)).await;
    assert_eq!(world.alerts().await, 1);
    let thread = Thread { team: String::new(), channel: NETWORK.to_owned(), ts: ts(&root) };
    assert_eq!(world.store.claimed(&thread.claim()).await.unwrap(), Some(session));
    bot.stop().await;
    port.close().await;
    world.end().await;
}

#[tokio::test]
async fn alerts_that_another_bot_posts_are_grouped_by_what_they_say_of_themselves() {
    let mut world = World::new(&look_once()).await;
    let state = world.look("state", &[]).await;
    let mut apps = state["apps"].as_array().unwrap().iter();
    let id =
        apps.find(|app| app["bot_user_id"] == "U0LABALERT").unwrap()["bot_id"].as_str().unwrap().to_owned();
    world.settings.alert_bots = BTreeSet::from([id]);
    world
        .talk(async |world| {
            let root = world.say("U0LABALERT", NETWORK, "[FIRING:1] packet loss on web-1").await;
            world.concluded("alice", &root).await;
            world.say("U0LABALERT", NETWORK, "[FIRING:2] packet loss on web-1").await;
            let of_thread = json!({"ts": root});
            world.shows(&of_thread, "2 alerts are firing now").await;
            world.say("U0LABALERT", NETWORK, "[RESOLVED] packet loss on web-1").await;
            world.shows(&of_thread, "says that it is resolved").await;
            assert_eq!(world.store.list(None, 9).await.unwrap().len(), 1);
            // What fires again so soon was not over.
            world.say("U0LABALERT", NETWORK, "[FIRING:1] packet loss on web-1").await;
            world.shows(&of_thread, "says that it fires again").await;
            assert_eq!(world.store.list(None, 9).await.unwrap().len(), 1);
            assert!(!has_button(&of_thread, "stop"));
        })
        .await;
}

#[tokio::test]
async fn a_session_of_an_alert_belongs_to_the_trace_that_its_sender_names() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let port = Port::open(world).await;
            let traced = async |group: &str, traceparent: &str| {
                let token = ("authorization", format!("Bearer {SECRET}"));
                let headers = [token, ("traceparent", traceparent.to_owned())];
                let session = port.send("alertmanager", &headers, firing(group).to_string()).await.session();
                let root = world.alert(group).await;
                world.concluded("alice", &ts(&root)).await;
                let session = session.parse().unwrap();
                let lines = world.store.read(&session, 0).await.unwrap();
                let events = read(&session, lines.iter().map(String::as_str)).unwrap();
                (trace(&session, &events).unwrap(), TraceId::of(&session))
            };
            let (joined, _) = traced("One", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").await;
            assert_eq!(joined.id.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
            let whole = joined.spans.last().unwrap();
            assert_eq!(whole.parent.unwrap().to_string(), "00f067aa0ba902b7");
            assert!(whole.attributes.contains(&("ghost.alert.source", "alertmanager".into())));
            let (alone, own) = traced("Two", "nonsense; <script>").await;
            assert_eq!((alone.id, alone.spans.last().unwrap().parent), (own, None));
            port.close().await;
        })
        .await;
}
