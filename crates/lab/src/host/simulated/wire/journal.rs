//! What machines said to each other because a script or a person made them, for captures.

use std::collections::{BTreeMap, VecDeque};

use super::conversation::{Echo, Script, Transcript, converse, echo, exchange};
use super::path::Line;

/// The most conversations that are remembered; then the oldest are forgotten.
const MAX_CONVERSATIONS: usize = 8_192;

/// What was said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Exchange {
    /// A connection.
    Tcp(Script),
    /// A datagram and its answer.
    Datagram {
        /// What is asked.
        request: Vec<u8>,
        answer: Option<Vec<u8>>,
        /// How long that takes; nanoseconds.
        think: u64,
    },
    Echo(Echo),
}

/// A conversation that can be played again, packet by packet, and is the same each time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conversation {
    /// When it began; microseconds.
    pub(super) at: u64,
    /// Between whom.
    pub(super) line: Line,
    /// What was said.
    pub(super) act: Exchange,
    /// From which what is drawn follows.
    pub(super) seed: u64,
}

impl Conversation {
    /// Plays it.
    pub(super) fn replay(&self) -> Transcript {
        match &self.act {
            Exchange::Tcp(script) => converse(&self.line, script, self.seed),
            Exchange::Datagram { request, answer, think } => {
                exchange(&self.line, request.clone(), answer.clone(), *think, self.seed)
            }
            Exchange::Echo(asked) => echo(&self.line, *asked, self.seed),
        }
    }
}

/// What was said, the latest last.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::host) struct Journal {
    said: VecDeque<Conversation>,
    serial: u64,
    /// Into which files programs in the background print, by machine and number, and how many clients they had.
    servers: BTreeMap<(String, u32), (Option<String>, usize)>,
}

impl Journal {
    /// Returns a number that no other call returns.
    pub(super) fn serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Notes a conversation.
    pub(super) fn note(&mut self, conversation: Conversation) {
        if self.said.len() >= MAX_CONVERSATIONS {
            self.said.pop_front();
        }
        self.said.push_back(conversation);
    }

    /// Remembers into which file a program in the background prints.
    pub(super) fn prints_to(&mut self, machine: &str, pid: u32, path: &str) {
        self.servers.entry((machine.to_owned(), pid)).or_default().0 = Some(path.to_owned());
    }

    /// Returns into which file a program in the background prints.
    pub(super) fn output(&self, machine: &str, pid: u32) -> Option<String> {
        self.servers.get(&(machine.to_owned(), pid))?.0.clone()
    }

    /// Counts the clients that a server had.
    pub(super) fn serves(&mut self, machine: &str, pid: u32, clients: usize) {
        self.servers.entry((machine.to_owned(), pid)).or_default().1 += clients;
    }

    /// Returns how many clients a server had.
    pub(super) fn served(&self, machine: &str, pid: u32) -> usize {
        self.servers.get(&(machine.to_owned(), pid)).map_or(0, |(_, served)| *served)
    }

    /// Returns what was said between two times; microseconds.
    pub(super) fn between(&self, from: u64, to: u64) -> impl Iterator<Item = &Conversation> {
        self.said.iter().filter(move |said| (from..to).contains(&said.at))
    }
}
