//! All tools, and what they know of the site: from the configuration alone, never from a model.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::ToolSpec;
use crate::tool::Tool;
use crate::tool::complete_investigation::CompleteInvestigation;
use crate::tool::inspect::inspectors;
use crate::tool::manage_hypotheses::ManageHypotheses;
use crate::tool::recall_observation::RecallObservation;
use crate::tool::run_shell_cmd::RunShellCmd;
use crate::tool::suggest_next_step::SuggestNextStep;
use crate::tool::wire::{CancelTask, CaptureTraffic, CheckTask, CleanupTask, RunPipeMeter};
use ghost_cloud::Name;
use ghost_cloud::capture::Storage;
use ghost_cloud::guest::Ssh;

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

/// The tools that need no site.
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
    /// Makes the registry of a site: all tools.
    #[must_use]
    pub fn with(site: Site) -> Self {
        let site = Arc::new(site);
        let mut tools = plain();
        tools.extend(inspectors(&site));
        tools.extend(wire_tools(&site));
        Self::new(tools)
    }

    /// Makes a registry of the given tools.
    #[must_use]
    pub fn new(tools: Vec<Box<dyn Tool>>) -> Self {
        let specs = tools.iter().map(|tool| tool.spec()).collect();
        Self { tools, specs }
    }

    /// Returns the tools as a model sees them.
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

/// What the tools know of the cloud and the machines that they work on.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// The subscription, where it is pinned.
    pub subscription: Option<Name>,
    /// The resource group where a call names none: the only one of the session's scope, or nothing.
    pub group: Option<Name>,
    /// How guests are reached by ssh, by the machine's name.
    pub ssh: BTreeMap<String, Ssh>,
    /// Where captures are written to; no tool takes one from a model.
    pub storage: Option<Storage>,
    /// The folder that captures are fetched into.
    pub captures: String,
}

/// What is stored for later sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredKind {
    /// Routes and rules.
    Effective,
    /// A guest's packet filter.
    Netfilter,
    /// A measurement.
    Meter,
}

impl StoredKind {
    /// Returns its name in file names.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Effective => "effective",
            Self::Netfilter => "netfilter",
            Self::Meter => "meter",
        }
    }
}

/// Returns the tools, at a place.
pub(super) fn wire_tools(site: &Site) -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(CaptureTraffic::new(site.clone())),
        Box::new(CheckTask::new(site.clone())),
        Box::new(CancelTask::new(site.clone())),
        Box::new(CleanupTask::new(site.clone())),
        Box::new(RunPipeMeter::new(site.clone())),
    ]
}
