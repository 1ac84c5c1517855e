//! What the configuration says, worked out slowly and straight from the description.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde_json::Value;

/// Reads a description, and nothing that the cloud made of it.
pub(super) struct Oracle<'a>(pub(super) &'a Value);

const RESERVED: [&str; 5] = ["10.0.0.0/8", "127.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16"];

/// What is there for every machine: routes and rules of others do not count, but for rules that name the service.
const SERVICES: [(&str, Ipv4Addr); 2] = [
    ("azureplatformdns", Ipv4Addr::new(168, 63, 129, 16)),
    ("azureplatformimds", Ipv4Addr::new(169, 254, 169, 254)),
];

/// Returns the tag of the service at an address.
fn service(address: Ipv4Addr) -> Option<&'static str> {
    SERVICES.iter().find(|(_, own)| *own == address).map(|(tag, _)| *tag)
}

fn net(text: &str) -> Ipv4Net {
    text.parse().or_else(|_| text.parse::<Ipv4Addr>().map(Ipv4Net::from)).unwrap()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Where a packet goes: the kind of the next hop, and its address.
pub(super) type Hop = (String, Option<String>);

impl<'a> Oracle<'a> {
    fn by_id(&self, id: &Value) -> &'a Value {
        list(&self.0["resources"]).find(|one| one["id"] == *id).unwrap()
    }

    fn nic(&self, at: &str) -> &'a Value {
        list(&self.0["resources"])
            .find(|one| one["id"].as_str().unwrap().ends_with(&format!("/networkInterfaces/{at}")))
            .unwrap()
    }

    fn subnet(&self, nic: &Value) -> (&'a Value, &'a Value) {
        let id = nic["properties"]["ipConfigurations"][0]["properties"]["subnet"]["id"].as_str().unwrap();
        let (network, name) = id.split_once("/subnets/").unwrap();
        let network = self.by_id(&Value::from(network));
        (network, list(&network["properties"]["subnets"]).find(|one| one["name"] == name).unwrap())
    }

    /// Returns networks that are peered in both directions, and the peering on this side.
    fn peers(&self, network: &'a Value) -> Vec<(&'a Value, &'a Value)> {
        let to = |peering: &Value, network: &Value| {
            peering["properties"]["remoteVirtualNetwork"]["id"] == network["id"]
                && peering["properties"]["peeringState"] == "Connected"
        };
        let others = list(&self.0["resources"])
            .filter(|one| one["id"].as_str().unwrap().contains("/virtualNetworks/"));
        let mut found = Vec::new();
        for other in others {
            let there =
                list(&network["properties"]["virtualNetworkPeerings"]).find(|peering| to(peering, other));
            let back =
                list(&other["properties"]["virtualNetworkPeerings"]).any(|peering| to(peering, network));
            if let (Some(there), true) = (there, back) {
                found.push((other, there));
            }
        }
        found
    }

    fn tag(&self, name: &str) -> Option<Vec<Ipv4Net>> {
        let tags = self.0["serviceTags"].as_object().unwrap();
        let (_, prefixes) = tags.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(list(prefixes).map(|prefix| net(prefix.as_str().unwrap())).collect())
    }

    /// Returns where a packet from an interface goes.
    pub(super) fn hop(&self, nic: &str, to: Ipv4Addr) -> Hop {
        let (network, subnet) = self.subnet(self.nic(nic));
        // Length, then rank: an endpoint, what a user wrote out, a user's tag, the platform.
        let mut all: Vec<(Ipv4Net, u8, Hop)> = Vec::new();
        let mut own = Vec::new();
        for prefix in list(&network["properties"]["addressSpace"]["addressPrefixes"]) {
            own.push((net(prefix.as_str().unwrap()), "VnetLocal"));
        }
        for (peer, _) in self.peers(network) {
            let kind =
                if peer["location"] == network["location"] { "VNetPeering" } else { "VNetGlobalPeering" };
            for prefix in list(&peer["properties"]["addressSpace"]["addressPrefixes"]) {
                own.push((net(prefix.as_str().unwrap()), kind));
            }
        }
        for reserved in RESERVED.map(net) {
            if !own.iter().any(|(prefix, _)| *prefix == reserved) {
                all.push((reserved, 0, ("None".to_owned(), None)));
            }
        }
        all.push((net("0.0.0.0/0"), 0, ("Internet".to_owned(), None)));
        all.extend(own.into_iter().map(|(prefix, kind)| (prefix, 0, (kind.to_owned(), None))));
        for endpoint in list(&subnet["properties"]["serviceEndpoints"]) {
            let name = endpoint["service"].as_str().unwrap().trim_start_matches("Microsoft.");
            for prefix in self.tag(name).into_iter().flatten() {
                all.push((prefix, 3, ("VirtualNetworkServiceEndpoint".to_owned(), None)));
            }
        }
        if subnet["properties"]["routeTable"].is_object() {
            let table = self.by_id(&subnet["properties"]["routeTable"]["id"]);
            for route in list(&table["properties"]["routes"]) {
                let word = |field: &str| route["properties"][field].as_str().map(str::to_owned);
                let hop = (word("nextHopType").unwrap(), word("nextHopIpAddress"));
                let prefix = word("addressPrefix").unwrap();
                match self.tag(&prefix) {
                    Some(prefixes) => all.extend(prefixes.into_iter().map(|prefix| (prefix, 1, hop.clone()))),
                    None => all.push((net(&prefix), 2, hop)),
                }
            }
        }
        let users = [1, 2];
        let fitting = all.into_iter().filter(|(prefix, rank, _)| {
            prefix.contains(&to) && !(service(to).is_some() && users.contains(rank))
        });
        let best = fitting.max_by_key(|(prefix, rank, _)| (prefix.prefix_len(), *rank));
        best.map_or(("None".to_owned(), None), |(_, _, hop)| hop)
    }

    /// Says whether a text of a rule means an address, at an interface.
    fn means(&self, nic: &Value, text: &str, address: Ipv4Addr) -> bool {
        let (network, subnet) = self.subnet(nic);
        let mut space: Vec<Ipv4Net> = Vec::new();
        let open =
            |(_, peering): &(&Value, &Value)| peering["properties"]["allowVirtualNetworkAccess"] == true;
        let peers = self.peers(network);
        for network in
            std::iter::once(network).chain(peers.iter().filter(|peer| open(peer)).map(|(peer, _)| *peer))
        {
            let prefixes = list(&network["properties"]["addressSpace"]["addressPrefixes"]);
            space.extend(prefixes.map(|prefix| net(prefix.as_str().unwrap())));
        }
        let home = space.iter().any(|prefix| prefix.contains(&address));
        match text {
            "*" => true,
            "VirtualNetwork" => {
                let routed = subnet["properties"]["routeTable"].is_object() && {
                    let table = self.by_id(&subnet["properties"]["routeTable"]["id"]);
                    list(&table["properties"]["routes"]).any(|route| {
                        let word = |field: &str| route["properties"][field].as_str().unwrap();
                        matches!(
                            word("nextHopType"),
                            "VirtualAppliance" | "VirtualNetworkGateway" | "VnetLocal"
                        ) && word("addressPrefix").parse::<Ipv4Net>().is_ok_and(|net| net.contains(&address))
                    })
                };
                home || routed || service(address).is_some()
            }
            "AzureLoadBalancer" => address.to_string() == "168.63.129.16",
            "Internet" => !home && !net("10.0.0.0/8").contains(&address),
            text => match self.tag(text) {
                Some(prefixes) => prefixes.iter().any(|prefix| prefix.contains(&address)),
                None if text.to_ascii_lowercase().starts_with("azureplatform") => {
                    service(address).is_some_and(|tag| tag.eq_ignore_ascii_case(text))
                }
                None => net(text).contains(&address),
            },
        }
    }

    fn matches(&self, nic: &Value, rule: &Value, packet: &Packet) -> bool {
        let rule = &rule["properties"];
        let side = |side: &str, address: Ipv4Addr| {
            let mut texts: Vec<&str> =
                list(&rule[format!("{side}AddressPrefixes")]).filter_map(Value::as_str).collect();
            texts.extend(rule[format!("{side}AddressPrefix")].as_str());
            let member = list(&rule[format!("{side}ApplicationSecurityGroups")]).any(|group| {
                list(&self.0["resources"]).any(|one| {
                    let own = &one["properties"]["ipConfigurations"][0]["properties"];
                    own["privateIPAddress"] == address.to_string()
                        && list(&own["applicationSecurityGroups"]).any(|own| own["id"] == group["id"])
                })
            });
            // On traffic out to a service only its own tag means it.
            let own = service(address).filter(|_| side == "destination" && packet.direction == "Outbound");
            match own {
                Some(tag) => texts.into_iter().any(|text| text.eq_ignore_ascii_case(tag)),
                None => member || texts.into_iter().any(|text| self.means(nic, text, address)),
            }
        };
        let ports = |side: &str, port: u16| {
            let mut texts: Vec<&str> =
                list(&rule[format!("{side}PortRanges")]).filter_map(Value::as_str).collect();
            texts.extend(rule[format!("{side}PortRange")].as_str());
            texts.into_iter().any(|text| {
                let (low, high) = text.split_once('-').unwrap_or((text, text));
                text == "*" || (low.parse::<u16>().unwrap()..=high.parse::<u16>().unwrap()).contains(&port)
            })
        };
        rule["direction"] == packet.direction
            && (rule["protocol"] == "*" || rule["protocol"] == packet.protocol)
            && side("source", packet.from.0)
            && side("destination", packet.to.0)
            && ports("source", packet.from.1)
            && ports("destination", packet.to.1)
    }

    /// Returns whether a packet passes, and the rule that says so at the last gate; nothing where no gate stands there.
    pub(super) fn flow(&self, nic: &str, packet: &Packet) -> (bool, Option<String>) {
        let nic = self.nic(nic);
        let (_, subnet) = self.subnet(nic);
        let mut gates = vec![subnet, nic];
        if packet.direction == "Outbound" {
            gates.reverse();
        }
        let mut last = (true, None);
        for gate in gates {
            let group = &gate["properties"]["networkSecurityGroup"];
            if !group.is_object() {
                continue;
            }
            let group = self.by_id(&group["id"]);
            let mut rules: Vec<&Value> = list(&group["properties"]["securityRules"]).collect();
            rules.sort_by_key(|rule| rule["properties"]["priority"].as_u64());
            let own = rules.into_iter().find(|rule| self.matches(nic, rule, packet));
            last = match own {
                Some(rule) => {
                    (rule["properties"]["access"] == "Allow", rule["name"].as_str().map(str::to_owned))
                }
                None if packet.direction == "Outbound" && service(packet.to.0).is_some() => continue,
                None => self.usual(nic, packet),
            };
            if !last.0 {
                break;
            }
        }
        last
    }

    /// The rules that every group has.
    fn usual(&self, nic: &Value, packet: &Packet) -> (bool, Option<String>) {
        let home = |address| self.means(nic, "VirtualNetwork", address);
        let inbound = packet.direction == "Inbound";
        let (allowed, name) = match (inbound, home(packet.from.0) && home(packet.to.0)) {
            (true, true) => (true, "AllowVnetInBound"),
            (false, true) => (true, "AllowVnetOutBound"),
            (true, false) if self.means(nic, "AzureLoadBalancer", packet.from.0) => {
                (true, "AllowAzureLoadBalancerInBound")
            }
            (false, false) if self.means(nic, "Internet", packet.to.0) => (true, "AllowInternetOutBound"),
            (true, false) => (false, "DenyAllInBound"),
            (false, false) => (false, "DenyAllOutBound"),
        };
        (allowed, Some(name.to_owned()))
    }
}

/// A packet at an interface.
#[derive(Debug, Clone)]
pub(super) struct Packet {
    pub(super) direction: &'static str,
    pub(super) protocol: &'static str,
    pub(super) from: (Ipv4Addr, u16),
    pub(super) to: (Ipv4Addr, u16),
}
