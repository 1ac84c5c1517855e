//! How a conversation ends: all that the bot posted was read, every event was acknowledged, and nothing is left open.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use std::collections::BTreeSet;
use std::time::Duration;

use ghost_base::{Clock as _, SessionId};
use ghost_investigate::event::read;
use ghost_investigate::state::State;
use serde_json::Value;

use super::stage::{World, text, ts};

/// What somebody looked at.
#[derive(Default)]
pub(super) struct Seen {
    /// Channel, name and words of messages.
    messages: BTreeSet<(String, String, String)>,
    views: BTreeSet<String>,
    homes: BTreeSet<String>,
    files: BTreeSet<String>,
    /// What Slack refuses, as the test expects.
    expected: BTreeSet<String>,
    /// Whether something was made to go wrong.
    troubled: bool,
    /// Channels in which the bot may change nothing any more.
    abandoned: BTreeSet<String>,
}

/// Fails a test that does not look at what was left.
#[derive(Default)]
pub(super) struct Guard(bool);

impl Drop for Guard {
    fn drop(&mut self) {
        assert!(self.0 || std::thread::panicking(), "the world did not end: nobody looked at what was left");
    }
}

/// Buttons that may stand for ever: they ask for nothing, and a look that is offered can be wanted later.
const HARMLESS: [&str; 6] = ["audit", "feedback", "steps", "evidence", "postmortem", "look"];

