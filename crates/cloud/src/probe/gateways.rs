//! The gateways to other sites in a resource group, with connections, sites, circuits and what they learned, as `az` printed it.

use std::collections::VecDeque;

use ghost_base::Timestamp;
use ghost_inspect::path::{Cloud, Place, Reading};
use serde_json::{Value, json};

use crate::line::{self, Line};
use crate::operation::{CommandOutcome, CommandRequest, Next, Operation, ReadOperation};
use crate::{Name, ResourceGroup};

/// So many connections and gateways are asked one by one.
const MAX_ASKED: usize = 8;

/// What is read next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Gateways,
    Connections,
    Connection(Name),
    Sites,
    /// Of the group in which the other end of a connection is.
    Circuits(ResourceGroup),
    Peers(Name),
    Learned(Name),
    /// Of a connection, by the subscription of its id and its name.
    Trouble(Name, Name),
    Over,
}

/// Rows that are put together from several answers; or why one of them is missing.
type Rows = Result<Vec<Value>, String>;

/// Reads what the gateways of a group lead to. Without a gateway nothing else is read; an answer that is refused is kept as such.
#[derive(Debug)]
pub struct GatewayOperation {
    place: ResourceGroup,
    step: Step,
    reading: ReadOperation,
    waiting: VecDeque<Step>,
    connections: Rows,
    peers: Rows,
    learned: Rows,
    troubles: Vec<Value>,
    found: Cloud,
}

impl GatewayOperation {
    /// Begins.
    #[must_use]
    pub fn new(place: &ResourceGroup) -> Self {
        Self {
            reading: reading(line::virtual_gateways(place), "list the gateways", place),
            place: place.clone(),
            step: Step::Gateways,
            waiting: VecDeque::new(),
            connections: Ok(Vec::new()),
            peers: Ok(Vec::new()),
            learned: Ok(Vec::new()),
            troubles: Vec::new(),
            found: Cloud::default(),
        }
    }

    /// Puts what was read into the documents of an estate.
    pub fn into_cloud(found: Cloud, cloud: &mut Cloud) {
        cloud.virtual_gateways = found.virtual_gateways;
        cloud.connections = found.connections;
        cloud.local_gateways = found.local_gateways;
        cloud.circuits = found.circuits;
        cloud.bgp_peers = found.bgp_peers;
        cloud.learned_routes = found.learned_routes;
        cloud.troubles = found.troubles;
    }

    fn go(&mut self) {
        let step = self.waiting.pop_front().unwrap_or(Step::Over);
        let place = &self.place;
        let order = match &step {
            Step::Gateways => Some((line::virtual_gateways(place), "list the gateways".to_owned())),
            Step::Connections => {
                Some((line::connections(place), "list the connections of gateways".to_owned()))
            }
            Step::Connection(name) => {
                Some((line::connection(place, name), format!("see how the connection {name} is")))
            }
            Step::Sites => Some((line::local_gateways(place), "list the sites of connections".to_owned())),
            Step::Circuits(place) => Some((line::circuits(place), "list the circuits".to_owned())),
            Step::Peers(name) => {
                Some((line::bgp_peers(place, name), format!("see with whom {name} speaks BGP")))
            }
            Step::Learned(name) => {
                Some((line::learned_routes(place, name), format!("see which routes {name} learned")))
            }
            Step::Trouble(subscription, name) => Some((
                line::connection_trouble(place, subscription, name),
                format!("see what was found when the connection {name} was last examined"),
            )),
            Step::Over => None,
        };
        match order {
            Some((line, why)) => self.reading = reading(line, &why, place),
            None => self.finish(),
        }
        self.step = step;
    }

    fn finish(&mut self) {
        let whole = |rows: &Rows| match rows {
            Ok(rows) => Reading::Text(Value::Array(rows.clone()).to_string()),
            Err(error) => Reading::Failed { error: error.clone() },
        };
        self.found.connections = Some(whole(&self.connections));
        self.found.bgp_peers = Some(whole(&self.peers));
        self.found.learned_routes = Some(whole(&self.learned));
        self.found.troubles = Some(Reading::Text(Value::Array(self.troubles.clone()).to_string()));
    }

    /// Returns the group that an identifier names; its subscription only where it is another one than that of a connection.
    fn place_of(&self, id: Option<&str>, connection: Option<&str>) -> ResourceGroup {
        let own = || self.place.clone();
        let Some((there, here)) = id.and_then(Place::of).zip(connection.and_then(Place::of)) else {
            return own();
        };
        let subscription = match there.subscription == here.subscription {
            true => self.place.subscription.clone(),
            false => Name::parse(&there.subscription).ok(),
        };
        match Name::parse(&there.group) {
            Ok(group) if there != here => ResourceGroup { group, subscription },
            Ok(_) | Err(_) => own(),
        }
    }

