//! Notes of PagerDuty: `POST /incidents/ID/notes` of its REST interface, version 2.

use serde_json::json;

use super::error::SendError;
use super::request::Prepared;
use ghost_investigate::report::postmortem::Postmortem;

/// A note is a few lines beside an incident. This is a limit of ours, well below what the service takes.
pub const MAX_NOTE_CHARS: usize = 8_000;

/// Where notes are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagerDutyPlace {
    /// The address of the interface.
    pub url: String,
    /// The mail address of the user in whose name it is written.
    pub from: String,
    /// The id of the incident.
    pub incident: String,
}

/// Tells whether a text can be the id of an incident.
#[must_use]
pub fn is_incident(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Prepares a note.
///
/// # Errors
/// Fails where no incident can have that id.
pub fn pagerduty(place: &PagerDutyPlace, document: &Postmortem) -> Result<Prepared, SendError> {
    let incident = &place.incident;
    if !is_incident(incident) {
        return Err(SendError::Unusable { what: format!("{incident:?} is no id of an incident") });
    }
    Ok(Prepared {
        service: "PagerDuty",
        into: format!("incident {incident}"),
        url: format!("{}/incidents/{incident}/notes", place.url.trim_end_matches('/')),
        scheme: "Token",
        headers: vec![
            ("Accept", "application/vnd.pagerduty+json;version=2".to_owned()),
            ("From", place.from.clone()),
        ],
        body: json!({ "note": { "content": document.note(MAX_NOTE_CHARS) } }),
        place: "/note/id",
    })
}
