//! Messages for later: `chat.scheduleMessage` and its kin.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::state::args::{Args, page};
use crate::state::error::SlackError;
use crate::state::model::{Workspace, seconds};
use ghost_base::Timestamp;

/// How far ahead a message can be scheduled: 120 days.
const MAX_AHEAD_SECONDS: i64 = 120 * 24 * 60 * 60;
/// How many messages of a channel may be due within five minutes.
const MAX_IN_WINDOW: usize = 30;
const WINDOW: i64 = 5 * 60;
/// How many may wait at all; Slack names no number.
const MAX_SCHEDULED: usize = 5_000;
/// What is due within a minute cannot be taken back.
const TOO_LATE: i64 = 60;

/// A message that waits for its time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Scheduled {
    pub(crate) id: String,
    pub(crate) app: String,
    pub(crate) channel: String,
    /// When it is due, in seconds.
    pub(crate) post_at: i64,
    pub(crate) created: i64,
    /// What the app said; it is judged when it comes and again when it is posted.
    pub(crate) args: Map<String, Value>,
}

impl Workspace {
    /// `chat.scheduleMessage`
    pub(crate) fn chat_schedule_message(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let post_at = args.need("post_at")?.parse::<i64>().map_err(|_| SlackError::new("invalid_time"))?;
        let channel = self.place_to_speak(app, &args.need("channel")?, now)?;
        let (message, _) = self.compose(app, args)?;
        if post_at <= seconds(now) {
            return Err(SlackError::new("time_in_past"));
        }
        if post_at > seconds(now) + MAX_AHEAD_SECONDS {
            return Err(SlackError::new("time_too_far"));
        }
        let near = |other: &&Scheduled| {
            other.channel == channel && other.post_at.div_euclid(WINDOW) == post_at.div_euclid(WINDOW)
        };
        if self.scheduled.iter().filter(near).count() >= MAX_IN_WINDOW
            || self.scheduled.len() >= MAX_SCHEDULED
        {
            return Err(SlackError::new("restricted_too_many"));
        }
        let id = self.id("Q");
        let scheduled = Scheduled {
            id: id.clone(),
            app: app.to_owned(),
            channel: channel.clone(),
            post_at,
            created: seconds(now),
            args: args.0.clone(),
        };
        self.scheduled.push(scheduled);
        self.wake_at(post_at.saturating_mul(1000));
        let bot = self.app(app)?;
        Ok(json!({
            "ok": true, "channel": channel, "scheduled_message_id": id, "post_at": post_at,
            "message": {
                "type": "delayed_message", "subtype": "bot_message", "text": message.text, "username": bot.name,
                "bot_id": bot.bot_id, "blocks": message.blocks, "attachments": message.attachments,
            },
        }))
    }

    /// `chat.scheduledMessages.list`
    pub(crate) fn chat_scheduled_messages(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let channel = args.text("channel");
        if let Some(channel) = &channel {
            self.visible(app, channel).map_err(|_| SlackError::new("invalid_channel"))?;
        }
        let edge = |name: &str| args.text(name).and_then(|text| text.parse::<i64>().ok());
        let (oldest, latest) = (edge("oldest"), edge("latest"));
        let mut waiting: Vec<&Scheduled> = self
            .scheduled
            .iter()
            .filter(|one| one.app == app && channel.as_ref().is_none_or(|channel| *channel == one.channel))
            .filter(|one| oldest.is_none_or(|edge| one.post_at >= edge))
            .filter(|one| latest.is_none_or(|edge| one.post_at <= edge))
            .collect();
        waiting.sort_by_key(|one| one.post_at);
        let all: Vec<Value> = waiting
            .into_iter()
            .map(|one| {
                json!({
                    "id": one.id, "channel_id": one.channel, "post_at": one.post_at, "date_created": one.created,
                    "text": one.args.get("text"),
                })
            })
            .collect();
        let (messages, next) = page(&all, args, 100, 100)?;
        Ok(json!({"ok": true, "scheduled_messages": messages, "response_metadata": {"next_cursor": next}}))
    }

    /// `chat.deleteScheduledMessage`
    pub(crate) fn chat_delete_scheduled(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let channel = self.visible(app, &args.need("channel")?)?.id.clone();
        let id = args.need("scheduled_message_id")?;
        let meant = |one: &Scheduled| one.id == id && one.app == app && one.channel == channel;
        let at = self
            .scheduled
            .iter()
            .position(|one| meant(one) && one.post_at > seconds(now) + TOO_LATE)
            .ok_or_else(|| SlackError::new("invalid_scheduled_message_id"))?;
        self.scheduled.remove(at);
        Ok(json!({"ok": true}))
    }

    /// Posts what is due. What cannot be posted any more, because the app left for instance, is dropped.
    pub(crate) fn post_scheduled(&mut self, now: Timestamp) {
        let (mut ready, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.scheduled)
            .into_iter()
            .partition(|one| one.post_at.saturating_mul(1000) <= now.as_millis());
        self.scheduled = waiting;
        ready.sort_by_key(|one| one.post_at);
        for one in ready {
            drop(self.chat_post_message(&one.app, &Args(one.args), now));
        }
    }
}

impl Workspace {
    /// Notes that something is due at a moment, in milliseconds.
    pub(crate) fn wake_at(&mut self, moment: i64) {
        self.due = self.due.min(moment);
    }

    /// Tells whether something may be due.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        now.as_millis() >= self.due
    }

    /// Does what is due, and finds out when the next thing is.
    pub(crate) fn come_due(&mut self, now: Timestamp) {
        if !self.is_due(now) {
            return;
        }
        self.due = i64::MAX;
        self.post_scheduled(now);
        self.fade(now);
        if let Some(next) = self.scheduled.iter().map(|one| one.post_at.saturating_mul(1000)).min() {
            self.wake_at(next);
        }
    }
}
