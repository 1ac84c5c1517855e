//! Facts about the bot's own port, over real sockets.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::{get, post};
use ghost_agent::http::{AlertOutcome, Judged, LISTEN, LateRoutes, Outcome, Patience, TABLE, Vitals, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

struct Stage {
    vitals: Vitals,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinSet<()>,
}

impl Stage {
    async fn new(extra: Router, patience: Patience) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let vitals = Vitals::default();
        let (stop, stopped) = oneshot::channel();
        let mut server = JoinSet::new();
        let shown = vitals.clone();
        server.spawn(async move {
            serve(listener, extra, shown, patience, async { stopped.await.unwrap() }).await;
        });
        Self { vitals, address, stop, server }
    }

    async fn plain() -> Self {
        Self::new(Router::new(), Patience::default()).await
    }

    async fn ask(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        answer(&mut stream).await
    }

    async fn get(&self, path: &str) -> (u16, String, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await
    }

    async fn end(mut self) {
        self.stop.send(()).unwrap();
        self.server.join_next().await.unwrap().unwrap();
    }
}

/// Reads until the server closes: status, head, body.
async fn answer(stream: &mut TcpStream) -> (u16, String, String) {
    let mut bytes = Vec::new();
    // Whoever is cut off in the middle of a request may see a reset.
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    (status, head.to_lowercase(), body.to_owned())
}

const SHORT: Duration = Duration::from_millis(50);
/// Longer than any test waits.
const LONG: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn it_lives_while_its_loops_turn() {
    let stage = Stage::plain().await;
    let (status, _, body) = stage.get("/live").await;
    assert_eq!((status, body), (200, json!({"format": 1, "live": true, "silent": []}).to_string()));
    drop(stage.vitals.pulse.watch("worker", Duration::from_secs(1)));
    let (status, _, body) = stage.get("/live").await;
    assert_eq!((status, body), (503, json!({"format": 1, "live": false, "silent": ["worker"]}).to_string()));
    stage.end().await;
}

#[tokio::test]
async fn it_is_ready_when_every_part_is_and_says_which_is_not() {
    let stage = Stage::plain().await;
    assert_eq!(stage.get("/ready").await.0, 503);
    let sockets = stage.vitals.parts.check("sockets");
    stage.vitals.parts.ask("store", || Ok(()));
    let (status, head, body) = stage.get("/ready").await;
    assert_eq!(status, 503);
    assert!(head.contains("content-type: application/json"), "{head}");
    assert_eq!(
        serde_json::from_str::<Value>(&body).unwrap(),
        json!({"format": 1, "ready": false, "parts": [
            {"name": "sockets", "ready": false, "why": "it has not started"},
            {"name": "store", "ready": true},
        ]})
    );
    sockets.ready();
    assert_eq!(stage.get("/ready").await.0, 200);
    stage.end().await;
}

