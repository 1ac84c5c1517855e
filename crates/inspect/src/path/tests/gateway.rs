//! Gateways to other sites.

use serde_json::{Value, json};

use super::draft::{Draft, summary};
use crate::path::{Bundle, Estate, Fate, Flow, Judgement, Kind, Protocol, Reading};

const ID: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";

fn text(value: &Value) -> Option<Reading> {
    Some(Reading::Text(value.to_string()))
}

/// Two subnets, and a gateway with a connection to the site `office`, which has 192.168.50.0/24.
struct Office {
    draft: Draft,
    status: &'static str,
    is_bgp: bool,
    prefix: &'static str,
    /// Whether the interfaces have the routes of the gateway.
    routed: bool,
    learned: Vec<&'static str>,
    peer: &'static str,
}

fn office() -> Office {
    Office {
        draft: Draft::two().gateway("app", "10.0.255.0/27"),
        status: "Connected",
        is_bgp: false,
        prefix: "192.168.50.0/24",
        routed: true,
        learned: Vec::new(),
        peer: "Connected",
    }
}

impl Office {
    fn bundle(&self) -> Bundle {
        let mut bundle = self.draft.bundle();
        let subnet = json!({"id": format!("{ID}/virtualNetworks/app/subnets/GatewaySubnet")});
        bundle.cloud.virtual_gateways = text(&json!([{"name": "gw", "gatewayType": "Vpn",
            "ipConfigurations": [{"name": "default", "subnet": subnet}]}]));
        bundle.cloud.connections = text(&json!([{"name": "to-office", "connectionType": "IPsec",
            "connectionStatus": self.status, "enableBgp": self.is_bgp,
            "virtualNetworkGateway1": {"id": format!("{ID}/virtualNetworkGateways/gw")},
            "localNetworkGateway2": {"id": format!("{ID}/localNetworkGateways/office")}}]));
        bundle.cloud.local_gateways = text(&json!([{"name": "office", "gatewayIpAddress": "198.51.100.7",
            "bgpSettings": {"asn": 65050, "bgpPeeringAddress": "172.31.0.1"},
            "localNetworkAddressSpace": {"addressPrefixes": [self.prefix]}}]));
        let learned: Vec<Value> = self
            .learned
            .iter()
            .map(|prefix| json!({"network": prefix, "origin": "EBgp", "sourcePeer": "172.31.0.1"}))
            .collect();
        bundle.cloud.learned_routes = text(&json!([{"gateway": "gw", "value": learned}]));
        bundle.cloud.bgp_peers =
            text(&json!([{"gateway": "gw", "value": [{"neighbor": "172.31.0.1", "state": self.peer}]}]));
        let row = |source: &str, prefix: &str, hop: &str| {
            json!({"source": source, "state": "Active", "addressPrefix": [prefix], "nextHopType": hop,
                "nextHopIpAddress": []})
        };
        let mut rows = vec![
            row("Default", "10.0.0.0/16", "VnetLocal"),
            row("Default", "0.0.0.0/0", "Internet"),
            row("Default", "192.168.0.0/16", "None"),
        ];
        if self.routed {
            rows.push(row("VirtualNetworkGateway", "192.168.50.0/24", "VirtualNetworkGateway"));
        }
        let nic = bundle.nics.entry("web-nic".to_owned()).or_default();
        nic.routes = text(&json!({"value": rows}));
        bundle.cloud.load_balancers = text(&json!([]));
        bundle
    }

    fn judge(&self, to: &str) -> Judgement {
        judge(&self.bundle(), "10.0.1.4", to)
    }
}

fn judge(bundle: &Bundle, from: &str, to: &str) -> Judgement {
    let flow = Flow::new(from.parse().unwrap(), to.parse().unwrap(), Protocol::Tcp, Some(443)).unwrap();
    Estate::of(bundle).judge(&flow)
}

const THERE: &str = "192.168.50.20";

