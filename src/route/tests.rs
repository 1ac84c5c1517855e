//! Facts about the selection of routes.

use std::net::IpAddr;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::net::{Inventory, Tags};

fn row(prefix: &str, source: &str, hop: &str) -> Value {
    json!({"addressPrefix": [prefix], "source": source, "nextHopType": hop, "state": "Active", "nextHopIpAddress": []})
}

fn table(rows: &[Value]) -> Table {
    Table::parse(&json!({ "value": rows }).to_string(), None).unwrap()
}

fn select(rows: &[Value], to: &str) -> Selection {
    table(rows).select(to.parse().unwrap())
}

/// Checks who wins and why: "source prefix reason", or the result where nobody does.
#[track_caller]
fn check(rows: &[Value], to: &str, expected: &str) {
    let found = select(rows, to);
    let told = found.winner.map_or_else(
        || found.result.as_str().to_owned(),
        |winner| format!("{} {} {:?}", winner.source, winner.prefix, found.reason.unwrap()),
    );
    assert_eq!(told, expected);
}

fn codes(selection: &Selection) -> Vec<&'static str> {
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
    let found = select(&rows, "10.0.0.1");
    assert_eq!((found.result, found.tied.len(), found.winner), (Outcome::Tied, 2, None));
}

#[test]
fn an_unresolved_tag_is_told_only_where_it_could_win() {
    let rows = [
        row("Storage", "User", "Internet"),
        row("20.60.0.1/32", "User", "Internet"),
        row("0.0.0.0/0", "Default", "Internet"),
    ];
    let found = select(&rows, "20.60.0.2");
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
    let found = Table::parse(&rows.to_string(), Some(&tags)).unwrap().select("20.60.0.2".parse().unwrap());
    assert_eq!((found.reason, codes(&found)), (Some(Reason::ExplicitPrefix), vec!["BLACKHOLE"]));
    let rows = json!([row("storage", "User", "Internet"), row("0.0.0.0/0", "Default", "Internet")]);
    let found = Table::parse(&rows.to_string(), Some(&tags)).unwrap().select("20.60.0.2".parse().unwrap());
    assert_eq!(found.winner.unwrap().tag.as_deref(), Some("storage"));
}

#[test]
fn an_appliance_that_nobody_owns_or_that_does_not_forward_is_told() {
    let inventory = Inventory::parse(
        r#"[{"name":"fw","enableIPForwarding":false,"ipConfigurations":[{"privateIPAddress":"10.0.0.4"}]}]"#,
    )
    .unwrap();
    let mut rows = [row("0.0.0.0/0", "User", "VirtualAppliance")];
    rows[0]["nextHopIpAddress"] = json!(["10.0.0.4", "10.0.0.5"]);
    let found = table(&rows).select_knowing("8.8.8.8".parse().unwrap(), Some(&inventory));
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
    let found = select(&rows, "10.0.0.1");
    assert_eq!(found.result, Outcome::Winner);
    assert!(
        found.warnings.iter().any(|warning| warning.to_string() == "row 5: `10.300.0.0/16` is no prefix")
    );
    assert!(found.warnings.len() >= 5);
}

#[test]
fn a_route_without_a_state_does_not_compete() {
    let text = r#"[{"addressPrefix":"10.0.0.0/8","nextHopType":"VnetLocal","source":"Default"}]"#;
    let found = Table::parse(text, None).unwrap().select("10.0.0.1".parse().unwrap());
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
    let audit = table(&rows).audit(None);
    assert_eq!((audit.route_count, audit.bgp.len(), audit.unused_bgp.len()), (2, 1, 1));
    assert!(!audit.default_route.present);
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        drop(Table::parse(&text, None));
    }

    #[test]
    fn a_cut_table_is_an_error_or_an_answer(at in 0usize..400) {
        let rows = json!({"value": [row("10.0.0.0/16", "Default", "VnetLocal"), row("Storage", "User", "None")]}).to_string();
        let cut = rows.get(..at.min(rows.len())).unwrap();
        prop_assert_eq!(Table::parse(cut, None).is_ok(), cut.len() == rows.len());
    }

    /// The index finds what looking at every row finds.
    #[test]
    fn the_index_agrees_with_a_slow_search(
        prefixes in proptest::collection::vec((0u8..4, 0u8..8, 0u8..=16), 1..40), at in (0u8..4, 0u8..8),
    ) {
        let rows: Vec<_> = prefixes.iter().map(|(a, b, length)| row(&format!("{a}.{b}.0.0/{length}"), "User", "Internet")).collect();
        let table = table(&rows);
        let address: IpAddr = format!("{}.{}.0.1", at.0, at.1).parse().unwrap();
        let mut slow: Vec<_> = table.routes().iter().filter(|route| route.prefix.contains(&address)).collect();
        slow.sort_by_key(|route| std::cmp::Reverse(route.prefix.prefix_len()));
        prop_assert_eq!(table.containing(address).collect::<Vec<_>>(), slow);
    }
}
