//! Claimed names in the file.

use std::time::Duration;

use async_trait::async_trait;
use redb::{AccessGuard, ReadableTable as _, WriteTransaction};

use crate::embedded::open::Store;
use crate::embedded::table::{CLAIMS, Text, broken};
use crate::settings::millis;
use crate::{Claimed, Claims, StoreError, settings};
use ghost_base::Timestamp;

#[async_trait]
impl Claims for Store {
    async fn claimed(&self, name: &str) -> Result<Option<String>, StoreError> {
        let (name, now) = (name.to_owned(), self.now().as_millis());
        self.look(move |read| {
            let claims = read.open_table(CLAIMS).map_err(broken)?;
            Ok(held(claims.get(name.as_str()).map_err(broken)?, now))
        })
        .await
    }

    async fn claim(
        &self,
        name: &str,
        expected: Option<&str>,
        value: &str,
        ttl: Duration,
    ) -> Result<Claimed, StoreError> {
        settings::fits([name, value])?;
        let (name, value) = (name.to_owned(), value.to_owned());
        let expected = expected.map(str::to_owned);
        self.write(move |write, now| {
            let mut claims = write.open_table(CLAIMS).map_err(broken)?;
            let held = held(claims.get(name.as_str()).map_err(broken)?, now.as_millis());
            if held != expected {
                return Ok(Claimed::Held(held));
            }
            let until = now.as_millis().saturating_add(millis(ttl).max(1));
            claims.insert(name.as_str(), (until, value.as_str())).map_err(broken)?;
            Ok(Claimed::Set)
        })
        .await
    }
}

/// Returns what a row says, if its time is not over.
fn held(row: Option<AccessGuard<'_, (i64, Text)>>, now: i64) -> Option<String> {
    let row = row?;
    let (until, value) = row.value();
    (until > now).then(|| value.to_owned())
}

/// Forgets the names whose time is over.
pub(super) fn forget(write: &WriteTransaction, now: Timestamp) -> Result<(), StoreError> {
    let mut claims = write.open_table(CLAIMS).map_err(broken)?;
    claims.retain(|_, (until, _)| until > now.as_millis()).map_err(broken)
}
