//! Gemini against its documented format.

use std::time::Duration;

use ghost_base::Secret;
use ghost_investigate::model::gemini::{Gemini, Options};
use ghost_investigate::model::{
    Answer, Ask, Call, Message, Model, ModelError, Retries, Stop, Timeouts, ToolResult, Usage,
};
use serde_json::{Value, json};

use crate::model::gemini::rules::{error, fragment, last, rules, stream};
use crate::model::server::{Received, Reply, Seen, Server, ask, egress, retries, timeouts, user};

const KEY: &str = "plain-word-key-9";

pub(in crate::model) fn options(server: &Server) -> Options {
    Options {
        model: "gemini-3-pro-preview".to_owned(),
        key: Secret::new(KEY),
        base: Some(format!("{}/v1beta", server.url())),
        window: 1_000_000,
        egress: egress(),
        timeouts: timeouts(),
        retries: retries(),
    }
}

/// Asks a server that answers from a list; returns the answer, the events, and what the server saw.
async fn asked(ask: &Ask, replies: Vec<Reply>) -> (Result<Answer, ModelError>, Received, Vec<Seen>) {
    let server = Server::start(rules, replies).await;
    let received = Received::default();
    let model = Gemini::new(options(&server)).unwrap();
    let answer = model.answer(ask, &received).await;
    assert!(!format!("{model:?} {answer:?} {:?}", received.retries()).contains(KEY));
    (answer, received, server.finish())
}

/// Asks a first question.
async fn first(replies: Vec<Reply>) -> (Result<Answer, ModelError>, Received) {
    let (answer, received, _) = asked(&ask(vec![user("web-1 is slow")]), replies).await;
    (answer, received)
}

pub(in crate::model) fn done() -> Reply {
    stream(&[last(&json!([{ "text": "Done." }]), "STOP")], 11)
}

fn said(answer: &Result<Answer, ModelError>) -> &str {
    &answer.as_ref().unwrap().text
}

fn look(command: &str) -> Value {
    json!({ "functionCall": { "name": "run_shell_cmd", "args": { "command": command } } })
}

fn signed(mut part: Value, signature: &str) -> Value {
    part.as_object_mut().unwrap().insert("thoughtSignature".to_owned(), json!(signature));
    part
}

fn result(call: &Call, content: &str) -> ToolResult {
    ToolResult { id: call.id.clone(), tool: call.tool.clone(), content: content.to_owned(), is_error: false }
}

#[tokio::test]
async fn a_plain_turn_arrives_however_the_network_cuts_it() {
    let fragments =
        [fragment(&json!([{ "text": "Größe " }])), last(&json!([{ "text": "→ 1500 🙂" }]), "STOP")];
    for bytes in [1, 2, 7, 4096] {
        let (answer, received) = first(vec![stream(&fragments, bytes)]).await;
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.stop), ("Größe → 1500 🙂", Stop::End));
        assert_eq!(received.words(), "Größe → 1500 🙂");
        let usage = Usage { input: Some(900), cached: Some(600), cache_written: None, output: Some(50) };
        assert_eq!(answer.usage, usage, "thoughts are written, the cache was read");
        assert_eq!(
            (answer.investigator.provider.as_str(), answer.investigator.window),
            ("gemini", 1_000_000)
        );
    }
}

