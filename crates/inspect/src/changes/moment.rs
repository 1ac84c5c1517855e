//! Times as logs write them.

use ghost_base::Timestamp;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};

/// Reads a moment: RFC 3339 with up to nine digits of a second, `T` or a space before the time, no zone for UTC, a date alone for its
/// first moment, or `/Date(1700000000000)/`.
#[must_use]
pub fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Some(millis) = text.strip_prefix("/Date(").and_then(|rest| rest.strip_suffix(")/")) {
        return millis.parse().ok().map(Timestamp::from_millis);
    }
    if text.len() > 40 || !text.is_ascii() {
        return None;
    }
    let (day, time) = match text.split_at_checked(10) {
        Some((day, "")) => (day, "00:00:00Z"),
        Some((day, rest)) => (day, rest.strip_prefix(['T', 't', ' '])?),
        None => return None,
    };
    Date::parse(day, format_description!("[year]-[month]-[day]")).ok()?;
    let time = time.replacen(' ', "", 1);
    let has_zone = time.ends_with(['Z', 'z']) || time.contains(['+', '-']);
    let spelled = format!("{day}T{time}{}", if has_zone { "" } else { "Z" });
    let nanos = OffsetDateTime::parse(&spelled, &Rfc3339).ok()?.unix_timestamp_nanos();
    i64::try_from(nanos.div_euclid(1_000_000)).ok().map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_may_have_any_zone_or_none() {
        let expected = Some(Timestamp::from_millis(1_700_000_000_000));
        for text in [
            "2023-11-14T22:13:20Z",
            "2023-11-14T22:13:20",
            "2023-11-14 22:13:20.000",
            "2023-11-14T22:13:20.0000000Z",
            "2023-11-14T23:13:20+01:00",
            "2023-11-14 23:13:20 +01:00",
            "2023-11-14T20:13:20.0-02:00",
            "/Date(1700000000000)/",
        ] {
            assert_eq!(moment(text), expected, "{text}");
        }
        assert_eq!(moment("2023-11-14").unwrap().to_string(), "2023-11-14T00:00:00.000Z");
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "soon",
            "2023-11-14T",
            "2023-13-14",
            "2023-11-14T25:00:00Z",
            "14.11.2023",
            "é023-11-14",
            "/Date()/",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
