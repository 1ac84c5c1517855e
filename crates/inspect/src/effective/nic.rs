//! What was read of the network interfaces of one side.

use std::collections::BTreeMap;

use super::bundle::{Answer, Bundle};
use super::route_row::routes;
use super::row::{Part, Problem, Row};
use super::rule_row::rules;
use ghost_base::Digest;

/// How many places of one name are reported.
const MAX_POSITIONS: usize = 5;

/// The state of one network interface.
#[derive(Debug, Clone)]
pub(super) struct Nic {
    /// Its name, in the letters of the answer.
    pub(super) name: String,
    /// Why it was not read as a whole.
    pub(super) failed: Option<Problem>,
    pub(super) routes: Part,
    pub(super) rules: Part,
}

impl Nic {
    fn read(answer: &Answer, at: &str) -> Self {
        let failed =
            answer.error.as_ref().map(|what| Problem { at: format!("{at}.error"), what: what.clone() });
        // Where the reason is reported, an answer that is missing says nothing more.
        let part = |value: &serde_json::Value, name: &str, read: fn(&serde_json::Value, &str) -> Part| {
            if failed.is_some() && value.is_null() {
                Part::default()
            } else {
                read(value, &format!("{at}.{name}"))
            }
        };
        let (routes, rules) = (part(&answer.routes, "routes", routes), part(&answer.nsg, "nsg", rules));
        Self { name: answer.nic.clone().unwrap_or_else(|| at.to_owned()), failed, routes, rules }
    }

    /// Returns everything that could not be read.
    pub(super) fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.failed.iter().chain(&self.routes.problems).chain(&self.rules.problems)
    }

    /// Tells whether everything was read.
    pub(super) fn is_whole(&self) -> bool {
        self.problems().next().is_none()
    }

    /// Tells whether all of a part was read.
    pub(super) fn has_whole(&self, part: &Part) -> bool {
        self.failed.is_none() && part.problems.is_empty()
    }

    /// Returns the digest of what was read, whatever its order, and of what was not.
    pub(super) fn digest(&self) -> Digest {
        let row = |row: &Row| {
            let content = row.details.content.iter().map(|(_, value)| value.as_str());
            let expanded = row
                .details
                .expansion
                .iter()
                .flat_map(|(name, set)| [*name].into_iter().chain(set.iter().map(String::as_str)));
            Digest::of_fields([row.key.as_str()].into_iter().chain(content).chain(expanded)).to_string()
        };
        let mut lines: Vec<String> = self.routes.rows.iter().chain(&self.rules.rows).map(row).collect();
        lines.sort_unstable();
        lines.extend(self.problems().flat_map(|problem| [problem.at.clone(), problem.what.clone()]));
        Digest::of_fields(lines.iter().map(String::as_str))
    }
}

/// The state of all network interfaces of one side.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// By name in lower case, since the platform does not tell letters apart.
    pub(super) nics: BTreeMap<String, Nic>,
    /// Entries that do not say which interface they are about.
    pub(super) unnamed: Vec<Nic>,
    /// Why there may be further interfaces, where there may be.
    pub(super) incomplete: Option<String>,
}

impl State {
    pub(super) fn read(bundle: &Bundle) -> Self {
        let mut state = Self { incomplete: bundle.incomplete.clone(), ..Self::default() };
        let mut places: BTreeMap<String, (usize, String)> = BTreeMap::new();
        for (index, answer) in bundle.nics.iter().enumerate() {
            let at = format!("nics[{index}]");
            let mut nic = Nic::read(answer, &at);
            let Some(name) = &answer.nic else {
                let what = "the entry has no name".to_owned();
                nic.failed.get_or_insert(Problem { at, what });
                state.unnamed.push(nic);
                continue;
            };
            let name = name.to_ascii_lowercase();
            let (times, written) = places.entry(name.clone()).or_default();
            *times += 1;
            match *times {
                1 => written.push_str(&at),
                ..=MAX_POSITIONS => written.push_str(&format!(", {at}")),
                _ => {}
            }
            if *times > 1 {
                let what = format!("the name is listed {times} times, so nothing tells which is which");
                nic.failed = Some(Problem { at: written.clone(), what });
                nic.routes = Part::default();
                nic.rules = Part::default();
            }
            state.nics.insert(name, nic);
        }
        state
    }

    /// Tells whether every interface is known by its name.
    pub(super) fn lists_all(&self) -> bool {
        self.unnamed.is_empty() && self.incomplete.is_none()
    }

    /// Returns every entry.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Nic> {
        self.nics.values().chain(&self.unnamed)
    }
}
