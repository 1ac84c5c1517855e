//! A workspace as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::state::app::App;
use crate::state::cap::Caps;
use crate::state::channel::Channel;
use crate::state::event::Effect;
use crate::state::file::File;
use crate::state::limit::Limits;
use crate::state::schedule::Scheduled;
use crate::state::session::Session;
use crate::state::user::{Group, Team, User};
use crate::state::view::{Trigger, View};
use ghost_base::{Digest, Timestamp};

/// The form in which a workspace is kept on the disk.
pub(crate) const FORMAT: u32 = 1;

/// Everything that a workspace knows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Workspace {
    pub(crate) format: u32,
    pub(crate) team: Team,
    /// The organization at the other end of shared channels.
    pub(crate) partner: Team,
    /// Whether payloads have the form of an organization-wide installation.
    pub(crate) grid: bool,
    pub(crate) users: BTreeMap<String, User>,
    pub(crate) apps: Vec<App>,
    pub(crate) channels: BTreeMap<String, Channel>,
    pub(crate) groups: Vec<Group>,
    pub(crate) files: BTreeMap<String, File>,
    /// Open modals of each person, the lowest first.
    pub(crate) modals: BTreeMap<String, Vec<View>>,
    pub(crate) homes: BTreeMap<String, View>,
    pub(crate) triggers: BTreeMap<String, Trigger>,
    pub(crate) hooks: BTreeMap<String, Hook>,
    pub(crate) sessions: BTreeMap<String, Session>,
    #[serde(default)]
    pub(crate) scheduled: Vec<Scheduled>,
    pub(crate) counter: u64,
    /// What nobody outside can guess; secrets in addresses come from it.
    pub(crate) salt: String,
    /// The address under which the workspace answers, without a slash at the end.
    #[serde(skip)]
    pub(crate) base: String,
    #[serde(skip)]
    pub(crate) limits: Limits,
    #[serde(skip)]
    pub(crate) caps: Caps,
    /// When something is due next, in milliseconds; at once after a restart, to find out.
    #[serde(skip)]
    pub(crate) due: i64,
    /// Files whose bytes are not wanted any more.
    #[serde(skip)]
    pub(crate) gone: Vec<String>,
    #[serde(skip)]
    outbox: Vec<Effect>,
}

/// An address that an interaction gave to the app.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Hook {
    pub(crate) app: String,
    pub(crate) user: String,
    pub(crate) channel: String,
    /// The message that was pressed, if one was.
    pub(crate) ts: Option<String>,
    pub(crate) thread_ts: Option<String>,
    pub(crate) uses: u32,
    pub(crate) born: i64,
}

impl Workspace {
    /// Builds a workspace without anybody in it.
    pub(crate) fn empty(team: Team, partner: Team, salt: String) -> Self {
        Self {
            format: FORMAT,
            team,
            partner,
            grid: false,
            users: BTreeMap::new(),
            apps: Vec::new(),
            channels: BTreeMap::new(),
            groups: Vec::new(),
            files: BTreeMap::new(),
            modals: BTreeMap::new(),
            homes: BTreeMap::new(),
            triggers: BTreeMap::new(),
            hooks: BTreeMap::new(),
            sessions: BTreeMap::new(),
            scheduled: Vec::new(),
            counter: 0,
            salt,
            base: String::new(),
            limits: Limits::default(),
            caps: Caps::default(),
            due: 0,
            gone: Vec::new(),
            outbox: Vec::new(),
        }
    }

    /// Returns an identifier that nothing else has.
    pub(crate) fn id(&mut self, kind: &str) -> String {
        self.counter += 1;
        format!("{kind}0LAB{}", base36(self.counter, 6))
    }

    /// Returns a text that nobody can guess.
    pub(crate) fn unguessable(&mut self) -> String {
        self.counter += 1;
        let digest = Digest::of_fields([self.salt.as_str(), &self.counter.to_string()]).to_string();
        digest.chars().take(32).collect()
    }

    /// Notes what happened, for whoever delivers it.
    pub(crate) fn happened(&mut self, happening: Effect) {
        self.outbox.push(happening);
    }

    /// Takes what happened since the last time.
    pub(crate) fn take_outbox(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.outbox)
    }

    /// Takes the names of files whose bytes are not wanted any more.
    pub(crate) fn take_gone(&mut self) -> Vec<String> {
        std::mem::take(&mut self.gone)
    }

    /// Does what is due, and forgets what is too old to be used.
    pub(crate) fn tidy(&mut self, now: Timestamp) {
        const HALF_AN_HOUR: i64 = 30 * 60 * 1000;
        let old = now.as_millis() - HALF_AN_HOUR;
        self.triggers.retain(|_, trigger| trigger.born > old);
        self.hooks.retain(|_, hook| hook.born > old);
        self.come_due(now);
    }
}

/// Prints a number in capitals and digits, with zeros in front.
fn base36(mut number: u64, width: usize) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.len() < width {
        let digit = u32::try_from(number % 36).unwrap_or(0);
        digits.push(char::from_digit(digit, 36).unwrap_or('0').to_ascii_uppercase());
        number /= 36;
    }
    digits.iter().rev().collect()
}

/// Returns seconds since 1970, as most of Slack's fields want them.
pub(crate) fn seconds(now: Timestamp) -> i64 {
    now.as_millis().div_euclid(1000)
}

/// Returns a moment in the form of a message's name.
pub(crate) fn stamp(now: Timestamp) -> String {
    format!("{}.{:06}", now.as_millis().div_euclid(1000), now.as_millis().rem_euclid(1000) * 1000)
}

/// Returns a text of an object, empty where there is none.
pub(crate) fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
