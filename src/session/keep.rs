//! Keeping a session while something takes long.

use std::time::Duration;

use crate::session::desk::{Desk, patiently};
use crate::session::{Engine, EngineError};
use ghost_store::{Lease, StoreError};

/// Renews a lease for as long as `work` takes; returns its result and the lease as it is then.
///
/// A lease that ended while nobody else wanted the session is taken again. Where somebody else has or had the session the work
/// is dropped: a command of it is killed.
pub(super) async fn keep<T>(
    desk: &Desk<'_>,
    work: impl Future<Output = T>,
) -> Result<(T, Lease), EngineError> {
    let mut lease = desk.lease.clone();
    let done = tokio::select! {
        biased;
        done = work => done,
        lost = renew(desk.engine, &mut lease, desk.length()) => return Err(lost),
    };
    Ok((done, lease))
}

async fn renew(engine: &Engine, lease: &mut Lease, length: u64) -> EngineError {
    let third = (engine.lease_ttl / 3).max(Duration::from_millis(10));
    // Many short works in a row use a lease up as one long work does: the first pause is what is left of its first third.
    let left = lease.until().since(engine.clock.now());
    let mut pause = left.saturating_sub(2 * third).min(third);
    loop {
        tokio::time::sleep(pause).await;
        match patiently(engine, || engine.store.renew(lease)).await {
            Ok(renewed) => *lease = renewed,
            Err(StoreError::Fenced) => match take_again(engine, lease, length).await {
                Ok(taken) => *lease = taken,
                Err(lost) => return lost,
            },
            Err(error) => return error.into(),
        }
        pause = third;
    }
}

/// Takes a session again whose lease ended, unless somebody else has it, or had it and went on.
async fn take_again(engine: &Engine, lease: &Lease, length: u64) -> Result<Lease, EngineError> {
    let session = lease.session();
    let taken = patiently(engine, || engine.store.acquire(session, &engine.owner, engine.lease_ttl)).await?;
    let taken = taken.ok_or(EngineError::Fenced)?;
    if patiently(engine, || engine.store.read(session, length)).await?.is_empty() {
        return Ok(taken);
    }
    match patiently(engine, || engine.store.release(&taken)).await {
        Ok(()) | Err(StoreError::Fenced) => Err(EngineError::Fenced),
        Err(error) => Err(error.into()),
    }
}
