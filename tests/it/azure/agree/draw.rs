//! Draws an estate.

use serde_json::{Value, json};

use crate::random::Random;

pub(super) const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";
const SPACES: [&str; 8] = [
    "10.0.0.0/16",
    "10.1.0.0/16",
    "10.8.0.0/13",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/12",
    "20.0.0.0/16",
    "192.0.2.0/24",
];
const PLATFORM: [&str; 2] = ["AzurePlatformDNS", "azureplatformimds"];
const TAGS: [&str; 8] = [
    "VirtualNetwork",
    "Internet",
    "AzureLoadBalancer",
    "Storage",
    "Sql",
    "storage.eastus",
    PLATFORM[0],
    PLATFORM[1],
];
const SERVICES: [(&str, [&str; 2]); 3] = [
    ("Storage", ["20.38.98.0/24", "52.239.152.0/22"]),
    ("Storage.EastUS", ["20.38.98.0/24", "20.0.7.0/24"]),
    ("Sql", ["40.71.8.0/26", "40.78.225.32/29"]),
];

/// An estate and the addresses that matter in it.
pub(super) struct Drawn {
    pub(super) description: Value,
    pub(super) addresses: Vec<String>,
}

pub(super) fn id(kind: &str, name: &str) -> String {
    format!("{SUBSCRIPTION}/resourceGroups/g/providers/{kind}/{name}")
}

fn network(kind: &str, name: &str) -> String {
    id(&format!("Microsoft.Network/{kind}"), name)
}

/// Returns an address in a prefix: the first ones are likelier.
fn inside(prefix: &str, random: &mut Random) -> String {
    let net: ipnet::Ipv4Net = prefix.parse().unwrap();
    let size = 1_usize << (32 - u32::from(net.prefix_len()));
    let at = if random.below(2) == 0 { random.below(size) } else { random.below(size.min(8)) };
    std::net::Ipv4Addr::from(u32::from(net.network()) + u32::try_from(at).unwrap()).to_string()
}

struct Net {
    name: String,
    space: Vec<&'static str>,
    subnets: Vec<String>,
}

