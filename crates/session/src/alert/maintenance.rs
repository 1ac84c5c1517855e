//! Times in which alerts are written down and nothing is investigated.

use std::str::FromStr;

use super::notification::moment;
use ghost_base::Timestamp;

const DAY_MINUTES: i64 = 24 * 60;

/// The days of a week, from the one on which 1970 began.
const DAYS: [&str; 7] = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"];

/// A time in which nothing is investigated; all of it is UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Window {
    /// Once, from a moment to another.
    Once { from: Timestamp, to: Timestamp },
    /// On some days of the week, from a minute of the day to another; where that is not later, on the next day.
    Weekly { days: [bool; 7], from: i64, to: i64 },
}

/// Why a text is no window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no window: it is written as 2026-11-24T20:00:00Z/2026-11-24T22:00:00Z, or as `sat,sun 02:00-04:00` or `daily 02:00-03:00`, in UTC"
)]
pub struct WindowError(String);

impl Window {
    /// Tells whether a moment lies in it.
    #[must_use]
    pub fn holds(&self, at: Timestamp) -> bool {
        match self {
            Self::Once { from, to } => (from.as_millis()..to.as_millis()).contains(&at.as_millis()),
            Self::Weekly { days, from, to } => {
                let minutes = at.as_millis().div_euclid(60_000);
                let (day, minute) = (minutes.div_euclid(DAY_MINUTES), minutes.rem_euclid(DAY_MINUTES));
                let is_day = |day: i64| {
                    usize::try_from(day.rem_euclid(7))
                        .ok()
                        .and_then(|day| days.get(day))
                        .is_some_and(|day| *day)
                };
                if from < to {
                    is_day(day) && (*from..*to).contains(&minute)
                } else {
                    (is_day(day) && minute >= *from) || (is_day(day - 1) && minute < *to)
                }
            }
        }
    }
}

impl FromStr for Window {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        let wrong = || WindowError(text.to_owned());
        if let Some((from, to)) = text.split_once('/') {
            let (from, to) = (moment(from.trim()).ok_or_else(wrong)?, moment(to.trim()).ok_or_else(wrong)?);
            return if from < to { Ok(Self::Once { from, to }) } else { Err(wrong()) };
        }
        let (when, hours) = text.trim().split_once(' ').ok_or_else(wrong)?;
        let mut days = [false; 7];
        for word in when.split(',') {
            match DAYS.iter().position(|day| word.eq_ignore_ascii_case(day)) {
                _ if word.eq_ignore_ascii_case("daily") => days = [true; 7],
                Some(at) => days.iter_mut().skip(at).take(1).for_each(|day| *day = true),
                None => return Err(wrong()),
            }
        }
        let (from, to) = hours.trim().split_once('-').ok_or_else(wrong)?;
        let (from, to) = (minute(from).ok_or_else(wrong)?, minute(to).ok_or_else(wrong)?);
        Ok(Self::Weekly { days, from, to })
    }
}

/// Reads `HH:MM` as a minute of the day.
fn minute(text: &str) -> Option<i64> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let two = |text: &str| (text.len() == 2).then(|| text.parse::<u8>().ok()).flatten();
    let (hours, minutes) = (i64::from(two(hours)?), i64::from(two(minutes)?));
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn holds(window: &str, at: &str) -> bool {
        window.parse::<Window>().unwrap().holds(moment(at).unwrap())
    }

    #[test]
    fn a_window_holds_from_its_begin_to_before_its_end() {
        let once = "2026-11-24T20:00:00Z/2026-11-24T23:00:00+01:00";
        assert!(holds(once, "2026-11-24T20:00:00Z") && holds(once, "2026-11-24T21:59:59.999Z"));
        assert!(!holds(once, "2026-11-24T22:00:00Z") && !holds(once, "2026-11-24T19:59:59Z"));
        // 2026-11-24 is a Tuesday.
        assert!(holds("tue 02:00-04:00", "2026-11-24T03:00:00Z"));
        assert!(!holds("wed,thu 02:00-04:00", "2026-11-24T03:00:00Z"));
        assert!(
            holds("daily 02:00-04:00", "2026-11-24T02:00:00Z")
                && !holds("daily 02:00-04:00", "2026-11-24T04:00:00Z")
        );
    }

    #[test]
    fn a_window_over_midnight_belongs_to_the_day_on_which_it_begins() {
        let night = "Tue 23:00-01:00";
        assert!(holds(night, "2026-11-24T23:30:00Z") && holds(night, "2026-11-25T00:59:00Z"));
        assert!(!holds(night, "2026-11-24T00:30:00Z") && !holds(night, "2026-11-25T23:30:00Z"));
    }

    #[test]
    fn what_is_no_window_is_refused() {
        for text in [
            "",
            "daily",
            "daily 2:00-3:00",
            "daily 24:00-25:00",
            "someday 02:00-03:00",
            "sat 02:00",
            "2026-11-24T22:00:00Z/2026-11-24T20:00:00Z",
            "2026-11-24/2026-11-25",
            "daily 02:60-03:00",
        ] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
    }
}
