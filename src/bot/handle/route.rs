//! Which handler takes an arrival.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;

use crate::bot::core::Core;
use crate::http::{Arrived, Measures, Whose};
use crate::slack::arrive::{Arrival, What};
use crate::slack::socket::{Answer, Handler};
use crate::store::StoreError;

/// Takes everything that arrives.
pub struct Bot {
    /// What the handlers hold.
    pub core: Arc<Core>,
    /// What is counted.
    pub measures: Measures,
}

#[async_trait]
impl Handler for Bot {
    async fn take(&self, arrival: Arrival) -> Answer {
        let since = Instant::now();
        if arrival.origin.retry > 0 {
            self.measures.repeated();
        }
        self.measures.arrived(kind(&arrival.what));
        match route(&self.core, &arrival).await {
            Ok(answer) => {
                self.measures.acknowledged(since.elapsed());
                answer
            }
            // Slack delivers events again; whoever pressed something sees a warning and presses again.
            Err(error) => {
                self.measures.fault(Whose::Upstream);
                tracing::error!("an arrival is not taken, because it cannot be stored: {error}");
                Answer::Refuse
            }
        }
    }
}

async fn route(core: &Arc<Core>, arrival: &Arrival) -> Result<Answer, StoreError> {
    let origin = &arrival.origin;
    match &arrival.what {
        What::Mention(words) => core.mentioned(origin, words).await,
        What::Message(words) => core.heard(origin, words).await,
        What::Stopped(stopped) => core.stopped(origin, stopped).await,
        What::Press(press) => core.pressed(press).await,
        What::Submit(submit) => core.submitted(submit).await,
        What::Command(command) => core.commanded(origin, command).await,
        What::Shortcut(shortcut) => core.shortcut(shortcut).await,
        What::HomeOpened(home) => {
            core.home_opened(home);
            Ok(Answer::Done)
        }
        // Nothing of a session hangs on them.
        What::Edited(_)
        | What::Deleted(_)
        | What::ContextChanged(_)
        | What::Closed(_)
        | What::Suggest(_)
        | What::Joined(_)
        | What::Left(_)
        | What::Reaction(_) => Ok(Answer::Done),
        What::Other { kind, .. } => {
            tracing::debug!("Slack sends {kind:?}, which is nothing to the bot");
            Ok(Answer::Done)
        }
    }
}

fn kind(what: &What) -> Arrived {
    match what {
        What::Press(_) | What::Suggest(_) | What::Submit(_) | What::Closed(_) | What::Shortcut(_) => {
            Arrived::Interaction
        }
        What::Command(_) => Arrived::Command,
        What::Other { .. } => Arrived::Unknown,
        What::Mention(_)
        | What::Message(_)
        | What::Edited(_)
        | What::Deleted(_)
        | What::HomeOpened(_)
        | What::ContextChanged(_)
        | What::Stopped(_)
        | What::Joined(_)
        | What::Left(_)
        | What::Reaction(_) => Arrived::Event,
    }
}
