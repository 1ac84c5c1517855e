//! Facts about what is a change, and what was not read.

use serde_json::{Value, json};

use super::*;

/// Returns the status, and every change as kind, category and key.
fn summary(found: &Comparison) -> (Status, Vec<String>) {
    let change = |change: &Change| format!("{:?} {} {}", change.kind, change.category.as_str(), change.key);
    (found.status, found.changes.iter().map(change).collect())
}

/// Changes one place of the plain bundle and checks the answer.
#[track_caller]
fn check(at: &str, to: Value, status: Status, changes: &[&str]) -> Comparison {
    let mut changed = plain();
    *changed.pointer_mut(at).unwrap() = to;
    let found = compare(&plain(), &changed);
    assert_eq!(
        summary(&found),
        (status, changes.iter().map(|text| (*text).to_owned()).collect()),
        "{found:?}"
    );
    found
}

const ROUTES: &str = "/nics/0/routes/value";
const APP_A: &str = "/nics/0/nsg/value/0/effectiveSecurityRules/0";
const APP_KEY: &str =
    "Changed security_rule_change rule/subnet/inbound/own/resourcegroups/rg/networksecuritygroups/app/a";

#[test]
fn every_field_of_a_rule_counts_and_is_named() {
    for (field, to, name) in [
        ("priority", json!(150), "priority"),
        ("access", json!("Deny"), "access"),
        ("protocol", json!("Udp"), "protocol"),
        ("sourcePortRange", json!("1024-65535"), "source_ports"),
        ("sourceAddressPrefix", json!("10.0.0.0/8"), "source"),
        ("destinationPortRange", json!("22"), "destination_ports"),
        ("destinationAddressPrefix", json!("10.0.0.4"), "destination"),
    ] {
        let found = check(&format!("{APP_A}/{field}"), to, Status::Drift, &[APP_KEY]);
        assert_eq!(found.changes.first().unwrap().fields, [name]);
    }
}

#[test]
fn another_spelling_of_the_same_rule_is_no_change() {
    for (field, to) in [
        ("access", json!("allow")),
        ("protocol", json!("6")),
        ("priority", json!("100")),
        ("sourcePortRange", json!("*")),
        ("destinationPortRange", json!("443-443")),
        ("name", json!("A")),
    ] {
        check(&format!("{APP_A}/{field}"), to, Status::Clean, &[]);
    }
    let mut plural = plain();
    let rule = plural.pointer_mut(APP_A).unwrap().as_object_mut().unwrap();
    rule.insert("destinationPortRanges".into(), json!(["443"]));
    rule.insert("destinationPortRange".into(), Value::Null);
    rule.insert("sourceAddressPrefix".into(), Value::Null);
    rule.insert("expandedSourceAddressPrefix".into(), json!(["*"]));
    assert_eq!(compare(&plain(), &plural).status, Status::Clean);
}

#[test]
fn a_rule_that_moves_between_gates_is_reported_as_the_same_one() {
    let rules = |name| vec![rule(name, 100, "Allow", "443"), rule("b", 65_000, "Deny", "*")];
    let at = |first, second| {
        let groups =
            vec![group("subnet", "app", rules(first)), group("networkInterface", "vm", rules(second))];
        bundle(vec![nic("n", vec![route("10.0.0.0/16", "Default", "")], groups)])
    };
    let found = compare(&at("mine", "other"), &at("other", "mine"));
    let moved: Vec<_> = found.changes.iter().filter_map(|change| change.moved.as_deref()).collect();
    assert_eq!(moved.len(), 4, "{found:?}");
    assert!(moved.contains(&"to nic, vm") && moved.contains(&"from subnet, app"), "{moved:?}");
}

#[test]
fn a_group_that_is_listed_twice_is_one() {
    let at = |groups: Vec<Value>| bundle(vec![nic("n", vec![route("10.0.0.0/16", "Default", "")], groups)]);
    let rules = || vec![rule("a", 100, "Allow", "443"), rule("b", 65_000, "Deny", "*")];
    let once = at(vec![group("subnet", "app", rules())]);
    for again in [
        vec![group("subnet", "app", rules()), group("subnet", "app", Vec::new())],
        vec![group("subnet", "APP", Vec::new()), group("subnet", "app", rules())],
        vec![group("subnet", "app", rules()), group("subnet", "app", rules())],
    ] {
        let found = compare(&once, &at(again));
        assert_eq!(summary(&found), (Status::Clean, Vec::new()), "{found:?}");
    }
    // Of two with other rules it is not known which one counts.
    let other = vec![rule("a", 100, "Deny", "443"), rule("b", 65_000, "Deny", "*")];
    let both = at(vec![group("subnet", "app", rules()), group("subnet", "app", other)]);
    assert_ne!(compare(&once, &both).status, Status::Clean);
}

