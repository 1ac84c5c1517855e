//! Why documents cannot be read, and why a question cannot be answered from them.

use crate::net::DocumentError;

/// Why a document as a whole cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is empty, cut off, no JSON, or too large.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// It holds neither a list nor an object of Kubernetes.
    #[error("the document holds no object of Kubernetes: it has no kind")]
    NoObject,
    /// It is the answer to a call that failed.
    #[error("the document is the answer to a call that failed: {message}")]
    Failed {
        /// What the server says.
        message: String,
    },
    /// It is one part of a longer list.
    #[error("the document is a part of a longer list, of which the rest is missing (metadata.continue)")]
    Part,
    /// Two documents say different things of one object.
    #[error("two documents differ about {object}: they were not read at one time")]
    Differs {
        /// The object.
        object: String,
    },
    /// The rules of a node cannot be read.
    #[error("the rules of the node cannot be read: {why}")]
    Rules {
        /// Why.
        why: String,
    },
}

/// Why a question cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// An end is written in another form.
    #[error("`{text}` is not {expected}")]
    Form {
        /// What was written.
        text: String,
        /// What was expected.
        expected: &'static str,
    },
    /// There is no such pod or service in the documents.
    #[error("the documents hold no {object}")]
    Missing {
        /// What was asked for.
        object: String,
    },
    /// It may be among what could not be read.
    #[error("the documents hold no {object} that could be read; not read: {first}")]
    Unread {
        /// What was asked for.
        object: String,
        /// The first of what could not be read.
        first: String,
    },
    /// A pod and a service have the name.
    #[error("{name} is the name of a service and of a pod")]
    Ambiguous {
        /// The name, with its namespace.
        name: String,
    },
}
