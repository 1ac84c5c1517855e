//! Short answers to one person.

/// An order in a thread where nothing is being looked at.
pub const NO_SESSION: &str = "I am not investigating anything in this thread. Mention me with what is wrong.";

/// A message that is no symptom any more.
pub const TOO_LONG: &str = "That is too long. Say what is wrong in a few sentences.";

/// Words while it works.
pub const NOTED: &str = "Noted. I take it into account with the next step.";

/// Words behind the report.
pub const GOES_ON: &str = "I go on from what is recorded so far.";

/// A decision that was typed where nothing asks.
pub const NOTHING_WAITS: &str = "Nothing waits for an approval in this thread.";

/// A stop of something that is over.
pub const OVER_ALREADY: &str = "This investigation is over; its answer stands in this thread.";

/// A stop before anything began.
pub const STOPPING: &str = "Stopping. It had not begun yet.";
