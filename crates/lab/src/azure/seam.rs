//! What whoever keeps a cloud looks at beside its answers.

use serde_json::Value;

use super::cloud::Cloud;
use super::estate::Description;
use ghost_base::Timestamp;

impl Cloud {
    /// Returns the description from which it was made.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.about
    }

    /// Makes an empty container in an account, for whoever prepares a cloud; says whether it is there now.
    pub fn container(&mut self, account: &str, name: &str, now: Timestamp) -> bool {
        self.store.begin(account, name, now)
    }

    /// Returns the names of the virtual machines.
    #[must_use]
    pub fn machines(&self) -> Vec<String> {
        let found = self.estate.of("Microsoft.Compute/virtualMachines");
        found.filter_map(|machine| machine.get("name").and_then(Value::as_str)).map(str::to_owned).collect()
    }

    /// No script that was only said to run runs on a machine any more.
    pub fn free(&mut self, machine: &str) {
        self.busy.retain(|name, operation| !(operation.is_empty() && name.eq_ignore_ascii_case(machine)));
    }
}
