//! What sessions used and how long people waited: of one, and of many.
//!
//! Goes in: states, or what was kept of them. Comes out: sums, and the middle of times. Never: a price that nobody configured; a turn of
//! unknown price that counts as free without saying so.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::state::State;

/// What one session used, in numbers that can be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Turns that a model answered.
    pub turns: u64,
    /// Tokens read and written, as far as they are known.
    pub tokens: u64,
    /// Millionths of a dollar, as far as prices are configured.
    pub cost_micros: u64,
    /// Turns whose price or tokens are not known.
    pub turns_without_price: u64,
    pub commands: u64,
    /// Questions to people.
    pub questions: u64,
    pub captured_bytes: u64,
    pub work_seconds: u64,
    pub waited_seconds: u64,
    /// From the report of the symptom to the first message in the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged_ms: Option<u64>,
    /// To the first cause that code accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause_ms: Option<u64>,
    /// To the first answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_ms: Option<u64>,
    /// The longest time from a question to its decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_ms: Option<u64>,
}

impl Usage {
    /// Returns what a session used so far.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let (spent, service) = (&state.spent, &state.service);
        let ended = state.concluded.as_ref().map_or(state.last_at, |(at, _)| *at);
        let millis = |length: Option<Duration>| {
            length.map(|length| u64::try_from(length.as_millis()).unwrap_or(u64::MAX))
        };
        Self {
            turns: spent.turns.into(),
            tokens: spent.tokens,
            cost_micros: spent.cost_micros,
            turns_without_price: spent.turns_without_price.into(),
            commands: spent.commands.into(),
            questions: spent.approvals.into(),
            captured_bytes: spent.captured_bytes,
            work_seconds: spent.at_work(state.opened_at, ended).as_secs(),
            waited_seconds: spent.waited.as_secs(),
            acknowledged_ms: millis(service.acknowledged),
            cause_ms: millis(service.cause),
            answered_ms: millis(service.answered),
            approval_ms: millis(service.approval),
        }
    }
}

/// What several sessions used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct UsageTotal {
    pub sessions: u64,
    pub turns: u64,
    pub tokens: u64,
    pub cost_micros: u64,
    pub turns_without_price: u64,
    pub commands: u64,
    pub questions: u64,
    pub captured_bytes: u64,
    pub work_seconds: u64,
    pub waited_seconds: u64,
    #[serde(skip)]
    acknowledged: Vec<u64>,
    #[serde(skip)]
    cause: Vec<u64>,
    #[serde(skip)]
    answered: Vec<u64>,
    #[serde(skip)]
    approval: Vec<u64>,
}

/// The middle of several times, and the time that nine of ten keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ServiceLevel {
    /// Of how many.
    pub count: usize,
    pub median_ms: u64,
    pub ninety_percent_ms: u64,
}

/// The service levels of several sessions; `null` where none of them came to that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ServiceLevels {
    pub acknowledged: Option<ServiceLevel>,
    pub cause: Option<ServiceLevel>,
    pub answered: Option<ServiceLevel>,
    pub approval: Option<ServiceLevel>,
}

impl UsageTotal {
    /// Adds a session.
    pub fn add(&mut self, usage: &Usage) {
        self.sessions += 1;
        for (sum, one) in [
            (&mut self.turns, usage.turns),
            (&mut self.tokens, usage.tokens),
            (&mut self.cost_micros, usage.cost_micros),
            (&mut self.turns_without_price, usage.turns_without_price),
            (&mut self.commands, usage.commands),
            (&mut self.questions, usage.questions),
            (&mut self.captured_bytes, usage.captured_bytes),
            (&mut self.work_seconds, usage.work_seconds),
            (&mut self.waited_seconds, usage.waited_seconds),
        ] {
            *sum = sum.saturating_add(one);
        }
        self.acknowledged.extend(usage.acknowledged_ms);
        self.cause.extend(usage.cause_ms);
        self.answered.extend(usage.answered_ms);
        self.approval.extend(usage.approval_ms);
    }

    /// Returns how long people waited.
    #[must_use]
    pub fn levels(&self) -> ServiceLevels {
        ServiceLevels {
            acknowledged: level(&self.acknowledged),
            cause: level(&self.cause),
            answered: level(&self.answered),
            approval: level(&self.approval),
        }
    }

    /// Says what models cost, as far as that is known.
    #[must_use]
    pub fn cost(&self) -> String {
        let known = format!("${}.{:02}", self.cost_micros / 1_000_000, self.cost_micros / 10_000 % 100);
        match self.turns_without_price {
            0 if self.tokens == 0 && self.cost_micros == 0 => "no model was paid for".to_owned(),
            0 => known,
            all if all >= self.turns => "price not configured".to_owned(),
            some => format!("{known}, and {some} of {} turns without a price", self.turns),
        }
    }
}

/// Returns the nearest value below which so many of a hundred lie.
fn level(times: &[u64]) -> Option<ServiceLevel> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).saturating_sub(1)).copied();
    Some(ServiceLevel { count: sorted.len(), median_ms: at(50)?, ninety_percent_ms: at(90)? })
}

