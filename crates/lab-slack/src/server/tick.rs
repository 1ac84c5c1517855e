//! The passing of time: what was scheduled is posted, and what is too old vanishes, although nobody calls.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::server::Inner;

/// How often is looked whether something is due.
const TICK: Duration = Duration::from_millis(250);

/// Does what is due, as long as the server runs.
pub(crate) async fn tick(inner: Arc<Inner>) {
    loop {
        sleep(TICK).await;
        let due = inner.workspace().is_due(inner.clock.now());
        if due {
            // Every act begins or ends with what is due.
            inner.act(|_, _| ());
        }
    }
}
