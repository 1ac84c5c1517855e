//! Everything that runs while the bot is up.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::bot::core::Core;
use crate::bot::handle::Bot;
use crate::bot::measure::{Counting, outcome};
use crate::bot::present::Presenter;
use crate::http::{Beat, Check, Measures, SessionState, SocketState, Vitals};
use crate::telemetry::{Exporter, Telemetry};
use ghost_base::Timestamp;
use ghost_session::Worker;
use ghost_shell::{Cancel, CancelSignal};
use ghost_slack::socket::{Settings as SocketSettings, Socket, SocketError, Watch};
use ghost_store::{Backlog, Store, StoreError, WriteRefusal};

/// How often what is too old is looked for.
const RETENTION_INTERVAL: Duration = Duration::from_secs(3_600);

/// How often the store is checked with a write and a read, for `/ready`.
const STORE_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The flag that the check writes. Only that the store takes it counts.
const STORE_CHECK_FLAG: &str = "store-check";

/// How what happens in Slack arrives.
pub enum EventSource {
    /// Over sockets that the bot opens.
    Sockets(SocketSettings),
    /// As signed requests to the HTTP server.
    Requests,
}

/// Removes what is too old; returns when it is done.
pub type Sweep = dyn Fn() -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync;

/// The bot, ready to run.
pub struct Application {
    /// What the handlers hold.
    pub core: Arc<Core>,
    /// Who shows people where sessions stand.
    pub presenter: Arc<Presenter>,
    /// Who drives sessions.
    pub worker: Worker,
    /// How what happens arrives.
    pub event_source: EventSource,
    /// Who removes what is too old.
    pub sweep: Arc<Sweep>,
    /// Health and metrics for the HTTP server.
    pub vitals: Vitals,
    /// Who takes traces and metrics, if anybody does.
    pub telemetry: Option<Exporter>,
}

impl Application {
    /// Runs until it is stopped. Then nothing new is taken, what was begun is made durable, sessions pause, and the call
    /// returns.
    ///
    /// # Errors
    /// Fails where Slack will not have the bot before somebody changes something.
    pub async fn run(self, stop: CancelSignal) -> Result<(), SocketError> {
        let Self { core, presenter, mut worker, event_source, sweep, vitals, telemetry } = self;
        let exporting = telemetry.map(|exporter| {
            let (listener, reported) = Telemetry::new(Arc::clone(&worker.engine.observer));
            worker.engine.observer = Arc::new(listener);
            (exporter, reported)
        });
        worker.engine.observer =
            Arc::new(Counting::new(vitals.measures.clone(), Arc::clone(&worker.engine.observer)));
        core.count_with(vitals.measures.clone());
        count_calls(&core, &vitals.measures);
        let (pause, paused) = Cancel::new();
        let (mute, muted) = Cancel::new();
        let (mut running, mut working) = (JoinSet::new(), JoinSet::new());
        let showing = Arc::clone(&presenter);
        let muted_for_export = muted.clone();
        running.spawn(async move { showing.run(muted).await });
        let resting = paused.clone();
        let store = (vitals.parts.check("store"), vitals.pulse.watch("bot", STORE_CHECK_INTERVAL * 5));
        let measures = vitals.measures.clone();
        running.spawn(beat(Arc::clone(&core), measures, store.0, store.1, paused.clone()));
        working.spawn(async move { worker.run(resting).await });
        let (turning, showing, mut ending) = (Arc::clone(&core), Arc::clone(&presenter), paused.clone());
        running.spawn(async move {
            loop {
                tokio::select! {
                    () = ending.canceled() => return,
                    () = turning.turned.notified() => showing.show_freeze().await,
                }
            }
        });
        let mut sweeping = paused;
        running.spawn(async move {
            let mut hour = tokio::time::interval(RETENTION_INTERVAL);
            loop {
                tokio::select! {
                    () = sweeping.canceled() => return,
                    _ = hour.tick() => sweep().await,
                }
            }
        });
        if let Some((exporter, reported)) = exporting {
            let (store, measures) = (Arc::clone(&core.store), vitals.measures.clone());
            let stop = muted_for_export;
            running.spawn(async move { exporter.run(reported, store, measures, stop).await });
        }
        let mut stopped = stop;
        let ended = match event_source {
            EventSource::Sockets(settings) => {
                let bot = Bot { core: Arc::clone(&core), measures: vitals.measures.clone() };
                let socket = Socket::new(&core.web, Arc::new(bot), settings);
                let watch = socket.watch();
                count_sockets(Arc::clone(&watch), &vitals.measures);
                vitals.parts.ask("sockets", move || match watch.counts().connected {
                    0 => Err("no connection to Slack stands"),
                    _ => Ok(()),
                });
                socket.run(async move { stopped.canceled().await }).await
            }
            EventSource::Requests => {
                stopped.canceled().await;
                Ok(())
            }
        };
        // First nothing new comes in, then sessions pause, and what they still show is shown.
        pause.cancel();
        core.finish().await;
        while working.join_next().await.is_some() {}
        mute.cancel();
        while running.join_next().await.is_some() {}
        ended
    }
}

/// Counts every call of Slack, and how many wait for their turn.
fn count_calls(core: &Core, measures: &Measures) {
    let counted = measures.clone();
    core.web.observe_calls(Box::new(move |method, error| counted.slack_call(method, outcome(error))));
    let web = core.web.clone();
    measures.ask(move |measures| measures.queue_depth(count(web.queue().waiting())));
}

fn count_sockets(watch: Arc<Watch>, measures: &Measures) {
    measures.ask(move |measures| {
        let counts = watch.counts();
        measures.sockets(SocketState::Connecting, count(counts.connecting));
        measures.sockets(SocketState::Open, count(counts.connected));
        measures.sockets(SocketState::Draining, count(counts.draining));
    });
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Writes to the store, then reads from it: a store that answers and refuses writes takes no mention.
async fn check_store(store: &dyn Store, now: Timestamp) -> Result<Backlog, StoreError> {
    store.set_flag(STORE_CHECK_FLAG, Some(&now.to_string())).await?;
    store.backlog().await
}

/// Reports that the bot lives, and whether its store takes writes and answers.
async fn beat(core: Arc<Core>, measures: Measures, store: Check, live: Beat, mut stop: CancelSignal) {
    let mut tick = tokio::time::interval(STORE_CHECK_INTERVAL);
    loop {
        tokio::select! {
            () = stop.canceled() => return live.end(),
            _ = tick.tick() => {}
        }
        live.now();
        let checked = check_store(core.store.as_ref(), core.clock.now());
        match tokio::time::timeout(STORE_CHECK_INTERVAL, checked).await {
            Ok(Ok(backlog)) => {
                store.ready();
                measures.sessions(SessionState::Queued, backlog.queued);
                measures.sessions(SessionState::Waiting, backlog.asked);
            }
            Ok(Err(error)) => store.not_ready(
                error.refusal().map_or("the store refuses or cannot be reached", WriteRefusal::as_str),
            ),
            Err(_) => store.not_ready("the store does not answer in time"),
        }
    }
}
