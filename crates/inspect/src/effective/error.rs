//! Why a file is refused as a whole.

use crate::net::DocumentError;

/// Why a file is refused as a whole.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is no document.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The document is another one.
    #[error("the document is no {expected}")]
    WrongKind {
        /// What was expected.
        expected: &'static str,
    },
    /// The file says that it is sealed, and it does not end as sealed files do.
    #[error("the file was changed or cut off: its digest is missing")]
    Unsealed,
    /// The content is not what was sealed.
    #[error("the file was changed: it says that its digest is {recorded}, and it is {found}")]
    Changed {
        /// The digest that stands in the file.
        recorded: String,
        /// The digest of what stands before it.
        found: String,
    },
    /// A digest inside the file does not follow from what it covers.
    #[error("the file contradicts itself: {what} does not follow from what it covers")]
    Contradiction {
        /// The digest.
        what: String,
    },
    /// A newer program wrote the file.
    #[error("the file has the form {found}, and this program reads the form {known}")]
    Version {
        /// The form of the file.
        found: u64,
        /// The form that is known.
        known: u64,
    },
    /// A sealed file lacks a field, or has one that cannot be read.
    #[error("the sealed file cannot be read")]
    Field(#[source] serde_json::Error),
    /// The list is longer than that of any subscription.
    #[error("the bundle lists more than {most} network interfaces")]
    TooMany {
        /// How many are read.
        most: usize,
    },
    /// There is nothing that a later state could be compared with.
    #[error("no network interface could be read completely, so this is no baseline")]
    NothingRead,
    /// Only what is clean can be certified.
    #[error("only a clean comparison can be certified, and this one is {status}")]
    NotClean {
        /// What it is.
        status: &'static str,
    },
    /// A file is not the one that was certified.
    #[error("the {which} is not the one that was certified: it has the digest {found}, not {certified}")]
    NotCovered {
        /// Which of the two.
        which: &'static str,
        /// Its digest.
        found: String,
        /// The certified digest.
        certified: String,
    },
    /// The certified comparison comes out otherwise.
    #[error("compared again, the two snapshots are {status}, not CLEAN")]
    NotRepeated {
        /// What it came to.
        status: &'static str,
    },
}
