//! The firewalls of the platform in a resource group, with their policies and rules, as `az` printed them.

use std::collections::VecDeque;

use ghost_base::Timestamp;
use ghost_inspect::path::{Cloud, Reading};
use serde_json::Value;

use crate::line::{self, Line};
use crate::operation::{CommandOutcome, CommandRequest, Next, Operation, ReadOperation};
use crate::{Name, ResourceGroup};

/// So many policies are read, those above others among them.
const MAX_POLICIES: usize = 12;
/// So many groups of resources are searched for groups of addresses.
const MAX_GROUPS: usize = 4;

/// What is read next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Firewalls,
    Policy(ResourceGroup, Name),
    Rules(ResourceGroup, Name),
    Addresses(ResourceGroup),
    Over,
}

/// Reads what the firewalls of a group decide by. A list that cannot be read is kept as such.
#[derive(Debug)]
pub struct FirewallOperation {
    place: ResourceGroup,
    /// The subscription that the ids of the firewalls name.
    subscription: Option<Name>,
    step: Step,
    reading: ReadOperation,
    /// What is still to be read.
    waiting: VecDeque<Step>,
    /// Everything that was put there.
    known: Vec<Step>,
    policies: Result<Vec<Value>, String>,
    rules: Result<Vec<Value>, String>,
    addresses: Result<Vec<Value>, String>,
    found: Cloud,
}

impl FirewallOperation {
    /// Begins.
    #[must_use]
    pub fn new(place: &ResourceGroup) -> Self {
        Self {
            reading: reading(line::firewalls(place), "firewalls", place),
            place: place.clone(),
            subscription: None,
            step: Step::Firewalls,
            waiting: VecDeque::new(),
            known: Vec::new(),
            policies: Ok(Vec::new()),
            rules: Ok(Vec::new()),
            addresses: Ok(Vec::new()),
            found: Cloud::default(),
        }
    }

    /// Puts what was read into the documents of an estate.
    pub fn into_cloud(found: Cloud, cloud: &mut Cloud) {
        cloud.firewalls = found.firewalls;
        cloud.firewall_policies = found.firewall_policies;
        cloud.firewall_rules = found.firewall_rules;
        cloud.ip_groups = found.ip_groups;
    }

    /// Goes on to whatever waits.
    fn go(&mut self) {
        let step = self.waiting.pop_front().unwrap_or(Step::Over);
        match &step {
            Step::Firewalls => {}
            Step::Policy(place, name) => {
                self.reading =
                    reading(line::firewall_policy(place, name), "rules of a firewall policy", place);
            }
            Step::Rules(place, name) => {
                self.reading =
                    reading(line::firewall_rules(place, name), "rules of a firewall policy", place);
            }
            Step::Addresses(place) => {
                self.reading = reading(line::address_groups(place), "groups of addresses", place);
            }
            Step::Over => {
                let whole = |rows: &Result<Vec<Value>, String>| match rows {
                    Ok(rows) => Reading::Text(Value::Array(rows.clone()).to_string()),
                    Err(error) => Reading::Failed { error: error.clone() },
                };
                self.found.firewall_policies = Some(whole(&self.policies));
                self.found.firewall_rules = Some(whole(&self.rules));
                self.found.ip_groups = Some(whole(&self.addresses));
            }
        }
        self.step = step;
    }

    fn add(&mut self, step: Step) {
        if !self.known.contains(&step) {
            self.known.push(step.clone());
            self.waiting.push_back(step);
        }
    }

