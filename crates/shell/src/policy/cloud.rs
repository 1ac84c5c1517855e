//! The tables by which `az` commands are judged.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A command that carries a script.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Carrier {
    /// The command path.
    pub(crate) path: Vec<String>,
    /// The option that holds the script.
    pub(crate) option: String,
    /// Its short form.
    pub(crate) short: Option<String>,
    /// The script is judged as one for a guest and may be SAFE.
    #[serde(default)]
    pub(crate) remote: bool,
}

/// Commands by their whole paths: a group, then its verbs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Commands(BTreeMap<String, String>);

impl Commands {
    pub(crate) fn has(&self, path: &[&str]) -> bool {
        path.split_last().is_some_and(|(last, group)| {
            self.0.get(&group.join(" ")).is_some_and(|verbs| verbs.split(' ').any(|verb| verb == *last))
        })
    }

    /// Lists the paths.
    #[cfg(test)]
    pub(crate) fn paths(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(group, verbs)| {
            verbs.split(' ').map(move |verb| format!("{group} {verb}").trim_start().to_owned())
        })
    }
}

/// An option that is one of its own below some commands, and elsewhere the beginning of one that is closed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Narrow {
    pub(crate) option: String,
    pub(crate) below: Vec<String>,
}

/// What a value may look like that becomes part of a host's name.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HostKind {
    /// 3 to 24 lower-case letters and digits.
    Account,
    /// Letters, digits and `-`.
    Label,
    /// The same, with dots.
    Registry,
}

impl HostKind {
    pub(crate) fn accepts(self, value: &str) -> bool {
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

/// True if a path lies below a command.
pub(crate) fn is_below(path: &[impl AsRef<str>], command: &str) -> bool {
    let mut words = path.iter();
    command.split_whitespace().all(|part| words.next().is_some_and(|word| word.as_ref() == part))
}

/// Options whose values are hosts, or become part of a host's name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostOption {
    options: Vec<String>,
    /// What a value has to look like.
    kind: Option<HostKind>,
    /// The commands below which the options are read so; everywhere if there are none.
    #[serde(default)]
    below: Vec<String>,
    /// The commands below which they are not.
    #[serde(default)]
    but: Vec<String>,
    /// The host, `{}` standing for the value.
    host: Option<String>,
}

impl HostOption {
    /// True if the row speaks of an option of a command.
    pub(crate) fn is_about(&self, option: &str, path: &[impl AsRef<str>]) -> bool {
        self.options.iter().any(|known| known == option)
            && (self.below.is_empty() || self.below.iter().any(|command| is_below(path, command)))
            && !self.but.iter().any(|command| is_below(path, command))
    }

    pub(crate) fn accepts(&self, value: &str) -> bool {
        self.kind.is_none_or(|kind| kind.accepts(value))
    }

    /// Returns the host that a value forms. A registry may be named by its host as well.
    pub(crate) fn host(&self, value: &str) -> Option<String> {
        let (_, ending) = self.host.as_deref()?.split_once("{}")?;
        let is_whole = value.to_ascii_lowercase().ends_with(ending);
        Some(if is_whole { value.to_owned() } else { format!("{value}{ending}") })
    }

    /// Returns the word that forms a host.
    fn word<'h>(&self, host: &'h str) -> Option<&'h str> {
        let (_, ending) = self.host.as_deref()?.split_once("{}").filter(|(_, ending)| !ending.is_empty())?;
        host.strip_suffix(ending)
    }
}

/// An option that makes one command print a secret.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretOption {
    pub(crate) command: String,
    pub(crate) option: String,
    /// Its letter.
    pub(crate) short: char,
    /// Letters that may stand in front of it in the same word.
    #[serde(default)]
    pub(crate) flags: String,
}

/// What prints a secret.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretTable {
    pub(crate) verb_begins: Vec<String>,
    pub(crate) verb_ends: Vec<String>,
    pub(crate) verb_prefixes: Vec<String>,
    pub(crate) verbs: Vec<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) group_verbs: Vec<String>,
    pub(crate) but: String,
    pub(crate) commands: Vec<String>,
    pub(crate) options: Vec<String>,
    pub(crate) only: Vec<SecretOption>,
    pub(crate) types: Vec<String>,
    pub(crate) actions: Vec<String>,
    pub(crate) action_begins: Vec<String>,
    pub(crate) action_holds: Vec<String>,
    pub(crate) members: Vec<String>,
    pub(crate) holders: Vec<String>,
    pub(crate) containers: Vec<String>,
}