#[test]
fn one_of_two_equal_paths_that_goes_is_seen() {
    let paths = |count| {
        let gateway = || route("10.5.0.0/24", "VirtualNetworkGateway", "10.0.255.5");
        bundle(vec![nic("n", (0..count).map(|_| gateway()).collect(), vec![])])
    };
    let found = compare(&paths(2), &paths(1));
    assert_eq!(summary(&found).1, ["Removed bgp_route_change route/virtualnetworkgateway/10.5.0.0/24"]);
    assert_eq!(compare(&paths(2), &paths(2)).status, Status::Clean);
}

#[test]
fn the_name_and_the_propagation_flag_of_a_route_are_reported_and_are_no_drift() {
    let found = check(&format!("{ROUTES}/1/name"), json!("to-fw"), Status::Clean, &[]);
    assert_eq!(found.remarks.first().unwrap().what, "name: nothing → `to-fw`");
    let found = check(&format!("{ROUTES}/0/disableBgpRoutePropagation"), json!(true), Status::Clean, &[]);
    assert_eq!(found.remarks.first().unwrap().kind, RemarkKind::RouteAside);
}

#[test]
fn what_is_no_answer_is_an_error_with_its_place_and_never_an_empty_table() {
    for (at, to, place) in [
        ("/nics/0/routes", json!(""), "nics[0].routes"),
        ("/nics/0/routes", json!("ERROR: (TooManyRequests)"), "nics[0].routes"),
        ("/nics/0/routes", Value::Null, "nics[0].routes"),
        ("/nics/0/routes", json!({"error": {"code": "NicNotRunning"}}), "nics[0].routes"),
        ("/nics/0/routes", json!({}), "nics[0].routes"),
        ("/nics/0/routes/value", json!([]), "nics[0].routes"),
        ("/nics/0/routes/nextLink", json!("https://x"), "nics[0].routes"),
        ("/nics/0/routes/value/1", json!(null), "nics[0].routes.value[1]"),
        ("/nics/0/routes/value/1/state", json!(null), "nics[0].routes.value[1]"),
        ("/nics/0/routes/value/1/addressPrefix/0", json!("10.300.0.0/16"), "nics[0].routes.value[1]"),
        ("/nics/0/nsg", json!([[7]]), "nics[0].nsg[0][0]"),
        ("/nics/0/nsg/value/1/association", json!({"subnet": null}), "nics[0].nsg.value[1].association"),
        (
            "/nics/0/nsg/value/1/effectiveSecurityRules",
            json!([]),
            "nics[0].nsg.value[1].effectiveSecurityRules",
        ),
        ("/nics/0/nsg/value/1/effectiveSecurityRules", json!(null), "nics[0].nsg.value[1]"),
        (
            "/nics/0/nsg/value/0/effectiveSecurityRules/0/direction",
            json!("Up"),
            "nics[0].nsg.value[0].effectiveSecurityRules[0]",
        ),
        ("/nics/0/error", json!("AuthorizationFailed"), "nics[0].error"),
        ("/nics/0/nic", json!(null), "nics[0]"),
    ] {
        let mut broken = plain();
        *broken.pointer_mut(at).unwrap() = to.clone();
        for (before, after) in [(&plain(), &broken), (&broken, &plain()), (&broken, &broken)] {
            let found = compare(before, after);
            assert_eq!(
                (found.status, found.drift_detected),
                (Status::Inconclusive, None),
                "{at} {to}: {found:?}"
            );
            assert!(found.nic_errors.iter().any(|error| error.at == place), "{at} {to}: {found:?}");
        }
    }
}

#[test]
fn what_a_reader_might_pass_over_is_unread() {
    let value = |at: &str| plain().pointer(at).unwrap().clone();
    let with = |mut value: Value, field: &str, to: Value| {
        value[field] = to;
        value
    };
    let (nsg, rule) = ("/nics/0/nsg/value/0", "/nics/0/nsg/value/0/effectiveSecurityRules/0");
    for (at, to, place) in [
        // Null among the items of a list.
        ("/nics/0/routes/value/1/nextHopIpAddress", json!(["10.0.1.4", null]), "nics[0].routes.value[1]"),
        (
            rule,
            with(value(rule), "sourceAddressPrefixes", json!([null])),
            "nics[0].nsg.value[0].effectiveSecurityRules[0]",
        ),
        // What is no list of groups, or a group without an id.
        (
            rule,
            with(value(rule), "sourceApplicationSecurityGroups", json!({"name": "web"})),
            "nics[0].nsg.value[0].effectiveSecurityRules[0]",
        ),
        (
            rule,
            with(value(rule), "sourceApplicationSecurityGroups", json!([[{"id": "/asg/web"}]])),
            "nics[0].nsg.value[0].effectiveSecurityRules[0]",
        ),
        // A second list beside the first one.
        (
            "/nics/0/nsg",
            with(value("/nics/0/nsg"), "networkSecurityGroups", json!([7])),
            "nics[0].nsg.networkSecurityGroups[0]",
        ),
        (
            nsg,
            with(
                value(nsg),
                "networkSecurityGroup",
                with(value(&format!("{nsg}/networkSecurityGroup")), "effectiveSecurityRules", json!([7])),
            ),
            "nics[0].nsg.value[0]",
        ),
    ] {
        let mut broken = plain();
        *broken.pointer_mut(at).unwrap() = to.clone();
        let found = compare(&plain(), &broken);
        assert_eq!(found.status, Status::Inconclusive, "{at} {to}: {found:?}");
        assert!(found.nic_errors.iter().any(|error| error.at == place), "{at} {to}: {found:?}");
    }
}

