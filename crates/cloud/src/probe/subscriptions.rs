//! The subscriptions and management groups that whoever reads sees, and in which of them a machine or an address is.

use std::net::IpAddr;

use ghost_base::Timestamp;
use ghost_inspect::path::Place;
use serde::Serialize;
use serde_json::Value;

use crate::Name;
use crate::line::{self, Line};
use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation, ReadOperation};

/// So many subscriptions are listed one by one where Resource Graph cannot be asked.
const MAX_LISTED: usize = 40;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sought {
    /// A machine, by its name.
    Machine(Name),
    /// Whoever has a private address.
    Address(IpAddr),
}

/// A subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubscriptionRow {
    pub id: String,
    pub name: String,
    /// `Enabled`, `Disabled`, `Warned` …
    pub state: String,
    /// It is the one that commands go to where they name none.
    pub is_default: bool,
}

/// A management group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ManagementGroup {
    pub name: String,
    pub display_name: String,
}

/// Something that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundResource {
    pub id: String,
    pub subscription: String,
    pub resource_group: String,
    /// The machine, where that is known.
    pub machine: Option<String>,
}

/// How something was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// By one question to Resource Graph, which may be some minutes old.
    ResourceGraph,
    /// By listing each subscription.
    Listing,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Subscriptions {
    pub subscriptions: Vec<SubscriptionRow>,
    pub management_groups: Vec<ManagementGroup>,
    pub found: Vec<FoundResource>,
    /// How it was looked for; nothing where nothing was.
    pub found_by: Option<FoundBy>,
    /// What could not be looked at, each with the reason: nothing there is known to be absent.
    pub unread: Vec<String>,
}

/// What is read next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Accounts,
    Groups,
    Graph,
    Listing(usize),
    Over,
}

/// Reads the subscriptions, then where in them something is.
#[derive(Debug)]
pub struct SubscriptionsOperation {
    sought: Option<Sought>,
    step: Step,
    reading: ReadOperation,
    read: Subscriptions,
    failed: Option<Issue>,
}

impl SubscriptionsOperation {
    /// Begins.
    #[must_use]
    pub fn new(sought: Option<Sought>) -> Self {
        let reading = reading(line::subscriptions(), "list the subscriptions");
        Self { sought, step: Step::Accounts, reading, read: Subscriptions::default(), failed: None }
    }

    /// Returns the commands that it runs in any case.
    #[must_use]
    pub fn foreseen(sought: Option<&Sought>) -> Vec<CommandRequest> {
        let order = |line: Line, why: &str| CommandRequest::line(line, why.to_owned());
        let mut all = vec![
            order(line::subscriptions(), "list the subscriptions"),
            order(line::management_groups(), "list the management groups"),
        ];
        all.extend(sought.map(|sought| order(graph(sought), "find out where it is")));
        all
    }

    fn go(&mut self, step: Step) {
        self.step = step;
        self.reading = match step {
            Step::Groups => reading(line::management_groups(), "list the management groups"),
            Step::Graph => match &self.sought {
                Some(sought) => reading(graph(sought), "find out where it is"),
                None => return self.step = Step::Over,
            },
            Step::Listing(at) => {
                let enabled = self.read.subscriptions.iter().filter(|one| one.state == "Enabled");
                let next = enabled.take(MAX_LISTED).nth(at).and_then(|one| Name::parse(&one.id).ok());
                let Some((subscription, sought)) = next.zip(self.sought.as_ref()) else {
                    return self.step = Step::Over;
                };
                let line = match sought {
                    Sought::Machine(_) => line::machines_of(&subscription),
                    Sought::Address(_) => line::interfaces_of(&subscription),
                };
                reading(line, &format!("look in the subscription {subscription}"))
            }
            Step::Accounts | Step::Over => return,
        };
    }

