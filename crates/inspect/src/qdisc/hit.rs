//! Which disciplines a described packet meets when it leaves.

use std::net::IpAddr;

use super::filter::{Filter, Key};
use super::item::Items;
use super::land::{Landing, goes_on_whole, land, split};
use super::read::ReadError;
use super::read::items;
use super::sheet::Qdisc;

/// A packet as it leaves a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The number of its protocol.
    pub protocol: u8,
    /// Where it comes from.
    pub src: IpAddr,
    /// Where it goes.
    pub dst: IpAddr,
    /// Its source port, if it is known.
    pub sport: Option<u16>,
    /// Its destination port, if it is known.
    pub dport: Option<u16>,
    /// Its priority on this host, if it is known; plain traffic has 0.
    pub priority: Option<u32>,
}

/// Whether a packet meets a discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hit {
    /// It does; the reason is reported.
    Meets(String),
    /// A filter leads it around.
    Around(String),
    /// It is not known.
    Unknown(String),
}

/// Says for every discipline of a text, in its order, whether a packet that leaves its device meets it.
///
/// # Errors
/// Fails where nothing of it is an answer of `tc`.
pub fn hit(text: &str, flow: &Flow) -> Result<Vec<Hit>, ReadError> {
    let items = items(text)?;
    Ok(items.qdiscs.iter().map(|qdisc| judge(&items, qdisc, flow)).collect())
}

/// Goes up from a discipline to the root: every discipline above has to lead the packet here.
fn judge(items: &Items, qdisc: &Qdisc, flow: &Flow) -> Hit {
    let mut open = None;
    let mut by = Vec::new();
    // What goes past the classes of htb is not limited by it; the others drop what has no class.
    if qdisc.discipline == "htb" && qdisc.handle.is_some() {
        match land(items, qdisc, flow) {
            Landing::Past(why) => return Hit::Around(why),
            Landing::Unknown(why) => open = Some(why),
            Landing::Class(..) => {}
        }
    }
    let mut at = qdisc;
    // A tree of this kernel is at most eight deep; a text may claim anything.
    for _ in 0..16 {
        let Some((towards, above)) =
            at.parent.as_deref().and_then(|towards| Some((towards, above(items, at, towards)?)))
        else {
            break;
        };
        let Some(above) = above else {
            open = Some(format!("{towards}, below which it hangs, is not in this text"));
            break;
        };
        let minor = split(towards).map(|(_, minor)| minor);
        match land(items, above, flow) {
            Landing::Class(_, why) if goes_on_whole(above) => drop(why),
            Landing::Class(own, why) if Some(own) == minor => by.push(why),
            Landing::Class(_, why) | Landing::Past(why) => return Hit::Around(why),
            Landing::Unknown(why) => open = Some(why),
        }
        at = above;
    }
    match (open, by.is_empty()) {
        (Some(why), _) => Hit::Unknown(why),
        (None, true) => Hit::Meets("everything that leaves the device comes here".to_owned()),
        (None, false) => Hit::Meets(by.join("; ")),
    }
}

/// Returns the discipline above, if it is in the text; nothing at the root.
fn above<'a>(items: &'a Items, at: &Qdisc, towards: &str) -> Option<Option<&'a Qdisc>> {
    let (major, _) = towards.split_once(':')?;
    if major == "ffff" {
        return None;
    }
    // The queues of a device are printed without a number before the colon.
    let major = if major.is_empty() { "0" } else { major };
    Some(items.qdiscs.iter().find(|above| {
        above.dev == at.dev
            && !std::ptr::eq(*above, at)
            && (major != "0" || matches!(above.discipline.as_str(), "mq" | "mqprio"))
            && above.handle.as_deref().and_then(|handle| handle.strip_suffix(':')) == Some(major)
    }))
}

pub(super) fn chooses(filter: &Filter, flow: &Flow) -> Option<bool> {
    let family = match filter.protocol.as_str() {
        "all" => true,
        "ip" => flow.src.is_ipv4(),
        "ipv6" => flow.src.is_ipv6(),
        _ => false,
    };
    if !family {
        return Some(false);
    }
    if !matches!(filter.kind.as_str(), "u32" | "flower" | "matchall") {
        return None;
    }
    let mut open = false;
    for key in &filter.keys {
        let holds = match key {
            Key::Protocol(number) => Some(*number == flow.protocol),
            Key::Sport(port) if is_icmp(flow) => (!is_echo(*port)).then_some(false),
            // A checksum stands there, and is this one in one of 65,536 packets.
            Key::Dport(_) if is_icmp(flow) => Some(false),
            Key::Sport(port) => flow.sport.map(|own| own == *port),
            Key::Dport(port) => flow.dport.map(|own| own == *port),
            Key::Source(prefix) => inside(flow.src, prefix),
            Key::Destination(prefix) => inside(flow.dst, prefix),
            Key::Other(_) => None,
        };
        match holds {
            Some(true) => {}
            Some(false) => return Some(false),
            None => open = true,
        }
    }
    if open { None } else { Some(true) }
}

fn is_icmp(flow: &Flow) -> bool {
    flow.protocol == if flow.src.is_ipv6() { 58 } else { 1 }
}

/// Tells whether a port is what type and code of a ping come to, which stand where others have their source port.
fn is_echo(port: u16) -> bool {
    matches!(port, 0x0000 | 0x0800 | 0x8000 | 0x8100)
}

fn inside(address: IpAddr, prefix: &str) -> Option<bool> {
    let (network, length) = prefix.split_once('/').unwrap_or((prefix, "128"));
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    };
    let network: IpAddr = network.parse().ok()?;
    let length: u32 = length.parse().ok()?;
    if network.is_ipv4() != address.is_ipv4() {
        return Some(false);
    }
    let ((own, width), (network, _)) = (bits(address), bits(network));
    let shift = 128 - length.min(width);
    Some(own.checked_shr(shift) == network.checked_shr(shift))
}
