//! What all inspectors share: arguments in, one inspection along the record, the result out.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::argument::{Refused, refuse};
use super::{changes, cluster, drift, filter, host, nsg, packet, path, qdisc, route, storage, topology};
use crate::event::ObservationId;
use crate::model::ToolSpec;
use crate::suspect::{Layer, Looked, SupportedFaults, Suspect, once, plain};
use crate::tool::argument::{incident_group, incident_machine, parse, schema, sized};
use crate::tool::call_replay::CallReplay;
use crate::tool::{CallContext, CallResult, Site, Tool, ToolAction};
use ghost_cloud::operation::Issue;

/// Limits the suspects and the notes of one result; the record supports all of them.
const MAX_SUSPECTS: usize = 40;

/// Limits how much of a document a result shows.
const MAX_DOCUMENT_BYTES: usize = 6_000;

/// The arguments that every inspector takes beside its own.
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

/// Returns all inspectors.
pub(in crate::tool) fn inspectors(site: &Arc<Site>) -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(InspectorTool::new(topology::Topology, site)),
        Box::new(InspectorTool::new(path::CheckPath, site)),
        Box::new(InspectorTool::new(nsg::InspectNsg, site)),
        Box::new(InspectorTool::new(route::EffectiveRouteInspector, site)),
        Box::new(InspectorTool::new(drift::DetectEffectiveNetworkDrift, site)),
        Box::new(InspectorTool::new(filter::DetectConfigDrift, site)),
        Box::new(InspectorTool::new(packet::WalkPacket, site)),
        Box::new(InspectorTool::new(qdisc::InspectQdisc, site)),
        Box::new(InspectorTool::new(storage::InspectStorage, site)),
        Box::new(InspectorTool::new(changes::ListChanges, site)),
        Box::new(InspectorTool::new(host::InspectHosts, site)),
        Box::new(InspectorTool::new(cluster::InspectCluster, site)),
    ]
}

/// A tool that only reads.
pub(in crate::tool) trait Inspector: Send + Sync {
    /// The arguments beside the common ones.
    type Arguments: DeserializeOwned + JsonSchema;

    /// The checked arguments: names and addresses.
    type Request;

    const NAME: &'static str;

    /// Whether it has to be called with a reason.
    const ASKS_WHY: bool = true;

    /// Whether `vm_name` may be left out: then the machine is the one that the incident is about.
    const FINDS_MACHINE: bool = false;

    /// The description for a model.
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
    ) -> Result<Self::Request, Refused>;

    /// Inspects along the record of the call.
    ///
    /// # Errors
    /// Returns the next action, or why there is no result.
    fn inspect(
        &self,
        request: &Self::Request,
        site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished>;
}

/// An inspector as a tool.
pub(super) struct InspectorTool<T> {
    inspector: T,
    site: Arc<Site>,
}

impl<T: Inspector> InspectorTool<T> {
    /// Makes a tool of it.
    pub(super) fn new(inspector: T, site: &Arc<Site>) -> Self {
        Self { inspector, site: Arc::clone(site) }
    }

    fn request(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext<'_>,
    ) -> Result<(T::Request, Common), Refused> {
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
            own.insert(MACHINE.to_owned(), Value::from(incident_machine(context, outbound)?.to_string()));
        }
        let own: T::Arguments = parse(&own, T::NAME)?;
        let group = common.resource_group.clone().or_else(|| incident_group(&self.site, context));
        Ok((self.inspector.check(&own, group.as_deref(), &self.site)?, common))
    }
}

impl<T: Inspector> Tool for InspectorTool<T> {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: T::NAME.to_owned(),
            description: T::DESCRIPTION.to_owned(),
            parameters: requiring(T::ASKS_WHY, joined(schema::<Common>(), schema::<T::Arguments>())),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        let (request, asked) = match self.request(arguments, context) {
            Ok(read) => read,
            Err(refused) => return ToolAction::Return(refused),
        };
        if let Some(id) = asked.hypothesis_id.as_deref().filter(|id| context.state.hypothesis(id).is_none()) {
            let known: Vec<&str> = context.state.hypotheses.iter().map(|one| one.id.as_str()).collect();
            let id: String = id.chars().take(32).collect();
            return ToolAction::Return(refuse(format!(
                "there is no hypothesis {id:?}; there are: {}",
                known.join(", ")
            )));
        }
        let mut replay = CallReplay::new(context, asked.hypothesis_id.clone());
        match self.inspector.inspect(&request, &self.site, &mut replay) {
            Ok(inspection) => {
                ToolAction::Return(Box::new(completed(&inspection, &replay.observations(), context)))
            }
            Err(Unfinished::ToolAction(next)) => *next,
            Err(Unfinished::Issue(trouble)) => {
                ToolAction::Return(Box::new(failed(&trouble, &replay.observations(), context)))
            }
        }
    }

    fn supports(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> SupportedFaults {
        let Ok((request, _)) = self.request(arguments, context) else { return SupportedFaults::default() };
        let mut replay = CallReplay::new(context, None).silent();
        match self.inspector.inspect(&request, &self.site, &mut replay) {
            Ok(Inspection { suspects, looked, .. }) => {
                SupportedFaults { suspects, looked, around: replay.reused() }
            }
            Err(Unfinished::ToolAction(_) | Unfinished::Issue(_)) => SupportedFaults::default(),
        }
    }
}

