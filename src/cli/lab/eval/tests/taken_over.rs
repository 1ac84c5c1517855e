//! Models that fail, and models that ask for advice: the playbook stands behind them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::stage::{Scene, investigate, suppose};
use crate::cli::lab::eval::consent::Consent;
use crate::cli::lab::found;
use ghost_investigate::model::{
    Answer, Ask, Call, Fallback, Investigator, Listener, Message, Model, ModelError, Silent, Stop, Usage,
};
use ghost_investigate::playbook::Playbook;
use ghost_investigate::report::rca;

/// How a model fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fails {
    /// It cannot be reached.
    Away,
    /// It calls what does not fit any schema.
    Babbles,
    /// It only talks.
    Talks,
}

struct Failing {
    fails: Fails,
    /// So many turns go well first.
    good: u32,
    asked: AtomicU32,
}

impl Failing {
    fn new(fails: Fails, good: u32) -> Arc<Self> {
        Arc::new(Self { fails, good, asked: AtomicU32::new(0) })
    }
}

#[async_trait]
impl Model for Failing {
    fn investigator(&self) -> Investigator {
        Investigator { provider: "fake".to_owned(), model: "weak".to_owned(), host: None, window: 400_000 }
    }

    async fn answer(&self, ask: &Ask, _listener: &dyn Listener) -> Result<Answer, ModelError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let (tool, arguments) = match self.fails {
            _ if ask.turn < self.good => suppose(),
            Fails::Away => {
                let what = "the connection was refused".to_owned();
                return Err(ModelError::Unavailable { provider: "fake".to_owned(), what });
            }
            Fails::Babbles | Fails::Talks => ("inspect_nsg", json!({"machine": 7})),
        };
        let talks = self.fails == Fails::Talks && ask.turn >= self.good;
        let call = Call { id: format!("t{}", ask.turn), tool: tool.to_owned(), arguments };
        Ok(Answer {
            investigator: self.investigator(),
            text: "Let me think.".to_owned(),
            stop: if talks { Stop::End } else { Stop::Calls },
            calls: if talks { Vec::new() } else { vec![call] },
            carry: None,
            usage: Usage::default(),
        })
    }
}

#[tokio::test]
async fn the_playbook_takes_over_from_a_model_that_fails_three_times_and_says_so() {
    for (fails, why) in [
        (Fails::Away, "failed three times, the last time because fake is not available"),
        (Fails::Babbles, "called nothing that could be done three times in a row"),
        (Fails::Talks, "called nothing that could be done three times in a row"),
    ] {
        let weak = Failing::new(fails, 1);
        let model = Arc::new(Fallback::new(weak.clone(), vec![Arc::new(Playbook)]));
        let ended = investigate(Scene::of("e", Consent::All), model).await;
        assert_eq!(ended.trouble, None, "{fails:?}");
        assert_eq!(
            weak.asked.load(Ordering::SeqCst),
            4,
            "{fails:?}: one turn that went well, three failures"
        );
        // What the model supposed and never tested is left open.
        assert_eq!(ended.outcome(), "LIKELY", "{fails:?}");
        let pairs: Vec<String> = found(&ended.state).iter().map(ToString::to_string).collect();
        assert_eq!(
            pairs,
            ["route_dead_nva route/ghost-demo-blackhole-rt/ghost-demo-nva-redirect"],
            "{fails:?}"
        );
        let first = ended.state.turns().find(|turn| turn.investigator.provider == "playbook").unwrap();
        assert!(first.text.starts_with("fake weak ") && first.text.contains(why), "{}", first.text);
        assert!(first.text.contains("From here on the playbook goes on."), "{}", first.text);
        let report = rca(&ended.state);
        assert!(report.contains("fake weak inside this process; then playbook"), "{report}");
        in_the_thread(&ended.state);
    }
}

fn in_the_thread(state: &ghost_investigate::state::State) {
    let context = ghost_agent::bot::show::RenderContext::default();
    let board =
        serde_json::to_string(&ghost_agent::bot::show::board(state, &context, state.last_at).blocks).unwrap();
    assert!(board.contains("fake weak failed, and the playbook goes on in its place"), "{board}");
}

/// A model that knows nothing and does what it is advised to do. It keeps what the playbook would have done in its place.
struct Advised {
    meant: Mutex<Vec<Value>>,
}

#[async_trait]
impl Model for Advised {
    fn investigator(&self) -> Investigator {
        Investigator { provider: "fake".to_owned(), model: String::new(), host: None, window: 400_000 }
    }

    async fn answer(&self, ask: &Ask, _listener: &dyn Listener) -> Result<Answer, ModelError> {
        let advice = ask.messages.iter().rev().find_map(|message| match message {
            Message::Results { results } => Some(results.first()?.clone()),
            Message::User { .. } | Message::Assistant { .. } => None,
        });
        let advice = advice.filter(|result| result.tool == "suggest_next_step");
        let calls: Vec<(String, Value)> = match advice {
            Some(advice) => {
                let text: Value = serde_json::from_str(&advice.content).unwrap();
                assert!(!text["why"].as_str().unwrap().is_empty(), "{text}");
                let list = text["calls"].as_array().unwrap().iter();
                list.map(|call| (call["tool"].as_str().unwrap().to_owned(), call["arguments"].clone()))
                    .collect()
            }
            None => {
                let meant = Playbook.answer(ask, &Silent).await.unwrap().calls;
                let meant = meant.iter().map(|call| json!({"tool": call.tool, "arguments": call.arguments}));
                self.meant.lock().unwrap().push(meant.collect());
                vec![("suggest_next_step".to_owned(), json!({}))]
            }
        };
        let call = |((tool, arguments), number): ((String, Value), usize)| Call {
            id: format!("t{}_{number}", ask.turn),
            tool,
            arguments,
        };
        Ok(Answer {
            investigator: self.investigator(),
            text: String::new(),
            calls: calls.into_iter().zip(1..).map(call).collect(),
            carry: None,
            usage: Usage::default(),
            stop: Stop::Calls,
        })
    }
}

#[tokio::test]
async fn the_next_step_of_the_playbook_is_returned_on_request() {
    let model = Arc::new(Advised { meant: Mutex::default() });
    let ended = investigate(Scene::of("a", Consent::All), model.clone()).await;
    let advised: Vec<Value> = ended
        .returned("suggest_next_step")
        .iter()
        .map(|(_, text)| serde_json::from_str::<Value>(text).unwrap()["calls"].clone())
        .collect();
    assert!(advised.len() > 2, "{advised:?}");
    assert_eq!(advised, *model.meant.lock().unwrap());
    // It runs nothing by itself.
    let mut asked = ended.state.calls().filter(|call| call.call.tool == "suggest_next_step");
    assert!(asked.all(|call| call.steps.is_empty()));
    let pairs: Vec<String> = found(&ended.state).iter().map(ToString::to_string).collect();
    assert_eq!(
        (pairs, ended.outcome()),
        (vec!["nsg_deny nsg/tf-dest-vm-nsg/ghost-demo-block-8080".to_owned()], "CONFIRMED")
    );
}
