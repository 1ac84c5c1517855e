//! `az monitor activity-log …` and `az monitor metrics …`.

use std::time::Duration;

use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::failure::Failure;
use super::flatten::grouped;
use super::line::Line;
use super::session::{Session, checked};
use super::table::{Command, CommandResult};
use crate::azure::Verb;
use ghost_base::Timestamp;

pub(super) const COMMANDS: &[Command] = &[
    Command::own(
        "monitor activity-log list",
        "--resource-group,-g --correlation-id --resource-id --namespace --resource-provider --caller --status --max-events# --offset --start-time --end-time --select*",
        list,
    ),
    Command::own(
        "monitor metrics list",
        "--resource! --metrics* --aggregation* --interval --offset --start-time --end-time --filter",
        metrics,
    ),
];

/// Shows the metrics of a resource.
fn metrics(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let names = line.many("--metrics").map(|names| names.join(",")).unwrap_or_default();
    let path = format!("{}/providers/Microsoft.Insights/metrics", line.need("--resource")?);
    let mut query = vec![("metricnames", names.as_str()), ("api-version", "2018-01-01")];
    query.extend(line.one("--filter").map(|filter| ("$filter", filter)));
    query.extend(line.one("--interval").map(|interval| ("interval", interval)));
    checked(&session.ask(Verb::Get, &path, &query, None)?).map(|found| Some(grouped(found)))
}

fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let now = session.environment.now();
    let end = line.one("--end-time").map(moment).transpose()?.unwrap_or(now);
    let offset = line.one("--offset").map_or(Ok(Duration::from_secs(6 * 3600)), duration)?;
    let start = line.one("--start-time").map(moment).transpose()?;
    let millis = i64::try_from(offset.as_millis()).unwrap_or(i64::MAX);
    let start = start.unwrap_or_else(|| Timestamp::from_millis(end.as_millis().saturating_sub(millis)));
    let mut filter = format!("eventTimestamp ge {start} and eventTimestamp le {end}");
    let fields = [
        ("--resource-group", "resourceGroupName"),
        ("--resource-id", "resourceId"),
        ("--namespace", "resourceProvider"),
        ("--resource-provider", "resourceProvider"),
        ("--correlation-id", "correlationId"),
        ("--caller", "caller"),
        ("--status", "status"),
    ];
    for (option, field) in fields {
        if let Some(value) = line.one(option) {
            filter.push_str(&format!(" and {field} eq '{}'", value.replace('\'', "''")));
        }
    }
    let select = line.many("--select").map(|fields| fields.join(","));
    let mut query = vec![("$filter", filter.as_str())];
    query.extend(select.as_deref().map(|select| ("$select", select)));
    query.push(("api-version", "2015-04-01"));
    let most = line.number("--max-events").map_or(50, |most| usize::try_from(most).unwrap_or_default());
    let path = session.place("/providers/Microsoft.Insights/eventtypes/management/values")?;
    let mut found = session.list(&path, &query, Some(most))?;
    found.truncate(most);
    let mut found = Value::Array(found);
    without_nothing(&mut found);
    Ok(Some(grouped(found)))
}

fn without_nothing(document: &mut Value) {
    match document {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(without_nothing);
        }
        Value::Array(list) => list.iter_mut().for_each(without_nothing),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn moment(text: &str) -> Result<Timestamp, Failure> {
    let wrong = || {
        Failure::new(
            1,
            format!(
                "Unable to parse: '{text}'. Expected format: date (yyyy-mm-dd) time (hh:mm:ss.xxxxx) timezone (+/-hh:mm)"
            ),
        )
    };
    let spelled = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        _ => text.replacen(' ', "T", 1),
    };
    let zoned = format!("{spelled}Z");
    let read = OffsetDateTime::parse(&spelled, &Rfc3339).or_else(|_| OffsetDateTime::parse(&zoned, &Rfc3339));
    let millis = read.map_err(|_| wrong())?.unix_timestamp_nanos() / 1_000_000;
    i64::try_from(millis).map(Timestamp::from_millis).map_err(|_| wrong())
}

/// Reads a length of time: numbers and units, as in `1d6h30m`.
fn duration(text: &str) -> Result<Duration, Failure> {
    let wrong = || Failure::new(1, format!("Unable to parse: '{text}'. Expected format: ##d##h##m"));
    let (mut total, mut digits) = (0_u64, String::new());
    for letter in text.chars() {
        let unit = match letter {
            '0'..='9' => {
                digits.push(letter);
                continue;
            }
            'd' => 86_400,
            'h' => 3_600,
            'm' => 60,
            's' => 1,
            _ => return Err(wrong()),
        };
        let number: u64 = digits.parse().map_err(|_| wrong())?;
        total = number.checked_mul(unit).and_then(|more| total.checked_add(more)).ok_or_else(wrong)?;
        digits.clear();
    }
    if digits.is_empty() && !text.is_empty() { Ok(Duration::from_secs(total)) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_read_by_its_units() {
        assert_eq!(duration("1d6h30m").unwrap(), Duration::from_secs(86_400 + 6 * 3_600 + 1_800));
        for text in ["", "5", "h", "1w", "99999999999999999999d", "18446744073709551615d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_moment_may_lack_its_zone() {
        let expected = moment("2025-06-02T09:31:00Z").unwrap();
        for text in ["2025-06-02 09:31:00", "2025-06-02T11:31:00+02:00"] {
            assert_eq!(moment(text).unwrap(), expected, "{text}");
        }
        assert!(moment("2025-06-02").is_ok() && moment("soon").is_err() && moment("").is_err());
    }
}