/// Draws an estate.
pub(super) fn draw(random: &mut Random) -> Drawn {
    let mut spaces = SPACES.to_vec();
    let mut nets: Vec<Net> = Vec::new();
    for at in 0..1 + random.below(4) {
        let count = 1 + random.below(2);
        let space: Vec<&str> = (0..count).map(|_| spaces.remove(random.below(spaces.len()))).collect();
        let subnets = (0..1 + random.below(2)).map(|_| inside(space[0], random));
        let mut subnets: Vec<String> = subnets
            .map(|address| format!("{address}/26").parse::<ipnet::Ipv4Net>().unwrap().trunc().to_string())
            .collect();
        subnets.sort();
        subnets.dedup();
        nets.push(Net { name: format!("n{at}"), space, subnets });
    }
    let prefixes: Vec<String> = nets
        .iter()
        .flat_map(|net| net.subnets.iter().cloned().chain(net.space.iter().map(|one| (*one).to_owned())))
        .collect();
    let mut resources = Vec::new();
    let groups: Vec<String> = (0..random.below(4)).map(|at| format!("s{at}")).collect();
    let tables: Vec<String> = (0..random.below(3)).map(|at| format!("t{at}")).collect();
    let members: Vec<String> =
        (0..2).map(|at| network("applicationSecurityGroups", &format!("a{at}"))).collect();
    resources.extend(members.iter().map(|id| json!({"id": id, "location": "eastus"})));
    for name in &groups {
        let mut rules: Vec<Value> =
            (0..random.below(8)).map(|at| rule(at, &prefixes, &members, random)).collect();
        rules.push(to_platform(rules.len(), random));
        resources.push(
            json!({"id": network("networkSecurityGroups", name), "properties": {"securityRules": rules}}),
        );
    }
    for name in &tables {
        resources.push(
            json!({"id": network("routeTables", name), "properties": {"routes": routes(&prefixes, random)}}),
        );
    }
    let peerings = peerings(&nets, random);
    for (net, peerings) in nets.iter().zip(peerings) {
        let subnets: Vec<Value> = net
            .subnets
            .iter()
            .enumerate()
            .map(|(at, prefix)| {
                let mut properties = json!({"addressPrefix": prefix});
                if let (false, 1..) = (groups.is_empty(), random.below(3)) {
                    properties["networkSecurityGroup"] =
                        json!({"id": network("networkSecurityGroups", random.pick::<String>(&groups))});
                }
                if let (false, 1..) = (tables.is_empty(), random.below(3)) {
                    properties["routeTable"] =
                        json!({"id": network("routeTables", random.pick::<String>(&tables))});
                }
                let services = ["Microsoft.Storage", "Microsoft.Sql", "Microsoft.KeyVault"];
                let services: Vec<Value> = services
                    .iter()
                    .filter(|_| random.below(3) == 0)
                    .map(|service| json!({"service": service}))
                    .collect();
                properties["serviceEndpoints"] = json!(services);
                json!({"name": format!("u{at}"), "properties": properties})
            })
            .collect();
        let location = if random.below(4) == 0 { "westus" } else { "eastus" };
        resources.push(json!({"id": network("virtualNetworks", &net.name), "location": location,
            "properties": {"addressSpace": {"addressPrefixes": net.space}, "subnets": subnets, "virtualNetworkPeerings": peerings}}));
    }
    let (mut addresses, mut views) = (Vec::new(), json!({}));
    for at in 0..2 + random.below(4) {
        let net = random.pick(&nets);
        let subnet = random.below(net.subnets.len());
        let address = inside(&net.subnets[subnet], random);
        let (nic, machine) = (
            network("networkInterfaces", &format!("c{at}")),
            id("Microsoft.Compute/virtualMachines", &format!("m{at}")),
        );
        let own: Vec<Value> =
            members.iter().filter(|_| random.below(3) == 0).map(|id| json!({"id": id})).collect();
        let subnet = format!("{}/subnets/u{subnet}", network("virtualNetworks", &net.name));
        let mut properties = json!({"virtualMachine": {"id": machine}, "ipConfigurations": [{"name": "i", "properties":
            {"privateIPAddress": address, "subnet": {"id": subnet}, "applicationSecurityGroups": own}}]});
        if let (false, 1..) = (groups.is_empty(), random.below(3)) {
            properties["networkSecurityGroup"] =
                json!({"id": network("networkSecurityGroups", random.pick::<String>(&groups))});
        }
        addresses.push(address);
        resources.push(json!({"id": nic, "location": "eastus", "properties": properties}));
        resources.push(json!({"id": machine, "location": "eastus", "properties": {"networkProfile": {"networkInterfaces": [{"id": nic}]}}}));
        if random.below(5) == 0 {
            views[format!("m{at}")] = json!({"statuses": [{"code": "PowerState/deallocated"}]});
        }
    }
    let tags: serde_json::Map<String, Value> =
        SERVICES.iter().map(|(name, prefixes)| ((*name).to_owned(), json!(prefixes))).collect();
    let known = tags.values().flat_map(|list| list.as_array().unwrap().clone());
    let known: Vec<String> = known.map(|prefix| prefix.as_str().unwrap().to_owned()).collect();
    for prefix in prefixes.iter().chain(&known).chain(&["10.0.0.0/8".to_owned(), "0.0.0.0/0".to_owned()]) {
        addresses.extend((0..2).map(|_| inside(prefix, random)));
    }
    addresses.extend(
        ["168.63.129.16", "169.254.169.254", "127.0.0.1", "8.8.8.8", "203.0.113.9"].map(str::to_owned),
    );
    let description = json!({
        "subscription": {"id": SUBSCRIPTION, "subscriptionId": "00000000-0000-0000-0000-000000000001", "tenantId": "t"},
        "principal": {"objectId": "o"}, "serviceTags": tags, "instanceViews": views, "resources": resources,
        "resourceGroups": [{"id": format!("{SUBSCRIPTION}/resourceGroups/g"), "location": "eastus"}]});
    Drawn { description, addresses }
}

