//! A small internet: who answers outside, and how far away.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::Value;

use crate::host::fabric::Fabric;
use crate::host::simulated::wire::chance::Chance;
use ghost_inspect::net::parse_prefix;

/// The platform's own server: names, agents, health.
pub(in crate::host::simulated::wire) const PLATFORM: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);
/// Where a machine learns about itself.
pub(in crate::host::simulated::wire) const METADATA: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);

/// Somebody outside.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::host::simulated::wire) struct ExternalHost {
    /// Whether it answers echoes.
    pub(in crate::host::simulated::wire) echoes: bool,
    /// The TCP ports that answer.
    pub(in crate::host::simulated::wire) ports: &'static [u16],
    /// Whether it answers questions for names.
    pub(in crate::host::simulated::wire) names: bool,
    /// The storage account that it is.
    pub(in crate::host::simulated::wire) account: Option<String>,
    /// There and back, in microseconds.
    pub(in crate::host::simulated::wire) round: u32,
    /// The routers between.
    pub(in crate::host::simulated::wire) hops: u8,
}

type Known = (&'static str, [u8; 4], bool, &'static [u16], u32);

const WEB: &[u16] = &[80, 443];

/// Names, their addresses, whether they answer echoes, the ports, there and back.
const KNOWN: [Known; 16] = [
    ("example.com", [93, 184, 215, 14], true, WEB, 4_200),
    ("www.example.com", [93, 184, 215, 14], true, WEB, 4_200),
    ("archive.ubuntu.com", [185, 125, 190, 36], true, WEB, 76_000),
    ("azure.archive.ubuntu.com", [20, 106, 104, 242], false, WEB, 2_300),
    ("security.ubuntu.com", [185, 125, 190, 82], true, WEB, 76_000),
    ("deb.debian.org", [151, 101, 130, 132], true, WEB, 2_900),
    ("packages.microsoft.com", [13, 107, 246, 44], false, WEB, 2_100),
    ("www.microsoft.com", [23, 200, 156, 27], false, WEB, 3_000),
    ("login.microsoftonline.com", [20, 190, 151, 7], false, &[443], 2_200),
    ("management.azure.com", [20, 37, 158, 1], false, &[443], 2_500),
    ("github.com", [140, 82, 114, 3], true, &[22, 80, 443], 8_400),
    ("www.google.com", [142, 251, 163, 104], true, WEB, 2_600),
    ("google.com", [142, 251, 167, 100], true, WEB, 2_600),
    ("dns.google", [8, 8, 8, 8], true, &[53, 443], 2_000),
    ("one.one.one.one", [1, 1, 1, 1], true, &[53, 80, 443], 1_900),
    ("quad9.net", [9, 9, 9, 9], true, &[53, 443], 2_400),
];

/// Finds the addresses of a name outside.
pub(in crate::host::simulated::wire) fn lookup(fabric: &Fabric, name: &str) -> Option<IpAddr> {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if let Some((_, address, ..)) = KNOWN.iter().find(|known| known.0 == name) {
        return Some(IpAddr::from(*address));
    }
    let (account, rest) = name.split_once('.')?;
    let storage = ["blob", "file", "queue", "table", "dfs"]
        .iter()
        .any(|kind| rest == format!("{kind}.core.windows.net"));
    let known = storage && fabric.accounts.iter().any(|known| known.name == account);
    known.then(|| address_of(fabric, account))
}

/// Tells who an address outside is; nobody is there where nobody is known.
pub(in crate::host::simulated::wire) fn outside(fabric: &Fabric, address: IpAddr) -> Option<ExternalHost> {
    let known = KNOWN.iter().find(|known| IpAddr::from(known.1) == address);
    if let Some((_, bytes, echoes, ports, round)) = known {
        let names = ports.contains(&53);
        let hops = 6 + bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) % 8;
        return Some(ExternalHost { echoes: *echoes, ports, names, account: None, round: *round, hops });
    }
    let account = fabric.accounts.iter().find(|account| address_of(fabric, &account.name) == address)?;
    let account = Some(account.name.clone());
    Some(ExternalHost { echoes: false, ports: WEB, names: false, account, round: 1_100, hops: 4 })
}

/// Every account has an address in the prefixes of its service.
fn address_of(fabric: &Fabric, account: &str) -> IpAddr {
    let tags = fabric.tags.get("values").and_then(Value::as_array);
    let storage = tags.into_iter().flatten().find(|tag| {
        tag.get("name").and_then(Value::as_str).is_some_and(|name| name.eq_ignore_ascii_case("Storage"))
    });
    let prefixes = storage.and_then(|tag| tag.pointer("/properties/addressPrefixes")?.as_array());
    let prefix = prefixes
        .into_iter()
        .flatten()
        .filter_map(|prefix| parse_prefix(prefix.as_str()?))
        .find(|prefix| prefix.addr().is_ipv4() && prefix.prefix_len() <= 28);
    let (base, length) = match prefix.map(|prefix| (prefix.network(), prefix.prefix_len())) {
        Some((IpAddr::V4(base), length)) => (base.to_bits(), length),
        _ => (Ipv4Addr::new(20, 60, 128, 0).to_bits(), 20),
    };
    let room = (1_u64 << (32 - u32::from(length))).saturating_sub(2).max(1);
    let at = 1 + Chance::of(0, &[account], &[]).below(room);
    IpAddr::V4(Ipv4Addr::from_bits(base | u32::try_from(at).unwrap_or(1)))
}
