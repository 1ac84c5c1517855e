//! What was changed before whoever asks came: written into the activity log as the platform would have written it then.

use serde_json::{Value, json};

use super::activity::{log_time, named};
use super::arm::guid;
use super::cloud::Cloud;
use super::target::Target;
use ghost_base::Timestamp;

/// Who changes things in the lab, as the log calls them, and what their token says.
const CALLERS: [(&str, &str, &str); 5] = [
    ("6b1f9a52-0d7c-4f0e-9c0a-5b2f1e6d7a10", "deploy-pipeline", "b2a7c0de-51f3-4c56-8a3e-0c9d1f7e2b44"),
    ("netops@contoso.com", "", ""),
    ("oncall@contoso.com", "", ""),
    ("1f0c2d3e-4a5b-4c6d-8e7f-901234567890", "", "0a1b2c3d-4e5f-4a6b-8c7d-8e9fa0b1c2d3"),
    ("platform-team@contoso.com", "", ""),
];

/// A change that happened before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastChange {
    /// The id of the resource.
    pub resource: String,
    /// The last part of its operation: `write`, `delete`, `deallocate/action`.
    pub operation: &'static str,
    /// When it began.
    pub at: Timestamp,
    /// How many seconds it took.
    pub seconds: u32,
    /// Who did it, by the place in a list; any number fits.
    pub caller: usize,
    /// Whether it succeeded.
    pub is_done: bool,
    /// Whether what it wrote was new.
    pub is_new: bool,
    /// So many seconds later the log had it.
    pub delay: u32,
}

impl Cloud {
    /// Forgets what the log holds, and writes changes of before into it. Returns what joins the events of each.
    pub fn write_history(&mut self, changes: &[PastChange]) -> Vec<String> {
        self.activity.clear();
        let mut all: Vec<(Timestamp, Value)> = Vec::new();
        let mut names = Vec::new();
        for (number, change) in changes.iter().enumerate() {
            let correlation = guid(&format!("{}{}{number}", change.resource, change.at.as_millis()));
            all.extend(self.events_of(change, &correlation));
            names.push(correlation);
        }
        all.sort_by_key(|(at, _)| *at);
        self.activity.extend(all.into_iter().map(|(_, event)| event));
        names
    }

    /// Returns the events of one change: it begins, is accepted where it takes long, and ends.
    fn events_of(&self, change: &PastChange, correlation: &str) -> Vec<(Timestamp, Value)> {
        let after = |seconds: u32| Timestamp::from_millis(change.at.as_millis() + i64::from(seconds) * 1000);
        let end = if change.is_done { "Succeeded" } else { "Failed" };
        let code = match (change.is_done, change.is_new) {
            (false, _) => "Conflict",
            (true, true) => "Created",
            (true, false) => "OK",
        };
        let mut steps = vec![("Started", "", change.at)];
        if change.seconds > 10 {
            steps.push(("Accepted", "Accepted", after(1)));
        }
        steps.push((end, code, after(change.seconds)));
        let event = |(status, code, at): (&str, &str, Timestamp)| {
            (at, self.event(change, correlation, (status, code), at))
        };
        steps.into_iter().map(event).collect()
    }

    fn event(
        &self,
        change: &PastChange,
        correlation: &str,
        (status, code): (&str, &str),
        at: Timestamp,
    ) -> Value {
        let id = &change.resource;
        let target = Target::parse(id);
        let provider = target.as_ref().and_then(|target| target.provider.clone()).unwrap_or_default();
        let kinds: Vec<String> =
            target.iter().flat_map(|target| &target.chain).map(|(kind, _)| kind.clone()).collect();
        let kind = format!("{provider}/{}", kinds.join("/"));
        let operation = format!("{kind}/{}", change.operation);
        let (caller, name, application) =
            CALLERS.get(change.caller % CALLERS.len()).copied().unwrap_or_default();
        let mut claims = json!({"ipaddr": "203.0.113.77"});
        for (key, value) in [("name", name), ("appid", application)] {
            if let Some(map) = claims.as_object_mut().filter(|_| !value.is_empty()) {
                map.insert(key.to_owned(), json!(value));
            }
        }
        let event = guid(&format!("{correlation}{status}"));
        let seen = Timestamp::from_millis(at.as_millis() + i64::from(change.delay) * 1000);
        let subscription = target.as_ref().and_then(|target| target.subscription.clone());
        let subscription = subscription.unwrap_or_else(|| self.subscription().to_owned());
        let tenant = self.about.subscription.get("tenantId").cloned().unwrap_or_default();
        let begins = status == "Started";
        json!({
            "authorization": {"action": operation, "scope": id}, "caller": caller, "channels": "Operation", "claims": claims,
            "correlationId": correlation, "description": "", "eventDataId": event,
            "eventName": if begins { json!({"value": "BeginRequest", "localizedValue": "Begin request"}) } else { json!({"value": "EndRequest", "localizedValue": "End request"}) },
            "category": named("Administrative"), "id": format!("{id}/events/{event}/ticks/{}", at.as_millis()),
            "level": if status == "Failed" { "Error" } else { "Informational" },
            "resourceGroupName": target.and_then(|target| target.group), "resourceProviderName": named(&provider), "resourceId": id,
            "resourceType": named(&kind), "operationId": guid(&format!("{correlation}operation")), "operationName": named(&operation),
            "properties": {"statusCode": code, "eventCategory": "Administrative", "entity": id, "message": operation,
                "hierarchy": format!("{}/{subscription}", tenant.as_str().unwrap_or_default())},
            "status": named(status), "subStatus": named(code), "eventTimestamp": log_time(at), "submissionTimestamp": log_time(seen),
            "subscriptionId": subscription, "tenantId": tenant,
        })
    }
}
