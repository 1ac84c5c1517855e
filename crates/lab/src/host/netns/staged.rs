//! The stage, carried out: listeners, traffic, name servers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::guest::Guest;
use super::inside::NamespaceThread;
use super::lab::Lab;
use super::name::Namespace;
use super::program::failed;
use super::service::{self, ListenerBehavior};
use super::traffic;
use super::wire::WIRE_SERVER;
use crate::host::exec::{ProcessRequest, Running};
use crate::host::port::HostError;
use crate::host::stage::{Behavior, DnsFault, Oddity, Protocol, Service, Stage, TrafficFlow};

/// How long a program may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The port on which every machine lets its people in.
const SSH: u16 = 22;

/// What carries out a stage. Dropped, all of it ends.
#[derive(Debug, Default)]
pub(super) struct ActiveStage {
    inside: BTreeMap<Namespace, NamespaceThread>,
    /// Echoes that somebody asks for.
    programs: Vec<Running>,
}

/// Says what of a stage cannot be done here.
pub(super) fn check(stage: &Stage) -> Result<(), HostError> {
    for oddity in &stage.oddities {
        match oddity {
            Oddity::ArpConflict { address, .. } => {
                return Err(HostError::Lacking(format!(
                    "in namespaces no other station answers for {address}: every machine has a wire of its own, on which only the \
                     fabric answers; the simulated hosts can do it"
                )));
            }
            Oddity::PathMtu { mtu, .. } if !(576..=9_000).contains(mtu) => {
                return Err(HostError::Lacking(format!(
                    "a path of {mtu} bytes cannot be made: 576 to 9000 can"
                )));
            }
            Oddity::PathMtu { .. } | Oddity::Dns { .. } | Oddity::Asymmetric { .. } => {}
        }
    }
    Ok(())
}

impl ActiveStage {
    /// Begins what the stage of a lab says.
    pub(super) fn begin(lab: &Lab) -> Result<Self, HostError> {
        let mut staged = Self::default();
        let stage = &lab.stage;
        for guest in lab.guests.values() {
            let mut memory = guest.memory();
            memory.listeners.clear();
            memory.services.clear();
        }
        for service in &stage.services {
            match lab.guest(&service.machine) {
                // Nobody listens on a machine that is off.
                Err(HostError::Off(_)) => {}
                Err(error) => return Err(error),
                Ok(guest) => {
                    guest.memory().listeners.insert(service.port, service.program.clone());
                    let addresses: Vec<IpAddr> = addresses(lab, &service.machine);
                    staged.listen(service, &guest, &addresses, stage)?;
                }
            }
        }
        staged.open_ports(lab)?;
        for oddity in &stage.oddities {
            if let Oddity::Dns { server, fault } = oddity {
                staged.name_server(lab, *server, *fault)?;
            }
        }
        for traffic in &stage.flows {
            match lab.guest(&traffic.machine) {
                Err(HostError::Off(_)) => {}
                Err(error) => return Err(error),
                Ok(guest) => staged.traffic(traffic, &guest.space)?,
            }
        }
        Ok(staged)
    }

    /// Lets people in where no service of the stage says how, as every machine of the platform does. It only listens: nobody speaks SSH.
    fn open_ports(&mut self, lab: &Lab) -> Result<(), HostError> {
        for (name, guest) in &lab.guests {
            let staged = lab.stage.services.iter().any(|service| {
                service.machine == *name && (service.protocol, service.port) == (Protocol::Tcp, SSH)
            });
            if staged {
                continue;
            }
            let inside = self.within(&guest.space)?;
            let listener = inside.block(async move { service::tcp(None, SSH, 128) });
            // Where a script left somebody listening, that one was first.
            if matches!(&listener, Some(Err(error)) if error.kind() == ErrorKind::AddrInUse) {
                continue;
            }
            let listener = bound(&format!("sshd on {name}:{SSH}"), listener)?;
            inside.spawn(service::serve(listener, ListenerBehavior::default()));
            guest.memory().listeners.insert(SSH, "sshd".to_owned());
        }
        Ok(())
    }

    fn within(&mut self, space: &Namespace) -> Result<&NamespaceThread, HostError> {
        if !self.inside.contains_key(space) {
            self.inside.insert(space.clone(), NamespaceThread::enter(space)?);
        }
        self.inside.get(space).ok_or_else(|| failed("entering a namespace", "its thread is gone"))
    }