#[test]
fn a_connection_that_is_up_leads_out_of_what_was_read() {
    let judged = office().judge(THERE);
    assert_eq!(summary(&judged), ["INDETERMINATE"], "{judged:#?}");
    assert!(judged.forward.iter().any(|hop| hop.kind == Kind::Gateway && hop.reason.contains("to-office")));
}

#[test]
fn a_connection_that_is_not_up_is_named_with_what_the_platform_found() {
    let down = Office { status: "NotConnected", ..office() };
    assert_eq!(summary(&down.judge(THERE)), ["BLOCKED", "vpn_down vpn/to-office"]);
    for (found, code) in [
        ("Authentication", "vpn_key_mismatch"),
        ("IkePolicyMismatch", "vpn_ike_mismatch"),
        ("PeerReachability", "vpn_peer_unreachable"),
        ("PlannedMaintenance", "vpn_down"),
    ] {
        let mut bundle = down.bundle();
        bundle.cloud.troubles = text(&json!([{"connection": "to-office", "results": [{"id": found}]}]));
        assert_eq!(
            summary(&judge(&bundle, "10.0.1.4", THERE)),
            ["BLOCKED", &format!("{code} vpn/to-office")]
        );
    }
    let unknown = Office { status: "Unknown", ..office() };
    assert_eq!(summary(&unknown.judge(THERE)), ["INDETERMINATE"]);
}

#[test]
fn one_of_two_connections_to_the_same_prefix_is_enough() {
    let mut bundle = Office { status: "NotConnected", ..office() }.bundle();
    let end = |name: &str, status: &str| {
        json!({"name": name, "connectionType": "IPsec", "connectionStatus": status,
            "virtualNetworkGateway1": {"id": "/virtualNetworkGateways/gw"},
            "localNetworkGateway2": {"id": "/localNetworkGateways/office"}})
    };
    bundle.cloud.connections = text(&json!([end("one", "NotConnected"), end("two", "Connected")]));
    assert_eq!(summary(&judge(&bundle, "10.0.1.4", THERE)), ["INDETERMINATE"]);
}

#[test]
fn what_was_not_read_never_accuses_a_gateway() {
    let without: [fn(&mut Bundle); 4] = [
        |bundle| bundle.cloud.virtual_gateways = None,
        |bundle| bundle.cloud.connections = None,
        |bundle| bundle.cloud.local_gateways = None,
        |bundle| bundle.cloud.connections = Some(Reading::Failed { error: "refused".to_owned() }),
    ];
    for remove in without {
        let mut bundle = Office { status: "NotConnected", ..office() }.bundle();
        remove(&mut bundle);
        let judged = judge(&bundle, "10.0.1.4", THERE);
        assert_eq!(judged.fate, Fate::Unknown, "{judged:#?}");
        assert!(judged.findings().is_empty());
    }
}

#[test]
fn a_site_without_the_address_and_one_inside_of_the_network_are_named() {
    let other = Office { routed: false, ..office() };
    assert_eq!(summary(&other.judge("192.168.51.20")), ["BLOCKED", "vpn_prefix_missing localgateway/office"]);
    let inside = Office { prefix: "10.0.7.0/24", ..office() };
    assert_eq!(summary(&inside.judge("10.0.7.20")), ["BLOCKED", "vpn_prefix_overlap localgateway/office"]);
    // Somebody has it.
    assert_eq!(summary(&inside.judge("10.0.2.4"))[0], "BLOCKED");
    assert!(inside.judge("10.0.2.4").findings().iter().all(|own| own.to_string().starts_with("tcp_refused")));
}

