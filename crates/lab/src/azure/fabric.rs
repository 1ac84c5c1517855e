//! The network, for whoever carries its packets.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::app_gateway::app_gateways;
use super::arm::{runs, service_tags};
use super::bastion::bastions;
use super::blob::{From, lets_in, public};
use super::cloud::Cloud;
use super::cluster;
use super::effective::{self, routes, rules};
use super::firewall::firewalls;
use super::gateway;
use crate::host::{Account, BalancerRule, Endpoint, Exit, Fabric, Machine, Neighbor, Nic, Zone};

/// So many connections find no port where machines start, and nothing is wrong later.
const A_FEW: u64 = 5;

impl Cloud {
    /// Returns the network as it is now: machines, what their interfaces let through and where it goes, accounts.
    #[must_use]
    pub fn fabric(&self) -> Fabric {
        let machines: Vec<Machine> =
            self.estate.of("Microsoft.Compute/virtualMachines").map(|found| machine(self, found)).collect();
        let account = |found: &Value| {
            let in_it = |machine: &&Machine| lets_in(self, found, &From::Machine(machine.name.clone()));
            let lets_in = machines.iter().filter(in_it).map(|machine| machine.name.clone()).collect();
            Account { name: text(found, "/name").to_owned(), lets_in }
        };
        let accounts = self.estate.of("Microsoft.Storage/storageAccounts").map(account).collect();
        let balancers = self.estate.of("Microsoft.Network/loadBalancers");
        let balancing = balancers.flat_map(|found| balancing(self, found)).collect();
        let endpoints = self.estate.of("Microsoft.Network/privateEndpoints");
        let endpoints = endpoints.filter_map(|found| endpoint(self, found)).collect();
        let zones =
            self.estate.of("Microsoft.Network/privateDnsZones").map(|found| zone(self, found)).collect();
        let firewalls = firewalls(self);
        Fabric {
            machines,
            tags: service_tags(self),
            accounts,
            balancing,
            endpoints,
            zones,
            firewalls,
            sites: gateway::sites(self),
            app_gateways: app_gateways(self),
            bastions: bastions(self),
            clusters: cluster::clusters(self),
        }
    }
}

fn machine(cloud: &Cloud, found: &Value) -> Machine {
    let (name, id) = (text(found, "/name"), text(found, "/id"));
    let listed = found.pointer("/properties/networkProfile/networkInterfaces").and_then(Value::as_array);
    let mut nics: Vec<(bool, Nic)> = listed
        .into_iter()
        .flatten()
        .filter_map(|listed| {
            let document = cloud.estate.by_id(text(listed, "/id"))?;
            let own = text(document, "/properties/virtualMachine/id").eq_ignore_ascii_case(id);
            let primary = listed.pointer("/properties/primary").and_then(Value::as_bool).unwrap_or(false);
            own.then(|| (!primary, nic(cloud, document)))
        })
        .collect();
    nics.sort_by_key(|(second, _)| *second);
    Machine {
        name: name.to_owned(),
        running: runs(cloud, name),
        nics: nics.into_iter().map(|(_, nic)| nic).collect(),
    }
}

fn nic(cloud: &Cloud, document: &Value) -> Nic {
    let seen = effective::Nic::of(&cloud.estate, document);
    let list = document.pointer("/properties/ipConfigurations").and_then(Value::as_array);
    let address = |one: &Value| -> Option<(IpAddr, u8)> {
        let address: IpAddr = text(one, "/properties/privateIPAddress").parse().ok()?;
        let subnet = cloud.estate.by_id(text(one, "/properties/subnet/id"));
        Some((
            address,
            subnet.and_then(|subnet| length(subnet, address)).unwrap_or(if address.is_ipv4() {
                24
            } else {
                64
            }),
        ))
    };
    Nic {
        name: text(document, "/name").to_owned(),
        mac: text(document, "/properties/macAddress").replace('-', ":").to_ascii_lowercase(),
        addresses: list.into_iter().flatten().filter_map(address).collect(),
        public: public(cloud, document),
        rules: json!({"value": rules(cloud, &seen)}),
        routes: json!({"value": routes(cloud, &seen)}),
        forwards: document
            .pointer("/properties/enableIPForwarding")
            .and_then(Value::as_bool)
            .unwrap_or(false),
        network: seen.network.map(|network| text(network, "/id").to_ascii_lowercase()).unwrap_or_default(),
        unforwarded: seen.network.map(|network| unforwarded(cloud, network)).unwrap_or_default(),
        exit: exit(cloud, document),
        seen: cluster::seen(cloud, document).or_else(|| public(cloud, document)),
        servers: servers(document, seen.network),
        gateway: seen
            .network
            .and_then(|network| gateway::used_by(cloud, network))
            .map(|network| text(network, "/id").to_ascii_lowercase()),
    }
}

