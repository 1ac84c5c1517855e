//! Facts about verdicts, audits and regions.

use serde_json::{Value, json};

use super::*;
use crate::net::{Inventory, Tags};

/// Writes a rule: "priority Access Protocol source destination ports".
pub(super) fn rule(text: &str) -> Value {
    let words: Vec<&str> = text.split(' ').collect();
    let [priority, access, protocol, source, destination, ports] = words[..] else { panic!("{text}") };
    json!({
        "name": format!("r{priority}"), "priority": priority.parse::<u32>().unwrap(), "direction": "Inbound", "access": access,
        "protocol": protocol, "sourceAddressPrefix": source, "destinationAddressPrefix": destination,
        "sourcePortRange": "*", "destinationPortRange": ports,
    })
}

pub(super) fn group(gate: &str, rules: &[&str]) -> Value {
    let association = json!({ gate: { "id": "/x" } });
    group_of(association, rules.iter().map(|text| rule(text)).collect())
}

pub(super) fn group_of(association: Value, rules: Vec<Value>) -> Value {
    json!({"networkSecurityGroup": {"id": "/x/n"}, "association": association, "effectiveSecurityRules": rules})
}

pub(super) fn read(groups: Value) -> Ruleset {
    Ruleset::parse(&json!({ "value": groups }).to_string(), Knowledge::default()).unwrap()
}

fn packet(from: &str, port: u16) -> Packet {
    Packet::new("inbound", "tcp", from.parse().unwrap(), Some(40_000), "10.0.1.4".parse().unwrap(), port)
        .unwrap()
}

/// Checks an answer and what it depends on.
#[track_caller]
fn check(groups: Value, from: &str, port: u16, expected: &str) {
    let (rules, packet) = (read(groups), packet(from, port));
    let ruling = rules.verdict(&packet);
    assert_eq!(rules.judge(&packet), ruling.verdict);
    let reported = [vec![ruling.verdict.as_str().to_owned()], ruling.unresolved].concat().join(" ");
    assert_eq!(reported, expected);
}

#[test]
fn the_first_match_by_priority_decides_at_each_gate_and_a_deny_at_either_is_final() {
    let both =
        |subnet: &[&str], nic: &[&str]| json!([group("networkInterface", nic), group("subnet", subnet)]);
    check(
        both(&["200 Deny * * * *", "100 Allow Tcp * * 443"], &["100 Allow * * * *"]),
        "10.0.0.4",
        443,
        "ALLOW",
    );
    check(both(&["100 Allow * * * *"], &["100 Deny * * * *"]), "10.0.0.4", 443, "DENY");
    let (rules, packet) = (read(both(&["100 Deny * * * *"], &["100 Deny * * * *"])), packet("10.0.0.4", 1));
    let ruling = rules.verdict(&packet);
    assert_eq!(ruling.decisive.unwrap().gate, Gate::Subnet);
}

#[test]
fn no_group_is_no_restriction_but_an_empty_one_was_not_read() {
    check(json!([]), "10.0.0.4", 443, "ALLOW");
    check(json!([group("subnet", &[])]), "10.0.0.4", 443, "INDETERMINATE the rules of n");
}

#[test]
fn a_group_that_is_listed_twice_at_one_gate_is_one() {
    let nic = |rules: &[&str]| group("networkInterface", rules);
    let (full, empty) = (nic(&["100 Deny * * * 22", "200 Allow * * * *"]), nic(&[]));
    for twice in [json!([full, empty]), json!([empty, full]), json!([full, full])] {
        check(twice.clone(), "10.0.0.4", 443, "ALLOW");
        check(twice, "10.0.0.4", 22, "DENY");
    }
    let mut other = empty;
    other["networkSecurityGroup"]["id"] = json!("/nsg/other");
    let said = "INDETERMINATE the rules of other which of the groups stands at the gate nic";
    check(json!([full, other]), "10.0.0.4", 443, said);
}

