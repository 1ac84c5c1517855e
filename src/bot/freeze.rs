//! Holding everything back: one flag that every replica reads before a command begins.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use ghost_base::Timestamp;
use ghost_session::FreezeCheck;
use ghost_store::{Store, StoreError};

const FLAG: &str = "freeze";

/// Who holds everything back, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freeze {
    pub who: String,
    /// Why, in their words.
    pub why: String,
    /// Since when, RFC 3339.
    pub since: String,
}

impl Freeze {
    /// Describes a freeze that begins.
    #[must_use]
    pub fn new(who: &str, why: &str, now: Timestamp) -> Self {
        Self { who: who.to_owned(), why: why.to_owned(), since: now.to_string() }
    }

    /// Returns the freeze that holds now. A flag that cannot be read holds, too: somebody set it.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    pub async fn current(store: &dyn Store) -> Result<Option<Self>, StoreError> {
        let Some(text) = store.flag(FLAG).await? else { return Ok(None) };
        Ok(Some(serde_json::from_str(&text).unwrap_or_else(|_| Self {
            who: "somebody".to_owned(),
            why: "the flag cannot be read".to_owned(),
            since: "an unknown time".to_owned(),
        })))
    }

    /// Holds everything back.
    ///
    /// # Errors
    /// Fails where the store cannot be reached; then nobody knows whether it holds.
    pub async fn set(&self, store: &dyn Store) -> Result<(), StoreError> {
        let text = serde_json::to_string(self).unwrap_or_default();
        store.set_flag(FLAG, Some(&text)).await
    }

    /// Lets everything go on.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    pub async fn lift(store: &dyn Store) -> Result<(), StoreError> {
        store.set_flag(FLAG, None).await
    }
}

/// Reads the flag before each command.
pub struct StoreFreezeCheck(pub Arc<dyn Store>);

#[async_trait]
impl FreezeCheck for StoreFreezeCheck {
    async fn frozen(&self) -> Option<String> {
        match Freeze::current(self.0.as_ref()).await {
            Ok(None) => None,
            Ok(Some(freeze)) => Some(format!("commands frozen by {} since {}", freeze.who, freeze.since)),
            Err(error) => Some(format!("freeze state unknown: {error}")),
        }
    }
}
