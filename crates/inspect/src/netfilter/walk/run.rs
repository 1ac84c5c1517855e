//! One path of a packet through the chains, and where it ended.

use std::rc::Rc;

use super::packet::Verdict;
use super::path::Path;

/// Where a path ended.
#[derive(Debug, Clone)]
pub(in crate::netfilter) struct End {
    pub(in crate::netfilter) verdict: Verdict,
    /// Chain and rule, from 0; absent where a policy decided.
    pub(in crate::netfilter) rule: Option<(usize, usize)>,
    /// The base chain that was the last to judge.
    pub(in crate::netfilter) chain: Option<usize>,
    pub(in crate::netfilter) path: Path,
    pub(in crate::netfilter) trace: Vec<TriedRule>,
}

/// A rule that was tried.
#[derive(Debug, Clone, Copy)]
pub(in crate::netfilter) struct TriedRule {
    pub(in crate::netfilter) chain: usize,
    pub(in crate::netfilter) rule: usize,
    /// The part that did not hold; absent where all did.
    pub(in crate::netfilter) failed: Option<usize>,
}

/// A place in a chain.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) chain: usize,
    pub(super) rule: usize,
    pub(super) step: usize,
    /// The rules that can match; absent where all are asked.
    pub(super) candidates: Option<Rc<[u32]>>,
}

impl Frame {
    pub(super) fn of(chain: usize) -> Self {
        Self { chain, rule: 0, step: 0, candidates: None }
    }

    /// Goes on to the next rule that can match.
    pub(super) fn skip(&mut self) {
        if let Some(candidates) = &self.candidates
            && self.step == 0
        {
            let at =
                candidates.partition_point(|rule| usize::try_from(*rule).is_ok_and(|rule| rule < self.rule));
            let next = candidates.get(at).and_then(|rule| usize::try_from(*rule).ok());
            self.rule = next.unwrap_or(usize::MAX);
        }
    }
}

/// A packet in flight.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) path: Path,
    pub(super) frames: Vec<Frame>,
    /// Which of the hook's chains is being asked.
    pub(super) base: usize,
    pub(super) accepted: Option<(usize, usize)>,
    pub(super) trace: Vec<TriedRule>,
}

impl Run {
    pub(super) fn begin(path: Path) -> Self {
        Self { path, frames: Vec::new(), base: 0, accepted: None, trace: Vec::new() }
    }

    /// Leaves the base chain: the next one follows.
    pub(super) fn leave(&mut self) {
        self.frames.clear();
        self.base += 1;
    }

    pub(super) fn next_rule(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.rule = frame.rule.saturating_add(1);
            frame.step = 0;
        }
    }

    pub(super) fn next_step(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.step += 1;
        }
    }

    /// Asks every rule from here on: the packet is another one now.
    pub(super) fn ask_all(&mut self) {
        self.frames.iter_mut().for_each(|frame| frame.candidates = None);
    }

    pub(super) fn end(self, verdict: Verdict, rule: Option<(usize, usize)>, chains: &[usize]) -> End {
        let at = self.base.min(chains.len().saturating_sub(1));
        let rule = if verdict == Verdict::Accept { self.accepted } else { rule };
        End { verdict, rule, chain: chains.get(at).copied(), path: self.path, trace: self.trace }
    }
}
