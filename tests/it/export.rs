//! Post-mortems that are sent: what leaves, what comes of it, and what never leaves.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::IntoResponse as _;
use ghost_agent::export::{
    GitHubPlace, MAX_BODY_CHARS, MAX_NOTE_CHARS, PagerDutyPlace, Prepared, SendError, Sent, github,
    pagerduty, send,
};
use ghost_base::Secret;
use ghost_investigate::report::postmortem::{Postmortem, postmortem};
use ghost_session::export::read as read_export;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const LEDGER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/agent/ledger-1.export.jsonl");
const TOKEN: &str = "tok-3n-0123456789abcdef";

/// What a stand-in got.
#[derive(Debug, Clone)]
struct Got {
    path: String,
    headers: HeaderMap,
    body: Value,
}

/// A service on this machine that answers one thing.
struct Service {
    url: String,
    got: Arc<Mutex<Vec<Got>>>,
    _tasks: JoinSet<()>,
}

type Answer = (StatusCode, Vec<(&'static str, &'static str)>, String);

async fn answer(
    State((got, answer)): State<(Arc<Mutex<Vec<Got>>>, Answer)>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> axum::response::Response {
    let body = serde_json::from_slice(&body).unwrap();
    got.lock().unwrap().push(Got { path: uri.to_string(), headers, body });
    let (status, extra, text) = answer;
    let mut response = (status, text).into_response();
    for (name, value) in extra {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}

impl Service {
    async fn new(status: u16, headers: &[(&'static str, &'static str)], body: impl ToString) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let got = Arc::new(Mutex::new(Vec::new()));
        let answers = (StatusCode::from_u16(status).unwrap(), headers.to_vec(), body.to_string());
        let app = Router::new().fallback(answer).with_state((Arc::clone(&got), answers));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, got, _tasks: tasks }
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }
}

fn document() -> Postmortem {
    let export = read_export(std::fs::read(LEDGER).unwrap().as_slice()).unwrap();
    let recorded = export.verify().unwrap();
    postmortem(&export.session, &recorded, &Default::default()).unwrap()
}

fn issue(url: &str) -> Prepared {
    let place = GitHubPlace {
        url: url.to_owned(),
        repository: "net/incidents".to_owned(),
        labels: vec!["incident".to_owned()],
    };
    github(&place, &document()).unwrap()
}

fn note(url: &str) -> Prepared {
    let place = PagerDutyPlace {
        url: format!("{url}/"),
        from: "ghost@example.com".to_owned(),
        incident: "Q1K2J3".to_owned(),
    };
    pagerduty(&place, &document()).unwrap()
}

async fn sent(prepared: &Prepared) -> Result<Sent, SendError> {
    drop(rustls::crypto::ring::default_provider().install_default());
    send(prepared, &Secret::new(TOKEN)).await
}

#[tokio::test]
async fn an_issue_is_created_as_the_interface_of_github_wants_it() {
    let made = json!({"number": 14, "html_url": "https://github.com/net/incidents/issues/14"});
    let service = Service::new(201, &[], made).await;
    let place = sent(&issue(&service.url)).await.unwrap().place;
    assert_eq!(place, "https://github.com/net/incidents/issues/14");
    let [got] = service.got().try_into().unwrap();
    assert_eq!(got.path, "/repos/net/incidents/issues");
    for (name, value) in [
        ("authorization", format!("Bearer {TOKEN}")),
        ("accept", "application/vnd.github+json".to_owned()),
        ("x-github-api-version", "2022-11-28".to_owned()),
        ("content-type", "application/json".to_owned()),
    ] {
        assert_eq!(got.headers[name], value);
    }
    assert!(got.headers["user-agent"].to_str().unwrap().starts_with("ghost-agent/"), "GitHub wants one");
    let (title, body) = (got.body["title"].as_str().unwrap(), got.body["body"].as_str().unwrap());
    assert!(title.starts_with("Post-mortem: ") && title.chars().count() <= 256, "{title}");
    assert!(body.contains("## Timeline") && body.contains("## Action items"), "{body}");
    assert!(!body.starts_with("# ") && body.chars().count() <= MAX_BODY_CHARS);
    assert_eq!(got.body["labels"], json!(["incident"]));
}

#[tokio::test]
async fn a_note_is_written_as_the_interface_of_pagerduty_wants_it() {
    let service = Service::new(200, &[], json!({"note": {"id": "PWL7QXS", "content": "…"}})).await;
    assert_eq!(sent(&note(&service.url)).await.unwrap().place, "PWL7QXS");
    let [got] = service.got().try_into().unwrap();
    assert_eq!(got.path, "/incidents/Q1K2J3/notes");
    assert_eq!(got.headers["authorization"], format!("Token token={TOKEN}"));
    assert_eq!(got.headers["from"], "ghost@example.com");
    assert_eq!(got.headers["accept"], "application/vnd.pagerduty+json;version=2");
    let content = got.body["note"]["content"].as_str().unwrap();
    assert!(content.starts_with("Post-mortem ghost-test: ") && content.chars().count() <= MAX_NOTE_CHARS);
}

