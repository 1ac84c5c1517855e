//! Claimed names in Redis: a key each, which ends by itself.

use std::time::Duration;

use async_trait::async_trait;

use crate::redis::connect::Store;
use crate::settings::millis;
use crate::{Claimed, Claims, StoreError, settings};

#[async_trait]
impl Claims for Store {
    async fn claimed(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.ask(redis::cmd("GET").arg(self.keys.claim(name))).await
    }

    async fn claim(
        &self,
        name: &str,
        expected: Option<&str>,
        value: &str,
        ttl: Duration,
    ) -> Result<Claimed, StoreError> {
        settings::fits([name, value])?;
        let mut script = self.scripts.name.prepare_invoke();
        script
            .key(self.keys.claim(name))
            .arg(i32::from(expected.is_some()))
            .arg(expected.unwrap_or_default());
        script.arg(value).arg(millis(ttl).max(1));
        let answer: Vec<String> = self.run(&script).await?;
        Ok(match answer.as_slice() {
            [] => Claimed::Set,
            [there, held, ..] if there == "1" => Claimed::Held(Some(held.clone())),
            [..] => Claimed::Held(None),
        })
    }
}
