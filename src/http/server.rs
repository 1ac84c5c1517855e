//! The server: three routes of ours, whatever the caller adds, and no patience with slow clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use crate::http::live::Pulse;
use crate::http::measure::Measures;
use crate::http::ready::{Components, FORMAT};

/// Where the server listens by default: this machine only.
pub const LISTEN: &str = "127.0.0.1:9464";

/// The content type by which Prometheus reads counters under their whole names.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How many connections are served at once. Whoever comes then waits until one ends.
const MAX_CONNECTIONS: usize = 256;

/// How long nothing is accepted after the system refused to.
const BREATH: Duration = Duration::from_secs(1);

/// Everything that the three routes show.
#[derive(Debug, Clone, Default)]
pub struct Vitals {
    /// The loops, for `/live`.
    pub pulse: Pulse,
    /// The parts, for `/ready`.
    pub parts: Components,
    /// The numbers, for `/metrics`.
    pub measures: Measures,
}

/// How long a client may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the head of a request, and between two of them; 10 s unless said.
    pub head: Duration,
    /// From the head of a request to its answer, the body included; 10 s unless said.
    pub request: Duration,
    /// For a whole connection; 5 min unless said. It ends between two requests.
    pub connection: Duration,
    /// For what is still being answered when a connection has to end; 5 s unless said.
    pub parting: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            request: Duration::from_secs(10),
            connection: Duration::from_secs(300),
            parting: Duration::from_secs(5),
        }
    }
}

/// What is served beside `/live`, `/ready` and `/metrics`.
#[derive(Debug, Default)]
pub struct Routes {
    /// What answers soon; the three routes win over one of the same path.
    pub extra: Router,
    /// What may take its time to answer, and answer for as long as it likes: see [`Lasting`]. Each has a path of its own.
    pub lasting: Router,
}

impl From<Router> for Routes {
    fn from(extra: Router) -> Self {
        Self { extra, lasting: Router::new() }
    }
}

/// Counts the answers of one connection that last. It is found among the extensions of a request; while an answer of its connection is
/// held, the connection does not end because it is old.
#[derive(Debug, Clone, Default)]
pub struct Lasting(Arc<AtomicUsize>);

/// An answer that lasts, until it is dropped.
#[derive(Debug)]
pub struct Held(Lasting);

impl Lasting {
    /// Begins an answer that lasts.
    #[must_use]
    pub fn hold(&self) -> Held {
        self.0.fetch_add(1, Ordering::SeqCst);
        Held(self.clone())
    }

    fn is_held(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves `/live`, `/ready`, `/metrics` and whatever else is routed until `stop`, then lets open requests end.
pub async fn serve(
    listener: TcpListener,
    routes: impl Into<Routes>,
    vitals: Vitals,
    patience: Patience,
    stop: impl Future<Output = ()>,
) {
    let router = router(routes.into(), vitals, patience);
    let (stopping, stopped) = watch::channel(());
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    loop {
        let room = connections.len() < MAX_CONNECTIONS;
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if room => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(attend(stream, router.clone(), patience, stopped.clone()));
                }
                Err(error) => {
                    warn!(http.error = %error, "http accept failed: {error}");
                    sleep(BREATH).await;
                }
            },
        }
    }
    drop(listener);
    drop(stopping);
    while connections.join_next().await.is_some() {}
}

fn router(routes: Routes, vitals: Vitals, patience: Patience) -> Router {
    Router::new()
        .route("/live", get(live))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .with_state(vitals)
        .fallback_service(routes.extra)
        .layer(from_fn_with_state(patience, hurry))
        .merge(routes.lasting)
}

/// Serves one connection until it ends, has lasted too long, or everything stops.
async fn attend(stream: TcpStream, router: Router, patience: Patience, mut stopped: watch::Receiver<()>) {
    let lasting = Lasting::default();
    let service = TowerToHyperService::new(router.layer(Extension(lasting.clone())));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience.head)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let is_stopped = tokio::select! {
        ended = connection.as_mut() => {
            if let Err(error) = ended {
                debug!(http.error = %error, "http connection ended early: {error}");
            }
            return;
        }
        _ = stopped.changed() => true,
        () = sleep(patience.connection) => false,
    };
    connection.as_mut().graceful_shutdown();
    let mut is_stopped = is_stopped;
    loop {
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = stopped.changed(), if !is_stopped => is_stopped = true,
            () = sleep(patience.parting) => {
                if is_stopped || !lasting.is_held() {
                    debug!("http connection cut off inside a request");
                    return;
                }
            }
        }
    }
}

async fn hurry(State(patience): State<Patience>, request: Request, next: Next) -> Response {
    match timeout(patience.request, next.run(request)).await {
        Ok(response) => response,
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "too slow\n").into_response(),
    }
}

async fn live(State(vitals): State<Vitals>) -> Response {
    let silent = vitals.pulse.silent();
    let body = json!({"format": FORMAT, "live": silent.is_empty(), "silent": silent});
    (status(silent.is_empty()), axum::Json(body)).into_response()
}

async fn ready(State(vitals): State<Vitals>) -> Response {
    let report = vitals.parts.report();
    (status(report.ready), axum::Json(report)).into_response()
}

async fn metrics(State(vitals): State<Vitals>) -> Response {
    for part in vitals.parts.report().parts {
        vitals.measures.ready(part.name, part.ready);
    }
    ([(header::CONTENT_TYPE, OPENMETRICS)], vitals.measures.print()).into_response()
}

fn status(well: bool) -> StatusCode {
    if well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}
