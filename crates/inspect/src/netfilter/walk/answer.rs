//! The answer, with its reason.

use serde::Serialize;

use super::packet::Verdict;
use super::path::Assumed;
use super::run::{End, TriedRule};
use crate::netfilter::logic::{Names, Program};
use crate::netfilter::ruleset::{Body, Ruleset};

/// What becomes of a packet, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What becomes of it.
    pub verdict: Verdict,
    /// The rule that decided; absent where a policy did.
    pub rule: Option<Decided>,
    /// The chain whose policy decided.
    pub policy: Option<String>,
    /// Other rules that would decide, in the same place, if a detail that the description leaves out were different.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Decided>,
    /// Every rule that was tried, in order; of several paths the first. Empty where no trace was asked for.
    pub trace: Vec<TracedRule>,
    /// What the description does not tell and what would change the answer.
    pub undecided: Vec<String>,
    /// What it carries to the next hook, if it passes.
    #[serde(skip)]
    pub carried: Option<Carried>,
}

/// What a packet that passes carries to the next hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Carried {
    /// Its mark; nothing where that is not known.
    pub mark: Option<u32>,
    /// Whether its connection is not tracked; nothing where that is not known.
    pub untracked: Option<bool>,
    /// Whether its connection is looked up in another zone.
    pub zoned: bool,
}

impl Carried {
    /// Returns what holds of both.
    #[must_use]
    pub fn both(self, other: Self) -> Self {
        Self {
            mark: self.mark.filter(|mark| Some(*mark) == other.mark),
            untracked: self.untracked.filter(|untracked| Some(*untracked) == other.untracked),
            zoned: self.zoned || other.zoned,
        }
    }
}

/// A rule that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// The table of the rule or policy that decides.
    pub table: String,
    /// The chain of the rule or policy that decides.
    pub chain: String,
    /// Its place, from 1.
    pub position: usize,
    /// Its number in nft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<u64>,
    /// The rule.
    pub raw: String,
}

/// A rule that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TracedRule {
    /// The position of the rule that was tried.
    #[serde(flatten)]
    pub rule: Decided,
    /// Whether all of it held.
    pub matched: bool,
    /// The part that did not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Ends of paths, and what their numbers mean.
pub(super) struct PathResults<'a> {
    pub(super) ruleset: &'a Ruleset,
    pub(super) program: &'a Program,
    pub(super) names: &'a Names,
}

impl PathResults<'_> {
    /// Puts the ends together.
    pub(super) fn answer(&self, ends: &[End], complete: bool, by_state: bool) -> Answer {
        let first = ends.first();
        let same = ends.iter().all(|end| Some(end.verdict) == first.map(|first| first.verdict));
        let mut undecided = Vec::new();
        let verdict = match first {
            Some(first) if same && complete => first.verdict,
            _ => {
                for end in ends {
                    for assumed in &end.path.assumed {
                        let text = match assumed {
                            Assumed::Field(field) => field.name().to_owned(),
                            Assumed::Atom(atom) => self.names.text(*atom).to_owned(),
                        };
                        if !undecided.contains(&text) {
                            undecided.push(text);
                        }
                    }
                }
                if by_state {
                    undecided.push("the connection state".to_owned());
                }
                if !complete {
                    undecided.push("there are more combinations than are tried".to_owned());
                }
                Verdict::Indeterminate
            }
        };
        let decided = first.filter(|_| verdict != Verdict::Indeterminate);
        let rule = decided.and_then(|end| end.rule).and_then(|(chain, rule)| self.rule(chain, rule));
        let policy = decided
            .filter(|_| rule.is_none())
            .and_then(|end| end.chain)
            .and_then(|chain| self.program.chains.get(chain))
            .and_then(|code| Some((self.ruleset.tables.get(code.table)?, code.chain)))
            .and_then(|(table, chain)| Some(format!("{} {}", table.name, table.chains.get(chain)?.name)));
        let mut others: Vec<Decided> = Vec::new();
        for (chain, at) in ends.iter().skip(1).filter(|_| decided.is_some()).filter_map(|end| end.rule) {
            let other = self.rule(chain, at).filter(|other| Some(other) != rule.as_ref());
            others.extend(other.filter(|other| !others.contains(other)));
        }
        let trace = first
            .map(|end| end.trace.iter().filter_map(|tried| self.traced(*tried)).collect())
            .unwrap_or_default();
        let passing = ends.iter().filter(|end| end.verdict == Verdict::Accept).map(|end| end.path.carried());
        let carried = passing.reduce(Carried::both).filter(|_| complete);
        Answer { verdict, rule, policy, others, trace, undecided, carried }
    }

    fn rule(&self, chain: usize, rule: usize) -> Option<Decided> {
        let code = self.program.chains.get(chain)?;
        let table = self.ruleset.tables.get(code.table)?;
        let chain = table.chains.get(code.chain)?;
        let rule = chain.rules.get(rule)?;
        Some(Decided {
            table: table.name.clone(),
            chain: chain.name.clone(),
            position: rule.position,
            handle: rule.handle,
            raw: rule.raw.clone(),
        })
    }

    fn traced(&self, tried: TriedRule) -> Option<TracedRule> {
        let code = self.program.chains.get(tried.chain)?;
        let rule = self.ruleset.tables.get(code.table)?.chains.get(code.chain)?.rules.get(tried.rule)?;
        let failed = tried.failed.and_then(|part| match &rule.body {
            Body::Save(parts) => parts.get(part).map(crate::netfilter::save::in_words),
            Body::Nft(expressions) => expressions.get(part).map(crate::netfilter::nft::in_words),
        });
        Some(TracedRule {
            rule: self.rule(tried.chain, tried.rule)?,
            matched: tried.failed.is_none(),
            failed,
        })
    }
}
