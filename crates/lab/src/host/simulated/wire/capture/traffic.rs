//! The stage's traffic as conversations: the same ones for whoever captures them, whenever that began.

use crate::host::simulated::wire::chance::Chance;
use crate::host::simulated::wire::conversation::{Echo, Script, Turn};
use crate::host::simulated::wire::journal::{Conversation, Exchange};
use crate::host::simulated::wire::net::SECOND;
use crate::host::simulated::wire::path::{Call, Line, ask, line};
use crate::host::simulated::world::World;
use crate::host::stage::{Protocol, TrafficFlow};

use super::dns::question;

/// The most conversations of one talk in a capture.
const MAX_CONVERSATIONS: u64 = 20_000;
/// The shortest time between two; milliseconds.
const MIN_INTERVAL_MILLIS: u64 = 5;
/// How long a connection is tried.
const CONNECT_TIMEOUT: u64 = 20 * SECOND;
/// Names that are asked for.
const NAMES: [&str; 4] =
    ["www.example.com", "packages.microsoft.com", "archive.ubuntu.com", "login.microsoftonline.com"];

/// Makes the conversations of all talks that begin between two times; microseconds.
pub(in crate::host::simulated::wire) fn conversations(
    world: &mut World,
    machine: &str,
    from: u64,
    to: u64,
) -> Vec<Conversation> {
    let flows = world.stage.flows.clone();
    let mut all = Vec::new();
    for (at, traffic) in flows.iter().enumerate() {
        let call = Call {
            machine: traffic.machine.clone(),
            to: traffic.to,
            protocol: traffic.protocol,
            port: if traffic.protocol == Protocol::Icmp { 0 } else { traffic.port },
            own_port: if traffic.protocol == Protocol::Icmp { 0 } else { 40_000 },
            served: false,
        };
        let line = line(world, &call);
        if [&line.near, &line.far].iter().all(|side| side.machine.as_deref() != Some(machine))
            || line.there.local
        {
            continue;
        }
        all.extend(of_talk(world, (at as u64, traffic), &line, from, to));
    }
    all
}

fn of_talk(
    world: &mut World,
    (at, traffic): (u64, &TrafficFlow),
    line: &Line,
    from: u64,
    to: u64,
) -> Vec<Conversation> {
    let every = traffic.every_ms.max(MIN_INTERVAL_MILLIS).saturating_mul(1_000);
    let phase = Chance::of(world.seed, &[&traffic.machine], &[at]).below(every);
    let first = from.saturating_sub(phase).div_ceil(every);
    // What is healthy is not cut off in the middle by the end of a capture.
    let bytes = u64::from(traffic.request) + u64::from(traffic.answer);
    let slowest = line.there.rate().into_iter().chain(line.back.rate()).map(|(bits, _)| bits).min();
    let carried = bytes.saturating_mul(8_000_000) / slowest.unwrap_or(500_000_000).max(1);
    let round = line.round() / 1_000;
    let thinks = traffic.think_ms.saturating_mul(1_000);
    let takes = round.saturating_mul(8).saturating_add(thinks).saturating_add(carried).saturating_add(60_000);
    let end = if line.open() { to.saturating_sub(takes) } else { to };
    let mut all = Vec::new();
    for number in (first..).take(usize::try_from(MAX_CONVERSATIONS).unwrap_or(1)) {
        let mut chance = Chance::of(world.seed, &[&traffic.machine, "talk"], &[at, number]);
        let begins =
            number.saturating_mul(every).saturating_add(phase).saturating_add(chance.below(every / 8 + 1));
        if begins >= end {
            break;
        }
        if begins < from {
            continue;
        }
        let mut line = line.clone();
        if traffic.protocol != Protocol::Icmp {
            // Ports of a talk follow one another, as a kernel's hash of both ends would have it.
            line.near.port =
                u16::try_from(32_768 + (at * 7_919 + number % 28_232 * 2) % 28_232).unwrap_or(40_000);
        }
        let act = act(world, traffic, &line, number, &mut chance);
        all.push(Conversation { at: begins, line, act, seed: chance.next() });
    }
    all
}

fn act(world: &mut World, traffic: &TrafficFlow, line: &Line, number: u64, chance: &mut Chance) -> Exchange {
    let think = traffic.think_ms.saturating_mul(1_000_000);
    match traffic.protocol {
        Protocol::Tcp => {
            let turn = Turn { request: u64::from(traffic.request), think, answer: u64::from(traffic.answer) };
            let turns = if traffic.request == 0 && traffic.answer == 0 { Vec::new() } else { vec![turn] };
            Exchange::Tcp(Script { turns, patience: CONNECT_TIMEOUT, most: 4_000 })
        }
        Protocol::Udp if traffic.port == 53 => {
            let which = usize::try_from(chance.below(NAMES.len() as u64)).unwrap_or(0);
            let name = NAMES.get(which).copied().unwrap_or("www.example.com");
            let asked = ask(world, &traffic.machine, Some(traffic.to), name, line.near.port);
            let id = u16::try_from(chance.below(0xffff)).unwrap_or(1);
            let (request, answer) = question(id, name, 1, asked.code, &asked.found);
            Exchange::Datagram { request, answer, think: think.max(250_000) }
        }
        Protocol::Udp => {
            let bytes = |size: u32| vec![b'.'; usize::try_from(size.min(60_000)).unwrap_or(0)];
            let answer = (traffic.answer > 0).then(|| bytes(traffic.answer));
            Exchange::Datagram { request: bytes(traffic.request), answer, think }
        }
        Protocol::Icmp => {
            let id = u16::try_from(Chance::of(world.seed, &[&traffic.machine, "echo"], &[]).below(0xffff))
                .unwrap_or(1);
            let number = u16::try_from(number & 0xffff).unwrap_or(0);
            Exchange::Echo(Echo { id, number, size: traffic.request.clamp(16, 60_000).max(56) })
        }
    }
}
