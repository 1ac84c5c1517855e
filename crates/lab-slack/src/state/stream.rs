//! `chat.startStream`, `appendStream`, `stopStream`: a message that is written while it is read.

use serde_json::{Value, json};

use crate::block::{Content, Method, accept_message};
use crate::state::args::Args;
use crate::state::block::fill;
use crate::state::channel::{Kind, Message, Stream};
use crate::state::error::SlackError;
use crate::state::message::metadata;
use crate::state::model::{Workspace, text_of};
use ghost_base::Timestamp;

/// How long a stream lives, whatever comes.
const MAX_STREAM_MILLIS: i64 = 5 * 60 * 1000;
/// How much a streamed message holds, in bytes.
const MAX_STREAM_BYTES: usize = 10_600;

fn chunks(args: &Args) -> Result<Vec<Value>, SlackError> {
    let chunks = args.json("chunks", "invalid_chunks")?;
    let markdown = args.text("markdown_text");
    if markdown.is_some() {
        accept_message(Content { markdown_text: markdown.as_deref(), ..Content::default() }, Method::Post)?;
    }
    match (chunks, markdown) {
        (Some(_), Some(_)) => Err(SlackError::new("cannot_provide_both_markdown_text_and_chunks")),
        (None, None) => Ok(Vec::new()),
        (None, Some(text)) => Ok(vec![json!({"type": "markdown_text", "text": text})]),
        (Some(chunks), None) => {
            let list = chunks.as_array().ok_or_else(|| SlackError::new("invalid_chunks"))?;
            for chunk in list {
                let fits = match text_of(chunk, "type") {
                    "markdown_text" => chunk.get("text").is_some_and(Value::is_string),
                    "task_update" => !text_of(chunk, "id").is_empty() && !text_of(chunk, "title").is_empty(),
                    "plan_update" => !text_of(chunk, "title").is_empty(),
                    "blocks" => chunk.get("blocks").is_some_and(Value::is_array),
                    _ => false,
                };
                if !fits {
                    return Err(SlackError::new("invalid_chunks"));
                }
                closing(chunk.get("blocks"))?;
            }
            Ok(list.clone())
        }
    }
}

/// Judges blocks that come while a stream runs or when it ends; none, and an empty list, are fine.
fn closing(blocks: Option<&Value>) -> Result<(), SlackError> {
    match blocks {
        Some(list) if list.as_array().is_none_or(|list| !list.is_empty()) => {
            accept_message(Content { blocks, ..Content::default() }, Method::Post)?;
            Ok(())
        }
        Some(_) | None => Ok(()),
    }
}

/// Adds chunks to a stream: text to text, a task to its place.
fn append(stream: &mut Stream, chunks: Vec<Value>) -> Result<(), SlackError> {
    for chunk in chunks {
        stream.bytes += weight(&chunk);
        match text_of(&chunk, "type") {
            "markdown_text" => {
                let more = text_of(&chunk, "text");
                match stream.parts.last_mut().filter(|last| text_of(last, "type") == "markdown_text") {
                    Some(last) => {
                        *last = json!({"type": "markdown_text", "text": format!("{}{more}", text_of(last, "text"))})
                    }
                    None => stream.parts.push(chunk),
                }
            }
            "plan_update" => stream.plan = Some(text_of(&chunk, "title").to_owned()),
            "task_update" => {
                let same = |part: &&mut Value| {
                    text_of(part, "type") == "task_update" && text_of(part, "id") == text_of(&chunk, "id")
                };
                match stream.parts.iter_mut().find(same) {
                    Some(part) => {
                        stream.bytes = stream.bytes.saturating_sub(weight(part));
                        *part = chunk;
                    }
                    None => stream.parts.push(chunk),
                }
            }
            _ => stream.parts.push(chunk),
        }
    }
    if stream.bytes > MAX_STREAM_BYTES { Err(SlackError::new("msg_too_long")) } else { Ok(()) }
}

/// How much a chunk counts; what a task tells counts twice.
fn weight(chunk: &Value) -> usize {
    let once = ["text", "title"].iter().map(|name| text_of(chunk, name).len()).sum::<usize>();
    let twice = ["details", "output"].iter().map(|name| text_of(chunk, name).len()).sum::<usize>();
    once + 2 * twice
}

