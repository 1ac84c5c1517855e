//! The tables by which `az` commands are judged.

use std::collections::BTreeMap;

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

/// Commands by their whole paths: a group, then its verbs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub(in crate::shell) struct Commands(BTreeMap<String, String>);

impl Commands {
    pub(in crate::shell) fn has(&self, path: &[&str]) -> bool {
        path.split_last().is_some_and(|(last, group)| {
            self.0.get(&group.join(" ")).is_some_and(|verbs| verbs.split(' ').any(|verb| verb == *last))
        })
    }

    /// Lists the paths.
    #[cfg(test)]
    pub(in crate::shell) fn paths(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(group, verbs)| {
            verbs.split(' ').map(move |verb| format!("{group} {verb}").trim_start().to_owned())
        })
    }
}

/// An option that is one of its own below some commands, and elsewhere the beginning of one that is closed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct Narrow {
    pub(in crate::shell) option: String,
    pub(in crate::shell) below: Vec<String>,
}

/// What a value may look like that becomes part of a host's name.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::shell) enum HostKind {
    /// 3 to 24 lower-case letters and digits.
    Account,
    /// Letters, digits and `-`.
    Label,
    /// The same, with dots.
    Registry,
}

impl HostKind {
    pub(in crate::shell) fn accepts(self, value: &str) -> bool {
        let label = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        match self {
            Self::Account => {
                matches!(value.len(), 3..=24)
                    && value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            }
            Self::Label => !value.is_empty() && value.bytes().all(label),
            Self::Registry => !value.is_empty() && value.bytes().all(|byte| label(byte) || byte == b'.'),
        }
    }
}

/// An option whose value becomes part of the name of a host.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct HostOption {
    pub(in crate::shell) option: String,
    pub(in crate::shell) kind: HostKind,
    /// It is one below this command alone.
    #[serde(default)]
    pub(in crate::shell) below: String,
    /// It is none below this one.
    pub(in crate::shell) but: Option<String>,
}

/// An option that makes one command print a secret.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct SecretOption {
    pub(in crate::shell) command: String,
    pub(in crate::shell) option: String,
    /// Its letter.
    pub(in crate::shell) short: char,
    /// Letters that may stand in front of it in the same word.
    #[serde(default)]
    pub(in crate::shell) flags: String,
}

/// What prints a secret.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct SecretTable {
    pub(in crate::shell) verb_begins: Vec<String>,
    pub(in crate::shell) verb_ends: Vec<String>,
    pub(in crate::shell) verb_prefixes: Vec<String>,
    pub(in crate::shell) verbs: Vec<String>,
    pub(in crate::shell) groups: Vec<String>,
    pub(in crate::shell) group_verbs: Vec<String>,
    pub(in crate::shell) but: String,
    pub(in crate::shell) commands: Vec<String>,
    pub(in crate::shell) options: Vec<String>,
    pub(in crate::shell) only: Vec<SecretOption>,
    pub(in crate::shell) types: Vec<String>,
    pub(in crate::shell) actions: Vec<String>,
    pub(in crate::shell) action_begins: Vec<String>,
    pub(in crate::shell) action_holds: Vec<String>,
}

/// What destroys whole resources.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct Destroy {
    pub(in crate::shell) verbs: Vec<String>,
    pub(in crate::shell) groups: Vec<String>,
    pub(in crate::shell) below: Vec<String>,
    pub(in crate::shell) commands: Vec<String>,
}

/// Commands and what is promised of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct CloudExamples {
    pub(in crate::shell) safe: Vec<String>,
    pub(in crate::shell) asks: Vec<String>,
    pub(in crate::shell) blocked: Vec<String>,
}

/// The tables of `cloud.toml`; its comments say what each is for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct Cloud {
    /// The commands of `core.toml`.
    #[serde(skip)]
    pub(in crate::shell) core: Commands,
    pub(in crate::shell) groups: Vec<String>,
    pub(in crate::shell) verbs: Vec<String>,
    pub(in crate::shell) verb_prefixes: Vec<String>,
    pub(in crate::shell) other_verbs: Vec<String>,
    pub(in crate::shell) globals: Vec<String>,
    pub(in crate::shell) global_flags: Vec<String>,
    pub(in crate::shell) front_flags: Vec<String>,
    pub(in crate::shell) options: Vec<String>,
    pub(in crate::shell) attached: Vec<String>,
    pub(in crate::shell) narrow: Vec<Narrow>,
    pub(in crate::shell) hosts: Vec<HostOption>,
    pub(in crate::shell) url_options: Vec<String>,
    pub(in crate::shell) url_groups: Vec<String>,
    pub(in crate::shell) destinations: Vec<String>,
    pub(in crate::shell) scripts: Vec<Carrier>,
    pub(in crate::shell) remote_options: Vec<String>,
    pub(in crate::shell) download_options: Vec<String>,
    pub(in crate::shell) extensions: Commands,
    pub(in crate::shell) asks_although: BTreeMap<String, String>,
    pub(in crate::shell) secret: SecretTable,
    pub(in crate::shell) destroy: Destroy,
    pub(in crate::shell) examples: CloudExamples,
}

impl Cloud {
    /// Reads the tables.
    pub(super) fn read(tables: &str, core: &str) -> Result<Self, toml::de::Error> {
        Ok(Self { core: toml::from_str(core)?, ..toml::from_str(tables)? })
    }

    /// Tells whether a path is one of those that `core.toml` may hold: of these groups, and with a verb that reads.
    pub(in crate::shell) fn may_read(&self, path: &[&str]) -> bool {
        let [group, between @ .., last] = path else { return path == ["version"] };
        let begins = |prefix: &String| last.len() > prefix.len() && last.starts_with(prefix.as_str());
        let verb = |word: &&str| self.verbs.iter().chain(&self.other_verbs).any(|verb| verb == word);
        self.groups.iter().any(|known| known == group)
            && !between.iter().any(verb)
            && (self.verbs.iter().any(|verb| verb == last) || self.verb_prefixes.iter().any(begins))
    }
}
