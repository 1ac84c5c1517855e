//! Kubernetes clusters: their API servers and their nodes.

use serde_json::{Value, json};

use super::draft::{Draft, summary};
use crate::path::{Bundle, Estate, Flow, Judgement, Kind, Protocol, Reading};

const ID: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";
const ZONE: &str = "4f0c.privatelink.westeurope.azmk8s.io";

/// `web` (10.0.1.4, seen as 20.1.1.4) calls the API server of `prod`, whose nodes are in 10.0.5.0/24.
struct Place {
    draft: Draft,
    cluster: Value,
    /// The zone of the private name: the networks that see it.
    links: Vec<&'static str>,
}

fn place() -> Place {
    let draft = Draft::default()
        .network("app", "10.0.0.0/16", &[("web", "10.0.1.0/24"), ("nodes", "10.0.5.0/24")])
        .machine("web", "10.0.1.4", "app/web")
        .public("web", "20.1.1.4");
    let subnet = format!("{ID}/virtualNetworks/app/subnets/nodes");
    let cluster = json!({"name": "prod", "provisioningState": "Succeeded", "powerState": {"code": "Running"},
        "nodeResourceGroup": "MC_g_prod_westeurope", "fqdn": "prod-x.hcp.westeurope.azmk8s.io",
        "agentPoolProfiles": [{"name": "pool1", "vnetSubnetID": subnet}],
        "networkProfile": {"outboundType": "loadBalancer"},
        "apiServerAccessProfile": {"enablePrivateCluster": false, "authorizedIPRanges": []}});
    Place { draft, cluster, links: Vec::new() }
}

impl Place {
    fn set(mut self, pointer: &str, value: Value) -> Self {
        *self.cluster.pointer_mut(pointer).unwrap() = value;
        self
    }

    fn private(mut self, links: &[&'static str]) -> Self {
        self.cluster["privateFQDN"] = json!(format!("prod-x.{ZONE}"));
        self.links = links.to_vec();
        self.set("/apiServerAccessProfile/enablePrivateCluster", json!(true))
    }

    fn bundle(&self) -> Bundle {
        let mut bundle = self.draft.bundle();
        let text = |value: Value| Some(Reading::Text(value.to_string()));
        let zone = format!("{ID}/privateDnsZones/{ZONE}");
        bundle.cloud.clusters = text(json!([self.cluster]));
        bundle.cloud.private_endpoints = text(json!([]));
        bundle.cloud.accounts = text(json!([]));
        let is_private = self.cluster.get("privateFQDN").is_some();
        let zones = if is_private { json!([{"id": zone, "name": ZONE}]) } else { json!([]) };
        bundle.cloud.zones = text(zones);
        let links: Vec<Value> = self
            .links
            .iter()
            .map(|network| {
                json!({
            "id": format!("{zone}/virtualNetworkLinks/{network}"),
            "virtualNetwork": {"id": format!("{ID}/virtualNetworks/{network}")}})
            })
            .collect();
        bundle.cloud.zone_links = text(json!(links));
        bundle.cloud.zone_records = text(if is_private {
            json!([{"id": format!("{zone}/A/prod-x"), "name": "prod-x", "aRecords": [{"ipv4Address": "10.0.5.100"}]}])
        } else {
            json!([])
        });
        bundle
    }

    fn judge(&self) -> Judgement {
        self.judge_from("10.0.1.4")
    }

    fn judge_from(&self, from: &str) -> Judgement {
        let estate = Estate::of(&self.bundle());
        estate.judge(&estate.flow_to_cluster(from.parse().unwrap(), "prod").unwrap())
    }

    fn leave(&self) -> Judgement {
        let estate = Estate::of(&self.bundle());
        let (_, nodes) = estate.clusters().next().unwrap();
        estate.judge(&Flow::new(nodes[0], [8, 8, 8, 8].into(), Protocol::Tcp, Some(443)).unwrap())
    }
}

#[track_caller]
fn check(judged: &Judgement, expected: &[&str]) {
    assert_eq!(summary(judged), expected, "{judged:#?}");
}

#[test]
fn the_api_server_of_a_running_cluster_takes_calls() {
    let judged = place().judge();
    check(&judged, &["PASSES"]);
    assert_eq!(judged.forward.last().map(|hop| hop.kind), Some(Kind::Cluster));
}

#[test]
fn a_cluster_that_is_stopped_answers_nobody() {
    check(&place().set("/powerState/code", json!("Stopped")).judge(), &["BLOCKED", "aks_stopped aks/prod"]);
}

#[test]
fn who_is_in_no_authorized_range_is_kept_out() {
    let with = |ranges: Value| place().set("/apiServerAccessProfile/authorizedIPRanges", ranges);
    check(&with(json!(["203.0.113.0/24"])).judge(), &["BLOCKED", "aks_api_restricted aks/prod"]);
    check(&with(json!(["203.0.113.0/24", "20.1.1.4/32"])).judge(), &["PASSES"]);
    check(&with(json!(["20.1.1.4"])).judge(), &["PASSES"]);
    // Somebody outside is known by an address; whoever is not is not judged.
    check(
        &with(json!(["203.0.113.0/24"])).judge_from("198.51.100.7"),
        &["BLOCKED", "aks_api_restricted aks/prod"],
    );
    check(&with(json!(["203.0.113.0/24"])).judge_from("203.0.113.7"), &["PASSES"]);
    assert_eq!(with(json!(["203.0.113.0/24"])).judge_from("8.8.8.8").fate.verdict(), "INDETERMINATE");
}

#[test]
fn a_private_name_needs_a_zone_that_the_network_sees() {
    check(&place().private(&["app"]).judge(), &["PASSES"]);
    let found = format!("private_dns_unlinked zone/{ZONE}/app");
    check(&place().private(&[]).judge(), &["BLOCKED", &found]);
    // Ranges are for the public name alone.
    let both = place()
        .private(&["app"])
        .set("/apiServerAccessProfile/authorizedIPRanges", json!(["203.0.113.0/24"]));
    check(&both.judge(), &["PASSES"]);
}

#[test]
fn nodes_leave_by_what_the_cluster_says() {
    check(
        &place().set("/networkProfile/outboundType", json!("userDefinedRouting")).leave(),
        &["BLOCKED", "outbound_absent subnet/app/nodes/outbound"],
    );
    let own = place().set("/networkProfile/outboundType", json!("userDefinedRouting"));
    let draft =
        own.draft.clone().route("app/nodes", "default", "0.0.0.0/0", "VirtualAppliance", Some("10.0.1.99"));
    check(&Place { draft, ..own }.leave(), &["BLOCKED", "route_dead_nva route/app-nodes-rt/default"]);
    let managed = place().leave();
    assert!(managed.stops().is_empty(), "{managed:#?}");
}

#[test]
fn what_is_not_said_leaves_it_open() {
    assert_eq!(place().set("/provisioningState", json!("Updating")).judge().fate.verdict(), "INDETERMINATE");
    assert_eq!(place().set("/powerState", json!({})).judge().fate.verdict(), "INDETERMINATE");
}
