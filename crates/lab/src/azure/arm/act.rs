//! What is asked of a resource by POST.

use serde_json::json;

use super::answer::{ArmResult, alone, missing};
use super::{change, compute, storage};
use crate::azure::app_gateway;
use crate::azure::cloud::Cloud;
use crate::azure::effective::{Nic, routes, rules};
use crate::azure::gateway;
use crate::azure::job::{DialJob, HealthJob, Job};
use crate::azure::operation::{self, Done};
use crate::azure::refusal::Refusal;
use crate::azure::request::{Answer, Request};
use crate::azure::target::Target;
use crate::azure::watch::{self, PostResult};
use ghost_base::Timestamp;

/// Does what is asked of a resource.
pub(super) fn act(
    cloud: &mut Cloud,
    request: &Request,
    target: &Target,
    action: &str,
    now: Timestamp,
) -> ArmResult {
    let resource = Target { tail: None, ..target.clone() };
    if cloud.estate.get(&resource).is_none() {
        return Err(missing(cloud, &resource));
    }
    match (resource.kind().as_str(), action.to_ascii_lowercase().as_str()) {
        ("virtualmachines", "runcommand") => compute::run_command(cloud, request, &resource, now),
        ("virtualmachines", verb @ ("start" | "poweroff" | "deallocate")) => {
            let state = match verb {
                "start" => "running",
                "poweroff" => "stopped",
                _ => "deallocated",
            };
            cloud.power(resource.name(), state);
            Ok(alone(soon(cloud, request, Some(Done::Nothing)).0))
        }
        ("networkinterfaces", action @ ("effectiveroutetable" | "effectivenetworksecuritygroups")) => {
            let nic = cloud.estate.get(&resource).map(|document| Nic::of(&cloud.estate, document));
            let Some(nic) = nic else { return Err(missing(cloud, &resource)) };
            if !nic
                .machine()
                .and_then(Target::parse)
                .is_some_and(|machine| compute::runs(cloud, machine.name()))
            {
                let message = format!(
                    "Network interface {} used in the operation is not attached to a running virtual machine.",
                    resource.id()
                );
                return Err(Refusal::new(400, "OperationNotAllowed", message));
            }
            let found =
                if action == "effectiveroutetable" { routes(cloud, &nic) } else { rules(cloud, &nic) };
            Ok(alone(soon(cloud, request, Some(Done::Result(json!({"value": found})))).0))
        }
        ("applicationgateways", verb @ ("start" | "stop")) => {
            app_gateway::run(cloud, &resource, verb == "start");
            Ok(alone(soon(cloud, request, Some(Done::Nothing)).0))
        }
        ("applicationgateways", "backendhealth") => {
            if !cloud.estate.get(&resource).is_some_and(app_gateway::is_running) {
                let message = format!("Application gateway {} is stopped.", resource.id());
                return Err(Refusal::new(400, "OperationNotAllowed", message));
            }
            let (answer, operation) = soon(cloud, request, None);
            let job = HealthJob { operation, gateway: resource.id(), name: resource.name().to_owned() };
            Ok((answer, Some(Job::Health(job))))
        }
        ("virtualnetworkgateways", action) => {
            let found = cloud.estate.get(&resource).and_then(|found| gateway::asked(cloud, found, action));
            match found {
                Some(found) => Ok(alone(soon(cloud, request, Some(Done::Result(found))).0)),
                None => Err(no_action(action)),
            }
        }
        ("storageaccounts", action) => storage::act(cloud, request, &resource, action).map(alone),
        ("networkwatchers/packetcaptures", action) => {
            match watch::capture::post(cloud, &resource, action, now) {
                Some(Some(posted)) => Ok(alone(soon(cloud, request, Some(Done::Result(posted))).0)),
                Some(None) => Ok(alone(soon(cloud, request, Some(Done::Nothing)).0)),
                None => Err(no_action(action)),
            }
        }
        ("networkwatchers", action) => {
            let body = if request.body.is_empty() { json!({}) } else { change::document(request)? };
            match watch::post(cloud, action, &body) {
                Some(posted) => match posted? {
                    PostResult::AtOnce(posted) => Ok(alone(Answer::json(200, posted))),
                    PostResult::Soon(posted) => Ok(alone(soon(cloud, request, Some(Done::Result(posted))).0)),
                    PostResult::PendingConnectivity(trial) => {
                        let (answer, name) = soon(cloud, request, None);
                        let job = DialJob { operation: name.clone(), ..trial.job };
                        cloud.dials.insert(name, trial.document);
                        Ok((answer, Some(Job::Dial(job))))
                    }
                },
                None => Err(no_action(action)),
            }
        }
        _ => Err(no_action(action)),
    }
}

pub(super) fn no_action(action: &str) -> Refusal {
    let message = format!("The resource type could not be found in the namespace for the action '{action}'.");
    Refusal::new(404, "InvalidResourceType", message)
}

/// Promises a result: the platform tells where to ask for it.
fn soon(cloud: &mut Cloud, request: &Request, done: Option<Done>) -> (Answer, String) {
    let name = cloud.operations.begin(done);
    let (status, result) = operation::network(request, &cloud.subscription_of(request), "eastus", &name);
    let mut answer = Answer::empty(202)
        .with("Azure-AsyncOperation", status)
        .with("Location", result)
        .with("Azure-AsyncNotification", "Enabled");
    if !cloud.operations.lasts.is_zero() {
        answer = answer.with("x-ms-retry-after-ms", cloud.operations.pause());
    }
    (answer, name)
}
