//! The form for whatever else sends alerts; `docs/guide/alerts.md` describes it.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::build::{
    MAX_GROUP_BYTES, MAX_NAMED, MAX_TEXT_CHARS, MAX_TITLE_CHARS, document, labels, links, word,
};
use crate::alert::flow::Found;
use crate::alert::text::{line, scalar, words};
use crate::alert::{AlertError, Notification, Reading, Sender};
use ghost_base::{Digest, Timestamp};
use ghost_investigate::event::AlertStatus;

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Document {
    /// Names the group that alerts belong to; that of the alert alone unless said.
    group: Option<String>,
    /// Names the alert.
    id: Option<String>,
    status: Option<String>,
    title: String,
    text: String,
    severity: Option<String>,
    labels: Map<String, Value>,
    started_at: Option<String>,
    ended_at: Option<String>,
    links: Vec<String>,
    from: Option<String>,
    to: Option<String>,
    port: Option<Value>,
    protocol: Option<String>,
    machines: Vec<String>,
}

pub(super) fn read(body: &[u8], now: Timestamp) -> Result<Reading, AlertError> {
    let wrong = |what| AlertError::Form { sender: Sender::Generic.word(), what };
    let document: Document = document(Sender::Generic, body)?;
    let title = line(&document.title, MAX_TITLE_CHARS);
    if title.is_empty() {
        return Err(wrong("`title` is missing"));
    }
    let id = document.id.as_deref().filter(|id| !id.is_empty());
    let group = document.group.as_deref().filter(|group| !group.is_empty()).or(id);
    let group = group.ok_or(wrong("neither `group` nor `id` says which alert it is"))?;
    if group.len() > MAX_GROUP_BYTES {
        return Err(wrong("`group` is longer than 64 kB"));
    }
    let status = match document.status.as_deref() {
        None | Some("firing") => AlertStatus::Firing,
        Some("resolved") => AlertStatus::Resolved,
        Some(_) => return Err(wrong("`status` is neither `firing` nor `resolved`")),
    };
    let shown = labels(&document.labels);
    let mut all = shown.clone();
    for (key, value) in [
        ("ghost_from", document.from.clone()),
        ("ghost_to", document.to.clone()),
        ("ghost_port", document.port.as_ref().and_then(scalar)),
        ("ghost_protocol", document.protocol.clone()),
    ] {
        all.extend(value.map(|value| (key.to_owned(), value)));
    }
    let mut found = Found::default();
    found.add(&all);
    document.machines.iter().take(MAX_NAMED).for_each(|machine| found.add_machine(machine));
    let (flows, machines) = found.into_parts(MAX_NAMED);
    let begun = document.started_at.as_deref().unwrap_or_default();
    Ok(Reading::Alerts(Box::new(Notification {
        traceparent: None,
        sender: Sender::Generic,
        status,
        content: Digest::of_fields([status.word(), group, id.unwrap_or_default(), begun]),
        alerts: 1,
        title,
        text: words(&document.text, MAX_TEXT_CHARS),
        severity: document.severity.as_deref().and_then(word),
        labels: shown,
        started_at: document.started_at.as_deref().map(|text| line(text, 40)),
        ended_at: match status {
            AlertStatus::Firing => None,
            AlertStatus::Resolved => {
                Some(document.ended_at.map_or_else(|| now.to_string(), |text| line(&text, 40)))
            }
        },
        links: links(document.links.iter().map(|url| Some(url.as_str()))),
        flows,
        machines,
        group: group.to_owned(),
    })))
}
