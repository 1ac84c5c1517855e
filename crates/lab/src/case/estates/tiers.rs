//! Three tiers in one network: subnets, groups, guests as they are where somebody maintains them.

use std::net::Ipv4Addr;

use super::address::Prefix;
use super::draw::Profile;
use super::estate::{Estate, GroupRule, Machine, Network, Place, Role, Service, Subnet};
use super::guest::{GuestStep, Rule, State, Target};
use super::walk::Flow;
use crate::case::random::Rng;
use crate::host::Protocol;

pub(super) const APPS: [&str; 14] = [
    "shop", "erp", "crm", "hr", "pay", "media", "fleet", "booking", "claims", "ledger", "orders", "quote",
    "lab", "tracker",
];

/// What an application serves: the port, and the program behind it.
pub(super) const APP_PORTS: [(u16, &str); 5] =
    [(8443, "nginx"), (8080, "python3"), (50051, "server"), (7070, "java"), (8443, "java")];
pub(super) const DB_PORTS: [(u16, &str); 6] = [
    (5432, "postgres"),
    (3306, "mysqld"),
    (27017, "mongod"),
    (9200, "java"),
    (5432, "postgres"),
    (9092, "java"),
];

/// An estate, and the flows that it is made for.
pub(super) struct Drawn {
    pub(super) estate: Estate,
    pub(super) app: &'static str,
    pub(super) flows: Vec<Flow>,
    /// Routes to appliances by design.
    pub(super) by_design: Vec<(String, String)>,
}

pub(super) fn machine(name: String, role: Role, address: Ipv4Addr, subnet: &str) -> Machine {
    Machine {
        name,
        role,
        address,
        subnet: subnet.to_owned(),
        group: None,
        interface_group: None,
        forwards: false,
        public: None,
    }
}

fn numbered(app: &str, role: &str, count: usize, at: usize) -> String {
    if count == 1 { format!("{app}-{role}") } else { format!("{app}-{role}-{}", at + 1) }
}

/// Draws one.
pub(super) fn tiers(rng: &mut Rng, profile: Profile) -> Drawn {
    let app = rng.one(&APPS);
    let many = if rng.percent(3) { 3 } else { 1 };
    let webs = match profile {
        Profile::Hardened => rng.one(&[0, 1, 2, 3]),
        Profile::Hub | Profile::Unnamed | Profile::Talk | Profile::Mixed => rng.one(&[1, 2, 2, 3, 4]),
    } * many;
    let apps = rng.one(&[1, 2, 2, 3]) * many;
    let second = u8::try_from(10 + rng.below(50)).unwrap_or(10);
    let base = |third: u8| Prefix::new(Ipv4Addr::new(10, second, third, 0), 24);
    let network = format!("{app}-vnet");
    let mut estate = Estate {
        networks: vec![Network {
            name: network.clone(),
            prefix: Prefix::new(Ipv4Addr::new(10, second, 0, 0), 16),
            peerings: Vec::new(),
        }],
        ..Estate::default()
    };
    let mut third = 0;
    let mut subnet = |estate: &mut Estate, name: &str, wanted: bool| -> (String, Prefix) {
        let name = format!("{network}/{name}");
        if wanted {
            third += 1;
        }
        let prefix = base(third);
        if wanted {
            estate.subnets.push(Subnet { name: name.clone(), prefix, group: None, table: None });
        }
        (name, prefix)
    };
    let web = subnet(&mut estate, "web", webs > 0);
    let middle = subnet(&mut estate, "app", true);
    let data = subnet(&mut estate, "db", true);
    for (name, prefix) in [("privatelink", base(9)), ("mgmt", base(8)), ("AzureBastionSubnet", base(250))] {
        let name = format!("{network}/{name}");
        estate.subnets.push(Subnet { name, prefix, group: None, table: None });
    }
    let (app_port, app_program) = rng.one(&APP_PORTS);
    let (db_port, db_program) = rng.one(&DB_PORTS);
    let at = |prefix: Prefix, place: usize| prefix.at(u32::try_from(10 + place).unwrap_or(10));
    for place in 0..webs {
        let name = numbered(app, "web", webs, place);
        estate.machines.push(machine(name, Role::Web, at(web.1, place), &web.0));
    }
    for place in 0..apps {
        let name = numbered(app, "app", apps, place);
        estate.machines.push(machine(name.clone(), Role::App, at(middle.1, place), &middle.0));
        estate.services.push(Service::new(name, app_port, app_program));
    }
    let db = if rng.percent(50) { format!("{app}-db") } else { format!("{app}-db-1") };
    estate.machines.push(machine(db.clone(), Role::Db, at(data.1, 0), &data.0));
    estate.services.push(Service::new(db, db_port, db_program));
    if rng.percent(60) {
        let name = format!("{app}-cache");
        estate.machines.push(machine(name.clone(), Role::Cache, data.1.at(40), &data.0));
        estate.services.push(Service::new(name, 6379, "redis-server"));
    }
    if rng.percent(25) {
        let name = format!("{app}-jump");
        estate.machines.push(machine(name, Role::Jump, base(8).at(4), &format!("{network}/mgmt")));
    }
    if matches!(profile, Profile::Unnamed) && rng.percent(50) {
        for (group, role) in [("asg-web", Role::Web), ("asg-app", Role::App), ("asg-db", Role::Db)] {
            estate.interface_groups.push(group.to_owned());
            let own = estate.machines.iter_mut().filter(|machine| machine.role == role);
            own.for_each(|machine| machine.interface_group = Some(group.to_owned()));
        }
    }
    let flows = wanted(&estate);
    groups(&mut estate, &flows, rng);
    for machine in estate.machines.clone() {
        guest(&mut estate, &machine, &flows, rng);
    }
    Drawn { estate, app, flows, by_design: Vec::new() }
}

