//! All packets of a hook, followed to where they end.

use std::collections::BTreeMap;

use super::document::{HookOutcomes, Redirection, TrafficOutcome};
use super::notable;
use super::region::{Region, merge};
use super::word;
use crate::netfilter::logic::{Code, Field, Names, Program, ProgramStep, Spans, compile};
use crate::netfilter::ruleset::{Family, Format, Rule, Ruleset};
use crate::netfilter::walk::{End, Engine, Hook, Limits, Path, State, Verdict, every};

/// How much is tried for one ruleset, and for one kind of packet.
const BUDGET: usize = 20_000_000;
const LIMITS: Limits = Limits { steps: 2_000_000, ends: 4_096 };

/// How many outcomes of a hook are reported.
const MAX_OUTCOMES: usize = 100;

/// Above this many rules a path that meets them all is not followed to its end: what is left of its packets is too fragmented.
const MANY_RULES: usize = 10_000;

/// Returns the limits that fit the size of a ruleset.
pub(super) fn fitted(limits: Limits, rules: usize) -> Limits {
    if rules > MANY_RULES { Limits { steps: limits.steps.min(MANY_RULES), ..limits } } else { limits }
}

/// A ruleset that is followed.
pub(super) struct Follower<'a> {
    pub(super) ruleset: &'a Ruleset,
    pub(super) names: Names,
    /// Without what decides nothing.
    pub(super) program: Program,
    budget: usize,
    pub(super) limits: Vec<String>,
}

/// What decides: verdict, chain, rule; ordered as it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Decider {
    verdict: Verdict,
    chain: Option<usize>,
    rule: Option<usize>,
}

impl<'a> Follower<'a> {
    pub(super) fn new(ruleset: &'a Ruleset) -> Self {
        let mut names = Names::of(&[ruleset]);
        let mut program = compile(ruleset, &mut names);
        quieten(&mut program);
        Self { ruleset, names, program, budget: BUDGET, limits: Vec::new() }
    }

    /// Says what becomes of the packets of a hook; nothing where no chain judges them in earnest.
    pub(super) fn hook(&mut self, hook: Hook) -> Option<(HookOutcomes, Vec<Redirection>)> {
        if !self.judges(hook) {
            return None;
        }
        let edge = matches!(hook, Hook::Prerouting | Hook::Postrouting);
        let (new, redirections) = self.state(hook, State::New, edge);
        let (established, _) = self.state(hook, State::Established, edge);
        let outcomes = HookOutcomes { hook, new, established };
        let silent = outcomes.new.is_empty() && outcomes.established.is_empty() && redirections.is_empty();
        (!silent).then_some((outcomes, redirections))
    }

    fn judges(&self, hook: Hook) -> bool {
        self.program.chains.iter().any(|chain| {
            let rules = chain.rules.iter().any(|rule| !rule.steps.is_empty());
            chain.family != Family::Other
                && chain.base.as_ref().is_some_and(|base| {
                    !base.dormant && base.hook == hook.name() && (rules || base.policy != Code::Accept)
                })
        })
    }

