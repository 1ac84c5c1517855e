//! Alertmanager's webhook of version 4, and that of Grafana, which has the same form with a title and a message of its own.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::build::{
    MAX_GROUP_BYTES, MAX_NAMED, MAX_TEXT_CHARS, MAX_TITLE_CHARS, document, first, labels, links, word,
};
use crate::alert::flow::Found;
use crate::alert::notification::moment;
use crate::alert::text::{line, scalar, words};
use crate::alert::{AlertError, Notification, Reading, Sender};
use ghost_base::Digest;
use ghost_investigate::event::AlertStatus;

/// So many alerts are described; the others are counted.
const DESCRIBED: usize = 10;

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct Document {
    group_key: String,
    status: String,
    alerts: Option<Vec<Alert>>,
    group_labels: Map<String, Value>,
    common_labels: Map<String, Value>,
    common_annotations: Map<String, Value>,
    #[serde(rename = "externalURL")]
    external_url: String,
    truncated_alerts: u64,
    title: String,
    message: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Alert {
    status: String,
    labels: Map<String, Value>,
    annotations: Map<String, Value>,
    starts_at: String,
    ends_at: String,
    #[serde(rename = "generatorURL")]
    generator_url: String,
    fingerprint: String,
    #[serde(rename = "dashboardURL")]
    dashboard_url: String,
    #[serde(rename = "panelURL")]
    panel_url: String,
}

pub(super) fn read(sender: Sender, body: &[u8]) -> Result<Reading, AlertError> {
    let wrong = |what| AlertError::Form { sender: sender.word(), what };
    let document: Document = document(sender, body)?;
    let alerts = document.alerts.as_deref().ok_or(wrong("`alerts` is missing"))?;
    if alerts.is_empty() {
        return Err(wrong("`alerts` is empty"));
    }
    let is_of =
        |alert: &Alert, key: &str, value: &str| alert.labels.get(key).and_then(Value::as_str) == Some(value);
    let is_test =
        |alert: &Alert| is_of(alert, "alertname", "TestAlert") && is_of(alert, "instance", "Grafana");
    if alerts.iter().all(is_test) {
        return Ok(Reading::Other("a test of the contact point".to_owned()));
    }
    if document.group_key.is_empty() || document.group_key.len() > MAX_GROUP_BYTES {
        return Err(wrong("`groupKey` is missing or longer than 64 kB"));
    }
    let resolved = match document.status.as_str() {
        "firing" => false,
        "resolved" => true,
        _ => return Err(wrong("`status` is neither `firing` nor `resolved`")),
    };
    let firing: Vec<&Alert> = alerts.iter().filter(|alert| alert.status != "resolved").collect();
    let (status, about): (_, Vec<&Alert>) = match firing.is_empty() || resolved {
        true => (AlertStatus::Resolved, alerts.iter().collect()),
        false => (AlertStatus::Firing, firing),
    };
    let youngest = about.iter().filter_map(|alert| Some((moment(&alert.starts_at)?, &alert.starts_at))).max();
    let last = alerts.iter().filter_map(|alert| Some((moment(&alert.ends_at)?, &alert.ends_at))).max();
    let mut found = Found::default();
    for alert in about.iter().take(MAX_NAMED) {
        let mut all = labels(&document.common_labels);
        all.extend(labels(&alert.annotations));
        all.extend(labels(&alert.labels));
        found.add(&all);
    }
    let (flows, machines) = found.into_parts(MAX_NAMED);
    let of_one = about.first().filter(|_| about.len() == 1);
    let mut shown = labels(&document.group_labels);
    shown.extend(labels(&document.common_labels));
    shown.extend(of_one.map(|alert| labels(&alert.labels)).unwrap_or_default());
    let severity =
        first([shown.get("severity").map(String::as_str), shown.get("priority").map(String::as_str)]);
    let severity = word(severity);
    Ok(Reading::Alerts(Box::new(Notification {
        traceparent: None,
        sender,
        status,
        content: content(status, &about),
        alerts: u64::try_from(about.len()).unwrap_or(u64::MAX).saturating_add(document.truncated_alerts),
        title: title(&document, &about),
        text: text(&document, &about),
        severity,
        labels: shown,
        started_at: youngest.map(|(_, text)| line(text, 40)),
        ended_at: last.filter(|_| status == AlertStatus::Resolved).map(|(_, text)| line(text, 40)),
        links: links(
            about
                .iter()
                .flat_map(|alert| {
                    [Some(alert.generator_url.as_str()), Some(&alert.dashboard_url), Some(&alert.panel_url)]
                })
                .chain([Some(document.external_url.as_str())]),
        ),
        flows,
        machines,
        group: document.group_key,
    })))
}

/// Names which alerts are in which state, whatever their order.
fn content(status: AlertStatus, about: &[&Alert]) -> Digest {
    let mut names: Vec<String> = about
        .iter()
        .map(|alert| {
            let name = match alert.fingerprint.is_empty() {
                true => Digest::of(Value::Object(alert.labels.clone()).to_string()).to_string(),
                false => alert.fingerprint.clone(),
            };
            format!("{name} {}", alert.starts_at)
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    Digest::of_fields(std::iter::once(status.word()).chain(names.iter().map(String::as_str)))
}

fn text_of<'a>(map: &'a Map<String, Value>, keys: &[&str]) -> &'a str {
    first(keys.iter().map(|key| map.get(*key).and_then(Value::as_str)))
}

fn title(document: &Document, about: &[&Alert]) -> String {
    const SUMMARY: &[&str] = &["summary", "title"];
    let alert = about.first();
    let name = |labels: &Map<String, Value>| labels.get("alertname").and_then(scalar).unwrap_or_default();
    let (own, common) =
        (alert.map(|alert| name(&alert.labels)).unwrap_or_default(), name(&document.common_labels));
    let title = first([
        Some(text_of(&document.common_annotations, SUMMARY)),
        alert.map(|alert| text_of(&alert.annotations, SUMMARY)),
        Some(common.as_str()),
        Some(own.as_str()),
        Some(document.title.as_str()),
        Some("alert without a name"),
    ]);
    line(title, MAX_TITLE_CHARS)
}

fn text(document: &Document, about: &[&Alert]) -> String {
    let of = |annotations: &Map<String, Value>| {
        let mut parts = vec![
            text_of(annotations, &["summary", "title"]),
            text_of(annotations, &["description", "message"]),
        ];
        parts.retain(|part| !part.is_empty());
        parts.dedup();
        parts.join("\n")
    };
    let mut parts: Vec<String> = Vec::new();
    for alert in about.iter().take(DESCRIBED) {
        let said = of(&alert.annotations);
        let said = match said.is_empty() {
            true => labels_line(&labels(&alert.labels)),
            false => said,
        };
        if !parts.contains(&said) {
            parts.push(said);
        }
    }
    let common = of(&document.common_annotations);
    if parts.iter().all(String::is_empty) {
        parts.push(if common.is_empty() { document.message.clone() } else { common });
    }
    let left = about.len().saturating_sub(DESCRIBED);
    if left > 0 {
        parts.push(format!("and {left} more alerts"));
    }
    words(&parts.join("\n"), MAX_TEXT_CHARS)
}

fn labels_line(labels: &BTreeMap<String, String>) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}
