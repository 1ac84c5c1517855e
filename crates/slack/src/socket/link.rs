//! One connection, from its first frame to its last acknowledgement.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::arrive::{Farewell, Frame};
use crate::socket::open::{Shared, Wire, broken};
use crate::socket::task::{Ack, Tasks};

/// How long the last greeting may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// What a connection tells whoever opened it.
#[derive(Debug)]
pub(crate) enum Signal {
    /// It is ready.
    Up,
    /// It will end; another one is wanted.
    Leaving(Farewell),
    /// It has ended.
    Ended(String),
}

/// Why a connection is not read any more.
enum End {
    /// We do not want it any more: what its handlers say is still sent.
    Ours,
    Gone(String),
}

/// Among which connections one is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Nowhere,
    Standing,
    Draining,
}

/// One connection.
pub(crate) struct Link {
    shared: Arc<Shared>,
    wire: Wire,
    tasks: Tasks,
    signals: mpsc::UnboundedSender<Signal>,
    up: bool,
    /// Whether it counts among those that stand, or among those that are about to end.
    counted: Counted,
}

impl Link {
    pub(crate) fn new(shared: Arc<Shared>, wire: Wire, signals: mpsc::UnboundedSender<Signal>) -> Self {
        let tasks = Tasks::new(Arc::clone(&shared));
        Self { shared, wire, tasks, signals, up: false, counted: Counted::Nowhere }
    }

    /// Reads until it ends, or until it is retired and some time has passed; then lets its handlers finish.
    pub(crate) async fn speak(mut self, retire: oneshot::Receiver<()>) {
        let end = self.read(retire).await;
        self.drain();
        self.shared.watch.note(|counts| counts.ended += 1);
        match end {
            End::Ours => {
                let farewell = self.shared.settings.farewell;
                if timeout(farewell, self.finish()).await.is_err() {
                    tracing::warn!("slack event handlers did not end within {} s", farewell.as_secs());
                }
                drop(timeout(GOODBYE, self.wire.close(None)).await);
                self.discount();
                self.signal(Signal::Ended("retired".to_owned()));
            }
            End::Gone(why) => {
                self.discount();
                self.signal(Signal::Ended(why));
                // What they took has to become durable, even if it can no longer be acknowledged.
                let stop = Arc::clone(&self.shared);
                let rest = async {
                    while self.tasks.last().await.is_some() {
                        self.shared.watch.note(|counts| counts.unsent += 1);
                    }
                };
                let patience = async {
                    stop.stopped().await;
                    tokio::time::sleep(stop.settings.farewell).await;
                };
                tokio::select! {
                    () = rest => {}
                    () = patience => {}
                }
            }
        }
    }

    async fn read(&mut self, mut retire: oneshot::Receiver<()>) -> End {
        let shared = Arc::clone(&self.shared);
        let settings = &shared.settings;
        let mut ping = interval_at(Instant::now() + settings.ping, settings.ping);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_frame = Instant::now();
        let mut until: Option<Instant> = None;
        loop {
            let over = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            let done = tokio::select! {
                biased;
                () = shared.stopped() => Some(End::Ours),
                Some(ack) = self.tasks.due() => self.send_ack(ack).await.err(),
                () = over => Some(End::Ours),
                _ = &mut retire, if until.is_none() => {
                    until = Some(Instant::now() + settings.drain);
                    self.drain();
                    None
                }
                _ = ping.tick() => {
                    if last_frame.elapsed() > settings.silence {
                        Some(End::Gone(format!("no sign of life for {} ms", last_frame.elapsed().as_millis())))
                    } else {
                        self.send(Message::Ping("ghost".into())).await.err()
                    }
                }
                message = self.wire.next() => {
                    last_frame = Instant::now();
                    self.take(message).await
                }
            };
            if let Some(end) = done {
                return end;
            }
        }
    }

    async fn take(&mut self, message: Option<Result<Message, Error>>) -> Option<End> {
        match message {
            Some(Ok(Message::Text(text))) => {
                self.frame(&text).await;
                None
            }
            Some(Ok(Message::Binary(_))) => {
                self.shared.watch.note(|counts| counts.unreadable += 1);
                None
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => None,
            Some(Ok(Message::Close(_))) | None => Some(End::Gone("Slack closed it".to_owned())),
            Some(Err(error)) => Some(End::Gone(broken(&error))),
        }
    }

    async fn frame(&mut self, text: &str) {
        match Frame::read(text) {
            Frame::Disconnect(farewell) => {
                self.drain();
                self.signal(Signal::Leaving(farewell));
            }
            Frame::Hello { connections, lifetime, .. } => {
                tracing::info!(?connections, ?lifetime, "slack connection open");
                self.count();
            }
            Frame::Envelope(envelope) => {
                self.count();
                self.tasks.begin(*envelope).await;
            }
            Frame::Unknown { kind } => tracing::info!("slack frame of unknown type {kind:?} ignored"),
            Frame::Unreadable => {
                tracing::warn!("slack frame of {} bytes not readable", text.len());
                self.shared.watch.note(|counts| counts.unreadable += 1);
            }
        }
    }

    /// Counts the connection among those that stand, once.
    fn count(&mut self) {
        if self.up {
            return;
        }
        self.up = true;
        self.counted = Counted::Standing;
        self.shared.watch.note(|counts| {
            counts.connected += 1;
            counts.opened += 1;
        });
        self.signal(Signal::Up);
    }

    /// Counts the connection among those that are about to end.
    fn drain(&mut self) {
        if self.counted == Counted::Standing {
            self.counted = Counted::Draining;
            self.shared.watch.note(|counts| {
                counts.connected = counts.connected.saturating_sub(1);
                counts.draining += 1;
            });
        }
    }

    /// Counts the connection no more.
    fn discount(&mut self) {
        match std::mem::replace(&mut self.counted, Counted::Nowhere) {
            Counted::Nowhere => {}
            Counted::Standing => {
                self.shared.watch.note(|counts| counts.connected = counts.connected.saturating_sub(1));
            }
            Counted::Draining => {
                self.shared.watch.note(|counts| counts.draining = counts.draining.saturating_sub(1));
            }
        }
    }

    fn signal(&self, signal: Signal) {
        // Whoever opened it does not listen any more once another one stands.
        drop(self.signals.send(signal));
    }

    async fn finish(&mut self) {
        while let Some(ack) = self.tasks.last().await {
            if self.send_ack(ack).await.is_err() {
                break;
            }
        }
        while self.tasks.last().await.is_some() {
            self.shared.watch.note(|counts| counts.unsent += 1);
        }
    }

    async fn send_ack(&mut self, ack: Ack) -> Result<(), End> {
        let Ack { frame, came } = ack;
        let sent = self.send(Message::text(frame)).await;
        match &sent {
            Ok(()) => self.shared.watch.acked(came.elapsed()),
            Err(_) => self.shared.watch.note(|counts| counts.unsent += 1),
        }
        sent
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        match timeout(self.shared.settings.silence, self.wire.send(message)).await {
            Ok(sent) => sent.map_err(|error| End::Gone(broken(&error))),
            Err(_) => Err(End::Gone("nothing can be sent any more".to_owned())),
        }
    }
}
