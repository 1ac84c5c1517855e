//! When to come back, as Google says it: in the body of an error, as `google.rpc.RetryInfo`.

use std::time::Duration;

use serde_json::Value;

/// Nobody is waited for longer than this, whatever it asks.
const MAX_PAUSE: Duration = Duration::from_secs(3600);

/// Reads the pause among the details of an error, such as `"retryDelay": "3.5s"`.
pub(super) fn pause(body: &Value) -> Option<Duration> {
    let error = body.get(0).unwrap_or(body).get("error")?;
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.trim().strip_suffix('s')?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0)
        .then(|| Duration::from_secs_f64(seconds.min(MAX_PAUSE.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pause_of(delay: Value) -> Option<Duration> {
        let details = json!([
            { "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [] },
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay },
        ]);
        let body = json!({ "error": { "code": 429, "details": details } });
        assert_eq!(pause(&json!([body])), pause(&body), "in a list of one");
        pause(&body)
    }

    #[test]
    fn a_pause_is_read_from_the_details() {
        assert_eq!(pause_of(json!("22s")), Some(Duration::from_secs(22)));
        assert_eq!(pause_of(json!("3.5s")), Some(Duration::from_millis(3500)));
        assert_eq!(pause_of(json!("1e300s")), Some(MAX_PAUSE));
    }

    #[test]
    fn nonsense_is_no_pause() {
        for nonsense in [json!("22"), json!("-1s"), json!("NaNs"), json!("s"), json!(22), json!(null)] {
            assert_eq!(pause_of(nonsense), None);
        }
        assert_eq!(pause(&json!({ "error": "x" })), None);
    }
}
