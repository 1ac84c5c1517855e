//! The judge of a flow beside the kernel: small estates are drawn, with gates, routes through appliances, filters of machines, forwarding
//! and services, the same packets are sent through namespaces, and `path` says of what was read in them what becomes of each.
//!
//! A handful of estates in the short run, 300 with `GHOST_LONG=1`; `GHOST_TEST_SEED` repeats a run.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ghost_inspect::path::{self, Bundle, Estate, Fate, Flow};
use ghost_lab::host::{Behavior, ConnectOutcome, Fabric, Host as _, Protocol, Service, Stage};
use serde_json::{Value, json};

use super::place::{DEST, Place, SOURCE, fabric, gates, machine, route, routes, rule, skipped};
use crate::random::{Random, is_long, seed};

const APPLIANCE: &str = "nva";
const OTHER: &str = "other";
const PORTS: [u16; 4] = [22, 443, 5001, 8080];

/// Who is who, and where.
const MACHINES: [(&str, u8); 4] = [(SOURCE, 4), (DEST, 5), (APPLIANCE, 6), (OTHER, 7)];

fn address(name: &str) -> IpAddr {
    let last = MACHINES.iter().find(|(known, _)| *known == name).unwrap().1;
    IpAddr::from([10, 0, 1, last])
}

/// What is drawn of an estate.
struct Drawn {
    fabric: Fabric,
    services: Vec<Service>,
    /// Lines that are run in machines.
    lines: Vec<(&'static str, String)>,
}

fn gate(random: &mut Random) -> Vec<Value> {
    let mut rules = Vec::new();
    for at in 0..random.below(3) {
        let direction = *random.pick(&["Inbound", "Outbound"]);
        let access = random.pick(&["Allow", "Allow", "Deny"]);
        let protocol = random.pick(&["Tcp", "Udp", "Icmp", "All"]);
        let ends = ["0.0.0.0/0", "10.0.1.4/32", "10.0.1.5/32", "10.0.1.0/24", "10.0.1.6/31"];
        let (from, to) = (random.pick(&ends), random.pick(&ends));
        let port = random.pick(&["0-65535", "22-22", "0-1023", "5001-5001", "443-8080"]);
        let priority = 100 + 10 * u32::try_from(at).unwrap();
        rules.push(rule(
            &format!("securityRules/r{at}"),
            priority,
            direction,
            access,
            protocol,
            from,
            to,
            port,
        ));
    }
    rules
}

/// A route of a user to one machine, mostly none.
fn detour(random: &mut Random, to: &str) -> Vec<Value> {
    let prefix = format!("{}/32", address(to));
    match random.below(14) {
        0 => vec![route("User", &prefix, "None", None)],
        1 => vec![route("User", &prefix, "VirtualAppliance", Some("10.0.1.100"))],
        2 => vec![route("User", &prefix, "VirtualAppliance", Some("10.0.1.7"))],
        3..=4 => vec![route("User", &prefix, "VirtualAppliance", Some("10.0.1.6"))],
        5.. => Vec::new(),
    }
}

fn filter(random: &mut Random, chain: &str) -> String {
    let mut lines = Vec::new();
    if random.below(2) == 0 {
        return String::new();
    }
    for _ in 0..random.below(4) {
        let protocol = *random.pick(&["tcp", "udp", "icmp", "tcp"]);
        let mut words = format!("iptables -A {chain} -p {protocol}");
        if protocol != "icmp" && random.below(3) > 0 {
            words.push_str(&format!(" --dport {}", random.pick(&["22", "5001", "443:8080"])));
        }
        if random.below(2) == 0 {
            words.push_str(&format!(" -s {}", random.pick(&["10.0.1.4", "10.0.1.6/31", "10.0.1.5"])));
        }
        words.push_str(&format!(" -j {}", random.pick(&["ACCEPT", "DROP", "REJECT"])));
        lines.push(words);
    }
    if random.below(8) == 0 {
        lines.push(format!("iptables -A {chain} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT"));
        lines.push(format!("iptables -P {chain} DROP"));
    }
    lines.join("\n")
}

fn draw(random: &mut Random) -> Drawn {
    let mut fabric = fabric();
    fabric.machines.extend([machine(APPLIANCE, 6), machine(OTHER, 7)]);
    for own in &mut fabric.machines {
        let subnet = (random.below(5) == 0).then(|| gate(random));
        let nic = Some(if random.below(4) == 0 { gate(random) } else { Vec::new() });
        let facing = if own.name == DEST { SOURCE } else { DEST };
        let user = if own.name == SOURCE || own.name == DEST { detour(random, facing) } else { Vec::new() };
        let nics = own.nics.first_mut().unwrap();
        nics.rules = gates(subnet, nic);
        nics.routes = routes(user);
        nics.forwards = own.name == APPLIANCE && random.below(5) > 0;
    }
    let bound = [None, None, None, None, None, Some("127.0.0.1"), Some("10.0.1.5")];
    let mut services = Vec::new();
    for port in PORTS {
        for protocol in [Protocol::Tcp, Protocol::Udp] {
            let address: Option<&str> = *random.pick(&bound);
            if random.below(8) > 0 {
                services.push(Service {
                    machine: DEST.to_owned(),
                    protocol,
                    port,
                    program: "listener".to_owned(),
                    behavior: Behavior::Answers,
                    address: address.map(|address| address.parse().unwrap()),
                    pages: BTreeMap::new(),
                });
            }
        }
    }
    let forwarding = if random.below(5) > 0 { 1 } else { 0 };
    let lines = vec![
        (SOURCE, filter(random, "OUTPUT")),
        (DEST, filter(random, "INPUT")),
        (APPLIANCE, format!("sysctl -q -w net.ipv4.ip_forward={forwarding}\n{}", filter(random, "FORWARD"))),
    ];
    Drawn { fabric, services, lines }
}

/// What the platform lists of the estate.
fn cloud(fabric: &Fabric) -> Value {
    let subnet = "/subscriptions/s/virtualNetworks/net/subnets/all";
    let interfaces: Vec<Value> = fabric
        .machines
        .iter()
        .map(|machine| {
            let nic = machine.nics.first().unwrap();
            json!({"name": nic.name, "virtualMachine": {"id": format!("/virtualMachines/{}", machine.name)},
                "enableIPForwarding": nic.forwards,
                "ipConfigurations": [{"privateIPAddress": nic.addresses.first().unwrap().0, "subnet": {"id": subnet}}]})
        })
        .collect();
    let networks = json!([{"name": "net", "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
        "subnets": [{"name": "all", "addressPrefix": "10.0.1.0/24", "id": subnet}]}]);
    json!({"interfaces": interfaces, "networks": networks})
}

/// Reads all of it, the machines from inside.
async fn read(place: &Place, fabric: &Fabric) -> Bundle {
    let (mut nics, mut guests) = (serde_json::Map::new(), serde_json::Map::new());
    for machine in &fabric.machines {
        let nic = machine.nics.first().unwrap();
        nics.insert(nic.name.clone(), json!({"routes": nic.routes, "rules": nic.rules}));
        let name = &machine.name;
        let settings = "sysctl net.ipv4.ip_forward net.ipv4.conf.all.rp_filter net.ipv4.conf.eth0.rp_filter";
        let guest = json!({
            "filters": {
                "nft": place.ask(name, "nft -j list ruleset").await,
                "iptables-nft": place.ask(name, "iptables-nft-save").await,
                "iptables-legacy": place.ask(name, "iptables-legacy-save").await,
            },
            "shaping": place.ask(name, "tc -s qdisc show").await,
            "routes": place.ask(name, "ip route").await,
            "rules": place.ask(name, "ip rule").await,
            "addresses": place.ask(name, "ip addr").await,
            "settings": place.ask(name, settings).await,
            "tcp": place.ask(name, "ss -tlnp").await,
            "udp": place.ask(name, "ss -ulnp").await,
        });
        guests.insert(name.clone(), guest);
    }
    Bundle::parse(&json!({"format": 1, "cloud": cloud(fabric), "nics": nics, "guests": guests}).to_string())
        .unwrap()
}

#[tokio::test]
async fn what_path_says_of_a_flow_is_what_becomes_of_its_packets() {
    if skipped() {
        return;
    }
    let mut random = Random::new(seed("netns path"));
    let place = Place::new(draw(&mut random).fabric).await;
    let (mut passed, mut stopped, mut unknown, mut wrong) = (0, 0, 0, Vec::new());
    let mut missing = BTreeSet::new();
    for number in 0..if is_long() { 300 } else { 6 } {
        place.host.restore().await.unwrap();
        let Drawn { fabric, services, lines } = draw(&mut random);
        place.host.fabric(fabric.clone()).await.unwrap();
        place.host.stage(Stage { services, ..Stage::default() }).await.unwrap();
        for (machine, text) in &lines {
            place.outspoken(machine).await;
            if !text.is_empty() {
                place.ask(machine, text).await;
            }
        }
        let bundle = read(&place, &fabric).await;
        let estate = Estate::of(&bundle);
        let mut probes = Vec::new();
        for from in [SOURCE, OTHER] {
            probes.push((from, Protocol::Icmp, 0));
            for port in PORTS {
                probes.extend([Protocol::Tcp, Protocol::Udp].map(|protocol| (from, protocol, port)));
            }
        }
        let to = address(DEST);
        let dials = probes.iter().map(|(from, protocol, port)| place.host.dial(from, to, *protocol, *port));
        let dialed = futures_util::future::join_all(dials).await;
        for ((from, protocol, port), dialed) in probes.into_iter().zip(dialed) {
            let (kind, port) = match protocol {
                Protocol::Tcp => (path::Protocol::Tcp, Some(port)),
                Protocol::Udp => (path::Protocol::Udp, Some(port)),
                Protocol::Icmp => (path::Protocol::Icmp, None),
            };
            let flow = Flow::new(address(from), to, kind, port).unwrap();
            let judged = estate.judge(&flow);
            let says = match &judged.fate {
                Fate::Unknown => {
                    unknown += 1;
                    missing.extend(judged.missing().iter().map(|one| format!("{one:?}")));
                    continue;
                }
                Fate::Passes | Fate::Degraded | Fate::Partly => true,
                Fate::Stopped | Fate::NoPath(_) => false,
            };
            let passes = matches!(dialed.unwrap(), ConnectOutcome::Open(_));
            passed += usize::from(passes);
            stopped += usize::from(!passes);
            if says != passes {
                let found: Vec<String> = judged.findings().iter().map(ToString::to_string).collect();
                wrong.push(format!(
                    "estate {number}: {flow}: passes {passes}, and path says {:?} {found:?}\n{lines:?}\n{}",
                    judged.fate,
                    serde_json::to_string(&bundle).unwrap()
                ));
            }
        }
    }
    place.host.close().await;
    println!("{passed} passed, {stopped} did not, {unknown} were not judged: {missing:?}");
    assert!(wrong.is_empty(), "{} wrong, the first: {}", wrong.len(), wrong.first().unwrap());
    assert!(passed > 20 && stopped > 20 && unknown * 20 < passed + stopped, "{passed} {stopped} {unknown}");
}
