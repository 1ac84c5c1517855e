//! What happened, as values: events for the app, and changes for pages.

use serde::Serialize;
use serde_json::{Value, json};

use crate::state::app::App;
use crate::state::args::Args;
use crate::state::channel::{Channel, Kind};
use crate::state::error::SlackError;
use crate::state::model::{Workspace, seconds, text_of};
use ghost_base::Timestamp;

/// Something that has to be delivered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// An event for an app.
    Event {
        app: String,
        /// The callback as the Events API words it.
        payload: Value,
    },
    /// A change for open pages.
    Notice(Notice),
}

/// What changed, so that a page knows what to ask for again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Notice {
    /// `message`, `channel`, `view`, `home`, `status`, `prompts`, `sockets` or `all`.
    pub(crate) kind: &'static str,
    /// The conversation, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) channel: Option<String>,
    /// The message, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ts: Option<String>,
    /// The root of the thread that the message is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thread_ts: Option<String>,
    /// The one person whom it concerns, where it is for one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
}

impl Notice {
    /// A change of one kind.
    pub(crate) fn of(kind: &'static str) -> Self {
        Self { kind, channel: None, ts: None, thread_ts: None, user: None }
    }

    /// Names the conversation.
    pub(crate) fn in_channel(mut self, channel: &str) -> Self {
        self.channel = Some(channel.to_owned());
        self
    }

    /// Names the message, and the root above it.
    pub(crate) fn at(mut self, ts: &str, thread_ts: Option<&str>) -> Self {
        self.ts = Some(ts.to_owned());
        self.thread_ts = thread_ts.map(str::to_owned);
        self
    }

    /// Names the one person whom it concerns.
    pub(crate) fn only_for(mut self, user: Option<&str>) -> Self {
        self.user = user.map(str::to_owned);
        self
    }
}

impl Workspace {
    /// Notifies open pages.
    pub(crate) fn notice(&mut self, notice: Notice) {
        self.happened(Effect::Notice(notice));
    }

    /// Tells every listening app that is in the conversation.
    pub(crate) fn notify_members(&mut self, channel: &str, event: &Value, now: Timestamp) {
        let Some(channel) = self.channels.get(channel) else { return };
        let shared = channel.shared;
        let apps: Vec<String> = self
            .apps
            .iter()
            .filter(|app| channel.members.contains(&app.bot_user) && wants(app, event, Some(channel)))
            .map(|app| app.id.clone())
            .collect();
        for app in apps {
            self.deliver_event(&app, event.clone(), shared, now);
        }
    }

    /// Tells of a channel itself: of a public one every listening app, of another whoever is in it.
    pub(crate) fn notify_about(&mut self, channel: &str, event: &Value, now: Timestamp) {
        if self.channels.get(channel).is_none_or(|place| place.kind != Kind::Public) {
            self.notify_members(channel, event, now);
            return;
        }
        let apps: Vec<String> = self.apps.iter().map(|app| app.id.clone()).collect();
        for app in apps {
            self.notify_app(&app, event.clone(), now);
        }
    }

    /// `apps.event.authorizations.list`
    pub(crate) fn authorizations_list(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let context = args.need("event_context")?;
        let own = context.strip_prefix("4-Ev0LAB").filter(|rest| rest.len() >= 6);
        if !own.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
            return Err(SlackError::new("invalid_event_context"));
        }
        Ok(json!({"ok": true, "authorizations": [self.authorization(self.app(app)?)]}))
    }

    /// The one installation of an app that an event is for.
    fn authorization(&self, app: &App) -> Value {
        json!({
            "enterprise_id": self.grid.then_some(&self.team.enterprise),
            "team_id": if self.grid { None } else { Some(&self.team.id) }, "user_id": app.bot_user, "is_bot": true,
            "is_enterprise_install": self.grid,
        })
    }

    /// Tells one app, if it listens.
    pub(crate) fn notify_app(&mut self, app: &str, event: Value, now: Timestamp) {
        if self.app(app).is_ok_and(|app| wants(app, &event, None)) {
            self.deliver_event(app, event, false, now);
        }
    }

    fn deliver_event(&mut self, app: &str, event: Value, shared: bool, now: Timestamp) {
        let event_id = self.id("Ev");
        let Ok(app) = self.app(app) else { return };
        let enterprise = self.grid.then_some(&self.team.enterprise);
        let payload = json!({
            "token": app.verification_token, "team_id": self.team.id, "context_team_id": self.team.id,
            "context_enterprise_id": enterprise, "api_app_id": app.id, "event": event, "type": "event_callback",
            "event_id": event_id, "event_time": seconds(now),
            "authorizations": [self.authorization(app)],
            "is_ext_shared_channel": shared, "event_context": format!("4-{event_id}"),
        });
        let app = app.id.clone();
        self.happened(Effect::Event { app, payload });
    }
}

/// Tells whether an app asked for an event.
fn wants(app: &App, event: &Value, channel: Option<&Channel>) -> bool {
    if !app.listens {
        return false;
    }
    let Some(asked) = &app.events else { return true };
    let kind = text_of(event, "type");
    let name = match (kind, channel) {
        ("message", Some(channel)) => {
            let plural = match channel.kind.channel_type() {
                "channel" => "channels",
                "group" => "groups",
                other => other,
            };
            format!("message.{plural}")
        }
        _ => kind.to_owned(),
    };
    asked.contains(&name)
}
