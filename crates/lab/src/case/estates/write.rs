//! An estate and a case as files: the platform's documents in JSON, the case in TOML.

use serde_json::{Value, json};

use super::address::{Range, range};
use super::estate::{Estate, GroupRule, Hop, Machine, Network, Place, Subnet};
use super::guest::{GuestStep, Rule, Target, word};
use crate::case::model::Pair;
use crate::host::Protocol;

pub(super) const PROVIDERS: &str =
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers";
const REGION: &str = "eastus";
/// The NAT gateway, where there is one.
pub(super) const GATEWAY: &str = "out-nat";

fn id(kind: &str, name: &str) -> String {
    format!("{PROVIDERS}/{kind}/{name}")
}

fn network_id(kind: &str, name: &str) -> Value {
    json!({"id": id(&format!("Microsoft.Network/{kind}"), name)})
}

fn resource(kind: &str, name: &str, properties: Value) -> Value {
    json!({"id": id(kind, name), "location": REGION, "tags": {}, "properties": properties})
}

/// Writes an estate in the form of `ghost lab up --estate`: what an empty cloud has, and what was drawn.
pub(super) fn estate(estate: &Estate, empty: &Value) -> Value {
    let keeps = |resource: &&Value| {
        let id = resource.get("id").and_then(Value::as_str).unwrap_or_default();
        ["/networkWatchers/", "/storageAccounts/"].iter().any(|kind| id.contains(kind))
    };
    let mut resources: Vec<Value> = empty
        .get("resources")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(keeps)
        .cloned()
        .collect();
    resources.extend(
        estate
            .interface_groups
            .iter()
            .map(|name| resource("Microsoft.Network/applicationSecurityGroups", name, json!({}))),
    );
    resources.extend(estate.groups.iter().map(|(name, rules)| {
        let rules: Vec<Value> = rules.iter().map(group_rule).collect();
        resource("Microsoft.Network/networkSecurityGroups", name, json!({"securityRules": rules}))
    }));
    resources.extend(estate.tables.iter().map(|(name, routes)| {
        let routes: Vec<Value> = routes
            .iter()
            .map(|route| {
                let mut body =
                    json!({"addressPrefix": route.prefix.to_string(), "nextHopType": hop(route.hop)});
                if let (Hop::Appliance(address), Some(map)) = (route.hop, body.as_object_mut()) {
                    map.insert("nextHopIpAddress".to_owned(), json!(address));
                }
                json!({"name": route.name, "properties": body})
            })
            .collect();
        let body = json!({"disableBgpRoutePropagation": false, "routes": routes});
        resource("Microsoft.Network/routeTables", name, body)
    }));
    if !estate.bare_gateway.is_empty() {
        let body = json!({"idleTimeoutInMinutes": 4, "publicIpAddresses": []});
        resources.push(resource("Microsoft.Network/natGateways", GATEWAY, body));
    }
    resources.extend(estate.networks.iter().map(|network| self::network(estate, network)));
    resources.extend(estate.machines.iter().flat_map(machine));
    let mut whole = empty.clone();
    if let Some(map) = whole.as_object_mut() {
        map.insert("resources".to_owned(), Value::Array(resources));
        map.insert("containers".to_owned(), json!({"pktcaptures": []}));
    }
    whole
}

fn hop(hop: Hop) -> &'static str {
    match hop {
        Hop::None => "None",
        Hop::Appliance(_) => "VirtualAppliance",
        Hop::Internet => "Internet",
        Hop::Gateway => "VirtualNetworkGateway",
    }
}

