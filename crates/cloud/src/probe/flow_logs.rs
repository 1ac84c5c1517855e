//! Flow logs of networks: which there are, and what they show of some flows in the last hours.
//!
//! Bounded: so many hours, blobs and bytes; what was left out is said. A right that is missing is kept as such, and nothing else is lost.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use ghost_base::Timestamp;
use ghost_inspect::flowlog::{BLOBS, Log, Question, Seen, Window, hours, mac_of};
use ghost_inspect::path::{
    Cloud, Estate, Flow, FlowLogs, LoggedNic, ReadLog, Reading, UnreadLog, protocol_number,
};
use serde_json::Value;

use crate::line::{self, Line};
use crate::name::{Account, Container};
use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation, ReadOperation};
use crate::{Name, ResourceGroup};

/// So far back logs are read.
const MAX_AGE_MILLIS: u64 = 2 * 3_600_000;
/// So many blobs are read, one for each interface and hour.
const MAX_BLOBS: usize = 8;
/// So many bytes of each: the last ones.
const MAX_BLOB_BYTES: u64 = 4 << 20;
/// The role that opens the blobs.
const ROLE: &str = "Storage Blob Data Reader";

/// What is asked of flow logs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowLogQuery {
    /// The interfaces whose flows are looked for.
    nics: Vec<LoggedNic>,
    /// Source, destination, protocol and port of each flow.
    flows: Vec<(IpAddr, IpAddr, u8, Option<u16>)>,
}

impl FlowLogQuery {
    /// Returns what to ask about some flows; nothing where no log would help.
    #[must_use]
    pub fn of(estate: &Estate, flows: &[Flow]) -> Option<Self> {
        let nics = estate.logged_ends(flows);
        let asked = |flow: &Flow| (flow.src, flow.dst, protocol_number(flow.protocol), flow.dst_port);
        (!nics.is_empty()).then(|| Self { nics, flows: flows.iter().map(asked).collect() })
    }

    /// Tells whether whatever another query asks is asked by this one.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        other.nics.iter().all(|nic| self.nics.contains(nic))
            && other.flows.iter().all(|flow| self.flows.contains(flow))
    }

    fn regions(&self) -> Vec<Name> {
        let mut all: Vec<&str> = self.nics.iter().map(|nic| nic.region.as_str()).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().filter_map(|region| Name::parse(region).ok()).collect()
    }
}

/// A log that is on and logs one of the interfaces.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    name: String,
    of: String,
    account: Account,
    /// The group of the account, so that a listing inside the scope of a session shows it.
    group: ResourceGroup,
    /// The folder of its blobs.
    folder: String,
    macs: Vec<String>,
}

/// A command that is still to run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Task {
    Logs(Name),
    Account(Found),
    Blobs(Found, String),
    Part(Found, String, u64),
}

/// Lists the logs of the regions, then the blobs of the hours, then reads those of the interfaces.
#[derive(Debug)]
pub struct FlowLogOperation {
    place: ResourceGroup,
    query: FlowLogQuery,
    tasks: VecDeque<Task>,
    reading: ReadOperation,
    read: FlowLogs,
    /// The lines that were read, by log and what it logs.
    lines: BTreeMap<(String, String), Log>,
    blobs: usize,
}

impl FlowLogOperation {
    /// Begins.
    #[must_use]
    pub fn new(place: &ResourceGroup, query: &FlowLogQuery) -> Self {
        let tasks: VecDeque<Task> = query.regions().into_iter().map(Task::Logs).collect();
        let reading = reading(place, tasks.front());
        let (read, lines) = (FlowLogs::default(), BTreeMap::new());
        Self { place: place.clone(), query: query.clone(), tasks, reading, read, lines, blobs: 0 }
    }

    /// Puts what was read among the documents of an estate, beside what was read for other flows.
    pub fn into_cloud(read: FlowLogs, cloud: &mut Cloud) {
        let known: FlowLogs = match &cloud.flow_logs {
            Some(Reading::Text(text)) => serde_json::from_str(text).unwrap_or_default(),
            Some(Reading::Failed { .. }) | None => FlowLogs::default(),
        };
        let mut whole = FlowLogs { read_at: read.read_at, ..known };
        for log in read.read {
            let of = |own: &&mut ReadLog| (&own.log, &own.of) == (&log.log, &log.of);
            let Some(own) = whole.read.iter_mut().find(of) else {
                whole.read.push(log);
                continue;
            };
            // What was read again of a flow counts once.
            own.seen.retain(|seen| !log.seen.iter().any(|new| is_same(seen, new)));
            own.seen.extend(log.seen);
        }
        for one in read.unread {
            if !whole.unread.contains(&one) {
                whole.unread.push(one);
            }
        }
        cloud.flow_logs = serde_json::to_string(&whole).ok().map(Reading::Text);
    }

    fn unread(&mut self, log: impl Into<String>, why: impl Into<String>, is_closed: bool) {
        let one = UnreadLog { log: log.into(), why: why.into(), is_closed };
        if !self.read.unread.contains(&one) {
            self.read.unread.push(one);
        }
    }

