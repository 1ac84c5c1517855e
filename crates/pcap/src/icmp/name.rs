//! What types and codes are called.

/// Returns what a type and code of either version mean.
pub(crate) fn name(six: bool, kind: u8, code: u8) -> &'static str {
    if six { name_six(kind, code) } else { name_four(kind, code) }
}

fn name_four(kind: u8, code: u8) -> &'static str {
    match (kind, code) {
        (0, _) => "echo reply",
        (3, code) => unreachable(code),
        (4, _) => "source quench",
        (5, 0) => "redirect for a network",
        (5, 1) => "redirect for a host",
        (5, 2) => "redirect for a service and a network",
        (5, 3) => "redirect for a service and a host",
        (6, _) => "alternate host address",
        (8, _) => "echo request",
        (9, 16) => "router advertisement, routes nothing common",
        (9, _) => "router advertisement",
        (10, _) => "router solicitation",
        (11, 0) => "time to live exceeded",
        (11, 1) => "fragments missing",
        (12, 0) => "bad header, the pointer names the byte",
        (12, 1) => "a required option is missing",
        (12, 2) => "bad length",
        (13, _) => "timestamp request",
        (14, _) => "timestamp reply",
        (15, _) => "information request",
        (16, _) => "information reply",
        (17, _) => "address mask request",
        (18, _) => "address mask reply",
        (30, _) => "traceroute",
        (31, _) => "conversion error",
        (37, _) => "domain name request",
        (38, _) => "domain name reply",
        (40, _) => "security failure",
        (42, _) => "extended echo request",
        (43, _) => "extended echo reply",
        _ => "not assigned",
    }
}

fn unreachable(code: u8) -> &'static str {
    match code {
        0 => "network unreachable",
        1 => "host unreachable",
        2 => "protocol unreachable",
        3 => "port unreachable",
        4 => "fragmentation needed",
        5 => "source route failed",
        6 => "network unknown",
        7 => "host unknown",
        8 => "source isolated",
        9 => "network administratively prohibited",
        10 => "host administratively prohibited",
        11 => "network unreachable for this service",
        12 => "host unreachable for this service",
        13 => "communication administratively prohibited",
        14 => "host precedence violation",
        15 => "precedence cutoff in effect",
        _ => "unreachable",
    }
}

fn name_six(kind: u8, code: u8) -> &'static str {
    match (kind, code) {
        (1, 0) => "no route",
        (1, 1) => "administratively prohibited",
        (1, 2) => "beyond the scope of the source",
        (1, 3) => "address unreachable",
        (1, 4) => "port unreachable",
        (1, 5) => "source address failed policy",
        (1, 6) => "route rejected",
        (1, 7) => "source route failed",
        (1, 8) => "headers too long",
        (1, _) => "unreachable",
        (2, _) => "packet too big",
        (3, 0) => "hop limit exceeded",
        (3, 1) => "fragments missing",
        (4, 0) => "bad header field",
        (4, 1) => "next header not known",
        (4, 2) => "option not known",
        (4, 3) => "first fragment has no whole header chain",
        (4, 4) => "segment routing header not accepted",
        (4, 5) => "next header not known by a router",
        (4, 6) => "extension header too big",
        (4, 7) => "header chain too long",
        (4, 8) => "too many extension headers",
        (4, 9) => "too many options",
        (4, 10) => "option too big",
        (128, _) => "echo request",
        (129, _) => "echo reply",
        (130, _) => "multicast listener query",
        (131 | 143, _) => "multicast listener report",
        (132, _) => "multicast listener done",
        (133, _) => "router solicitation",
        (134, _) => "router advertisement",
        (135, _) => "neighbor solicitation",
        (136, _) => "neighbor advertisement",
        (137, _) => "redirect",
        (138, _) => "router renumbering",
        (139, _) => "node information query",
        (140, _) => "node information response",
        (141, _) => "inverse neighbor solicitation",
        (142, _) => "inverse neighbor advertisement",
        (144, _) => "home agent discovery request",
        (145, _) => "home agent discovery reply",
        (146, _) => "mobile prefix solicitation",
        (147, _) => "mobile prefix advertisement",
        (151..=153, _) => "multicast router discovery",
        (160, _) => "extended echo request",
        (161, _) => "extended echo reply",
        _ => "not assigned",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_to_be_unreachable_has_a_name_of_its_own() {
        for (six, codes) in [(false, 16), (true, 9)] {
            let names: std::collections::BTreeSet<&str> =
                (0..codes).map(|code| name(six, if six { 1 } else { 3 }, code)).collect();
            assert_eq!(names.len(), usize::from(codes));
            assert!(!names.contains("unreachable"));
        }
    }

    #[test]
    fn what_nobody_assigned_is_said_to_be_so() {
        assert_eq!((name(false, 77, 0), name(true, 255, 9)), ("not assigned", "not assigned"));
    }
}
