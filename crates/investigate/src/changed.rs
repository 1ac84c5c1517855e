//! What the activity log says of what is at fault: one document, written by `list_changes`, and read by the playbook and the reports.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::ObservationId;
use crate::state::{CallState, State};
use ghost_base::Timestamp;

/// The tool that writes it.
pub(crate) const TOOL: &str = "list_changes";

/// What came of reading the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedObjects {
    /// From when on it was read, as reports write it.
    pub since: String,
    /// Until when.
    pub until: String,
    /// Whether that is all that the log has of that time.
    pub complete: bool,
    /// The logs that could not be read: of which group, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// What it says of each fault that was asked about.
    pub origins: Vec<ObjectOrigin>,
    /// What it says to a question: one sentence for each change, the latest first.
    pub changes: Vec<String>,
    /// So many more are not listed.
    pub unlisted: usize,
    /// Whether somebody asked who changed something, and no fault was looked for.
    pub is_question: bool,
}

/// What the log says of one fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectOrigin {
    /// The fault code.
    pub fault: String,
    /// What is at fault.
    pub object: String,
    /// `made_by`, `may_be` or `none`.
    pub result: String,
    /// The same in a sentence, without its full stop.
    pub sentence: String,
    /// What names the change in other logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
}

/// What became of reading the log in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogReading {
    /// It was read.
    Read(ChangedObjects, Vec<ObservationId>),
    /// It was tried, and this is why it could not be read.
    Unread(String),
}

impl ChangedObjects {
    /// Reads the result of a call; `None` where it is none of the tool's.
    #[must_use]
    pub fn of_result(result: &Value) -> Option<Self> {
        let facts = result.get("facts").filter(|facts| facts.get("origins").is_some())?;
        serde_json::from_value(facts.clone()).ok()
    }

    /// Returns what the log says of a fault.
    #[must_use]
    pub fn origin(&self, fault: &str, object: &str) -> Option<&ObjectOrigin> {
        self.origins.iter().find(|origin| origin.fault == fault && origin.object == object)
    }
}

/// Returns a moment to the minute, as reports write it.
pub(crate) fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    match text.get(..16) {
        Some(minute) => format!("{} UTC", minute.replace('T', " ")),
        None => text,
    }
}

/// Tells whether somebody only asked what was changed.
#[must_use]
pub fn is_question(state: &State) -> bool {
    let asked = state.calls().rfind(|call| call.call.tool == TOOL);
    asked.is_some_and(|call| call.call.arguments.get("causes").is_none()) && state.accepted.is_empty()
}

/// Returns what the log says of each accepted fault, with the observations that show it; empty where it was not read.
#[must_use]
pub fn origins(state: &State) -> Vec<(ObjectOrigin, Vec<ObservationId>)> {
    let Some(LogReading::Read(changed, observations)) = log_reading(state) else { return Vec::new() };
    let mut found: Vec<ObjectOrigin> = Vec::new();
    for accepted in &state.accepted {
        let (code, object) = (accepted.finding.code.as_str(), accepted.finding.object.as_str());
        if let Some(origin) = changed.origin(code, object).filter(|origin| !found.contains(origin)) {
            found.push(origin.clone());
        }
    }
    found.into_iter().map(|origin| (origin, observations.clone())).collect()
}

/// Returns what became of the last reading of the log; `None` where nobody tried.
#[must_use]
pub fn log_reading(state: &State) -> Option<LogReading> {
    let call = state.calls().rfind(|call| call.call.tool == TOOL && call.returned.is_some())?;
    reading(call)
}

fn reading(call: &CallState) -> Option<LogReading> {
    let returned = call.returned.as_ref()?;
    let result: Value = serde_json::from_str(&returned.content).ok()?;
    if let Some(changed) = ChangedObjects::of_result(&result).filter(|_| !returned.is_error) {
        return Some(LogReading::Read(changed, call.observations.clone()));
    }
    let is_denied = result.get("status").and_then(Value::as_str) == Some("denied");
    Some(LogReading::Unread(
        if is_denied { "nobody consented to it" } else { "it could not be read" }.to_owned(),
    ))
}
