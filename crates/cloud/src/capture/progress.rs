//! The capture itself: begun once, watched, ended, fetched.

use std::time::Duration;

use ghost_base::Timestamp;

use super::document::{Blob, ListedCapture, Status, read};
use super::drive::FileProblem;
use super::target::{CaptureTarget, Left, Phase, Stop};
use super::task::{CaptureTask, RequestedState};
use crate::FailureClass;
use crate::operation::{CommandError, CommandOutcome, Issue, printed};

/// The first look at a capture that has just begun.
const FIRST_POLL_SECONDS: u64 = 5;
/// The interval between polls of one that is not due yet.
const CALM_POLL_SECONDS: u64 = 30;
/// It is over so long after its time.
const POLL_AFTER_STOP_SECONDS: u64 = 2;
/// The intervals between polls of one that is due; the last one repeats.
const POLL_SECONDS: [u64; 4] = [5, 10, 20, 30];
/// A capture that is not over so long after its time is given up.
const MAX_UNKNOWN_TIME: Duration = Duration::from_secs(900);
/// A capture that is not listed did not begin, if this many checks before did not find it either.
const MAX_MISSES: u32 = 2;
/// Between them.
const RETRY_SECONDS: u64 = 10;
/// A file that is missing after this many checks was never written.
const MAX_FILE_CHECKS: u32 = 5;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

impl CaptureTask {
    pub(super) fn on_create(&mut self, at: usize, answer: &CommandOutcome, now: Timestamp) {
        let all = matches!(answer, CommandOutcome::Denied { all: true, .. });
        let Some(end) = self.ends.get_mut(at) else { return };
        if end.phase != Phase::Creating {
            return;
        }
        let doing = format!("beginning the capture of {}", end.machine);
        let Err(setback) = printed(answer, &doing) else {
            begun(end, now);
            return;
        };
        // Nothing was asked of the platform where nothing ran, and where `az` refused by itself.
        let refused =
            setback.class.is_none() || setback.is(FailureClass::Usage) || setback.is(FailureClass::SignedOut);
        if refused {
            (end.capture.left, end.blob.left) = (Left::Never, Left::Never);
            end.fail(setback.trouble.clone());
        } else {
            end.turn(Phase::Looking { missed: 0 });
            end.trouble = Some(setback.trouble.clone());
        }
        if all {
            for other in self.ends.iter_mut().filter(|other| other.phase == Phase::Ready) {
                other.fail(setback.trouble.clone());
            }
        }
    }

    pub(super) fn on_look(&mut self, at: usize, answer: &CommandOutcome, now: Timestamp) {
        let (group, own_path) = (
            self.order.group.name.clone(),
            self.ends.get(at).map(|end| self.order.storage.address(end.name.as_str())),
        );
        let Some(end) = self.ends.get_mut(at) else { return };
        let missed = match end.phase {
            Phase::Creating => 0,
            Phase::Looking { missed } => missed,
            Phase::Checking { .. }
            | Phase::Ready
            | Phase::Recording
            | Phase::Sizing { .. }
            | Phase::Fetching { .. }
            | Phase::Verifying { .. }
            | Phase::Kept { .. }
            | Phase::Failed => return,
        };
        let doing = format!("looking whether the capture of {} began", end.machine);
        let all = match printed(answer, &doing).and_then(|text| read::<Vec<ListedCapture>>(text, &doing)) {
            Ok(all) => all,
            Err(setback) => {
                end.phase = Phase::Looking { missed };
                self.stumble_with(at, setback, now);
                return;
            }
        };
        let found = all.into_iter().find(|listed| listed.name.eq_ignore_ascii_case(end.name.as_str()));
        match found {
            Some(listed)
                if !listed.is_of(group.as_str(), end.machine.as_str())
                    || Some(listed.path()) != own_path.as_deref() =>
            {
                (end.capture.left, end.blob.left) = (Left::Never, Left::Never);
                end.trouble = None;
                end.fail(Issue::new(format!("a capture named {} is there, and it is not ours", end.name)));
            }
            Some(listed) if listed.provisioning_state.as_deref() == Some("Failed") => {
                end.capture.left = Left::There;
                end.fail(Issue::new(format!("the platform could not begin the capture of {}", end.machine)));
            }
            Some(_) => {
                if let Some(trouble) = end.trouble.take() {
                    end.note(format!("it began although: {}", trouble.text));
                }
                begun(end, now);
            }
            // The platform may list it a moment later; so may a command that outlived whoever began it.
            None if missed < MAX_MISSES => {
                end.phase = Phase::Looking { missed: missed + 1 };
                end.wait(now.plus(seconds(RETRY_SECONDS)));
            }
            None => {
                (end.capture.left, end.blob.left) = (Left::Never, Left::Never);
                end.fail(Issue::hinted("its beginning was cut off, and it did not begin", "start it again"));
            }
        }
    }

