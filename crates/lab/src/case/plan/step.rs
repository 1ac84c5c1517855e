//! A step, and what it does.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::model::Baseline;

/// Something that is done at once, and taken back at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanStep {
    /// What it is, for people.
    pub what: String,
    /// The faults that it serves, by their place in the case; none where it prepares the estate.
    pub faults: Vec<usize>,
    /// What is done, in order.
    pub acts: Vec<PlanAction>,
    /// What takes it back, in order.
    pub undo: Vec<PlanAction>,
}

/// One thing that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanAction {
    /// A document is put.
    Put {
        /// Where.
        path: String,
        /// The document.
        body: Value,
    },
    /// A document is changed in part.
    Patch {
        /// Where.
        path: String,
        /// The part.
        body: Value,
    },
    /// Something is asked of a resource.
    Post {
        /// Where.
        path: String,
    },
    /// A document is removed.
    Delete {
        /// Where.
        path: String,
    },
    /// A document is read, one field of it is set, and it is put: whatever else changed meanwhile stays.
    Set {
        /// Where.
        path: String,
        /// The field, as a JSON pointer.
        field: String,
        /// Its value; null takes it away.
        value: Value,
    },
    /// A command runs on a machine.
    Run {
        /// The machine.
        vm: String,
        command: String,
    },
    /// What is there now is remembered.
    Remember {
        baseline: Baseline,
        /// The interfaces of its machine.
        nics: Vec<String>,
    },
}
