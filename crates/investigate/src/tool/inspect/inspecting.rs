//! What all inspectors share: arguments in, one look along the record, the result out.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::argument::{Refused, refuse};
use super::seen::{Halt, Seen};
use crate::event::ObservationId;
use crate::model::ToolSpec;
use crate::suspect::Borne;
use crate::tool::argument::{parse, schema, sized};
use crate::tool::errand::Trail;
use crate::tool::{Bench, Move, Outcome, Site, Tool, subject};
use ghost_cloud::operation::Issue;

/// So many suspects and notes are told; the record bears out all.
const MOST: usize = 40;

/// So many bytes of a document are shown.
const LONGEST: usize = 6_000;

/// What every inspector is asked with, beside its own arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Common {
    /// Why it is asked, for whoever reads along.
    #[serde(default)]
    #[schemars(with = "String")]
    reasoning: Option<String>,
    /// The hypothesis that it tests, such as `H1`.
    #[serde(default)]
    #[schemars(with = "String")]
    hypothesis_id: Option<String>,
    /// The resource group; the session's own, where none is given.
    #[serde(default)]
    #[schemars(with = "String")]
    resource_group: Option<String>,
}

/// The argument that names the machine.
const MACHINE: &str = "vm_name";

/// The names of [`Common`].
const COMMON: [&str; 3] = ["reasoning", "hypothesis_id", "resource_group"];

/// A tool that only reads.
pub(in crate::tool) trait Inspector: Send + Sync {
    /// What it is asked with, beside what all are.
    type Arguments: DeserializeOwned + JsonSchema;

    /// What that means: names and addresses, checked.
    type Wish;

    /// Its name.
    const NAME: &'static str;

    /// Whether it has to be called with a reason.
    const ASKS_WHY: bool = true;

    /// Whether `vm_name` may be left out: then the machine is the one that the incident is about.
    const FINDS_MACHINE: bool = false;

    /// What a model is told.
    const DESCRIPTION: &'static str;

    /// Checks the arguments, and the resource group where one is named.
    ///
    /// # Errors
    /// Says what is wrong with them.
    fn check(
        &self,
        arguments: &Self::Arguments,
        group: Option<&str>,
        site: &Site,
    ) -> Result<Self::Wish, Refused>;

    /// Looks, along the record of the call.
    ///
    /// # Errors
    /// Returns the next move, or why it comes to nothing.
    fn look(&self, wish: &Self::Wish, site: &Site, trail: &mut Trail<'_, '_>) -> Result<Seen, Halt>;
}

/// An inspector as a tool.
pub(super) struct Inspecting<T> {
    inspector: T,
    site: Arc<Site>,
}

impl<T: Inspector> Inspecting<T> {
    /// Makes a tool of it.
    pub(super) fn new(inspector: T, site: &Arc<Site>) -> Self {
        Self { inspector, site: Arc::clone(site) }
    }

    fn wish(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Result<(T::Wish, Common), Refused> {
        let is_common = |key: &String| COMMON.contains(&key.as_str());
        let (common, mut own): (Map<String, Value>, Map<String, Value>) =
            arguments.clone().into_iter().partition(|(key, _)| is_common(key));
        let common: Common = parse(&common, T::NAME)?;
        match &common.reasoning {
            Some(reasoning) => sized("reasoning", reasoning, 4_000)?,
            None if T::ASKS_WHY => {
                return Err(refuse("reasoning is missing: say in a sentence what it will tell"));
            }
            None => {}
        }
        if T::FINDS_MACHINE && !own.contains_key(MACHINE) {
            let outbound = own.get("direction").and_then(Value::as_str).is_some_and(is_outbound);
            own.insert(MACHINE.to_owned(), Value::from(subject::machine(bench, outbound)?.to_string()));
        }
        let own: T::Arguments = parse(&own, T::NAME)?;
        let group = common.resource_group.clone().or_else(|| subject::group(&self.site, bench));
        Ok((self.inspector.check(&own, group.as_deref(), &self.site)?, common))
    }
}

impl<T: Inspector> Tool for Inspecting<T> {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: T::NAME.to_owned(),
            description: T::DESCRIPTION.to_owned(),
            parameters: demanding(T::ASKS_WHY, joined(schema::<Common>(), schema::<T::Arguments>())),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Move {
        let (wish, asked) = match self.wish(arguments, bench) {
            Ok(read) => read,
            Err(refused) => return Move::Return(refused),
        };
        if let Some(id) = asked.hypothesis_id.as_deref().filter(|id| bench.state.hypothesis(id).is_none()) {
            let known: Vec<&str> = bench.state.hypotheses.iter().map(|one| one.id.as_str()).collect();
            let id: String = id.chars().take(32).collect();
            return Move::Return(refuse(format!(
                "there is no hypothesis {id:?}; there are: {}",
                known.join(", ")
            )));
        }
        let mut trail = Trail::new(bench, asked.hypothesis_id.clone());
        match self.inspector.look(&wish, &self.site, &mut trail) {
            Ok(seen) => Move::Return(Box::new(told(&seen, &trail.seen(), bench))),
            Err(Halt::Move(next)) => *next,
            Err(Halt::Issue(trouble)) => Move::Return(Box::new(failed(&trouble, &trail.seen(), bench))),
        }
    }

