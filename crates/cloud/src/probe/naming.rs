//! Private endpoints, private zones of names with their links and records, and whom accounts let in, as `az` printed them.

use ghost_base::{Limit, Timestamp};
use ghost_inspect::path::{Cloud, Place, Reading};
use serde_json::Value;

use super::resource::behind;
use crate::line::{self, Line};
use crate::operation::{CommandOutcome, CommandRequest, Next, Operation, ReadOperation};
use crate::{Name, ResourceGroup};

/// How many private zones are read: a hub holds one for each service of the platform.
const ZONES: Limit = Limit::new("naming.zones", 128);
/// In how many other groups accounts are read to which endpoints lead.
const TARGETS: Limit = Limit::new("naming.targets", 16);

/// What is read next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Endpoints,
    Zones {
        whole: bool,
    },
    Links(usize),
    Records(usize),
    Accounts,
    /// Those to which endpoints lead and that are somewhere else.
    Targets(usize),
    Over,
}

/// Reads what names lead to. A list that cannot be read is kept as such.
#[derive(Debug)]
pub struct NamingOperation {
    place: ResourceGroup,
    /// Whether zones of the whole subscription are asked for before those of the group.
    whole_first: bool,
    targets: Vec<ResourceGroup>,
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
            whole_first: false,
            targets: Vec::new(),
            step,
            zones: Vec::new(),
            links: Ok(Vec::new()),
            records: Ok(Vec::new()),
            found: Cloud::default(),
        }
    }

    /// Begins in a group beside: who is in charge of names may keep them in any group of its subscription.
    #[must_use]
    pub fn beside(place: &ResourceGroup) -> Self {
        Self { whole_first: true, ..Self::new(place) }
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
            Step::Targets(at) => match self.targets.get(*at) {
                Some(place) => (line::accounts(place), "storage accounts behind private endpoints"),
                None => return self.go(Step::Over),
            },
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
        self.zones = rows.iter().filter_map(zone).collect();
        let cut = ZONES.cut(&mut self.zones);
        if cut > 0 {
            // Whether one of the others is linked, or holds the name, is not known.
            let why = format!("{cut} more private zones were not read");
            (self.links, self.records) = (Err(why.clone()), Err(why));
        }
    }
}

/// Returns the groups of accounts to which endpoints lead, where they are others.
fn targets(text: &str, near: &ResourceGroup) -> Vec<ResourceGroup> {
    let rows: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let mut found: Vec<ResourceGroup> = Vec::new();
    for row in &rows {
        let own = row.get("id").and_then(Value::as_str).and_then(Place::of);
        let lists = ["privateLinkServiceConnections", "manualPrivateLinkServiceConnections"];
        let lists = lists.iter().filter_map(|list| {
            row.get(list).or_else(|| row.pointer(&format!("/properties/{list}")))?.as_array()
        });
        for connection in lists.flatten() {
            let id = connection
                .get("privateLinkServiceId")
                .or_else(|| connection.pointer("/properties/privateLinkServiceId"));
            let id = id.and_then(Value::as_str).filter(|id| behind(id, "storageAccounts").is_some());
            let Some((place, own)) = id.and_then(Place::of).zip(own.clone()) else { continue };
            let is_same = place.subscription == own.subscription;
            let subscription =
                if is_same { near.subscription.clone() } else { Name::parse(&place.subscription).ok() };
            let Ok(group) = Name::parse(&place.group) else { continue };
            let there = ResourceGroup { subscription, group };
            if place != own && !found.contains(&there) && found.len() < TARGETS.most() {
                found.push(there);
            }
        }
    }
    found
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
            Step::Endpoints
            | Step::Zones { .. }
            | Step::Links(_)
            | Step::Records(_)
            | Step::Accounts
            | Step::Targets(_) => self.reading.next(now).map(|_| Cloud::default()),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(read) = self.reading.next(now) else { return };
        let reading = read.map_or_else(|issue| Reading::Failed { error: issue.text }, Reading::Text);
        match self.step.clone() {
            Step::Endpoints => {
                if let Reading::Text(text) = &reading {
                    self.targets = targets(text, &self.place);
                }
                self.found.private_endpoints = Some(reading);
                self.go(Step::Zones { whole: self.whole_first });
            }
            Step::Zones { whole } => match reading {
                // A role at the group alone does not list the subscription.
                Reading::Failed { .. } if whole && self.whole_first => self.go(Step::Zones { whole: false }),
                Reading::Failed { .. } => {
                    self.found.zones = Some(reading);
                    self.go(Step::Accounts);
                }
                Reading::Text(text) => {
                    self.take_zones(&text);
                    // Zones often stand in another group, with whoever is in charge of names.
                    if self.zones.is_empty() && !whole && !self.whole_first {
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
                self.go(Step::Targets(0));
            }
            Step::Targets(at) => {
                // Of one that is closed only whom it lets in is not known.
                if let Reading::Text(_) = reading {
                    self.found.join(Cloud { accounts: Some(reading), ..Cloud::default() });
                }
                self.go(Step::Targets(at + 1));
            }
            Step::Over => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_not_every_zone_is_read_no_link_and_no_record_is_missing() {
        let place = ResourceGroup { subscription: None, group: Name::parse("rg").unwrap() };
        let zone = |name: &str| {
            serde_json::json!({"id": format!(
                "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/privateDnsZones/{name}"
            )})
        };
        let text = serde_json::json!([zone("a.example"), zone("b.example")]).to_string();
        let mut whole = NamingOperation::new(&place);
        whole.take_zones(&text);
        assert!(whole.links.is_ok() && whole.zones.len() == 2);
        let mut cut = NamingOperation::new(&place);
        Limit::lowered("naming.zones", || cut.take_zones(&text));
        assert_eq!(cut.records, Err("1 more private zones were not read".to_owned()));
        assert!(cut.links.is_err());
    }
}
