//! One entry of the allow list, as it is written and as it is used.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::cost::{CostRule, RawCost};
use super::grammar::{Grammar, Lines, Style};
use crate::{Profile, Socket};

/// A question about the words as a whole that a grammar of options cannot ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Check {
    /// `ip`, `bridge`, `tc`: an object, then nothing, `show` or `get`.
    Objects,
    /// `curl`: every address is http, none is a metadata service.
    Curl,
    /// `nft`: one `list` or `describe`.
    Nft,
    /// `grep` behind a pipe: a pattern and no file.
    OnePattern,
    /// `awk`: one program that picks lines and prints fields.
    Awk,
    /// `sed`: one script that picks and replaces.
    Sed,
    /// `jq`: one filter that reads its input only.
    Jq,
    /// `grep` of files: a pattern, then files that are meant to be read.
    PatternAndFiles,
    /// `vmstat`: an interval and a count behind everything else, or neither.
    IntervalAndCount,
    /// `kubectl`: nothing that shows what is in a secret.
    NoSecrets,
}

/// Which table of a packet filter a program reads. Its old variant registers the table in the kernel to do so.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tables {
    /// The options that name the table.
    pub(crate) options: Vec<String>,
    /// The table that it reads without them; without a default it reads those that are registered.
    pub(crate) default: Option<String>,
}

/// An entry as it stands in a policy file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEntry {
    pub(super) id: String,
    pub(super) names: Vec<String>,
    #[serde(default)]
    why: String,
    /// The manual page or help text, with its version, in which every option of this entry was looked up. An embedded entry has one.
    #[serde(default)]
    pub(super) manual: String,
    #[serde(default)]
    style: Style,
    #[serde(default)]
    stop: bool,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    operands: Vec<String>,
    #[serde(default)]
    single: bool,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    follows: Vec<String>,
    #[serde(default)]
    cost: RawCost,
    #[serde(default)]
    after: Vec<String>,
    #[serde(default)]
    watches: Vec<String>,
    #[serde(default)]
    verb_first: bool,
    #[serde(default)]
    globals: Vec<String>,
    check: Option<Check>,
    #[serde(default)]
    objects: Vec<String>,
    #[serde(default)]
    gets: Vec<String>,
    #[serde(default)]
    verbs: BTreeMap<String, String>,
    #[serde(default)]
    namespace: Vec<String>,
    #[serde(default)]
    processes: Vec<String>,
    #[serde(default)]
    socket_owners: Vec<String>,
    #[serde(default)]
    scratch: bool,
    #[serde(default)]
    log: bool,
    #[serde(default)]
    kubeconfig: bool,
    #[serde(default)]
    outputs: bool,
    #[serde(default)]
    no_folders: bool,
    #[serde(default)]
    net_admin: Vec<String>,
    tables: Option<Tables>,
    #[serde(default)]
    helpers: Vec<String>,
    #[serde(default)]
    sockets: Vec<Socket>,
    #[serde(default)]
    pub(super) safe: Vec<String>,
    #[serde(default)]
    pub(super) asks: Vec<String>,
}

/// An entry that can judge.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The rule's stable name.
    pub(crate) id: String,
    /// The programs that it speaks of.
    pub(crate) names: Vec<String>,
    /// What the program does, for a reason.
    pub(crate) why: String,
    /// Where its options were looked up; empty if a site did not say.
    pub(crate) manual: String,
    /// Its options and operands.
    pub(crate) grammar: Grammar,
    /// One of these options has to be given.
    pub(crate) needs: Vec<String>,
    /// All of these options have to be given.
    pub(crate) all: Vec<String>,
    /// Options with which the program goes on until it is stopped.
    pub(crate) follows: Vec<String>,
    /// How long it runs and how often it connects.
    pub(crate) cost: CostRule,
    /// For a program that runs another one: it does so only if its arguments begin with these words.
    pub(crate) after: Vec<String>,
    /// Options with which the program keeps a cluster at work: `timeout` must end it within a minute.
    pub(crate) watches: Vec<String>,
    /// No option stands before the last verb. The program would take the next word for its value and find its verb further on.
    pub(crate) verb_first: bool,
    /// Options that may stand before the verb all the same: each belongs to every verb and takes a value.
    pub(crate) globals: Vec<String>,
    /// Exactly one option has to be given.
    pub(crate) single: bool,
    /// What has to hold beside the grammar.
    pub(crate) check: Option<Check>,
    /// For [`Check::Objects`]: the objects in the order in which shortened ones match; `!` marks those that ask.
    pub(crate) objects: Vec<String>,
    /// For [`Check::Objects`]: the objects that know `get`.
    pub(crate) gets: Vec<String>,
    /// For [`Check::Objects`]: the verbs of an object in the order in which shortened ones match.
    pub(crate) verbs: BTreeMap<String, Vec<String>>,
    /// Options with which the program enters a network namespace.
    pub(crate) namespace: Vec<String>,
    /// Options with which the program examines other processes; `*` where it always does.
    pub(crate) processes: Vec<String>,
    /// Options with which the program says who holds a socket, from a list that the gate makes.
    pub(crate) socket_owners: Vec<String>,
    /// Options with which reading takes the power over the network; `*` where it always does.
    pub(crate) net_admin: Vec<String>,
    /// `<( … )` may stand in the place of its files.
    pub(crate) outputs: bool,
    /// Which table of a packet filter it reads.
    pub(crate) tables: Option<Tables>,
    /// What it needs from the sandbox.
    pub(crate) profile: Profile,
}

impl RawEntry {
    /// Compiles the entry; `wraps` where another command follows its operands.
    pub(super) fn compile(&self, family: &str, wraps: bool) -> Result<Entry, String> {
        if self.manual.contains(char::is_control) {
            return Err(format!("entry `{}`: `manual` must be one line", self.id));
        }
        let lines = Lines {
            style: self.style,
            options: &self.options,
            operands: &self.operands,
            wraps,
            stop: self.stop,
        };
        let grammar = Grammar::compile(&lines).map_err(|what| format!("entry `{}`: {what}", self.id))?;
        Ok(Entry {
            id: if self.id.starts_with(family) { self.id.clone() } else { format!("{family}.{}", self.id) },
            names: self.names.clone(),
            why: self.why.clone(),
            manual: self.manual.clone(),
            grammar,
            needs: self.needs.clone(),
            all: self.all.clone(),
            follows: self.follows.clone(),
            cost: self.cost.compile().map_err(|what| format!("entry `{}`: {what}", self.id))?,
            after: self.after.clone(),
            watches: self.watches.clone(),
            verb_first: self.verb_first,
            globals: self.globals.clone(),
            single: self.single,
            check: self.check,
            objects: self.objects.clone(),
            gets: self.gets.clone(),
            verbs: self
                .verbs
                .iter()
                .map(|(object, verbs)| {
                    (object.clone(), verbs.split_whitespace().map(str::to_owned).collect())
                })
                .collect(),
            namespace: self.namespace.clone(),
            processes: self.processes.clone(),
            socket_owners: self.socket_owners.clone(),
            net_admin: self.net_admin.clone(),
            outputs: self.outputs,
            tables: self.tables.clone(),
            profile: Profile {
                sockets: self.sockets.clone().into(),
                helpers: self.helpers.clone().into(),
                scratch: self.scratch,
                log: self.log,
                kubeconfig: self.kubeconfig,
                no_folders: self.no_folders,
                ..Profile::default()
            },
        })
    }
}
