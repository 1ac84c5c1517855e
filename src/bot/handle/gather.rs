//! Reads what surrounds a mention: its thread, the messages that it links to, its text files, the names of people.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::bot::Thread;
use crate::bot::complaint::{Text, ThreadComplaint, ThreadMessage, compose, excerpt, mentioned};
use crate::bot::core::Core;
use ghost_investigate::event::{Passage, PassagePlace, Quote, Unread};
use ghost_slack::arrive::IncomingMessage;
use ghost_slack::content::Unread as NotInMessage;
use ghost_slack::pace::Priority;
use ghost_slack::web::FileError;

/// How much of what was said before is read: the root and the newest answers.
const QUOTED: usize = 50;

/// How long it may take to read that, and then who said it: Slack waits three seconds for the acknowledgement.
const READING: Duration = Duration::from_millis(1_500);
const NAMING: Duration = Duration::from_millis(700);

/// So many people are looked up; whoever comes after them stays an id.
const NAMED: usize = 20;

/// Of the messages that a mention links to, this many are read.
const MAX_LINKS: usize = 3;

/// Of the text files of a mention, this many are read.
const MAX_FILES: usize = 3;

/// A larger text file is not read.
const MAX_FILE_BYTES: usize = 1 << 20;

/// Of a text file this much can be a complaint.
const MAX_EXCERPT_BYTES: usize = 2_000;

/// A message that a text links to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Linked {
    channel: String,
    ts: String,
    root: Option<String>,
}

impl Core {
    /// Puts the complaint of a mention together; returns the message at the top of its thread, too.
    pub(super) async fn complaint(
        &self,
        thread: &Thread,
        said: &IncomingMessage,
    ) -> (ThreadComplaint, Option<IncomingMessage>) {
        let own = self.read_message(said, PassagePlace::Mention, &BTreeMap::new());
        let is_bare = ghost_investigate::complaint::outline(&own.text()).is_bare;
        let (around, linked, files, has_scope) = tokio::join!(
            self.around(thread, said, is_bare),
            self.linked(said),
            self.files(&own.unread),
            self.may_read_files(),
        );
        let (messages, left_out) = around;
        let mut ids = BTreeSet::new();
        for message in messages.iter().map(|(message, _)| message).chain([said]).chain(&linked) {
            ids.extend(message.user.clone());
            ids.extend(mentioned(&message.everything()));
        }
        let names = self.names(ids).await;
        let mut mention = self.read_message(said, PassagePlace::Mention, &names);
        for message in &linked {
            let read = self.read_message(message, PassagePlace::Linked, &names);
            mention.unread.extend(read.unread);
            mention.texts.extend(read.texts);
        }
        let mut failed = Vec::new();
        for (name, read) in files {
            match read {
                Ok(text) => {
                    mention.texts.retain(|known| known.passage.who != name);
                    mention.unread.retain(|part| !is_file(part, &name));
                    mention.texts.push(of_file(&name, &text));
                }
                Err(FileError::Large { .. }) => {
                    mention.unread.retain(|part| !is_file(part, &name));
                    failed.push(Unread::Large { name });
                }
                Err(FileError::Binary) => {
                    mention.unread.retain(|part| !is_file(part, &name));
                    failed.push(Unread::Kind { name });
                }
                Err(why) => tracing::info!("text file of a mention not read: {why}"),
            }
        }
        let around: Vec<ThreadMessage> =
            messages.iter().map(|(message, place)| self.read_message(message, *place, &names)).collect();
        let mut complaint = compose(&mention, &around, left_out, has_scope);
        complaint.gathered.unread.extend(failed);
        let root = messages.into_iter().find(|(_, place)| *place == PassagePlace::Root);
        (complaint, root.map(|(message, _)| message))
    }

    /// Reads what was said in a thread so far, as quotes. Names are what their owners chose, so they are data like the rest.
    pub(super) async fn quotes(&self, thread: &Thread) -> Vec<Quote> {
        let (messages, _) = self.thread_before(thread, None).await;
        let mut ids = BTreeSet::new();
        for (message, _) in &messages {
            ids.extend(message.user.clone());
            ids.extend(mentioned(&message.everything()));
        }
        let names = self.names(ids).await;
        let read = messages.iter().map(|(message, place)| self.read_message(message, *place, &names));
        let quote = |message: ThreadMessage| Quote { text: message.text(), who: message.who };
        read.map(quote).filter(|quote| !quote.text.is_empty()).collect()
    }

