//! All lines of a log, counted by flow.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::read::Unread;
use super::tuple::{Side, State, Tuple};

/// So many lines are counted.
pub(super) const MAX_LINES: usize = 2_000_000;
/// So many flows are held apart, an hour each; what comes then is counted as unread.
const MAX_FLOWS: usize = 100_000;
/// What is held apart: so many milliseconds.
const SLICE: u64 = 60_000;
/// An hour in milliseconds: a blob has the lines of one.
const HOUR: u64 = 3_600_000;
/// At most this many missing hours are named: a month.
const MAX_HOURS: usize = 744;

/// A span of time, both ends included; milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// From.
    pub from: u64,
    /// To.
    pub to: u64,
}

/// A question about a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Who calls.
    pub source: IpAddr,
    /// Who is called.
    pub destination: IpAddr,
    /// The number of the protocol.
    pub protocol: u8,
    /// The port that is called; any where there is none.
    pub port: Option<u16>,
    /// When.
    pub window: Window,
}

/// What an interface saw of flows from one address to a port of another, under one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The hardware address of the interface, as in `00-22-48-71-C2-05`.
    pub mac: String,
    /// Who calls.
    pub source: IpAddr,
    /// Who is called.
    pub destination: IpAddr,
    /// The number of the protocol.
    pub protocol: u8,
    /// The port that is called.
    pub port: u16,
    /// Whether they left the interface or came to it.
    pub side: Side,
    /// The rule that decided, where the log names it.
    pub rule: Option<String>,
    /// How many were denied.
    pub denied: u64,
    /// How many began.
    pub began: u64,
    /// How many lines say that one goes on or ended.
    pub lasted: u64,
    /// Packets from the caller that were counted.
    pub packets: u64,
    /// Packets to the caller that were counted.
    pub packets_back: u64,
    /// The first line; milliseconds since 1970.
    pub first: u64,
    /// The last one.
    pub last: u64,
}

impl Seen {
    /// Tells whether flows were let through and nobody answered: packets were counted in one direction alone.
    #[must_use]
    pub const fn is_unanswered(&self) -> bool {
        self.lasted > 0 && self.packets > 0 && self.packets_back == 0
    }

    fn add(&mut self, other: &Self) {
        self.denied += other.denied;
        self.began += other.began;
        self.lasted += other.lasted;
        self.packets = self.packets.saturating_add(other.packets);
        self.packets_back = self.packets_back.saturating_add(other.packets_back);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    mac: String,
    rule: String,
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    port: u16,
    side: Side,
    slice: u64,
}

/// A log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    counted: BTreeMap<Key, Seen>,
    lines: usize,
    /// What of it could not be read.
    pub unread: Unread,
}

impl Log {
    /// Returns how many lines were read.
    #[must_use]
    pub const fn lines(&self) -> usize {
        self.lines
    }

    pub(super) fn add(&mut self, mac: &str, rule: &str, tuple: &Tuple) {
        self.lines += 1;
        let key = Key {
            mac: mac.to_owned(),
            rule: rule.to_owned(),
            source: tuple.source,
            destination: tuple.destination,
            protocol: tuple.protocol,
            port: tuple.port,
            side: tuple.side,
            slice: tuple.at / SLICE,
        };
        if self.counted.len() >= MAX_FLOWS && !self.counted.contains_key(&key) {
            self.unread.beyond += 1;
            return;
        }
        let is = |state: State| u64::from(tuple.state == state);
        let one = Seen {
            mac: mac.to_owned(),
            source: tuple.source,
            destination: tuple.destination,
            protocol: tuple.protocol,
            port: tuple.port,
            side: tuple.side,
            rule: Some(rule.to_owned()).filter(|rule| !rule.is_empty()),
            denied: is(State::Denied),
            began: is(State::Began),
            lasted: is(State::Continues) + is(State::Ended),
            packets: tuple.packets,
            packets_back: tuple.packets_back,
            first: tuple.at,
            last: tuple.at,
        };
        match self.counted.get_mut(&key) {
            Some(known) => known.add(&one),
            None => drop(self.counted.insert(key, one)),
        }
    }

    /// Returns what each interface saw of a flow within the window, by rule; nothing says nothing about why.
    #[must_use]
    pub fn ask(&self, question: &Question) -> Vec<Seen> {
        let fits = |seen: &Seen| {
            (seen.source, seen.destination) == (question.source, question.destination)
                && seen.protocol == question.protocol
                && question.port.is_none_or(|port| port == seen.port)
        };
        self.gathered(question.window, fits)
    }

    /// Returns all flows within a window, those that were denied first, then the most frequent.
    #[must_use]
    pub fn all(&self, window: Window) -> Vec<Seen> {
        self.gathered(window, |_| true)
    }

