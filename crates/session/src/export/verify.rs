//! Whether an export is what was written.

use std::collections::BTreeSet;

use crate::export::Export;
use ghost_base::Digest;
use ghost_investigate::event::{Content, Event, LedgerError, Recorded, read};
use ghost_investigate::state::{FoldError, State};
use ghost_investigate::tool::Evidence;

/// Why an export is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    /// Its events are no ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Its last event is not the one that its header names.
    #[error("the header names another last event than event {events}")]
    Head {
        /// How many events there are.
        events: u64,
    },
    /// A text is not the one that was observed.
    #[error("the evidence {digest} was changed")]
    Evidence { digest: Digest },
    /// A text is there that nobody observed.
    #[error("no event names the evidence {digest}")]
    Unnamed { digest: Digest },
    /// Its events are no session.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

impl Export {
    /// Checks the chain, its head and the texts behind observations.
    ///
    /// # Errors
    /// Says what is not as it was written.
    pub fn verify(&self) -> Result<Vec<Recorded>, Unsound> {
        let recorded = read(&self.session, self.ledger.iter().map(String::as_str))?;
        if recorded.last().is_none_or(|last| last.hash != self.head) {
            return Err(Unsound::Head { events: recorded.last().map_or(0, |last| last.seq) });
        }
        let named = named(&recorded);
        for (digest, text) in &self.evidence {
            if Digest::of(text) != *digest {
                return Err(Unsound::Evidence { digest: *digest });
            }
            if !named.contains(digest) {
                return Err(Unsound::Unnamed { digest: *digest });
            }
        }
        Ok(recorded)
    }

    /// Checks also that the events are a session, or what is left of one that was erased; returns its state.
    ///
    /// # Errors
    /// Says what is not as it was written.
    pub fn session(&self) -> Result<Option<State>, Unsound> {
        let recorded = self.verify()?;
        if is_erased(&recorded) {
            return Ok(None);
        }
        Ok(Some(State::fold(&self.session, &recorded)?))
    }
}

/// Tells whether nothing but the chain is left.
pub(crate) fn is_erased(recorded: &[Recorded]) -> bool {
    recorded.iter().all(|event| event.content == Content::Erased)
}

/// Returns the texts that events name.
pub(crate) fn named(recorded: &[Recorded]) -> BTreeSet<Digest> {
    let digest = |recorded: &Recorded| {
        let Content::Known(event) = &recorded.content else { return None };
        if let Event::Observed(observed) = event.as_ref() {
            return Some(observed.digest);
        }
        let Event::Done(done) = event.as_ref() else { return None };
        done.evidence.as_deref()?.parse().ok()
    };
    recorded.iter().filter_map(digest).collect()
}

impl Evidence for Export {
    fn text(&self, digest: &str) -> Option<String> {
        self.evidence.get(&digest.parse().ok()?).cloned()
    }
}
