//! Kubernetes clusters: the names of their API servers, whether they run, and who may call them.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Map, Value, json};

use super::cloud::Cloud;
use super::target::Target;
use crate::host::Cluster;
use ghost_inspect::net::parse_prefix;

const KIND: &str = "Microsoft.ContainerService/managedClusters";

/// A whole cluster: what nobody set is as the platform sets it.
pub(super) fn whole(target: &Target, properties: &mut Map<String, Value>) {
    properties.entry("powerState").or_insert_with(|| json!({"code": "Running"}));
    let group = target.group.clone().unwrap_or_default();
    let node_group = format!("MC_{group}_{}_eastus", target.name());
    properties.entry("nodeResourceGroup").or_insert_with(|| json!(node_group));
    let access =
        properties.entry("apiServerAccessProfile").or_insert_with(|| json!({"enablePrivateCluster": false}));
    let is_private = access.get("enablePrivateCluster") == Some(&json!(true));
    let own = format!("{}-{}", target.name(), super::arm::guid(&target.id()).get(..8).unwrap_or("0"));
    if !is_private {
        properties.entry("fqdn").or_insert_with(|| json!(format!("{own}.hcp.eastus.azmk8s.io")));
    }
    properties
        .entry("networkProfile")
        .or_insert_with(|| json!({"networkPlugin": "azure", "outboundType": "loadBalancer"}));
}

/// Returns all clusters as whoever carries packets needs them.
pub(super) fn clusters(cloud: &Cloud) -> Vec<Cluster> {
    cloud.estate.of(KIND).enumerate().map(|(at, found)| one(at, found)).collect()
}

fn one(at: usize, found: &Value) -> Cluster {
    let name = |field: &str| found.pointer(&format!("/properties/{field}")).and_then(Value::as_str);
    let access = |field: &str| found.pointer(&format!("/properties/apiServerAccessProfile/{field}"));
    let ranges = access("authorizedIPRanges").and_then(Value::as_array).into_iter().flatten();
    let is_private = access("enablePrivateCluster") == Some(&json!(true));
    let last = u8::try_from(20 + at).unwrap_or(u8::MAX);
    Cluster {
        names: ["fqdn", "privateFQDN"].into_iter().filter_map(name).map(str::to_ascii_lowercase).collect(),
        public: (!is_private).then_some(IpAddr::V4(Ipv4Addr::new(20, 72, 8, last))),
        is_running: found.pointer("/properties/powerState/code") != Some(&json!("Stopped")),
        ranges: ranges.filter_map(|range| parse_prefix(range.as_str()?)).collect(),
    }
}

/// Returns the address of the NAT gateway of an interface's subnet, where it has one.
pub(super) fn seen(cloud: &Cloud, document: &Value) -> Option<IpAddr> {
    let by_id = |of: &Value, pointer: &str| cloud.estate.by_id(of.pointer(pointer)?.as_str()?);
    let subnet = by_id(document, "/properties/ipConfigurations/0/properties/subnet/id")?;
    let gateway = by_id(subnet, "/properties/natGateway/id")?;
    let public = by_id(gateway, "/properties/publicIpAddresses/0/id")?;
    public.pointer("/properties/ipAddress")?.as_str()?.parse().ok()
}
