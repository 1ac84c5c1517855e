//! The link through the store: what the bot itself reads and writes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::link::{Link, LinkError, StandingQuery, check, session_of};
use crate::InboxMessage;
use ghost_base::{Clock, SessionId};
use ghost_investigate::event::{Attended, Outside, OutsideRequest, TakeRequested, read};
use ghost_investigate::outside::{Standing, standing};
use ghost_investigate::state::State;
use ghost_store::{Item, Store, StoreError};

/// How often a ledger is looked at while somebody waits for it.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// One caller's requests, in the store.
#[derive(Clone)]
pub struct StoreLink {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    caller: String,
    owner: Option<String>,
}

impl StoreLink {
    /// Takes the store, who asks, and the person whose agents these are.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, caller: &str, owner: Option<String>) -> Self {
        Self { store, clock, caller: caller.to_owned(), owner }
    }

    async fn deliver(&self, id: &SessionId, key: &str, message: &InboxMessage) -> Result<(), LinkError> {
        let text = message.stamped(self.clock.now());
        let text = text.map_err(|error| LinkError::Refused(error.to_string()))?;
        self.store.deliver(id, key, &text).await.map(drop).map_err(|error| unreachable(&error))
    }

    /// Reads the session of a request; nothing where this caller has none of that name.
    async fn state(&self, id: &SessionId) -> Result<Option<State>, LinkError> {
        let lines = self.store.read(id, 0).await.map_err(|error| unreachable(&error))?;
        let recorded = read(id, lines.iter().map(String::as_str)).ok();
        let state = recorded.and_then(|recorded| State::fold(id, &recorded).ok());
        let own =
            |state: &State| state.opened.outside.as_ref().is_some_and(|asked| asked.caller == self.caller);
        Ok(state.filter(own))
    }

    /// Tells whether a request of this caller waits to be opened.
    async fn is_queued(&self, id: &SessionId) -> Result<bool, LinkError> {
        let items = self.store.inbox(id).await.map_err(|error| unreachable(&error))?;
        Ok(items.iter().any(|item| match item {
            Item::Delivered(text) => {
                matches!(serde_json::from_str(text), Ok(InboxMessage::Ask(asked)) if asked.caller == self.caller)
            }
            Item::Closed(_) => false,
        }))
    }

    async fn now(&self, id: &SessionId) -> Result<Option<Standing>, LinkError> {
        match self.state(id).await? {
            Some(state) => Ok(Some(standing(&state))),
            None if self.is_queued(id).await? => Ok(Some(Standing::Queued)),
            // It may have been opened in between.
            None => Ok(self.state(id).await?.as_ref().map(standing)),
        }
    }
}

#[async_trait]
impl Link for StoreLink {
    async fn ask(&self, nonce: &str, request: &OutsideRequest) -> Result<SessionId, LinkError> {
        check(request)?;
        let id = session_of(&self.caller, nonce);
        let asked =
            Outside { caller: self.caller.clone(), owner: self.owner.clone(), request: request.clone() };
        self.deliver(&id, "ask", &InboxMessage::Ask(Box::new(asked))).await?;
        Ok(id)
    }

    async fn standing(&self, id: &SessionId, query: StandingQuery) -> Result<Option<Standing>, LinkError> {
        let end = tokio::time::Instant::now() + query.wait;
        loop {
            let found = self.now(id).await?;
            let settled = match &found {
                Some(Standing::Queued | Standing::Waiting { .. }) => false,
                Some(Standing::Granted { .. }) => !query.beyond_granted,
                Some(_) | None => true,
            };
            let left = end.saturating_duration_since(tokio::time::Instant::now());
            if settled || left.is_zero() {
                return Ok(found);
            }
            tokio::time::sleep(POLL_INTERVAL.min(left)).await;
        }
    }

    async fn take(&self, id: &SessionId, key: &str) -> Result<(), LinkError> {
        if self.state(id).await?.is_none() {
            return Err(LinkError::Refused("there is no such request".to_owned()));
        }
        let asked = TakeRequested { key: key.to_owned() };
        self.deliver(id, &format!("take {key}"), &InboxMessage::Take(asked)).await
    }

    async fn attend(&self, id: &SessionId, waits: bool) -> Result<(), LinkError> {
        let Some(state) = self.state(id).await? else { return Ok(()) };
        // Each change is a message of its own; the same one twice is one.
        let key = format!("attend {} {waits}", state.seq);
        self.deliver(id, &key, &InboxMessage::Attend(Attended { waits })).await
    }
}

fn unreachable(error: &StoreError) -> LinkError {
    LinkError::Unreachable(error.to_string())
}
