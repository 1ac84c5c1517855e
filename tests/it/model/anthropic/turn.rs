//! Turns that arrive as they should.

use ghost_investigate::model::anthropic::Anthropic;
use ghost_investigate::model::{Answer, Investigator, Model as _, Silent, Stop, Usage};
use serde_json::json;

use crate::model::anthropic::rules::hold;
use crate::model::anthropic::wire::{MODEL, Stream, call, fine, options, provider};
use crate::model::server::{Received, Reply, Server, ask, user};

/// Asks once for a stream and returns the answer.
async fn answer(reply: Reply) -> Answer {
    let server = Server::start(hold, [reply]).await;
    let answer = provider(&server).answer(&ask(vec![user("web-1 is slow")]), &Silent).await.unwrap();
    server.finish();
    answer
}

#[tokio::test]
async fn words_are_passed_on_as_they_come_and_answered_whole() {
    let stream = Stream::new().words(&["Hel", "lo ", "größer 🦀"]).words(&["second"]).end("end_turn");
    for fragment in [1, 2, 3, 64, 1 << 20] {
        let server = Server::start(hold, [stream.reply_by(fragment)]).await;
        let received = Received::default();
        let provider = provider(&server);
        let answer = provider.answer(&ask(vec![user("web-1 is slow")]), &received).await.unwrap();
        assert_eq!(answer.text, "Hello größer 🦀\n\nsecond");
        assert_eq!(received.words(), answer.text);
        assert_eq!(answer.stop, Stop::End);
        assert_eq!((answer.calls, answer.carry), (Vec::new(), None));
        let host = Some(server.address.to_string());
        let brain =
            Investigator { provider: "anthropic".to_owned(), model: MODEL.to_owned(), host, window: 200_000 };
        assert_eq!(answer.investigator, brain);
        server.finish();
    }
}