    /// Takes the answer of a task.
    fn take(&mut self, task: Task, answer: Result<String, Issue>, now: Timestamp) {
        match (task, answer) {
            (Task::Logs(region), answer) => match answer.and_then(|text| rows(&text)) {
                Ok(all) => all.iter().for_each(|log| self.log(log)),
                Err(issue) => self.unread(format!("the list of flow logs of {region}"), issue.text, true),
            },
            (Task::Account(found), Ok(_)) => self.hours(&found, now),
            (Task::Account(found), Err(issue)) => self.refused(&found, &issue),
            (Task::Blobs(found, _), answer) => match answer.and_then(|text| rows(&text)) {
                Ok(all) => self.blobs(&found, &all),
                Err(issue) => self.refused(&found, &issue),
            },
            (Task::Part(found, _, first), Ok(text)) => self.part(&found, first, &text),
            (Task::Part(found, ..), Err(issue)) => self.refused(&found, &issue),
        }
    }

    /// Takes one log: whether it is on, and for which of the interfaces.
    fn log(&mut self, log: &Value) {
        let text = |name: &str| log.get(name).and_then(Value::as_str).unwrap_or_default();
        let target = text("targetResourceId");
        let nics = self.query.nics.iter().filter(|nic| logs(target, nic));
        let macs: Vec<String> = nics.map(|nic| nic.mac.clone()).collect();
        let is_on = log.get("enabled").and_then(Value::as_bool) == Some(true);
        if macs.is_empty() || !is_on {
            return;
        }
        let of = target.rsplit('/').next().unwrap_or_default().to_owned();
        let name = text("name").to_owned();
        let account = text("storageId").rsplit('/').next().and_then(|name| Account::parse(name).ok());
        let group = self.group(text("id"), text("storageId"));
        let Some(((account, folder), group)) = account.zip(folder(text("id"))).zip(group) else {
            return self.unread(format!("the flow log {name}"), "where its blobs are is not said", true);
        };
        self.tasks.push_back(Task::Account(Found { name, of, account, group, folder, macs }));
    }

    /// Returns the group of an account, with its subscription where that is another one than the log's.
    fn group(&self, log: &str, account: &str) -> Option<ResourceGroup> {
        let part = |id: &str, at: usize| id.split('/').nth(at).map(str::to_owned);
        let (own, other) = (part(log, 2)?, part(account, 2)?);
        let subscription = match own.eq_ignore_ascii_case(&other) {
            true => self.place.subscription.clone(),
            false => Some(Name::parse(&other).ok()?),
        };
        Some(ResourceGroup { group: Name::parse(&part(account, 4)?).ok()?, subscription })
    }

    /// Goes on to the last hours of a log.
    fn hours(&mut self, found: &Found, now: Timestamp) {
        let until = u64::try_from(now.as_millis()).unwrap_or_default();
        let window = Window { from: until.saturating_sub(MAX_AGE_MILLIS), to: until };
        let folders =
            hours(window).0.into_iter().rev().map(|hour| format!("{}{}", found.folder, hour.folder()));
        let tasks: Vec<Task> = folders.map(|folder| Task::Blobs(found.clone(), folder)).collect();
        self.tasks.extend(tasks);
    }

    /// Takes the blobs of an hour that are of the interfaces.
    fn blobs(&mut self, found: &Found, all: &[Value]) {
        for blob in all {
            let name = blob.get("name").and_then(Value::as_str).unwrap_or_default();
            let size = blob.pointer("/properties/contentLength").and_then(Value::as_u64).unwrap_or(0);
            if size == 0 || !mac_of(name).is_some_and(|mac| found.macs.contains(&mac)) {
                continue;
            }
            if self.blobs >= MAX_BLOBS {
                let why = format!("more than {MAX_BLOBS} blobs of interfaces and hours are not read");
                return self.unread(format!("a part of the flow log {}", found.name), why, false);
            }
            self.blobs += 1;
            let first = size.saturating_sub(MAX_BLOB_BYTES);
            if first > 0 {
                let why = format!("of an hour only the last {MAX_BLOB_BYTES} bytes are read");
                self.unread(format!("a part of the flow log {}", found.name), why, false);
            }
            self.tasks.push_back(Task::Part(found.clone(), name.to_owned(), first));
        }
    }

    /// Takes the lines of a part of a blob.
    fn part(&mut self, found: &Found, first: u64, text: &str) {
        let log = self.lines.entry((found.name.clone(), found.of.clone())).or_default();
        match first {
            0 => log.add_blob(text.as_bytes()),
            _ => log.add_end(text.as_bytes()),
        }
    }

