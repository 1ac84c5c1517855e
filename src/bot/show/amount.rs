//! Amounts as people say them.

use std::time::Duration;

use ghost_base::Timestamp;

/// Returns a length of time, to the minute.
pub(super) fn minutes(length: Duration) -> String {
    let minutes = length.as_secs() / 60;
    match (minutes / 60, minutes % 60) {
        (0, 0) => "under a minute".to_owned(),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes:02} min"),
    }
}

/// Returns how long a command ran.
pub(super) fn seconds(millis: u64) -> String {
    if millis < 60_000 {
        return format!("{}.{} s", millis / 1000, millis % 1000 / 100);
    }
    minutes(Duration::from_millis(millis))
}

/// Returns a number with its noun and a comma between thousands.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", number_of(number), if number == 1 { "" } else { "s" })
}

/// Returns a number with a comma between thousands.
pub(super) fn number_of(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns the time of the day for those whose client draws no dates.
pub(super) fn clock(at: Timestamp) -> String {
    let text = at.to_string();
    // A moment outside of the calendar is printed as a number.
    let time = text.get(11..19).filter(|_| text.get(10..11) == Some("T"));
    time.map_or_else(|| text.clone(), |time| format!("{time} UTC"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_as_people_say_them() {
        assert_eq!(minutes(Duration::from_secs(59)), "under a minute");
        assert_eq!(minutes(Duration::from_secs(60)), "1 min");
        assert_eq!(minutes(Duration::from_secs(3_900)), "1 h 05 min");
        assert_eq!(seconds(4_250), "4.2 s");
        assert_eq!(seconds(61_000), "1 min");
        assert_eq!(count(1, "check"), "1 check");
        assert_eq!(count(1_234_567, "character"), "1,234,567 characters");
        assert_eq!(count(100, "x"), "100 xs");
        assert_eq!(clock(Timestamp::from_millis(1_760_000_000_000)), "08:53:20 UTC");
        assert_eq!(clock(Timestamp::from_millis(i64::MAX)), format!("{}ms", i64::MAX));
    }
}