/// What destroys whole resources.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Destroy {
    pub(crate) verbs: Vec<String>,
    pub(crate) things: Vec<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) parts: Vec<String>,
    pub(crate) below: Vec<String>,
    pub(crate) commands: Vec<String>,
    pub(crate) with: Vec<DestroyOption>,
}

/// An option with which a command destroys whole resources.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DestroyOption {
    /// The words that the command's path holds.
    pub(crate) words: Vec<String>,
    pub(crate) option: String,
    pub(crate) short: Option<String>,
    /// The values that destroy, in lower case; empty if the option destroys with any value.
    #[serde(default)]
    pub(crate) values: Vec<String>,
}

/// Commands whose queries are programs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Queries {
    pub(crate) commands: Vec<String>,
    /// The functions by which a query reaches a place of its choice.
    pub(crate) reach: Vec<String>,
}

/// The blobs of flow logs, which may be printed without asking.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowLogs {
    /// The container in which the platform writes them.
    pub(crate) container: String,
    /// The options of a command that prints one.
    pub(crate) options: Vec<String>,
    /// So many bytes of one are printed.
    pub(crate) max_bytes: u64,
}

/// Commands and what is promised of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloudExamples {
    pub(crate) safe: Vec<String>,
    pub(crate) asks: Vec<String>,
    pub(crate) blocked: Vec<String>,
}

/// The tables of `cloud.toml`; its comments say what each is for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cloud {
    /// The commands of `core.toml`.
    #[serde(skip)]
    pub(crate) core: Commands,
    pub(crate) groups: Vec<String>,
    pub(crate) verbs: Vec<String>,
    pub(crate) verb_prefixes: Vec<String>,
    pub(crate) other_verbs: Vec<String>,
    pub(crate) globals: Vec<String>,
    pub(crate) global_flags: Vec<String>,
    pub(crate) front_flags: Vec<String>,
    pub(crate) options: Vec<String>,
    pub(crate) attached: Vec<String>,
    pub(crate) narrow: Vec<Narrow>,
    pub(crate) hosts: Vec<HostOption>,
    pub(crate) url_options: Vec<String>,
    pub(crate) url_groups: Vec<String>,
    pub(crate) queries: Queries,
    pub(crate) scripts: Vec<Carrier>,
    pub(crate) remote_options: Vec<String>,
    pub(crate) download_options: Vec<String>,
    pub(crate) rest_reads: Vec<String>,
    pub(crate) flow_logs: FlowLogs,
    pub(crate) extensions: Commands,
    pub(crate) asks_although: BTreeMap<String, String>,
    pub(crate) asks_without: BTreeMap<String, AsksWithout>,
    pub(crate) secret: SecretTable,
    pub(crate) destroy: Destroy,
    pub(crate) examples: CloudExamples,
}

/// What commands do beside reading where an option is missing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AsksWithout {
    pub(crate) why: String,
    pub(crate) commands: Vec<String>,
}

impl Cloud {
    /// Returns the word of which a host of `az` is formed: who named a registry named its host.
    pub(crate) fn word_of<'h>(&self, host: &'h str) -> Option<&'h str> {
        self.hosts.iter().find_map(|row| row.word(host))
    }

    /// Tells whether a path is one of those that `core.toml` may hold: of these groups, and with a verb that reads.
    pub(crate) fn may_read(&self, path: &[&str]) -> bool {
        let [group, between @ .., last] = path else { return path == ["version"] };
        let begins = |prefix: &String| last.len() > prefix.len() && last.starts_with(prefix.as_str());
        let verb = |word: &&str| self.verbs.iter().chain(&self.other_verbs).any(|verb| verb == word);
        self.groups.iter().any(|known| known == group)
            && !between.iter().any(verb)
            && (self.verbs.iter().any(|verb| verb == last) || self.verb_prefixes.iter().any(begins))
    }
}
