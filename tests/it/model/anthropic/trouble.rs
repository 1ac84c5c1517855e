//! Everything that can go wrong between here and a turn.

use std::time::Duration;

use ghost_investigate::model::anthropic::Anthropic;
use ghost_investigate::model::{
    Answer, BuildError, Egress, Model as _, ModelError, Retries, Silent, Timeouts, ToolSpec,
};
use serde_json::json;
use tokio::net::TcpListener;

use crate::model::anthropic::rules::hold;
use crate::model::anthropic::wire::{KEY, Stream, error, fine, options, provider};
use crate::model::server::{Received, Reply, Server, ask, timeouts, user};

const NAME: &str = "anthropic";

fn unavailable(what: &str) -> ModelError {
    ModelError::Unavailable { provider: NAME.to_owned(), what: what.to_owned() }
}

/// Asks once; returns the answer and the errors that were asked again after.
async fn asked(replies: impl IntoIterator<Item = Reply>) -> (Result<Answer, ModelError>, Vec<ModelError>) {
    let server = Server::start(hold, replies).await;
    let received = Received::default();
    let answer = provider(&server).answer(&ask(vec![user("x")]), &received).await;
    server.finish();
    (answer, received.retries().into_iter().map(|(error, _)| error).collect())
}

/// What is asked again is answered in the end.
#[track_caller]
fn passes((answer, retries): (Result<Answer, ModelError>, Vec<ModelError>), expected: &ModelError) {
    assert_eq!(answer.unwrap().text, "fine");
    assert_eq!(retries, std::slice::from_ref(expected));
}

/// What is not asked again stays what it is.
#[track_caller]
fn stays((answer, retries): (Result<Answer, ModelError>, Vec<ModelError>)) -> ModelError {
    assert_eq!(retries, []);
    answer.unwrap_err()
}

#[tokio::test]
async fn a_limited_rate_is_waited_out_as_asked() {
    let limited = error(429, "rate_limit_error", "slow down").header("retry-after-ms", "30");
    let server = Server::start(hold, [limited, fine()]).await;
    let received = Received::default();
    let answer = provider(&server).answer(&ask(vec![user("x")]), &received).await.unwrap();
    assert_eq!(answer.text, "fine");
    let pause = Duration::from_millis(30);
    let expected = ModelError::RateLimited { provider: NAME.to_owned(), retry_after: Some(pause) };
    let [(error, after)] = received.retries().try_into().unwrap();
    assert_eq!(error, expected);
    assert!(after >= pause);
    server.finish();
}

#[tokio::test]
async fn a_pause_that_is_too_long_is_an_error() {
    let limited = error(429, "rate_limit_error", "slow down").header("retry-after", "900");
    let retry_after = Some(Duration::from_secs(900));
    let expected = ModelError::RateLimited { provider: NAME.to_owned(), retry_after };
    assert_eq!(stays(asked([limited]).await), expected);
}

#[tokio::test]
async fn what_passes_is_asked_again() {
    let overloaded = error(529, "overloaded_error", "Overloaded");
    passes(asked([overloaded, fine()]).await, &unavailable("HTTP 529, Overloaded"));
    let broken = error(500, "api_error", "Internal server error");
    passes(asked([broken, fine()]).await, &unavailable("HTTP 500, Internal server error"));
    let page = Reply::text(502, "text/html", "<html><h1>Bad gateway</h1></html>");
    passes(asked([page, fine()]).await, &unavailable("HTTP 502, a page of HTML"));
    passes(asked([Reply::text(503, "text/plain", ""), fine()]).await, &unavailable("HTTP 503"));
}

#[tokio::test]
async fn a_stream_that_breaks_off_leaves_nothing_half() {
    let begun = || Stream::new().words(&["half"]).half_call("toolu_1", "run_shell_cmd", &["{\"command\":"]);
    let (answer, retries) = asked([begun().reply().cut(), fine()]).await;
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.calls), ("fine", Vec::new()));
    assert!(matches!(retries.as_slice(), [ModelError::Unavailable { .. }]), "{retries:?}");
    passes(asked([begun().reply(), fine()]).await, &unavailable("the answer broke off"));
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_an_error() {
    let middle = |kind: &str| {
        let event = json!({"type": "error", "error": {"type": kind, "message": "Overloaded"}});
        Stream::new().words(&["half"]).event(&event).reply()
    };
    passes(asked([middle("overloaded_error"), fine()]).await, &unavailable("HTTP 500, Overloaded"));
    passes(asked([middle("error_of_the_future"), fine()]).await, &unavailable("HTTP 500, Overloaded"));
    let what = "HTTP 500, Overloaded".to_owned();
    let rejected = ModelError::Rejected { provider: NAME.to_owned(), what };
    assert_eq!(stays(asked([middle("invalid_request_error")]).await), rejected);
}

#[tokio::test]
async fn an_end_to_asking_comes_with_the_last_error() {
    let replies = (1..=4).map(|n| error(529, "overloaded_error", &format!("try {n}")));
    let (answer, retries) = asked(replies).await;
    assert_eq!(answer.unwrap_err(), unavailable("HTTP 529, try 4"));
    assert_eq!(retries.len(), 3);
}

