//! Rules that no packet meets.

use super::document::Dead;
use super::follow::{by, decided, fitted, place};
use crate::netfilter::diff::hooks;
use crate::netfilter::logic::{Code, Field, Names, Program, ProgramStep, Spans, Test, compile};
use crate::netfilter::ruleset::{Family, Format, Ruleset};
use crate::netfilter::walk::{Engine, Hook, Limits, Verdict, every};

/// How much is tried for all rules together, and at first and at last for one kind of packet.
const BUDGET: usize = 30_000_000;
const FIRST_BUDGET: Limits = Limits { steps: 20_000, ends: 16 };
const LONG: Limits = Limits { steps: 400_000, ends: 1_024 };

/// How many pairs of rules of one chain are compared.
const MAX_PAIRS: usize = 30_000_000;

/// How many are reported, and how many deciders are named for one.
const MAX_DEAD_RULES: usize = 100;
const MAX_DECIDERS: usize = 3;

/// What is said where the conditions of a rule exclude each other.
const NOBODY: &str = "nobody: no packet of its hooks fits it";

/// What was found about rules and chains.
pub(super) struct Findings {
    pub(super) dead: Vec<Dead>,
    pub(super) unused: Vec<String>,
    pub(super) limits: Vec<String>,
}

/// Finds the rules that no packet meets, and the chains into which nothing leads.
pub(super) fn find(ruleset: &Ruleset) -> Findings {
    let mut names = Names::of(&[ruleset]);
    let program = compile(ruleset, &mut names);
    let mut quiet = compile(ruleset, &mut names);
    super::follow::quieten_rules(&mut quiet);
    let mut found = Findings { dead: Vec::new(), unused: Vec::new(), limits: Vec::new() };
    let (mut budget, mut pairs, mut open) = (BUDGET, MAX_PAIRS, 0_usize);
    for chain in 0..program.chains.len() {
        let hooks = hooks(&program, chain);
        let (base, rules, other) = program.chains.get(chain).map_or((true, 0, true), |code| {
            let own = ruleset.tables.get(code.table).and_then(|table| table.chains.get(code.chain));
            (code.base.is_some(), own.map_or(0, |own| own.rules.len()), code.family == Family::Other)
        });
        if hooks.is_empty() {
            if rules > 0 && !base {
                found.unused.push(place(ruleset, &program, chain));
            }
            continue;
        }
        if other {
            continue;
        }
        let plain: Vec<Plain<'_>> = program
            .chains
            .get(chain)
            .map(|code| code.rules.iter().map(|rule| Plain::of(&rule.steps)).collect())
            .unwrap_or_default();
        for rule in 0..rules {
            let covering = covered(&plain, rule, &mut pairs);
            if covering.is_none() && budget == 0 {
                open += 1;
                continue;
            }
            let judged = match covering {
                Some(at) => Some(vec![at]),
                None => reach(ruleset, (&mut quiet, &program), &names, (chain, rule), &hooks, &mut budget),
            };
            match judged {
                Some(by) if by.is_empty() => {}
                Some(takers) => {
                    let (at, text) = by(ruleset, &program, Some(chain), Some(rule));
                    let redundant = takers.iter().all(|taker| taker.same);
                    let by = takers.into_iter().map(|taker| taker.name).collect();
                    if found.dead.len() < MAX_DEAD_RULES {
                        found.dead.push(Dead { at, rule: text.unwrap_or_default(), by, redundant });
                    } else {
                        found.limits.push("more rules that no packet meets are not listed".to_owned());
                    }
                }
                None => open += 1,
            }
        }
    }
    found.limits.dedup();
    if open > 0 {
        found.limits.push(format!("it was not followed whether any packet meets {open} of the rules"));
    }
    found
}

/// What takes the packets of a rule.
struct Taker {
    name: String,
    /// Whether it does the same with them.
    same: bool,
}

/// What a rule demands, and what it does.
struct Plain<'a> {
    tests: Vec<&'a Test>,
    code: Option<&'a Code>,
    /// Whether every packet that fits it goes no further in its chain.
    takes: bool,
}

impl<'a> Plain<'a> {
    fn of(steps: &'a [(usize, ProgramStep)]) -> Self {
        let code = steps.iter().find_map(|(_, step)| match step {
            ProgramStep::Do(code) => Some(code),
            ProgramStep::Match(_) | ProgramStep::Change(_) | ProgramStep::Choose(_) => None,
        });
        let last = steps.last().map(|(_, step)| step);
        let stops = matches!(
            last,
            Some(ProgramStep::Do(Code::Accept | Code::Drop | Code::Reject | Code::Return | Code::Goto(_)))
        );
        let plain = steps.iter().rev().skip(1).all(|(_, step)| matches!(step, ProgramStep::Match(_)));
        Self { tests: tests(steps), code, takes: stops && plain }
    }
}

