//! An application gateway: it ends a connection, and asks one of its servers by another one.

use std::net::{IpAddr, Ipv4Addr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::gate::{Next, lets, next};
use super::internet::PLATFORM;
use super::service::{ServiceCall, call};
use crate::host::fabric::{AppGateway, AppListener, AppServer, AppTarget, ServerHealth, ServerTrouble};
use crate::host::simulated::world::World;

/// Somebody who manages gateways.
const MANAGER: Ipv4Addr = Ipv4Addr::new(20, 21, 32, 33);
/// The ports at which it does.
const MANAGED: [u16; 2] = [65_200, 65_535];

/// What a server of a gateway answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerAnswer {
    Page(u16),
    /// Nothing comes back.
    Nothing,
    /// Nobody takes the connection.
    Refused,
    Certificate(ServerTrouble),
}

/// Returns the gateway that takes connections at an address, or asks its servers from there.
pub(super) fn at(world: &World, address: IpAddr) -> Option<usize> {
    world.fabric.app_gateways.iter().position(|own| {
        own.address == address || own.listeners.iter().any(|listener| listener.frontend == address)
    })
}

/// Tells whether a gateway is there for anybody: it runs, and the platform reaches it.
pub(in crate::host::simulated::wire) fn is_open(world: &World, gateway: &AppGateway) -> bool {
    gateway.is_running && is_managed(world, gateway)
}

fn is_managed(world: &World, gateway: &AppGateway) -> bool {
    let own = (gateway.address, 443);
    let enters = |from: Ipv4Addr, port: u16| {
        lets(&world.fabric, &gateway.nic, "inbound", 6, (IpAddr::V4(from), 50_000), (own.0, port))
    };
    MANAGED.iter().all(|port| enters(MANAGER, *port))
        && enters(PLATFORM, 443)
        && next(&world.fabric, &gateway.nic, IpAddr::V4(MANAGER)) == Next::ExternalHost
}

/// Returns the listener for a port of a frontend, where the gateway is open.
pub(in crate::host::simulated::wire) fn listener(
    world: &World,
    place: usize,
    to: IpAddr,
    port: u16,
) -> Option<(&AppGateway, &AppListener)> {
    let gateway = world.fabric.app_gateways.get(place).filter(|own| is_open(world, own))?;
    let own = gateway.listeners.iter().find(|own| own.frontend == to && own.port == port)?;
    Some((gateway, own))
}

/// Returns the status of the page that a gateway answers a request with: that of a server, or its own where none answers.
pub(in crate::host::simulated::wire) fn page_status(
    world: &mut World,
    place: usize,
    to: IpAddr,
    port: u16,
    path: &str,
) -> Option<u16> {
    let (gateway, own) = listener(world, place, to, port)?;
    let begins =
        |(wanted, _): &&(Option<String>, usize)| wanted.as_deref().is_some_and(|own| path.starts_with(own));
    let by_path = own.paths.iter().find(begins).or_else(|| own.paths.first());
    let target = by_path.and_then(|(_, target)| gateway.targets.get(*target));
    // A redirect is answered by the gateway itself.
    let Some(target) = target.cloned() else { return Some(301) };
    let gateway = gateway.clone();
    let servers: Vec<AppServer> = target.servers.iter().filter(|own| !own.is_draining).cloned().collect();
    for server in servers {
        if health(world, &gateway, &target, &server).state != "Up" && !gateway.says_nothing {
            continue;
        }
        match ask(world, &gateway, &target, &server, (target.port, path)) {
            ServerAnswer::Page(status) => return Some(status),
            ServerAnswer::Nothing | ServerAnswer::Refused | ServerAnswer::Certificate(_) => {}
        }
    }
    Some(502)
}

/// Tells whether the certificate of a listener has expired by now.
pub(in crate::host::simulated::wire) fn is_expired(
    world: &World,
    place: usize,
    to: IpAddr,
    port: u16,
) -> bool {
    let chain = listener(world, place, to, port).and_then(|(_, own)| own.end.as_deref());
    let end = chain.and_then(|text| STANDARD.decode(text).ok()).and_then(|bytes| end(&bytes));
    let now: String = world.now.to_string().chars().filter(char::is_ascii_digit).skip(2).take(12).collect();
    end.is_some_and(|end| end < now)
}

/// Returns the earliest end among the certificates of a chain, as `250501000000`: times of this century stand in pairs.
fn end(bytes: &[u8]) -> Option<String> {
    let time = |window: &[u8]| match window {
        [0x17, 0x0d, digits @ .., b'Z'] if digits.iter().all(u8::is_ascii_digit) => {
            String::from_utf8(digits.to_vec()).ok()
        }
        _ => None,
    };
    let times: Vec<String> = bytes.windows(15).filter_map(time).collect();
    times.chunks(2).filter_map(|pair| pair.get(1).cloned()).min()
}

