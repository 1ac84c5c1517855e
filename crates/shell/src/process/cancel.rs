//! A stop that one side gives and another waits for.

use tokio::sync::watch;

/// The side that cancels; dropping it cancels nothing.
#[derive(Debug)]
pub struct Cancel(watch::Sender<bool>);

/// The side that waits; copies wait for the same stop.
#[derive(Debug, Clone)]
pub struct CancelSignal(Option<watch::Receiver<bool>>);

impl Cancel {
    /// Makes both sides.
    #[must_use]
    pub fn new() -> (Self, CancelSignal) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), CancelSignal(Some(receiver)))
    }

    /// Cancels, now and for whoever asks later.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }
}

impl CancelSignal {
    /// Makes a signal that never comes.
    #[must_use]
    pub fn never() -> Self {
        Self(None)
    }

    /// Tells whether it was canceled already.
    #[must_use]
    pub fn is_canceled(&self) -> bool {
        self.0.as_ref().is_some_and(|receiver| *receiver.borrow())
    }

    /// Waits until it is canceled; for ever where that can no longer happen.
    pub async fn canceled(&mut self) {
        if let Some(receiver) = &mut self.0
            && receiver.wait_for(|canceled| *canceled).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}
