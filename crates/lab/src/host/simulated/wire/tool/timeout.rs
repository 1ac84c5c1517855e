//! `timeout`, around programs of the network.

use std::time::Duration;

use super::call::call;
use super::option::seconds;
use crate::host::simulated::world::{ProgramResult, World};

/// Ends a program of the network after a time; nothing where it is none of those.
pub(super) fn timeout(
    world: &mut World,
    machine: &str,
    argv: &[String],
    input: &str,
) -> Option<ProgramResult> {
    let mut words = argv.iter().enumerate().skip(1);
    let mut limit = None;
    let mut at = None;
    let mut kills = false;
    while let Some((location, word)) = words.next() {
        if matches!(word.as_str(), "-s" | "--signal" | "-k" | "--kill-after") {
            kills |= words.next().is_some_and(|(_, word)| matches!(word.as_str(), "9" | "KILL" | "SIGKILL"));
        } else if word.starts_with('-') {
            kills |= word.ends_with("KILL") || word == "-s9";
        } else if limit.is_none() {
            limit = Some(span(word)?);
        } else {
            at = Some(location);
            break;
        }
    }
    let inner = argv.get(at?..)?;
    let limit = limit?;
    let called = call(world, machine, inner, input)?;
    if limit.is_zero() || called.took <= limit {
        return Some(called);
    }
    // What a program printed as it went along is there; what it kept for its end is not.
    let share = limit.as_secs_f64() / called.took.as_secs_f64().max(1e-9);
    let flows = inner.first().is_some_and(|name| name.ends_with("ping") || name.ends_with("traceroute"));
    let lines: Vec<&str> = called.out.lines().take_while(|line| !line.is_empty()).collect();
    let kept = lines.len().min(1 + fraction(lines.len().saturating_sub(1), share));
    let out: String = lines.iter().take(kept).map(|line| format!("{line}\n")).collect();
    let code = if kills { 137 } else { 124 };
    Some(ProgramResult {
        out: if flows { out } else { String::new() },
        err: String::new(),
        code,
        took: limit,
    })
}

fn span(text: &str) -> Option<Duration> {
    let (digits, factor) = match text.chars().last()? {
        's' => (text.trim_end_matches('s'), 1),
        'm' => (text.trim_end_matches('m'), 60),
        'h' => (text.trim_end_matches('h'), 3_600),
        _ => (text, 1),
    };
    Some(Duration::from_nanos(seconds(digits)?.saturating_mul(factor)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a few lines"
)]
fn fraction(count: usize, share: f64) -> usize {
    (count as f64 * share.clamp(0.0, 1.0)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_units() {
        assert_eq!(span("2"), Some(Duration::from_secs(2)));
        assert_eq!(span("1.5m"), Some(Duration::from_secs(90)));
        assert_eq!(span("x"), None);
    }
}
