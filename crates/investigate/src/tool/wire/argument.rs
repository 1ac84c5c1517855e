//! Arguments that every tool here takes, and what is checked before anybody is asked.

use serde_json::{Value, json};

use crate::event::Refusal;
use crate::tool::argument::sized;
use crate::tool::{CallContext, CallResult, Site, ToolAction};
use ghost_cloud::{Name, ResourceGroup};

/// Limits the reason of a call.
const MAX_REASONING_BYTES: usize = 4_000;

/// Ends a call that was refused.
pub(super) fn refuse(why: Refusal, reason: impl Into<String>) -> Box<ToolAction> {
    Box::new(ToolAction::Return(Box::new(CallResult::refuse(why, reason))))
}

/// Ends a call whose arguments make no sense.
pub(super) fn malformed(reason: impl Into<String>) -> Box<ToolAction> {
    refuse(Refusal::Malformed, reason)
}

/// Ends a call that cannot succeed here.
pub(super) fn fail(reason: impl Into<String>, hint: &str) -> Box<ToolAction> {
    let content = json!({ "status": "failed", "reason": reason.into(), "hint": hint });
    Box::new(ToolAction::Return(Box::new(CallResult { is_error: true, ..CallResult::completed(content) })))
}

/// Checks the reason, and the hypothesis that it belongs to.
pub(super) fn check(
    reasoning: &str,
    hypothesis: Option<&str>,
    context: &CallContext<'_>,
) -> Result<(), Box<ToolAction>> {
    sized("reasoning", reasoning, MAX_REASONING_BYTES)
        .map_err(|refused| Box::new(ToolAction::Return(refused)))?;
    let Some(id) = hypothesis.filter(|id| context.state.hypothesis(id).is_none()) else { return Ok(()) };
    let known: Vec<&str> = context.state.hypotheses.iter().map(|known| known.id.as_str()).collect();
    Err(malformed(format!("there is no hypothesis {id}; there are: {}", known.join(", "))))
}

/// Returns the resource group of the machines.
pub(super) fn resource_group(group: Option<&str>, site: &Site) -> Result<ResourceGroup, Box<ToolAction>> {
    let group = match group {
        Some(group) => Name::parse(group).map_err(|error| malformed(format!("resource_group: {error}")))?,
        None => site.group.clone().ok_or_else(|| {
            malformed("no resource group is known here: name the one of the machines as resource_group")
        })?,
    };
    Ok(ResourceGroup { subscription: site.subscription.clone(), group })
}

/// Refuses what a human denied before: the same of the same machines.
pub(super) fn denied_before(
    what: &str,
    same: impl Fn(&Value) -> bool,
    context: &CallContext<'_>,
) -> Result<(), Box<ToolAction>> {
    let own = &context.call.call;
    let before = context.state.calls().take_while(|call| call.call.id != own.id);
    let denied = |content: &str| {
        serde_json::from_str::<Value>(content)
            .is_ok_and(|content| content.get("status").and_then(Value::as_str) == Some("denied"))
    };
    let mut again = before.filter(|call| {
        let was_denied = call.returned.as_ref().is_some_and(|returned| denied(&returned.content));
        call.call.tool == own.tool && was_denied && same(&call.call.arguments)
    });
    match again.next() {
        None => Ok(()),
        Some(_) => {
            let reason = format!("a human denied {what} before; find another test of the hypothesis");
            Err(refuse(Refusal::DeniedBefore, reason))
        }
    }
}
