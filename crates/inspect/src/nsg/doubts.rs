//! What is not read, not resolved or ambiguous never makes an answer certain.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::region::{Budget, PacketSet, View};
use super::tests::{group, group_of, read, rule};
use super::*;
use crate::net::{Inventory, Tags};

fn packet(from: &str) -> Packet {
    Packet::new("inbound", "tcp", from.parse().unwrap(), Some(40_000), "10.0.1.4".parse().unwrap(), 443)
        .unwrap()
}

fn subnet(rules: Vec<Value>) -> Value {
    json!([group_of(json!({"subnet": {"id": "/s"}}), rules)])
}

/// Returns a rule with one field that is another one.
fn with(text: &str, field: &str, value: Value) -> Value {
    let mut rule = rule(text);
    rule[field] = value;
    rule
}

/// Returns a rule that speaks of application security groups alone.
fn by_groups(text: &str, groups: Value) -> Value {
    let mut rule = with(text, "sourceApplicationSecurityGroups", groups);
    rule.as_object_mut().unwrap().remove("sourceAddressPrefix");
    rule
}

/// Answers with an inventory and service tags, and tells what the answer depends on.
fn answer(groups: &Value, inventory: &str, tags: &str, from: &str) -> String {
    let (inventory, tags) = (Inventory::parse(inventory).unwrap(), Tags::parse(tags).unwrap());
    let known = Knowledge { inventory: Some(&inventory), tags: Some(&tags) };
    let rules = Ruleset::parse(&groups.to_string(), known).unwrap();
    let asked = packet(from);
    let ruling = rules.verdict(&asked);
    [vec![ruling.verdict.as_str().to_owned()], ruling.unresolved].concat().join(" ")
}

const ALLOW: &str = "200 Allow * * * *";

