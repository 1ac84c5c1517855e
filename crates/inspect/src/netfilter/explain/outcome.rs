//! Packets that get another verdict after a change.

use std::collections::{BTreeMap, HashSet};

use super::document::OutcomeChange;
use super::follow::{begins, decided, fitted, quieten};
use super::region::{Region, merge};
use super::word;
use crate::netfilter::diff::{common, hooks, key};
use crate::netfilter::ipset::{IpSet, content};
use crate::netfilter::logic::{Field, Names, Program, ProgramStep, Spans, Test, compile};
use crate::netfilter::ruleset::{Body, Chain, Format, Rule, Ruleset, Set, Table};
use crate::netfilter::walk::{End, Engine, Hook, Limits, State, Verdict, every};

/// How much is tried for one ruleset, and for one kind of packet.
const BUDGET: usize = 20_000_000;
const LIMITS: Limits = Limits { steps: 1_000_000, ends: 2_048 };

/// How many changed places are followed one by one, and how many outcomes are reported.
const MAX_PLACES: usize = 400;
const MAX_OUTCOMES: usize = 100;

/// Which hooks a change concerns, and which packets.
struct ChangeScope {
    hooks: HashSet<&'static str>,
    test: Test,
}

/// What decided before and after, for one hook and state.
type Group = (&'static str, bool, Verdict, String, Verdict, String);

/// Returns the packets that get another verdict, and what was not followed.
pub(super) fn changes(source: &str, a: &Ruleset, b: &Ruleset) -> (Vec<OutcomeChange>, Vec<String>) {
    let mut names = Names::of(&[a, b]);
    let (mut old, mut new) = (compile(a, &mut names), compile(b, &mut names));
    let mut limits = Vec::new();
    let mut places = concerned((a, &old), b);
    places.extend(concerned((b, &new), a));
    if places.len() > MAX_PLACES {
        limits.push(format!("{source}: {} changed places are not followed", places.len() - MAX_PLACES));
        places.truncate(MAX_PLACES);
    }
    quieten(&mut old);
    quieten(&mut new);
    let mut follower = Follower {
        a,
        b,
        old: &old,
        new: &new,
        names: &names,
        found: BTreeMap::new(),
        budget: BUDGET,
        complete: true,
    };
    for place in &places {
        follower.place(place);
    }
    if !follower.complete {
        limits.push(format!(
            "{source}: there are more combinations than are followed; packets may be missing here"
        ));
    }
    let mut outcomes = Vec::new();
    if follower.found.len() > MAX_OUTCOMES {
        // Who decided is worth less than which packets are concerned.
        let mut joined: BTreeMap<Group, Vec<Region>> = BTreeMap::new();
        for ((hook, established, before, _, after, _), regions) in std::mem::take(&mut follower.found) {
            let several = || "several rules".to_owned();
            joined
                .entry((hook, established, before, several(), after, several()))
                .or_default()
                .extend(regions);
        }
        follower.found = joined;
    }
    for ((hook, established, before, before_by, after, after_by), regions) in follower.found {
        let hook = Hook::ALL.into_iter().find(|own| own.name() == hook).unwrap_or(Hook::Input);
        for region in merge(regions, names.devices().saturating_sub(1)) {
            outcomes.push(OutcomeChange {
                source: source.to_owned(),
                hook,
                established,
                packets: word::region(&region, &names, b.format == Format::Nft),
                before,
                before_by: before_by.clone(),
                after,
                after_by: after_by.clone(),
            });
        }
    }
    if outcomes.len() > MAX_OUTCOMES {
        limits.push(format!(
            "{source}: {} more kinds of packets get another verdict",
            outcomes.len() - MAX_OUTCOMES
        ));
        outcomes.truncate(MAX_OUTCOMES);
    }
    (outcomes, limits)
}

struct Follower<'a> {
    a: &'a Ruleset,
    b: &'a Ruleset,
    old: &'a Program,
    new: &'a Program,
    names: &'a Names,
    found: BTreeMap<Group, Vec<Region>>,
    budget: usize,
    complete: bool,
}

impl Follower<'_> {
    fn place(&mut self, place: &ChangeScope) {
        for hook in Hook::ALL.into_iter().filter(|hook| place.hooks.contains(hook.name())) {
            let loopback = self.names.device("lo");
            let limits = fitted(LIMITS, self.a.rules.max(self.b.rules));
            let old = Engine::new(self.old, hook, limits, loopback);
            let new = Engine::new(self.new, hook, limits, loopback);
            for start in every(hook, self.names) {
                let established = begins(&start, State::Established);
                let six = start.entry(Field::Family).and_then(Spans::single) == Some(6);
                let foreign = self.a.format == Format::Save && (self.a.family == "ipv6") != six;
                if foreign || !(established || begins(&start, State::New)) {
                    continue;
                }
                for (path, holds) in start.clone().split(&place.test) {
                    if !holds {
                        continue;
                    }
                    let (ends, all) = old.ends(path.again(), &mut self.budget);
                    self.complete &= all;
                    for end in ends {
                        let (others, all) = new.ends(end.path.again(), &mut self.budget);
                        self.complete &= all;
                        for other in others.iter().filter(|other| other.verdict != end.verdict) {
                            let region = Region::of(&start, &other.path, self.names);
                            let group = self.group(hook, established, &end, other);
                            let regions = self.found.entry(group).or_default();
                            if !regions.contains(&region) {
                                regions.push(region);
                            }
                        }
                    }
                }
            }
        }
    }

    fn group(&self, hook: Hook, established: bool, before: &End, after: &End) -> Group {
        (
            hook.name(),
            established,
            before.verdict,
            decided(self.a, self.old, before),
            after.verdict,
            decided(self.b, self.new, after),
        )
    }
}