    /// Reads a message as text.
    pub(super) fn read_message(
        &self,
        message: &IncomingMessage,
        place: PassagePlace,
        names: &BTreeMap<String, String>,
    ) -> ThreadMessage {
        ThreadMessage::of(message, place, names, &self.directory.identity().user)
    }

    /// Returns the author's own words of a message, without the bot's mention.
    pub(super) fn words_of(&self, message: &IncomingMessage) -> String {
        let read = self.read_message(message, PassagePlace::Mention, &BTreeMap::new());
        let own = read
            .texts
            .into_iter()
            .find(|text| text.passage.place == PassagePlace::Mention && !text.is_preview);
        // What a bot's card says is no word of a person, and a person has no cards.
        own.map(|text| text.passage.text).unwrap_or_default()
    }

    async fn around(
        &self,
        thread: &Thread,
        said: &IncomingMessage,
        is_bare: bool,
    ) -> (Vec<(IncomingMessage, PassagePlace)>, u64) {
        if said.is_answer() {
            return self.thread_before(thread, Some(&said.ts)).await;
        }
        let most = self.settings.channel_context;
        if !is_bare || most == 0 {
            return (Vec::new(), 0);
        }
        let web = self.web.at(Priority::Approval);
        let Ok(Ok(read)) = timeout(READING, web.last(&said.channel, &said.ts, most)).await else {
            tracing::warn!("earlier messages of the channel not read");
            return (Vec::new(), 0);
        };
        let kept = read.into_iter().filter(|message| self.is_others(message));
        (kept.map(|message| (message, PassagePlace::Channel)).collect(), 0)
    }

    async fn thread_before(
        &self,
        thread: &Thread,
        before: Option<&str>,
    ) -> (Vec<(IncomingMessage, PassagePlace)>, u64) {
        let web = self.web.at(Priority::Approval);
        let reading = timeout(READING, web.newest(&thread.channel, &thread.ts, before, QUOTED)).await;
        let Ok(Ok((read, left_out))) = reading else {
            tracing::warn!("earlier messages of the thread not read");
            return (Vec::new(), 0);
        };
        let place = |message: &IncomingMessage| match message.ts == thread.ts {
            true => PassagePlace::Root,
            false => PassagePlace::Reply,
        };
        let kept = read.into_iter().filter(|message| {
            before.is_none_or(|before| message.ts.as_str() < before) && self.is_others(message)
        });
        (
            kept.map(|message| (place(&message), message)).map(|(place, message)| (message, place)).collect(),
            left_out,
        )
    }

    /// Tells whether somebody else said something.
    fn is_others(&self, message: &IncomingMessage) -> bool {
        let own = &self.directory.identity().user;
        message.is_speech() && message.user.as_deref() != Some(own.as_str())
    }

    /// Reads the messages that a mention links to, as far as everybody in its channel may see them.
    async fn linked(&self, said: &IncomingMessage) -> Vec<IncomingMessage> {
        let shown: Vec<&str> =
            said.attachments.iter().filter_map(|attachment| attachment.get("ts")?.as_str()).collect();
        let links = links_of(&said.everything());
        let wanted = links.into_iter().filter(|link| !shown.contains(&link.ts.as_str())).take(MAX_LINKS);
        let web = self.web.at(Priority::Approval);
        let read = wanted.map(|link| {
            let web = web.clone();
            async move {
                if link.channel != said.channel {
                    let about = timeout(NAMING, web.conversation(&link.channel)).await.ok()?.ok()?;
                    if about.private || about.shared {
                        return None;
                    }
                }
                let read = web.message(&link.channel, &link.ts, link.root.as_deref());
                timeout(NAMING, read).await.ok()?.ok()?
            }
        });
        join_all(read).await.into_iter().flatten().collect()
    }

