//! OpenAI, and those who speak like it, against the documented format of Chat Completions.

use std::time::Duration;

use ghost_base::Secret;
use ghost_investigate::model::openai::{Dialect, Limit, OpenAi, Options, Sign};
use ghost_investigate::model::{
    Answer, Ask, BuildError, Call, Message, Model, ModelError, Retries, Stop, Timeouts, ToolResult, Usage,
};
use serde_json::{Value, json};

use crate::model::openai::rules::{chat_rules, chunks, delta, ended, error};
use crate::model::server::{Received, Reply, Seen, Server, ask, egress, retries, timeouts, user};

const KEY: &str = "plain-word-key-9";

pub(in crate::model) fn options(server: &Server) -> Options {
    Options {
        model: "m".to_owned(),
        key: Some(Secret::new(KEY)),
        sign: Sign::Bearer,
        base: Some(format!("{}/v1", server.url())),
        dialect: Dialect::Chat,
        limit: Limit::MaxTokens,
        reasons: None,
        cache_key: None,
        window: 8_192,
        egress: egress(),
        timeouts: timeouts(),
        retries: retries(),
    }
}

/// Asks a server that answers from a list; returns the answer, the events, and what the server saw.
async fn asked(ask: &Ask, replies: Vec<Reply>) -> (Result<Answer, ModelError>, Received, Vec<Seen>) {
    let server = Server::start(chat_rules, replies).await;
    let received = Received::default();
    let model = OpenAi::new(options(&server)).unwrap();
    let answer = model.answer(ask, &received).await;
    assert!(!format!("{model:?} {answer:?} {:?}", received.retries()).contains(KEY));
    (answer, received, server.finish())
}

/// Asks a first question.
async fn first(replies: Vec<Reply>) -> (Result<Answer, ModelError>, Received) {
    let (answer, received, _) = asked(&ask(vec![user("web-1 is slow")]), replies).await;
    (answer, received)
}

fn words(text: &str) -> Value {
    delta(&json!({ "content": text }))
}

/// A stream with an end.
fn stream(fragments: &[Value], reason: &str, bytes: usize) -> Reply {
    chunks(&[fragments, &ended(reason)].concat(), bytes)
}

pub(in crate::model) fn done() -> Reply {
    stream(&[words("Done.")], "stop", 11)
}

fn said(answer: &Result<Answer, ModelError>) -> &str {
    &answer.as_ref().unwrap().text
}

/// Chunks of a call, as OpenAI writes it.
fn call(index: u64, id: &str, tool: &str, fragments: &[&str]) -> Vec<Value> {
    let function = json!({ "name": tool, "arguments": "" });
    let begin = json!({ "index": index, "id": id, "type": "function", "function": function });
    let more = |text: &&str| json!({ "index": index, "function": { "arguments": text } });
    let all = std::iter::once(begin).chain(fragments.iter().map(more));
    all.map(|fragment| delta(&json!({ "tool_calls": [fragment] }))).collect()
}

/// Tells a turn and its results.
fn turn_of(turn: u32, answer: Answer) -> Ask {
    let result = |call: &Call| ToolResult {
        id: call.id.clone(),
        tool: call.tool.clone(),
        content: "{}".to_owned(),
        is_error: false,
    };
    let results = answer.calls.iter().map(result).collect();
    let Answer { text, calls, carry, .. } = answer;
    let messages =
        vec![user("web-1 is slow"), Message::Assistant { text, calls, carry }, Message::Results { results }];
    Ask { turn, ..ask(messages) }
}

#[tokio::test]
async fn a_plain_turn_arrives_however_the_network_cuts_it() {
    let fragments = [
        delta(&json!({ "role": "assistant", "content": "", "refusal": null })),
        words("Größe "),
        words("→ 1500 🙂"),
    ];
    for bytes in [1, 2, 7, 4096] {
        let (answer, received) = first(vec![stream(&fragments, "stop", bytes)]).await;
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.stop), ("Größe → 1500 🙂", Stop::End));
        assert_eq!(received.words(), "Größe → 1500 🙂");
        let usage = Usage { input: Some(900), cached: Some(600), cache_written: None, output: Some(50) };
        assert_eq!(answer.usage, usage);
    }
}

