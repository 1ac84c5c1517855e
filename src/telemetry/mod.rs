//! Traces and metrics for whoever operates the bot, in OpenTelemetry's protocol over HTTP.
//!
//! Goes in: the events of a session that has its report, and the metrics as Prometheus reads them. Comes out: one trace for each session, from the
//! mention or the alert to the report, and the same metrics, sent to the one address that the configuration names. Never: words of people, commands,
//! outputs or names of persons and channels; a session that waits, or fails, because nobody takes its trace.
//!
//! A trace follows from the events alone, and so do the ids in it: whichever replica ends a session sends the same trace.

mod client;
mod encode;
mod exporter;
mod id;
mod metric;
mod trace;

pub use client::{Collector, CollectorError};
pub use exporter::{Exporter, Reported, Telemetry};
pub use id::{SpanId, TraceId, TraceParent};
pub use trace::{Attribute, Span, SpanKind, Trace, Value, trace};