/// Peers networks: in both directions, in one, in two that do not agree.
fn peerings(nets: &[Net], random: &mut Random) -> Vec<Vec<Value>> {
    let mut all: Vec<Vec<Value>> = nets.iter().map(|_| Vec::new()).collect();
    for one in 0..nets.len() {
        for other in 0..one {
            let states = [
                ("Connected", "Connected"),
                ("Connected", "Connected"),
                ("Connected", "Disconnected"),
                ("Initiated", ""),
                ("Connected", ""),
                ("", ""),
            ];
            let (here, there) = *random.pick(&states);
            for (from, to, state) in [(one, other, here), (other, one, there)] {
                if !state.is_empty() {
                    all[from].push(json!({"name": format!("to{to}"), "properties": {"peeringState": state,
                        "allowVirtualNetworkAccess": random.below(3) > 0,
                        "remoteVirtualNetwork": {"id": network("virtualNetworks", &nets[to].name)}}}));
                }
            }
        }
    }
    all
}

fn routes(prefixes: &[String], random: &mut Random) -> Vec<Value> {
    let mut known: Vec<String> = Vec::new();
    let mut routes = Vec::new();
    for at in 0..random.below(7) {
        let prefix = match random.below(6) {
            0 => "0.0.0.0/0".to_owned(),
            1 => (*random.pick(&["Storage", "Sql"])).to_owned(),
            2 => (*random.pick(&[
                "10.0.0.0/8",
                "20.38.98.0/24",
                "20.38.98.16/28",
                "40.71.8.0/26",
                "172.16.0.0/12",
            ]))
            .to_owned(),
            3 => format!("{}/32", inside(random.pick::<String>(prefixes), random)),
            _ => random.pick::<String>(prefixes).clone(),
        };
        if known.contains(&prefix) {
            continue;
        }
        known.push(prefix.clone());
        let hop = *random.pick(&["VirtualAppliance", "None", "Internet", "VnetLocal", "VirtualAppliance"]);
        let mut properties = json!({"addressPrefix": prefix, "nextHopType": hop});
        if hop == "VirtualAppliance" {
            properties["nextHopIpAddress"] = json!(inside(random.pick::<String>(prefixes), random));
        }
        routes.push(json!({"name": format!("r{at}"), "properties": properties}));
    }
    routes
}

/// Draws a rule about what is for the platform itself; hardly one of the others is.
fn to_platform(at: usize, random: &mut Random) -> Value {
    json!({"name": format!("x{at}"), "properties": {
        "priority": 100 + at, "direction": "Outbound", "access": random.pick(&["Allow", "Deny"]),
        "protocol": random.pick(&["*", "Tcp", "Udp"]), "sourceAddressPrefix": "*", "sourcePortRange": "*",
        "destinationAddressPrefixes": [random.pick::<&str>(&PLATFORM), "203.0.113.0/24"],
        "destinationPortRange": random.pick(&["*", "80-2000"])}})
}

fn rule(at: usize, prefixes: &[String], members: &[String], random: &mut Random) -> Value {
    let mut properties = json!({
        "priority": 100 + at, "direction": random.pick(&["Inbound", "Outbound"]), "access": random.pick(&["Allow", "Deny"]),
        "protocol": random.pick(&["*", "Tcp", "Udp", "Icmp"]),
    });
    for side in ["source", "destination"] {
        let one = |random: &mut Random| match random.below(3) {
            0 => inside(random.pick::<String>(prefixes), random),
            1 => "203.0.113.0/24".to_owned(),
            _ => random.pick::<String>(prefixes).clone(),
        };
        match random.below(6) {
            0 => properties[format!("{side}AddressPrefixes")] = json!([one(random), one(random)]),
            1 => properties[format!("{side}AddressPrefix")] = json!(one(random)),
            2 => properties[format!("{side}AddressPrefix")] = json!(random.pick::<&str>(&TAGS)),
            3 => {
                properties[format!("{side}ApplicationSecurityGroups")] =
                    json!([{"id": random.pick::<String>(members)}])
            }
            4 => {
                properties[format!("{side}AddressPrefixes")] =
                    json!([random.pick::<&str>(&TAGS), one(random)])
            }
            _ => properties[format!("{side}AddressPrefix")] = json!("*"),
        }
        match random.below(4) {
            0 => properties[format!("{side}PortRanges")] = json!(["80", "1000-2000"]),
            1 if side == "destination" => {
                properties[format!("{side}PortRange")] = json!(random.pick(&["22", "443", "5001-5002"]))
            }
            _ => properties[format!("{side}PortRange")] = json!("*"),
        }
    }
    json!({"name": format!("x{at}"), "properties": properties})
}
