//! Where the blobs of a flow log are: one for each interface and hour.

use time::OffsetDateTime;

use super::log::Window;
use super::read::plain_mac;

/// The container in which flow logs are written.
pub const BLOBS: &str = "insights-logs-flowlogflowevent";
/// So many hours are read at once.
const MAX_HOURS: u64 = 48;
const HOUR_MILLIS: u64 = 3_600_000;

/// An hour of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hour(u64);

impl Hour {
    /// Returns the folder of the hour, below that of the log: `y=2026/m=11/d=27/h=03/m=00/`.
    #[must_use]
    pub fn folder(self) -> String {
        let seconds = i64::try_from(self.0.saturating_mul(HOUR_MILLIS / 1_000)).unwrap_or(i64::MAX);
        let at = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let (year, month, day) = at.to_calendar_date();
        format!("y={year:04}/m={:02}/d={day:02}/h={:02}/m=00/", u8::from(month), at.hour())
    }
}

/// Returns the hours of a window, the last ones where it has too many, and whether it has.
#[must_use]
pub fn hours(window: Window) -> (Vec<Hour>, bool) {
    let (first, last) = (window.from / HOUR_MILLIS, window.to / HOUR_MILLIS);
    let is_long = last.saturating_sub(first) >= MAX_HOURS;
    let first = if is_long { last.saturating_sub(MAX_HOURS - 1) } else { first };
    ((first..=last).map(Hour).collect(), is_long)
}

/// Writes a moment, in milliseconds since 1970, as `2026-11-27 03:00:00Z`.
pub(crate) fn moment_text(millis: u64) -> String {
    let seconds = i64::try_from(millis / 1_000).unwrap_or(i64::MAX);
    let at = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (year, month, day) = at.to_calendar_date();
    let (hour, minute, second) = at.to_hms();
    format!("{year:04}-{:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z", u8::from(month))
}

/// Returns the hardware address in the name of a blob, as interfaces have it.
#[must_use]
pub fn mac_of(blob: &str) -> Option<String> {
    let (_, rest) = blob.rsplit_once("macAddress=")?;
    let (mac, file) = rest.split_once('/')?;
    let mac = plain_mac(mac);
    (file == "PT1H.json" && mac.len() == 17).then_some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_the_hours_that_it_touches() {
        // 2026-11-27, 03:59:59 to 04:00:00.
        let from = 1_795_751_999_000;
        let (all, is_long) = hours(Window { from, to: from + 1_000 });
        let folders: Vec<String> = all.into_iter().map(Hour::folder).collect();
        assert_eq!(folders, ["y=2026/m=11/d=27/h=03/m=00/", "y=2026/m=11/d=27/h=04/m=00/"]);
        assert!(!is_long);
        let (all, is_long) = hours(Window { from: 0, to: from });
        assert_eq!((all.len(), is_long), (48, true));
        assert_eq!(all.last().unwrap().folder(), "y=2026/m=11/d=27/h=03/m=00/");
        assert_eq!(hours(Window { from: u64::MAX, to: u64::MAX }).0.len(), 1);
        assert_eq!(hours(Window { from: 5, to: 4 }).0.len(), 1);
    }

    #[test]
    fn the_name_of_a_blob_names_the_interface() {
        let folder = "flowLogResourceID=/S_RG/W_V/y=2026/m=11/d=27/h=03/m=00/";
        let name = format!("{folder}macAddress=000D3A000104/PT1H.json");
        assert_eq!(mac_of(&name).as_deref(), Some("00-0D-3A-00-01-04"));
        for other in ["macAddress=000D3A000104/other.json", "macAddress=000D3A0001/PT1H.json", "PT1H.json"] {
            assert_eq!(mac_of(&format!("{folder}{other}")), None, "{other}");
        }
    }
}
