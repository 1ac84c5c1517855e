//! Whether another try follows, and after how long.

use std::time::Duration;

use crate::azure::{Answer, Verb};

/// How many tries follow the first at most.
pub(super) const MAX_RETRIES: u32 = 3;

/// How a service is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryPolicy {
    /// The resource manager.
    Management,
    /// Blobs: longer waits, and being throttled is final.
    Blob,
    /// Nothing is tried again.
    Never,
}

/// Returns how long to wait before another try; nothing where the answer stands.
pub(super) fn again(manner: RetryPolicy, verb: Verb, answer: &Answer, tried: u32) -> Option<Duration> {
    if tried >= MAX_RETRIES || manner == RetryPolicy::Never || answer.status < 400 {
        return None;
    }
    if manner == RetryPolicy::Blob {
        // The first wait is 15 s, then 3 s for each try to the power of the tries.
        let fails = matches!(answer.status, 408 | 500 | 502 | 503 | 504);
        return fails.then(|| Duration::from_secs(15 + (3_u64.pow(tried)).saturating_sub(1)));
    }
    if let Some(wait) = retry_after(answer) {
        return Some(wait);
    }
    let safe = match verb {
        Verb::Get | Verb::Head | Verb::Put | Verb::Delete => {
            matches!(answer.status, 408 | 429 | 500 | 502 | 503 | 504)
        }
        Verb::Post | Verb::Patch => matches!(answer.status, 500 | 503 | 504),
    };
    safe.then(|| backoff(tried))
}

/// Returns how long to wait where nobody says: none, then 1.6 s, then 3.2 s.
pub(super) fn backoff(tried: u32) -> Duration {
    match tried {
        0 => Duration::ZERO,
        tried => Duration::from_millis(800_u64.saturating_mul(1_u64.checked_shl(tried).unwrap_or(u64::MAX))),
    }
}

/// Returns what an answer says about waiting. Zero counts as saying nothing.
pub(super) fn retry_after(answer: &Answer) -> Option<Duration> {
    const MAX_WAIT_SECONDS: f64 = 86_400.0;
    let number = |name: &str, unit: f64| {
        let text = header(answer, name)?;
        let value: f64 = text.trim().parse().ok()?;
        let seconds = value * unit;
        (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(MAX_WAIT_SECONDS)))
    };
    number("retry-after", 1.0)
        .or_else(|| number("retry-after-ms", 0.001))
        .or_else(|| number("x-ms-retry-after-ms", 0.001))
}

/// Returns a header of an answer.
pub(super) fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)]) -> Answer {
        headers.iter().fold(Answer::empty(status), |answer, (name, value)| answer.with(name, *value))
    }

    #[track_caller]
    fn check(verb: Verb, given: &Answer, tried: u32, millis: Option<u64>) {
        assert_eq!(again(RetryPolicy::Management, verb, given, tried), millis.map(Duration::from_millis));
    }

    #[test]
    fn whoever_names_a_time_is_asked_again_after_it() {
        check(Verb::Post, &answer(409, &[("Retry-After", "2")]), 0, Some(2_000));
        check(Verb::Get, &answer(429, &[("retry-after", "0.2")]), 2, Some(200));
        check(Verb::Get, &answer(429, &[("Retry-After", "1")]), 3, None);
        check(Verb::Get, &answer(202, &[("Retry-After", "1")]), 0, None);
    }

    #[test]
    fn without_a_time_only_what_is_safe_is_tried_again() {
        check(Verb::Get, &answer(429, &[]), 0, Some(0));
        check(Verb::Delete, &answer(503, &[]), 1, Some(1_600));
        check(Verb::Put, &answer(500, &[]), 2, Some(3_200));
        check(Verb::Post, &answer(429, &[]), 0, None);
        check(Verb::Patch, &answer(429, &[]), 0, None);
        check(Verb::Post, &answer(503, &[]), 0, Some(0));
        check(Verb::Get, &answer(404, &[]), 0, None);
    }

    #[test]
    fn a_time_that_is_none_says_nothing() {
        for text in ["", "soon", "-1", "NaN", "0", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(retry_after(&answer(202, &[("Retry-After", text)])), None, "{text}");
        }
        assert_eq!(retry_after(&answer(202, &[("Retry-After", "1e300")])), Some(Duration::from_secs(86_400)));
    }

    #[test]
    fn blobs_wait_longer_and_never_when_throttled() {
        assert_eq!(again(RetryPolicy::Blob, Verb::Get, &answer(429, &[("Retry-After", "1")]), 0), None);
        assert_eq!(again(RetryPolicy::Blob, Verb::Get, &answer(503, &[]), 0), Some(Duration::from_secs(15)));
        assert_eq!(again(RetryPolicy::Never, Verb::Get, &answer(503, &[]), 0), None);
    }
}