/// Says how an interface leaves to the internet, in the platform's order: the NAT gateway of its subnet, an address of its own, what its
/// load balancer gives, what the subnet gives by itself.
fn exit(cloud: &Cloud, document: &Value) -> Exit {
    let list = |of: &'_ Value, pointer: &str| -> Vec<Value> {
        of.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let configurations = list(document, "/properties/ipConfigurations");
    let subnet = configurations.iter().find_map(|one| cloud.estate.by_id(text(one, "/properties/subnet/id")));
    let ports = |id: &str| if has_failed(cloud, id) { Exit::Crowded } else { Exit::Open };
    let gateway = subnet.map(|subnet| text(subnet, "/properties/natGateway/id")).filter(|id| !id.is_empty());
    if let Some(id) = gateway {
        let own = cloud.estate.by_id(id);
        let has = |field: &str| own.is_some_and(|own| !list(own, &format!("/properties/{field}")).is_empty());
        return if has("publicIpAddresses") || has("publicIpPrefixes") { ports(id) } else { Exit::Closed };
    }
    if public(cloud, document).is_some() {
        return Exit::Open;
    }
    let own = format!("{}/", text(document, "/id").to_ascii_lowercase());
    let mut is_kept = false;
    for balancer in cloud.estate.of("Microsoft.Network/loadBalancers") {
        let pools = list(balancer, "/properties/backendAddressPools").into_iter().filter(|pool| {
            let members = list(pool, "/properties/backendIPConfigurations");
            members.iter().any(|member| text(member, "/id").to_ascii_lowercase().starts_with(&own))
        });
        for pool in pools {
            let name = text(&pool, "/name").to_ascii_lowercase();
            let of_pool = |rule: &Value| {
                text(rule, "/properties/backendAddressPool/id")
                    .to_ascii_lowercase()
                    .ends_with(&format!("/{name}"))
            };
            let is_public = |rule: &Value| {
                let id = text(rule, "/properties/frontendIPConfiguration/id");
                let front = list(balancer, "/properties/frontendIPConfigurations").into_iter();
                let mut front = front.filter(|own| {
                    id.to_ascii_lowercase()
                        .ends_with(&format!("/{}", text(own, "/name").to_ascii_lowercase()))
                });
                front.any(|own| own.pointer("/properties/publicIPAddress/id").is_some())
            };
            let lets = |rule: &Value| {
                rule.pointer("/properties/disableOutboundSnat").and_then(Value::as_bool) != Some(true)
            };
            let rules: Vec<Value> = list(balancer, "/properties/loadBalancingRules")
                .into_iter()
                .filter(of_pool)
                .filter(is_public)
                .collect();
            if list(balancer, "/properties/outboundRules").iter().any(of_pool) || rules.iter().any(lets) {
                return ports(text(balancer, "/id"));
            }
            is_kept |= !rules.is_empty();
        }
    }
    let by_itself = subnet.and_then(|subnet| subnet.pointer("/properties/defaultOutboundAccess"));
    if is_kept || by_itself.and_then(Value::as_bool) == Some(false) { Exit::Closed } else { Exit::Open }
}

/// Tells whether a resource counts connections that found no port, more of them than those of a start.
fn has_failed(cloud: &Cloud, id: &str) -> bool {
    let count = cloud.estate.by_id(&format!("{id}/metrics/failed"));
    count.and_then(|count| count.pointer("/properties/failed")?.as_u64()).is_some_and(|failed| failed > A_FEW)
}

