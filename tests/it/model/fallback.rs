//! Several models in a row.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ghost_investigate::model::openai::{OpenAi, Options};
use ghost_investigate::model::{
    Answer, Ask, Fallback, Investigator, Listener, Model, ModelError, Silent, Stop, Usage,
};
use ghost_investigate::playbook::Playbook;
use serde_json::{Value, json};

use crate::model::openai::chat::options;
use crate::model::server::{Received, Reply, Server, ask, user};

/// A model that fails a number of times and then answers with its name.
struct Named {
    name: &'static str,
    fails: Mutex<Vec<ModelError>>,
}

fn named(name: &'static str, fails: Vec<ModelError>) -> Arc<dyn Model> {
    Arc::new(Named { name, fails: Mutex::new(fails) })
}

#[async_trait]
impl Model for Named {
    fn investigator(&self) -> Investigator {
        Investigator {
            provider: "scripted".to_owned(),
            model: self.name.to_owned(),
            host: None,
            window: 8_192,
        }
    }

    async fn answer(&self, _ask: &Ask, _listener: &dyn Listener) -> Result<Answer, ModelError> {
        if let Some(error) = self.fails.lock().unwrap().pop() {
            return Err(error);
        }
        let text = self.name.to_owned();
        let (usage, stop) = (Usage::default(), Stop::End);
        Ok(Answer { investigator: self.investigator(), text, calls: Vec::new(), carry: None, usage, stop })
    }
}

fn unauthorized() -> ModelError {
    ModelError::Unauthorized { provider: "scripted".to_owned(), what: "no".to_owned() }
}

async fn turn(model: &dyn Model) -> Result<String, ModelError> {
    model.answer(&ask(vec![user("x")]), &Silent).await.map(|answer| answer.text)
}

#[tokio::test]
async fn it_moves_on_tells_so_and_stays() {
    let provider = || "scripted".to_owned();
    let errors = [
        unauthorized(),
        ModelError::RateLimited { provider: provider(), retry_after: None },
        ModelError::Unavailable { provider: provider(), what: String::new() },
        ModelError::Timeout { provider: provider(), after: Duration::ZERO },
        ModelError::Rejected { provider: provider(), what: String::new() },
        ModelError::Unreadable { provider: provider(), what: String::new() },
    ];
    for error in errors {
        let passes = !matches!(error, ModelError::Unauthorized { .. } | ModelError::Rejected { .. });
        let times = if passes { 3 } else { 1 };
        let model = Fallback::new(named("one", vec![error.clone(); times]), vec![named("two", Vec::new())]);
        assert_eq!(model.investigator().model, "one");
        let received = Received::default();
        let answer = model.answer(&ask(vec![user("x")]), &received).await.unwrap();
        let (said, text) = answer.text.split_once("\n\n").unwrap();
        assert_eq!((text, answer.investigator.model.as_str()), ("two", "two"));
        let how = if passes { "failed three times" } else { "failed once" };
        assert!(said.starts_with("scripted one failed") && said.contains(how), "{said}");
        assert!(said.ends_with("From here on scripted two goes on."), "{said}");
        assert_eq!(received.retries(), vec![(error, Duration::ZERO); times]);
        assert_eq!(turn(&model).await, Ok("two".to_owned()), "the first could answer again");
        assert_eq!(model.investigator().model, "two");
    }
}

#[tokio::test]
async fn a_model_that_fails_twice_and_then_answers_stays() {
    let error = ModelError::Unavailable { provider: "scripted".to_owned(), what: String::new() };
    let model = Fallback::new(named("one", vec![error; 2]), vec![named("two", Vec::new())]);
    assert_eq!(turn(&model).await, Ok("one".to_owned()));
    assert_eq!(model.investigator().model, "one");
}

#[tokio::test]
async fn three_turns_that_call_nothing_are_three_failures() {
    let model = Fallback::new(named("one", Vec::new()), vec![named("two", Vec::new())]);
    for (fruitless, who) in [(0, "one"), (2, "one"), (3, "two"), (0, "two")] {
        let question = Ask { fruitless, ..ask(vec![user("x")]) };
        let answer = model.answer(&question, &Silent).await.unwrap();
        assert_eq!(answer.investigator.model, who);
        assert_eq!(
            answer.text.contains("called nothing that could be done three times in a row"),
            fruitless == 3
        );
    }
    // Behind the last one there is nobody.
    let question = Ask { fruitless: 9, ..ask(vec![user("x")]) };
    assert_eq!(model.answer(&question, &Silent).await.unwrap().text, "two");
}

fn too_long() -> ModelError {
    ModelError::TooLong { provider: "scripted".to_owned() }
}

/// A conversation of which something can be left out.
fn long(shortened: u32) -> Ask {
    Ask { shortened, ..ask(vec![user("a"), user("b"), user("c")]) }
}

