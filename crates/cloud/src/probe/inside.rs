//! The inside of a Kubernetes cluster, as `kubectl` prints it.

use ghost_base::Timestamp;
use ghost_inspect::cluster::Cluster;

use crate::line;
use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation};

/// So much of what `kubectl` says of a failure is repeated.
const MAX_SAID: usize = 300;

/// Reads pods, services, endpoints and namespaces, then policies. What could not be read whole is reported, and nothing is concluded
/// from the rest.
#[derive(Debug)]
pub struct ClusterOperation {
    name: String,
    context: String,
    objects: Option<String>,
    result: Option<Result<Cluster, Issue>>,
}

impl ClusterOperation {
    /// Begins; `context` is the one of `kubectl` that leads to the cluster.
    #[must_use]
    pub fn new(name: &str, context: &str) -> Self {
        Self { name: name.to_owned(), context: context.to_owned(), objects: None, result: None }
    }

    fn read(&self, policies: &str) -> Result<Cluster, Issue> {
        let odd = |error: &dyn std::fmt::Display| Issue::new(format!("reading {}: {error}", self.name));
        let mut cluster = Cluster::default();
        cluster.add(self.objects.as_deref().unwrap_or_default()).map_err(|error| odd(&error))?;
        cluster.add_policies(policies).map_err(|error| odd(&error))?;
        Ok(cluster)
    }

    fn failed(&self, answer: &CommandOutcome) -> Issue {
        let doing = format!("reading {}", self.name);
        match answer {
            CommandOutcome::Ran { exit: Some(127), .. } => Issue::hinted(
                format!("{doing}: `kubectl` cannot be started"),
                "install it in a system folder, or name it in the configuration: [programs] kubectl = \"/path/to/kubectl\"",
            ),
            CommandOutcome::Ran { stderr, .. } => {
                let mut said = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
                let said: String =
                    said.next_back().unwrap_or("it printed nothing").chars().take(MAX_SAID).collect();
                Issue { text: format!("{doing}: {said}"), hint: hint(stderr).map(str::to_owned) }
            }
            CommandOutcome::Denied { reason, .. } => Issue::new(format!("{doing} was denied: {reason}")),
            CommandOutcome::Refused { reason } => {
                Issue::new(format!("{doing}: the policy does not allow it: {reason}"))
            }
            CommandOutcome::NotRun { reason } => Issue::new(format!("{doing}: nothing ran: {reason}")),
            CommandOutcome::Unknown { reason } => Issue::new(format!("{doing} was cut off: {reason}")),
        }
    }
}

/// Says what to do about what `kubectl` says.
fn hint(said: &str) -> Option<&'static str> {
    let said = said.to_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if is(&["context was not found", "does not exist", "no context exists"]) {
        Some("`kubectl config get-contexts` names the contexts; [clusters.NAME] context says which one it is")
    } else if is(&["forbidden"]) {
        Some(
            "let its identity read pods, services, endpointslices, namespaces and networkpolicies: deploy/clusters/reader.yaml",
        )
    } else if is(&["unauthorized", "must be logged in", "asked for the client to provide credentials"]) {
        Some("sign in again, as the one that the bot runs as")
    } else if is(&[
        "no such host",
        "connection refused",
        "i/o timeout",
        "unable to connect",
        "deadline exceeded",
    ]) {
        Some(
            "does this machine reach the API server? A private cluster is reached from its own network alone",
        )
    } else {
        None
    }
}

impl Operation for ClusterOperation {
    type Result = Result<Cluster, Issue>;

    fn next(&self, _: Timestamp) -> Next<Self::Result> {
        match (&self.result, &self.objects) {
            (Some(result), _) => Next::Over(result.clone()),
            (None, None) => Next::Run(Box::new(CommandRequest::line(
                line::cluster_objects(&self.context),
                format!("read pods, services and endpoints of {}", self.name),
            ))),
            (None, Some(_)) => Next::Run(Box::new(CommandRequest::line(
                line::cluster_policies(&self.context),
                format!("read the network policies of {}", self.name),
            ))),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, _: Timestamp) {
        // `kubectl` prints an empty list where it was refused, too, and says so by its exit code alone.
        let CommandOutcome::Ran { exit: Some(0), stdout, .. } = answer else {
            self.result = Some(Err(self.failed(answer)));
            return;
        };
        if self.objects.is_none() {
            self.objects = Some(stdout.clone());
        } else {
            self.result = Some(self.read(stdout));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = r#"{"kind":"List","apiVersion":"v1","items":[]}"#;

    fn ran(exit: i32, stdout: &str, stderr: &str) -> CommandOutcome {
        CommandOutcome::Ran { exit: Some(exit), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
    }

    fn over(answers: &[CommandOutcome]) -> Result<Cluster, Issue> {
        let mut reading = ClusterOperation::new("shop", "shop-admin");
        let now = Timestamp::from_millis(0);
        answers.iter().for_each(|answer| reading.on_result(answer, now));
        match reading.next(now) {
            Next::Over(result) => result,
            Next::Run(_) | Next::Wait { .. } => panic!("it goes on"),
        }
    }

    #[test]
    fn both_lists_make_a_cluster() {
        assert!(over(&[ran(0, EMPTY, ""), ran(0, EMPTY, "")]).is_ok());
        assert!(over(&[ran(0, EMPTY, ""), ran(0, "{", "")]).is_err());
    }

    #[test]
    fn an_empty_list_of_a_refused_read_is_none() {
        let said = "Error from server (Forbidden): networkpolicies.networking.k8s.io is forbidden: User \"bot\" cannot list resource";
        let issue = over(&[ran(0, EMPTY, ""), ran(1, EMPTY, said)]).unwrap_err();
        assert!(issue.text.contains("cannot list resource"), "{}", issue.text);
        assert!(issue.hint.unwrap().contains("reader.yaml"));
    }

    #[test]
    fn what_keeps_it_from_being_read_says_what_to_do() {
        for (said, expected) in [
            ("error: context \"x\" does not exist", "get-contexts"),
            ("Unable to connect to the server: dial tcp: lookup api: no such host", "private cluster"),
            ("error: You must be logged in to the server (Unauthorized)", "sign in"),
        ] {
            let issue = over(&[ran(1, "", said)]).unwrap_err();
            assert!(issue.hint.unwrap().contains(expected), "{said}");
        }
    }
}
