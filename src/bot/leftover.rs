//! Captures that sessions left behind: the port to whatever finds them.

use async_trait::async_trait;

use ghost_base::{SessionId, Timestamp};
use ghost_investigate::symptom_text::LeftBehind;

/// A capture that is provably ours and whose session is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its name in the cloud.
    pub name: String,
    /// The session that began it.
    pub session: SessionId,
    /// The machine whose packets it holds.
    pub machine: String,
    /// When it began.
    pub began: Timestamp,
}

/// Knows what is left over. People wait for the answer: it is what was found last.
#[async_trait]
pub trait Leftovers: Send + Sync {
    /// Returns what is left over, the oldest first.
    async fn list(&self) -> Vec<Leftover>;
}

/// Where nothing takes captures, none is left over.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLeftovers;

#[async_trait]
impl Leftovers for NoLeftovers {
    async fn list(&self) -> Vec<Leftover> {
        Vec::new()
    }
}

impl Leftover {
    /// Says what is to be done about it, as the symptom of a session: whatever it takes is asked there, as always.
    #[must_use]
    pub fn task(&self) -> String {
        let left = LeftBehind { capture: self.name.clone(), machine: self.machine.clone() };
        left.wish(self.session.as_str())
    }
}
