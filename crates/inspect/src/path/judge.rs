//! The judgement: what becomes of a flow, what decides that, and what is not known.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::carry::Asked;
use super::document::Missing;
use super::estate::Estate;
use super::fault::Cause;
use super::flow::Flow;
use super::hop::{Effect, Hop, Kind, Side};
use super::walk::walk;

/// What becomes of a flow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case", tag = "fate", content = "why")]
pub enum Fate {
    /// It passes, and its answers arrive.
    Passes,
    /// It passes, slower or damaged.
    Degraded,
    /// A share of it passes.
    Partly,
    /// Something stops it.
    Stopped,
    /// Nothing leads there: what is missing.
    NoPath(String),
    /// It depends on what was not read.
    Unknown,
}

impl Fate {
    /// Returns the word of the contract.
    #[must_use]
    pub const fn verdict(&self) -> &'static str {
        match self {
            Self::Passes => "PASSES",
            Self::Degraded | Self::Partly => "DEGRADED",
            Self::Stopped | Self::NoPath(_) => "BLOCKED",
            Self::Unknown => "INDETERMINATE",
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passes => out.write_str("passes"),
            Self::Degraded => out.write_str("degraded"),
            Self::Partly => out.write_str("passes in part"),
            Self::Stopped => out.write_str("stopped"),
            Self::NoPath(why) => write!(out, "no path: {why}"),
            Self::Unknown => out.write_str("not known"),
        }
    }
}

/// Something that is not counted, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// What it is.
    pub effect: Effect,
    /// Why it does not count.
    pub why: &'static str,
}

/// What becomes of a flow, with every hop in both directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The flow.
    pub flow: Flow,
    /// What becomes of it.
    pub fate: Fate,
    /// The hops from the caller on.
    pub forward: Vec<Hop>,
    /// The hops of the answer.
    pub back: Vec<Hop>,
    /// What would stop it too, and is not known to matter.
    pub masked: Vec<Masked>,
    /// What was taken away for this answer.
    pub gone: Vec<Cause>,
}

impl Estate {
    /// Judges a flow in both directions.
    #[must_use]
    pub fn judge(&self, flow: &Flow) -> Judgement {
        self.judge_without(flow, &[])
    }

    /// Judges a flow as if some causes were taken away.
    ///
    /// A rule, route or policy that closes whatever nothing else lets in is taken away by letting this flow in before it.
    #[must_use]
    pub fn judge_without(&self, flow: &Flow, gone: &[Cause]) -> Judgement {
        let walked = walk(Asked { estate: self, flow, gone });
        let mut judgement = Judgement {
            flow: flow.clone(),
            fate: Fate::Unknown,
            forward: walked.forward,
            back: walked.back,
            masked: Vec::new(),
            gone: gone.to_vec(),
        };
        judgement.mask();
        judgement.fate = judgement.conclude();
        judgement
    }

    /// Says what becomes of each of some flows.
    #[must_use]
    pub fn fates(&self, flows: &[Flow]) -> Vec<Fate> {
        flows.iter().map(|flow| self.judge(flow).fate).collect()
    }
}

impl Judgement {
    /// Judges the same flow as if one more cause were taken away.
    #[must_use]
    pub fn without(&self, estate: &Estate, cause: &Cause) -> Self {
        let mut gone = self.gone.clone();
        gone.push(cause.clone());
        estate.judge_without(&self.flow, &gone)
    }

    /// Returns the hops of both directions, in order.
    pub fn hops(&self) -> impl Iterator<Item = (Side, &Hop)> {
        let there = self.forward.iter().map(|hop| (Side::Forward, hop));
        there.chain(self.back.iter().map(|hop| (Side::Return, hop)))
    }

    /// Returns what stops the flow, each once, in the order in which it would be met.
    #[must_use]
    pub fn stops(&self) -> Vec<(Side, &Effect)> {
        once(self.hops().flat_map(|(side, hop)| hop.stops.iter().map(move |effect| (side, effect))))
    }

