//! Small estates as their documents would be printed.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Value, json};

use crate::path::{Bundle, Cloud, Estate, Flow, Guest, Judgement, Protocol, Reading};

/// A security rule: name, priority, direction, access, protocol, source, destination, port.
pub(crate) type Rule =
    (&'static str, u32, &'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

#[derive(Debug, Clone)]
pub(super) struct Subnet {
    name: String,
    prefix: String,
    table: Option<String>,
    group: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Network {
    name: String,
    prefix: String,
    subnets: Vec<Subnet>,
    /// The other network, the state, whether forwarded packets are let in.
    peerings: Vec<(String, String, bool)>,
    /// Properties of its peerings: the other network, the name, the value.
    flags: Vec<(String, &'static str, Value)>,
}

#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) address: String,
    network: String,
    subnet: String,
    group: Option<String>,
    forwards: bool,
    public: Option<String>,
    state: &'static str,
    /// The filter table: policies by chain, chains of somebody's own, rules.
    policies: BTreeMap<&'static str, &'static str>,
    chains: Vec<String>,
    rules: Vec<String>,
    nat: Vec<String>,
    native: Vec<Value>,
    shaping: String,
    routes: String,
    listens: Vec<String>,
    settings: String,
}

impl Machine {
    pub(super) fn forwards(&mut self, forwards: bool) {
        self.forwards = forwards;
    }
}

/// An estate while it is drafted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    networks: Vec<Network>,
    machines: Vec<Machine>,
    groups: BTreeMap<String, Vec<Value>>,
    tables: BTreeMap<String, Vec<Value>>,
    balancers: Vec<Value>,
}

const PLAIN: &str =
    "qdisc mq 0: dev eth0 root\nqdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024\n";

impl Draft {
    /// One network with a caller `web` (10.0.1.4) and a server `db` (10.0.2.4) that listens on 5432.
    pub(crate) fn two() -> Self {
        Self::default()
            .network("app", "10.0.0.0/16", &[("web", "10.0.1.0/24"), ("db", "10.0.2.0/24")])
            .machine("web", "10.0.1.4", "app/web")
            .machine("db", "10.0.2.4", "app/db")
            .listens("db", "0.0.0.0:5432")
    }

    /// A hub with the appliance `nva` (10.10.0.4) and two spokes with `a` (10.11.0.4) and `b` (10.12.0.4), which listens on 8443.
    /// Each spoke's table leads to the other by the appliance.
    pub(crate) fn hub() -> Self {
        Self::default()
            .network("hub", "10.10.0.0/16", &[("nva", "10.10.0.0/24")])
            .network("left", "10.11.0.0/16", &[("work", "10.11.0.0/24")])
            .network("right", "10.12.0.0/16", &[("work", "10.12.0.0/24")])
            .peered("hub", "left", "Connected")
            .peered("hub", "right", "Connected")
            .machine("nva", "10.10.0.4", "hub/nva")
            .machine("a", "10.11.0.4", "left/work")
            .machine("b", "10.12.0.4", "right/work")
            .forwarding("nva", true)
            .listens("b", "0.0.0.0:8443")
            .route("left/work", "to-right", "10.12.0.0/16", "VirtualAppliance", Some("10.10.0.4"))
            .route("right/work", "to-left", "10.11.0.0/16", "VirtualAppliance", Some("10.10.0.4"))
    }

    pub(crate) fn network(mut self, name: &str, prefix: &str, subnets: &[(&str, &str)]) -> Self {
        let subnet = |(name, prefix): &(&str, &str)| Subnet {
            name: (*name).to_owned(),
            prefix: (*prefix).to_owned(),
            table: None,
            group: None,
        };
        self.networks.push(Network {
            name: name.to_owned(),
            prefix: prefix.to_owned(),
            subnets: subnets.iter().map(subnet).collect(),
            peerings: Vec::new(),
            flags: Vec::new(),
        });
        self
    }

    /// Peers two networks in both directions.
    pub(crate) fn peered(mut self, one: &str, other: &str, state: &str) -> Self {
        for (own, remote) in [(one, other), (other, one)] {
            let network = self.networks.iter_mut().find(|network| network.name == own).unwrap();
            network.peerings.retain(|(name, ..)| name != remote);
            network.peerings.push((remote.to_owned(), state.to_owned(), true));
        }
        self
    }

    /// Sets a property of one side of a peering.
    pub(super) fn peering_with(
        mut self,
        network: &str,
        remote: &str,
        name: &'static str,
        value: Value,
    ) -> Self {
        let network = self.networks.iter_mut().find(|own| own.name == network).unwrap();
        network.flags.push((remote.to_owned(), name, value));
        self
    }

    /// Gives a network a gateway.
    pub(super) fn gateway(mut self, network: &str, prefix: &str) -> Self {
        let network = self.networks.iter_mut().find(|own| own.name == network).unwrap();
        let (name, prefix) = ("GatewaySubnet".to_owned(), prefix.to_owned());
        network.subnets.push(Subnet { name, prefix, table: None, group: None });
        self
    }

    /// Takes away one side of a peering.
    pub(super) fn without_side(mut self, network: &str, remote: &str) -> Self {
        let network = self.networks.iter_mut().find(|own| own.name == network).unwrap();
        network.peerings.retain(|(name, ..)| name != remote);
        self
    }

    pub(super) fn refuses_forwarded(mut self, network: &str, remote: &str) -> Self {
        let network = self.networks.iter_mut().find(|own| own.name == network).unwrap();
        network.peerings.iter_mut().filter(|(name, ..)| name == remote).for_each(|peering| peering.2 = false);
        self
    }

    pub(crate) fn machine(mut self, name: &str, address: &str, place: &str) -> Self {
        let (network, subnet) = place.split_once('/').unwrap();
        self.machines.push(Machine {
            name: name.to_owned(),
            address: address.to_owned(),
            network: network.to_owned(),
            subnet: subnet.to_owned(),
            group: None,
            forwards: false,
            public: None,
            state: "VM running",
            policies: BTreeMap::new(),
            chains: Vec::new(),
            rules: Vec::new(),
            nat: Vec::new(),
            native: Vec::new(),
            shaping: PLAIN.to_owned(),
            routes: "default via 10.0.0.1 dev eth0 proto dhcp metric 100\n".to_owned(),
            listens: Vec::new(),
            settings: "net.ipv4.ip_forward = 0\n".to_owned(),
        });
        self
    }

    pub(super) fn change(mut self, name: &str, change: impl FnOnce(&mut Machine)) -> Self {
        change(self.machines.iter_mut().find(|machine| machine.name == name).unwrap());
        self
    }

    pub(crate) fn listens(self, name: &str, end: &str) -> Self {
        self.change(name, |machine| machine.listens.push(end.to_owned()))
    }

    pub(crate) fn silent(self, name: &str) -> Self {
        self.change(name, |machine| machine.listens.clear())
    }

    pub(crate) fn stopped(self, name: &str) -> Self {
        self.change(name, |machine| machine.state = "VM deallocated")
    }

    pub(crate) fn public(self, name: &str, address: &str) -> Self {
        self.change(name, |machine| machine.public = Some(address.to_owned()))
    }

    pub(crate) fn forwarding(self, name: &str, kernel: bool) -> Self {
        self.change(name, |machine| {
            machine.forwards = true;
            machine.settings = format!("net.ipv4.ip_forward = {}\n", u8::from(kernel));
        })
    }

    /// Adds a rule to the filter table, as `iptables-save` prints it.
    pub(crate) fn drops(self, name: &str, rule: &str) -> Self {
        self.change(name, |machine| machine.rules.push(rule.to_owned()))
    }

    pub(super) fn chain(self, name: &str, chain: &str) -> Self {
        self.change(name, |machine| machine.chains.push(chain.to_owned()))
    }

    pub(crate) fn policy(self, name: &str, chain: &'static str, policy: &'static str) -> Self {
        self.change(name, |machine| {
            machine.policies.insert(chain, policy);
        })
    }

    pub(super) fn nat(self, name: &str, rule: &str) -> Self {
        self.change(name, |machine| machine.nat.push(rule.to_owned()))
    }

    pub(super) fn native(self, name: &str, objects: &[Value]) -> Self {
        self.change(name, |machine| machine.native.extend(objects.iter().cloned()))
    }

    pub(crate) fn shapes(self, name: &str, text: &str) -> Self {
        self.change(name, |machine| machine.shaping = text.to_owned())
    }

    pub(super) fn routes(self, name: &str, text: &str) -> Self {
        self.change(name, |machine| machine.routes = text.to_owned())
    }

    /// Adds a route to the table of a subnet; the table has the subnet's name.
    pub(crate) fn route(
        mut self,
        place: &str,
        name: &str,
        prefix: &str,
        hop: &str,
        address: Option<&str>,
    ) -> Self {
        let (network, subnet) = place.split_once('/').unwrap();
        let table = format!("{network}-{subnet}-rt");
        let network = self.networks.iter_mut().find(|own| own.name == network).unwrap();
        let subnet = network.subnets.iter_mut().find(|own| own.name == subnet).unwrap();
        subnet.table = Some(table.clone());
        self.tables.entry(table).or_default().push(json!({
            "name": name, "properties": {"addressPrefix": prefix, "nextHopType": hop, "nextHopIpAddress": address},
        }));
        self
    }

    /// Puts a load balancer with one frontend, one pool and one probe before machines: it takes a port and leads to the same one.
    pub(crate) fn balanced(mut self, address: &str, port: u16, machines: &[&str]) -> Self {
        let part = |kind: &str, name: &str| json!({"id": format!("/loadBalancers/lb/{kind}/{name}")});
        let members: Vec<Value> = machines
            .iter()
            .map(|name| json!({"id": format!("/networkInterfaces/{name}-nic/ipConfigurations/one")}))
            .collect();
        self.balancers.push(json!({"name": "lb", "properties": {
            "frontendIPConfigurations": [{"name": "front", "properties": {"privateIPAddress": address}}],
            "backendAddressPools": [{"name": "pool", "properties": {"backendIPConfigurations": members}}],
            "probes": [{"name": "alive", "properties": {"protocol": "Tcp", "port": port}}],
            "loadBalancingRules": [{"name": "in", "properties": {
                "frontendIPConfiguration": part("frontendIPConfigurations", "front"), "protocol": "Tcp",
                "backendAddressPool": part("backendAddressPools", "pool"), "probe": part("probes", "alive"),
                "frontendPort": port, "backendPort": port, "enableFloatingIP": false,
            }}],
        }}));
        self
    }

    /// Sets something in the load balancer.
    pub(super) fn balancer(mut self, pointer: &str, value: Value) -> Self {
        let place = self.balancers[0].pointer_mut(&format!("/properties{pointer}")).unwrap();
        *place = value;
        self
    }

    /// Adds a rule to the group of a subnet (`app/db`) or of a machine (`db`); the group has its name.
    pub(crate) fn rule(mut self, place: &str, rule: Rule) -> Self {
        let group = format!("{}-nsg", place.rsplit('/').next().unwrap());
        match place.split_once('/') {
            Some((network, subnet)) => {
                let network = self.networks.iter_mut().find(|own| own.name == network).unwrap();
                let subnet = network.subnets.iter_mut().find(|own| own.name == subnet).unwrap();
                subnet.group = Some(group.clone());
                self.groups.entry(group).or_default().push(written(rule));
                self
            }
            None => {
                let group = format!("{place}-own-nsg");
                self.groups.entry(group.clone()).or_default().push(written(rule));
                self.change(place, |machine| machine.group = Some(group))
            }
        }
    }

    pub(crate) fn bundle(&self) -> Bundle {
        let networks: Vec<Value> = self.networks.iter().map(network).collect();
        let nics: Vec<Value> = self.machines.iter().map(nic).collect();
        let machines: Vec<Value> = self
            .machines
            .iter()
            .map(|machine| json!({"name": machine.name, "powerState": machine.state, "vmId": "x"}))
            .collect();
        let tables: Vec<Value> = self
            .tables
            .iter()
            .map(|(name, routes)| json!({"name": name, "properties": {"routes": routes}}))
            .collect();
        let groups: Vec<Value> = self
            .groups
            .iter()
            .map(|(name, rules)| json!({"name": name, "properties": {"securityRules": rules}}))
            .collect();
        let text = |rows: Vec<Value>| Some(Reading::Text(Value::Array(rows).to_string()));
        Bundle {
            format: 1,
            cloud: Cloud {
                interfaces: text(nics),
                networks: text(networks),
                route_tables: text(tables),
                groups: text(groups),
                machines: text(machines),
                tags: None,
                load_balancers: text(self.balancers.clone()).filter(|_| !self.balancers.is_empty()),
                public_addresses: None,
                ..Cloud::default()
            },
            nics: BTreeMap::new(),
            guests: self.machines.iter().map(|machine| (machine.name.clone(), guest(machine))).collect(),
        }
    }

    pub(super) fn translates(&self) -> bool {
        self.machines.iter().any(|machine| !machine.nat.is_empty())
    }

    pub(super) fn estate(&self) -> Estate {
        Estate::of(&self.bundle())
    }

    /// Judges the flow from a machine to another, or to an address.
    pub(super) fn judge(&self, from: &str, to: &str, port: u16) -> Judgement {
        self.estate().judge(&self.flow(from, to, Protocol::Tcp, port))
    }

    pub(crate) fn flow(&self, from: &str, to: &str, protocol: Protocol, port: u16) -> Flow {
        let address = |name: &str| -> IpAddr {
            let own = self.machines.iter().find(|machine| machine.name == name);
            own.map_or(name, |machine| machine.address.as_str()).parse().unwrap()
        };
        Flow::new(address(from), address(to), protocol, Some(port)).unwrap()
    }
}

fn written((name, priority, direction, access, protocol, source, destination, port): Rule) -> Value {
    json!({"name": name, "properties": {
        "priority": priority, "direction": direction, "access": access, "protocol": protocol,
        "sourceAddressPrefix": source, "destinationAddressPrefix": destination,
        "sourcePortRange": "*", "destinationPortRange": port,
    }})
}

fn id(kind: &str, name: &str) -> Value {
    json!({"id": format!("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/{kind}/{name}")})
}

fn network(network: &Network) -> Value {
    let subnets: Vec<Value> = network
        .subnets
        .iter()
        .map(|subnet| {
            let mut body = json!({"addressPrefix": subnet.prefix});
            if let Some(table) = &subnet.table {
                body["routeTable"] = id("routeTables", table);
            }
            if let Some(group) = &subnet.group {
                body["networkSecurityGroup"] = id("networkSecurityGroups", group);
            }
            if subnet.name == "GatewaySubnet" {
                body["ipConfigurations"] = json!([{"id": "/gateway"}]);
            }
            json!({"name": subnet.name, "properties": body})
        })
        .collect();
    let peerings: Vec<Value> = network
        .peerings
        .iter()
        .map(|(remote, state, forwarded)| {
            let mut body = json!({"peeringState": state, "allowForwardedTraffic": forwarded,
                "remoteVirtualNetwork": id("virtualNetworks", remote)});
            for (_, name, value) in network.flags.iter().filter(|(other, ..)| other == remote) {
                body[*name] = value.clone();
            }
            json!({"name": format!("{}-to-{remote}", network.name), "properties": body})
        })
        .collect();
    json!({"name": network.name, "properties": {
        "addressSpace": {"addressPrefixes": [network.prefix]}, "subnets": subnets, "virtualNetworkPeerings": peerings,
    }})
}

fn nic(machine: &Machine) -> Value {
    let subnet = format!("/virtualNetworks/{}/subnets/{}", machine.network, machine.subnet);
    let mut configuration = json!({"privateIPAddress": machine.address, "subnet": {"id": subnet}});
    if let Some(public) = &machine.public {
        configuration["publicIPAddress"] = json!({"id": "/p", "sku": {"name": "Basic"}, "ipAddress": public});
    }
    json!({
        "name": format!("{}-nic", machine.name), "virtualMachine": id("virtualMachines", &machine.name),
        "enableIPForwarding": machine.forwards, "location": "eastus", "macAddress": mac(&machine.address), "ipConfigurations": [configuration],
        "networkSecurityGroup": machine.group.as_ref().map(|group| id("networkSecurityGroups", group)),
    })
}

/// Returns the hardware address of whoever has an address.
pub(super) fn mac(address: &str) -> String {
    let parts: Vec<u8> = address.split('.').filter_map(|part| part.parse().ok()).collect();
    let hex: Vec<String> = parts.iter().map(|part| format!("{part:02X}")).collect();
    format!("00-0D-{}", hex.join("-"))
}

fn guest(machine: &Machine) -> Guest {
    let mut save = "# Generated by iptables-save v1.8.9 (nf_tables)\n*filter\n".to_owned();
    for chain in ["INPUT", "FORWARD", "OUTPUT"] {
        let policy = machine.policies.get(chain).unwrap_or(&"ACCEPT");
        save.push_str(&format!(":{chain} {policy} [0:0]\n"));
    }
    machine.chains.iter().for_each(|chain| save.push_str(&format!(":{chain} - [0:0]\n")));
    machine.rules.iter().for_each(|rule| save.push_str(&format!("{rule}\n")));
    save.push_str("COMMIT\n");
    if !machine.nat.is_empty() {
        save.push_str("*nat\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n");
        save.push_str(":POSTROUTING ACCEPT [0:0]\n");
        machine.nat.iter().for_each(|rule| save.push_str(&format!("{rule}\n")));
        save.push_str("COMMIT\n");
    }
    let mut sockets =
        "State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\nLISTEN 0 128 0.0.0.0:22 0.0.0.0:*\n"
            .to_owned();
    machine.listens.iter().for_each(|end| sockets.push_str(&format!("LISTEN 0 128 {end} 0.0.0.0:*\n")));
    let addresses = format!("lo UNKNOWN 127.0.0.1/8\neth0 UP {}/24\n", machine.address);
    let text = |text: String| Some(Reading::Text(text));
    let six = "# Generated by ip6tables-save v1.8.9 (nf_tables)\n*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n";
    Guest {
        filters: BTreeMap::from([
            ("iptables-save".to_owned(), Reading::Text(save)),
            ("ip6tables-save".to_owned(), Reading::Text(six.to_owned())),
            ("nft".to_owned(), Reading::Text(json!({"nftables": machine.native}).to_string())),
        ]),
        shaping: text(machine.shaping.clone()),
        routes: text(machine.routes.clone()),
        routes6: None,
        rules: None,
        addresses: text(addresses),
        settings: text(machine.settings.clone()),
        tcp: text(sockets),
        udp: text("State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n".to_owned()),
        connections: None,
        answers: None,
        pages: None,
        probes: None,
    }
}

/// Returns what an answer stands on, in words: the fate and everything that stops or hurts the flow.
pub(super) fn summary(judgement: &Judgement) -> Vec<String> {
    let mut all = vec![judgement.fate.verdict().to_owned()];
    let effects = judgement.stops().into_iter().chain(judgement.hurts());
    all.extend(effects.map(|(_, effect)| effect.cause.to_string()));
    all
}

/// Asserts what becomes of a flow, and by what.
#[track_caller]
pub(super) fn check(judgement: &Judgement, expected: &[&str]) {
    assert_eq!(summary(judgement), expected, "{judgement:#?}");
    alone(judgement);
}

#[track_caller]
fn alone(judgement: &Judgement) {
    assert!(judgement.causes().len() <= summary(judgement).len());
}
