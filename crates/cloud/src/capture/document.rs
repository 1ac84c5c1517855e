//! What `az` prints about captures, as far as it is needed. What is missing is `None`; what is no document is an error.

use serde::Deserialize;

use crate::FailureClass;
use crate::operation::{CommandError, Issue};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Machine {
    pub(super) location: Option<String>,
    pub(super) power_state: Option<String>,
}

/// An extension of a machine.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Extension {
    pub(super) publisher: Option<String>,
    pub(super) type_properties_type: Option<String>,
    pub(super) provisioning_state: Option<String>,
}

/// A watcher of a region.
#[derive(Debug, Deserialize)]
pub(super) struct Watcher {
    pub(super) location: Option<String>,
}

/// A capture as it is listed: what it is, not how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedCapture {
    pub name: String,
    /// The machine's identifier.
    #[serde(default)]
    pub target: String,
    /// Whether the platform made it.
    pub provisioning_state: Option<String>,
    /// Where it is written to.
    pub storage_location: Option<Location>,
}

/// Where a capture is written to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// The file's address.
    pub storage_path: Option<String>,
}

impl ListedCapture {
    /// Returns where it is written to.
    #[must_use]
    pub fn path(&self) -> &str {
        self.storage_location.as_ref().and_then(|place| place.storage_path.as_deref()).unwrap_or_default()
    }

    /// Tells whether it is of this machine. Only the end of the identifier is compared: outputs hide subscriptions.
    pub(super) fn is_of(&self, group: &str, machine: &str) -> bool {
        let end = format!("/resourceGroups/{group}/providers/Microsoft.Compute/virtualMachines/{machine}");
        self.target.to_ascii_lowercase().ends_with(&end.to_ascii_lowercase())
    }
}

/// How far a capture is.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    pub(super) packet_capture_status: Option<String>,
    pub(super) stop_reason: Option<String>,
    #[serde(default)]
    pub(super) packet_capture_error: Vec<String>,
}

/// A storage account.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Account {
    pub(super) allow_shared_key_access: Option<bool>,
    pub(super) network_rule_set: Option<Rules>,
}

/// Who may reach a storage account.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rules {
    pub(super) default_action: Option<String>,
    pub(super) bypass: Option<String>,
}

/// Whether something is there.
#[derive(Debug, Deserialize)]
pub(super) struct Exists {
    pub(super) exists: bool,
}

/// A file in a container.
#[derive(Debug, Deserialize)]
pub(super) struct Blob {
    pub(super) name: String,
    pub(super) properties: Option<BlobProperties>,
}

/// What is known of a file in a container.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BlobProperties {
    pub(super) content_length: Option<u64>,
}

/// Reads a document; one that is none may be one in a moment.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str, doing: &str) -> Result<T, CommandError> {
    serde_json::from_str(text).map_err(|error| CommandError {
        class: Some(FailureClass::Unreadable),
        trouble: Issue::new(format!("{doing}: what `az` printed cannot be read: {error}")),
    })
}
