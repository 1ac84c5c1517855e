//! Apps: what they are called, what they may do, and where their events go.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::model::Workspace;
use crate::state::user::set;

/// The scopes of a fresh app: everything that the methods here ask for.
pub(crate) const SCOPES: [&str; 25] = [
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:manage",
    "channels:read",
    "chat:write",
    "chat:write.customize",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "groups:write",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "mpim:write",
    "reactions:read",
    "reactions:write",
    "team:read",
    "usergroups:read",
    "users:read",
    "users:read.email",
];

/// An installed app.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct App {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) bot_id: String,
    pub(crate) bot_user: String,
    pub(crate) bot_token: String,
    pub(crate) app_token: String,
    pub(crate) signing_secret: String,
    pub(crate) verification_token: String,
    pub(crate) scopes: Vec<String>,
    /// The events that it asked for by their names of a manifest; all, where it does not say.
    pub(crate) events: Option<Vec<String>>,
    /// Whether anything is delivered to it at all.
    pub(crate) listens: bool,
    /// Where its events go over HTTP; over sockets, where it has none.
    pub(crate) request_url: Option<String>,
    pub(crate) interactivity_url: Option<String>,
    pub(crate) command_url: Option<String>,
    /// The command that is meant where a text names none.
    pub(crate) command: String,
    pub(crate) updated: i64,
}

impl App {
    /// `bot_profile` of a message, and most of `bots.info`.
    pub(crate) fn profile(&self, team: &str) -> Value {
        json!({
            "id": self.bot_id, "app_id": self.id, "user_id": self.bot_user, "name": self.name, "deleted": false,
            "updated": self.updated, "team_id": team,
            "icons": {"image_36": "", "image_48": "", "image_72": ""},
        })
    }

    /// Tells whether it has one of several scopes; an empty list asks for none.
    pub(crate) fn has_one_of(&self, scopes: &[&str]) -> bool {
        scopes.is_empty() || scopes.iter().any(|scope| self.scopes.iter().any(|own| own == scope))
    }

    /// The document for the page: nothing secret.
    pub(crate) fn form(&self) -> Value {
        json!({
            "id": self.id, "name": self.name, "bot_id": self.bot_id, "bot_user_id": self.bot_user,
            "command": self.command, "listens": self.listens, "scopes": self.scopes,
            "events": self.events,
            "transport": if self.request_url.is_some() { "http" } else { "socket" },
        })
    }
}

impl Workspace {
    /// Finds the app of a bot token.
    pub(crate) fn app_of_bot_token(&self, token: &str) -> Option<&App> {
        self.apps.iter().find(|app| app.bot_token == token)
    }

    /// Finds the app of an app-level token.
    pub(crate) fn app_of_app_token(&self, token: &str) -> Option<&App> {
        self.apps.iter().find(|app| app.app_token == token)
    }

    /// Finds an app by its id.
    pub(crate) fn app(&self, id: &str) -> Result<&App, SlackError> {
        self.apps.iter().find(|app| app.id == id).ok_or_else(|| SlackError::new("invalid_auth"))
    }

    /// Finds the app that speaks through a user.
    pub(crate) fn app_of_user(&self, user: &str) -> Option<&App> {
        self.apps.iter().find(|app| app.bot_user == user)
    }
}

impl Workspace {
    /// The messages of an app with their places and readers, its open modals, its pages, and what it shows of its work.
    pub(crate) fn left(&self, args: &Args) -> Result<Value, SlackError> {
        let named = args.text("app");
        let app = self.apps.iter().find(|app| named.as_ref().is_none_or(|id| *id == app.id));
        let app = app.ok_or_else(|| SlackError::new("app_not_found"))?;
        let mut messages = Vec::new();
        for (id, channel) in &self.channels {
            for message in channel.messages.values() {
                if message.app.as_ref() != Some(&app.id) && message.user != app.bot_user {
                    continue;
                }
                let mut look = self.look(message, true);
                set(&mut look, "channel", json!(id));
                set(&mut look, "only_for", json!(message.only_for));
                messages.push(look);
            }
        }
        let ours = |view: &&crate::state::view::View| view.app == app.id;
        let modals = self.modals.values().flatten().filter(ours).map(|view| view.form(self));
        let homes =
            self.homes.values().filter(ours).map(|view| json!({"user": view.user, "view": view.form(self)}));
        let sessions = self.sessions.values().filter(|session| session.app == app.id);
        Ok(json!({
            "ok": true, "messages": messages, "modals": modals.collect::<Vec<_>>(),
            "homes": homes.collect::<Vec<_>>(),
            "sessions": sessions.map(|session| session.form()).collect::<Vec<_>>(),
        }))
    }
}
