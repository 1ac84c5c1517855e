//! The server: `/live`, `/ready` and `/metrics`, the routes that the caller adds, and a time limit for each step of a client.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use ghost_shell::CancelSignal;

use crate::http::admission::{Admission, Limits, MAX_CONNECTIONS, MAX_PER_PEER, Place};
use crate::http::body::TimedBody;
use crate::http::live::Pulse;
use crate::http::measure::Measures;
use crate::http::ready::{Components, FORMAT};

/// Where the server listens by default: this machine only.
pub const LISTEN: &str = "127.0.0.1:9464";

/// The content type by which Prometheus reads counters under their whole names.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How many connections the system keeps until the server accepts them: a burst of silent clients fills the usual 128.
const BACKLOG: u32 = 4_096;

/// How long nothing is accepted after the system refused to.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

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
    /// For the head of a request, and between two requests (default: 10 s).
    pub head: Duration,
    /// From the head of a request to its answer, the body included (default: 10 s). If the answer may last, the body has twice as long.
    pub request: Duration,
    /// For a whole connection (default: 5 min). It ends between two requests.
    pub connection: Duration,
    /// For the request that is being answered when a connection must end (default: 5 s).
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

/// The routes besides `/live`, `/ready` and `/metrics`.
#[derive(Debug, Clone, Default)]
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

/// Routes that answer 503 until they are opened: the server listens while what stands behind them is still awaited.
#[derive(Debug, Clone, Default)]
pub struct LateRoutes(Arc<OnceLock<Routes>>);

impl LateRoutes {
    /// Opens the routes. Only the first call counts.
    pub fn open(&self, routes: Routes) {
        drop(self.0.set(routes));
    }
}

impl<R: Into<Routes>> From<R> for LateRoutes {
    fn from(routes: R) -> Self {
        let late = Self::default();
        late.open(routes.into());
        late
    }
}

/// Counts the answers of one connection that last. It is found among the extensions of a request. While an answer of its connection is
/// held, the connection neither ends because it is old nor makes room for another one.
#[derive(Debug, Clone, Default)]
pub struct Lasting(Arc<Answers>);

#[derive(Debug, Default)]
struct Answers {
    held: AtomicUsize,
    place: Option<Arc<Place>>,
}

/// An answer that lasts, until it is dropped.
#[derive(Debug)]
pub struct Held(Lasting);

impl Lasting {
    fn on(place: Arc<Place>) -> Self {
        Self(Arc::new(Answers { held: AtomicUsize::new(0), place: Some(place) }))
    }

    /// Begins an answer that lasts.
    #[must_use]
    pub fn hold(&self) -> Held {
        self.0.held.fetch_add(1, Ordering::SeqCst);
        self.0.place.iter().for_each(|place| place.working());
        Held(self.clone())
    }

    fn is_held(&self) -> bool {
        self.0.held.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let answers = &self.0.0;
        if answers.held.fetch_sub(1, Ordering::SeqCst) == 1 {
            answers.place.iter().for_each(|place| place.waiting());
        }
    }
}

/// Listens on an address, with room for a burst of connections.
///
/// # Errors
/// Fails if the address is taken or is none of this machine's.
pub fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves the routes, and `/live`, `/ready` and `/metrics` if there are vitals to show, until `stop`; then lets open requests end.
pub async fn serve(
    listener: TcpListener,
    routes: impl Into<LateRoutes>,
    vitals: impl Into<Option<Vitals>>,
    patience: Patience,
    stop: impl Future<Output = ()>,
) {
    let router = router(routes.into(), vitals.into(), patience);
    let admission = Admission::new(Limits { total: MAX_CONNECTIONS, per_peer: MAX_PER_PEER });
    let (stopping, stopped) = watch::channel(());
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let Some((place, evicted)) = admission.admit(peer.ip()) else {
                        debug!("http connection refused: every connection of this peer is at work");
                        continue;
                    };
                    let client = Client { place, evicted, stopped: stopped.clone() };
                    connections.spawn(attend(stream, client, router.clone(), patience));
                }
                Err(error) => {
                    warn!(http.error = %error, "http accept failed: {error}");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    drop(stopping);
    while connections.join_next().await.is_some() {}
}

fn router(late: LateRoutes, vitals: Option<Vitals>, patience: Patience) -> Router {
    let opened: Arc<OnceLock<Router>> = Arc::default();
    let dispatch = async move |request: Request| -> Response {
        let Some(routes) = late.0.get() else {
            return (StatusCode::SERVICE_UNAVAILABLE, "starting\n").into_response();
        };
        let opened = opened.get_or_init(|| {
            let extra = Router::new().fallback_service(routes.extra.clone());
            extra.layer(from_fn_with_state(patience, hurry)).merge(routes.lasting.clone())
        });
        match TowerToHyperService::new(opened.clone()).call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    };
    let health = match vitals {
        Some(vitals) => Router::new()
            .route("/live", get(live))
            .route("/ready", get(ready))
            .route("/metrics", get(metrics))
            .with_state(vitals)
            .layer(from_fn_with_state(patience, hurry)),
        None => Router::new(),
    };
    health.fallback(dispatch)
}

/// One connection, as the server sees it.
struct Client {
    place: Arc<Place>,
    evicted: CancelSignal,
    stopped: watch::Receiver<()>,
}

/// Serves one connection until it ends, has lasted too long, has to make room, or everything stops.
async fn attend(stream: TcpStream, client: Client, router: Router, patience: Patience) {
    let Client { place, mut evicted, mut stopped } = client;
    let lasting = Lasting::on(Arc::clone(&place));
    let answering = lasting.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (place, lasting) = (Arc::clone(&place), answering.clone());
        let router = TowerToHyperService::new(router.clone());
        async move {
            if request.body().is_end_stream() {
                place.working();
            }
            let body_place = Arc::clone(&place);
            let mut request =
                request.map(|body| Body::new(TimedBody::new(body, body_place, patience.request * 2)));
            request.extensions_mut().insert(lasting.clone());
            let response = router.call(request).await;
            if !lasting.is_held() {
                place.waiting();
            }
            response
        }
    });
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
        () = evicted.canceled() => {
            debug!("http connection closed: it waited for its peer, and a newer one needs its place");
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
            () = evicted.canceled() => return,
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
