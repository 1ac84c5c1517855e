//! What people do, and what they look at.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use std::time::{Duration, Instant};

use ghost_agent::bot::Thread;
use ghost_agent::bot::journal::JournalAction;
use ghost_investigate::event::read;
use ghost_investigate::state::State;
use serde_json::{Value, json};

use super::stage::{World, has_button, is_private, text, ts};
use crate::lab::stage::NETWORK;

/// Nothing here takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

impl World {
    /// Views something as a person.
    pub(super) async fn look(&self, what: &str, query: &[(&str, &str)]) -> Value {
        let url = format!("{}lab/{what}", self.slack.name("SLACK_WORKSPACE_URL"));
        let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = self.slack.http.get(format!("{url}?{}", pairs.join("&"))).send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// Asks again until there is an answer.
    pub(super) async fn until<T>(&self, what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            if Instant::now() >= deadline {
                let left = self.look("left", &[]).await;
                let said = left["messages"].as_array().unwrap().iter().map(text).collect::<Vec<_>>();
                panic!("never: {what}; what the bot said: {said:#?}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Says something in a channel; returns its name.
    pub(super) async fn say(&self, user: &str, channel: &str, text: &str) -> String {
        ts(&self.slack.person("message", json!({"user": user, "channel": channel, "text": text})).await)
    }

    /// Mentions the bot in the network channel; returns the root of the thread.
    pub(super) async fn mention(&self, user: &str, text: &str) -> String {
        self.say(user, NETWORK, &format!("@Ghost {text}")).await
    }

    /// Says something in a thread.
    pub(super) async fn reply(&self, user: &str, root: &str, text: &str) -> String {
        let said = json!({"user": user, "channel": NETWORK, "thread_ts": root, "text": text});
        ts(&self.slack.person("message", said).await)
    }

    /// Returns the messages of a thread as a person sees them.
    pub(super) async fn thread(&self, user: &str, root: &str) -> Vec<Value> {
        self.thread_in(user, NETWORK, root).await
    }

    pub(super) async fn thread_in(&self, user: &str, channel: &str, root: &str) -> Vec<Value> {
        let seen = self.look("thread", &[("user", user), ("channel", channel), ("ts", root)]).await;
        let mut seen = seen.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
        // What is said in private about a message without answers stands in the channel.
        let place = self.look("channel", &[("user", user), ("channel", channel)]).await;
        let below = place.get("messages").and_then(Value::as_array).into_iter().flatten();
        let is_about = |message: &&Value| is_private(message) && message["ts"].as_str() > Some(root);
        seen.extend(below.filter(is_about).cloned());
        seen
    }

    /// Waits for a message in a thread, and returns it.
    pub(super) async fn sees(
        &self,
        user: &str,
        root: &str,
        what: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        self.sees_in(user, NETWORK, root, what, wanted).await
    }

    pub(super) async fn sees_in(
        &self,
        user: &str,
        channel: &str,
        root: &str,
        what: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let find = async || self.thread_in(user, channel, root).await.into_iter().find(|one| wanted(one));
        let found = self.until(what, find).await;
        self.note(channel, &found);
        found
    }

    /// Reads a whole thread as it stands.
    pub(super) async fn reads_all(&self, user: &str, root: &str) {
        for message in self.thread(user, root).await {
            self.note(NETWORK, &message);
        }
    }

    /// Waits for a word that somebody sees, in private or in the thread, and returns it.
    pub(super) async fn hears(&self, user: &str, root: &str, part: &str) -> Value {
        self.hears_in(user, NETWORK, root, part).await
    }

    pub(super) async fn hears_in(&self, user: &str, channel: &str, root: &str, part: &str) -> Value {
        let news = |message: &Value| {
            let is_for_all = || message["bot_id"].is_string() && message.to_string().contains(part);
            !self.knows(channel, message) && (is_private(message) || is_for_all())
        };
        let found = self.sees_in(user, channel, root, part, news).await;
        assert!(found.to_string().contains(part), "not {part:?}: {found}");
        found
    }

    /// Returns what somebody was refused, as it is on record.
    pub(super) async fn refused(&self, who: &str) -> Vec<String> {
        let notes = super::freeze::journal(self).await;
        let of_them = notes.into_iter().filter(|note| note.what == JournalAction::Refused && note.who == who);
        of_them.map(|note| note.why).collect()
    }

    /// Waits for the card of an open question.
    pub(super) async fn card(&self, root: &str) -> Value {
        self.card_in("bob", NETWORK, root).await
    }

    pub(super) async fn card_in(&self, user: &str, channel: &str, root: &str) -> Value {
        self.sees_in(user, channel, root, "an open card", |message| has_button(message, "approve")).await
    }

    /// Mentions the bot and waits for the card of its question; returns the thread and the card.
    pub(super) async fn asks(&self, user: &str) -> (String, Value) {
        let root = self.mention(user, "the link is down").await;
        let card = self.card(&root).await;
        (root, card)
    }

    /// Approves as Bob, and returns all that comes of it.
    pub(super) async fn approved(&self, root: &str, card: &Value) {
        self.press("bob", card, "approve").await;
        self.concluded("alice", root).await;
        self.card_says(root, card, &["Approved by <@U0LABBOB01>", "exit 0"]).await;
        assert_eq!(self.runs(), 1);
    }

    /// Waits until a card says all of this and has no buttons.
    pub(super) async fn card_says(&self, root: &str, card: &Value, parts: &[&str]) -> Value {
        self.card_says_in("bob", NETWORK, root, card, parts).await
    }

    pub(super) async fn card_says_in(
        &self,
        user: &str,
        channel: &str,
        root: &str,
        card: &Value,
        parts: &[&str],
    ) -> Value {
        self.sees_in(user, channel, root, &format!("a card that says {parts:?}"), |message| {
            let all = message.to_string();
            message["ts"] == card["ts"]
                && !["approve", "deny", "modify"].iter().any(|action| has_button(message, action))
                && parts.iter().all(|part| all.contains(part))
        })
        .await
    }

    /// Presses a button on a message. Only some open a dialog that is worth waiting for.
    pub(super) async fn press(&self, user: &str, message: &Value, action: &str) -> Value {
        self.press_in(user, NETWORK, message, action).await
    }

    pub(super) async fn press_in(&self, user: &str, channel: &str, message: &Value, action: &str) -> Value {
        let wait = if ["deny", "modify", "whole"].contains(&action) { 2_000 } else { 0 };
        let press = json!({"user": user, "channel": channel, "ts": message["ts"], "action_id": action, "wait_ms": wait});
        let done = self.slack.person("press", press).await;
        assert_eq!(done["ok"], true, "{action}: {done}");
        done
    }

    /// Presses a button that opens a dialog, and returns it.
    pub(super) async fn opens(&self, user: &str, message: &Value, action: &str) -> Value {
        let pressed = self.press(user, message, action).await;
        let view = &pressed["view"];
        assert_eq!(view["callback_id"], action, "{pressed}");
        self.note_view(view);
        view.clone()
    }

    /// Sends a dialog off.
    pub(super) async fn submit(&self, user: &str, view: &Value, values: Value) -> Value {
        self.slack.person("submit", json!({"user": user, "view_id": view["id"], "values": values})).await
    }

    /// Sends a dialog off that is taken.
    pub(super) async fn submits(&self, user: &str, view: &Value, field: &str, value: &str) {
        let done = self.submit(user, view, json!({field: {field: value}})).await;
        assert_eq!(done["ok"], true, "{done}");
    }

    /// Closes a dialog.
    pub(super) async fn close(&self, user: &str, view: &Value) {
        let done = self.slack.person("close", json!({"user": user, "view_id": view["id"]})).await;
        assert_eq!(done["ok"], true, "{done}");
    }

    /// Types a command; returns what only its writer sees.
    pub(super) async fn command(&self, user: &str, typed: &str) -> Value {
        let typed = json!({"user": user, "channel": NETWORK, "text": typed});
        let answer = self.slack.person("command", typed.clone()).await;
        assert_eq!(answer.get("ok"), Some(&json!(true)), "{typed}: {answer}");
        self.in_channel(user, NETWORK, |message| is_private(message) && !self.knows(NETWORK, message)).await
    }

    /// Waits for a message in a channel, and returns it.
    pub(super) async fn in_channel(
        &self,
        user: &str,
        channel: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let found = self
            .until("a message in the channel", async || {
                let seen = self.look("channel", &[("user", user), ("channel", channel)]).await;
                seen.get("messages")?.as_array()?.iter().find(|message| wanted(message)).cloned()
            })
            .await;
        self.note(channel, &found);
        found
    }

    /// Opens the Home tab and returns what is published there then.
    pub(super) async fn home(&self, user: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        self.slack.person("home", json!({"user": user})).await;
        let home = async || {
            Some(self.look("home", &[("user", user)]).await)
                .filter(|view| view["type"] == "home" && wanted(view))
        };
        let home = self.until("the Home tab", home).await;
        self.note_home(user);
        home
    }

    /// Reads what a session has on its ledger; nothing where there is none.
    pub(super) async fn state(&self, channel: &str, root: &str) -> Option<State> {
        let thread = Thread { team: String::new(), channel: channel.to_owned(), ts: root.to_owned() };
        let session = thread.session();
        let lines = self.store.read(&session, 0).await.unwrap();
        let recorded = read(&session, lines.iter().map(String::as_str)).unwrap();
        (!recorded.is_empty()).then(|| State::fold(&session, &recorded).unwrap())
    }

    /// Returns the bodies of the events of one kind that a session has on its ledger.
    pub(super) async fn events(&self, channel: &str, root: &str, kind: &str) -> Vec<Value> {
        let thread = Thread { team: String::new(), channel: channel.to_owned(), ts: root.to_owned() };
        let lines = self.store.read(&thread.session(), 0).await.unwrap();
        let read = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        read.filter(|line| line["kind"] == kind).map(|line| line["body"].clone()).collect()
    }

    /// Makes something go wrong.
    pub(super) async fn fault(&self, fault: Value) {
        self.note_trouble();
        let answer = self.slack.person("fault", fault).await;
        assert_eq!(answer.get("ok"), Some(&json!(true)), "{answer}");
    }
}
