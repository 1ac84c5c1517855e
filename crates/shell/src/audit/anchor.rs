//! Where the head of a chain is noted besides the chain itself.
//!
//! A chain on one disk proves nothing against whoever owns that disk: they can write a new one from its first record
//! on, every hash right. A head that somebody else holds, noted while it was the last, cannot be made to fit such a
//! forgery, and it shows a tail that was cut off. So the head goes to another file, another log or another machine.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::audit::open;
use ghost_base::{Clock, Digest, SessionId};

/// Notes the heads of chains outside their files.
pub trait Anchor: Send + Sync {
    /// Notes that record `seq` of `session` was the last one, and that its hash is `head`.
    ///
    /// # Errors
    /// Fails where the head could not be noted; whether that stops a command is the caller's rule.
    fn record(&self, session: &SessionId, seq: u64, head: &Digest) -> io::Result<()>;
}

/// Notes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAnchor;

impl Anchor for NoAnchor {
    fn record(&self, _: &SessionId, _: u64, _: &Digest) -> io::Result<()> {
        Ok(())
    }
}

/// Appends a line `TIME SESSION SEQ HEAD` to a private file, best on another disk than the log's.
pub struct FileAnchor {
    path: PathBuf,
    clock: Arc<dyn Clock>,
}

impl FileAnchor {
    /// Notes heads in the file at `path`, which is made where it is missing.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { path: path.into(), clock }
    }
}

impl Anchor for FileAnchor {
    fn record(&self, session: &SessionId, seq: u64, head: &Digest) -> io::Result<()> {
        // Opened anew each time, so that the file may be rotated away.
        let mut file = open::for_appending(&self.path).map_err(io::Error::other)?;
        open::lock_for_writing(&file, &self.path).map_err(io::Error::other)?;
        let mut last = Vec::new();
        if file.metadata()?.len() > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_to_end(&mut last)?;
        }
        // A line that a crash cut short must not swallow this one.
        let close = if last.is_empty() || last == b"\n" { "" } else { "\n" };
        file.write_all(format!("{close}{} {session} {seq} {head}\n", self.clock.now()).as_bytes())?;
        file.sync_all()
    }
}

/// Sends a line to the system's log, which other users keep and which may forward it to another machine.
#[derive(Debug, Clone)]
pub struct SyslogAnchor {
    socket: PathBuf,
}

/// Facility `authpriv` (10), severity `notice` (5).
const PRIORITY: u8 = 10 * 8 + 5;
/// A log daemon that stands still must not hold up a command.
const SEND_TIMEOUT: Duration = Duration::from_secs(1);

impl SyslogAnchor {
    /// Sends to the datagram socket at `socket`.
    #[must_use]
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self { socket: socket.into() }
    }
}

/// Sends to `/dev/log`.
impl Default for SyslogAnchor {
    fn default() -> Self {
        Self::new("/dev/log")
    }
}

impl Anchor for SyslogAnchor {
    fn record(&self, session: &SessionId, seq: u64, head: &Digest) -> io::Result<()> {
        let socket = UnixDatagram::unbound()?;
        socket.set_write_timeout(Some(SEND_TIMEOUT))?;
        // RFC 3164 lets the daemon put the time and the host where a local sender leaves them out.
        let pid = std::process::id();
        let text = format!("<{PRIORITY}>ghost[{pid}]: audit session={session} seq={seq} head={head}");
        socket.send_to(text.as_bytes(), &self.socket).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_base::{ManualClock, Timestamp};
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn session() -> SessionId {
        "s1".parse().unwrap()
    }

    #[test]
    fn the_file_anchor_notes_time_session_number_and_head_privately() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("anchor/heads");
        let anchor = FileAnchor::new(&path, Arc::new(ManualClock::new(Timestamp::from_millis(0))));
        anchor.record(&session(), 1, &Digest::of("a")).unwrap();
        fs::write(&path, [fs::read(&path).unwrap(), b"1970-01-01T00".to_vec()].concat()).unwrap();
        anchor.record(&session(), 2, &Digest::of("b")).unwrap();
        let line = |seq, text| format!("1970-01-01T00:00:00.000Z s1 {seq} {}\n", Digest::of(text));
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            format!("{}1970-01-01T00\n{}", line(1, "a"), line(2, "b"))
        );
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_syslog_anchor_sends_one_datagram_that_a_log_daemon_reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let daemon = UnixDatagram::bind(&path).unwrap();
        SyslogAnchor::new(&path).record(&session(), 7, &Digest::of("a")).unwrap();
        let mut buffer = [0; 1024];
        let length = daemon.recv(&mut buffer).unwrap();
        let expected =
            format!("<85>ghost[{}]: audit session=s1 seq=7 head={}", std::process::id(), Digest::of("a"));
        assert_eq!(String::from_utf8_lossy(&buffer[..length]), expected);
    }

    #[test]
    fn a_missing_daemon_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(SyslogAnchor::new(folder.path().join("log")).record(&session(), 1, &Digest::of("")).is_err());
    }

    #[test]
    fn a_link_in_place_of_the_anchor_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heads");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
        let anchor = FileAnchor::new(&path, Arc::new(ManualClock::new(Timestamp::from_millis(0))));
        assert!(anchor.record(&session(), 1, &Digest::of("a")).is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }
}
