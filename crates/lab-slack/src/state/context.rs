//! Where a person is, as an agent learns it: from `app_context_changed`, or from the older events of assistants.

use serde_json::{Value, json};

use crate::state::app::App;
use crate::state::args::Args;
use crate::state::channel::Message;
use crate::state::error::SlackError;
use crate::state::model::{Workspace, stamp};
use crate::state::user::set;
use ghost_base::Timestamp;

/// The person, the app, and the conversation between them.
struct AgentContext {
    user: String,
    app: String,
    bot: String,
    direct: String,
    /// The channel that the person views beside it.
    seen: Option<String>,
}

impl Workspace {
    fn meeting(&mut self, args: &Args, now: Timestamp) -> Result<AgentContext, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let seen = args.text("channel").map(|name| self.seen_by(&user, &name)).transpose()?;
        let named = args.text("app");
        let meant = |app: &&App| app.listens && named.as_ref().is_none_or(|id| *id == app.id);
        let app = self.apps.iter().find(meant).ok_or_else(|| SlackError::new("app_not_found"))?;
        let (app, bot) = (app.id.clone(), app.bot_user.clone());
        let direct = self.direct(&[user.clone(), bot.clone()], now);
        Ok(AgentContext { user, app, bot, direct, seen })
    }

    /// A person views a channel, or none, while the agent is open beside it.
    pub(crate) fn person_views(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let meeting = self.meeting(args, now)?;
        let context = match &meeting.seen {
            Some(channel) => json!({"entities": [
                {"type": "slack#/types/channel_id", "value": channel, "team_id": self.team.id},
            ]}),
            None => json!({}),
        };
        let event = json!({
            "type": "app_context_changed", "user": meeting.user, "channel": meeting.direct, "context": context,
            "event_ts": stamp(now),
        });
        self.notify_app(&meeting.app, event, now);
        Ok(json!({"ok": true, "channel": meeting.direct}))
    }

    /// A person opens a thread with an assistant of the older kind, or goes elsewhere while one is open.
    pub(crate) fn person_assists(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let meeting = self.meeting(args, now)?;
        let (word, thread) = match args.text("thread_ts") {
            Some(thread) => {
                self.at(&meeting.direct, &thread)?;
                ("assistant_thread_context_changed", thread)
            }
            None => {
                let root = Message {
                    user: meeting.bot.clone(),
                    app: Some(meeting.app.clone()),
                    subtype: Some("assistant_app_thread".to_owned()),
                    text: "New Assistant Thread".to_owned(),
                    ..Message::default()
                };
                ("assistant_thread_started", self.post(&meeting.direct, root, now)?)
            }
        };
        let mut context = json!({});
        if let Some(channel) = &meeting.seen {
            set(&mut context, "channel_id", json!(channel));
            set(&mut context, "team_id", json!(self.team.id));
            set(&mut context, "enterprise_id", json!(self.grid.then_some(&self.team.enterprise)));
        }
        let event = json!({
            "type": word, "event_ts": stamp(now), "assistant_thread": {
                "user_id": meeting.user, "context": context, "channel_id": meeting.direct, "thread_ts": thread,
            },
        });
        self.notify_app(&meeting.app, event, now);
        Ok(json!({"ok": true, "channel": meeting.direct, "thread_ts": thread}))
    }
}
