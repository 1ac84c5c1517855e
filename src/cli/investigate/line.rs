//! What happened, in a line for whoever sits at the terminal.

use serde_json::{Value, json};

use ghost_investigate::event::{Content, Event, ForecastVerdict, Recorded, Reply};
use ghost_investigate::is_reclassified;
use ghost_investigate::report::{hypothesis_subject, plain, without_ids};
use ghost_investigate::state::State;

/// Returns the line of `--json`.
pub(super) fn json(state: &State, event: &Recorded) -> Value {
    let body = match &event.content {
        Content::Known(known) => {
            serde_json::to_value(known).ok().and_then(|mut value| value.get_mut("body").map(Value::take))
        }
        Content::Foreign | Content::Erased => None,
    };
    json!({
        "session": state.session.as_str(),
        "seq": event.seq,
        "at": event.at.to_string(),
        "kind": event.kind,
        "hash": event.hash.to_string(),
        "body": body,
    })
}

/// Returns what a person sees of an event, if anything. Text of others is spelled out, so that no terminal obeys it.
pub(in crate::cli) fn human(state: &State, event: &Recorded) -> Option<String> {
    let Content::Known(event) = &event.content else { return None };
    match event.as_ref() {
        Event::Opened(opened) => {
            Some(format!("On it. Session {} · {}", state.session, plain(&opened.symptom)))
        }
        Event::HypothesisSet(set) => {
            let found = state.hypothesis(&set.id)?;
            let why =
                found.why.as_deref().map(|why| format!(" {}", plain(&without_ids(why)))).unwrap_or_default();
            let state = found.state.as_str().to_lowercase();
            let name = hypothesis_subject(&set.id).unwrap_or(&set.id);
            Some(format!("  {}: {state}. {}{why}", plain(name), plain(&found.description)))
        }
        Event::ModelAnswered(answered) if !answered.text.trim().is_empty() => {
            Some(format!("  {}", plain(answered.text.trim())))
        }
        Event::AnswerFailed(failed) => Some(format!("✘ {}", plain(&failed.problem))),
        Event::Proposed(proposed) => {
            let test = proposed.hypothesis.as_deref().filter(|id| hypothesis_subject(id).is_none());
            let test = test.map(|id| format!(" [{}]", plain(id))).unwrap_or_default();
            // What a tool runs is worded by what it is for; a command that somebody wrote says that itself.
            let what = match proposed.tool.as_str() {
                "run_shell_cmd" => &proposed.command,
                _ if proposed.reasoning.trim().is_empty() => &proposed.command,
                _ => &proposed.reasoning,
            };
            Some(format!("▸ {}{test}", plain(what.trim())))
        }
        Event::Classified(judged) if is_reclassified(judged) => {
            Some(format!("  found: {}", plain(&judged.reason)))
        }
        Event::Classified(judged) if judged.round > 1 => {
            Some(format!("▸ changed to: {} ({})", plain(&judged.command), judged.verdict))
        }
        Event::ApprovalDecided(decided) => {
            let what = match decided.answer {
                Reply::Approve => "approved",
                Reply::Deny { .. } => "denied",
                Reply::Modify { .. } => "changed",
            };
            Some(format!("  {what} by {}", plain(&decided.who)))
        }
        Event::ApprovalExpired(_) => Some("✘ nobody answered in time; nothing ran".to_owned()),
        Event::Unknown(_) => Some("✘ an earlier run was cut off: outcome unknown".to_owned()),
        Event::Done(done) if done.status == "completed" => None,
        Event::Done(done) => {
            let word = done.error.as_deref().unwrap_or(&done.status);
            Some(format!("✘ {word}: {}", plain(&done.reason)))
        }
        Event::Observed(seen) => {
            let done = seen.step.and_then(|step| state.step(step)?.done.as_ref())?;
            let exit =
                done.exit_code.map_or_else(|| "no exit code".to_owned(), |code| format!("exit {code}"));
            let time = done.duration_ms.map(|millis| format!(" in {millis} ms")).unwrap_or_default();
            Some(format!("✔ {} · {exit}{time} · {}", seen.id, size(seen.bytes)))
        }
        Event::Returned(returned) if returned.refused.is_some() => {
            let reason = serde_json::from_str::<Value>(&returned.content).ok();
            let reason =
                reason.as_ref().and_then(|content| content.get("reason")?.as_str()).unwrap_or("refused");
            Some(format!("✘ {}: {}", plain(&returned.tool), plain(reason)))
        }
        Event::FindingAccepted(found) => Some(format!(
            "✔ {} {}: {}",
            plain(&found.finding.code),
            plain(&found.finding.object),
            plain(&found.why)
        )),
        Event::FindingRejected(found) => Some(format!(
            "✘ {} {}: {}",
            plain(&found.finding.code),
            plain(&found.finding.object),
            plain(&found.why)
        )),
        Event::HumanMessage(said) => Some(format!("  {}: {}", plain(&said.who), plain(&said.text))),
        Event::Reworded(again) => {
            Some(format!("  {} reworded the complaint: {}", plain(&again.who), plain(&again.symptom)))
        }
        Event::Reopened(again) => Some(format!("  {} goes on: {}", plain(&again.who), plain(&again.text))),
        Event::BudgetSpent(spent) => Some(format!("✘ the budget of {} {} is spent", spent.limit, spent.what)),
        Event::ForecastChecked(checked) => {
            let flows = checked.flows.iter().map(|flow| format!("\n    {}", plain(flow))).collect::<String>();
            let sign = if checked.verdict == ForecastVerdict::Contradicted { "✘" } else { "✔" };
            let word = checked.verdict.word();
            let undo = checked.undo.as_deref().map(|undo| format!("\n    to undo it: {}", plain(undo)));
            Some(format!(
                "{sign} forecast {word}: {}{flows}{}",
                plain(&checked.words),
                undo.unwrap_or_default()
            ))
        }
        Event::Taken(_) => Some("✔ handed over to the agent".to_owned()),
        Event::Concluded(concluded) => {
            Some(format!("{} · confidence {}", concluded.outcome, concluded.confidence))
        }
        Event::ModelAnswered(_)
        | Event::ModelAsked(_)
        | Event::Classified(_)
        | Event::ApprovalRequested(_)
        | Event::ApprovalVoted(_)
        | Event::Intent(_)
        | Event::Executing(_)
        | Event::Returned(_)
        | Event::Noted(_)
        | Event::Discarded(_)
        | Event::Resumed(_)
        | Event::Delivered(_)
        | Event::TakeRequested(_)
        | Event::Attended(_)
        | Event::Alerted(_) => None,
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
