//! Azure Monitor's common alert schema.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::build::{
    MAX_GROUP_BYTES, MAX_NAMED, MAX_TEXT_CHARS, MAX_TITLE_CHARS, document, first, labels, links, word,
};
use crate::alert::flow::Found;
use crate::alert::text::{line, scalar, words};
use crate::alert::{AlertError, Notification, Reading, Sender};
use ghost_base::Digest;
use ghost_investigate::event::AlertStatus;

const SCHEMA: &str = "azureMonitorCommonAlertSchema";

/// So many conditions and dimensions of an alert are read.
const MAX_CONDITIONS: usize = 20;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Document {
    schema_id: String,
    data: Data,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Data {
    essentials: Essentials,
    alert_context: Value,
    custom_properties: Option<Map<String, Value>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Essentials {
    alert_id: String,
    alert_rule: String,
    severity: String,
    signal_type: String,
    monitor_condition: String,
    monitoring_service: String,
    #[serde(rename = "alertTargetIDs")]
    targets: Vec<String>,
    configuration_items: Vec<String>,
    fired_date_time: Option<String>,
    resolved_date_time: Option<String>,
    description: Option<String>,
    investigation_link: Option<String>,
}

pub(super) fn read(body: &[u8]) -> Result<Reading, AlertError> {
    let wrong = |what| AlertError::Form { sender: Sender::AzureMonitor.word(), what };
    let document: Document = document(Sender::AzureMonitor, body)?;
    if document.schema_id != SCHEMA {
        return Err(wrong(
            "`schemaId` is not azureMonitorCommonAlertSchema; turn the common alert schema on in the action group",
        ));
    }
    let Data { essentials, alert_context, custom_properties } = document.data;
    if essentials.alert_id.is_empty() || essentials.alert_id.len() > MAX_GROUP_BYTES {
        return Err(wrong("`data.essentials.alertId` is missing"));
    }
    let status = match essentials.monitor_condition.as_str() {
        "Fired" => AlertStatus::Firing,
        "Resolved" => AlertStatus::Resolved,
        _ => return Err(wrong("`data.essentials.monitorCondition` is neither Fired nor Resolved")),
    };
    let conditions = conditions(&alert_context);
    let custom = custom_properties.as_ref().map(labels).unwrap_or_default();
    let mut found = Found::default();
    // What the site wrote itself goes before what Azure measured.
    let all: Vec<BTreeMap<String, String>> =
        conditions.iter().map(|condition| condition.dimensions.clone()).collect();
    for dimensions in if all.is_empty() { vec![BTreeMap::new()] } else { all } {
        let mut each = dimensions;
        each.extend(custom.clone());
        found.add(&each);
    }
    let is_machine = |target: &&String| target.to_ascii_lowercase().contains("/virtualmachines/");
    essentials.targets.iter().filter(is_machine).take(MAX_NAMED).for_each(|target| found.add_machine(target));
    essentials.configuration_items.iter().take(MAX_NAMED).for_each(|item| found.add_machine(item));
    let (flows, machines) = found.into_parts(MAX_NAMED);
    let mut shown = custom;
    for (key, value) in [
        ("alertRule", &essentials.alert_rule),
        ("monitoringService", &essentials.monitoring_service),
        ("signalType", &essentials.signal_type),
    ] {
        if !value.is_empty() {
            shown.insert(key.to_owned(), line(value, 200));
        }
    }
    let at = match status {
        AlertStatus::Firing => &essentials.fired_date_time,
        AlertStatus::Resolved => &essentials.resolved_date_time,
    };
    let content = Digest::of_fields([status.word(), &essentials.alert_id, at.as_deref().unwrap_or_default()]);
    let description = essentials.description.as_deref();
    let title = first([Some(essentials.alert_rule.as_str()), description, Some("alert without a name")]);
    let mut lines: Vec<String> =
        description.filter(|text| !text.is_empty()).map(str::to_owned).into_iter().collect();
    lines.extend(conditions.iter().map(Condition::line).filter(|line| !line.is_empty()));
    lines.extend(
        essentials.targets.iter().take(MAX_NAMED).map(|target| format!("Target: {}", line(target, 500))),
    );
    Ok(Reading::Alerts(Box::new(Notification {
        traceparent: None,
        sender: Sender::AzureMonitor,
        status,
        content,
        alerts: 1,
        title: line(title, MAX_TITLE_CHARS),
        text: words(&lines.join("\n"), MAX_TEXT_CHARS),
        severity: word(&essentials.severity),
        labels: shown,
        started_at: essentials.fired_date_time.as_deref().map(|text| line(text, 40)),
        ended_at: essentials.resolved_date_time.as_deref().map(|text| line(text, 40)),
        links: links([essentials.investigation_link.as_deref()]),
        flows,
        machines,
        group: essentials.alert_id,
    })))
}

/// One condition of a metric or a query that is met.
struct Condition {
    metric: String,
    operator: String,
    threshold: String,
    value: String,
    dimensions: BTreeMap<String, String>,
}

impl Condition {
    fn line(&self) -> String {
        let dimensions =
            self.dimensions.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
        let figure = match (self.metric.is_empty(), self.value.is_empty()) {
            (true, _) => String::new(),
            (false, true) => self.metric.clone(),
            (false, false) => {
                format!("{} is {} ({} {})", self.metric, self.value, self.operator, self.threshold)
            }
        };
        [figure, dimensions.join(" ")]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": ")
    }
}

fn conditions(context: &Value) -> Vec<Condition> {
    let all = context.pointer("/condition/allOf").and_then(Value::as_array);
    let text = |condition: &Value, key: &str| {
        condition.get(key).and_then(scalar).map(|text| line(&text, 200)).unwrap_or_default()
    };
    let read = |condition: &Value| Condition {
        metric: text(condition, "metricName"),
        operator: text(condition, "operator"),
        threshold: text(condition, "threshold"),
        value: text(condition, "metricValue"),
        dimensions: condition
            .get("dimensions")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .take(MAX_CONDITIONS)
            .filter_map(|pair| {
                Some((line(pair.get("name")?.as_str()?, 100), line(&scalar(pair.get("value")?)?, 500)))
            })
            .collect(),
    };
    all.into_iter().flatten().take(MAX_CONDITIONS).map(read).collect()
}
