//! A world of two machines, for all tests of the wire; and what connections in it come to.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use serde_json::{Value, json};

use super::{FirstPacket, call, dial, reaches, session};
use crate::host::fabric::{Account, Bastion, Cluster, Fabric, Machine, Nic};
use crate::host::port::ConnectOutcome;
use crate::host::simulated::world::{ProgramResult, World};
use crate::host::stage::{Behavior, Oddity, Protocol, Service, TrafficFlow};
use ghost_base::Timestamp;

pub(super) const SOURCE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 1, 4));
pub(super) const DEST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 1, 5));

fn machine(name: &str, last: u8) -> Machine {
    let nic = Nic {
        name: format!("{name}-nic"),
        mac: format!("00:0d:3a:1b:01:{last:02x}"),
        addresses: vec![([10, 0, 1, last].into(), 24)],
        ..Nic::default()
    };
    Machine { name: name.to_owned(), running: true, nics: vec![nic] }
}

/// A world of two machines without rules and routes.
pub(super) fn world() -> World {
    let accounts =
        vec![Account { name: "nwlogs080613".to_owned(), lets_in: vec!["tf-source-vm".to_owned()] }];
    let machines = vec![machine("tf-source-vm", 4), machine("tf-dest-vm", 5)];
    let fabric = Fabric { machines, accounts, ..Fabric::default() };
    World::new(fabric, 7, Timestamp::from_millis(1_748_860_000_000))
}

pub(super) fn service(machine: &str, port: u16, behavior: Behavior) -> Service {
    let program = "python3".to_owned();
    Service {
        machine: machine.to_owned(),
        protocol: Protocol::Tcp,
        port,
        program,
        behavior,
        address: None,
        pages: BTreeMap::new(),
    }
}

pub(super) fn traffic(protocol: Protocol, port: u16, every_ms: u64) -> TrafficFlow {
    TrafficFlow {
        machine: "tf-source-vm".to_owned(),
        to: DEST,
        protocol,
        port,
        every_ms,
        request: 180,
        answer: 900,
        think_ms: 2,
    }
}

/// Runs a command on the source.
pub(super) fn run(world: &mut World, line: &str) -> ProgramResult {
    let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    call(world, "tf-source-vm", &argv, "").unwrap()
}

/// Effective routes with one of somebody's own.
fn routes(prefix: &str, kind: &str, hop: &[&str]) -> Value {
    let row = |source: &str, prefix: &str, kind: &str, hop: &[&str]| json!({"source": source, "state": "Active", "addressPrefix": [prefix], "nextHopType": kind, "nextHopIpAddress": hop});
    json!({"value": [
        row("Default", "10.0.0.0/16", "VnetLocal", &[]),
        row("Default", "0.0.0.0/0", "Internet", &[]),
        row("User", prefix, kind, hop),
    ]})
}

/// Effective rules that deny one port from everywhere.
fn rules(port: &str) -> Value {
    let rule = |name: &str, priority: u32, access: &str, direction: &str, port: &str| {
        json!({"name": name, "priority": priority, "access": access, "direction": direction, "protocol": if access == "Deny" { "Tcp" } else { "All" },
            "sourceAddressPrefix": "0.0.0.0/0", "sourceAddressPrefixes": ["0.0.0.0/0"], "sourcePortRange": "0-65535",
            "sourcePortRanges": ["0-65535"], "destinationAddressPrefix": "0.0.0.0/0",
            "destinationAddressPrefixes": ["0.0.0.0/0"], "destinationPortRange": port, "destinationPortRanges": [port]})
    };
    json!({"value": [{
    "networkSecurityGroup": {"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/n"},
    "association": {"networkInterface": {"id": "/x/networkInterfaces/y"}},
    "effectiveSecurityRules": [
        rule("securityRules/block", 150, "Deny", "Inbound", port),
        rule("securityRules/in", 200, "Allow", "Inbound", "0-65535"),
        rule("securityRules/out", 200, "Allow", "Outbound", "0-65535"),
    ]}]})
}

fn nic<'a>(world: &'a mut World, machine: &str) -> &'a mut Nic {
    let machine = world.fabric.machines.iter_mut().find(|found| found.name == machine).unwrap();
    &mut machine.nics[0]
}

#[test]
fn who_listens_is_reached_and_who_does_not_refuses() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 8080, Behavior::Answers));
    world.stage.services.push(service("tf-dest-vm", 8081, Behavior::Silent));
    let mut dial = |port| dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, port);
    assert!(matches!(dial(8080), ConnectOutcome::Open(took) if took < Duration::from_millis(1)));
    assert_eq!(dial(8081), ConnectOutcome::Silent);
    assert_eq!(dial(9999), ConnectOutcome::Refused);
}

#[test]
fn a_rule_of_the_platform_drops_in_silence() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 8080, Behavior::Answers));
    nic(&mut world, "tf-dest-vm").rules = rules("8080-8080");
    assert_eq!(dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 8080), ConnectOutcome::Silent);
    // What it says itself gets its answers.
    assert!(matches!(dial(&mut world, "tf-dest-vm", SOURCE, Protocol::Tcp, 22), ConnectOutcome::Open(_)));
    assert!(matches!(dial(&mut world, "tf-source-vm", DEST, Protocol::Icmp, 0), ConnectOutcome::Open(_)));
}

#[test]
fn a_route_to_nowhere_or_to_a_dead_appliance_loses_all() {
    for (kind, hop) in [("None", &[][..]), ("VirtualAppliance", &["10.0.1.100"][..])] {
        let mut world = world();
        nic(&mut world, "tf-source-vm").routes = routes("10.0.1.5/32", kind, hop);
        assert_eq!(
            dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 22),
            ConnectOutcome::Silent,
            "{kind}"
        );
        let ping = run(&mut world, "ping -c 2 -W 1 10.0.1.5");
        assert!(ping.out.contains("2 packets transmitted, 0 received, 100% packet loss"), "{}", ping.out);
        assert_eq!(ping.code, 1);
    }
}