#[tokio::test]
async fn a_wrong_key_is_not_tried_twice() {
    for (status, kind) in [(401, "authentication_error"), (403, "permission_error"), (402, "billing_error")] {
        let what = format!("HTTP {status}, no");
        let expected = ModelError::Unauthorized { provider: NAME.to_owned(), what };
        assert_eq!(stays(asked([error(status, kind, "no")]).await), expected);
    }
}

#[tokio::test]
async fn money_that_is_spent_is_no_limit_of_the_rate() {
    let error = json!({
        "type": "rate_limit_error", "message": "x", "details": {"error_code": "enforced_spend_limit_reached"},
    });
    let error = stays(asked([Reply::json(429, &json!({"type": "error", "error": error}))]).await);
    assert!(matches!(error, ModelError::Unauthorized { .. }));
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_an_error_of_its_own() {
    let expected = ModelError::TooLong { provider: NAME.to_owned() };
    let long = error(400, "invalid_request_error", "prompt is too long: 215432 tokens > 200000 maximum");
    assert_eq!(stays(asked([long]).await), expected);
    let large = Reply::text(413, "text/html", "<html>Request Entity Too Large</html>");
    assert_eq!(stays(asked([large]).await), expected);
}

#[tokio::test]
async fn a_wrong_request_is_not_repeated() {
    let rejected = |what: &str| ModelError::Rejected { provider: NAME.to_owned(), what: what.to_owned() };
    let unknown = error(404, "not_found_error", "model: claude-test-1");
    assert_eq!(stays(asked([unknown]).await), rejected("HTTP 404, model: claude-test-1"));
    let wrong = error(400, "invalid_request_error", "temperature: \n out of range");
    assert_eq!(stays(asked([wrong]).await), rejected("HTTP 400, temperature: out of range"));
}

#[tokio::test]
async fn an_answer_that_is_not_as_documented_is_not_guessed_at() {
    let event = |value: serde_json::Value| Stream::new().event(&value).reply();
    let fragment = json!({"type": "text_delta", "text": "x"});
    let text = json!({"type": "text", "text": ""});
    let start = json!({"type": "content_block_start", "index": 0, "content_block": text});
    let wrong = [
        Reply::text(200, "text/html", "<html>log in first</html>"),
        Reply::json(200, &json!({"type": "message", "content": []})),
        Reply::events("data: {\"type\": \n\n", 64),
        event(json!({"type": "content_block_delta", "index": 3, "delta": fragment})),
        event(json!({"type": "content_block_start", "index": "one", "content_block": text})),
        Stream::new().event(&start).event(&start).reply(),
        Stream::new()
            .words(&["x"])
            .event(&json!({"type": "content_block_delta", "index": 0, "delta": fragment}))
            .reply(),
        Stream::new().call("", "run_shell_cmd", &[]).end("tool_use").reply(),
        Stream::new().call("a", "t", &[]).call("a", "t", &[]).end("tool_use").reply(),
        event(json!({"type": "message_start", "message": {}})),
        event(json!({"type": "message_stop"})),
        Stream::default().words(&["x"]).end("end_turn").reply(),
    ];
    for reply in wrong {
        let error = stays(asked([reply.clone()]).await);
        assert!(matches!(error, ModelError::Unreadable { .. }), "{error:?} after {reply:?}");
    }
}

#[tokio::test]
async fn silence_ends_in_a_timeout() {
    let silent = [Stream::default().reply(), Stream::new().words(&["half"]).reply()];
    for reply in silent {
        let server = Server::start(hold, [reply.silence()]).await;
        let mut options = options(&server.url());
        options.retries = Retries { attempts: 1, ..options.retries };
        let short = Duration::from_millis(500);
        options.timeouts = Timeouts { idle: short, ..timeouts() };
        let error =
            Anthropic::new(options).unwrap().answer(&ask(vec![user("x")]), &Silent).await.unwrap_err();
        assert_eq!(error, ModelError::Timeout { provider: NAME.to_owned(), after: short });
        server.finish();
    }
}

#[tokio::test]
async fn a_server_that_never_answers_ends_in_a_timeout() {
    // The system accepts the connection; nobody reads from it.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut options = options(&format!("http://{}", listener.local_addr().unwrap()));
    let short = Duration::from_millis(100);
    options.timeouts = Timeouts { idle: short, ..timeouts() };
    let received = Received::default();
    let error = Anthropic::new(options).unwrap().answer(&ask(vec![user("x")]), &received).await.unwrap_err();
    assert_eq!(error, ModelError::Timeout { provider: NAME.to_owned(), after: short });
    assert_eq!(received.retries().len(), 3, "a timeout is asked again after");
}

#[tokio::test]
async fn an_answer_that_goes_on_and_on_ends_in_a_timeout() {
    let server = Server::start(hold, [Stream::new().reply().silence()]).await;
    let mut options = options(&server.url());
    options.retries = Retries { attempts: 1, ..options.retries };
    let short = Duration::from_millis(500);
    options.timeouts = Timeouts { total: short, ..timeouts() };
    let error = Anthropic::new(options).unwrap().answer(&ask(vec![user("x")]), &Silent).await.unwrap_err();
    assert_eq!(error, ModelError::Timeout { provider: NAME.to_owned(), after: short });
    server.finish();
}

#[tokio::test]
async fn a_body_without_end_is_refused() {
    let endless = Reply::events(&": nothing\n".repeat(1_800_000), 1 << 16);
    let error = stays(asked([endless]).await);
    assert_eq!(error.to_string(), "the answer of anthropic cannot be read: it is longer than 16777216 bytes");
    let page = Reply::text(400, "text/plain", &"word ".repeat(1 << 20));
    let error = stays(asked([page]).await);
    assert!(error.to_string().len() < 1000, "{error}");
}

#[tokio::test]
async fn nobody_there_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let received = Received::default();
    let provider = Anthropic::new(options(&format!("http://{address}"))).unwrap();
    let error = provider.answer(&ask(vec![user("x")]), &received).await.unwrap_err();
    assert!(matches!(&error, ModelError::Unavailable { what, .. } if what.contains("refused")), "{error}");
    assert_eq!(received.retries().len(), 3);
}

