//! What the platform says of itself: its events, and how it sees a machine.

use ghost_base::Timestamp;
use ghost_inspect::path::{Cloud, Reading};
use serde_json::{Value, json};

use crate::line::{self, Line};
use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation, ReadOperation};
use crate::{Name, ResourceGroup};

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Asked {
    Events,
    Machine(Name),
}

/// Reads one answer, and notes when. A right that is missing is kept as such, and nothing else is lost with it.
#[derive(Debug)]
pub struct PlatformHealthOperation {
    asked: Asked,
    reading: ReadOperation,
    found: Option<(Result<Value, String>, Timestamp)>,
}

/// An answer, until it is put among the documents of an estate.
#[derive(Debug, Clone)]
pub struct PlatformHealth {
    asked: Asked,
    answer: Result<Value, String>,
    at: Timestamp,
}

impl PlatformHealthOperation {
    /// Begins to list the events of the platform.
    #[must_use]
    pub fn events(place: &ResourceGroup) -> Self {
        Self::new(Asked::Events, line::platform_events(place), "see whether the platform has an event")
    }

    /// Begins to ask how the platform sees a machine.
    #[must_use]
    pub fn machine(place: &ResourceGroup, machine: &Name) -> Self {
        let why = format!("see whether the platform took {machine} away");
        Self::new(Asked::Machine(machine.clone()), line::availability(place, machine), &why)
    }

    fn new(asked: Asked, line: Line, why: &str) -> Self {
        let reading = ReadOperation::new(CommandRequest::line(line, why.to_owned()), why.to_owned());
        Self { asked, reading, found: None }
    }
}

impl PlatformHealth {
    /// Puts the answer into the documents of an estate, beside what is known of other machines.
    pub fn into_cloud(self, cloud: &mut Cloud) {
        let failed = |error: &String| Reading::Failed { error: error.clone() };
        let with = |document: &Value, name: &str, value: String| {
            let mut document = document.clone();
            if let Some(map) = document.as_object_mut() {
                map.insert(name.to_owned(), json!(value));
            }
            document
        };
        match &self.asked {
            Asked::Events => {
                cloud.platform_events = Some(match &self.answer {
                    Ok(found) => Reading::Text(with(found, "readAt", self.at.to_string()).to_string()),
                    Err(error) => failed(error),
                });
            }
            Asked::Machine(machine) => {
                let mut known: Vec<Value> = match &cloud.availability {
                    Some(Reading::Text(text)) => serde_json::from_str(text).unwrap_or_default(),
                    Some(Reading::Failed { .. }) | None => Vec::new(),
                };
                // Of one that could not be asked nothing is known, and it is asked once.
                let own = match &self.answer {
                    Ok(found) => found.clone(),
                    Err(_) => json!({"properties": {"availabilityState": "Unknown"}}),
                };
                known.push(with(&own, "machine", machine.to_string()));
                cloud.availability = Some(Reading::Text(Value::Array(known).to_string()));
            }
        }
    }
}

impl Operation for PlatformHealthOperation {
    type Result = PlatformHealth;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match &self.found {
            Some((answer, at)) => {
                Next::Over(PlatformHealth { asked: self.asked.clone(), answer: answer.clone(), at: *at })
            }
            None => self.reading.next(now).map(|_| PlatformHealth {
                asked: self.asked.clone(),
                answer: Err("nobody answered".to_owned()),
                at: now,
            }),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(read) = self.reading.next(now) else { return };
        let document = read
            .map_err(|issue: Issue| issue.text)
            .and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| error.to_string()));
        self.found = Some((document, now));
    }
}
