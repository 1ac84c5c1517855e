//! Conversations that go on: what is sent again, and how.

use ghost_investigate::model::{Answer, Ask, Carry, Message, Model as _, Silent};
use proptest::collection;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::model::anthropic::rules::hold;
use crate::model::anthropic::wire::{Stream, again, call, error, fine, provider, results, said};
use crate::model::server::{Reply, Server, ask, user};

/// Asks with a conversation and returns the messages that were sent.
async fn sent(messages: Vec<Message>) -> Vec<Value> {
    let server = Server::start(hold, [fine()]).await;
    provider(&server).answer(&ask(messages), &Silent).await.unwrap();
    let seen = server.finish().remove(0);
    let mut messages = seen.body["messages"].as_array().unwrap().clone();
    // The mark of the cache has a fact of its own.
    let last = messages.last_mut().unwrap()["content"].as_array_mut().unwrap().last_mut().unwrap();
    assert!(last.as_object_mut().unwrap().remove("cache_control").is_some());
    messages
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

#[tokio::test]
async fn results_stand_first_and_belong_to_their_calls() {
    let calls = vec![
        call("toolu_1", "run_shell_cmd", json!({"command": "a"})),
        call("toolu_2", "inspect_nsg", json!({})),
    ];
    let messages = vec![
        user("web-1 is slow"),
        user("since noon"),
        said("Looking. \n", calls, None),
        results(&[("toolu_2", "denied", true), ("toolu_1", "{\"status\":\"ok\"}", false)]),
        user("also check web-2"),
    ];
    let expected = [
        json!({"role": "user", "content": [text("web-1 is slow"), text("since noon")]}),
        json!({"role": "assistant", "content": [
            text("Looking."),
            {"type": "tool_use", "id": "toolu_1", "name": "run_shell_cmd", "input": {"command": "a"}},
            {"type": "tool_use", "id": "toolu_2", "name": "inspect_nsg", "input": {}},
        ]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "{\"status\":\"ok\"}"},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "denied", "is_error": true},
            text("also check web-2"),
        ]}),
    ];
    assert_eq!(sent(messages).await, expected);
}

#[tokio::test]
async fn whatever_a_conversation_holds_the_request_is_one_that_is_accepted() {
    let odd = call("call: 1/ü", "run shell.cmd", json!("ip route"));
    let messages = vec![
        user("x"),
        said("", vec![], None),
        said(" ", vec![], None),
        user("  "),
        said("no result follows", vec![call("a", "t", json!(null))], None),
        user("go on"),
        said("", vec![odd, call("", "", json!([1]))], None),
        results(&[("call: 1/ü", "", false), ("never called", "x", false)]),
        results(&[("a", "twice", false)]),
        said("two", vec![], None),
        said("in a row", vec![], None),
        user("and?"),
    ];
    let sent = sent(messages).await;
    assert_eq!(sent[1]["content"][1]["input"], json!({"not_an_object": null}));
    let missing = json!({
        "type": "tool_result", "tool_use_id": "a", "content": "no result was recorded", "is_error": true,
    });
    assert_eq!(sent[2]["content"], json!([missing, text("go on")]));
    assert_eq!(sent[3]["content"][0]["name"], "run_shell_cmd");
    assert_eq!(sent[3]["content"][0]["input"], json!({"not_an_object": "ip route"}));
    assert_eq!(sent[5]["content"], json!([text("two"), text("in a row")]));
}