    /// Returns what slows the flow, damages it or takes a share of it, each once.
    #[must_use]
    pub fn hurts(&self) -> Vec<(Side, &Effect)> {
        once(
            self.hops().flat_map(|(side, hop)| {
                hop.shares.iter().chain(&hop.degrades).map(move |effect| (side, effect))
            }),
        )
    }

    /// Returns what decides now: the first that stops it, or else all that hurts it.
    #[must_use]
    pub fn causes(&self) -> Vec<(Side, &Effect)> {
        match self.stops().into_iter().next() {
            Some(first) => vec![first],
            None => self.hurts(),
        }
    }

    /// Returns what would stop or hurt the flow once the causes are gone.
    #[must_use]
    pub fn behind(&self) -> Vec<(Side, &Effect)> {
        let stops = self.stops();
        if stops.is_empty() { Vec::new() } else { stops.into_iter().skip(1).chain(self.hurts()).collect() }
    }

    /// Returns the causes of everything that stops or hurts the flow: what a finding may say. A gap in the network is among them.
    #[must_use]
    pub fn findings(&self) -> BTreeSet<Cause> {
        self.stops().into_iter().chain(self.hurts()).map(|(_, effect)| effect.cause.clone()).collect()
    }

    /// Returns what would have to be read, the cheapest and least intrusive first.
    #[must_use]
    pub fn missing(&self) -> Vec<Missing> {
        let all: BTreeSet<Missing> = self.hops().flat_map(|(_, hop)| hop.missing.iter().cloned()).collect();
        all.into_iter().collect()
    }

    /// Takes out what does not count: a rule that denies where no path leads to it, a missing listener behind a rule that denies.
    fn mask(&mut self) {
        let any =
            |hops: &[Hop], test: &dyn Fn(&Effect) -> bool| hops.iter().flat_map(|hop| &hop.stops).any(test);
        let gap = |effect: &Effect| effect.cause.fault.is_gap();
        if any(&self.forward, &gap) || any(&self.back, &gap) {
            let closed = |hop: &Hop, effect: &Effect| {
                matches!(hop.kind, Kind::GroupInbound | Kind::GroupOutbound) && effect.catches_all
            };
            self.take_out(&closed, "no path leads there, so that nothing was to be let in");
        }
        let stops = any(&self.forward, &|effect| !effect.cause.fault.is_refusal());
        let shared = self.forward.iter().any(|hop| !hop.shares.is_empty());
        if stops || shared {
            let refused = |_: &Hop, effect: &Effect| effect.cause.fault.is_refusal();
            self.take_out(&refused, "something before it stops the flow");
        }
    }

    fn take_out(&mut self, test: &dyn Fn(&Hop, &Effect) -> bool, why: &'static str) {
        for hop in self.forward.iter_mut().chain(&mut self.back) {
            let stops = std::mem::take(&mut hop.stops);
            for effect in stops {
                if test(hop, &effect) {
                    self.masked.push(Masked { effect, why });
                } else {
                    hop.stops.push(effect);
                }
            }
        }
    }

    fn conclude(&self) -> Fate {
        let stops = self.stops();
        let gap = stops.first().filter(|(_, effect)| effect.cause.fault.is_gap());
        let open = self.hops().any(|(_, hop)| !hop.missing.is_empty() || !hop.possible.is_empty());
        let shared = self.hops().any(|(_, hop)| !hop.shares.is_empty());
        match (gap, stops.is_empty()) {
            (Some((_, effect)), _) => Fate::NoPath(effect.reason.clone()),
            (None, false) => Fate::Stopped,
            (None, true) if open => Fate::Unknown,
            (None, true) if shared => Fate::Partly,
            (None, true) if !self.hurts().is_empty() => Fate::Degraded,
            (None, true) => Fate::Passes,
        }
    }
}

fn once<'a>(all: impl Iterator<Item = (Side, &'a Effect)>) -> Vec<(Side, &'a Effect)> {
    let mut found: Vec<(Side, &Effect)> = Vec::new();
    for (side, effect) in all {
        if !found.iter().any(|(_, own)| own.cause == effect.cause) {
            found.push((side, effect));
        }
    }
    found
}
