//! What filters with actions do to a packet that comes or leaves: drop it, limit it, or something that is not known.
//!
//! Goes in: the filters of one device. Comes out: what the first one that takes the packet does, and what is open before it. Never: a
//! filter that is not understood and is passed over.

use super::filter::{Act, Filter};
use super::hit::{Flow, chooses};
use super::item::Items;
use super::read::{ReadError, items};

/// The direction in which a packet passes a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// It comes in by the device.
    In,
    /// It leaves by the device.
    Out,
}

/// What a filter does to a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acted {
    /// It drops it.
    Drops(String),
    /// It lets it pass at a limited rate.
    Limits(String),
    /// It is not known.
    Unknown(String),
}

/// The parents below which `tc` shows filters of packets that come in.
const INGRESS: [&str; 3] = ["ffff:", "ffff:fff2", "ingress"];

/// Says what the filters of a device do to a packet, in the order in which the kernel asks them.
///
/// # Errors
/// Fails where nothing of the text is an answer of `tc`.
pub fn act(text: &str, device: &str, side: Side, flow: &Flow) -> Result<Vec<Acted>, ReadError> {
    let items = items(text)?;
    let mut filters: Vec<&Filter> =
        items.filters.iter().filter(|filter| stands(&items, filter, device, side)).collect();
    filters.sort_by_key(|filter| filter.pref);
    let mut found = Vec::new();
    // What hangs at a device is shown by the lists of its filters alone.
    let hooks = |kind: &str| matches!(kind, "clsact") || (kind == "ingress" && side == Side::In);
    let is_hooked =
        items.qdiscs.iter().any(|own| own.dev.as_deref() == Some(device) && hooks(&own.discipline));
    if is_hooked && filters.is_empty() && !items.filters_read.contains(device) {
        let moves = if side == Side::In { "comes in" } else { "leaves" };
        found.push(Acted::Unknown(format!("the filters of what {moves} by {device} were not read")));
    }
    for filter in filters {
        let Some(act) = &filter.act else { continue };
        let named = format!("the filter of line {} at {device}", filter.line);
        match (chooses(filter, flow), act) {
            (Some(false), _) | (_, Act::Continues) => {}
            (Some(true), Act::Passes) => break,
            (Some(true), Act::Drops) => {
                found.push(Acted::Drops(format!("{named} drops it")));
                break;
            }
            (Some(true), Act::Limits) => {
                found.push(Acted::Limits(format!("{named} limits its rate")));
                break;
            }
            (_, Act::Other(what)) => {
                found.push(Acted::Unknown(format!("what `{what}` of {named} makes of it")))
            }
            (None, Act::Passes | Act::Drops | Act::Limits) => {
                found.push(Acted::Unknown(format!("whether {named} takes it")));
            }
        }
    }
    Ok(found)
}

fn stands(items: &Items, filter: &Filter, device: &str, side: Side) -> bool {
    let is_ingress = INGRESS.contains(&filter.parent.as_str());
    let devices = || items.qdiscs.iter().filter_map(|own| own.dev.as_deref());
    let is_here =
        filter.dev.as_deref().map_or_else(|| devices().all(|own| own == device), |own| own == device);
    filter.is_whole() && is_here && is_ingress == (side == Side::In)
}
