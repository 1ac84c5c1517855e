//! Deliveries in the file.

use async_trait::async_trait;
use redb::ReadableTable as _;

use crate::embedded::open::Store;
use crate::embedded::table::{ITEMS, SEEN, broken, push};
use crate::{Delivered, Inbox, Item, StoreError, item, settings};
use ghost_base::SessionId;

#[async_trait]
impl Inbox for Store {
    async fn deliver(&self, session: &SessionId, key: &str, item: &str) -> Result<Delivered, StoreError> {
        settings::fits([key, item])?;
        let (session, key, item) = (session.clone(), key.to_owned(), item::delivered(item));
        let remember = self.settings.remember();
        let delivered = self
            .write(move |write, now| {
                let mut seen = write.open_table(SEEN).map_err(broken)?;
                let text = session.as_str();
                let end = format!("{text}\0");
                let now_ms = now.as_millis();
                seen.retain_in((text, "")..(end.as_str(), ""), |_, until| until > now_ms).map_err(broken)?;
                if seen.get((text, key.as_str())).map_err(broken)?.is_some() {
                    return Ok(Delivered::Seen);
                }
                seen.insert((text, key.as_str()), now.plus(remember).as_millis()).map_err(broken)?;
                push(write, &session, &item, now)?;
                Ok(Delivered::New)
            })
            .await?;
        self.wake.notify_one();
        Ok(delivered)
    }

    async fn inbox(&self, session: &SessionId) -> Result<Vec<Item>, StoreError> {
        let session = session.clone();
        self.look(move |read| {
            let items = read.open_table(ITEMS).map_err(broken)?;
            let rows = items.range((session.as_str(), 0)..=(session.as_str(), u64::MAX)).map_err(broken)?;
            rows.map(|row| row.map_err(broken).and_then(|(_, text)| item::parse(text.value()))).collect()
        })
        .await
    }
}
