//! `az storage blob download` without a file prints the blob. A part of a flow log, as the platform names them, is printed without asking.

use super::address;
use super::line::{Given, Line};
use super::read::check_values;
use crate::identity::is_guid;
use crate::judge::allow::Allowed;
use crate::policy::{Cloud, Refusal};

/// The longest name of a watcher and a log together.
const MAX_NAME_BYTES: usize = 180;

/// Tells whether a download names no file and the container of flow logs.
pub(super) fn is_meant(table: &Cloud, line: &Line<'_, '_>) -> bool {
    let options = Given::all(line.rest);
    let writes = options.iter().any(|given| given.name == "-f" || given.may_be("--file"));
    let mut values = options.iter().flat_map(Given::values);
    !writes && values.any(|value| value == table.flow_logs.container)
}

/// Judges it: one container, one name, one account, a sign-in and no key, and no more than so many bytes.
pub(super) fn judge(table: &Cloud, line: &Line<'_, '_>) -> Result<Allowed, Refusal> {
    let known = &table.flow_logs;
    let options: Vec<Given<'_>> = Given::all(line.front).into_iter().chain(Given::all(line.rest)).collect();
    let (mut container, mut name, mut login, mut account) = (0, 0, 0, 0);
    let (mut first, mut last) = (None, None);
    for given in &options {
        let attached = given.name.starts_with("--") || given.attached.is_none();
        if !attached || !known.options.iter().any(|option| option == given.name) {
            return Err(Refusal::option(given.word));
        }
        check_values(given)?;
        let mut values = given.values();
        let (value, more) = (values.next(), values.next());
        match (given.name, value, more) {
            ("--container-name" | "-c", Some(value), None) if value == known.container => container += 1,
            ("--name" | "-n", Some(value), None) if is_blob(value) => name += 1,
            ("--auth-mode", Some("login"), None) => login += 1,
            ("--account-name", Some(_), None) => account += 1,
            ("--start-range", Some(value), None) if first.is_none() => first = number(value),
            ("--end-range", Some(value), None) if last.is_none() => last = number(value),
            ("--output" | "-o" | "--subscription", Some(_), None)
            | ("--only-show-errors" | "--no-progress", None, None) => {}
            (_, value, _) => return Err(Refusal::value(given.name, value.unwrap_or_default())),
        }
    }
    address::check(line, &options, table)?;
    for (count, option) in [
        (container, "--container-name"),
        (name, "--name"),
        (login, "--auth-mode login"),
        (account, "--account-name"),
    ] {
        if count != 1 {
            return Err(Refusal::missing(option));
        }
    }
    match (first, last) {
        (Some(first), Some(last)) if last >= first && last - first < known.max_bytes => {
            Ok(Allowed::cloud("cloud.flow_log", "reads a part of a flow log"))
        }
        _ => {
            let what = format!("of a flow log at most {} bytes are read at once", known.max_bytes);
            Err(Refusal::new("value", what))
        }
    }
}

fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Tells whether a blob is named as the platform names those of flow logs, segment by segment.
fn is_blob(text: &str) -> bool {
    let parts: Vec<&str> = text.split('/').collect();
    let [head, place, log, year, month, day, hour, minute, mac, file] = parts.as_slice() else {
        return false;
    };
    let digits = |part: &str, key: &str, length: usize| {
        part.strip_prefix(key)
            .is_some_and(|rest| rest.len() == length && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_place =
        place.split_once('_').is_some_and(|(subscription, group)| is_guid(subscription) && is_name(group));
    let is_mac = mac
        .strip_prefix("macAddress=")
        .is_some_and(|rest| rest.len() == 12 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    *head == "flowLogResourceID="
        && is_place
        && is_name(log)
        && log.contains('_')
        && digits(year, "y=", 4)
        && digits(month, "m=", 2)
        && digits(day, "d=", 2)
        && digits(hour, "h=", 2)
        && *minute == "m=00"
        && is_mac
        && *file == "PT1H.json"
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.()".contains(&byte);
    (1..=MAX_NAME_BYTES).contains(&text.len()) && !text.contains("..") && text.bytes().all(plain)
}
