//! Bastion hosts, as `az network bastion list` prints them.

use serde_json::{Map, Value};

use super::bundle::Cloud;
use super::document::Known;
use super::needed::{Needed, NeededPeer};
use super::topology::{Network, has, inner, part_after, rows};
use crate::net::{DocumentError, Fields};
use crate::nsg::Direction;

/// What the group of its subnet has to let pass. What goes on to machines is judged with the flow itself.
const NEEDED: [Needed; 3] = [
    Needed { peer: NeededPeer::Manager, direction: Direction::Inbound, ports: (443, 443) },
    Needed { peer: NeededPeer::Cloud, direction: Direction::Outbound, ports: (443, 443) },
    Needed { peer: NeededPeer::Users, direction: Direction::Inbound, ports: (443, 443) },
];

/// A bastion host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bastion {
    pub(super) name: String,
    /// Network and subnet; nothing where it shares one of the platform's.
    pub(super) subnet: Option<(String, String)>,
    /// What became of its last change; nothing where it was not read.
    pub(super) state: Option<String>,
    pub(super) sku: String,
    /// Whether clients of people's own may pass; nothing where that is not said.
    pub(super) tunneling: Option<bool>,
    /// Whether it connects to addresses that no machine of the platform has.
    pub(super) ip_connect: Option<bool>,
    has_public: bool,
}

impl Bastion {
    /// Returns what the group of its subnet has to let pass.
    pub(super) fn needed(&self) -> &'static [Needed] {
        // Nobody comes from outside to one without a public address.
        if self.has_public { &NEEDED } else { NEEDED.split_last().map_or(&[], |(_, others)| others) }
    }
}

/// The subnet in which they stand.
const SUBNET: &str = "AzureBastionSubnet";

/// Returns the bastion hosts, and whether their list was read. Where it could not be, each network with a subnet for one has one of which
/// nothing is known: what stops its connections is seen all the same.
pub(super) fn bastions(cloud: &Cloud, networks: &[Network]) -> (Vec<Bastion>, Known<()>) {
    match listed(cloud) {
        Known::Read(found) => (found, Known::Read(())),
        Known::Absent => (Vec::new(), Known::Absent),
        Known::Failed(why) => {
            let own = networks.iter().flat_map(|network| {
                let own = network.subnets.iter().filter(|own| own.name.eq_ignore_ascii_case(SUBNET));
                own.map(|subnet| unread(&network.name, &subnet.name))
            });
            (own.collect(), Known::Failed(why))
        }
    }
}

fn unread(network: &str, subnet: &str) -> Bastion {
    Bastion {
        name: format!("{network}/{subnet}"),
        subnet: Some((network.to_owned(), subnet.to_owned())),
        state: None,
        sku: "not read".to_owned(),
        tunneling: None,
        ip_connect: None,
        has_public: false,
    }
}

fn listed(cloud: &Cloud) -> Known<Vec<Bastion>> {
    Known::of(cloud.bastions.as_ref(), |text| {
        let is_row = |map: &Map<String, Value>| {
            ["ipConfigurations", "scaleUnits", "dnsName"].iter().any(|name| has(map, name))
        };
        let read = rows(text, "bastion hosts", is_row, |row, _| bastion(row));
        let (found, odd) = read.map_err(|error: DocumentError| error.to_string())?;
        odd.into_iter().next().map_or(Ok(found), Err)
    })
}

fn bastion(row: &Value) -> Option<Bastion> {
    let body = inner(row);
    let configurations = body.field("ipConfigurations").and_then(Value::as_array).into_iter().flatten();
    let configurations: Vec<&Value> = configurations.map(inner).collect();
    let subnet = configurations.iter().find_map(|one| {
        let id = one.field("subnet")?.text("id")?;
        Some((part_after(id, "virtualNetworks")?, part_after(id, "subnets")?))
    });
    let sku = row.field("sku").or_else(|| body.field("sku")).and_then(|sku| sku.text("name"));
    let sku = sku.unwrap_or("Standard").to_owned();
    let is_small = ["basic", "developer"].contains(&sku.to_ascii_lowercase().as_str());
    let feature = |name: &str| body.field(name).and_then(Value::as_bool).or(is_small.then_some(false));
    Some(Bastion {
        name: row.text("name")?.to_owned(),
        subnet,
        state: Some(body.text("provisioningState").unwrap_or("unknown").to_owned()),
        tunneling: feature("enableTunneling"),
        ip_connect: feature("enableIpConnect"),
        has_public: configurations
            .iter()
            .any(|one| one.field("publicIPAddress").is_some_and(|public| !public.is_null())),
        sku,
    })
}
