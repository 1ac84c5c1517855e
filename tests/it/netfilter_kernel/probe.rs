//! The packets that are sent, and how they are described.

use std::net::IpAddr;

use ghost_inspect::netfilter::{Hook, Packet, State};

use super::place::{From, Place, ask};
use super::wire::{Carried, packet};
use crate::random::Random;

/// How a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Through,
    Out,
}

impl Direction {
    /// The hooks, in the order in which the packet meets them.
    pub(super) fn hooks(self) -> &'static [Hook] {
        match self {
            Self::In => &[Hook::Prerouting, Hook::Input],
            Self::Through => &[Hook::Prerouting, Hook::Forward, Hook::Postrouting],
            Self::Out => &[Hook::Output, Hook::Postrouting],
        }
    }
}

/// A packet.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    pub(super) direction: Direction,
    from: From,
    src: IpAddr,
    dst: IpAddr,
    carried: Carried,
    pub(super) state: State,
    input: Option<&'static str>,
    output: Option<&'static str>,
}

const BEHIND_FIRST: [[&str; 5]; 2] = [
    ["10.77.0.2", "10.77.0.77", "10.1.2.3", "192.168.7.7", "203.0.113.9"],
    ["fd77::2", "fd77::77", "2001:db8:1::3", "2001:db8:7::7", "fd01::9"],
];
const BEHIND_SECOND: [[&str; 3]; 2] =
    [["10.80.4.4", "10.80.200.1", "10.80.4.255"], ["fd80::4:4", "fd80:200::1", "fd80::4:ff"]];
const OWN: [[&str; 3]; 2] = [["10.77.0.1", "10.77.0.100", "10.78.0.1"], ["fd77::1", "fd77::100", "fd78::1"]];
/// The ports to which packets go.
pub(super) const PORTS: [u16; 8] = [22, 53, 80, 443, 3306, 5001, 8080, 33_000];

impl Probe {
    /// Draws a packet; `number` makes its connection its own.
    pub(super) fn draw(random: &mut Random, direction: Direction, six: bool, number: u16) -> Self {
        let family = usize::from(six);
        let pick = |random: &mut Random, list: &[&str]| -> IpAddr { random.pick(list).parse().unwrap() };
        let second = random.below(3) == 0;
        let near = |random: &mut Random, second: bool| {
            if second { pick(random, &BEHIND_SECOND[family]) } else { pick(random, &BEHIND_FIRST[family]) }
        };
        let device = |second: bool| Some(if second { "in1" } else { "in0" });
        let from = if second { From::Second } else { From::First };
        let (src, dst, from, input, output) = match direction {
            Direction::In => (near(random, second), pick(random, &OWN[family]), from, device(second), None),
            Direction::Through => {
                (near(random, second), near(random, !second), from, device(second), device(!second))
            }
            Direction::Out => {
                (pick(random, &OWN[family]), near(random, second), From::Guest, None, device(second))
            }
        };
        let mut state =
            *random.pick(&[State::New, State::New, State::Established, State::Related, State::Invalid]);
        let (sport, dport) = (20_000 + number, *random.pick(&PORTS));
        let kind = if state == State::Related { 2 } else { random.below(3) };
        let carried = match kind {
            0 => {
                let flags = match state {
                    State::Established => 0x18,
                    State::Invalid => 0x12,
                    State::New | State::Related | State::Untracked => 2,
                };
                Carried::Tcp { sport, dport, flags }
            }
            1 => {
                // The kernel checks checksums only as packets come in.
                if direction == Direction::Out && state == State::Invalid {
                    state = State::New;
                }
                Carried::Udp { sport, dport, broken: state == State::Invalid }
            }
            _ if matches!(state, State::Related | State::Invalid) => {
                // An error about a datagram that its receiver sent.
                let inner = packet(dst, src, &Carried::Udp { sport, dport, broken: false });
                let (kind, code) = if six { (1, 4) } else { (3, 3) };
                Carried::Icmp { kind, code, rest: [vec![0; 4], inner].concat() }
            }
            _ => {
                let mut rest = number.to_be_bytes().to_vec();
                rest.extend([0, 1]);
                Carried::Icmp { kind: if six { 128 } else { 8 }, code: 0, rest }
            }
        };
        Self { direction, from, src, dst, carried, state, input, output }
    }