/// Any message; its calls get names of their own.
fn message() -> impl Strategy<Value = Message> {
    let words = prop_oneof![Just(""), Just(" \n"), Just("x"), Just("größe \u{0}")];
    let name = prop_oneof![Just("run_shell_cmd"), Just(""), Just("a b"), Just("größe")];
    let arguments =
        prop_oneof![Just(json!({"a": {}})), Just(json!(null)), Just(json!("{")), Just(json!([1]))];
    let calls = collection::vec((name, arguments), 0..3);
    let calls = calls
        .prop_map(|calls| calls.into_iter().map(|(name, arguments)| call("", name, arguments)).collect());
    prop_oneof![
        words.clone().prop_map(user),
        (words.clone(), calls).prop_map(|(words, calls)| said(words, calls, None)),
        (words, any::<bool>())
            .prop_map(|(words, is_error)| results(&[("1:0", words, is_error), ("x", words, false)])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_conversation_is_encoded_as_one_that_is_accepted(between in collection::vec(message(), 0..9)) {
        let mut messages = vec![user("x")];
        for (turn, mut message) in between.into_iter().enumerate() {
            if let Message::Assistant { calls, .. } = &mut message {
                calls.iter_mut().enumerate().for_each(|(n, call)| call.id = format!("{turn}:{n}"));
            }
            messages.push(message);
        }
        messages.push(user("and?"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(sent(messages));
    }
}

#[tokio::test]
async fn the_end_of_the_conversation_is_marked_for_the_cache() {
    let server = Server::start(hold, [fine()]).await;
    let calls = vec![call("toolu_1", "run_shell_cmd", json!({}))];
    let messages = vec![user("x"), said("", calls, None), results(&[("toolu_1", "{}", false)])];
    provider(&server).answer(&ask(messages), &Silent).await.unwrap();
    let body = server.finish().remove(0).body;
    let marked = body.to_string().matches("cache_control").count();
    assert_eq!(body["messages"][2]["content"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(marked, 3, "the tools, the system prompt and the end");
}

/// A turn with thoughts of both kinds.
fn thinking() -> Reply {
    Stream::new()
        .thought("The route is missing.", &["EqQBCg", "IYAS=="])
        .hidden_thought("EmwKAhgB")
        .thought("", &["sigOnly"])
        .words(&["I look."])
        .call("toolu_1", "run_shell_cmd", &["{\"command\": \"ip route\"}"])
        .end("tool_use")
        .reply()
}

fn thoughts() -> Value {
    json!([
        {"type": "thinking", "thinking": "The route is missing.", "signature": "EqQBCgIYAS=="},
        {"type": "redacted_thinking", "data": "EmwKAhgB"},
        {"type": "thinking", "thinking": "", "signature": "sigOnly"},
        text("I look."),
        {"type": "tool_use", "id": "toolu_1", "name": "run_shell_cmd", "input": {"command": "ip route"}},
    ])
}

fn spoken() -> Value {
    json!([
        text("I look."),
        {"type": "tool_use", "id": "toolu_1", "name": "run_shell_cmd", "input": {"command": "ip route"}},
    ])
}

/// Asks twice; what is asked the second time is up to `change`. Returns what was sent as the first turn then.
async fn second(change: impl FnOnce(&mut Ask, &mut Answer)) -> Value {
    let server = Server::start(hold, [thinking(), fine()]).await;
    let provider = provider(&server);
    let mut ask = ask(vec![user("web-1 is slow")]);
    let mut answer = provider.answer(&ask, &Silent).await.unwrap();
    assert_eq!(answer.text, "I look.");
    change(&mut ask, &mut answer);
    let results = results(&[("toolu_1", "{}", false)]);
    ask.messages.extend([again(&answer), results]);
    ask.turn = 1;
    provider.answer(&ask, &Silent).await.unwrap();
    server.finish().remove(1).body["messages"][1]["content"].clone()
}

#[tokio::test]
async fn a_signed_thought_is_handed_back_unchanged() {
    assert_eq!(second(|_, _| {}).await, thoughts());
}

#[tokio::test]
async fn a_thought_survives_the_ledger() {
    let stored = |_: &mut Ask, answer: &mut Answer| {
        let text = serde_json::to_string(&answer.carry).unwrap();
        answer.carry = serde_json::from_str(&text).unwrap();
    };
    assert_eq!(second(stored).await, thoughts());
}

#[tokio::test]
async fn a_thought_is_left_out_where_anything_before_it_changed() {
    assert_eq!(second(|ask, _| ask.messages = vec![user("a summary")]).await, spoken());
    assert_eq!(second(|ask, _| ask.system.push('.')).await, spoken());
    assert_eq!(second(|ask, _| drop(ask.tools.pop())).await, spoken());
}

#[tokio::test]
async fn a_carry_that_does_not_fit_is_ignored() {
    let carry = |change: fn(&mut Carry)| {
        move |_: &mut Ask, answer: &mut Answer| change(answer.carry.as_mut().unwrap())
    };
    assert_eq!(second(carry(|carry| carry.provider = "gemini".to_owned())).await, spoken());
    assert_eq!(second(carry(|carry| carry.value = json!({"blocks": 7}))).await, spoken());
    assert_eq!(second(carry(|carry| carry.value["model"] = json!("claude-other"))).await, spoken());
    assert_eq!(second(carry(|carry| carry.value["blocks"] = json!([]))).await, spoken());
}

#[tokio::test]
async fn thoughts_that_the_provider_will_not_take_back_are_taken_out() {
    let what = "messages.1.content.0: Invalid `signature` in `thinking` block. \
        The block is bound to a different conversation.";
    let refused = error(400, "invalid_request_error", what);
    let server = Server::start(hold, [thinking(), refused, fine()]).await;
    let provider = provider(&server);
    let mut ask = ask(vec![user("web-1 is slow")]);
    let answer = provider.answer(&ask, &Silent).await.unwrap();
    ask.messages.extend([again(&answer), results(&[("toolu_1", "{}", false)])]);
    assert_eq!(provider.answer(&ask, &Silent).await.unwrap().text, "fine");
    let sent: Vec<_> =
        server.finish().iter().map(|seen| seen.body["messages"][1]["content"].clone()).collect();
    assert_eq!(sent, [Value::Null, thoughts(), spoken()]);
}

#[tokio::test]
async fn a_thought_that_was_cut_off_is_not_kept() {
    let server = Server::start(hold, [Stream::new().thought("half", &[]).end("max_tokens").reply()]).await;
    let answer = provider(&server).answer(&ask(vec![user("x")]), &Silent).await.unwrap();
    assert_eq!((answer.carry, answer.text.as_str()), (None, ""));
    server.finish();
}
