//! Facts about the repository itself: its documents, versions, locks and workflows.

mod advisory;
mod document;
mod example_run;
mod limit;
mod link;
mod lock;
mod package;
mod page;
mod version;
mod workflow;

use document::{documents, none, root};