/// Returns the places of one side that the other side does not have in that order.
fn concerned((own, program): (&Ruleset, &Program), other: &Ruleset) -> Vec<ChangeScope> {
    let mut places = Vec::new();
    for (at, code) in program.chains.iter().enumerate() {
        let Some(table) = own.tables.get(code.table) else { continue };
        let Some(chain) = table.chains.get(code.chain) else { continue };
        let twin = other.tables.iter().find(|twin| twin.name == table.name);
        let twin_chain = twin.and_then(|twin| twin.chains.iter().find(|twin| twin.name == chain.name));
        let whole = match (twin, twin_chain) {
            (Some(twin), Some(twin_chain)) => differs((table, chain), (twin, twin_chain)),
            // A chain of its own matters where something leads to it, and that is another rule.
            _ => chain.base.is_some(),
        };
        if whole {
            places.push(ChangeScope { hooks: hooks(program, at), test: Test::Always });
            continue;
        }
        let Some(twin_chain) = twin_chain else { continue };
        let changed_sets = changed_sets(table, twin, own, other);
        let rules = changed(chain, twin_chain);
        let asks = |rule: &Rule| changed_sets.iter().any(|name| asks(rule, name));
        for (rule, _) in chain.rules.iter().enumerate().filter(|(at, rule)| rules.contains(at) || asks(rule))
        {
            let steps = code.rules.get(rule).map(|code| code.steps.as_slice()).unwrap_or_default();
            let tests = steps.iter().map_while(|(_, step)| match step {
                ProgramStep::Match(test) => Some(test.clone()),
                ProgramStep::Change(_) | ProgramStep::Do(_) | ProgramStep::Choose(_) => None,
            });
            places.push(ChangeScope { hooks: hooks(program, at), test: tests.fold(Test::Always, Test::and) });
        }
    }
    places
}

/// Whether a chain is entered elsewhere, or ends otherwise.
fn differs((table, chain): (&Table, &Chain), (twin, other): (&Table, &Chain)) -> bool {
    let policy = |chain: &Chain| chain.policy.as_deref().map(str::to_ascii_lowercase);
    chain.base != other.base
        || chain.base.is_some() && (policy(chain) != policy(other) || table.dormant != twin.dormant)
}

/// Returns the rules of a chain that are not in another, or not in that order.
fn changed(chain: &Chain, twin: &Chain) -> HashSet<usize> {
    let keys = |chain: &Chain| chain.rules.iter().map(key::rule).collect::<Vec<_>>();
    let (own, other) = (keys(chain), keys(twin));
    if own == other {
        return HashSet::new();
    }
    let kept: HashSet<usize> = common(&own, &other).into_iter().map(|(at, _)| at).collect();
    (0..own.len()).filter(|at| !kept.contains(at)).collect()
}

/// Returns the names of the sets whose elements differ.
fn changed_sets(table: &Table, twin: Option<&Table>, own: &Ruleset, other: &Ruleset) -> Vec<String> {
    let elements = |set: &Set| set.elements.iter().map(key::member).collect::<HashSet<_>>();
    let members = |set: &IpSet| set.members.iter().map(content).collect::<HashSet<_>>();
    let mut found = Vec::new();
    for set in &table.sets {
        let same = twin.and_then(|twin| twin.sets.iter().find(|twin| twin.name == set.name));
        if same.is_none_or(|same| elements(same) != elements(set)) {
            found.push(set.name.clone());
        }
    }
    for set in &own.ipsets {
        let same = other.ipsets.iter().find(|same| same.name == set.name);
        if same.is_none_or(|same| members(same) != members(set)) {
            found.push(set.name.clone());
            let lists =
                own.ipsets.iter().filter(|list| list.members.iter().any(|member| member.value == set.name));
            found.extend(lists.map(|list| list.name.clone()));
        }
    }
    found
}

fn asks(rule: &Rule, set: &str) -> bool {
    match &rule.body {
        Body::Save(parts) => parts
            .iter()
            .any(|part| part.name == "--match-set" && part.values.first().is_some_and(|name| name == set)),
        Body::Nft(expressions) => {
            let wanted = format!("\"@{set}\"");
            expressions.iter().any(|expression| expression.to_string().contains(&wanted))
        }
    }
}
