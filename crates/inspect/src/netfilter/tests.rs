//! Rulesets, packets, differences: what holds.

use proptest::prelude::*;

use super::{Kind, Packet, ReadError, State, Verdict, diff, read, walk};

fn save(rules: &str) -> String {
    format!("*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n{rules}\nCOMMIT\n")
}

fn ssh() -> Packet {
    Packet::parse("input", "tcp", "10.0.0.2", "10.0.0.1").unwrap().dport(22).state(State::New).input("eth0")
}

#[track_caller]
fn check(rules: &str, packet: &Packet, expected: Verdict) {
    assert_eq!(walk(&read(&save(rules)).unwrap(), packet).unwrap().verdict, expected);
}

#[test]
fn the_first_rule_that_holds_decides() {
    check("-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\n-A INPUT -j DROP", &ssh(), Verdict::Accept);
    check("-A INPUT -p tcp -m tcp --dport 23 -j ACCEPT\n-A INPUT -j DROP", &ssh(), Verdict::Drop);
}

#[test]
fn a_negation_is_kept() {
    check("-A INPUT ! -s 10.0.0.0/8 -j DROP", &ssh(), Verdict::Accept);
    check("-A INPUT -p tcp -m tcp ! --syn -j DROP", &ssh(), Verdict::Accept);
    check("-A INPUT ! -i eth+ -j DROP", &ssh(), Verdict::Accept);
}

#[test]
fn a_goto_does_not_come_back_to_its_chain() {
    check(":X - [0:0]\n-A INPUT -g X\n-A INPUT -j DROP", &ssh(), Verdict::Accept);
    check(":X - [0:0]\n-A INPUT -j X\n-A INPUT -j DROP", &ssh(), Verdict::Drop);
}

#[test]
fn what_is_not_known_is_undecided_only_where_it_matters() {
    check("-A INPUT -m limit --limit 1/s -j ACCEPT\n-A INPUT -j DROP", &ssh(), Verdict::Indeterminate);
    check("-A INPUT -m limit --limit 1/s -j LOG\n-A INPUT -j DROP", &ssh(), Verdict::Drop);
    check("-A INPUT -m frobnicate --frob 3 -j DROP", &ssh(), Verdict::Indeterminate);
}

#[test]
fn an_option_of_a_match_is_the_matches_whatever_its_name() {
    // `--proto` asks for the protocol of the tunnel, not of the packet.
    let policy = "-A INPUT -m policy --dir in --pol ipsec --proto esp -j ACCEPT\n-A INPUT -j DROP";
    check(policy, &ssh(), Verdict::Indeterminate);
    check("-A INPUT --proto tcp -j DROP", &ssh(), Verdict::Drop);
    check("-A INPUT --proto udp -j DROP", &ssh(), Verdict::Accept);
    // What is not known may have an option of any name.
    check("-A INPUT -m ndpi --proto http -j DROP", &ssh(), Verdict::Indeterminate);
    check("-A INPUT -p tcp -m tcp --dport 22 -m ndpi --dport 80 -j DROP", &ssh(), Verdict::Indeterminate);
    check("-A INPUT -p tcp -m tcp --dport 23 -m ndpi --dport 80 -j DROP", &ssh(), Verdict::Accept);
    // The name of a chain is no match.
    check(":x - [0:0]\n-A x -j DROP\n-A INPUT -p tcp -j x --dport 22", &ssh(), Verdict::Drop);
}

#[test]
fn an_unknown_port_is_decided_where_all_ports_meet_the_same_fate() {
    let mut packet = ssh();
    packet.sport = None;
    check(
        "-A INPUT -p tcp -m tcp --sport 0:1023 -j DROP\n-A INPUT -p tcp -m tcp --sport 1024:65535 -j DROP",
        &packet,
        Verdict::Drop,
    );
}

#[test]
fn a_loop_of_chains_ends() {
    check(":X - [0:0]\n-A INPUT -j X\n-A X -j X", &ssh(), Verdict::Indeterminate);
    check(":X - [0:0]\n-A INPUT -g X\n-A X -g X", &ssh(), Verdict::Indeterminate);
}

#[test]
fn what_is_no_ruleset_is_an_error() {
    assert_eq!(read(""), Err(ReadError::Empty));
    assert_eq!(read("nothing to see"), Err(ReadError::Foreign));
    assert_eq!(read("{}"), Err(ReadError::OtherJson));
    assert!(matches!(read("{\"nftables\": ["), Err(ReadError::Json { .. })));
}

