//! A TCP connection from its first packet to its last: who sends what when.

use std::collections::BTreeMap;

use super::endpoint::Endpoint;
use super::link::{Delivery, Link};
use super::seen::{CapturedPacket, PacketKind, Segment, Transcript};
use crate::host::simulated::wire::chance::Chance;
use crate::host::simulated::wire::path::{DropResponse, Line};

pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const RST: u8 = 4;
pub(super) const PSH: u8 = 8;
pub(super) const ACK: u8 = 16;

/// How long an acknowledgement may wait for something to go along with.
pub(super) const DELAYED_ACK_NANOS: u64 = 40_000_000;
/// A SYN is repeated so often.
const SYN_TRIES: u32 = 6;
/// Whoever does not hear gives up after so many tries.
const MAX_TRIES: u32 = 15;
/// The most packets of a connection that are played; the rest is left out.
pub(in crate::host::simulated::wire) const MAX_TCP_PACKETS: usize = 40_000;

#[derive(Debug, Clone)]
pub(super) enum Event {
    Comes { near: bool, segment: Segment },
    Alarm { near: bool, number: u64 },
    Reminder { near: bool, number: u64 },
    Answer(usize),
    PathError { near: bool, narrow: Option<u32> },
}

/// Plays a connection.
pub(in crate::host::simulated::wire) fn converse(line: &Line, script: &Script, seed: u64) -> Transcript {
    let mut chance = Chance::new(seed);
    let narrow = line.narrow.map(|(narrow, _)| narrow);
    let mut chance_back = Chance::new(chance.next());
    let clock = (chance.below(1 << 30), chance_back.below(1 << 30));
    let most = |one: u32, other: u32| u64::from(one.min(other).max(68).saturating_sub(52));
    let size = most(line.near.mtu, line.far.mtu);
    let mut tcp = Tcp {
        line,
        script,
        there: Link::new(&line.there, narrow, chance),
        back: Link::new(&line.back, narrow, chance_back),
        near: Endpoint::new(size),
        far: Endpoint::new(size),
        clock,
        turn: 0,
        answered: 0,
        open: true,
        events: BTreeMap::new(),
        count: 0,
        transcript: Transcript::default(),
    };
    tcp.begin();
    tcp.run();
    tcp.transcript.counts = [tcp.there.count, tcp.back.count];
    tcp.transcript
}

pub(super) struct Tcp<'a> {
    pub(super) line: &'a Line,
    pub(super) script: &'a Script,
    there: Link,
    back: Link,
    pub(super) near: Endpoint,
    pub(super) far: Endpoint,
    clock: (u64, u64),
    pub(super) turn: usize,
    pub(super) answered: usize,
    pub(super) open: bool,
    events: BTreeMap<(u64, u64), Event>,
    count: u64,
    pub(super) transcript: Transcript,
}

