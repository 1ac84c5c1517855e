//! The flow logs of networks: blobs of what the gates of interfaces decide about flows, minutes later.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::connect::{owner, rule_name};
use super::flow::{Packet, verdict};
use super::hop::choose;
use crate::azure::blob::{From, account, lets_in};
use crate::azure::cloud::Cloud;
use crate::azure::effective::{Nic, by_machine};
use crate::azure::target::Target;
use ghost_base::Timestamp;
use ghost_inspect::flowlog::{BLOBS, Window, hours};

const MINUTE: i64 = 60_000;
/// So late a line is in the log.
const DELAY: i64 = 3 * MINUTE;
/// From which port the first caller comes.
const EPHEMERAL: u16 = 41_000;

/// A flow that is tried once a minute for some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedFlow {
    /// The machine that calls.
    pub machine: String,
    /// Who is called.
    pub to: IpAddr,
    /// Whether it is UDP.
    pub is_udp: bool,
    /// The port that is called.
    pub port: u16,
    /// A rule of the called one that denied it, and is gone.
    pub rule: Option<String>,
    /// From when.
    pub since: Timestamp,
    /// Until when.
    pub until: Timestamp,
    /// Whether a packet comes back where the rules let it through.
    pub is_answered: bool,
}

/// What an interface decides about a flow.
#[derive(Debug, Clone)]
struct Decided {
    /// The ids of interface, subnet and network.
    places: Vec<String>,
    mac: String,
    /// Who calls.
    from: IpAddr,
    side: char,
    rule: String,
    is_denied: bool,
}

impl Cloud {
    /// Writes what the gates decide now about flows into the blobs of all logs that are on, as far as it is in the log by now.
    pub fn log_flows(&mut self, flows: &[LoggedFlow], now: Timestamp) {
        let logs: Vec<Value> =
            self.estate.of("Microsoft.Network/networkWatchers/flowLogs").cloned().collect();
        for log in logs {
            let records = flows.iter().flat_map(|flow| self.records(&log, flow, now)).collect::<Vec<_>>();
            let mut blobs: BTreeMap<String, Vec<(i64, String)>> = BTreeMap::new();
            for (name, at, record) in records {
                blobs.entry(name).or_default().push((at, record));
            }
            let Some(name) = storage(self, &log) else { continue };
            for (blob, mut records) in blobs {
                records.sort_by_key(|(at, _)| *at);
                let lines: Vec<String> = records.into_iter().map(|(_, record)| record).collect();
                let before = self.store.content(&name, BLOBS, &blob).unwrap_or_default();
                let before = String::from_utf8_lossy(&before).into_owned();
                let before = before.strip_suffix("]}").map(|text| format!("{text},"));
                let before = before.unwrap_or_else(|| "{\"records\":[".to_owned());
                let whole = format!("{before}{}]}}", lines.join(","));
                // A full account takes no more of it.
                self.store.write(&name, BLOBS, &blob, whole.as_bytes(), now);
            }
        }
    }

    /// Returns the records that a log has of a flow, each with its blob and its time.
    fn records(&self, log: &Value, flow: &LoggedFlow, now: Timestamp) -> Vec<(String, i64, String)> {
        let word = |place: &str| log.pointer(place).and_then(Value::as_str).unwrap_or_default();
        let target = word("/properties/targetResourceId").to_owned();
        let is_on = log.pointer("/properties/enabled").and_then(Value::as_bool) == Some(true);
        let Some(id) = Target::parse(word("/id")).filter(|_| is_on) else { return Vec::new() };
        let [(_, watcher), (_, name)] = id.chain.as_slice() else { return Vec::new() };
        let (subscription, group) = (id.subscription.as_deref(), id.group.as_deref());
        let folder =
            format!("/{}_{}/{watcher}_{name}/", subscription.unwrap_or_default(), group.unwrap_or_default());
        let folder = format!("flowLogResourceID={}", folder.to_ascii_uppercase());
        let mut found = Vec::new();
        let decided = self.decided(flow);
        let logged =
            decided.iter().filter(|one| one.places.iter().any(|id| id.eq_ignore_ascii_case(&target)));
        for one in logged {
            let mut at = flow.since.as_millis();
            let last = flow.until.as_millis().min(now.as_millis() - DELAY);
            let mut port = EPHEMERAL;
            while at <= last {
                let moment = u64::try_from(at).unwrap_or_default();
                let hour = hours(Window { from: moment, to: moment }).0.first().map(|hour| hour.folder());
                let blob = format!("{folder}{}macAddress={}/PT1H.json", hour.unwrap_or_default(), one.mac);
                let lines = lines(flow, one, (at, port));
                let record = json!({"flowLogVersion": 4,
                    "flowLogGUID": "66aa66aa-bb77-cc88-dd99-00ee00ee00ee", "macAddress": one.mac, "category": "FlowLogFlowEvent",
                    "flowLogResourceID": id.id().to_ascii_uppercase(), "targetResourceID": target,
                    "operationName": "FlowLogFlowEvent",
                    "flowRecords": {"flows": [{"aclID": "00aa00aa-bb11-cc22-dd33-44ee44ee44ee",
                        "flowGroups": [{"rule": one.rule, "flowTuples": lines}]}]}});
                // The time comes first, as the platform writes it.
                let rest = record.to_string();
                let rest = rest.strip_prefix('{').unwrap_or_default();
                found.push((blob, at, format!("{{\"time\":\"{}\",{rest}", Timestamp::from_millis(at))));
                at += MINUTE;
                port = port.saturating_add(1);
            }
        }
        found
    }

