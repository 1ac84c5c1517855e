//! Spans and metrics in the messages of OTLP.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyKind;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as NumberKind;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind as WireKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message as _;

use super::metric::{self, Number, Point};
use super::trace::{self, SpanKind, Trace, Value};
use crate::http::Kind;
use ghost_base::Timestamp;

/// Encodes traces, as one request.
pub(super) fn traces(instance: &str, all: &[Trace]) -> Vec<u8> {
    let spans = all.iter().flat_map(|trace| trace.spans.iter().map(|one| span(trace, one))).collect();
    let request = ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(resource(instance)),
            scope_spans: vec![ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() }],
            ..ResourceSpans::default()
        }],
    };
    request.encode_to_vec()
}

/// Encodes the metrics that `/metrics` prints, counted since the process began.
pub(super) fn metrics(instance: &str, printed: &str, since: Timestamp, now: Timestamp) -> Vec<u8> {
    let metrics = metric::read(printed).into_iter().map(|one| metric(one, since, now)).collect();
    let request = ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource(instance)),
            scope_metrics: vec![ScopeMetrics { scope: Some(scope()), metrics, ..ScopeMetrics::default() }],
            ..ResourceMetrics::default()
        }],
    };
    request.encode_to_vec()
}

fn resource(instance: &str) -> Resource {
    let attributes = [
        ("service.name", "ghost"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", instance),
    ];
    let attributes = attributes.into_iter().map(|(name, value)| attribute(name, &value.into())).collect();
    Resource { attributes, ..Resource::default() }
}

fn scope() -> InstrumentationScope {
    let (name, version) = ("ghost".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    InstrumentationScope { name, version, ..InstrumentationScope::default() }
}

fn span(trace: &Trace, span: &trace::Span) -> Span {
    let kind = match span.kind {
        SpanKind::Internal => WireKind::Internal,
        SpanKind::Client => WireKind::Client,
    };
    let status = span.failed.then(|| Status { code: StatusCode::Error.into(), message: String::new() });
    Span {
        trace_id: trace.id.as_bytes().to_vec(),
        span_id: span.id.as_bytes().to_vec(),
        parent_span_id: span.parent.map(|parent| parent.as_bytes().to_vec()).unwrap_or_default(),
        name: span.name.clone(),
        kind: kind.into(),
        start_time_unix_nano: nanos(span.start),
        end_time_unix_nano: nanos(span.end),
        attributes: span.attributes.iter().map(|(name, value)| attribute(name, value)).collect(),
        status,
        ..Span::default()
    }
}

fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default().saturating_mul(1_000_000)
}

fn attribute(name: &str, value: &Value) -> KeyValue {
    let text = |text: &String| AnyKind::StringValue(text.clone());
    let kind = match value {
        Value::Text(one) => text(one),
        Value::Number(number) => AnyKind::IntValue(*number),
        Value::Texts(all) => {
            let values = all.iter().map(|one| AnyValue { value: Some(text(one)) }).collect();
            AnyKind::ArrayValue(ArrayValue { values })
        }
    };
    KeyValue { key: name.to_owned(), value: Some(AnyValue { value: Some(kind) }), ..KeyValue::default() }
}

fn metric(metric: metric::Metric, since: Timestamp, now: Timestamp) -> Metric {
    let about = metric.about;
    let numbers =
        |points: Vec<Point>| points.into_iter().filter_map(|point| number(point, since, now)).collect();
    let cumulative = AggregationTemporality::Cumulative.into();
    let data = match about.kind {
        Kind::Counter => Data::Sum(Sum {
            data_points: numbers(metric.points),
            aggregation_temporality: cumulative,
            is_monotonic: true,
        }),
        Kind::Gauge => Data::Gauge(Gauge { data_points: numbers(metric.points) }),
        Kind::Histogram => Data::Histogram(Histogram {
            data_points: metric.points.into_iter().filter_map(|point| buckets(point, since, now)).collect(),
            aggregation_temporality: cumulative,
        }),
    };
    let unit = if about.name.contains("_seconds") { "s" } else { "" };
    Metric {
        name: about.name.to_owned(),
        description: about.help.to_owned(),
        unit: unit.to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

fn labels(all: Vec<(String, String)>) -> Vec<KeyValue> {
    all.into_iter().map(|(name, value)| attribute(&name, &Value::Text(value))).collect()
}

fn number(point: Point, since: Timestamp, now: Timestamp) -> Option<NumberDataPoint> {
    let Number::One(value) = point.number else { return None };
    Some(NumberDataPoint {
        attributes: labels(point.labels),
        start_time_unix_nano: nanos(since),
        time_unix_nano: nanos(now),
        value: Some(NumberKind::AsDouble(value)),
        ..NumberDataPoint::default()
    })
}

fn buckets(point: Point, since: Timestamp, now: Timestamp) -> Option<HistogramDataPoint> {
    let Number::Buckets { bounds, counts, sum } = point.number else { return None };
    Some(HistogramDataPoint {
        attributes: labels(point.labels),
        start_time_unix_nano: nanos(since),
        time_unix_nano: nanos(now),
        count: counts.iter().sum(),
        sum: Some(sum),
        bucket_counts: counts,
        explicit_bounds: bounds,
        ..HistogramDataPoint::default()
    })
}
