//! Who asked what, and what came back.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use super::client::{Clients, FailedNames};
use super::message::{Message, rcode};
use super::parent::ParentDomains;
use crate::hash::Map;
use crate::histogram::Histogram;
use crate::tcp::EndpointPair;

/// How many questions may wait for an answer at a time.
const MAX_OPEN_QUERIES: usize = 65_536;
/// Maximum number of tracked servers.
const MAX_SERVERS: usize = 1024;
/// Maximum number of evidence frames.
const MAX_EVIDENCE_FRAMES: usize = 5;

/// The type that asks for everything.
const TYPE_ANY: u16 = 255;

/// How long an answer may take, in nanoseconds: resolvers ask again after that at the earliest.
const ANSWER_TIMEOUT: u64 = 1_000_000_000;

/// From so many nanoseconds on an answer is slow.
pub(crate) const SLOW_ANSWER: u64 = 200_000_000;
/// Nobody waits so long before the question is asked again: after that it is another one.
const MAX_RETRY_INTERVAL: u64 = 15_000_000_000;
/// How many answers that did not fit are remembered until they are asked for by TCP.
const MAX_TRUNCATED: usize = 4096;

/// A question between two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    ends: EndpointPair,
    asker: bool,
    id: u16,
    question: u64,
}

#[derive(Debug, Clone)]
struct OpenQuery {
    count: u32,
    first: u64,
    last: u64,
    frame: u64,
    born: u64,
}

/// What is known of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct DnsServer {
    /// Questions to it.
    pub(crate) queries: u64,
    /// Questions that it never answered, though there was time.
    pub(crate) unanswered: u64,
    /// First frames of those.
    pub(crate) unanswered_frames: Vec<u64>,
    /// Questions that were asked again before an answer.
    pub(crate) retries: u64,
    /// Questions about which somebody complained.
    pub(crate) refused: u64,
    /// How long its answers took, from the first question on.
    pub(crate) latency: Histogram,
    /// Answers to questions asked once that took 200 ms or longer.
    pub(crate) slow: u64,
    /// First frames of those.
    pub(crate) slow_frames: Vec<u64>,
}

/// All of DNS.
#[derive(Debug, Clone, Default)]
pub(crate) struct DnsStats {
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
    pub(crate) latency: Histogram,
    pub(crate) servers: BTreeMap<IpAddr, DnsServer>,
    /// Answers that a name does not exist.
    pub(crate) nonexistent: FailedNames,
    /// Answers that the server failed or refused.
    pub(crate) failed: FailedNames,
    pub(crate) clients: Clients,
    /// Domains.
    pub(crate) parents: ParentDomains,
    /// Answers that did not fit, by client, server and question, with their frames, as long as nobody asked by TCP.
    pub(crate) cut: Map<(IpAddr, IpAddr, u64), u64>,
    /// Those that were asked for by TCP, or fitted in the end.
    pub(crate) mended: u64,
    /// Servers for which there was no room: messages.
    pub(crate) left_out: u64,
    /// Questions that nothing answered, of those that are no longer waited for.
    unanswered: u64,
    open: Map<Key, OpenQuery>,
    age: VecDeque<(Key, u64)>,
    born: u64,
}

/// Where a message was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageContext {
    /// Between whom.
    pub(crate) ends: EndpointPair,
    /// The second end sent it.
    pub(crate) flipped: bool,
    /// In which frame.
    pub(crate) frame: u64,
    /// When.
    pub(crate) time: u64,
    /// Over TCP.
    pub(crate) stream: bool,
}

impl DnsStats {
    /// Takes a message.
    pub(crate) fn take(&mut self, message: &Message<'_>, at: MessageContext) {
        let question = message.question.map_or(0, |question| question.mark());
        let asker = at.flipped != message.response;
        let key = Key { ends: at.ends, asker, id: message.id, question };
        if message.response { self.answered(message, key, at) } else { self.asked(message, key, at) }
    }

