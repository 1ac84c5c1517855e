//! Why two sides should not be compared: the wrong time, or another thing.

use std::fmt;
use std::str::FromStr;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::side::Side;
use ghost_base::Timestamp;

/// The time in which something was meant to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// When it began.
    pub start: Timestamp,
    /// When it ended, where that was said.
    pub end: Option<Timestamp>,
}

/// Why a text is no change window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a change window is START or START..END, each such as 2026-01-31T22:00:00Z, and END is not before START"
)]
pub struct WindowError;

impl FromStr for Window {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        let (start, end) = match text.split_once("..") {
            Some((start, end)) => (start, Some(end)),
            None => (text, None),
        };
        let (start, end) = (moment(start)?, end.map(moment).transpose()?);
        if end.is_some_and(|end| end < start) { Err(WindowError) } else { Ok(Self { start, end }) }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.start)?;
        self.end.iter().try_for_each(|end| write!(out, "..{end}"))
    }
}

/// Reads any moment of RFC 3339.
fn moment(text: &str) -> Result<Timestamp, WindowError> {
    let moment = OffsetDateTime::parse(text.trim(), &Rfc3339).map_err(|_| WindowError)?;
    let millis = moment.unix_timestamp_nanos().div_euclid(1_000_000);
    i64::try_from(millis).map(Timestamp::from_millis).map_err(|_| WindowError)
}

/// Says why the comparison of two sides would prove nothing, each reason in a sentence.
#[must_use]
pub fn objections(baseline: &Side, current: &Side, window: Option<Window>) -> Vec<String> {
    let mut found = Vec::new();
    let (before, after) = (baseline.taken.as_ref(), current.taken.as_ref());
    if let Some((before, after)) =
        before.zip(after).filter(|(before, after)| before.scope.contradicts(&after.scope))
    {
        found
            .push(format!("the baseline is about {}, the current state about {}", before.scope, after.scope));
    }
    if let Some(Window { start, .. }) = window {
        match before.map(|taken| taken.at) {
            None => found.push("the baseline is a bundle, which does not say when it was taken".to_owned()),
            Some(at) if at > start => {
                found.push(format!(
                    "the baseline was taken at {at}, after the change window began at {start}"
                ));
            }
            Some(_) => {}
        }
    }
    found
}

/// Says what a reader of the answer should know about when the two sides were read.
#[must_use]
pub fn doubts(baseline: &Side, current: &Side, window: Option<Window>) -> Vec<String> {
    let mut found = Vec::new();
    let (before, after) = (baseline.taken.as_ref(), current.taken.as_ref());
    if let Some((before, after)) = before.zip(after) {
        if after.at < before.at {
            found.push(format!(
                "the current state was taken at {}, before the baseline at {}",
                after.at, before.at
            ));
        }
        let printed = before.answers_at.zip(after.answers_at);
        if printed.is_some_and(|(before, after)| after <= before) {
            found
                .push("the answers of the current state are not newer than those of the baseline".to_owned());
        }
    }
    let Some(window) = window else { return found };
    let (edge, what) = window.end.map_or((window.start, "began"), |end| (end, "ended"));
    match after.map(|taken| taken.answers_at.map_or(taken.at, |at| at.min(taken.at))) {
        None => found.push("the current state is a bundle, which does not say when it was taken".to_owned()),
        Some(at) if at < edge => {
            found.push(format!("the current state is of {at}, before the change window {what} at {edge}"));
        }
        Some(_) => {}
    }
    found
}