fn task(part: &Value) -> Value {
    let mut card = json!({
        "type": "task_card", "task_id": text_of(part, "id"), "title": text_of(part, "title"),
        "status": part.get("status").cloned().unwrap_or_else(|| json!("pending")),
    });
    let rich = |text: &str| json!({"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}]});
    if let Some(map) = card.as_object_mut() {
        for name in ["details", "output"] {
            if !text_of(part, name).is_empty() {
                map.insert(name.to_owned(), rich(text_of(part, name)));
            }
        }
        if let Some(sources) = part.get("sources") {
            map.insert("sources".to_owned(), sources.clone());
        }
    }
    card
}

/// Makes the blocks of what was streamed so far.
fn blocks(stream: &Stream) -> Vec<Value> {
    let mut blocks = Vec::new();
    let tasks: Vec<Value> =
        stream.parts.iter().filter(|part| text_of(part, "type") == "task_update").map(task).collect();
    let mut planned = false;
    for part in &stream.parts {
        match text_of(part, "type") {
            "markdown_text" => blocks.push(json!({"type": "markdown", "text": text_of(part, "text")})),
            "task_update" if !stream.plan_mode => blocks.push(task(part)),
            "task_update" if !planned => {
                planned = true;
                let title = stream.plan.as_deref().unwrap_or("Plan");
                blocks.push(json!({"type": "plan", "title": title, "tasks": tasks}));
            }
            "blocks" => {
                blocks.extend(part.get("blocks").and_then(Value::as_array).cloned().unwrap_or_default())
            }
            _ => {}
        }
    }
    blocks
}

fn written(message: &mut Message) {
    let Some(stream) = &message.stream else { return };
    let words = stream.parts.iter().filter(|part| text_of(part, "type") == "markdown_text");
    message.text = words.map(|part| text_of(part, "text")).collect::<Vec<_>>().join("\n");
    message.blocks = Some(Value::Array(blocks(stream)))
        .filter(|list| list.as_array().is_some_and(|list| !list.is_empty()));
}

impl Stream {
    /// Tells whether something may still be added.
    pub(crate) fn is_open(&self, now: Timestamp) -> bool {
        self.open && now.as_millis() - self.started < MAX_STREAM_MILLIS
    }
}

impl Workspace {
    /// `chat.startStream`
    pub(crate) fn chat_start_stream(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let channel = self.place_to_speak(app, &args.need("channel")?, now)?;
        let thread_ts = args.text("thread_ts").ok_or_else(|| SlackError::new("invalid_thread_ts"))?;
        if self.channel(&channel)?.kind != Kind::Im {
            for name in ["recipient_user_id", "recipient_team_id"] {
                args.text(name).ok_or_else(|| SlackError::new(&format!("missing_{name}")))?;
            }
        }
        let mode = args.text("task_display_mode").unwrap_or_else(|| "timeline".to_owned());
        if !["timeline", "plan", "dense"].contains(&mode.as_str()) {
            return Err(SlackError::new("invalid_arguments"));
        }
        let mut stream = Stream {
            started: now.as_millis(),
            open: true,
            plan: None,
            plan_mode: mode == "plan",
            parts: Vec::new(),
            bytes: 0,
        };
        append(&mut stream, chunks(args)?)?;
        let mut message = Message {
            user: self.app(app)?.bot_user.clone(),
            app: Some(app.to_owned()),
            thread_ts: Some(thread_ts.clone()),
            stream: Some(stream),
            ..Message::default()
        };
        written(&mut message);
        let ts = self.post(&channel, message, now)?;
        self.spoke(app, &channel, Some(&thread_ts));
        self.streams(app, &channel, &thread_ts, "processing");
        Ok(json!({"ok": true, "channel": channel, "ts": ts}))
    }

    /// `chat.appendStream`
    pub(crate) fn chat_append_stream(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let more = chunks(args)?;
        if more.is_empty() {
            return Err(SlackError::new("no_text"));
        }
        let (channel, ts, _) = self.change_stream(app, args, more, now)?;
        Ok(json!({"ok": true, "channel": channel, "ts": ts}))
    }

    /// `chat.stopStream`
    pub(crate) fn chat_stop_stream(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let more = chunks(args)?;
        let mut last = args.json("blocks", "invalid_blocks_format")?;
        closing(last.as_ref())?;
        let metadata = metadata(args)?;
        let (channel, ts, thread) = self.change_stream(app, args, more, now)?;
        if let Some(blocks) = &mut last {
            fill(blocks, self);
        }
        self.edit(&channel, &ts, now, |message| {
            if let Some(stream) = &mut message.stream {
                stream.open = false;
            }
            if let Some(list) = last.as_ref().and_then(Value::as_array) {
                let mut all =
                    message.blocks.take().and_then(|old| old.as_array().cloned()).unwrap_or_default();
                all.extend(list.iter().cloned());
                message.blocks = Some(Value::Array(all));
            }
            if metadata.is_some() {
                message.metadata = metadata;
            }
        })?;
        let status = args.text("session_status").unwrap_or_else(|| "active".to_owned());
        self.streams(app, &channel, &thread, &status);
        let (_, message) = self.at(&channel, &ts)?;
        Ok(json!({"ok": true, "channel": channel, "ts": ts, "message": self.look(message, true)}))
    }

    fn change_stream(
        &mut self,
        app: &str,
        args: &Args,
        more: Vec<Value>,
        now: Timestamp,
    ) -> Result<(String, String, String), SlackError> {
        let channel = self.place_to_speak(app, &args.need("channel")?, now)?;
        let ts = args.need("ts")?;
        let own = self.own_message(app, &channel, &ts, "message_not_owned_by_app")?;
        let mut after = own.clone();
        let stream = after.stream.as_mut().filter(|stream| stream.is_open(now));
        let stream = stream.ok_or_else(|| SlackError::new("message_not_in_streaming_state"))?;
        append(stream, more)?;
        written(&mut after);
        if let Some(blocks) = &mut after.blocks {
            fill(blocks, self);
        }
        let thread = after.thread_ts.clone().unwrap_or_default();
        // While it is written no event tells of it: the end does.
        self.changed(&channel, &after);
        self.channel_mut(&channel)?.put(after);
        self.make_room();
        Ok((channel, ts, thread))
    }
}