    fn asked(&mut self, message: &Message<'_>, key: Key, at: MessageContext) {
        self.queries += 1;
        if let Some(question) = message.question
            && (self.kinds.len() < 64 || self.kinds.contains_key(&question.kind))
        {
            *self.kinds.entry(question.kind).or_default() += 1;
        }
        let (client, address) = key.clients();
        if let Some(question) = message.question {
            self.parents.asked(&question, client, at.frame);
            if question.kind == TYPE_ANY
                && let Some(client) = self.clients.client(client)
            {
                client.any += 1;
                if client.any_frames.len() < MAX_EVIDENCE_FRAMES {
                    client.any_frames.push(at.frame);
                }
            }
        }
        if at.stream && self.cut.remove(&(client, address, key.question)).is_some() {
            self.mended += 1;
        }
        let born = self.born;
        let fresh = OpenQuery { count: 0, first: at.time, last: at.time, frame: at.frame, born };
        let open = self.open.entry(key).or_insert(fresh);
        open.count += 1;
        let again = open.count > 1;
        let anew = again && at.time.saturating_sub(open.last) > MAX_RETRY_INTERVAL;
        open.last = at.time;
        if anew {
            open.first = at.time;
        }
        if let Some(server) = self.server(key) {
            server.queries += 1;
            server.retries += u64::from(again && !anew);
        }
        if again {
            self.retries += u64::from(!anew);
            return;
        }
        self.born += 1;
        self.age.push_back((key, born));
        while self.open.len() > MAX_OPEN_QUERIES || self.age.len() > 2 * MAX_OPEN_QUERIES {
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

    fn answered(&mut self, message: &Message<'_>, key: Key, at: MessageContext) {
        self.responses += 1;
        self.truncated += u64::from(message.truncated);
        *self.rcodes.entry(rcode(message.rcode)).or_default() += 1;
        let failure = match message.rcode {
            3 => Some(&mut self.nonexistent),
            2 | 5 => Some(&mut self.failed),
            _ => None,
        };
        if let Some(failure) = failure {
            failure.add(message, at.frame);
        }
        let (client, server) = key.clients();
        if let Some(question) = message.question {
            self.parents.answered(&question, message.size);
            self.clients.answered(client, &question, message.rcode, (at.frame, at.time));
        }
        let place = (client, server, key.question);
        if message.truncated && !at.stream {
            if self.cut.len() < MAX_TRUNCATED || self.cut.contains_key(&place) {
                self.cut.insert(place, at.frame);
            }
        } else if self.cut.remove(&place).is_some() {
            self.mended += 1;
        }
        let Some(open) = self.open.remove(&key) else {
            if let Some(client) = self.clients.client(client) {
                client.unasked.0 += 1;
                client.unasked.1 += message.size as u64;
                if client.unasked_frames.len() < MAX_EVIDENCE_FRAMES {
                    client.unasked_frames.push(at.frame);
                }
            }
            return;
        };
        if let Some(took) = at.time.checked_sub(open.first) {
            self.latency.add(took);
            if let Some(server) = self.server(key) {
                server.latency.add(took);
                // What was asked again was lost rather than slow.
                if took >= SLOW_ANSWER && open.count == 1 {
                    server.slow += 1;
                    if server.slow_frames.len() < MAX_EVIDENCE_FRAMES {
                        server.slow_frames.push(at.frame);
                    }
                }
            }
        }
    }

    /// Takes a question that an error quotes.
    pub(crate) fn refused(&mut self, message: &Message<'_>, at: MessageContext) {
        let question = message.question.map_or(0, |question| question.mark());
        let key = Key { ends: at.ends, asker: at.flipped, id: message.id, question };
        if !message.response
            && self.open.contains_key(&key)
            && let Some(server) = self.server(key)
        {
            server.refused += 1;
        }
    }

    fn server(&mut self, key: Key) -> Option<&mut DnsServer> {
        let (_, address) = key.clients();
        if self.servers.len() >= MAX_SERVERS && !self.servers.contains_key(&address) {
            self.left_out += 1;
            return None;
        }
        Some(self.servers.entry(address).or_default())
    }

    /// A question so late that its answer may still have been in transit counts as neither answered nor unanswered.
    fn give_up(&mut self, key: Key, open: &OpenQuery, end: u64) {
        self.unanswered += u64::from(open.count);
        if end.saturating_sub(open.first) < ANSWER_TIMEOUT {
            return;
        }
        if let Some(server) = self.server(key) {
            server.unanswered += u64::from(open.count);
            if server.unanswered_frames.len() < MAX_EVIDENCE_FRAMES {
                server.unanswered_frames.push(open.frame);
            }
        }
    }

    /// Ends the waiting at a time: returns how many questions nothing answered.
    pub(crate) fn finish(&mut self, end: u64) -> u64 {
        self.clients.finish();
        let mut left: Vec<(Key, OpenQuery)> = self.open.drain().collect();
        left.sort_by_key(|(_, open)| open.frame);
        for (key, open) in left {
            self.give_up(key, &open, end);
        }
        self.unanswered
    }
}

impl Key {
    /// Returns who asks, and who is asked.
    fn clients(&self) -> (IpAddr, IpAddr) {
        let (first, second) = self.ends.sockets();
        if self.asker { (second.ip(), first.ip()) } else { (first.ip(), second.ip()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::IpPair;

    #[test]
    fn a_flood_of_questions_is_remembered_in_bounded_memory() {
        let mut tally = DnsStats::default();
        for number in 0..200_000_u64 {
            let net = IpPair::Four([10, 0, 0, 1], [10, 0, 0, 53]);
            let (ends, flipped) = EndpointPair::new(net, (0x8000 | (number >> 16) as u16, 53));
            let message = Message {
                id: number as u16,
                response: false,
                truncated: false,
                rcode: 0,
                answers: 0,
                size: 12,
                question: None,
            };
            tally.take(
                &message,
                MessageContext { ends, flipped, frame: number + 1, time: number, stream: false },
            );
        }
        assert!(tally.open.len() <= MAX_OPEN_QUERIES && tally.age.len() <= 2 * MAX_OPEN_QUERIES);
        assert_eq!(tally.finish(u64::MAX), 200_000);
    }
}
