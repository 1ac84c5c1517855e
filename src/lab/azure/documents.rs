//! The documents of the estate, for whoever plans something with them.

use serde_json::Value;

use super::cloud::Cloud;

impl Cloud {
    /// Returns all documents of the estate, in the order in which they came.
    #[must_use]
    pub fn documents(&self) -> Vec<Value> {
        self.estate.all().cloned().collect()
    }
}