/// Returns the name servers of an interface: its own, else those of its network.
fn servers(document: &Value, network: Option<&Value>) -> Vec<IpAddr> {
    let list = |of: &Value, pointer: &str| -> Vec<IpAddr> {
        let found = of.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        found.filter_map(|server| server.as_str()?.parse().ok()).collect()
    };
    let own = list(document, "/properties/dnsSettings/dnsServers");
    let of_network = || network.map(|network| list(network, "/properties/dhcpOptions/dnsServers"));
    if own.is_empty() { of_network().unwrap_or_default() } else { own }
}

/// Returns a private endpoint with its address: that of its interface, else the one that is written.
fn endpoint(cloud: &Cloud, found: &Value) -> Option<Endpoint> {
    let list = |pointer: &str| found.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let nic = list("/properties/networkInterfaces").find_map(|nic| cloud.estate.by_id(text(nic, "/id")));
    let of_nic = nic.map(|nic| text(nic, "/properties/ipConfigurations/0/properties/privateIPAddress"));
    let written =
        list("/properties/customDnsConfigs").find_map(|one| one.pointer("/ipAddresses/0")?.as_str());
    let both = list("/properties/privateLinkServiceConnections")
        .chain(list("/properties/manualPrivateLinkServiceConnections"));
    let connection = both.into_iter().next()?;
    let groups = connection.pointer("/properties/groupIds").and_then(Value::as_array).into_iter().flatten();
    let state = text(connection, "/properties/privateLinkServiceConnectionState/status");
    Some(Endpoint {
        address: of_nic.or(written).and_then(|address| address.parse().ok()),
        service: text(connection, "/properties/privateLinkServiceId").rsplit('/').next()?.to_owned(),
        groups: groups.filter_map(Value::as_str).map(str::to_owned).collect(),
        approved: state.eq_ignore_ascii_case("approved"),
    })
}

/// Returns a private zone with the networks that see it and its records.
fn zone(cloud: &Cloud, found: &Value) -> Zone {
    let own = format!("{}/", text(found, "/id").to_ascii_lowercase());
    let below = |kind: &'static str| {
        let own = own.clone();
        let all = cloud.estate.of(kind);
        all.filter(move |part| text(part, "/id").to_ascii_lowercase().starts_with(&own))
    };
    let link = |part: &Value| {
        let network = text(part, "/properties/virtualNetwork/id").to_ascii_lowercase();
        let is_open = text(part, "/properties/resolutionPolicy").eq_ignore_ascii_case("NxDomainRedirect");
        (network, is_open)
    };
    let record = |part: &Value| {
        let all = part.pointer("/properties/aRecords").and_then(Value::as_array).into_iter().flatten();
        let all = all.filter_map(|one| text(one, "/ipv4Address").parse().ok());
        (text(part, "/name").to_ascii_lowercase(), all.collect())
    };
    Zone {
        name: text(found, "/name").to_ascii_lowercase(),
        links: below("Microsoft.Network/privateDnsZones/virtualNetworkLinks").map(link).collect(),
        records: below("Microsoft.Network/privateDnsZones/A").map(record).collect(),
    }
}

/// Returns the networks whose peering takes in only what comes from themselves.
fn unforwarded(cloud: &Cloud, network: &Value) -> Vec<Neighbor> {
    let own = effective::neighbors(cloud, network).into_iter();
    let closed = own.filter(|neighbor| !neighbor.takes_forwarded());
    let neighbor = |neighbor: effective::Neighbor<'_>| Neighbor {
        network: text(neighbor.network, "/id").to_ascii_lowercase(),
        space: effective::space(neighbor.network).iter().filter_map(|prefix| prefix.parse().ok()).collect(),
    };
    closed.map(neighbor).collect()
}

