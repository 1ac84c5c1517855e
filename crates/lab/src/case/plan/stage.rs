//! Services, traffic and oddities of a case.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::view::View;
use crate::case::fault::{DnsDoes, Fault};
use crate::case::model::{Case, PlacedFault};
use crate::case::problem::Problem;
use crate::host::{Behavior, DnsFault, Oddity, Protocol, Service, Stage, TrafficFlow};

/// Sets the stage, without the faults that are gone.
pub(in crate::case) fn stage(case: &Case, view: &View, gone: &BTreeSet<usize>) -> (Stage, Vec<Problem>) {
    let mut stage = Stage::default();
    let mut problems = Vec::new();
    for service in &case.services {
        let own = service
            .address
            .is_none_or(|address| address.is_loopback() || view.address(&service.vm) == Some(address));
        if !own {
            let what = format!("{} has no such address to listen on", service.vm);
            problems.push(Problem::new(what, "write 127.0.0.1, or the address of the machine"));
        }
        stage.services.push(Service {
            machine: service.vm.clone(),
            protocol: service.protocol,
            port: service.port,
            program: service.program.clone(),
            behavior: service.behavior,
            address: service.address,
            pages: service.pages.clone(),
        });
    }
    for traffic in &case.traffic {
        let Some(to) = traffic.to.parse::<IpAddr>().ok().or_else(|| view.address(&traffic.to)) else {
            let what = format!("`{}` is neither a machine nor an address", traffic.to);
            problems.push(Problem::new(what, "write whom the traffic is for"));
            continue;
        };
        let one = TrafficFlow {
            machine: traffic.from.clone(),
            to,
            protocol: traffic.protocol,
            port: traffic.port,
            every_ms: traffic.every_ms,
            request: traffic.request,
            answer: traffic.answer,
            think_ms: traffic.think_ms,
        };
        stage.flows.extend(std::iter::repeat_n(one, usize::from(traffic.parallel)));
    }
    let there = case.faults.iter().enumerate().filter(|(at, _)| !gone.contains(at));
    for (_, placed) in there {
        if let Err(problem) = odd(&mut stage, placed, view) {
            problems.push(problem.at(placed.line));
        }
    }
    problems.extend(doubled(&stage));
    (stage, problems)
}

/// Adds what a fault brings along.
fn odd(stage: &mut Stage, placed: &PlacedFault, view: &View) -> Result<(), Problem> {
    let address = |vm: &str| {
        let absent = || Problem::new(format!("`{vm}` has no address"), "name a machine with an interface");
        view.address(vm).ok_or_else(absent)
    };
    let traffic = |from: &str, to: IpAddr, protocol: Protocol, port: u16, every_ms: u64| TrafficFlow {
        machine: from.to_owned(),
        to,
        protocol,
        port,
        every_ms,
        request: 64,
        answer: 128,
        think_ms: 0,
    };
    match &placed.fault {
        Fault::PortClosed(port) => {
            let taken = |service: &Service| {
                service.machine == port.vm && service.protocol == Protocol::Tcp && service.port == port.port
            };
            if stage.services.iter().any(taken) {
                let what = format!("somebody listens on {} of {}", port.port, port.vm);
                return Err(Problem::new(what, "take the service out, or the fault"));
            }
            stage.flows.push(traffic(
                &port.from,
                address(&port.vm)?,
                Protocol::Tcp,
                port.port,
                port.every_ms,
            ));
        }
        Fault::PortSilent(port) => {
            stage.services.push(Service {
                machine: port.vm.clone(),
                protocol: Protocol::Tcp,
                port: port.port,
                program: port.program.clone(),
                behavior: Behavior::Silent,
                address: None,
                pages: BTreeMap::new(),
            });
            stage.flows.push(traffic(
                &port.from,
                address(&port.vm)?,
                Protocol::Tcp,
                port.port,
                port.every_ms,
            ));
        }
        Fault::Dns(dns) => {
            let fault = match dns.does {
                DnsDoes::Silent => DnsFault::Silent,
                DnsDoes::Servfail => DnsFault::Servfail,
                DnsDoes::Nxdomain => DnsFault::Nxdomain,
                DnsDoes::Public => DnsFault::Public,
            };
            stage.oddities.push(Oddity::Dns { server: dns.server, fault });
            if let Some(from) = &dns.from {
                stage.flows.push(traffic(from, dns.server, Protocol::Udp, 53, 2_000));
            }
        }
        Fault::ArpConflict(arp) => {
            stage.oddities.push(Oddity::ArpConflict { address: arp.address, mac: arp.mac.clone() });
        }
        Fault::PathMtu(path) => {
            if stage.oddities.iter().any(|known| matches!(known, Oddity::PathMtu { .. })) {
                return Err(Problem::new(
                    "the path is narrowed twice",
                    "one path_mtu holds for all machines",
                ));
            }
            stage.oddities.push(Oddity::PathMtu { mtu: path.path, heeded: path.heeded });
        }
        Fault::AsymmetricPath(path) => {
            stage.oddities.push(Oddity::Asymmetric {
                machine: path.vm.clone(),
                to: address(&path.to)?,
                via: path.via,
            });
            stage.flows.push(traffic(&path.to, address(&path.vm)?, Protocol::Tcp, path.port, 1_000));
        }
        Fault::NsgRule(_)
        | Fault::Route(_)
        | Fault::ServiceEndpoint(_)
        | Fault::StorageFirewall(_)
        | Fault::Peering(_)
        | Fault::MachineStopped(_)
        | Fault::Netem(_)
        | Fault::RateLimit(_)
        | Fault::Iptables(_)
        | Fault::IptablesPolicy(_)
        | Fault::IptablesChain(_)
        | Fault::Fail2ban(_)
        | Fault::Docker(_)
        | Fault::Nft(_) => {}
    }
    Ok(())
}

/// Two programs cannot listen on one port.
fn doubled(stage: &Stage) -> Vec<Problem> {
    let same = |at: usize, one: &Service| {
        stage.services.iter().take(at).any(|other| {
            (&other.machine, other.protocol, other.port) == (&one.machine, one.protocol, one.port)
        })
    };
    let twice = stage.services.iter().enumerate().filter(|(at, one)| same(*at, one));
    twice
        .map(|(_, one)| {
            let what = format!("two services listen on {} of {}", one.port, one.machine);
            Problem::new(what, "a port has one listener")
        })
        .collect()
}