#[tokio::test]
async fn a_request_says_what_the_documentation_asks_for() {
    let server = Server::start(hold, [Stream::new().words(&["x"]).end("end_turn").reply()]).await;
    provider(&server).answer(&ask(vec![user("web-1 is slow")]), &Silent).await.unwrap();
    let seen = server.finish().remove(0);
    let mark = json!({"type": "ephemeral"});
    let schema =
        json!({"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]});
    let words = |text: &str| json!([{"type": "text", "text": text, "cache_control": mark}]);
    let expected = json!({
        "model": MODEL,
        "max_tokens": 1024,
        "stream": true,
        "system": words("You look into networks."),
        "tools": [
            {"name": "run_shell_cmd", "description": "Does run_shell_cmd.", "input_schema": schema},
            {"name": "inspect_nsg", "description": "Does inspect_nsg.", "input_schema": schema, "cache_control": mark},
        ],
        "messages": [{"role": "user", "content": words("web-1 is slow")}],
    });
    assert_eq!(seen.body, expected);
}

#[tokio::test]
async fn a_call_is_put_together_from_its_fragments() {
    let fragments = ["", "{\"comm", "and\": \"ip ", "route\", \"n\": 1", "}"];
    let stream =
        Stream::new().words(&["Looking."]).call("toolu_1", "run_shell_cmd", &fragments).end("tool_use");
    let answer = answer(stream.reply()).await;
    assert_eq!(answer.calls, [call("toolu_1", "run_shell_cmd", json!({"command": "ip route", "n": 1}))]);
    assert_eq!((answer.text.as_str(), answer.stop), ("Looking.", Stop::Calls));
}

#[tokio::test]
async fn parallel_calls_stay_in_order() {
    let stream = Stream::new()
        .call("toolu_1", "run_shell_cmd", &["{\"command\":\"a\"}"])
        .call("toolu_2", "inspect_nsg", &["{\"command\":\"b\"}"])
        .call("toolu_3", "run_shell_cmd", &[])
        .end("tool_use");
    let expected = [
        call("toolu_1", "run_shell_cmd", json!({"command": "a"})),
        call("toolu_2", "inspect_nsg", json!({"command": "b"})),
        call("toolu_3", "run_shell_cmd", json!({})),
    ];
    assert_eq!(answer(stream.reply()).await.calls, expected);
}

#[tokio::test]
async fn arguments_that_are_no_object_stay_as_the_model_wrote_them() {
    for written in ["{\"command\": ", "[1]", "ip route"] {
        let stream = Stream::new().call("toolu_1", "run_shell_cmd", &[written]).end("tool_use");
        let answer = answer(stream.reply()).await;
        assert_eq!(answer.calls, [call("toolu_1", "run_shell_cmd", json!(written))]);
        assert_eq!(answer.stop, Stop::Calls);
    }
}

#[tokio::test]
async fn a_call_that_the_limit_cut_off_is_left_out() {
    let before = || Stream::new().words(&["I try"]).call("toolu_1", "inspect_nsg", &["{\"a\":1}"]);
    for reason in ["max_tokens", "model_context_window_exceeded", "pause_turn"] {
        for stream in [
            before().half_call("toolu_2", "run_shell_cmd", &["{\"command\": \"rm -r /tmp/x"]),
            before().call("toolu_2", "run_shell_cmd", &["{\"command\": \"rm -r /tmp/x"]),
            before().half_call("toolu_2", "run_shell_cmd", &[]),
        ] {
            let answer = answer(stream.end(reason).reply()).await;
            assert_eq!(answer.calls, [call("toolu_1", "inspect_nsg", json!({"a": 1}))]);
            assert_eq!((answer.text.as_str(), answer.stop), ("I try", Stop::Length));
        }
    }
}

#[tokio::test]
async fn a_refusal_says_why_and_calls_nothing() {
    let begun =
        || Stream::new().words(&["Hello.."]).half_call("toolu_1", "run_shell_cmd", &["{\"command\": \"x\"}"]);
    let usage = json!({"output_tokens": 5});
    let details = json!({"type": "refusal", "category": "cyber", "explanation": "This could\ndo harm."});
    let delta = json!({"stop_reason": "refusal", "stop_sequence": null, "stop_details": details});
    let refused = answer(begun().end_with(&delta, &usage).reply()).await;
    assert_eq!(refused.stop, Stop::Refused { why: "This could do harm.".to_owned() });
    assert_eq!((refused.calls, refused.carry), (Vec::new(), None));
    let bare = answer(begun().end("refusal").reply()).await;
    assert_eq!(bare.stop, Stop::Refused { why: "no reason was given".to_owned() });
}

#[tokio::test]
async fn tokens_of_the_cache_are_counted_in() {
    let usage = json!({
        "input_tokens": 21, "cache_creation_input_tokens": 188_086, "cache_read_input_tokens": 400, "output_tokens": 1,
        "cache_creation": {"ephemeral_5m_input_tokens": 188_086, "ephemeral_1h_input_tokens": 0},
    });
    let stream = Stream::with_usage(&usage).words(&["x"]).end("end_turn");
    let expected = Usage {
        input: Some(21 + 188_086 + 400),
        cached: Some(400),
        cache_written: Some(188_086),
        output: Some(15),
    };
    assert_eq!(answer(stream.reply()).await.usage, expected);
}

#[tokio::test]
async fn the_last_count_of_tokens_holds_and_none_is_not_zero() {
    let delta = json!({"stop_reason": "stop_sequence", "stop_sequence": "x"});
    let usage = json!({"input_tokens": 30, "cache_read_input_tokens": 7, "output_tokens": 89});
    let answer_ = answer(Stream::new().words(&["x"]).end_with(&delta, &usage).reply()).await;
    let expected = Usage { input: Some(37), cached: Some(7), cache_written: None, output: Some(89) };
    assert_eq!((answer_.usage, answer_.stop), (expected, Stop::End));
    let silent = Stream::with_usage(&json!(null)).words(&["x"]).end_with(&delta, &json!(null));
    assert_eq!(answer(silent.reply()).await.usage, Usage::default());
}

#[tokio::test]
async fn what_the_documentation_reserves_is_passed_over() {
    let stream = Stream::new()
        .event(&json!({"type": "ping"}))
        .event(&json!({"type": "event_of_the_future", "index": 7}))
        .event(&json!({"type": "content_block_start", "index": 40, "content_block": {"type": "new_kind", "x": 1}}))
        .event(&json!({"type": "content_block_delta", "index": 40, "delta": {"type": "new_delta", "x": 1}}))
        .event(&json!({"type": "content_block_stop", "index": 40}))
        .words(&["x"])
        .end("end_turn");
    assert_eq!(answer(stream.reply()).await.text, "x");
}

#[tokio::test]
async fn a_turn_of_nothing_is_a_turn() {
    let answer = answer(Stream::new().end("end_turn").reply()).await;
    assert_eq!((answer.text.as_str(), answer.stop), ("", Stop::End));
}

#[tokio::test]
async fn a_base_address_may_end_with_the_version() {
    let server = Server::start(hold, [fine()]).await;
    let provider = Anthropic::new(options(&format!("{}/v1/", server.url()))).unwrap();
    provider.answer(&ask(vec![user("x")]), &Silent).await.unwrap();
    server.finish();
}