    pub(super) fn on_status(&mut self, at: usize, answer: &CommandOutcome, now: Timestamp) {
        let due = self.ends.get(at).and_then(|end| self.due(end));
        let wish = self.wish;
        let Some(end) = self.ends.get_mut(at) else { return };
        if end.phase != Phase::Recording {
            return;
        }
        let doing = format!("asking how far the capture of {} is", end.machine);
        let status = match printed(answer, &doing).and_then(|text| read::<Status>(text, &doing)) {
            Ok(status) => status,
            Err(setback) if setback.is(FailureClass::NotFound) => {
                // Only a list says that it is gone; but there is nothing to wait for.
                end.capture.left = Left::Perhaps;
                end.note("somebody removed the capture before it was fetched");
                recorded(end, wish);
                return;
            }
            Err(setback) => {
                if due.is_some_and(|due| now >= due.plus(MAX_UNKNOWN_TIME)) {
                    end.suspend(setback.trouble);
                } else {
                    end.note(setback.trouble.text);
                    poll(end, due, now);
                }
                return;
            }
        };
        match status.packet_capture_status.as_deref() {
            Some("Stopped") => {
                end.stop_reason = status.stop_reason;
                recorded(end, wish);
            }
            Some("Error") => {
                let errors = status.packet_capture_error.join(", ");
                let text =
                    format!("the capture of {} ended with an error: {}", end.machine, meaning(&errors));
                end.trouble = Some(Issue::new(text));
                recorded(end, wish);
            }
            other => {
                if other == Some("NotStarted") {
                    end.since = Some(now);
                }
                if let Stop::Executing { before } = end.stop {
                    end.stop = Stop::Sent(before + 1);
                    end.polls = 0;
                }
                if due.is_some_and(|due| now >= due.plus(MAX_UNKNOWN_TIME)) && other != Some("NotStarted") {
                    let hint = "end it: ghost capture stop ID; or remove it: ghost capture cleanup ID";
                    let text = format!("the capture of {} is long over its time and goes on", end.machine);
                    end.suspend(Issue::hinted(text, hint));
                    return;
                }
                if other == Some("NotStarted") && end.polls > 20 {
                    end.suspend(Issue::new(format!(
                        "the capture of {} does not begin to record",
                        end.machine
                    )));
                    return;
                }
                poll(end, due, now);
            }
        }
    }

    pub(super) fn on_stop(&mut self, at: usize, answer: &CommandOutcome, now: Timestamp) {
        let wish = self.wish;
        let all = matches!(answer, CommandOutcome::Denied { all: true, .. });
        let Some(end) = self.ends.get_mut(at) else { return };
        let Stop::Executing { before } = end.stop else { return };
        if end.phase != Phase::Recording {
            return;
        }
        let doing = format!("ending the capture of {}", end.machine);
        match printed(answer, &doing) {
            Err(CommandError { class: None, trouble }) => {
                end.stop = Stop::Held;
                end.note(format!("{}; it goes on to its end", trouble.text));
            }
            outcome => {
                if let Err(setback) = outcome {
                    end.note(setback.trouble.text);
                }
                end.stop = Stop::Sent(before + 1);
                end.polls = 0;
                end.wait(now.plus(seconds(POLL_AFTER_STOP_SECONDS)));
            }
        }
        if wish == RequestedState::Cancel {
            end.fail(Issue::new("it was canceled"));
        }
        if all {
            for other in
                self.ends.iter_mut().filter(|other| other.phase == Phase::Recording && other.stop == Stop::No)
            {
                other.stop = Stop::Held;
                if wish == RequestedState::Cancel {
                    other.fail(Issue::new("it was canceled"));
                }
            }
        }
    }

    pub(super) fn on_size(&mut self, at: usize, answer: &CommandOutcome, now: Timestamp) {
        let Some(end) = self.ends.get_mut(at) else { return };
        let Phase::Sizing { missed } = end.phase else { return };
        let doing = format!("looking for the file of {}", end.machine);
        let all = match printed(answer, &doing).and_then(|text| read::<Vec<Blob>>(text, &doing)) {
            Ok(all) => all,
            Err(setback) => {
                self.keep_or_wait(at, setback, now);
                return;
            }
        };
        let own = end.file();
        let size = all.iter().find(|blob| blob.name == own).map(|blob| {
            blob.properties.as_ref().and_then(|properties| properties.content_length).unwrap_or(0)
        });
        match size {
            Some(bytes) => {
                end.blob.left = Left::There;
                end.turn(Phase::Fetching { bytes, failed: 0 });
            }
            None if missed + 1 < MAX_FILE_CHECKS => {
                end.phase = Phase::Sizing { missed: missed + 1 };
                let pause = usize::try_from(missed)
                    .ok()
                    .and_then(|at| POLL_SECONDS.get(at))
                    .copied()
                    .unwrap_or(CALM_POLL_SECONDS);
                end.wait(now.plus(seconds(pause)));
            }
            None => {
                end.blob.left = Left::Gone;
                let hint = "see whether the machine reaches the storage account and 168.63.129.16; with a filter, whether it is too narrow";
                end.fail(Issue::hinted(format!("the platform wrote no file for {}", end.machine), hint));
            }
        }
    }

