//! Facts about what the platform says of itself.

use serde_json::{Value, json};

use super::documents::pg;
use super::draft::{Draft, summary};
use crate::path::{Bundle, Reading};

const READ: &str = "2026-11-24T10:00:00Z";

fn event(id: &str, kind: &str, status: &str, service: &str, region: &str) -> Value {
    json!({"name": id, "properties": {"eventType": kind, "status": status, "title": "trouble", "impactStartTime": "2026-11-24T08:50:00Z",
        "impact": [{"impactedService": service, "impactedRegions": [{"impactedRegion": region, "status": status}]}]}})
}

fn region(of: &Draft) -> Bundle {
    let mut bundle = of.bundle();
    if let Some(Reading::Text(text)) = &mut bundle.cloud.interfaces {
        let mut all: Value = serde_json::from_str(text).unwrap();
        for nic in all.as_array_mut().unwrap() {
            nic["location"] = json!("eastus");
        }
        *text = all.to_string();
    }
    bundle
}

#[track_caller]
fn check(events: &[Value], expected: &[&str]) {
    let draft = Draft::two();
    let mut bundle = region(&draft);
    bundle.cloud.platform_events = Some(Reading::Text(json!({"readAt": READ, "value": events}).to_string()));
    assert_eq!(summary(&pg(&draft, &bundle)), expected, "{events:?}");
}

#[test]
fn an_event_counts_where_service_region_and_time_fit() {
    let found = ["DEGRADED", "platform_event health/E-1"];
    check(&[event("E-1", "ServiceIssue", "Active", "Virtual Network", "East US")], &found);
    check(&[event("E-1", "PlannedMaintenance", "Active", "virtual machines", "eastus")], &found);
    check(&[event("E-1", "ServiceIssue", "Active", "Virtual Network \\ Routing", "Global")], &found);
    check(&[], &["PASSES"]);
}

#[test]
fn advice_other_places_and_what_is_over_are_no_fault() {
    for (kind, status, service, region) in [
        ("HealthAdvisory", "Active", "Virtual Network", "East US"),
        ("SecurityAdvisory", "Active", "Virtual Machines", "East US"),
        ("ServiceIssue", "Resolved", "Virtual Network", "East US"),
        ("ServiceIssue", "Active", "Virtual Network", "East US 2"),
        ("ServiceIssue", "Active", "SQL Database", "East US"),
        // Nothing of the flow passes one.
        ("ServiceIssue", "Active", "Load Balancer", "East US"),
        ("ServiceIssue", "", "Virtual Network", "East US"),
    ] {
        check(&[event("E-1", kind, status, service, region)], &["PASSES"]);
    }
    let mut later = event("E-1", "PlannedMaintenance", "Active", "Virtual Network", "East US");
    later["properties"]["impactStartTime"] = json!("2026-11-25T01:00:00Z");
    check(&[later], &["PASSES"]);
    let mut over_here = event("E-1", "ServiceIssue", "Active", "Virtual Network", "East US");
    over_here["properties"]["impact"][0]["impactedRegions"][0]["status"] = json!("Resolved");
    check(&[over_here], &["PASSES"]);
}

#[test]
fn events_that_could_not_be_read_change_nothing() {
    let draft = Draft::two();
    let mut bundle = region(&draft);
    for text in ["", "{}", "[]", "{\"value\":[{\"properties\":{\"eventType\":7}}]}", "<html>"] {
        bundle.cloud.platform_events = Some(Reading::Text(text.to_owned()));
        assert_eq!(summary(&pg(&draft, &bundle)), ["PASSES"], "{text}");
    }
    bundle.cloud.platform_events = Some(Reading::Failed { error: "AuthorizationFailed".to_owned() });
    assert_eq!(summary(&pg(&draft, &bundle)), ["PASSES"]);
}

#[test]
fn an_event_is_no_fault_beside_what_stops_the_flow() {
    let draft = Draft::two().stopped("db");
    let mut bundle = region(&draft);
    let events = [event("E-1", "ServiceIssue", "Active", "Virtual Network", "East US")];
    bundle.cloud.platform_events = Some(Reading::Text(json!({"readAt": READ, "value": events}).to_string()));
    assert_eq!(summary(&pg(&draft, &bundle)), ["BLOCKED", "vm_stopped vm/db"]);
}

#[test]
fn who_is_the_reason_decides_what_is_wrong_with_a_machine_that_does_not_run() {
    let draft = Draft::two().stopped("db");
    let mut bundle = region(&draft);
    for (state, reason, context, event, expected) in [
        ("Unavailable", "Unplanned", "Platform Initiated", Some("E-2"), "platform_event health/E-2"),
        ("Unavailable", "Planned", "", None, "platform_event health/db"),
        ("Unavailable", "UserInitiated", "Customer Initiated", Some("E-2"), "vm_stopped vm/db"),
        ("Unavailable", "Unplanned", "Customer Initiated", None, "vm_stopped vm/db"),
        ("Unavailable", "", "", None, "vm_stopped vm/db"),
        ("Unknown", "Unplanned", "", None, "vm_stopped vm/db"),
        ("Available", "", "", None, "vm_stopped vm/db"),
    ] {
        let own = json!([{"machine": "db", "properties": {"availabilityState": state, "reasonType": reason,
            "context": context, "healthEventId": event, "summary": "a host failed"}}]);
        bundle.cloud.availability = Some(Reading::Text(own.to_string()));
        assert_eq!(summary(&pg(&draft, &bundle)), ["BLOCKED", expected], "{own}");
    }
    // Whoever may not ask knows what the machine itself shows.
    bundle.cloud.availability = Some(Reading::Failed { error: "AuthorizationFailed".to_owned() });
    assert_eq!(summary(&pg(&draft, &bundle)), ["BLOCKED", "vm_stopped vm/db"]);
    assert!(pg(&draft, &bundle).missing().is_empty());
}
