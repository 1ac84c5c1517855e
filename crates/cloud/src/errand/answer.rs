//! What came of a command.

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It ran.
    Ran {
        /// Its exit code.
        exit: Option<i32>,
        /// All that it printed.
        stdout: String,
        /// And as an error.
        stderr: String,
    },
    /// A human said no, or nobody answered.
    Denied {
        /// Why.
        reason: String,
        /// The question was about all commands of the plan.
        all: bool,
    },
    /// The policy forbids it.
    Refused {
        /// Why.
        reason: String,
    },
    /// It could not be started.
    NotRun {
        /// Why.
        reason: String,
    },
    /// It was cut off: nobody knows whether it took effect.
    Unknown {
        /// By what.
        reason: String,
    },
}
