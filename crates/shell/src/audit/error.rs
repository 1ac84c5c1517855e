//! Why an audit file could not be opened or continued.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::audit::Broken;

/// Why an audit file could not be opened or continued. After each of them the caller runs nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("{doing} {}", path.display())]
    Io {
        /// What was being done, as a gerund.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A link stands where the file should: somebody would choose what we write to.
    #[error("{} is a link, and an audit file never is", path.display())]
    Link {
        /// The file.
        path: PathBuf,
    },
    /// A folder, pipe or device stands where the file should.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// Another process holds the file's lock.
    #[error("{} was locked by another process for {} s", path.display(), waited.as_secs())]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
    /// A record is not what was written: the log must not be continued as if nothing had happened.
    #[error("record {record} of {} was tampered with", path.display())]
    Tampered {
        /// The file.
        path: PathBuf,
        /// The number that the first bad record has or should have.
        record: u64,
        /// What is wrong with it.
        #[source]
        broken: Broken,
    },
    /// The file lost bytes that we have seen.
    #[error("{} shrank from {was} to {is} bytes", path.display())]
    Shrank {
        /// The file.
        path: PathBuf,
        /// How long it was.
        was: u64,
        /// How long it is.
        is: u64,
    },
    /// The path names another file than the one we opened, or none.
    #[error("{} was replaced or removed", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// The entry would make a line that no reader accepts.
    #[error("the record cannot be written")]
    Unwritable {
        /// What its reader would say.
        #[source]
        broken: Broken,
    },
}

impl Error {
    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}
