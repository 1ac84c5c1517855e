//! Socket Mode: the connections of an app, and what travels over one.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, interval_at, sleep, timeout};

use crate::server::Inner;
use crate::state::Notice;

/// How many connections an app may have.
const MAX_CONNECTIONS: usize = 10;

/// How long a ticket opens a connection.
const TICKET_LIFE: Duration = Duration::from_secs(30);

/// How many tickets are out at once; the oldest is worth nothing when there are more.
const MAX_TICKETS: usize = 256;

/// How long a connection that one end closed waits for the other.
const PARTING: Duration = Duration::from_secs(1);

/// How many acknowledgements are remembered.
const REMEMBERED: usize = 20_000;

/// The name that stands in `debug_info`.
const HOST: &str = "applink-lab";

/// An instruction to a connection.
#[derive(Debug)]
enum SocketCommand {
    /// Send a frame.
    Send(String),
    /// End as a cut cable does.
    Cut,
    /// End in good order.
    Close,
}

#[derive(Debug)]
struct Connection {
    number: u64,
    app: String,
    commands: mpsc::UnboundedSender<SocketCommand>,
    /// Whether it was asked to refresh: nothing new goes there.
    leaving: bool,
}

/// An envelope that was handed over, and who waits for its acknowledgement.
#[derive(Debug)]
struct PendingEnvelope {
    sender: oneshot::Sender<Value>,
    app: String,
    /// The type of its event, else its own.
    kind: String,
    since: Instant,
}

/// The open connections, the tickets to new ones, and who waits for an acknowledgement.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    open: Vec<Connection>,
    tickets: HashMap<String, (String, Instant)>,
    waiting: HashMap<String, PendingEnvelope>,
    acknowledged: VecDeque<Value>,
    count: u64,
    chance: RandomState,
}

impl Sockets {
    /// Notes a ticket, with which one connection can be opened, for a while.
    pub(crate) fn admit(&mut self, ticket: String, app: &str, now: Instant) {
        self.tickets.retain(|_, (_, born)| now.duration_since(*born) < TICKET_LIFE);
        if self.tickets.len() >= MAX_TICKETS {
            let oldest = self.tickets.iter().min_by_key(|(_, (_, born))| *born);
            let oldest = oldest.map(|(ticket, _)| ticket.clone());
            oldest.and_then(|ticket| self.tickets.remove(&ticket));
        }
        self.tickets.insert(ticket, (app.to_owned(), now));
    }

    /// Takes a ticket; returns whose it was.
    pub(crate) fn take(&mut self, ticket: &str, now: Instant) -> Option<String> {
        let (app, born) = self.tickets.remove(ticket)?;
        (now.duration_since(born) < TICKET_LIFE).then_some(app)
    }

    /// How many connections an app has.
    pub(crate) fn of(&self, app: &str) -> usize {
        self.open.iter().filter(|connection| connection.app == app).count()
    }

    /// Sends an envelope over one connection of an app, picked at random; returns where its acknowledgement arrives.
    pub(crate) fn hand(&mut self, app: &str, mut envelope: Value) -> Option<oneshot::Receiver<Value>> {
        self.count += 1;
        let id = self.name();
        if let Some(map) = envelope.as_object_mut() {
            map.insert("envelope_id".to_owned(), json!(id));
        }
        let kind = envelope.pointer("/payload/event/type").or_else(|| envelope.get("type"));
        let kind = kind.and_then(Value::as_str).unwrap_or_default().to_owned();
        let ready: Vec<&Connection> =
            self.open.iter().filter(|connection| connection.app == app && !connection.leaving).collect();
        let many = u64::try_from(ready.len()).unwrap_or(1).max(1);
        let pick = usize::try_from(self.chance.hash_one(self.count) % many).unwrap_or(0);
        ready.get(pick)?.commands.send(SocketCommand::Send(envelope.to_string())).ok()?;
        let (sender, receiver) = oneshot::channel();
        self.waiting.insert(id, PendingEnvelope { sender, app: app.to_owned(), kind, since: Instant::now() });
        // Whoever does not wait any longer need not be remembered.
        if self.count.is_multiple_of(1024) {
            self.waiting.retain(|_, handed| !handed.sender.is_closed());
        }
        Some(receiver)
    }

    /// Makes the name of an envelope, in the form of a UUID.
    fn name(&self) -> String {
        let (high, low) =
            (self.chance.hash_one((self.count, "high")), self.chance.hash_one((self.count, "low")));
        let digits = format!("{high:016x}{low:016x}");
        let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
        format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
    }

    /// Takes a frame of the app: an acknowledgement, with or without an answer in it.
    fn acknowledge(&mut self, text: &str) {
        let Ok(frame) = serde_json::from_str::<Value>(text) else { return };
        let id = frame.get("envelope_id").and_then(Value::as_str).unwrap_or_default();
        if let Some(PendingEnvelope { sender, app, kind, since }) = self.waiting.remove(id) {
            let micros = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
            if self.acknowledged.len() >= REMEMBERED {
                self.acknowledged.pop_front();
            }
            self.acknowledged.push_back(json!({"app": app, "kind": kind, "micros": micros}));
            let answer = frame.get("payload").cloned().unwrap_or(Value::Null);
            // Nobody waits for it where it came too late.
            drop(sender.send(answer));
        }
    }

    /// Returns how long the last acknowledgements took, the oldest first.
    pub(crate) fn acknowledged(&self) -> Value {
        json!({"acknowledged": self.acknowledged})
    }

    fn order(&mut self, make: impl Fn() -> SocketCommand) {
        for connection in &self.open {
            drop(connection.commands.send(make()));
        }
    }