    /// Returns what was read, with what the lines show of the flows.
    fn whole(&self) -> FlowLogs {
        let mut whole = self.read.clone();
        let window = Window { from: 0, to: u64::MAX };
        for ((log, of), lines) in &self.lines {
            let seen = self.query.flows.iter().flat_map(|(source, destination, protocol, port)| {
                let (source, destination, protocol, port) = (*source, *destination, *protocol, *port);
                lines.ask(&Question { source, destination, protocol, port, window })
            });
            whole.read.push(ReadLog { log: log.clone(), of: of.clone(), seen: seen.collect() });
            if lines.unread.lines > 0 || lines.unread.beyond > 0 {
                let log = format!("a part of the flow log {log}");
                whole.unread.push(UnreadLog {
                    log,
                    why: "not all of its lines can be read".to_owned(),
                    is_closed: false,
                });
            }
        }
        whole
    }

    /// Notes that an account is closed, and what opens it; nothing more is asked of the log.
    fn refused(&mut self, found: &Found, issue: &Issue) {
        self.tasks.retain(|task| match task {
            Task::Logs(_) => true,
            Task::Account(own) | Task::Blobs(own, _) | Task::Part(own, ..) => own.folder != found.folder,
        });
        let lower = issue.text.to_ascii_lowercase();
        let lacks_role =
            ["permission", "authorization", "forbidden", "may not"].iter().any(|word| lower.contains(word));
        let why = match (&issue.hint, lacks_role) {
            (_, true) => {
                format!("{}; the role {ROLE} at the storage account {} opens it", issue.text, found.account)
            }
            (Some(hint), false) => format!("{}; {hint}", issue.text),
            (None, false) => issue.text.clone(),
        };
        self.unread(format!("the flow log {} of {}", found.name, found.of), why, true);
    }
}

/// Tells whether two rows are about the same flow under the same rule at the same interface.
fn is_same(one: &Seen, other: &Seen) -> bool {
    (&one.mac, one.source, one.destination, one.protocol, one.port, one.side, &one.rule)
        == (&other.mac, other.source, other.destination, other.protocol, other.port, other.side, &other.rule)
}

fn reading(place: &ResourceGroup, task: Option<&Task>) -> ReadOperation {
    let (line, why): (Line, String) = match task {
        Some(Task::Logs(region)) => {
            (line::flow_logs(place, region), format!("find the flow logs of {region}"))
        }
        Some(Task::Account(found)) => {
            let why = format!("find the account of the flow log {}", found.name);
            (line::account(&found.group, &found.account), why)
        }
        Some(Task::Blobs(found, folder)) => {
            let line = line::flow_log_blobs(&found.account, &container(), folder);
            (line, format!("find what the flow log {} has of the last hours", found.name))
        }
        Some(Task::Part(found, name, first)) => {
            let last = first.saturating_add(MAX_BLOB_BYTES - 1);
            let line = line::flow_log_part(&found.account, &container(), name, (*first, last));
            (line, format!("see in the flow log {} whether the flow was denied", found.name))
        }
        // Nothing is read any more.
        None => (line::watchers(place), String::new()),
    };
    let doing = match task {
        Some(Task::Logs(_)) | None => "listing the flow logs".to_owned(),
        Some(Task::Account(found) | Task::Blobs(found, _) | Task::Part(found, ..)) => {
            format!("reading the flow log {}", found.name)
        }
    };
    ReadOperation::new(CommandRequest::line(line, why), doing)
}

fn container() -> Container {
    #[expect(clippy::expect_used, reason = "a fixed name, which a test reads")]
    Container::parse(BLOBS).expect("the name of a container")
}

fn rows(text: &str) -> Result<Vec<Value>, Issue> {
    serde_json::from_str(text).map_err(|error| Issue::new(format!("the answer is no list: {error}")))
}

/// Tells whether a log of this target has the flows of an interface.
fn logs(target: &str, nic: &LoggedNic) -> bool {
    let lower = target.to_ascii_lowercase();
    let ends = |end: String| lower.ends_with(&end.to_ascii_lowercase());
    ends(format!("/virtualNetworks/{}", nic.network))
        || ends(format!("/virtualNetworks/{}/subnets/{}", nic.network, nic.subnet))
        || ends(format!("/networkInterfaces/{}", nic.nic))
}

/// Returns the folder of a log's blobs; nothing where its id is none.
fn folder(id: &str) -> Option<String> {
    let parts: Vec<&str> = id.split('/').collect();
    let ["", _, subscription, _, group, _, _, _, watcher, _, log] = parts.as_slice() else { return None };
    let whole = format!("/{subscription}_{group}/{watcher}_{log}/").to_ascii_uppercase();
    Some(format!("flowLogResourceID={whole}"))
}

impl Operation for FlowLogOperation {
    type Result = FlowLogs;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match self.tasks.is_empty() {
            true => Next::Over(self.whole()),
            false => self.reading.next(now).map(|_| self.whole()),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(answer) = self.reading.next(now) else { return };
        if self.read.read_at.is_empty() {
            self.read.read_at = now.to_string();
        }
        if let Some(task) = self.tasks.pop_front() {
            self.take(task, answer, now);
        }
        self.reading = reading(&self.place, self.tasks.front());
    }
}
