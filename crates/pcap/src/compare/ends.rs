//! Conversations between two places: each is judged, the worst are told of.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::alter::Translated;
use super::clock::Clock;
use super::join::{Join, order};
use super::print::{ICMP, ICMP_SIX, TCP, UDP};
use super::seen::{Both, Seen, Which};
use super::trip::{Measure, Trip};
use super::verdict::{Case, Verdict, judge};
use super::window::Window;

/// Services that answer whoever asks.
const ANSWERING: [u16; 3] = [53, 123, 161];

/// A conversation between both places.
#[derive(Debug)]
pub(super) struct Conversation {
    /// Its number.
    pub(super) lane: usize,
    /// The place that the asker's packets pass first.
    pub(super) near: Which,
    /// Whether that is more than a guess.
    pub(super) sure: bool,
    /// From who asks to who is asked.
    pub(super) there: Trip,
    /// And back.
    pub(super) back: Trip,
    /// What became of it.
    pub(super) verdict: Verdict,
    /// What it is at B, where it was translated.
    pub(super) translated: Option<usize>,
}

/// Everything that is needed to judge conversations.
#[derive(Debug)]
pub(super) struct Ends<'x> {
    both: &'x Both,
    join: &'x Join,
    clock: &'x Clock,
    window: &'x Window,
    there: &'x Translated,
    /// Halves of conversations that are others of A, translated.
    taken: BTreeSet<u32>,
    /// Packets in the order of their conversations.
    a: Vec<u32>,
    b: Vec<u32>,
    /// Who speaks at each place.
    hosts: [BTreeSet<IpAddr>; 2],
}

impl<'x> Ends<'x> {
    /// Prepares.
    pub(super) fn new(
        both: &'x Both,
        (join, there): (&'x Join, &'x Translated),
        (clock, window): (&'x Clock, &'x Window),
    ) -> Self {
        let by_lane =
            |which: Which| order(&both.shot(which).seen, |seen: &Seen| u64::from(seen.lane), |_, _| true);
        Self {
            both,
            join,
            clock,
            window,
            there,
            taken: there.values().copied().collect(),
            a: by_lane(Which::A),
            b: by_lane(Which::B),
            hosts: [hosts(both, Which::A), hosts(both, Which::B)],
        }
    }

    /// Judges each conversation; those that are translations of others are part of them.
    pub(super) fn each(&self, mut with: impl FnMut(Conversation)) {
        for lane in 0..self.both.lanes.len() {
            if let Some(found) = self.one(lane) {
                with(found);
            }
        }
    }

    /// Judges one conversation.
    pub(super) fn one(&self, number: usize) -> Option<Conversation> {
        let lane = self.both.lanes.get(number)?;
        let asker = number as u32 * 2 + u32::from(lane.flipped);
        let asked = asker ^ 1;
        if self.taken.contains(&asker) || self.taken.contains(&asked) {
            return None;
        }
        let (there, back) = (self.packets(asker), self.packets(asked));
        let toward = self.toward(there).or_else(|| self.toward(back).map(Which::other))?;
        let sure = self.clock.toward.sure(self.way(there).or_else(|| self.way(back))?);
        let with = Measure { both: self.both, join: self.join, clock: self.clock, window: self.window };
        let trip = |toward: Which, (a, b): (&[u32], &[u32])| {
            Trip::new(&with, toward, toward.other().of((a, b), (b, a)), lane.protocol)
        };
        let (forth, home) = (trip(toward, there), trip(toward.other(), back));
        let (client, server) = lane.sockets();
        let missing = match (there.0.len() + back.0.len(), there.1.len() + back.1.len()) {
            (0, _) => Some(Which::A),
            (_, 0) => Some(Which::B),
            _ => None,
        };
        let passes = missing.is_none_or(|missing| {
            let far = if toward == missing { server.ip() } else { client.ip() };
            let [a, b] = &self.hosts;
            let known = missing.of(a, b);
            (known.is_empty() || known.contains(&far))
                && !server.ip().is_multicast()
                && !self.clock.toward.same_side((client.ip(), server.ip()))
        });
        let answers = match lane.protocol {
            TCP => forth.turns.syns > 0,
            UDP => ANSWERING.contains(&server.port()),
            ICMP | ICMP_SIX => server.port() != 0,
            _ => false,
        };
        let case = Case { answers, passes, end: self.window.end(), round: self.clock.round.unwrap_or(0) };
        Some(Conversation {
            lane: number,
            near: toward.other(),
            sure,
            verdict: judge(case, &forth, &home),
            there: forth,
            back: home,
            translated: self
                .there
                .get(&asker)
                .or_else(|| self.there.get(&asked))
                .map(|half| *half as usize / 2),
        })
    }

    /// Returns the packets of half a conversation at A, and at B.
    fn packets(&self, half: u32) -> (&[u32], &[u32]) {
        let at_b = self.there.get(&half).copied().unwrap_or(half);
        (run(&self.both.a.seen, &self.a, half), run(&self.both.b.seen, &self.b, at_b))
    }

    fn way(&self, (a, b): (&[u32], &[u32])) -> Option<u32> {
        let of = |which: Which, list: &[u32]| {
            self.both.shot(which).seen.get(*list.first()? as usize).map(|seen| seen.way)
        };
        of(Which::A, a).or_else(|| of(Which::B, b))
    }

    fn toward(&self, packets: (&[u32], &[u32])) -> Option<Which> {
        self.way(packets).map(|way| self.clock.toward.of(way))
    }
}

/// Returns the part of a list that is one half of a conversation.
fn run<'l>(seen: &[Seen], list: &'l [u32], half: u32) -> &'l [u32] {
    let lane = |at: &u32| seen.get(*at as usize).map_or(u32::MAX, |seen| seen.lane);
    let start = list.partition_point(|at| lane(at) < half);
    let end = list.partition_point(|at| lane(at) <= half);
    list.get(start..end).unwrap_or_default()
}

fn hosts(both: &Both, which: Which) -> BTreeSet<IpAddr> {
    let mut ways = vec![false; both.ways.len()];
    for seen in &both.shot(which).seen {
        if let Some(way) = ways.get_mut(seen.way as usize) {
            *way = true;
        }
    }
    both.ways.iter().zip(ways).filter(|(_, met)| *met).map(|(net, _)| net.source()).collect()
}

/// Counts how many conversations came out how.
pub(super) fn verdicts(ends: &Ends<'_>, with: &mut impl FnMut(&Conversation)) -> BTreeMap<Verdict, u64> {
    let mut verdicts: BTreeMap<Verdict, u64> = BTreeMap::new();
    ends.each(|one| {
        *verdicts.entry(one.verdict).or_default() += 1;
        with(&one);
    });
    verdicts
}
