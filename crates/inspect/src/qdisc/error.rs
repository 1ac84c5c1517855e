//! Why nothing could be read at all.

/// Why a text is no answer of `tc`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing in it.
    #[error("there is nothing in it")]
    Empty,
    /// It is larger than anything that `tc` prints.
    #[error("it has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The most bytes that are read.
        limit: usize,
    },
    /// A JSON document ends early or is none.
    #[error("line {line}: this JSON cannot be read, or it was cut off: {what}")]
    Json {
        /// Where the document begins or fails.
        line: usize,
        /// What the reader says.
        what: String,
    },
    /// No line of it is a queueing discipline, a class or a filter.
    #[error("no line of it is a qdisc, a class or a filter as `tc` shows them")]
    Foreign,
}