impl Tcp<'_> {
    fn begin(&mut self) {
        match self.there.own_refusal() {
            Some(DropResponse::Reset | DropResponse::Unreachable(_)) => {
                self.transcript.outcome.refused = Some(20_000);
                self.open = false;
            }
            Some(DropResponse::Silent) | None => self.emit(true, (0, 0), SYN, 0),
        }
    }

    fn run(&mut self) {
        let most = self.script.most.clamp(1, MAX_TCP_PACKETS);
        while self.open && self.transcript.seen.len() < most {
            let Some(((now, _), event)) = self.events.pop_first() else { break };
            if now > self.script.patience {
                self.transcript.outcome.gave_up = Some(self.script.patience);
                return;
            }
            match event {
                Event::Comes { near, segment } => self.comes(near, &segment, now),
                Event::Alarm { near, number } => self.alarm(near, number, now),
                Event::Reminder { near, number } => {
                    let end = self.end(near);
                    if end.reminder == number && end.owes > 0 {
                        self.acknowledge(near, now);
                    }
                }
                Event::Answer(turn) => {
                    let bytes = self.script.turns.get(turn).map_or(0, |turn| turn.answer);
                    self.far.written += bytes;
                    self.push(false, now);
                }
                Event::PathError { near, narrow } => self.on_path_error(near, narrow, now),
            }
        }
        let result = &mut self.transcript.outcome;
        if result.done.is_none() && result.refused.is_none() && result.connected.is_none() {
            result.gave_up = Some(self.script.patience);
        }
    }

    pub(super) fn end(&mut self, near: bool) -> &mut Endpoint {
        if near { &mut self.near } else { &mut self.far }
    }

    pub(super) fn plan(&mut self, at: u64, event: Event) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }

    /// Sends a segment.
    pub(super) fn emit(&mut self, near: bool, (seq, len): (u64, u32), flags: u8, now: u64) {
        let announced = if near { self.line.near.mtu } else { self.line.far.mtu };
        let own = if near { self.clock.0 } else { self.clock.1 };
        let end = self.end(near);
        let occupies = u64::from(len) + u64::from(flags & (SYN | FIN) != 0);
        let segment = Segment {
            seq,
            len,
            ack: if flags & ACK != 0 { end.wants } else { 0 },
            flags,
            sacked: end.beyond.iter().copied().take(3).collect(),
            most: u16::try_from(announced.saturating_sub(40)).unwrap_or(u16::MAX),
            clocks: (own + now / 1_000_000, end.peer_clock),
        };
        end.owes = 0;
        if occupies > 0 && flags & RST == 0 {
            if seq >= end.highest && end.probe.is_none() {
                end.probe = Some((seq + occupies, now));
            }
            end.next = end.next.max(seq + occupies);
            end.highest = end.highest.max(seq + occupies);
            self.watch(near, now);
        }
        let bytes = len + 52 + if flags & SYN != 0 { 8 } else { 0 };
        let link = if near { &mut self.there } else { &mut self.back };
        let sent = link.send(now, bytes);
        for sent in sent {
            self.sent(near, &segment, sent);
        }
    }

    /// Notes a packet that is in flight.
    fn sent(&mut self, near: bool, segment: &Segment, sent: Delivery) {
        let (left, came) = (Some(sent.left), sent.came);
        let (near_at, far_at) = if near { (left, came) } else { (came, left) };
        let what = PacketKind::Tcp(segment.clone());
        self.transcript.seen.push(CapturedPacket {
            near_sent: near,
            near: near_at,
            far: far_at,
            broken: sent.broken,
            what,
        });
        let about = self.transcript.seen.len() - 1;
        if let (true, Some((narrow, _))) = (sent.too_large, self.line.narrow) {
            let at = sent.left + 90_000;
            self.error(near, at, 4, Some(narrow), about);
        }
        let Some(came) = sent.came else { return };
        if sent.received {
            self.plan(came, Event::Comes { near: !near, segment: segment.clone() });
            return;
        }
        let link = if near { &self.there } else { &self.back };
        match link.refusal().filter(|_| !sent.broken) {
            Some(DropResponse::Reset) => self.reset(!near, segment, came + 15_000),
            Some(DropResponse::Unreachable(code)) => self.refuse(near, about, came + 15_000, code),
            Some(DropResponse::Silent) | None => {}
        }
    }

    /// Answers a segment with a reset.
    pub(super) fn reset(&mut self, near: bool, segment: &Segment, now: u64) {
        let wants = segment.seq + u64::from(segment.len) + u64::from(segment.flags & (SYN | FIN) != 0);
        self.end(near).wants = wants;
        self.emit(near, (segment.ack, 0), RST | ACK, now);
    }

    /// Answers a segment with an ICMP error from its receiver.
    fn refuse(&mut self, near: bool, about: usize, now: u64, code: u8) {
        let link = if near { &mut self.back } else { &mut self.there };
        for sent in link.send(now, 88) {
            let (left, came) = (Some(sent.left), sent.came);
            let (near_at, far_at) = if near { (came, left) } else { (left, came) };
            let what = PacketKind::Error { code, mtu: 0, about };
            self.transcript.seen.push(CapturedPacket {
                near_sent: !near,
                near: near_at,
                far: far_at,
                broken: sent.broken,
                what,
            });
            if let (Some(came), true) = (sent.came, sent.received) {
                self.plan(came, Event::PathError { near, narrow: None });
            }
        }
    }

    /// A router between tells a sender.
    fn error(&mut self, near: bool, at: u64, code: u8, narrow: Option<u32>, about: usize) {
        let mtu = narrow.and_then(|narrow| u16::try_from(narrow).ok()).unwrap_or(0);
        let what = PacketKind::Error { code, mtu, about };
        let (near_at, far_at) = if near { (Some(at), None) } else { (None, Some(at)) };
        self.transcript.seen.push(CapturedPacket {
            near_sent: !near,
            near: near_at,
            far: far_at,
            broken: false,
            what,
        });
        self.plan(at, Event::PathError { near, narrow });
    }

    fn on_path_error(&mut self, near: bool, narrow: Option<u32>, now: u64) {
        match narrow {
            None => {
                if near && self.transcript.outcome.connected.is_none() {
                    self.transcript.outcome.refused = Some(now);
                    self.open = false;
                }
            }
            Some(narrow) => {
                let heeded = self.line.narrow.is_some_and(|(_, heeded)| heeded);
                let fits = u64::from(narrow.saturating_sub(52).max(16));
                if heeded && self.end(near).most > fits {
                    let end = self.end(near);
                    end.most = fits;
                    end.next = end.una;
                    self.push(near, now);
                }
            }
        }
    }

    /// Sends whatever may be sent.
    pub(super) fn push(&mut self, near: bool, now: u64) {
        let mut at = now;
        loop {
            let end = self.end(near);
            let Some((seq, len, last)) = end.choose() else { break };
            end.next = seq + u64::from(len) + u64::from(last);
            let done = seq + u64::from(len) > end.written;
            let flags = if last {
                FIN | ACK
            } else if done {
                PSH | ACK
            } else {
                ACK
            };
            self.emit(near, (seq, len), flags, at);
            at += 900;
            if self.transcript.seen.len() >= MAX_TCP_PACKETS {
                break;
            }
        }
    }

    /// Sets the alarm anew.
    pub(super) fn watch(&mut self, near: bool, now: u64) {
        let end = self.end(near);
        end.alarm += 1;
        let (number, at) = (end.alarm, now.saturating_add(end.wait()));
        self.plan(at, Event::Alarm { near, number });
    }

    fn alarm(&mut self, near: bool, number: u64, now: u64) {
        let end = self.end(near);
        if end.alarm != number || end.una >= end.highest {
            return;
        }
        let tries = if end.una == 0 { SYN_TRIES } else { MAX_TRIES };
        if end.tries >= tries {
            self.open = false;
            if near {
                self.transcript.outcome.gave_up = Some(now);
            }
            return;
        }
        end.waited();
        if end.una == 0 {
            let flags = if near { SYN } else { SYN | ACK };
            self.emit(near, (0, 0), flags, now);
        } else {
            self.push(near, now);
        }
    }

    pub(super) fn acknowledge(&mut self, near: bool, now: u64) {
        let seq = self.end(near).highest;
        self.emit(near, (seq, 0), ACK, now);
    }
}

/// What both programs do.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::host::simulated::wire) struct Script {
    /// What is asked and answered, one after the other.
    pub(in crate::host::simulated::wire) turns: Vec<Turn>,
    /// After so long the one who began goes away; nanoseconds.
    pub(in crate::host::simulated::wire) patience: u64,
    /// The most packets.
    pub(in crate::host::simulated::wire) most: usize,
}

/// A question and its answer, in bytes; times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::host::simulated::wire) struct Turn {
    /// The question.
    pub(in crate::host::simulated::wire) request: u64,
    /// How long the other side thinks.
    pub(in crate::host::simulated::wire) think: u64,
    pub(in crate::host::simulated::wire) answer: u64,
}
