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
    let reported = found.winner.map_or_else(
        || found.result.as_str().to_owned(),
        |winner| format!("{} {} {:?}", winner.source, winner.prefix, found.reason.unwrap()),
    );
    assert_eq!(reported, expected);
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
fn an_unresolved_tag_is_reported_only_where_it_could_win() {
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
fn an_appliance_that_nobody_owns_or_that_does_not_forward_is_reported() {
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
fn a_return_path_around_the_appliance_is_reported() {
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
fn an_odd_row_is_reported_and_hides_nothing() {
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
    let reported: Vec<String> = table.warnings().iter().map(ToString::to_string).collect();
    let expected = [
        "row 1, value[0]: null is no route",
        "row 2, value[1]: 3 is no route",
        "row 3, value[2]: a route without a prefix: {\"x\":1}",
        "row 5, value[4].addressPrefix[0]: `10.300.0.0/16` is no prefix",
    ];
    for line in expected {
        assert!(reported.iter().any(|reported| reported == line), "{reported:?}");
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

#[test]
fn routes_of_users_and_gateways_do_not_apply_to_the_platforms_own_addresses() {
    let taken = [
        row("0.0.0.0/0", "User", "None"),
        row("168.63.129.16/32", "User", "VirtualAppliance"),
        row("169.254.0.0/16", "VirtualNetworkGateway", "VirtualNetworkGateway"),
        row("10.0.0.0/16", "Default", "VnetLocal"),
    ];
    for (to, code) in [("168.63.129.16", "PLATFORM_ADDRESS"), ("::ffff:169.254.169.254", "PLATFORM_ADDRESS")]
    {
        let table = table(&taken);
        let found = table.select(at(to));
        assert_eq!(found.result, Outcome::Winner);
        assert_eq!(found.winner.unwrap().source, "Default");
        assert_eq!(codes(&found), [code]);
        assert_eq!(found.shadowed.len(), 2);
    }
    check(&taken, "168.63.129.17", "User 0.0.0.0/0 LpmOnly");
    // A route of the platform is reported as it stands, and what a user's tag holds does not matter.
    let own = [
        row("0.0.0.0/0", "Default", "Internet"),
        row("Storage", "User", "None"),
        row("168.0.0.0/8", "User", "None"),
    ];
    check(&own, "168.63.129.16", "Default 0.0.0.0/0 LpmOnly");
    check(&own, "168.63.129.17", "INDETERMINATE");
}

/// What `az` prints of a route of a route table.
fn configured(prefix: &str, hop: &str) -> Value {
    json!({"addressPrefix": prefix, "hasBgpOverride": false, "name": "r", "nextHopType": hop, "provisioningState": "Succeeded",
        "id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/routeTables/t/routes/r"})
}

#[test]
fn a_route_table_alone_answers_nothing_for_certain() {
    let routes = json!([configured("0.0.0.0/0", "None"), configured("10.0.1.5/32", "Internet")]);
    let shown = json!({"name": "t", "provisioningState": "Succeeded", "routes": routes, "subnets": null});
    let empty = json!({"name": "t", "provisioningState": "Succeeded", "routes": [], "subnets": null});
    let (listed, page) = (json!([empty]), json!({"value": [empty]}));
    for document in [&routes, &shown, &empty, &listed, &page] {
        let table = Table::parse(&document.to_string(), None).unwrap();
        for to in ["10.0.1.5", "10.0.1.6", "::1"] {
            let found = table.select(at(to));
            assert_eq!((found.result, found.winner), (Outcome::Indeterminate, None), "{document} {to}");
            assert!(found.unresolved[0].contains("does not list"), "{:?}", found.unresolved);
        }
        assert!(table.warnings().iter().any(|warning| warning.what.contains("route table")));
    }
    // Several empty tables are those of nobody in particular.
    assert!(Table::parse(&json!([empty, empty]).to_string(), None).is_err());
    // What it does say is reported: the routes of users, and which of them drop packets.
    let table = Table::parse(&shown.to_string(), None).unwrap();
    assert_eq!(table.audit(None).blackhole.len(), 1);
    assert_eq!(table.select(at("10.0.1.5")).trace[0].route.prefix.to_string(), "10.0.1.5/32");
}

#[test]
fn a_prefix_that_stands_twice_in_a_row_does_not_tie_with_itself() {
    let twice = json!({"addressPrefix": ["10.0.0.0/8", "10.0.0.0/8", "10.1.0.0/8"], "source": "User", "nextHopType": "Internet", "state": "Active"});
    let read = table(&[twice, row("0.0.0.0/0", "Default", "Internet")]);
    assert_eq!(read.select(at("10.1.1.1")).result, Outcome::Winner);
    assert!(read.warnings()[0].what.contains("10.0.0.0/8` stands twice"), "{:?}", read.warnings());
    // Nor do two tags that have a prefix in common.
    let tags = Tags::parse(
        r#"[{"name":"A","properties":{"addressPrefixes":["20.0.0.0/8"]}},{"name":"B","properties":{"addressPrefixes":["20.0.0.0/8"]}}]"#,
    );
    let row = json!([{"addressPrefix": ["A", "B", "A"], "source": "User", "nextHopType": "Internet", "state": "Active"}]);
    let read = Table::parse(&row.to_string(), Some(&tags.unwrap())).unwrap();
    assert_eq!(read.select(at("20.1.1.1")).result, Outcome::Winner);
}
