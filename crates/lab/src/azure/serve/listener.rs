//! The port: connections in, TLS where it begins with TLS, tunnels that end here.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body as Flow;
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tracing::debug;

use super::authority::Authority;
use super::destination::{Connection, Destination, Service};
use super::message::{MAX_BODIES_MIB, plain, read, write};
use crate::azure::request::{Answer, Request as CloudRequest};

/// How many connections are served at the same time; the next ones wait to be accepted.
const MAX_CONNECTIONS: usize = 256;
/// The first byte of a TLS connection.
const HANDSHAKE: u8 = 0x16;
/// How long a client may take for its first byte, and for the TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a connection may lie still between two requests, and so long the head of one may take.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// How many headers one may have.
const MAX_HEADERS: usize = 100;
/// The largest head.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// How long open requests may take when the server ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(700);

/// What all connections share.
struct Shared {
    port: u16,
    tls: TlsAcceptor,
    handler: Arc<dyn RequestHandler>,
    room: Arc<Semaphore>,
    held: Semaphore,
    tasks: Mutex<JoinSet<()>>,
    stop: watch::Receiver<bool>,
}

impl Shared {
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }
}

/// Serves a port until it is asked to stop. The listener is the caller's: it has to be one of the loopback address.
pub async fn serve(
    listener: TcpListener,
    port: u16,
    authority: Authority,
    handler: Arc<dyn RequestHandler>,
    mut stop: watch::Receiver<bool>,
) {
    let shared = Arc::new(Shared {
        port,
        tls: TlsAcceptor::from(authority.config),
        handler,
        room: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
        held: Semaphore::new(MAX_BODIES_MIB),
        tasks: Mutex::default(),
        stop: stop.clone(),
    });
    loop {
        let accepted = async {
            let place = Arc::clone(&shared.room).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let (place, stream) = tokio::select! {
            () = stopped(&mut stop) => break,
            (place, accepted) = accepted => match accepted {
                Ok((stream, _)) => (place, stream),
                // No more files, for instance: those that are open have to end first.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let inner = Arc::clone(&shared);
        shared.spawn(async move {
            connection(inner, stream).await;
            drop(place);
        });
    }
    let mut tasks = std::mem::take(&mut *shared.tasks.lock().unwrap_or_else(PoisonError::into_inner));
    let ended = async { while tasks.join_next().await.is_some() {} };
    drop(timeout(SHUTDOWN_TIMEOUT, ended).await);
}

/// Waits until the server is asked to stop, or nobody is left who could tell it.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}

async fn connection(shared: Arc<Shared>, stream: TcpStream) {
    let mut first = [0_u8; 1];
    let Ok(Ok(1)) = timeout(HANDSHAKE_TIMEOUT, stream.peek(&mut first)).await else { return };
    drop(stream.set_nodelay(true));
    match first {
        [HANDSHAKE] => secure(shared, stream, Connection::Secure).await,
        [_] => serve_connection_requests(shared, stream, Connection::Plain).await,
    }
}

async fn secure<S>(shared: Arc<Shared>, stream: S, via: Connection)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    match timeout(HANDSHAKE_TIMEOUT, shared.tls.accept(stream)).await {
        Ok(Ok(stream)) => serve_connection_requests(shared, stream, via).await,
        Ok(Err(error)) => debug!("a handshake failed: {error}"),
        Err(_) => debug!("a handshake took too long"),
    }
}

/// Serves the requests of a connection, one after the other.
async fn serve_connection_requests<S>(shared: Arc<Shared>, stream: S, via: Connection)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut stop = shared.stop.clone();
    let service = service_fn(|request| {
        let (shared, via) = (Arc::clone(&shared), via.clone());
        async move { Ok::<_, Infallible>(answer(shared, via, request).await) }
    });
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .half_close(true);
    let served = server.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut served = std::pin::pin!(served);
    let done = tokio::select! {
        done = served.as_mut() => done,
        () = stopped(&mut stop) => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = done {
        debug!("a connection ended early: {error}");
    }
}

async fn answer(shared: Arc<Shared>, via: Connection, mut request: Request<Incoming>) -> Response<Flow> {
    if request.method() == Method::CONNECT {
        return connect(&shared, &via, &mut request);
    }
    let whole = request.uri().authority().map(ToString::to_string);
    let proxied = whole.is_some() && via == Connection::Plain;
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).map(str::to_owned);
    let authority = whole.or(host).unwrap_or_default();
    let via = if proxied { Connection::Proxied } else { via };
    let service = match Destination::of(&via, &authority, request.uri().path(), shared.port) {
        Destination::Ours(service) => service,
        Destination::Stranger => {
            shared.handler.stranger(&authority);
            return write(plain(403, &format!("this lab reaches no other host: {authority}")));
        }
        Destination::Foreign => {
            return write(plain(
                421,
                "this address answers to its own names alone, and only to programs of this machine",
            ));
        }
    };
    let secure = matches!(via, Connection::Secure | Connection::Tunnel(_));
    let base = format!("{}://{authority}", if secure { "https" } else { "http" });
    let (parts, body) = request.into_parts();
    match read(parts, body, base, &service, &shared.held).await {
        Ok(request) => write(shared.handler.answer(ServedRequest { service, secure, request }).await),
        Err(refused) => write(refused),
    }
}

/// Digs a tunnel, where it ends here.
fn connect(shared: &Arc<Shared>, via: &Connection, request: &mut Request<Incoming>) -> Response<Flow> {
    let authority = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    if *via != Connection::Plain {
        return write(plain(405, "there is no tunnel in a tunnel"));
    }
    if !Destination::has_tunnel(&authority, shared.port) {
        shared.handler.stranger(&authority);
        return write(plain(403, &format!("this lab reaches no other host: {authority}")));
    }
    let upgrade = hyper::upgrade::on(request);
    shared.spawn(tunnel(Arc::clone(shared), upgrade, authority));
    Response::new(Flow::empty())
}

/// Serves what comes through a tunnel. It is boxed, as a tunnel is served by what digs tunnels.
fn tunnel(shared: Arc<Shared>, upgrade: OnUpgrade, host: String) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        // The connection gives its place back when it has become a tunnel.
        let Ok(_place) = timeout(HANDSHAKE_TIMEOUT, shared.room.acquire()).await else { return };
        match timeout(HANDSHAKE_TIMEOUT, upgrade).await {
            Ok(Ok(stream)) => {
                secure(Arc::clone(&shared), TokioIo::new(stream), Connection::Tunnel(host)).await
            }
            Ok(Err(error)) => debug!("a tunnel was not dug: {error}"),
            Err(_) => debug!("a tunnel took too long"),
        }
    })
}

/// A request, and what is known about how it came.
#[derive(Debug, Clone)]
pub struct ServedRequest {
    pub service: Service,
    /// Whether it came over TLS.
    pub secure: bool,
    pub request: CloudRequest,
}

/// Who answers what is served.
#[async_trait]
pub trait RequestHandler: Send + Sync + 'static {
    /// Answers a request.
    async fn answer(&self, asked: ServedRequest) -> Answer;

    /// Notes that somebody wanted to reach a host that is none of the cloud's.
    fn stranger(&self, host: &str);
}
