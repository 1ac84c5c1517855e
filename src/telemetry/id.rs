//! Names of traces and spans, and the context that an alert brings.

use std::fmt;
use std::str::FromStr;

use ghost_base::{Digest, SessionId};

/// Names a trace: 16 bytes, not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

/// Names a span: 8 bytes, not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId([u8; 8]);

/// Where a trace began that a session belongs to, as the header `traceparent` of W3C Trace Context says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    pub trace: TraceId,
    pub span: SpanId,
}

/// The text is no `traceparent` of a version that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a traceparent of W3C Trace Context")]
pub struct TraceParentError;

impl TraceId {
    /// Returns the trace of a session that belongs to no other trace.
    #[must_use]
    pub fn of(session: &SessionId) -> Self {
        Self(first(&Digest::of_fields(["trace", session.as_str()])))
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl SpanId {
    /// Returns the span of something in a session.
    #[must_use]
    pub fn of(session: &SessionId, what: &str) -> Self {
        Self(first(&Digest::of_fields(["span", session.as_str(), what])))
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the first bytes of a digest. They are never all zero: that would be no name.
fn first<const N: usize>(digest: &Digest) -> [u8; N] {
    let mut bytes = [0; N];
    for (to, from) in bytes.iter_mut().zip(digest.as_bytes()) {
        *to = *from;
    }
    if let Some(last) = bytes.last_mut() {
        *last |= 1;
    }
    bytes
}

impl FromStr for TraceParent {
    type Err = TraceParentError;

    fn from_str(text: &str) -> Result<Self, TraceParentError> {
        let mut parts = text.trim().split('-');
        let mut part = || parts.next().ok_or(TraceParentError);
        let (version, trace, span, flags) = (part()?, part()?, part()?, part()?);
        let more = parts.next().is_some();
        let [version] = bytes(version)?;
        let [_flags] = bytes::<1>(flags)?;
        // Later versions may say more at the end; the first one may not.
        if version == 0xff || (version == 0 && more) {
            return Err(TraceParentError);
        }
        let (trace, span) = (bytes(trace)?, bytes(span)?);
        if trace == [0; 16] || span == [0; 8] {
            return Err(TraceParentError);
        }
        Ok(Self { trace: TraceId(trace), span: SpanId(span) })
    }
}

fn bytes<const N: usize>(text: &str) -> Result<[u8; N], TraceParentError> {
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 2 * N || !text.bytes().all(lower) {
        return Err(TraceParentError);
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        let pair = text.get(2 * at..2 * at + 2).ok_or(TraceParentError)?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| TraceParentError)?;
    }
    Ok(bytes)
}

fn hex(out: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
}

impl fmt::Display for TraceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(out, &self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(out, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_of_an_alert_is_read_as_it_is_specified() {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let read: TraceParent = text.parse().unwrap();
        assert_eq!(read.trace.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(read.span.to_string(), "00f067aa0ba902b7");
        assert!(
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more".parse::<TraceParent>().is_ok()
        );
        for wrong in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        ] {
            assert_eq!(wrong.parse::<TraceParent>(), Err(TraceParentError), "{wrong}");
        }
    }

    #[test]
    fn one_session_has_one_trace_and_each_thing_in_it_its_span() {
        let session: SessionId = "ghost-1".parse().unwrap();
        let other: SessionId = "ghost-2".parse().unwrap();
        assert_eq!(TraceId::of(&session), TraceId::of(&session));
        assert_ne!(TraceId::of(&session), TraceId::of(&other));
        assert_ne!(SpanId::of(&session, "call 1"), SpanId::of(&session, "call 2"));
    }
}