    fn gathered(&self, window: Window, fits: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let mut found: BTreeMap<Key, Seen> = BTreeMap::new();
        for (key, seen) in &self.counted {
            if seen.last < window.from || seen.first > window.to || !fits(seen) {
                continue;
            }
            let key = Key { slice: 0, ..key.clone() };
            match found.get_mut(&key) {
                Some(known) => known.add(seen),
                None => drop(found.insert(key, seen.clone())),
            }
        }
        let mut all: Vec<Seen> = found.into_values().collect();
        all.sort_by_key(|seen| std::cmp::Reverse((seen.denied, seen.began + seen.lasted)));
        all
    }

    /// Returns the hours of a window, or between the first and the last line, that have no line; each by its begin.
    #[must_use]
    pub fn missing_hours(&self, window: Window) -> Vec<u64> {
        let Some(span) = self.span() else { return Vec::new() };
        let from = if window.from == 0 { span.from } else { window.from };
        let to = if window.to == u64::MAX { span.to } else { window.to };
        let seen: BTreeSet<u64> = self.counted.keys().map(|key| key.slice * SLICE / HOUR).collect();
        let hours = (from / HOUR..=to / HOUR).filter(|hour| !seen.contains(hour));
        hours.take(MAX_HOURS).map(|hour| hour * HOUR).collect()
    }

    /// Returns when the first and the last line was written; nothing of an empty log.
    #[must_use]
    pub fn span(&self) -> Option<Window> {
        let from = self.counted.values().map(|seen| seen.first).min()?;
        let to = self.counted.values().map(|seen| seen.last).max()?;
        Some(Window { from, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flowlog::read;

    const START: u64 = 1_663_146_000_000;

    fn log(groups: &[(&str, &[String])]) -> Log {
        let groups: Vec<String> = groups
            .iter()
            .map(|(rule, lines)| {
                let lines: Vec<String> = lines.iter().map(|line| format!("\"{line}\"")).collect();
                format!(r#"{{"rule":"{rule}","flowTuples":[{}]}}"#, lines.join(","))
            })
            .collect();
        let text = format!(
            r#"{{"records":[{{"macAddress":"000D3A000104","flowRecords":{{"flows":[{{"flowGroups":[{}]}}]}}}}]}}"#,
            groups.join(",")
        );
        read([text.as_bytes()])
    }

    fn line(at: u64, state: &str, counts: &str) -> String {
        format!("{},10.0.0.4,10.0.1.4,40000,5432,6,O,{state},NX,{counts}", START + at)
    }

    fn question(window: Window) -> Question {
        Question {
            source: "10.0.0.4".parse().unwrap(),
            destination: "10.0.1.4".parse().unwrap(),
            protocol: 6,
            port: Some(5432),
            window,
        }
    }

    #[test]
    fn a_flow_is_counted_by_rule_within_the_window() {
        let log = log(&[
            ("deny-db", &[line(1_000, "D", "0,0,0,0"), line(400_000, "D", "0,0,0,0")]),
            ("allow", &[line(HOUR * 2, "B", "0,0,0,0"), line(HOUR * 2 + 9, "E", "5,300,0,0")]),
        ]);
        let first = log.ask(&question(Window { from: START, to: START + HOUR }));
        assert_eq!(first.len(), 1);
        assert_eq!((first[0].rule.as_deref(), first[0].denied), (Some("deny-db"), 2));
        assert_eq!((first[0].first, first[0].last), (START + 1_000, START + 400_000));
        let later = log.ask(&question(Window { from: START + HOUR, to: START + HOUR * 3 }));
        assert_eq!((later[0].began, later[0].lasted, later[0].is_unanswered()), (1, 1, true));
        assert_eq!(log.span(), Some(Window { from: START + 1_000, to: START + HOUR * 2 + 9 }));
    }

    #[test]
    fn hours_without_a_line_are_missing() {
        let log = log(&[("allow", &[line(5, "B", "0,0,0,0"), line(HOUR * 3, "B", "0,0,0,0")])]);
        let begin = START / HOUR * HOUR;
        let all = Window { from: 0, to: u64::MAX };
        assert_eq!(log.missing_hours(all), [begin + HOUR, begin + HOUR * 2]);
        let asked = Window { from: START - HOUR, to: START };
        assert_eq!(log.missing_hours(asked), [begin - HOUR]);
    }

    #[test]
    fn a_flow_that_nobody_saw_is_no_denial() {
        let log = log(&[("allow", &[line(5, "B", "0,0,0,0")])]);
        let other = Question { port: Some(80), ..question(Window { from: START, to: START + HOUR }) };
        assert_eq!(log.ask(&other), []);
        // The answer of the server is a flow of its own only where it began one.
        let back = Question {
            source: "10.0.1.4".parse().unwrap(),
            destination: "10.0.0.4".parse().unwrap(),
            ..question(Window { from: 0, to: u64::MAX })
        };
        assert_eq!(log.ask(&back), []);
    }
}