/// Returns what a gateway says of all of its servers.
pub(in crate::host) fn all_health(world: &mut World, name: &str) -> Option<Vec<ServerHealth>> {
    let gateway = world.fabric.app_gateways.iter().find(|own| own.name.eq_ignore_ascii_case(name))?.clone();
    let is_known = is_managed(world, &gateway) && !gateway.says_nothing;
    let mut found = Vec::new();
    for target in &gateway.targets {
        if target.servers.is_empty() {
            found.push(said(target, "", "Unknown", String::new()));
        }
        for server in &target.servers {
            found.push(match is_known {
                true => health(world, &gateway, target, server),
                false => said(target, &server.written, "Unknown", "The backend health status could not be retrieved. This happens when an NSG/UDR/Firewall on the application gateway subnet is blocking traffic on ports 65503-65534 if there is v1 SKU, and ports 65200-65535 if there is v2 SKU.".to_owned()),
            });
        }
    }
    Some(found)
}

fn said(target: &AppTarget, server: &str, state: &'static str, log: String) -> ServerHealth {
    ServerHealth {
        pool: target.pool.clone(),
        settings: target.settings.clone(),
        server: server.to_owned(),
        state,
        log,
    }
}

/// Asks a server as the probe does.
fn health(world: &mut World, gateway: &AppGateway, target: &AppTarget, server: &AppServer) -> ServerHealth {
    let own = |state, log: &str| said(target, &server.written, state, log.to_owned());
    if server.is_draining {
        return own("Draining", "");
    }
    if server.address.is_none() {
        return own(
            "Down",
            "Application Gateway could not create a probe for this backend. This usually happens when the FQDN of the backend has not been entered correctly.",
        );
    }
    let probe = target.probe.clone();
    match ask(world, gateway, target, server, (probe.port, &probe.path)) {
        ServerAnswer::Page(status)
            if probe.codes.iter().any(|(first, last)| (*first..=*last).contains(&status)) =>
        {
            own("Up", &format!("Success. Received {status} status code"))
        }
        ServerAnswer::Page(status) => {
            let expected: Vec<String> = probe
                .codes
                .iter()
                .map(
                    |(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") },
                )
                .collect();
            own(
                "Down",
                &format!(
                    "Status code of the backend's HTTP response did not match the probe setting. Expected: {}, Received: {status}.",
                    expected.join(",")
                ),
            )
        }
        ServerAnswer::Nothing => own(
            "Down",
            "Time taken by the backend to respond to application gateway's health probe is more than the time-out threshold in the probe setting.",
        ),
        ServerAnswer::Refused => own(
            "Down",
            "Cannot connect to backend. Check whether any NSG/UDR/Firewall is blocking access to the server. Check if application is running on correct port.",
        ),
        ServerAnswer::Certificate(trouble) => own(
            "Down",
            match trouble {
                ServerTrouble::Name => {
                    "The Common Name (CN) of the backend certificate does not match the host header entered in the probe configuration (v2) or the FQDN in the backend pool (v1)."
                }
                ServerTrouble::Untrusted => {
                    "The root certificate of the server certificate used by the backend doesn't match the trusted root certificate added to the application gateway."
                }
                ServerTrouble::Expired => {
                    "The server certificate used by the backend has expired. Backend certificate is invalid. Current date isn't within the \"Valid from\" and \"Valid to\" date range on the certificate."
                }
            },
        ),
    }
}

/// Asks a server for a page: its rules and routes, its packet filter, who listens, its certificate, and the return path.
fn ask(
    world: &mut World,
    gateway: &AppGateway,
    target: &AppTarget,
    server: &AppServer,
    (port, path): (u16, &str),
) -> ServerAnswer {
    let Some(address) = server.address else { return ServerAnswer::Refused };
    let machine = match call(world, (&gateway.name, &gateway.nic, gateway.address), address, port) {
        ServiceCall::Open { machine, .. } => machine,
        ServiceCall::Unanswered => return ServerAnswer::Nothing,
        ServiceCall::Lost { .. } | ServiceCall::Refused => return ServerAnswer::Refused,
    };
    match (server.trouble.filter(|_| target.is_secure), world.page_status(&machine, port, path)) {
        (Some(trouble), _) => ServerAnswer::Certificate(trouble),
        (None, Some(status)) => ServerAnswer::Page(status),
        (None, None) => ServerAnswer::Nothing,
    }
}
