//! Packet captures of a watcher: one at a time on a machine, until somebody stops it or its time is over.

use serde_json::{Map, Value, json};

use crate::base::Timestamp;
use crate::lab::azure::arm::missing;
use crate::lab::azure::cloud::Cloud;
use crate::lab::azure::refusal::Refusal;
use crate::lab::azure::target::Target;

/// So many captures a region takes.
const MOST: usize = 10_000;
const EXTENSION: &str = "NetworkWatcherAgentLinux";

/// A capture that was begun.
#[derive(Debug, Clone)]
pub(in crate::lab::azure) struct Capture {
    /// The machine.
    machine: String,
    started: Timestamp,
    seconds: u64,
    /// Somebody stopped it.
    stopped: bool,
}

impl Capture {
    /// Says why it is over, where it is.
    fn over(&self, now: Timestamp) -> Option<&'static str> {
        let passed = now.as_millis().saturating_sub(self.started.as_millis());
        let late = u64::try_from(passed).is_ok_and(|passed| passed >= self.seconds.saturating_mul(1000));
        if self.stopped { Some("Manual") } else { late.then_some("TimeExceeded") }
    }
}

/// Begins a capture: returns the properties that are stored.
pub(in crate::lab::azure) fn begin(
    cloud: &mut Cloud,
    target: &Target,
    sent: &Map<String, Value>,
    now: Timestamp,
) -> Result<Map<String, Value>, Refusal> {
    let machine = sent.get("target").and_then(Value::as_str).unwrap_or_default();
    let place = Target::parse(machine).ok_or_else(|| Refusal::unreadable("target"))?;
    if cloud.estate.get(&place).is_none() {
        return Err(missing(cloud, &place));
    }
    let key = target.id().to_ascii_lowercase();
    let running = cloud.captures.iter().filter(|(id, capture)| **id != key && capture.over(now).is_none());
    let busy = running
        .filter(|(_, capture)| capture.machine.eq_ignore_ascii_case(machine))
        .map(|(id, _)| id.clone())
        .next();
    if let Some(id) = busy {
        let name = Target::parse(&id)
            .and_then(|id| cloud.estate.get(&id))
            .and_then(|found| found.get("name")?.as_str());
        let message = format!(
            "Another packet capture, {}, is already running on target {machine}.",
            name.unwrap_or_default()
        );
        return Err(Refusal::network(409, "Conflict", message));
    }
    let most = cloud.most_captures.unwrap_or(MOST);
    if cloud.captures.len() >= most && !cloud.captures.contains_key(&key) {
        let message =
            format!("Cannot create more than {most} packet captures for this subscription in this region.");
        return Err(Refusal::network(400, "PacketCaptureCountLimitReached", message));
    }
    let agent = Target {
        chain: [&place.chain[..], &[("extensions".to_owned(), EXTENSION.to_owned())]].concat(),
        ..place.clone()
    };
    if cloud.estate.get(&agent).is_none() {
        let message = format!("Network Watcher extension is not installed on {}.", place.name());
        return Err(Refusal::network(400, "OperationNotAllowed", message));
    }
    let number = |field: &str, usual: u64| sent.get(field).and_then(Value::as_u64).unwrap_or(usual);
    let seconds = number("timeLimitInSeconds", 18_000);
    let properties = json!({
        "provisioningState": "Succeeded", "target": machine, "targetType": "AzureVM",
        "bytesToCapturePerPacket": number("bytesToCapturePerPacket", 0),
        "totalBytesPerSession": number("totalBytesPerSession", 1 << 30), "timeLimitInSeconds": seconds,
        "storageLocation": storage(sent, &place, now)?, "filters": sent.get("filters").cloned().unwrap_or_else(|| json!([])),
    });
    cloud
        .captures
        .insert(key, Capture { machine: machine.to_owned(), started: now, seconds, stopped: false });
    Ok(properties.as_object().cloned().unwrap_or_default())
}

/// Says where it is written: where somebody wants it, or at the platform's usual place in the account.
fn storage(sent: &Map<String, Value>, machine: &Target, now: Timestamp) -> Result<Value, Refusal> {
    let mut location = sent.get("storageLocation").and_then(Value::as_object).cloned().unwrap_or_default();
    let word = |field: &str| location.get(field).and_then(Value::as_str).unwrap_or_default();
    let (account, file) = (Target::parse(word("storageId")), word("filePath"));
    if account.is_none() && file.is_empty() {
        let message = "Either a storage account or a file path has to be given.";
        return Err(Refusal::network(400, "InvalidStorageLocation", message));
    }
    if !file.is_empty() && !file.ends_with(".cap") {
        return Err(Refusal::network(400, "InvalidFilePath", "The file path has to end in .cap."));
    }
    if let (Some(account), true) = (account, word("storagePath").is_empty()) {
        let (day, hour) = moment(now);
        let path = format!(
            "https://{}.blob.core.windows.net/network-watcher-logs{}/{day}/packetcapture_{hour}.cap",
            account.name(),
            machine.id().to_ascii_lowercase()
        );
        location.insert("storagePath".to_owned(), json!(path));
    }
    Ok(Value::Object(location))
}

/// Writes a moment as the platform's paths do: `2025/06/02` and `09_31_00_000`.
fn moment(now: Timestamp) -> (String, String) {
    let text = now.to_string();
    let (day, hour) = text.split_once('T').unwrap_or((&text, ""));
    let hour = hour.trim_end_matches('Z');
    let (whole, part) = hour.split_once('.').unwrap_or((hour, "000"));
    (day.replace('-', "/"), format!("{}_{part:0<3}", whole.replace(':', "_")))
}

/// Answers what is asked of a capture.
pub(in crate::lab::azure) fn post(
    cloud: &mut Cloud,
    target: &Target,
    action: &str,
    now: Timestamp,
) -> Option<Option<Value>> {
    let capture = cloud.captures.get_mut(&target.id().to_ascii_lowercase())?;
    match action {
        "stop" => {
            capture.stopped |= capture.over(now).is_none();
            Some(None)
        }
        "querystatus" => {
            let text = capture.started.to_string();
            let start = text.trim_end_matches('Z').split('.').next().unwrap_or_default();
            let over = capture.over(now);
            let mut told = json!({"name": target.name(), "id": target.id(), "captureStartTime": format!("{start}.0000000Z"),
                "packetCaptureStatus": if over.is_some() { "Stopped" } else { "Running" }, "packetCaptureError": []});
            if let (Some(why), Some(map)) = (over, told.as_object_mut()) {
                map.insert("stopReason".to_owned(), json!(why));
            }
            Some(Some(told))
        }
        _ => None,
    }
}

/// Forgets a capture that was removed.
pub(in crate::lab::azure) fn forget(cloud: &mut Cloud, target: &Target) {
    cloud.captures.remove(&target.id().to_ascii_lowercase());
}
