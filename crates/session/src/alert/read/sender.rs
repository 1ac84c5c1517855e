//! Which reader takes a body.

use super::{alertmanager, azure_monitor, generic, pagerduty};
use crate::alert::{AlertError, Reading, Sender};
use ghost_base::Timestamp;

/// Reads the body of a request that was proven to come from its source.
///
/// # Errors
/// Fails where the body is not what this sender writes.
pub fn read(sender: Sender, body: &[u8], now: Timestamp) -> Result<Reading, AlertError> {
    match sender {
        Sender::Alertmanager | Sender::Grafana => alertmanager::read(sender, body),
        Sender::AzureMonitor => azure_monitor::read(body),
        Sender::Pagerduty => pagerduty::read(body),
        Sender::Generic => generic::read(body, now),
    }
}
