//! `assistant.threads.*` and `agents.sessions.*`: what an agent shows of its work beside its messages.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::event::Notice;
use crate::state::model::{Workspace, stamp, text_of};
use crate::state::user::set;
use ghost_base::Timestamp;

/// How long the words of an agent stay if it says nothing.
const STATUS_MILLIS: i64 = 2 * 60 * 1000;

/// What a thread shows of the agent in it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) app: String,
    pub(crate) channel: String,
    pub(crate) thread_ts: Option<String>,
    /// The words below the thread, `is thinking…` for instance.
    pub(crate) status: String,
    /// When the words vanish by themselves, in milliseconds.
    #[serde(default)]
    pub(crate) status_until: i64,
    pub(crate) loading_messages: Vec<String>,
    pub(crate) title: String,
    /// `processing`, `active`, `suspended` or `closed`, where the thread is an agent's session.
    pub(crate) agent_status: Option<String>,
    pub(crate) prompts: Vec<Value>,
    pub(crate) prompts_title: String,
}

impl Session {
    /// The document for the page.
    pub(crate) fn form(&self) -> Value {
        json!({
            "app_id": self.app, "channel": self.channel, "thread_ts": self.thread_ts, "status": self.status,
            "loading_messages": self.loading_messages, "title": self.title, "agent_status": self.agent_status,
            "prompts": self.prompts, "prompts_title": self.prompts_title,
            "can_stop": self.agent_status.as_deref() == Some("processing"),
        })
    }
}

/// The name under which a thread's session is kept.
pub(crate) fn key(channel: &str, thread: Option<&str>) -> String {
    format!("{channel} {}", thread.unwrap_or_default())
}

impl Workspace {
    /// Finds or makes what a thread shows of an agent.
    fn session_of(&mut self, app: &str, channel: &str, thread: Option<&str>) -> &mut Session {
        self.sessions.entry(key(channel, thread)).or_insert_with(|| Session {
            app: app.to_owned(),
            channel: channel.to_owned(),
            thread_ts: thread.map(str::to_owned),
            ..Session::default()
        })
    }

    fn status_notice(&mut self, kind: &'static str, channel: &str, thread: Option<&str>) {
        let mut notice = Notice::of(kind).in_channel(channel);
        notice.thread_ts = thread.map(str::to_owned);
        self.notice(notice);
    }

    fn thread_of(&self, app: &str, args: &Args) -> Result<(String, String), SlackError> {
        let channel = self.place_to_read(app, &args.need("channel_id")?)?;
        let thread = args.need("thread_ts")?;
        self.at(&channel, &thread).map_err(|_| SlackError::new("invalid_thread_ts"))?;
        Ok((channel, thread))
    }

    /// `assistant.threads.setStatus`
    pub(crate) fn assistant_set_status(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let (channel, thread) = self.thread_of(app, args)?;
        // An empty status is how one is taken away.
        if !args.0.contains_key("status") {
            return Err(SlackError::missing("status"));
        }
        let loading = args.names("loading_messages");
        if loading.len() > 10 {
            return Err(SlackError::arguments([
                "[ERROR] no more than 10 items allowed [json-pointer:/loading_messages]".to_owned(),
            ]));
        }
        let session = self.session_of(app, &channel, Some(&thread));
        session.status = args.text("status").unwrap_or_default();
        session.loading_messages = loading;
        session.status_until = now.as_millis() + STATUS_MILLIS;
        self.wake_at(now.as_millis() + STATUS_MILLIS);
        self.status_notice("status", &channel, Some(&thread));
        Ok(json!({"ok": true}))
    }

    /// `assistant.threads.setSuggestedPrompts`
    pub(crate) fn assistant_set_prompts(&mut self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let channel = self.place_to_read(app, &args.need("channel_id")?)?;
        let prompts =
            args.json("prompts", "invalid_arguments")?.ok_or_else(|| SlackError::missing("prompts"))?;
        let list = prompts.as_array().filter(|list| {
            (1..=4).contains(&list.len())
                && list
                    .iter()
                    .all(|one| !text_of(one, "title").is_empty() && !text_of(one, "message").is_empty())
        });
        let list = list.ok_or_else(|| SlackError::new("invalid_arguments"))?.clone();
        // For an agent's app the call with a thread does nothing, and says nothing.
        if args.text("thread_ts").is_none() {
            let title = args.text("title").unwrap_or_default();
            let session = self.session_of(app, &channel, None);
            (session.prompts, session.prompts_title) = (list, title);
            self.status_notice("prompts", &channel, None);
        }
        Ok(json!({"ok": true}))
    }

