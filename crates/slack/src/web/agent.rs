//! What an agent shows of its work beside its messages.

use serde_json::{Value, json};

use crate::web::call::Web;
use crate::web::error::CallError;
use crate::web::message::UpdateOutcome;

/// What state a session of an agent is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionState {
    /// It works; Slack shows a stop button.
    Processing,
    /// It is done for now and can be asked again.
    Active,
    /// It waits for a human.
    Suspended,
    /// It is over.
    Closed,
}

impl SessionState {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Processing => "processing",
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Closed => "closed",
        }
    }
}

/// Slack's words for that a workspace has no such method.
pub(crate) const NOT_THERE: [&str; 5] = [
    "unknown_method",
    "method_not_supported_for_channel_type",
    "feature_not_enabled",
    "not_allowed",
    "missing_scope",
];

/// Something that a person may want to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The words on the button.
    pub title: String,
    /// What is asked when it is pressed.
    pub message: String,
}

/// How many prompts Slack shows.
const PROMPTS: usize = 4;

impl Web {
    /// `assistant.threads.setStatus`: the words below a thread, "is measuring the path…" for instance; empty takes them away.
    /// Where the workspace has none of this, nothing happens, and it is said once in the log. At the priority of boards one that still
    /// waits gives its place to a newer one of the same thread.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn set_status(
        &self,
        channel: &str,
        root: &str,
        status: &str,
        loading: &[String],
    ) -> Result<UpdateOutcome, CallError> {
        let mut arguments = json!({"channel_id": channel, "thread_ts": root, "status": status});
        if let Some(map) = arguments.as_object_mut().filter(|_| !loading.is_empty()) {
            map.insert("loading_messages".to_owned(), json!(loading));
        }
        self.if_known("assistant.threads.setStatus", &arguments, Some(format!("{channel} {root}"))).await
    }

    /// `agents.sessions.setStatus`. Where the workspace has no sessions of agents, nothing happens, and it is said once in the log.
    /// At the priority of boards one that still waits gives its place to a newer one.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn session_status(
        &self,
        channel: &str,
        root: &str,
        state: SessionState,
    ) -> Result<UpdateOutcome, CallError> {
        let arguments = json!({"channel_id": channel, "thread_ts": root, "status": state.word()});
        self.if_known("agents.sessions.setStatus", &arguments, Some(format!("{channel} {root}"))).await
    }

    /// `assistant.threads.setSuggestedPrompts`, for the app's direct conversation: with a thread an agent's app would be ignored.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn suggest(&self, channel: &str, title: &str, prompts: &[Prompt]) -> Result<(), CallError> {
        let list: Vec<Value> = prompts
            .iter()
            .take(PROMPTS)
            .map(|prompt| json!({"title": prompt.title, "message": prompt.message}))
            .collect();
        if list.is_empty() {
            return Ok(());
        }
        let arguments = json!({"channel_id": channel, "title": title, "prompts": list});
        self.if_known("assistant.threads.setSuggestedPrompts", &arguments, None).await.map(drop)
    }

    /// Calls a method that not every workspace has.
    async fn if_known(
        &self,
        method: &str,
        arguments: &Value,
        name: Option<String>,
    ) -> Result<UpdateOutcome, CallError> {
        if self.is_missing(method) {
            return Ok(UpdateOutcome::Now);
        }
        let called = match name {
            Some(name) => self.call_unless_replaced(method, arguments, name).await,
            None => self.call(method, arguments).await.map(Some),
        };
        match called {
            Err(error) if error.code().is_some_and(|code| NOT_THERE.contains(&code)) => {
                // What holds for one kind of channel says nothing about the others.
                let here = error.code() == Some("method_not_supported_for_channel_type");
                if !here && self.note_missing(method) {
                    tracing::warn!(slack.method = method, "{error}; it is not called again");
                }
                Ok(UpdateOutcome::Now)
            }
            done => Ok(if done?.is_some() { UpdateOutcome::Now } else { UpdateOutcome::Replaced }),
        }
    }
}
