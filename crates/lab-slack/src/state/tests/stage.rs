//! A fresh workspace with somebody in it who acts.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::event::Effect;
use crate::state::model::{Workspace, text_of};
use crate::state::seed::fresh;
use crate::state::tests::table::has_row;
use ghost_base::Timestamp;

pub(super) const GHOST: &str = "A0LABGHOST";
pub(super) const BOT: &str = "U0LABGHOST";
pub(super) const NETWORK: &str = "C0LAB0NETW";

/// A workspace and its time.
pub(super) struct Stage {
    pub(super) workspace: Workspace,
    pub(super) now: i64,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self { workspace: fresh("salt", Timestamp::from_millis(1_700_000_000_000)), now: 1_700_000_000_000 }
    }

    pub(super) fn time(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    pub(super) fn call(&mut self, method: &str, args: Value) -> Result<Value, SlackError> {
        let now = self.time();
        self.workspace.call(GHOST, method, &Args::of(args), now)
    }

    #[track_caller]
    pub(super) fn ok(&mut self, method: &str, args: Value) -> Value {
        let answer = self.call(method, args).unwrap();
        assert_eq!(answer["ok"], true);
        answer
    }

    #[track_caller]
    pub(super) fn refused(&mut self, method: &str, args: Value) -> String {
        self.call(method, args).unwrap_err().code().to_owned()
    }

    #[track_caller]
    pub(super) fn says(&mut self, user: &str, channel: &str, text: &str) -> String {
        let now = self.time();
        let args = Args::of(json!({"user": user, "channel": channel, "text": text}));
        self.workspace.write(&args, now).unwrap()["ts"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(super) fn posts(&mut self, text: &str) -> String {
        self.ok("chat.postMessage", json!({"channel": NETWORK, "text": text}))["ts"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Takes the events that would go to the app.
    pub(super) fn events(&mut self) -> Vec<Value> {
        let happenings = self.workspace.take_outbox().into_iter();
        let events: Vec<Value> = happenings
            .filter_map(|happening| match happening {
                Effect::Event { payload, .. } => Some(payload["event"].clone()),
                Effect::Notice(_) => None,
            })
            .collect();
        for event in &events {
            assert!(has_row(text_of(event, "type")), "{event} is not in the table of what is here");
        }
        events
    }

    /// Lets time pass, and what is due happen.
    pub(super) fn passes(&mut self, millis: i64) {
        self.now += millis;
        let now = self.time();
        self.workspace.tidy(now);
    }

    pub(super) fn kinds(&mut self) -> Vec<String> {
        self.events()
            .iter()
            .map(|event| {
                format!("{} {}", text_of(event, "type"), text_of(event, "subtype")).trim().to_owned()
            })
            .collect()
    }
}
