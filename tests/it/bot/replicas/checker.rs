//! Decides from the outside whether a run was honest: from the messages in Slack, the marks that commands left, the audit files
//! and the ledgers. It reads them as JSON and text and uses none of the program's code.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde_json::Value;

/// Everything about one thread that people, a disk and the store can show.
#[derive(Debug, Default)]
pub(super) struct Traces {
    /// The number in the mention, which the command writes when it runs.
    pub(super) number: usize,
    /// How often people pressed *Approve* in this thread, and how often they denied. A press that Slack says was not taken may count.
    pub(super) approvals: usize,
    pub(super) denials: usize,
    /// The bot's messages in the thread, as Slack returns them.
    pub(super) messages: Vec<Value>,
    /// How often the command ran.
    pub(super) marks: usize,
    /// The lines of the audit file.
    pub(super) audit: Vec<Value>,
    /// The lines of the ledger.
    pub(super) ledger: Vec<Value>,
}

/// What can be wrong with a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    RanTwice,
    RanThoughDenied,
    SaidOtherwise,
    LostWithoutAWord,
    StillOpen,
}

/// A fault, in which thread, and what shows it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) fault: Fault,
    pub(super) number: usize,
    pub(super) why: String,
}

impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} in thread {}: {}", self.fault, self.number, self.why)
    }
}

/// Reads the lines of a file of JSON lines; a missing file has none.
pub(super) fn json_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Counts faults by kind.
pub(super) fn counted(found: &[Found]) -> BTreeMap<Fault, usize> {
    let mut counts = BTreeMap::new();
    for one in found {
        *counts.entry(one.fault).or_default() += 1;
    }
    counts
}

/// What a card says about its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    Asks,
    Ran,
    NothingRan,
    NotKnown,
    Nothing,
}

fn text_of<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn claim(card: &Value) -> Claim {
    let blocks = card.get("blocks").map(Value::to_string).unwrap_or_default();
    if blocks.contains("\"action_id\":\"approve\"") || blocks.contains("\"action_id\":\"deny\"") {
        return Claim::Asks;
    }
    let text = text_of(card, "/text").to_lowercase();
    let says = |part: &str| text.contains(part);
    // An answer that leaves it open whether an earlier run had an effect says nothing about that run.
    if says("not known") || says("nobody knows") || says("may have run") {
        Claim::NotKnown
    } else if says("nothing ran") || says("did not run") {
        Claim::NothingRan
    } else if says(". ran") || says("then it ran") || says("it ran") {
        Claim::Ran
    } else {
        Claim::Nothing
    }
}

impl Traces {
    fn events<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.ledger.iter().filter(move |line| text_of(line, "/kind") == kind)
    }

    /// Returns everything that is wrong with this thread at the end of a run.
    pub(super) fn faults(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let mut add = |fault, why: String| found.push(Found { fault, number: self.number, why });
        if self.messages.is_empty() {
            add(Fault::LostWithoutAWord, "the mention has no answer".to_owned());
            return found;
        }
        let cards: Vec<(&str, Claim, &Value)> = self
            .messages
            .iter()
            .filter(|message| text_of(message, "/metadata/event_payload/what").starts_with("card "))
            .map(|card| (text_of(card, "/text"), claim(card), card))
            .collect();
        // What may have run is never approved once more.
        if self.marks > 1 {
            add(Fault::RanTwice, format!("{} marks, {} approvals: {cards:#?}", self.marks, self.approvals));
        }
        if self.marks > 0 && self.approvals == 0 {
            add(Fault::RanThoughDenied, format!("{} marks, {} denials", self.marks, self.denials));
        }
        let claims = |claim: Claim| cards.iter().any(|(_, said, _)| *said == claim);
        let texts = || cards.iter().map(|(text, ..)| *text).collect::<Vec<_>>();
        if self.marks > 0 && claims(Claim::NothingRan) && !claims(Claim::Ran) && !claims(Claim::NotKnown) {
            add(Fault::SaidOtherwise, format!("it ran, and its cards say {:?}", texts()));
        }
        if self.marks == 0 && claims(Claim::Ran) {
            add(Fault::SaidOtherwise, format!("it did not run, and its cards say {:?}", texts()));
        }
        let completed = self.events("done").any(|line| {
            text_of(line, "/body/status") == "completed" && text_of(line, "/body/classification") == "RISKY"
        });
        if completed != (self.marks > 0) && self.events("unknown").next().is_none() {
            add(
                Fault::SaidOtherwise,
                format!("{} marks, and the ledger says completed: {completed}", self.marks),
            );
        }
        let is_risky = |line: &&Value| text_of(line, "/verdict") == "RISKY";
        let audited = |kind: &str| {
            self.audit.iter().filter(is_risky).filter(|line| text_of(line, "/kind") == kind).count()
        };
        if audited("intent") < self.marks {
            add(
                Fault::SaidOtherwise,
                format!("{} marks, {} records of an intent", self.marks, audited("intent")),
            );
        }
        let is_open = |name: &str| {
            let ends = ["approval_decided", "approval_expired"];
            !ends.iter().any(|kind| self.events(kind).any(|line| text_of(line, "/body/approval") == name))
        };
        for (text, said, card) in &cards {
            let name = text_of(card, "/metadata/event_payload/what").trim_start_matches("card ");
            if *said == Claim::Asks {
                let closed =
                    if is_open(name) { "and no answer came" } else { "though its question is closed" };
                add(Fault::StillOpen, format!("a card has buttons {closed}: {text}"));
            }
        }
        if self.events("concluded").next().is_none() {
            let last = self.ledger.last().map(|line| text_of(line, "/kind")).unwrap_or("no event");
            add(Fault::StillOpen, format!("the ledger ends with {last}; cards say {:?}", texts()));
        }
        found
    }
}
