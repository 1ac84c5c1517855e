//! Traces and metrics, as a collector of OpenTelemetry receives them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::stage::World;

/// A collector that decodes what it gets.
#[derive(Default)]
struct Received {
    traces: Mutex<Vec<ExportTraceServiceRequest>>,
    metrics: Mutex<Vec<ExportMetricsServiceRequest>>,
    /// So many requests are put off before one is taken.
    put_off: Mutex<u32>,
    news: Notify,
}

struct Collector {
    url: String,
    received: Arc<Received>,
    task: JoinHandle<()>,
}

async fn take(State(received): State<Arc<Received>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    assert_eq!(header("content-type"), Some("application/x-protobuf"));
    assert_eq!(header("authorization"), Some("Bearer collector-token"));
    if uri.path() == "/v1/traces" {
        let mut put_off = received.put_off.lock().unwrap();
        if *put_off > 0 {
            *put_off -= 1;
            return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")]).into_response();
        }
    }
    match uri.path() {
        "/v1/traces" => {
            let request = ExportTraceServiceRequest::decode(body).unwrap();
            received.traces.lock().unwrap().push(request);
        }
        "/v1/metrics" => {
            let request = ExportMetricsServiceRequest::decode(body).unwrap();
            received.metrics.lock().unwrap().push(request);
        }
        other => panic!("{other} is no path of OTLP"),
    }
    received.news.notify_one();
    StatusCode::OK.into_response()
}

impl Collector {
    #[expect(clippy::disallowed_methods, reason = "the test owns the server's task and ends it")]
    async fn open(put_off: u32) -> Self {
        let received = Arc::new(Received { put_off: Mutex::new(put_off), ..Received::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(take).with_state(Arc::clone(&received));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, received, task }
    }

    /// Waits until something that came fits.
    async fn until<T>(&self, fits: impl Fn(&Received) -> Option<T>) -> T {
        let wait = async {
            loop {
                let news = self.received.news.notified();
                if let Some(found) = fits(&self.received) {
                    return found;
                }
                news.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap()
    }

    async fn spans(&self) -> Vec<Span> {
        self.until(|received| {
            let traces = received.traces.lock().unwrap();
            let request = traces.first()?;
            let scopes = request.resource_spans.iter().flat_map(|of| of.scope_spans.iter());
            Some(scopes.flat_map(|scope| scope.spans.iter().cloned()).collect())
        })
        .await
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns the attributes of a span, numbers and lists as texts.
fn attributes(span: &Span) -> HashMap<&str, String> {
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::BoolValue(_)
        | Value::DoubleValue(_)
        | Value::ArrayValue(_)
        | Value::KvlistValue(_)
        | Value::BytesValue(_)
        | Value::StringValueStrindex(_) => format!("{value:?}"),
    };
    span.attributes
        .iter()
        .map(|one| {
            (one.key.as_str(), one.value.as_ref().and_then(|any| any.value.as_ref()).map(text).unwrap())
        })
        .collect()
}

#[track_caller]
fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| {
        panic!("{name} is not among {:?}", spans.iter().map(|span| &span.name).collect::<Vec<_>>())
    })
}

#[tokio::test]
async fn a_session_is_one_trace_from_the_mention_to_the_report_and_names_nobody() {
    let collector = Collector::open(2).await;
    let mut world = World::asking().await;
    world.collector = Some(collector.url.clone());
    world
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            world.approved(&root, &card).await;
            let session = world.state(crate::lab::stage::NETWORK, &root).await.unwrap().session;
            // The collector put it off twice, and has it now.
            let spans = collector.spans().await;
            assert!(spans.iter().all(|span| span.trace_id == spans[0].trace_id && span.trace_id.len() == 16));
            let whole = named(&spans, "invoke_agent ghost");
            assert!(whole.parent_span_id.is_empty());
            let about = attributes(whole);
            assert_eq!(about["gen_ai.conversation.id"], session.as_str());
            assert_eq!(
                (about["gen_ai.operation.name"].as_str(), about["ghost.origin"].as_str()),
                ("invoke_agent", "slack")
            );
            let tool = named(&spans, "execute_tool run_shell_cmd");
            assert_eq!(tool.parent_span_id, whole.span_id);
            let command = named(&spans, "run echo");
            assert_eq!(command.parent_span_id, tool.span_id);
            let about = attributes(command);
            assert_eq!(
                (about["ghost.verdict"].as_str(), about["process.exit.code"].as_str()),
                ("RISKY", "0")
            );
            let waited = named(&spans, "wait for approval");
            assert_eq!(waited.parent_span_id, tool.span_id);
            assert_eq!(attributes(waited)["ghost.approval.answer"], "approved");
            assert!(waited.end_time_unix_nano <= command.start_time_unix_nano);
            for span in &spans {
                assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{}", span.name);
                assert!(span.start_time_unix_nano >= whole.start_time_unix_nano, "{}", span.name);
                assert!(span.end_time_unix_nano <= whole.end_time_unix_nano, "{}", span.name);
                let words = format!("{span:?}");
                for part in ["U0LAB", "alice", "C0LAB", "the link", "echo ran"] {
                    assert!(!words.contains(part), "{part} is in {words}");
                }
            }
            let ids: std::collections::HashSet<_> = spans.iter().map(|span| &span.span_id).collect();
            assert_eq!(ids.len(), spans.len(), "each span has its own id");
            // Metrics come under the names that Prometheus has.
            let acknowledged = collector
                .until(|received| {
                    let all = received.metrics.lock().unwrap();
                    let metrics =
                        all.iter().flat_map(|of| &of.resource_metrics).flat_map(|of| &of.scope_metrics);
                    let mut named = metrics
                        .flat_map(|of| &of.metrics)
                        .filter(|one| one.name == "ghost_event_to_ack_seconds");
                    named.find_map(|one| match one.data.as_ref()? {
                        Data::Histogram(histogram) => {
                            histogram.data_points.first().filter(|point| point.count > 0).cloned()
                        }
                        Data::Gauge(_) | Data::Sum(_) | Data::ExponentialHistogram(_) | Data::Summary(_) => {
                            None
                        }
                    })
                })
                .await;
            assert_eq!(acknowledged.bucket_counts.iter().sum::<u64>(), acknowledged.count);
            assert_eq!(acknowledged.bucket_counts.len(), acknowledged.explicit_bounds.len() + 1);
        })
        .await;
}

#[tokio::test]
async fn a_collector_that_is_away_delays_no_session() {
    let mut world = World::new(&super::stage::look_once()).await;
    // Nothing listens there.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    world.collector = Some(format!("http://{}", listener.local_addr().unwrap()));
    drop(listener);
    world
        .talk(async |world| {
            let root = world.mention("alice", "the link is down").await;
            world.concluded("alice", &root).await;
        })
        .await;
}
