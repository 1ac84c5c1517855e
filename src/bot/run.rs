//! Everything that runs while the bot is up.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::bot::core::Core;
use crate::bot::handle::Bot;
use crate::bot::present::Presenter;
use crate::http::{Beat, Check, Vitals};
use crate::session::Worker;
use crate::shell::{Cancel, CancelSignal};
use crate::slack::socket::{Settings as SocketSettings, Socket, SocketError};

/// How often what is too old is looked for.
const RETENTION: Duration = Duration::from_secs(3_600);

/// How often the store is looked at, for whoever asks whether the bot is ready.
const BEAT: Duration = Duration::from_secs(2);

/// How what happens in Slack arrives.
pub enum Way {
    /// Over sockets that the bot opens.
    Sockets(SocketSettings),
    /// As requests, which a server that runs elsewhere hands over.
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
    pub way: Way,
    /// Who removes what is too old.
    pub sweep: Arc<Sweep>,
    /// What is told about it over HTTP.
    pub vitals: Vitals,
}

impl Application {
    /// Runs until it is told to stop. Then nothing new is taken, what was begun is made durable, sessions pause, and the call
    /// returns.
    ///
    /// # Errors
    /// Fails where Slack will not have the bot before somebody changes something.
    pub async fn run(self, stop: CancelSignal) -> Result<(), SocketError> {
        let Self { core, presenter, worker, way, sweep, vitals } = self;
        let (pause, paused) = Cancel::new();
        let (mute, muted) = Cancel::new();
        let (mut running, mut working) = (JoinSet::new(), JoinSet::new());
        let showing = Arc::clone(&presenter);
        running.spawn(async move { showing.run(muted).await });
        let resting = paused.clone();
        let store = (vitals.parts.check("store"), vitals.pulse.watch("bot", BEAT * 5));
        running.spawn(beat(Arc::clone(&core), store.0, store.1, paused.clone()));
        working.spawn(async move { worker.run(resting).await });
        let mut sweeping = paused;
        running.spawn(async move {
            let mut hour = tokio::time::interval(RETENTION);
            loop {
                tokio::select! {
                    () = sweeping.canceled() => return,
                    _ = hour.tick() => sweep().await,
                }
            }
        });
        let mut stopped = stop;
        let ended = match way {
            Way::Sockets(settings) => {
                let bot = Bot { core: Arc::clone(&core), measures: vitals.measures.clone() };
                let socket = Socket::new(&core.web, Arc::new(bot), settings);
                let watch = socket.watch();
                vitals.parts.ask("sockets", move || match watch.counts().connected {
                    0 => Err("no connection to Slack stands"),
                    _ => Ok(()),
                });
                socket.run(async move { stopped.canceled().await }).await
            }
            Way::Requests => {
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

/// Tells whether the bot lives, and whether its store answers.
async fn beat(core: Arc<Core>, store: Check, live: Beat, mut stop: CancelSignal) {
    let mut tick = tokio::time::interval(BEAT);
    loop {
        tokio::select! {
            () = stop.canceled() => return live.end(),
            _ = tick.tick() => {}
        }
        live.now();
        match tokio::time::timeout(BEAT, core.store.flag("freeze")).await {
            Ok(Ok(_)) => store.ready(),
            Ok(Err(_)) => store.not_ready("the store refuses or cannot be reached"),
            Err(_) => store.not_ready("the store does not answer in time"),
        }
    }
}