    /// Plans what follows from an answer.
    fn follow(&mut self, rows: &[Value]) {
        match &self.step {
            Step::Gateways if !rows.is_empty() => self.waiting.extend([Step::Connections, Step::Sites]),
            Step::Connections => {
                let each = rows.iter().filter_map(name).take(MAX_ASKED).map(Step::Connection);
                self.waiting.extend(each);
                if rows.len() > MAX_ASKED {
                    self.connections = Err(format!("more than {MAX_ASKED} connections are not asked"));
                }
            }
            Step::Connection(own) => {
                let status = field(rows, "connectionStatus").and_then(Value::as_str).unwrap_or("Unknown");
                let is_down = ["NotConnected", "Connecting"].contains(&status);
                let leads = |end: &str| field(rows, end).is_some_and(|own| own.is_object()).then_some(());
                if is_down && leads("peer").is_none() {
                    let id = field(rows, "id").and_then(Value::as_str).unwrap_or_default();
                    let subscription = id.split('/').nth(2).and_then(|part| Name::parse(part).ok());
                    let step = subscription.map(|subscription| Step::Trouble(subscription, own.clone()));
                    self.waiting.extend(step);
                }
                let is_bgp = field(rows, "enableBgp").and_then(Value::as_bool).unwrap_or(false);
                let is_circuit = leads("peer").is_some();
                let gateway = field(rows, "virtualNetworkGateway1").and_then(|own| own.get("id")?.as_str());
                let gateway = gateway.and_then(|id| Name::parse(id.rsplit('/').next()?).ok());
                let mut more: Vec<Step> = Vec::new();
                if is_circuit {
                    let peer = field(rows, "peer").and_then(|own| own.get("id")?.as_str());
                    let own = field(rows, "id").and_then(Value::as_str);
                    more.push(Step::Circuits(self.place_of(peer, own)));
                }
                if let Some(gateway) = gateway.filter(|_| is_bgp || is_circuit) {
                    more.extend([Step::Peers(gateway.clone()), Step::Learned(gateway)]);
                }
                for step in more {
                    if !self.waiting.contains(&step) {
                        self.waiting.push_back(step);
                    }
                }
            }
            Step::Gateways
            | Step::Sites
            | Step::Circuits(_)
            | Step::Peers(_)
            | Step::Learned(_)
            | Step::Trouble(..)
            | Step::Over => {}
        }
    }
}

/// Returns a field of the first row, flat or not.
fn field<'a>(rows: &'a [Value], name: &str) -> Option<&'a Value> {
    let row = rows.first()?;
    row.get(name).or_else(|| row.pointer(&format!("/properties/{name}")))
}

fn name(row: &Value) -> Option<Name> {
    row.get("name").and_then(Value::as_str).and_then(|name| Name::parse(name).ok())
}

fn reading(line: Line, why: &str, place: &ResourceGroup) -> ReadOperation {
    let why = format!("{why} in {}", place.group);
    ReadOperation::new(CommandRequest::line(line, why.clone()), why)
}

/// Puts an answer under the name of whoever gave it, beside the others.
fn add(rows: &mut Rows, row: Result<Value, String>) {
    match (rows.as_mut(), row) {
        (Ok(rows), Ok(row)) => rows.push(row),
        (Ok(_), Err(error)) => *rows = Err(error),
        (Err(_), _) => {}
    }
}

impl Operation for GatewayOperation {
    type Result = Cloud;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match self.step {
            Step::Over => Next::Over(self.found.clone()),
            Step::Gateways
            | Step::Connections
            | Step::Connection(_)
            | Step::Sites
            | Step::Circuits(_)
            | Step::Peers(_)
            | Step::Learned(_)
            | Step::Trouble(..) => self.reading.next(now).map(|_| Cloud::default()),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(read) = self.reading.next(now) else { return };
        let reading = read.map_or_else(|issue| Reading::Failed { error: issue.text }, Reading::Text);
        let document = match &reading {
            Reading::Text(text) => serde_json::from_str::<Value>(text).map_err(|error| error.to_string()),
            Reading::Failed { error } => Err(error.clone()),
        };
        let rows = match &document {
            Ok(Value::Array(rows)) => rows.clone(),
            Ok(one) => vec![one.clone()],
            Err(_) => Vec::new(),
        };
        let of = |name: &Name, kind: &str| {
            document.clone().map(|mut answer| {
                if let Some(map) = answer.as_object_mut() {
                    map.insert(kind.to_owned(), json!(name.to_string()));
                }
                answer
            })
        };
        match &self.step {
            Step::Gateways => self.found.virtual_gateways = Some(reading.clone()),
            Step::Connections => {
                if let Err(error) = &document {
                    self.connections = Err(error.clone());
                }
            }
            Step::Connection(_) => add(&mut self.connections, document.clone()),
            Step::Sites => self.found.local_gateways = Some(reading.clone()),
            Step::Circuits(_) if self.found.circuits.is_none() => self.found.circuits = Some(reading.clone()),
            Step::Circuits(_) => {
                self.found.join(Cloud { circuits: Some(reading.clone()), ..Cloud::default() });
            }
            Step::Peers(gateway) => add(&mut self.peers, of(gateway, "gateway")),
            Step::Learned(gateway) => add(&mut self.learned, of(gateway, "gateway")),
            // Nobody may have let the platform look: then nothing is known beyond the state.
            Step::Trouble(_, connection) => self.troubles.extend(of(connection, "connection").ok()),
            Step::Over => {}
        }
        self.follow(&rows);
        self.go();
    }
}
