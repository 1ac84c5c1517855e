//! Whether something may still be spent.

use crate::event::BudgetSpent;
use crate::state::State;
use ghost_base::Timestamp;

/// Returns the budget that is spent.
pub(super) fn spent(state: &State, now: Timestamp) -> Option<BudgetSpent> {
    let (limits, spent) = (&state.limits, &state.spent);
    let minutes = spent.at_work(state.opened_at, now).as_secs() / 60;
    let budgets = [
        ("turns", u64::from(spent.turns), u64::from(limits.turns)),
        ("commands", u64::from(spent.commands), u64::from(limits.commands)),
        ("minutes", minutes, u64::from(limits.minutes)),
        ("captured bytes", spent.captured_bytes, limits.captured_bytes),
        ("tokens", spent.tokens, unless_zero(limits.tokens)),
        ("millionths of a dollar", spent.cost_micros, unless_zero(limits.cost_micros)),
    ];
    let over = budgets.into_iter().find(|(_, used, limit)| used >= limit);
    over.map(|(what, used, limit)| BudgetSpent { what: what.to_owned(), used, limit })
}

fn unless_zero(limit: u64) -> u64 {
    if limit == 0 { u64::MAX } else { limit }
}
