//! Deliveries in Redis.

use std::time::Duration;

use async_trait::async_trait;

use crate::redis::connect::Store;
use crate::settings::millis;
use crate::{Delivered, Inbox, Item, StoreError, item, settings};
use ghost_base::SessionId;

#[async_trait]
impl Inbox for Store {
    async fn deliver(&self, session: &SessionId, key: &str, item: &str) -> Result<Delivered, StoreError> {
        settings::fits([key, item])?;
        let mut script = self.scripts.deliver.prepare_invoke();
        script.key(self.keys.seen(session)).key(self.keys.inbox(session));
        script.arg(key).arg(item::delivered(item)).arg(millis(self.settings.remember()));
        // Side by side, as a server that syncs every write makes each round trip expensive. Whoever dies in between has
        // acknowledged nothing, and is asked again.
        let (marked, is_new) = tokio::join!(self.mark(session, Duration::ZERO), self.run::<bool>(&script));
        let is_new = is_new?;
        marked?;
        // A worker may have looked before the item was there. Also where it was seen: the first time the answer may have got lost
        // before this line.
        self.mark(session, Duration::ZERO).await?;
        self.wake.notify_one();
        Ok(if is_new { Delivered::New } else { Delivered::Seen })
    }

    async fn inbox(&self, session: &SessionId) -> Result<Vec<Item>, StoreError> {
        let items: Vec<String> =
            self.ask(redis::cmd("LRANGE").arg(self.keys.inbox(session)).arg(0).arg(-1)).await?;
        items.iter().map(|text| item::parse(text)).collect()
    }
}
