//! The port.

use async_trait::async_trait;

use crate::agent::model::{Answer, Ask, Brain, Listener, Model, ModelError};

/// See the module.
#[derive(Debug, Clone, Copy, Default)]
pub struct Playbook;

#[async_trait]
impl Model for Playbook {
    fn brain(&self) -> Brain {
        Brain { provider: "playbook".to_owned(), model: String::new(), host: None, window: 400_000 }
    }

    async fn answer(&self, ask: &Ask, _listener: &dyn Listener) -> Result<Answer, ModelError> {
        Err(ModelError::ScriptOver { turn: ask.turn })
    }
}
