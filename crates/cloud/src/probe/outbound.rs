//! NAT gateways, and how often calls to the internet found no free port, as `az` printed it.

use ghost_base::Timestamp;
use ghost_inspect::path::{Cloud, Reading};
use serde_json::Value;

use crate::line;
use crate::operation::{CommandOutcome, CommandRequest, Next, Operation, ReadOperation};
use crate::{Name, ResourceGroup};

/// So many resources are asked for their counts.
const MAX_COUNTED: usize = 6;

/// A resource that translates addresses: its subscription, its group, its type, its name.
type Translator = (Name, ResourceGroup, &'static str, Name);

/// Reads the NAT gateways, then the counts of each, and of the load balancers that are known. One that cannot be read is kept as such.
#[derive(Debug)]
pub struct OutboundOperation {
    place: ResourceGroup,
    reading: ReadOperation,
    gateways: Option<Reading>,
    translators: Vec<Translator>,
    counted: usize,
    counts: Vec<Value>,
    /// Why the last of those that could not be counted could not.
    failed: Option<String>,
}

impl OutboundOperation {
    /// Begins.
    #[must_use]
    pub fn new(place: &ResourceGroup, cloud: &Cloud) -> Self {
        let why = format!("list the NAT gateways of {}", place.group);
        let doing = format!("listing the NAT gateways of {}", place.group);
        let balancers = match &cloud.load_balancers {
            Some(Reading::Text(text)) => translators(text, place, "loadBalancers", is_public),
            Some(Reading::Failed { .. }) | None => Vec::new(),
        };
        Self {
            place: place.clone(),
            reading: ReadOperation::new(CommandRequest::line(line::nat_gateways(place), why), doing),
            gateways: None,
            translators: balancers,
            counted: 0,
            counts: Vec::new(),
            failed: None,
        }
    }

    /// Puts what was read into the documents of an estate.
    pub fn into_cloud(found: (Reading, Reading), cloud: &mut Cloud) {
        let (gateways, counts) = found;
        cloud.nat_gateways = Some(gateways);
        cloud.failed_connections = Some(counts);
    }

    fn is_over(&self) -> bool {
        self.gateways.is_some() && self.counted >= self.translators.len()
    }

    fn count(&mut self) {
        let Some((subscription, place, kind, name)) = self.translators.get(self.counted) else { return };
        let line = line::failed_connections(place, subscription, kind, name);
        let why = format!("count the calls for which {name} had no free port");
        let doing = format!("counting the failed calls of {name}");
        self.reading = ReadOperation::new(CommandRequest::line(line, why), doing);
    }
}

/// Tells whether a load balancer has a frontend on the internet: no other one translates.
fn is_public(balancer: &Value) -> bool {
    let field = |of: &Value, name: &str| {
        let mut all = of.as_object().into_iter().flatten();
        all.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
    };
    let frontends = field(balancer, "frontendIPConfigurations").unwrap_or_default();
    let mut frontends = frontends.as_array().into_iter().flatten();
    frontends.any(|own| field(own, "publicIPAddress").is_some_and(|address| address.is_object()))
}

/// Returns the resources of a list that a test lets through, by their ids.
fn translators(
    text: &str,
    near: &ResourceGroup,
    kind: &'static str,
    test: fn(&Value) -> bool,
) -> Vec<Translator> {
    let rows: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let translator = |row: &Value| {
        let id = row.get("id")?.as_str()?;
        let part = |word: &str| {
            let mut parts = id.split('/');
            parts.find(|part| part.eq_ignore_ascii_case(word))?;
            parts.next().and_then(|part| Name::parse(part).ok())
        };
        let place = ResourceGroup { group: part("resourceGroups")?, subscription: near.subscription.clone() };
        Some((part("subscriptions")?, place, kind, part(kind)?))
    };
    rows.iter().filter(|row| test(row)).filter_map(translator).take(MAX_COUNTED).collect()
}

impl Operation for OutboundOperation {
    type Result = (Reading, Reading);

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        let nothing = || Reading::Failed { error: "it was not read".to_owned() };
        match &self.gateways {
            Some(gateways) if self.is_over() => {
                // One that counts something else does not hide what the others count.
                let counts = match &self.failed {
                    Some(error) if self.counts.is_empty() => Reading::Failed { error: error.clone() },
                    Some(_) | None => Reading::Text(Value::Array(self.counts.clone()).to_string()),
                };
                Next::Over((gateways.clone(), counts))
            }
            Some(_) | None => self.reading.next(now).map(|_| (nothing(), nothing())),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(read) = self.reading.next(now) else { return };
        let reading = read.map_or_else(|issue| Reading::Failed { error: issue.text }, Reading::Text);
        if self.gateways.is_none() {
            if let Reading::Text(text) = &reading {
                let balancers = std::mem::replace(
                    &mut self.translators,
                    translators(text, &self.place, "natGateways", |_| true),
                );
                self.translators.extend(balancers);
                self.translators.truncate(MAX_COUNTED);
            }
            self.gateways = Some(reading);
        } else {
            self.counted += 1;
            let row = match reading {
                Reading::Text(text) => serde_json::from_str(&text).map_err(|error| error.to_string()),
                Reading::Failed { error } => Err(error),
            };
            match row {
                Ok(row) => self.counts.push(row),
                Err(error) => self.failed = Some(error),
            }
        }
        self.count();
    }
}
