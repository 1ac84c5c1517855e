//! OpenAI against the documented format of its Responses interface.

use std::time::Duration;

use ghost_base::Secret;
use ghost_investigate::model::openai::{Dialect, Limit, OpenAi, Options, Sign};
use ghost_investigate::model::{
    Answer, Ask, Call, Message, Model, ModelError, Retries, Stop, Timeouts, ToolResult, Usage,
};
use serde_json::{Value, json};

use crate::model::openai::rules::{completed, error, events, response_rules};
use crate::model::server::{Received, Reply, Seen, Server, ask, egress, retries, timeouts, user};

const KEY: &str = "plain-word-key-9";

pub(in crate::model) fn options(server: &Server) -> Options {
    Options {
        model: "gpt-5".to_owned(),
        key: Some(Secret::new(KEY)),
        sign: Sign::Bearer,
        base: Some(format!("{}/v1", server.url())),
        dialect: Dialect::Responses,
        limit: Limit::MaxCompletionTokens,
        reasons: None,
        cache_key: Some("ghost-s1".to_owned()),
        window: 400_000,
        egress: egress(),
        timeouts: timeouts(),
        retries: retries(),
    }
}

/// Asks a server that answers from a list; returns the answer, the events, and what the server saw.
async fn asked(ask: &Ask, replies: Vec<Reply>) -> (Result<Answer, ModelError>, Received, Vec<Seen>) {
    let server = Server::start(response_rules, replies).await;
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
    json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text })
}

fn item(item: &Value) -> Value {
    json!({ "type": "response.output_item.done", "output_index": 0, "item": item })
}

fn message(text: &str) -> Value {
    json!({ "type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }] })
}

fn reasoning(content: &str) -> Value {
    json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": content })
}

fn call(id: &str, tool: &str, arguments: &str) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{id}"), "status": "completed", "call_id": id, "name": tool,
        "arguments": arguments })
}

fn incomplete(reason: &str) -> Value {
    json!({ "type": "response.incomplete", "response": { "id": "resp_1", "status": "incomplete",
        "incomplete_details": { "reason": reason }, "output": [] } })
}

pub(in crate::model) fn done() -> Reply {
    events(&[words("Done."), item(&message("Done.")), completed()], 11)
}

fn said(answer: &Result<Answer, ModelError>) -> &str {
    &answer.as_ref().unwrap().text
}

fn result(call: &Call) -> ToolResult {
    ToolResult { id: call.id.clone(), tool: call.tool.clone(), content: "{}".to_owned(), is_error: false }
}

/// Tells a turn and its results.
fn turn_of(answer: Answer) -> Ask {
    let results = answer.calls.iter().map(result).collect();
    let Answer { text, calls, carry, .. } = answer;
    ask(vec![user("web-1 is slow"), Message::Assistant { text, calls, carry }, Message::Results { results }])
}

#[tokio::test]
async fn a_plain_turn_arrives_however_the_network_cuts_it() {
    let created =
        json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } });
    let stream =
        [created, words("Größe "), words("→ 1500 🙂"), item(&message("Größe → 1500 🙂")), completed()];
    for bytes in [1, 2, 7, 4096] {
        let (answer, received, seen) =
            asked(&ask(vec![user("web-1 is slow")]), vec![events(&stream, bytes)]).await;
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.stop), ("Größe → 1500 🙂", Stop::End));
        assert_eq!(received.words(), "Größe → 1500 🙂");
        let usage = Usage { input: Some(900), cached: Some(600), cache_written: None, output: Some(50) };
        assert_eq!(answer.usage, usage);
        assert_eq!(seen[0].header("authorization"), format!("Bearer {KEY}"));
        assert_eq!(seen[0].body["prompt_cache_key"], "ghost-s1");
    }
}

