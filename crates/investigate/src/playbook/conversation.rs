//! What was said and done so far, read out of the conversation.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::conversation;
use crate::model::{Ask, Message, ToolResult};
use crate::suspect::{Layer, Looked, Suspect};
use crate::{Fence, HypothesisState};

/// Begins the message that says where the session stands.
const BOARD: &str = "The board now:";
/// Begins the message behind which a session goes on after its report.
const REOPENED: &str = "The report was delivered, and the session goes on.";
/// Ends the symptom within the first message.
const BEHIND_SYMPTOM: [&str; 4] = [
    "\nOnly this part of the cloud may be looked at;",
    conversation::HOSTS,
    conversation::CLUSTERS,
    "\nWhat was said before, as quotes:",
];
/// Nobody's name is longer.
const MAX_NAME_LEN: usize = 120;

/// The conversation, taken apart.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// What people said to Ghost, in order.
    pub(super) user_text: String,
    /// The resource groups that may be looked at; empty where all of them may.
    pub(super) groups: Vec<String>,
    /// The machines that are read themselves; empty where the cloud is looked at.
    pub(super) hosts: Vec<String>,
    /// The clusters whose inside may be read.
    pub(super) clusters: Vec<String>,
    /// Whether the cloud may be looked at, too.
    pub(super) cloud_too: bool,
    /// The board: ids and states.
    pub(super) board: Vec<(String, HypothesisState)>,
    /// What was called since the session began, or went on after a report, in order.
    pub(super) finished: Vec<FinishedCall>,
    /// How many of these calls were over when people said something last: what they said since was not known to them.
    pub(super) before_last_words: usize,
}

/// A call that is over.
#[derive(Debug)]
pub(super) struct FinishedCall {
    pub(super) tool: String,
    /// What it was called with.
    pub(super) arguments: Map<String, Value>,
    /// How it ended.
    pub(super) ending: CallEnding,
    /// What came back; `null` where it is no JSON.
    pub(super) result: Value,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallEnding {
    /// It did what it was asked.
    Completed,
    /// A human said no.
    Denied,
    /// The code would not do it.
    Refused,
    /// It was tried and came to nothing.
    Failed,
}

impl Conversation {
    /// Reads a conversation.
    pub(super) fn read(ask: &Ask) -> Self {
        let mut conversation = Self::default();
        for (at, message) in ask.messages.iter().enumerate() {
            match message {
                Message::User { text } if at == 0 => conversation.on_first_message(text),
                Message::User { text } => conversation.on_user_message(text),
                Message::Results { .. } => {}
                Message::Assistant { calls, .. } => {
                    let results = match ask.messages.get(at + 1) {
                        Some(Message::Results { results }) => results.as_slice(),
                        Some(Message::User { .. } | Message::Assistant { .. }) | None => &[],
                    };
                    for call in calls {
                        // A call whose result is lost was tried all the same, or it would be tried for ever.
                        let result = results.iter().find(|result| result.id == call.id);
                        conversation.finished.push(finished_call(&call.tool, &call.arguments, result));
                    }
                }
            }
        }
        conversation
    }

    fn on_first_message(&mut self, text: &str) {
        let end = BEHIND_SYMPTOM.iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len());
        let (symptom, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        // The first line names who reports.
        let symptom = match symptom.split_once('\n') {
            Some((first, behind)) if first.starts_with("Incident, reported by ") => behind,
            Some(_) | None => symptom,
        };
        self.user_text = without_marks(symptom);
        let groups = rest.lines().find_map(|line| line.strip_prefix("- resource groups: "));
        if let Some(groups) = groups {
            let list = groups.split(" (name one with").next().unwrap_or_default();
            self.groups = list.split(", ").map(|name| name.trim().to_owned()).collect();
        }
        // Behind the quotes somebody else may have written such a line.
        let hosts =
            rest.split("\nWhat was said before").next().and_then(|own| own.split_once(conversation::HOSTS));
        let clusters = rest
            .split("\nWhat was said before")
            .next()
            .and_then(|own| own.split_once(conversation::CLUSTERS));
        if let Some((_, names)) = clusters {
            let mut lines = names.lines();
            let names = lines.next().unwrap_or_default();
            self.cloud_too = lines.next() == Some(conversation::CLOUD_BESIDE.trim_end());
            self.clusters = names.split(", ").map(|name| name.trim().to_owned()).collect();
        }
        if let Some((_, names)) = hosts {
            let mut lines = names.lines();
            let names = lines.next().unwrap_or_default();
            self.cloud_too = lines.next() == Some(conversation::CLOUD_TOO.trim_end());
            self.hosts = names.split(", ").map(|name| name.trim().to_owned()).collect();
        }
    }

    fn on_user_message(&mut self, text: &str) {
        if let Some(board) = text.strip_prefix(BOARD) {
            self.board = board.lines().filter_map(progress).collect();
            return;
        }
        if text.starts_with(REOPENED) {
            // What was seen before may be mended by now.
            self.finished.clear();
            self.before_last_words = 0;
            return;
        }
        if let Some(forwarded) = text.strip_prefix(conversation::OF_PROGRAM) {
            self.user_text.push('\n');
            self.user_text.push_str(&without_marks(forwarded));
            self.before_last_words = self.finished.len();
            return;
        }
        if let Some((who, user_text)) = text.split_once(" says: ")
            && who.len() <= MAX_NAME_LEN
            && !who.contains('\n')
        {
            self.user_text.push('\n');
            self.user_text.push_str(user_text.trim());
            self.before_last_words = self.finished.len();
        }
    }

    /// Returns the calls of a tool.
    pub(super) fn calls<'a>(&'a self, tool: &'a str) -> impl DoubleEndedIterator<Item = &'a FinishedCall> {
        self.finished.iter().filter(move |finished| finished.tool == tool)
    }

