//! Changes as a page for people.

use super::command::{Found, decisive};
use crate::page::{Cell, Page, Tone, plain};
use ghost_base::Timestamp;
use ghost_inspect::changes::{Change, Origin, Reference, Status};

/// So many changes are shown.
const SHOWN: usize = 60;

pub(super) fn page(found: &Found<'_>) -> Page {
    let mut page = Page::for_output();
    let log = found.log;
    if let Some((object, attributed)) = &found.around
        && let Some(origin) = decisive(attributed)
    {
        let tone = match origin {
            Origin::MadeBy { .. } => Tone::Bad,
            Origin::MayBe { .. } => Tone::Odd,
            Origin::None { .. } => Tone::Plain,
        };
        let sentence = log.origin_sentence(object, origin, Reference::FirstFailure, moment);
        page.add(tone, &format!("{}.", capital(&sentence))).end();
    }
    let span = match (found.since, found.until) {
        (Some(since), Some(until)) => format!(" from {} to {}", moment(since), moment(until)),
        (Some(since), None) => format!(" since {}", moment(since)),
        (None, Some(until)) => format!(" until {}", moment(until)),
        (None, None) => String::new(),
    };
    let headline = match found.shown.len() {
        0 => format!("No changes{span}"),
        1 => format!("1 change{span}"),
        some => format!("{some} changes{span}"),
    };
    page.title(&headline);
    let row = |at: &usize| log.changes.get(*at).map(|change| row(found, *at, change)).unwrap_or_default();
    page.first(&found.shown, SHOWN, row);
    for remark in &found.remarks {
        page.remark(Some(remark));
    }
    page.unread(&log.warnings);
    page
}

fn row(found: &Found<'_>, at: usize, change: &Change) -> Vec<Cell> {
    let (tone, status) = match change.status {
        Status::Succeeded => (Tone::Good, "succeeded"),
        Status::Failed => (Tone::Bad, "failed"),
        Status::Canceled => (Tone::Odd, "canceled"),
        Status::Unfinished => (Tone::Odd, "unfinished"),
    };
    let what = format!("{} {}", change.resource.words(), change.action);
    let mut cells =
        vec![plain(moment(change.at)), (tone, status.to_owned()), plain(what), plain(change.who.words())];
    if let Some(why) = found.unconnected(at) {
        cells.push((Tone::Faint, format!("not connected: {}", why.words())));
    }
    cells
}

/// Returns a moment as a list shows it.
fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    match (text.get(..10), text.get(11..19)) {
        (Some(day), Some(time)) => format!("{day} {time}Z"),
        _ => text,
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}
