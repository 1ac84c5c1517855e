//! Links to what an app knows: `link_shared`, and `chat.unfurl` with which it answers.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::block::validate_attachments;
use crate::state::args::Args;
use crate::state::channel::{Kind, Message};
use crate::state::error::SlackError;
use crate::state::model::Workspace;
use crate::state::user::set;
use ghost_base::{Digest, Timestamp};

/// How many links of a message an app is told of.
const MOST: usize = 50;

/// Returns the addresses in a text, as Slack keeps them in angle brackets.
fn addresses(text: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    text.split('<')
        .skip(1)
        .filter_map(|rest| rest.split_once('>'))
        .map(|(inside, _)| inside.split_once('|').map_or(inside, |(address, _)| address))
        .filter(|address| address.starts_with("http://") || address.starts_with("https://"))
        .filter(|address| seen.insert(*address))
        .collect()
}

/// Returns the registered domain to which an address belongs, if one is there.
fn domain<'a>(address: &str, domains: &'a [String]) -> Option<&'a String> {
    let (_, rest) = address.split_once("://")?;
    let host = rest.split(['/', '?', '#', ':']).next()?.to_ascii_lowercase();
    domains.iter().find(|domain| host == **domain || host.ends_with(&format!(".{domain}")))
}

fn unfurl_id(channel: &str, ts: &str) -> String {
    format!("{channel}.{ts}.{}", Digest::of_fields([channel, ts]))
}

impl Workspace {
    /// Tells the apps whose domains a message names.
    pub(crate) fn linked(&mut self, channel: &str, message: &Message, now: Timestamp) {
        let found = addresses(&message.text);
        let Some(place) = self.channels.get(channel).filter(|_| !found.is_empty()) else { return };
        let mut told = Vec::new();
        for app in self.apps.iter().filter(|app| app.bot_user != message.user) {
            let inside = place.members.contains(&app.bot_user);
            let links: Vec<Value> = found
                .iter()
                .filter_map(|url| {
                    domain(url, &app.domains).map(|domain| json!({"domain": domain, "url": url}))
                })
                .take(MOST)
                .collect();
            if links.is_empty() || !(inside || place.kind == Kind::Public) {
                continue;
            }
            let mut event = json!({
                "type": "link_shared", "channel": channel, "is_bot_user_member": inside, "user": message.user,
                "message_ts": message.ts, "unfurl_id": unfurl_id(channel, &message.ts),
                "source": "conversations_history", "links": links, "event_ts": message.ts,
            });
            if let Some(root) = &message.thread_ts {
                set(&mut event, "thread_ts", json!(root));
            }
            told.push((app.id.clone(), event));
        }
        for (app, event) in told {
            self.tell_one(&app, event, now);
        }
    }

    /// `chat.unfurl`
    pub(crate) fn chat_unfurl(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let (channel, ts) = self.unfurled(args)?;
        let unfurls = args.json("unfurls", "invalid_unfurls_format")?;
        let unfurls = unfurls.ok_or_else(|| SlackError::new("missing_unfurls"))?;
        let unfurls = unfurls.as_object().ok_or_else(|| SlackError::new("invalid_unfurls_format"))?;
        let place = self.visible(app, &channel).map_err(|_| SlackError::new("cannot_find_channel"))?;
        let message = place.messages.get(&ts).filter(|message| message.only_for.is_none());
        let message = message.ok_or_else(|| SlackError::new("cannot_find_message"))?;
        let own = self.app(app)?;
        let found = addresses(&message.text);
        let mut list = message.attachments.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        for (url, content) in unfurls {
            if !found.iter().any(|address| same(address, url)) {
                return Err(SlackError::new("cannot_unfurl_message"));
            }
            if domain(url, &own.domains).is_none() {
                return Err(SlackError::new("cannot_unfurl_url"));
            }
            if !content.is_object() || validate_attachments(&json!([content])).is_err() {
                return Err(SlackError::new("cannot_parse_attachment"));
            }
            let mut attachment = content.clone();
            for (name, value) in [
                ("from_url", json!(url)),
                ("app_unfurl_url", json!(url)),
                ("is_app_unfurl", json!(true)),
                ("app_id", json!(own.id)),
                ("bot_id", json!(own.bot_id)),
            ] {
                set(&mut attachment, name, value);
            }
            // The same address once more replaces what stood there.
            list.retain(|one| one.get("from_url").and_then(Value::as_str) != Some(url));
            list.push(attachment);
        }
        self.edit(&channel, &ts, now, |message| message.attachments = Some(Value::Array(list)))?;
        Ok(json!({"ok": true}))
    }

    /// Reads which message is meant: by its name, or by the name of its links.
    fn unfurled(&self, args: &Args) -> Result<(String, String), SlackError> {
        let Some(id) = args.text("unfurl_id") else {
            let channel = args.text("channel").ok_or_else(|| SlackError::new("missing_channel"))?;
            return Ok((channel, args.text("ts").ok_or_else(|| SlackError::new("missing_ts"))?));
        };
        match args.text("source").as_deref() {
            None => return Err(SlackError::new("missing_source")),
            Some("composer" | "conversations_history") => {}
            Some(_) => return Err(SlackError::new("invalid_source")),
        }
        let wrong = || SlackError::new("invalid_unfurl_id");
        let (channel, rest) = id.split_once('.').ok_or_else(wrong)?;
        let (ts, _) = rest.rsplit_once('.').ok_or_else(wrong)?;
        if unfurl_id(channel, ts) != id {
            return Err(wrong());
        }
        Ok((channel.to_owned(), ts.to_owned()))
    }
}

/// Tells whether an address of a text is the one that the app names; in a text `&` is an entity.
fn same(address: &str, url: &str) -> bool {
    address == url || address.replace("&amp;", "&") == url
}
