//! How long things take, so that tests need not wait for them.

use std::time::Duration;

/// The times that Slack keeps.
#[derive(Debug, Clone)]
pub struct Timing {
    /// How long an acknowledgement may take.
    pub acknowledge: Duration,
    /// How long after a missed acknowledgement each retry comes.
    pub retries: [Duration; 3],
    /// How long before its end a connection is warned.
    pub warning: Duration,
    /// How long a connection lives on after it was asked to refresh.
    pub drain: Duration,
    /// How often a connection is pinged.
    pub ping: Duration,
    /// How long a press waits for the view that the app may open.
    pub view: Duration,
}

impl Default for Timing {
    /// The times that Slack documents.
    fn default() -> Self {
        Self {
            acknowledge: Duration::from_secs(3),
            retries: [Duration::ZERO, Duration::from_secs(60), Duration::from_secs(300)],
            warning: Duration::from_secs(10),
            drain: Duration::from_secs(5),
            ping: Duration::from_secs(10),
            view: Duration::from_secs(3),
        }
    }
}

impl Timing {
    /// Makes the long waits shorter by a factor; what an app has to keep up with stays as it is.
    #[must_use]
    pub fn compressed(factor: u32) -> Self {
        let slack = Self::default();
        let by = factor.max(1);
        Self {
            retries: slack.retries.map(|wait| wait / by),
            warning: slack.warning / by,
            drain: slack.drain / by,
            ..slack
        }
    }
}