/// What a channel may use in a day; zero is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DayBudget {
    pub tokens: u64,
    pub cost_micros: u64,
    pub commands: u64,
    pub minutes: u64,
}

impl DayBudget {
    /// Tells whether there is any limit.
    #[must_use]
    pub fn is_set(&self) -> bool {
        *self != Self::default()
    }

    /// Says which limit is used up; nothing where none is.
    #[must_use]
    pub fn exceeded(&self, used: &UsageTotal) -> Option<String> {
        let spent = |used: u64, most: u64| most > 0 && used >= most;
        let cents = |micros: u64| format!("${}.{:02}", micros / 1_000_000, micros / 10_000 % 100);
        if spent(used.tokens, self.tokens) {
            return Some(format!("{} of {} tokens", used.tokens, self.tokens));
        }
        if spent(used.cost_micros, self.cost_micros) {
            return Some(format!("{} of {} for models", cents(used.cost_micros), cents(self.cost_micros)));
        }
        if spent(used.commands, self.commands) {
            return Some(format!("{} of {} commands", used.commands, self.commands));
        }
        let minutes = used.work_seconds / 60;
        spent(minutes, self.minutes).then(|| format!("{minutes} of {} minutes at work", self.minutes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(all: &[Usage]) -> UsageTotal {
        let mut total = UsageTotal::default();
        all.iter().for_each(|usage| total.add(usage));
        total
    }

    #[test]
    fn a_session_says_what_it_used_and_how_long_people_waited() {
        let usage = Usage::of(&crate::report::tests::rich().state());
        assert_eq!(
            (usage.turns, usage.tokens, usage.cost_micros, usage.turns_without_price),
            (2, 2_560, 4_500, 1)
        );
        assert_eq!((usage.commands, usage.questions), (4, 5));
        assert_eq!((usage.work_seconds, usage.waited_seconds), (56, 1_000));
        assert_eq!(usage.acknowledged_ms, None, "a terminal shows no message");
        assert!(usage.cause_ms.unwrap() > 900_000 && usage.answered_ms.is_none());
        assert!(usage.approval_ms.unwrap() >= 60_000, "the longest counts: {usage:?}");
    }

    #[test]
    fn an_unknown_price_is_said_and_a_playbook_is_free() {
        let paid = Usage { turns: 2, tokens: 9, cost_micros: 1_239_999, ..Usage::default() };
        let unknown = Usage { turns: 1, tokens: 9, turns_without_price: 1, ..Usage::default() };
        assert_eq!(total(&[]).cost(), "no model was paid for");
        assert_eq!(total(&[paid]).cost(), "$1.23");
        assert_eq!(total(&[unknown]).cost(), "price not configured");
        assert_eq!(total(&[paid, unknown]).cost(), "$1.23, and 1 of 3 turns without a price");
    }

    #[test]
    fn levels_are_those_of_sessions_that_came_to_it() {
        let took = |seconds: u64| Usage { answered_ms: Some(seconds * 1_000), ..Usage::default() };
        let all: Vec<Usage> = (1..=10).map(took).chain([Usage::default()]).collect();
        let levels = total(&all).levels();
        let wanted = ServiceLevel { count: 10, median_ms: 5_000, ninety_percent_ms: 9_000 };
        assert_eq!((levels.answered, levels.cause), (Some(wanted), None));
        assert_eq!(total(&[took(7)]).levels().answered.unwrap().ninety_percent_ms, 7_000);
    }

    #[test]
    fn a_day_s_budget_says_which_limit_is_used_up() {
        let used = total(&[Usage {
            tokens: 100,
            cost_micros: 2_500_000,
            commands: 7,
            work_seconds: 119,
            ..Usage::default()
        }]);
        let said = |budget: DayBudget| budget.exceeded(&used);
        assert_eq!(said(DayBudget::default()), None);
        assert_eq!(said(DayBudget { tokens: 101, ..DayBudget::default() }), None);
        assert_eq!(said(DayBudget { tokens: 100, ..DayBudget::default() }).unwrap(), "100 of 100 tokens");
        let dollars = DayBudget { cost_micros: 2_000_000, ..DayBudget::default() };
        assert_eq!(said(dollars).unwrap(), "$2.50 of $2.00 for models");
        assert_eq!(said(DayBudget { commands: 7, ..DayBudget::default() }).unwrap(), "7 of 7 commands");
        assert_eq!(said(DayBudget { minutes: 2, ..DayBudget::default() }), None);
        assert_eq!(said(DayBudget { minutes: 1, ..DayBudget::default() }).unwrap(), "1 of 1 minutes at work");
    }

    #[test]
    fn what_an_earlier_version_kept_reads_as_nothing_used() {
        assert_eq!(serde_json::from_str::<Usage>("{}").unwrap(), Usage::default());
        let usage = Usage { tokens: 3, cause_ms: Some(1), ..Usage::default() };
        assert_eq!(serde_json::from_str::<Usage>(&serde_json::to_string(&usage).unwrap()).unwrap(), usage);
    }
}
