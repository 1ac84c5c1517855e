//! `manage_hypotheses`: the board.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::HypothesisState;
use crate::event::{Event, HypothesisSet, Refusal};
use crate::model::ToolSpec;
use crate::tool::argument::{parse, schema, sized};
use crate::tool::{CallContext, CallResult, Tool, ToolAction};

const NAME: &str = "manage_hypotheses";
const MAX_HYPOTHESES: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// New hypotheses.
    #[serde(default)]
    add: Vec<Add>,
    /// New states of hypotheses that are on the board.
    #[serde(default)]
    update: Vec<Update>,
    /// Hypotheses that were a mistake. They stay in the report as withdrawn.
    #[serde(default)]
    remove_ids: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
    /// A short name, such as `H1`.
    id: String,
    /// What is supposed: a cause that could be wrong, at a place, by which the symptom would follow.
    description: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Update {
    /// Which.
    id: String,
    /// What the evidence says.
    state: UpdatedState,
    /// Why, with observation ids.
    #[serde(default)]
    #[schemars(with = "String")]
    why: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum UpdatedState {
    /// It is being tested.
    Active,
    /// Evidence supports it.
    Confirmed,
    /// Evidence speaks against it.
    Refuted,
    /// It cannot be tested.
    Unverifiable,
    /// Evidence speaks for and against it.
    Contradicted,
}

impl From<UpdatedState> for HypothesisState {
    fn from(state: UpdatedState) -> Self {
        match state {
            UpdatedState::Active => Self::Active,
            UpdatedState::Confirmed => Self::Confirmed,
            UpdatedState::Refuted => Self::Refuted,
            UpdatedState::Unverifiable => Self::Unverifiable,
            UpdatedState::Contradicted => Self::Contradicted,
        }
    }
}

/// See the module.
pub(super) struct ManageHypotheses;

impl Tool for ManageHypotheses {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Puts hypotheses on the board, sets what the evidence says about them, takes mistakes off. Either the \
                whole call holds or nothing of it. Example: {\"add\":[{\"id\":\"H1\",\"description\":\"the NSG of web-1's \
                subnet denies tcp/5001 inbound\"}],\"update\":[{\"id\":\"H2\",\"state\":\"REFUTED\",\"why\":\"o4: next hop \
                is VnetLocal\"}]}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        ToolAction::Return(apply(arguments, context).map_or_else(|refused| refused, Box::new))
    }
}

fn apply(arguments: &Map<String, Value>, context: &CallContext<'_>) -> Result<CallResult, Box<CallResult>> {
    let Arguments { add, update, remove_ids } = parse(arguments, NAME)?;
    let refuse = |reason: String| Err(Box::new(CallResult::refuse(Refusal::Malformed, reason)));
    if add.is_empty() && update.is_empty() && remove_ids.is_empty() {
        return refuse("nothing is added, updated or removed".to_owned());
    }
    for new in &add {
        sized("description", &new.description, 1_000)?;
        let fits = (1..=32).contains(&new.id.len())
            && new.id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        if !fits {
            return refuse(format!("the id {:?} is not 1 to 32 letters, digits, `_`, `-` or `.`", new.id));
        }
    }
    let mut known: BTreeSet<&str> =
        context.state.hypotheses.iter().map(|hypothesis| hypothesis.id.as_str()).collect();
    known.extend(add.iter().map(|new| new.id.as_str()));
    if known.len() > MAX_HYPOTHESES {
        return refuse(format!("a board holds {MAX_HYPOTHESES} hypotheses; settle some first"));
    }
    let named = update.iter().map(|change| &change.id).chain(&remove_ids);
    if let Some(id) = named.into_iter().find(|id| !known.contains(id.as_str())) {
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        return refuse(format!("there is no hypothesis {id}; there are: {known}"));
    }
    let mut events = Vec::new();
    for new in &add {
        // One that is there keeps its words: the report has to say what was tested.
        let there = context.state.hypothesis(&new.id).is_some();
        let description = (!there).then(|| new.description.trim().to_owned());
        events.push(set(&new.id, description, HypothesisState::Active, None));
    }
    for change in &update {
        let why = change.why.clone().map(|why| why.chars().take(1_000).collect());
        events.push(set(&change.id, None, change.state.into(), why));
    }
    events.extend(remove_ids.iter().map(|id| set(id, None, HypothesisState::Withdrawn, None)));
    let ids = |ids: Vec<&String>| json!(ids);
    let content = json!({
        "status": "ok",
        "active_hypothesis_ids": active(context, &events),
        "added": ids(add.iter().map(|new| &new.id).collect()),
        "updated": ids(update.iter().map(|change| &change.id).collect()),
        "removed": ids(remove_ids.iter().collect()),
    });
    Ok(CallResult { events, ..CallResult::completed(content) })
}

fn set(id: &str, description: Option<String>, state: HypothesisState, why: Option<String>) -> Event {
    Event::HypothesisSet(HypothesisSet { id: id.to_owned(), description, state, by: "model".to_owned(), why })
}

/// Returns what will be active once the events are recorded.
fn active(context: &CallContext<'_>, events: &[Event]) -> Vec<String> {
    let before = context.state.hypotheses.iter().map(|hypothesis| (hypothesis.id.clone(), hypothesis.state));
    let mut board: Vec<(String, HypothesisState)> = before.collect();
    for event in events {
        if let Event::HypothesisSet(set) = event {
            match board.iter_mut().find(|(id, _)| *id == set.id) {
                Some((_, state)) => *state = set.state,
                None => board.push((set.id.clone(), set.state)),
            }
        }
    }
    board.into_iter().filter(|(_, state)| *state == HypothesisState::Active).map(|(id, _)| id).collect()
}