#[tokio::test]
async fn a_signed_call_comes_back_unchanged_on_its_part() {
    let parts = [
        json!({ "text": "I look." }),
        signed(look("ip -s link"), "c2lnbmF0dXJl"),
        json!({ "functionCall": { "id": "call-7", "name": "inspect_nsg", "args": {} } }),
    ];
    let fragments =
        [fragment(&json!([parts[0]])), fragment(&json!([parts[1]])), last(&json!([parts[2]]), "STOP")];
    let question = ask(vec![user("web-1 is slow")]);
    let (answer, _, _) = asked(&question, vec![stream(&fragments, 5)]).await;
    let answer = answer.unwrap();
    assert_eq!(answer.stop, Stop::Calls);
    let ids: Vec<_> = answer.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["c0_0", "call-7"]);
    assert_eq!(answer.calls[0].arguments, json!({ "command": "ip -s link" }));

    let results = vec![result(&answer.calls[0], r#"{"n":1}"#), result(&answer.calls[1], r#""ok""#)];
    let Answer { text, calls, carry, .. } = answer;
    let next = ask(vec![
        user("web-1 is slow"),
        Message::Assistant { text, calls, carry },
        Message::Results { results },
        user("and web-2"),
    ]);
    let (answer, _, seen) = asked(&next, vec![done()]).await;
    assert_eq!(said(&answer), "Done.");
    let contents = &seen[0].body["contents"];
    assert_eq!(contents[1]["parts"], json!(parts), "not a letter is changed");
    let expected = json!([
        { "functionResponse": { "name": "run_shell_cmd", "response": { "output": { "n": 1 } } } },
        { "functionResponse": { "id": "call-7", "name": "inspect_nsg", "response": { "output": "ok" } } },
        { "text": "and web-2" },
    ]);
    assert_eq!(contents[2]["parts"], expected);
}

#[tokio::test]
async fn parallel_calls_keep_their_order() {
    let fragments =
        [fragment(&json!([signed(look("a"), "c2ln"), look("b")])), last(&json!([look("c")]), "STOP")];
    let (answer, _) = first(vec![stream(&fragments, 13)]).await;
    let calls = answer.unwrap().calls;
    let turn_of: Vec<_> =
        calls.iter().map(|call| (call.id.as_str(), call.arguments["command"].as_str())).collect();
    assert_eq!(turn_of, [("c0_0", Some("a")), ("c0_1", Some("b")), ("c0_2", Some("c"))]);
}

#[tokio::test]
async fn a_turn_of_another_provider_is_sent_in_a_form_that_gemini_accepts() {
    let call = Call { id: "toolu_1".to_owned(), tool: "inspect_nsg".to_owned(), arguments: json!("[oops") };
    let results = vec![result(&call, "{}")];
    let question = ask(vec![
        user("one"),
        user("two"),
        Message::Assistant { text: String::new(), calls: vec![call], carry: None },
        Message::Results { results },
    ]);
    let (answer, _, _) = asked(&question, vec![done()]).await;
    assert_eq!(said(&answer), "Done.");
}

#[tokio::test]
async fn words_that_run_into_the_limit_are_kept() {
    let cut = stream(&[fragment(&json!([{ "text": "The first" }])), last(&json!([]), "MAX_TOKENS")], 9);
    let (answer, _) = first(vec![cut]).await;
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop, answer.calls), ("The first", Stop::Length, Vec::new()));
}

#[tokio::test]
async fn a_refusal_says_why_and_is_not_asked_again() {
    let blocked = json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" }, "usageMetadata": { "promptTokenCount": 5 } });
    for (fragments, why) in [([last(&json!([]), "SAFETY")], "SAFETY"), ([blocked], "PROHIBITED_CONTENT")] {
        let (answer, _) = first(vec![stream(&fragments, 9)]).await;
        assert_eq!(answer.unwrap().stop, Stop::Refused { why: why.to_owned() });
    }
}

#[tokio::test]
async fn a_misspelled_call_is_an_error_of_its_own() {
    let mut malformed = last(&json!([]), "MALFORMED_FUNCTION_CALL");
    malformed["candidates"][0]["finishMessage"] = json!("Malformed function call: print(");
    let (answer, _) = first(vec![stream(&[malformed], 9)]).await;
    let why = "MALFORMED_FUNCTION_CALL: Malformed function call: print(".to_owned();
    assert_eq!(answer.unwrap().stop, Stop::Malformed { why });
}

