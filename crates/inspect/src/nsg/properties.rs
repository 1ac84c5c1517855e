//! What holds for every set of rules.

use std::net::IpAddr;

use proptest::prelude::*;
use serde_json::json;

use super::region::{Budget, PacketSet, View};
use super::tests::{group, group_of, read, rule};
use super::*;
use crate::net::Family;

/// What a side of a rule may say, and the addresses at its edges.
const SIDES: [&str; 13] = [
    "*",
    "10.0.0.0/8",
    "10.0.0.0/31",
    "10.0.0.2",
    "0.0.0.0/0",
    "0.0.0.0/1",
    "::/0",
    "10.0.0.1,10.0.0.3",
    "fd00::/8",
    "fd00::/65",
    "fd00::8000:0:0:0/65,10.0.0.2",
    "fd00::1",
    "Storage",
];
const EDGES: [&str; 16] = [
    "10.0.0.0",
    "10.0.0.1",
    "10.0.0.2",
    "10.0.0.3",
    "10.255.255.255",
    "11.0.0.0",
    "127.255.255.255",
    "128.0.0.0",
    "255.255.255.255",
    "fd00::",
    "fd00::1",
    "fd00::7fff:ffff:ffff:ffff",
    "fd00::8000:0:0:0",
    "fe00::",
    "::",
    "fd00:0:0:1::",
];
const PORTS: [u16; 9] = [0, 19, 20, 22, 25, 26, 30, 443, 65_535];

fn any_rule_of(sides: &'static [&'static str]) -> impl Strategy<Value = String> {
    let sides = prop::sample::select(sides);
    let ports = prop::sample::select(vec!["*", "22", "20-25", "25-30", "443", "0", "65535"]);
    let access = prop::sample::select(vec!["Allow", "Deny"]);
    let protocol = prop::sample::select(vec!["*", "Tcp", "Udp", "Icmp"]);
    (access, protocol, sides.clone(), sides, ports).prop_map(
        |(access, protocol, source, destination, ports)| {
            format!("{access} {protocol} {source} {destination} {ports}")
        },
    )
}

fn any_rule() -> impl Strategy<Value = String> {
    any_rule_of(&SIDES)
}

/// A packet at the edges of what rules say.
fn any_packet() -> impl Strategy<Value = Packet> {
    let edge = || prop::sample::select(EDGES.to_vec()).prop_map(|text| text.parse::<IpAddr>().unwrap());
    let protocol = prop::sample::select(vec!["tcp", "udp", "icmp"]);
    (edge(), edge(), prop::sample::select(PORTS.to_vec()), protocol).prop_filter_map(
        "of one family",
        |(source, destination, port, protocol)| {
            Packet::new("inbound", protocol, source, Some(40_000), destination, port).ok()
        },
    )
}

/// The platform's verdict over one group as its documentation tells it, rule by rule.
fn oracle(rules: &[String], packet: &Packet) -> Option<usize> {
    let side = |text: &str, address: IpAddr| {
        text == "*"
            || text
                .split(',')
                .any(|part| crate::net::parse_prefix(part).is_some_and(|net| net.contains(&address)))
    };
    let port = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        text == "*"
            || (first.parse::<u16>().unwrap()..=last.parse().unwrap()).contains(&packet.destination_port)
    };
    let icmp = packet.protocols == [Protocols::ICMP];
    rules.iter().position(|rule| {
        let words: Vec<&str> = rule.split(' ').collect();
        let [_, _, protocol, source, destination, ports] = words[..] else { panic!("{rule}") };
        (protocol == "*" || packet.protocols[0].names() == [protocol.to_lowercase()])
            && side(source, packet.source)
            && side(destination, packet.destination)
            && (icmp || port(ports))
    })
}

fn any_rules() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(any_rule(), 1..6)
        .prop_map(|rules| rules.iter().enumerate().map(|(at, rule)| format!("{} {rule}", 100 + at)).collect())
}

fn holds(sets: &[PacketSet], asked: &Packet) -> usize {
    let (source, destination) = (Family::number(asked.source), Family::number(asked.destination));
    let inside = |set: &&PacketSet| {
        set.family == Family::of(asked.source)
            && !set.protocols.and(asked.protocols[0]).is_empty()
            && set.source.contains(source)
            && set.destination.contains(destination)
            && set.source_ports.contains(40_000)
            && set.destination_ports.contains(u128::from(asked.destination_port))
    };
    sets.iter().filter(inside).count()
}

