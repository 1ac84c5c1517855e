//! A slot that always holds one connection: it opens one, and the next one before the old one closes.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::arrive::Farewell;
use crate::socket::error::SocketError;
use crate::socket::link::{Link, Signal};
use crate::socket::open::{Missed, Shared};
use crate::socket::run::Settings;

/// A connection as its slot knows it.
struct Live {
    signals: mpsc::UnboundedReceiver<Signal>,
    retire: oneshot::Sender<()>,
    since: Instant,
}

/// What a slot holds.
struct ConnectionSlot {
    shared: Arc<Shared>,
    links: JoinSet<()>,
    /// Those that will end, and are read until then.
    leaving: Vec<oneshot::Sender<()>>,
    failures: u32,
    stood: bool,
}

/// Keeps one connection standing until everything stops.
pub(crate) async fn keep(shared: Arc<Shared>) -> Result<(), SocketError> {
    let mut slot =
        ConnectionSlot { shared, links: JoinSet::new(), leaving: Vec::new(), failures: 0, stood: false };
    let shared = Arc::clone(&slot.shared);
    let ended = tokio::select! {
        biased;
        () = shared.stopped() => Ok(()),
        error = slot.serve() => Err(error),
    };
    // What ends one for good ends all. Each connection knows it then, lets its handlers finish, and ends by itself.
    shared.stop.send_replace(true);
    while slot.links.join_next().await.is_some() {}
    ended
}

impl ConnectionSlot {
    async fn serve(&mut self) -> SocketError {
        loop {
            let wait = pause(&self.shared.settings, self.failures, chance());
            sleep(wait).await;
            self.shared.watch.note(|counts| counts.connecting += 1);
            let connected = self.connect().await;
            self.shared.watch.note(|counts| counts.connecting = counts.connecting.saturating_sub(1));
            let live = match connected {
                Ok(live) => live,
                Err(Missed::Ever(error)) => return error,
                Err(Missed::Now(what)) => {
                    self.failed(&what);
                    continue;
                }
            };
            // The new one stands: the old ones are read for a while, and then let go.
            self.retire();
            if let Some(error) = self.stay(live).await {
                return error;
            }
            while self.links.try_join_next().is_some() {}
        }
    }

    fn failed(&mut self, what: &str) {
        self.failures = self.failures.saturating_add(1);
        self.shared.watch.failed(what);
    }

    fn retire(&mut self) {
        for old in self.leaving.drain(..) {
            // It may have ended already.
            let _ = old.send(());
        }
    }

    /// Opens a connection and waits until it is ready.
    async fn connect(&mut self) -> Result<Live, Missed> {
        let wire = self.shared.open().await?;
        let (tell, mut signals) = mpsc::unbounded_channel();
        let (retire, retired) = oneshot::channel();
        self.links.spawn(Link::new(Arc::clone(&self.shared), wire, tell).speak(retired));
        let limit = self.shared.settings.handshake;
        let what = match timeout(limit, signals.recv()).await {
            Ok(Some(Signal::Up)) => {
                if std::mem::replace(&mut self.stood, true) {
                    self.shared.watch.note(|counts| counts.reconnects += 1);
                }
                return Ok(Live { signals, retire, since: Instant::now() });
            }
            Ok(Some(Signal::Leaving(Farewell::Disabled))) => return Err(Missed::Ever(SocketError::Disabled)),
            Ok(Some(Signal::Leaving(Farewell::TooMany))) => {
                // One of those may be our own old one.
                self.retire();
                "too_many_websockets: the app has as many connections as it may have".to_owned()
            }
            Ok(Some(Signal::Leaving(farewell))) => format!("it was ended at once: {farewell:?}"),
            Ok(Some(Signal::Ended(why))) => why,
            Ok(None) => "its task ended".to_owned(),
            Err(_) => format!("no hello within {} ms", limit.as_millis()),
        };
        // Whatever it still brings is taken, but nobody waits for it.
        let _ = retire.send(());
        Err(Missed::Now(what))
    }

    /// Stays with a connection until another one is wanted.
    async fn stay(&mut self, mut live: Live) -> Option<SocketError> {
        let signal = live.signals.recv().await;
        let settled = live.since.elapsed() >= self.shared.settings.settled;
        if settled {
            self.failures = 0;
        }
        match signal {
            Some(Signal::Leaving(Farewell::Disabled)) => return Some(SocketError::Disabled),
            Some(Signal::Leaving(Farewell::Warning | Farewell::Refresh)) => self.leaving.push(live.retire),
            Some(Signal::Leaving(farewell @ (Farewell::TooMany | Farewell::Other(_)))) => {
                self.leaving.push(live.retire);
                self.failed(&format!("Slack ends it: {farewell:?}"));
            }
            Some(Signal::Ended(why)) => {
                self.shared.watch.failed(&why);
                // After a good time the next attempt needs no pause.
                self.failures = if settled { 0 } else { self.failures.saturating_add(1) };
            }
            Some(Signal::Up) => {}
            None => self.failed("its task ended"),
        }
        None
    }
}

/// Returns the pause before an attempt after so many failures. `chance`, from 0 to 1, takes up to half of it away, so that
/// many who failed at the same moment do not come back at the same moment.
pub(crate) fn pause(settings: &Settings, failures: u32, chance: f64) -> Duration {
    let Some(doublings) = failures.checked_sub(1) else { return Duration::ZERO };
    let factor = 2_u32.saturating_pow(doublings.min(20));
    let whole = settings.first_pause.saturating_mul(factor).min(settings.longest_pause);
    whole.mul_f64(1.0 - chance.clamp(0.0, 1.0) / 2.0)
}

/// Draws a number from 0 to 1. Nothing secret depends on it.
fn chance() -> f64 {
    let drawn = RandomState::new().hash_one(0_u8) >> 32;
    f64::from(u32::try_from(drawn).unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_lose_at_most_half() {
        let settings = Settings::default();
        let pauses =
            |chance| [0, 1, 2, 3, 9, u32::MAX].map(|failures| pause(&settings, failures, chance).as_millis());
        assert_eq!(pauses(0.0), [0, 200, 400, 800, 30_000, 30_000]);
        assert_eq!(pauses(1.0), [0, 100, 200, 400, 15_000, 15_000]);
    }

    #[test]
    fn chance_lies_between_nothing_and_all() {
        assert!((0..1000).all(|_| (0.0..=1.0).contains(&chance())));
    }
}
