//! What holds for every set of rules.

use std::net::IpAddr;

use proptest::prelude::*;
use serde_json::json;

use super::region::{Budget, Piece, View};
use super::tests::{group, group_of, read, rule};
use super::*;
use crate::net::Family;

fn any_rule() -> impl Strategy<Value = String> {
    let sides = prop::sample::select(vec![
        "*",
        "10.0.0.0/8",
        "10.0.0.0/31",
        "10.0.0.2",
        "0.0.0.0/0",
        "::/0",
        "10.0.0.1,10.0.0.3",
        "Storage",
    ]);
    let ports = prop::sample::select(vec!["*", "22", "20-25", "25-30", "443"]);
    let access = prop::sample::select(vec!["Allow", "Deny"]);
    let protocol = prop::sample::select(vec!["*", "Tcp", "Udp", "Icmp"]);
    (access, protocol, sides.clone(), sides, ports).prop_map(
        |(access, protocol, source, destination, ports)| {
            format!("{access} {protocol} {source} {destination} {ports}")
        },
    )
}

fn any_rules() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(any_rule(), 1..6)
        .prop_map(|rules| rules.iter().enumerate().map(|(at, rule)| format!("{} {rule}", 100 + at)).collect())
}

fn holds(pieces: &[Piece], asked: &Packet) -> usize {
    let (source, destination) = (Family::number(asked.source), Family::number(asked.destination));
    let inside = |piece: &&Piece| {
        piece.family == Family::of(asked.source)
            && !piece.protocols.and(asked.protocols[0]).is_empty()
            && piece.source.contains(source)
            && piece.destination.contains(destination)
            && piece.source_ports.contains(40_000)
            && piece.destination_ports.contains(u128::from(asked.destination_port))
    };
    pieces.iter().filter(inside).count()
}

proptest! {
    /// What the regions say about a packet is what the verdict says about it.
    #[test]
    fn regions_agree_with_point_queries(
        subnet in any_rules(), nic in any_rules(), from in 0u8..4, to in 0u8..4, port in prop::sample::select(vec![22u16, 25, 27, 443, 80]),
        protocol in prop::sample::select(vec!["tcp", "udp", "icmp"]),
    ) {
        let texts = |rules: &[String]| rules.iter().map(|text| rule(text)).collect::<Vec<_>>();
        let rules = read(json!([group_of(json!({"subnet": {}}), texts(&subnet)), group_of(json!({"networkInterface": {}}), texts(&nic))]));
        let address = |last: u8| -> IpAddr { format!("10.0.0.{last}").parse().unwrap() };
        let asked = Packet::new("inbound", protocol, address(from), Some(40_000), address(to), port).unwrap();
        let mut budget = Budget::new();
        let mut pieces = |view| holds(&rules.through(Direction::Inbound, &Piece::everything(), view, &mut budget).unwrap(), &asked);
        let (least, most) = (pieces(View::Least), pieces(View::Most));
        prop_assert!(least <= most && most <= 1, "the regions are disjoint");
        match rules.judge(&asked) {
            Verdict::Allow => prop_assert_eq!(most, 1),
            Verdict::Deny => prop_assert_eq!(least, 0),
            Verdict::Indeterminate | Verdict::Skipped | Verdict::Absent => prop_assert_eq!((least, most), (0, 1)),
        }
        let open = |rules: &[String]| rules.iter().any(|rule| rule.contains("Storage"));
        if !open(&subnet) && !open(&nic) {
            prop_assert_eq!(least, most);
        }
    }

    /// A rule that is called shadowed decides over no packet.
    #[test]
    fn a_shadowed_rule_never_decides(rules in any_rules(), from in 0u8..4, to in 0u8..4, port in prop::sample::select(vec![22u16, 25, 27, 443])) {
        let rules: Vec<_> = rules.iter().map(|text| rule(text)).collect();
        let ruleset = read(json!([group_of(json!({"subnet": {}}), rules)]));
        let address = |last: u8| -> IpAddr { format!("10.0.0.{last}").parse().unwrap() };
        let asked = Packet::new("inbound", "tcp", address(from), Some(1), address(to), port).unwrap();
        let ruling = ruleset.verdict(&asked);
        for found in ruleset.audit().shadowed {
            prop_assert_ne!(ruling.gates[0].rule, Some(found.rule.rule.as_str()));
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        drop(Ruleset::parse(&text, Knowledge::default()));
    }

    #[test]
    fn a_cut_document_is_an_error(at in 0usize..300) {
        let text = json!([group("subnet", &["100 Allow * * * *"])]).to_string();
        let cut = text.get(..at.min(text.len() - 1)).unwrap();
        prop_assert!(Ruleset::parse(cut, Knowledge::default()).is_err());
    }
}
