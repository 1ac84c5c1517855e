//! The table of methods: what each asks for, and who answers.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::model::Workspace;

/// Which token a method takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// None is needed.
    None,
    /// The bot's.
    Bot,
    /// The app's own.
    App,
}

/// A method of the Web API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) token: Token,
    /// One of these has to be granted; `*:` stands for the kind of the conversation.
    pub(crate) scopes: &'static [&'static str],
    pub(crate) tier: u32,
}

const fn bot(name: &'static str, scopes: &'static [&'static str], tier: u32) -> Method {
    Method { name, token: Token::Bot, scopes, tier }
}

/// The scopes by which an app may change a channel.
const MANAGE: &[&str] = &["channels:manage", "groups:write", "im:write", "mpim:write"];

/// Every method that is answered.
pub(crate) const METHODS: &[Method] = &[
    Method { name: "api.test", token: Token::None, scopes: &[], tier: 4 },
    Method { name: "apps.connections.open", token: Token::App, scopes: &[], tier: 2 },
    Method { name: "apps.event.authorizations.list", token: Token::App, scopes: &[], tier: 4 },
    bot("auth.test", &[], 4),
    bot("bots.info", &["users:read"], 3),
    bot("team.info", &["team:read"], 3),
    bot("users.info", &["users:read"], 4),
    bot("users.list", &["users:read"], 2),
    bot("users.lookupByEmail", &["users:read.email"], 3),
    bot("usergroups.list", &["usergroups:read"], 2),
    bot("usergroups.users.list", &["usergroups:read"], 2),
    bot("conversations.list", &["channels:read", "groups:read", "im:read", "mpim:read"], 2),
    bot("conversations.info", &["*:read"], 3),
    bot("conversations.history", &["*:history"], 3),
    bot("conversations.replies", &["*:history"], 3),
    bot("conversations.members", &["*:read"], 4),
    bot("conversations.open", &["im:write", "mpim:write"], 3),
    bot("conversations.invite", &["channels:manage", "groups:write"], 3),
    bot("conversations.create", MANAGE, 2),
    bot("conversations.archive", MANAGE, 2),
    bot("chat.postMessage", &["chat:write"], 4),
    bot("chat.postEphemeral", &["chat:write"], 4),
    bot("chat.update", &["chat:write"], 3),
    bot("chat.delete", &["chat:write"], 3),
    bot("chat.getPermalink", &[], 4),
    bot("chat.scheduleMessage", &["chat:write"], 3),
    bot("chat.scheduledMessages.list", &[], 3),
    bot("chat.deleteScheduledMessage", &["chat:write"], 3),
    bot("chat.startStream", &["chat:write"], 2),
    bot("chat.appendStream", &["chat:write"], 4),
    bot("chat.stopStream", &["chat:write"], 2),
    bot("reactions.add", &["reactions:write"], 3),
    bot("reactions.remove", &["reactions:write"], 2),
    bot("reactions.get", &["reactions:read"], 3),
    bot("views.open", &[], 4),
    bot("views.push", &[], 4),
    bot("views.update", &[], 4),
    bot("views.publish", &[], 4),
    bot("files.getUploadURLExternal", &["files:write"], 4),
    bot("files.completeUploadExternal", &["files:write"], 4),
    bot("files.info", &["files:read"], 4),
    bot("files.list", &["files:read"], 3),
    bot("files.delete", &["files:write"], 3),
    bot("assistant.threads.setStatus", &["assistant:write", "chat:write"], 3),
    bot("assistant.threads.setSuggestedPrompts", &["assistant:write"], 4),
    bot("agents.sessions.setStatus", &["chat:write"], 3),
];

/// Finds a method by its name.
pub(crate) fn method(name: &str) -> Option<Method> {
    METHODS.iter().find(|method| method.name == name).copied()
}

impl Workspace {
    /// Names the scopes of which a call needs one.
    pub(crate) fn accepted(&self, method: &Method, args: &Args) -> Vec<String> {
        let kind = args
            .text("channel")
            .and_then(|id| self.channels.get(&id))
            .map_or("channels", |place| place.kind.scope());
        method.scopes.iter().map(|scope| scope.replace('*', kind)).collect()
    }

    /// Refuses a call for which the app lacks the scope.
    pub(crate) fn permitted(&self, app: &str, method: &Method, args: &Args) -> Result<(), SlackError> {
        let app = self.app(app)?;
        let scopes = self.accepted(method, args);
        let named: Vec<&str> = scopes.iter().map(String::as_str).collect();
        if app.has_one_of(&named) {
            return Ok(());
        }
        Err(SlackError::new("missing_scope")
            .beside("needed", named.join(","))
            .beside("provided", app.scopes.join(",")))
    }

    /// `auth.test`
    pub(crate) fn auth_test(&self, app: &str) -> Result<Value, SlackError> {
        let app = self.app(app)?;
        let mut answer = json!({
            "ok": true, "url": format!("{}/", self.base), "team": self.team.name,
            "user": app.name.to_lowercase(), "team_id": self.team.id, "user_id": app.bot_user, "bot_id": app.bot_id,
            "is_enterprise_install": self.grid,
        });
        if self.grid
            && let Some(map) = answer.as_object_mut()
        {
            map.insert("enterprise_id".to_owned(), json!(self.team.enterprise));
        }
        Ok(answer)
    }

    /// `bots.info`
    pub(crate) fn bots_info(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let bot = match args.text("bot") {
            Some(id) => self.apps.iter().find(|app| app.bot_id == id),
            None => self.app(app).ok(),
        };
        let bot = bot.ok_or_else(|| SlackError::new("bot_not_found"))?;
        Ok(json!({"ok": true, "bot": bot.profile(&self.team.id)}))
    }
}
