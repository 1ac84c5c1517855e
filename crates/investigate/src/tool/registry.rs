//! All tools.

use std::sync::Arc;

use crate::model::ToolSpec;
use crate::tool::complete_investigation::CompleteInvestigation;
use crate::tool::inspect;
use crate::tool::manage_hypotheses::ManageHypotheses;
use crate::tool::recall_observation::RecallObservation;
use crate::tool::run_shell_cmd::RunShellCmd;
use crate::tool::suggest_next_step::SuggestNextStep;
use crate::tool::{Site, Tool, wire};

/// The tools of a session.
pub struct Registry {
    tools: Vec<Box<dyn Tool>>,
    specs: Vec<ToolSpec>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new(plain())
    }
}

/// The tools that need to know nothing of the place.
fn plain() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(RunShellCmd),
        Box::new(ManageHypotheses),
        Box::new(CompleteInvestigation),
        Box::new(RecallObservation),
        Box::new(SuggestNextStep),
    ]
}

impl Registry {
    /// Makes the registry of a place: all tools.
    #[must_use]
    pub fn with(site: Site) -> Self {
        let site = Arc::new(site);
        let mut tools = plain();
        tools.extend(inspect::all(&site));
        tools.extend(wire::tools(&site));
        Self::new(tools)
    }

    /// Makes a registry of the given tools.
    #[must_use]
    pub fn new(tools: Vec<Box<dyn Tool>>) -> Self {
        let specs = tools.iter().map(|tool| tool.spec()).collect();
        Self { tools, specs }
    }

    /// Returns what a model is told.
    #[must_use]
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Finds a tool.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&dyn Tool> {
        let at = self.specs.iter().position(|spec| spec.name == name)?;
        self.tools.get(at).map(AsRef::as_ref)
    }

    /// Returns the names, for a message.
    #[must_use]
    pub fn names(&self) -> String {
        self.specs.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}
