//! Conversations between two places: each is judged, the worst are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::capture::{CaptureSide, Captures, PacketRecord};
use super::clock::Clock;
use super::fingerprint::{ICMP, ICMP_SIX, TCP, UDP};
use super::matching::{PacketMatches, order};
use super::overlap::Overlap;
use super::rewrite::Translated;
use super::transit::{Transit, TransitContext};
use super::verdict::{ConversationContext, ConversationVerdict, judge};

/// Services that answer whoever asks.
const ANSWERING_PORTS: [u16; 3] = [53, 123, 161];

/// A conversation between both places.
#[derive(Debug)]
pub(super) struct Conversation {
    /// Its number.
    pub(super) conversation: usize,
    /// The place that the asker's packets pass first.
    pub(super) near: CaptureSide,
    /// Whether that is more than a guess.
    pub(super) sure: bool,
    /// From who asks to who is asked.
    pub(super) there: Transit,
    /// And back.
    pub(super) back: Transit,
    /// What became of it.
    pub(super) verdict: ConversationVerdict,
    /// What it is at B, where it was translated.
    pub(super) translated: Option<usize>,
}

/// Everything that is needed to judge conversations.
#[derive(Debug)]
pub(super) struct ConversationJudge<'x> {
    captures: &'x Captures,
    join: &'x PacketMatches,
    clock: &'x Clock,
    window: &'x Overlap,
    there: &'x Translated,
    /// Halves of conversations that are others of A, translated.
    taken: BTreeSet<u32>,
    /// Packets in the order of their conversations.
    a: Vec<u32>,
    b: Vec<u32>,
    /// Who speaks at each place.
    hosts: [BTreeSet<IpAddr>; 2],
}

impl<'x> ConversationJudge<'x> {
    /// Prepares.
    pub(super) fn new(
        captures: &'x Captures,
        (join, there): (&'x PacketMatches, &'x Translated),
        (clock, window): (&'x Clock, &'x Overlap),
    ) -> Self {
        let by_lane = |which: CaptureSide| {
            order(
                &captures.capture(which).seen,
                |seen: &PacketRecord| u64::from(seen.conversation),
                |_, _| true,
            )
        };
        Self {
            captures,
            join,
            clock,
            window,
            there,
            taken: there.values().copied().collect(),
            a: by_lane(CaptureSide::A),
            b: by_lane(CaptureSide::B),
            hosts: [hosts(captures, CaptureSide::A), hosts(captures, CaptureSide::B)],
        }
    }

    /// Judges each conversation; those that are translations of others are part of them.
    pub(super) fn each(&self, mut with: impl FnMut(Conversation)) {
        for conversation in 0..self.captures.conversations.len() {
            if let Some(found) = self.one(conversation) {
                with(found);
            }
        }
    }

    /// Judges one conversation.
    pub(super) fn one(&self, number: usize) -> Option<Conversation> {
        let conversation = self.captures.conversations.get(number)?;
        let asker = number as u32 * 2 + u32::from(conversation.flipped);
        let asked = asker ^ 1;
        if self.taken.contains(&asker) || self.taken.contains(&asked) {
            return None;
        }
        let (there, back) = (self.packets(asker), self.packets(asked));
        let toward = self.toward(there).or_else(|| self.toward(back).map(CaptureSide::other))?;
        let sure = self.clock.toward.sure(self.address_pair(there).or_else(|| self.address_pair(back))?);
        let with = TransitContext {
            captures: self.captures,
            join: self.join,
            clock: self.clock,
            window: self.window,
        };
        let transit = |toward: CaptureSide, (a, b): (&[u32], &[u32])| {
            Transit::new(&with, toward, toward.other().of((a, b), (b, a)), conversation.protocol)
        };
        let (forth, home) = (transit(toward, there), transit(toward.other(), back));
        let (client, server) = conversation.sockets();
        let missing = match (there.0.len() + back.0.len(), there.1.len() + back.1.len()) {
            (0, _) => Some(CaptureSide::A),
            (_, 0) => Some(CaptureSide::B),
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
        let answers = match conversation.protocol {
            TCP => forth.turns.syns > 0,
            UDP => ANSWERING_PORTS.contains(&server.port()),
            ICMP | ICMP_SIX => server.port() != 0,
            _ => false,
        };
        let case = ConversationContext {
            answers,
            passes,
            end: self.window.end(),
            round: self.clock.round.unwrap_or(0),
        };
        Some(Conversation {
            conversation: number,
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
        (run(&self.captures.a.seen, &self.a, half), run(&self.captures.b.seen, &self.b, at_b))
    }

    fn address_pair(&self, (a, b): (&[u32], &[u32])) -> Option<u32> {
        let of = |which: CaptureSide, list: &[u32]| {
            self.captures.capture(which).seen.get(*list.first()? as usize).map(|seen| seen.address_pair)
        };
        of(CaptureSide::A, a).or_else(|| of(CaptureSide::B, b))
    }

    fn toward(&self, packets: (&[u32], &[u32])) -> Option<CaptureSide> {
        self.address_pair(packets).map(|address_pair| self.clock.toward.of(address_pair))
    }
}

/// Returns the part of a list that is one half of a conversation.
fn run<'l>(seen: &[PacketRecord], list: &'l [u32], half: u32) -> &'l [u32] {
    let conversation = |at: &u32| seen.get(*at as usize).map_or(u32::MAX, |seen| seen.conversation);
    let start = list.partition_point(|at| conversation(at) < half);
    let end = list.partition_point(|at| conversation(at) <= half);
    list.get(start..end).unwrap_or_default()
}

fn hosts(captures: &Captures, which: CaptureSide) -> BTreeSet<IpAddr> {
    let mut address_pairs = vec![false; captures.address_pairs.len()];
    for seen in &captures.capture(which).seen {
        if let Some(address_pair) = address_pairs.get_mut(seen.address_pair as usize) {
            *address_pair = true;
        }
    }
    captures
        .address_pairs
        .iter()
        .zip(address_pairs)
        .filter(|(_, met)| *met)
        .map(|(net, _)| net.source())
        .collect()
}

/// Counts how many conversations came out how.
pub(super) fn verdicts(
    ends: &ConversationJudge<'_>,
    with: &mut impl FnMut(&Conversation),
) -> BTreeMap<ConversationVerdict, u64> {
    let mut verdicts: BTreeMap<ConversationVerdict, u64> = BTreeMap::new();
    ends.each(|one| {
        *verdicts.entry(one.verdict).or_default() += 1;
        with(&one);
    });
    verdicts
}
