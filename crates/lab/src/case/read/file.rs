//! A case as it is written.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::observation::RawObservation;
use crate::azure::BlobRole;
use crate::case::model::{
    BaselineKind, Change, Forbidden, Logged, Outcome, Pair, Public, Service, Traffic, Vm,
};
use crate::kubernetes::WrittenCluster;

/// The whole file. Faults are read one by one, so that each error has its line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) id: Spanned<String>,
    pub(super) title: String,
    pub(super) prompt: String,
    pub(super) outcome: Vec<Outcome>,
    #[serde(default)]
    pub(super) notes: String,
    pub(super) estate: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) closed: Vec<String>,
    #[serde(default)]
    pub(super) blob_role: BlobRole,
    #[serde(default)]
    pub(super) logged: Vec<Spanned<Logged>>,
    #[serde(default)]
    pub(super) vm: Vec<Spanned<Vm>>,
    #[serde(default)]
    pub(super) public: Vec<Spanned<Public>>,
    #[serde(default)]
    pub(super) change: Vec<Spanned<Change>>,
    #[serde(default)]
    pub(super) service: Vec<Spanned<Service>>,
    #[serde(default)]
    pub(super) traffic: Vec<Spanned<Traffic>>,
    #[serde(default)]
    pub(super) fault: Vec<Spanned<toml::Table>>,
    #[serde(default)]
    pub(super) kubernetes: Vec<Spanned<WrittenCluster>>,
    #[serde(default)]
    pub(super) baseline: Vec<Spanned<BaselineText>>,
    #[serde(default)]
    pub(super) seen: Vec<Spanned<RawObservation>>,
    #[serde(default)]
    pub(super) forbidden: Vec<Spanned<Forbidden>>,
    #[serde(default)]
    pub(super) expected: Vec<Pair>,
    #[serde(default)]
    pub(super) may: Vec<Pair>,
    #[serde(default)]
    pub(super) phase: BTreeMap<String, LaterPhase>,
}

/// A baseline as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BaselineText {
    pub(super) kind: BaselineKind,
    pub(super) id: String,
    pub(super) vm: String,
    #[serde(default)]
    pub(super) after: Vec<String>,
    pub(super) age: String,
}

/// A phase after the first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LaterPhase {
    pub(super) prompt: String,
    pub(super) outcome: Vec<Outcome>,
    #[serde(default)]
    pub(super) fixes: Vec<String>,
    #[serde(default)]
    pub(super) expected: Vec<Pair>,
    #[serde(default)]
    pub(super) may: Vec<Pair>,
}

/// Returns the line of a place, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the line in which a field stands: the one in the range that an error speaks of, else the first of the range.
pub(super) fn line_of_field(text: &str, range: Range<usize>, error: &str) -> usize {
    let first = line_of(text, range.start);
    // A table of a list reaches to the next one; its range may hold the header alone.
    let rest = text.lines().skip(first - 1);
    let block = rest.enumerate().take_while(|(at, line)| *at == 0 || !line.trim_start().starts_with('['));
    let mut named = error.split('`').skip(1).step_by(2);
    let found = named.find_map(|word| {
        block.clone().find(|(_, line)| {
            line.split_once('=')
                .is_some_and(|(key, value)| key.trim() == word || value.trim().trim_matches('"') == word)
        })
    });
    found.map_or(first, |(at, _)| first + at)
}

#[cfg(test)]
mod line_tests {
    use super::*;

    #[test]
    fn an_error_is_where_the_field_is() {
        let text = "id = \"x\"\n\n[[fault]]\nkind = \"route\"\nprefixes = 1\n\n[[fault]]\nprefixes = 2\n";
        let start = text.find("[[fault]]").unwrap();
        assert_eq!(line_of_field(text, start..start + 9, "unknown field `prefixes`"), 5);
        assert_eq!(line_of_field(text, start..start + 9, "missing field `name`"), 3);
    }
}
