//! A message that is written while it is read: it grows until it is ended, and is changed like any other from then on.

use serde_json::{Value, json};

use crate::web::agent::{NOT_THERE, SessionState};
use crate::web::call::Web;
use crate::web::error::CallError;
use crate::web::message::{Address, Posted, UpdateOutcome};

/// What a streamed message shows: a beginning that stays, and the tasks of a plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Streamed {
    /// The first words; they are its text, by which it is found again.
    pub words: String,
    /// Blocks below them.
    pub blocks: Vec<Value>,
    /// What stands above the tasks.
    pub title: Option<String>,
    pub tasks: Vec<StreamedTask>,
}

/// A task of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamedTask {
    pub id: String,
    pub title: String,
    /// `pending`, `in_progress`, `complete` or `error`.
    pub status: String,
    /// What came of it, empty before.
    pub output: String,
}

impl StreamedTask {
    fn chunk(&self) -> Value {
        let mut chunk =
            json!({"type": "task_update", "id": self.id, "title": self.title, "status": self.status});
        if let Some(map) = chunk.as_object_mut().filter(|_| !self.output.is_empty()) {
            map.insert("output".to_owned(), json!(self.output));
        }
        chunk
    }
}

impl Streamed {
    /// Returns what it begins with.
    fn chunks(&self) -> Vec<Value> {
        let mut all = vec![json!({"type": "markdown_text", "text": self.words})];
        if !self.blocks.is_empty() {
            all.push(json!({"type": "blocks", "blocks": self.blocks}));
        }
        let plan = Self { words: self.words.clone(), blocks: self.blocks.clone(), ..Self::default() };
        all.extend(self.since(&plan).unwrap_or_default());
        all
    }

    /// Returns what has to be added where this or that stands; nothing where adding does not make it so.
    #[must_use]
    pub fn since(&self, before: &Self) -> Option<Vec<Value>> {
        let is_kept = |old: &StreamedTask| self.tasks.iter().any(|task| task.id == old.id);
        if self.words != before.words || self.blocks != before.blocks || !before.tasks.iter().all(is_kept) {
            return None;
        }
        let mut more = Vec::new();
        match (&self.title, &before.title) {
            (None, Some(_)) => return None,
            (title, old) if title == old => {}
            (title, _) => {
                more.extend(title.iter().map(|title| json!({"type": "plan_update", "title": title})))
            }
        }
        more.extend(self.tasks.iter().filter(|task| !before.tasks.contains(task)).map(StreamedTask::chunk));
        Some(more)
    }
}

impl Web {
    /// `chat.startStream`, in a direct conversation. Nothing where Slack refuses it, because the workspace has no streams for instance:
    /// then the message is posted, and what else is wrong shows there.
    ///
    /// # Errors
    /// Fails where nobody knows whether it began.
    pub async fn start_stream(&self, to: &Address, streamed: &Streamed) -> Result<Option<Posted>, CallError> {
        let method = "chat.startStream";
        if self.is_missing(method) {
            return Ok(None);
        }
        let arguments = json!({
            "channel": to.channel, "thread_ts": to.thread_ts, "task_display_mode": "plan", "chunks": streamed.chunks(),
        });
        match self.call(method, &arguments).await {
            Err(error) => {
                let Some(code) = error.code() else { return Err(error) };
                // What is said in a form that is not taken is not taken the next time either.
                let is_lasting = NOT_THERE.contains(&code) || code.starts_with("invalid_");
                if is_lasting && self.note_missing(method) {
                    tracing::info!("slack takes no {method} here ({error}); boards are posted and changed");
                }
                Ok(None)
            }
            Ok(answer) => {
                let ts = answer.get("ts").and_then(Value::as_str).map(str::to_owned);
                let ts = ts.ok_or_else(|| CallError::odd(method, "ts"))?;
                Ok(Some(Posted { channel: to.channel.clone(), ts }))
            }
        }
    }

    /// `chat.appendStream`. At the priority of boards one that still waits gives its place to a newer one.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn append_stream(&self, posted: &Posted, more: &[Value]) -> Result<UpdateOutcome, CallError> {
        let arguments = json!({"channel": posted.channel, "ts": posted.ts, "chunks": more});
        let name = format!("{} {}", posted.channel, posted.ts);
        let answer = self.call_unless_replaced("chat.appendStream", &arguments, name).await?;
        Ok(if answer.is_some() { UpdateOutcome::Now } else { UpdateOutcome::Replaced })
    }

    /// `chat.stopStream`: nothing is added any more. One that has ended already is no error.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn stop_stream(&self, posted: &Posted, state: SessionState) -> Result<(), CallError> {
        let arguments = json!({"channel": posted.channel, "ts": posted.ts, "session_status": state.word()});
        match self.call("chat.stopStream", &arguments).await {
            Err(error) if error.code() == Some("message_not_in_streaming_state") => Ok(()),
            stopped => stopped.map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, status: &str, output: &str) -> StreamedTask {
        StreamedTask {
            id: id.to_owned(),
            title: format!("Cause {id}"),
            status: status.to_owned(),
            output: output.to_owned(),
        }
    }

    fn streamed(title: &str, tasks: Vec<StreamedTask>) -> Streamed {
        Streamed { words: "On it.".to_owned(), title: Some(title.to_owned()), tasks, ..Streamed::default() }
    }

    #[test]
    fn only_what_is_new_is_added() {
        let before = streamed("0 of 2", vec![task("1", "in_progress", ""), task("2", "in_progress", "")]);
        let after = streamed("1 of 2", vec![task("1", "complete", "clear"), task("2", "in_progress", "")]);
        assert_eq!(
            after.since(&before),
            Some(vec![
                json!({"type": "plan_update", "title": "1 of 2"}),
                json!({"type": "task_update", "id": "1", "title": "Cause 1", "status": "complete", "output": "clear"}),
            ])
        );
        assert_eq!(after.since(&after), Some(Vec::new()));
    }

    #[test]
    fn what_would_have_to_go_cannot_be_added() {
        let before = streamed("0 of 2", vec![task("1", "in_progress", ""), task("2", "in_progress", "")]);
        let fewer = streamed("0 of 2", vec![task("1", "in_progress", "")]);
        assert_eq!(fewer.since(&before), None);
        assert_eq!(Streamed { words: "Done.".to_owned(), ..before.clone() }.since(&before), None);
        assert_eq!(Streamed { title: None, ..before.clone() }.since(&before), None);
    }

    #[test]
    fn it_begins_with_its_words() {
        let kinds: Vec<_> = streamed("0 of 1", vec![task("1", "in_progress", "")])
            .chunks()
            .iter()
            .map(|chunk| chunk["type"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(kinds, ["markdown_text", "plan_update", "task_update"]);
    }
}
