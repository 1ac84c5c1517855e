//! Captures: begun on machines when the cloud says so, stored when they are over.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tracing::warn;

use super::lab::Lab;
use crate::azure::CaptureTrouble;
use crate::host::{HostError, Script, ScriptTransport};
use ghost_base::Clock as _;

/// The largest file that is put on a machine.
const MAX_FILE_BYTES: usize = 8 << 20;

impl Lab {
    /// Begins the captures that are to begin, and stores those that are over.
    pub(super) async fn captures(&self) {
        let mut begun = self.begun.lock().await;
        self.end(&mut begun).await;
        let running = self.cloud().captures_running(self.clock().now());
        for capture in running {
            if begun.contains(&capture.id) {
                continue;
            }
            match self.host().capture(&capture.id, capture.order).await {
                Ok(()) => drop(begun.insert(capture.id)),
                Err(error) => {
                    warn!("a capture does not begin: {error}");
                    self.cloud().capture_failed(&capture.id, trouble(&error), self.clock().now());
                }
            }
        }
    }

    async fn end(&self, begun: &mut BTreeSet<String>) {
        let due = self.cloud().captures_due(self.clock().now());
        for id in due {
            begun.remove(&id);
            let stored = match self.host().captured(&id).await {
                Err(error) => {
                    warn!("a capture has no file: {error}");
                    self.cloud().capture_failed(&id, trouble(&error), self.clock().now());
                    continue;
                }
                Ok(bytes) => {
                    self.cloud().store_capture(&id, &bytes, self.clock().now()).map(|kept| (kept, bytes))
                }
            };
            match stored {
                Ok((kept, bytes)) => {
                    if let Some((machine, path)) = kept.file {
                        self.put(&machine, path, &bytes).await;
                    }
                }
                Err(error) => warn!("a capture is not stored: {error}"),
            }
        }
    }

    /// Writes a file on a machine, where its owner wanted the capture.
    async fn put(&self, machine: &str, path: String, bytes: &[u8]) {
        if bytes.len() > MAX_FILE_BYTES {
            warn!("a capture of {} bytes is too large to be put on {machine}", bytes.len());
            return;
        }
        let text = format!(
            "mkdir -p \"$(dirname \"$1\")\"\nbase64 -d > \"$1\" <<'END'\n{}\nEND",
            STANDARD.encode(bytes)
        );
        let script =
            Script { text, arguments: vec![path], variables: Vec::new(), transport: ScriptTransport::Ssh };
        if let Err(error) = self.host().run(machine, &script).await {
            warn!("a capture is not put on {machine}: {error}");
        }
    }
}

fn trouble(error: &HostError) -> CaptureTrouble {
    match error {
        HostError::Off(_) | HostError::Silent(_) => CaptureTrouble::Agent,
        HostError::Unknown(_) | HostError::Lacking(_) | HostError::Failed { .. } => CaptureTrouble::Capture,
    }
}
