//! Who asked what, and what came back.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use super::message::{Message, rcode};
use crate::pcap::figure::Spread;
use crate::pcap::hash::Map;
use crate::pcap::tcp::Ends;

/// How many questions may wait for an answer at a time.
const MOST_OPEN: usize = 65_536;
/// How many servers and names are told apart.
const MOST_NAMES: usize = 2048;
const MOST_SERVERS: usize = 1024;
/// How many frames are kept as evidence.
const EVIDENCE: usize = 5;

/// How long an answer may take, in nanoseconds: resolvers ask again after that at the earliest.
const PATIENCE: u64 = 1_000_000_000;

/// A question between two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    ends: Ends,
    asker: bool,
    id: u16,
    question: u64,
}

#[derive(Debug, Clone)]
struct Open {
    count: u32,
    first: u64,
    frame: u64,
    born: u64,
}

/// What is known of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Server {
    /// Questions to it.
    pub(crate) queries: u64,
    /// Questions that it never answered, though there was time.
    pub(crate) unanswered: u64,
    /// The first frames of those.
    pub(crate) unanswered_frames: Vec<u64>,
    /// How long its answers took, from the first question on.
    pub(crate) latency: Spread,
}

/// What came of a name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failure {
    /// How often.
    pub(crate) count: u64,
    /// The first answers that said so.
    pub(crate) frames: Vec<u64>,
    /// Names, with how often each.
    pub(crate) names: BTreeMap<String, u64>,
}

/// All of DNS.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Frames with a question.
    pub(crate) queries: u64,
    /// Frames with an answer.
    pub(crate) responses: u64,
    /// Questions that were asked again before an answer.
    pub(crate) retries: u64,
    /// Answers that did not fit.
    pub(crate) truncated: u64,
    /// Questions of each type; only the common ones have a place of their own.
    pub(crate) kinds: BTreeMap<u16, u64>,
    /// Response codes.
    pub(crate) rcodes: BTreeMap<&'static str, u64>,
    /// How long answers took.
    pub(crate) latency: Spread,
    /// Servers.
    pub(crate) servers: BTreeMap<IpAddr, Server>,
    /// Answers that a name does not exist.
    pub(crate) missing: Failure,
    /// Answers that the server failed or refused.
    pub(crate) failed: Failure,
    /// Questions that nothing answered, of those that are no longer waited for.
    unanswered: u64,
    open: Map<Key, Open>,
    age: VecDeque<(Key, u64)>,
    born: u64,
}

/// Where a message was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    /// Between whom.
    pub(crate) ends: Ends,
    /// The second end sent it.
    pub(crate) flipped: bool,
    /// In which frame.
    pub(crate) frame: u64,
    /// When.
    pub(crate) time: u64,
}

impl Tally {
    /// Takes a message.
    pub(crate) fn take(&mut self, message: &Message<'_>, at: At) {
        let question = message.question.map_or(0, |question| question.mark());
        let asker = at.flipped != message.response;
        let key = Key { ends: at.ends, asker, id: message.id, question };
        if message.response { self.answered(message, key, at) } else { self.asked(message, key, at) }
    }

    fn asked(&mut self, message: &Message<'_>, key: Key, at: At) {
        self.queries += 1;
        if let Some(question) = message.question
            && (self.kinds.len() < 64 || self.kinds.contains_key(&question.kind))
        {
            *self.kinds.entry(question.kind).or_default() += 1;
        }
        if let Some(server) = self.server(key) {
            server.queries += 1;
        }
        let born = self.born;
        let open = self.open.entry(key).or_insert(Open { count: 0, first: at.time, frame: at.frame, born });
        open.count += 1;
        if open.count > 1 {
            self.retries += 1;
            return;
        }
        self.born += 1;
        self.age.push_back((key, born));
        while self.open.len() > MOST_OPEN || self.age.len() > 2 * MOST_OPEN {
            let Some((old, born)) = self.age.pop_front() else {
                return;
            };
            if self.open.get(&old).is_some_and(|open| open.born == born)
                && let Some(open) = self.open.remove(&old)
            {
                self.give_up(old, &open, u64::MAX);
            }
        }
    }

    fn answered(&mut self, message: &Message<'_>, key: Key, at: At) {
        self.responses += 1;
        self.truncated += u64::from(message.truncated);
        *self.rcodes.entry(rcode(message.rcode)).or_default() += 1;
        let failure = match message.rcode {
            3 => Some(&mut self.missing),
            2 | 5 => Some(&mut self.failed),
            _ => None,
        };
        if let Some(failure) = failure {
            failure.add(message, at.frame);
        }
        let Some(open) = self.open.remove(&key) else {
            return;
        };
        if let Some(took) = at.time.checked_sub(open.first) {
            self.latency.add(took);
            if let Some(server) = self.server(key) {
                server.latency.add(took);
            }
        }
    }

    fn server(&mut self, key: Key) -> Option<&mut Server> {
        let (first, second) = key.ends.sockets();
        let address = if key.asker { first.ip() } else { second.ip() };
        if self.servers.len() >= MOST_SERVERS && !self.servers.contains_key(&address) {
            return None;
        }
        Some(self.servers.entry(address).or_default())
    }

    /// What was asked so late that an answer may still have been on its way is held against nobody.
    fn give_up(&mut self, key: Key, open: &Open, end: u64) {
        self.unanswered += u64::from(open.count);
        if end.saturating_sub(open.first) < PATIENCE {
            return;
        }
        if let Some(server) = self.server(key) {
            server.unanswered += u64::from(open.count);
            if server.unanswered_frames.len() < EVIDENCE {
                server.unanswered_frames.push(open.frame);
            }
        }
    }

    /// Ends the waiting at a time: returns how many questions nothing answered.
    pub(crate) fn finish(&mut self, end: u64) -> u64 {
        let mut left: Vec<(Key, Open)> = self.open.drain().collect();
        left.sort_by_key(|(_, open)| open.frame);
        for (key, open) in left {
            self.give_up(key, &open, end);
        }
        self.unanswered
    }
}

impl Failure {
    fn add(&mut self, message: &Message<'_>, frame: u64) {
        self.count += 1;
        if self.frames.len() < EVIDENCE {
            self.frames.push(frame);
        }
        let Some(question) = message.question else {
            return;
        };
        let name = question.text();
        if self.names.len() < MOST_NAMES || self.names.contains_key(&name) {
            *self.names.entry(name).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcap::layers::Net;

    #[test]
    fn a_flood_of_questions_is_remembered_in_bounded_memory() {
        let mut tally = Tally::default();
        for number in 0..200_000_u64 {
            let net = Net::Four([10, 0, 0, 1], [10, 0, 0, 53]);
            let (ends, flipped) = Ends::new(net, (0x8000 | (number >> 16) as u16, 53));
            let id = number as u16;
            let message =
                Message { id, response: false, truncated: false, rcode: 0, answers: 0, question: None };
            tally.take(&message, At { ends, flipped, frame: number + 1, time: number });
        }
        assert!(tally.open.len() <= MOST_OPEN && tally.age.len() <= 2 * MOST_OPEN);
        assert_eq!(tally.finish(u64::MAX), 200_000);
    }
}
