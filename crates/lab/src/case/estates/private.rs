//! Complaints about a service of the platform that has an address inside: a private endpoint, the zone of its name, and what may be wrong
//! with them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::Ipv4Addr;

use super::draw::{Tried, flow_slots, judged};
use super::estate::Role;
use super::walk::{Flow, walk};
use super::words::{About, Seen, Slots, complaint};
use super::write::PROVIDERS;
use crate::case::model::Pair;
use crate::case::random::Rng;
use crate::host::Protocol;

/// The place of the endpoint in its subnet.
const ENDPOINT: u32 = 210;
/// The place at which it was before it was made again.
const BEFORE: u32 = 211;
/// The platform's own name server.
const NAMES: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// A service: its type, the part that is called, the end of its names, its zone, its port.
type Service = (&'static str, &'static str, &'static str, &'static str, u16);

const SERVICES: [Service; 3] = [
    ("Microsoft.Sql/servers", "sqlServer", "database.windows.net", "privatelink.database.windows.net", 1433),
    ("Microsoft.KeyVault/vaults", "vault", "vault.azure.net", "privatelink.vaultcore.azure.net", 443),
    (
        "Microsoft.DBforPostgreSQL/servers",
        "postgresqlServer",
        "postgres.database.azure.com",
        "privatelink.postgres.database.azure.com",
        5432,
    ),
];

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Wrong {
    #[default]
    Nothing,
    /// The network does not see the zone.
    Unlinked,
    /// The zone has no record.
    Missing,
    /// The record is an old address.
    Stale,
    /// Nobody let the endpoint in.
    Pending,
}

/// Somebody calls a service by its name. All else on the path is in order, so that the name or the endpoint decides.
pub(super) fn private(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let Some(flow) = tried.drawn.flows.get(rng.below(tried.drawn.flows.len())).cloned() else { return };
    let estate = &tried.drawn.estate;
    let Some(caller) = estate.owner(flow.source).filter(|own| own.role != Role::Appliance) else { return };
    let Some(subnet) = estate.subnet(&caller.subnet) else { return };
    let service = rng.one(&SERVICES);
    let (_, group, suffix, zone, port) = service;
    let (address, old) = (subnet.prefix.at(ENDPOINT), subnet.prefix.at(BEFORE));
    let question = |destination, protocol, port| Flow { source: caller.address, destination, protocol, port };
    let is_clear = [question(address, Protocol::Tcp, port), question(NAMES, Protocol::Udp, 53)]
        .iter()
        .all(|flow| walk(estate, flow).is_fine());
    if estate.owner(address).or(estate.owner(old)).is_some() || !is_clear {
        return;
    }
    let all = [Wrong::Unlinked, Wrong::Missing, Wrong::Stale, Wrong::Pending];
    let wrong = if healthy { Wrong::Nothing } else { rng.one(&all) };
    let label = format!("{}{}", tried.drawn.app, group.get(..3).unwrap_or(group).to_lowercase());
    let name = format!("{label}.{suffix}");
    let network = subnet.network().to_owned();
    let expected = match wrong {
        Wrong::Nothing => None,
        Wrong::Unlinked => Some(Pair::new("private_dns_unlinked", format!("zone/{zone}/{network}"))),
        Wrong::Missing => Some(Pair::new("private_dns_record_missing", format!("zone/{zone}/{label}"))),
        Wrong::Stale => Some(Pair::new("private_dns_record_stale", format!("zone/{zone}/{label}"))),
        Wrong::Pending => Some(Pair::new("pe_not_approved", format!("pe/{label}-pe"))),
    };
    let record = match wrong {
        Wrong::Missing => None,
        Wrong::Stale => Some(old),
        Wrong::Nothing | Wrong::Unlinked | Wrong::Pending => Some(address),
    };
    let mut text = endpoint(&label, &service, (&network, subnet.short()), address, wrong == Wrong::Pending);
    text.push_str(&zone_table(
        zone,
        (wrong != Wrong::Unlinked).then_some(&network),
        record.map(|to| (&*label, to)),
    ));
    let notes = format!("{} -> {name} tcp/{port}: {wrong:?}", caller.name);
    let mut slots = Slots::default();
    flow_slots(&mut slots, &tried.drawn, &flow, rng);
    for (slot, value) in &mut slots.values {
        match *slot {
            "{d}" | "{dn}" | "{da}" => value.clone_from(&name),
            "{p}" => *value = port.to_string(),
            "{prog}" => "the database".clone_into(value),
            _ => {}
        }
    }
    let seen = if healthy { Seen::Doubt } else { Seen::Timeout };
    let mut own = judged(complaint(About::Flow(seen), &slots, rng), &[], &[], notes);
    own.expected = expected.into_iter().collect::<BTreeSet<Pair>>();
    tried.more.push_str(&text);
    tried.complaints.push(own);
}

/// Writes an endpoint with its interface.
fn endpoint(
    label: &str,
    (kind, group, suffix, ..): &Service,
    (network, subnet): (&str, &str),
    address: Ipv4Addr,
    is_pending: bool,
) -> String {
    let subnet = format!("{PROVIDERS}/Microsoft.Network/virtualNetworks/{network}/subnets/{subnet}");
    let status = if is_pending { "Pending" } else { "Approved" };
    let nic = format!("{label}-pe-nic");
    format!(
        "[[change]]\nput = \"Microsoft.Network/networkInterfaces/{nic}\"\n\n[change.body]\nlocation = \"eastus\"\n\n\
         [[change.body.properties.ipConfigurations]]\nname = \"one\"\n\
         properties = {{ privateIPAddress = \"{address}\", subnet = {{ id = \"{subnet}\" }}, primary = true }}\n\n\
         [[change]]\nput = \"Microsoft.Network/privateEndpoints/{label}-pe\"\n\n[change.body]\nlocation = \"eastus\"\n\n\
         [change.body.properties]\nsubnet = {{ id = \"{subnet}\" }}\n\
         networkInterfaces = [{{ id = \"{PROVIDERS}/Microsoft.Network/networkInterfaces/{nic}\" }}]\n\
         customDnsConfigs = [{{ fqdn = \"{label}.{suffix}\", ipAddresses = [\"{address}\"] }}]\n\n\
         [[change.body.properties.privateLinkServiceConnections]]\nname = \"one\"\n\
         properties = {{ privateLinkServiceId = \"{PROVIDERS}/{kind}/{label}\", groupIds = [\"{group}\"], \
         privateLinkServiceConnectionState = {{ status = \"{status}\" }} }}\n\n"
    )
}

/// Writes a private zone, with a link where a network sees it and a record where it has one.
fn zone_table(zone: &str, network: Option<&String>, record: Option<(&str, Ipv4Addr)>) -> String {
    let place = format!("Microsoft.Network/privateDnsZones/{zone}");
    let mut text = format!("[[change]]\nput = \"{place}\"\n\n[change.body]\nlocation = \"global\"\n\n");
    if let Some(network) = network {
        let _ = write!(
            text,
            "[[change]]\nput = \"{place}/virtualNetworkLinks/{network}\"\n\n[change.body]\nlocation = \"global\"\n\n\
             [change.body.properties]\nregistrationEnabled = false\n\
             virtualNetwork = {{ id = \"{PROVIDERS}/Microsoft.Network/virtualNetworks/{network}\" }}\n\n"
        );
    }
    if let Some((label, address)) = record {
        let _ = write!(
            text,
            "[[change]]\nput = \"{place}/A/{label}\"\n\n[change.body.properties]\nttl = 300\n\
             aRecords = [{{ ipv4Address = \"{address}\" }}]\n\n"
        );
    }
    text
}