fn network(estate: &Estate, network: &Network) -> Value {
    let own = estate.subnets.iter().filter(|subnet| subnet.network() == network.name);
    let subnets: Vec<Value> = own.map(|own| outbound(estate, own, subnet(own))).collect();
    let peerings: Vec<Value> = network
        .peerings
        .iter()
        .map(|(remote, state)| {
            let prefix = estate.network(remote).map(|remote| remote.prefix.to_string());
            json!({"name": format!("{}-to-{remote}", network.name), "properties": {
                "peeringState": state, "peeringSyncLevel": "FullyInSync",
                "allowVirtualNetworkAccess": !estate.keeps_out(&network.name, remote),
                "allowForwardedTraffic": estate.takes_forwarded(&network.name, remote), "allowGatewayTransit": false, "useRemoteGateways": false,
                "remoteVirtualNetwork": network_id("virtualNetworks", remote),
                "remoteAddressSpace": {"addressPrefixes": [prefix]},
            }})
        })
        .collect();
    resource(
        "Microsoft.Network/virtualNetworks",
        &network.name,
        json!({
            "addressSpace": {"addressPrefixes": [network.prefix.to_string()]},
            "subnets": subnets, "virtualNetworkPeerings": peerings,
        }),
    )
}

/// Adds how the machines of a subnet leave, where that is not as the platform has it.
fn outbound(estate: &Estate, subnet: &Subnet, mut document: Value) -> Value {
    let body = document.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(body) = body.filter(|_| estate.closed.contains(&subnet.name)) {
        body.insert("defaultOutboundAccess".to_owned(), json!(false));
        if estate.bare_gateway.contains(&subnet.name) {
            body.insert("natGateway".to_owned(), network_id("natGateways", GATEWAY));
        }
    }
    document
}

fn subnet(subnet: &Subnet) -> Value {
    let mut body =
        json!({"addressPrefix": subnet.prefix.to_string(), "serviceEndpoints": [], "delegations": []});
    if let Some(map) = body.as_object_mut() {
        for (field, kind, name) in [
            ("networkSecurityGroup", "networkSecurityGroups", &subnet.group),
            ("routeTable", "routeTables", &subnet.table),
        ] {
            if let Some(name) = name {
                map.insert(field.to_owned(), network_id(kind, name));
            }
        }
    }
    json!({"name": subnet.short(), "properties": body})
}

fn group_rule(rule: &GroupRule) -> Value {
    let mut body = json!({
        "protocol": rule.protocol.map_or("*", |protocol| match protocol {
            Protocol::Tcp => "Tcp",
            Protocol::Udp => "Udp",
            Protocol::Icmp => "Icmp",
        }),
        "sourcePortRange": "*",
        "access": if rule.allows { "Allow" } else { "Deny" },
        "priority": rule.priority,
        "direction": if rule.inbound { "Inbound" } else { "Outbound" },
    });
    if let Some(map) = body.as_object_mut() {
        let texts: Vec<String> = rule.ports.iter().map(|ports: &Range| range(*ports)).collect();
        match texts.as_slice() {
            [] => map.insert("destinationPortRange".to_owned(), json!("*")),
            [one] => map.insert("destinationPortRange".to_owned(), json!(one)),
            several => map.insert("destinationPortRanges".to_owned(), json!(several)),
        };
        for (side, place) in [("source", &rule.source), ("destination", &rule.destination)] {
            if let Place::Interfaces(group) = place {
                let value = json!([network_id("applicationSecurityGroups", group)]);
                map.insert(format!("{side}ApplicationSecurityGroups"), value);
            } else {
                map.insert(format!("{side}AddressPrefix"), json!(self::place(place)));
            }
        }
    }
    json!({"name": rule.name, "properties": body})
}

fn place(place: &Place) -> String {
    match place {
        Place::Any => "*".to_owned(),
        Place::Of(prefix) => prefix.to_string(),
        Place::VirtualNetwork => "VirtualNetwork".to_owned(),
        Place::Internet => "Internet".to_owned(),
        Place::LoadBalancer => "AzureLoadBalancer".to_owned(),
        Place::Interfaces(name) => name.clone(),
    }
}

