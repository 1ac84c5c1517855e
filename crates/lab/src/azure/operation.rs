//! What the platform does later: an operation that is asked about until it is done.

use std::collections::BTreeMap;
use std::time::Duration;

use ghost_base::Timestamp;
use serde_json::{Value, json};

use super::refusal::Refusal;
use super::request::{Answer, Request};

/// How an operation ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Done {
    /// A result to fetch.
    Result(Value),
    /// Done, with nothing to fetch.
    Nothing,
    /// Removed: there is nothing any more.
    Gone,
    /// It failed, and how.
    Failed(Value),
}

/// How many operations are remembered; the oldest go first.
const MAX_OPERATIONS: usize = 10_000;

#[derive(Debug, Clone)]
struct Operation {
    /// The rest of the polls that find it at work.
    polls: u32,
    /// Before this moment it is at work.
    ready: Timestamp,
    /// How it ended; nothing while somebody still works on it.
    done: Option<Done>,
}

/// All operations, and how long they take.
#[derive(Debug, Clone)]
pub(super) struct Operations {
    known: BTreeMap<String, Operation>,
    begun: u64,
    /// How many polls find each at work.
    pub(super) polls: u32,
    /// How long each takes.
    pub(super) lasts: Duration,
    /// The moment of the request that is answered.
    pub(super) now: Timestamp,
}

impl Default for Operations {
    fn default() -> Self {
        let (known, now) = (BTreeMap::new(), Timestamp::from_millis(0));
        Self { known, begun: 0, polls: 0, lasts: Duration::ZERO, now }
    }
}

impl Operation {
    fn works(&self, now: Timestamp) -> bool {
        self.polls > 0 || self.done.is_none() || now < self.ready
    }
}

/// The form in which a provider reports operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Two addresses, and a status alone.
    Network,
    /// One address for both, and the output in the status.
    Compute,
}

impl Operations {
    /// Begins one that ends so; returns its name.
    pub(super) fn begin(&mut self, done: Option<Done>) -> String {
        self.begun += 1;
        if self.known.len() >= MAX_OPERATIONS {
            self.known.pop_first();
        }
        let name = format!("00000000-0000-4000-8000-{:012}", self.begun);
        let ready = self.now.plus(self.lasts);
        self.known.insert(name.clone(), Operation { polls: self.polls, ready, done });
        name
    }

    /// Ends one that somebody worked on.
    pub(super) fn end(&mut self, name: &str, done: Done) {
        if let Some(operation) = self.known.get_mut(name) {
            operation.done = Some(done);
        }
    }

    /// Returns what whoever asks has to wait before asking again, in milliseconds: as long as one takes, where that is said.
    pub(super) fn pause(&self) -> String {
        if self.lasts.is_zero() { "100".to_owned() } else { self.lasts.as_millis().to_string() }
    }

    /// Answers whoever asks how far one is.
    pub(super) fn status(&mut self, name: &str, form: Form) -> Answer {
        let (now, pause) = (self.now, self.pause());
        let Some(operation) = self.known.get_mut(name) else { return unknown(name) };
        let working = operation.works(now);
        operation.polls = operation.polls.saturating_sub(1);
        let mut document = match (&operation.done, working) {
            (_, true) | (None, false) => json!({"status": "InProgress"}),
            (Some(Done::Failed(error)), false) => json!({"status": "Failed", "error": error}),
            (Some(Done::Result(result)), false) if form == Form::Compute => {
                json!({"status": "Succeeded", "properties": {"output": result}})
            }
            (Some(_), false) => json!({"status": "Succeeded"}),
        };
        if let (Form::Compute, Some(map)) = (form, document.as_object_mut()) {
            map.insert("name".to_owned(), json!(name));
        }
        let answer = Answer::json(200, document);
        if working { answer.with("x-ms-retry-after-ms", pause) } else { answer }
    }

    /// Answers whoever fetches what came of one.
    pub(super) fn result(&self, name: &str) -> Answer {
        match self.known.get(name) {
            None => unknown(name),
            Some(operation) if operation.works(self.now) => {
                Answer::empty(202).with("x-ms-retry-after-ms", self.pause())
            }
            Some(Operation { done: None, .. }) => Answer::empty(202),
            Some(Operation { done: Some(Done::Result(result)), .. }) => Answer::json(200, result.clone()),
            Some(Operation { done: Some(Done::Nothing), .. }) => Answer::empty(200),
            Some(Operation { done: Some(Done::Gone), .. }) => Answer::empty(204),
            Some(Operation { done: Some(Done::Failed(error)), .. }) => {
                Answer::json(200, json!({"error": error}))
            }
        }
    }
}

fn unknown(name: &str) -> Answer {
    Refusal::network(404, "OperationNotFound", format!("The operation {name} was not found.")).answer()
}

/// Where an operation of the network provider is asked about.
pub(super) fn network(request: &Request, subscription: &str, region: &str, name: &str) -> (String, String) {
    let version = request.parameter("api-version").unwrap_or("2022-01-01");
    let place = format!(
        "{}/subscriptions/{subscription}/providers/Microsoft.Network/locations/{region}",
        request.base
    );
    (
        format!("{place}/operations/{name}?api-version={version}"),
        format!("{place}/operationResults/{name}?api-version={version}"),
    )
}