    /// Reads whatever a text names: policies with those above them, and groups of addresses.
    fn follow(&mut self, text: &str) {
        let document: Value = serde_json::from_str(text).unwrap_or_default();
        let mut ids = Vec::new();
        collect(&document, &mut ids);
        for id in ids {
            let Some(group) = part(id, "resourceGroups") else { continue };
            let there = part(id, "subscriptions");
            let is_own = match (&there, &self.subscription) {
                (Some(there), Some(own)) => there.as_str().eq_ignore_ascii_case(own.as_str()),
                (None, _) => true,
                (Some(_), None) => false,
            };
            // One of the same subscription is asked for as the group itself is.
            let subscription = if is_own { self.place.subscription.clone() } else { there };
            let place = ResourceGroup { group, subscription };
            let place = if is_own && place.group.as_str().eq_ignore_ascii_case(self.place.group.as_str()) {
                self.place.clone()
            } else {
                place
            };
            let of = |steps: &[Step], test: fn(&Step) -> bool| steps.iter().filter(|step| test(step)).count();
            if let Some(policy) = part(id, "firewallPolicies") {
                if of(&self.known, |step| matches!(step, Step::Policy(..))) < MAX_POLICIES {
                    self.add(Step::Policy(place.clone(), policy.clone()));
                    self.add(Step::Rules(place, policy));
                }
            } else if part(id, "ipGroups").is_some()
                && of(&self.known, |step| matches!(step, Step::Addresses(_))) < MAX_GROUPS
            {
                self.add(Step::Addresses(place));
            }
        }
    }
}

/// Returns the texts of a document that are ids of policies or of groups of addresses.
fn collect<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => {
            if text.contains("/firewallPolicies/") || text.contains("/ipGroups/") {
                found.push(text);
            }
        }
        Value::Array(all) => all.iter().for_each(|one| collect(one, found)),
        // What belongs to a policy names the policies below it, too: nothing of those decides.
        Value::Object(map) => {
            let above = map.iter().filter(|(key, _)| !["childPolicies", "firewalls"].contains(&key.as_str()));
            above.for_each(|(_, one)| collect(one, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn part(id: &str, word: &str) -> Option<Name> {
    let mut parts = id.split('/');
    parts.find(|part| part.eq_ignore_ascii_case(word))?;
    parts.next().and_then(|part| Name::parse(part).ok())
}

fn reading(line: Line, what: &str, place: &ResourceGroup) -> ReadOperation {
    let why = format!("read the {what} in {}", place.group);
    ReadOperation::new(CommandRequest::line(line, why), format!("reading the {what} in {}", place.group))
}

fn add(rows: &mut Result<Vec<Value>, String>, read: &Reading) {
    let more = match read {
        Reading::Text(text) => serde_json::from_str::<Value>(text).map_err(|error| error.to_string()),
        Reading::Failed { error } => Err(error.clone()),
    };
    match (rows.as_mut(), more) {
        (Ok(rows), Ok(Value::Array(more))) => rows.extend(more),
        (Ok(rows), Ok(one)) => rows.push(one),
        (Ok(_), Err(error)) => *rows = Err(error),
        (Err(_), _) => {}
    }
}

impl Operation for FirewallOperation {
    type Result = Cloud;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match self.step {
            Step::Over => Next::Over(self.found.clone()),
            Step::Firewalls | Step::Policy(..) | Step::Rules(..) | Step::Addresses(_) => {
                self.reading.next(now).map(|_| Cloud::default())
            }
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(read) = self.reading.next(now) else { return };
        let reading = read.map_or_else(|issue| Reading::Failed { error: issue.text }, Reading::Text);
        if let Reading::Text(text) = &reading {
            if self.step == Step::Firewalls {
                let rows: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
                let id = rows.iter().find_map(|row| row.get("id")?.as_str());
                self.subscription = id.and_then(|id| part(id, "subscriptions"));
            }
            self.follow(text);
        }
        match &self.step {
            Step::Firewalls => self.found.firewalls = Some(reading),
            Step::Policy(..) => add(&mut self.policies, &reading),
            Step::Rules(..) => add(&mut self.rules, &reading),
            Step::Addresses(_) => add(&mut self.addresses, &reading),
            Step::Over => {}
        }
        self.go();
    }
}
