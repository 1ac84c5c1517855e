//! A machine's own packet filter, hook by hook.

use super::walk::{Datagram, DropPoint, DropResponse};
use crate::host::simulated::guest::PacketVerdict;
use crate::host::simulated::world::World;
use ghost_inspect::netfilter::{Hook, Packet, State};

/// What a packet meets on its way out of a machine.
pub(super) const OUT: [Hook; 2] = [Hook::Output, Hook::Postrouting];
/// What it meets on its way in.
pub(super) const IN: [Hook; 2] = [Hook::Prerouting, Hook::Input];

/// Takes a packet through hooks of a machine, each with the device on which that happens; a mark goes along.
pub(super) fn judge(
    world: &mut World,
    machine: &str,
    packet: &Datagram,
    hooks: &[(Hook, &str)],
) -> Option<DropResponse> {
    let guest = world.guests.get_mut(machine)?;
    let mut mark = Some(0);
    for (hook, device) in hooks {
        let name = |is: bool| is.then(|| (*device).to_owned());
        let input = name(matches!(hook, Hook::Prerouting | Hook::Input | Hook::Forward));
        let output = name(matches!(hook, Hook::Output | Hook::Postrouting | Hook::Forward));
        let mut packet = Packet { mark, ..packet.at(*hook, input, output) };
        match guest.judge(&mut packet) {
            PacketVerdict::Passes => mark = packet.mark,
            PacketVerdict::Dropped => return Some(DropResponse::Silent),
            PacketVerdict::Refused { reset: true, .. } => return Some(DropResponse::Reset),
            PacketVerdict::Refused { reset: false, code } => return Some(DropResponse::Unreachable(code)),
        }
    }
    None
}

/// Takes a packet from a machine to itself.
pub(super) fn stays(world: &mut World, machine: &str, packet: &Datagram) -> Option<DropPoint> {
    if let Some(how) = judge(world, machine, packet, &OUT.map(|hook| (hook, "lo"))) {
        return Some(DropPoint::Sender(told(world, machine, packet, how)));
    }
    judge(world, machine, packet, &IN.map(|hook| (hook, "lo"))).map(DropPoint::Receiver)
}

/// What a program hears of a packet that its own machine refused to send: the word about it meets the same packet filter.
pub(super) fn told(world: &mut World, machine: &str, packet: &Datagram, how: DropResponse) -> DropResponse {
    let reset = match how {
        DropResponse::Silent => return how,
        DropResponse::Reset => true,
        DropResponse::Unreachable(_) => false,
    };
    let six = packet.src.0.is_ipv6();
    let from = if reset { packet.dst } else { packet.src };
    let word = Datagram {
        from: Some(machine.to_owned()),
        src: from,
        dst: packet.src,
        protocol: if reset {
            6
        } else if six {
            58
        } else {
            1
        },
        flags: reset.then_some(20),
        icmp: (!reset).then_some(if six { 1 } else { 3 }),
        state: State::Related,
        refusal: true,
    };
    let hooks: Vec<(Hook, &str)> = OUT.iter().chain(&IN).map(|hook| (*hook, "lo")).collect();
    if judge(world, machine, &word, &hooks).is_some() { DropResponse::Silent } else { how }
}
