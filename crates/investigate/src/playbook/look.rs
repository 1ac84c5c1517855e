//! One look at one layer: what is called, and what came of it so far.

use serde_json::{Map, Value};

use crate::playbook::story::{Done, Ending, Story};
use crate::suspect::Layer;

/// A look that could be taken.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    /// The tool.
    pub(super) tool: &'static str,
    /// What it is called with, in the order in which it is tried: another way follows where one came to nothing.
    pub(super) ways: Vec<Map<String, Value>>,
    /// The layer.
    pub(super) layer: Layer,
    /// Why it is taken, in words that stand in an approval card.
    pub(super) why: String,
}

/// What came of a look.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Standing {
    /// It can be taken, this way.
    Open(Map<String, Value>),
    /// It was taken, or it will never be.
    Over,
}

impl Look {
    /// Makes a look that is tried a second time the same way: platforms have bad moments.
    pub(super) fn at_platform(
        tool: &'static str,
        layer: Layer,
        arguments: Map<String, Value>,
        why: String,
    ) -> Self {
        Self { tool, ways: vec![arguments.clone(), arguments], layer, why }
    }

    /// Makes a look that is tried once: it asks humans, or another try would tell nothing new.
    pub(super) fn once(tool: &'static str, layer: Layer, arguments: Map<String, Value>, why: String) -> Self {
        Self { tool, ways: vec![arguments], layer, why }
    }

    /// Makes a look into a guest: through the platform, else by ssh.
    pub(super) fn in_guest(
        tool: &'static str,
        layer: Layer,
        arguments: Map<String, Value>,
        why: String,
    ) -> Self {
        let mut by_ssh = arguments.clone();
        by_ssh.insert("provider".to_owned(), Value::from("ssh"));
        Self { tool, ways: vec![arguments, by_ssh], layer, why }
    }

    /// Says what came of it.
    pub(super) fn standing(&self, story: &Story) -> Standing {
        let mut failures = 0;
        for done in story.calls(self.tool).filter(|done| self.is(done)) {
            match done.ending {
                Ending::Completed | Ending::Denied | Ending::Refused => return Standing::Over,
                Ending::Failed => failures += 1,
            }
        }
        if failures == 0 && self.is_cut_off(story) {
            failures = 1;
        }
        self.ways.get(failures).map_or(Standing::Over, |way| Standing::Open(way.clone()))
    }

    /// Tells whether a call was this look.
    fn is(&self, done: &Done) -> bool {
        self.ways.first().is_some_and(|way| core(way) == core(&done.arguments))
    }

    /// Tells whether the platform's way into a guest failed before: it takes minutes to fail again.
    fn is_cut_off(&self, story: &Story) -> bool {
        let vm = |way: &Map<String, Value>| way.get("vm_name").and_then(Value::as_str).map(str::to_owned);
        let way = self.ways.last().filter(|way| way.contains_key("provider"));
        let Some(machine) = way.and_then(vm) else { return false };
        let failed = |done: &Done| {
            done.ending == Ending::Failed
                && !done.arguments.contains_key("provider")
                && vm(&done.arguments).as_ref() == Some(&machine)
        };
        ["detect_config_drift", "inspect_qdisc"].iter().any(|tool| {
            let compares = |done: &Done| done.arguments.contains_key("compare_session_id");
            story.calls(tool).any(|done| failed(done) && !compares(done))
        })
    }
}

/// What makes two calls the same look.
fn core(arguments: &Map<String, Value>) -> Map<String, Value> {
    let told = ["reasoning", "hypothesis_id", "provider"];
    arguments
        .iter()
        .filter(|(key, _)| !told.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
