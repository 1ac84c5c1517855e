//! Complaints about a site behind a gateway: the tunnel is up, or why it is not.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::address::Prefix;
use super::draw::{Tried, flow_slots, judged};
use super::estate::Role;
use super::walk::{Flow, walk};
use super::words::{About, Seen, Slots, complaint};
use super::write::PROVIDERS;
use crate::case::model::Pair;
use crate::case::random::Rng;
use crate::host::Protocol;

/// Who is called there; the site has public addresses of its own.
const CALLED: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 140);
const SITE: &str = "203.0.113.128/25";
/// The place of the gateway in its network.
const PLACE: u32 = 254 * 256;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Wrong {
    #[default]
    Nothing,
    /// Nobody examined it.
    Down,
    Key,
    Unreachable,
}

/// Somebody calls a machine of a site. All else on the path is in order, so that the tunnel decides.
pub(super) fn office(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let Some(flow) = tried.drawn.flows.get(rng.below(tried.drawn.flows.len())).cloned() else { return };
    let estate = &tried.drawn.estate;
    let Some(caller) = estate.owner(flow.source).filter(|own| own.role != Role::Appliance) else { return };
    let Some(network) = caller.subnet.split('/').next().and_then(|name| estate.network(name)) else { return };
    let port = rng.one(&[443_u16, 22, 1433]);
    let called = Flow { source: caller.address, destination: CALLED, protocol: Protocol::Tcp, port };
    let place = network.prefix.at(PLACE);
    let is_taken = estate.subnets.iter().any(|own| {
        own.short() == "GatewaySubnet"
            || own.prefix.holds(place)
            || Prefix::new(place, 27).holds(own.prefix.at(0))
    });
    if is_taken || network.prefix.length() > 16 || !walk(estate, &called).is_fine() {
        return;
    }
    let wrong =
        if healthy { Wrong::Nothing } else { rng.one(&[Wrong::Down, Wrong::Key, Wrong::Unreachable]) };
    let (code, far) = match wrong {
        Wrong::Nothing => (None, String::new()),
        Wrong::Down => (Some("vpn_down"), "answers = false\n".to_owned()),
        Wrong::Key => (Some("vpn_key_mismatch"), "sharedKey = \"two\"\nexamined = true\n".to_owned()),
        Wrong::Unreachable => (
            Some("vpn_peer_unreachable"),
            "gatewayIpAddress = \"198.51.100.9\"\nexamined = true\n".to_owned(),
        ),
    };
    let text = changes(
        &network.name,
        place,
        &format!("{far}hosts = [{{ address = \"{CALLED}\", ports = [{port}] }}]"),
    );
    let notes = format!("{} -> {CALLED} tcp/{port}: {wrong:?}", caller.name);
    let mut slots = Slots::default();
    flow_slots(&mut slots, &tried.drawn, &flow, rng);
    for (slot, value) in &mut slots.values {
        match *slot {
            "{d}" | "{dn}" | "{da}" => *value = CALLED.to_string(),
            "{p}" => *value = port.to_string(),
            "{prog}" => "the machine of the office".clone_into(value),
            _ => {}
        }
    }
    let seen = if healthy { Seen::Doubt } else { Seen::Timeout };
    let mut own = judged(complaint(About::Flow(seen), &slots, rng), &[], &[], notes);
    own.expected =
        code.into_iter().map(|code| Pair::new(code, "vpn/to-office".to_owned())).collect::<BTreeSet<Pair>>();
    tried.more.push_str(&text);
    tried.complaints.push(own);
}

/// Writes the gateway, the site and the connection.
fn changes(network: &str, place: Ipv4Addr, far: &str) -> String {
    let kind = "Microsoft.Network";
    let subnet = format!("{kind}/virtualNetworks/{network}/subnets/GatewaySubnet");
    let put = |what: &str| {
        format!(
            "[[change]]\nput = \"{kind}/{what}\"\n\n[change.body]\nlocation = \"eastus\"\n\n[change.body.properties]\n"
        )
    };
    let id = |what: &str| format!("{{ id = \"{PROVIDERS}/{kind}/{what}\" }}");
    format!(
        "[[change]]\nput = \"{subnet}\"\nbody = {{ properties = {{ addressPrefix = \"{place}/27\" }} }}\n\n\
         {}gatewayType = \"Vpn\"\nipConfigurations = [{{ name = \"default\", properties = {{ subnet = {{ id = \"{PROVIDERS}/{subnet}\" }} }} }}]\n\n\
         {}gatewayIpAddress = \"198.51.100.7\"\nlocalNetworkAddressSpace = {{ addressPrefixes = [\"{SITE}\"] }}\n\n\
         {}{far}\n\n\
         {}connectionType = \"IPsec\"\nsharedKey = \"one\"\nvirtualNetworkGateway1 = {}\nlocalNetworkGateway2 = {}\n\n",
        put("virtualNetworkGateways/office-gw"),
        put("localNetworkGateways/office"),
        put("localNetworkGateways/office/site/far"),
        put("connections/to-office"),
        id("virtualNetworkGateways/office-gw"),
        id("localNetworkGateways/office"),
    )
}
