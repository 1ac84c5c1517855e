//! Waiting, for commands that have to.

use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::Context as _;

/// How many threads wait for disks at most: hundreds of sessions that record at the same time do not need a thread each, and every
/// thread keeps memory.
const BLOCKING: usize = 32;

/// Runs a future to its end. A thread that still waits for the terminal does not keep the program.
pub fn drive<T, F: Future<Output = T>>(work: impl FnOnce() -> F) -> anyhow::Result<T> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().max_blocking_threads(BLOCKING);
    let runtime = runtime.build().context("starting the runtime")?;
    let done = runtime.block_on(async { work().await });
    runtime.shutdown_background();
    Ok(done)
}

/// Waits for Ctrl-C, SIGTERM or the end of the terminal; for ever where the system does not tell us.
pub async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    let Ok(mut hung_up) = signal(SignalKind::hangup()) else { return std::future::pending().await };
    tokio::select! {
        done = tokio::signal::ctrl_c() => if done.is_err() { std::future::pending().await },
        _ = terminate.recv() => {}
        _ = hung_up.recv() => {}
    }
}

/// Whether somebody asked this program to end.
static ENDED: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

/// Begins to listen to who ends this program: asked once, it ends at the next [`is_over`]; asked a second time, at once.
pub fn listen_for_end() -> anyhow::Result<()> {
    static LISTENING: OnceLock<std::io::Result<()>> = OnceLock::new();
    let started = LISTENING.get_or_init(|| {
        let (ready, is_ready) = std::sync::mpsc::channel();
        let listen = move || {
            // Without a runtime nobody listens; then it ends as the system ends programs.
            drop(drive::<(), _>(|| async {
                let mut asked = std::pin::pin!(interrupted());
                // The first look puts the handlers in place.
                let early = futures_util::poll!(asked.as_mut()).is_ready();
                let _ = ready.send(());
                if !early {
                    asked.await;
                }
                *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = true;
                CHANGED.notify_all();
                interrupted().await;
                std::process::exit(130);
            }));
        };
        let started = std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop);
        let _ = is_ready.recv();
        started
    });
    match started {
        Ok(()) => Ok(()),
        Err(error) => anyhow::bail!("waiting for Ctrl-C: {error}"),
    }
}

/// Waits between two readings; returns whether somebody ended it, also while something was read.
pub fn is_over(every: Duration) -> anyhow::Result<bool> {
    listen_for_end()?;
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = CHANGED.wait_timeout_while(ended, every, |ended| !*ended);
    Ok(*waited.unwrap_or_else(PoisonError::into_inner).0)
}