    /// Puts the connection into the kernel's table where the packet belongs to one, and sends the packet.
    pub(super) fn send(&self, place: &Place, number: u16) {
        let (src, dst) = (self.src.to_string(), self.dst.to_string());
        let number = number.to_string();
        let add = |src: &str, dst: &str, more: &[&str]| {
            let known = ["-I", "-s", src, "-d", dst, "-u", "SEEN_REPLY,ASSURED", "-t", "600"];
            ask("conntrack", &[&known, more].concat(), "");
        };
        match (&self.carried, self.state) {
            (Carried::Tcp { sport, dport, .. } | Carried::Udp { sport, dport, .. }, State::Established) => {
                let ports = [sport.to_string(), dport.to_string()];
                let ports = ["--sport", ports[0].as_str(), "--dport", ports[1].as_str()];
                if matches!(self.carried, Carried::Tcp { .. }) {
                    // Numbers that the kernel did not see cannot be outside of its window.
                    add(&src, &dst, &[&["-p", "tcp", "--state", "ESTABLISHED"], &ports[..]].concat());
                } else {
                    add(&src, &dst, &[&["-p", "udp"], &ports[..]].concat());
                }
            }
            (Carried::Icmp { .. }, State::Established) => {
                let words = if self.src.is_ipv6() {
                    ["-p", "icmpv6", "--icmpv6-type", "128", "--icmpv6-code", "0", "--icmpv6-id", &number]
                } else {
                    ["-p", "icmp", "--icmp-type", "8", "--icmp-code", "0", "--icmp-id", &number]
                };
                add(&src, &dst, &words);
            }
            (Carried::Icmp { rest, .. }, State::Related) => {
                let ports = &rest[rest.len() - 12..];
                let port = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]).to_string();
                add(&dst, &src, &["-p", "udp", "--sport", &port(0), "--dport", &port(2)]);
            }
            _ => {}
        }
        place.send(self.from, self.dst, &packet(self.src, self.dst, &self.carried));
    }

    /// Describes the packet as it enters a hook.
    pub(super) fn at(&self, hook: Hook, mark: Option<u32>) -> Packet {
        let (protocol, sport, dport, icmp_type) = match &self.carried {
            Carried::Tcp { sport, dport, .. } => (6, Some(*sport), Some(*dport), None),
            Carried::Udp { sport, dport, .. } => (17, Some(*sport), Some(*dport), None),
            Carried::Icmp { kind, .. } => (if self.src.is_ipv6() { 58 } else { 1 }, None, None, Some(*kind)),
        };
        let has_output = !matches!(hook, Hook::Prerouting | Hook::Input);
        Packet {
            hook,
            protocol,
            src: self.src,
            dst: self.dst,
            sport,
            dport,
            input: self.input.filter(|_| hook != Hook::Output).map(str::to_owned),
            output: self.output.filter(|_| has_output).map(str::to_owned),
            state: Some(self.state),
            icmp_type,
            tcp_flags: if let Carried::Tcp { flags, .. } = self.carried { Some(flags) } else { None },
            mark,
        }
    }

    /// Whether a refusal of this packet is silent: nobody answers an error, nor what arrived broken.
    pub(super) fn is_refused_in_silence(&self) -> bool {
        match &self.carried {
            Carried::Icmp { .. } => matches!(self.state, State::Related | State::Invalid),
            Carried::Udp { broken, .. } => *broken,
            Carried::Tcp { .. } => false,
        }
    }
}
