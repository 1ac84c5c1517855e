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

/// The schema of budgets that do not use the common one.
const BUDGET_SCHEMA: &str = "AIP Budget Notification";

/// The subscription of the alerts that an action group sends as a test.
const TEST_SUBSCRIPTION: &str = "/subscriptions/11111111-1111-1111-1111-111111111111/";

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
    if document.schema_id.eq_ignore_ascii_case(BUDGET_SCHEMA) {
        return Ok(Reading::Other("a budget".to_owned()));
    }
    if document.schema_id != SCHEMA {
        return Err(wrong(
            "`schemaId` is not azureMonitorCommonAlertSchema; turn the common alert schema on in the action group",
        ));
    }
    let Data { essentials, alert_context, custom_properties } = document.data;
    if essentials.monitoring_service.eq_ignore_ascii_case("CostAlerts")
        || alert_context.get("AlertCategory").is_some()
    {
        return Ok(Reading::Other("a budget".to_owned()));
    }
    if essentials.alert_id.is_empty() || essentials.alert_id.len() > MAX_GROUP_BYTES {
        return Err(wrong("`data.essentials.alertId` is missing"));
    }
    if essentials.alert_rule.starts_with("test-")
        && essentials.targets.iter().any(|target| target.starts_with(TEST_SUBSCRIPTION))
    {
        return Ok(Reading::Other("a test of the action group".to_owned()));
    }
    let event = Event::of(&essentials, &alert_context);
    let status = match essentials.monitor_condition.as_str() {
        _ if event.is_over => AlertStatus::Resolved,
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
    let beside = beside(&alert_context);
    for dimensions in if all.is_empty() { vec![BTreeMap::new()] } else { all } {
        let mut each = beside.clone();
        each.extend(dimensions);
        each.extend(custom.clone());
        found.add(&each);
    }
    // A configuration item is the bare name of any resource; machines among them are targets as well.
    let resources = essentials.targets.iter().chain(&essentials.configuration_items);
    resources.filter(|id| is_machine(id)).take(MAX_NAMED).for_each(|id| found.add_machine(id));
    let (flows, machines) = found.into_parts(MAX_NAMED);
    let mut shown = beside;
    shown.extend(custom);
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
    let group = event.group.unwrap_or_else(|| essentials.alert_id.clone());
    let content = Digest::of_fields([status.word(), &group, at.as_deref().unwrap_or_default()]);
    let description = essentials.description.as_deref();
    let title = first([
        event.title.as_deref(),
        Some(essentials.alert_rule.as_str()),
        description,
        Some("alert without a name"),
    ]);
    let mut lines: Vec<String> =
        description.filter(|text| !text.is_empty()).map(str::to_owned).into_iter().collect();
    lines.extend(event.lines);
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
        group,
    })))
}

fn is_machine(id: &str) -> bool {
    let id = id.to_ascii_lowercase();
    id.contains("/virtualmachines/") || id.contains("/microsoft.hybridcompute/machines/")
}

/// Returns what an alert says of itself beside its conditions: properties, dimensions of older queries, labels and annotations of
/// Prometheus.
fn beside(context: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for key in ["annotations", "labels", "properties"] {
        found.extend(context.get(key).and_then(Value::as_object).map(labels).unwrap_or_default());
    }
    let lists = ["Dimensions", "dimensions"].into_iter().filter_map(|key| context.get(key));
    for pair in lists.filter_map(Value::as_array).flatten().take(MAX_CONDITIONS) {
        let named = pair.get("name").and_then(Value::as_str);
        found.extend(
            named
                .zip(pair.get("value").and_then(scalar))
                .map(|(name, value)| (line(name, 100), line(&value, 500))),
        );
    }
    found
}

/// What an event of the platform says: an entry of the activity log, the health of a service or of a resource.
#[derive(Default)]
struct Event {
    /// Whether it says that something is over: the platform calls that fired as well.
    is_over: bool,
    /// What its beginning and its end have in common.
    group: Option<String>,
    title: Option<String>,
    lines: Vec<String>,
}

impl Event {
    fn of(essentials: &Essentials, context: &Value) -> Self {
        let properties = context.get("properties");
        let of = |place: Option<&Value>, key: &str| {
            place
                .and_then(|place| place.get(key))
                .and_then(scalar)
                .map(|text| line(&text, 1_000))
                .filter(|text| !text.is_empty())
        };
        let own = |key: &str| of(Some(context), key);
        let inner = |key: &str| of(properties, key);
        let service = essentials.monitoring_service.to_ascii_lowercase();
        let is_service = service.contains("servicehealth") || service.contains("service health");
        let is_resource = service.contains("resource health") || service.contains("resourcehealth");
        let is_entry = own("operationName").is_some();
        if !(is_service || is_resource || is_entry) {
            return Self::default();
        }
        let word = |text: Option<String>| text.unwrap_or_default().to_ascii_lowercase();
        let ends = |text: String| matches!(text.as_str(), "resolved" | "complete" | "completed" | "closed");
        let is_over = match (is_service, is_resource) {
            (true, _) => ends(word(inner("stage"))) || ends(word(own("status"))),
            (false, true) => ends(word(own("status"))) || word(inner("currentHealthStatus")) == "available",
            (false, false) => false,
        };
        let target = essentials.targets.first();
        let group = match (is_service, is_resource) {
            (true, _) => inner("trackingId").map(|id| format!("service health {id}")),
            (false, true) => target.map(|target| format!("resource health {}", target.to_ascii_lowercase())),
            (false, false) => None,
        };
        let title = inner("defaultLanguageTitle").or_else(|| inner("title"));
        let mut lines = Vec::new();
        for (name, value) in [
            ("Operation", own("operationName")),
            ("Status", own("status")),
            ("Caller", own("caller")),
            ("Service", inner("service")),
            ("Region", inner("region")),
            ("Stage", inner("stage")),
            ("Health", inner("currentHealthStatus")),
            ("Details", inner("details").or_else(|| inner("communication"))),
        ] {
            lines.extend(value.map(|value| format!("{name}: {value}")));
        }
        Self { is_over, group, title: title.filter(|_| is_service || is_resource), lines }
    }
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
