//! Captures: `tcpdump` in the machine's namespace, from its own word that it listens to Ctrl-C.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use super::bpf;
use super::name::Namespace;
use super::program::failed;
use crate::host::exec::{ProcessRequest, Running};
use crate::host::port::{CaptureOrder, HostError};

/// How long `tcpdump` may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes that are handed out.
const MAX_CAPTURE_BYTES: u64 = 256 << 20;

/// A capture that runs.
#[derive(Debug)]
pub(super) struct Capture {
    running: Running,
    file: PathBuf,
    most: u64,
}

impl Capture {
    /// Begins one; when this returns, every packet is seen.
    pub(super) fn begin(space: &Namespace, order: &CaptureOrder, file: PathBuf) -> Result<Self, HostError> {
        let expression = bpf::expression(&order.filters)?;
        let snaplen = order.snaplen.min(262_144).to_string();
        // It would give up its rights and then could not write; in the lab's folder nobody else reads.
        let mut words =
            vec!["-i", "eth0", "-n", "-U", "--immediate-mode", "-Z", "root", "-s", &snaplen, "-w", "-"];
        if !expression.is_empty() {
            words.push(&expression);
        }
        let into = File::create(&file).map_err(|error| failed("the capture's file", error))?;
        let mut running = ProcessRequest::own("tcpdump", &words)?.within(space).start(Some(into))?;
        if !running.says("listening on", START_TIMEOUT) {
            let stderr = running.interrupt().err;
            return Err(failed("tcpdump", stderr.trim()));
        }
        let most = if order.most == 0 { MAX_CAPTURE_BYTES } else { order.most.min(MAX_CAPTURE_BYTES) };
        Ok(Self { running, file, most })
    }

    /// Ends it and returns its file.
    pub(super) fn end(self) -> Result<Vec<u8>, HostError> {
        drop(self.running.interrupt());
        let bytes = fs::read(&self.file).map_err(|error| failed("the capture's file", error));
        drop(fs::remove_file(&self.file));
        bytes.map(|bytes| whole(bytes, self.most))
    }
}

/// Cuts a capture after the last packet that fits.
fn whole(mut bytes: Vec<u8>, most: u64) -> Vec<u8> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut end = 24;
    while let Some(kept) = bytes.get(end..).and_then(|rest| rest.get(8..12)?.first_chunk::<4>().copied()) {
        let length = usize::try_from(u32::from_ne_bytes(kept)).unwrap_or(usize::MAX);
        let next = end.saturating_add(16).saturating_add(length);
        if next > bytes.len().min(most) {
            break;
        }
        end = next;
    }
    bytes.truncate(end);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_ends_after_a_whole_packet() {
        let mut file = vec![0_u8; 24];
        for length in [10_u32, 20, 30] {
            file.extend([0; 8]);
            file.extend(length.to_ne_bytes());
            file.extend(length.to_ne_bytes());
            file.resize(file.len() + usize::try_from(length).unwrap(), 7);
        }
        assert_eq!(whole(file.clone(), u64::MAX).len(), 132);
        assert_eq!(whole(file.clone(), 131).len(), 86);
        assert_eq!(whole(file[..100].to_vec(), u64::MAX).len(), 86);
        assert_eq!(whole(file[..30].to_vec(), 1), file[..24]);
        assert!(whole(Vec::new(), 1).is_empty());
    }
}