    /// Takes the rows of an answer that are what is looked for.
    fn find(&mut self, rows: &[Value]) {
        let Some(sought) = &self.sought else { return };
        for row in rows.iter().filter(|row| is_sought(row, sought)) {
            let Some(id) = row.get("id").and_then(Value::as_str) else { continue };
            let (Some(place), text) =
                (Place::of(id), |id: &str| id.rsplit('/').next().unwrap_or_default().to_owned())
            else {
                continue;
            };
            let machine = row.get("machine").or_else(|| row.pointer("/virtualMachine/id"));
            let machine = machine.and_then(Value::as_str).filter(|id| !id.is_empty()).map(text);
            let machine = match sought {
                Sought::Machine(_) => Some(text(id)),
                Sought::Address(_) => machine,
            };
            let (subscription, resource_group) = (place.subscription, place.group);
            self.read.found.push(FoundResource { id: id.to_owned(), subscription, resource_group, machine });
        }
    }
}

fn graph(sought: &Sought) -> Line {
    match sought {
        Sought::Machine(name) => line::find_machine(name),
        Sought::Address(address) => line::find_address(*address),
    }
}

fn reading(line: Line, why: &str) -> ReadOperation {
    ReadOperation::new(CommandRequest::line(line, why.to_owned()), why.to_owned())
}

/// Tells whether a row of a list is what is looked for. Resource Graph was asked for nothing else.
fn is_sought(row: &Value, sought: &Sought) -> bool {
    match sought {
        Sought::Machine(name) => {
            row.get("name").and_then(Value::as_str).is_some_and(|own| own.eq_ignore_ascii_case(name.as_str()))
        }
        Sought::Address(address) => {
            let Some(all) = row.get("ipConfigurations").and_then(Value::as_array) else {
                return row.get("machine").is_some();
            };
            let own = |one: &Value| {
                let text = one.get("privateIPAddress").or_else(|| one.get("privateIpAddress"))?.as_str()?;
                text.parse::<IpAddr>().ok()
            };
            all.iter().filter_map(own).any(|own| own == *address)
        }
    }
}

fn accounts(text: &str) -> Vec<SubscriptionRow> {
    let rows: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let word = |row: &Value, name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let all = rows.iter().map(|row| SubscriptionRow {
        id: word(row, "id"),
        name: word(row, "name"),
        state: word(row, "state"),
        is_default: row.get("isDefault").and_then(Value::as_bool).unwrap_or(false),
    });
    all.collect()
}

fn groups(text: &str) -> Vec<ManagementGroup> {
    let rows: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let word = |row: &Value, name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    rows.iter()
        .map(|row| ManagementGroup { name: word(row, "name"), display_name: word(row, "displayName") })
        .collect()
}

