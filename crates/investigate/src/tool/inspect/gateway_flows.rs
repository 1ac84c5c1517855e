//! Flows to application gateways that a complaint speaks of: by name, by address, or by what callers see of one.

use std::net::IpAddr;

use super::estate_reader::{EstateReader, INTERNET};
use crate::complaint::Complaint;
use ghost_inspect::path::{Flow, Protocol};

/// What whoever sees an answer of a gateway, and none of a server, writes of it.
const WORDS: [&str; 6] = ["502", "504", "bad gateway", "application gateway", "app gateway", "appgw"];

impl EstateReader<'_> {
    /// Returns the flows to the gateways of which a complaint speaks; nothing where it has one already.
    pub(super) fn gateway_flows(&self, complaint: &Complaint) -> Vec<Flow> {
        let estate = self.estate();
        let text = complaint.text.to_lowercase();
        let all: Vec<(String, Vec<IpAddr>)> = estate
            .application_gateways()
            .map(|name| (name.to_owned(), estate.frontend_addresses(name)))
            .collect();
        let is_word = |wanted: &str| {
            let is_part = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
            text.split(|char| !is_part(char)).any(|word| word.trim_matches('.') == wanted)
        };
        let is_named = |(name, addresses): &&(String, Vec<IpAddr>)| {
            is_word(&name.to_lowercase()) || addresses.iter().any(|own| is_word(&own.to_string()))
        };
        let mut meant: Vec<&(String, Vec<IpAddr>)> = all.iter().filter(is_named).collect();
        // Where nobody names one, the only one there is.
        if meant.is_empty() && all.len() == 1 && WORDS.iter().any(|word| text.contains(word)) {
            meant.extend(&all);
        }
        let mut flows = Vec::new();
        for (name, addresses) in meant {
            let mut known = complaint.flows.iter().filter_map(|flow| flow.destination.address());
            if known.any(|own| addresses.contains(&own)) {
                continue;
            }
            let served = self.served(name, Protocol::Tcp);
            let asked: Vec<u16> = complaint.ports.iter().filter_map(|own| own.port).collect();
            let named: Vec<u16> = served.iter().filter(|port| asked.contains(port)).copied().collect();
            let ports = if named.is_empty() { served } else { named };
            let callers: Vec<IpAddr> = complaint
                .flows
                .iter()
                .filter_map(|flow| flow.source.machine())
                .filter_map(|caller| estate.addresses_of(caller).first().copied())
                .take(1)
                .collect();
            for (address, port) in
                addresses.iter().flat_map(|own| ports.iter().map(move |port| (*own, *port)))
            {
                let from = if estate.is_inner_balancer(name) {
                    callers.first().copied()
                } else {
                    Some(IpAddr::from(INTERNET))
                };
                match from {
                    Some(from) => flows.extend(Flow::new(from, address, Protocol::Tcp, Some(port))),
                    None => flows.extend(self.inner_calls(name, address, Some(port))),
                }
            }
        }
        flows
    }
}
