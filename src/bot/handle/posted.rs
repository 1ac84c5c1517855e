//! Alerts that other programs post in a channel: the message is the thread, and all messages about one alert are one.
//!
//! What names an alert is in `ghost_session::alert::posted`. It fires, fires again, is changed in place, and ends; its end opens
//! nothing, and has what failed looked at once more in the thread that its beginning opened.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bot::core::{Core, words};
use crate::bot::handle::alert::{FLAPPING, GROUP_KEPT, Held, MAX_CLAIMS, MAX_NEWS_CHARS};
use crate::bot::handle::open::Incident;
use crate::bot::{ChannelRules, Thread};
use ghost_base::Digest;
use ghost_investigate::event::{Alert, AlertStatus, Alerted, Gathered, PassagePlace};
use ghost_session::InboxMessage;
use ghost_session::alert::{Posted, PostedStatus, not_of_network, posted};
use ghost_slack::arrive::IncomingMessage;
use ghost_store::{Claimed, StoreError};

/// A message of a program, read.
pub(super) struct Post {
    /// Who counts as its author: nobody of the messenger.
    who: String,
    pub(super) text: String,
    /// The alert in it, if it has the form of one.
    alert: Option<Posted>,
}

impl Post {
    /// Names the group of the alert in the store.
    fn group(&self, channel: &str) -> Option<String> {
        let alert = self.alert.as_ref()?;
        let fields = ["posted", self.who.as_str(), channel, &alert.identity];
        Some(format!("alert {}", Digest::of_fields(fields)))
    }
}

impl Core {
    /// Reads a message of a program.
    pub(super) fn read_post(&self, said: &IncomingMessage) -> Post {
        let text = self.read_message(said, PassagePlace::Root, &BTreeMap::new()).text();
        let bot = said.bot.clone().unwrap_or_default();
        let name = bot.name.or(bot.bot).unwrap_or_default();
        let alert = posted(&name, &text, &links(said));
        Post { who: format!("{}{name}", Alert::NOBODY), text, alert }
    }

    /// Takes an alert that another program posted or changed. Its message is the thread.
    pub(super) async fn posted_alert(
        self: &Arc<Self>,
        thread: &Thread,
        rules: &ChannelRules,
        said: &IncomingMessage,
        post: &Post,
    ) -> Result<(), StoreError> {
        let bot = said.bot.as_ref();
        let is_listed = bot.is_some_and(|bot| self.settings.is_alert(bot.bot.as_deref(), bot.app.as_deref()));
        let (Some(alert), Some(name)) = (&post.alert, post.group(&thread.channel)) else {
            // What has no form is taken when it is new, and not when it is changed.
            if is_listed && said.edited.is_none() {
                return self.open_post(thread, rules, said, post).await;
            }
            return Ok(());
        };
        let own = thread.session();
        let content = Digest::of(&post.text).to_string();
        let mut text = self.store.claimed(&name).await?;
        for _ in 0..MAX_CLAIMS {
            let held = text.as_deref().and_then(Held::of);
            let now = self.clock.now();
            let fresh = |session, status| Held { session, status, at: now, content: content.clone() };
            let next = match (&held, alert.status) {
                // Nobody watches what was never seen to fire.
                (None, PostedStatus::Resolved | PostedStatus::Acknowledged) => return Ok(()),
                (None, PostedStatus::Firing) if !is_listed => return Ok(()),
                (None, PostedStatus::Firing) => fresh(own.clone(), AlertStatus::Firing),
                (Some(_), PostedStatus::Acknowledged) => return Ok(()),
                (Some(held), PostedStatus::Resolved) if held.status == AlertStatus::Resolved => {
                    return Ok(());
                }
                (Some(held), PostedStatus::Resolved) => {
                    self.tell_news(held, alert, &content).await?;
                    fresh(held.session.clone(), AlertStatus::Resolved)
                }
                (Some(held), PostedStatus::Firing) if held.status == AlertStatus::Firing => {
                    if held.session == own && held.content == content {
                        // Whoever claimed the group may have died before the session was opened.
                        return self.open_post(thread, rules, said, post).await;
                    }
                    if held.content == content && held.session != own {
                        self.tell_news(held, alert, &said.ts).await?;
                        return Ok(());
                    }
                    self.tell_news(held, alert, &content).await?;
                    fresh(held.session.clone(), AlertStatus::Firing)
                }
                // What comes back so soon was not over.
                (Some(held), PostedStatus::Firing)
                    if now.since(held.at) < FLAPPING && self.is_known(&held.session).await? =>
                {
                    self.tell_news(held, alert, &format!("{} {}", said.ts, content)).await?;
                    fresh(held.session.clone(), AlertStatus::Firing)
                }
                (Some(_), PostedStatus::Firing) if !is_listed => return Ok(()),
                (Some(_), PostedStatus::Firing) => fresh(own.clone(), AlertStatus::Firing),
            };
            let opens = next.session == own && next.status == AlertStatus::Firing;
            match self.store.claim(&name, text.as_deref(), &next.text(), GROUP_KEPT).await? {
                Claimed::Held(other) => text = other,
                Claimed::Set if opens && is_listed && !self.is_known(&own).await? => {
                    return self.open_post(thread, rules, said, post).await;
                }
                Claimed::Set => return Ok(()),
            }
        }
        Err(StoreError::Corrupt { what: "a group of alerts changes all the time".to_owned() })
    }