/// A status, headers beside it, and what it comes to.
type Refusal = (u16, &'static [(&'static str, &'static str)], SendError);

#[tokio::test]
async fn every_refusal_says_whether_something_was_written_and_what_to_do() {
    let github = "GitHub";
    let said = json!({"message": format!("Bad credentials {TOKEN}")});
    let hidden = "Bad credentials [secret]".to_owned();
    let what = "repository net/incidents".to_owned();
    let limited = |seconds: Option<u64>| SendError::Limited {
        service: github,
        retry_after: seconds.map(std::time::Duration::from_secs),
    };
    let cases: Vec<Refusal> = vec![
        (401, &[], SendError::Unauthorized { service: github }),
        (403, &[], SendError::Forbidden { service: github, said: hidden.clone() }),
        (403, &[("retry-after", "61")], limited(Some(61))),
        (403, &[("x-ratelimit-remaining", "0")], limited(None)),
        (404, &[], SendError::NotFound { service: github, what }),
        (410, &[], SendError::Refused { service: github, status: 410, said: hidden.clone() }),
        (413, &[], SendError::TooLarge { service: github }),
        (422, &[], SendError::Refused { service: github, status: 422, said: hidden.clone() }),
        (429, &[("retry-after", "7")], limited(Some(7))),
        (429, &[], limited(None)),
        (500, &[], SendError::Faulty { service: github, status: 500 }),
        (503, &[], SendError::Faulty { service: github, status: 503 }),
        // A redirect would take the token elsewhere.
        (
            307,
            &[("location", "http://127.0.0.1:1/")],
            SendError::Refused { service: github, status: 307, said: hidden },
        ),
    ];
    for (status, headers, wanted) in cases {
        let service = Service::new(status, headers, &said).await;
        let error = sent(&issue(&service.url)).await.unwrap_err();
        assert_eq!(error, wanted);
        assert!(!error.to_string().contains(TOKEN), "{error}");
        assert_eq!(service.got().len(), 1, "one attempt: {status}");
    }
    let service = Service::new(400, &[], json!({"error": {"message": "Requester User Not Found"}})).await;
    let error = sent(&note(&service.url)).await.unwrap_err().to_string();
    assert_eq!(error, "PagerDuty refuses it with status 400: Requester User Not Found");
}

#[tokio::test]
async fn what_was_taken_and_cannot_be_named_is_not_called_a_failure_to_send() {
    for body in ["", "no JSON", "{}", r#"{"html_url": 7}"#] {
        let service = Service::new(201, &[], body).await;
        let error = sent(&issue(&service.url)).await.unwrap_err();
        assert!(matches!(error, SendError::Unreadable { .. }), "{body}: {error}");
        assert!(error.hint().unwrap().contains("before you send it again"));
    }
    let service = Service::new(201, &[], "x".repeat(3 << 20)).await;
    let error = sent(&issue(&service.url)).await.unwrap_err();
    assert!(matches!(error, SendError::Unreadable { .. }), "{error}");
}

#[tokio::test]
async fn a_connection_that_is_cut_off_is_not_one_that_never_was() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let cut = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        // It read the request, so it may have written something.
        assert!(stream.read(&mut [0_u8; 64]).await.unwrap() > 0);
        stream.write_all(b"HTTP/1.1 201 Cre").await.unwrap();
        drop(stream);
    };
    let prepared = issue(&url);
    let (error, ()) = tokio::join!(sent(&prepared), cut);
    let error = error.unwrap_err();
    assert!(matches!(error, SendError::CutOff { .. }), "{error}");
    drop(listener);
    let error = sent(&prepared).await.unwrap_err();
    assert!(matches!(error, SendError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("nothing was sent"));
}

#[test]
fn what_is_shown_before_it_is_sent_holds_no_token() {
    let shown = issue("http://127.0.0.1:1").shown();
    assert!(
        shown.starts_with(
            "POST http://127.0.0.1:1/repos/net/incidents/issues\nAuthorization: Bearer [secret]\n"
        )
    );
    assert!(shown.contains("\"labels\""), "{shown}");
}

#[test]
fn an_incident_is_named_by_an_id_and_by_nothing_else() {
    for incident in ["", "../users", "Q1/notes", "Q 1", "Q1?x=y"] {
        let place = PagerDutyPlace {
            url: "http://127.0.0.1:1".to_owned(),
            from: "a@b".to_owned(),
            incident: incident.to_owned(),
        };
        assert!(matches!(pagerduty(&place, &document()), Err(SendError::Unusable { .. })), "{incident}");
    }
}

