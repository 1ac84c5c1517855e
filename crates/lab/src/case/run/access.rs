//! What a case is injected into.

use async_trait::async_trait;
use serde_json::Value;

use crate::azure::{Answer, BlobRole, Description, EstateError, LoggedFlow, Request};
use crate::host::{Host, HostError};
use crate::kubernetes::Cluster;
use ghost_base::Timestamp;

/// A lab, as far as a case needs one.
#[async_trait]
pub trait LabAccess: Send + Sync {
    /// Answers a request to the resource manager; guests have seen what it changes.
    async fn manage(&self, request: &Request) -> Answer;

    /// Returns the documents of the estate.
    fn documents(&self) -> Vec<Value>;

    /// Puts another estate in place of the one that is there; guests have seen it.
    async fn replace(&self, about: Description) -> Result<(), EstateError>;

    /// Takes every role in some subscriptions from whoever is signed in.
    fn close(&self, _subscriptions: &[String]) {}

    /// Gives whoever is signed in this role with blobs.
    fn blob_role(&self, _role: BlobRole) {}

    /// Writes what the rules decide now about flows of before into the flow logs that are on.
    fn log_flows(&self, _flows: &[LoggedFlow]) {}

    /// Puts these clusters in the place of those that are there.
    fn set_clusters(&self, _clusters: Vec<Cluster>) {}

    /// Returns the clusters that are there.
    fn clusters(&self) -> Vec<Cluster> {
        Vec::new()
    }

    /// Remembers everything as it is, or makes everything as it was remembered.
    async fn snapshot(&self, snapshot: SnapshotAction) -> Result<(), HostError>;

    /// Returns the guests.
    fn host(&self) -> &dyn Host;

    /// Returns the lab's time.
    fn now(&self) -> Timestamp;
}

/// What is done with the whole of a lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotAction {
    /// It is remembered.
    Save,
    /// It is made as it was when it was last remembered; without that, as it was in the beginning.
    Restore,
}
