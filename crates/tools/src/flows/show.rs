//! Flows as a page for people.

use super::command::Found;
use crate::page::{Cell, Page, Tone, counted, plain};
use ghost_base::Timestamp;
use ghost_inspect::flowlog::{Seen, Side, Unread};

/// So many flows are shown.
const SHOWN: usize = 60;

pub(super) fn page(found: &Found) -> Page {
    let mut page = Page::for_output();
    if found.asked {
        let (tone, sentence) = sentence(found);
        page.add(tone, &sentence).end();
    }
    let span = found.span.map(|(from, to)| format!(", from {} to {}", moment(from), moment(to)));
    page.title(&format!("{} lines{}", found.lines, span.unwrap_or_default()));
    page.first(&found.seen, SHOWN, row);
    page.remark(unread(&found.unread).as_deref());
    page.remark(missing(&found.missing_hours).as_deref());
    page
}

/// Says what became of the flow that was asked for.
fn sentence(found: &Found) -> (Tone, String) {
    let denied = found.seen.iter().find(|seen| seen.denied > 0);
    let passed = found.seen.iter().any(|seen| seen.began + seen.lasted > 0);
    match (denied, passed) {
        (Some(seen), passed) => {
            let rule = seen.rule.as_deref().unwrap_or("a rule without a name");
            let also = if passed { "; at other times or interfaces it was let through" } else { "" };
            let text = format!(
                "The log shows that it was denied by {rule}, {}, from {} to {}{also}.",
                counted(seen.denied, "time"),
                moment(seen.first),
                moment(seen.last)
            );
            (Tone::Bad, text)
        }
        (None, true) => {
            let silent = found.seen.iter().all(|seen| seen.began + seen.lasted == 0 || seen.is_unanswered());
            let also = if silent { ", and nothing came back" } else { "" };
            let tone = if silent { Tone::Odd } else { Tone::Good };
            (tone, format!("The log shows that it was let through{also}."))
        }
        (None, false) => (
            Tone::Odd,
            "The log shows nothing of it: it did not come here, or the log is off, filtered, or late."
                .to_owned(),
        ),
    }
}

fn row(seen: &Seen) -> Vec<Cell> {
    let side = match seen.side {
        Side::Inbound => "in",
        Side::Outbound => "out",
    };
    let protocol = match seen.protocol {
        1 => "icmp".to_owned(),
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        other => other.to_string(),
    };
    let mut cells = vec![
        plain(moment(seen.first)),
        plain(moment(seen.last)),
        plain(format!("{} → {}:{} {protocol}", seen.source, seen.destination, seen.port)),
        plain(side),
    ];
    cells.push(match (seen.denied, seen.began + seen.lasted) {
        (0, some) => (Tone::Good, format!("let through, {}", counted(some, "line"))),
        (denied, 0) => (Tone::Bad, format!("denied {}", counted(denied, "time"))),
        (denied, some) => {
            let (denied, some) = (counted(denied, "time"), counted(some, "line"));
            (Tone::Bad, format!("denied {denied}, let through {some}"))
        }
    });
    cells.push(plain(seen.rule.clone().unwrap_or_default()));
    if seen.is_unanswered() {
        cells.push((Tone::Odd, "nothing came back".to_owned()));
    }
    cells
}

fn unread(unread: &Unread) -> Option<String> {
    let counted = [
        (unread.records, "records that are cut off or broken"),
        (unread.lines, "lines that are none"),
        (unread.packed, "packed files that could not be unpacked"),
        (unread.large, "files that are too large and were read in part"),
        (unread.beyond, "lines that were not counted"),
    ];
    let said: Vec<String> = counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{words}: {count}"))
        .collect();
    (!said.is_empty()).then(|| format!("Not all of it: {}.", said.join(", ")))
}

/// At most this many hours are named.
const SHOWN_HOURS: usize = 6;

fn missing(hours: &[u64]) -> Option<String> {
    let shown: Vec<String> = hours.iter().take(SHOWN_HOURS).map(|hour| moment(*hour)).collect();
    let more = hours.len().saturating_sub(SHOWN_HOURS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count = counted(u64::try_from(hours.len()).unwrap_or(u64::MAX), "hour");
    (!shown.is_empty()).then(|| format!("No file has a line of {count}: from {}{more}.", shown.join(", ")))
}

/// Returns a moment as a list shows it.
fn moment(millis: u64) -> String {
    let text = Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX)).to_string();
    match (text.get(..10), text.get(11..19)) {
        (Some(day), Some(time)) => format!("{day} {time}Z"),
        _ => text,
    }
}
