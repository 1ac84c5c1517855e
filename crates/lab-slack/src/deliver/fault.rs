//! Trouble on demand.

use serde_json::Value;

use crate::state::{Args, SlackError};

/// What a call of the Web API runs into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FaultEffect {
    /// 429, with so many seconds to wait.
    RateLimit(u64),
    /// Another status of HTTP.
    Status(u16),
    /// A refusal with this code.
    Refusal(String),
    /// An answer that comes so many milliseconds late.
    Delay(u64),
}

#[derive(Debug, Clone)]
struct Fault {
    hit: FaultEffect,
    method: Option<String>,
    channel: Option<String>,
    left: u64,
}

/// The trouble that waits for its turn.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    calls: Vec<Fault>,
    /// How many events will be delivered twice.
    pub(crate) duplicates: u64,
    /// How many pairs of events will change places.
    pub(crate) swaps: u64,
    /// The event that waits for its successor.
    pub(crate) held: Option<(String, Value)>,
}

impl Faults {
    /// Adds trouble for calls of the Web API.
    pub(crate) fn add(&mut self, kind: &str, args: &Args) -> Result<(), SlackError> {
        let hit = match kind {
            "rate_limit" => FaultEffect::RateLimit(args.number("retry_after").unwrap_or(1)),
            "error" => match args.text("error") {
                Some(code) => FaultEffect::Refusal(code),
                None => {
                    let status =
                        args.number("status").and_then(|status| u16::try_from(status).ok()).unwrap_or(500);
                    FaultEffect::Status(status)
                }
            },
            "delay" => FaultEffect::Delay(args.number("millis").unwrap_or(1000).min(600_000)),
            _ => return Err(SlackError::new("unknown_fault")),
        };
        let left = args.number("count").unwrap_or(1);
        self.calls.push(Fault { hit, method: args.text("method"), channel: args.text("channel"), left });
        Ok(())
    }

    /// Takes the trouble that a call runs into, the oldest first.
    pub(crate) fn take(&mut self, method: &str, channel: Option<&str>) -> Option<FaultEffect> {
        let meets = |fault: &&mut Fault| {
            fault.method.as_deref().is_none_or(|name| name == method)
                && fault.channel.as_deref().is_none_or(|place| Some(place) == channel)
        };
        let fault = self.calls.iter_mut().find(meets)?;
        fault.left = fault.left.saturating_sub(1);
        let hit = fault.hit.clone();
        self.calls.retain(|fault| fault.left > 0);
        Some(hit)
    }

    /// Forgets all trouble that still waits.
    pub(crate) fn clear(&mut self) {
        let held = self.held.take();
        *self = Self { held, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn trouble_meets_the_method_that_it_names_so_often_and_no_more() {
        let mut faults = Faults::default();
        let args = Args::of(json!({"method": "chat.update", "count": 2, "retry_after": 7}));
        faults.add("rate_limit", &args).unwrap();
        assert_eq!(faults.take("chat.postMessage", None), None);
        assert_eq!(faults.take("chat.update", None), Some(FaultEffect::RateLimit(7)));
        assert_eq!(faults.take("chat.update", None), Some(FaultEffect::RateLimit(7)));
        assert_eq!(faults.take("chat.update", None), None);
    }

    #[test]
    fn unknown_trouble_is_refused() {
        assert_eq!(
            Faults::default().add("earthquake", &Args::default()).unwrap_err().code(),
            "unknown_fault"
        );
    }
}
