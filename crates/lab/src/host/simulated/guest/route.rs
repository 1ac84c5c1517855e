//! A machine's own routes.

use std::net::IpAddr;

use crate::host::fabric::Machine;

/// A route of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::host) struct Route {
    /// Where to: an address and the length of its prefix.
    pub(in crate::host) to: Option<(IpAddr, u8)>,
    /// The neighbor that carries on.
    pub(in crate::host) via: Option<IpAddr>,
    pub(in crate::host) device: String,
    /// The largest packet, where the route says it.
    pub(in crate::host) mtu: Option<u32>,
    /// `blackhole`, `unreachable`, `prohibit`; empty for one that leads somewhere.
    pub(in crate::host) kind: String,
    /// What `ip route` tells behind it.
    pub(in crate::host) rest: String,
}

impl Route {
    /// Returns those that a machine begins with.
    pub(super) fn first(machine: &Machine) -> Vec<Self> {
        let mut routes = Vec::new();
        for (at, nic) in machine.nics.iter().enumerate() {
            let device = format!("eth{at}");
            let metric = 100 + at * 100;
            for (address, length) in &nic.addresses {
                let IpAddr::V4(own) = address else { continue };
                let Some(mask) = 32_u32
                    .checked_sub(u32::from(*length))
                    .map(|host| u32::MAX.checked_shl(host).unwrap_or(0))
                else {
                    continue;
                };
                let network = u32::from(*own) & mask;
                let gateway = IpAddr::from((network + 1).to_be_bytes());
                let route =
                    |to, via, rest: String| Self { to, via, device: device.clone(), rest, ..Self::default() };
                let dhcp = format!("proto dhcp src {own} metric {metric}");
                routes.push(route(None, Some(gateway), dhcp.clone()));
                let kernel = format!("proto kernel scope link src {own} metric {metric}");
                routes.push(route(Some((IpAddr::from(network.to_be_bytes()), *length)), None, kernel));
                routes.push(route(
                    Some((gateway, 32)),
                    None,
                    format!("proto dhcp scope link src {own} metric {metric}"),
                ));
                if at == 0 {
                    for platform in [[168, 63, 129, 16], [169, 254, 169, 254]] {
                        routes.push(route(Some((IpAddr::from(platform), 32)), Some(gateway), dhcp.clone()));
                    }
                }
            }
        }
        routes
    }

    /// Picks the most special one for an address.
    pub(super) fn pick(routes: &[Self], to: IpAddr) -> Option<&Self> {
        let holds = |route: &&Self| route.to.is_none_or(|(network, length)| inside(to, network, length));
        let length = |route: &Self| route.to.map_or(0, |(_, length)| u16::from(length) + 1);
        // Of several equal ones the first wins.
        routes
            .iter()
            .filter(holds)
            .filter(|route| route.to.is_some() || to.is_ipv4())
            .rev()
            .max_by_key(|route| length(route))
    }

    /// Writes it as `ip route` does.
    pub(in crate::host::simulated) fn text(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        if !self.kind.is_empty() {
            words.push(self.kind.clone());
        }
        words.push(self.prefix());
        words.extend(self.via.map(|via| format!("via {via}")));
        if !self.device.is_empty() {
            words.push(format!("dev {}", self.device));
        }
        if !self.rest.is_empty() {
            words.push(self.rest.clone());
        }
        words.extend(self.mtu.map(|mtu| format!("mtu {mtu}")));
        format!("{} ", words.join(" "))
    }

    /// Writes where it leads.
    pub(in crate::host::simulated) fn prefix(&self) -> String {
        match self.to {
            None => "default".to_owned(),
            Some((address, length)) if length == if address.is_ipv6() { 128 } else { 32 } => {
                address.to_string()
            }
            Some((address, length)) => format!("{address}/{length}"),
        }
    }
}

fn inside(address: IpAddr, network: IpAddr, length: u8) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let shift = 32_u32.saturating_sub(u32::from(length));
            u32::from(address).checked_shr(shift) == u32::from(network).checked_shr(shift)
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let shift = 128_u32.saturating_sub(u32::from(length));
            u128::from(address).checked_shr(shift) == u128::from(network).checked_shr(shift)
        }
        _ => false,
    }
}
