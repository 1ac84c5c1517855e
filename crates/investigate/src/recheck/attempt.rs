//! The symptom itself, tried again: a harmless call from where it failed, wherever one can be made.

use serde_json::{Value, json};

use crate::decision::DecisionContext;
use crate::event::{Now, Rechecked};
use crate::finding::Fault;
use crate::judged::{JudgedFlow, judged, of_complaints};
use crate::model::Call;
use crate::state::{CallState, State};
use ghost_shell::Verdict;

/// So many flows are tried.
const MAX_ATTEMPTS: usize = 3;
/// The tool that runs a command.
const TOOL: &str = "run_shell_cmd";

/// A try of a flow.
pub(super) struct Attempt {
    flow: JudgedFlow,
    /// The machine from which it is tried.
    from: String,
    command: String,
}

/// Returns the tries of the flows that were stopped or degraded and can be tried by a command that only reads. They stay the same while
/// they run: they go by what was judged before the session was reopened.
pub(super) fn attempts(state: &State, since: usize, context: &DecisionContext<'_>) -> Vec<Attempt> {
    let before = || state.entries.get(..since).unwrap_or_default().iter();
    let mut last = None;
    for entry in before() {
        if let crate::state::Entry::Turn(turn) = entry {
            last = turn.calls.iter().rev().find_map(of_complaints).or(last);
        }
    }
    let flows = last.or_else(|| judged(state).map(|(_, flows)| flows)).unwrap_or_default().flows;
    let stopped = flows.into_iter().filter(|flow| flow.is_explained() && flow.gap().is_none());
    let tried = stopped.filter_map(|flow| attempt(flow, state));
    tried
        .filter(|attempt| context.policy.classify(&attempt.command).verdict == Verdict::Safe)
        .take(MAX_ATTEMPTS)
        .collect()
}

fn attempt(flow: JudgedFlow, state: &State) -> Option<Attempt> {
    let from = flow.source_machine.clone()?;
    let to = flow.destination;
    let script = match (flow.protocol.as_str(), flow.port) {
        ("tcp", Some(port)) => format!("nc -vz -w 3 {to} {port}"),
        ("icmp", _) => format!("ping -c 3 -W 2 {to}"),
        // Nobody answers a datagram that says nothing.
        _ => return None,
    };
    let group = group(state, &from)?;
    let command = format!(
        "az vm run-command invoke -g {group} -n {from} --command-id RunShellScript --scripts \"{script}\""
    );
    Some(Attempt { flow, from, command })
}

/// Returns the resource group under which a machine was read before.
fn group(state: &State, machine: &str) -> Option<String> {
    let plain = |word: &str| word.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char));
    state.steps.iter().rev().find_map(|step| {
        let words: Vec<&str> =
            step.current().split_whitespace().map(|word| word.trim_matches('\'')).collect();
        let value = |names: [&str; 2]| {
            let at = words.iter().position(|word| names.contains(word))?;
            words.get(at + 1).copied()
        };
        let is_own = words.contains(&"run-command") && value(["-n", "--name"]) == Some(machine);
        value(["-g", "--resource-group"]).filter(|group| is_own && plain(group)).map(str::to_owned)
    })
}

impl Attempt {
    /// Returns the call that tries it.
    pub(super) fn call(&self, id: String) -> Call {
        let why = format!(
            "Somebody says that it is fixed: I try {} again, from where it failed.",
            self.flow.name()
        );
        let arguments = json!({"command": self.command, "reasoning": why});
        Call { id, tool: TOOL.to_owned(), arguments }
    }

    /// Says what the try came to; nothing where it could not be made.
    pub(super) fn row(&self, state: &State, call: Option<&CallState>) -> Option<Rechecked> {
        let call = call?;
        let returned = call.returned.as_ref()?;
        let content: Value = serde_json::from_str(&returned.content).ok()?;
        let text = |name: &str| content.get(name).and_then(Value::as_str).unwrap_or_default().to_lowercase();
        if text("status") != "completed" {
            return None;
        }
        // The platform says of itself that it succeeded; what the program printed stands behind that.
        let output = text("output");
        let said = output.split_once("[stdout]").map(|(_, printed)| printed)?;
        let tried = match self.flow.port {
            Some(port) => format!("nc from {} to {} port {port}", self.from, self.flow.destination),
            None => format!("ping from {} to {}", self.from, self.flow.destination),
        };
        let (code, now, after) = match outcome(said)? {
            Tried::Answered => {
                (Fault::SynUnanswered, Now::Fixed, format!("tried again: {tried} is answered"))
            }
            Tried::Refused => (Fault::TcpRefused, Now::Broken, format!("tried again: {tried} is refused")),
            Tried::Silent => {
                (Fault::SynUnanswered, Now::Broken, format!("tried again: {tried} gets no answer"))
            }
        };
        let JudgedFlow { source, destination, protocol, port, .. } = &self.flow;
        let port = port.map_or_else(|| "any".to_owned(), |port| port.to_string());
        let steps = state.observations.iter().filter(|seen| seen.observed.call == call.call.id);
        Some(Rechecked {
            code: code.into(),
            object: format!("flow/{source}/{destination}/{protocol}/{port}"),
            before: format!("{}: {}", self.flow.name(), self.flow.outcome),
            after,
            now,
            seen: steps.map(|seen| seen.observed.id).collect(),
        })
    }
}

/// What a try came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tried {
    Answered,
    Refused,
    Silent,
}

/// Reads what `nc` and `ping` say; nothing where they say something else.
fn outcome(said: &str) -> Option<Tried> {
    let has = |all: &[&str]| all.iter().any(|words| said.contains(words));
    if has(&["refused"]) {
        Some(Tried::Refused)
    } else if has(&["succeeded", "connected to", " 0% packet loss", "] open"]) {
        Some(Tried::Answered)
    } else if has(&["timed out", "timeout", "no route to host", "unreachable", "100% packet loss"]) {
        Some(Tried::Silent)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say_about_a_try() {
        for (said, expected) in [
            ("connection to 10.0.1.4 5432 port [tcp/postgresql] succeeded!", Some(Tried::Answered)),
            ("nc: connect to 10.0.1.4 port 5432 (tcp) failed: connection refused", Some(Tried::Refused)),
            (
                "nc: connect to 10.0.1.4 port 5432 (tcp) timed out: operation now in progress",
                Some(Tried::Silent),
            ),
            ("3 packets transmitted, 3 received, 0% packet loss, time 2003ms", Some(Tried::Answered)),
            ("3 packets transmitted, 0 received, 100% packet loss, time 2003ms", Some(Tried::Silent)),
            ("nc: command not found", None),
            ("", None),
        ] {
            assert_eq!(outcome(said), expected, "{said}");
        }
    }
}
