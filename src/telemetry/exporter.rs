//! Waits for sessions that have their report, and sends what they did; sends the metrics now and then.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::client::Collector;
use super::encode;
use super::trace::{Trace, trace};
use crate::http::Measures;
use ghost_base::{Clock, SessionId, Timestamp};
use ghost_investigate::event::{Content, Event, Recorded, StepId, read};
use ghost_investigate::state::State;
use ghost_session::{DriveOutcome, EngineError, Observer};
use ghost_shell::CancelSignal;
use ghost_store::Store;

/// So many sessions wait for their traces to be sent; those of more are lost, and the log says so.
const MAX_WAITING: usize = 10_000;

/// So many traces go together.
const BATCH: usize = 64;

/// How long sending what is left may take once everything ends.
const GRACE: Duration = Duration::from_secs(5);

/// Hears of sessions that have their report, and passes everything on.
pub struct Telemetry {
    reported: mpsc::Sender<SessionId>,
    next: Arc<dyn Observer>,
}

/// The sessions that have their report and whose traces are to be sent.
pub struct Reported(mpsc::Receiver<SessionId>);

impl Telemetry {
    /// Makes an observer in front of another one, and the queue that it fills.
    #[must_use]
    pub fn new(next: Arc<dyn Observer>) -> (Self, Reported) {
        let (reported, queue) = mpsc::channel(MAX_WAITING);
        (Self { reported, next }, Reported(queue))
    }
}

/// Sends what sessions did.
pub struct Exporter {
    collector: Collector,
    /// Names this process among the replicas.
    instance: String,
    /// How often metrics are sent; never where it is nothing.
    metrics_every: Option<Duration>,
    clock: Arc<dyn Clock>,
}

impl Exporter {
    #[must_use]
    pub fn new(
        collector: Collector,
        instance: impl Into<String>,
        metrics_every: Option<Duration>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { collector, instance: instance.into(), metrics_every, clock }
    }

    /// Sends the traces of sessions and the metrics until everything ends.
    pub async fn run(
        self,
        mut queue: Reported,
        store: Arc<dyn Store>,
        measures: Measures,
        mut stop: CancelSignal,
    ) {
        let queue = &mut queue.0;
        let since = self.clock.now();
        let mut tick = self.metrics_every.map(|every| {
            let mut tick = interval(every);
            tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
            tick
        });
        let mut batch = Vec::new();
        loop {
            let next_tick = async {
                match &mut tick {
                    Some(tick) => drop(tick.tick().await),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = stop.canceled() => break,
                read = queue.recv_many(&mut batch, BATCH) => {
                    if read == 0 {
                        break;
                    }
                    // Whoever takes nothing keeps nobody from ending.
                    let mut ending = stop.clone();
                    tokio::select! {
                        () = self.send_traces(store.as_ref(), &batch) => batch.clear(),
                        () = ending.canceled() => {}
                    }
                }
                () = next_tick => {
                    let mut ending = stop.clone();
                    tokio::select! {
                        () = self.send_metrics(&measures, since) => {}
                        () = ending.canceled() => {}
                    }
                }
            }
        }
        // What ended last is sent, too, as far as there is time.
        while let Ok(session) = queue.try_recv() {
            batch.push(session);
        }
        let rest = async {
            if !batch.is_empty() {
                self.send_traces(store.as_ref(), &batch).await;
            }
            if self.metrics_every.is_some() {
                self.send_metrics(&measures, since).await;
            }
        };
        if timeout(GRACE, rest).await.is_err() {
            tracing::warn!("telemetry not sent before the end");
        }
    }

    async fn send_traces(&self, store: &dyn Store, sessions: &[SessionId]) {
        let mut traces: Vec<Trace> = Vec::new();
        for session in sessions {
            let lines = match store.read(session, 0).await {
                Ok(lines) => lines,
                Err(error) => {
                    tracing::warn!(session.id = %session, "trace of session {session} not sent: {error}");
                    continue;
                }
            };
            let events = read(session, lines.iter().map(String::as_str)).unwrap_or_default();
            if let Some(trace) = trace(session, &events) {
                tracing::info!(session.id = %session, trace.id = %trace.id, "trace of session {session} ready");
                traces.push(trace);
            }
        }
        if traces.is_empty() {
            return;
        }
        let body = encode::traces(&self.instance, &traces);
        if let Err(error) = self.collector.send("/v1/traces", body).await {
            tracing::warn!("traces of {} sessions not sent: {error}", traces.len());
        }
    }

    async fn send_metrics(&self, measures: &Measures, since: Timestamp) {
        let body = encode::metrics(&self.instance, &measures.print(), since, self.clock.now());
        if let Err(error) = self.collector.send("/v1/metrics", body).await {
            tracing::warn!("metrics not sent: {error}");
        }
    }
}

impl Observer for Telemetry {
    fn recorded(&self, state: &State, event: &Recorded) {
        self.next.recorded(state, event);
        let Content::Known(known) = &event.content else { return };
        if let Event::Delivered(delivered) = known.as_ref()
            && delivered.is_report()
        {
            match self.reported.try_send(state.session.clone()) {
                Ok(()) => {}
                Err(TrySendError::Full(session)) => {
                    tracing::warn!(session.id = %session, "trace of session {session} lost: too many wait");
                }
                // Everything ends; what came before is still sent.
                Err(TrySendError::Closed(_)) => {}
            }
        }
    }

    fn words(&self, words: &str) {
        self.next.words(words);
    }

    fn trouble(&self, what: &str) {
        self.next.trouble(what);
    }

    fn running(&self, state: &State, step: StepId, since: Duration) {
        self.next.running(state, step, since);
    }

    fn began(&self, session: &SessionId, orphaned: bool) {
        self.next.began(session, orphaned);
    }

    fn ended(&self, session: &SessionId, how: Option<&Result<DriveOutcome, EngineError>>) {
        self.next.ended(session, how);
    }

    fn arrived(&self, session: &SessionId, at: Timestamp) {
        self.next.arrived(session, at);
    }
}

#[cfg(test)]
mod tests {
    use ghost_base::SystemClock;
    use ghost_shell::Cancel;
    use ghost_store::{EmbeddedStore, Settings};
    use tokio::net::TcpListener;
    use tokio::time::{Instant, sleep};

    use super::*;
    use ghost_session::NoObserver;

    /// The clock of the test stands still but for its waits, so what is compared is how long the code waits.
    #[tokio::test(start_paused = true)]
    async fn a_collector_that_never_answers_does_not_delay_the_end() {
        drop(rustls::crypto::ring::default_provider().install_default());
        // It takes connections, and says nothing on them.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(&folder.path().join("store.redb"), Settings::default()).unwrap();
        let collector = Collector::new(&url, None).unwrap();
        let exporter =
            Exporter::new(collector, "replica-1", Some(Duration::from_secs(1)), Arc::new(SystemClock));
        let (_telemetry, reported) = Telemetry::new(Arc::new(NoObserver));
        let (cancel, stop) = Cancel::new();
        let ending = async {
            sleep(Duration::from_millis(1_500)).await;
            cancel.cancel();
            Instant::now()
        };
        let (since, ()) =
            tokio::join!(ending, exporter.run(reported, Arc::new(store), Measures::new(), stop));
        assert!(since.elapsed() <= GRACE + Duration::from_secs(1), "{:?}", since.elapsed());
    }
}