    /// `agents.sessions.setStatus`
    pub(crate) fn agents_set_status(&mut self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let status = args.need("status")?;
        if !["active", "processing", "suspended", "closed"].contains(&status.as_str()) {
            return Err(SlackError::arguments([format!("[ERROR] unknown status {status}")]));
        }
        let (channel, thread) = self.thread_of(app, args)?;
        let title = args.text("title").unwrap_or_default();
        if title.chars().count() > 200 {
            return Err(SlackError::arguments([
                "[ERROR] must be less than 201 characters [json-pointer:/title]".to_owned(),
            ]));
        }
        let subscribed = self
            .app(app)?
            .events
            .as_ref()
            .is_none_or(|events| events.iter().any(|event| event == "agent_session_stopped"));
        let session = self.session_of(app, &channel, Some(&thread));
        if session.agent_status.is_none() && !title.is_empty() {
            session.title = title;
        }
        session.agent_status = Some(status.clone());
        if status != "processing" {
            session.status.clear();
            session.loading_messages.clear();
        }
        let title = session.title.clone();
        self.status_notice("status", &channel, Some(&thread));
        let mut answer = json!({"ok": true, "status": status, "agent_status": status, "title": title});
        if !subscribed {
            let warning = "missing_agent_session_stopped_event_subscription";
            set(&mut answer, "warning", json!(warning));
            set(&mut answer, "response_metadata", json!({"warnings": [warning]}));
        }
        Ok(answer)
    }

    /// Takes the words below a thread away, because the app spoke there.
    pub(crate) fn spoke(&mut self, app: &str, channel: &str, thread: Option<&str>) {
        let Some(session) = self.sessions.get_mut(&key(channel, thread)).filter(|one| one.app == app) else {
            return;
        };
        if !session.status.is_empty() {
            session.status.clear();
            session.loading_messages.clear();
            self.status_notice("status", channel, thread);
        }
    }

    /// Takes words away that are too old, and says when the next ones will be.
    pub(crate) fn fade(&mut self, now: Timestamp) {
        let mut faded = Vec::new();
        let mut next = i64::MAX;
        for session in self.sessions.values_mut().filter(|session| !session.status.is_empty()) {
            if session.status_until <= now.as_millis() {
                session.status.clear();
                session.loading_messages.clear();
                faded.push((session.channel.clone(), session.thread_ts.clone()));
            } else {
                next = next.min(session.status_until);
            }
        }
        self.wake_at(next);
        for (channel, thread) in faded {
            self.status_notice("status", &channel, thread.as_deref());
        }
    }

    /// Marks a session as working, because a stream began in it.
    pub(crate) fn streams(&mut self, app: &str, channel: &str, thread: &str, status: &str) {
        self.session_of(app, channel, Some(thread)).agent_status = Some(status.to_owned());
        self.status_notice("status", channel, Some(thread));
    }

    /// A person presses the stop button of a session.
    pub(crate) fn stop_session(
        &mut self,
        user: &str,
        channel: &str,
        thread: &str,
        now: Timestamp,
    ) -> Result<(), SlackError> {
        let session = self.sessions.get(&key(channel, Some(thread)));
        let working = session.filter(|one| one.agent_status.as_deref() == Some("processing"));
        let app = working.ok_or_else(|| SlackError::new("session_not_found"))?.app.clone();
        let mut stopped = Vec::new();
        for message in self.channel_mut(channel)?.messages.values_mut() {
            let here = message.thread_ts.as_deref() == Some(thread) && message.app.as_deref() == Some(&app);
            if let Some(stream) = message.stream.as_mut().filter(|stream| here && stream.open) {
                stream.open = false;
                stopped.push(message.ts.clone());
            }
        }
        let event = json!({
            "type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": user,
            "streaming_message_ts": stopped, "event_ts": stamp(now),
        });
        self.notify_app(&app, event, now);
        self.status_notice("status", channel, Some(thread));
        Ok(())
    }
}
