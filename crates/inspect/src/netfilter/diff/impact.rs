//! Whether some packet gets another verdict: both rulesets judge the packets that a change can concern.

use std::collections::HashSet;

use crate::netfilter::logic::{Names, Program, ProgramStep, Test, compile};
use crate::netfilter::ruleset::Ruleset;
use crate::netfilter::walk::{Engine, Hook, Limits, Verdict, every};

/// How much may be tried for one difference.
const BUDGET: usize = 40_000_000;
const LIMITS: Limits = Limits { steps: 2_000_000, ends: 20_000 };

/// Two programs that share their names.
pub(in crate::netfilter) struct Impact {
    names: Names,
    a: Program,
    b: Program,
    budget: usize,
}

/// What judging packets showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::netfilter) enum Shown {
    /// Some packet gets another verdict.
    Changes,
    /// None does.
    Same,
    /// There were too many to judge.
    TooMany,
}

/// A place: table and chain by name, the rule from 0; without a rule the whole chain.
#[derive(Debug, Clone, Copy)]
pub(in crate::netfilter) struct RulePlace<'a> {
    pub(in crate::netfilter) table: &'a str,
    pub(in crate::netfilter) chain: &'a str,
    pub(in crate::netfilter) rule: Option<usize>,
}

impl Impact {
    pub(in crate::netfilter) fn new(a: &Ruleset, b: &Ruleset) -> Self {
        let mut names = Names::of(&[a, b]);
        let (a, b) = (compile(a, &mut names), compile(b, &mut names));
        Self { names, a, b, budget: BUDGET }
    }

    /// Judges all packets that reach a place of the old ruleset, of the new one, or of both.
    pub(in crate::netfilter) fn of(
        &mut self,
        old: Option<(&Ruleset, RulePlace<'_>)>,
        new: Option<(&Ruleset, RulePlace<'_>)>,
    ) -> Shown {
        let mut regions: Vec<(HashSet<&'static str>, Test)> = Vec::new();
        for (program, side) in [(&self.a, old), (&self.b, new)] {
            let Some((ruleset, place)) = side else { continue };
            let Some(at) = find(program, ruleset, place) else { continue };
            let hooks = hooks(program, at);
            let test = place.rule.and_then(|rule| program.chains.get(at)?.rules.get(rule)).map_or(
                Test::Always,
                |rule| {
                    let matches = rule.steps.iter().map_while(|(_, step)| match step {
                        ProgramStep::Match(test) => Some(test.clone()),
                        ProgramStep::Change(_) | ProgramStep::Do(_) | ProgramStep::Choose(_) => None,
                    });
                    matches.fold(Test::Always, Test::and)
                },
            );
            regions.push((hooks, test));
        }
        let mut worst = Shown::Same;
        for (hooks, test) in regions {
            for hook in Hook::ALL {
                if hooks.contains(hook.name()) {
                    match self.hook(hook, &test) {
                        Shown::Changes => return Shown::Changes,
                        Shown::TooMany => worst = Shown::TooMany,
                        Shown::Same => {}
                    }
                }
            }
        }
        worst
    }

    /// Judges every packet of a hook for which a test holds.
    pub(in crate::netfilter) fn hook(&mut self, hook: Hook, test: &Test) -> Shown {
        let loopback = self.names.device("lo");
        let (a, b) =
            (Engine::new(&self.a, hook, LIMITS, loopback), Engine::new(&self.b, hook, LIMITS, loopback));
        let mut worst = Shown::Same;
        for start in every(hook, &self.names) {
            // A test of something that rules of the hook change themselves says nothing about how the packet entered.
            for (path, holds) in start.split(test) {
                if !holds {
                    continue;
                }
                let (ends, complete) = a.ends(path.again(), &mut self.budget);
                if !complete {
                    worst = Shown::TooMany;
                }
                for end in ends {
                    let (others, complete) = b.ends(end.path.again(), &mut self.budget);
                    let open = |verdict| verdict == Verdict::Indeterminate;
                    let differs = |other: Verdict| other != end.verdict && !open(other) && !open(end.verdict);
                    if others.iter().any(|other| differs(other.verdict)) {
                        return Shown::Changes;
                    }
                    if open(end.verdict) || others.iter().any(|other| open(other.verdict)) || !complete {
                        worst = Shown::TooMany;
                    }
                }
                if self.budget == 0 {
                    return Shown::TooMany;
                }
            }
        }
        worst
    }
}

fn find(program: &Program, ruleset: &Ruleset, place: RulePlace<'_>) -> Option<usize> {
    program.chains.iter().position(|code| {
        ruleset.tables.get(code.table).is_some_and(|table| {
            table.name == place.table
                && table.chains.get(code.chain).is_some_and(|chain| chain.name == place.chain)
        })
    })
}

/// Returns the hooks whose packets can come into a chain.
pub(in crate::netfilter) fn hooks(program: &Program, target: usize) -> HashSet<&'static str> {
    let mut open = vec![target];
    let mut seen = HashSet::new();
    let mut hooks = HashSet::new();
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        if let Some(base) = program.chains.get(at).and_then(|chain| chain.base.as_ref()) {
            hooks.extend(Hook::ALL.into_iter().map(Hook::name).filter(|name| *name == base.hook));
        }
        open.extend(program.callers.get(at).into_iter().flatten().copied());
    }
    hooks
}
