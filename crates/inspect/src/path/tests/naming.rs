//! Names of private endpoints: who sees which zone, what it holds, and which server is asked.

use serde_json::{Value, json};

use super::draft::{Draft, check};
use crate::path::{Bundle, Estate, Fate, Judgement, Kind, Protocol, Reading};

const NAME: &str = "shop.database.windows.net";
const ZONE: &str = "privatelink.database.windows.net";
const ENDPOINT: &str = "10.0.2.50";

/// A caller, an endpoint at 10.0.2.50, its zone linked to the network of both, and a machine `dns` that serves names.
struct Shop {
    links: Vec<Value>,
    records: Vec<Value>,
    status: &'static str,
    servers: Vec<&'static str>,
    answered: Option<String>,
    draft: Draft,
}

fn of_zone(kind: &str, name: &str, properties: &Value) -> Value {
    let id = format!(
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateDnsZones/{ZONE}/{kind}/{name}"
    );
    json!({"id": id, "name": name, "properties": properties})
}

fn link(network: &str, policy: &str) -> Value {
    let network = json!({"id": format!("/virtualNetworks/{network}")});
    of_zone("virtualNetworkLinks", "l", &json!({"virtualNetwork": network, "resolutionPolicy": policy}))
}

fn record(name: &str, address: &str) -> Value {
    of_zone("A", name, &json!({"ttl": 10, "aRecords": [{"ipv4Address": address}]}))
}

fn answer(server: &str, status: &str, address: &str) -> String {
    let row = if address.is_empty() { String::new() } else { format!("{NAME}. 60 IN A {address}\n") };
    format!(
        "; <<>> DiG 9.18.28 <<>> @{server} {NAME} A +time=2 +tries=1\n;; ->>HEADER<<- opcode: QUERY, status: {status}, id: 7\n{row}"
    )
}

fn shop() -> Shop {
    let draft = Draft::default()
        .network("app", "10.0.0.0/16", &[("web", "10.0.1.0/24"), ("db", "10.0.2.0/24")])
        .machine("web", "10.0.1.4", "app/web")
        .machine("dns", "10.0.2.53", "app/db");
    Shop {
        links: vec![link("app", "Default")],
        records: vec![record("shop", ENDPOINT)],
        status: "Approved",
        servers: Vec::new(),
        answered: None,
        draft,
    }
}

fn text(value: &Value) -> Option<Reading> {
    Some(Reading::Text(value.to_string()))
}

impl Shop {
    fn bundle(&self) -> Bundle {
        let mut bundle = self.draft.bundle();
        bundle.cloud.private_endpoints = text(&json!([{
        "name": "shop-pe",
        "properties": {
            "subnet": {"id": "/virtualNetworks/app/subnets/db"},
            "customDnsConfigs": [{"fqdn": NAME, "ipAddresses": [ENDPOINT]}],
            "privateLinkServiceConnections": [{"properties": {
                "privateLinkServiceId": "/servers/shop", "groupIds": ["sqlServer"],
                "privateLinkServiceConnectionState": {"status": self.status}}}],
        }}]));
        let zone =
            format!("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateDnsZones/{ZONE}");
        bundle.cloud.zones = text(&json!([{"id": zone, "name": ZONE}]));
        bundle.cloud.zone_links = text(&json!(self.links));
        bundle.cloud.zone_records = text(&json!(self.records));
        let Some(Reading::Text(networks)) = &bundle.cloud.networks else { panic!("they are drawn") };
        let mut networks: Value = serde_json::from_str(networks).unwrap();
        networks[0]["properties"]["dhcpOptions"] = json!({"dnsServers": self.servers});
        bundle.cloud.networks = text(&networks);
        let udp =
            "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nUNCONN 0 0 0.0.0.0:53 0.0.0.0:*\n";
        if let Some(guest) = bundle.guests.get_mut("dns") {
            guest.udp = Some(Reading::Text(udp.to_owned()));
        }
        if let Some(guest) = bundle.guests.get_mut("web") {
            guest.answers = self.answered.clone().map(Reading::Text);
        }
        bundle
    }

    fn judge(&self, name: &str) -> Judgement {
        let estate = Estate::of(&self.bundle());
        let flow = estate.flow_to_name("10.0.1.4".parse().unwrap(), name, Protocol::Tcp, None).unwrap();
        estate.judge(&flow)
    }
}