#[tokio::test]
async fn reasoning_and_parallel_calls_come_back_unchanged() {
    let items = [
        reasoning("gAAAA"),
        message("I look."),
        call("call_a", "run_shell_cmd", "{\"command\": \"ip -s link\"}"),
        call("call_b", "inspect_nsg", ""),
        call("call_c", "inspect_nsg", "[oops"),
    ];
    let fragment = |text: &str| json!({ "type": "response.function_call_arguments.delta", "item_id": "fc_call_a", "output_index": 2, "delta": text });
    let mut stream = vec![fragment("{\"command\": "), fragment("\"ip -s link\"}")];
    stream.extend(items.iter().map(item));
    stream.push(completed());
    let server = Server::start(response_rules, [events(&stream, 5), done()]).await;
    let model = OpenAi::new(options(&server)).unwrap();
    let answer = model.answer(&ask(vec![user("web-1 is slow")]), &Received::default()).await.unwrap();
    assert_eq!(answer.stop, Stop::Calls);
    let calls: Vec<_> = answer.calls.iter().map(|call| (call.id.as_str(), &call.arguments)).collect();
    let arguments = [json!({ "command": "ip -s link" }), json!({}), json!("[oops")];
    assert_eq!(calls, [("call_a", &arguments[0]), ("call_b", &arguments[1]), ("call_c", &arguments[2])]);
    let answer = model.answer(&turn_of(answer), &Received::default()).await;
    assert_eq!(said(&answer), "Done.");
    let seen = server.finish();
    let input = seen[1].body["input"].as_array().unwrap();
    assert_eq!(input[1..6], items, "not a letter is changed");
    let answered: Vec<_> = input[6..].iter().map(|item| item["call_id"].as_str().unwrap()).collect();
    assert_eq!(answered, ["call_a", "call_b", "call_c"]);
}

#[tokio::test]
async fn a_call_that_the_limit_cut_off_is_left_out() {
    let mut cut = call("call_b", "inspect_nsg", "{\"comm");
    cut["status"] = json!("incomplete");
    let whole = call("call_a", "run_shell_cmd", "{}");
    let stream = [item(&reasoning("gAAAA")), item(&whole), item(&cut), incomplete("max_output_tokens")];
    let (answer, _) = first(vec![events(&stream, 9)]).await;
    let answer = answer.unwrap();
    assert_eq!((answer.stop.clone(), answer.calls.len()), (Stop::Length, 1));
    let (answer, _, seen) = asked(&turn_of(answer), vec![done()]).await;
    assert_eq!(said(&answer), "Done.");
    assert!(!seen[0].body.to_string().contains("call_b"));
}

#[tokio::test]
async fn a_refusal_says_why_and_is_not_asked_again() {
    let mut refusal = message("");
    refusal["content"] = json!([{ "type": "refusal", "refusal": "No." }]);
    let (answer, _) = first(vec![events(&[item(&refusal), completed()], 9)]).await;
    assert_eq!(answer.unwrap().stop, Stop::Refused { why: "No.".to_owned() });
    let (answer, _) = first(vec![events(&[incomplete("content_filter")], 9)]).await;
    assert_eq!(answer.unwrap().stop, Stop::Refused { why: "content_filter".to_owned() });
}

#[tokio::test]
async fn what_passes_is_asked_again() {
    let limited = error(429, "rate_limit_exceeded", "slow down").header("retry-after-ms", "20");
    let (answer, received) = first(vec![limited, done()]).await;
    assert_eq!(said(&answer), "Done.");
    let retry_after = Some(Duration::from_millis(20));
    let (error, pause) = received.retries().remove(0);
    assert_eq!(error, ModelError::RateLimited { provider: "openai".to_owned(), retry_after });
    assert!(pause >= Duration::from_millis(20));

    let failed = json!({ "type": "response.failed", "response": { "id": "resp_1", "status": "failed",
        "error": { "code": "server_error", "message": "The model failed." } } });
    let report =
        json!({ "type": "error", "code": "server_error", "message": "The server failed.", "param": null });
    let failures = [
        crate::model::openai::rules::error(500, "server_error", "internal"),
        crate::model::openai::rules::error(503, "overloaded", "overloaded"),
        Reply::text(502, "text/html", "<html>Bad gateway</html>"),
        events(&[words("The first")], 9),
        events(&[words("The first")], 9).cut(),
        events(&[words("The first"), failed], 9),
        events(&[words("The first"), report], 9),
    ];
    for failure in failures {
        let (answer, received) = first(vec![failure, done()]).await;
        assert_eq!(
            (said(&answer), received.retries().len()),
            ("Done.", 1),
            "nothing is left of the broken turn"
        );
        assert!(matches!(received.retries()[0].0, ModelError::Unavailable { .. }));
    }
}

