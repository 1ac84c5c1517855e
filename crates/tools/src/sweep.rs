//! What `[retention]` no longer keeps: in this data folder, and in that of each client that is served apart.

use std::fs;
use std::sync::Arc;

use crate::print::Hinted;
use crate::setup::{CLIENTS, Setup};
use ghost_base::{Clock as _, SessionId, SystemClock};
use ghost_session::retention::{Lifetimes, Swept, sweep, sweep_files};
use ghost_store::{Store, StoreError};

/// Sweeps the data folder of the caller, with its store where that is open.
pub async fn sweep_own(setup: &Setup, open: Option<Arc<dyn Store>>) -> anyhow::Result<Swept> {
    let kept = setup.config.retention;
    let lifetimes = Lifetimes {
        thread_days: kept.thread_days,
        evidence_days: kept.evidence_days,
        capture_days: kept.capture_days,
    };
    let folders = (setup.data()?, setup.config.capture.folder.as_path());
    let now = SystemClock.now();
    let store = match open {
        Some(store) => store,
        // Commands leave outputs and captures also where no session ever was; no store is made for them.
        None if setup.store_is_to_be_made() => {
            return Ok(sweep_files(folders, &lifetimes, now, &Default::default())?);
        }
        None => setup.store().await?,
    };
    Ok(sweep(store.as_ref(), folders, &lifetimes, now).await?)
}

/// What became of the sweep of one client.
pub struct SweptClient {
    pub name: String,
    /// Nothing where another process works for the client: it sweeps there itself.
    pub swept: anyhow::Result<Option<Swept>>,
}

/// Sweeps the folder of each client of `ghost mcp` that has one here, also of those that nobody knows any more.
pub async fn sweep_clients(setup: &Setup) -> Vec<SweptClient> {
    let mut all = Vec::new();
    for name in clients(setup) {
        let swept = async {
            let client = setup.client(&name)?;
            match sweep_own(&client, None).await {
                Ok(swept) => Ok(Some(swept)),
                Err(error) if is_in_use(&error) => Ok(None),
                Err(error) => Err(error),
            }
        };
        let swept = swept.await;
        all.push(SweptClient { name, swept });
    }
    all
}

/// Sweeps them, and says in the log what could not be swept.
pub async fn sweep_clients_and_log(setup: &Setup) {
    for SweptClient { name, swept } in sweep_clients(setup).await {
        match swept {
            Ok(Some(swept)) if swept == Swept::default() => {}
            Ok(Some(swept)) => tracing::info!(
                mcp.client = name,
                sessions = swept.sessions.len(),
                evidence = swept.evidence,
                captures = swept.captures,
                "what mcp client {name} left behind was swept"
            ),
            Ok(None) => tracing::debug!(mcp.client = name, "another process works for mcp client {name}"),
            Err(error) => {
                tracing::warn!(mcp.client = name, "retention sweep of mcp client {name} failed: {error:#}");
            }
        }
    }
}

/// Returns the names of all that have a folder, in order.
fn clients(setup: &Setup) -> Vec<String> {
    let Ok(entries) = setup.data().and_then(|data| Ok(fs::read_dir(data.join(CLIENTS))?)) else {
        return Vec::new();
    };
    // A link, and what is not named as a client, is none of ours.
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.parse::<SessionId>().is_ok()).collect();
    names.sort();
    names
}

fn is_in_use(error: &anyhow::Error) -> bool {
    matches!(Hinted::below(error).downcast_ref::<StoreError>(), Some(StoreError::InUse { .. }))
}