#[test]
fn a_name_leads_to_its_endpoint_where_the_zone_is_linked_and_holds_it() {
    let judged = shop().judge(NAME);
    check(&judged, &["PASSES"]);
    let kinds: Vec<Kind> = judged.forward.iter().map(|hop| hop.kind).collect();
    assert!(kinds.first() == Some(&Kind::Name) && kinds.last() == Some(&Kind::Endpoint), "{kinds:?}");
    assert_eq!((judged.flow.dst.to_string().as_str(), judged.flow.dst_port), (ENDPOINT, Some(1433)));
}

#[test]
fn what_is_wrong_with_a_zone_is_named() {
    let unlinked = format!("private_dns_unlinked zone/{ZONE}/app");
    let missing = format!("private_dns_record_missing zone/{ZONE}/shop");
    let stale = format!("private_dns_record_stale zone/{ZONE}/shop");
    for (links, records, expected) in [
        (vec![link("hub", "Default")], vec![record("shop", ENDPOINT)], &unlinked),
        (vec![link("app", "Default")], vec![record("other", ENDPOINT)], &missing),
        (vec![link("app", "NxDomainRedirect")], Vec::new(), &missing),
        (vec![link("app", "Default")], vec![record("shop", "10.0.2.40")], &stale),
    ] {
        check(&Shop { links, records, ..shop() }.judge(NAME), &["BLOCKED", expected]);
    }
    let pending = Shop { status: "Pending", ..shop() };
    check(&pending.judge(NAME), &["BLOCKED", "pe_not_approved pe/shop-pe"]);
}

#[test]
fn a_zone_that_is_linked_hides_names_of_others_unless_the_link_asks_outside() {
    let theirs = "partner.database.windows.net";
    let hidden = format!("private_dns_shadow zone/{ZONE}/app");
    check(&shop().judge(theirs), &["BLOCKED", &hidden]);
    let open = Shop { links: vec![link("app", "NxDomainRedirect")], ..shop() };
    assert_eq!(open.judge(theirs).fate, Fate::Unknown);
}

#[test]
fn whoever_hears_the_right_address_has_no_trouble_with_the_name() {
    let answered = Some(answer("168.63.129.16", "NOERROR", ENDPOINT));
    check(&Shop { links: Vec::new(), answered, ..shop() }.judge(NAME), &["PASSES"]);
}

#[test]
fn a_server_of_somebodys_own_has_to_be_there_and_to_ask_the_platform() {
    let gone = Shop { servers: vec!["10.0.2.99"], ..shop() };
    check(&gone.judge(NAME), &["BLOCKED", "dns_server_wrong vnet/app/dns"]);
    let own = || Shop { servers: vec!["10.0.2.53"], ..shop() };
    assert_eq!(own().judge(NAME).fate, Fate::Unknown);
    let elsewhere = format!("dns_forwarder_missing dns/10.0.2.53/{ZONE}");
    for answered in [answer("10.0.2.53", "NOERROR", "20.60.1.2"), answer("10.0.2.53", "NXDOMAIN", "")] {
        check(&Shop { answered: Some(answered), ..own() }.judge(NAME), &["BLOCKED", &elsewhere]);
    }
    let right = Shop { answered: Some(answer("10.0.2.53", "NOERROR", ENDPOINT)), ..own() };
    check(&right.judge(NAME), &["PASSES"]);
    let closed = Shop {
        draft: shop().draft.rule("app/db", ("no-dns", 110, "Inbound", "Deny", "*", "*", "*", "53")),
        ..own()
    };
    check(&closed.judge(NAME), &["BLOCKED", "nsg_deny nsg/db-nsg/no-dns"]);
}

#[test]
fn with_the_cause_gone_the_flow_goes_on_to_the_endpoint() {
    let draft = shop().draft.rule("app/web", ("no-sql", 110, "Outbound", "Deny", "*", "*", "*", "1433"));
    let judged = Shop { links: Vec::new(), draft, ..shop() }.judge(NAME);
    check(
        &judged,
        &["BLOCKED", &format!("private_dns_unlinked zone/{ZONE}/app"), "nsg_deny nsg/web-nsg/no-sql"],
    );
}

#[test]
fn without_the_lists_nothing_is_said_of_a_name() {
    let mut bundle = shop().bundle();
    bundle.cloud.zone_links = None;
    let estate = Estate::of(&bundle);
    let flow = estate.flow_to_name("10.0.1.4".parse().unwrap(), NAME, Protocol::Tcp, None).unwrap();
    assert_eq!(estate.judge(&flow).fate, Fate::Unknown);
    bundle.cloud.private_endpoints = None;
    assert_eq!(Estate::of(&bundle).flow_to_name(flow.src, NAME, Protocol::Tcp, None), None);
}
