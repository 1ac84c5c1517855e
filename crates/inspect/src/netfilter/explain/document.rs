//! The explanation as a document.

use serde::Serialize;

use crate::netfilter::diff::{Diff, DiffError, Status};
use crate::netfilter::host::{About, Framework, HostChange, HostDiff};
use crate::netfilter::layout::Layout;
use crate::netfilter::ruleset::Warning;
use crate::netfilter::walk::{Hook, Verdict};

/// What rules do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The framework with its reasons, where a whole host is explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framework: Option<Framework>,
    /// The snapshot that is explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<About>,
    /// What changed, where two are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Changed>,
    /// The programs whose rules were recognized.
    pub layouts: Vec<Layout>,
    /// Every source of rules.
    pub backends: Vec<Explained>,
    /// Who is banned, and by what.
    pub jails: Vec<Jail>,
    /// What could not be read and could hold rules.
    pub unread: Vec<Warning>,
    /// What is odd.
    pub warnings: Vec<Warning>,
}

/// What one ruleset does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// Where it comes from: a source of the bundle, or the form of the text.
    pub source: String,
    /// The families that it judges.
    pub family: String,
    /// How many rules there are.
    pub rules: usize,
    /// What becomes of packets, hook by hook.
    pub hooks: Vec<HookOutcomes>,
    /// Where packets are sent elsewhere.
    pub redirections: Vec<Redirection>,
    /// Rules that no packet meets.
    pub dead: Vec<Dead>,
    /// Chains into which nothing leads.
    pub unused: Vec<String>,
    /// Rules that write a log.
    pub loggers: Vec<Logger>,
    /// Rules with a part that is not known by name.
    pub unknown: Vec<String>,
    /// Where there was more than is followed or listed.
    pub limits: Vec<String>,
}

/// What becomes of the packets of a hook.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HookOutcomes {
    /// The hook at which the packets are.
    pub hook: Hook,
    /// Packets that begin a connection.
    pub new: Vec<TrafficOutcome>,
    /// Packets that belong to one.
    pub established: Vec<TrafficOutcome>,
}

/// What becomes of some packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrafficOutcome {
    /// Which packets, in words.
    pub packets: String,
    /// What becomes of them.
    pub verdict: Verdict,
    /// What decides, as in `filter/INPUT rule 3`.
    pub by: String,
    /// The rule that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// Packets that are sent elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Redirection {
    /// The hook at which the packets are.
    pub hook: Hook,
    /// Which packets.
    pub packets: String,
    /// What is done to them.
    pub to: String,
    /// Which rule does it.
    pub by: String,
}

/// A rule that no packet meets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dead {
    /// Its place, as in `filter/INPUT rule 3`.
    pub at: String,
    /// The rule as it is printed.
    pub rule: String,
    /// What takes all its packets.
    pub by: Vec<String>,
    /// Whether those do the same with them.
    pub redundant: bool,
}

/// A rule that writes a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Logger {
    /// Its place.
    pub at: String,
    /// What stands before every line of it.
    pub prefix: Option<String>,
    /// The rule as it is printed.
    pub rule: String,
}

/// Addresses that a program keeps out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Jail {
    /// The program that maintains the rules, such as `docker`.
    pub program: &'static str,
    /// Its chain or set.
    pub name: String,
    /// Who is kept out.
    pub banned: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

/// What changed between two.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changed {
    /// Whether anything differs.
    pub drift: Option<bool>,
    /// The same in one word.
    pub status: Status,
    /// Whether the verdict on some packet can change.
    pub critical: bool,
    /// Every difference, with the backend that it is in.
    pub changes: Vec<HostChange>,
    /// The packets that get another verdict.
    pub traffic: Vec<OutcomeChange>,
    /// Where there was more than is followed or listed.
    pub limits: Vec<String>,
    /// The framework before and after, where it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frameworks: Option<[Option<&'static str>; 2]>,
}

/// What differs between two, and which packets get another verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What differs.
    #[serde(flatten)]
    pub found: Differences,
    /// The packets that get another verdict.
    pub traffic: Vec<OutcomeChange>,
    /// Where there was more than is followed or listed.
    #[serde(rename = "traffic_limits")]
    pub limits: Vec<String>,
}

/// What differs between two of a kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Differences {
    /// Two rulesets.
    Ruleset(Diff),
    /// Two hosts.
    Host(HostDiff),
}

impl Differences {
    /// Tells whether something differs.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Ruleset(found) => found.status,
            Self::Host(found) => found.status,
        }
    }
}

/// Why two cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// They are rulesets of different forms or families.
    #[error(transparent)]
    Rulesets(#[from] DiffError),
    /// One is a ruleset, the other a host.
    #[error("one is a single ruleset, the other the bundle of a host")]
    Unlike,
}

/// Packets that get another verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeChange {
    /// The source of the rules.
    pub source: String,
    /// The hook at which the packets are.
    pub hook: Hook,
    /// Whether they belong to a connection already.
    pub established: bool,
    /// Which packets.
    pub packets: String,
    /// What became of them.
    pub before: Verdict,
    /// What decided.
    pub before_by: String,
    /// What becomes of them now.
    pub after: Verdict,
    /// What decides now.
    pub after_by: String,
}
