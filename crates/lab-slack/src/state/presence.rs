//! Small answers about people and the workspace: who is there, who is not to be disturbed, which emoji are its own.

use serde_json::{Map, Value, json};

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::model::{Workspace, stamp};
use ghost_base::Timestamp;

/// Nobody here ever wants silence.
fn undisturbed() -> Value {
    json!({"dnd_enabled": false, "next_dnd_start_ts": 1, "next_dnd_end_ts": 1})
}

impl Workspace {
    /// `users.getPresence`: everybody is always there.
    pub(crate) fn users_presence(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let own = self.app(app)?.bot_user.clone();
        let user = args.text("user").unwrap_or_else(|| own.clone());
        self.user(&user)?;
        if user == own {
            return Ok(json!({
                "ok": true, "presence": "active", "online": true, "auto_away": false, "manual_away": false,
                "connection_count": 1, "last_activity": 0,
            }));
        }
        Ok(json!({"ok": true, "presence": "active"}))
    }

    /// `dnd.info`
    pub(crate) fn dnd_info(&self, args: &Args) -> Result<Value, SlackError> {
        if let Some(user) = args.text("user") {
            self.user(&user)?;
        }
        let mut answer = undisturbed();
        if let Some(map) = answer.as_object_mut() {
            map.insert("ok".to_owned(), json!(true));
            map.insert("snooze_enabled".to_owned(), json!(false));
        }
        Ok(answer)
    }

    /// `dnd.teamInfo`
    pub(crate) fn dnd_team_info(&self, args: &Args) -> Result<Value, SlackError> {
        let asked = args.names("users");
        if asked.is_empty() {
            return Err(SlackError::missing("users"));
        }
        if asked.len() > 50 {
            return Err(SlackError::new("too_many_users"));
        }
        let known = asked.into_iter().filter(|user| self.users.contains_key(user));
        let users: Map<String, Value> = known.map(|user| (user, undisturbed())).collect();
        Ok(json!({"ok": true, "users": users}))
    }

    /// `emoji.list`: the workspace has none of its own.
    pub(crate) fn emoji_list(now: Timestamp) -> Value {
        json!({"ok": true, "emoji": {}, "cache_ts": stamp(now)})
    }
}