#[test]
fn a_tag_matters_only_where_it_changes_the_answer() {
    let one = |rules: &[&str]| json!([group("subnet", rules)]);
    check(
        one(&["100 Deny * Storage * *", "200 Allow * * * *"]),
        "8.8.8.8",
        443,
        "INDETERMINATE source Storage",
    );
    check(one(&["100 Allow * Storage * *", "200 Allow * * * *"]), "8.8.8.8", 443, "ALLOW");
    check(one(&["100 Deny * Storage * 22", "200 Allow * * * *"]), "8.8.8.8", 443, "ALLOW");
    // What the tag stands for, it stands for in every rule.
    check(
        one(&["100 Allow * Storage * *", "150 Deny * Storage * *", "200 Allow * * * *"]),
        "8.8.8.8",
        443,
        "ALLOW",
    );
}

#[test]
fn source_ports_that_are_not_known_are_followed_exactly() {
    let deny = |priority: u32, ports: &str| {
        let mut rule = rule(&format!("{priority} Deny Tcp * * *"));
        rule["sourcePortRange"] = json!(ports);
        rule
    };
    let subnet = json!({"subnet": {"id": "/s"}});
    let mut asked = packet("10.0.0.4", 443);
    asked.source_port = None;
    let all = read(json!([group_of(
        subnet.clone(),
        vec![deny(100, "0-1000"), deny(110, "1001-65535"), rule("200 Allow * * * *")]
    )]));
    assert_eq!(all.judge(&asked), Verdict::Deny);
    let some = read(json!([group_of(subnet, vec![deny(100, "0-1000"), rule("200 Allow * * * *")])]));
    assert_eq!(some.verdict(&asked).unresolved, ["the source port"]);
}

#[test]
fn a_rule_that_cannot_be_read_may_do_anything_and_is_reported() {
    let subnet = json!({"subnet": {"id": "/s"}});
    for odd in [json!({"name": "odd"}), json!(null), json!(7)] {
        let ruleset = read(json!([group_of(subnet.clone(), vec![rule("100 Allow * * * *"), odd])]));
        let packet = packet("10.0.0.4", 443);
        let ruling = ruleset.verdict(&packet);
        assert_eq!(ruling.verdict, Verdict::Indeterminate);
        assert!(!ruling.warnings.is_empty());
        let from_any_port = Packet { source_port: None, ..packet };
        assert_eq!(ruleset.judge(&from_any_port), Verdict::Indeterminate);
    }
}

#[test]
fn source_ports_that_were_not_read_may_be_any() {
    let subnet = json!({"subnet": {"id": "/s"}});
    let asked = Packet { source_port: None, ..packet("10.0.0.4", 443) };
    for ports in [json!(null), json!("all"), json!(["0-1000", {"value": ["*"]}])] {
        let mut odd = rule("100 Allow Tcp * * 443");
        odd["sourcePortRange"] = ports;
        let ruleset = read(json!([group_of(subnet.clone(), vec![odd, rule("200 Deny * * * *")])]));
        assert_eq!(ruleset.judge(&asked), Verdict::Indeterminate);
    }
    let same = |ports: serde_json::Value| {
        let mut odd = rule("100 Allow Tcp * * 443");
        odd["sourcePortRange"] = ports;
        read(json!([group_of(subnet.clone(), vec![odd, rule("200 Allow * * * *")])])).judge(&asked)
    };
    assert_eq!(same(json!("all")), Verdict::Allow);
    assert_eq!(same(json!(["*", "all"])), Verdict::Allow);
}

#[test]
fn an_entry_that_cannot_be_placed_denies_and_never_allows() {
    let nowhere = |rules: &[&str]| json!([group("other", rules)]);
    check(nowhere(&["100 Deny * * * *"]), "10.0.0.4", 443, "DENY");
    check(nowhere(&["100 Allow * * * *"]), "10.0.0.4", 443, "INDETERMINATE the gate of n");
}

