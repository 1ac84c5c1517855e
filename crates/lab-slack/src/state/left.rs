//! Everything that an app has left in the workspace, wherever it is and whoever sees it.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::model::Workspace;
use crate::state::user::set;

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
