//! A hub and spokes, with an appliance that everything between spokes passes by design.

use std::net::Ipv4Addr;

use super::address::Prefix;
use super::estate::{Estate, GroupRule, Hop, Machine, Network, Place, Role, Route, Service, Subnet};
use super::guest::{GuestStep, Rule, State, Target};
use super::tiers::{APPS, DB_PORTS, Drawn, deny, fill, guest, machine};
use super::walk::Flow;
use crate::case::random::Rng;
use crate::host::Protocol;

/// Draws one.
pub(super) fn hub(rng: &mut Rng) -> Drawn {
    let app = rng.one(&APPS);
    let first = u8::try_from(30 + rng.below(90)).unwrap_or(30);
    let spokes = rng.one(&[2_u8, 2, 3]);
    let mut estate = Estate::default();
    let network = |at: u8| if at == 0 { "hub-vnet".to_owned() } else { format!("spoke{at}-vnet") };
    let prefix = |at: u8, third: u8, length| Prefix::new(Ipv4Addr::new(10, first + at, third, 0), length);
    for at in 0..=spokes {
        let others = if at == 0 { 1..=spokes } else { 0..=0 };
        estate.networks.push(Network {
            name: network(at),
            prefix: prefix(at, 0, 16),
            peerings: others.map(|other| (network(other), "Connected")).collect(),
        });
        let names: &[(&str, u8)] = if at == 0 {
            &[("nva", 1), ("shared", 2), ("GatewaySubnet", 255)]
        } else {
            &[("work", 1), ("data", 2)]
        };
        for (name, third) in names {
            let name = format!("{}/{name}", network(at));
            estate.subnets.push(Subnet { name, prefix: prefix(at, *third, 24), group: None, table: None });
        }
    }
    let appliance = prefix(0, 1, 24).at(4);
    let nva = if rng.percent(50) { "fw-hub-01".to_owned() } else { format!("{app}-fw") };
    estate
        .machines
        .push(Machine { forwards: true, ..machine(nva.clone(), Role::Appliance, appliance, "hub-vnet/nva") });
    estate.machines.push(machine(
        "hub-dns".to_owned(),
        Role::Names,
        prefix(0, 2, 24).at(5),
        "hub-vnet/shared",
    ));
    estate.services.push(Service::new("hub-dns".to_owned(), 8443, "nginx"));
    for at in 1..=spokes {
        let apps = rng.one(&[1_u32, 1, 2, 3]);
        for number in 0..apps {
            let name = format!("{app}-s{at}-app{}", number + 1);
            let address = prefix(at, 1, 24).at(4 + number);
            estate.machines.push(machine(name, Role::App, address, &format!("{}/work", network(at))));
        }
        let name = format!("{app}-s{at}-db");
        let address = prefix(at, 2, 24).at(4);
        estate.machines.push(machine(name.clone(), Role::Db, address, &format!("{}/data", network(at))));
        let (port, program) = rng.one(&DB_PORTS);
        estate.services.push(Service::new(name.clone(), port, program));
        if rng.percent(50) {
            estate.services.push(Service::new(name, 8443, "nginx"));
        }
    }
    let by_design = tables(&mut estate, spokes, &network, appliance, rng);
    let flows = wanted(&estate);
    groups(&mut estate, spokes, &network, &flows, rng);
    forwarding(&mut estate, &nva, &flows, rng);
    for machine in estate.machines.clone().iter().filter(|machine| machine.role != Role::Appliance) {
        guest(&mut estate, machine, &flows, rng);
    }
    Drawn { estate, app, flows, by_design }
}

