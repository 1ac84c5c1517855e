//! The network as one program on one machine has it.

use std::net::IpAddr;
use std::time::Duration;

use super::chance::Chance;
use super::conversation::{Script, Transcript, Turn};
use super::count::{count, much};
use super::journal::{Conversation, Exchange};
use super::path::{Call, Line, NameLookup, Unresolved, ask, line, nanos, resolve};
use crate::host::simulated::world::World;
use crate::host::stage::Protocol;

/// One second in nanoseconds.
pub(super) const SECOND: u64 = 1_000_000_000;

/// The network under a program, and the time that passed since it began.
#[derive(Debug)]
pub(super) struct Net<'a> {
    pub(super) world: &'a mut World,
    pub(super) machine: &'a str,
    /// What it draws.
    pub(super) chance: Chance,
    /// How long it runs; nanoseconds.
    pub(super) passed: u64,
}

impl<'a> Net<'a> {
    /// Opens the network for a program.
    pub(super) fn new(world: &'a mut World, machine: &'a str, program: &str) -> Self {
        let serial = world.journal.serial();
        let now = u64::try_from(world.now.as_millis()).unwrap_or(0);
        let chance = Chance::of(world.seed, &[machine, program], &[serial, now]);
        Self { world, machine, chance, passed: 0 }
    }

    /// How long it runs.
    pub(super) fn took(&self) -> Duration {
        Duration::from_nanos(self.passed)
    }

    /// Chooses a port of its own.
    pub(super) fn port(&mut self) -> u16 {
        u16::try_from(32_768 + self.chance.below(28_232)).unwrap_or(40_000)
    }

    /// Examines the path to somebody.
    pub(super) fn line(&mut self, to: IpAddr, protocol: Protocol, port: u16) -> Line {
        let own_port = if protocol == Protocol::Icmp { 0 } else { self.port() };
        let call = Call { machine: self.machine.to_owned(), to, protocol, port, own_port, served: false };
        line(self.world, &call)
    }

    /// Examines the path to somebody who is known to listen.
    pub(super) fn served(&mut self, to: IpAddr, protocol: Protocol, port: u16) -> Line {
        let own_port = self.port();
        let call = Call { machine: self.machine.to_owned(), to, protocol, port, own_port, served: true };
        line(self.world, &call)
    }

    /// Sends something over a path that is known, and records it; this takes no simulated time.
    pub(super) fn say(&mut self, line: &Line, act: Exchange) -> Transcript {
        let now = u64::try_from(self.world.now.as_millis()).unwrap_or(0);
        let at = now.saturating_mul(1_000).saturating_add(self.passed / 1_000);
        let conversation = Conversation { at, line: line.clone(), act, seed: self.chance.next() };
        let transcript = conversation.replay();
        count(self.world, line, transcript.counts);
        self.world.journal.note(conversation);
        transcript
    }

    /// Counts what is carried beyond the packets that are played.
    pub(super) fn carried(&mut self, line: &Line, bytes: u64) {
        count(self.world, line, much(line, bytes));
    }

    /// Opens a connection, asks, hears, closes.
    pub(super) fn tcp(
        &mut self,
        to: IpAddr,
        port: u16,
        turns: Vec<Turn>,
        patience: u64,
    ) -> (Line, Transcript) {
        let line = self.line(to, Protocol::Tcp, port);
        let script = Script { turns, patience, most: 8_000 };
        let transcript = self.say(&line, Exchange::Tcp(script));
        (line, transcript)
    }

    /// Finds the address of a name, and lets the time pass that this takes.
    pub(super) fn resolve(&mut self, name: &str) -> Result<IpAddr, Unresolved> {
        let own_port = self.port();
        match resolve(self.world, self.machine, name, own_port) {
            Ok((address, took, asked)) => {
                if let Some(asked) = asked {
                    self.asked(&asked, name, 1);
                }
                self.passed += nanos(took);
                Ok(address)
            }
            Err(unresolved) => {
                self.passed += nanos(unresolved.took);
                Err(unresolved)
            }
        }
    }

    /// Asks a name server.
    pub(super) fn ask(&mut self, server: Option<IpAddr>, name: &str, kind: u16) -> NameLookup {
        let own_port = self.port();
        let asked = ask(self.world, self.machine, server, name, own_port);
        self.asked(&asked, name, kind);
        asked
    }

    fn asked(&mut self, asked: &NameLookup, name: &str, kind: u16) {
        let id = u16::try_from(self.chance.below(0xffff)).unwrap_or(1);
        let (request, answer) = super::capture::question(id, name, kind, asked.code, &asked.found);
        self.say(&asked.line, Exchange::Datagram { request, answer, think: 300_000 });
    }
}
