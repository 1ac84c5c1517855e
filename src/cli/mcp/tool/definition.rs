//! What a tool is made of.

use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::mcp::answer::Found;
use crate::cli::mcp::call::Call;
use crate::cli::mcp::hint::{Runs, annotations};
use crate::cli::mcp::schema;
use crate::cli::mcp::workplace::Workplace;
use ghost_shell::Policy;
use ghost_tools::print::Hinted;

/// What a tool will have found.
pub(in crate::cli::mcp) type Finding = Pin<Box<dyn Future<Output = anyhow::Result<Found>> + Send>>;

/// How a tool works.
#[derive(Clone, Copy)]
pub(in crate::cli::mcp) enum Work {
    /// In a thread of its own: it computes, or waits for commands one by one.
    Thread(fn(&Workplace, Value) -> anyhow::Result<Found>),
    /// As a task that can be canceled.
    Task(fn(Call) -> Finding),
}

/// A tool.
#[derive(Clone, Copy)]
pub(in crate::cli::mcp) struct Definition {
    /// Its name, which the contracts fix.
    pub(in crate::cli::mcp) name: &'static str,
    /// Its name for people.
    pub(in crate::cli::mcp) title: &'static str,
    /// What it is for, and when to use it.
    pub(in crate::cli::mcp) description: &'static str,
    /// What it starts.
    pub(in crate::cli::mcp) runs: Runs,
    /// Whether a call of it may last: clients that know the protocol's tasks get one.
    pub(in crate::cli::mcp) lasts: fn(&Workplace, &Value) -> bool,
    /// The schema of its arguments.
    pub(in crate::cli::mcp) input: fn() -> Arc<JsonObject>,
    /// The schema of its answer.
    pub(in crate::cli::mcp) output: fn() -> Value,
    /// How it works.
    pub(in crate::cli::mcp) work: Work,
}

impl Definition {
    /// Describes the tool to a client.
    pub(in crate::cli::mcp) fn described(&self, policy: &Policy) -> anyhow::Result<Tool> {
        let mut output = (self.output)();
        if let Some(fields) = output.get_mut("properties").and_then(Value::as_object_mut) {
            fields.insert("notice".to_owned(), schema::text());
            fields.insert("left_out".to_owned(), schema::list(schema::any()));
        }
        let tool = Tool::new(self.name, self.description, (self.input)())
            .with_title(self.title)
            .with_annotations(annotations(self.title, self.runs, policy)?);
        let output = output.as_object().cloned().unwrap_or_default();
        Ok(tool.with_raw_output_schema(Arc::new(output)))
    }
}

/// It answers soon.
pub(super) fn soon(_place: &Workplace, _given: &Value) -> bool {
    false
}

/// It waits for people, packets or time.
pub(super) fn long(_place: &Workplace, _given: &Value) -> bool {
    true
}

/// Reads the arguments of a call.
pub(super) fn arguments<T: DeserializeOwned>(given: Value) -> anyhow::Result<T> {
    serde_json::from_value(given).map_err(|error| {
        let error = anyhow::anyhow!("these are no arguments of this tool: {error}");
        Hinted::new(error, "its input schema says what it takes").into()
    })
}
