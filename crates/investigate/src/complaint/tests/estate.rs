//! An estate of two applications, a hub with an appliance, and a partner's machine.

use std::net::IpAddr;

use super::super::{Allow, Complaint, End, Inventory, Listener, Machine, Protocol, Selector, read, resolve};

fn machine(name: &str, address: &str, place: (&str, &str), ports: &[u16]) -> Machine {
    let listener =
        |port: &u16| Listener { protocol: Protocol::Tcp, address: None, port: *port, program: None };
    Machine {
        name: name.to_owned(),
        addresses: vec![address.parse().unwrap()],
        network: Some(place.0.to_owned()),
        subnet: Some(place.1.to_owned()),
        listeners: Some(ports.iter().map(listener).collect()),
        ..Machine::default()
    }
}

fn allow(subnet: &str, source: &str, port: u16) -> Allow {
    let sources = match source.parse() {
        Ok(prefix) => vec![Selector::Prefix(prefix)],
        Err(_) => vec![Selector::Tag(source.to_owned())],
    };
    Allow {
        subnet: Some(("shop-vnet".to_owned(), subnet.to_owned())),
        protocol: Some(Protocol::Tcp),
        sources,
        destinations: vec![Selector::Any],
        ports: vec![port..=port],
        ..Allow::default()
    }
}

/// `shop` has two web, two app machines, a database and a cache; `pay` has one of each but the cache.
pub(in super::super) fn estate() -> Inventory {
    let shop = |subnet| ("shop-vnet", subnet);
    let pay = |subnet| ("pay-vnet", subnet);
    let mut appliance = machine("nva-1", "10.9.0.4", ("hub-vnet", "edge"), &[]);
    appliance.forwards = true;
    let mut public = machine("shop-web-1", "10.1.1.10", shop("web"), &[443]);
    public.public = vec!["203.0.113.10".parse().unwrap()];
    Inventory {
        machines: vec![
            public,
            machine("shop-web-2", "10.1.1.11", shop("web"), &[443]),
            machine("shop-app-1", "10.1.2.10", shop("app"), &[8080]),
            machine("shop-app-2", "10.1.2.11", shop("app"), &[8080]),
            machine("shop-db", "10.1.3.10", shop("db"), &[5432]),
            machine("shop-cache", "10.1.3.40", shop("db"), &[6379]),
            machine("shop-jump", "10.1.8.4", shop("mgmt"), &[22]),
            machine("pay-web", "10.2.1.10", pay("web"), &[443]),
            machine("pay-app", "10.2.2.10", pay("app"), &[8443]),
            machine("pay-db", "10.2.3.10", pay("db"), &[3306]),
            appliance,
            machine("partner-api", "10.5.0.4", ("partner-vnet", "default"), &[8443]),
        ],
        names: Vec::new(),
        elsewhere: Vec::new(),
        others: Vec::new(),
        allows: vec![
            allow("app", "10.1.1.0/24", 8080),
            allow("db", "10.1.2.10/32", 5432),
            allow("db", "VirtualNetwork", 6379),
        ],
    }
}

/// Returns the complaints of a text in that estate.
pub(super) fn complaints(text: &str) -> Vec<Complaint> {
    resolve(&read(text), &estate())
}

/// Returns the one complaint of a text.
pub(in super::super) fn one(text: &str) -> Complaint {
    let mut all = complaints(text);
    assert_eq!(all.len(), 1, "{text}: {all:#?}");
    all.remove(0)
}

/// Returns the flows of a text as `source > destination:port`, one complaint after `|`.
pub(in super::super) fn flows(text: &str) -> String {
    let end = |end: &End| match end {
        End::Machine { name, .. } => name.clone(),
        End::Address(address) => IpAddr::to_string(address),
        End::Internet => "internet".to_owned(),
    };
    let line = |complaint: &Complaint| {
        let flow = |flow: &super::super::ComplaintFlow| {
            let port = match (flow.protocol, flow.port) {
                (Protocol::Icmp, _) => "icmp".to_owned(),
                (Protocol::Udp, Some(port)) => format!("udp/{port}"),
                (_, Some(port)) => port.to_string(),
                (_, None) => "any".to_owned(),
            };
            format!("{}>{}:{port}", end(&flow.source), end(&flow.destination))
        };
        complaint.flows.iter().map(flow).collect::<Vec<_>>().join(" ")
    };
    complaints(text).iter().map(line).collect::<Vec<_>>().join(" | ")
}
