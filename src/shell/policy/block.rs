//! What never runs, as data.

use serde::Deserialize;

/// A look at the words of a program that a list of words cannot take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::shell) enum Harm {
    /// `rm -r` of a protected path.
    RemoveTree,
    /// `find` from a protected path that deletes.
    FindDelete,
    /// `chmod -R` of a protected path.
    ChangeTree,
    /// `mv` of a protected path.
    MoveTree,
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
}

/// One rule: a program and what makes it harmful.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct Rule {
    /// The rule's stable name.
    pub(in crate::shell) id: String,
    /// What the command does.
    pub(in crate::shell) why: String,
    /// The programs, in lower case; `mkfs.*` stands for any ending.
    pub(in crate::shell) names: Vec<String>,
    /// For every group, one of its words stands among the operands.
    #[serde(default)]
    pub(in crate::shell) operands: Vec<Vec<String>>,
    /// One of these options is given.
    #[serde(default)]
    pub(in crate::shell) options: Vec<String>,
    /// What else has to hold.
    pub(in crate::shell) check: Option<Harm>,
    #[serde(default)]
    pub(super) blocked: Vec<String>,
    #[serde(default)]
    pub(super) asks: Vec<String>,
}

/// Files that hold credentials.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct Credentials {
    /// Whole paths.
    pub(in crate::shell) paths: Vec<String>,
    /// Last parts of a path.
    pub(in crate::shell) tails: Vec<String>,
    /// Last parts that are none after all.
    pub(in crate::shell) except: Vec<String>,
    /// Folders below which everything is one.
    pub(in crate::shell) folders: Vec<String>,
    pub(super) blocked: Vec<String>,
    pub(super) asks: Vec<String>,
}

/// The whole of tier 0.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct Block {
    /// Trees that nobody deletes, moves or changes as a whole.
    pub(in crate::shell) protected: Vec<String>,
    /// Devices that may be written.
    pub(in crate::shell) harmless_devices: Vec<String>,
    /// Names of metadata services.
    pub(in crate::shell) metadata_hosts: Vec<String>,
    /// What the path of a metadata request holds when its answer is a credential.
    pub(in crate::shell) metadata_words: Vec<String>,
    /// Files that hold credentials.
    pub(in crate::shell) credentials: Credentials,
    /// The rules by program.
    #[serde(rename = "rule")]
    pub(in crate::shell) rules: Vec<Rule>,
}
