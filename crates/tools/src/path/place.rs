//! The ends of a flow, as people write them.

use std::net::{IpAddr, Ipv4Addr};

use crate::page::few;
use crate::print::Hinted;
use ghost_inspect::path::{Estate, Flow, Protocol};

/// Stands for any address outside: of a block that is kept for documents, which nobody routes and no service tag names.
const INTERNET: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 10));

/// So many machines are offered where a name is none of them.
const OFFERED: usize = 12;

/// Splits `WHERE:PORT`; an IPv6 address with a port stands in brackets.
pub fn split(text: &str) -> anyhow::Result<(&str, Option<u16>)> {
    let (place, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((place, rest)) => (place, rest.strip_prefix(':')),
        None if text.parse::<IpAddr>().is_ok() => (text, None),
        None => match text.rsplit_once(':') {
            Some((place, port)) => (place, Some(port)),
            None => (text, None),
        },
    };
    let number = |port: &str| port.parse::<u16>().ok().filter(|port| *port != 0);
    match port {
        None => Ok((place, None)),
        Some(port) => match number(port) {
            Some(port) => Ok((place, Some(port))),
            None => {
                let error = anyhow::anyhow!("{port:?} is no port");
                Err(Hinted::new(error, "write WHERE:PORT with a port of 1 to 65535").into())
            }
        },
    }
}

/// Returns the flow between two ends.
pub fn flow(estate: &Estate, from: &str, to: &str, protocol: Protocol) -> anyhow::Result<Flow> {
    let (caller, caller_port) = split(from)?;
    let (called, port) = split(to)?;
    let source = address(estate, caller)?;
    if let Some(flow) = estate.flow_to_cluster(source, called) {
        return Ok(caller_port.map_or(flow.clone(), |port| flow.from_port(port)));
    }
    let by_name = address(estate, called).is_err() && called.contains('.');
    if by_name && let Some(flow) = estate.flow_to_name(source, called, protocol, port) {
        return Ok(caller_port.map_or(flow.clone(), |port| flow.from_port(port)));
    }
    let mut flow = Flow::new(source, address(estate, called)?, protocol, port)
        .map_err(|error| Hinted::new(error, "for example --to 10.1.0.4:5432, or --protocol icmp"))?;
    if is_machine(estate, caller) {
        flow = flow.from_machine(caller);
    }
    if is_machine(estate, called) {
        flow = flow.to_machine(called);
    }
    Ok(match caller_port {
        Some(port) => flow.from_port(port),
        None => flow,
    })
}

/// Tells whether a place is named as a machine: networks may use the same addresses, and the name says which is meant.
fn is_machine(estate: &Estate, place: &str) -> bool {
    place.parse::<IpAddr>().is_err() && !estate.addresses_of(place).is_empty()
}

/// Returns the address of a machine, an address itself, or one that stands for the internet.
fn address(estate: &Estate, place: &str) -> anyhow::Result<IpAddr> {
    if let Ok(address) = place.parse() {
        return Ok(address);
    }
    if place.eq_ignore_ascii_case("internet") {
        return Ok(INTERNET);
    }
    if let Some(address) = estate.addresses_of(place).first() {
        return Ok(*address);
    }
    if let Some(address) = estate.frontend_addresses(place).first() {
        return Ok(*address);
    }
    if let Some((_, address)) = estate.bastions().find(|(name, _)| name.eq_ignore_ascii_case(place)) {
        return Ok(address);
    }
    // `db-1.internal.contoso.com` is `db-1`, where a machine is called so.
    if let Some(address) =
        place.split_once('.').and_then(|(label, _)| estate.addresses_of(label).first().copied())
    {
        return Ok(address);
    }
    let alike = estate.machines_called(place);
    if alike.len() > 1 {
        let error = anyhow::anyhow!("several resource groups have a machine {place:?}");
        return Err(Hinted::new(error, format!("name one of {}", few(&alike, OFFERED))).into());
    }
    let machines: Vec<&str> = estate.machines().collect();
    let hint = match machines.as_slice() {
        [] => "the bundle lists no machines: give addresses".to_owned(),
        some => format!("it holds {}", few(some, OFFERED)),
    };
    Err(Hinted::new(anyhow::anyhow!("the bundle holds no machine {place:?}"), hint).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_stands_behind_the_last_colon_and_an_address_has_colons_of_its_own() {
        assert_eq!(split("db-1:5432").unwrap(), ("db-1", Some(5432)));
        assert_eq!(split("10.0.0.4").unwrap(), ("10.0.0.4", None));
        assert_eq!(split("2001:db8::1").unwrap(), ("2001:db8::1", None));
        assert_eq!(split("[2001:db8::1]:443").unwrap(), ("2001:db8::1", Some(443)));
        for wrong in ["db-1:", "db-1:0", "db-1:65536", "db-1:pg", "[::1]:x"] {
            assert!(split(wrong).is_err(), "{wrong}");
        }
    }
}
