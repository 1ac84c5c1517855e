//! A machine from inside.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use super::firewall::{Backend, Firewall};
use super::route::Route;
use super::shaper::Shaper;

use crate::host::fabric::Machine;
use crate::host::script::Files;
use crate::host::stage::Protocol;
use ghost_base::Timestamp;
use ghost_inspect::netfilter;
use ghost_inspect::qdisc;

/// What a machine does with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host) enum PacketVerdict {
    Passes,
    /// It is gone.
    Dropped,
    /// It is refused: with an ICMP error, or a reset.
    Refused {
        reset: bool,
        /// The code of the error, as IPv4 numbers it.
        code: u8,
    },
}

/// What a device does to packets that leave by it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(in crate::host) struct Shaping {
    /// They wait so long.
    pub(in crate::host) delay: Duration,
    /// More or less so much.
    pub(in crate::host) jitter: Duration,
    /// How many of 1 are lost.
    pub(in crate::host) loss: f64,
    /// How many of 1 are damaged.
    pub(in crate::host) corrupt: f64,
    /// How many of 1 go twice.
    pub(in crate::host) duplicate: f64,
    /// How many of 1 go out of turn.
    pub(in crate::host) reorder: f64,
    /// Bits a second, and the bytes that go at once.
    pub(in crate::host) rate: Option<(u64, u64)>,
}

/// What passed a device, or one of its disciplines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::host) struct Count {
    /// Packets that went on.
    pub(in crate::host) packets: u64,
    /// Their bytes, with the headers of their frames.
    pub(in crate::host) bytes: u64,
    /// Packets that did not.
    pub(in crate::host) drops: u64,
    /// Packets that had to wait for their turn.
    pub(in crate::host) waits: u64,
}

impl Count {
    /// Adds another one.
    pub(in crate::host) fn add(&mut self, other: Self) {
        self.packets = self.packets.saturating_add(other.packets);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.drops = self.drops.saturating_add(other.drops);
        self.waits = self.waits.saturating_add(other.waits);
    }

    /// Returns so many times as much.
    pub(in crate::host) fn times(self, factor: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "counts are far below what is exact, and no factor is negative"
        )]
        let times = |count: u64| (count as f64 * factor).round() as u64;
        Self {
            packets: times(self.packets),
            bytes: times(self.bytes),
            drops: times(self.drops),
            waits: times(self.waits),
        }
    }
}

/// A program that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host) struct Process {
    /// Its number.
    pub(in crate::host) pid: u32,
    /// Its words.
    pub(in crate::host) argv: Vec<String>,
    /// Where it listens.
    pub(in crate::host) listens: Vec<(Protocol, u16)>,
    /// When it is ended, if ever.
    pub(in crate::host) until: Option<Timestamp>,
}

/// A machine.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::host) struct Guest {
    pub(in crate::host) name: String,
    /// The largest packet of its `eth0`.
    pub(in crate::host) mtu: u32,
    pub(in crate::host) files: Files,
    /// What runs on it beside what every machine runs.
    pub(in crate::host) processes: Vec<Process>,
    /// Its routes, the most special first.
    pub(in crate::host) routes: Vec<Route>,
    /// Its packet filter.
    pub(in crate::host::simulated) firewall: Firewall,
    /// Its queues.
    pub(in crate::host::simulated) shaper: Shaper,
    /// Which `iptables` is the default.
    pub(in crate::host::simulated) backend: Backend,
    /// Packages that are not installed.
    pub(in crate::host::simulated) missing: BTreeSet<String>,
    /// Services that do not run as they did in the beginning.
    pub(in crate::host::simulated) units: BTreeMap<String, bool>,
    /// Devices that are down.
    pub(in crate::host::simulated) down: BTreeSet<String>,
    /// Until when the stage's traffic is counted; microseconds.
    pub(in crate::host::simulated) counted: Option<u64>,
    next_pid: u32,
}

impl Guest {
    /// Makes a machine as it is after its first start.
    pub(in crate::host) fn new(machine: &Machine) -> Self {
        let missing = ["docker.io", "fail2ban"].map(str::to_owned);
        Self {
            name: machine.name.clone(),
            mtu: 1500,
            files: Files::default(),
            processes: Vec::new(),
            routes: Route::first(machine),
            firewall: Firewall::default(),
            shaper: Shaper::default(),
            backend: Backend::Nft,
            missing: missing.into(),
            units: BTreeMap::new(),
            down: BTreeSet::new(),
            counted: None,
            next_pid: 2_001,
        }
    }

    /// Starts a program; returns its number.
    pub(in crate::host) fn start(&mut self, argv: Vec<String>, listens: Vec<(Protocol, u16)>) -> u32 {
        let pid = self.next_pid;
        self.next_pid = self.next_pid.wrapping_add(7);
        // A script may start more than any machine would carry.
        if self.processes.len() < 1_024 {
            self.processes.push(Process { pid, argv, listens, until: None });
        }
        pid
    }

    /// Judges a packet by the machine's own firewall; rules that match count it, and may mark it.
    pub(in crate::host) fn judge(&mut self, packet: &mut netfilter::Packet) -> PacketVerdict {
        self.firewall.judge(packet)
    }

    /// Says what a device does to a packet that leaves by it.
    pub(in crate::host) fn shaping(&self, device: &str, flow: &qdisc::Flow) -> Shaping {
        self.shaper.shaping(device, flow)
    }

    /// Counts what passed a device.
    pub(in crate::host) fn count(&mut self, device: &str, flow: &qdisc::Flow, count: Count) {
        self.shaper.count(device, flow, count);
    }

    /// Returns the route of the machine's own table that carries a packet.
    pub(in crate::host) fn route(&self, to: IpAddr) -> Option<&Route> {
        Route::pick(&self.routes, to)
    }
}