#[tokio::test]
async fn what_passes_is_asked_again() {
    let limited = json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota", "details": [
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s" }] } });
    let (answer, received) = first(vec![Reply::json(429, &limited), done()]).await;
    assert_eq!(said(&answer), "Done.");
    let retry_after = Some(Duration::from_millis(20));
    let (error, pause) = received.retries().remove(0);
    assert_eq!(error, ModelError::RateLimited { provider: "gemini".to_owned(), retry_after });
    assert!(pause >= Duration::from_millis(20));

    let half = [fragment(&json!([{ "text": "The first" }]))];
    let report = json!({ "error": { "code": 503, "status": "UNAVAILABLE", "message": "overloaded" } });
    let failures = [
        crate::model::gemini::rules::error(500, "INTERNAL", "internal"),
        crate::model::gemini::rules::error(503, "UNAVAILABLE", "overloaded"),
        Reply::text(502, "text/html", "<html>Bad gateway</html>"),
        stream(&half, 9),
        stream(&half, 9).cut(),
        stream(&[half[0].clone(), report], 9),
        stream(&[json!({ "candidates": [] })], 9),
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
    let key = json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": format!("API key not valid: {KEY}"),
        "details": [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID" }] } });
    let (answer, _) = first(vec![Reply::json(400, &key)]).await;
    assert!(matches!(answer, Err(ModelError::Unauthorized { .. })), "{answer:?}");
    let (answer, _) = first(vec![error(403, "PERMISSION_DENIED", "not yours")]).await;
    assert!(matches!(answer, Err(ModelError::Unauthorized { .. })), "{answer:?}");
    let long = "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).";
    let (answer, _) = first(vec![error(400, "INVALID_ARGUMENT", long)]).await;
    assert_eq!(answer, Err(ModelError::TooLong { provider: "gemini".to_owned() }));
    let (answer, _) = first(vec![error(404, "NOT_FOUND", "no such model")]).await;
    assert!(matches!(answer, Err(ModelError::Rejected { .. })), "{answer:?}");
    let (answer, _) = first(vec![Reply::text(200, "text/html", "<html>Sign in</html>")]).await;
    assert!(matches!(answer, Err(ModelError::Unreadable { .. })), "{answer:?}");
    let (answer, _) = first(vec![Reply::events("data: {oops\r\n\r\n", 4)]).await;
    assert!(matches!(answer, Err(ModelError::Unreadable { .. })), "{answer:?}");
}

#[tokio::test]
async fn silence_ends_in_a_timeout_unless_the_turn_is_whole() {
    let idle = Duration::from_secs(2);
    let timeout = || Err(ModelError::Timeout { provider: "gemini".to_owned(), after: idle });
    for (reply, whole) in [(stream(&[fragment(&json!([{ "text": "The" }]))], 9), false), (done(), true)] {
        let server = Server::start(rules, [reply.silence()]).await;
        let timeouts = Timeouts { idle, ..timeouts() };
        let retries = Retries { attempts: 1, ..retries() };
        let model = Gemini::new(Options { timeouts, retries, ..options(&server) }).unwrap();
        let answer = model.answer(&ask(vec![user("web-1 is slow")]), &Received::default()).await;
        let expected = if whole { Ok("Done.".to_owned()) } else { timeout() };
        assert_eq!(answer.map(|answer| answer.text), expected);
        server.finish();
    }
}

#[tokio::test]
async fn thoughts_that_gemini_no_longer_trusts_are_left_out_once() {
    let (answer, _) = first(vec![stream(&[last(&json!([signed(look("a"), "b2xk")]), "STOP")], 64)]).await;
    let Answer { text, calls, carry, .. } = answer.unwrap();
    let results = vec![result(&calls[0], "{}")];
    let turn = Message::Assistant { text, calls, carry };
    let question = ask(vec![user("one"), turn, Message::Results { results }]);
    let refusal = || error(400, "INVALID_ARGUMENT", "Corrupted thought signature.");
    let (answer, _, seen) = asked(&question, vec![refusal(), done()]).await;
    assert_eq!(said(&answer), "Done.");
    let signature = |seen: &Seen| seen.body["contents"][1]["parts"][0]["thoughtSignature"].clone();
    assert_eq!(signature(&seen[0]), json!("b2xk"));
    assert_eq!(signature(&seen[1]), json!("skip_thought_signature_validator"));
    let (answer, _, _) = asked(&question, vec![refusal(), refusal()]).await;
    assert!(matches!(answer, Err(ModelError::Rejected { .. })), "{answer:?}");
}