#[tokio::test]
async fn what_stays_is_not_asked_again() {
    let masked = format!("Incorrect API key provided: plain-wo****ey-9 or {KEY}.");
    let (answer, _) = first(vec![error(401, "invalid_api_key", &masked)]).await;
    let Err(ModelError::Unauthorized { what, .. }) = &answer else { panic!("{answer:?}") };
    assert!(
        !what.contains("plain-wo") && !what.contains("ey-9"),
        "not even a part of the key is shown: {what}"
    );
    let (answer, _) = first(vec![error(429, "insufficient_quota", "You exceeded your current quota.")]).await;
    assert!(matches!(answer, Err(ModelError::Unauthorized { .. })), "{answer:?}");
    let too_long = Err(ModelError::TooLong { provider: "openai".to_owned() });
    let long = "Your input exceeds the context window of this model.";
    let (answer, _) = first(vec![error(400, "context_length_exceeded", long)]).await;
    assert_eq!(answer, too_long);
    let failed = json!({ "type": "response.failed", "response": { "error": { "code": "context_length_exceeded", "message": long } } });
    let (answer, _) = first(vec![events(&[failed], 9)]).await;
    assert_eq!(answer, too_long);
    let (answer, _) = first(vec![error(404, "model_not_found", "no such model")]).await;
    assert!(matches!(answer, Err(ModelError::Rejected { .. })), "{answer:?}");
    let (answer, _) = first(vec![Reply::text(200, "text/html", "<html>Sign in</html>")]).await;
    assert!(matches!(answer, Err(ModelError::Unreadable { .. })), "{answer:?}");
    let (answer, _) = first(vec![Reply::events("data: {oops\n\n", 4)]).await;
    assert!(matches!(answer, Err(ModelError::Unreadable { .. })), "{answer:?}");
}

#[tokio::test]
async fn silence_ends_in_a_timeout() {
    let server = Server::start(response_rules, [events(&[words("The")], 9).silence()]).await;
    let idle = Duration::from_secs(2);
    let timeouts = Timeouts { idle, ..timeouts() };
    let retries = Retries { attempts: 1, ..retries() };
    let model = OpenAi::new(Options { timeouts, retries, ..options(&server) }).unwrap();
    let answer = model.answer(&ask(vec![user("web-1 is slow")]), &Received::default()).await;
    assert_eq!(answer, Err(ModelError::Timeout { provider: "openai".to_owned(), after: idle }));
    server.finish();
    let (answer, _) = first(vec![done().silence()]).await;
    assert_eq!(said(&answer), "Done.", "a whole turn needs no end of the connection");
}

#[tokio::test]
async fn reasoning_that_openai_cannot_read_is_left_out_once() {
    let stream = [item(&reasoning("gOLD")), item(&call("call_a", "inspect_nsg", "{}")), completed()];
    let (answer, _) = first(vec![events(&stream, 64)]).await;
    let question = turn_of(answer.unwrap());
    // Another server is another host; its items are sent anew without asking.
    let (answer, _, seen) = asked(&question, vec![done()]).await;
    assert_eq!(said(&answer), "Done.");
    let has_reasoning = |seen: &Seen| seen.body["input"].to_string().contains("gOLD");
    assert!(!has_reasoning(&seen[0]));

    let refusal =
        error(400, "invalid_encrypted_content", "The encrypted content gOLD could not be verified.");
    let server = Server::start(response_rules, [events(&stream, 64), refusal, done()]).await;
    let model = OpenAi::new(options(&server)).unwrap();
    let answer = model.answer(&ask(vec![user("web-1 is slow")]), &Received::default()).await.unwrap();
    let answer = model.answer(&turn_of(answer), &Received::default()).await;
    assert_eq!(said(&answer), "Done.");
    let seen = server.finish();
    assert!(has_reasoning(&seen[1]) && !has_reasoning(&seen[2]));
}

#[tokio::test]
async fn a_model_that_does_not_reason_is_not_asked_for_its_reasoning() {
    let server = Server::start(response_rules, [done()]).await;
    let model =
        OpenAi::new(Options { model: "gpt-4.1".to_owned(), cache_key: None, ..options(&server) }).unwrap();
    let answer = model.answer(&ask(vec![user("web-1 is slow")]), &Received::default()).await;
    assert_eq!(said(&answer), "Done.");
    let seen = server.finish();
    assert_eq!(seen[0].body.get("prompt_cache_key"), None);
}
