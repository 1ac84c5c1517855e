//! Azure Monitor sends many kinds of alerts in one form: where the flow, the machine and the end stand in each.

use serde_json::{Value, json};

use super::{NOW, alert, azure};
use crate::alert::{Reading, Sender, read};
use ghost_investigate::event::AlertStatus;

/// An alert of a service with its own context; what is not given is as in the documents.
fn of(service: &str, context: Value) -> Value {
    let mut body = azure("Fired");
    body["data"]["essentials"]["monitoringService"] = json!(service);
    body["data"]["essentials"]["alertTargetIDs"] =
        json!(["/subscriptions/0/resourceGroups/g/providers/Microsoft.OperationalInsights/workspaces/w"]);
    body["data"]["essentials"]["configurationItems"] = json!(["w"]);
    body["data"]["essentials"]["description"] = json!("");
    body["data"]["alertContext"] = context;
    body["data"]["customProperties"] = Value::Null;
    body
}

#[track_caller]
fn flow(body: &Value) -> String {
    let alert = alert(Sender::AzureMonitor, body);
    assert_eq!(alert.machines, [""; 0], "{body}");
    let [flow] = alert.flows.as_slice() else { panic!("{:?}", alert.flows) };
    format!("{} {} {:?}", flow.from.as_deref().unwrap_or("-"), flow.to, flow.port)
}

#[test]
fn the_flow_is_found_wherever_a_kind_of_alert_has_it() {
    let expected = "web-1 db-1 Some(5432)";
    let pairs = json!([{"name": "source", "value": "web-1"}, {"name": "destination", "value": "db-1"}, {"name": "port", "value": 5432}]);
    let map = json!({"source": "web-1", "destination": "db-1", "port": "5432"});
    assert_eq!(
        flow(&of(
            "Log Alerts V2",
            json!({"properties": map, "conditionType": "LogQueryCriteria", "condition": {"allOf": []}})
        )),
        expected
    );
    assert_eq!(
        flow(&of("Log Alerts V2", json!({"condition": {"allOf": [{"dimensions": pairs}]}}))),
        expected
    );
    assert_eq!(flow(&of("Log Analytics", json!({"SearchQuery": "x", "Dimensions": pairs}))), expected);
    assert_eq!(
        flow(&of(
            "Prometheus",
            json!({"expression": "probe_success == 0", "labels": map, "annotations": {"summary": "s"}})
        )),
        expected
    );
    let split =
        json!({"labels": {"source": "web-1", "port": "5432"}, "annotations": {"destination": "db-1"}});
    assert_eq!(flow(&of("Prometheus", split)), expected);
}

#[test]
fn only_a_machine_is_a_machine() {
    let named = |targets: Value, items: Value| {
        let mut body = of("Platform", json!({}));
        body["data"]["essentials"]["alertTargetIDs"] = targets;
        body["data"]["essentials"]["configurationItems"] = items;
        alert(Sender::AzureMonitor, &body).machines
    };
    let of_kind =
        |kind: &str, name: &str| format!("/subscriptions/0/resourceGroups/g/providers/{kind}/{name}");
    let storage = of_kind("Microsoft.Storage/storageAccounts", "kilnstore");
    assert_eq!(named(json!([storage]), json!(["kilnstore"])), [""; 0]);
    let machine = of_kind("Microsoft.Compute/virtualMachines", "kiln-1");
    assert_eq!(named(json!([machine]), json!(["Kiln-1", "other"])), ["kiln-1"]);
    assert_eq!(named(json!([]), json!(["budgets"])), [""; 0]);
}

#[test]
fn an_event_that_is_over_ends_the_alert_of_its_beginning() {
    let health = |stage: &str, id: &str| {
        let mut body = of(
            "ServiceHealth",
            json!({"operationName": "Microsoft.ServiceHealth/incident/action", "status": "Active",
            "properties": {"title": "Virtual Machines - West Europe", "service": "Virtual Machines", "region": "West Europe",
                "incidentType": "Incident", "trackingId": "AB12-CD3", "stage": stage}}),
        );
        body["data"]["essentials"]["alertId"] = json!(id);
        alert(Sender::AzureMonitor, &body)
    };
    let (begun, over) = (health("Active", "a"), health("Resolved", "b"));
    assert_eq!((begun.status, over.status), (AlertStatus::Firing, AlertStatus::Resolved));
    assert_eq!(begun.group, over.group);
    assert_eq!(begun.title, "Virtual Machines - West Europe");
    assert!(begun.text.contains("Service: Virtual Machines") && begun.machines.is_empty());
    let machine = "/subscriptions/0/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/kiln-1";
    let resource = |status: &str, id: &str| {
        let mut body = of(
            "Resource Health",
            json!({"operationName": "Microsoft.Resourcehealth/healthevent/Activated/action", "status": status,
            "properties": {"title": "down", "currentHealthStatus": if status == "Active" { "Unavailable" } else { "Available" }}}),
        );
        body["data"]["essentials"]["alertId"] = json!(id);
        body["data"]["essentials"]["alertTargetIDs"] = json!([machine]);
        alert(Sender::AzureMonitor, &body)
    };
    let (begun, over) = (resource("Active", "a"), resource("Resolved", "b"));
    assert_eq!((begun.status, over.status), (AlertStatus::Firing, AlertStatus::Resolved));
    assert_eq!((begun.group, begun.machines), (over.group, vec!["kiln-1".to_owned()]));
}

#[test]
fn an_entry_of_the_activity_log_says_what_was_done() {
    let body = of(
        "Activity Log - Administrative",
        json!({"operationName": "Microsoft.Network/networkSecurityGroups/securityRules/write",
        "caller": "pipeline", "status": "Succeeded", "properties": {"eventCategory": "Administrative"}}),
    );
    let alert = alert(Sender::AzureMonitor, &body);
    assert_eq!(alert.status, AlertStatus::Firing);
    assert!(
        alert.text.contains("Operation: Microsoft.Network/networkSecurityGroups/securityRules/write"),
        "{}",
        alert.text
    );
}

#[test]
fn budgets_and_tests_are_no_incidents() {
    let mut budget = of("CostAlerts", json!({"AlertCategory": "budgets", "AlertData": {"BudgetName": "b"}}));
    for field in ["monitorCondition", "alertRule", "severity", "alertTargetIDs", "signalType"] {
        budget["data"]["essentials"][field] = Value::Null;
    }
    let own =
        json!({"schemaId": "AIP Budget Notification", "data": {"BudgetName": "b", "SpendingAmount": "100"}});
    let mut test = azure("Fired");
    test["data"]["essentials"]["alertRule"] = json!("test-metricAlertRule");
    test["data"]["essentials"]["alertTargetIDs"] = json!([
        "/subscriptions/11111111-1111-1111-1111-111111111111/resourcegroups/test-RG/providers/Microsoft.Compute/virtualMachines/x"
    ]);
    let grafana = json!({"status": "firing", "groupKey": "test-1", "title": "[FIRING:1]", "alerts": [{"status": "firing",
        "labels": {"alertname": "TestAlert", "instance": "Grafana"}, "annotations": {"summary": "Notification test"},
        "startsAt": "2026-11-24T09:00:00Z", "endsAt": "0001-01-01T00:00:00Z"}]});
    for (sender, body) in [
        (Sender::AzureMonitor, budget),
        (Sender::AzureMonitor, own),
        (Sender::AzureMonitor, test),
        (Sender::Grafana, grafana),
    ] {
        let said = read(sender, body.to_string().as_bytes(), NOW);
        assert!(matches!(said, Ok(Reading::Other(_))), "{said:?}");
    }
}
