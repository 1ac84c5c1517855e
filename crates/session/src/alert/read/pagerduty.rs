//! PagerDuty's webhooks of version 3: one event of an incident each.

use serde::Deserialize;

use super::build::{MAX_GROUP_BYTES, MAX_TEXT_CHARS, MAX_TITLE_CHARS, document, first, links, word};
use crate::alert::text::{line, words};
use crate::alert::{AlertError, Notification, Reading, Sender};
use ghost_base::Digest;
use ghost_investigate::event::AlertStatus;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Document {
    event: Option<Event>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Event {
    event_type: String,
    occurred_at: Option<String>,
    data: Incident,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Incident {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    html_url: Option<String>,
    number: Option<u64>,
    title: Option<String>,
    urgency: Option<String>,
    service: Option<Named>,
    priority: Option<Named>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Named {
    summary: Option<String>,
    html_url: Option<String>,
}

pub(super) fn read(body: &[u8]) -> Result<Reading, AlertError> {
    let wrong = |what| AlertError::Form { sender: Sender::Pagerduty.word(), what };
    let document: Document = document(Sender::Pagerduty, body)?;
    let Event { event_type, occurred_at, data } =
        document.event.ok_or(wrong("`event` is missing: webhooks of version 3 have one"))?;
    let status = match event_type.as_str() {
        "" => return Err(wrong("`event.event_type` is missing")),
        "incident.triggered" | "incident.reopened" => AlertStatus::Firing,
        "incident.resolved" => AlertStatus::Resolved,
        // Who acknowledged, who was assigned, a test of the connection: nothing of it is a fault of a network.
        other => return Ok(Reading::Other(line(other, 60))),
    };
    if data.id.is_empty() || data.id.len() > MAX_GROUP_BYTES {
        return Err(wrong("`event.data.id` is missing"));
    }
    if data.kind != "incident" {
        return Err(wrong("`event.data.type` is not `incident`"));
    }
    let at = occurred_at.as_deref().unwrap_or_default();
    let title = first([data.title.as_deref(), Some("incident without a title")]);
    let service = data.service.as_ref().and_then(|service| service.summary.as_deref());
    let number = data.number.map(|number| format!("Incident #{number}")).unwrap_or_default();
    let text = [number, service.map(|service| format!("Service: {service}")).unwrap_or_default()];
    let text = text.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    let priority = data.priority.as_ref().and_then(|priority| priority.summary.as_deref());
    Ok(Reading::Alerts(Box::new(Notification {
        traceparent: None,
        sender: Sender::Pagerduty,
        status,
        content: Digest::of_fields([event_type.as_str(), &data.id, at]),
        alerts: 1,
        title: line(title, MAX_TITLE_CHARS),
        text: words(&text, MAX_TEXT_CHARS),
        severity: word(first([priority, data.urgency.as_deref()])),
        labels: service.map(|service| ("service".to_owned(), line(service, 200))).into_iter().collect(),
        started_at: occurred_at.as_deref().filter(|_| status == AlertStatus::Firing).map(|at| line(at, 40)),
        ended_at: occurred_at.as_deref().filter(|_| status == AlertStatus::Resolved).map(|at| line(at, 40)),
        links: links([
            data.html_url.as_deref(),
            data.service.as_ref().and_then(|service| service.html_url.as_deref()),
        ]),
        flows: Vec::new(),
        machines: Vec::new(),
        group: data.id,
    })))
}