fn machine(machine: &Machine) -> Vec<Value> {
    let Machine { name, address, .. } = machine;
    let nic = format!("{name}-nic");
    let [network, subnet] = [0, 1].map(|at| machine.subnet.split('/').nth(at).unwrap_or_default());
    let mut configuration = json!({
        "privateIPAddress": address, "privateIPAllocationMethod": "Dynamic", "primary": true,
        "privateIPAddressVersion": "IPv4",
        "subnet": {"id": format!("{}/subnets/{subnet}", id("Microsoft.Network/virtualNetworks", network))},
    });
    if let (Some(group), Some(map)) = (&machine.interface_group, configuration.as_object_mut()) {
        let value = json!([network_id("applicationSecurityGroups", group)]);
        map.insert("applicationSecurityGroups".to_owned(), value);
    }
    let [_, second, third, fourth] = address.octets();
    let own_id = id("Microsoft.Compute/virtualMachines", name);
    let mut interface = json!({
        "ipConfigurations": [{"name": "ipconfig1", "properties": configuration}],
        "dnsSettings": {"dnsServers": [], "appliedDnsServers": []},
        "macAddress": format!("00-0D-3A-{second:02X}-{third:02X}-{fourth:02X}"),
        "enableAcceleratedNetworking": false, "enableIPForwarding": machine.forwards, "primary": true,
        "virtualMachine": {"id": own_id}, "nicType": "Standard",
    });
    if let (Some(group), Some(map)) = (&machine.group, interface.as_object_mut()) {
        map.insert("networkSecurityGroup".to_owned(), network_id("networkSecurityGroups", group));
    }
    let vm = json!({
        "hardwareProfile": {"vmSize": "Standard_B2s"},
        "storageProfile": {"osDisk": {"osType": "Linux", "name": format!("{name}_OsDisk_1")}},
        "osProfile": {"computerName": name, "adminUsername": "azureuser", "allowExtensionOperations": true},
        "networkProfile": {"networkInterfaces": [
            {"id": id("Microsoft.Network/networkInterfaces", &nic), "properties": {"primary": true}},
        ]},
    });
    let agent = json!({
        "id": format!("{own_id}/extensions/NetworkWatcherAgentLinux"), "location": REGION, "properties": {
            "publisher": "Microsoft.Azure.NetworkWatcher", "type": "NetworkWatcherAgentLinux",
            "typeHandlerVersion": "1.4",
        },
    });
    vec![
        resource("Microsoft.Network/networkInterfaces", &nic, interface),
        resource("Microsoft.Compute/virtualMachines", name, vm),
        agent,
    ]
}

/// What a case says beside its estate.
pub(super) struct CaseText<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) file: &'a str,
    pub(super) prompt: &'a str,
    pub(super) outcome: &'a [&'static str],
    pub(super) notes: &'a str,
    pub(super) expected: &'a [Pair],
    pub(super) may: &'a [Pair],
    /// Conclusions that are wrong: a claim, a code, an object.
    pub(super) forbidden: &'a [(String, Option<Pair>, Option<String>)],
    /// Somebody talks to somebody: machine, machine, port.
    pub(super) traffic: &'a [(String, String, u16)],
    /// Further tables, as they stand in a file.
    pub(super) more: &'a str,
}

/// A text in quotes, as TOML reads it.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

