//! Waiting, for commands that have to.

use anyhow::Context as _;

/// How many threads wait for disks at most: hundreds of sessions that record at the same time do not need a thread each, and every
/// thread keeps memory.
const BLOCKING: usize = 32;

/// Runs a future to its end. A thread that still waits for the terminal does not keep the program.
pub(super) fn drive<T, F: Future<Output = T>>(work: impl FnOnce() -> F) -> anyhow::Result<T> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().max_blocking_threads(BLOCKING);
    let runtime = runtime.build().context("starting the runtime")?;
    let done = runtime.block_on(async { work().await });
    runtime.shutdown_background();
    Ok(done)
}

/// Waits for Ctrl-C, SIGTERM or the end of the terminal; for ever where the system does not tell us.
pub(in crate::cli) async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    let Ok(mut hung_up) = signal(SignalKind::hangup()) else { return std::future::pending().await };
    tokio::select! {
        done = tokio::signal::ctrl_c() => if done.is_err() { std::future::pending().await },
        _ = terminate.recv() => {}
        _ = hung_up.recv() => {}
    }
}

/// Waits between two readings; returns whether somebody ended it.
pub(in crate::cli) fn is_over(every: std::time::Duration) -> anyhow::Result<bool> {
    drive(|| async {
        tokio::select! {
            () = interrupted() => true,
            () = tokio::time::sleep(every) => false,
        }
    })
}
