//! Deliveries in Redis.

use std::time::Duration;

use async_trait::async_trait;

use crate::base::SessionId;
use crate::store::redis::connect::Store;
use crate::store::settings::millis;
use crate::store::{Delivered, Inbox, Item, StoreError, item, settings};

#[async_trait]
impl Inbox for Store {
    async fn deliver(&self, session: &SessionId, key: &str, item: &str) -> Result<Delivered, StoreError> {
        settings::fits([key, item])?;
        self.mark(session, Duration::ZERO).await?;
        let mut script = self.scripts.deliver.prepare_invoke();
        script.key(self.keys.seen(session)).key(self.keys.inbox(session));
        script.arg(key).arg(item::delivered(item)).arg(millis(self.settings.remember()));
        let is_new: bool = self.run(&script).await?;
        // Also where it was seen: the first time the answer may have got lost before this line.
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