    /// Says what the interface of the caller decides, and where it lets the flow out and the flow comes there, that of the called one.
    fn decided(&self, flow: &LoggedFlow) -> Vec<Decided> {
        let machine = self.estate.of("Microsoft.Compute/virtualMachines").find(|found| {
            found
                .get("name")
                .and_then(Value::as_str)
                .is_some_and(|own| own.eq_ignore_ascii_case(&flow.machine))
        });
        let machine = machine.and_then(|found| found.get("id")?.as_str());
        let Some(nic) = machine.and_then(|id| by_machine(&self.estate, id)) else { return Vec::new() };
        let Some(from) = nic.addresses().first().and_then(|address| address.parse::<IpAddr>().ok()) else {
            return Vec::new();
        };
        let protocol = if flow.is_udp { "Udp" } else { "Tcp" };
        let packet =
            |direction| Packet { direction, protocol, from: (from, EPHEMERAL), to: (flow.to, flow.port) };
        let out = verdict(self, &nic, packet("Outbound"));
        let mut all = vec![decided(&nic, (from, 'O'), &out.rule, !out.allowed)];
        let hop = choose(self, &nic, flow.to);
        let comes = hop.is_some_and(|hop| hop.kind != "None" && hop.kind != "VirtualAppliance");
        if let Some(target) = owner(self, &nic, flow.to).filter(|_| out.allowed && comes) {
            let inward = verdict(self, &target, packet("Inbound"));
            let gone = flow.rule.as_ref().map(|rule| format!("securityRules/{rule}"));
            let (rule, is_denied) = gone.map_or((inward.rule, !inward.allowed), |rule| (rule, true));
            all.push(decided(&target, (from, 'I'), &rule, is_denied));
        }
        all
    }
}

fn decided(nic: &Nic<'_>, (from, side): (IpAddr, char), rule: &str, is_denied: bool) -> Decided {
    let id = |document: Option<&Value>| {
        document.and_then(|document| document.get("id")?.as_str()).map(str::to_owned)
    };
    let mac = nic.document.pointer("/properties/macAddress").and_then(Value::as_str).unwrap_or_default();
    let subnet = nic.document.pointer("/properties/ipConfigurations/0/properties/subnet/id");
    let subnet = subnet.and_then(Value::as_str).map(str::to_owned);
    Decided {
        places: [id(Some(nic.document)), subnet, id(nic.network)].into_iter().flatten().collect(),
        mac: mac.chars().filter(char::is_ascii_hexdigit).collect::<String>().to_ascii_uppercase(),
        from,
        side,
        rule: rule_name(rule),
        is_denied,
    }
}

/// Returns the lines of one try: a denial, or that it began and ended.
fn lines(flow: &LoggedFlow, decided: &Decided, (at, port): (i64, u16)) -> Vec<String> {
    let Decided { side, is_denied, .. } = decided;
    let protocol = if flow.is_udp { 17 } else { 6 };
    let source = decided.from;
    let line = |at: i64, state: &str, counts: &str| {
        format!("{at},{source},{},{port},{},{protocol},{side},{state},NX,{counts}", flow.to, flow.port)
    };
    match (is_denied, flow.is_answered) {
        (true, _) => vec![line(at, "D", "0,0,0,0")],
        (false, true) => vec![line(at, "B", "0,0,0,0"), line(at + 2_000, "E", "5,410,4,380")],
        (false, false) => vec![line(at, "B", "0,0,0,0"), line(at + 20_000, "E", "4,240,0,0")],
    }
}

/// Returns the account of a log, where it lets the platform in.
fn storage(cloud: &Cloud, log: &Value) -> Option<String> {
    let id = log.pointer("/properties/storageId").and_then(Value::as_str)?;
    let name = id.rsplit('/').next()?.to_ascii_lowercase();
    let found = account(cloud, &name)?;
    lets_in(cloud, found, &From::Platform).then_some(name)
}
