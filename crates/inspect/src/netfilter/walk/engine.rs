//! Running a program: every path that the open things leave.

use super::packet::{Hook, Verdict};
use super::path::Path;
use super::run::{End, Frame, Run, TriedRule};
use crate::netfilter::logic::{Change, Code, Field, Program, ProgramStep, Spans, Test};
use crate::netfilter::ruleset::Family;

/// How much is tried before it is called undecided.
#[derive(Debug, Clone, Copy)]
pub(in crate::netfilter) struct Limits {
    pub(in crate::netfilter) steps: usize,
    pub(in crate::netfilter) ends: usize,
}

/// The longest trace that is kept.
const MAX_TRACE: usize = 100_000;

/// A program at one hook.
pub(in crate::netfilter) struct Engine<'a> {
    pub(super) program: &'a Program,
    pub(super) hook: Hook,
    limits: Limits,
    trace: bool,
    /// The device behind which packets keep the state that they had.
    pub(super) loopback: u128,
}

/// What is still to be followed, and what was found.
pub(super) struct Work<'a> {
    /// The base chains of the hook, in order.
    pub(super) chains: &'a [usize],
    pub(super) open: Vec<Run>,
    pub(super) ends: Vec<End>,
    left: usize,
}

/// How many steps are taken for packets that met a rule, where not all can be followed.
const MAX_STEPS_AFTER_MATCH: usize = 16;

impl<'a> Engine<'a> {
    pub(in crate::netfilter) fn new(
        program: &'a Program,
        hook: Hook,
        limits: Limits,
        loopback: u128,
    ) -> Self {
        Self { program, hook, limits, trace: false, loopback }
    }

    pub(super) fn tracing(mut self, trace: bool) -> Self {
        self.trace = trace;
        self
    }

    /// Returns the chains that judge a packet of a family, in order.
    fn chains(&self, six: bool) -> Vec<usize> {
        let sees = |at: &usize| {
            let Some(chain) = self.program.chains.get(*at) else { return false };
            let Some(base) = &chain.base else { return false };
            let family = match chain.family {
                Family::Ip => !six,
                Family::Ip6 => six,
                Family::Inet => true,
                Family::Other => false,
            };
            family && !base.dormant && base.hook == self.hook.name()
        };
        self.program.bases.iter().copied().filter(sees).collect()
    }

    /// Follows a packet to all its ends; false where there were too many to follow.
    pub(in crate::netfilter) fn ends(&self, path: Path, budget: &mut usize) -> (Vec<End>, bool) {
        let six = path.entry(Field::Family).and_then(Spans::single) == Some(6);
        let chains = self.chains(six);
        let allowed = self.limits.steps.min(*budget);
        let mut work =
            Work { chains: &chains, open: vec![Run::begin(path)], ends: Vec::new(), left: allowed };
        // Whatever could not be read comes before everything: nobody knows where it stood.
        if let Some(atom) = self.program.unread
            && let Some(mut run) = work.open.pop()
            && !Self::unread(atom, None, &mut run, &mut work)
        {
            work.open.push(run);
        }
        let complete = self.work_off(&mut work);
        *budget = budget.saturating_sub(allowed.saturating_sub(work.left));
        (work.ends, complete)
    }

    /// Like [`Self::ends`]; where there are more than are followed, those that leave at the first rules are returned all the same.
    pub(in crate::netfilter) fn first_ends(&self, path: Path, budget: &mut usize) -> (Vec<End>, bool) {
        let six = path.entry(Field::Family).and_then(Spans::single) == Some(6);
        let chains = self.chains(six);
        let allowed = self.limits.steps.min(*budget);
        if self.program.unread.is_some() {
            // What could not be read comes first, and leaves nothing certain behind it.
            return self.ends(path, budget);
        }
        let mut work =
            Work { chains: &chains, open: vec![Run::begin(path)], ends: Vec::new(), left: allowed };
        let complete = self.work_off(&mut work);
        let mut spent = allowed.saturating_sub(work.left);
        if !complete {
            // The run that was cut off leaves behind it, in the order of the rules, the packets that met one: they end soon.
            for run in std::mem::take(&mut work.open) {
                if work.ends.len() >= self.limits.ends || spent >= allowed.saturating_mul(2) {
                    break;
                }
                // Whatever its other matches split it into is followed in turn, none of it far.
                let mut parts = std::collections::VecDeque::from([run]);
                for _ in 0..MAX_STEPS_AFTER_MATCH {
                    let Some(part) = parts.pop_front() else { break };
                    work.left = MAX_STEPS_AFTER_MATCH;
                    self.follow(part, &mut work);
                    parts.extend(work.open.drain(..));
                    spent += MAX_STEPS_AFTER_MATCH;
                }
            }
        }
        *budget = budget.saturating_sub(spent);
        (work.ends, complete)
    }

