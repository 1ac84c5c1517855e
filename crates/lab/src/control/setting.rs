//! What can be set: how the cloud behaves, and what goes wrong in it.

use std::time::Duration;

use regex::RegexBuilder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::handler::OrderError;
use super::lab::{Lab, lock};
use crate::azure::{Fault, Grant};

/// What is set beside what the cloud itself remembers; for its readers.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct CurrentSettings {
    /// How many polls find each operation at work.
    pub(super) lro_polls: u32,
    /// How many milliseconds each operation takes.
    pub(super) lro_ms: u64,
    /// How many milliseconds the resource manager takes for each answer.
    pub(super) answer_ms: u64,
    /// How many entries a page of a list has.
    pub(super) page_size: Option<usize>,
    /// How many captures fit.
    pub(super) capture_limit: Option<usize>,
    /// Whether every token counts as expired.
    pub(super) token_expired: bool,
}

/// One thing that is set.
#[derive(Debug, Clone)]
pub enum LabSetting {
    /// How many polls find each operation at work.
    Polls(u32),
    /// Each operation takes so many milliseconds.
    Lasts(u64),
    /// Each answer takes so many milliseconds.
    Answers(u64),
    /// A token has to have been asked for with these claims.
    Claims(String),
    /// Lists come in pages of so many entries.
    Page(Option<usize>),
    /// How many captures fit.
    Captures(Option<usize>),
    /// A machine is in this state.
    Power(String, &'static str),
    /// A script runs on a machine and does not end, or no longer does.
    Busy(String, bool),
    /// A resource is gone, whoever needs it.
    Remove(String),
    /// The next requests of a kind are answered otherwise.
    Fault(Fault),
    /// Every token counts as expired, or none that is not.
    Expired(bool),
    /// Somebody, by object id, may do this and nothing else, or everything again.
    Grant(String, Option<Vec<Grant>>),
    /// Nothing of all this any more, machines and resources excepted.
    Clear,
}

const STATES: [&str; 5] = ["running", "stopped", "deallocated", "starting", "stopping"];
const KNOWN_SETTINGS: &str = "lro_polls, lro_ms, answer_ms, page_size, capture_limit, power, busy, free, remove, fault, token, grants, clear";
/// Nothing takes longer.
const MAX_DELAY_MS: u64 = 3_600_000;
/// How large a compiled pattern may be.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// A fault as a call describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultRequest {
    #[serde(rename = "match")]
    pattern: String,
    status: u16,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    body: Value,
    times: Option<u64>,
}

impl LabSetting {
    /// Reads what a call sets: an object, or a list of them, in the form of the recordings' setup.
    ///
    /// # Errors
    /// Names the first thing that cannot be set so.
    pub fn read(body: &Value) -> Result<Vec<Self>, OrderError> {
        let mut read = Vec::new();
        let steps: Vec<&Value> = body.as_array().map_or_else(|| vec![body], |list| list.iter().collect());
        for step in steps {
            let step = step
                .as_object()
                .ok_or_else(|| OrderError::new("what is set is an object, or a list of objects"))?;
            for (name, value) in step {
                one(name, value, &mut read)?;
            }
        }
        if read.is_empty() {
            return Err(OrderError::new("nothing is set").hint(format!("these can be: {KNOWN_SETTINGS}")));
        }
        Ok(read)
    }
}