#[tokio::test]
async fn parallel_calls_arrive_in_fragments_and_are_each_answered() {
    let mut fragments = call(0, "call_a", "run_shell_cmd", &["{\"comm", "and\": \"ip", " -s link\"}"]);
    fragments.extend(call(1, "call_b", "inspect_nsg", &["[oops"]));
    let (answer, _) = first(vec![stream(&fragments, "tool_calls", 5)]).await;
    let answer = answer.unwrap();
    assert_eq!(answer.stop, Stop::Calls);
    let arguments: Vec<_> = answer.calls.iter().map(|call| call.arguments.clone()).collect();
    assert_eq!(arguments, [json!({ "command": "ip -s link" }), json!("[oops")]);
    let (answer, _, seen) = asked(&turn_of(1, answer), vec![done()]).await;
    assert_eq!(said(&answer), "Done.");
    assert_eq!(seen[0].body["messages"][4]["tool_call_id"], "call_b");
}

#[tokio::test]
async fn calls_without_names_get_names_that_stay() {
    let whole = |tool: &str| json!({ "index": 0, "id": "", "function": { "name": tool, "arguments": { "command": "x" } } });
    let turn = || {
        let fragments = delta(&json!({ "role": "assistant", "tool_calls": [whole("run_shell_cmd")] }));
        stream(&[fragments], "stop", 9)
    };
    let (answer, _) = first(vec![turn()]).await;
    let answer = answer.unwrap();
    assert_eq!((answer.calls[0].id.as_str(), answer.stop.clone()), ("c0_0", Stop::Calls));
    assert_eq!(answer.calls[0].arguments, json!({ "command": "x" }));
    let (answer, _, _) = asked(&turn_of(1, answer), vec![turn()]).await;
    assert_eq!(answer.unwrap().calls[0].id, "c1_0");
}

#[tokio::test]
async fn a_call_that_the_limit_cut_off_is_left_out() {
    let mut fragments = call(0, "call_a", "run_shell_cmd", &["{}"]);
    fragments.extend(call(1, "call_b", "inspect_nsg", &["{\"comm"]));
    let (answer, _) = first(vec![stream(&fragments, "length", 9)]).await;
    let answer = answer.unwrap();
    assert_eq!((answer.stop, answer.calls.len()), (Stop::Length, 1));
}

#[tokio::test]
async fn a_refusal_says_why_and_is_not_asked_again() {
    let fragments = [delta(&json!({ "refusal": "I can" })), delta(&json!({ "refusal": "not." }))];
    let (answer, _) = first(vec![stream(&fragments, "stop", 9)]).await;
    assert_eq!(answer.unwrap().stop, Stop::Refused { why: "I cannot.".to_owned() });
    let (answer, _) = first(vec![stream(&[words("So")], "content_filter", 9)]).await;
    assert_eq!(answer.unwrap().stop, Stop::Refused { why: "content_filter".to_owned() });
}

#[tokio::test]
async fn what_servers_do_differently_is_understood() {
    let hidden = json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "content": null, "reasoning_content": "hm" } }] });
    let filter = json!({ "choices": [], "prompt_filter_results": [{ "prompt_index": 0 }] });
    let end = json!({ "choices": [{ "index": 0, "delta": { "content": "" }, "finish_reason": "stop" }] });
    let text: String = [filter, hidden, words("Done."), end]
        .iter()
        .map(|chunk| format!(": PROCESSING\n\ndata: {chunk}\n\n"))
        .collect();
    let (answer, received) = first(vec![Reply::events(&text, 9)]).await;
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), received.words().as_str()), ("Done.", "Done."), "no [DONE], no usage");
    assert_eq!(answer.usage, Usage::default());
}

#[tokio::test]
async fn what_passes_is_asked_again() {
    let limited = error(429, "rate_limit_exceeded", "slow down").header("retry-after", "0.02");
    let (answer, received) = first(vec![limited, done()]).await;
    assert_eq!(said(&answer), "Done.");
    let retry_after = Some(Duration::from_millis(20));
    let received = received.retries().remove(0);
    assert_eq!(received.0, ModelError::RateLimited { provider: "openai".to_owned(), retry_after });

    let half = format!("data: {}\n\n", words("The first"));
    let report = json!({ "id": "gen-1", "error": { "code": 502, "message": "The upstream broke." },
        "choices": [{ "index": 0, "delta": { "content": "" }, "finish_reason": "error" }] });
    let failures = [
        error(500, "server_error", "internal"),
        Reply::text(503, "text/plain", "overloaded"),
        Reply::text(502, "text/html", "<html>Bad gateway</html>"),
        Reply::events(&half, 9),
        Reply::events(&half, 9).cut(),
        chunks(&[words("The first"), report], 9),
        chunks(
            &[
                json!({ "error": { "message": "The engine is dead.", "type": "InternalServerError", "code": 500 } }),
            ],
            9,
        ),
    ];
    for failure in failures {
        let (answer, received) = first(vec![failure, done()]).await;
        assert_eq!(
            (said(&answer), received.retries().len()),
            ("Done.", 1),
            "nothing is left of the broken turn"
        );
        assert!(
            matches!(received.retries()[0].0, ModelError::Unavailable { .. }),
            "{:?}",
            received.retries()
        );
    }
}

