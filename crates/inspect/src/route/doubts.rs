//! What is not read, not resolved or ambiguous never makes an answer certain.

use std::net::IpAddr;

use serde_json::json;

use super::tests::{at, codes, row};
use super::*;
use crate::net::{Inventory, Tags};

fn tags(prefixes: &str) -> Tags {
    let text = format!(r#"[{{"name":"Storage","properties":{{"addressPrefixes":[{prefixes}]}}}}]"#);
    Tags::parse(&text).unwrap()
}

#[test]
fn a_tag_that_was_partly_read_may_hold_any_other_address() {
    let rows = json!([row("Storage", "User", "None"), row("0.0.0.0/0", "Default", "Internet")]);
    let reported = |prefixes: &str, to: &str| {
        let table = Table::parse(&rows.to_string(), Some(&tags(prefixes))).unwrap();
        let found = table.select(at(to));
        assert_eq!(table.choose(at(to)).outcome(), found.result);
        (found.result, found.unresolved)
    };
    let odd = r#""20.60.0.0/16","1.2.3.0-1.2.3.255""#;
    assert_eq!(reported(odd, "1.2.3.4"), (Outcome::Indeterminate, vec!["Storage".to_owned()]));
    // The same row carries it, whatever else the tag stands for.
    assert_eq!(reported(odd, "20.60.1.1"), (Outcome::Winner, vec![]));
    assert_eq!(reported(r#""20.60.0.0/16""#, "1.2.3.4"), (Outcome::Winner, vec![]));
    let table = Table::parse(&rows.to_string(), Some(&tags(odd))).unwrap();
    assert_eq!(table.audit(None).unresolved, ["Storage"]);
}

#[test]
fn an_appliance_whose_address_several_interfaces_have_is_reported_as_ambiguous() {
    let mut through = row("0.0.0.0/0", "User", "VirtualAppliance");
    through["nextHopIpAddress"] = json!(["10.0.0.4"]);
    let table = Table::parse(&json!([through]).to_string(), None).unwrap();
    let reported = |first: bool, second: bool| {
        let nic = |id: &str, forwards: bool| json!({"id": id, "enableIPForwarding": forwards, "ipConfigurations": [{"privateIPAddress": "10.0.0.4"}]});
        let nics = json!([nic("/dev/fw", first), nic("/prod/fw", second)]).to_string();
        let inventory = Inventory::parse(&nics).unwrap();
        codes(&table.select_knowing(at("8.8.8.8"), Some(&inventory)))
    };
    assert_eq!(reported(false, true), ["NVA", "NVA_AMBIGUOUS", "DEFAULT_TAKEN_OVER"]);
    assert_eq!(reported(true, true), ["NVA", "NVA_AMBIGUOUS", "DEFAULT_TAKEN_OVER"]);
    assert_eq!(reported(false, false), ["NVA", "NVA_NO_FORWARDING", "DEFAULT_TAKEN_OVER"]);
}

#[test]
fn a_return_path_that_is_missing_or_not_decided_is_reported() {
    let (to, from): (IpAddr, IpAddr) = (at("10.1.0.4"), at("10.0.0.4"));
    let read = |rows: serde_json::Value| Table::parse(&rows.to_string(), None).unwrap();
    let local = || row("10.0.0.0/8", "Default", "VnetLocal");
    let there = read(json!([local()]));
    let reported = |back: &Table| {
        let mut found = there.select(to);
        there.compare_return(&mut found, to, back, from);
        (codes(&found), found.result, found.unresolved)
    };
    let nothing = read(json!([row("10.9.0.0/16", "Default", "VnetLocal")]));
    assert_eq!(reported(&nothing), (vec!["NO_RETURN"], Outcome::Winner, vec![]));
    let open = read(json!([row("10.0.0.0/16", "Default", "None"), row("Storage", "User", "Internet")]));
    let names = vec!["Storage (of the return table)".to_owned()];
    assert_eq!(reported(&open), (vec![], Outcome::Winner, names));
    assert_eq!(reported(&read(json!([local()]))), (vec![], Outcome::Winner, vec![]));
}

#[test]
fn a_table_that_is_not_all_there_or_contradicts_itself_is_refused() {
    let one = row("10.0.0.0/8", "Default", "VnetLocal");
    let page = json!({"value": [one], "nextLink": "https://next"}).to_string();
    let twice = json!([one]).to_string().replace("\"state\"", "\"state\":\"Invalid\",\"state\"");
    for text in [page, twice] {
        assert!(matches!(Table::parse(&text, None), Err(Error::Document(_))), "{text}");
    }
}

#[test]
fn what_an_audit_says_of_an_invalid_route_depends_on_a_tag_that_is_not_resolved() {
    let mut gone = row("10.0.5.0/24", "User", "None");
    gone["state"] = json!("Invalid");
    let rows = json!([gone, row("10.0.0.0/16", "Default", "VnetLocal"), row("Storage", "User", "None")]);
    let table = Table::parse(&rows.to_string(), None).unwrap();
    let audit = table.audit(None);
    assert!(audit.findings[0].detail.ends_with("unless a service tag that is not resolved does"));
}

#[test]
fn an_appliance_without_an_address_is_a_warning() {
    let rows = json!([row("0.0.0.0/0", "User", "VirtualAppliance")]);
    let table = Table::parse(&rows.to_string(), None).unwrap();
    assert!(table.warnings()[0].what.contains("has no address"));
}

#[test]
fn an_ipv4_address_written_as_an_ipv6_one_is_the_same_address() {
    let rows = json!([row("10.0.0.0/8", "User", "None"), row("::/0", "Default", "Internet")]);
    let table = Table::parse(&rows.to_string(), None).unwrap();
    assert_eq!(codes(&table.select(at("::ffff:10.0.0.1"))), ["BLACKHOLE"]);
}