/// A data folder with a session, and a configuration that names a service.
struct Stage {
    folder: TempDir,
}

impl Stage {
    fn new(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let token = folder.path().join("token");
        std::fs::write(&token, format!("{TOKEN}\n")).unwrap();
        let token = token.display();
        let config = format!(
            "[export.github]\nurl = '{url}'\nrepository = 'net/incidents'\ntoken_file = '{token}'\n[export.pagerduty]\nurl = '{url}'\ntoken_file = '{token}'\nfrom = 'ghost@example.com'\n"
        );
        std::fs::write(folder.path().join("ghost.toml"), config).unwrap();
        let stage = Self { folder };
        assert!(stage.ghost(&["sessions", "import", LEDGER]).status.success());
        stage
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    fn ghost(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
        command.args(arguments).arg("--data-dir").arg(self.path().join("data"));
        command.arg("--config").arg(self.path().join("ghost.toml"));
        command.env_clear().stdin(Stdio::null()).output().unwrap()
    }

    #[track_caller]
    fn check(&self, arguments: &[&str], code: i32) -> (String, String) {
        let output = self.ghost(&[&["export", "postmortem", "ghost-test"], arguments].concat());
        let (out, error) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {out}{error}");
        assert!(code == 0 || out.is_empty(), "{out}");
        assert!(!out.contains(TOKEN) && !error.contains(TOKEN));
        (out, error)
    }
}

#[test]
fn a_session_is_written_as_markdown_and_as_one_document() {
    let stage = Stage::new("http://127.0.0.1:1");
    let (markdown, _) = stage.check(&[], 0);
    assert!(markdown.starts_with("# Post-mortem: ") && markdown.contains("## Timeline"), "{markdown}");
    let (text, _) = stage.check(&["--to", "json"], 0);
    let read: Postmortem = serde_json::from_str(&text).unwrap();
    assert_eq!((read.format, read.session.as_str()), (1, "ghost-test"));
    assert_eq!(stage.check(&["--json"], 0).0, text);
    let file = stage.path().join("p.md");
    stage.check(&["--out", file.to_str().unwrap()], 0);
    assert_eq!(std::fs::read_to_string(file).unwrap(), markdown);
    let missing = stage.ghost(&["export", "postmortem", "ghost-none"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("there is no session ghost-none"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_that_was_only_to_be_shown() {
    let service = Service::new(201, &[], json!({"html_url": "https://git.example/1"})).await;
    let stage = Stage::new(&service.url);
    for arguments in [
        &["--to", "github", "--print"][..],
        &["--to", "github", "--print", "--json"],
        &["--to", "pagerduty", "--incident", "Q1", "--print"],
    ] {
        let (out, _) = stage.check(arguments, 0);
        assert!(out.contains(&service.url), "{out}");
    }
    assert!(service.got().is_empty());
    let (out, _) = stage.check(&["--to", "github"], 0);
    assert_eq!(out, "GitHub: written as https://git.example/1\n");
    let (out, _) = stage.check(&["--to", "github", "--repository", "ops/other", "--json"], 0);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer, json!({"sent": true, "service": "GitHub", "place": "https://git.example/1"}));
    let paths: Vec<String> = service.got().into_iter().map(|got| got.path).collect();
    assert_eq!(paths, ["/repos/net/incidents/issues", "/repos/ops/other/issues"]);
}

#[test]
fn what_cannot_be_sent_says_why_and_what_to_do() {
    let stage = Stage::new("http://127.0.0.1:1");
    let (_, error) = stage.check(&["--to", "github"], 1);
    assert!(
        error.contains("GitHub cannot be reached, nothing was sent") && error.contains("hint: "),
        "{error}"
    );
    for (arguments, part) in [
        (&["--to", "pagerduty"][..], "--incident"),
        (&["--to", "pagerduty", "--incident", "../x"], "it is an id"),
        (&["--to", "github", "--repository", "x"], "OWNER/NAME"),
        (&["--print"], "anything else sends nothing"),
        (&["--to", "github", "--out", "x"], "--out goes with"),
        (&["--repository", "a/b"], "--repository goes with"),
    ] {
        let (_, error) = stage.check(arguments, 2);
        assert!(error.contains(part), "{arguments:?}: {error}");
    }
    std::fs::write(stage.path().join("token"), "\n").unwrap();
    let (_, error) = stage.check(&["--to", "github"], 1);
    assert!(error.contains("is empty"), "{error}");
    std::fs::write(stage.path().join("ghost.toml"), "").unwrap();
    let (_, error) = stage.check(&["--to", "github"], 1);
    assert!(error.contains("[export.github] of the configuration says nothing"), "{error}");
}