#[test]
fn an_odd_line_hides_no_other() {
    let rules = read(&save("-A INPUT -j DROP\nwhat is this\n-A INPUT -j ACCEPT")).unwrap();
    assert_eq!((rules.rules, rules.warnings.len()), (2, 1));
    assert_eq!(rules.warnings[0].place, "line 6");
}

#[test]
fn one_rule_on_top_is_one_change() {
    let old = save("-A INPUT -s 10.0.0.1/32 -j ACCEPT\n-A INPUT -s 10.0.0.2/32 -j ACCEPT");
    let new = save(
        "-A INPUT -s 10.0.0.9/32 -j DROP\n-A INPUT -s 10.0.0.1/32 -j ACCEPT\n-A INPUT -s 10.0.0.2/32 -j ACCEPT",
    );
    let found = diff(&read(&old).unwrap(), &read(&new).unwrap()).unwrap();
    assert_eq!(found.changes.iter().map(|change| change.kind).collect::<Vec<_>>(), [Kind::RuleAdded]);
    assert!(found.critical);
}

#[test]
fn an_accept_below_a_drop_for_all_is_critical_and_a_second_copy_is_not() {
    let old = read(&save("-A INPUT -s 10.0.0.0/8 -j ACCEPT\n-A INPUT -j DROP")).unwrap();
    let new = read(&save("-A INPUT -j DROP\n-A INPUT -s 10.0.0.0/8 -j ACCEPT")).unwrap();
    assert!(diff(&old, &new).unwrap().critical);
    let twice =
        read(&save("-A INPUT -s 10.0.0.0/8 -j ACCEPT\n-A INPUT -s 10.0.0.0/8 -j ACCEPT\n-A INPUT -j DROP"))
            .unwrap();
    let found = diff(&old, &twice).unwrap();
    assert_eq!((found.drift, found.critical), (Some(true), false));
}

fn rule() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(vec![
        "-s 10.0.0.0/8",
        "! -s 10.0.0.2/32",
        "-p tcp -m tcp --dport 22",
        "-p udp -m udp --sport 53",
        "-i eth0",
        "! -i lo",
        "-m conntrack --ctstate NEW",
        "-m limit --limit 3/min",
        "-m comment --comment \"a \\\"b\\\"\"",
        "-m mark --mark 0x1/0x1",
    ]);
    let target = proptest::sample::select(vec![
        "-j ACCEPT",
        "-j DROP",
        "-j REJECT",
        "-j X",
        "-g X",
        "-j RETURN",
        "-j MARK --set-xmark 0x1/0x1",
    ]);
    let chain = proptest::sample::select(vec!["INPUT", "OUTPUT", "X"]);
    (chain, proptest::collection::vec(part, 0..3), target)
        .prop_map(|(chain, parts, target)| format!("-A {chain} {} {target}", parts.join(" ")))
}

fn rules() -> impl Strategy<Value = String> {
    proptest::collection::vec(rule(), 0..8)
        .prop_map(|rules| save(&format!(":X - [0:0]\n{}", rules.join("\n"))))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        drop(read(&text));
        drop(read(&format!("*filter\n{text}")));
    }

    #[test]
    fn a_cut_ruleset_is_read_as_far_as_it_goes(text in rules(), cut in 0_usize..400) {
        if let Some(text) = text.get(..cut)
            && let Ok(rules) = read(text)
        {
            drop(walk(&rules, &ssh()));
        }
    }

    #[test]
    fn nothing_differs_from_itself(text in rules()) {
        let rules = read(&text).unwrap();
        prop_assert!(!diff(&rules, &rules).unwrap().drift.unwrap());
    }

    #[test]
    fn a_difference_is_found_in_both_directions(a in rules(), b in rules()) {
        let (a, b) = (read(&a).unwrap(), read(&b).unwrap());
        let (there, back) = (diff(&a, &b).unwrap(), diff(&b, &a).unwrap());
        prop_assert_eq!(there.changes.len(), back.changes.len());
        prop_assert_eq!(there.critical, back.critical);
    }

    #[test]
    fn what_is_known_decides_what_was_undecided(text in rules(), port in 0_u16..100) {
        let rules = read(&text).unwrap();
        let mut open = ssh();
        open.dport = None;
        let all = walk(&rules, &open).unwrap().verdict;
        let one = walk(&rules, &ssh().dport(port)).unwrap().verdict;
        prop_assert!(all == Verdict::Indeterminate || all == one);
    }
}
