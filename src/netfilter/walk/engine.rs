//! Running a program: every way that the open things leave.

use super::packet::{Hook, Verdict};
use super::path::Path;
use crate::netfilter::logic::{Code, Field, Program, Spans, Step, Test};
use crate::netfilter::ruleset::Family;

/// How much is tried before it is called undecided.
#[derive(Debug, Clone, Copy)]
pub(in crate::netfilter) struct Limits {
    pub(in crate::netfilter) steps: usize,
    pub(in crate::netfilter) ends: usize,
}

/// The deepest nesting of chains; the kernel allows sixteen.
const DEEPEST: usize = 64;

/// The priority at which connections are looked up.
const TRACKING: i64 = -200;

/// Where a way ended.
#[derive(Debug, Clone)]
pub(in crate::netfilter) struct End {
    pub(in crate::netfilter) verdict: Verdict,
    /// Chain and rule, from 0; absent where a policy decided.
    pub(in crate::netfilter) rule: Option<(usize, usize)>,
    /// The base chain that was the last to judge.
    pub(in crate::netfilter) chain: Option<usize>,
    pub(in crate::netfilter) path: Path,
    pub(in crate::netfilter) trace: Vec<Tried>,
}

/// A rule that was tried.
#[derive(Debug, Clone, Copy)]
pub(in crate::netfilter) struct Tried {
    pub(in crate::netfilter) chain: usize,
    pub(in crate::netfilter) rule: usize,
    /// The part that did not hold; absent where all did.
    pub(in crate::netfilter) failed: Option<usize>,
}

#[derive(Debug, Clone)]
struct Run {
    path: Path,
    /// Chain, rule, step.
    frames: Vec<(usize, usize, usize)>,
    /// Which of the hook's chains is being asked.
    base: usize,
    accepted: Option<(usize, usize)>,
    trace: Vec<Tried>,
}

/// A program at one hook.
pub(in crate::netfilter) struct Engine<'a> {
    program: &'a Program,
    hook: Hook,
    limits: Limits,
    trace: bool,
    /// The device behind which packets keep the state that they had.
    loopback: u128,
}

impl<'a> Engine<'a> {
    pub(in crate::netfilter) fn new(
        program: &'a Program,
        hook: Hook,
        limits: Limits,
        loopback: u128,
    ) -> Self {
        Self { program, hook, limits, trace: false, loopback }
    }

    pub(super) fn tracing(mut self) -> Self {
        self.trace = true;
        self
    }

    /// Returns the chains that judge a packet of a family, in order.
    fn chains(&self, six: bool) -> Vec<usize> {
        let mut found: Vec<(i64, usize)> = Vec::new();
        for (at, chain) in self.program.chains.iter().enumerate() {
            let Some(base) = &chain.base else { continue };
            let sees = match chain.family {
                Family::Ip => !six,
                Family::Ip6 => six,
                Family::Inet => true,
                Family::Other => false,
            };
            if sees && !base.dormant && base.hook == self.hook.name() {
                found.push((base.priority, at));
            }
        }
        found.sort_by_key(|(priority, _)| *priority);
        found.into_iter().map(|(_, at)| at).collect()
    }

    /// Follows a packet to all its ends; false where there were too many to follow.
    pub(in crate::netfilter) fn ends(&self, path: Path, budget: &mut usize) -> (Vec<End>, bool) {
        let six = path.entry(Field::Family).and_then(Spans::single) == Some(6);
        let chains = self.chains(six);
        let mut ends = Vec::new();
        let mut open = vec![Run { path, frames: Vec::new(), base: 0, accepted: None, trace: Vec::new() }];
        let mut left = self.limits.steps.min(*budget);
        let mut complete = true;
        while let Some(run) = open.pop() {
            if ends.len() >= self.limits.ends || left == 0 {
                complete = false;
                break;
            }
            self.follow(run, &chains, &mut open, &mut ends, &mut left);
        }
        complete &= left > 0;
        *budget = budget.saturating_sub(self.limits.steps.min(*budget).saturating_sub(left));
        (ends, complete)
    }

