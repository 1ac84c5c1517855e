//! The handlers that one connection began.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::arrive::Envelope;
use crate::socket::open::Shared;
use crate::socket::run::Answer;

/// An acknowledgement that is due.
#[derive(Debug)]
pub(crate) struct Ack {
    pub(crate) frame: String,
    /// When the envelope came.
    pub(crate) came: Instant,
}

/// The handlers that one connection began, and what they have to say.
pub(crate) struct Tasks {
    shared: Arc<Shared>,
    running: JoinSet<()>,
    ack_sender: mpsc::UnboundedSender<Ack>,
    acks: mpsc::UnboundedReceiver<Ack>,
}

impl Tasks {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let (ack_sender, acks) = mpsc::unbounded_channel();
        Self { shared, running: JoinSet::new(), ack_sender, acks }
    }

    /// Begins a handler. It is polled here once, so that handlers begin in the order of what arrived; then it runs by itself.
    pub(crate) async fn begin(&mut self, envelope: Envelope) {
        let watch = &self.shared.watch;
        watch.note(|counts| counts.taken += 1);
        while self.running.try_join_next().is_some() {}
        if self.running.len() >= self.shared.settings.at_once {
            tracing::warn!("slack event refused, {} others wait for their handlers", self.running.len());
            watch.note(|counts| counts.refused += 1);
            return;
        }
        let mut work: Pin<Box<dyn Future<Output = ()> + Send>> =
            Box::pin(handle(Arc::clone(&self.shared), envelope, self.ack_sender.clone()));
        let done = poll_fn(|context| Poll::Ready(work.as_mut().poll(context).is_ready())).await;
        if !done {
            self.running.spawn(work);
        }
    }

    /// Returns the next acknowledgement that is due.
    pub(crate) async fn due(&mut self) -> Option<Ack> {
        self.acks.recv().await
    }

    /// Returns the next acknowledgement of a handler that still runs; nothing when all have ended and were acknowledged.
    pub(crate) async fn last(&mut self) -> Option<Ack> {
        loop {
            if let Ok(ack) = self.acks.try_recv() {
                return Some(ack);
            }
            tokio::select! {
                biased;
                ack = self.acks.recv() => return ack,
                ended = self.running.join_next() => if ended.is_none() { return self.acks.try_recv().ok() },
            }
        }
    }
}

async fn handle(shared: Arc<Shared>, envelope: Envelope, ack_sender: mpsc::UnboundedSender<Ack>) {
    let came = Instant::now();
    let Envelope { id, arrival } = envelope;
    let accepts = arrival.origin.accepts_payload;
    let answer = AssertUnwindSafe(shared.handler.take(arrival)).catch_unwind().await;
    let payload = match answer {
        Ok(Answer::Done) => None,
        Ok(Answer::With(payload)) => Some(payload).filter(|_| accepts),
        Ok(Answer::Refuse) => {
            shared.watch.note(|counts| counts.refused += 1);
            return;
        }
        Err(_) => {
            tracing::error!("slack event handler panicked");
            shared.watch.note(|counts| counts.panicked += 1);
            return;
        }
    };
    // Without an id there is nothing that could be acknowledged.
    let Some(id) = id else { return };
    // Whoever was to send it is gone only when nobody listens any more.
    drop(ack_sender.send(Ack { frame: frame(&id, payload), came }));
}

fn frame(id: &str, payload: Option<Value>) -> String {
    match payload {
        Some(payload) => json!({"envelope_id": id, "payload": payload}),
        None => json!({"envelope_id": id}),
    }
    .to_string()
}