    /// At the edges, before and behind routing, only what does not simply pass is reported.
    fn state(&mut self, hook: Hook, state: State, edge: bool) -> (Vec<TrafficOutcome>, Vec<Redirection>) {
        let mut found: BTreeMap<Decider, Vec<Region>> = BTreeMap::new();
        let mut translated: BTreeMap<(usize, usize), Vec<Region>> = BTreeMap::new();
        let engine =
            Engine::new(&self.program, hook, fitted(LIMITS, self.ruleset.rules), self.names.device("lo"));
        let mut complete = true;
        for start in every(hook, &self.names) {
            if !begins(&start, state) || !self.concerns(&start) {
                continue;
            }
            let (ends, all) = engine.first_ends(start.clone(), &mut self.budget);
            complete &= all;
            for end in ends {
                let region = Region::of(&start, &end.path, &self.names);
                if let Some((chain, rule)) = end.rule
                    && end.verdict == Verdict::Accept
                    && rule_at(self.ruleset, &self.program, chain, rule)
                        .is_some_and(|rule| notable::translation(rule).is_some())
                {
                    translated.entry((chain, rule)).or_default().push(region);
                } else if !(edge && end.verdict == Verdict::Accept) {
                    found.entry(decider(&end)).or_default().push(region);
                }
            }
        }
        if !complete {
            let what = format!(
                "{}: there are more combinations than are followed; the list is not complete",
                hook.name()
            );
            if !self.limits.contains(&what) {
                self.limits.push(what);
            }
        }
        let last = self.names.devices().saturating_sub(1);
        let families = self.ruleset.format == Format::Nft;
        let merged: Vec<(Decider, Vec<Region>)> =
            found.into_iter().map(|(decider, regions)| (decider, merge(regions, last))).collect();
        // What is left over is reported in one line: it is whatever no other line speaks of.
        let rest = merged
            .iter()
            .filter(|(decider, regions)| regions.len() > 1 && self.takes_all(decider))
            .max_by_key(|(decider, regions)| (decider.rule.is_none(), regions.len()))
            .map(|(decider, _)| *decider)
            .filter(|_| complete && !edge);
        let many = merged.iter().map(|(_, regions)| regions.len()).sum::<usize>() > MAX_OUTCOMES;
        let merged =
            if many { together(merged, rest, last) } else { merged.into_iter().map(alone).collect() };
        let mut outcomes: Vec<TrafficOutcome> = Vec::new();
        let mut last_outcome = None;
        for (decider, regions, several) in merged {
            let (mut by, mut rule) = self.by(decider.chain, decider.rule);
            if let Some((to, count)) = several.filter(|(_, count)| *count > 1) {
                by = format!("{by} to rule {}, {count} rules", to + 1);
                rule = None;
            }
            let outcome = |packets| TrafficOutcome {
                packets,
                verdict: decider.verdict,
                by: by.clone(),
                rule: rule.clone(),
            };
            if rest == Some(decider) {
                last_outcome = Some(outcome("everything else".to_owned()));
                continue;
            }
            outcomes
                .extend(regions.iter().map(|region| outcome(word::region(region, &self.names, families))));
        }
        if outcomes.len() > MAX_OUTCOMES {
            self.limits.push(format!(
                "{}: {} more outcomes are not listed",
                hook.name(),
                outcomes.len() - MAX_OUTCOMES
            ));
            outcomes.truncate(MAX_OUTCOMES);
        }
        outcomes.extend(last_outcome);
        let mut redirections = Vec::new();
        for ((chain, rule), regions) in translated {
            let (by, _) = self.by(Some(chain), Some(rule));
            let rule = rule_at(self.ruleset, &self.program, chain, rule);
            let to = rule.and_then(notable::translation).unwrap_or_default();
            for region in merge(regions, last).iter().take(MAX_OUTCOMES) {
                let packets = word::region(region, &self.names, families);
                redirections.push(Redirection { hook, packets, to: to.clone(), by: by.clone() });
            }
        }
        (outcomes, redirections)
    }

    /// `iptables-save` speaks of one family.
    fn concerns(&self, start: &Path) -> bool {
        let six = start.entry(Field::Family).and_then(Spans::single) == Some(6);
        self.ruleset.format == Format::Nft || (self.ruleset.family == "ipv6") == six
    }

    /// Whether it is a policy, or a rule without conditions.
    fn takes_all(&self, decider: &Decider) -> bool {
        match (decider.chain, decider.rule) {
            (_, None) => true,
            (Some(chain), Some(rule)) => {
                let rule = self.program.chains.get(chain).and_then(|chain| chain.rules.get(rule));
                rule.is_some_and(|rule| {
                    !rule
                        .steps
                        .iter()
                        .any(|(_, step)| matches!(step, ProgramStep::Match(_) | ProgramStep::Choose(_)))
                })
            }
            (None, Some(_)) => false,
        }
    }

    fn by(&self, chain: Option<usize>, rule: Option<usize>) -> (String, Option<String>) {
        by(self.ruleset, &self.program, chain, rule)
    }
}

/// Regions, with the last rule and the number of rules where several decide.
type MergedRegions = (Decider, Vec<Region>, Option<(usize, usize)>);

fn alone((decider, regions): (Decider, Vec<Region>)) -> MergedRegions {
    (decider, regions, None)
}

/// Puts together what rules of one chain do alike: a list of a thousand addresses is one line.
fn together(
    merged: Vec<(Decider, Vec<Region>)>,
    rest: Option<Decider>,
    last_device: u128,
) -> Vec<MergedRegions> {
    let mut joined: BTreeMap<(Verdict, Option<usize>), MergedRegions> = BTreeMap::new();
    let mut kept: Vec<MergedRegions> = Vec::new();
    for (decider, regions) in merged {
        let Some(rule) = decider.rule.filter(|_| rest != Some(decider)) else {
            kept.push(alone((decider, regions)));
            continue;
        };
        let own = joined
            .entry((decider.verdict, decider.chain))
            .or_insert_with(|| (decider, Vec::new(), Some((rule, 0))));
        own.1.extend(regions);
        if let Some((to, count)) = &mut own.2 {
            *to = rule.max(*to);
            *count += 1;
        }
    }
    for merged_regions in joined.values_mut() {
        merged_regions.1 = merge(std::mem::take(&mut merged_regions.1), last_device);
    }
    joined.into_values().chain(kept).collect()
}

