//! A change that was planned.

use serde::Serialize;

use super::edit::Edit;
use crate::path::Bundle;

/// A resource that a plan changes and no flow depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Irrelevant {
    /// Its address in the plan, or its id.
    pub what: String,
    /// Why not.
    pub why: &'static str,
}

/// A change that was planned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The estate as the plan knows it; empty where it knows none.
    pub before: Bundle,
    /// What it changes.
    pub edits: Vec<Edit>,
    /// Resources that it changes and that are not judged, whole or in part.
    pub ignored: Vec<String>,
    /// Resources that it changes and no flow depends on, each with the reason.
    pub irrelevant: Vec<Irrelevant>,
    /// How many resources it names.
    pub resources: usize,
}

impl Plan {
    /// Names something that is not judged.
    pub(super) fn leave_out(&mut self, address: &str, what: &str) {
        self.ignored.push(address.to_owned());
        self.edits.push(Edit::not_judged(address, what));
    }

    /// Names something that cannot matter to a flow.
    pub(super) fn pass_over(&mut self, address: &str, why: &'static str) {
        self.irrelevant.push(Irrelevant { what: address.to_owned(), why });
    }
}
