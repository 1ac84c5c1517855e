//! What the platform says of itself: events of its services in regions, and how it sees a machine.
//!
//! An event counts only while it lasts, for the services and regions that it names. Advice is none, however long it stays active.

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::bundle::Cloud;
use super::document::Known;
use super::topology::{Decoded, has, inner, rows};
use crate::net::{DocumentError, Fields, document};

/// The kinds of events by which something stops or suffers.
const HARMFUL: [&str; 2] = ["ServiceIssue", "PlannedMaintenance"];

/// What an event calls a service that is in every region.
const EVERYWHERE: &str = "global";

/// An event that lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Its tracking id.
    pub(super) id: String,
    pub(super) title: String,
    /// When it began, as it is written.
    pub(super) since: Option<String>,
    /// Each service with one region of it, as written and not ended there.
    places: Vec<(String, String)>,
}

impl Event {
    /// Returns the service and the region by which it concerns one of some services in one of some regions.
    pub(super) fn concerns(&self, services: &[&str], regions: &[&str]) -> Option<(&str, &str)> {
        let is_service = |own: &str| {
            // `VPN Gateway \\ Virtual WAN` is a part of its service.
            let whole = own.split('\\').next().unwrap_or(own).trim();
            services.iter().any(|service| service.eq_ignore_ascii_case(whole))
        };
        let is_region = |own: &str| {
            let own = folded(own);
            own == EVERYWHERE || regions.iter().any(|region| folded(region) == own)
        };
        let found = self.places.iter().find(|(service, region)| is_service(service) && is_region(region))?;
        Some((&found.0, &found.1))
    }
}

/// How the platform sees a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Availability {
    pub(super) machine: String,
    pub(super) state: State,
    /// The words of the platform.
    pub(super) summary: String,
}

/// Whether a machine is there, and who is the reason where it is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// The platform took it away; the id of its event, where that is said.
    ByPlatform(Option<String>),
    /// It is there, or whoever owns it stopped it, or it is not known.
    Other,
}

/// Reads events: those that last and do harm.
pub(super) fn events(cloud: &Cloud) -> Known<Vec<Event>> {
    Known::of(cloud.platform_events.as_ref(), |text| {
        let read_at = document(text).map_err(|error| error.to_string())?;
        let read_at = read_at.text("readAt").and_then(moment);
        let is_row = |map: &Map<String, Value>| has(map, "eventType");
        let read: Result<Decoded<Option<Event>>, DocumentError> =
            rows(text, "events of the platform", is_row, |row, _| Some(event(row, read_at)));
        let (found, _) = read.map_err(|error| error.to_string())?;
        Ok(found.into_iter().flatten().collect())
    })
}

fn event(row: &Value, read_at: Option<OffsetDateTime>) -> Option<Event> {
    let body = inner(row);
    let is = |field: &str, word: &str| body.text(field).is_some_and(|own| own.eq_ignore_ascii_case(word));
    let begins = body.text("impactStartTime");
    let has_begun = match (begins.and_then(moment), read_at) {
        (Some(begins), Some(read_at)) => begins <= read_at,
        (Some(_) | None, _) => true,
    };
    if !HARMFUL.iter().any(|kind| is("eventType", kind)) || !is("status", "Active") || !has_begun {
        return None;
    }
    let list = |of: &Value, name: &str| of.field(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut places = Vec::new();
    for impact in list(body, "impact") {
        let Some(service) = impact.text("impactedService").map(str::to_owned) else { continue };
        for region in list(&impact, "impactedRegions") {
            let is_over = region.text("status").is_some_and(|status| status.eq_ignore_ascii_case("Resolved"));
            let name = region.text("impactedRegion").filter(|_| !is_over);
            places.extend(name.map(|name| (service.clone(), name.to_owned())));
        }
    }
    Some(Event {
        id: row.text("name").or_else(|| body.text("trackingId"))?.to_owned(),
        title: body.text("title").unwrap_or_default().to_owned(),
        since: begins.map(str::to_owned),
        places,
    })
}

/// Reads how the platform sees machines.
pub(super) fn availability(cloud: &Cloud) -> Known<Vec<Availability>> {
    Known::of(cloud.availability.as_ref(), |text| {
        let is_row = |map: &Map<String, Value>| has(map, "availabilityState");
        let read = rows(text, "states of machines", is_row, |row, _| {
            let body = inner(row);
            Some(Availability {
                machine: row.text("machine")?.to_owned(),
                state: state(body),
                summary: body.text("summary").or_else(|| body.text("title")).unwrap_or_default().to_owned(),
            })
        });
        let (found, _) = read.map_err(|error: DocumentError| error.to_string())?;
        Ok(found)
    })
}

fn state(body: &Value) -> State {
    let words = |field: &str| body.text(field).map(folded).unwrap_or_default();
    let by_user = ["reasonType", "context", "healthEventCause"].iter().any(|field| {
        let said = words(field);
        said.contains("user") || said.contains("customer")
    });
    let by_platform = ["planned", "unplanned"].contains(&words("reasonType").as_str())
        || words("context").contains("platform")
        || words("healthEventCause").contains("platform");
    let is_gone = words("availabilityState") == "unavailable";
    match is_gone && by_platform && !by_user {
        true => State::ByPlatform(body.text("healthEventId").filter(|id| !id.is_empty()).map(str::to_owned)),
        false => State::Other,
    }
}

/// Writes a name as regions are written in places: without case and spaces.
fn folded(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase).collect()
}

fn moment(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}
