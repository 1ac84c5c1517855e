//! Names in filters: a program that takes a filter resolves them.

use super::read::{before_port, is_among, named};

/// What ss reads as a keyword.
const SOCKET_WORDS: &str = "dst src dport sport autobound and or not all any eq neq ne ge gt le lt = == != >= <= > < ! & && | || \
    *";

/// Keywords of ss whose next word is no host.
const SOCKET_TAKING: [&str; 5] = ["state", "exclude", "dev", "fwmark", "cgroup"];

/// Returns the names in a filter of ss.
pub(super) fn of_sockets(filter: &str) -> Vec<String> {
    let mut words = filter.split(|char: char| char.is_whitespace() || matches!(char, '(' | ')' | ','));
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if SOCKET_TAKING.contains(&word) {
            words.next();
            continue;
        }
        if word.is_empty() || is_among(word, SOCKET_WORDS) || is_among(word, STATES) {
            continue;
        }
        let end = ["inet:", "inet6:", "ip:"].into_iter().find_map(|kind| word.strip_prefix(kind));
        let host = before_port(end.unwrap_or(word).trim_start_matches(['=', '!', '<', '>']));
        found.extend(named(host));
    }
    found
}

/// The states of ss: where `state` stands in a word of its own, they stand in the next one.
const STATES: &str = "state exclude dev established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait closed close-wait \
    last-ack listening listen closing connected synchronized bucket";

/// What a filter of tcpdump is made of beside numbers and names. What stands in no list is a name.
const PACKET_WORDS: &str = "dst src link ether ppp slip fddi tr wlan arp rarp ip sctp tcp udp icmp igmp igrp pim vrrp carp radio \
    ip6 icmp6 ah esp atalk aarp decnet lat sca moprc mopdl iso esis es-is isis is-is l1 l2 iih lsp snp \
    csnp psnp clnp stp ipx netbeui host net mask port portrange proto protochain gateway type subtype \
    direction dir addr1 addr2 addr3 addr4 address1 address2 address3 address4 ra ta less greater byte \
    broadcast multicast and or not len length inbound outbound ifindex vlan mpls pppoed pppoes geneve \
    vxlan lane on ifname rset ruleset rnr rulenum srnr subrulenum reason action mgt ctl data tcpflags \
    tcp-fin tcp-syn tcp-rst tcp-push tcp-ack tcp-urg tcp-ece tcp-cwr icmptype icmpcode icmp6type \
    icmp6code icmp-echoreply icmp-unreach icmp-sourcequench icmp-redirect icmp-echo icmp-routeradvert \
    icmp-routersolicit icmp-timxceed icmp-paramprob icmp-tstamp icmp-tstampreply icmp-ireq \
    icmp-ireqreply icmp-maskreq icmp-maskreply icmp6-echo icmp6-echoreply icmp6-destinationunreach \
    icmp6-packettoobig icmp6-timeexceeded icmp6-parameterproblem icmp6-routersolicit icmp6-routeradvert \
    icmp6-neighborsolicit icmp6-neighboradvert icmp6-redirect metac bcc in out ipip gre";

/// Words of tcpdump's filters behind which a service or a protocol stands: its name is looked up in a file.
const PACKET_TAKING: [&str; 5] = ["port", "portrange", "proto", "protochain", "ifname"];

/// Returns the names in a filter of tcpdump.
pub(super) fn of_packets(filter: &str) -> Vec<String> {
    let part = |char: char| char.is_whitespace() || "()[]&|!=<>+*^".contains(char);
    let mut found = Vec::new();
    let mut takes = false;
    for word in filter.split(part).filter(|word| !word.is_empty()) {
        let plain = word.strip_prefix('\\').unwrap_or(word);
        let is_number = plain.starts_with("0x")
            || plain.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'/' | b':' | b'.'));
        let is_hardware = plain.split([':', '-', '.']).count() > 2
            && plain.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'-' | b'.'))
            && !plain.contains('.');
        // What `port` speaks of is a service, unless it has the form of a host.
        let is_service = takes && !plain.contains('.');
        if !is_number && !is_hardware && !is_service && !is_among(plain, PACKET_WORDS) {
            found.extend(named(plain));
        }
        takes = PACKET_TAKING.contains(&plain);
    }
    found
}

/// Returns the names that stand beside a comparison in a filter of tshark.
pub(super) fn of_display(filter: &str) -> Vec<String> {
    const COMPARES: [&str; 14] =
        ["==", "!=", "===", "!==", "eq", "ne", "any_eq", "all_ne", "any_ne", "all_eq", "in", ">", "<", "~="];
    let mut spaced = String::with_capacity(filter.len());
    let mut quoted = false;
    for char in filter.chars() {
        quoted ^= char == '"';
        match char {
            '=' | '!' | '<' | '>' | '~' if !quoted => {
                if !spaced.ends_with(['=', '!', '<', '>', '~']) {
                    spaced.push(' ');
                }
                spaced.push(char);
            }
            '(' | ')' | '{' | '}' | ',' | '&' | '|' if !quoted => spaced.push_str(&format!(" {char} ")),
            _ => {
                if spaced.ends_with(['=', '!', '<', '>', '~']) && !char.is_whitespace() {
                    spaced.push(' ');
                }
                spaced.push(char);
            }
        }
    }
    let mut found = Vec::new();
    let (mut field, mut compares, mut listed) = ("", false, false);
    for word in spaced.split_whitespace() {
        match word {
            "{" => listed = compares,
            "}" => listed = false,
            "," => {}
            _ if COMPARES.contains(&word) => compares = true,
            _ if compares || listed => {
                found.extend(compared(field, word));
                compares = false;
            }
            _ => field = word,
        }
    }
    found
}

/// Tells whether what is compared with a field is looked up: where the field holds addresses, or the value has the form of a name.
fn compared(field: &str, value: &str) -> Vec<String> {
    const ADDRESSES: [&str; 8] = ["addr", "src", "dst", "host", "sa", "ta", "da", "ra"];
    let text = value.trim_matches('"');
    let last = field.trim_end_matches(']').rsplit('.').next().unwrap_or_default();
    let holds_addresses = ADDRESSES.contains(&last) && !field.starts_with("eth");
    let has_form = text.contains('.') && text == value && text.contains(|char: char| char.is_alphabetic());
    let is_number = text.starts_with("0x") || text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_hardware = text.len() == 17 && text.split([':', '-']).count() == 6;
    if is_number || is_hardware || !(holds_addresses || has_form) { Vec::new() } else { named(text) }
}