#[tokio::test]
async fn a_conversation_that_can_be_shortened_is_shortened_before_another_model_is_asked() {
    let model = Fallback::new(named("one", vec![too_long(); 3]), vec![named("two", Vec::new())]);
    for shortened in [0, 1] {
        assert_eq!(model.answer(&long(shortened), &Silent).await, Err(too_long()));
    }
    let answer = model.answer(&long(2), &Silent).await.unwrap();
    assert_eq!(answer.investigator.model, "two");
    assert!(
        answer.text.contains("too long for scripted. From here on scripted two goes on."),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_first_request_that_is_too_long_is_the_next_models_at_once() {
    let model = Fallback::new(named("one", vec![too_long()]), vec![named("two", Vec::new())]);
    assert_eq!(model.answer(&ask(vec![user("x")]), &Silent).await.unwrap().investigator.model, "two");
}

#[tokio::test]
async fn a_script_that_is_over_is_no_reason_to_move() {
    let over = ModelError::ScriptOver { turn: 3 };
    let model = Fallback::new(named("one", vec![over.clone()]), vec![named("two", Vec::new())]);
    assert_eq!(turn(&model).await, Err(over));
    assert_eq!(turn(&model).await, Ok("one".to_owned()));
}

#[tokio::test]
async fn a_window_that_holds_no_request_is_not_asked() {
    let question = Ask { system: "x".repeat(40_000), ..ask(vec![user("x")]) };
    let model = Fallback::new(named("one", Vec::new()), vec![Arc::new(Playbook)]);
    let answer = model.answer(&question, &Silent).await.unwrap();
    assert_eq!(answer.investigator.provider, "playbook");
    let said = answer.text.split("\n\n").next().unwrap();
    assert!(said.starts_with("scripted one was not asked: every request has about 10"), "{said}");
    assert!(said.ends_with("its window holds 8192. From here on the playbook goes on."), "{said}");
    // Behind the last one there is nobody: it is asked all the same.
    let only = Fallback::new(named("one", Vec::new()), Vec::new());
    assert_eq!(only.answer(&question, &Silent).await.unwrap().text, "one");
}

/// What servers answer whose window is too small: llama.cpp of two dates, vLLM, LM Studio.
fn refusals() -> Vec<(u16, Value)> {
    vec![
        (
            400,
            json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9998, "n_ctx": 8192,
            "message": "the request exceeds the available context size (8192 tokens), try increasing it"}}),
        ),
        (
            400,
            json!({"error": {"code": 400, "type": "invalid_request_error",
            "message": "the request exceeds the available context size. try increasing the context size or enable context shift"}}),
        ),
        (
            400,
            json!({"object": "error", "code": 400, "type": "BadRequestError",
            "message": "This model's maximum context length is 8192 tokens. However, you requested 9998 tokens"}),
        ),
        (
            400,
            json!({"error": "Trying to keep the first 9998 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens"}),
        ),
    ]
}

#[tokio::test]
async fn a_server_with_a_small_window_is_followed_by_the_playbook() {
    for (status, body) in refusals() {
        let server = Server::start(|_| Ok(()), [Reply::json(status, &body)]).await;
        let model = OpenAi::new(Options { window: 24_000, ..options(&server) }).unwrap();
        let model = Fallback::new(Arc::new(model), vec![Arc::new(Playbook)]);
        let answer =
            model.answer(&ask(vec![user("web-1 cannot reach db-1 on 5432")]), &Silent).await.unwrap();
        assert_eq!(answer.investigator.provider, "playbook", "{body}");
        assert!(answer.text.contains("From here on the playbook goes on."), "{}", answer.text);
        assert_eq!(server.finish().len(), 1, "it is asked once");
    }
}

#[tokio::test]
async fn behind_the_last_one_there_is_nobody() {
    let last = ModelError::Unavailable { provider: "scripted".to_owned(), what: "last".to_owned() };
    let model = Fallback::new(named("one", vec![unauthorized()]), vec![named("two", vec![last.clone()])]);
    assert_eq!(turn(&model).await, Err(last));
    assert_eq!(turn(&model).await, Ok("two".to_owned()), "the last one is asked again");
    assert_eq!(
        turn(&Fallback::new(named("one", vec![unauthorized()]), Vec::new())).await,
        Err(unauthorized())
    );
}

#[tokio::test]
async fn a_session_that_goes_on_is_where_it_was() {
    let model = || Fallback::new(named("one", Vec::new()), vec![named("two", Vec::new())]);
    let brain = |name: &str| Investigator { model: name.to_owned(), ..model().investigator() };
    for (before, expected) in [("two", "two"), ("one", "one"), ("gone", "one")] {
        let model = model().for_session(Some(&brain(before))).unwrap();
        assert_eq!(turn(model.as_ref()).await, Ok(expected.to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_session_asks_the_first_again_and_soon_after_only_once() {
    let gone = || ModelError::Unavailable { provider: "scripted".to_owned(), what: String::new() };
    let all = Fallback::new(named("one", vec![gone(); 5]), vec![named("two", Vec::new())]);
    let session = || all.for_session(None).unwrap();
    let begin = async |session: &dyn Model| {
        let received = Received::default();
        let answer = session.answer(&ask(vec![user("x")]), &received).await.unwrap();
        (answer.investigator.model, received.retries().len())
    };
    let (first, second, third) = (session(), session(), session());
    assert_eq!(begin(first.as_ref()).await, ("two".to_owned(), 3));
    assert_eq!(begin(second.as_ref()).await, ("two".to_owned(), 1), "it failed a moment before");
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(
        begin(third.as_ref()).await,
        ("one".to_owned(), 1),
        "a minute later it is asked again as always"
    );
    assert_eq!(begin(session().as_ref()).await, ("one".to_owned(), 0));
    // Those that moved on stay where they are.
    assert_eq!(begin(first.as_ref()).await, ("two".to_owned(), 0));
    assert_eq!(begin(second.as_ref()).await, ("two".to_owned(), 0));
}
