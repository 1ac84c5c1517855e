//! Facts about the selection of routes.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::*;
use crate::net::{Inventory, Tags};

pub(super) fn row(prefix: &str, source: &str, hop: &str) -> Value {
    json!({"addressPrefix": [prefix], "source": source, "nextHopType": hop, "state": "Active", "nextHopIpAddress": []})
}

fn table(rows: &[Value]) -> Table {
    Table::parse(&json!({ "value": rows }).to_string(), None).unwrap()
}

pub(super) fn at(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Checks who wins and why: "source prefix reason", or the result where nobody does.
#[track_caller]
fn check(rows: &[Value], to: &str, expected: &str) {
    let table = table(rows);
    let found = table.select(at(to));
    assert_eq!(table.choose(at(to)).outcome(), found.result);
    let told = found.winner.map_or_else(
        || found.result.as_str().to_owned(),
        |winner| format!("{} {} {:?}", winner.source, winner.prefix, found.reason.unwrap()),
    );
    assert_eq!(told, expected);
}

pub(super) fn codes(selection: &Selection<'_>) -> Vec<&'static str> {
    selection.anomalies.iter().map(|anomaly| anomaly.code.as_str()).collect()
}

#[test]
fn the_longest_prefix_wins_and_then_the_source() {
    let rows = [
        row("0.0.0.0/0", "Default", "Internet"),
        row("10.0.0.0/8", "VirtualNetworkGateway", "VirtualNetworkGateway"),
        row("10.0.0.0/8", "User", "VnetLocal"),
        row("10.0.0.0/8", "Default", "None"),
    ];
    check(&rows, "10.1.1.1", "User 10.0.0.0/8 SourcePrecedence");
    check(&rows, "11.1.1.1", "Default 0.0.0.0/0 LpmOnly");
    check(&rows, "::1", "NO_ROUTE");
}

#[test]
fn a_more_specific_bgp_route_loses_to_the_network_but_a_user_route_wins() {
    let bgp = row("10.0.1.0/24", "VirtualNetworkGateway", "VirtualNetworkGateway");
    let network = row("10.0.0.0/16", "Default", "VnetLocal");
    check(&[bgp.clone(), network.clone()], "10.0.1.1", "Default 10.0.0.0/16 SystemPreferred");
    check(
        &[bgp, network, row("10.0.0.0/20", "User", "Internet")],
        "10.0.1.1",
        "User 10.0.0.0/20 SystemPreferred",
    );
}

#[test]
fn equals_are_a_tie_whatever_their_source() {
    let rows = [row("10.0.0.0/8", "X", "Internet"), row("10.0.0.0/8", "Y", "Internet")];
    let table = table(&rows);
    let found = table.select(at("10.0.0.1"));
    assert_eq!((found.result, found.tied.len(), found.winner), (Outcome::Tied, 2, None));
}

#[test]
fn an_unresolved_tag_is_told_only_where_it_could_win() {
    let rows = [
        row("Storage", "User", "Internet"),
        row("20.60.0.1/32", "User", "Internet"),
        row("0.0.0.0/0", "Default", "Internet"),
    ];
    let read = table(&rows);
    let found = read.select(at("20.60.0.2"));
    assert_eq!(
        (found.result, found.unresolved.as_slice()),
        (Outcome::Indeterminate, ["Storage".to_owned()].as_slice())
    );
    check(&rows, "20.60.0.1", "User 20.60.0.1/32 LpmOnly");
    let mut idle = rows.clone();
    idle[0]["state"] = json!("Invalid");
    check(&idle, "20.60.0.2", "Default 0.0.0.0/0 LpmOnly");
}

#[test]
fn a_resolved_tag_competes_and_loses_to_the_same_prefix_written_out() {
    let tags =
        Tags::parse(r#"{"values":[{"name":"Storage","properties":{"addressPrefixes":["20.60.0.0/16"]}}]}"#)
            .unwrap();
    let rows = json!([
        row("storage", "User", "Internet"),
        row("20.60.0.0/16", "User", "None"),
        row("0.0.0.0/0", "Default", "Internet")
    ]);
    let table = Table::parse(&rows.to_string(), Some(&tags)).unwrap();
    let found = table.select(at("20.60.0.2"));
    assert_eq!((found.reason, codes(&found)), (Some(Reason::ExplicitPrefix), vec!["BLACKHOLE"]));
    let rows = json!([row("storage", "User", "Internet"), row("0.0.0.0/0", "Default", "Internet")]);
    let table = Table::parse(&rows.to_string(), Some(&tags)).unwrap();
    let found = table.select(at("20.60.0.2"));
    assert_eq!(found.winner.unwrap().tag, Some("storage"));
}

#[test]
fn an_appliance_that_nobody_owns_or_that_does_not_forward_is_told() {
    let inventory = Inventory::parse(
        r#"[{"name":"fw","enableIPForwarding":false,"ipConfigurations":[{"privateIPAddress":"10.0.0.4"}]}]"#,
    )
    .unwrap();
    let mut rows = [row("0.0.0.0/0", "User", "VirtualAppliance")];
    rows[0]["nextHopIpAddress"] = json!(["10.0.0.4", "10.0.0.5"]);
    let table = table(&rows);
    let found = table.select_knowing(at("8.8.8.8"), Some(&inventory));
    assert_eq!(codes(&found), ["NVA", "NVA_NO_FORWARDING", "NVA_UNKNOWN", "DEFAULT_TAKEN_OVER"]);
}

#[test]
fn a_way_back_around_the_appliance_is_told() {
    let (to, from): (IpAddr, IpAddr) = ("10.1.0.4".parse().unwrap(), "10.0.0.4".parse().unwrap());
    let mut through = row("10.1.0.0/16", "User", "VirtualAppliance");
    through["nextHopIpAddress"] = json!("10.0.9.4");
    let there = table(&[through.clone()]);
    let mut found = there.select(to);
    there.compare_return(&mut found, to, &table(&[row("10.0.0.0/16", "Default", "VNetPeering")]), from);
    assert_eq!(codes(&found), ["NVA", "ASYMMETRIC_RETURN"]);
    through["addressPrefix"] = json!("10.0.0.0/16");
    let mut found = there.select(to);
    there.compare_return(&mut found, to, &table(&[through]), from);
    assert_eq!(codes(&found), ["NVA"]);
}

#[test]
fn an_odd_row_is_told_and_hides_nothing() {
    let rows = [
        Value::Null,
        json!(3),
        json!({"x": 1}),
        json!("x"),
        row("10.300.0.0/16", "User", "None"),
        row("10.0.0.0/8", "Default", "None"),
    ];
    let table = table(&rows);
    assert_eq!(table.select(at("10.0.0.1")).result, Outcome::Winner);
    let told: Vec<String> = table.warnings().iter().map(ToString::to_string).collect();
    let expected = [
        "row 1, value[0]: null is no route",
        "row 2, value[1]: 3 is no route",
        "row 3, value[2]: a route without a prefix: {\"x\":1}",
        "row 5, value[4].addressPrefix[0]: `10.300.0.0/16` is no prefix",
    ];
    for line in expected {
        assert!(told.iter().any(|told| told == line), "{told:?}");
    }
}

#[test]
fn a_route_without_a_state_does_not_compete() {
    let text = r#"[{"addressPrefix":"10.0.0.0/8","nextHopType":"VnetLocal","source":"Default"}]"#;
    let table = Table::parse(text, None).unwrap();
    let found = table.select(at("10.0.0.1"));
    assert_eq!((found.result, found.warnings.len()), (Outcome::NoRoute, 1));
}

#[test]
fn a_table_of_which_nothing_can_be_read_is_an_error() {
    for text in
        ["", "[]", "{}", "null", "[null]", r#"{"value":[{"addressPrefix":["x y"]}]}"#, &"[".repeat(9999)]
    {
        assert!(Table::parse(text, None).is_err(), "{text:.40}");
    }
}

#[test]
fn bgp_below_the_network_is_listed_as_unused() {
    let rows = [
        row("10.0.0.0/16", "Default", "VnetLocal"),
        row("10.0.1.0/24", "VirtualNetworkGateway", "VirtualNetworkGateway"),
    ];
    let table = table(&rows);
    let audit = table.audit(None);
    assert_eq!((audit.route_count, audit.bgp.len(), audit.unused_bgp.len()), (2, 1, 1));
    assert!(!audit.default_route.present);
}

#[test]
fn an_audit_names_the_row_and_what_carries_its_packets_instead() {
    let mut gone = row("10.0.5.0/24", "User", "VirtualAppliance");
    gone["state"] = json!("Invalid");
    let halves = [row("0.0.0.0/1", "User", "None"), row("128.0.0.0/1", "User", "Internet")];
    let rows = [vec![row("10.0.0.0/16", "Default", "VnetLocal"), gone], halves.to_vec()].concat();
    let table = table(&rows);
    let found: Vec<_> = table
        .audit(None)
        .findings
        .into_iter()
        .map(|found| (found.code.as_str(), found.row, found.detail))
        .collect();
    let codes: Vec<_> = found.iter().map(|(code, row, _)| (*code, *row)).collect();
    assert_eq!(
        codes,
        [("BLACKHOLE", 3), ("INVALID_SHADOW", 2), ("DEFAULT_TAKEN_OVER", 3), ("DEFAULT_TAKEN_OVER", 4)]
    );
    assert!(
        found[1].2.ends_with("is Invalid; 10.0.5.0 goes by Default 10.0.0.0/16 → VnetLocal"),
        "{found:?}"
    );
}
