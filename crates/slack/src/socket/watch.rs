//! What can be seen of the connections from outside.

use std::time::Duration;

use tokio::sync::watch;

/// The upper bounds of the classes into which the time from arrival to acknowledgement is counted, in milliseconds.
pub const LATENCY: [u64; 10] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_000, 3_000];

/// What happened so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// How many connections stand and are not about to end.
    pub connected: usize,
    /// How many are being opened.
    pub connecting: usize,
    /// How many are about to end, and are read until then.
    pub draining: usize,
    /// How many connections were opened.
    pub opened: u64,
    /// How many of them took the place of another one.
    pub reconnects: u64,
    /// How many connections ended, for whatever reason.
    pub ended: u64,
    /// How many attempts failed, and how many connections ended without a farewell.
    pub failures: u64,
    /// The last of these, in words.
    pub last_failure: Option<String>,
    /// How many envelopes came.
    pub taken: u64,
    /// How many were acknowledged.
    pub acked: u64,
    /// How many the handler refused, or were too many at once.
    pub refused: u64,
    /// How many handlers ended in a panic.
    pub panicked: u64,
    /// How many acknowledgements could not be sent, as the connection was gone.
    pub unsent: u64,
    /// How many frames could not be read.
    pub unreadable: u64,
    /// How many acknowledgements fell into each class of [`LATENCY`]; the last class has no bound.
    pub latency: [u64; LATENCY.len() + 1],
    /// All of these times together.
    pub latency_sum: Duration,
}

/// Watches connections; clones of the `Arc` around it may look at any time.
#[derive(Debug)]
pub struct Watch(watch::Sender<Counts>);

impl Default for Watch {
    fn default() -> Self {
        Self(watch::Sender::new(Counts::default()))
    }
}

impl Watch {
    /// Returns what happened so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.0.borrow().clone()
    }

    /// Waits until what happened is as wanted; returns it.
    pub async fn until(&self, wanted: impl FnMut(&Counts) -> bool) -> Counts {
        let mut changes = self.0.subscribe();
        match changes.wait_for(wanted).await {
            Ok(counts) => counts.clone(),
            // The sender is ours, and we are here.
            Err(_) => self.counts(),
        }
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Counts)) {
        self.0.send_modify(change);
    }

    pub(crate) fn failed(&self, what: &str) {
        tracing::info!("slack connection failed: {what}");
        self.note(|counts| {
            counts.failures += 1;
            counts.last_failure = Some(what.to_owned());
        });
    }

    pub(crate) fn acked(&self, after: Duration) {
        let millis = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        let class = LATENCY.iter().position(|bound| millis <= *bound).unwrap_or(LATENCY.len());
        self.note(|counts| {
            counts.acked += 1;
            counts.latency_sum += after;
            if let Some(count) = counts.latency.get_mut(class) {
                *count += 1;
            }
        });
    }
}
