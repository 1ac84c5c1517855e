//! The output about a task: one document, or a summary that fits a screen.

use serde_json::{Value, json};

use super::command::{BAD_NEWS, Common};
use ghost_cloud::capture::{CaptureTarget, CaptureTask, Ended, Phase, State};
use ghost_tools::print::harmless;
use ghost_tools::print::{Hinted, line, note};
use ghost_tools::setup::Setup;

/// So many findings stand in the summary.
const FINDINGS: usize = 8;

/// Prints the end of it and returns the exit code.
pub(super) fn finish(task: &CaptureTask, ended: Ended, common: &Common, setup: &Setup) -> anyhow::Result<u8> {
    if ended == Ended::Left {
        note(&format!(
            "It is left to itself. `ghost capture wait {0}` goes on, `ghost capture stop {0}` ends it early.",
            task.id()
        ));
    }
    if task.state() == State::Failed {
        let trouble = task.ends.iter().filter_map(|end| end.trouble.as_ref());
        let (mut problems, mut hints) = (Vec::new(), Vec::new());
        for trouble in trouble {
            if !problems.contains(&trouble.text) {
                problems.push(trouble.text.clone());
            }
            hints.extend(trouble.hint.clone().filter(|hint| !hints.contains(hint)));
        }
        let error = anyhow::anyhow!("{}", harmless(&problems.join("; ")));
        return Err(if hints.is_empty() {
            error
        } else {
            Hinted::new(error, harmless(&hints.join("; "))).into()
        });
    }
    line(&if common.json { document(task).to_string() } else { summary(task, setup) })?;
    Ok(over(task, common))
}

/// Returns the exit code of a task.
pub(super) fn over(task: &CaptureTask, common: &Common) -> u8 {
    let critical = task.analysis.as_ref().is_some_and(|analysis| analysis.critical > 0);
    let bad = task.state() == State::NeedsCleanup || critical;
    if common.exit_code && bad { BAD_NEWS } else { 0 }
}

/// Returns the task as a document.
pub(in crate::cli) fn document(task: &CaptureTask) -> Value {
    let end = |end: &CaptureTarget| {
        let (packets, bytes, cut_off) = match end.phase {
            Phase::Kept { bytes, packets, cut_off } => (Some(packets), Some(bytes), Some(cut_off)),
            Phase::Checking { .. }
            | Phase::Ready
            | Phase::Creating
            | Phase::Looking { .. }
            | Phase::Recording
            | Phase::Sizing { .. }
            | Phase::Fetching { .. }
            | Phase::Verifying { .. }
            | Phase::Failed => (None, None, None),
        };
        json!({
            "role": end.role, "machine": end.machine.as_str(), "name": end.name.as_str(), "region": end.region.as_ref().map(ToString::to_string),
            "file": packets.map(|_| end.file()), "packets": packets, "bytes": bytes, "cut_off": cut_off, "stop_reason": end.stop_reason,
            "left": {"capture": end.capture.left, "file": end.blob.left}, "trouble": end.trouble, "notes": end.notes, "resumable": end.resumable,
        })
    };
    json!({
        "id": task.id(), "session": task.session.as_str(), "state": task.state(), "opened": task.opened.to_string(),
        "resource_group": task.order.group.name.as_str(), "folder": task.order.folder,
        "ends": task.ends.iter().map(end).collect::<Vec<_>>(),
        "files": task.analysis.as_ref().map_or(&[][..], |analysis| &analysis.files),
        "findings": task.analysis.as_ref().map_or(&[][..], |analysis| &analysis.findings),
        "critical": task.analysis.as_ref().map_or(0, |analysis| analysis.critical),
        "trouble": task.analysis.as_ref().and_then(|analysis| analysis.trouble.as_ref()),
        "needs_cleanup": left(task),
    })
}

/// Returns what of ours is, or may be, in the cloud.
fn left(task: &CaptureTask) -> Vec<String> {
    let storage = &task.order.storage;
    let of = |end: &CaptureTarget| {
        let capture = end.capture.remains().then(|| format!("capture {}", end.name));
        let file = format!("file {} in {}/{}", end.file(), storage.account, storage.container);
        [capture, end.blob.remains().then_some(file)]
    };
    task.ends.iter().flat_map(of).flatten().collect()
}

/// Returns a line for a list.
pub(super) fn row(task: &CaptureTask) -> Vec<String> {
    let opened = task.opened.to_string();
    let opened = opened.get(..19).unwrap_or(&opened).replace('T', " ");
    let machines = task.order.machines.join(" → ");
    let group = task.order.group.name.to_string();
    vec![task.id().to_string(), task.state().word().to_owned(), opened, group, machines]
}

/// Returns the summary for people.
pub(super) fn summary(task: &CaptureTask, setup: &Setup) -> String {
    let mut text = vec![row(task).join("  ")];
    for end in &task.ends {
        let what = match &end.phase {
            Phase::Kept { bytes, packets, cut_off } => {
                let cut = if *cut_off { ", cut off" } else { "" };
                format!(
                    "{packets} packets, {bytes} bytes{cut}: {}",
                    setup.config.capture.folder.join(end.file()).display()
                )
            }
            Phase::Failed => "nothing was captured".to_owned(),
            Phase::Recording => "records".to_owned(),
            Phase::Creating | Phase::Looking { .. } => "begins".to_owned(),
            Phase::Checking { .. } | Phase::Ready => "is looked at".to_owned(),
            Phase::Sizing { .. } | Phase::Fetching { .. } | Phase::Verifying { .. } => {
                "is fetched".to_owned()
            }
        };
        text.push(format!("  {} {}: {what}", end.role.word(), end.machine));
        if let Some(trouble) = &end.trouble {
            text.push(format!("    {}", trouble.text));
            text.extend(trouble.hint.as_ref().map(|hint| format!("    hint: {hint}")));
        }
        text.extend(end.notes.iter().map(|note| format!("    note: {note}")));
    }
    if let Some(analysis) = &task.analysis {
        text.extend(analysis.findings.iter().take(FINDINGS).map(|finding| format!("  {finding}")));
        let more = analysis.findings.len().saturating_sub(FINDINGS);
        text.extend((more > 0).then(|| format!("  … and {more} more")));
        text.extend(analysis.trouble.iter().map(|trouble| format!("  {}", trouble.text)));
        let reports = analysis.files.iter().filter(|file| file.ends_with(".md"));
        text.extend(
            reports.map(|file| format!("  report: {}", setup.config.capture.folder.join(file).display())),
        );
    }
    if task.state() == State::NeedsCleanup {
        text.push(format!("  NEEDS CLEANUP: {}", left(task).join("; ")));
        let held = task.ends.iter().any(|end| end.resumable);
        let first = if held { "`ghost capture wait ID` tries to fetch it again; " } else { "" };
        text.push(format!("  {}`ghost capture cleanup ID` removes it", first).replace("ID", &task.id()));
    }
    harmless(&text.join("\n"))
}
