//! Kubernetes clusters of the platform, as `az aks list` prints them: whether they run, who may call their API servers, and how their
//! nodes leave to the internet.

use ipnet::IpNet;
use serde_json::{Map, Value};

use super::bundle::Cloud;
use super::document::Known;
use super::topology::{has, inner, part_after, rows};
use crate::net::{DocumentError, Fields, parse_prefix};

/// A cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cluster {
    pub(super) name: String,
    /// Whether it runs, where that is said.
    pub(super) is_running: Option<bool>,
    /// What became of its last change.
    pub(super) state: String,
    /// The name of its API server; nothing where it has none on the internet.
    pub(super) public_name: Option<String>,
    /// The same inside of networks that see its private zone.
    pub(super) private_name: Option<String>,
    /// Who may call the API server by its public name; anybody where there are none.
    pub(super) ranges: Vec<IpNet>,
    pub(super) outbound: Outbound,
    /// The pools of its nodes in networks of somebody's own: name, network and subnet.
    pub(super) pools: Vec<(String, (String, String))>,
}

/// How nodes leave to the internet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outbound {
    /// By a load balancer or a NAT gateway that the cluster keeps itself, as it is written.
    Managed(String),
    /// By whatever the route table of their subnet names, and by nothing else.
    Routes,
    /// By what their subnet has.
    Subnet,
    /// It is not said, or by nothing.
    Other,
}

/// Reads all clusters. One that cannot be read leaves all unknown: it might be the one that is called.
pub(super) fn clusters(cloud: &Cloud) -> Known<Vec<Cluster>> {
    Known::of(cloud.clusters.as_ref(), |text| {
        let is_row =
            |map: &Map<String, Value>| has(map, "agentPoolProfiles") || has(map, "nodeResourceGroup");
        let read = rows(text, "clusters", is_row, |row, _| cluster(row));
        let (found, odd) = read.map_err(|error: DocumentError| error.to_string())?;
        odd.into_iter().next().map_or(Ok(found), Err)
    })
}

fn cluster(row: &Value) -> Option<Cluster> {
    let body = inner(row);
    let list =
        |of: &'_ Value, name: &str| of.field(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let name_of = |field: &str| body.text(field).filter(|name| !name.is_empty()).map(str::to_ascii_lowercase);
    let access = body.field("apiServerAccessProfile");
    let is_private =
        access.and_then(|own| own.field("enablePrivateCluster")).and_then(Value::as_bool) == Some(true);
    let ranges = access.map(|own| list(own, "authorizedIPRanges")).unwrap_or_default();
    let outbound = body.field("networkProfile").and_then(|own| own.text("outboundType")).unwrap_or_default();
    let pools = list(body, "agentPoolProfiles").into_iter().filter_map(|pool| {
        let id = pool.text("vnetSubnetID")?.to_owned();
        let place = (part_after(&id, "virtualNetworks")?, part_after(&id, "subnets")?);
        Some((pool.text("name")?.to_owned(), place))
    });
    Some(Cluster {
        name: row.text("name")?.to_owned(),
        is_running: body.field("powerState").and_then(|own| own.text("code")).and_then(|word| {
            match word.to_ascii_lowercase().as_str() {
                "running" => Some(true),
                "stopped" => Some(false),
                _ => None,
            }
        }),
        state: body.text("provisioningState").unwrap_or("unknown").to_owned(),
        public_name: name_of("fqdn").filter(|_| !is_private),
        private_name: name_of("privateFQDN"),
        ranges: ranges.iter().map(|range| range.as_str().and_then(parse_prefix)).collect::<Option<_>>()?,
        outbound: match outbound.to_ascii_lowercase().as_str() {
            "loadbalancer" | "managednatgateway" => Outbound::Managed(outbound.to_owned()),
            "userdefinedrouting" => Outbound::Routes,
            "userassignednatgateway" => Outbound::Subnet,
            _ => Outbound::Other,
        },
        pools: pools.collect(),
    })
}