#[test]
fn a_tag_that_was_partly_read_may_hold_any_other_address() {
    let groups = subnet(vec![rule("100 Deny * Bad * *"), rule(ALLOW)]);
    let tags =
        |prefixes: &str| format!(r#"[{{"name":"Bad","properties":{{"addressPrefixes":[{prefixes}]}}}}]"#);
    let reported = |prefixes: &str, from: &str| answer(&groups, "[]", &tags(prefixes), from);
    let odd = r#""20.60.0.0/16","1.2.3.0-1.2.3.255""#;
    assert_eq!(reported(odd, "1.2.3.4"), "INDETERMINATE source Bad");
    assert_eq!(reported(odd, "20.60.1.1"), "DENY");
    assert_eq!(reported(r#""20.60.0.0/16",null"#, "1.2.3.4"), "INDETERMINATE source Bad");
    assert_eq!(reported(r#""20.60.0.0/16""#, "1.2.3.4"), "ALLOW");
}

#[test]
fn an_address_of_two_networks_is_in_a_group_only_where_both_interfaces_are() {
    let groups = subnet(vec![by_groups("100 Deny * * * *", json!([{"id": "/asg/web"}])), rule(ALLOW)]);
    let nics = |second: &str| {
        format!(
            r#"[{{"id":"/dev","ipConfigurations":[{{"privateIPAddress":"10.0.0.4","applicationSecurityGroups":[{{"id":"/asg/web"}}]}}]}},
            {{"id":"/prod","ipConfigurations":[{{"privateIPAddress":"10.0.0.4","applicationSecurityGroups":{second}}}]}}]"#
        )
    };
    assert_eq!(answer(&groups, &nics("null"), "[]", "10.0.0.4"), "INDETERMINATE source web");
    assert_eq!(answer(&groups, &nics(r#"[{"id":"/asg/web"}]"#), "[]", "10.0.0.4"), "DENY");
}

#[test]
fn a_group_that_cannot_be_read_may_hold_anybody() {
    let nics = r#"[{"id":"/a","ipConfigurations":[{"privateIPAddress":"10.0.0.4"}]}]"#;
    for odd in [json!([{}]), json!([null]), json!([[{"id": "/asg/web"}]]), json!({"a": 1}), json!(7)] {
        let alone = subnet(vec![by_groups("100 Deny * * * *", odd.clone()), rule(ALLOW)]);
        assert!(answer(&alone, nics, "[]", "10.0.0.4").starts_with("INDETERMINATE"), "{odd}");
        // Beside a prefix that is read it is not forgotten.
        let beside = with("100 Deny * 10.9.0.0/16 * *", "sourceApplicationSecurityGroups", odd.clone());
        let reported = answer(&subnet(vec![beside, rule(ALLOW)]), nics, "[]", "10.0.0.4");
        assert!(reported.starts_with("INDETERMINATE"), "{odd}");
    }
    // One group, or the text of its name, where a list is expected.
    for same in [json!({"id": "/asg/web"}), json!("/asg/web")] {
        let one = subnet(vec![by_groups("100 Deny * * * *", same), rule(ALLOW)]);
        assert_eq!(answer(&one, nics, "[]", "10.0.0.4"), "ALLOW");
        assert_eq!(answer(&one, nics, "[]", "10.0.0.9"), "INDETERMINATE source web");
    }
}

#[test]
fn two_things_of_one_name_are_not_taken_for_one() {
    let (dev, prod) = (json!([{"id": "/dev/asg/web"}]), json!([{"id": "/prod/asg/web"}]));
    let rules = |first: Value, second: Value| {
        subnet(vec![
            by_groups("100 Allow * * * *", first),
            by_groups("150 Deny * * * *", second),
            rule(ALLOW),
        ])
    };
    let reported = answer(&rules(dev.clone(), prod.clone()), "[]", "[]", "10.0.0.9");
    assert!(reported.starts_with("INDETERMINATE"), "{reported}");
    assert_eq!(answer(&rules(dev.clone(), dev.clone()), "[]", "[]", "10.0.0.9"), "ALLOW");
    // The tag and the group of one name are two things.
    let mut tag = rules(dev, json!(null));
    tag[0]["effectiveSecurityRules"][1]["sourceAddressPrefix"] = json!("web");
    assert!(answer(&tag, "[]", "[]", "10.0.0.9").starts_with("INDETERMINATE"));
    // In one rule, too: of the second group nothing is known.
    let nics = r#"[{"id":"/a","ipConfigurations":[{"privateIPAddress":"10.0.0.4"}]},
        {"id":"/b","ipConfigurations":[{"privateIPAddress":"10.0.0.4","applicationSecurityGroups":[{"id":"/prod/asg/web"}]}]}]"#;
    let both = json!([{"id": "/dev/asg/web"}, {"id": "/prod/asg/web"}]);
    let reported =
        answer(&subnet(vec![by_groups("100 Deny * * * *", both), rule(ALLOW)]), nics, "[]", "10.0.0.4");
    assert!(reported.starts_with("INDETERMINATE"), "{reported}");
}

#[test]
fn what_two_rules_do_not_say_is_not_the_same_thing() {
    let nothing = |text: &str| by_groups(text, json!(null));
    let odd = |text: &str| with(text, "sourceAddressPrefixes", json!([{"a": 1}]));
    let ports = |text: &str| with(text, "destinationPortRange", json!("x"));
    let unread: [&dyn Fn(&str) -> Value; 3] = [&nothing, &odd, &ports];
    for unread in unread {
        let mut rules = vec![unread("100 Allow * * * *"), unread("150 Deny * * * *"), rule(ALLOW)];
        rules.iter_mut().for_each(|rule| rule["name"] = json!("same"));
        let reported = answer(&subnet(rules), "[]", "[]", "10.0.0.9");
        assert!(reported.starts_with("INDETERMINATE"), "{reported}");
    }
}

#[test]
fn null_in_a_list_is_something_that_was_not_read() {
    for (field, list) in [
        ("sourceAddressPrefixes", json!(["10.9.0.0/16", null])),
        ("expandedSourceAddressPrefix", json!([null])),
        ("destinationPortRanges", json!(["22", null])),
    ] {
        let groups = subnet(vec![with("100 Deny * 10.9.0.0/16 * *", field, list), rule(ALLOW)]);
        let from = if field == "destinationPortRanges" { "10.9.0.1" } else { "10.0.0.9" };
        let reported = answer(&groups, "[]", "[]", from);
        assert!(reported.starts_with("INDETERMINATE"), "{field}: {reported}");
    }
}

#[test]
fn the_order_of_rules_of_one_priority_is_not_known() {
    let mut other = rule("100 Deny * 10.0.0.0/8 * *");
    other["name"] = json!("other");
    let rules = read(subnet(vec![rule("100 Allow * * * *"), other]));
    let asked = packet("10.0.0.4");
    let ruling = rules.verdict(&asked);
    assert_eq!(ruling.unresolved, ["the order of the rules of priority 100"]);
    assert_eq!((ruling.gates[0].rule, ruling.gates[0].trace.iter().count()), (None, 2));
    assert_eq!(rules.judge(&packet("8.8.8.8")), Verdict::Allow);
    assert!(rules.warnings()[0].what.contains("same priority 100"));
    assert!(rules.audit().shadowed.is_empty());
}

#[test]
fn of_two_groups_at_one_gate_nothing_says_which_one_stands_there() {
    let nic = |rules: &[&str]| group("networkInterface", rules);
    let reported = |first: &[&str], second: &[&str]| {
        let rules = read(json!([nic(first), nic(second)]));
        let asked = packet("10.0.0.4");
        let ruling = rules.verdict(&asked);
        [vec![ruling.verdict.as_str().to_owned()], ruling.unresolved].concat().join(" ")
    };
    let (allow, deny) = (&["100 Allow * * * *"], &["100 Deny * * * *"]);
    assert_eq!(reported(allow, deny), "INDETERMINATE which of the groups stands at the gate nic");
    assert_eq!((reported(allow, allow), reported(deny, deny)), ("ALLOW".to_owned(), "DENY".to_owned()));
}

#[test]
fn rules_of_the_network_manager_that_were_not_read_may_do_anything() {
    let manager = |rules: Vec<Value>| group_of(json!({"networkManager": {"id": "/m"}}), rules);
    for rules in [vec![], vec![with("1 Deny * * * *", "access", json!("?"))]] {
        for nsg in ["100 Allow * * * *", "100 Deny * * * *"] {
            let ruleset = read(json!([manager(rules.clone()), group("subnet", &[nsg])]));
            assert_eq!(ruleset.judge(&packet("10.0.0.4")), Verdict::Indeterminate, "{nsg}");
            assert!(!ruleset.reach(Direction::Inbound, None).unresolved.is_empty());
        }
    }
}

#[test]
fn a_group_that_says_nothing_of_a_direction_leaves_what_reaches_it_open() {
    let mut outbound = rule(ALLOW);
    outbound["direction"] = json!("Outbound");
    let reach = read(subnet(vec![outbound])).reach(Direction::Inbound, None);
    assert_eq!((reach.regions.len(), reach.unresolved), (0, vec!["the rules of n".to_owned()]));
}

#[test]
fn a_group_whose_rules_are_listed_twice_and_differently_was_not_read() {
    let mut twice = group("subnet", &[ALLOW]);
    twice["networkSecurityGroup"]["effectiveSecurityRules"] = json!([rule(ALLOW)]);
    assert_eq!(read(json!([twice.clone()])).judge(&packet("10.0.0.4")), Verdict::Allow);
    twice["networkSecurityGroup"]["effectiveSecurityRules"] = json!([rule("100 Deny * * * *")]);
    let rules = read(json!([twice]));
    assert_eq!((rules.judge(&packet("10.0.0.4")), rules.warnings().len()), (Verdict::Indeterminate, 1));
}

#[test]
fn an_ipv4_address_written_as_an_ipv6_one_is_the_same_address() {
    let rules = read(subnet(vec![rule("100 Deny * 10.0.0.0/8 * *"), rule(ALLOW)]));
    let asked = |from: &str, to: &str| {
        Packet::new("inbound", "tcp", from.parse().unwrap(), Some(40_000), to.parse().unwrap(), 443).unwrap()
    };
    assert_eq!(rules.judge(&asked("::ffff:10.0.0.4", "::ffff:10.0.1.4")), Verdict::Deny);
    assert_eq!(rules.judge(&asked("::ffff:10.0.0.4", "10.0.1.4")), Verdict::Deny);
    let mapped = read(subnet(vec![rule("100 Deny * ::ffff:10.0.0.0/104 * *"), rule(ALLOW)]));
    assert_eq!(mapped.judge(&packet("10.0.0.4")), Verdict::Indeterminate);
}

#[test]
fn that_no_group_stands_there_is_a_remark_and_no_warning() {
    let rules = read(json!([]));
    assert!(rules.warnings().is_empty());
    assert!(rules.remark().is_some_and(|remark| remark.contains("no network security group")));
    assert_eq!(read(json!([group("subnet", &[])])).remark(), None);
}

/// A rule of which not everything may be known: its priority and its access are enough to order it.
fn any_rule() -> impl Strategy<Value = (u32, &'static str, bool)> {
    (100u32..103, prop::sample::select(vec!["Allow", "Deny", "AlwaysAllow", "?"]), prop::bool::weighted(0.8))
}

type Rules = Vec<(u32, &'static str, bool)>;

/// Returns what a group may answer: every order of equal priorities, every meaning of what is not read.
fn may(rules: &Rules, manager: bool) -> BTreeSet<&'static str> {
    let mut answers = BTreeSet::new();
    let first = rules.iter().filter(|rule| rule.2).map(|rule| rule.0).min();
    for rule in rules.iter().filter(|rule| rule.2 && Some(rule.0) == first) {
        match rule.1 {
            "?" if manager => answers.extend(["Allow", "Deny", "AlwaysAllow"]),
            "?" => answers.extend(["Allow", "Deny"]),
            "AlwaysAllow" if !manager => answers.extend(["Allow"]),
            access => answers.extend([access]),
        }
    }
    if rules.is_empty() {
        answers.extend(["Allow", "Deny"].into_iter().chain(manager.then_some("AlwaysAllow")));
    } else if first.is_none() {
        answers.insert(if manager { "Allow" } else { "Deny" });
    }
    answers
}

proptest! {
    /// Whatever is not known, the answer is the one that all possible readings share, and the regions say the same.
    #[test]
    fn only_what_every_reading_of_the_document_says_is_certain(
        groups in proptest::collection::vec((0usize..3, proptest::collection::vec(any_rule(), 0..4)), 1..4),
    ) {
        let gates = ["networkManager", "subnet", "networkInterface"];
        let document: Vec<Value> = groups.iter().enumerate().map(|(at, (gate, rules))| {
            let side = |matches: bool| if matches { "*" } else { "10.200.0.0/16" };
            let texts: Vec<Value> = rules.iter().map(|(priority, access, matches)| {
                with(&format!("{priority} Allow * {} * *", side(*matches)), "access", json!(access))
            }).collect();
            // The same group twice would be one.
            let mut group = group_of(json!({ gates[*gate]: { "id": "/x" } }), texts);
            group["networkSecurityGroup"] = json!({"id": format!("/n{at}")});
            group
        }).collect();
        let at = |gate: usize| groups.iter().filter(move |group| group.0 == gate).map(move |group| may(&group.1, gate == 0));
        let mut before: BTreeSet<&str> = BTreeSet::from(["Allow"]);
        for answers in at(0) {
            before = before.iter().flat_map(|a| answers.iter().map(move |b| match (*a, *b) {
                ("Deny", _) | (_, "Deny") => "Deny",
                ("AlwaysAllow", _) | (_, "AlwaysAllow") => "AlwaysAllow",
                _ => "Allow",
            })).collect();
        }
        let mut verdicts = BTreeSet::new();
        let one = |gate: usize| -> BTreeSet<&str> {
            let all: BTreeSet<&str> = at(gate).flatten().collect();
            if all.is_empty() { BTreeSet::from(["Allow"]) } else { all }
        };
        for (first, second) in one(1).iter().flat_map(|a| one(2).into_iter().map(move |b| (*a, b))) {
            for manager in &before {
                let passes = *manager == "AlwaysAllow" || (*manager == "Allow" && first == "Allow" && second == "Allow");
                verdicts.insert(passes);
            }
        }
        let expected = match (verdicts.contains(&true), verdicts.contains(&false)) {
            (true, true) => Verdict::Indeterminate,
            (true, false) => Verdict::Allow,
            (false, _) => Verdict::Deny,
        };
        let rules = read(json!(document));
        prop_assert_eq!(rules.judge(&packet("10.0.0.4")), expected, "{}", json!(document));
        let mut budget = Budget::new();
        let mut holds = |view| {
            let sets: Vec<PacketSet> = rules.through(Direction::Inbound, &PacketSet::everything(), view, &mut budget).unwrap();
            let number = |text: &str| crate::net::Family::number(text.parse().unwrap());
            let mine = sets.iter().filter(|set| {
                set.family == crate::net::Family::Ipv4
                    && !set.protocols.and(Protocols::TCP).is_empty()
                    && set.source.contains(number("10.0.0.4"))
                    && set.destination.contains(number("10.0.1.4"))
            });
            mine.count()
        };
        let regions = (holds(View::Least), holds(View::Most));
        let wanted = match expected {
            Verdict::Allow => (1, 1),
            Verdict::Deny => (0, 0),
            Verdict::Indeterminate | Verdict::Skipped | Verdict::Absent => (0, 1),
        };
        prop_assert_eq!(regions, wanted, "{}", json!(document));
    }
}
