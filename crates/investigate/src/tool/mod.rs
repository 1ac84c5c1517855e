//! The tools that a model may call, one file each.
//!
//! Goes in: the arguments of a call, and what came of its commands so far. Comes out: the next command, or the result. Never:
//! an effect of its own. A tool is a pure function that is asked again after each of its commands, so that a session that
//! was cut off anywhere goes on, and one that was recorded replays.
//!
//! A tool is added by a file here and a line in `registry.rs`.

mod argument;
mod call_replay;
mod complete_investigation;
mod inspect;
mod manage_hypotheses;
mod port;
mod recall_observation;
mod registry;
mod run_shell_cmd;
mod suggest_next_step;
#[cfg(test)]
mod tests;
mod wire;

pub use crate::event::DeclaredScript;
pub use inspect::flow_remedies;
pub use port::{
    CallContext, CallResult, Evidence, EvidenceError, FileTask, NoEvidence, ProposedCommand, Reads, Tool,
    ToolAction, evidence_source,
};
pub use registry::{Registry, Site, StoredKind};
pub(crate) use wire::AFTER_REPORT;
pub use wire::running_tasks;
