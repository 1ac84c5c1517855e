//! The bastion hosts of a resource group, as `az` printed them.

use ghost_inspect::path::{Cloud, Reading};

use crate::operation::{CommandRequest, Issue, ReadOperation};
use crate::{ResourceGroup, line};

/// Begins to list the bastion hosts.
#[must_use]
pub fn bastions(place: &ResourceGroup) -> ReadOperation {
    let why = format!("list the bastion hosts of {}", place.group);
    let doing = format!("listing the bastion hosts of {}", place.group);
    ReadOperation::new(CommandRequest::line(line::bastions(place), why), doing)
}

/// Puts what was answered into the documents of an estate. An `az` without the extension cannot look, which is no list without any.
pub fn keep_bastions(read: Result<String, Issue>, cloud: &mut Cloud) {
    cloud.bastions = Some(read.map_or_else(|issue| Reading::Failed { error: issue.text }, Reading::Text));
}
