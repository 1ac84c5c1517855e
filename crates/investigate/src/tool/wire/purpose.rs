//! What every call here says of itself, and what is checked before anything is asked of anybody.

use serde_json::{Value, json};

use crate::event::Refusal;
use crate::tool::argument::sized;
use crate::tool::{Bench, Move, Outcome, Site};
use ghost_cloud::{Name, ResourceGroup};

/// No reason is longer.
const LONGEST: usize = 4_000;

/// Ends a call that was refused.
pub(super) fn refuse(why: Refusal, reason: impl Into<String>) -> Box<Move> {
    Box::new(Move::Return(Box::new(Outcome::refuse(why, reason))))
}

/// Ends a call whose arguments make no sense.
pub(super) fn malformed(reason: impl Into<String>) -> Box<Move> {
    refuse(Refusal::Malformed, reason)
}

/// Ends a call that cannot succeed here.
pub(super) fn fail(reason: impl Into<String>, hint: &str) -> Box<Move> {
    let content = json!({ "status": "failed", "reason": reason.into(), "hint": hint });
    Box::new(Move::Return(Box::new(Outcome { is_error: true, ..Outcome::of(content) })))
}

/// Checks the reason, and the hypothesis that it belongs to.
pub(super) fn check(reasoning: &str, hypothesis: Option<&str>, bench: &Bench<'_>) -> Result<(), Box<Move>> {
    sized("reasoning", reasoning, LONGEST).map_err(|refused| Box::new(Move::Return(refused)))?;
    let Some(id) = hypothesis.filter(|id| bench.state.hypothesis(id).is_none()) else { return Ok(()) };
    let known: Vec<&str> = bench.state.hypotheses.iter().map(|known| known.id.as_str()).collect();
    Err(malformed(format!("there is no hypothesis {id}; there are: {}", known.join(", "))))
}

/// Returns where the machines are.
pub(super) fn place(group: Option<&str>, site: &Site) -> Result<ResourceGroup, Box<Move>> {
    let group = match group {
        Some(group) => Name::parse(group).map_err(|error| malformed(format!("resource_group: {error}")))?,
        None => site.group.clone().ok_or_else(|| {
            malformed("no resource group is known here: name the one of the machines as resource_group")
        })?,
    };
    Ok(ResourceGroup { subscription: site.subscription.clone(), group })
}

/// Refuses what a human would not have before: the same of the same machines.
pub(super) fn denied_before(
    what: &str,
    same: impl Fn(&Value) -> bool,
    bench: &Bench<'_>,
) -> Result<(), Box<Move>> {
    let own = &bench.call.call;
    let before = bench.state.calls().take_while(|call| call.call.id != own.id);
    let denied = |content: &str| {
        serde_json::from_str::<Value>(content)
            .is_ok_and(|content| content.get("status").and_then(Value::as_str) == Some("denied"))
    };
    let mut again = before.filter(|call| {
        let told = call.returned.as_ref().is_some_and(|returned| denied(&returned.content));
        call.call.tool == own.tool && told && same(&call.call.arguments)
    });
    match again.next() {
        None => Ok(()),
        Some(_) => {
            let reason = format!("a human denied {what} before; look for another way to test the hypothesis");
            Err(refuse(Refusal::DeniedBefore, reason))
        }
    }
}
