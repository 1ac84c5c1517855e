//! The Kubernetes clusters of a resource group, as `az` printed them.

use ghost_inspect::path::{Cloud, Reading};

use crate::operation::{CommandRequest, Issue, ReadOperation};
use crate::{ResourceGroup, line};

/// Begins to list the clusters.
#[must_use]
pub fn clusters(place: &ResourceGroup) -> ReadOperation {
    let why = format!("list the clusters of {}", place.group);
    let doing = format!("listing the clusters of {}", place.group);
    ReadOperation::new(CommandRequest::line(line::clusters(place), why), doing)
}

/// Puts what was answered into the documents of an estate.
pub fn keep_clusters(read: Result<String, Issue>, cloud: &mut Cloud) {
    cloud.clusters = Some(read.map_or_else(|issue| Reading::Failed { error: issue.text }, Reading::Text));
}
