//! Times on the command line.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::print::Hinted;
use ghost_base::Timestamp;

/// Reads a moment: `2026-11-24T08:00:00Z`, or how long ago it was, as `90m`, `2h`, `3d`.
pub fn moment(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    let ago = text.split_at_checked(text.len().saturating_sub(1)).and_then(|(number, unit)| {
        let seconds = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
        let (_, seconds) = seconds.into_iter().find(|(known, _)| *known == unit)?;
        number.parse::<i64>().ok()?.checked_mul(seconds * 1000).filter(|millis| *millis >= 0)
    });
    let found = match ago {
        Some(millis) => Some(Timestamp::from_millis(now.as_millis().saturating_sub(millis))),
        None => written(text),
    };
    found.filter(|at| *at <= now).ok_or_else(|| {
        let error = anyhow::anyhow!("{text:?} is no moment of the past");
        Hinted::new(error, "write 2026-11-24T08:00:00Z, or how long ago it was: 90m, 2h, 3d").into()
    })
}

/// Reads a moment as RFC 3339, with `-` for `:` in names of folders.
pub fn written(text: &str) -> Option<Timestamp> {
    let spelled = match text.split_once('T') {
        Some((day, time)) if !time.contains(':') => format!("{day}T{}", time.replacen('-', ":", 2)),
        Some(_) => text.to_owned(),
        None => format!("{text}T00:00:00Z"),
    };
    let moment = OffsetDateTime::parse(&spelled, &Rfc3339).ok()?;
    i64::try_from(moment.unix_timestamp_nanos().div_euclid(1_000_000)).ok().map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_out_or_counted_back() {
        let now = written("2026-11-24T08:00:00Z").unwrap();
        let back = |text: &str| moment(text, now).map(|at| at.to_string()).ok();
        assert_eq!(back("2h").unwrap(), "2026-11-24T06:00:00.000Z");
        assert_eq!(back("90m").unwrap(), "2026-11-24T06:30:00.000Z");
        assert_eq!(back("2026-11-23T10:30:00+01:00").unwrap(), "2026-11-23T09:30:00.000Z");
        assert_eq!(back("2026-11-23").unwrap(), "2026-11-23T00:00:00.000Z");
        for wrong in ["", "h", "-2h", "2026-11-25", "yesterday", "99999999999999999999d", "é"] {
            assert_eq!(back(wrong), None, "{wrong}");
        }
    }
}
