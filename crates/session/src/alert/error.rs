//! Why a request is no alert.

/// Why a request is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// Nothing in the request says whose it is.
    #[error("the request has neither a token nor a signature that this source uses")]
    Missing,
    /// What it says is not right.
    #[error("the token or the signature is not that of this source")]
    Wrong,
    /// A signature that is older than five minutes, or from a clock that is wrong.
    #[error("the signature is more than five minutes away from now")]
    Stale,
}

/// Why a body is no alert.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AlertError {
    /// It is no JSON.
    #[error("the body is no JSON that can be read: {0}")]
    Json(String),
    /// It is not what this sender writes.
    #[error("the body is not what {sender} sends: {what}")]
    Form {
        sender: &'static str,
        /// What is missing or wrong.
        what: &'static str,
    },
}
