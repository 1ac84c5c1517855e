//! `ghost audit journal`: what people did to the bot as a whole.

use anyhow::Context as _;

use ghost_agent::bot::journal::{JournalAction, Note, read};
use ghost_tools::global::Global;
use ghost_tools::print::{line, note};
use ghost_tools::setup::Setup;
use ghost_tools::wait::drive;

/// The answer is bad news.
const BAD_NEWS: u8 = 3;

/// Runs the subcommand.
pub(super) fn run(global: &Global, json: bool, exit_code: bool) -> anyhow::Result<u8> {
    let setup = Setup::new(global)?;
    let lines = if setup.store_is_to_be_made() { Vec::new() } else { drive(|| lines(&setup))?? };
    let read = read(&lines);
    if json {
        lines.iter().try_for_each(|text| line(text))?;
    } else if let Ok(notes) = &read {
        notes.iter().try_for_each(|note| line(&summary(note)))?;
    }
    match read {
        Ok(notes) => {
            note(&format!("verified: {} lines", notes.len()));
            Ok(0)
        }
        Err(tampered) if json || exit_code => {
            note(&format!("NOT verified: {tampered}"));
            Ok(if exit_code { BAD_NEWS } else { 0 })
        }
        Err(tampered) => Err(tampered).context("reading the journal"),
    }
}

async fn lines(setup: &Setup) -> anyhow::Result<Vec<String>> {
    let store = setup.store().await?;
    Ok(store.notes(usize::MAX).await.context("reading the journal")?.1)
}

fn summary(note: &Note) -> String {
    let what = match note.what {
        JournalAction::Freeze => "freeze",
        JournalAction::Thaw => "thaw",
        JournalAction::Helped => "the report helped",
        JournalAction::NotHelped => "the report did not help",
        JournalAction::Refused => "refused",
        JournalAction::Maintenance => "alert in a maintenance window",
    };
    let beside = |label: &str, text: &str| {
        if text.is_empty() { String::new() } else { format!(" · {label}{}", text.escape_debug()) }
    };
    let (place, about, why) =
        (beside("in ", &note.place), beside("session ", &note.session), beside("", &note.why));
    format!("{} {} · {what}{about}{place}{why}", note.at, note.who.escape_debug())
}