/// Returns an earlier rule of the chain that takes at least the same packets.
fn covered(rules: &[Plain<'_>], rule: usize, pairs: &mut usize) -> Option<Taker> {
    let own = rules.get(rule)?;
    let looked = rule.min(*pairs);
    *pairs -= looked;
    let earlier = rules.iter().enumerate().take(rule).rev().take(looked).find(|(_, earlier)| {
        let holds = |test: &Test| *test == Test::Always || own.tests.iter().any(|own| implies(own, test));
        earlier.takes && earlier.tests.iter().all(|test| holds(test))
    });
    let (at, earlier) = earlier?;
    Some(Taker { name: format!("rule {}", at + 1), same: earlier.code == own.code })
}

fn tests(steps: &[(usize, ProgramStep)]) -> Vec<&Test> {
    let mut all = Vec::new();
    for (_, step) in steps {
        let ProgramStep::Match(test) = step else { break };
        match test {
            Test::All(tests) => all.extend(tests.iter()),
            test @ (Test::Is(..)
            | Test::Mask(..)
            | Test::Atom(_)
            | Test::Always
            | Test::Never
            | Test::Any(_)
            | Test::Not(_)) => all.push(test),
        }
    }
    all
}

/// Whether one test holds wherever the other does.
fn implies(narrow: &Test, wide: &Test) -> bool {
    match (narrow, wide) {
        (_, Test::Always) => true,
        (Test::Is(own, few), Test::Is(other, many)) => own == other && few.within(many),
        (narrow, Test::Any(tests)) => tests.iter().any(|test| implies(narrow, test)) || narrow == wide,
        _ => narrow == wide,
    }
}

/// Follows the packets that fit a rule: nothing where that was not possible, an empty list where one of them meets it, else
/// what takes them.
fn reach(
    ruleset: &Ruleset,
    (quiet, program): (&mut Program, &Program),
    names: &Names,
    (chain, rule): (usize, usize),
    hooks: &std::collections::HashSet<&'static str>,
    budget: &mut usize,
) -> Option<Vec<Taker>> {
    let steps = program.chains.get(chain)?.rules.get(rule)?.steps.clone();
    let matches: Vec<(usize, ProgramStep)> =
        steps.iter().take_while(|(_, step)| matches!(step, ProgramStep::Match(_))).cloned().collect();
    let test = matches.iter().fold(Test::Always, |all, (_, step)| match step {
        ProgramStep::Match(test) => all.and(test.clone()),
        ProgramStep::Change(_) | ProgramStep::Do(_) | ProgramStep::Choose(_) => all,
    });
    // Where it could hold for no packet at all, as for fragments of packets, nothing is said.
    if never(&test) {
        return None;
    }
    // The rule is made one that drops: an end there shows a packet that meets it.
    let mut marked = matches;
    marked.push((0, ProgramStep::Do(Code::Drop)));
    let before = std::mem::replace(&mut quiet.chains.get_mut(chain)?.rules.get_mut(rule)?.steps, marked);
    let answer = follow(ruleset, quiet, names, (chain, rule), &test, hooks, budget);
    quiet.chains.get_mut(chain)?.rules.get_mut(rule)?.steps = before;
    answer
}

fn follow(
    ruleset: &Ruleset,
    quiet: &Program,
    names: &Names,
    target: (usize, usize),
    test: &Test,
    hooks: &std::collections::HashSet<&'static str>,
    budget: &mut usize,
) -> Option<Vec<Taker>> {
    let mut takers: Vec<String> = Vec::new();
    for limits in [FIRST_BUDGET, LONG] {
        takers.clear();
        let mut complete = true;
        for hook in Hook::ALL.into_iter().filter(|hook| hooks.contains(hook.name())) {
            let engine = Engine::new(quiet, hook, fitted(limits, ruleset.rules), names.device("lo"));
            for start in every(hook, names) {
                let six = start.entry(Field::Family).and_then(Spans::single) == Some(6);
                if ruleset.format == Format::Save && (ruleset.family == "ipv6") != six {
                    continue;
                }
                // Nobody says that flags are as they should be: here every combination counts.
                let start = start.with(Field::TcpFlags, Spans::run(0, 255));
                for (path, holds) in start.split(test) {
                    if !holds {
                        continue;
                    }
                    let (ends, all) = engine.ends(path.again(), budget);
                    complete &= all;
                    for end in ends {
                        if end.rule == Some(target) && end.verdict == Verdict::Drop {
                            return Some(Vec::new());
                        }
                        let name = decided(ruleset, quiet, &end);
                        if !takers.contains(&name) {
                            takers.push(name);
                        }
                    }
                }
            }
        }
        if complete {
            takers.truncate(MAX_DECIDERS);
            let takers = takers.into_iter().map(|name| Taker { name, same: false }).collect::<Vec<_>>();
            return Some(if takers.is_empty() {
                vec![Taker { name: NOBODY.to_owned(), same: false }]
            } else {
                takers
            });
        }
    }
    None
}

fn never(test: &Test) -> bool {
    match test {
        Test::Never => true,
        Test::Is(_, spans) => spans.is_empty(),
        Test::All(tests) => tests.iter().any(never),
        Test::Any(tests) => !tests.is_empty() && tests.iter().all(never),
        Test::Mask(..) | Test::Atom(_) | Test::Always | Test::Not(_) => false,
    }
}
