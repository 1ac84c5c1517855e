//! How an engine waits for a moment.

use std::sync::Arc;

use async_trait::async_trait;

use ghost_base::{Clock, Timestamp};

/// Waits for a moment. It may be given up before it comes.
#[async_trait]
pub trait Sleep: Send + Sync {
    /// Returns when it has come.
    async fn until(&self, at: Timestamp);
}

/// Waits as long as a clock says.
#[derive(Clone)]
pub struct Asleep(Arc<dyn Clock>);

impl Asleep {
    /// Takes the clock.
    #[must_use]
    pub fn by(clock: Arc<dyn Clock>) -> Self {
        Self(clock)
    }
}

#[async_trait]
impl Sleep for Asleep {
    async fn until(&self, at: Timestamp) {
        tokio::time::sleep(at.since(self.0.now())).await;
    }
}