/// Every spoke's table leads to the others by the appliance; some lead to the hub by it, too, and are answered directly.
fn tables(
    estate: &mut Estate,
    spokes: u8,
    network: &impl Fn(u8) -> String,
    appliance: Ipv4Addr,
    rng: &mut Rng,
) -> Vec<(String, String)> {
    let mut by_design = Vec::new();
    let (default, shared) = (rng.percent(50), rng.percent(50));
    for at in 1..=spokes {
        for part in ["work", "data"] {
            let table = format!("rt-spoke{at}-{part}");
            let subnet = format!("{}/{part}", network(at));
            let others = (1..=spokes).filter(|other| *other != at);
            let mut routes: Vec<(String, Prefix)> = others
                .filter_map(|other| {
                    let prefix = estate.network(&network(other))?.prefix;
                    Some((format!("to-spoke{other}"), prefix))
                })
                .collect();
            if default {
                routes.push(("default-via-fw".to_owned(), Prefix::ALL));
            }
            if let (true, Some(own)) = (shared && part == "work", estate.subnet("hub-vnet/shared")) {
                routes.push(("to-hub-shared".to_owned(), own.prefix));
            }
            for (name, prefix) in routes {
                by_design.push((table.clone(), name.clone()));
                estate.add_route(&subnet, &table, Route { name, prefix, hop: Hop::Appliance(appliance) });
            }
        }
    }
    by_design
}

/// Machines of a spoke call its own database, that of another spoke, and what the hub shares.
fn wanted(estate: &Estate) -> Vec<Flow> {
    let mut flows = Vec::new();
    for source in estate.of_role(Role::App) {
        for service in &estate.services {
            let Some(destination) = estate.machine(&service.machine) else { continue };
            flows.push(Flow {
                source: source.address,
                destination: destination.address,
                protocol: Protocol::Tcp,
                port: service.port,
            });
        }
    }
    flows
}

fn groups(estate: &mut Estate, spokes: u8, network: &impl Fn(u8) -> String, flows: &[Flow], rng: &mut Rng) {
    for at in 1..=spokes {
        let name = format!("spoke{at}-nsg");
        let own = network(at);
        let inside: Vec<Machine> = estate
            .machines
            .iter()
            .filter(|machine| machine.subnet.starts_with(&format!("{own}/")))
            .cloned()
            .collect();
        fill(estate, &name, &inside, flows, rng);
        for subnet in estate.subnets.iter_mut().filter(|subnet| subnet.network() == own) {
            subnet.group = Some(name.clone());
        }
    }
    if rng.percent(50) {
        let inside = Place::Of(Prefix::new(Ipv4Addr::new(10, 0, 0, 0), 8));
        let rule = GroupRule {
            name: "allow-spokes".to_owned(),
            allows: true,
            source: inside.clone(),
            destination: inside,
            ..deny("", 200, true)
        };
        estate.add_rule("nva-nsg", rule);
        let appliances = estate.machines.iter_mut().filter(|machine| machine.role == Role::Appliance);
        appliances.for_each(|machine| machine.group = Some("nva-nsg".to_owned()));
    }
}

/// What the appliance passes on: everything, or what the flows need and nothing else.
fn forwarding(estate: &mut Estate, nva: &str, flows: &[Flow], rng: &mut Rng) {
    let mut add = |step: GuestStep| estate.steps.push((nva.to_owned(), step));
    let forward = |rule: Rule| GuestStep::Rule { chain: "FORWARD", first: false, rule };
    if rng.percent(25) {
        add(GuestStep::Docker { drop_in: None });
    }
    let selects = rng.percent(60);
    if selects {
        add(forward(Rule { state: Some(State::Established), ..Rule::new(Target::Accept) }));
        add(forward(Rule { protocol: Some(Protocol::Icmp), ..Rule::new(Target::Accept) }));
        let mut ports: Vec<u16> = flows.iter().map(|flow| flow.port).collect();
        ports.sort_unstable();
        ports.dedup();
        for port in ports {
            add(forward(Rule::port(Protocol::Tcp, port, Target::Accept)));
        }
    }
    let dropped = rng.one(&[445_u16, 23, 3389]);
    add(forward(Rule::port(Protocol::Tcp, dropped, Target::Drop)));
    if selects && rng.percent(60) {
        add(GuestStep::Policy { chain: "FORWARD" });
    }
}
