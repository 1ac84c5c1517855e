//! Short answers to one person.

/// An order in a thread where nothing is being looked at.
pub const NO_SESSION: &str = "I am not investigating anything in this thread. Mention me with what is wrong.";

/// A message that is no symptom any more.
pub const TOO_LONG: &str = "That is too long for me. Say in a few sentences what is wrong.";

/// Words while it works.
pub const NOTED: &str = "Noted. I take it into account from the next step on.";

/// Words behind the report.
pub const GOES_ON: &str = "On it. I go on from what I have read so far.";

/// A decision that was typed where nothing asks.
pub const NOTHING_WAITS: &str = "Nothing in this thread waits for an approval.";

/// A stop of something that is over.
pub const OVER_ALREADY: &str = "This investigation is over. Its answer is above in this thread.";

/// The message that asked is gone.
pub const DELETED: &str = "The message that asked me was deleted, so I stopped. Nothing more runs for it.";

/// A stop before anything began.
pub const STOPPING: &str = "Stopping. It had not begun yet.";