fn is_outbound(word: &str) -> bool {
    word.eq_ignore_ascii_case("outbound")
}

/// Adds the reason to the required arguments.
fn requiring(reason: bool, mut schema: Value) -> Value {
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

fn completed(
    inspection: &Inspection,
    observations: &[ObservationId],
    context: &CallContext<'_>,
) -> CallResult {
    let mut notes: Vec<String> = inspection.notes.iter().take(MAX_SUSPECTS).cloned().collect();
    if let Some(more) = inspection.suspects.len().checked_sub(MAX_SUSPECTS).filter(|more| *more > 0) {
        notes.push(format!("{more} more suspects are not listed here; the record holds them all the same"));
    }
    let suspects: Vec<Value> = inspection.suspects.iter().take(MAX_SUSPECTS).map(|one| json!(one)).collect();
    let document = if inspection.document.is_empty() {
        String::new()
    } else {
        context.fence("document", &clipped(&inspection.document))
    };
    CallResult::completed(json!({
        "status": "completed",
        "observations": observations,
        "suspects": suspects,
        "looked": inspection.looked,
        "facts": if inspection.facts.is_null() { json!({}) } else { inspection.facts.clone() },
        "notes": notes,
        "document": document,
    }))
}

fn failed(trouble: &Issue, observations: &[ObservationId], context: &CallContext<'_>) -> CallResult {
    let denied = context.steps().any(crate::state::Step::is_denied);
    let content = json!({
        "status": if denied { "denied" } else { "failed" },
        "observations": observations,
        "suspects": [],
        "looked": [],
        // What the platform or a guest said stands in it.
        "reason": context.fence("reason", &trouble.text),
        "hint": trouble.hint,
    });
    CallResult { content, is_error: true, refused: None, events: Vec::new() }
}

/// Cuts a document at a line, and says so.
fn clipped(text: &str) -> String {
    if text.len() <= MAX_DOCUMENT_BYTES {
        return text.to_owned();
    }
    let mut end = MAX_DOCUMENT_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text.get(..end).unwrap_or_default();
    let kept = kept.rfind('\n').and_then(|at| kept.get(..at)).unwrap_or(kept);
    format!("{kept}\n… {} more bytes; recall_observation shows what was read", text.len() - kept.len())
}

/// The result of one inspection.
#[derive(Debug, Clone, Default)]
pub(in crate::tool) struct Inspection {
    /// Faults, the most important first.
    pub(in crate::tool) suspects: Vec<Suspect>,
    /// What was looked at, whole.
    pub(in crate::tool) looked: Vec<Looked>,
    /// Small plain facts: numbers, addresses, names of one word.
    pub(in crate::tool) facts: Value,
    /// What else a reader should know, in plain words.
    pub(in crate::tool) notes: Vec<String>,
    /// The document, in short lines; text of the outside.
    pub(in crate::tool) document: String,
}

impl Inspection {
    /// Says that a layer of a subject was looked at, whole.
    pub(in crate::tool) fn looked(&mut self, layer: Layer, subject: &str) {
        let looked = Looked { layer, subject: plain(subject) };
        if !self.looked.contains(&looked) {
            self.looked.push(looked);
        }
    }

    /// Adds faults, each once.
    pub(in crate::tool) fn suspect(&mut self, more: Vec<Suspect>) {
        let all = std::mem::take(&mut self.suspects);
        self.suspects = once(all.into_iter().chain(more).collect());
    }

    /// Adds a line to the document.
    pub(in crate::tool) fn line(&mut self, line: &str) {
        self.document.push_str(line);
        self.document.push('\n');
    }

    /// Sets a fact.
    pub(in crate::tool) fn fact(&mut self, name: &str, value: impl Into<Value>) {
        if !self.facts.is_object() {
            self.facts = json!({});
        }
        if let Some(facts) = self.facts.as_object_mut() {
            facts.insert(name.to_owned(), value.into());
        }
    }
}

/// Why an inspection has no result.
#[derive(Debug)]
pub(in crate::tool) enum Unfinished {
    /// Something has to be done first.
    ToolAction(Box<ToolAction>),
    /// It failed.
    Issue(Issue),
}

impl From<Box<ToolAction>> for Unfinished {
    fn from(next: Box<ToolAction>) -> Self {
        Self::ToolAction(next)
    }
}

impl From<Issue> for Unfinished {
    fn from(trouble: Issue) -> Self {
        Self::Issue(trouble)
    }
}
