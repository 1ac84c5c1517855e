//! Everything that runs while the bot is up.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::bot::core::Core;
use crate::bot::handle::Bot;
use crate::bot::present::Presenter;
use crate::session::Worker;
use crate::shell::{Cancel, CancelSignal};
use crate::slack::socket::{Settings as SocketSettings, Socket, SocketError};

/// How often what is too old is looked for.
const RETENTION: Duration = Duration::from_secs(3_600);

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
}

impl Application {
    /// Runs until it is told to stop. Then nothing new is taken, what was begun is made durable, sessions pause, and the call
    /// returns.
    ///
    /// # Errors
    /// Fails where Slack will not have the bot before somebody changes something.
    pub async fn run(self, stop: CancelSignal) -> Result<(), SocketError> {
        let Self { core, presenter, worker, way, sweep } = self;
        let (pause, paused) = Cancel::new();
        let (mute, muted) = Cancel::new();
        let mut running = JoinSet::new();
        let showing = Arc::clone(&presenter);
        running.spawn(async move { showing.run(muted).await });
        let working = paused.clone();
        running.spawn(async move { worker.run(working).await });
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
                let socket = Socket::new(&core.web, Arc::new(Bot(Arc::clone(&core))), settings);
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
        mute.cancel();
        while running.join_next().await.is_some() {}
        ended
    }
}