#[test]
fn a_bundle_that_contradicts_itself_is_refused() {
    let text = plain().to_string().replacen("\"access\":", "\"access\":\"?\",\"access\":", 1);
    assert!(matches!(Side::parse(&text), Err(Error::Document(_))));
}

#[test]
fn certain_drift_beside_what_is_unread_is_drift() {
    // A row that was not read may be the one that seems to be gone; one that was not there before is certainly new.
    let mut later = plain();
    *later.pointer_mut("/nics/0/routes/value/1").unwrap() = json!(7);
    assert_eq!(compare(&plain(), &later).status, Status::Inconclusive);
    *later.pointer_mut("/nics/0/routes/value/0").unwrap() = route("10.9.0.0/16", "User", "10.0.1.4");
    let found = compare(&plain(), &later);
    assert_eq!(summary(&found).1, ["Added udr_route_change route/user/10.9.0.0/16"]);
    assert_eq!(found.nic_errors.len(), 1);
}

#[test]
fn an_interface_that_came_or_went_is_drift_unless_the_list_is_in_doubt() {
    let two = bundle(vec![
        plain().pointer("/nics/0").unwrap().clone(),
        nic("nic-b", vec![route("10.0.0.0/8", "Default", "")], vec![]),
    ]);
    assert_eq!(summary(&compare(&plain(), &two)).1, ["Added nic_change nic/nic-b"]);
    assert_eq!(summary(&compare(&two, &plain())).1, ["Removed nic_change nic/nic-b"]);
    let mut paged = plain();
    paged.as_object_mut().unwrap().insert("nextLink".into(), json!("https://x"));
    assert_eq!(compare(&two, &paged).status, Status::Inconclusive);
    assert_eq!(compare(&bundle(vec![]), &bundle(vec![])).status, Status::Inconclusive);
}

#[test]
fn a_name_that_stands_twice_tells_nothing() {
    let one = plain().pointer("/nics/0").unwrap().clone();
    let mut upper = one.clone();
    *upper.pointer_mut("/nic").unwrap() = json!("NIC-A");
    assert_eq!(compare(&plain(), &bundle(vec![upper.clone()])).status, Status::Clean);
    let found = compare(&plain(), &bundle(vec![one.clone(), upper, one]));
    assert_eq!(found.status, Status::Inconclusive);
    assert_eq!(found.nic_errors.first().unwrap().at, "nics[0], nics[1], nics[2]");
}

#[test]
fn a_service_tag_that_stands_for_other_prefixes_is_drift_with_a_remark_unless_it_is_ignored() {
    let tagged = |prefixes: Value| {
        let mut value = plain();
        let rule = value.pointer_mut(APP_A).unwrap().as_object_mut().unwrap();
        rule.insert("sourceAddressPrefix".into(), json!("Storage"));
        rule.insert("expandedSourceAddressPrefix".into(), prefixes);
        value
    };
    let (old, new) = (tagged(json!(["1.0.0.0/8", "2.0.0.0/8"])), tagged(json!(["2.0.0.0/8", "3.0.0.0/8"])));
    let found = compare(&old, &new);
    assert_eq!(summary(&found), (Status::Drift, vec![APP_KEY.to_owned()]));
    let remark = found.remarks.first().unwrap();
    assert_eq!(remark.kind, RemarkKind::TagChurn);
    assert!(remark.what.ends_with("gone 1.0.0.0/8; new 3.0.0.0/8"), "{remark:?}");
    let side = |value: &Value| Side::parse(&value.to_string()).unwrap();
    let ignored = side(&old).compare(&side(&new), Options { ignore_tag_churn: true });
    assert_eq!((ignored.status, ignored.remarks.len()), (Status::Clean, 1));
    let untold = compare(&old, &tagged(Value::Null));
    assert_eq!((untold.status, untold.remarks.first().unwrap().kind), (Status::Clean, RemarkKind::TagUntold));
}

#[test]
fn a_table_longer_than_any_is_not_read_to_its_end() {
    let many: Vec<String> =
        (0..250_001).map(|at| format!("10.{}.{}.0/24", at / 256 % 256, at % 256)).collect();
    let mut value = plain();
    *value.pointer_mut(&format!("{ROUTES}/0/addressPrefix")).unwrap() = json!(many);
    let found = compare(&value, &value);
    assert_eq!(found.status, Status::Inconclusive);
    assert_eq!(found.nic_errors.first().unwrap().at, "nics[0].routes.value[0]");
}