    /// Returns the calls that did what they were asked.
    pub(super) fn completed(&self) -> impl Iterator<Item = &FinishedCall> {
        self.finished.iter().filter(|finished| finished.ending == CallEnding::Completed)
    }

    /// Returns which layers were looked at, whole.
    pub(super) fn looked(&self) -> Vec<Looked> {
        let mut all: Vec<Looked> = Vec::new();
        for looked in self.completed().flat_map(FinishedCall::looked) {
            if !all.contains(&looked) {
                all.push(looked);
            }
        }
        all
    }

    /// Returns how the last look at a layer ended; `None` where nobody tried.
    pub(super) fn last_look(&self, gap: &Looked) -> Option<CallEnding> {
        let tool = match gap.layer {
            Layer::Wire => "capture_traffic",
            Layer::Measure => "run_pipe_meter",
            Layer::Shaping => "inspect_qdisc",
            Layer::Guest | Layer::GuestDrift => "detect_config_drift",
            Layer::Rules | Layer::Exposure => "inspect_nsg",
            Layer::Routes => "effective_route_inspector",
            Layer::Storage => "inspect_storage",
            Layer::NetworkDrift => "detect_effective_network_drift",
            Layer::Topology => "topology",
            Layer::Links | Layer::Names | Layer::Sockets => crate::judged::HOSTS,
            Layer::Cluster => crate::judged::CLUSTERS,
        };
        let of_subject = |finished: &&FinishedCall| {
            gap.subject.is_empty()
                || finished.arguments.values().any(|value| value.as_str() == Some(&gap.subject))
        };
        self.calls(tool).rfind(of_subject).map(|finished| finished.ending)
    }

    /// Tells whether a hypothesis was put on the board since the session began or went on.
    pub(super) fn added(&self, id: &str) -> bool {
        let holds = |finished: &FinishedCall| {
            let list = finished.arguments.get("add").and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|add| add.get("id").and_then(Value::as_str) == Some(id)))
        };
        self.calls("manage_hypotheses")
            .any(|finished| finished.ending == CallEnding::Completed && holds(finished))
    }

    /// Returns the state of a hypothesis.
    pub(super) fn state(&self, id: &str) -> Option<HypothesisState> {
        self.board.iter().find(|(known, _)| known == id).map(|(_, state)| *state)
    }
}

impl FinishedCall {
    /// Returns an argument that is a text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.arguments.get(key).and_then(Value::as_str)
    }

    /// Returns which layers it looked at, whole.
    pub(super) fn looked(&self) -> Vec<Looked> {
        list(&self.result, "looked").filter_map(|item| serde_json::from_value(item.clone()).ok()).collect()
    }

    /// Returns what it suspects; what no contract names is left out.
    pub(super) fn suspects(&self) -> Vec<Suspect> {
        let suspects = list(&self.result, "suspects");
        let suspects = suspects.filter_map(|item| serde_json::from_value::<Suspect>(item.clone()).ok());
        suspects
            .filter(|found| {
                found.code.fault().is_some_and(|fault| fault.object_kind().matches(&found.object))
            })
            .collect()
    }

    /// Returns the facts of its result; `None` where they are not of this form.
    pub(super) fn facts<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_value(self.result.get("facts")?.clone()).ok()
    }

    /// Returns what it observed.
    pub(super) fn observations(&self) -> Vec<String> {
        let ids = list(&self.result, "observations").filter_map(Value::as_str);
        ids.filter(|id| id.parse::<crate::event::ObservationId>().is_ok()).map(str::to_owned).collect()
    }

    /// Returns what to do about it, where it came to nothing.
    pub(super) fn hint(&self) -> Option<&str> {
        self.result.get("hint").and_then(Value::as_str)
    }

    /// Returns why it came to nothing.
    pub(super) fn reason(&self) -> String {
        let reason =
            self.result.get("reason").and_then(Value::as_str).unwrap_or("no usable answer came back");
        plain(&Fence::without_markers(reason), 160)
    }
}

/// Takes the marks around data out of a message to a model.
fn without_marks(text: &str) -> String {
    let is_word = |line: &&str| {
        *line != conversation::FROM_THREAD && !line.starts_with("<<<data ") && !line.starts_with("<<<end ")
    };
    text.lines().filter(is_word).collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn list<'a>(result: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    result.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Returns a text as one short line, so that it can stand within a sentence.
pub(super) fn plain(text: &str, most: usize) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|char| !char.is_control());
    if line.chars().count() > most {
        line = line.chars().take(most).collect::<String>() + "…";
    }
    line
}

fn finished_call(tool: &str, arguments: &Value, result: Option<&ToolResult>) -> FinishedCall {
    let is_error = result.is_none_or(|result| result.is_error);
    let content: Value =
        result.and_then(|result| serde_json::from_str(&result.content).ok()).unwrap_or_default();
    let ending = match content.get("status").and_then(Value::as_str) {
        Some("completed" | "ok") if !is_error => CallEnding::Completed,
        Some("denied") => CallEnding::Denied,
        Some("rejected") => CallEnding::Refused,
        Some(_) | None => CallEnding::Failed,
    };
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    FinishedCall { tool: tool.to_owned(), arguments, ending, result: content }
}

/// Reads a line of the board: `- H-rules ACTIVE: …`.
fn progress(line: &str) -> Option<(String, HypothesisState)> {
    let (head, _) = line.strip_prefix("- ")?.split_once(": ")?;
    let (id, state) = head.split_once(' ')?;
    Some((id.to_owned(), serde_json::from_value(Value::from(state)).ok()?))
}