    fn bears(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Borne {
        let Ok((wish, _)) = self.wish(arguments, bench) else { return Borne::default() };
        let mut trail = Trail::new(bench, None);
        match self.inspector.look(&wish, &self.site, &mut trail) {
            Ok(Seen { suspects, looked, .. }) => Borne { suspects, looked, around: trail.known_before() },
            Err(Halt::Move(_) | Halt::Issue(_)) => Borne::default(),
        }
    }
}

fn is_outbound(word: &str) -> bool {
    word.eq_ignore_ascii_case("outbound")
}

/// Puts the reason among what is demanded.
fn demanding(reason: bool, mut schema: Value) -> Value {
    if let Some(object) = schema.as_object_mut().filter(|_| reason) {
        let required = object.entry("required").or_insert_with(|| json!([]));
        required.as_array_mut().into_iter().for_each(|list| list.insert(0, json!("reasoning")));
    }
    schema
}

/// Joins the schemas of two objects; of the second stays whether it takes anything else.
fn joined(common: Value, mut own: Value) -> Value {
    for part in ["properties", "required"] {
        let joined = match (common.get(part), own.get(part)) {
            (Some(Value::Object(one)), Some(Value::Object(other))) => {
                Value::Object(one.clone().into_iter().chain(other.clone()).collect())
            }
            (Some(Value::Array(one)), Some(Value::Array(other))) => {
                Value::Array(one.iter().chain(other).cloned().collect())
            }
            (Some(one), _) => one.clone(),
            (None, Some(other)) => other.clone(),
            (None, None) => continue,
        };
        if let Some(object) = own.as_object_mut() {
            object.insert(part.to_owned(), joined);
        }
    }
    own
}

fn told(seen: &Seen, observations: &[ObservationId], bench: &Bench<'_>) -> Outcome {
    let mut notes: Vec<String> = seen.notes.iter().take(MOST).cloned().collect();
    if let Some(more) = seen.suspects.len().checked_sub(MOST).filter(|more| *more > 0) {
        notes.push(format!("{more} more suspects are not told here; the record bears them out all the same"));
    }
    let suspects: Vec<Value> = seen.suspects.iter().take(MOST).map(|one| json!(one)).collect();
    let document = if seen.document.is_empty() {
        String::new()
    } else {
        bench.fence("document", &clipped(&seen.document))
    };
    Outcome::of(json!({
        "status": "completed",
        "observations": observations,
        "suspects": suspects,
        "looked": seen.looked,
        "facts": if seen.facts.is_null() { json!({}) } else { seen.facts.clone() },
        "notes": notes,
        "document": document,
    }))
}

fn failed(trouble: &Issue, observations: &[ObservationId], bench: &Bench<'_>) -> Outcome {
    let denied = bench.steps().any(crate::state::Step::is_denied);
    let content = json!({
        "status": if denied { "denied" } else { "failed" },
        "observations": observations,
        "suspects": [],
        "looked": [],
        // What the platform or a guest said stands in it.
        "reason": bench.fence("reason", &trouble.text),
        "hint": trouble.hint,
    });
    Outcome { content, is_error: true, refused: None, events: Vec::new() }
}

/// Cuts a document at a line, and says so.
fn clipped(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let mut end = LONGEST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text.get(..end).unwrap_or_default();
    let kept = kept.rfind('\n').and_then(|at| kept.get(..at)).unwrap_or(kept);
    format!("{kept}\n… {} more bytes; recall_observation shows what was read", text.len() - kept.len())
}
