//! Which packets a capture keeps.

use std::net::IpAddr;

use crate::host::port::CaptureFilter;
use crate::host::simulated::wire::path::Line;
use crate::host::stage::Protocol;

/// Whether a capture keeps a conversation, seen from one of its sides; without filters it keeps all.
pub(super) fn keeps(filters: &[CaptureFilter], line: &Line, near: bool) -> bool {
    let (own, other) = if near { (&line.near, &line.far) } else { (&line.far, &line.near) };
    filters.is_empty()
        || filters.iter().any(|filter| {
            protocol(&filter.protocol, line.protocol)
                && address(&filter.local_address, own.address)
                && address(&filter.remote_address, other.address)
                && port(&filter.local_port, line.protocol, own.port)
                && port(&filter.remote_port, line.protocol, other.port)
        })
}

fn protocol(wanted: &str, found: Protocol) -> bool {
    let wanted = wanted.trim();
    let name = match found {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
        Protocol::Icmp => "icmp",
    };
    wanted.is_empty()
        || wanted == "*"
        || wanted.eq_ignore_ascii_case("any")
        || wanted.eq_ignore_ascii_case(name)
}

fn address(wanted: &str, found: IpAddr) -> bool {
    let parts = wanted.split(';').map(str::trim).filter(|part| !part.is_empty());
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return true;
    }
    parts.any(|part| match part.split_once('-') {
        _ if part == "*" => true,
        Some((low, high)) => match (low.trim().parse::<IpAddr>(), high.trim().parse::<IpAddr>()) {
            (Ok(low), Ok(high)) => low <= found && found <= high,
            (Ok(_) | Err(_), _) => false,
        },
        None => part.parse::<IpAddr>().is_ok_and(|address| address == found),
    })
}

fn port(wanted: &str, protocol: Protocol, found: u16) -> bool {
    let parts = wanted.split(';').map(str::trim).filter(|part| !part.is_empty());
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return true;
    }
    protocol != Protocol::Icmp
        && parts.any(|part| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let read = |text: &str| text.trim().parse::<u16>().ok();
            part == "*"
                || (read(low).is_some_and(|low| low <= found) && read(high).is_some_and(|high| found <= high))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read() {
        assert!(address("", [10, 0, 1, 4].into()));
        assert!(address("10.0.1.4", [10, 0, 1, 4].into()));
        assert!(!address("10.0.1.5", [10, 0, 1, 4].into()));
        assert!(address("10.0.0.0-10.0.1.9", [10, 0, 1, 4].into()));
        assert!(address("10.0.0.1;10.0.1.4", [10, 0, 1, 4].into()));
        assert!(port("80;443", Protocol::Tcp, 443));
        assert!(port("1000-2000", Protocol::Tcp, 1_500));
        assert!(!port("1000-2000", Protocol::Tcp, 2_001));
        assert!(!port("x", Protocol::Tcp, 1));
    }
}
