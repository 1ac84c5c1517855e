//! A ruleset as a program: chains of steps.

use std::rc::Rc;

use super::index::Index;
use super::names::Names;
use super::scope::{Scope, changed};
use super::test::{Field, Test};
use crate::netfilter::ruleset::{Base, Family, Ruleset};

/// A ruleset, ready to be walked.
#[derive(Debug)]
pub(in crate::netfilter) struct Program {
    /// The chains that packets enter, by priority.
    pub(in crate::netfilter) bases: Vec<usize>,
    /// For every chain those that lead into it.
    pub(in crate::netfilter) callers: Vec<Vec<usize>>,
    pub(in crate::netfilter) chains: Vec<CodeChain>,
    /// What could not be read and may judge any packet: the atom says what.
    pub(in crate::netfilter) unread: Option<u32>,
}

/// A chain of a program.
#[derive(Debug)]
pub(in crate::netfilter) struct CodeChain {
    /// Where it stands in the ruleset.
    pub(in crate::netfilter) table: usize,
    pub(in crate::netfilter) chain: usize,
    pub(in crate::netfilter) family: Family,
    pub(in crate::netfilter) base: Option<CodeBase>,
    pub(in crate::netfilter) rules: Vec<CodeRule>,
    pub(in crate::netfilter) index: Option<Index>,
}

/// The entry of a chain.
#[derive(Debug)]
pub(in crate::netfilter) struct CodeBase {
    pub(in crate::netfilter) hook: String,
    pub(in crate::netfilter) priority: i64,
    pub(in crate::netfilter) nat: bool,
    pub(in crate::netfilter) policy: Code,
    /// Whether the table sleeps.
    pub(in crate::netfilter) dormant: bool,
    /// Which packets enter, where a chain is bound to devices.
    pub(in crate::netfilter) only: Test,
}

/// A rule of a program.
#[derive(Debug, Default)]
pub(in crate::netfilter) struct CodeRule {
    /// Steps, each with the number of the part of the rule from which it comes.
    pub(in crate::netfilter) steps: Vec<(usize, ProgramStep)>,
}

/// One step of a rule.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::netfilter) enum ProgramStep {
    /// Go on only where this holds.
    Match(Test),
    Change(Change),
    Do(Code),
    /// The first that holds is done; where none does, the rule is left.
    Choose(Vec<(Test, Code)>),
}

/// What a rule changes on a packet.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::netfilter) enum Change {
    /// Bits to clear, then bits to turn over.
    Mark { clear: u32, flip: u32 },
    /// The mark is something else now.
    MarkUnknown,
    /// The connection is not tracked.
    Untrack,
    /// Whether the connection is tracked is not known from here on.
    TrackingUnknown,
    /// The connection is looked up among those of another zone.
    Zone,
    /// An address or port becomes this, or something unknown.
    Set(super::Field, Option<u64>),
}

/// What a rule does with a packet.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::netfilter) enum Code {
    Accept,
    Drop,
    Reject,
    Return,
    /// Nothing; the next rule follows.
    Continue,
    Jump(usize),
    Goto(usize),
    /// Something about the packet changes, and the rule goes on.
    Change(Change),
    /// Whether the packet passes is not decided by the ruleset: the atom says why.
    Unknown(u32),
    /// Nobody knows what is done here, or whether anything is: the atom says why.
    Unread(u32),
}

/// Compiles a ruleset; the names have to know its devices.
pub(in crate::netfilter) fn compile(ruleset: &Ruleset, names: &mut Names) -> Program {
    let mut chains = Vec::new();
    let changed = Rc::new(changed(ruleset));
    for (table_at, table) in ruleset.tables.iter().enumerate() {
        let first = chains.len();
        let mut scope = Scope::new(ruleset, table, first, names, Rc::clone(&changed));
        for (chain_at, chain) in table.chains.iter().enumerate() {
            let mut rules: Vec<CodeRule> = chain.rules.iter().map(|rule| scope.rule(&rule.body)).collect();
            for gap in &chain.unread {
                let step = (0, ProgramStep::Do(scope.unread(&gap.what)));
                match rules.get_mut(gap.before) {
                    Some(rule) => rule.steps.insert(0, step),
                    // Behind the last rule.
                    None => rules.push(CodeRule { steps: vec![step] }),
                }
            }
            let index = Index::of(&rules);
            let base = chain.base.as_ref().map(|base| CodeBase {
                hook: base.routed_hook().to_owned(),
                priority: base.routed_priority(),
                only: only(base, &chain.name, scope.names),
                nat: base.kind == "nat",
                dormant: table.dormant,
                policy: scope.policy(chain.policy.as_deref(), &chain.name),
            });
            chains.push(CodeChain {
                table: table_at,
                chain: chain_at,
                family: if table.is_of_devices() { Family::Inet } else { table.family },
                base,
                rules,
                index,
            });
        }
    }
    let priority =
        |at: &usize| chains.get(*at).and_then(|chain| chain.base.as_ref()).map(|base| base.priority);
    let mut bases: Vec<usize> = (0..chains.len()).filter(|at| priority(at).is_some()).collect();
    // Of two chains with one priority the kernel asks the younger one first.
    bases.sort_by_key(|at| (priority(at), std::cmp::Reverse(*at)));
    let callers = callers(&chains);
    let unread = ruleset.unread.split_first().map(|(first, rest)| match rest.len() {
        0 => names.number(first),
        more => names.number(&format!("{first}, and {more} more that could not be read")),
    });
    Program { bases, callers, chains, unread }
}

/// Returns which packets enter a chain: those of its devices, if it is bound to any.
fn only(base: &Base, chain: &str, names: &mut Names) -> Test {
    let field = match base.hook.as_str() {
        "ingress" => Field::In,
        "egress" => Field::Out,
        _ => return Test::Always,
    };
    let Some(devices) = base.devices() else {
        return names.atom(&format!("at which devices the chain {chain} stands"));
    };
    let one = |device: &str| match device.strip_suffix('*') {
        Some(begin) => Test::Is(field, names.matching(begin, true)),
        None => Test::Is(field, names.matching(device, false)),
    };
    Test::Any(devices.into_iter().map(one).collect())
}

fn callers(chains: &[CodeChain]) -> Vec<Vec<usize>> {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); chains.len()];
    for (at, chain) in chains.iter().enumerate() {
        let mut note = |code: &Code| {
            if let Code::Jump(to) | Code::Goto(to) = code
                && let Some(callers) = callers.get_mut(*to)
                && callers.last() != Some(&at)
            {
                callers.push(at);
            }
        };
        for (_, step) in chain.rules.iter().flat_map(|rule| &rule.steps) {
            match step {
                ProgramStep::Do(code) => note(code),
                ProgramStep::Choose(arms) => arms.iter().for_each(|(_, code)| note(code)),
                ProgramStep::Match(_) | ProgramStep::Change(_) => {}
            }
        }
    }
    callers
}