    /// Cuts every connection.
    pub(crate) fn cut(&mut self) {
        self.order(|| SocketCommand::Cut);
        self.open.clear();
    }

    /// Ends every connection in good order.
    pub(crate) fn close(&mut self) {
        self.order(|| SocketCommand::Close);
    }

    /// Tells every connection that it will be asked to refresh; returns their numbers.
    pub(crate) fn warn(&mut self) -> Vec<u64> {
        self.order(|| SocketCommand::Send(goodbye("warning")));
        self.open.iter().map(|connection| connection.number).collect()
    }

    /// Asks some connections to refresh: nothing new goes there.
    pub(crate) fn refresh(&mut self, numbers: &[u64]) {
        for connection in self.open.iter_mut().filter(|one| numbers.contains(&one.number)) {
            connection.leaving = true;
            drop(connection.commands.send(SocketCommand::Send(goodbye("refresh_requested"))));
        }
    }

    /// Ends some connections.
    pub(crate) fn end(&mut self, numbers: &[u64]) {
        for connection in self.open.iter().filter(|one| numbers.contains(&one.number)) {
            drop(connection.commands.send(SocketCommand::Close));
        }
    }
}

fn goodbye(reason: &str) -> String {
    json!({"type": "disconnect", "reason": reason, "debug_info": {"host": HOST}}).to_string()
}

/// Speaks over a connection until one side ends it.
pub(crate) async fn open(inner: Arc<Inner>, app: String, mut socket: WebSocket) {
    let (sender, mut commands) = mpsc::unbounded_channel();
    let (number, count) = {
        let mut sockets = inner.sockets();
        sockets.count += 1;
        let (number, count) = (sockets.count, sockets.of(&app) + 1);
        if count <= MAX_CONNECTIONS {
            sockets.open.push(Connection { number, app: app.clone(), commands: sender, leaving: false });
        }
        (number, count)
    };
    if count > MAX_CONNECTIONS {
        drop(socket.send(Message::text(goodbye("too_many_websockets"))).await);
        return;
    }
    let hello = json!({
        "type": "hello", "num_connections": count, "connection_info": {"app_id": app},
        "debug_info": {"host": HOST, "build_number": 1, "approximate_connection_time": 18060},
    });
    let mut closed = false;
    if socket.send(Message::text(hello.to_string())).await.is_ok() {
        inner.notify(Notice::of("sockets"));
        closed = speak(&inner, &mut socket, &mut commands).await;
    }
    inner.sockets().open.retain(|connection| connection.number != number);
    inner.notify(Notice::of("sockets"));
    if closed {
        part(&inner, &mut socket).await;
    }
}

/// Returns whether one side closed the connection in good order.
async fn speak(
    inner: &Inner,
    socket: &mut WebSocket,
    commands: &mut mpsc::UnboundedReceiver<SocketCommand>,
) -> bool {
    let every = inner.timing.ping.max(Duration::from_millis(1));
    let mut ping = interval_at(Instant::now() + every, every);
    let mut silence = inner.silence.subscribe();
    loop {
        let until = *silence.borrow_and_update();
        if let Some(until) = until
            && let Some(rest) = until.checked_duration_since(Instant::now())
        {
            // Nothing is read and nothing is said: a line on which the other end went away.
            tokio::select! {
                () = sleep(rest) => {}
                changed = silence.changed() => if changed.is_err() { return false },
            }
        }
        tokio::select! {
            _ = silence.changed() => {}
            command = commands.recv() => match command {
                Some(SocketCommand::Send(text)) => if socket.send(Message::text(text)).await.is_err() { return false },
                // Dropped without a farewell.
                Some(SocketCommand::Cut) => return false,
                Some(SocketCommand::Close) | None => return socket.send(Message::Close(None)).await.is_ok(),
            },
            frame = socket.recv() => match frame {
                Some(Ok(Message::Text(text))) => inner.sockets().acknowledge(&text),
                Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_))) => return true,
                Some(Err(_)) | None => return false,
            },
            _ = ping.tick() => if socket.send(Message::Ping("lab".into())).await.is_err() { return false },
        }
    }
}

/// Goes on reading until the other end has closed too: without that, it takes the end for an accident.
async fn part(inner: &Inner, socket: &mut WebSocket) {
    let both = async {
        // Envelopes already sent still count.
        while let Some(Ok(frame)) = socket.recv().await {
            if let Message::Text(text) = frame {
                inner.sockets().acknowledge(&text);
            }
        }
    };
    drop(timeout(PARTING, both).await);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_opens_one_connection_within_half_a_minute() {
        let (mut sockets, now) = (Sockets::default(), Instant::now());
        for ticket in ["one", "two"] {
            sockets.admit(ticket.to_owned(), "A", now);
        }
        assert_eq!(sockets.take("one", now + Duration::from_secs(29)), Some("A".to_owned()));
        assert_eq!(sockets.take("one", now), None);
        assert_eq!(sockets.take("two", now + TICKET_LIFE), None);
    }

    #[test]
    fn an_app_that_asks_for_ever_holds_no_more_than_so_many_tickets() {
        let (mut sockets, now) = (Sockets::default(), Instant::now());
        for number in 0..MAX_TICKETS + 10 {
            let moment = now + Duration::from_millis(u64::try_from(number).unwrap());
            sockets.admit(number.to_string(), "A", moment);
        }
        assert_eq!(sockets.tickets.len(), MAX_TICKETS);
        assert_eq!(sockets.take("9", now), None);
        assert_eq!(sockets.take("10", now + Duration::from_secs(1)), Some("A".to_owned()));
    }
}