    fn work_off(&self, work: &mut Work<'_>) -> bool {
        let mut complete = true;
        while let Some(run) = work.open.pop() {
            if work.ends.len() >= self.limits.ends || work.left == 0 {
                complete = false;
                break;
            }
            self.follow(run, work);
        }
        complete && work.left > 0
    }

    fn follow(&self, mut run: Run, work: &mut Work<'_>) {
        loop {
            work.left = work.left.saturating_sub(1);
            if work.left == 0 {
                return;
            }
            let Some((chain, rule, step)) = self.place(&mut run) else {
                let Some(base) = work.chains.get(run.base) else {
                    work.ends.push(run.end(Verdict::Accept, None, work.chains));
                    return;
                };
                self.enter(&mut run, *base, &mut work.open);
                continue;
            };
            let Some(code) = self.program.chains.get(chain).and_then(|chain| chain.rules.get(rule)) else {
                // The end of a chain: back to where it was called from, or to the policy.
                run.frames.pop();
                if run.frames.is_empty() && self.policy(&mut run, work) {
                    return;
                }
                continue;
            };
            let Some((part, what)) = code.steps.get(step) else {
                self.note(&mut run, chain, rule, None);
                run.next_rule();
                continue;
            };
            run.next_step();
            let ended = match what {
                ProgramStep::Change(change) => {
                    self.change(&mut run, change);
                    false
                }
                ProgramStep::Match(test) => self.matching(test, (chain, rule, *part), &mut run, work),
                ProgramStep::Do(code) => {
                    // The rest of the rule is tried yet.
                    if !matches!(code, Code::Unread(_)) {
                        self.note(&mut run, chain, rule, None);
                    }
                    self.carry_out(code, (chain, rule), &mut run, work)
                }
                ProgramStep::Choose(arms) => self.choose(arms, (chain, rule, step, *part), &mut run, work),
            };
            if ended {
                return;
            }
        }
    }

    /// Returns chain, rule and step of where a packet is, past all rules that it cannot match.
    fn place(&self, run: &mut Run) -> Option<(usize, usize, usize)> {
        let frame = run.frames.last_mut()?;
        if (frame.rule, frame.step) == (0, 0)
            && frame.candidates.is_none()
            && !self.trace
            && let Some(index) = self.program.chains.get(frame.chain).and_then(|chain| chain.index.as_ref())
        {
            frame.candidates = Some(index.candidates(|field| run.path.known(field)).into());
        }
        frame.skip();
        Some((frame.chain, frame.rule, frame.step))
    }

    /// Asks one test; true where the paths that it leaves are followed elsewhere.
    fn matching(&self, test: &Test, at: (usize, usize, usize), run: &mut Run, work: &mut Work<'_>) -> bool {
        let (chain, rule, part) = at;
        match run.path.holds(test) {
            Some(true) => false,
            Some(false) => {
                self.note(run, chain, rule, Some(part));
                run.next_rule();
                false
            }
            None => {
                for (path, holds) in run.path.clone().split(test) {
                    work.left = work.left.saturating_sub(path.weight());
                    let mut other = Run { path, ..run.clone() };
                    if !holds {
                        self.note(&mut other, chain, rule, Some(part));
                        other.next_rule();
                    }
                    work.open.push(other);
                }
                true
            }
        }
    }

    /// Examines a map; true where the path ends or is followed elsewhere.
    fn choose(
        &self,
        arms: &[(Test, Code)],
        at: (usize, usize, usize, usize),
        run: &mut Run,
        work: &mut Work<'_>,
    ) -> bool {
        let (chain, rule, step, part) = at;
        let chosen = arms.iter().find_map(|(test, code)| match run.path.holds(test) {
            Some(false) => None,
            holds => Some((holds, test, code)),
        });
        match chosen {
            None => {
                self.note(run, chain, rule, Some(part));
                run.next_rule();
                false
            }
            Some((Some(_), _, code)) => {
                self.note(run, chain, rule, None);
                self.carry_out(code, (chain, rule), run, work)
            }
            Some((None, test, _)) => {
                // The same step again, with one thing less open.
                for (path, _) in run.path.clone().split(test) {
                    work.left = work.left.saturating_sub(path.weight());
                    let mut other = Run { path, ..run.clone() };
                    if let Some(frame) = other.frames.last_mut() {
                        frame.step = step;
                    }
                    work.open.push(other);
                }
                true
            }
        }
    }

    pub(super) fn change(&self, run: &mut Run, change: &Change) {
        run.path.change(change);
        if matches!(change, Change::Set(..)) {
            run.ask_all();
        }
    }

    fn note(&self, run: &mut Run, chain: usize, rule: usize, failed: Option<usize>) {
        if self.trace && run.trace.len() < MAX_TRACE {
            run.trace.push(TriedRule { chain, rule, failed });
        }
    }

    /// Goes into another chain.
    pub(super) fn jump(run: &mut Run, chain: usize) {
        run.frames.push(Frame::of(chain));
    }
}
