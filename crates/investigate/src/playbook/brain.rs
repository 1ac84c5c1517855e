//! The port.

use async_trait::async_trait;

use crate::model::{Answer, Ask, Call, Investigator, Listener, Model, ModelError, Stop, Usage};
use crate::playbook::next;

/// The playbook as a model. It needs no key, and nothing leaves the process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Playbook;

#[async_trait]
impl Model for Playbook {
    fn investigator(&self) -> Investigator {
        Investigator { provider: "playbook".to_owned(), model: String::new(), host: None, window: 400_000 }
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        let turn = next(ask);
        listener.text(&turn.text);
        let call = |((tool, arguments), number): ((String, serde_json::Value), u32)| Call {
            id: format!("p{}_{number}", ask.turn),
            tool,
            arguments,
        };
        let calls: Vec<Call> = turn.calls.into_iter().zip(1..).map(call).collect();
        Ok(Answer {
            investigator: self.investigator(),
            text: turn.text,
            stop: if calls.is_empty() { Stop::End } else { Stop::Calls },
            calls,
            carry: None,
            usage: Usage { input: Some(0), output: Some(0), ..Usage::default() },
        })
    }
}
