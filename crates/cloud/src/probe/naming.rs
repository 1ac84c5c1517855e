//! Private endpoints, private zones of names with their links and records, and whom accounts let in, as `az` printed them.

use ghost_base::Timestamp;
use ghost_inspect::path::{Cloud, Reading};
use serde_json::Value;

use crate::line::{self, Line};
use crate::operation::{CommandOutcome, CommandRequest, Next, Operation, ReadOperation};
use crate::{Name, ResourceGroup};

/// So many zones are read.
const MAX_ZONES: usize = 24;

/// What is read next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Endpoints,
    Zones { whole: bool },
    Links(usize),
    Records(usize),
    Accounts,
    Over,
}

/// Reads what names lead to. A list that cannot be read is kept as such.
#[derive(Debug)]
pub struct NamingOperation {
    place: ResourceGroup,
    step: Step,
    reading: ReadOperation,
    zones: Vec<(ResourceGroup, Name)>,
    links: Result<Vec<Value>, String>,
    records: Result<Vec<Value>, String>,
    found: Cloud,
}

impl NamingOperation {
    /// Begins.
    #[must_use]
    pub fn new(place: &ResourceGroup) -> Self {
        let step = Step::Endpoints;
        Self {
            reading: reading(line::private_endpoints(place), "private endpoints", place),
            place: place.clone(),
            step,
            zones: Vec::new(),
            links: Ok(Vec::new()),
            records: Ok(Vec::new()),
            found: Cloud::default(),
        }
    }

    /// Puts what was read into the documents of an estate.
    pub fn into_cloud(found: Cloud, cloud: &mut Cloud) {
        cloud.private_endpoints = found.private_endpoints;
        cloud.zones = found.zones;
        cloud.zone_links = found.zone_links;
        cloud.zone_records = found.zone_records;
        cloud.accounts = found.accounts;
    }

    /// Goes on to a step; one of a zone that is not there leads to the next.
    fn go(&mut self, step: Step) {
        let (line, what) = match &step {
            Step::Endpoints => (line::private_endpoints(&self.place), "private endpoints"),
            Step::Zones { whole } => (line::zones(&self.place, *whole), "private zones"),
            Step::Links(at) => match self.zones.get(*at) {
                Some((place, zone)) => (line::zone_links(place, zone), "links of a private zone"),
                None => return self.go(Step::Records(0)),
            },
            Step::Records(at) => match self.zones.get(*at) {
                Some((place, zone)) => (line::zone_records(place, zone), "records of a private zone"),
                None => return self.go(Step::Accounts),
            },
            Step::Accounts => (line::accounts(&self.place), "storage accounts"),
            Step::Over => {
                let whole = |rows: &Result<Vec<Value>, String>| match rows {
                    Ok(rows) => Reading::Text(Value::Array(rows.clone()).to_string()),
                    Err(error) => Reading::Failed { error: error.clone() },
                };
                self.found.zone_links = Some(whole(&self.links));
                self.found.zone_records = Some(whole(&self.records));
                self.step = step;
                return;
            }
        };
        self.reading = reading(line, what, &self.place);
        self.step = step;
    }

    /// Takes the zones of a list, each with its group.
    fn take_zones(&mut self, text: &str) {
        let rows: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
        let part = |id: &str, word: &str| {
            let mut parts = id.split('/');
            parts.find(|part| part.eq_ignore_ascii_case(word))?;
            parts.next().and_then(|part| Name::parse(part).ok())
        };
        let zone = |row: &Value| {
            let id = row.get("id")?.as_str()?;
            let group = part(id, "resourceGroups")?;
            let place = ResourceGroup { group, subscription: self.place.subscription.clone() };
            Some((place, part(id, "privateDnsZones")?))
        };
        self.zones = rows.iter().filter_map(zone).take(MAX_ZONES).collect();
    }
}

fn reading(line: Line, what: &str, place: &ResourceGroup) -> ReadOperation {
    let why = format!("list the {what} of {}", place.group);
    ReadOperation::new(CommandRequest::line(line, why), format!("listing the {what} of {}", place.group))
}

fn add(rows: &mut Result<Vec<Value>, String>, read: &Reading) {
    let more = match read {
        Reading::Text(text) => serde_json::from_str::<Vec<Value>>(text).map_err(|error| error.to_string()),
        Reading::Failed { error } => Err(error.clone()),
    };
    match (rows.as_mut(), more) {
        (Ok(rows), Ok(more)) => rows.extend(more),
        (Ok(_), Err(error)) => *rows = Err(error),
        (Err(_), _) => {}
    }
}

impl Operation for NamingOperation {
    type Result = Cloud;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match self.step {
            Step::Over => Next::Over(self.found.clone()),
            Step::Endpoints | Step::Zones { .. } | Step::Links(_) | Step::Records(_) | Step::Accounts => {
                self.reading.next(now).map(|_| Cloud::default())
            }
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(read) = self.reading.next(now) else { return };
        let reading = read.map_or_else(|issue| Reading::Failed { error: issue.text }, Reading::Text);
        match self.step.clone() {
            Step::Endpoints => {
                self.found.private_endpoints = Some(reading);
                self.go(Step::Zones { whole: false });
            }
            Step::Zones { whole } => match reading {
                Reading::Failed { .. } => {
                    self.found.zones = Some(reading);
                    self.go(Step::Accounts);
                }
                Reading::Text(text) => {
                    self.take_zones(&text);
                    // Zones often stand in another group, with whoever is in charge of names.
                    if self.zones.is_empty() && !whole {
                        self.go(Step::Zones { whole: true });
                        return;
                    }
                    self.found.zones = Some(Reading::Text(text));
                    self.go(Step::Links(0));
                }
            },
            Step::Links(at) => {
                add(&mut self.links, &reading);
                self.go(Step::Links(at + 1));
            }
            Step::Records(at) => {
                add(&mut self.records, &reading);
                self.go(Step::Records(at + 1));
            }
            Step::Accounts => {
                self.found.accounts = Some(reading);
                self.go(Step::Over);
            }
            Step::Over => {}
        }
    }
}
