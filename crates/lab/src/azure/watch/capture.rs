//! Packet captures of a watcher: one at a time on a machine, until somebody stops it or its time is over.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::file::CaptureTrouble;
use crate::azure::arm::{missing, runs};
use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;
use ghost_base::Timestamp;

/// How many captures a region takes.
const MAX_CAPTURES_PER_REGION: usize = 10_000;
const EXTENSION: &str = "NetworkWatcherAgentLinux";

/// A capture that was begun.
#[derive(Debug, Clone)]
pub(in crate::azure) struct Capture {
    /// The machine's identifier.
    pub(super) machine: String,
    started: Timestamp,
    seconds: u64,
    /// Why it ended before its time, where it did.
    ended: Option<&'static str>,
    /// Whether its file was stored, and what hindered that.
    done: Option<Option<CaptureTrouble>>,
    /// Where its file goes.
    pub(super) storage: Value,
    pub(super) filters: Vec<Value>,
    pub(super) snaplen: u32,
    pub(super) most: u64,
}

impl Capture {
    /// Says why it is over, where it is.
    pub(super) fn over(&self, now: Timestamp) -> Option<&'static str> {
        self.ended.or_else(|| (now >= self.until()).then_some("TimeExceeded"))
    }

    /// Returns when it is over at the latest.
    pub(super) fn until(&self) -> Timestamp {
        self.started.plus(Duration::from_secs(self.seconds))
    }

    /// Ends it, where it is not over.
    pub(super) fn end(&mut self, why: &'static str, now: Timestamp) {
        self.ended = Some(self.over(now).unwrap_or(why));
    }

    /// Its file is stored, or will not be.
    pub(super) fn done(&mut self, trouble: Option<CaptureTrouble>) {
        self.done = Some(trouble);
    }

    /// Tells whether somebody said what became of its file.
    pub(super) fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Tells whether it is over, and its file is waited for.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.over(now).is_some() && !self.is_done()
    }
}

/// Begins a capture: returns the properties that are stored.
pub(in crate::azure) fn begin(
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
    let most = cloud.most_captures.unwrap_or(MAX_CAPTURES_PER_REGION);
    if cloud.captures.len() >= most && !cloud.captures.contains_key(&key) {
        let message =
            format!("Cannot create more than {most} packet captures for this subscription in this region.");
        return Err(Refusal::network(400, "PacketCaptureCountLimitReached", message));
    }
    if !runs(cloud, place.name()) {
        let message = format!("The virtual machine {} is not running.", place.name());
        return Err(Refusal::network(400, "OperationNotAllowed", message));
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
    let filters = match sent.get("filters") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(filters)) if filters.iter().all(Value::is_object) => filters.clone(),
        Some(_) => return Err(Refusal::unreadable("filters are expected to be a list of objects")),
    };
    let (snaplen, most) = (number("bytesToCapturePerPacket", 0), number("totalBytesPerSession", 1 << 30));
    let storage = storage(sent, &place, now)?;
    let properties = json!({
        "provisioningState": "Succeeded", "target": machine, "targetType": "AzureVM", "bytesToCapturePerPacket": snaplen,
        "totalBytesPerSession": most, "timeLimitInSeconds": seconds, "storageLocation": storage, "filters": filters,
    });
    let snaplen = u32::try_from(snaplen).unwrap_or(0);
    let machine = machine.to_owned();
    let capture =
        Capture { machine, started: now, seconds, ended: None, done: None, storage, filters, snaplen, most };
    cloud.captures.insert(key, capture);
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
pub(in crate::azure) fn post(
    cloud: &mut Cloud,
    target: &Target,
    action: &str,
    now: Timestamp,
) -> Option<Option<Value>> {
    let capture = cloud.captures.get_mut(&target.id().to_ascii_lowercase())?;
    match action {
        "stop" => {
            capture.end("Manual", now);
            Some(None)
        }
        "querystatus" => {
            let text = capture.started.to_string();
            let start = text.trim_end_matches('Z').split('.').next().unwrap_or_default();
            let over = capture.over(now);
            let trouble = capture.done.flatten();
            let status = match (over, trouble) {
                (None, _) => "Running",
                (Some(_), None) => "Stopped",
                (Some(_), Some(_)) => "Error",
            };
            let troubles: Vec<String> = trouble.iter().map(ToString::to_string).collect();
            let mut document = json!({"name": target.name(), "id": target.id(), "captureStartTime": format!("{start}.0000000Z"),
                "packetCaptureStatus": status, "packetCaptureError": troubles});
            if let (Some(why), Some(map)) = (over, document.as_object_mut()) {
                map.insert("stopReason".to_owned(), json!(why));
            }
            Some(Some(document))
        }
        _ => None,
    }
}

/// Forgets captures that were removed, on their own or with their watcher. What one saw so far is still stored.
pub(in crate::azure) fn forget(cloud: &mut Cloud, target: &Target) {
    let own = target.id().to_ascii_lowercase();
    let below = format!("{own}/");
    let gone: Vec<String> =
        cloud.captures.keys().filter(|id| **id == own || id.starts_with(&below)).cloned().collect();
    for id in gone {
        if let Some(capture) = cloud.captures.remove(&id).filter(|capture| cloud.guests && !capture.is_done())
        {
            cloud.removed_captures.insert(id, capture);
        }
    }
}
