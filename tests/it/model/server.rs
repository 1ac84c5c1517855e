//! A server that answers from a script, holds every request against a provider's rules and keeps what it saw.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use futures_util::stream;
use ghost_investigate::model::{Ask, Egress, Listener, Message, ModelError, Retries, Timeouts, ToolSpec};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) method: Method,
    /// The path with its query.
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    /// The body; null where it was no JSON.
    pub(super) body: Value,
}

impl Seen {
    /// Returns a header, empty where there is none.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

/// One answer of the script.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    /// What is sent, chunk by chunk.
    fragments: Vec<Bytes>,
    end: End,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// As it should.
    Whole,
    /// The connection breaks.
    Cut,
    /// Nothing more comes, but the connection stays.
    Silence,
}

impl Reply {
    /// A stream of events, in chunks of so many bytes.
    pub(super) fn events(text: &str, fragment: usize) -> Self {
        let fragments = text.as_bytes().chunks(fragment).map(Bytes::copy_from_slice).collect();
        Self { status: 200, headers: Vec::new(), fragments, end: End::Whole }
            .header("content-type", "text/event-stream; charset=utf-8")
    }

    /// An answer in one chunk.
    pub(super) fn text(status: u16, kind: &str, text: &str) -> Self {
        let fragments = vec![Bytes::copy_from_slice(text.as_bytes())];
        Self { status, headers: Vec::new(), fragments, end: End::Whole }.header("content-type", kind)
    }

    /// An answer of JSON.
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", &body.to_string())
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Breaks the connection behind the last chunk.
    pub(super) fn cut(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// Says nothing more behind the last chunk.
    pub(super) fn silence(mut self) -> Self {
        self.end = End::Silence;
        self
    }

    fn response(self) -> Response {
        let end = self.end;
        let fragments = stream::unfold(VecDeque::from(self.fragments), move |mut left| async move {
            match (left.pop_front(), end) {
                (Some(fragment), _) => Some((Ok(fragment), left)),
                (None, End::Whole) => None,
                (None, End::Cut) => Some((Err(std::io::Error::other("cut")), left)),
                (None, End::Silence) => std::future::pending().await,
            }
        });
        let mut response = Response::builder().status(self.status);
        for (name, value) in &self.headers {
            response = response.header(name, value);
        }
        response.body(Body::from_stream(fragments)).unwrap()
    }
}

/// Says what a provider's documentation would refuse about a request: the words, and the answer that it documents for it.
pub(super) type Rules = fn(&Seen) -> Result<(), (String, Reply)>;

#[derive(Default)]
struct Record {
    replies: VecDeque<Reply>,
    seen: Vec<Seen>,
    /// What was refused, and what was asked beyond the script.
    faults: Vec<String>,
}

#[derive(Clone)]
struct Shared {
    rules: Rules,
    record: Arc<Mutex<Record>>,
}

/// The server. It ends with its owner, who has to look at what went wrong through [`Server::finish`].
pub(super) struct Server {
    pub(super) address: SocketAddr,
    record: Arc<Mutex<Record>>,
    tasks: JoinSet<()>,
}

impl Server {
    /// Starts a server that holds requests against rules and answers from a list.
    pub(super) async fn start(rules: Rules, replies: impl IntoIterator<Item = Reply>) -> Self {
        let record = Record { replies: replies.into_iter().collect(), ..Record::default() };
        let record = Arc::new(Mutex::new(record));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Shared { rules, record: Arc::clone(&record) };
        let router = Router::new().fallback(answer).with_state(shared);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, record, tasks }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends the server. Fails where a request broke the rules, came unexpected, or an expected one did not come.
    #[track_caller]
    pub(super) fn finish(mut self) -> Vec<Seen> {
        self.tasks.abort_all();
        let record = self.record.lock().unwrap();
        assert!(record.faults.is_empty(), "the documentation refuses this:\n{}", record.faults.join("\n"));
        assert!(record.replies.is_empty(), "{} answers were not asked for", record.replies.len());
        record.seen.clone()
    }
}

async fn answer(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let path = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let seen = Seen { method, path, headers, body };
    let refused = (shared.rules)(&seen).err();
    let mut record = shared.record.lock().unwrap();
    record.seen.push(seen);
    if let Some((fault, reply)) = refused {
        record.faults.push(fault);
        return reply.response();
    }
    match record.replies.pop_front() {
        Some(reply) => reply.response(),
        None => {
            record.faults.push("a request beyond the script".to_owned());
            let status = StatusCode::IM_A_TEAPOT.as_u16();
            Reply::text(status, "text/plain", "the script is over").response()
        }
    }
}

/// Hears a turn and keeps it.
#[derive(Default)]
pub(super) struct Received {
    words: Mutex<String>,
    retries: Mutex<Vec<(ModelError, Duration)>>,
}

impl Received {
    pub(super) fn words(&self) -> String {
        self.words.lock().unwrap().clone()
    }

    pub(super) fn retries(&self) -> Vec<(ModelError, Duration)> {
        self.retries.lock().unwrap().clone()
    }
}

impl Listener for Received {
    fn text(&self, words: &str) {
        self.words.lock().unwrap().push_str(words);
    }

    fn retry(&self, error: &ModelError, after: Duration) {
        self.retries.lock().unwrap().push((error.clone(), after));
    }
}

/// Timeouts that no healthy answer on this machine runs into.
pub(super) fn timeouts() -> Timeouts {
    let long = Duration::from_secs(60);
    Timeouts { connect: long, idle: long, total: long }
}

/// As many retries as usual, without the waiting.
pub(super) fn retries() -> Retries {
    Retries { attempts: 4, pause: Duration::from_millis(1), total: Duration::from_secs(60) }
}

pub(super) fn egress() -> Egress {
    Egress::Only(Vec::new())
}

/// A first question, with two tools.
pub(super) fn ask(messages: Vec<Message>) -> Ask {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        parameters: json!({
            "type": "object",
            "properties": { "command": { "type": "string" } },
            "required": ["command"],
        }),
    };
    Ask {
        turn: 0,
        system: "You look into networks.".to_owned(),
        tools: vec![tool("run_shell_cmd"), tool("inspect_nsg")],
        messages,
        max_output_tokens: 1024,
        fruitless: 0,
        shortened: 0,
    }
}

pub(super) fn user(text: &str) -> Message {
    Message::User { text: text.to_owned() }
}
