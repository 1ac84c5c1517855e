//! Numbers that have names.

/// Reads a protocol by name or number.
pub(in crate::netfilter) fn protocol_number(text: &str) -> Option<u128> {
    Some(match text {
        "hopopt" => 0,
        "icmp" => 1,
        "igmp" => 2,
        "ipencap" | "ipip" => 4,
        "tcp" => 6,
        "udp" => 17,
        "ipv6" => 41,
        "ipv6-route" => 43,
        "ipv6-frag" => 44,
        "gre" => 47,
        "esp" => 50,
        "ah" => 51,
        "ipv6-icmp" | "icmpv6" => 58,
        "ipv6-nonxt" => 59,
        "ipv6-opts" => 60,
        "ospf" => 89,
        "pim" => 103,
        "ipcomp" | "comp" => 108,
        "vrrp" => 112,
        "dccp" => 33,
        "sctp" => 132,
        "mh" | "mobility-header" => 135,
        "udplite" => 136,
        _ => return text.parse::<u8>().ok().map(u128::from),
    })
}

/// Reads a type of ICMP by name or number.
pub(in crate::netfilter) fn icmp_type(text: &str, six: bool) -> Option<u128> {
    let named = if six {
        match text {
            "destination-unreachable" => 1,
            "packet-too-big" => 2,
            "time-exceeded" | "ttl-exceeded" => 3,
            "parameter-problem" => 4,
            "echo-request" | "ping" => 128,
            "echo-reply" | "pong" => 129,
            "mld-listener-query" => 130,
            "mld-listener-report" => 131,
            "mld-listener-done" | "mld-listener-reduction" => 132,
            "nd-router-solicit" | "router-solicitation" => 133,
            "nd-router-advert" | "router-advertisement" => 134,
            "nd-neighbor-solicit" | "neighbor-solicitation" | "neighbour-solicitation" => 135,
            "nd-neighbor-advert" | "neighbor-advertisement" | "neighbour-advertisement" => 136,
            "nd-redirect" | "redirect" => 137,
            "router-renumbering" => 138,
            "ind-neighbor-solicit" => 141,
            "ind-neighbor-advert" => 142,
            "mld2-listener-report" => 143,
            _ => 256,
        }
    } else {
        match text {
            "echo-reply" | "pong" => 0,
            "destination-unreachable" => 3,
            "source-quench" => 4,
            "redirect" => 5,
            "echo-request" | "ping" => 8,
            "router-advertisement" => 9,
            "router-solicitation" => 10,
            "time-exceeded" | "ttl-exceeded" => 11,
            "parameter-problem" => 12,
            "timestamp-request" => 13,
            "timestamp-reply" => 14,
            "info-request" => 15,
            "info-reply" => 16,
            "address-mask-request" => 17,
            "address-mask-reply" => 18,
            _ => 256,
        }
    };
    if named < 256 { Some(named) } else { text.parse::<u8>().ok().map(u128::from) }
}

/// Reads a state of a connection.
pub(super) fn state(text: &str) -> Option<u128> {
    Some(match text {
        "NEW" | "new" => 0,
        "ESTABLISHED" | "established" => 1,
        "RELATED" | "related" => 2,
        "INVALID" | "invalid" => 3,
        "UNTRACKED" | "untracked" => 4,
        _ => return None,
    })
}

/// Reads a TCP flag.
pub(in crate::netfilter) fn tcp_flag(text: &str) -> Option<u128> {
    Some(match text.to_ascii_lowercase().as_str() {
        "fin" => 1,
        "syn" => 2,
        "rst" => 4,
        "psh" => 8,
        "ack" => 16,
        "urg" => 32,
        "ecn" | "ece" => 64,
        "cwr" => 128,
        "all" => 63,
        "none" => 0,
        _ => return None,
    })
}

/// Reads a port by number or by the few names that tools print.
pub(in crate::netfilter) fn port(text: &str) -> Option<u128> {
    Some(match text {
        "ftp" => 21,
        "ssh" => 22,
        "telnet" => 23,
        "smtp" => 25,
        "domain" => 53,
        "bootps" => 67,
        "bootpc" => 68,
        "http" => 80,
        "pop3" => 110,
        "ntp" => 123,
        "imap2" | "imap" => 143,
        "snmp" => 161,
        "https" => 443,
        "ms-wbt-server" => 3389,
        "mysql" => 3306,
        "postgresql" => 5432,
        _ => return text.parse::<u16>().ok().map(u128::from),
    })
}

/// Reads a number as `iptables` writes marks: `0x10`, `16`.
pub(in crate::netfilter) fn mark(text: &str) -> Option<u128> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
    .map(u128::from)
}
