//! What never runs, as data.

use std::net::IpAddr;

use serde::Deserialize;

/// A look at the words of a program that a list of words cannot take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Harm {
    /// `rm -r` of a protected path.
    RemoveTree,
    /// `find` from a protected path that deletes.
    FindDelete,
    /// `chmod -R` of a protected path.
    ChangeTree,
    /// `mv` of a protected path.
    MoveTree,
    /// `rsync --delete` onto a protected path.
    WriteTree,
    /// `dd of=` onto a device.
    WriteOf,
    /// `cp` onto a device.
    WriteLast,
    /// `tee` onto a device.
    WriteAny,
    /// `kill` of everything.
    KillAll,
    /// `env` with nothing to run.
    EnvAlone,
    /// `ps e`, which shows the environment.
    ProcessEnvironment,
    /// A unit that turns the machine off.
    PowerUnit,
    /// `kubectl get secret -o yaml`.
    SecretShown,
    /// `kubectl delete` of what nothing brings back.
    ClusterDeleted,
}

/// One word of a command that a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// Any operands may stand before it.
    pub(crate) gap: bool,
    /// The word is one of these; empty for any word.
    pub(crate) words: Vec<String>,
}

/// A command that a rule names: `eksctl delete cluster|nodegroup`.
///
/// The first word is the program, in lower case. The words behind it lead the operands, in this order: `*` is any one word, and `...` any
/// run of words. Words with a dash are options, given in any place. `~text` is given if an argument holds that text. `a|b` is one of
/// both, and a trailing `*` stands for any ending.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct CommandPattern {
    /// The programs.
    pub(crate) programs: Vec<String>,
    /// What leads the operands.
    pub(crate) steps: Vec<Step>,
    /// One option of each group is given.
    pub(crate) options: Vec<Vec<String>>,
    /// One text of each group stands in an argument.
    pub(crate) texts: Vec<Vec<String>>,
}

impl CommandPattern {
    /// Returns true if the program is harmful with any arguments.
    pub(super) fn is_whole_program(&self) -> bool {
        self.steps.is_empty() && self.options.is_empty() && self.texts.is_empty()
    }
}

impl TryFrom<String> for CommandPattern {
    type Error = String;

    fn try_from(line: String) -> Result<Self, String> {
        let alternatives = |word: &str| word.split('|').map(str::to_owned).collect::<Vec<_>>();
        let mut words = line.split(' ');
        let programs = alternatives(words.next().unwrap_or_default());
        let mut pattern = Self { programs, steps: Vec::new(), options: Vec::new(), texts: Vec::new() };
        let mut gap = false;
        for word in words {
            match word {
                "..." => gap = true,
                "*" => pattern.steps.push(Step { gap: std::mem::take(&mut gap), words: Vec::new() }),
                option if option.starts_with('-') => pattern.options.push(alternatives(option)),
                text if text.starts_with('~') => {
                    pattern.texts.push(alternatives(text.trim_start_matches('~')));
                }
                word => {
                    pattern.steps.push(Step { gap: std::mem::take(&mut gap), words: alternatives(word) });
                }
            }
        }
        let all = pattern.steps.iter().map(|step| &step.words).chain(&pattern.options).chain(&pattern.texts);
        let empty = pattern.programs.iter().chain(all.flatten()).any(String::is_empty);
        if empty || gap { Err(format!("`{line}` names no command")) } else { Ok(pattern) }
    }
}

/// One rule: commands and what they do.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// The rule's stable name.
    pub(crate) id: String,
    /// What the command does.
    pub(crate) why: String,
    /// The commands.
    pub(crate) commands: Vec<CommandPattern>,
    /// What else has to hold.
    pub(crate) check: Option<Harm>,
    #[serde(default)]
    pub(super) blocked: Vec<String>,
    #[serde(default)]
    pub(super) asks: Vec<String>,
}

impl Rule {
    /// Lists the programs that the rule speaks of.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &String> {
        self.commands.iter().flat_map(|command| &command.programs)
    }
}

/// Files that hold credentials.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    /// Whole paths.
    pub(crate) paths: Vec<String>,
    /// Last parts of a path.
    pub(crate) tails: Vec<String>,
    /// Last parts that are none after all.
    pub(crate) except: Vec<String>,
    /// Folders in which a pattern can stand for one.
    pub(crate) patterns_in: Vec<String>,
    /// Folders below which everything is one.
    pub(crate) folders: Vec<String>,
    pub(super) blocked: Vec<String>,
    pub(super) asks: Vec<String>,
}

/// The whole of tier 0.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Block {
    /// Trees that nobody deletes, moves or changes as a whole.
    pub(crate) protected: Vec<String>,
    /// Devices that may be written.
    pub(crate) harmless_devices: Vec<String>,
    /// Files through which the kernel is stopped.
    pub(crate) kernel_switches: Vec<String>,
    /// Units that turn the machine off, without what may stand around their names.
    pub(crate) power_units: Vec<String>,
    /// Names of metadata services.
    pub(crate) metadata_hosts: Vec<String>,
    /// Addresses of metadata services, beside those that are local to a link.
    pub(crate) metadata_addresses: Vec<IpAddr>,
    /// Domains below which a name says its own address.
    pub(crate) telling_domains: Vec<String>,
    /// What the path of a metadata request holds when its answer is a credential.
    pub(crate) metadata_words: Vec<String>,
    /// Beginnings of paths that only a metadata service has.
    pub(crate) metadata_pages: Vec<String>,
    /// Files that hold credentials.
    pub(crate) credentials: Credentials,
    /// The rules by program.
    #[serde(rename = "rule")]
    pub(crate) rules: Vec<Rule>,
}
