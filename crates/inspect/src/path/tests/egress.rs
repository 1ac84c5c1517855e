//! How machines leave to the internet.

use serde_json::{Value, json};

use super::draft::{Draft, summary};
use crate::path::{Bundle, Estate, Fate, Flow, Judgement, Kind, Protocol, Reading};

/// Two subnets, a caller in `web`, of which the properties are set as they are given.
fn bundle(draft: &Draft, set: &Value) -> Bundle {
    let mut bundle = draft.bundle();
    let Some(Reading::Text(networks)) = &bundle.cloud.networks else { panic!("they are drawn") };
    let mut networks: Value = serde_json::from_str(networks).unwrap();
    let own = networks[0]["properties"]["subnets"][0]["properties"].as_object_mut().unwrap();
    own.extend(set.as_object().unwrap().clone());
    bundle.cloud.networks = text(&networks);
    bundle
}

fn text(value: &Value) -> Option<Reading> {
    Some(Reading::Text(value.to_string()))
}

fn judged(bundle: &Bundle) -> Judgement {
    let flow = Flow::new("10.0.1.4".parse().unwrap(), "8.8.8.8".parse().unwrap(), Protocol::Tcp, Some(443));
    Estate::of(bundle).judge(&flow.unwrap())
}

fn gateways(address: bool, failed: u64) -> (Option<Reading>, Option<Reading>) {
    let addresses = if address { json!([{"id": "/publicIPAddresses/one"}]) } else { json!([]) };
    let gateway =
        json!([{"name": "nat", "properties": {"idleTimeoutInMinutes": 4, "publicIpAddresses": addresses}}]);
    let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/natGateways/nat/providers/Microsoft.Insights/metrics/SNATConnectionCount";
    let series = json!([{"data": [{"timeStamp": "t", "total": failed}, {"timeStamp": "u"}]}]);
    let counts = json!([{"value": [{"id": id, "timeseries": series}]}]);
    (text(&gateway), text(&counts))
}

fn by_gateway(address: bool, failed: u64) -> Judgement {
    let mut bundle = bundle(
        &Draft::two(),
        &json!({"natGateway": {"id": "/natGateways/nat"}, "defaultOutboundAccess": false}),
    );
    (bundle.cloud.nat_gateways, bundle.cloud.failed_connections) = gateways(address, failed);
    judged(&bundle)
}

fn public_balancer(is_off: bool, outbound: &Value) -> Value {
    let part = |kind: &str, name: &str| json!({"id": format!("/loadBalancers/lb/{kind}/{name}")});
    json!([{"name": "lb", "properties": {
        "frontendIPConfigurations": [{"name": "front", "properties": {"publicIPAddress": {"id": "/p"}}}],
        "backendAddressPools": [{"name": "pool", "properties": {
            "backendIPConfigurations": [{"id": "/networkInterfaces/web-nic/ipConfigurations/one"}]}}],
        "probes": [], "outboundRules": outbound,
        "loadBalancingRules": [{"name": "rule", "properties": {
            "protocol": "Tcp", "frontendPort": 443, "backendPort": 443, "disableOutboundSnat": is_off,
            "frontendIPConfiguration": part("frontendIPConfigurations", "front"),
            "backendAddressPool": part("backendAddressPools", "pool")}}]}}])
}

#[test]
fn a_subnet_that_gives_no_address_needs_something_that_does() {
    let closed = json!({"defaultOutboundAccess": false});
    let mut alone = bundle(&Draft::two(), &closed);
    // Whether a load balancer leads out is not known yet.
    assert_eq!(summary(&judged(&alone)), ["INDETERMINATE"]);
    alone.cloud.load_balancers = text(&json!([]));
    assert_eq!(summary(&judged(&alone)), ["BLOCKED", "outbound_absent subnet/app/web/outbound"]);
    let own = bundle(&Draft::two().public("web", "20.0.0.4"), &closed);
    assert_eq!(summary(&judged(&own)), ["INDETERMINATE"]);
    let open = bundle(&Draft::two(), &json!({}));
    let judged = judged(&open);
    assert_eq!(judged.fate, Fate::Unknown);
    assert!(judged.forward.iter().any(|hop| hop.kind == Kind::Egress && hop.stops.is_empty()));
}

#[test]
fn a_gateway_without_an_address_lets_nobody_out_and_one_without_ports_a_share() {
    assert_eq!(summary(&by_gateway(false, 0)), ["BLOCKED", "nat_unconfigured natgateway/nat"]);
    assert_eq!(summary(&by_gateway(true, 3)), ["INDETERMINATE"]);
    assert_eq!(summary(&by_gateway(true, 300)), ["INDETERMINATE", "snat_exhausted snat/nat"]);
}

#[test]
fn a_member_of_a_public_load_balancer_leaves_by_it_unless_its_rules_are_not_for_leaving() {
    let with = |is_off: bool, outbound: Value| {
        let mut bundle = bundle(&Draft::two(), &json!({}));
        bundle.cloud.load_balancers = text(&public_balancer(is_off, &outbound));
        bundle.cloud.failed_connections = text(&json!([]));
        summary(&judged(&bundle))
    };
    let out =
        json!([{"name": "out", "properties": {"backendAddressPool": {"id": "/backendAddressPools/pool"}}}]);
    assert_eq!(with(true, json!([])), ["BLOCKED", "outbound_absent subnet/app/web/outbound"]);
    assert_eq!(with(true, out), ["INDETERMINATE"]);
    assert_eq!(with(false, json!([])), ["INDETERMINATE"]);
}
