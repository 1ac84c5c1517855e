//! What findings of all areas need: display filters that anybody can paste into Wireshark, words, what can be judged at all.

use std::net::IpAddr;

use crate::analyze::Pass;
use crate::flow::State;

/// Returns the name of a field of the address's family: `ip.src`, `ipv6.dst`.
pub(super) fn field(address: IpAddr, side: &str) -> String {
    format!("{}.{side}", if address.is_ipv4() { "ip" } else { "ipv6" })
}

/// Returns how often, in words.
pub(super) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}

/// Says whether this capture shows one direction alone, so that nobody can be blamed for not answering.
pub(super) fn one_way(pass: &Pass) -> bool {
    let silent = pass.flows.states.get(&State::OneWay).copied().unwrap_or(0);
    silent >= 3 && silent * 5 >= pass.flows.streams * 4
}
