//! What forms hold: people, views, and what was filled in.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::arrive::field::{first, flag, items, said, text, texts};

/// Somebody who did something.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Person {
    /// The person, `U…` or `W…`; empty where Slack did not say.
    pub id: String,
    /// The workspace that they belong to.
    pub team: Option<String>,
    /// The organization that they belong to.
    pub enterprise: Option<String>,
    /// Their handle.
    pub name: Option<String>,
}

impl Person {
    pub(crate) fn read(body: &Value) -> Self {
        Self {
            id: first(body, &[&["user", "id"], &["user"], &["user_id"]]).unwrap_or_default(),
            team: text(body, &["user", "team_id"]),
            enterprise: first(
                body,
                &[
                    &["user", "enterprise_user", "enterprise_id"],
                    &["user", "enterprise_id"],
                    &["enterprise_user", "enterprise_id"],
                ],
            ),
            name: first(body, &[&["user", "username"], &["user", "name"], &["user_name"]]),
        }
    }
}

/// What one element of a form holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field {
    /// The element's type, `plain_text_input` for instance.
    pub kind: String,
    /// What was written, or the one thing that was chosen.
    pub text: Option<String>,
    /// Everything that was chosen.
    pub selected: Vec<String>,
}

impl Field {
    /// Reads the state of an element, or an action, of any type there is or will be: whatever begins with `selected_` was chosen.
    pub(crate) fn read(state: &Value) -> Self {
        let mut selected = Vec::new();
        for (name, value) in state.as_object().into_iter().flatten() {
            if !name.starts_with("selected_") {
                continue;
            }
            let one = |value: &Value| text(value, &["value"]).or_else(|| text(value, &[]));
            match value.as_array() {
                Some(list) => selected.extend(list.iter().filter_map(one)),
                None => selected.extend(one(value)),
            }
        }
        let text = text(state, &["value"]).or_else(|| selected.first().cloned());
        Self { kind: said(state, &["type"]), text, selected }
    }
}

/// What was filled in, by block and element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Values(BTreeMap<String, BTreeMap<String, Field>>);

impl Values {
    pub(crate) fn read(values: Option<&Value>) -> Self {
        let fields = |block: &Value| {
            let fields = block.as_object().into_iter().flatten();
            fields.map(|(name, state)| (name.clone(), Field::read(state))).collect()
        };
        let blocks = values.and_then(Value::as_object).into_iter().flatten();
        Self(blocks.map(|(name, block)| (name.clone(), fields(block))).collect())
    }

    /// Returns what an element holds.
    #[must_use]
    pub fn field(&self, block: &str, action: &str) -> Option<&Field> {
        self.0.get(block)?.get(action)
    }

    /// Returns what was written into an element, or chosen in it.
    #[must_use]
    pub fn text(&self, block: &str, action: &str) -> Option<&str> {
        self.field(block, action)?.text.as_deref()
    }

    /// Returns everything that was chosen in an element.
    #[must_use]
    pub fn selected(&self, block: &str, action: &str) -> &[String] {
        self.field(block, action).map(|field| field.selected.as_slice()).unwrap_or_default()
    }

    /// Tells whether nothing at all was filled in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A modal or a home tab.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// The view, `V…`.
    pub id: String,
    /// `modal` or `home`.
    pub kind: String,
    /// The name that we gave to its kind.
    pub callback_id: String,
    /// What we put into it for ourselves.
    pub private_metadata: String,
    /// The version that was looked at.
    pub hash: Option<String>,
    /// The name that we gave to it.
    pub external_id: Option<String>,
    /// The view below the stack.
    pub root_view_id: Option<String>,
    /// The view right below.
    pub previous_view_id: Option<String>,
    /// What is filled in.
    pub values: Values,
}

impl View {
    pub(crate) fn read(view: &Value) -> Self {
        Self {
            id: said(view, &["id"]),
            kind: said(view, &["type"]),
            callback_id: said(view, &["callback_id"]),
            private_metadata: said(view, &["private_metadata"]),
            hash: text(view, &["hash"]),
            external_id: text(view, &["external_id"]),
            root_view_id: text(view, &["root_view_id"]),
            previous_view_id: text(view, &["previous_view_id"]),
            values: Values::read(view.get("state").and_then(|state| state.get("values"))),
        }
    }

    pub(crate) fn read_some(body: &Value) -> Option<Self> {
        body.get("view").filter(|view| view.is_object()).map(Self::read)
    }
}

/// An address to which a form lets us answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponseUrl {
    /// The block that asked for the conversation.
    pub block: String,
    /// The element in it.
    pub action: String,
    /// The conversation that was chosen.
    pub channel: String,
    /// The address.
    pub url: String,
}

impl ResponseUrl {
    pub(crate) fn read(body: &Value) -> Vec<Self> {
        let read = |one: &Value| Self {
            block: said(one, &["block_id"]),
            action: said(one, &["action_id"]),
            channel: said(one, &["channel_id"]),
            url: said(one, &["response_url"]),
        };
        items(body, &["response_urls"]).iter().map(read).filter(|one| !one.url.is_empty()).collect()
    }
}

/// Where an interaction belongs: workspace, organization, whether the whole organization installed the app.
pub(crate) fn place(body: &Value) -> (Option<String>, Option<String>, bool) {
    // Where the person belongs is not where the app is installed: that team may be another organization's.
    let team = first(body, &[&["team", "id"], &["team_id"], &["team"], &["view", "app_installed_team_id"]]);
    let enterprise = first(
        body,
        &[&["enterprise", "id"], &["enterprise_id"], &["enterprise"], &["team", "enterprise_id"]],
    );
    (team, enterprise, flag(body, &["is_enterprise_install"]))
}

/// The first names of a list of people or bots that an installation speaks for.
pub(crate) fn authorization(body: &Value) -> (Option<String>, Option<String>, bool) {
    let first = items(body, &["authorizations"]).first().unwrap_or(&Value::Null);
    (text(first, &["team_id"]), text(first, &["enterprise_id"]), flag(first, &["is_enterprise_install"]))
}

/// Who else a payload says it was for; old payloads list them.
pub(crate) fn authed(body: &Value) -> Vec<String> {
    texts(body, &["authed_users"])
}
