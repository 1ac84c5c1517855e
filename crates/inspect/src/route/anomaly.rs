//! What is odd about a chosen route.

use std::net::IpAddr;

use serde::Serialize;

use super::row::{Hop, Route, Row, Source, State};
use crate::net::{Inventory, Owner};

/// How many owners of an address are named.
const MAX_NAMED_OWNERS: usize = 3;

/// The kind of an anomaly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum Code {
    /// A user's route drops the packet.
    Blackhole,
    /// A route of another source drops the packet.
    SystemDrop,
    /// An appliance carries the packet.
    Nva,
    /// No known network interface owns the appliance's address.
    NvaUnknown,
    /// The appliance's network interface does not forward.
    NvaNoForwarding,
    /// Several known network interfaces have the appliance's address.
    NvaAmbiguous,
    /// A route that is not in use would have carried the packet.
    InvalidShadow,
    /// The default route is not the platform's.
    DefaultTakenOver,
    /// The return path is another one.
    AsymmetricReturn,
    /// There is no return path.
    NoReturn,
    /// The address is the platform's own.
    PlatformAddress,
}

impl Code {
    /// Returns the word of the contract.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blackhole => "BLACKHOLE",
            Self::SystemDrop => "SYSTEM_DROP",
            Self::Nva => "NVA",
            Self::NvaUnknown => "NVA_UNKNOWN",
            Self::NvaNoForwarding => "NVA_NO_FORWARDING",
            Self::NvaAmbiguous => "NVA_AMBIGUOUS",
            Self::InvalidShadow => "INVALID_SHADOW",
            Self::DefaultTakenOver => "DEFAULT_TAKEN_OVER",
            Self::AsymmetricReturn => "ASYMMETRIC_RETURN",
            Self::NoReturn => "NO_RETURN",
            Self::PlatformAddress => "PLATFORM_ADDRESS",
        }
    }
}

/// Something a reviewer would want to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Anomaly {
    /// The kind.
    pub code: Code,
    /// The evidence, as a sentence.
    pub detail: String,
    /// The row of the document that causes it, from one.
    pub row: usize,
}

impl Anomaly {
    pub(super) fn new(code: Code, row: &Row, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), row: row.number }
    }
}

/// Says that an address is the platform's own, whatever the routes of users say.
pub(super) fn own_address(to: IpAddr, row: &Row) -> Anomaly {
    let detail =
        format!("{to} is the platform's own address: routes of users and of gateways do not apply to it");
    Anomaly::new(Code::PlatformAddress, row, detail)
}

/// Returns what is odd about one route that carries packets.
pub(super) fn of_route(route: &Route, inventory: Option<&Inventory>) -> Vec<Anomaly> {
    let mut found = Vec::new();
    let (prefix, row) = (route.prefix, &*route.row);
    let name = row.name.as_deref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
    match row.hop {
        Hop::None if row.source == Source::User => {
            found.push(Anomaly::new(
                Code::Blackhole,
                row,
                format!("the user route{name} {prefix} drops the packet (next hop None)"),
            ));
        }
        Hop::None => {
            let source = row.source.as_str();
            found.push(Anomaly::new(
                Code::SystemDrop,
                row,
                format!("the {source} route {prefix} drops the packet (next hop None)"),
            ));
        }
        Hop::Appliance => {
            let hops =
                if row.hop_ips.is_empty() { "an unnamed address".to_owned() } else { row.hop_ips.join(", ") };
            found.push(Anomaly::new(
                Code::Nva,
                row,
                format!("the route{name} {prefix} goes through the appliance at {hops}"),
            ));
            found.extend(inventory.map(|inventory| of_appliance(row, inventory)).unwrap_or_default());
        }
        Hop::Local | Hop::Peering | Hop::ServiceEndpoint | Hop::Gateway | Hop::Other => {}
    }
    if prefix.prefix_len() <= 1 && row.source != Source::System {
        let (source, hop) = (row.source.as_str(), &row.hop_type);
        // Two halves are the usual override of a default route that cannot be replaced.
        let what = if prefix.prefix_len() == 0 { "the default route" } else { "half of the default route" };
        found.push(Anomaly::new(
            Code::DefaultTakenOver,
            row,
            format!("{what}, {prefix}{name}, is {source}'s and goes to {hop}"),
        ));
    }
    found
}

fn of_appliance(row: &Row, inventory: &Inventory) -> Vec<Anomaly> {
    let mut found = Vec::new();
    for text in &row.hop_ips {
        let mut tell = |code, detail: String| found.push(Anomaly::new(code, row, detail));
        match text.parse::<IpAddr>().map_or(Owner::Unknown, |address| inventory.owner(address)) {
            Owner::Unknown => {
                tell(Code::NvaUnknown, format!("no network interface of the inventory owns {text}"));
            }
            Owner::One(nic) if nic.forwards == Some(false) => {
                tell(
                    Code::NvaNoForwarding,
                    format!("the network interface {} of {text} does not forward", nic.name),
                );
            }
            Owner::One(_) => {}
            Owner::Several(nics) => {
                let names = nics
                    .iter()
                    .take(MAX_NAMED_OWNERS)
                    .map(|nic| nic.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", ");
                let more = nics.len().checked_sub(MAX_NAMED_OWNERS).filter(|more| *more > 0);
                let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
                let (code, what) = if nics.iter().all(|nic| nic.forwards == Some(false)) {
                    (Code::NvaNoForwarding, "none of them forwards")
                } else {
                    (Code::NvaAmbiguous, "nothing tells which one it is")
                };
                tell(code, format!("{} network interfaces have {text} ({names}{more}): {what}", nics.len()));
            }
        }
    }
    found
}

/// Tells of a route that is Invalid and would have gone before the chosen one.
pub(super) fn invalid(route: &Route, chosen: Option<&Route>) -> Option<Anomaly> {
    let ahead = chosen.is_none_or(|chosen| {
        let (length, other) = (route.prefix.prefix_len(), chosen.prefix.prefix_len());
        length > other || (length == other && route.row.source.rank() < chosen.row.source.rank())
    });
    (route.row.state == State::Invalid && ahead).then(|| {
        let (source, prefix, hop) = (route.row.source.as_str(), route.prefix, &route.row.hop_type);
        let detail = format!("the {source} route {prefix} to {hop} would go first, but it is Invalid");
        Anomaly::new(Code::InvalidShadow, &route.row, detail)
    })
}

/// Says where the forward path and the return path part.
pub(super) fn asymmetry(there: &Route, back: &Route) -> Option<Anomaly> {
    let path = |route: &Route| match route.row.hop {
        Hop::Appliance => Some(route.row.hop_ips.clone()),
        Hop::Gateway => Some(vec!["the gateway".to_owned()]),
        Hop::None => Some(vec!["nowhere".to_owned()]),
        Hop::Local | Hop::Peering | Hop::ServiceEndpoint | Hop::Other => None,
    };
    let (out, home) = (path(there), path(back));
    (out != home).then(|| {
        let say = |path: Option<Vec<String>>| {
            path.map_or_else(|| "the network itself".to_owned(), |path| path.join(", "))
        };
        Anomaly::new(
            Code::AsymmetricReturn,
            &there.row,
            format!(
                "the forward path is {} ({}), the return path {} ({})",
                say(out),
                there.prefix,
                say(home),
                back.prefix
            ),
        )
    })
}
