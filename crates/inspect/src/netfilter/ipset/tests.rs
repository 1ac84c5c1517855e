//! Sets beside rules: what they hold decides.

use super::read_sets;
use crate::netfilter::{Packet, State, Verdict, read, walk};

const SETS: &str = "\
create a hash:ip family inet hashsize 1024 maxelem 65536 timeout 600 counters comment bucketsize 12 initval 0x5afd37c8
add a 10.0.0.1 timeout 300 packets 3 bytes 90 comment \"not -m set\"
create n hash:net family inet hashsize 1024 maxelem 65536 comment bucketsize 12 initval 0xab5c98b6
add n 10.1.0.0/16 nomatch comment \"x y\"
add n 10.0.0.0/8
add n 10.1.2.0/24
create p hash:ip,port family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x7afeb136
add p 10.0.0.1,tcp:80
add p 10.0.0.1,udp:53
add p 10.0.0.2,icmp:echo-request
create b bitmap:port range 0-1023
add b 22
create i hash:net,iface family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x1eff7974
add i 10.0.0.0/24,eth0
create six hash:net family inet6 hashsize 1024 maxelem 65536 bucketsize 12 initval 0xf1a016ee
add six 2001:db8::/32
create m hash:ip family inet hashsize 1024 maxelem 65536 netmask 24 bucketsize 12 initval 0x89f1e8e3
add m 10.0.5.0
create k hash:mac hashsize 1024 maxelem 65536
add k 01:02:03:04:05:06
create l list:set size 8
add l a
add l m
";

/// Checks what becomes of a packet to tcp/80 from an address where the set's packets are dropped.
#[track_caller]
fn check(options: &str, source: &str, expected: Verdict) {
    let text =
        format!("*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -s 0.0.0.0/0 -m set {options} -j DROP\nCOMMIT\n");
    let (sets, warnings) = read_sets(SETS);
    assert_eq!(warnings, []);
    let mut rules = read(&text).unwrap();
    rules.ipsets = sets;
    let mut packet = Packet::parse("input", "tcp", source, "10.9.9.9").unwrap().dport(80).state(State::New);
    packet.sport = Some(40_000);
    assert_eq!(walk(&rules, &packet.input("eth0")).unwrap().verdict, expected, "{options} {source}");
}

#[test]
fn an_element_decides_and_its_negation_too() {
    check("--match-set a src", "10.0.0.1", Verdict::Drop);
    check("--match-set a src", "10.0.0.2", Verdict::Accept);
    check("! --match-set a src", "10.0.0.2", Verdict::Drop);
    check("--match-set a dst", "10.0.0.1", Verdict::Accept);
}

#[test]
fn the_longest_prefix_decides_where_there_are_exceptions() {
    check("--match-set n src", "10.7.0.1", Verdict::Drop);
    check("--match-set n src", "10.1.0.1", Verdict::Accept);
    check("--match-set n src", "10.1.2.1", Verdict::Drop);
    check("--match-set n src --return-nomatch", "10.1.0.1", Verdict::Drop);
    check("--match-set n src --return-nomatch", "10.7.0.1", Verdict::Accept);
}

#[test]
fn ports_devices_masks_and_lists_are_parts_of_elements() {
    check("--match-set p src,dst", "10.0.0.1", Verdict::Drop);
    check("--match-set p src,src", "10.0.0.1", Verdict::Accept);
    check("--match-set p src,dst", "10.0.0.2", Verdict::Accept);
    check("--match-set b dst", "10.0.0.1", Verdict::Accept);
    check("--match-set i src,src", "10.0.0.77", Verdict::Drop);
    check("--match-set i src,dst", "10.0.0.77", Verdict::Accept);
    check("--match-set m src", "10.0.5.200", Verdict::Drop);
    check("--match-set l src", "10.0.0.1", Verdict::Drop);
    check("--match-set l src", "10.0.0.3", Verdict::Accept);
}

#[test]
fn a_set_of_the_other_family_or_with_more_parts_than_named_holds_nothing() {
    check("--match-set six src", "10.0.0.1", Verdict::Accept);
    check("--match-set p src", "10.0.0.1", Verdict::Accept);
}

#[test]
fn a_set_that_was_not_given_and_one_of_hardware_addresses_stay_unknown() {
    check("--match-set nowhere src", "10.0.0.1", Verdict::Indeterminate);
    check("--match-set k src", "10.0.0.1", Verdict::Indeterminate);
}

#[test]
fn a_set_into_which_rules_put_packets_may_have_grown() {
    let text = "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -m set --match-set a src -j DROP\n-A INPUT -p udp -j SET --add-set a src\nCOMMIT\n";
    let mut rules = read(text).unwrap();
    rules.ipsets = read_sets(SETS).0;
    let verdict = |source| {
        let packet = Packet::parse("input", "tcp", source, "10.9.9.9").unwrap().state(State::New);
        walk(&rules, &packet).unwrap().verdict
    };
    assert_eq!((verdict("10.0.0.1"), verdict("10.0.0.2")), (Verdict::Drop, Verdict::Indeterminate));
}

#[test]
fn sizes_and_seeds_are_nobodys_decision_and_odd_lines_hide_no_other() {
    let again = SETS.replace("hashsize 1024", "hashsize 2048").replace("0x5afd37c8", "0x1");
    let plain = |text: &str| read_sets(text).0;
    assert_eq!(plain(SETS), plain(&again));
    let (sets, warnings) = read_sets("add x 1\nwhat\ncreate y hash:ip\nadd y\nadd y 10.0.0.1");
    assert_eq!((sets.len(), sets[0].members.len(), warnings.len()), (1, 1, 3));
}