    pub(super) fn on_fetch(&mut self, at: usize, answer: &CommandOutcome, now: Timestamp) {
        let Some(end) = self.ends.get_mut(at) else { return };
        let Phase::Fetching { bytes, failed } = end.phase else { return };
        match printed(answer, &format!("fetching the capture of {}", end.machine)) {
            Ok(_) => end.turn(Phase::Verifying { bytes, failed }),
            Err(setback) if setback.is(FailureClass::NotFound) => {
                end.turn(Phase::Sizing { missed: MAX_FILE_CHECKS - 1 })
            }
            Err(setback) => self.keep_or_wait(at, setback, now),
        }
    }

    /// Takes what reading a fetched file brought: its packets and whether it is cut off, or why it is no capture.
    pub fn verified(&mut self, at: usize, read: Result<(u64, bool), FileProblem>, now: Timestamp) {
        let Some(end) = self.ends.get_mut(at) else { return };
        let Phase::Verifying { bytes, failed } = end.phase else { return };
        match read {
            Ok((packets, cut_off)) => {
                if packets == 0 {
                    let filtered =
                        if self.order.filters.is_empty() { "" } else { ", or the filter is too narrow" };
                    end.note(format!(
                        "it holds no packet: nothing passed {} in that time{filtered}",
                        end.machine
                    ));
                }
                end.turn(Phase::Kept { bytes, packets, cut_off });
            }
            Err(_) if failed < 2 => {
                end.turn(Phase::Fetching { bytes, failed: failed + 1 });
                end.wait(now.plus(seconds(FIRST_POLL_SECONDS)));
            }
            Err(why) => {
                let text = format!("what was fetched of {} is no whole capture: {why}", end.machine);
                end.suspend(Issue::hinted(text, "ghost capture wait ID fetches it again"));
            }
        }
    }

    /// Waits where that may help; else the evidence stays where it is until somebody says go on.
    fn keep_or_wait(&mut self, at: usize, setback: CommandError, now: Timestamp) {
        let Some(end) = self.ends.get_mut(at) else { return };
        match end.patience.again(&setback) {
            Some(pause) => end.wait(now.plus(seconds(pause))),
            None => end.suspend(setback.trouble),
        }
    }

    /// As `stumble`, but the trouble that led here stays beside.
    fn stumble_with(&mut self, at: usize, setback: CommandError, now: Timestamp) {
        let Some(end) = self.ends.get_mut(at) else { return };
        if let Some(pause) = end.patience.again(&setback) {
            end.wait(now.plus(seconds(pause)));
        } else {
            end.note(setback.trouble.text.clone());
            end.fail(setback.trouble);
        }
    }
}

fn begun(end: &mut CaptureTarget, now: Timestamp) {
    end.capture.left = Left::There;
    end.turn(Phase::Recording);
    (end.since, end.polls) = (Some(now), 0);
    end.wait(now.plus(seconds(FIRST_POLL_SECONDS)));
}

/// It records no more: the file is next.
fn recorded(end: &mut CaptureTarget, wish: RequestedState) {
    if wish == RequestedState::Cancel {
        end.fail(Issue::new("it was canceled"));
    } else {
        end.turn(Phase::Sizing { missed: 0 });
    }
}

/// Sets the next look: aimed at the time when it should be over, and slower and slower after that.
fn poll(end: &mut CaptureTarget, due: Option<Timestamp>, now: Timestamp) {
    let aim = due.map(|due| due.plus(seconds(POLL_AFTER_STOP_SECONDS)));
    let calm = now.plus(seconds(CALM_POLL_SECONDS));
    let ended = matches!(end.stop, Stop::Sent(_));
    let next = match aim.filter(|aim| *aim > now && !ended) {
        Some(aim) => aim.min(calm),
        None => {
            let pause = usize::try_from(end.polls)
                .ok()
                .and_then(|at| POLL_SECONDS.get(at))
                .copied()
                .unwrap_or(CALM_POLL_SECONDS);
            end.polls += 1;
            now.plus(seconds(pause))
        }
    };
    end.wait(next);
}

/// What the platform's words for errors mean.
fn meaning(errors: &str) -> String {
    let known = [
        ("AgentStopped", "the extension on the machine stopped"),
        ("CaptureFailed", "the extension could not record"),
        ("LocalFileFailed", "the machine's disk could not be written"),
        ("StorageFailed", "the storage account could not be written"),
        ("InternalError", "the platform failed"),
    ];
    let reasons: Vec<&str> =
        known.iter().filter(|(word, _)| errors.contains(word)).map(|(_, text)| *text).collect();
    match (reasons.is_empty(), errors.is_empty()) {
        (false, _) => format!("{} ({errors})", reasons.join(", ")),
        (true, false) => errors.to_owned(),
        (true, true) => "the platform says no more".to_owned(),
    }
}
