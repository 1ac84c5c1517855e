//! Captures that sessions left behind, looked for from time to time: people see what was found last.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::cli::capture::{LeftoverCapture, left_behind};
use ghost_agent::bot::{Leftover, Leftovers};
use ghost_base::SessionId;
use ghost_tools::name::new_session;
use ghost_tools::setup::Setup;

/// How often the search runs; no capture lasts longer than five hours.
const EVERY: Duration = Duration::from_secs(900);

/// What was found last.
#[derive(Debug, Default)]
pub(super) struct FoundLast(Mutex<Vec<Leftover>>);

impl FoundLast {
    /// Searches periodically until the work ends.
    pub(super) async fn beside<T>(&self, setup: &Arc<Setup>, work: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = work => done,
            never = self.look_on(setup) => match never {},
        }
    }

    async fn look_on(&self, setup: &Setup) -> Infallible {
        // One audit file for all searches.
        let session = new_session("capture");
        loop {
            match &session {
                Ok(session) => self.look(setup, session).await,
                Err(error) => tracing::debug!("search for leftover captures failed: {error}"),
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn look(&self, setup: &Setup, session: &SessionId) {
        let mut found: Vec<Leftover> = match left_behind(setup, session).await {
            Ok(left) => left.into_iter().map(leftover).collect(),
            Err(error) => {
                tracing::debug!("search for leftover captures failed: {error}");
                return;
            }
        };
        found.sort_by_key(|left| left.began);
        let names = |all: &[Leftover]| all.iter().map(|left| left.name.clone()).collect::<Vec<_>>();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<String> =
            names(&found).into_iter().filter(|name| !names(&last).contains(name)).collect();
        if !new.is_empty() {
            tracing::warn!(
                "left behind: {}; the Home tab and `ghost capture orphans` say what can be done",
                new.join(", ")
            );
        }
        *last = found;
    }
}

fn leftover(left: LeftoverCapture) -> Leftover {
    Leftover { name: left.name, session: left.session, machine: left.machine, began: left.since }
}

#[async_trait]
impl Leftovers for FoundLast {
    async fn list(&self) -> Vec<Leftover> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
