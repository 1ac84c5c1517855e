//! Several models in a row.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ghost_investigate::model::{
    Answer, Ask, Fallback, Investigator, Listener, Model, ModelError, Silent, Stop, Usage,
};

use crate::model::server::{Received, ask, user};

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
        Investigator { provider: "scripted".to_owned(), model: self.name.to_owned(), host: None, window: 1 }
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

#[tokio::test]
async fn a_conversation_that_is_too_long_is_no_reason_to_move() {
    for error in [ModelError::TooLong { provider: "scripted".to_owned() }, ModelError::ScriptOver { turn: 3 }]
    {
        let model = Fallback::new(named("one", vec![error.clone()]), vec![named("two", Vec::new())]);
        assert_eq!(turn(&model).await, Err(error));
        assert_eq!(turn(&model).await, Ok("one".to_owned()));
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