/// Writes the case.
pub(super) fn case(estate: &Estate, own: &CaseText<'_>) -> String {
    let outcome: Vec<String> = own.outcome.iter().map(|word| quoted(word)).collect();
    let mut text = format!(
        "id = {}\ntitle = {}\nestate = {}\nprompt = {}\noutcome = [{}]\nnotes = {}\n\n",
        quoted(own.id),
        quoted(own.title),
        quoted(own.file),
        quoted(own.prompt),
        outcome.join(", "),
        quoted(own.notes)
    );
    for machine in &estate.machines {
        if let Some(address) = machine.public {
            text.push_str(&format!(
                "[[public]]\nvm = \"{0}\"\nname = \"{0}-ip\"\naddress = \"{address}\"\n\n",
                machine.name
            ));
        }
    }
    for service in &estate.services {
        let pages: Vec<String> =
            service.pages.iter().map(|(path, status)| format!("\"{path}\" = {status}")).collect();
        text.push_str(&format!(
            "[[service]]\nvm = \"{}\"\nprotocol = \"tcp\"\nport = {}\nprogram = \"{}\"\n{}{}\n",
            service.machine,
            service.port,
            service.program,
            if service.is_local { "address = \"127.0.0.1\"\n" } else { "" },
            if pages.is_empty() { String::new() } else { format!("pages = {{ {} }}\n", pages.join(", ")) }
        ));
    }
    for (from, to, port) in own.traffic {
        text.push_str(&format!(
            "[[traffic]]\nfrom = \"{from}\"\nto = \"{to}\"\nprotocol = \"tcp\"\nport = {port}\nevery_ms = 1000\nrequest = 300\nanswer = 800\n\n"
        ));
    }
    estate.steps.iter().for_each(|(machine, step)| text.push_str(&guest(machine, step)));
    text.push_str(&platform(estate));
    text.push_str(own.more);
    for (table, pairs) in [("expected", own.expected), ("may", own.may)] {
        for pair in pairs {
            text.push_str(&format!(
                "[[{table}]]\nfault = \"{}\"\nobject = \"{}\"\n\n",
                pair.fault, pair.object
            ));
        }
    }
    for (claim, pair, says) in own.forbidden {
        text.push_str(&format!("[[forbidden]]\nclaim = {}\n", quoted(claim)));
        if let Some(pair) = pair {
            text.push_str(&format!("fault = \"{}\"\nobject = \"{}\"\n", pair.fault, pair.object));
        }
        if let Some(says) = says {
            text.push_str(&format!("says = [{}]\n", quoted(says)));
        }
        text.push('\n');
    }
    text
}

fn platform(estate: &Estate) -> String {
    let mut text = String::new();
    if let Some((from, does)) = &estate.dns_fails_for {
        text.push_str(&format!(
            "[[fault]]\nkind = \"dns\"\nserver = \"168.63.129.16\"\ndoes = \"{does}\"\nfrom = \"{from}\"\n\n"
        ));
    }
    if estate.storage.denies {
        let subnets: Vec<String> = estate.storage.lets.iter().map(|subnet| quoted(subnet)).collect();
        text.push_str(&format!(
            "[[fault]]\nkind = \"storage_firewall\"\naccount = \"nwlogs080613\"\nsubnets = [{}]\n\n",
            subnets.join(", ")
        ));
    }
    if let Some(subnet) = &estate.storage.endpoint_lost {
        text.push_str(&format!(
            "[[fault]]\nkind = \"service_endpoint\"\nsubnet = \"{subnet}\"\nservice = \"Microsoft.Storage\"\n\n"
        ));
    }
    text
}

