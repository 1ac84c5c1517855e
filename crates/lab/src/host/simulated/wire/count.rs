//! What the devices of machines count.

use super::capture::conversations;
use super::path::{Line, exit};
use crate::host::simulated::guest::Count;
use crate::host::simulated::world::World;
use crate::host::stage::Protocol;
use ghost_inspect::qdisc::Flow;

/// How many conversations of the stage are played; the others count as much.
const MAX_PLAYED_CONVERSATIONS: usize = 64;
/// How much of the stage's traffic is examined; what was before is taken to have gone on the same. Microseconds.
const EXAMINED_MICROS: u64 = 60_000_000;

/// Counts what both ends of a conversation sent.
pub(super) fn count(world: &mut World, line: &Line, [near, far]: [Count; 2]) {
    one(world, line, true, near);
    one(world, line, false, far);
}

fn one(world: &mut World, line: &Line, near: bool, count: Count) {
    let (own, other) = if near { (&line.near, &line.far) } else { (&line.far, &line.near) };
    let Some(name) = own.machine.clone().filter(|_| !line.there.local) else { return };
    let device = world.machine(&name).and_then(|machine| exit(machine, other.address)).map(|(at, ..)| at);
    let (Some(device), Some(guest)) = (device, world.guests.get_mut(&name)) else { return };
    let six = other.address.is_ipv6();
    let (protocol, kind) = match line.protocol {
        Protocol::Tcp => (6, None),
        Protocol::Udp => (17, None),
        Protocol::Icmp if six => (58, Some(if near { 128_u16 } else { 129 })),
        Protocol::Icmp => (1, Some(if near { 8 } else { 0 })),
    };
    // Where others have ports, ICMP has its type, its code and its checksum.
    let (sport, dport) = kind.map_or((own.port, other.port), |kind| (kind << 8, 0xffff));
    let flow = Flow {
        protocol,
        src: own.address,
        dst: other.address,
        sport: Some(sport),
        dport: Some(dport),
        priority: Some(0),
    };
    guest.count(&format!("eth{device}"), &flow, count);
}

/// What both ends count of so many bytes that went there, in whole segments.
pub(super) fn much(line: &Line, bytes: u64) -> [Count; 2] {
    let narrow = line.narrow.filter(|(_, heeded)| *heeded).map(|(mtu, _)| mtu);
    let mtu = line.near.mtu.min(line.far.mtu).min(narrow.unwrap_or(u32::MAX));
    let segment = u64::from(mtu.max(68) - 52);
    let packets = bytes.div_ceil(segment);
    let one = Count { packets, bytes: bytes + packets * 66, drops: packets, waits: packets };
    let lost = line.there.own.loss.min(0.99);
    let lost = Count { packets: 0, bytes: 0, waits: 0, ..one.times(lost / (1.0 - lost)) };
    let waits = if line.there.own.rate.is_some() { packets } else { 0 };
    let there = Count { drops: lost.drops, waits, ..one };
    let acknowledged = if line.protocol == Protocol::Tcp { packets / 2 } else { 0 };
    [there, Count { packets: acknowledged, bytes: acknowledged * 66, ..Count::default() }]
}

/// Counts the stage's traffic until now, as a machine sees it.
pub(in crate::host) fn settle(world: &mut World, machine: &str) {
    let now = u64::try_from(world.now.as_millis()).unwrap_or(0).saturating_mul(1_000);
    let Some(guest) = world.guests.get_mut(machine) else { return };
    let before = guest.counted.replace(now).unwrap_or(now.saturating_sub(EXAMINED_MICROS));
    let from = before.max(now.saturating_sub(EXAMINED_MICROS));
    let said = conversations(world, machine, from, now);
    let step = said.len().div_ceil(MAX_PLAYED_CONVERSATIONS).max(1);
    #[expect(clippy::cast_precision_loss, reason = "numbers and times are far below what is exact")]
    let factor = {
        let more = said.len() as f64 / said.len().div_ceil(step).max(1) as f64;
        more * (now.saturating_sub(before) as f64 / now.saturating_sub(from).max(1) as f64)
    };
    for said in said.iter().step_by(step) {
        let near = said.line.near.machine.as_deref() == Some(machine);
        let [there, back] = said.replay().counts;
        one(world, &said.line, near, if near { there } else { back }.times(factor));
    }
}