/// The flows that three tiers live by.
fn wanted(estate: &Estate) -> Vec<Flow> {
    let mut flows = Vec::new();
    for (from, to) in [(Role::Web, Role::App), (Role::App, Role::Db), (Role::App, Role::Cache)] {
        for source in estate.of_role(from) {
            for destination in estate.of_role(to) {
                let ports = estate.services.iter().filter(|service| service.machine == destination.name);
                flows.extend(ports.map(|service| Flow {
                    source: source.address,
                    destination: destination.address,
                    protocol: Protocol::Tcp,
                    port: service.port,
                }));
            }
        }
    }
    flows
}

pub(super) fn allow(name: &str, priority: u16, source: Place, port: u16) -> GroupRule {
    GroupRule {
        name: format!("{name}-{priority}"),
        priority,
        inbound: true,
        allows: true,
        protocol: Some(Protocol::Tcp),
        source,
        destination: Place::Any,
        ports: vec![(port, port)],
    }
}

pub(super) fn deny(name: &str, priority: u16, inbound: bool) -> GroupRule {
    GroupRule {
        name: name.to_owned(),
        priority,
        inbound,
        allows: false,
        protocol: None,
        source: Place::Any,
        destination: Place::Any,
        ports: Vec::new(),
    }
}

fn port_name(port: u16) -> &'static str {
    match port {
        5432 => "allow-pg",
        3306 => "allow-mysql",
        6379 => "allow-redis",
        27017 => "allow-mongo",
        9200 => "allow-es",
        9092 => "allow-kafka",
        50051 => "allow-grpc",
        8443 => "allow-https",
        22 => "allow-ssh",
        _ => "allow-http",
    }
}

/// Groups at subnets, at interfaces, or both; each lets in what its machines are there for.
pub(super) fn groups(estate: &mut Estate, flows: &[Flow], rng: &mut Rng) {
    let mode = rng.below(3);
    for subnet in estate.subnets.clone() {
        let inside: Vec<Machine> =
            estate.machines.iter().filter(|machine| machine.subnet == subnet.name).cloned().collect();
        if inside.is_empty() {
            continue;
        }
        if mode != 1 || rng.percent(20) {
            let name = format!("{}-subnet-nsg", subnet.short());
            fill(estate, &name, &inside, flows, rng);
            estate.subnets.iter_mut().filter(|own| own.name == subnet.name).for_each(|own| {
                own.group = Some(name.clone());
            });
        }
        for machine in inside {
            let wanted = match mode {
                0 => false,
                1 => true,
                _ => rng.percent(60),
            };
            if wanted && machine.role != Role::Jump {
                let name = format!("{}-nsg", machine.name);
                fill(estate, &name, std::slice::from_ref(&machine), flows, rng);
                let own = estate.machines.iter_mut().filter(|own| own.name == machine.name);
                own.for_each(|own| own.group = Some(name.clone()));
            }
        }
    }
}

