//! The tables by which `az` commands are judged.

use serde::Deserialize;

/// A command that carries a script.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct Carrier {
    /// The command path.
    pub(in crate::shell) path: Vec<String>,
    /// The option that holds the script.
    pub(in crate::shell) option: String,
    /// Its short form.
    pub(in crate::shell) short: Option<String>,
    /// The script is judged as one for a guest and may be SAFE.
    #[serde(default)]
    pub(in crate::shell) remote: bool,
}

/// The tables of `cloud.toml`; its comments say what each is for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct Cloud {
    pub(in crate::shell) verbs: Vec<String>,
    pub(in crate::shell) verb_prefixes: Vec<String>,
    pub(in crate::shell) queries: Vec<String>,
    pub(in crate::shell) any_verb: Vec<String>,
    pub(in crate::shell) any_verb_prefixes: Vec<String>,
    pub(in crate::shell) globals: Vec<String>,
    pub(in crate::shell) global_flags: Vec<String>,
    pub(in crate::shell) file_options: Vec<String>,
    pub(in crate::shell) file_suffixes: Vec<String>,
    pub(in crate::shell) secret_options: Vec<String>,
    pub(in crate::shell) other_options: Vec<String>,
    pub(in crate::shell) secret_verbs: Vec<String>,
    pub(in crate::shell) telling_words: Vec<String>,
    pub(in crate::shell) secret_groups: Vec<String>,
    pub(in crate::shell) secret_group_verbs: Vec<String>,
    pub(in crate::shell) secret_commands: Vec<Vec<String>>,
    pub(in crate::shell) secret_urls: Vec<String>,
    pub(in crate::shell) scripts: Vec<Carrier>,
    pub(in crate::shell) remote_options: Vec<String>,
    pub(in crate::shell) download_options: Vec<String>,
    pub(super) safe: Vec<String>,
    pub(super) asks: Vec<String>,
    pub(super) blocked: Vec<String>,
}