fn one(name: &str, value: &Value, read: &mut Vec<LabSetting>) -> Result<(), OrderError> {
    let wrong = |wants: &str| OrderError::new(format!("`{name}` wants {wants}"));
    let size = || {
        if value.is_null() || value == "off" {
            return Ok(None);
        }
        let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
        size.map(Some).ok_or_else(|| wrong("a number, or `off`"))
    };
    let names = || -> Result<Vec<String>, OrderError> {
        let list: Vec<&Value> = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        let text =
            |entry: &&Value| entry.as_str().map(str::to_owned).ok_or_else(|| wrong("the name of a machine"));
        list.iter().map(text).collect()
    };
    match name {
        "lro_polls" => {
            let polls = value.as_u64().and_then(|polls| u32::try_from(polls).ok());
            read.push(LabSetting::Polls(polls.ok_or_else(|| wrong("a number"))?));
        }
        "lro_ms" | "answer_ms" => {
            let millis = value.as_u64().filter(|millis| *millis <= MAX_DELAY_MS);
            let millis = millis.ok_or_else(|| wrong("milliseconds, at most an hour"))?;
            read.push(if name == "lro_ms" { LabSetting::Lasts(millis) } else { LabSetting::Answers(millis) });
        }
        "page_size" => match size()? {
            Some(0) => return Err(wrong("at least 1, or `off`")),
            size => read.push(LabSetting::Page(size)),
        },
        "capture_limit" => read.push(LabSetting::Captures(size()?)),
        "power" => {
            let machines = value.as_object().ok_or_else(|| wrong("machines and their states"))?;
            for (machine, state) in machines {
                let state = state.as_str().unwrap_or_default();
                let state = STATES.into_iter().find(|known| state.eq_ignore_ascii_case(known));
                let state = state.ok_or_else(|| wrong(&format!("a state: {}", STATES.join(", "))))?;
                read.push(LabSetting::Power(machine.clone(), state));
            }
        }
        "busy" => read.extend(names()?.into_iter().map(|name| LabSetting::Busy(name, true))),
        "free" => read.extend(names()?.into_iter().map(|name| LabSetting::Busy(name, false))),
        "remove" => {
            let id = value.as_str().filter(|id| id.starts_with("/subscriptions/"));
            read.push(LabSetting::Remove(
                id.ok_or_else(|| wrong("the identifier of a resource"))?.to_owned(),
            ));
        }
        "fault" => read.push(LabSetting::Fault(fault(value)?)),
        "token" => match value.as_str() {
            Some("expired") => read.push(LabSetting::Expired(true)),
            Some("good") => read.push(LabSetting::Expired(false)),
            Some(_) => return Err(wrong("`expired` or `good`")),
            None => match value.get("claims").filter(|claims| claims.is_object()) {
                Some(claims) => read.push(LabSetting::Claims(claims.to_string())),
                None => return Err(wrong("`expired`, `good`, or an object with `claims`")),
            },
        },
        "grants" => {
            let people = value.as_object().ok_or_else(|| wrong("principals and what they are granted"))?;
            for (object, granted) in people {
                let granted: Option<Vec<Grant>> = serde_json::from_value(granted.clone())
                    .map_err(|error| wrong(&format!("a list of permissions, or null: {error}")))?;
                read.push(LabSetting::Grant(object.clone(), granted));
            }
        }
        "clear" => read.push(LabSetting::Clear),
        _ => {
            return Err(OrderError::new(format!("`{name}` cannot be set"))
                .hint(format!("these can be: {KNOWN_SETTINGS}")));
        }
    }
    Ok(())
}

fn fault(value: &Value) -> Result<Fault, OrderError> {
    let reported: FaultRequest = serde_json::from_value(value.clone())
        .map_err(|error| OrderError::new(format!("a fault cannot be read: {error}"))
            .hint("a fault is {\"match\": \"METHOD path?query, as a regular expression\", \"status\": 429, \"headers\": {}, \"body\": …, \"times\": 1}"))?;
    let pattern = RegexBuilder::new(&reported.pattern).size_limit(MAX_PATTERN_BYTES).build();
    let pattern =
        pattern.map_err(|error| OrderError::new(format!("`match` is no regular expression: {error}")))?;
    if !(200..600).contains(&reported.status) {
        return Err(OrderError::new(format!(
            "a status is a number from 200 to 599, not {}",
            reported.status
        )));
    }
    let mut headers = Vec::new();
    for (name, value) in reported.headers {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let token = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if name.is_empty() || !token || value.contains(|char: char| char.is_control()) {
            return Err(OrderError::new(format!(
                "no answer can have the header `{}`",
                name.escape_default()
            )));
        }
        headers.push((name, value));
    }
    Ok(Fault {
        pattern,
        status: reported.status,
        headers,
        body: Fault::body(&reported.body),
        times: reported.times.unwrap_or(1),
    })
}

