//! A planned call on one layer, and how far it got.

use serde_json::{Map, Value};

use crate::playbook::conversation::{CallEnding, Conversation, FinishedCall};
use crate::suspect::Layer;

/// A call that could be made.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlannedCall {
    pub(super) tool: &'static str,
    /// What it is called with, in the order in which it is tried: other arguments follow where one came to nothing.
    pub(super) attempts: Vec<Map<String, Value>>,
    pub(super) layer: Layer,
    /// Why it is taken, in words that stand in an approval card.
    pub(super) why: String,
    /// Calls before this one do not count: they answered an earlier question.
    pub(super) since: usize,
}

/// The progress of a planned call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallProgress {
    /// It can be made, with these arguments.
    Open(Map<String, Value>),
    /// It was taken, or it will never be.
    Over,
}

impl PlannedCall {
    /// Plans a call that is tried a second time unchanged: platforms have bad moments.
    pub(super) fn at_platform(
        tool: &'static str,
        layer: Layer,
        arguments: Map<String, Value>,
        why: String,
    ) -> Self {
        Self { tool, attempts: vec![arguments.clone(), arguments], layer, why, since: 0 }
    }

    /// Plans a call that is tried once: it asks humans, or another try would tell nothing new.
    pub(super) fn once(tool: &'static str, layer: Layer, arguments: Map<String, Value>, why: String) -> Self {
        Self { tool, attempts: vec![arguments], layer, why, since: 0 }
    }

    /// Plans a call into a guest: through the platform, else by ssh.
    pub(super) fn in_guest(
        tool: &'static str,
        layer: Layer,
        arguments: Map<String, Value>,
        why: String,
    ) -> Self {
        let mut by_ssh = arguments.clone();
        by_ssh.insert("provider".to_owned(), Value::from("ssh"));
        Self { tool, attempts: vec![arguments, by_ssh], layer, why, since: 0 }
    }

    /// Says what came of it.
    pub(super) fn progress(&self, conversation: &Conversation) -> CallProgress {
        let mut failures = 0;
        let later = conversation.finished.iter().skip(self.since);
        for finished in later.filter(|finished| finished.tool == self.tool && self.is(finished)) {
            match finished.ending {
                CallEnding::Completed | CallEnding::Denied | CallEnding::Refused => {
                    return CallProgress::Over;
                }
                CallEnding::Failed => failures += 1,
            }
        }
        if failures == 0 && self.is_cut_off(conversation) {
            failures = 1;
        }
        self.attempts
            .get(failures)
            .map_or(CallProgress::Over, |arguments| CallProgress::Open(arguments.clone()))
    }

    /// Tells whether a call was this look.
    fn is(&self, finished: &FinishedCall) -> bool {
        self.attempts.first().is_some_and(|arguments| core(arguments) == core(&finished.arguments))
    }

    /// Tells whether the platform's channel into a guest failed before: it takes minutes to fail again.
    fn is_cut_off(&self, conversation: &Conversation) -> bool {
        let vm = |arguments: &Map<String, Value>| {
            arguments.get("vm_name").and_then(Value::as_str).map(str::to_owned)
        };
        let arguments = self.attempts.last().filter(|arguments| arguments.contains_key("provider"));
        let Some(machine) = arguments.and_then(vm) else { return false };
        let failed = |finished: &FinishedCall| {
            finished.ending == CallEnding::Failed
                && !finished.arguments.contains_key("provider")
                && vm(&finished.arguments).as_ref() == Some(&machine)
        };
        ["detect_config_drift", "inspect_qdisc"].iter().any(|tool| {
            let compares = |finished: &FinishedCall| finished.arguments.contains_key("compare_session_id");
            conversation.calls(tool).any(|finished| failed(finished) && !compares(finished))
        })
    }
}

/// What makes two calls the same look.
fn core(arguments: &Map<String, Value>) -> Map<String, Value> {
    let ignored = ["reasoning", "hypothesis_id", "provider"];
    arguments
        .iter()
        .filter(|(key, _)| !ignored.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
