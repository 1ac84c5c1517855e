//! The file.

use super::arp::{Timed, claims, hardware, questions};
use super::filter::keeps;
use super::frame::Writer;
use super::traffic::conversations;
use crate::host::simulated::wire::chance::Chance;
use crate::host::simulated::wire::journal::Conversation;
use crate::host::simulated::world::{Capture, World};

/// The most bytes of a file, whatever was ordered.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// The most packets of a file.
const MAX_PACKETS: usize = 400_000;
/// The most bytes of a packet where nothing else was ordered.
const DEFAULT_SNAP_LEN: u32 = 262_144;

/// Writes what a capture saw until now.
pub(in crate::host) fn pcap(world: &mut World, capture: &Capture) -> Vec<u8> {
    let micros =
        |time: ghost_base::Timestamp| u64::try_from(time.as_millis()).unwrap_or(0).saturating_mul(1_000);
    let (from, to) = (micros(capture.since), micros(world.now));
    let machine = capture.order.machine.as_str();
    let skew = skew(world.seed, machine);
    let frames = frames(world, capture, from, to);
    let snaplen = if capture.order.snaplen == 0 { DEFAULT_SNAP_LEN } else { capture.order.snaplen };
    let most = if capture.order.most == 0 { MAX_FILE_BYTES } else { capture.order.most.min(MAX_FILE_BYTES) };
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, snaplen, 1] {
        file.extend(u32::to_le_bytes(word));
    }
    for (at, frame) in frames {
        let length = u32::try_from(frame.len()).unwrap_or(0);
        let kept = length.min(snaplen);
        if file.len() as u64 + 16 + u64::from(kept) > most {
            break;
        }
        let at = at.saturating_add(skew);
        let seconds = u32::try_from(at / 1_000_000).unwrap_or(u32::MAX);
        let rest = u32::try_from(at % 1_000_000).unwrap_or(0);
        for word in [seconds, rest, kept, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame.iter().take(usize::try_from(kept).unwrap_or(0)));
    }
    file
}

/// Clocks of machines are not quite the same; microseconds.
fn skew(seed: u64, machine: &str) -> u64 {
    Chance::of(seed, &["clock", machine], &[]).below(1_500)
}

fn frames(world: &mut World, capture: &Capture, from: u64, to: u64) -> Vec<Timed> {
    let machine = capture.order.machine.as_str();
    let mut said = conversations(world, machine, from, to);
    said.extend(world.journal.between(from, to).filter(|said| takes_part(said, machine)).cloned());
    said.sort_by_key(|said| said.at);
    let filters = &capture.order.filters;
    let mut frames: Vec<Timed> = Vec::new();
    if filters.is_empty() {
        frames.extend(questions(world, &said));
        frames.extend(claims(world, machine, from, to));
    }
    for said in &said {
        let near = said.line.near.machine.as_deref() == Some(machine);
        if frames.len() >= MAX_PACKETS || !keeps(filters, &said.line, near) {
            continue;
        }
        let transcript = said.replay();
        let writer = Writer::new(said, &transcript.seen, near, macs(world, said, near));
        for (at, seen) in transcript.seen.iter().enumerate() {
            let Some(time) = (if near { seen.near } else { seen.far }) else { continue };
            let time = said.at.saturating_add(time / 1_000);
            frames.extend(writer.frames(at).into_iter().map(|frame| (time, frame)));
        }
    }
    frames.retain(|(at, _)| (from..to).contains(at));
    frames.sort_by_key(|(at, _)| *at);
    frames
}

/// Whether a machine is an end of a conversation that leaves it.
fn takes_part(said: &Conversation, machine: &str) -> bool {
    let line = &said.line;
    let near = line.near.machine.as_deref() == Some(machine);
    // Where addresses are translated, the far side sees others; its side of that is not played.
    let far = line.plain && line.far.machine.as_deref() == Some(machine);
    !line.there.local && (near || far)
}

/// The hardware addresses of a conversation: the machine's own, and the one it sees.
fn macs(world: &World, said: &Conversation, near: bool) -> ([u8; 6], [u8; 6]) {
    let (own, other) = (&said.line.near, &said.line.far);
    if near {
        return (own.mac, other.mac);
    }
    let nics = world.fabric.machines.iter().flat_map(|machine| &machine.nics);
    let found = nics.filter(|nic| nic.addresses.iter().any(|(address, _)| *address == other.address));
    let real = found.map(|nic| hardware(&nic.mac)).next().unwrap_or(other.mac);
    // Who is seen through the platform sees through it, too.
    if real == other.mac { (real, own.mac) } else { (real, other.mac) }
}