#[test]
fn a_living_appliance_is_a_detour() {
    let mut world = world();
    let mut between = machine("nva", 9);
    between.nics[0].forwards = true;
    let mut fabric = world.fabric.clone();
    fabric.machines.push(between);
    world.set_fabric(fabric);
    nic(&mut world, "tf-source-vm").routes = routes("10.0.1.5/32", "VirtualAppliance", &["10.0.1.9"]);
    assert!(matches!(dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 22), ConnectOutcome::Open(_)));
    let trace = run(&mut world, "traceroute -n -I 10.0.1.5").out;
    assert!(trace.contains(" 1  10.0.1.9") && trace.contains(" 2  10.0.1.5"), "{trace}");
    nic(&mut world, "nva").forwards = false;
    assert_eq!(dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 22), ConnectOutcome::Silent);
}

#[test]
fn answers_that_go_astray_do_not_arrive() {
    let mut world = world();
    let via = [10, 0, 1, 200].into();
    world.stage.oddities.push(Oddity::Asymmetric { machine: "tf-dest-vm".to_owned(), to: SOURCE, via });
    assert_eq!(dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 22), ConnectOutcome::Silent);
    assert!(matches!(
        dial(&mut world, "tf-dest-vm", SOURCE, Protocol::Tcp, 22),
        ConnectOutcome::Silent | ConnectOutcome::Open(_)
    ));
}

#[test]
fn the_internet_is_small_but_there() {
    let mut world = world();
    assert!(matches!(
        reaches(&mut world, "tf-source-vm", [8, 8, 8, 8].into(), Protocol::Tcp, 443),
        FirstPacket::Open(_)
    ));
    assert_eq!(
        reaches(&mut world, "tf-source-vm", [8, 8, 8, 8].into(), Protocol::Tcp, 81),
        FirstPacket::Silent
    );
    assert_eq!(
        reaches(&mut world, "tf-source-vm", [203, 0, 113, 9].into(), Protocol::Tcp, 443),
        FirstPacket::Silent
    );
    nic(&mut world, "tf-source-vm").routes = routes("0.0.0.0/0", "VirtualAppliance", &["10.0.1.253"]);
    assert_eq!(
        reaches(&mut world, "tf-source-vm", [8, 8, 8, 8].into(), Protocol::Tcp, 443),
        FirstPacket::Silent
    );
    // The platform's own server does not follow anybody's routes.
    let platform = [168, 63, 129, 16].into();
    assert!(matches!(reaches(&mut world, "tf-source-vm", platform, Protocol::Tcp, 80), FirstPacket::Open(_)));
}

/// A world with a bastion host in 10.0.9.0/26, at whose subnet a port is denied.
fn with_bastion(denied: Option<&str>) -> World {
    let mut world = world();
    let address = [10, 0, 9, 4].into();
    let rules = denied.map(rules).unwrap_or_default();
    let nic = Nic { name: "jump".to_owned(), rules, ..Nic::default() };
    let own = Bastion { name: "jump".to_owned(), address, nic, has_public: true, ip_connect: false };
    world.fabric.bastions.push(own);
    world
}

#[test]
fn a_session_by_a_bastion_host_needs_whoever_manages_it_and_the_machine() {
    let dest = "10.0.1.5".parse().unwrap();
    let mut open = with_bastion(None);
    assert!(matches!(session(&mut open, "jump", dest, 22), Some(ConnectOutcome::Open(_))));
    assert_eq!(session(&mut open, "jump", dest, 3389), Some(ConnectOutcome::Refused));
    assert_eq!(session(&mut open, "other", dest, 22), None);
    // Nobody here has that address, and the host is not set to call it.
    assert_eq!(session(&mut open, "jump", "10.9.9.9".parse().unwrap(), 22), Some(ConnectOutcome::Silent));
    let mut unmanaged = with_bastion(Some("443-443"));
    assert_eq!(session(&mut unmanaged, "jump", dest, 22), Some(ConnectOutcome::Silent));
    let mut guarded = with_bastion(None);
    nic(&mut guarded, "tf-dest-vm").rules = rules("22-22");
    assert_eq!(session(&mut guarded, "jump", dest, 22), Some(ConnectOutcome::Silent));
}

#[test]
fn an_api_server_takes_calls_of_its_ranges_while_it_runs() {
    let server: std::net::IpAddr = "20.72.8.20".parse().unwrap();
    let with = |is_running: bool, ranges: &[&str], seen: Option<&str>| {
        let mut world = world();
        let ranges = ranges.iter().map(|range| range.parse().unwrap()).collect();
        let names = vec!["prod.hcp.eastus.azmk8s.io".to_owned()];
        world.fabric.clusters.push(Cluster { names, public: Some(server), is_running, ranges });
        nic(&mut world, "tf-source-vm").routes = routes("10.9.0.0/16", "None", &[]);
        nic(&mut world, "tf-source-vm").seen = seen.map(|seen| seen.parse().unwrap());
        dial(&mut world, "tf-source-vm", server, Protocol::Tcp, 443)
    };
    assert!(matches!(with(true, &[], None), ConnectOutcome::Open(_)));
    assert_eq!(with(false, &[], None), ConnectOutcome::Silent);
    assert_eq!(with(true, &["203.0.113.0/24"], Some("20.80.1.5")), ConnectOutcome::Silent);
    assert!(matches!(with(true, &["20.80.1.0/24"], Some("20.80.1.5")), ConnectOutcome::Open(_)));
}
