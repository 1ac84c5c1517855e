//! `sleep` and `date`.

use std::time::Duration;

use crate::host::script::run::{Io, Shell, duration};

pub(super) fn sleep(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let mut whole = Duration::ZERO;
    for word in arguments {
        let Some(time) = duration(word) else {
            return shell.complain(io, &format!("sleep: invalid time interval ‘{word}’"), 1);
        };
        whole = whole.saturating_add(time);
    }
    if arguments.is_empty() {
        return shell.complain(io, "sleep: missing operand", 1);
    }
    // Somebody may end it before it is over.
    let left = shell.limit.map(|limit| limit.since(shell.calls.now()));
    shell.calls.sleep(left.map_or(whole, |left| left.min(whole)));
    0
}

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

pub(super) fn date(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let mut format = "+%a %b %e %H:%M:%S UTC %Y".to_owned();
    for word in arguments {
        match word.as_str() {
            "-u" | "--utc" => {}
            "-Is" | "-Iseconds" | "--iso-8601=seconds" => format = "+%Y-%m-%dT%H:%M:%S+00:00".to_owned(),
            "-I" => format = "+%Y-%m-%d".to_owned(),
            "-R" => format = "+%a, %d %b %Y %H:%M:%S +0000".to_owned(),
            word if word.starts_with('+') => word.clone_into(&mut format),
            word => return shell.complain(io, &format!("date: invalid date ‘{word}’"), 1),
        }
    }
    let millis = i128::from(shell.calls.now().as_millis());
    let Ok(now) = time::OffsetDateTime::from_unix_timestamp_nanos(millis * 1_000_000) else { return 1 };
    let seconds = now.unix_timestamp();
    let mut out = String::new();
    let mut chars = format.trim_start_matches('+').chars();
    while let Some(char) = chars.next() {
        if char != '%' {
            out.push(char);
            continue;
        }
        let day =
            || DAYS.get(usize::from(now.weekday().number_days_from_sunday())).copied().unwrap_or_default();
        let month = || MONTHS.get(usize::from(u8::from(now.month())) - 1).copied().unwrap_or_default();
        match chars.next() {
            Some('Y') => out.push_str(&now.year().to_string()),
            Some('y') => out.push_str(&format!("{:02}", now.year() % 100)),
            Some('m') => out.push_str(&format!("{:02}", u8::from(now.month()))),
            Some('d') => out.push_str(&format!("{:02}", now.day())),
            Some('e') => out.push_str(&format!("{:2}", now.day())),
            Some('j') => out.push_str(&format!("{:03}", now.ordinal())),
            Some('H') => out.push_str(&format!("{:02}", now.hour())),
            Some('M') => out.push_str(&format!("{:02}", now.minute())),
            Some('S') => out.push_str(&format!("{:02}", now.second())),
            Some('N') => out.push_str(&format!("{:09}", now.nanosecond())),
            Some('s') => out.push_str(&seconds.to_string()),
            Some('a') => out.push_str(day()),
            Some('b' | 'h') => out.push_str(month()),
            Some('Z') => out.push_str("UTC"),
            Some('z') => out.push_str("+0000"),
            Some('F') => {
                out.push_str(&format!("{}-{:02}-{:02}", now.year(), u8::from(now.month()), now.day()));
            }
            Some('T') => {
                out.push_str(&format!("{:02}:{:02}:{:02}", now.hour(), now.minute(), now.second()));
            }
            Some('%') => out.push('%'),
            Some('3') if chars.as_str().starts_with('N') => {
                chars.next();
                out.push_str(&format!("{:03}", now.millisecond()));
            }
            Some(other) => {
                out.push('%');
                out.push(other);
            }
            None => out.push('%'),
        }
    }
    shell.say(io, &out);
    0
}
