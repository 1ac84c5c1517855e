//! What a command needs from outside.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::azure::{Answer, Request};
use ghost_base::Timestamp;

/// Who answers requests; `base` says which service is asked.
pub type Wire<'a> = dyn FnMut(Request) -> Answer + 'a;

/// Nobody answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreachable(pub String);

/// What a command needs from outside: services, time, files.
pub trait Environment {
    /// Sends a request.
    ///
    /// # Errors
    /// Nobody answered, and why.
    fn ask(&mut self, request: Request) -> Result<Answer, Unreachable>;

    /// Waits between polls and before another try.
    fn pause(&mut self, time: Duration);

    /// Returns what time it is.
    fn now(&mut self) -> Timestamp;

    /// Reads a file that was named.
    ///
    /// # Errors
    /// As the system tells it.
    fn read(&mut self, path: &str) -> io::Result<Vec<u8>>;

    /// Writes a file that was named.
    ///
    /// # Errors
    /// As the system tells it.
    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()>;
}

/// Services in this process, a clock that stands, files in memory. Waiting takes no time and is counted.
pub struct MemoryEnvironment<'a> {
    /// Who answers.
    pub wire: &'a mut Wire<'a>,
    /// What time it is.
    pub now: Timestamp,
    /// What files there are.
    pub files: BTreeMap<String, Vec<u8>>,
    /// How long was waited, each time.
    pub waited: Vec<Duration>,
}

impl fmt::Debug for MemoryEnvironment<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Within")
            .field("now", &self.now)
            .field("files", &self.files.keys())
            .finish_non_exhaustive()
    }
}

impl<'a> MemoryEnvironment<'a> {
    /// Makes it from who answers and the time.
    #[must_use]
    pub fn new(wire: &'a mut Wire<'a>, now: Timestamp) -> Self {
        Self { wire, now, files: BTreeMap::new(), waited: Vec::new() }
    }
}

impl Environment for MemoryEnvironment<'_> {
    fn ask(&mut self, request: Request) -> Result<Answer, Unreachable> {
        Ok((self.wire)(request))
    }

    fn pause(&mut self, time: Duration) {
        self.waited.push(time);
    }

    fn now(&mut self) -> Timestamp {
        self.now
    }

    fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.files.insert(path.to_owned(), bytes.to_vec());
        Ok(())
    }
}
