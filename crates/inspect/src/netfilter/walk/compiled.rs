//! A ruleset made ready once and asked many times.

use std::borrow::Cow;

use super::answer::{Answer, PathResults};
use super::engine::{Engine, Limits};
use super::packet::{Hook, Packet, PacketError, State};
use super::run::End;
use super::start::starts;
use crate::netfilter::logic::{Field, Names, Program, compile};
use crate::netfilter::ruleset::{Family, Format, Ruleset};

const LIMITS: Limits = Limits { steps: 4_000_000, ends: 4_096 };

/// Says what becomes of a packet at its hook, with every rule that was tried.
///
/// # Errors
/// Fails where the ruleset judges no packet of that family.
pub fn walk(ruleset: &Ruleset, packet: &Packet) -> Result<Answer, PacketError> {
    Compiled::new(ruleset).trace(packet)
}

/// A ruleset that is ready to judge packets: rules that a packet cannot match are not even asked.
///
/// ```
/// use ghost_inspect::netfilter::{Compiled, Packet, Verdict, read};
///
/// let rules = read("*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 5001 -j DROP\nCOMMIT\n")?;
/// let compiled = Compiled::new(&rules);
/// let packet = Packet::parse("input", "tcp", "10.0.0.2", "10.0.0.1")?;
/// assert_eq!(compiled.walk(&packet.clone().dport(5001))?.verdict, Verdict::Drop);
/// assert_eq!(compiled.walk(&packet.dport(22))?.verdict, Verdict::Accept);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Compiled<'a> {
    ruleset: Cow<'a, Ruleset>,
    program: Program,
    names: Names,
    loopback: u128,
    /// Whether the text itself says for which family it is.
    has_family: bool,
}

impl<'a> Compiled<'a> {
    /// Makes a ruleset ready.
    #[must_use]
    pub fn new(ruleset: &'a Ruleset) -> Self {
        Self::of(Cow::Borrowed(ruleset))
    }

    /// Makes a ruleset ready and keeps it.
    #[must_use]
    pub fn owning(ruleset: Ruleset) -> Compiled<'static> {
        Compiled::of(Cow::Owned(ruleset))
    }

    fn of(ruleset: Cow<'a, Ruleset>) -> Self {
        let mut names = Names::of(&[&ruleset]);
        let program = compile(&ruleset, &mut names);
        let loopback = names.device("lo");
        let has_family = ruleset.format == Format::Save && names_a_family(&ruleset);
        Self { ruleset, program, names, loopback, has_family }
    }

    /// Returns the ruleset.
    #[must_use]
    pub fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }

    /// Says what becomes of a packet at its hook, without the rules that were tried.
    ///
    /// # Errors
    /// Fails where the ruleset judges no packet of that family.
    pub fn walk(&self, packet: &Packet) -> Result<Answer, PacketError> {
        self.ask(packet, false)
    }

    /// Says what becomes of a packet at its hook, with every rule that was tried.
    ///
    /// # Errors
    /// Fails where the ruleset judges no packet of that family.
    pub fn trace(&self, packet: &Packet) -> Result<Answer, PacketError> {
        self.ask(packet, true)
    }

    fn ask(&self, packet: &Packet, trace: bool) -> Result<Answer, PacketError> {
        let six = packet.src.is_ipv6();
        if self.has_family && (self.ruleset.family == "ipv6") != six {
            let wanted = if six {
                "an IPv4 address: these rules are for IPv4 alone"
            } else {
                "an IPv6 address: these rules are for IPv6 alone"
            };
            return Err(PacketError::new("src", &packet.src.to_string(), wanted));
        }
        let engine = Engine::new(&self.program, packet.hook, LIMITS, self.loopback).tracing(trace);
        let mut budget = LIMITS.steps;
        let mut ends = Vec::new();
        let mut complete = true;
        let paths = starts(packet, &self.names);
        let by_state = paths.len() > 1;
        for path in paths {
            let (more, all) = engine.ends(path, &mut budget);
            ends.extend(more);
            complete &= all;
        }
        // Of several paths to one verdict the one that most packets take is reported.
        ends.sort_by_key(|end| self.oddities(packet, end));
        let results = PathResults { ruleset: &self.ruleset, program: &self.program, names: &self.names };
        Ok(results.answer(&ends, complete, by_state))
    }
}

impl Compiled<'_> {
    /// Counts what is odd about a path: what comes in goes to one of the host's own addresses, and most of what belongs to a
    /// TCP connection carries an ACK and no other flag.
    fn oddities(&self, packet: &Packet, end: &End) -> usize {
        let own = self.names.own_destination();
        let foreign = packet.hook == Hook::Input
            && own.is_some_and(|own| end.path.atoms().any(|(atom, holds)| atom == own && !holds));
        let flags = end.path.entry(Field::TcpFlags);
        let flagged = packet.protocol == 6
            && packet.state != Some(State::New)
            && flags.is_some_and(|flags| !flags.contains(16));
        usize::from(foreign) + usize::from(flagged)
    }
}

/// Whether anything in the text says which family it is for.
fn names_a_family(ruleset: &Ruleset) -> bool {
    ruleset.tables.iter().any(|table| table.family != Family::Inet)
}
