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

/// One rule: a program and what makes it harmful.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// The rule's stable name.
    pub(crate) id: String,
    /// What the command does.
    pub(crate) why: String,
    /// The programs, in lower case; `mkfs.*` stands for any ending.
    pub(crate) names: Vec<String>,
    /// One of these leads the operands: it is among the first `depth` of them.
    #[serde(default)]
    pub(crate) verbs: Vec<String>,
    /// How many operands may be the verb.
    #[serde(default = "one")]
    pub(crate) depth: usize,
    /// For every group, one of its words stands among the operands.
    #[serde(default)]
    pub(crate) operands: Vec<Vec<String>>,
    /// One of these options is given.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// What else has to hold.
    pub(crate) check: Option<Harm>,
    #[serde(default)]
    pub(super) blocked: Vec<String>,
    #[serde(default)]
    pub(super) asks: Vec<String>,
}

fn one() -> usize {
    1
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
    /// Files that hold credentials.
    pub(crate) credentials: Credentials,
    /// The rules by program.
    #[serde(rename = "rule")]
    pub(crate) rules: Vec<Rule>,
}