/// Fills a group that stands before some machines.
pub(super) fn fill(estate: &mut Estate, group: &str, inside: &[Machine], flows: &[Flow], rng: &mut Rng) {
    estate.groups.entry(group.to_owned()).or_default();
    let own: Vec<Flow> = flows
        .iter()
        .filter(|flow| inside.iter().any(|machine| machine.address == flow.destination))
        .cloned()
        .collect();
    if rng.percent(65) {
        let mut priority = 300;
        let mut seen: Vec<(Ipv4Addr, u16)> = Vec::new();
        for flow in &own {
            if seen.contains(&(flow.source, flow.port)) {
                continue;
            }
            seen.push((flow.source, flow.port));
            let caller = estate.owner(flow.source).cloned();
            let prefix = caller
                .as_ref()
                .and_then(|caller| estate.subnet(&caller.subnet))
                .map_or(Prefix::ALL, |subnet| subnet.prefix);
            let interfaces = caller.and_then(|caller| caller.interface_group);
            let place = match (rng.below(3), interfaces) {
                (0 | 1, Some(group)) => Place::Interfaces(group),
                (0, _) => Place::Of(Prefix::host(flow.source)),
                (1, _) => Place::Of(prefix),
                _ => Place::VirtualNetwork,
            };
            estate.add_rule(group, allow(port_name(flow.port), priority, place, flow.port));
            priority += 10;
        }
        if rng.percent(70) {
            let ssh =
                GroupRule { name: "allow-ssh-mgmt".to_owned(), ..allow("", 900, Place::VirtualNetwork, 22) };
            estate.add_rule(group, ssh);
        }
        if rng.percent(70) {
            let probe = GroupRule {
                name: "allow-lb".to_owned(),
                source: Place::LoadBalancer,
                allows: true,
                ..deny("", 3000, true)
            };
            estate.add_rule(group, probe);
        }
        if rng.percent(70) {
            let name = rng.one(&["DenyAll", "deny-all-in", "zt-default-deny"]);
            estate.add_rule(group, deny(name, rng.one(&[4000, 4096]), true));
        }
        if let (true, Some(flow)) = (rng.percent(40), own.first()) {
            let name = format!("{}-{}", rng.one(&["deny-old", "legacy-deny"]), 100 + rng.below(900));
            let shadowed = GroupRule {
                protocol: Some(Protocol::Tcp),
                ports: vec![(flow.port, flow.port)],
                ..deny(&name, 3500, true)
            };
            estate.add_rule(group, shadowed);
        }
    } else if rng.percent(80) {
        let name = format!("{}-{}", rng.one(&["deny-internet", "no-inet-in"]), 100 + rng.below(900));
        estate.add_rule(group, GroupRule { source: Place::Internet, ..deny(&name, 3900, true) });
    }
    if rng.percent(40) {
        let out = |name: &str, priority, destination| GroupRule {
            name: name.to_owned(),
            destination,
            inbound: false,
            allows: true,
            ..deny("", priority, false)
        };
        estate.add_rule(group, out("allow-out-vnet", 500, Place::VirtualNetwork));
        estate.add_rule(
            group,
            GroupRule {
                protocol: Some(Protocol::Tcp),
                ports: vec![(80, 80), (443, 443)],
                ..out("allow-out-web", 510, Place::Internet)
            },
        );
        if rng.percent(60) {
            estate.add_rule(group, deny("deny-out-all", 4090, false));
        }
    }
}

/// The firewall of a guest that is looked after: what it serves and ssh are let in, the rest is not.
pub(super) fn guest(estate: &mut Estate, machine: &Machine, flows: &[Flow], rng: &mut Rng) {
    let mut ports: Vec<u16> = vec![22];
    for flow in flows.iter().filter(|flow| flow.destination == machine.address) {
        if !ports.contains(&flow.port) {
            ports.push(flow.port);
        }
    }
    let name = machine.name.clone();
    let state = |state, target| Rule { state: Some(state), ..Rule::new(target) };
    let lo = Rule { input: Some("lo"), ..Rule::new(Target::Accept) };
    let icmp = Rule { protocol: Some(Protocol::Icmp), ..Rule::new(Target::Accept) };
    let opened: Vec<Rule> =
        ports.iter().map(|port| Rule::port(Protocol::Tcp, *port, Target::Accept)).collect();
    let mut add = |step: GuestStep| estate.steps.push((name.clone(), step));
    let style = rng.below(10);
    let mut rules =
        vec![state(State::Invalid, Target::Drop), state(State::Established, Target::Accept), lo.clone()];
    rules.push(icmp.clone());
    rules.extend(opened.iter().cloned());
    match style {
        0 | 1 => {
            rules.push(Rule::new(Target::Log));
            rules.push(Rule::new(Target::Return));
            add(GuestStep::Chain { name: "ufw-user-input", from: "INPUT", rules });
            add(GuestStep::Policy { chain: "INPUT" });
        }
        2 => {
            rules.push(Rule::new(Target::Drop));
            add(GuestStep::Chain { name: "CORP-IN", from: "INPUT", rules });
        }
        3 => {
            rules.push(Rule::new(Target::Reject));
            add(GuestStep::Chain { name: "IN_public", from: "INPUT", rules });
        }
        4 | 5 => {
            let flat = [
                lo,
                Rule { source: Some(Prefix::new(Ipv4Addr::LOCALHOST, 8)), ..Rule::new(Target::Drop) },
                state(State::Established, Target::Accept),
                icmp,
            ];
            for rule in flat.into_iter().chain(opened) {
                add(GuestStep::Rule { chain: "INPUT", first: false, rule });
            }
            add(GuestStep::Policy { chain: "INPUT" });
        }
        _ => {}
    }
}