#[tokio::test]
async fn nothing_is_said_to_a_server_that_cannot_prove_who_it_is() {
    let server = Server::start(hold, []).await;
    let provider = Anthropic::new(options(&server.url().replace("http:", "https:"))).unwrap();
    let error = provider.answer(&ask(vec![user("x")]), &Silent).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable { .. }), "{error}");
    assert_eq!(server.finish().len(), 0);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Server::start(hold, []).await;
    for status in [301, 302, 307, 308] {
        let to = Reply::text(status, "text/plain", "")
            .header("location", &format!("{}/v1/messages", elsewhere.url()));
        let what = format!("HTTP {status}");
        assert_eq!(stays(asked([to]).await), ModelError::Rejected { provider: NAME.to_owned(), what });
    }
    assert_eq!(elsewhere.finish().len(), 0);
}

#[tokio::test]
async fn the_key_is_in_no_text() {
    let echoed = format!("invalid x-api-key: {KEY}");
    let event = json!({"type": "error", "error": {"type": "api_error", "message": echoed}});
    let details = json!({"type": "refusal", "explanation": echoed});
    let refusal = json!({"stop_reason": "refusal", "stop_details": details});
    let replies = [
        error(401, "authentication_error", &echoed),
        Reply::text(400, "text/plain", &echoed),
        Reply::text(200, "text/plain", &echoed),
        Stream::new().event(&event).reply(),
        Stream::new().end_with(&refusal, &json!({})).reply(),
    ];
    for reply in replies {
        let server = Server::start(hold, [reply]).await;
        let mut options = options(&server.url());
        options.retries = Retries { attempts: 1, ..options.retries };
        let shown = format!("{options:?}");
        let provider = Anthropic::new(options).unwrap();
        let answer = provider.answer(&ask(vec![user("x")]), &Silent).await;
        let error = answer.as_ref().err().map(ToString::to_string);
        let shown = format!("{shown} {provider:?} {answer:?} {error:?}");
        assert!(!shown.contains(KEY), "{shown}");
        assert!(shown.contains("invalid x-api-key"), "the rest is shown: {shown}");
        let seen = server.finish();
        assert!(!format!("{} {}", seen[0].path, seen[0].body).contains(KEY));
    }
}

#[tokio::test]
async fn a_tool_that_cannot_be_named_here_is_not_sent() {
    let server = Server::start(hold, []).await;
    for name in ["", "run shell", "größe", &"x".repeat(65)] {
        let mut ask = ask(vec![user("x")]);
        let parameters = json!({"type": "object"});
        ask.tools.push(ToolSpec { name: name.to_owned(), description: String::new(), parameters });
        let error = provider(&server).answer(&ask, &Silent).await.unwrap_err();
        assert!(matches!(error, ModelError::Rejected { .. }));
    }
    server.finish();
}

#[test]
fn without_egress_the_provider_itself_is_out_of_reach() {
    let forbidden = |base: Option<&str>, egress: Egress| {
        let mut options = options("");
        options.base = base.map(str::to_owned);
        options.egress = egress;
        Anthropic::new(options).err()
    };
    let host = |host: &str| Some(BuildError::Forbidden { host: host.to_owned() });
    let listed = || Egress::Only(vec!["https://models.example.com/v1".to_owned()]);
    assert_eq!(forbidden(None, Egress::Only(Vec::new())), host("api.anthropic.com"));
    assert_eq!(forbidden(Some("https://example.com"), listed()), host("example.com"));
    assert_eq!(forbidden(Some("https://models.example.com/v1"), listed()), None);
    assert_eq!(forbidden(None, Egress::Anywhere), None);
}
