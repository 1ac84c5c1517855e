//! `/ghost usage`, and the budgets of a channel and a day.

use std::sync::Arc;
use std::time::Duration;

use crate::bot::core::{Core, words};
use crate::bot::show::{self, Message};
use crate::bot::{PostedLine, Thread};
use ghost_base::Timestamp;
use ghost_investigate::Limits;
use ghost_investigate::usage::{DayBudget, UsageTotal};
use ghost_slack::pace::Priority;
use ghost_slack::web::Address;
use ghost_store::StoreError;

/// So many sessions of late are added up.
const MAX_ADDED: usize = 10_000;

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// How many days the longer sum has.
const DAYS: u32 = 30;

impl Core {
    /// Says what the sessions of a channel used today and of late, and how long people waited there.
    pub(super) async fn usage_in(&self, channel: &str) -> Result<Message, StoreError> {
        let now = self.clock.now();
        let earliest =
            now.as_millis().saturating_sub(i64::try_from((DAY * DAYS).as_millis()).unwrap_or(i64::MAX));
        let today = self.used(channel, &day_of(now)).await?;
        let of_late = self.used(channel, &Timestamp::from_millis(earliest).to_string()).await?;
        let budget = self.settings.rules(channel).map(|rules| rules.day).unwrap_or_default();
        Ok(show::usage(&today, &of_late, DAYS, budget))
    }

    /// Adds up what the sessions of a channel used that were opened from a moment on.
    async fn used(&self, channel: &str, from: &str) -> Result<UsageTotal, StoreError> {
        let mut total = UsageTotal::default();
        for (_, line) in self.store.posted(MAX_ADDED).await? {
            let Ok(line) = serde_json::from_str::<PostedLine>(&line) else { continue };
            let is_late = line.summary.opened.as_deref().is_some_and(|opened| opened >= from);
            if is_late && line.channel.as_deref() == Some(channel) {
                total.add(&line.usage);
            }
        }
        Ok(total)
    }

    /// Says which budget of a channel is used up today; nothing where none is, or none is set.
    pub(super) async fn exceeded(&self, channel: &str, day: DayBudget) -> Result<Option<String>, StoreError> {
        if !day.is_set() {
            return Ok(None);
        }
        let used = self.used(channel, &day_of(self.clock.now())).await?;
        Ok(day.exceeded(&used))
    }

    /// Says in a thread that nothing begins there any more today; tells whether that is so.
    pub(super) async fn refused_for_today(
        self: &Arc<Self>,
        thread: &Thread,
        day: DayBudget,
    ) -> Result<bool, StoreError> {
        let Some(spent) = self.exceeded(&thread.channel, day).await? else { return Ok(false) };
        let message = words(&refusal(&spent));
        tracing::info!(slack.channel = %thread.channel, "investigation refused: the budget of the day is used up, {spent}");
        let (web, thread) = (self.web.at(Priority::Approval), thread.clone());
        self.spawn(async move {
            let to = match thread.ts.as_str() {
                "" => Address::channel(&thread.channel),
                ts => Address::thread(&thread.channel, ts),
            };
            if let Err(error) = web.post(&to, &crate::bot::core::sent(&message)).await {
                tracing::warn!("refusal not posted: {error}");
            }
        });
        Ok(true)
    }

    /// Returns what a session that an alert opens may use: a single turn where the budget of the day is used up. Its report then says
    /// which limit ended it.
    pub(super) async fn limits_today(&self, channel: &str, day: DayBudget) -> Result<Limits, StoreError> {
        let limits = self.settings.limits;
        Ok(match self.exceeded(channel, day).await? {
            None => limits,
            Some(spent) => {
                tracing::info!(slack.channel = %channel, "alert gets a single turn: the budget of the day is used up, {spent}");
                Limits { turns: 1, commands: 1, ..limits }
            }
        })
    }
}

/// Says why nothing begins.
pub(super) fn refusal(spent: &str) -> String {
    format!(
        "What this channel may use in a day is used up: {spent} since 00:00 UTC. I begin nothing new here until 00:00 UTC. What runs goes on. /ghost usage shows it; `[usage]` of my configuration sets it."
    )
}

/// Returns the first moment of a day in UTC.
fn day_of(now: Timestamp) -> String {
    let text = now.to_string();
    format!("{}T00:00:00.000Z", text.split('T').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight() {
        let now = Timestamp::from_millis(1_760_000_000_000);
        assert_eq!(
            (now.to_string().as_str(), day_of(now).as_str()),
            ("2025-10-09T08:53:20.000Z", "2025-10-09T00:00:00.000Z")
        );
    }
}
