//! Amounts in words.

use std::time::Duration;

use crate::state::Spent;
use ghost_base::Timestamp;

/// Returns a length of time as `1 h 02 min 03 s`, or as `4.2 s` below a minute.
pub(super) fn time(length: Duration) -> String {
    let seconds = length.as_secs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) if rest == 0 => "less than 1 s".to_owned(),
        (0, 0) => format!("{rest}.{} s", length.subsec_millis() / 100),
        (0, _) => format!("{minutes} min {rest:02} s"),
        (_, _) => format!("{hours} h {minutes:02} min {rest:02} s"),
    }
}

/// Returns a length of time as `00:12:03`.
pub(super) fn clock(length: Duration) -> String {
    let seconds = length.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Returns a moment to the second, without the letters of a machine.
pub(super) fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    text.split_once('.').map_or(text.as_str(), |(seconds, _)| seconds).trim_end_matches('Z').replace('T', " ")
}

/// Returns millionths of a dollar as dollars.
pub(super) fn dollars(micros: u64) -> String {
    format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Returns what the turns cost, as far as that is known.
pub(super) fn cost(spent: &Spent) -> String {
    let known = dollars(spent.cost_micros);
    match spent.turns_without_price {
        0 => known,
        all if all >= spent.turns => format!("unknown for {}", count(all.into(), "turn")),
        some => format!("{known}, unknown for {}", count(some.into(), "turn")),
    }
}

/// Returns a number with its noun.
pub(super) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns what was used of a budget; zero stands for no limit.
pub(super) fn of(used: u64, limit: u64) -> String {
    if limit == 0 { format!("{used}, no limit") } else { format!("{used} of {limit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_people_say_them() {
        for (millis, text, short) in [
            (0, "less than 1 s", "00:00:00"),
            (4_200, "4.2 s", "00:00:04"),
            (61_000, "1 min 01 s", "00:01:01"),
            (3_723_000, "1 h 02 min 03 s", "01:02:03"),
        ] {
            let length = Duration::from_millis(millis);
            assert_eq!((time(length).as_str(), clock(length).as_str()), (text, short));
        }
    }

    #[test]
    fn an_unknown_price_is_never_zero() {
        let spent = |turns, unknown, cost_micros| {
            cost(&Spent { turns, turns_without_price: unknown, cost_micros, ..Spent::default() })
        };
        assert_eq!(spent(3, 3, 0), "unknown for 3 turns");
        assert_eq!(spent(3, 1, 12_345), "$0.012345, unknown for 1 turn");
        assert_eq!(spent(3, 0, 2_000_000), "$2.000000");
    }
}