/// Returns the rules of a load balancer, with the members that are in use.
fn balancing(cloud: &Cloud, balancer: &Value) -> Vec<BalancerRule> {
    let list = |name: &str| {
        let found = balancer.pointer(&format!("/properties/{name}")).and_then(Value::as_array);
        found.into_iter().flatten()
    };
    let named = |list_name: &'static str, id: &str| {
        let name = id.rsplit('/').next().unwrap_or_default().to_owned();
        list(list_name).find(move |own| text(own, "/name").eq_ignore_ascii_case(&name))
    };
    let frontend = |rule: &Value| -> Option<IpAddr> {
        let own = named("frontendIPConfigurations", text(rule, "/properties/frontendIPConfiguration/id"))?;
        let private = text(own, "/properties/privateIPAddress").parse().ok();
        private.or_else(|| {
            let public = cloud.estate.by_id(text(own, "/properties/publicIPAddress/id"))?;
            text(public, "/properties/ipAddress").parse().ok()
        })
    };
    let number = |rule: &Value, field: &str| {
        let number = rule.pointer(&format!("/properties/{field}")).and_then(Value::as_u64);
        number.and_then(|number| u16::try_from(number).ok())
    };
    let rules = list("loadBalancingRules").filter_map(|rule| {
        let pool = named("backendAddressPools", text(rule, "/properties/backendAddressPool/id"));
        let probe = named("probes", text(rule, "/properties/probe/id"));
        let behavior = probe.map(|probe| text(probe, "/properties/noHealthyBackendsBehavior"));
        Some(BalancerRule {
            frontend: frontend(rule)?,
            protocol: match text(rule, "/properties/protocol").to_ascii_lowercase().as_str() {
                "tcp" => Some(6),
                "udp" => Some(17),
                _ => None,
            },
            port: number(rule, "frontendPort").unwrap_or(0),
            backend_port: number(rule, "backendPort").unwrap_or(0),
            members: pool.map(|pool| members(cloud, pool)).unwrap_or_default(),
            probe: probe.and_then(|probe| {
                let path = text(probe, "/properties/requestPath");
                let is_http = text(probe, "/properties/protocol").to_ascii_lowercase().starts_with("http");
                Some((number(probe, "port")?, is_http.then(|| path.to_owned())))
            }),
            takes_all: behavior.is_some_and(|word| word.eq_ignore_ascii_case("AllProbedUp")),
        })
    });
    rules.collect()
}

/// Returns the machines of a pool that are in use.
fn members(cloud: &Cloud, pool: &Value) -> Vec<(String, IpAddr)> {
    let list = |name: &str| {
        let found = pool.pointer(&format!("/properties/{name}")).and_then(Value::as_array);
        found.into_iter().flatten()
    };
    // An ip configuration stands below its interface.
    let interface = |id: &str| {
        let id = id.to_ascii_lowercase();
        let nic = id.split("/ipconfigurations/").next().unwrap_or_default().to_owned();
        cloud.estate.by_id(&nic)
    };
    let machine = |nic: &Value| -> Option<(String, IpAddr)> {
        let id = text(nic, "/properties/virtualMachine/id");
        let address = text(nic, "/properties/ipConfigurations/0/properties/privateIPAddress").parse().ok()?;
        Some((id.rsplit('/').next().filter(|name| !name.is_empty())?.to_owned(), address))
    };
    let by_nic = list("backendIPConfigurations").filter_map(|own| machine(interface(text(own, "/id"))?));
    let mut found: Vec<(String, IpAddr)> = by_nic.collect();
    for own in list("loadBalancerBackendAddresses") {
        let address: Option<IpAddr> = text(own, "/properties/ipAddress").parse().ok();
        let mut all = cloud.estate.of("Microsoft.Network/networkInterfaces").filter_map(machine);
        let known = all.find(|(_, own)| Some(*own) == address);
        let is_drained = text(own, "/properties/adminState").eq_ignore_ascii_case("down");
        match known {
            Some(known) if is_drained => found.retain(|own| *own != known),
            Some(known) if !found.contains(&known) => found.push(known),
            Some(_) | None => {}
        }
    }
    found
}

/// Returns the length of the prefix of a subnet that holds an address.
fn length(subnet: &Value, address: IpAddr) -> Option<u8> {
    let several = subnet.pointer("/properties/addressPrefixes").and_then(Value::as_array);
    let all = several.into_iter().flatten().filter_map(Value::as_str);
    let one = subnet.pointer("/properties/addressPrefix").and_then(Value::as_str);
    let nets = all.chain(one).filter_map(|text| text.parse::<ipnet::IpNet>().ok());
    nets.filter(|net| net.contains(&address)).map(|net| net.prefix_len()).max()
}

fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