fn guest(machine: &str, step: &GuestStep) -> String {
    let fault = |kind: &str, fields: &[String]| {
        format!("[[fault]]\nkind = \"{kind}\"\nvm = \"{machine}\"\n{}\n\n", fields.join("\n"))
    };
    let field = |name: &str, value: &str| format!("{name} = {}", quoted(value));
    match step {
        GuestStep::Rule { chain, first, rule } => {
            let mut fields = vec![field("chain", chain)];
            fields.extend(first.then(|| "position = 1".to_owned()));
            fields.extend(rule_fields(rule));
            fault("iptables", &fields)
        }
        GuestStep::Policy { chain } => {
            fault("iptables_policy", &[field("chain", chain), field("policy", "DROP")])
        }
        GuestStep::Policy6 => fault(
            "iptables_policy",
            &[field("chain", "INPUT"), field("policy", "DROP"), field("family", "ipv6")],
        ),
        GuestStep::Chain { name, from, rules } => {
            let rules: Vec<String> = rules.iter().map(|rule| quoted(&rule.words())).collect();
            fault(
                "iptables_chain",
                &[field("chain", name), field("from", from), format!("rules = [{}]", rules.join(", "))],
            )
        }
        GuestStep::Ban { jail, address, ports, rejects } => {
            let mut fields = vec![field("jail", jail), field("address", &format!("{address}/32"))];
            if !ports.is_empty() {
                fields.push(format!("ports = {ports:?}"));
            }
            fields.push(field("target", if *rejects { "REJECT" } else { "DROP" }));
            fault("fail2ban", &fields)
        }
        GuestStep::Docker { drop_in } => {
            let fields: Vec<String> = drop_in.iter().map(|chain| field("drop_in", chain)).collect();
            fault("docker", &fields)
        }
        GuestStep::Native { table, family, hook, drops_rest, rule } => {
            let mut fields = vec![
                field("family", family),
                field("table", table),
                field("chain", hook),
                field("hook", hook),
                "priority = -10".to_owned(),
                field("policy", if *drops_rest { "drop" } else { "accept" }),
            ];
            fields.extend(rule.protocol.map(|protocol| field("protocol", word(protocol))));
            fields.extend(rule.ports.first().map(|ports| field("port", &range(*ports))));
            fields.extend(rule.source.map(|source| field("source", &source.to_string())));
            let verdict = match rule.target {
                Target::Accept | Target::Return | Target::Log => "accept",
                Target::Drop => "drop",
                Target::Reject | Target::Reset => "reject",
            };
            fields.push(field("verdict", verdict));
            fault("nft", &fields)
        }
        GuestStep::Netem { delay, loss, other, also_ssh } => {
            let mut fields = vec![field("device", "eth0"), format!("also_ssh = {also_ssh}")];
            fields.extend(delay.map(|delay| field("delay", &format!("{delay}ms"))));
            fields.extend(loss.map(|loss| format!("loss = {loss}.0")));
            fields.extend(other.map(|other| format!("{} = 4.0", other.trim_start_matches("netem_"))));
            fault("netem", &fields)
        }
        GuestStep::Rate { rate, also_ssh } => fault(
            "rate_limit",
            &[field("device", "eth0"), format!("also_ssh = {also_ssh}"), field("rate", rate)],
        ),
    }
}

fn rule_fields(rule: &Rule) -> Vec<String> {
    let field = |name: &str, value: &str| format!("{name} = {}", quoted(value));
    let (target, with) = match rule.target {
        Target::Accept => ("ACCEPT", None),
        Target::Drop => ("DROP", None),
        Target::Reject => ("REJECT", Some("icmp-port-unreachable")),
        Target::Reset => ("REJECT", Some("tcp-reset")),
        Target::Return | Target::Log => ("RETURN", None),
    };
    let mut fields = vec![field("target", target)];
    fields.extend(with.map(|with| field("reject_with", with)));
    fields.extend(rule.protocol.map(|protocol| field("protocol", word(protocol))));
    match rule.ports.as_slice() {
        [] => {}
        [one] => fields.push(field("port", &range(*one))),
        several => {
            let list: Vec<String> = several.iter().map(|own| range(*own).replace('-', ":")).collect();
            fields.push(field("words", &format!("-m multiport --dports {}", list.join(","))));
        }
    }
    fields.extend(rule.source_port.map(|port| field("source_port", &port.to_string())));
    fields.extend(rule.source.map(|source| field("source", &source.to_string())));
    fields.extend(rule.destination.map(|destination| field("destination", &destination.to_string())));
    fields.extend(rule.input.map(|input| field("input", input)));
    fields.extend(rule.state_words().map(|state| field("state", state)));
    fields.extend(rule.share_words().map(|share| field("words", &share)));
    fields
}
