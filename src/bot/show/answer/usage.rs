//! What a channel used, and how long its people waited.

use std::time::Duration;

use crate::bot::show::Message;
use crate::bot::show::amount::{count, minutes};
use crate::bot::show::block::{Line, lines, say, small};
use ghost_investigate::usage::{DayBudget, ServiceLevel, UsageTotal};

/// Returns what the sessions of a channel used today and in the last days.
#[must_use]
pub fn usage(today: &UsageTotal, of_late: &UsageTotal, days: u32, budget: DayBudget) -> Message {
    let levels = of_late.levels();
    let times = [
        ("to the first message", levels.acknowledged),
        ("to a cause", levels.cause),
        ("to the answer", levels.answered),
        ("to a decision", levels.approval),
    ];
    let times: Vec<Line> = times.into_iter().filter_map(|(what, level)| Some(waited(what, level?))).collect();
    let mut blocks = vec![
        say(Line::new().bold("Today, since 00:00 UTC").below(used(today))),
        say(Line::new().bold(&format!("In the last {days} days")).below(used(of_late))),
    ];
    blocks.extend(
        (!times.is_empty()).then(|| say(Line::new().bold("How long people waited").below(lines(times)))),
    );
    blocks.extend(limits(budget).map(|words| small(&words)));
    let text = format!("Today: {}, {}.", count(number(today.sessions), "session"), today.cost());
    Message { text, blocks }
}

fn number(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn used(total: &UsageTotal) -> Line {
    let words = format!(
        "{}, {}, {}; {} at work, {} waiting for people",
        count(number(total.sessions), "session"),
        count(number(total.commands), "command"),
        count(number(total.questions), "question"),
        minutes(Duration::from_secs(total.work_seconds)),
        minutes(Duration::from_secs(total.waited_seconds)),
    );
    let models = format!("Models: {}, {}", count(number(total.tokens), "token"), total.cost());
    lines([Line::new().text(&words), Line::new().text(&models)])
}

fn waited(what: &str, level: ServiceLevel) -> Line {
    let spell = |millis: u64| {
        let length = Duration::from_millis(millis);
        if length < Duration::from_secs(60) { format!("{} s", length.as_secs()) } else { minutes(length) }
    };
    Line::new().text(&format!(
        "{what}: half within {}, nine of ten within {} (of {})",
        spell(level.median_ms),
        spell(level.ninety_percent_ms),
        level.count
    ))
}

/// Says what the channel may use in a day; nothing where no limit is set.
fn limits(budget: DayBudget) -> Option<String> {
    let mut words = Vec::new();
    words.extend((budget.tokens > 0).then(|| format!("{} tokens", budget.tokens)));
    words
        .extend((budget.cost_micros > 0).then(|| {
            format!("${}.{:02}", budget.cost_micros / 1_000_000, budget.cost_micros / 10_000 % 100)
        }));
    words.extend((budget.commands > 0).then(|| format!("{} commands", budget.commands)));
    words.extend((budget.minutes > 0).then(|| format!("{} minutes at work", budget.minutes)));
    (!words.is_empty()).then(|| format!("This channel may use {} in a day.", words.join(", ")))
}
