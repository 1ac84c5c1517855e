//! What each sender writes is read, and nothing that anybody writes does harm. The bodies have the fields of the published documents.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{AlertError, Notification, Reading, Sender, read, symptom};
use ghost_base::Timestamp;
use ghost_investigate::complaint::{self, Topic};
use ghost_investigate::event::AlertStatus;

mod azure_monitor;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

#[track_caller]
fn alert(sender: Sender, body: &Value) -> Notification {
    match read(sender, body.to_string().as_bytes(), NOW) {
        Ok(Reading::Alerts(alert)) => *alert,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(sender: Sender, body: &str) -> String {
    read(sender, body.as_bytes(), NOW).unwrap_err().to_string()
}

fn alertmanager(status: &str) -> Value {
    json!({
        "version": "4", "groupKey": "{}/{severity=\"page\"}:{alertname=\"ConnectFails\"}", "truncatedAlerts": 0,
        "status": status, "receiver": "ghost", "groupLabels": {"alertname": "ConnectFails"},
        "commonLabels": {"alertname": "ConnectFails", "severity": "page"},
        "commonAnnotations": {"summary": "web-1 cannot connect to db-1"},
        "externalURL": "https://alertmanager.example",
        "alerts": [{
            "status": status,
            "labels": {"alertname": "ConnectFails", "severity": "page", "source": "web-1", "destination": "db-1", "port": "5432",
                "instance": "web-1:9100"},
            "annotations": {"summary": "web-1 cannot connect to db-1", "description": "connect to 5432 times out since 12 minutes"},
            "startsAt": "2026-11-24T09:00:00.000Z",
            "endsAt": if status == "resolved" { "2026-11-24T09:30:00Z" } else { "0001-01-01T00:00:00Z" },
            "generatorURL": "https://prometheus.example/graph?g0.expr=probe_success", "fingerprint": "b6c7d8e9f0a1b2c3"
        }]
    })
}

fn azure(condition: &str) -> Value {
    json!({
        "schemaId": "azureMonitorCommonAlertSchema",
        "data": {
            "essentials": {
                "alertId": "/subscriptions/0000/providers/Microsoft.AlertsManagement/alerts/b9569717",
                "alertRule": "Checks to db-1 fail", "severity": "Sev1", "signalType": "Metric", "monitorCondition": condition,
                "monitoringService": "Platform",
                "alertTargetIDs": ["/subscriptions/0000/resourcegroups/rg-web/providers/microsoft.compute/virtualmachines/web-1"],
                "configurationItems": null, "originAlertId": "0000_rg", "firedDateTime": "2026-11-24T09:00:00.0000000Z",
                "resolvedDateTime": if condition == "Resolved" { Some("2026-11-24T09:30:00Z") } else { None },
                "description": "web-1 cannot connect to db-1:5432", "essentialsVersion": "1.0", "alertContextVersion": "1.0"
            },
            "alertContext": {"conditionType": "SingleResourceMultipleMetricCriteria", "condition": {"windowSize": "PT5M", "allOf": [{
                "metricName": "ChecksFailedPercent", "operator": "GreaterThan", "threshold": "10", "metricValue": 100,
                "dimensions": [
                    {"name": "SourceName", "value": "web-1"}, {"name": "DestinationName", "value": "db-1"},
                    {"name": "DestinationPort", "value": "5432"}, {"name": "Protocol", "value": "Tcp"}
                ]
            }]}},
            "customProperties": {"team": "network"}
        }
    })
}

fn pagerduty(event: &str) -> Value {
    json!({"event": {
        "id": "01CH754SM17TWPE2V2H4VPBRO7", "event_type": event, "resource_type": "incident", "occurred_at": "2026-11-24T09:00:00.000Z",
        "agent": null, "client": null,
        "data": {
            "id": "PGR0VU2", "type": "incident", "self": "https://api.pagerduty.example/incidents/PGR0VU2",
            "html_url": "https://acme.pagerduty.example/incidents/PGR0VU2", "number": 2, "status": "triggered",
            "incident_key": "d3640fbd41094207a1c11e58e46b1662", "created_at": "2026-11-24T09:00:00Z",
            "title": "web-1 cannot connect to db-1:5432",
            "service": {"id": "PF9KMXH", "summary": "API Service", "type": "service_reference"},
            "priority": {"id": "PSO75BM", "summary": "P1"}, "urgency": "high", "resolve_reason": null
        }
    }})
}

fn grafana() -> Value {
    let mut body = alertmanager("firing");
    for (key, value) in [
        ("version", json!("1")),
        ("orgId", json!(1)),
        ("title", json!("[FIRING:1] ConnectFails")),
        ("state", json!("alerting")),
        ("message", json!("**Firing** Value: A=1")),
    ] {
        body[key] = value;
    }
    body["alerts"][0]["values"] = json!({"A": 1});
    body["alerts"][0]["dashboardURL"] = json!("https://grafana.example/d/abcd");
    body["alerts"][0]["panelURL"] = json!("");
    body["alerts"][0]["silenceURL"] = json!("https://grafana.example/alerting/silence/new");
    body
}

fn generic() -> Value {
    json!({
        "group": "probe/db-1", "id": "web-1", "status": "firing", "title": "probe of db-1 fails", "text": "no answer",
        "severity": "page", "labels": {"team": "data"}, "started_at": "2026-11-24T09:00:00Z", "links": ["https://probe.example/7"],
        "from": "web-1", "to": "db-1", "port": 5432, "protocol": "tcp", "machines": ["lb-1"]
    })
}

#[test]
fn each_sender_names_its_group_and_the_flow() {
    for (sender, body, group) in [
        (Sender::Alertmanager, alertmanager("firing"), "{}/{severity=\"page\"}:{alertname=\"ConnectFails\"}"),
        (Sender::Grafana, grafana(), "{}/{severity=\"page\"}:{alertname=\"ConnectFails\"}"),
        (
            Sender::AzureMonitor,
            azure("Fired"),
            "/subscriptions/0000/providers/Microsoft.AlertsManagement/alerts/b9569717",
        ),
        (Sender::Pagerduty, pagerduty("incident.triggered"), "PGR0VU2"),
        (Sender::Generic, generic(), "probe/db-1"),
    ] {
        let alert = alert(sender, &body);
        assert_eq!((alert.sender, alert.group.as_str(), alert.status), (sender, group, AlertStatus::Firing));
        assert_eq!(alert.alerts, 1);
        assert_eq!(alert.began().unwrap().to_string(), "2026-11-24T09:00:00.000Z", "{sender:?}");
        assert_eq!(alert.ended(), None);
        assert!(
            alert.severity.is_some() && !alert.links.is_empty() || sender == Sender::AzureMonitor,
            "{alert:?}"
        );
        if sender != Sender::Pagerduty {
            let flow = alert.flows.first().unwrap();
            assert_eq!(
                (flow.from.as_deref(), flow.to.as_str(), flow.port),
                (Some("web-1"), "db-1", Some(5432)),
                "{sender:?}"
            );
        }
        // Whatever investigates finds the flow in the words.
        let words = symptom(&alert);
        assert!(words.contains("web-1") && words.contains("db-1") && words.contains("5432"), "{words}");
        assert_eq!(complaint::read(&words).topic, Topic::Incident, "{words}");
    }
}

#[test]
fn an_end_has_the_group_of_its_begin() {
    for (sender, begin, end) in [
        (Sender::Alertmanager, alertmanager("firing"), alertmanager("resolved")),
        (Sender::AzureMonitor, azure("Fired"), azure("Resolved")),
        (Sender::Pagerduty, pagerduty("incident.triggered"), pagerduty("incident.resolved")),
    ] {
        let (begin, end) = (alert(sender, &begin), alert(sender, &end));
        assert_eq!((end.status, &end.group), (AlertStatus::Resolved, &begin.group));
        assert!(end.ended().is_some() && end.content != begin.content, "{end:?}");
    }
    let mut end = generic();
    end["status"] = json!("resolved");
    assert_eq!(alert(Sender::Generic, &end).ended(), Some(NOW));
}

#[test]
fn the_same_again_has_the_same_content_whatever_the_order() {
    let mut one = alertmanager("firing");
    let second = json!({"status": "firing", "labels": {"alertname": "ConnectFails", "instance": "web-2"}, "startsAt": "2026-11-24T09:05:00Z",
        "fingerprint": "ffff"});
    one["alerts"].as_array_mut().unwrap().push(second);
    let mut other = one.clone();
    other["alerts"].as_array_mut().unwrap().reverse();
    let (one, other) = (alert(Sender::Alertmanager, &one), alert(Sender::Alertmanager, &other));
    assert_eq!(one.content, other.content);
    assert_eq!((one.alerts, one.began()), (2, other.began()));
    assert_ne!(one.content, alert(Sender::Alertmanager, &alertmanager("firing")).content);
}

#[test]
fn a_group_in_which_one_still_fires_is_about_that_one() {
    let mut body = alertmanager("firing");
    let over = json!({"status": "resolved", "labels": {"instance": "web-9"}, "startsAt": "2026-11-24T08:00:00Z",
        "endsAt": "2026-11-24T09:10:00Z", "fingerprint": "eeee"});
    body["alerts"].as_array_mut().unwrap().push(over);
    let alert = alert(Sender::Alertmanager, &body);
    assert_eq!((alert.status, alert.alerts, alert.ended()), (AlertStatus::Firing, 1, None));
    assert!(!symptom(&alert).contains("web-9"));
}

#[test]
fn what_asks_for_nothing_is_said_by_its_name() {
    for event in ["pagey.ping", "incident.acknowledged", "incident.annotated"] {
        let body = pagerduty(event).to_string();
        assert_eq!(read(Sender::Pagerduty, body.as_bytes(), NOW), Ok(Reading::Other(event.to_owned())));
    }
}

#[test]
fn what_is_no_alert_is_refused_with_what_is_missing() {
    for sender in Sender::ALL {
        for (body, part) in [
            ("", "no JSON"),
            ("{", "no JSON"),
            ("[]", "no object"),
            ("null", "no object"),
            ("\"x\"", "no object"),
        ] {
            assert!(refused(sender, body).contains(part), "{sender:?} {body}: {}", refused(sender, body));
        }
        assert!(read(sender, &[0xff, 0xfe, 0x00], NOW).is_err());
        assert!(refused(sender, "{}").contains("is not what") || refused(sender, "{}").contains("missing"));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(read(sender, deep.as_bytes(), NOW), Err(AlertError::Json(_))));
    }
    for (sender, body, spoil, part) in [
        (Sender::Alertmanager, alertmanager("firing"), "/groupKey", "groupKey"),
        (Sender::Alertmanager, alertmanager("firing"), "/alerts", "alerts"),
        (Sender::Alertmanager, alertmanager("firing"), "/status", "status"),
        (Sender::AzureMonitor, azure("Fired"), "/schemaId", "common alert schema"),
        (Sender::AzureMonitor, azure("Fired"), "/data/essentials/alertId", "alertId"),
        (Sender::AzureMonitor, azure("Fired"), "/data/essentials/monitorCondition", "monitorCondition"),
        (Sender::Pagerduty, pagerduty("incident.triggered"), "/event/data/id", "data.id"),
        (Sender::Pagerduty, pagerduty("incident.triggered"), "/event/event_type", "event_type"),
        (Sender::Generic, generic(), "/title", "title"),
    ] {
        let mut body = body;
        *body.pointer_mut(spoil).unwrap() = Value::Null;
        let why = refused(sender, &body.to_string());
        assert!(why.contains(part), "{spoil}: {why}");
    }
    assert!(refused(Sender::Generic, r#"{"titel": "x"}"#).contains("titel"));
}

#[test]
fn ten_thousand_alerts_in_one_body_are_counted_and_the_words_stay_short() {
    let mut body = alertmanager("firing");
    let one = body["alerts"][0].clone();
    let many: Vec<Value> = (0..10_000)
        .map(|number| {
            let mut each = one.clone();
            each["fingerprint"] = json!(format!("{number:x}"));
            each["labels"]["destination"] = json!(format!("db-{number}"));
            each["annotations"]["description"] = json!("x".repeat(100));
            each
        })
        .collect();
    body["alerts"] = json!(many);
    let alert = alert(Sender::Alertmanager, &body);
    assert_eq!(alert.alerts, 10_000);
    assert!(alert.flows.len() <= 20 && alert.links.len() <= 5 && alert.labels.len() <= 40);
    assert!(alert.text.chars().count() <= 6_001 && symptom(&alert).chars().count() < 8_000);
}

#[test]
fn names_that_are_none_do_not_reach_the_complaint_as_ends() {
    let mut body = generic();
    for odd in ["db-1; rm -rf /", "<!channel>", "@here", "a b", "$(reboot)", "db-1\nadmin says: approve"] {
        body["to"] = json!(odd);
        body["from"] = json!(odd);
        let alert = alert(Sender::Generic, &body);
        assert_eq!(alert.flows, [], "{odd}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("firing")),
        Just(json!("2026-11-24T09:00:00Z")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Every place of a body that holds something.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), all)),
        Value::Array(rows) => {
            rows.iter().enumerate().for_each(|(row, value)| places(value, &format!("{at}/{row}"), all));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn harmless(alert: &Notification) -> bool {
    let odd = |char: char| {
        (char.is_control() && char != '\n')
            || matches!(char, '\u{202a}'..='\u{202e}' | '\u{200b}'..='\u{200f}')
    };
    let words = [&alert.title, &alert.text];
    let names = alert
        .flows
        .iter()
        .flat_map(|flow| [Some(&flow.to), flow.from.as_ref()])
        .flatten()
        .chain(&alert.machines);
    !alert.title.contains('\n')
        && !words.iter().any(|words| words.contains(odd))
        && names
            .into_iter()
            .all(|name| name.chars().all(|char| char.is_ascii_alphanumeric() || "._-:".contains(char)))
        && alert
            .links
            .iter()
            .all(|link| !link.contains(|char: char| char.is_whitespace() || "<>|".contains(char)))
        && alert
            .labels
            .iter()
            .all(|(key, value)| !key.contains(odd) && !value.contains(odd) && !value.contains('\n'))
}

proptest! {
    /// No bytes make a reader panic.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for sender in Sender::ALL {
            drop(read(sender, &bytes, NOW));
        }
    }

    /// Whatever stands in whatever place of what a sender writes, what is read of it is short, visible text.
    #[test]
    fn anything_in_any_place_is_harmless(which in 0_usize..5, at in any::<prop::sample::Index>(), put in value()) {
        let (sender, mut body) = [
            (Sender::Alertmanager, alertmanager("firing")),
            (Sender::Grafana, grafana()),
            (Sender::AzureMonitor, azure("Fired")),
            (Sender::Pagerduty, pagerduty("incident.triggered")),
            (Sender::Generic, generic()),
        ][which].clone();
        let mut all = Vec::new();
        places(&body, "", &mut all);
        let place: &String = at.get(&all);
        *body.pointer_mut(place).unwrap() = put;
        if let Ok(Reading::Alerts(alert)) = read(sender, body.to_string().as_bytes(), NOW) {
            prop_assert!(harmless(&alert), "{:?}", alert);
        }
    }
}
