//! The rows of `forms.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

/// The forms. A file that does not parse is found by a test, never by a user.
pub(super) static FORMS: LazyLock<Forms> =
    LazyLock::new(|| toml::from_str(include_str!("forms.toml")).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
pub(super) struct Forms {
    pub(super) form: Vec<Form>,
    pub(super) status: Words,
    pub(super) ending: Words,
    pub(super) other: Vec<Other>,
    pub(super) network: Network,
}

/// How one program posts.
#[derive(Debug, Deserialize)]
pub(super) struct Form {
    pub(super) source: String,
    pub(super) shown: String,
    pub(super) names: Vec<String>,
    #[serde(default)]
    pub(super) firing: Vec<String>,
    #[serde(default)]
    pub(super) acknowledged: Vec<String>,
    #[serde(default)]
    pub(super) resolved: Vec<String>,
    #[serde(default)]
    pub(super) ids: Vec<String>,
    #[serde(default)]
    pub(super) links: Vec<String>,
}

/// Words for each status.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Words {
    pub(super) names: Vec<String>,
    pub(super) firing: Vec<String>,
    pub(super) acknowledged: Vec<String>,
    pub(super) resolved: Vec<String>,
}

/// What an alert is about where it is no network.
#[derive(Debug, Deserialize)]
pub(super) struct Other {
    pub(super) about: String,
    pub(super) words: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Network {
    pub(super) words: Vec<String>,
}
