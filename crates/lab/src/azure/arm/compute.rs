//! Virtual machines: how they are, and scripts on them.

use serde_json::{Value, json};

use super::answer::ArmResult;
use super::change::document;
use crate::azure::cloud::Cloud;
use crate::azure::job::{Job, ScriptJob};
use crate::azure::refusal::Refusal;
use crate::azure::request::{Answer, Request};
use crate::azure::target::Target;
use ghost_base::Timestamp;

/// Shows how a machine is, where that is asked for.
pub(super) fn looked_at(cloud: &Cloud, mut found: Value, request: &Request) -> Value {
    let asked =
        request.parameter("$expand").is_some_and(|what| what.to_ascii_lowercase().contains("instanceview"));
    if !asked {
        return found;
    }
    let view = view(cloud, &found).cloned();
    if let (Some(view), Some(properties)) = (view, found.get_mut("properties").and_then(Value::as_object_mut))
    {
        properties.insert("instanceView".to_owned(), view);
    }
    found
}

/// Returns how a machine is; nothing of what is no machine.
pub(super) fn view<'a>(cloud: &'a Cloud, found: &Value) -> Option<&'a Value> {
    let machine = found.get("type").and_then(Value::as_str) == Some("Microsoft.Compute/virtualMachines");
    let name = found.get("name").and_then(Value::as_str).filter(|_| machine)?;
    cloud.about.instance_views.get(name)
}

/// Tells whether a machine runs.
pub(in crate::azure) fn runs(cloud: &Cloud, name: &str) -> bool {
    let view = cloud.about.instance_views.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let statuses = view.and_then(|(_, view)| view.get("statuses")).and_then(Value::as_array);
    statuses.into_iter().flatten().any(|status| status.get("code") == Some(&json!("PowerState/running")))
}

/// Begins a script on a machine; it ends when somebody says what it printed.
pub(super) fn run_command(
    cloud: &mut Cloud,
    request: &Request,
    target: &Target,
    _now: Timestamp,
) -> ArmResult {
    let body = document(request)?;
    if !runs(cloud, target.name()) {
        let message = "The operation requires the VM to be running (or set to run).";
        return Err(Refusal::new(409, "OperationNotAllowed", message));
    }
    let machine = target.name().to_ascii_lowercase();
    if cloud.busy.contains_key(&machine) {
        let message = "Run command extension execution is in progress. Please wait for completion before invoking a run command.";
        return Err(Refusal::new(409, "Conflict", message));
    }
    let texts = |list: Option<&Value>| -> Vec<String> {
        let list = list.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|line| line.as_str().map(str::to_owned)).collect()
    };
    let parameters = body.get("parameters").and_then(Value::as_array).into_iter().flatten();
    let word =
        |entry: &Value, field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let parameters: Vec<_> = parameters.map(|entry| (word(entry, "name"), word(entry, "value"))).collect();
    let operation = cloud.operations.begin(None);
    cloud.busy.insert(machine, operation.clone());
    let version = request.parameter("api-version").unwrap_or("2024-11-01");
    let place = format!(
        "{}/subscriptions/{}/providers/Microsoft.Compute/locations/eastus/operations/{operation}",
        request.base,
        cloud.subscription_of(request)
    );
    let answer = Answer::empty(202)
        .with("Azure-AsyncOperation", format!("{place}?p={operation}&api-version={version}"))
        .with("Location", format!("{place}?p={operation}&monitor=true&api-version={version}"))
        .with("x-ms-retry-after-ms", "100");
    let machine = target.name().to_owned();
    let job = ScriptJob { operation, machine, script: texts(body.get("script")), parameters };
    Ok((answer, Some(Job::Script(job))))
}
