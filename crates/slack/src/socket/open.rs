//! Opening one connection: asking for its address, in turn, and the handshake.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream, connect_async_tls_with_config};

use crate::socket::error::SocketError;
use crate::socket::run::Settings;
use crate::socket::run::{Handler, Opener};
use crate::socket::watch::Watch;
use crate::web::{CallError, Roots};

pub(crate) type Wire = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) opener: Arc<dyn Opener>,
    pub(crate) roots: Roots,
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) settings: Settings,
    pub(crate) watch: Arc<Watch>,
    /// Whether everything is to end.
    pub(crate) stop: watch::Sender<bool>,
    /// When Slack may be asked for an address again; who holds it asks.
    pub(crate) gate: Mutex<Instant>,
}

/// Why no connection came about.
#[derive(Debug)]
pub(crate) enum Missed {
    /// It may at another time.
    Now(String),
    /// It never will.
    Ever(SocketError),
}

impl Shared {
    /// Waits until everything is to end.
    pub(crate) async fn stopped(&self) {
        let mut stop = self.stop.subscribe();
        // Where nobody can say so any more, it has ended.
        drop(stop.wait_for(|stop| *stop).await);
    }

    /// Opens a connection.
    pub(crate) async fn open(&self) -> Result<Wire, Missed> {
        let url = self.address().await?;
        let connector = Connector::Rustls(self.roots.config());
        let limit = self.settings.handshake;
        let shaking = connect_async_tls_with_config(url, None, true, Some(connector));
        match timeout(limit, shaking).await {
            Ok(Ok((wire, _))) => Ok(wire),
            Ok(Err(error)) => Err(Missed::Now(broken(&error))),
            Err(_) => Err(Missed::Now(format!("no handshake within {} ms", limit.as_millis()))),
        }
    }

    /// Asks for an address. One asks at a time, and nobody while Slack wants to be left alone.
    async fn address(&self) -> Result<String, Missed> {
        let mut gate = self.gate.lock().await;
        sleep_until(*gate).await;
        let error = match self.opener.open().await {
            Ok(url) => return Ok(url),
            Err(error) => error,
        };
        if let CallError::RateLimited { retry_after, .. } = &error {
            *gate = Instant::now() + (*retry_after).min(Duration::from_secs(3600));
        }
        Err(SocketError::of(&error).map_or_else(|| Missed::Now(error.to_string()), Missed::Ever))
    }
}

/// Tells what broke. The address is left out: it holds a ticket.
pub(crate) fn broken(error: &tungstenite::Error) -> String {
    if let tungstenite::Error::Http(response) = error {
        return format!("the handshake was answered with {}", response.status().as_u16());
    }
    let is_url = matches!(error, tungstenite::Error::Url(_));
    if is_url { "the address is none of a web socket".to_owned() } else { error.to_string() }
}
