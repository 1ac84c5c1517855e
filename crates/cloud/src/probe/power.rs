//! Whether a machine runs, as `az vm get-instance-view` printed it.

use ghost_inspect::path::{Cloud, Reading};
use serde_json::Value;

use crate::line;
use crate::operation::{CommandRequest, Issue, ReadOperation};
use crate::{Name, ResourceGroup};

/// Begins to ask whether a machine runs.
#[must_use]
pub fn power(place: &ResourceGroup, machine: &Name) -> ReadOperation {
    let why = format!("see whether {machine} runs");
    let doing = format!("asking whether {machine} runs");
    ReadOperation::new(CommandRequest::line(line::instance_view(place, machine), why), doing)
}

/// Puts what was answered into the documents of an estate, beside what is known of other machines.
pub fn keep_power(read: Result<String, Issue>, cloud: &mut Cloud) {
    let mut known: Vec<Value> = match &cloud.instance_views {
        Some(Reading::Text(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(Reading::Failed { .. }) | None => Vec::new(),
    };
    let one = read
        .and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| Issue::new(error.to_string())));
    match one {
        Ok(one) => {
            known.push(one);
            cloud.instance_views = Some(Reading::Text(Value::Array(known).to_string()));
        }
        Err(issue) if known.is_empty() => {
            cloud.instance_views = Some(Reading::Failed { error: issue.text });
        }
        Err(_) => {}
    }
}
