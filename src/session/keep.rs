//! Keeping a session while something takes long.

use std::time::Duration;

use crate::session::desk::patiently;
use crate::session::{Engine, EngineError};
use crate::store::{Lease, StoreError};

/// Renews a lease for as long as `work` takes; returns its result and the lease as it is then.
///
/// A lease that ended while nobody else wanted the session is taken again. Where somebody else has the session the work is
/// dropped: a command of it is killed.
pub(super) async fn keep<T>(
    engine: &Engine,
    lease: &Lease,
    work: impl Future<Output = T>,
) -> Result<(T, Lease), EngineError> {
    let mut lease = lease.clone();
    let done = tokio::select! {
        biased;
        done = work => done,
        lost = renew(engine, &mut lease) => return Err(lost),
    };
    Ok((done, lease))
}

async fn renew(engine: &Engine, lease: &mut Lease) -> EngineError {
    let pause = (engine.ttl / 3).max(Duration::from_millis(10));
    loop {
        tokio::time::sleep(pause).await;
        match patiently(engine, || engine.store.renew(lease)).await {
            Ok(renewed) => *lease = renewed,
            Err(StoreError::Fenced) => {
                let session = lease.session().clone();
                match patiently(engine, || engine.store.acquire(&session, &engine.owner, engine.ttl)).await {
                    Ok(Some(taken)) => *lease = taken,
                    Ok(None) => return EngineError::Fenced,
                    Err(error) => return error.into(),
                }
            }
            Err(error) => return error.into(),
        }
    }
}
