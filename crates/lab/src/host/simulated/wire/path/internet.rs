//! A small internet: who answers outside, and how far away.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::Value;

use crate::host::fabric::{Cluster, Fabric, Nic};
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
    pub(in crate::host::simulated::wire) ports: Vec<u16>,
    /// Whether it answers questions for names.
    pub(in crate::host::simulated::wire) names: bool,
    /// The storage account that it is.
    pub(in crate::host::simulated::wire) account: Option<String>,
    /// There and back, in microseconds.
    pub(in crate::host::simulated::wire) round: u32,
    /// The routers between.
    pub(in crate::host::simulated::wire) hops: u8,
    /// Whether it is at a site behind a gateway: nothing else leads there.
    pub(in crate::host::simulated::wire) is_at_site: bool,
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

/// The services that have private endpoints: the part of the resource, the end of their public names, the end of their private ones, the
/// port.
const SERVICES: [(&str, &str, &str, u16); 7] = [
    ("blob", "blob.core.windows.net", "privatelink.blob.core.windows.net", 443),
    ("file", "file.core.windows.net", "privatelink.file.core.windows.net", 445),
    ("dfs", "dfs.core.windows.net", "privatelink.dfs.core.windows.net", 443),
    ("sqlServer", "database.windows.net", "privatelink.database.windows.net", 1433),
    ("vault", "vault.azure.net", "privatelink.vaultcore.azure.net", 443),
    ("postgresqlServer", "postgres.database.azure.com", "privatelink.postgres.database.azure.com", 5432),
    ("registry", "azurecr.io", "privatelink.azurecr.io", 443),
];

/// Returns the port at which a part of a resource is served.
pub(super) fn port(group: &str) -> u16 {
    SERVICES.iter().find(|(own, ..)| own.eq_ignore_ascii_case(group)).map_or(443, |(.., port)| *port)
}

/// Returns the name of its private link to which the public name of a resource leads, where it has such a link.
pub(super) fn private_name(fabric: &Fabric, name: &str) -> Option<String> {
    SERVICES.iter().find_map(|(group, public, private, _)| {
        let label = name.strip_suffix(public)?.strip_suffix('.')?;
        let linked = fabric.endpoints.iter().any(|own| {
            own.service.eq_ignore_ascii_case(label)
                && own.groups.iter().any(|own| own.eq_ignore_ascii_case(group))
        });
        // Other people have private links, too.
        (linked || label.starts_with("partner")).then(|| format!("{label}.{private}"))
    })
}

/// Finds the addresses of a name outside.
pub(in crate::host::simulated::wire) fn lookup(fabric: &Fabric, name: &str) -> Option<IpAddr> {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if let Some((_, address, ..)) = KNOWN.iter().find(|known| known.0 == name) {
        return Some(IpAddr::from(*address));
    }
    let is_own = |own: &&Cluster| own.names.contains(&name);
    if let Some(cluster) = fabric.clusters.iter().find(is_own) {
        return cluster.public;
    }
    let (account, rest) = name.split_once('.')?;
    let storage = ["blob", "file", "queue", "table", "dfs"]
        .iter()
        .any(|kind| rest == format!("{kind}.core.windows.net"));
    let known = storage && fabric.accounts.iter().any(|known| known.name == account);
    let is_service = SERVICES.iter().any(|(_, public, ..)| *public == rest)
        && (fabric.endpoints.iter().any(|own| own.service.eq_ignore_ascii_case(account))
            || account.starts_with("partner"));
    (known || is_service).then(|| address_of(fabric, account))
}

/// Tells who an address outside is; nobody is there where nobody is known.
pub(in crate::host::simulated::wire) fn outside(fabric: &Fabric, address: IpAddr) -> Option<ExternalHost> {
    let known = KNOWN.iter().find(|known| IpAddr::from(known.1) == address);
    if let Some((_, bytes, echoes, ports, round)) = known {
        let names = ports.contains(&53);
        let hops = 6 + bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) % 8;
        let (ports, is_at_site) = (ports.to_vec(), false);
        return Some(ExternalHost {
            echoes: *echoes,
            ports,
            names,
            account: None,
            round: *round,
            hops,
            is_at_site,
        });
    }
    if let Some(cluster) = fabric.clusters.iter().find(|own| own.public == Some(address)) {
        let ports = if cluster.is_running { vec![443] } else { Vec::new() };
        let (account, is_at_site) = (None, false);
        return Some(ExternalHost {
            echoes: false,
            ports,
            names: false,
            account,
            round: 2_400,
            hops: 5,
            is_at_site,
        });
    }
    let account = fabric.accounts.iter().find(|account| address_of(fabric, &account.name) == address)?;
    let account = Some(account.name.clone());
    let (ports, is_at_site) = (WEB.to_vec(), false);
    Some(ExternalHost { echoes: false, ports, names: false, account, round: 1_100, hops: 4, is_at_site })
}

/// Tells whether somebody outside takes calls of an interface: an API server takes those of some addresses alone.
pub(super) fn takes(fabric: &Fabric, nic: &Nic, to: IpAddr) -> bool {
    let cluster = fabric.clusters.iter().find(|own| own.public == Some(to));
    let is_in = |seen: IpAddr, own: &Cluster| own.ranges.iter().any(|range| range.contains(&seen));
    cluster.is_none_or(|own| own.ranges.is_empty() || nic.seen.is_some_and(|seen| is_in(seen, own)))
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