    fn follow(
        &self,
        mut run: Run,
        chains: &[usize],
        open: &mut Vec<Run>,
        ends: &mut Vec<End>,
        left: &mut usize,
    ) {
        loop {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return;
            }
            let Some((chain, rule, step)) = run.frames.last().copied() else {
                let Some(base) = chains.get(run.base) else {
                    ends.push(end(run, Verdict::Accept, None, chains));
                    return;
                };
                self.enter(&mut run, *base, open);
                continue;
            };
            let Some(code) = self.program.chains.get(chain).and_then(|chain| chain.rules.get(rule)) else {
                // The end of a chain: back to where it was called from, or to the policy.
                run.frames.pop();
                if run.frames.is_empty() && self.policy(&mut run, chains, open, ends) {
                    return;
                }
                continue;
            };
            let Some((part, what)) = code.steps.get(step) else {
                self.note(&mut run, chain, rule, None);
                next_rule(&mut run);
                continue;
            };
            next_step(&mut run);
            match what {
                Step::Change(change) => run.path.change(change),
                Step::Match(test) => match run.path.holds(test) {
                    Some(true) => {}
                    Some(false) => {
                        self.note(&mut run, chain, rule, Some(*part));
                        next_rule(&mut run);
                    }
                    None => {
                        for (path, holds) in run.path.clone().split(test) {
                            let mut other = Run { path, ..run.clone() };
                            if !holds {
                                self.note(&mut other, chain, rule, Some(*part));
                                next_rule(&mut other);
                            }
                            open.push(other);
                        }
                        return;
                    }
                },
                Step::Do(code) => {
                    self.note(&mut run, chain, rule, None);
                    if self.carry_out(code, (chain, rule), &mut run, chains, open, ends) {
                        return;
                    }
                }
                Step::Choose(arms) => {
                    let chosen = arms.iter().find(|(test, _)| run.path.holds(test) != Some(false));
                    match chosen.map(|(test, code)| (run.path.holds(test), test, code)) {
                        None => {
                            self.note(&mut run, chain, rule, Some(*part));
                            next_rule(&mut run);
                        }
                        Some((Some(_), _, code)) => {
                            self.note(&mut run, chain, rule, None);
                            if self.carry_out(code, (chain, rule), &mut run, chains, open, ends) {
                                return;
                            }
                        }
                        Some((None, test, _)) => {
                            // The same step again, with one thing less open.
                            for (path, _) in run.path.clone().split(test) {
                                let mut other = Run { path, ..run.clone() };
                                if let Some(frame) = other.frames.last_mut() {
                                    frame.2 = step;
                                }
                                open.push(other);
                            }
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Begins with the next base chain.
    fn enter(&self, run: &mut Run, chain: usize, open: &mut Vec<Run>) {
        let base = self.program.chains.get(chain).and_then(|chain| chain.base.as_ref());
        let priority = base.map_or(0, |base| base.priority);
        let first = matches!(self.hook, Hook::Prerouting | Hook::Output);
        let from_here = run.path.entry(Field::In).and_then(Spans::single) == Some(self.loopback);
        run.path.show_state(first && priority <= TRACKING && !(from_here && self.hook == Hook::Prerouting));
        run.frames = vec![(chain, 0, 0)];
        if base.is_some_and(|base| base.nat) {
            // Translation is decided once a connection.
            let begins = Test::Is(Field::State, Spans::of([(0, 0), (2, 2)]));
            match run.path.holds(&begins) {
                Some(true) => {}
                Some(false) => leave(run),
                None => {
                    let mut ways = run.path.clone().split(&begins).into_iter();
                    if let Some((path, holds)) = ways.next() {
                        run.path = path;
                        if !holds {
                            leave(run);
                        }
                    }
                    for (path, holds) in ways {
                        let mut other = Run { path, frames: vec![(chain, 0, 0)], ..run.clone() };
                        if !holds {
                            leave(&mut other);
                        }
                        open.push(other);
                    }
                }
            }
        }
    }

    /// Applies the policy of the base chain; true where the way ends.
    fn policy(&self, run: &mut Run, chains: &[usize], open: &mut Vec<Run>, ends: &mut Vec<End>) -> bool {
        let chain = chains.get(run.base).copied();
        let base = chain.and_then(|chain| self.program.chains.get(chain)?.base.as_ref());
        match base.map_or(&Code::Accept, |base| &base.policy) {
            Code::Drop => {
                ends.push(end(run.clone(), Verdict::Drop, None, chains));
                true
            }
            Code::Unknown(atom) => self.unknown(*atom, None, run, chains, open, ends),
            Code::Accept
            | Code::Reject
            | Code::Return
            | Code::Continue
            | Code::Change(_)
            | Code::Jump(_)
            | Code::Goto(_) => {
                leave(run);
                false
            }
        }
    }

    /// Carries out a verdict; true where the way ends.
    fn carry_out(
        &self,
        code: &Code,
        at: (usize, usize),
        run: &mut Run,
        chains: &[usize],
        open: &mut Vec<Run>,
        ends: &mut Vec<End>,
    ) -> bool {
        match code {
            Code::Accept => {
                run.accepted = Some(at);
                leave(run);
                false
            }
            Code::Drop | Code::Reject => {
                let verdict = if *code == Code::Drop { Verdict::Drop } else { Verdict::Reject };
                ends.push(end(run.clone(), verdict, Some(at), chains));
                true
            }
            Code::Change(change) => {
                run.path.change(change);
                false
            }
            Code::Continue => {
                next_rule(run);
                false
            }
            Code::Return => {
                run.frames.pop();
                run.frames.is_empty() && self.policy(run, chains, open, ends)
            }
            Code::Jump(target) => {
                next_rule(run);
                if run.frames.len() >= DEEPEST {
                    ends.push(end(run.clone(), Verdict::Indeterminate, Some(at), chains));
                    return true;
                }
                run.frames.push((*target, 0, 0));
                false
            }
            Code::Goto(target) => {
                if let Some(frame) = run.frames.last_mut() {
                    *frame = (*target, 0, 0);
                }
                false
            }
            Code::Unknown(atom) => self.unknown(*atom, Some(at), run, chains, open, ends),
        }
    }

    /// Somebody else decides: both ways are followed.
    fn unknown(
        &self,
        atom: u32,
        at: Option<(usize, usize)>,
        run: &mut Run,
        chains: &[usize],
        open: &mut Vec<Run>,
        ends: &mut Vec<End>,
    ) -> bool {
        for (path, passes) in run.path.clone().split(&Test::Atom(atom)) {
            let mut other = Run { path, ..run.clone() };
            if passes {
                other.accepted = at.or(other.accepted);
                leave(&mut other);
                open.push(other);
            } else {
                ends.push(end(other, Verdict::Drop, at, chains));
            }
        }
        true
    }

    fn note(&self, run: &mut Run, chain: usize, rule: usize, failed: Option<usize>) {
        if self.trace && run.trace.len() < 10_000 {
            run.trace.push(Tried { chain, rule, failed });
        }
    }
}

fn leave(run: &mut Run) {
    run.frames.clear();
    run.base += 1;
}

fn next_rule(run: &mut Run) {
    if let Some(frame) = run.frames.last_mut() {
        *frame = (frame.0, frame.1 + 1, 0);
    }
}

fn next_step(run: &mut Run) {
    if let Some(frame) = run.frames.last_mut() {
        frame.2 += 1;
    }
}

fn end(run: Run, verdict: Verdict, rule: Option<(usize, usize)>, chains: &[usize]) -> End {
    let at = run.base.min(chains.len().saturating_sub(1));
    let rule = if verdict == Verdict::Accept { run.accepted } else { rule };
    End { verdict, rule, chain: chains.get(at).copied(), path: run.path, trace: run.trace }
}
