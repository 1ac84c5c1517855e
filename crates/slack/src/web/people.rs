//! Who people are, and who we are.

use serde_json::{Value, json};

use crate::web::call::Web;
use crate::web::error::CallError;

/// Who we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Our user, `U…`.
    pub user: String,
    /// Our bot, `B…`.
    pub bot: Option<String>,
    /// The workspace; an organization-wide installation may name none.
    pub team: Option<String>,
    /// The workspace's name.
    pub team_name: Option<String>,
    /// The organization, on Enterprise Grid.
    pub enterprise: Option<String>,
    /// Whether the whole organization installed the app.
    pub enterprise_install: bool,
    /// The workspace's address.
    pub url: Option<String>,
}

/// Who somebody is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// The person.
    pub id: String,
    /// The workspace that they belong to.
    pub team: Option<String>,
    /// The organization that they belong to.
    pub enterprise: Option<String>,
    /// Their whole name.
    pub real_name: String,
    /// The name that is shown; empty where they chose none.
    pub display_name: String,
    /// Their time zone.
    pub tz: Option<String>,
    /// Whether it is an app's user.
    pub is_bot: bool,
    /// Whether they left.
    pub deleted: bool,
    /// Whether they are a guest, of some channels or of one.
    pub is_guest: bool,
    /// Whether they are a guest of one channel.
    pub is_single_channel_guest: bool,
    /// Whether they belong to another organization, as far as Slack says.
    pub is_stranger: bool,
}

impl Profile {
    /// Returns the name by which people know them.
    #[must_use]
    pub fn name(&self) -> &str {
        [&self.display_name, &self.real_name, &self.id]
            .into_iter()
            .find(|name| !name.is_empty())
            .map(String::as_str)
            .unwrap_or_default()
    }
}

/// A user group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The group, `S…`.
    pub id: String,
    /// Its handle without the at sign.
    pub handle: String,
    pub name: String,
}

impl Identity {
    /// Reads the answer of `auth.test`; nothing where it names no user.
    pub(crate) fn read(answer: &Value) -> Option<Self> {
        let field = |name: &str| text(answer, name);
        Some(Self {
            user: field("user_id")?,
            bot: field("bot_id"),
            team: field("team_id"),
            team_name: field("team"),
            enterprise: field("enterprise_id"),
            enterprise_install: flag(answer, "is_enterprise_install"),
            url: field("url"),
        })
    }
}

impl Web {
    /// `auth.test`
    ///
    /// # Errors
    /// Fails where the call does, or where the token is no bot's.
    pub async fn auth_test(&self) -> Result<Identity, CallError> {
        let method = "auth.test";
        let answer = self.call(method, &json!({})).await?;
        Identity::read(&answer).ok_or_else(|| CallError::odd(method, "user_id"))
    }

    /// `apps.connections.open`: the address of a new socket.
    ///
    /// # Errors
    /// Fails where the call does; a 429 is returned, as whoever opens sockets has a pace of its own.
    pub async fn connections_open(&self) -> Result<String, CallError> {
        let method = "apps.connections.open";
        let answer = self.call_as_app(method).await?;
        text(&answer, "url").ok_or_else(|| CallError::odd(method, "url"))
    }

    /// `users.info`
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn user(&self, user: &str) -> Result<Profile, CallError> {
        let method = "users.info";
        let answer = self.get(method, &json!({"user": user})).await?;
        let about = answer.get("user").ok_or_else(|| CallError::odd(method, "user"))?;
        let none = Value::Null;
        let profile = about.get("profile").unwrap_or(&none);
        let single = flag(about, "is_ultra_restricted");
        let enterprise = about.get("enterprise_user").and_then(|user| text(user, "enterprise_id"));
        Ok(Profile {
            id: text(about, "id").unwrap_or_else(|| user.to_owned()),
            team: text(about, "team_id").or_else(|| text(profile, "team")),
            enterprise,
            real_name: text(profile, "real_name").or_else(|| text(about, "real_name")).unwrap_or_default(),
            display_name: text(profile, "display_name").unwrap_or_default(),
            tz: text(about, "tz"),
            is_bot: flag(about, "is_bot") || user == "USLACKBOT",
            deleted: flag(about, "deleted"),
            is_guest: flag(about, "is_restricted") || single,
            is_single_channel_guest: single,
            is_stranger: flag(about, "is_stranger") || flag(about, "is_external"),
        })
    }

    /// `usergroups.users.list`: who is in a user group now.
    ///
    /// # Errors
    /// Fails where the call does: whoever decides by it has to fail closed.
    pub async fn group_members(&self, group: &str) -> Result<Vec<String>, CallError> {
        let method = "usergroups.users.list";
        let answer = self.get(method, &json!({"usergroup": group})).await?;
        let list =
            answer.get("users").and_then(Value::as_array).ok_or_else(|| CallError::odd(method, "users"))?;
        Ok(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// `usergroups.list`: the user groups that are not switched off.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn groups(&self) -> Result<Vec<Group>, CallError> {
        let method = "usergroups.list";
        let answer = self.get(method, &json!({"include_disabled": false})).await?;
        let list = answer
            .get("usergroups")
            .and_then(Value::as_array)
            .ok_or_else(|| CallError::odd(method, "usergroups"))?;
        let group = |one: &Value| {
            Some(Group {
                id: text(one, "id")?,
                handle: text(one, "handle").unwrap_or_default(),
                name: text(one, "name").unwrap_or_default(),
            })
        };
        Ok(list.iter().filter_map(group).collect())
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}
