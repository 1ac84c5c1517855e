//! What a dialog remembers between its opening and its submission.

use serde::{Deserialize, Serialize};

/// The limit of a view's private metadata.
const MAX_METADATA_LEN: usize = 3_000;

/// Where a dialog belongs. A person can read it and cannot change it; what it names is looked up again anyway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub approval: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub channel: String,
    /// The message that the dialog was opened from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thread: String,
}

impl Meta {
    /// Writes it as small JSON; what does not fit is left out as a whole, so that nothing half is read back.
    pub(super) fn write(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        if text.len() > MAX_METADATA_LEN { "{}".to_owned() } else { text }
    }
}
