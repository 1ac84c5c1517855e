//! What takes connections for others in a resource group, with public addresses, as `az` printed it: load balancers and application
//! gateways.

use ghost_base::Timestamp;
use ghost_inspect::path::{Cloud, Reading};
use serde_json::{Value, json};

use crate::operation::{CommandOutcome, CommandRequest, Next, Operation, ReadOperation};
use crate::{Name, ResourceGroup, line};

/// What is read next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Balancers,
    Gateways,
    Publics,
    Over,
}

/// Reads the lists of what takes connections for others. One that cannot be read is kept as such.
#[derive(Debug)]
pub struct FrontendOperation {
    place: ResourceGroup,
    step: Step,
    reading: ReadOperation,
    found: Cloud,
}

impl FrontendOperation {
    /// Begins.
    #[must_use]
    pub fn new(place: &ResourceGroup) -> Self {
        let reading = reading(line::load_balancers(place), "load balancers", place);
        Self { reading, place: place.clone(), step: Step::Balancers, found: Cloud::default() }
    }

    /// Puts what was read into the documents of an estate.
    pub fn into_cloud(found: Cloud, cloud: &mut Cloud) {
        cloud.load_balancers = found.load_balancers;
        cloud.application_gateways = found.application_gateways;
        cloud.public_addresses = found.public_addresses;
    }
}

fn reading(line: line::Line, what: &str, place: &ResourceGroup) -> ReadOperation {
    let why = format!("list the {what} of {}", place.group);
    ReadOperation::new(CommandRequest::line(line, why), format!("listing the {what} of {}", place.group))
}

impl Operation for FrontendOperation {
    type Result = Cloud;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match self.step {
            Step::Over => Next::Over(self.found.clone()),
            Step::Balancers | Step::Gateways | Step::Publics => {
                self.reading.next(now).map(|_| Cloud::default())
            }
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(read) = self.reading.next(now) else { return };
        let reading_of = Some(read.map_or_else(|issue| Reading::Failed { error: issue.text }, Reading::Text));
        match self.step {
            Step::Balancers => {
                self.found.load_balancers = reading_of;
                let line = line::application_gateways(&self.place);
                self.reading = reading(line, "application gateways", &self.place);
                self.step = Step::Gateways;
            }
            Step::Gateways => {
                self.found.application_gateways = reading_of;
                let line = line::public_addresses(&self.place);
                self.reading = reading(line, "public addresses", &self.place);
                self.step = Step::Publics;
            }
            Step::Publics => {
                self.found.public_addresses = reading_of;
                self.step = Step::Over;
            }
            Step::Over => {}
        }
    }
}

/// Asks an application gateway how the servers behind it are.
#[derive(Debug)]
pub struct HealthOperation {
    gateway: Name,
    reading: ReadOperation,
    found: Option<Value>,
}

impl HealthOperation {
    /// Begins.
    #[must_use]
    pub fn new(place: &ResourceGroup, gateway: &Name) -> Self {
        let why = format!("see how the servers behind {gateway} are");
        let line = line::backend_health(place, gateway);
        let reading = ReadOperation::new(CommandRequest::line(line, why.clone()), why);
        Self { gateway: gateway.clone(), reading, found: None }
    }

    /// Puts what was read beside what was read of other gateways.
    pub fn into_cloud(found: Value, cloud: &mut Cloud) {
        let before = match cloud.backend_health.take() {
            Some(Reading::Text(text)) => serde_json::from_str::<Vec<Value>>(&text).unwrap_or_default(),
            Some(Reading::Failed { .. }) | None => Vec::new(),
        };
        let is_other = |row: &Value| row.get("gateway") != found.get("gateway");
        let mut rows: Vec<Value> = before.into_iter().filter(is_other).collect();
        rows.push(found);
        cloud.backend_health = Some(Reading::Text(Value::Array(rows).to_string()));
    }
}

impl Operation for HealthOperation {
    type Result = Value;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match &self.found {
            Some(found) => Next::Over(found.clone()),
            None => self.reading.next(now).map(|_| Value::Null),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(read) = self.reading.next(now) else { return };
        let read = read.map_err(|issue| issue.text);
        let row =
            read.and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| error.to_string()));
        let mut row = match row {
            Ok(row) if row.is_object() => row,
            Ok(_) => json!({"error": "it is no object"}),
            Err(error) => json!({ "error": error }),
        };
        if let Some(map) = row.as_object_mut() {
            // To the second, as certificates have it.
            let at: String = now.to_string().chars().take(19).collect();
            map.insert("gateway".to_owned(), json!(self.gateway.to_string()));
            map.insert("readAt".to_owned(), json!(format!("{at}Z")));
        }
        self.found = Some(row);
    }
}
