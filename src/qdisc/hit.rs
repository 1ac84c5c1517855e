//! Which disciplines a described packet meets on its way out.

use std::net::IpAddr;

use super::error::ReadError;
use super::filter::{Filter, Key};
use super::read::items;
use super::tree::forks;

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
}

/// Whether a packet meets a discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hit {
    /// It does; the reason is told.
    Meets(String),
    /// A filter leads it around.
    Around(String),
    /// It cannot be told.
    Unknown(String),
}

/// Says for every discipline of a text, in its order, whether a packet that leaves its device meets it.
///
/// # Errors
/// Fails where nothing of it is an answer of `tc`.
pub fn hit(text: &str, flow: &Flow) -> Result<Vec<Hit>, ReadError> {
    let items = items(text)?;
    let judge = |qdisc| {
        for fork in forks(&items, qdisc) {
            let mut decided = false;
            for filter in fork.filters {
                let towards = filter.flowid.as_deref() == Some(fork.towards);
                match (chooses(filter, flow), towards) {
                    (Some(false), _) => {}
                    (Some(true), true) => {
                        decided = true;
                        break;
                    }
                    (Some(true), false) => return Hit::Around(format!("the filter of line {}", filter.line)),
                    (None, _) => {
                        return Hit::Unknown(format!(
                            "whether the filter of line {} chooses it",
                            filter.line
                        ));
                    }
                }
            }
            if !decided {
                return Hit::Unknown(format!(
                    "no filter decides; the default leads to {} or not",
                    fork.towards
                ));
            }
        }
        Hit::Meets("everything that leaves the device comes here, or a filter leads it here".to_owned())
    };
    Ok(items.qdiscs.iter().map(judge).collect())
}

fn chooses(filter: &Filter, flow: &Flow) -> Option<bool> {
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
