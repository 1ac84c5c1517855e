//! How connections are kept.

use std::time::Duration;

/// How connections are kept.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many connections; Slack allows ten for each app, over all replicas.
    pub connections: usize,
    /// How long opening may take, until Slack says hello.
    pub handshake: Duration,
    /// How often a connection is pinged.
    pub ping: Duration,
    /// After how long without a sign of life a connection counts as dead.
    pub silence: Duration,
    /// How long an old connection is still read when a new one stands in its place.
    pub drain: Duration,
    /// How long handlers may take to end when everything stops.
    pub farewell: Duration,
    /// The first pause between attempts; each is twice as long as the one before.
    pub first_pause: Duration,
    /// The longest pause between attempts.
    pub longest_pause: Duration,
    /// After how long a connection counts as a good one, so that the next attempt needs no pause.
    pub settled: Duration,
    /// How many handlers may run at once; what comes beyond is refused, so that Slack sends it again.
    pub at_once: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connections: 2,
            handshake: Duration::from_secs(10),
            ping: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            drain: Duration::from_secs(15),
            farewell: Duration::from_secs(10),
            first_pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(30),
            settled: Duration::from_secs(20),
            at_once: 4096,
        }
    }
}