impl World {
    fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().unwrap())
    }

    /// Notes that somebody looked at a message as it stands.
    pub(super) fn note(&self, channel: &str, message: &Value) {
        self.seen(|seen| seen.messages.insert(key(channel, message)));
    }

    /// Tells whether somebody looked at a message as it stands.
    pub(super) fn knows(&self, channel: &str, message: &Value) -> bool {
        self.seen(|seen| seen.messages.contains(&key(channel, message)))
    }

    /// Notes that something was made to go wrong.
    pub(super) fn note_trouble(&self) {
        self.seen(|seen| seen.troubled = true);
    }

    pub(super) fn note_view(&self, view: &Value) {
        self.seen(|seen| seen.views.insert(view["id"].as_str().unwrap().to_owned()));
    }

    pub(super) fn note_home(&self, user: &str) {
        self.seen(|seen| seen.homes.insert(user.to_owned()));
    }

    /// Expects that Slack refuses something with this word, or that nobody acknowledges something in time: `unacknowledged`.
    pub(super) fn expects(&self, word: &str) {
        self.seen(|seen| seen.expected.insert(word.to_owned()));
    }

    /// Expects that what stands in a channel stays as it is: the bot cannot change it.
    pub(super) fn abandons(&self, channel: &str) {
        self.seen(|seen| seen.abandoned.insert(channel.to_owned()));
    }

    /// Reads a file that the bot shared.
    pub(super) async fn file(&self, user: &str, file: &Value) -> String {
        let id = file["id"].as_str().unwrap();
        let url = format!("{}lab/file?id={id}&user={user}", self.slack.name("SLACK_WORKSPACE_URL"));
        let bytes = self.slack.http.get(url).send().await.unwrap().bytes().await.unwrap();
        self.seen(|seen| seen.files.insert(id.to_owned()));
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// Ends the conversation, once no bot runs any more.
    ///
    /// # Panics
    /// Where something was not looked at, not taken, or is left open.
    pub(super) async fn end(self) {
        let mut wrong = Vec::new();
        self.unacknowledged(&mut wrong).await;
        self.left(&mut wrong).await;
        self.stored(&mut wrong).await;
        self.counted(&mut wrong);
        let Self { slack, mut guard, .. } = self;
        guard.0 = true;
        assert!(wrong.is_empty(), "this is left:\n{}", wrong.join("\n"));
        slack.end().await;
    }

    /// Ends a conversation of which only what became of it somewhere else counts.
    pub(super) async fn abandon(self) {
        let Self { slack, mut guard, .. } = self;
        guard.0 = true;
        slack.end().await;
    }

    /// The bot acknowledged every event, and no call of it was refused.
    async fn unacknowledged(&self, wrong: &mut Vec<String>) {
        let journal = self
            .until("everything has arrived", async || {
                Some(self.look("journal", &[]).await).filter(|journal| journal["open"] == 0)
            })
            .await;
        assert_eq!(journal["lost"], 0, "the journal is too short for this conversation");
        let mut met = BTreeSet::new();
        for entry in journal["entries"].as_array().unwrap() {
            let word = match entry["what"].as_str().unwrap() {
                // A mark that is there already is what was wanted.
                "call" => {
                    entry["error"].as_str().filter(|word| *word != "already_reacted").map(str::to_owned)
                }
                // The events of its last changes arrive when the bot may be gone already; it has nothing to do then.
                _ if entry["subtype"] == "message_changed" => None,
                _ => (entry["acknowledged"] != true).then(|| "unacknowledged".to_owned()),
            };
            if let Some(view) = entry["view"].as_str().filter(|_| entry["method"] == "views.open")
                && !self.seen(|seen| seen.views.contains(view))
            {
                wrong.push(format!("nobody looked at the dialog {view}"));
            }
            let Some(word) = word else { continue };
            if !self.seen(|seen| seen.expected.contains(&word)) {
                wrong.push(format!("{word}: {entry}"));
            }
            met.insert(word);
        }
        let never = self.seen(|seen| seen.expected.difference(&met).cloned().collect::<Vec<_>>());
        wrong.extend(never.iter().map(|word| format!("it never came to {word}")));
    }

    /// Everything that the bot left was looked at, and asks nobody for anything.
    async fn left(&self, wrong: &mut Vec<String>) {
        let left = self.look("left", &[]).await;
        let list = |name: &str| left[name].as_array().cloned().unwrap_or_default();
        for message in list("messages") {
            let channel = message["channel"].as_str().unwrap();
            if !self.knows(channel, &message) {
                wrong.push(format!("nobody looked at {channel} {}: {:?}", ts(&message), text(&message)));
            }
            for file in message["files"].as_array().into_iter().flatten() {
                if !self.seen(|seen| seen.files.contains(file["id"].as_str().unwrap())) {
                    wrong.push(format!("nobody looked at the file {}", file["name"]));
                }
            }
            let stays = self.seen(|seen| seen.abandoned.contains(channel));
            for action in buttons(&message["blocks"]) {
                if !stays && !HARMLESS.contains(&action.as_str()) {
                    wrong.push(format!("{:?} still has the button {action}", text(&message)));
                }
            }
        }
        wrong.extend(list("modals").iter().map(|view| format!("a dialog is open: {}", view["callback_id"])));
        for home in list("homes") {
            let name = |id: &str| id.strip_prefix("U0LAB").unwrap_or(id).to_lowercase();
            let user = name(home["user"].as_str().unwrap());
            if !self.seen(|seen| seen.homes.iter().any(|known| user.starts_with(known.as_str()))) {
                wrong.push(format!("nobody looked at the Home tab of {user}"));
            }
        }
        for session in list("sessions") {
            if self.seen(|seen| seen.abandoned.contains(session["channel"].as_str().unwrap())) {
                continue;
            }
            let resting = matches!(session["agent_status"].as_str(), None | Some("active" | "closed"));
            if session["status"] != "" || !resting {
                wrong.push(format!("the thread still shows {session}"));
            }
        }
    }

    /// Every session is over, reported and nobody's.
    async fn stored(&self, wrong: &mut Vec<String>) {
        let now = self.clock.now();
        for pending in self.store.pending(None, now).await.unwrap() {
            wrong.push(format!("{} still waits for an answer", pending.record.id));
        }
        if let Some(flag) = self.store.flag("freeze").await.unwrap() {
            wrong.push(format!("everything is still held back: {flag}"));
        }
        for session in self.store.list(None, 1_000).await.unwrap() {
            self.rests(&session, wrong).await;
        }
    }

    async fn rests(&self, session: &SessionId, wrong: &mut Vec<String>) {
        let lines = self.store.read(session, 0).await.unwrap();
        let recorded = read(session, lines.iter().map(String::as_str)).unwrap();
        let state = State::fold(session, &recorded).unwrap();
        if !state.is_reported() {
            wrong.push(format!("{session} is not over: {:?}", recorded.last().map(|event| &event.kind)));
        }
        let inbox = self.store.inbox(session).await.unwrap();
        if !inbox.is_empty() {
            wrong.push(format!("{session} has unread messages: {inbox:?}"));
        }
        match self.store.acquire(session, "the end", Duration::from_secs(1)).await.unwrap() {
            Some(lease) => self.store.release(&lease).await.unwrap(),
            None => wrong.push(format!("somebody still owns {session}")),
        }
    }

    /// Nothing arrived that the bot has no name for, and nothing failed.
    fn counted(&self, wrong: &mut Vec<String>) {
        let troubled = self.seen(|seen| seen.troubled);
        for measures in self.counted.lock().unwrap().iter() {
            let printed = measures.print();
            let bad = |line: &&str| {
                let counts = line.starts_with("ghost_faults_total")
                    || line.starts_with(r#"ghost_events_total{kind="unknown"}"#);
                let announced = troubled && line.contains(r#"whose="upstream""#);
                counts && !announced && !line.ends_with(" 0")
            };
            wrong.extend(printed.lines().filter(bad).map(str::to_owned));
        }
    }
}

fn key(channel: &str, message: &Value) -> (String, String, String) {
    (channel.to_owned(), ts(message), text(message).to_owned())
}

/// Returns the names of everything that can be pressed.
fn buttons(blocks: &Value) -> Vec<String> {
    match blocks {
        Value::Array(list) => list.iter().flat_map(buttons).collect(),
        Value::Object(map) => {
            let own = map.get("action_id").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(map.values().flat_map(buttons)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[tokio::test]
#[should_panic(expected = "nobody looked at")]
async fn a_conversation_whose_report_nobody_reads_fails() {
    let world = World::new(&super::stage::look_once()).await;
    world
        .talk(async |world| {
            let root = world.mention("alice", "the link is down").await;
            world
                .until("the end", async || {
                    (!world.events(crate::lab::stage::NETWORK, &root, "delivered").await.is_empty())
                        .then_some(())
                })
                .await;
        })
        .await;
}

#[tokio::test]
#[should_panic(expected = "nobody looked at what was left")]
async fn a_conversation_that_does_not_end_fails() {
    drop(World::new(&[]).await);
}