#[test]
fn a_table_that_keeps_out_the_routes_of_gateways_is_named() {
    let mut draft = office();
    draft.draft = draft.draft.route("app/web", "x", "10.99.0.0/16", "None", None);
    draft.routed = false;
    let mut bundle = draft.bundle();
    let Some(Reading::Text(tables)) = &bundle.cloud.route_tables else { panic!("they are drawn") };
    let mut tables: Value = serde_json::from_str(tables).unwrap();
    tables[0]["properties"]["disableBgpRoutePropagation"] = json!(true);
    let open = judge(&bundle, "10.0.1.4", THERE);
    assert!(open.findings().iter().all(|own| !own.to_string().starts_with("route_prop")), "{open:#?}");
    bundle.cloud.route_tables = text(&tables);
    assert_eq!(
        summary(&judge(&bundle, "10.0.1.4", THERE)),
        ["BLOCKED", "route_propagation_off routetable/app-web-rt"]
    );
}

#[test]
fn a_gateway_with_bgp_is_asked_for_its_peers_before_a_route_is_missing() {
    let bgp = || Office { is_bgp: true, prefix: "172.31.0.1/32", routed: false, ..office() };
    assert_eq!(summary(&bgp().judge(THERE)), ["BLOCKED", "bgp_route_missing bgp/gw/192.168.50.20/32"]);
    let silent = Office { peer: "Connecting", ..bgp() };
    assert_eq!(summary(&silent.judge(THERE)), ["BLOCKED", "bgp_peer_down bgp/gw/172.31.0.1"]);
    let down = Office { status: "NotConnected", ..bgp() };
    assert_eq!(summary(&down.judge(THERE)), ["BLOCKED", "vpn_down vpn/to-office"]);
    let good = Office { routed: true, learned: vec!["192.168.50.0/24"], ..bgp() };
    assert_eq!(summary(&good.judge(THERE)), ["INDETERMINATE"]);
    let mut unread = bgp().bundle();
    unread.cloud.learned_routes = None;
    let judged = judge(&unread, "10.0.1.4", THERE);
    assert!(judged.findings().iter().all(|own| !own.to_string().starts_with("bgp")), "{judged:#?}");
}

#[test]
fn a_circuit_is_asked_layer_by_layer() {
    let with = |provider: &str, peering: &str| {
        let mut bundle = Office { routed: false, ..office() }.bundle();
        bundle.cloud.connections = text(&json!([{"name": "to-dc", "connectionType": "ExpressRoute",
            "connectionStatus": "Connected", "virtualNetworkGateway1": {"id": "/virtualNetworkGateways/gw"},
            "peer": {"id": "/expressRouteCircuits/dc"}}]));
        bundle.cloud.circuits = text(&json!([{"name": "dc", "circuitProvisioningState": "Enabled",
            "serviceProviderProvisioningState": provider,
            "peerings": [{"name": "AzurePrivatePeering", "state": peering}]}]));
        summary(&judge(&bundle, "10.0.1.4", THERE))
    };
    assert_eq!(with("NotProvisioned", "Enabled"), ["BLOCKED", "er_circuit_down er/dc"]);
    assert_eq!(with("Provisioned", "Disabled"), ["BLOCKED", "er_peering_down er/dc/AzurePrivatePeering"]);
    assert_eq!(with("Provisioned", "Enabled"), ["BLOCKED", "bgp_route_missing bgp/gw/192.168.50.20/32"]);
}

#[test]
fn whoever_comes_from_a_site_comes_in_by_the_gateway_and_its_routes() {
    let mut draft = office();
    draft.draft = draft.draft.listens("web", "0.0.0.0:443");
    let bundle = draft.bundle();
    let judged = judge(&bundle, THERE, "10.0.1.4");
    assert_eq!(judged.fate, Fate::Passes, "{judged:#?}");
    draft.draft =
        draft.draft.route("app/GatewaySubnet", "to-nva", "10.0.1.0/24", "VirtualAppliance", Some("10.0.9.9"));
    let judged = judge(&draft.bundle(), THERE, "10.0.1.4");
    assert_eq!(summary(&judged), ["BLOCKED", "route_dead_nva route/app-GatewaySubnet-rt/to-nva"]);
}
