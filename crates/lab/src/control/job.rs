//! What has to be done outside before an operation ends: scripts on machines, connections from them.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::timeout;

use super::lab::Lab;
use crate::azure::{DialJob, HealthJob, Job, ScriptJob};
use crate::host::{ConnectOutcome, HostError, Script, ScriptTransport};
use ghost_base::Clock as _;

/// After so long, at least, the platform gives a silent machine up.
const SILENCE: Duration = Duration::from_secs(608);
/// How long a script may take; the platform's own limit.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(90 * 60);

impl Lab {
    /// Does what an operation waits for, and ends the operation.
    pub(super) fn work(self: &Arc<Self>, job: Job) {
        let lab = Arc::clone(self);
        self.spawn(async move {
            let operation = job.operation().to_owned();
            let work = async {
                match job {
                    Job::Script(job) => lab.script(&job).await,
                    Job::Dial(job) => lab.trial(&job).await,
                    Job::Health(job) => lab.health(&job).await,
                }
            };
            // An operation that nobody ends would keep its machine busy for ever.
            let (code, message) = match timeout(SCRIPT_TIMEOUT, AssertUnwindSafe(work).catch_unwind()).await {
                Ok(Ok(())) => return,
                Ok(Err(_)) => ("InternalExecutionError", "An internal execution error occurred."),
                Err(_) => (
                    "VMExtensionProvisioningTimeout",
                    "Provisioning of VM extension 'RunCommandLinux' has timed out.",
                ),
            };
            lab.cloud().failed(&operation, code, message);
        });
    }

    async fn script(&self, job: &ScriptJob) {
        let began = self.clock().now();
        let ran = self.host().run(&job.machine, &script(job)).await;
        let failed = |code: &str, message: &str| self.cloud().failed(&job.operation, code, message);
        match ran {
            Ok(ran) => self.cloud().printed(&job.operation, &ran.out, &ran.err),
            Err(HostError::Silent(_)) => {
                // Guests that are a model have let time pass already.
                self.clock().pass(SILENCE.saturating_sub(self.clock().now().since(began)));
                failed("VMAgentStatusCommunicationError", &silent(&job.machine));
            }
            Err(HostError::Off(_)) => {
                failed("OperationNotAllowed", "The operation requires the VM to be running (or set to run).");
            }
            Err(error) => failed("VMExtensionProvisioningError", &error.to_string()),
        }
    }

    async fn trial(&self, job: &DialJob) {
        let came = self.host().dial(&job.machine, job.to, job.protocol, job.port).await;
        // Nobody answers on behalf of a machine that is not there.
        self.cloud().dialed(&job.operation, came.unwrap_or(ConnectOutcome::Silent));
    }

    async fn health(&self, job: &HealthJob) {
        match self.host().health(&job.name).await {
            Ok(all) => self.cloud().health_said(&job.operation, &job.gateway, &all),
            Err(error) => self.cloud().failed(&job.operation, "InternalServerError", &error.to_string()),
        }
    }
}

/// The agent passes values both by order and by name.
fn script(job: &ScriptJob) -> Script {
    Script {
        text: job.script.join("\n"),
        arguments: job.parameters.iter().map(|(_, value)| value.clone()).collect(),
        variables: job.parameters.iter().filter(|(name, _)| is_name(name)).cloned().collect(),
        transport: ScriptTransport::Agent,
    }
}

fn is_name(text: &str) -> bool {
    let digit = text.starts_with(|char: char| char.is_ascii_digit());
    !text.is_empty() && !digit && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn silent(machine: &str) -> String {
    format!(
        "VM '{machine}' has not reported status for VM agent or extensions. Verify that the OS is up and healthy, the VM has a running VM agent, and that it can establish outbound connections to Azure storage."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_handed_over_in_order_and_those_with_a_name_by_it_too() {
        let parameters = [("port", "5001"), ("arg1", "eth0"), ("not a name", "x")];
        let job = ScriptJob {
            operation: "o".to_owned(),
            machine: "m".to_owned(),
            script: vec!["echo $1".to_owned(), "echo $port".to_owned()],
            parameters: parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        };
        let script = script(&job);
        assert_eq!(script.text, "echo $1\necho $port");
        assert_eq!(script.arguments, ["5001", "eth0", "x"]);
        assert_eq!(script.variables.len(), 2);
    }
}