impl Operation for SubscriptionsOperation {
    type Result = Result<Subscriptions, Issue>;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match (self.step, &self.failed) {
            (_, Some(issue)) => Next::Over(Err(issue.clone())),
            (Step::Over, None) => Next::Over(Ok(self.read.clone())),
            (Step::Accounts | Step::Groups | Step::Graph | Step::Listing(_), None) => {
                self.reading.next(now).map(|_| Ok(Subscriptions::default()))
            }
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(read) = self.reading.next(now) else { return };
        match (self.step, read) {
            (Step::Accounts, Err(issue)) => self.failed = Some(issue),
            (Step::Accounts, Ok(text)) => {
                self.read.subscriptions = accounts(&text);
                self.go(Step::Groups);
            }
            (Step::Groups, read) => {
                match read {
                    Ok(text) => self.read.management_groups = groups(&text),
                    Err(issue) => self.read.unread.push(issue.text),
                }
                self.go(Step::Graph);
            }
            (Step::Graph, Ok(text)) => {
                let document: Value = serde_json::from_str(&text).unwrap_or_default();
                let rows = document.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
                self.read.found_by = Some(FoundBy::ResourceGraph);
                self.find(&rows);
                self.step = Step::Over;
            }
            // Whoever may not ask it, or has no such extension, lists.
            (Step::Graph, Err(_)) => {
                self.read.found_by = Some(FoundBy::Listing);
                self.go(Step::Listing(0));
            }
            (Step::Listing(at), read) => {
                match read {
                    Ok(text) => {
                        let rows: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
                        self.find(&rows);
                    }
                    Err(issue) => self.read.unread.push(issue.text),
                }
                self.go(Step::Listing(at + 1));
            }
            (Step::Over, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(exit: i32, stdout: &str, stderr: &str) -> CommandOutcome {
        CommandOutcome::Ran { exit: Some(exit), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
    }

    const ACCOUNTS: &str = r#"[{"id":"00000000-0000-0000-0000-000000000001","name":"lab","state":"Enabled","isDefault":true},
        {"id":"00000000-0000-0000-0000-000000000002","name":"hub","state":"Enabled","isDefault":false}]"#;

    fn over(operation: &SubscriptionsOperation) -> Subscriptions {
        let Next::Over(Ok(read)) = operation.next(Timestamp::from_millis(0)) else {
            panic!("it is not over")
        };
        read
    }

    fn after(sought: Option<Sought>, answers: &[CommandOutcome]) -> Subscriptions {
        let mut operation = SubscriptionsOperation::new(sought);
        answers.iter().for_each(|answer| operation.on_result(answer, Timestamp::from_millis(0)));
        over(&operation)
    }

    fn machine() -> Option<Sought> {
        Some(Sought::Machine(Name::parse("orders-db").unwrap()))
    }

    const ID: &str = "/subscriptions/00000000-0000-0000-0000-000000000002/resourceGroups/hub-rg/providers/Microsoft.Compute/virtualMachines/orders-db";

    #[test]
    fn one_question_finds_the_subscription_of_a_machine() {
        let graph = format!(r#"{{"count":1,"data":[{{"id":"{ID}","name":"orders-db"}}]}}"#);
        let read = after(machine(), &[ran(0, ACCOUNTS, ""), ran(0, "[]", ""), ran(0, &graph, "")]);
        assert_eq!(read.found_by, Some(FoundBy::ResourceGraph));
        assert_eq!(read.found[0].subscription, "00000000-0000-0000-0000-000000000002");
        assert_eq!(read.found[0].resource_group, "hub-rg");
    }

    #[test]
    fn without_the_extension_each_subscription_is_listed_and_a_closed_one_is_named() {
        let usage = "ERROR: 'graph' is misspelled or not recognized by the system.";
        let closed = "ERROR: (AuthorizationFailed) The client 'a' with object id 'b' does not have authorization to perform action 'Microsoft.Compute/virtualMachines/read' over scope '/s'.";
        let list = format!(r#"[{{"id":"{ID}","name":"orders-db"}},{{"id":"{ID}2","name":"orders-db2"}}]"#);
        let answers = [
            ran(0, ACCOUNTS, ""),
            ran(1, "", closed),
            ran(2, "", usage),
            ran(1, "", closed),
            ran(0, &list, ""),
        ];
        let read = after(machine(), &answers);
        assert_eq!(read.found_by, Some(FoundBy::Listing));
        assert_eq!((read.found.len(), read.unread.len()), (1, 2), "{read:#?}");
    }

    #[test]
    fn an_address_is_found_at_its_interface() {
        let nic = r#"[{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces/n","name":"n",
            "ipConfigurations":[{"privateIPAddress":"10.50.1.4"}],"virtualMachine":{"id":"/x/orders-db"}},
            {"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces/o","name":"o","ipConfigurations":[{"privateIPAddress":"10.50.1.40"}]}]"#;
        let sought = Some(Sought::Address("10.50.1.4".parse().unwrap()));
        let answers = [
            ran(0, ACCOUNTS, ""),
            ran(0, "[]", ""),
            ran(2, "", "ERROR: no"),
            ran(0, nic, ""),
            ran(0, "[]", ""),
        ];
        let read = after(sought, &answers);
        assert_eq!(read.found.len(), 1);
        assert_eq!(read.found[0].machine.as_deref(), Some("orders-db"));
    }
}