proptest! {
    /// The verdict agrees with a slow oracle, over so many rules that they are looked at in several blocks.
    #[test]
    fn the_verdict_agrees_with_a_slow_oracle(
        rules in proptest::collection::vec(any_rule_of(SIDES.split_last().unwrap().1), 1..200), packets in proptest::collection::vec(any_packet(), 1..8),
    ) {
        let rules: Vec<String> = rules.iter().enumerate().map(|(at, rule)| format!("{} {rule}", 100 + at)).collect();
        let ruleset = read(json!([group_of(json!({"subnet": {}}), rules.iter().map(|text| rule(text)).collect())]));
        for packet in &packets {
            let expected = oracle(&rules, packet);
            let ruling = ruleset.verdict(packet);
            let name = expected.map(|at| format!("r{}", 100 + at));
            prop_assert_eq!(ruling.gates[0].rule.map(str::to_owned), name);
            let allowed = expected.is_some_and(|at| rules[at].contains("Allow"));
            prop_assert_eq!(ruling.verdict, if allowed { Verdict::Allow } else { Verdict::Deny });
            let tried = ruling.gates[0].trace.iter().count();
            prop_assert_eq!(tried, expected.map_or(rules.len(), |at| at + 1));
        }
    }

    /// What the regions say about a packet is what the verdict says about it.
    #[test]
    fn regions_agree_with_point_queries(subnet in any_rules(), nic in any_rules(), packets in proptest::collection::vec(any_packet(), 1..8)) {
        let texts = |rules: &[String]| rules.iter().map(|text| rule(text)).collect::<Vec<_>>();
        let rules = read(json!([group_of(json!({"subnet": {}}), texts(&subnet)), group_of(json!({"networkInterface": {}}), texts(&nic))]));
        let mut budget = Budget::new();
        let mut through = |view| rules.through(Direction::Inbound, &PacketSet::everything(), view, &mut budget).unwrap();
        let (least, most) = (through(View::Least), through(View::Most));
        let open = |rules: &[String]| rules.iter().any(|rule| rule.contains("Storage"));
        for asked in &packets {
            let (least, most) = (holds(&least, asked), holds(&most, asked));
            prop_assert!(least <= most && most <= 1, "the regions are disjoint");
            match rules.judge(asked) {
                Verdict::Allow => prop_assert_eq!(most, 1),
                Verdict::Deny => prop_assert_eq!(least, 0),
                Verdict::Indeterminate | Verdict::Skipped | Verdict::Absent => prop_assert_eq!((least, most), (0, 1)),
            }
            if !open(&subnet) && !open(&nic) {
                prop_assert_eq!(least, most);
            }
        }
    }

    /// A rule that is called shadowed decides over no packet.
    #[test]
    fn a_shadowed_rule_never_decides(rules in any_rules(), packets in proptest::collection::vec(any_packet(), 1..8)) {
        let rules: Vec<_> = rules.iter().map(|text| rule(text)).collect();
        let ruleset = read(json!([group_of(json!({"subnet": {}}), rules)]));
        let shadowed = ruleset.audit().shadowed;
        for asked in &packets {
            let ruling = ruleset.verdict(asked);
            for found in &shadowed {
                prop_assert_ne!(ruling.gates[0].rule, Some(found.rule.rule.as_str()));
            }
        }
    }

    /// What a contradiction names drops what the rule allows: no packet of it gets through both gates.
    #[test]
    fn what_another_gate_makes_void_lets_nothing_through(subnet in any_rules(), nic in any_rules(), packets in proptest::collection::vec(any_packet(), 1..8)) {
        let texts = |rules: &[String]| rules.iter().map(|text| rule(text)).collect::<Vec<_>>();
        let rules = read(json!([group_of(json!({"subnet": {}}), texts(&subnet)), group_of(json!({"networkInterface": {}}), texts(&nic))]));
        let void = rules.audit().contradictory;
        for asked in &packets {
            let ruling = rules.verdict(asked);
            for found in void.iter().filter(|_| ruling.verdict == Verdict::Allow) {
                let decided = ruling.gates.iter().find(|gate| gate.gate == found.rule.gate).and_then(|gate| gate.rule);
                prop_assert_ne!(decided, Some(found.rule.rule.as_str()));
            }
        }
    }

    /// Neither fields of other kinds nor a broken document make the reader panic; what it reads answers.
    #[test]
    fn no_broken_document_makes_the_reader_panic(
        field in prop::sample::select(vec![
            "name", "priority", "direction", "access", "protocol", "sourceAddressPrefix", "sourceAddressPrefixes",
            "expandedSourceAddressPrefix", "destinationPortRange", "destinationPortRanges", "sourceApplicationSecurityGroups",
        ]), odd in prop::sample::select(vec![
            json!(null), json!(-1), json!(1.5), json!({}), json!([[], {}]), json!("a,,b"), json!(["70000", "5-1", "x"]), json!(true),
        ]), at in any::<prop::sample::Index>(), byte in any::<u8>(), asked in any_packet(),
    ) {
        let mut one = rule("100 Allow * * * 22");
        one[field] = odd;
        let text = json!([group_of(json!({"subnet": {}}), vec![one, rule("110 Deny * Storage * *")])]).to_string();
        let mut broken = text.clone().into_bytes();
        *at.get_mut(&mut broken) = byte;
        for text in [text, String::from_utf8_lossy(&broken).into_owned()] {
            if let Ok(rules) = Ruleset::parse(&text, Knowledge::default()) {
                drop(serde_json::to_string(&rules.verdict(&asked)).unwrap());
                drop((rules.audit(), rules.reach(Direction::Inbound, None)));
            }
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}", bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        drop(Ruleset::parse(&text, Knowledge::default()));
        drop(Ruleset::parse(&String::from_utf8_lossy(&bytes), Knowledge::default()));
    }

    #[test]
    fn a_cut_document_is_an_error(at in 0usize..300) {
        let text = json!([group("subnet", &["100 Allow * * * *"])]).to_string();
        let cut = text.get(..at.min(text.len() - 1)).unwrap();
        prop_assert!(Ruleset::parse(cut, Knowledge::default()).is_err());
    }
}