    /// Reads the text files among what a message leaves unread.
    async fn files(&self, unread: &[NotInMessage]) -> Vec<(String, Result<String, FileError>)> {
        let wanted: Vec<(&String, &String, u64)> = unread
            .iter()
            .filter_map(|part| match part {
                NotInMessage::Text { name, url: Some(url), size, .. } => Some((name, url, *size)),
                NotInMessage::Text { .. }
                | NotInMessage::Picture { .. }
                | NotInMessage::Other { .. }
                | NotInMessage::Elsewhere { .. } => None,
            })
            .take(MAX_FILES)
            .collect();
        if wanted.is_empty() || !self.may_read_files().await {
            return Vec::new();
        }
        let read = wanted.into_iter().map(|(name, url, size)| async move {
            if size > MAX_FILE_BYTES as u64 {
                return (name.clone(), Err(FileError::Large { limit: MAX_FILE_BYTES }));
            }
            let read = timeout(READING, self.web.text_file(url, MAX_FILE_BYTES)).await;
            (name.clone(), read.unwrap_or(Err(FileError::Unreachable("no answer came in time"))))
        });
        join_all(read).await
    }

    /// Finds the names of people, as many as there is time for.
    async fn names(&self, ids: BTreeSet<String>) -> BTreeMap<String, String> {
        let ask = ids.into_iter().take(NAMED).map(|id| async move {
            let person = timeout(NAMING, self.directory.person(&id)).await.ok()?.ok()?;
            // A name on one line, so that it cannot pass for another quote.
            let name = person.name.split_whitespace().collect::<Vec<_>>().join(" ");
            Some((id, name)).filter(|(_, name)| !name.is_empty())
        });
        join_all(ask).await.into_iter().flatten().collect()
    }
}

fn is_file(part: &NotInMessage, wanted: &str) -> bool {
    matches!(part, NotInMessage::Text { name, .. } if name == wanted)
}

fn of_file(name: &str, text: &str) -> Text {
    let passage = Passage {
        place: PassagePlace::File,
        who: name.to_owned(),
        at: None,
        text: excerpt(text, MAX_EXCERPT_BYTES),
        by_program: true,
    };
    Text { passage, is_preview: false }
}

/// Finds the links to messages: `https://NAME.slack.com/archives/CHANNEL/pTIME`, in a thread with `?thread_ts=`.
fn links_of(text: &str) -> Vec<Linked> {
    let mut found: Vec<Linked> = Vec::new();
    for part in text.split("/archives/").skip(1) {
        let part = part.split(['>', '|', ' ', '\n', ')', '"']).next().unwrap_or_default();
        let Some((channel, behind)) = part.split_once("/p") else { continue };
        let (digits, query) = behind.split_once('?').unwrap_or((behind, ""));
        let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let Some((seconds, micros)) = digits.len().checked_sub(6).and_then(|at| digits.split_at_checked(at))
        else {
            continue;
        };
        if !is_id(channel) || !digits.bytes().all(|byte| byte.is_ascii_digit()) || seconds.is_empty() {
            continue;
        }
        let query = query.replace("&amp;", "&");
        let root = query.split('&').find_map(|pair| pair.strip_prefix("thread_ts=")).map(str::to_owned);
        let link = Linked { channel: channel.to_owned(), ts: format!("{seconds}.{micros}"), root };
        if !found.contains(&link) {
            found.push(link);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_messages_are_found() {
        let text = "see <https://acme.slack.com/archives/C1/p1700000000000100> and \
            <https://acme.slack.com/archives/C2/p1700000001000200?thread_ts=1700000000.000100&amp;cid=C2|this>, not /archives/C3/px";
        let found: Vec<(String, String, Option<String>)> =
            links_of(text).into_iter().map(|link| (link.channel, link.ts, link.root)).collect();
        assert_eq!(
            found,
            [
                ("C1".to_owned(), "1700000000.000100".to_owned(), None),
                ("C2".to_owned(), "1700000001.000200".to_owned(), Some("1700000000.000100".to_owned())),
            ]
        );
        for odd in [
            "",
            "/archives/",
            "/archives/C1/p",
            "/archives/C1/p12",
            "/archives/ä/p1700000000000100",
            "/archives/C1/pä00000",
        ] {
            assert_eq!(links_of(odd), [], "{odd}");
        }
    }
}