#[test]
fn rules_of_the_network_manager_come_first() {
    let before =
        |first: &str| json!([group("networkManager", &[first]), group("subnet", &["100 Deny * * * *"])]);
    check(before("1 AlwaysAllow Tcp * * 443"), "10.0.0.4", 443, "ALLOW");
    check(before("1 AlwaysAllow Tcp * * 443"), "10.0.0.4", 22, "DENY");
    check(before("1 Allow * * * *"), "10.0.0.4", 443, "DENY");
    check(json!([group("networkManager", &["1 Deny * * * *"])]), "10.0.0.4", 443, "DENY");
    let (rules, asked) = (read(before("1 AlwaysAllow Tcp * * 443")), packet("10.0.0.4", 443));
    let reported: Vec<_> =
        rules.verdict(&asked).gates.iter().map(|gate| (gate.verdict.as_str(), gate.rule)).collect();
    assert_eq!(reported, [("ALLOW", Some("r1")), ("SKIPPED", None), ("ABSENT", None)]);
}

#[test]
fn an_application_security_group_is_decided_for_known_interfaces_only() {
    let nics = r#"[{"name":"a","ipConfigurations":[{"privateIPAddress":"10.0.0.4","applicationSecurityGroups":[{"id":"/x/web"}]},
        {"privateIPAddress":"10.0.0.5"}]}]"#;
    let inventory = Inventory::parse(nics).unwrap();
    let mut open = rule("100 Deny * * * *");
    open.as_object_mut().unwrap().remove("sourceAddressPrefix");
    open["sourceApplicationSecurityGroups"] = json!([{"id": "/x/web"}]);
    let groups = json!([group_of(json!({"subnet": {}}), vec![open, rule("200 Allow * * * *")])]);
    let known = Knowledge { inventory: Some(&inventory), tags: None };
    let rules = Ruleset::parse(&groups.to_string(), known).unwrap();
    let answers = ["10.0.0.4", "10.0.0.5", "10.0.0.6"].map(|from| rules.judge(&packet(from, 443)));
    assert_eq!(answers, [Verdict::Deny, Verdict::Allow, Verdict::Indeterminate]);
}

