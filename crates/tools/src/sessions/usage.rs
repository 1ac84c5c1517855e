//! `ghost sessions usage`.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;

use super::list::names;
use crate::list::{ListForm, ListOutput};
use crate::moment::moment;
use crate::print::{line, note};
use crate::setup::Setup;
use ghost_base::{Clock as _, SystemClock};
use ghost_investigate::event::read;
use ghost_investigate::state::State;
use ghost_investigate::usage::{ServiceLevel, ServiceLevels, Usage, UsageTotal};
use ghost_store::Store;

/// The arguments of `ghost sessions usage`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// From when on: sessions that were opened then or later.
    #[arg(long, value_name = "MOMENT", default_value = "30d")]
    since: String,
    /// What a row is.
    #[arg(long, value_enum, default_value_t = By::Channel)]
    by: By,
    #[command(flatten)]
    output: ListOutput,
}

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// A channel, or the terminal.
    Channel,
    /// A day in UTC.
    Day,
    /// A session.
    Session,
}

/// A row.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    #[serde(flatten)]
    total: &'a UsageTotal,
    service: ServiceLevels,
}

impl<'a> Row<'a> {
    fn new(name: &'a str, total: &'a UsageTotal) -> Self {
        Self { name, total, service: total.levels() }
    }

    fn cells(&self) -> Vec<String> {
        let total = self.total;
        let levels =
            [self.service.acknowledged, self.service.cause, self.service.answered, self.service.approval];
        let mut cells = vec![
            self.name.to_owned(),
            total.sessions.to_string(),
            total.commands.to_string(),
            total.questions.to_string(),
            (total.work_seconds / 60).to_string(),
            total.tokens.to_string(),
            total.cost(),
        ];
        cells.extend(levels.map(|level| level.map_or("-".to_owned(), seconds)));
        cells
    }
}

/// Writes a level as the middle and what nine of ten keep, in seconds.
fn seconds(level: ServiceLevel) -> String {
    format!("{}/{} s", level.median_ms / 1_000, level.ninety_percent_ms / 1_000)
}

/// Runs the subcommand.
pub(super) async fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<()> {
    let since = moment(&arguments.since, SystemClock.now())?.to_string();
    let (mut groups, mut unread) = (BTreeMap::new(), 0);
    if !setup.store_is_to_be_made() {
        unread = added(setup.store().await?.as_ref(), &since, arguments.by, &mut groups).await?;
    }
    let mut all = UsageTotal::default();
    groups.values().flatten().for_each(|usage| all.add(usage));
    let totals: Vec<(String, UsageTotal)> = groups
        .into_iter()
        .map(|(name, usages)| {
            let mut total = UsageTotal::default();
            usages.iter().for_each(|usage| total.add(usage));
            (name, total)
        })
        .collect();
    let rows = totals.iter().map(|(name, total)| Row::new(name, total));
    if arguments.output.form() == ListForm::Json {
        let document = json!({
            "since": since, "groups": rows.collect::<Vec<_>>(), "total": Row::new("all", &all), "unread": unread,
        });
        return line(&document.to_string());
    }
    if unread > 0 {
        note(&format!("{unread} sessions are not counted: they were erased, or cannot be read"));
    }
    let head = [
        "NAME",
        "SESSIONS",
        "COMMANDS",
        "QUESTIONS",
        "MINUTES",
        "TOKENS",
        "COST",
        "FIRST MESSAGE",
        "CAUSE",
        "ANSWER",
        "DECISION",
    ];
    let rows: Vec<Vec<String>> = rows.chain([Row::new("all", &all)]).map(|row| row.cells()).collect();
    arguments.output.form().lines(&head, &rows).iter().try_for_each(|text| line(text))
}

/// Adds sessions to their groups; returns how many cannot be counted.
async fn added(
    store: &dyn Store,
    since: &str,
    by: By,
    groups: &mut BTreeMap<String, Vec<Usage>>,
) -> anyhow::Result<usize> {
    let mut unread = 0;
    for session in names(store).await? {
        let lines = store.read(&session, 0).await?;
        let recorded = read(&session, lines.iter().map(String::as_str)).unwrap_or_default();
        let Some(first) = recorded.first() else { continue };
        let opened = first.at.to_string();
        if opened.as_str() < since {
            continue;
        }
        let Ok(state) = State::fold(&session, &recorded) else {
            unread += 1;
            continue;
        };
        let name = match by {
            By::Channel => {
                state.opened.origin.channel.clone().unwrap_or_else(|| state.opened.origin.place.clone())
            }
            By::Day => opened.split('T').next().unwrap_or_default().to_owned(),
            By::Session => session.to_string(),
        };
        groups.entry(name).or_default().push(Usage::of(&state));
    }
    Ok(unread)
}