#[tokio::test]
async fn what_is_printed_is_what_the_table_names() {
    let stage = Stage::plain().await;
    stage.vitals.parts.check("store").ready();
    stage.vitals.measures.slack_call("chat.update", Outcome::RateLimited);
    stage.vitals.measures.alert("alertmanager", AlertOutcome::Opened);
    let (status, head, body) = stage.get("/metrics").await;
    assert_eq!(status, 200);
    assert!(head.contains("content-type: application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(body.ends_with("# EOF\n"), "{body}");
    let printed: BTreeMap<String, (String, String)> = body
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
        .map(|(family, kind)| {
            let name = if kind == "counter" { format!("{family}_total") } else { family.to_owned() };
            let sample = match kind {
                "histogram" => format!("{family}_count"),
                _ => name.clone(),
            };
            let line = body
                .lines()
                .find(|line| line.strip_prefix(&sample).is_some_and(|rest| rest.starts_with([' ', '{'])));
            let labels =
                line.unwrap().split_once('{').map_or("", |(_, rest)| rest.split_once('}').unwrap().0);
            let names: Vec<_> = labels.split(',').filter_map(|pair| Some(pair.split_once('=')?.0)).collect();
            (name, (kind.to_owned(), names.join(",")))
        })
        .collect();
    let named = TABLE
        .iter()
        .map(|row| (row.name.to_owned(), (row.kind.word().to_owned(), row.labels.join(","))))
        .collect();
    assert_eq!(printed, named);
    stage.end().await;
}

#[tokio::test]
async fn what_is_counted_appears_and_so_does_who_is_ready() {
    let stage = Stage::plain().await;
    let store = stage.vitals.parts.check("store");
    stage.vitals.measures.command(Judged::Blocked);
    stage.vitals.measures.acknowledged(Duration::from_millis(4));
    let (_, _, body) = stage.get("/metrics").await;
    for line in [
        r#"ghost_commands_total{verdict="blocked"} 1"#,
        r#"ghost_event_to_ack_seconds_bucket{le="0.005"} 1"#,
        r#"ghost_event_to_ack_seconds_bucket{le="0.0025"} 0"#,
        r#"ghost_ready{part="store"} 0"#,
    ] {
        assert!(body.lines().any(|found| found == line), "{line} is not in\n{body}");
    }
    store.ready();
    assert!(stage.get("/metrics").await.2.contains(r#"ghost_ready{part="store"} 1"#));
    stage.end().await;
}

#[tokio::test]
async fn only_reading_is_answered_and_nothing_else_is_there() {
    let stage = Stage::plain().await;
    for path in ["/", "/metrics/", "/live/x", "/..%2fmetrics", "/debug"] {
        assert_eq!(stage.get(path).await.0, 404, "{path}");
    }
    for method in ["POST", "PUT", "DELETE"] {
        let request =
            format!("{method} /live HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(stage.ask(&request).await.0, 405, "{method}");
    }
    stage.end().await;
}

#[tokio::test]
async fn routes_can_be_added_and_ours_win() {
    let extra = Router::new()
        .route("/slack/events", post(async |body: Bytes| body))
        .route("/live", get(async || "mine"));
    let stage = Stage::new(extra, Patience::default()).await;
    let said = "POST /slack/events HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi";
    let (status, _, body) = stage.ask(said).await;
    assert_eq!((status, body.as_str()), (200, "hi"));
    assert!(stage.get("/live").await.2.contains("\"live\":true"));
    assert_eq!(stage.get("/slack/other").await.0, 404);
    stage.end().await;
}

#[tokio::test]
async fn garbage_is_refused_and_the_next_client_is_served() {
    let stage = Stage::plain().await;
    for junk in [
        "\0\0\0\0\r\n\r\n".to_owned(),
        "GET / HTTP/9\r\n\r\n".to_owned(),
        format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(70_000)),
    ] {
        let mut stream = TcpStream::connect(stage.address).await.unwrap();
        // The server may hang up before everything is written.
        let _ = stream.write_all(junk.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{junk:.20}");
    }
    assert_eq!(stage.get("/live").await.0, 200);
    stage.end().await;
}

#[tokio::test]
async fn whoever_never_finishes_a_head_is_cut_off() {
    let patience = Patience { head: SHORT, connection: LONG, ..Patience::default() };
    let stage = Stage::new(Router::new(), patience).await;
    for begun in ["", "GET /live HT", "GET /live HTTP/1.1\r\nhost: x\r\n"] {
        let mut stream = TcpStream::connect(stage.address).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        assert_ne!(answer(&mut stream).await.0, 200, "{begun}");
    }
    stage.end().await;
}

#[tokio::test]
async fn a_body_that_never_ends_is_refused_and_cut_off() {
    let extra = Router::new().route("/slack/events", post(async |body: Bytes| body));
    let patience = Patience { request: SHORT, head: LONG, connection: LONG, ..Patience::default() };
    let stage = Stage::new(extra, patience).await;
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    stream.write_all(b"POST /slack/events HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhi").await.unwrap();
    assert_eq!(answer(&mut stream).await.0, 408);
    stage.end().await;
}

#[tokio::test]
async fn a_connection_that_lasted_long_enough_ends_without_anybody_asking() {
    let patience = Patience { head: LONG, connection: SHORT, ..Patience::default() };
    let stage = Stage::new(Router::new(), patience).await;
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    stream.write_all(b"GET /live HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(60), answer(&mut stream)).await;
    // A busy machine may end it before the request is read.
    assert!(matches!(ended.unwrap().0, 0 | 200));
    stage.end().await;
}

#[tokio::test]
async fn stopping_lets_an_answer_end_and_closes_the_port() {
    let (entered, mut waiting) = tokio::sync::mpsc::channel(1);
    let (go, gone) = tokio::sync::watch::channel(false);
    let slow = get(async move || {
        entered.send(()).await.unwrap();
        gone.clone().wait_for(|go| *go).await.unwrap();
        "done"
    });
    let mut stage = Stage::new(Router::new().route("/slow", slow), Patience::default()).await;
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    stream.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    waiting.recv().await.unwrap();
    stage.stop.send(()).unwrap();
    go.send(true).unwrap();
    let (status, _, body) = answer(&mut stream).await;
    assert_eq!((status, body.as_str()), (200, "done"));
    stage.server.join_next().await.unwrap().unwrap();
    assert!(TcpStream::connect(stage.address).await.is_err());
}

#[test]
fn by_default_it_listens_on_this_machine_only() {
    assert!(LISTEN.parse::<SocketAddr>().unwrap().ip().is_loopback());
}

/// More clients than the server gives places to.
const CROWD: usize = 2_000;

/// Opens connections that each send the beginning of something and nothing more.
async fn crowd(address: SocketAddr, begins: &str, half_closed: bool) -> Vec<TcpStream> {
    let mut crowd = Vec::new();
    for _ in 0..CROWD {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The server may have closed it already: it has places for fewer.
        let _ = stream.write_all(begins.as_bytes()).await;
        if half_closed {
            let _ = stream.shutdown().await;
        }
        crowd.push(stream);
    }
    crowd
}

#[tokio::test]
async fn clients_that_send_nothing_more_keep_no_newcomer_waiting() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let all = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, all).unwrap();
    let patience = Patience { head: LONG, request: LONG, connection: LONG, ..Patience::default() };
    let waits = Router::new().route("/take", post(async |_: Bytes| "taken"));
    let kinds = [
        ("silent", "", false),
        ("a head that does not end", "GET /live HTTP/1.1\r\nhost: ", false),
        (
            "a body that does not end",
            "POST /take HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nbody",
            false,
        ),
        ("half closed", "", true),
    ];
    for (kind, begins, half_closed) in kinds {
        let stage = Stage::new(waits.clone(), patience).await;
        let held = crowd(stage.address, begins, half_closed).await;
        let asked = tokio::time::timeout(Duration::from_secs(60), async {
            let taken =
                "POST /take HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbody";
            (stage.get("/live").await.0, stage.ask(taken).await)
        });
        let (live, taken) = asked.await.unwrap_or_else(|_| panic!("{kind}: nothing is answered"));
        assert_eq!((live, taken.0, taken.2.as_str()), (200, 200, "taken"), "{kind}");
        drop(held);
    }
}

#[tokio::test]
async fn a_request_that_is_being_answered_keeps_its_connection_in_a_crowd() {
    let (begun, go) =
        (std::sync::Arc::new(tokio::sync::Notify::new()), std::sync::Arc::new(tokio::sync::Notify::new()));
    let (handler_begun, handler_go) = (begun.clone(), go.clone());
    let route = get(async move || {
        handler_begun.notify_one();
        handler_go.notified().await;
        "answered"
    });
    let patience = Patience { head: LONG, request: LONG, connection: LONG, ..Patience::default() };
    let stage = Stage::new(Router::new().route("/slow", route), patience).await;
    let asking = stage.get("/slow");
    let crowding = async {
        begun.notified().await;
        let held = crowd(stage.address, "", false).await;
        assert_eq!(stage.get("/live").await.0, 200);
        go.notify_one();
        held
    };
    let ((status, _, body), _held) = tokio::join!(asking, crowding);
    assert_eq!((status, body.as_str()), (200, "answered"));
}

#[tokio::test]
async fn routes_that_are_not_open_yet_answer_503_beside_health() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let late = LateRoutes::default();
    let (stop, stopped) = oneshot::channel::<()>();
    let ask = async |path: &str| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        answer(&mut stream).await.0
    };
    let vitals = Vitals::default();
    vitals.parts.check("slack").not_ready("it is away");
    let serving =
        serve(listener, late.clone(), vitals, Patience::default(), async { stopped.await.unwrap() });
    let asking = async {
        assert_eq!((ask("/live").await, ask("/ready").await, ask("/extra").await), (200, 503, 503));
        late.open(Router::new().route("/extra", get(async || "open")).into());
        assert_eq!((ask("/extra").await, ask("/other").await), (200, 404));
        stop.send(()).unwrap();
    };
    tokio::join!(serving, asking);
}

#[tokio::test]
async fn what_serves_no_vitals_shows_none() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = serve(listener, Router::new(), None, Patience::default(), async { stopped.await.unwrap() });
    let asking = async {
        for path in ["/live", "/ready", "/metrics"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            assert_eq!(answer(&mut stream).await.0, 404, "{path}");
        }
        stop.send(()).unwrap();
    };
    tokio::join!(serving, asking);
}