    fn listen(
        &mut self,
        service: &Service,
        guest: &Guest,
        own: &[IpAddr],
        stage: &Stage,
    ) -> Result<(), HostError> {
        let space = &guest.space;
        let Service { port, protocol, address, .. } = *service;
        let words = port.to_string();
        // Measuring tools speak a language of their own: they listen themselves.
        let program = match (service.program.as_str(), protocol, service.behavior) {
            ("iperf", Protocol::Tcp, Behavior::Answers) => Some(("iperf", vec!["-s", "-p", &words])),
            ("iperf", Protocol::Udp, Behavior::Answers) => Some(("iperf", vec!["-s", "-u", "-p", &words])),
            ("qperf", Protocol::Tcp, Behavior::Answers) => Some(("qperf", vec!["-lp", &words])),
            _ => None,
        };
        if let Some((name, words)) = program {
            let order = ProcessRequest::own(name, &words)?.within(space);
            let running = order.start(File::create("/dev/null").ok())?;
            guest.memory().services.push(running);
            let up = self.within(space)?.block(listens(protocol, port));
            return if up == Some(true) {
                Ok(())
            } else {
                Err(failed(name, format!("it does not listen on {port}")))
            };
        }
        let what = format!("{} on {}:{port}", service.program, service.machine);
        let manner = manner(stage, own, service);
        let inside = self.within(space)?;
        match (protocol, service.behavior) {
            (Protocol::Tcp, Behavior::Answers) => {
                let listener = bound(&what, inside.block(async move { service::tcp(address, port, 128) }))?;
                inside.spawn(service::serve(listener, manner));
            }
            (Protocol::Tcp, Behavior::Silent) => inside.spawn(async move {
                drop(service::silent(port).await);
            }),
            (Protocol::Udp, behavior) => {
                let fault = stage.oddities.iter().find_map(|oddity| match oddity {
                    Oddity::Dns { server, fault } if own.contains(server) && port == 53 => Some(*fault),
                    Oddity::Dns { .. }
                    | Oddity::PathMtu { .. }
                    | Oddity::ArpConflict { .. }
                    | Oddity::Asymmetric { .. } => None,
                });
                let fault = fault.or((behavior == Behavior::Silent).then_some(DnsFault::Silent));
                let socket = bound(&what, inside.block(bound_to(address, port)))?;
                inside.spawn(service::answer(socket, fault));
            }
            // The kernel answers echoes.
            (Protocol::Icmp, _) => {}
        }
        Ok(())
    }

    /// Answers names where no service of the stage does.
    fn name_server(&mut self, lab: &Lab, server: IpAddr, fault: DnsFault) -> Result<(), HostError> {
        let owner = lab.plan.owner(server).map(|link| link.machine.clone());
        let staged = lab.stage.services.iter().any(|service| {
            Some(&service.machine) == owner.as_ref()
                && (service.protocol, service.port) == (Protocol::Udp, 53)
        });
        if staged {
            return Ok(());
        }
        let space = match &owner {
            Some(machine) => lab.guest(machine)?.space.clone(),
            None if server.to_string() == WIRE_SERVER => lab.router.clone(),
            None => lab.internet.clone(),
        };
        let inside = self.within(&space)?;
        let socket =
            bound(&format!("{server}:53"), inside.block(async move { service::udp(server, 53).await }))?;
        inside.spawn(service::answer(socket, Some(fault)));
        Ok(())
    }

    fn traffic(&mut self, traffic: &TrafficFlow, space: &Namespace) -> Result<(), HostError> {
        if traffic.protocol == Protocol::Icmp {
            let every = Duration::from_millis(traffic.every_ms.max(10)).as_secs_f64().to_string();
            let (size, to) = (traffic.request.clamp(8, 60_000).to_string(), traffic.to.to_string());
            let order =
                ProcessRequest::own("ping", &["-q", "-n", "-i", &every, "-s", &size, &to])?.within(space);
            self.programs.push(order.start(File::create("/dev/null").ok())?);
            return Ok(());
        }
        self.within(space)?.spawn(traffic::traffic(traffic.clone()));
        Ok(())
    }
}

/// Waits until a program listens, which nothing but the table of sockets tells.
async fn listens(protocol: Protocol, port: u16) -> bool {
    let (name, state) = if protocol == Protocol::Udp { ("udp", "07") } else { ("tcp", "0A") };
    let own = format!(":{port:04X}");
    let there = |text: String| {
        text.lines().any(|line| {
            let mut words = line.split_whitespace().skip(1);
            words.next().is_some_and(|local| local.ends_with(&own)) && words.nth(1) == Some(state)
        })
    };
    let until = Instant::now() + START_TIMEOUT;
    while Instant::now() < until {
        let tables =
            ["", "6"].map(|family| std::fs::read_to_string(format!("/proc/thread-self/net/{name}{family}")));
        if tables.into_iter().flatten().any(there) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

async fn bound_to(address: Option<IpAddr>, port: u16) -> std::io::Result<tokio::net::UdpSocket> {
    match address {
        Some(address) => service::udp(address, port).await,
        None => either_family(port).await,
    }
}

async fn either_family(port: u16) -> std::io::Result<tokio::net::UdpSocket> {
    match service::udp(Ipv6Addr::UNSPECIFIED.into(), port).await {
        Ok(socket) => Ok(socket),
        Err(_) => service::udp(Ipv4Addr::UNSPECIFIED.into(), port).await,
    }
}

fn bound<T>(what: &str, socket: Option<std::io::Result<T>>) -> Result<T, HostError> {
    let socket = socket.ok_or_else(|| failed(what, "its thread is gone"))?;
    socket.map_err(|error| failed(what, error))
}

/// Returns the addresses of a machine.
fn addresses(lab: &Lab, machine: &str) -> Vec<IpAddr> {
    lab.plan.of(machine).flat_map(|link| link.nic.addresses.iter().map(|(address, _)| *address)).collect()
}

/// Says how a service answers: as those who talk to it expect.
fn manner(stage: &Stage, own: &[IpAddr], service: &Service) -> ListenerBehavior {
    let traffic = stage.flows.iter().find(|traffic| {
        own.contains(&traffic.to) && (traffic.port, traffic.protocol) == (service.port, service.protocol)
    });
    let pages = Arc::new(service.pages.clone());
    match traffic {
        Some(traffic) => ListenerBehavior {
            request: traffic.request,
            answer: traffic.answer,
            think: Duration::from_millis(traffic.think_ms),
            pages,
        },
        None => ListenerBehavior { pages, ..ListenerBehavior::default() },
    }
}
