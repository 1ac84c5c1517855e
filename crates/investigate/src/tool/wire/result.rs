//! The result of a call about a capture.

use serde_json::{Value, json};

use super::capture::ReplayedCapture;
use crate::event::ObservationId;
use crate::suspect::{Layer, Looked, SupportedFaults, wire};
use crate::tool::{CallContext, CallResult};
use ghost_cloud::capture::{CaptureTarget, Phase, State};

/// Says in a result that what is left in the cloud is removed behind the report.
pub(crate) const AFTER_REPORT: &str = "after_the_report";

/// Limits how much of the findings a result shows; the reports hold all.
const MAX_SHOWN_CHARS: usize = 6_000;

/// Returns what a capture supports: a machine was inspected where its packets are here whole, and there are any.
pub(super) fn supported(capture: &ReplayedCapture) -> SupportedFaults {
    let documents: Vec<&str> = capture.semantics.iter().flatten().map(String::as_str).collect();
    // What cannot be read shows nothing, and counts as not inspected.
    let Ok(suspects) = wire(&documents) else { return SupportedFaults::default() };
    let all = documents.len() == capture.semantics.len() && !documents.is_empty();
    let whole = |end: &&CaptureTarget| matches!(end.phase, Phase::Kept { packets, cut_off: false, .. } if packets > 0);
    let machines = capture.task.ends.iter().filter(whole).filter(|_| all);
    let looked = machines.map(|end| Looked { layer: Layer::Wire, subject: end.machine.to_string() });
    SupportedFaults { suspects, looked: looked.collect(), ..SupportedFaults::default() }
}

/// Returns how a call that recorded packets ended.
pub(super) fn status(capture: &ReplayedCapture) -> &'static str {
    match (capture.is_kept(), &capture.denied, capture.remains()) {
        (true, ..) => "completed",
        (false, Some(_), false) => "denied",
        (false, Some(_), true) | (false, None, _) => "failed",
    }
}

/// Writes the result of a call.
pub(super) fn outcome(status: &str, capture: &ReplayedCapture, context: &CallContext<'_>) -> CallResult {
    let (task, supported) = (&capture.task, supported(capture));
    let analysis = task.analysis.as_ref();
    let findings = analysis.map(|analysis| analysis.findings.join("\n")).unwrap_or_default();
    let ends: Vec<Value> = task.ends.iter().map(end).collect();
    let mut content = json!({
        "status": status,
        "task_id": task.id(),
        "state": state(capture),
        "cleanup_status": cleanup(capture),
        "observations": capture.seen,
        "suspects": supported.suspects,
        "looked": supported.looked,
        "facts": {"task_id": task.id(), "ends": ends, "duration_seconds": task.order.limits.seconds},
        "files": analysis.map(|analysis| analysis.files.clone()).unwrap_or_default(),
        "findings": shown("findings", &findings, context),
        "notes": shown("notes", &notes(capture), context),
    });
    let mut put = |key: &str, value: Value| {
        if let Some(fields) = content.as_object_mut() {
            fields.insert(key.to_owned(), value);
        }
    };
    match status {
        "denied" => {
            let reason = capture.denied.as_deref().unwrap_or_default();
            put("reason", json!(context.fence("the answer", reason)));
            put("hint", json!("nothing was begun and nothing is left; find another test of the hypothesis"));
        }
        "failed" => {
            put("reason", json!("no packets came of it; the notes say why"));
            put("hint", json!("mend what the notes name, or go on without packets"));
        }
        _ => {}
    }
    if task.state() == State::NeedsCleanup {
        put(
            "hint",
            json!(
                "something of this capture is left in the cloud: cleanup_task with this task_id asks once more to remove it"
            ),
        );
    }
    if is_put_off(capture) {
        put(
            "hint",
            json!(
                "what is left in the cloud is removed behind the report; nothing is to be done about it now"
            ),
        );
    }
    CallResult { is_error: matches!(status, "denied" | "failed"), ..CallResult::completed(content) }
}

/// Tells whether the removal of what is left is put off until the report is delivered.
fn is_put_off(capture: &ReplayedCapture) -> bool {
    capture.removes_later && capture.waits_for_removal()
}

/// Says how far a capture is. One whose removal is put off runs no more, and something of it is left.
fn state(capture: &ReplayedCapture) -> &'static str {
    if is_put_off(capture) { State::NeedsCleanup.word() } else { capture.task.state().word() }
}

fn cleanup(capture: &ReplayedCapture) -> &'static str {
    if is_put_off(capture) {
        return AFTER_REPORT;
    }
    match (capture.task.state(), capture.remains()) {
        (State::NeedsCleanup, _) => "needs_cleanup",
        (_, true) => "under_way",
        (_, false) => "nothing_left",
    }
}

fn end(end: &CaptureTarget) -> Value {
    let word = match &end.phase {
        Phase::Checking { .. } | Phase::Ready => "checking",
        Phase::Creating | Phase::Looking { .. } => "beginning",
        Phase::Recording => "recording",
        Phase::Sizing { .. } | Phase::Fetching { .. } | Phase::Verifying { .. } => "fetching",
        Phase::Kept { bytes, packets, cut_off } => {
            return json!({"machine": end.machine.as_str(), "state": "kept", "file": end.file(),
                "bytes": bytes, "packets": packets, "cut_off": cut_off});
        }
        Phase::Failed => "failed",
    };
    json!({"machine": end.machine.as_str(), "state": word})
}

/// Says what went wrong, and what is worth knowing: words of the platform among it.
fn notes(capture: &ReplayedCapture) -> String {
    let mut lines: Vec<String> = Vec::new();
    for end in &capture.task.ends {
        lines.extend(end.trouble.iter().map(|trouble| match &trouble.hint {
            Some(hint) => format!("{}: {} ({hint})", end.machine, trouble.text),
            None => format!("{}: {}", end.machine, trouble.text),
        }));
        lines.extend(end.notes.iter().map(|note| format!("{}: {note}", end.machine)));
    }
    let trouble = capture.task.analysis.as_ref().and_then(|analysis| analysis.trouble.as_ref());
    lines.extend(trouble.map(|trouble| trouble.text.clone()));
    lines.dedup();
    lines.join("\n")
}

fn shown(what: &str, text: &str, context: &CallContext<'_>) -> String {
    if text.is_empty() {
        return String::new();
    }
    let text: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    context.fence(what, &text)
}

/// Returns what was observed, for a result of another kind.
pub(super) fn names(seen: &[ObservationId]) -> Vec<String> {
    seen.iter().map(ToString::to_string).collect()
}
