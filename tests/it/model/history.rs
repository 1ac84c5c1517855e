//! Whatever a conversation holds, Gemini and OpenAI get a request that their documentation accepts.

use ghost_investigate::model::gemini::Gemini;
use ghost_investigate::model::openai::OpenAi;
use ghost_investigate::model::{Ask, Call, Message, Model, Silent, ToolResult};
use proptest::collection;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::model::server::{Rules, Server, ask, user};
use crate::model::{gemini, openai};

/// Any message; its calls get names of their own.
fn message() -> impl Strategy<Value = Message> {
    let words = prop_oneof![Just(""), Just(" \n"), Just("x"), Just("größe \u{0}")];
    let tool = prop_oneof![Just("run_shell_cmd"), Just(""), Just("a b"), Just("größe"), Just("7")];
    let arguments =
        prop_oneof![Just(json!({"a": {}})), Just(json!(null)), Just(json!("{")), Just(json!([1]))];
    let call =
        |(tool, arguments): (&str, Value)| Call { id: String::new(), tool: tool.to_owned(), arguments };
    let calls = collection::vec((tool, arguments), 0..3);
    let result = |id: &str, content: &str, is_error| ToolResult {
        id: id.to_owned(),
        tool: "inspect_nsg".to_owned(),
        content: content.to_owned(),
        is_error,
    };
    prop_oneof![
        words.clone().prop_map(user),
        (words.clone(), calls).prop_map(move |(text, calls)| Message::Assistant {
            text: text.to_owned(),
            calls: calls.into_iter().map(call).collect(),
            carry: None,
        }),
        (words, any::<bool>()).prop_map(move |(content, is_error)| Message::Results {
            results: vec![result("1:0", content, is_error), result("nobody", content, false)],
        }),
    ]
}

/// Asks each provider; the servers fail what their documentation refuses.
async fn asked(ask: &Ask) {
    let server = |rules: Rules, reply| Server::start(rules, [reply]);
    let here = server(gemini::rules::rules, gemini::turn::done()).await;
    let model = Gemini::new(gemini::turn::options(&here)).unwrap();
    assert_eq!(model.answer(ask, &Silent).await.unwrap().text, "Done.");
    here.finish();
    let here = server(openai::rules::response_rules, openai::responses::done()).await;
    let model = OpenAi::new(openai::responses::options(&here)).unwrap();
    assert_eq!(model.answer(ask, &Silent).await.unwrap().text, "Done.");
    here.finish();
    let here = server(openai::rules::chat_rules, openai::chat::done()).await;
    let model = OpenAi::new(openai::chat::options(&here)).unwrap();
    assert_eq!(model.answer(ask, &Silent).await.unwrap().text, "Done.");
    here.finish();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
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
        runtime.block_on(asked(&ask(messages)));
    }
}