    /// Opens the session of a posted alert. What is not about a network gets one line.
    async fn open_post(
        self: &Arc<Self>,
        thread: &Thread,
        rules: &ChannelRules,
        said: &IncomingMessage,
        post: &Post,
    ) -> Result<(), StoreError> {
        if let Some(about) = not_of_network(&post.text) {
            let name = format!("aside {}/{}", thread.channel, said.ts);
            if self.store.claim(&name, None, about, GROUP_KEPT).await? == Claimed::Set {
                let line = format!("This is about {about}, not about a network, so I leave it alone.");
                self.tell(thread, "", &words(&line));
            }
            return Ok(());
        }
        let (key, gathered) = (format!("said {}", said.ts), Gathered::default());
        let (who, symptom, quotes) = (post.who.as_str(), post.text.as_str(), Vec::new());
        let incident = Incident { thread, key: &key, who, symptom, rules, gathered, quotes };
        self.open(incident, true).await.map(drop)
    }

    /// Has the session of an alert know what its program says now.
    async fn tell_news(&self, held: &Held, alert: &Posted, key: &str) -> Result<(), StoreError> {
        if !self.is_known(&held.session).await? {
            return Ok(());
        }
        let status = match alert.status {
            PostedStatus::Firing | PostedStatus::Acknowledged => AlertStatus::Firing,
            PostedStatus::Resolved => AlertStatus::Resolved,
        };
        let text = alert.title.chars().take(MAX_NEWS_CHARS).collect();
        let news = Alerted { status, text, alerts: alert.alerts, at: None };
        let key = format!("posted {} {key}", held.at.as_millis());
        self.write(&held.session, &key, &InboxMessage::Alert(news)).await.map(drop)
    }

    /// Remembers that a session hangs on an alert that another program posted, so that its thread shows the alert's end.
    pub(super) async fn follow_alert_above(
        &self,
        thread: &Thread,
        root: Option<&IncomingMessage>,
    ) -> Result<(), StoreError> {
        let Some(root) = root.filter(|root| root.bot.is_some()) else { return Ok(()) };
        let post = self.read_post(root);
        let is_firing = post.alert.as_ref().is_some_and(|alert| alert.status != PostedStatus::Resolved);
        let Some(name) = post.group(&thread.channel).filter(|_| is_firing) else { return Ok(()) };
        let held = self.store.claimed(&name).await?;
        if held.as_deref().and_then(Held::of).is_some_and(|held| held.status == AlertStatus::Firing) {
            return Ok(());
        }
        let next = Held {
            session: thread.session(),
            status: AlertStatus::Firing,
            at: self.clock.now(),
            content: Digest::of(&post.text).to_string(),
        };
        self.store.claim(&name, held.as_deref(), &next.text(), GROUP_KEPT).await.map(drop)
    }
}

/// Returns the addresses in a message: those of links, and those behind titles.
fn links(said: &IncomingMessage) -> Vec<String> {
    let mut found = Vec::new();
    for attachment in &said.attachments {
        for name in ["title_link", "from_url", "author_link"] {
            found.extend(attachment.get(name).and_then(|link| link.as_str()).map(str::to_owned));
        }
    }
    for part in said.everything().split('<').skip(1) {
        let link = part.split(['|', '>']).next().unwrap_or_default();
        if link.starts_with("http") {
            found.push(link.to_owned());
        }
    }
    found
}
