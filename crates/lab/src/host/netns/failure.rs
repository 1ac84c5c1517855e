//! What failed, for whoever asked.

use std::fmt::Display;

use crate::host::exec::{ExecError, Output, ProcessRequest};
use crate::host::port::HostError;

/// Says what failed.
pub(super) fn failed(what: &str, error: impl Display) -> HostError {
    HostError::Failed { what: what.to_owned(), error: error.to_string() }
}

impl From<ExecError> for HostError {
    fn from(error: ExecError) -> Self {
        let told = error.to_string();
        match error {
            ExecError::Missing(..) | ExecError::Refused(_) => Self::Lacking(told),
            ExecError::Failed { what, source } => Self::Failed { what, error: source.to_string() },
        }
    }
}

/// Runs an order of the lab's own, which has to succeed.
pub(super) fn must(what: &str, order: ProcessRequest) -> Result<Output, HostError> {
    let output = order.run()?;
    if output.code == 0 {
        return Ok(output);
    }
    let told = if output.late { "it took too long" } else { output.err.trim() };
    Err(failed(what, told.chars().take(600).collect::<String>()))
}