impl Lab {
    /// Sets all of it, or nothing; guests have seen it when this returns.
    ///
    /// # Errors
    /// Names the first machine or resource that is not there.
    pub async fn set(&self, current: Vec<LabSetting>) -> Result<(), OrderError> {
        {
            let mut cloud = self.cloud();
            let machines = cloud.machines();
            let mut tried = cloud.clone();
            for knob in &current {
                if let LabSetting::Power(machine, _) | LabSetting::Busy(machine, _) = knob
                    && !machines.iter().any(|known| known.eq_ignore_ascii_case(machine))
                {
                    let hint = format!("the machines are {}", machines.join(", "));
                    return Err(OrderError::new(format!("there is no machine `{machine}`")).hint(hint));
                }
                if let LabSetting::Remove(id) = knob
                    && !tried.take_out(id)
                {
                    return Err(OrderError::new(format!("there is no resource {id}")));
                }
            }
            let mut seen = lock(&self.current);
            for knob in current {
                match knob {
                    LabSetting::Polls(polls) => {
                        seen.lro_polls = polls;
                        cloud.polls(polls);
                    }
                    LabSetting::Lasts(millis) => {
                        seen.lro_ms = millis;
                        cloud.operations_last(Duration::from_millis(millis));
                    }
                    LabSetting::Answers(millis) => seen.answer_ms = millis,
                    LabSetting::Claims(claims) => cloud.demand_claims(Some(claims)),
                    LabSetting::Page(page) => {
                        seen.page_size = page;
                        cloud.page(page);
                    }
                    LabSetting::Captures(most) => {
                        seen.capture_limit = most;
                        cloud.captures(most);
                    }
                    LabSetting::Power(machine, state) => cloud.power(&machine, state),
                    LabSetting::Busy(machine, true) => cloud.busy(&machine),
                    LabSetting::Busy(machine, false) => cloud.free(&machine),
                    LabSetting::Remove(id) => drop(cloud.take_out(&id)),
                    LabSetting::Fault(fault) => cloud.faults().add(fault),
                    LabSetting::Grant(object, granted) => cloud.grant(&object, granted),
                    LabSetting::Expired(expired) => {
                        seen.token_expired = expired;
                        cloud.demand_claims(None);
                    }
                    LabSetting::Clear => {
                        *seen = CurrentSettings::default();
                        cloud.polls(0);
                        cloud.operations_last(Duration::ZERO);
                        cloud.demand_claims(None);
                        cloud.page(None);
                        cloud.captures(None);
                        cloud.faults().clear();
                        cloud.grant_everything();
                        machines.iter().for_each(|machine| cloud.free(machine));
                    }
                }
            }
        }
        self.settle().await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(body: &Value, with: &str) {
        let refused = LabSetting::read(body).unwrap_err().what;
        assert!(refused.contains(with), "{refused}");
    }

    #[test]
    fn what_takes_time_and_what_is_demanded_is_read() {
        let body = json!({"answer_ms": 200, "lro_ms": 2_000, "token": {"claims": {"a": 1}}});
        let read = LabSetting::read(&body).unwrap();
        assert!(matches!(
            read.as_slice(),
            [LabSetting::Answers(200), LabSetting::Lasts(2_000), LabSetting::Claims(text)] if text == r#"{"a":1}"#
        ));
    }

    #[test]
    fn the_recordings_form_is_read() {
        let body = json!([{"lro_polls": 2}, {"power": {"a": "Deallocated", "b": "running"}}, {"busy": ["a"]}, {"page_size": 1},
            {"fault": {"match": "GET .*nsg", "status": 429, "headers": {"Retry-After": 1}, "body": "x"}}]);
        let read = LabSetting::read(&body).unwrap();
        assert_eq!(read.len(), 6);
        assert!(
            matches!(&read[5], LabSetting::Fault(fault) if fault.times == 1 && fault.headers[0].1 == "1")
        );
    }

    #[test]
    fn what_cannot_be_set_is_named() {
        refused(&json!({"colour": 1}), "`colour` cannot be set");
        refused(&json!({}), "nothing is set");
        refused(&json!("x"), "an object");
        refused(&json!({"lro_polls": -1}), "`lro_polls` wants a number");
        refused(&json!({"lro_polls": 5_000_000_000_u64}), "`lro_polls` wants a number");
        refused(&json!({"page_size": 0}), "at least 1");
        refused(&json!({"power": {"a": "asleep"}}), "a state");
        refused(&json!({"remove": "x"}), "identifier");
        refused(&json!({"fault": {"match": "(", "status": 500}}), "no regular expression");
        refused(&json!({"fault": {"match": "(a{1000}){1000}", "status": 500}}), "no regular expression");
        refused(&json!({"fault": {"match": "x", "status": 99}}), "a status is a number");
        refused(
            &json!({"fault": {"match": "x", "status": 500, "headers": {"a\r\nb": "c"}}}),
            "no answer can have",
        );
        refused(&json!({"fault": {"match": "x", "statis": 500}}), "unknown field");
        refused(&json!({"token": "old"}), "`expired` or `good`");
        refused(&json!({"token": {"claims": 7}}), "an object with `claims`");
        refused(&json!({"lro_ms": -1}), "`lro_ms` wants milliseconds");
        refused(&json!({"answer_ms": 3_600_001}), "`answer_ms` wants milliseconds");
        refused(&json!({"grants": {"x": [{"action": []}]}}), "a list of permissions");
    }
}