#[tokio::test]
async fn what_stays_is_not_asked_again() {
    let azure = json!({ "statusCode": 401, "message": "Unauthorized. Access token is missing or invalid." });
    for reply in [error(401, "invalid_api_key", &format!("wrong: {KEY}")), Reply::json(401, &azure)] {
        let (answer, _) = first(vec![reply]).await;
        assert!(matches!(answer, Err(ModelError::Unauthorized { .. })), "{answer:?}");
    }
    let words = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.";
    let vllm =
        json!({ "object": "error", "message": words, "type": "BadRequestError", "param": null, "code": 400 });
    let llama = json!({ "error": { "code": 400, "message": "too many", "type": "exceed_context_size_error", "n_ctx": 8192 } });
    for reply in
        [Reply::json(400, &vllm), Reply::json(200, &llama), error(400, "context_length_exceeded", words)]
    {
        let (answer, _) = first(vec![reply]).await;
        assert_eq!(answer, Err(ModelError::TooLong { provider: "openai".to_owned() }));
    }
    let fast = json!({ "detail": [{ "loc": ["body", "tools"], "msg": "extra", "type": "value_error" }] });
    let (answer, _) = first(vec![Reply::json(422, &fast)]).await;
    assert!(matches!(answer, Err(ModelError::Rejected { .. })), "{answer:?}");
    let (answer, _) = first(vec![Reply::text(200, "text/html", "<html>Sign in</html>")]).await;
    assert!(matches!(answer, Err(ModelError::Unreadable { .. })), "{answer:?}");
}

#[tokio::test]
async fn silence_ends_in_a_timeout_unless_the_turn_is_whole() {
    let idle = Duration::from_secs(2);
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    for (fragments, whole) in [(vec![words("Done.")], false), (vec![words("Done."), end], true)] {
        let text: String = fragments.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        let server = Server::start(chat_rules, [Reply::events(&text, 9).silence()]).await;
        let timeouts = Timeouts { idle, ..timeouts() };
        let retries = Retries { attempts: 1, ..retries() };
        let model = OpenAi::new(Options { timeouts, retries, ..options(&server) }).unwrap();
        let answer = model.answer(&ask(vec![user("web-1 is slow")]), &Received::default()).await;
        if whole {
            assert_eq!(said(&answer), "Done.");
        } else {
            assert_eq!(answer, Err(ModelError::Timeout { provider: "openai".to_owned(), after: idle }));
        }
        server.finish();
    }
}

#[tokio::test]
async fn azure_keeps_its_version_and_its_header() {
    let server = Server::start(chat_rules, [done()]).await;
    let base = format!("{}/openai/deployments/d?api-version=2024-10-21", server.url());
    let azure = Options {
        base: Some(base),
        sign: Sign::ApiKey,
        limit: Limit::MaxCompletionTokens,
        ..options(&server)
    };
    let answer =
        OpenAi::new(azure).unwrap().answer(&ask(vec![user("web-1 is slow")]), &Received::default()).await;
    assert_eq!(said(&answer), "Done.");
    let seen = server.finish();
    assert_eq!(seen[0].path, "/openai/deployments/d/chat/completions?api-version=2024-10-21");
    assert_eq!((seen[0].header("api-key"), seen[0].header("authorization")), (KEY, ""));
    assert_eq!(seen[0].body["max_completion_tokens"], 1024);
}

#[tokio::test]
async fn a_server_on_this_machine_needs_no_key() {
    for key in [None, Some(Secret::new(" "))] {
        let server = Server::start(chat_rules, [done()]).await;
        let model = OpenAi::new(Options { key, ..options(&server) }).unwrap();
        let answer = model.answer(&ask(vec![user("web-1 is slow")]), &Received::default()).await;
        assert_eq!(said(&answer), "Done.");
        assert_eq!(server.finish()[0].header("authorization"), "");
    }
}

#[tokio::test]
async fn what_cannot_work_is_refused_before_anything_is_sent() {
    let server = Server::start(chat_rules, []).await;
    let made = |options: Options| OpenAi::new(options).map(drop).unwrap_err();
    let nameless = Options { model: " ".to_owned(), ..options(&server) };
    assert!(matches!(made(nameless), BuildError::Address { .. }));
    let away = Options { base: None, ..options(&server) };
    assert_eq!(made(away), BuildError::Forbidden { host: "api.openai.com".to_owned() });
    server.finish();
}
