//! What both programs of a connection do.

/// What both programs do.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::host::simulated::wire) struct Script {
    /// What is asked and answered, one after the other.
    pub(in crate::host::simulated::wire) turns: Vec<Turn>,
    /// After so long the one who began goes away; nanoseconds.
    pub(in crate::host::simulated::wire) patience: u64,
    /// The most packets.
    pub(in crate::host::simulated::wire) most: usize,
}

/// A question and its answer, in bytes; times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::host::simulated::wire) struct Turn {
    /// The question.
    pub(in crate::host::simulated::wire) request: u64,
    /// How long the other side thinks.
    pub(in crate::host::simulated::wire) think: u64,
    /// The answer.
    pub(in crate::host::simulated::wire) answer: u64,
}