#[test]
fn a_tag_file_resolves_tags() {
    let tags =
        Tags::parse(r#"{"values":[{"name":"Storage","properties":{"addressPrefixes":["20.60.0.0/16"]}}]}"#)
            .unwrap();
    let groups = json!([group("subnet", &["100 Deny * storage * *", "200 Allow * * * *"])]).to_string();
    let rules = Ruleset::parse(&groups, Knowledge { tags: Some(&tags), inventory: None }).unwrap();
    assert_eq!(
        ["20.60.1.1", "20.61.1.1"].map(|from| rules.judge(&packet(from, 443))),
        [Verdict::Deny, Verdict::Allow]
    );
}

#[test]
fn several_rules_together_hide_one() {
    let audit = read(json!([group(
        "subnet",
        &[
            "100 Deny * 0.0.0.0/1 * *",
            "110 Allow * 128.0.0.0/1 * 0-1000",
            "120 Allow * 9.0.0.0/8,200.0.0.0/8 * 443",
            "130 Allow * * * 22"
        ]
    )]))
    .audit();
    let reported: Vec<_> = audit
        .shadowed
        .iter()
        .map(|found| (found.rule.rule.as_str(), found.by.join(" "), found.redundant))
        .collect();
    assert_eq!(reported, [("r120", "r100 r110".to_owned(), false)]);
    // IPv6 still gets through to 22.
    assert_eq!(audit.exposed.len(), 1);
}

#[test]
fn an_unresolved_tag_is_hidden_by_itself_and_by_everything_but_not_by_prefixes() {
    let hidden = |first: &str| {
        read(json!([group("subnet", &[first, "200 Allow Tcp Storage * 443"])])).audit().shadowed.len()
    };
    assert_eq!(hidden("100 Deny * storage * *"), 1);
    assert_eq!(hidden("100 Deny * * * *"), 1);
    assert_eq!(hidden("100 Deny * 20.0.0.0/8 * *"), 0);
}

#[test]
fn what_one_gate_allows_and_the_other_drops_is_a_contradiction() {
    let audit = read(json!([
        group("subnet", &["100 Allow Tcp * * 22"]),
        group("networkInterface", &["100 Deny * * * 22", "110 Allow * * * *"])
    ]))
    .audit();
    let names: Vec<_> = audit
        .contradictory
        .iter()
        .map(|found| {
            let by: Vec<_> = found.dropped_by.iter().map(|rule| rule.rule.as_str()).collect();
            (found.rule.gate, found.rule.rule.as_str(), by)
        })
        .collect();
    // And of what the interface allows, the subnet lets nothing through.
    assert_eq!(names, [(Gate::Subnet, "r100", vec!["r100"]), (Gate::Nic, "r110", vec![])]);
    assert!(!audit.exposed[0].through);
    assert_eq!(audit.permissive.len(), 1);
}

#[test]
fn regions_are_reported_as_prefixes_and_ports() {
    let reach =
        read(json!([group("subnet", &["100 Deny Tcp 10.0.0.0/9 * 22", "110 Allow Tcp 10.0.0.0/8 * 20-25"])]))
            .reach(Direction::Inbound, Some("10.0.1.4".parse().unwrap()));
    let reported: Vec<_> = reach
        .regions
        .iter()
        .map(|region| (region.source.join(","), region.destination_ports.join(",")))
        .collect();
    assert_eq!(
        reported,
        [("10.0.0.0/8".to_owned(), "20-21,23-25".to_owned()), ("10.128.0.0/9".to_owned(), "22".to_owned())]
    );
    assert!(reach.unresolved.is_empty());
}

#[test]
fn another_document_is_an_error() {
    for text in ["", "null", "7", "{", r#"{"error":{"code":"AuthorizationFailed"}}"#, &"[".repeat(9999)] {
        assert!(Ruleset::parse(text, Knowledge::default()).is_err(), "{text:.40}");
    }
}

/// A question about what leaves a machine.
fn leaving(to: &str, port: u16) -> Packet {
    Packet::new("outbound", "udp", "10.0.1.4".parse().unwrap(), Some(40_000), to.parse().unwrap(), port)
        .unwrap()
}

fn outbound(text: &str) -> Value {
    let mut rule = rule(text);
    rule["direction"] = json!("Outbound");
    rule
}

#[test]
fn outbound_rules_apply_to_the_platforms_own_addresses_only_where_they_name_its_tags() {
    let rules = |texts: &[&str]| {
        let rules = texts.iter().map(|text| outbound(text)).collect();
        read(json!([group_of(json!({"subnet": {"id": "/s"}}), rules)]))
    };
    let reported = |texts: &[&str], to: &str| {
        let (rules, packet) = (rules(texts), leaving(to, 53));
        let verdict = rules.verdict(&packet).verdict;
        assert_eq!(rules.judge(&packet), verdict);
        // Regions say the same as the verdict of the packet.
        let reach = rules.reach(Direction::Outbound, Some(packet.destination));
        let passes = |regions: &[Region]| {
            regions.iter().any(|region| {
                region.protocols.iter().any(|name| matches!(*name, "udp" | "any"))
                    && region.destination_ports.iter().any(|port| {
                        port == "any" || port == "53" || port.starts_with("0-") || port.ends_with("-65535")
                    })
            })
        };
        assert_eq!(passes(&reach.regions), verdict == Verdict::Allow, "{texts:?} {to}: {:?}", reach.regions);
        verdict.as_str()
    };
    for deny in [
        "100 Deny * * * *",
        "100 Deny * * Internet 53",
        "100 Deny Udp * 168.63.129.16/32 53",
        "100 Deny * * Storage *",
    ] {
        assert_eq!(reported(&[deny], "168.63.129.16"), "ALLOW", "{deny}");
        assert_eq!(reported(&[deny], "169.254.169.254"), "ALLOW", "{deny}");
    }
    assert_eq!(reported(&["100 Deny * * * *"], "168.63.129.17"), "DENY");
    let named = ["90 Allow * * * *", "100 Deny * * AzurePlatformDNS *"];
    // What stands before it does not apply, so that nothing shadows it.
    assert_eq!(reported(&named, "168.63.129.16"), "DENY");
    assert_eq!(reported(&named, "169.254.169.254"), "ALLOW");
    assert!(rules(&named).audit().shadowed.is_empty());
    assert_eq!(reported(&["100 Deny Tcp * azureplatformdns *"], "168.63.129.16"), "ALLOW");
    assert_eq!(reported(&["100 Deny * * AzurePlatformIMDS *"], "169.254.169.254"), "DENY");
    let ruling = rules(&["100 Deny * * * *"]);
    assert!(ruling.verdict(&leaving("168.63.129.16", 53)).remark.unwrap().contains("AzurePlatformDNS"));
}

#[test]
fn a_probe_from_the_platforms_own_address_meets_inbound_rules() {
    check(json!([group("subnet", &["100 Deny * * * *"])]), "168.63.129.16", 80, "DENY");
}

/// A security group as `az network nsg show` prints it.
fn shown(subnets: Value, nics: Value, rules: Vec<Value>, defaults: Vec<Value>) -> Value {
    json!({"name": "n", "securityRules": rules, "defaultSecurityRules": defaults, "subnets": subnets, "networkInterfaces": nics})
}

#[test]
fn rules_as_they_are_configured_deny_for_certain_and_allow_nothing_for_certain() {
    let answer = |document: &Value, from: &str, port: u16| {
        let rules = Ruleset::parse(&document.to_string(), Knowledge::default()).unwrap();
        let packet = packet(from, port);
        let verdict = rules.verdict(&packet).verdict.as_str();
        (verdict, rules.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    let custom = vec![rule("100 Allow Tcp * * 22"), rule("200 Deny Tcp 10.9.0.0/16 * 443")];
    let list = json!(custom);
    let (verdict, warnings) = answer(&list, "10.0.0.4", 443);
    assert_eq!(verdict, "INDETERMINATE");
    assert!(
        warnings.contains("AllowVnetInBound, AllowAzureLoadBalancerInBound, DenyAllInBound are added"),
        "{warnings}"
    );
    assert_eq!(answer(&list, "10.9.0.4", 443).0, "DENY");
    assert_eq!(answer(&list, "10.0.0.4", 22).0, "INDETERMINATE");
    // With the platform's own rules in it, as `--include-default` prints them, none are added.
    let mut deny = rule("65500 Deny * * * *");
    deny["name"] = json!("DenyAllInBound");
    let mut whole = custom.clone();
    whole.extend([deny.clone(), outbound("65500 Deny * * * *")]);
    let (verdict, warnings) = answer(&json!(whole), "10.0.0.4", 443);
    assert_eq!((verdict, warnings.contains("are added")), ("DENY", false));
    // One group of `nsg show`, or of `nsg list`; where it stands is reported, what stands at the other gate is not.
    let one = json!([{"id": "/x"}]);
    for (subnets, nics) in
        [(one.clone(), json!(null)), (json!([]), one.clone()), (one.clone(), one), (json!(null), json!(null))]
    {
        let show = shown(subnets, nics, custom.clone(), vec![deny.clone()]);
        for document in [show.clone(), json!([show])] {
            assert_eq!(answer(&document, "10.0.0.4", 443).0, "DENY");
            assert_eq!(answer(&document, "10.0.0.4", 22).0, "INDETERMINATE");
            assert!(answer(&document, "10.0.0.4", 22).1.contains("as it is configured"));
        }
    }
}
