//! The files of captures: who runs, who is over, where a file goes.

use serde_json::Value;

use super::capture::Capture;
use crate::azure::blob::{From, account, is_container, lets_in};
use crate::azure::cloud::Cloud;
use crate::azure::target::Target;
use crate::host::{CaptureFilter, CaptureOrder};
use ghost_base::Timestamp;

/// A capture that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningCapture {
    /// Its identifier, in lower case.
    pub id: String,
    /// What is captured.
    pub order: CaptureOrder,
    /// When it is over at the latest.
    pub until: Timestamp,
}

/// Where the file of a capture is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaptureDestination {
    /// The account, the container and the blob.
    pub blob: Option<(String, String, String)>,
    /// The machine and the path of a file there, which somebody has to write.
    pub file: Option<(String, String)>,
}

/// Why a capture has no file, in the platform's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CaptureTrouble {
    /// Nobody knows the capture, or its file is stored already.
    #[error("there is no such capture, or it is done")]
    Unknown,
    /// The account is gone, or does not let the platform in.
    #[error("StorageFailed")]
    Storage,
    /// The machine's agent stopped.
    #[error("AgentStopped")]
    Agent,
    /// Nothing could be captured.
    #[error("CaptureFailed")]
    Capture,
    /// The file could not be written on the machine.
    #[error("LocalFileFailed")]
    File,
}

impl Cloud {
    /// Returns the captures that run now. What is in the list and was not there before is begun; it ends as `captures_due` says.
    #[must_use]
    pub fn captures_running(&self, now: Timestamp) -> Vec<RunningCapture> {
        let running = self.captures.iter().filter(|(_, capture)| capture.over(now).is_none());
        running.map(|(id, capture)| running_capture(id, capture)).collect()
    }

    /// Returns the captures that are over, removed ones among them, and whose files nobody stored yet.
    #[must_use]
    pub fn captures_due(&self, now: Timestamp) -> Vec<String> {
        let over = self.captures.iter().filter(|(_, capture)| capture.is_due(now)).map(|(id, _)| id);
        over.chain(self.removed_captures.keys()).cloned().collect()
    }

    /// Stores the file of a capture where its storage location says. One that still runs has reached its size.
    ///
    /// A container that is missing is made. The platform writes by a key of the account, and through its network rules by their bypass.
    ///
    /// # Errors
    /// Fails where there is no such capture, or its storage does not take the file; the capture then tells so.
    pub fn store_capture(
        &mut self,
        id: &str,
        bytes: &[u8],
        now: Timestamp,
    ) -> Result<CaptureDestination, CaptureTrouble> {
        let key = id.to_ascii_lowercase();
        let removed = self.removed_captures.remove(&key);
        let capture = match &removed {
            Some(capture) => capture.clone(),
            None => {
                let found = self.captures.get_mut(&key).filter(|capture| !capture.is_done());
                let found = found.ok_or(CaptureTrouble::Unknown)?;
                found.end("TotalBytesExceeded", now);
                found.clone()
            }
        };
        let stored = self.keep(&capture, bytes, now);
        let trouble = stored.as_ref().err().copied();
        if let (None, Some(found)) = (removed, self.captures.get_mut(&key)) {
            found.done(trouble);
        }
        stored
    }

    /// A capture came to nothing.
    pub fn capture_failed(&mut self, id: &str, why: CaptureTrouble, now: Timestamp) {
        let key = id.to_ascii_lowercase();
        self.removed_captures.remove(&key);
        if let Some(found) = self.captures.get_mut(&key) {
            found.end("InternalError", now);
            found.done(Some(why));
        }
    }

    fn keep(
        &mut self,
        capture: &Capture,
        bytes: &[u8],
        now: Timestamp,
    ) -> Result<CaptureDestination, CaptureTrouble> {
        let word =
            |field: &str| capture.storage.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let machine = Target::parse(&capture.machine).unwrap_or_default();
        let file = word("filePath").map(|path| (machine.name().to_owned(), path.to_owned()));
        let Some(path) = word("storagePath") else { return Ok(CaptureDestination { blob: None, file }) };
        let (name, container, blob) = parts(path).ok_or(CaptureTrouble::Storage)?;
        let found = account(self, &name).ok_or(CaptureTrouble::Storage)?;
        let shared =
            found.pointer("/properties/allowSharedKeyAccess").and_then(Value::as_bool).unwrap_or(true);
        if !shared || !lets_in(self, found, &From::Platform) || !is_container(&container) {
            return Err(CaptureTrouble::Storage);
        }
        if self.store.write(&name, &container, &blob, bytes, now) {
            Ok(CaptureDestination { blob: Some((name, container, blob)), file })
        } else {
            Err(CaptureTrouble::Storage)
        }
    }
}

/// Takes the address of a blob apart: by host name, or with the account as first segment.
fn parts(path: &str) -> Option<(String, String, String)> {
    let rest = path.strip_prefix("https://").or_else(|| path.strip_prefix("http://"))?;
    let (host, rest) = rest.split_once('/')?;
    let (account, rest) = match host.split_once(".blob.") {
        Some((account, _)) => (account, rest),
        None => rest.split_once('/')?,
    };
    let (container, blob) = rest.split_once('/')?;
    let blob = percent_encoding::percent_decode_str(blob).decode_utf8_lossy().into_owned();
    let whole = !account.is_empty() && !blob.is_empty() && blob.len() <= 1_024;
    whole.then(|| (account.to_ascii_lowercase(), container.to_owned(), blob))
}

fn running_capture(id: &str, capture: &Capture) -> RunningCapture {
    let machine = Target::parse(&capture.machine).unwrap_or_default();
    let filter = |filter: &Value| {
        let word = |field: &str| filter.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        CaptureFilter {
            protocol: word("protocol"),
            local_address: word("localIPAddress"),
            local_port: word("localPort"),
            remote_address: word("remoteIPAddress"),
            remote_port: word("remotePort"),
        }
    };
    let order = CaptureOrder {
        machine: machine.name().to_owned(),
        snaplen: capture.snaplen,
        most: capture.most,
        filters: capture.filters.iter().map(filter).collect(),
    };
    RunningCapture { id: id.to_owned(), order, until: capture.until() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_an_account_a_container_a_blob() {
        let own = |text: &str| {
            parts(text).map(|(account, container, blob)| format!("{account} {container} {blob}"))
        };
        assert_eq!(own("https://A.blob.core.windows.net/c/d/e%20f.cap").as_deref(), Some("a c d/e f.cap"));
        assert_eq!(own("http://127.0.0.1:1/a/c/e.cap").as_deref(), Some("a c e.cap"));
        for bad in [
            "",
            "https://",
            "https://a.blob.x/c",
            "https://a.blob.x/c/",
            "ftp://a.blob.x/c/d",
            "https:///c/d",
        ] {
            assert_eq!(own(bad), None, "{bad}");
        }
    }
}
