//! What has to be done outside before an operation ends: a script on a machine, a connection from one.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::cloud::Cloud;
use super::operation::Done;
use crate::host::{ConnectOutcome, Protocol};

/// Something that has to be done outside before an operation ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Job {
    /// A script on a machine; `Cloud::printed` ends it.
    Script(ScriptJob),
    /// A connection from a machine; `Cloud::dialed` ends it.
    Dial(DialJob),
    /// A question to the servers behind an application gateway; `Cloud::health_said` ends it.
    Health(HealthJob),
}

impl Job {
    /// Returns the operation that waits for it.
    #[must_use]
    pub fn operation(&self) -> &str {
        match self {
            Self::Script(job) => &job.operation,
            Self::Dial(job) => &job.operation,
            Self::Health(job) => &job.operation,
        }
    }
}

/// A script to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptJob {
    /// The operation that waits for it.
    pub operation: String,
    /// The virtual machine.
    pub machine: String,
    /// The lines of the script.
    pub script: Vec<String>,
    pub parameters: Vec<(String, String)>,
}

/// Servers to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthJob {
    /// The operation that waits for it.
    pub operation: String,
    /// The identifier of the gateway.
    pub gateway: String,
    /// Its name.
    pub name: String,
}

/// A connection to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialJob {
    /// The operation that waits for it.
    pub operation: String,
    /// The virtual machine that tries it.
    pub machine: String,
    /// Where to.
    pub to: IpAddr,
    pub protocol: Protocol,
    /// The port; 0 for ICMP.
    pub port: u16,
}

impl Cloud {
    /// Ends a script with what it printed. Each stream keeps its end alone, as on the platform, and nothing tells how it exited.
    pub fn printed(&mut self, operation: &str, out: &str, err: &str) {
        self.busy.retain(|_, busy| busy != operation);
        let message = format!("Enable succeeded: \n[stdout]\n{}\n[stderr]\n{}", kept(out), kept(err));
        let result = json!({"value": [{"code": "ProvisioningState/succeeded", "level": "Info",
            "displayStatus": "Provisioning succeeded", "message": message}]});
        self.operations.end(operation, Done::Result(result));
    }

    /// Ends a script or a trial that came to nothing: the operation fails with this code and message.
    pub fn failed(&mut self, operation: &str, code: &str, message: &str) {
        self.busy.retain(|_, busy| busy != operation);
        self.dials.remove(operation);
        self.operations.end(operation, Done::Failed(json!({"code": code, "message": message})));
    }

    /// Ends a trial with its result. The platform derives the path from its configuration; whether it answers, by the trial alone.
    pub fn dialed(&mut self, operation: &str, came: ConnectOutcome) {
        let Some(mut document) = self.dials.remove(operation) else { return };
        if let Some(map) = document.as_object_mut() {
            let milliseconds = match came {
                ConnectOutcome::Open(took) => {
                    Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX).max(1))
                }
                ConnectOutcome::Refused | ConnectOutcome::Silent => None,
            };
            let words: [(&str, Value); 3] = match milliseconds {
                Some(_) => [
                    ("connectionStatus", json!("Reachable")),
                    ("probesSent", json!(66)),
                    ("probesFailed", json!(0)),
                ],
                None => [
                    ("connectionStatus", json!("Unreachable")),
                    ("probesSent", json!(30)),
                    ("probesFailed", json!(30)),
                ],
            };
            for (field, value) in words {
                map.insert(field.to_owned(), value);
            }
            for field in ["avgLatencyInMs", "minLatencyInMs", "maxLatencyInMs"] {
                match milliseconds {
                    Some(milliseconds) => drop(map.insert(field.to_owned(), json!(milliseconds))),
                    None => drop(map.remove(field)),
                }
            }
        }
        self.operations.end(operation, Done::Result(document));
    }

    /// Machines answer for themselves from now on, or no longer: without them, what the configuration says is all that is said.
    pub fn guests(&mut self, there: bool) {
        self.guests = there;
    }
}

/// Returns the last 4,096 bytes of a stream; a character that would be cut goes.
fn kept(text: &str) -> &str {
    let mut from = text.len().saturating_sub(4_096);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}
