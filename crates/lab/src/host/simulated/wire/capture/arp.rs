//! Who has an address: what machines of one network ask each other, and who answers beside the owner.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use super::header::ethernet;
use crate::host::simulated::wire::journal::Conversation;
use crate::host::simulated::wire::path::shares;
use crate::host::simulated::world::World;
use crate::host::stage::Oddity;

/// How long an answer is good; microseconds.
const ANSWER_LIFETIME_MICROS: u64 = 45_000_000;
/// How often two stations claim one address; microseconds.
const CLAIM_INTERVAL_MICROS: u64 = 7_000_000;
const EVERYBODY: [u8; 6] = [0xff; 6];

/// A frame and when it is seen; microseconds.
pub(super) type Timed = (u64, Vec<u8>);

/// Makes the questions for the neighbors in conversations, and their answers.
pub(super) fn questions(world: &World, said: &[Conversation]) -> Vec<Timed> {
    let mut asked = BTreeSet::new();
    let mut frames = Vec::new();
    for conversation in said {
        let (near, far) = (&conversation.line.near, &conversation.line.far);
        let (IpAddr::V4(from), IpAddr::V4(to)) = (near.address, far.address) else { continue };
        // What is far away is asked of the router, and that is known all the time.
        let close = shares(near.address, far.address, 24) && far.machine.is_some();
        if !close || !asked.insert((near.address, far.address, conversation.at / ANSWER_LIFETIME_MICROS)) {
            continue;
        }
        let at = conversation.at.saturating_sub(700);
        frames.push((at, arp(1, (near.mac, from), ([0; 6], to), EVERYBODY)));
        frames.push((at + 210, arp(2, (far.mac, to), (near.mac, from), near.mac)));
        for other in others(world, far.address) {
            frames.push((at + 290, arp(2, (other, to), (near.mac, from), near.mac)));
        }
    }
    frames
}

/// Makes what two stations that claim one address say in a machine's network.
pub(super) fn claims(world: &World, machine: &str, from: u64, to: u64) -> Vec<Timed> {
    let mut frames = Vec::new();
    let own = world.machine(machine);
    for oddity in &world.stage.oddities {
        let Oddity::ArpConflict { address: IpAddr::V4(address), .. } = oddity else { continue };
        let whole = IpAddr::V4(*address);
        let close = own.is_some_and(|machine| {
            let mut all = machine.nics.iter().flat_map(|nic| &nic.addresses);
            all.any(|(own, length)| shares(*own, whole, *length))
        });
        if !close {
            continue;
        }
        let owner =
            world.fabric.machines.iter().flat_map(|machine| &machine.nics).find_map(|nic| {
                nic.addresses.iter().any(|(own, _)| *own == whole).then(|| hardware(&nic.mac))
            });
        let stations: Vec<[u8; 6]> = owner.into_iter().chain(others(world, whole)).collect();
        for round in (from / CLAIM_INTERVAL_MICROS).. {
            let at = round * CLAIM_INTERVAL_MICROS + 350_000;
            if at >= to || frames.len() > 4_000 {
                break;
            }
            for (location, station) in stations.iter().enumerate() {
                let at = at + 1_200_000 * location as u64;
                if (from..to).contains(&at) {
                    frames.push((at, arp(2, (*station, *address), (EVERYBODY, *address), EVERYBODY)));
                }
            }
        }
    }
    frames
}

fn others(world: &World, address: IpAddr) -> impl Iterator<Item = [u8; 6]> {
    world.stage.oddities.iter().filter_map(move |oddity| match oddity {
        Oddity::ArpConflict { address: odd, mac } if *odd == address => Some(hardware(mac)),
        Oddity::ArpConflict { .. }
        | Oddity::PathMtu { .. }
        | Oddity::Dns { .. }
        | Oddity::Asymmetric { .. } => None,
    })
}

/// Reads a hardware address, whatever stands between its numbers.
pub(super) fn hardware(text: &str) -> [u8; 6] {
    let mut mac = [0; 6];
    let bytes = text.split([':', '-']).map(|byte| u8::from_str_radix(byte, 16).unwrap_or(0));
    mac.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
    mac
}

fn arp(kind: u8, from: ([u8; 6], Ipv4Addr), to: ([u8; 6], Ipv4Addr), whom: [u8; 6]) -> Vec<u8> {
    let mut inner = vec![0, 1, 8, 0, 6, 4, 0, kind];
    inner.extend(from.0);
    inner.extend(from.1.octets());
    inner.extend(to.0);
    inner.extend(to.1.octets());
    ethernet(from.0, whom, 0x0806, &inner)
}
