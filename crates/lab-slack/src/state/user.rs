//! Teams, people and groups of people, in Slack's forms.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::args::page;
use crate::state::error::SlackError;
use crate::state::model::Workspace;

/// A workspace as others name it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Team {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) domain: String,
    pub(crate) enterprise: String,
}

/// What somebody may do by their account alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Membership {
    /// An administrator.
    Admin,
    /// A full member.
    Member,
    /// A guest of several channels.
    Guest,
    SingleChannelGuest,
    /// Somebody of another organization, known through a shared channel.
    Stranger,
    /// An app's user.
    Bot,
}

/// A person, or an app's user.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct User {
    pub(crate) id: String,
    pub(crate) team: String,
    pub(crate) name: String,
    pub(crate) real_name: String,
    pub(crate) display_name: String,
    pub(crate) title: String,
    pub(crate) email: String,
    pub(crate) tz: String,
    pub(crate) tz_offset: i64,
    pub(crate) standing: Membership,
    pub(crate) deleted: bool,
    pub(crate) bot_id: Option<String>,
    pub(crate) app_id: Option<String>,
    pub(crate) updated: i64,
}

/// A group of people that can be mentioned.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) id: String,
    pub(crate) handle: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) users: Vec<String>,
    pub(crate) created: i64,
}

impl User {
    /// Whether an app speaks through this user.
    pub(crate) fn is_bot(&self) -> bool {
        self.standing == Membership::Bot
    }

    /// Whether this is a person who belongs to the workspace, no guest.
    pub(crate) fn is_full(&self) -> bool {
        !self.deleted && matches!(self.standing, Membership::Admin | Membership::Member)
    }

    /// The profile, in Slack's form.
    pub(crate) fn profile(&self) -> Value {
        let mut names = self.real_name.split_whitespace();
        let first = names.next().unwrap_or_default();
        let last = names.last().unwrap_or_default();
        let mut profile = json!({
            "title": self.title, "phone": "", "skype": "", "real_name": self.real_name,
            "real_name_normalized": self.real_name, "display_name": self.display_name,
            "display_name_normalized": self.display_name, "fields": null, "status_text": "", "status_emoji": "",
            "status_expiration": 0, "avatar_hash": "g0", "first_name": first, "last_name": last, "team": self.team,
        });
        if self.is_bot() {
            set(&mut profile, "bot_id", json!(self.bot_id));
            set(&mut profile, "api_app_id", json!(self.app_id));
        } else {
            set(&mut profile, "email", json!(self.email));
        }
        profile
    }

    /// The whole user, in Slack's form.
    pub(crate) fn form(&self) -> Value {
        let restricted = matches!(self.standing, Membership::Guest | Membership::SingleChannelGuest);
        let mut form = json!({
            "id": self.id, "team_id": self.team, "name": self.name, "deleted": self.deleted, "color": "4bbe2e",
            "real_name": self.real_name, "tz": self.tz, "tz_label": self.tz, "tz_offset": self.tz_offset,
            "profile": self.profile(), "is_admin": self.standing == Membership::Admin,
            "is_owner": self.standing == Membership::Admin, "is_primary_owner": false, "is_restricted": restricted,
            "is_ultra_restricted": self.standing == Membership::SingleChannelGuest, "is_bot": self.is_bot(),
            "is_app_user": false, "updated": self.updated, "is_email_confirmed": !self.is_bot(),
            "who_can_share_contact_card": "EVERYONE",
        });
        if self.standing == Membership::Stranger {
            set(&mut form, "is_stranger", json!(false));
            set(&mut form, "is_external", json!(true));
        }
        form
    }
}

/// Sets a field of an object.
pub(crate) fn set(value: &mut Value, name: &str, to: Value) {
    if let Some(map) = value.as_object_mut() {
        map.insert(name.to_owned(), to);
    }
}

impl Group {
    /// The group, in Slack's form.
    pub(crate) fn form(&self, team: &str, with_users: bool) -> Value {
        let mut form = json!({
            "id": self.id, "team_id": team, "is_usergroup": true, "is_subteam": true, "name": self.name,
            "description": self.description, "handle": self.handle, "is_external": false, "date_create": self.created,
            "date_update": self.created, "date_delete": 0, "auto_type": null, "auto_provision": false,
            "created_by": null, "updated_by": null, "deleted_by": null,
            "prefs": {"channels": [], "groups": []}, "user_count": self.users.len(),
        });
        if with_users {
            set(&mut form, "users", json!(self.users));
        }
        form
    }
}

impl Workspace {
    /// Finds a person or an app's user by id.
    pub(crate) fn user(&self, id: &str) -> Result<&User, SlackError> {
        self.users.get(id).ok_or_else(|| SlackError::new("user_not_found"))
    }

    /// Finds a person by id, name, display name or the name with an at sign, for calls of the lab.
    pub(crate) fn user_named(&self, name: &str) -> Result<&User, SlackError> {
        let bare = name.trim_start_matches('@');
        let same = |user: &&User| {
            [&user.name, &user.display_name, &user.real_name].iter().any(|own| own.eq_ignore_ascii_case(bare))
        };
        self.users
            .get(bare)
            .or_else(|| self.users.values().find(same))
            .ok_or_else(|| SlackError::new("user_not_found"))
    }

    /// `users.info`
    pub(crate) fn users_info(&self, args: &Args) -> Result<Value, SlackError> {
        Ok(json!({"ok": true, "user": self.user(&args.need("user")?)?.form()}))
    }

    /// `users.list`
    pub(crate) fn users_list(&self, args: &Args) -> Result<Value, SlackError> {
        let all: Vec<Value> = self.users.values().map(User::form).collect();
        let (members, next) = page(&all, args, 1000, 200)?;
        Ok(json!({"ok": true, "members": members, "cache_ts": 0, "response_metadata": {"next_cursor": next}}))
    }

    /// `users.lookupByEmail`
    pub(crate) fn users_lookup_by_email(&self, args: &Args) -> Result<Value, SlackError> {
        let email = args.need("email")?;
        let same = |user: &&User| !user.is_bot() && user.email.eq_ignore_ascii_case(&email);
        let user = self.users.values().find(same).ok_or_else(|| SlackError::new("users_not_found"))?;
        Ok(json!({"ok": true, "user": user.form()}))
    }

    /// `usergroups.list`
    pub(crate) fn usergroups_list(&self, args: &Args) -> Value {
        let with_users = args.flag("include_users").unwrap_or(false);
        let groups: Vec<Value> =
            self.groups.iter().map(|group| group.form(&self.team.id, with_users)).collect();
        json!({"ok": true, "usergroups": groups})
    }

    /// `usergroups.users.list`
    pub(crate) fn usergroups_users_list(&self, args: &Args) -> Result<Value, SlackError> {
        let id = args.need("usergroup")?;
        let group = self.groups.iter().find(|group| group.id == id);
        let group = group.ok_or_else(|| SlackError::new("no_such_subteam"))?;
        Ok(json!({"ok": true, "users": group.users}))
    }

    /// `team.info`
    pub(crate) fn team_info(&self) -> Value {
        json!({"ok": true, "team": {
            "id": self.team.id, "name": self.team.name, "domain": self.team.domain, "url": format!("{}/", self.base),
            "email_domain": format!("{}.example", self.team.domain), "icon": {"image_default": true},
            "enterprise_id": self.grid.then_some(&self.team.enterprise),
        }})
    }
}