/// Whether a start is of a state.
pub(super) fn begins(start: &Path, state: State) -> bool {
    start.entry(Field::State).and_then(Spans::single) == Some(state.number())
}

fn decider(end: &End) -> Decider {
    match end.rule {
        Some((chain, rule)) => Decider { verdict: end.verdict, chain: Some(chain), rule: Some(rule) },
        None => Decider { verdict: end.verdict, chain: end.chain, rule: None },
    }
}

/// Writes what decided: a rule with its text, or a policy.
pub(super) fn by(
    ruleset: &Ruleset,
    program: &Program,
    chain: Option<usize>,
    rule: Option<usize>,
) -> (String, Option<String>) {
    let Some(at) = chain else { return ("no chain".to_owned(), None) };
    let named = place(ruleset, program, at);
    match rule.and_then(|rule| rule_at(ruleset, program, at, rule)) {
        Some(rule) => (format!("{named} rule {}", rule.position), Some(rule.raw.clone())),
        None => {
            // Where all chains of a hook let it pass, that of the filter is the one to speak of.
            let own = program.chains.get(at).and_then(|chain| chain.base.as_ref());
            let nat = own.is_some_and(|base| base.nat);
            let other = program.chains.iter().rposition(|chain| {
                chain.base.as_ref().is_some_and(|base| {
                    !base.nat && !base.dormant && own.is_some_and(|own| own.hook == base.hook)
                })
            });
            let at = other.filter(|_| nat).unwrap_or(at);
            (format!("the policy of {}", place(ruleset, program, at)), None)
        }
    }
}

/// Writes what decided an end.
pub(super) fn decided(ruleset: &Ruleset, program: &Program, end: &End) -> String {
    let own = decider(end);
    by(ruleset, program, own.chain, own.rule).0
}

/// Writes a chain's place, as in `filter/INPUT`.
pub(super) fn place(ruleset: &Ruleset, program: &Program, chain: usize) -> String {
    let found = program.chains.get(chain).and_then(|code| {
        let table = ruleset.tables.get(code.table)?;
        Some(format!("{}/{}", table.name, table.chains.get(code.chain)?.name))
    });
    found.unwrap_or_else(|| "no chain".to_owned())
}

/// Returns a rule of the ruleset.
pub(super) fn rule_at<'r>(
    ruleset: &'r Ruleset,
    program: &Program,
    chain: usize,
    rule: usize,
) -> Option<&'r Rule> {
    let code = program.chains.get(chain)?;
    ruleset.tables.get(code.table)?.chains.get(code.chain)?.rules.get(rule)
}

/// Empties the rules that decide nothing: what only counts or logs would split packets for nothing.
pub(super) fn quieten(program: &mut Program) {
    let mut silent: Vec<bool> = program.chains.iter().map(|chain| chain.base.is_none()).collect();
    loop {
        let loud = program.chains.iter().enumerate().find(|(at, chain)| {
            silent.get(*at) == Some(&true)
                && !chain.rules.iter().flat_map(|rule| &rule.steps).all(|(_, step)| match step {
                    ProgramStep::Do(Code::Return | Code::Continue) | ProgramStep::Match(_) => true,
                    ProgramStep::Do(_) | ProgramStep::Change(_) | ProgramStep::Choose(_) => {
                        leads_nowhere(step, &silent)
                    }
                })
        });
        let Some(slot) = loud.map(|(at, _)| at).and_then(|at| silent.get_mut(at)) else { break };
        *slot = false;
    }
    empty(program, &silent);
}

/// Empties only the rules that neither decide nor lead anywhere: every chain is still entered.
pub(super) fn quieten_rules(program: &mut Program) {
    empty(program, &[]);
}

fn empty(program: &mut Program, silent: &[bool]) {
    for rule in program.chains.iter_mut().flat_map(|chain| &mut chain.rules) {
        if rule.steps.iter().all(|(_, step)| leads_nowhere(step, silent)) {
            rule.steps.clear();
        }
    }
}

fn leads_nowhere(step: &ProgramStep, silent: &[bool]) -> bool {
    match step {
        ProgramStep::Match(_) => true,
        ProgramStep::Do(Code::Jump(target)) => silent.get(*target) == Some(&true),
        ProgramStep::Do(_) | ProgramStep::Change(_) | ProgramStep::Choose(_) => false,
    }
}
