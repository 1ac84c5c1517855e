//! Removing what is in the cloud, and making sure that it is gone.

use std::time::Duration;

use ghost_base::Timestamp;

use super::document::{Exists, ListedCapture, read};
use super::target::{CaptureTarget, CloudObject, Left, Removal};
use super::task::{CaptureTask, RequestedState};
use crate::FailureClass;
use crate::operation::{CommandError, CommandOutcome, Issue, printed};

fn thing(end: &mut CaptureTarget, blob: bool) -> &mut CloudObject {
    if blob { &mut end.blob } else { &mut end.capture }
}

fn begun(thing: &CloudObject) -> bool {
    matches!(thing.removal, Removal::Executing | Removal::Confirming)
}

impl CaptureTask {
    pub(super) fn on_delete(&mut self, at: usize, blob: bool, answer: &CommandOutcome) {
        let Some(end) = self.ends.get_mut(at) else { return };
        let doing = if blob {
            format!("removing the file of {}", end.machine)
        } else {
            format!("removing the capture of {}", end.machine)
        };
        if thing(end, blob).removal != Removal::Executing {
            return;
        }
        let held = match printed(answer, &doing) {
            Err(CommandError { class: None, trouble }) => trouble,
            // Whether it is gone is what the read says that follows, whatever this command said.
            Ok(_) => return self.confirm(at, blob, None),
            Err(setback) => return self.confirm(at, blob, Some(setback.trouble.text)),
        };
        thing(end, blob).removal = Removal::Held(held.clone());
        if matches!(answer, CommandOutcome::Denied { all: true, .. }) {
            for end in &mut self.ends {
                for blob in [false, true] {
                    let other = thing(end, blob);
                    if other.remains() && other.removal == Removal::No {
                        other.removal = Removal::Held(held.clone());
                    }
                }
            }
        }
    }

    fn confirm(&mut self, at: usize, blob: bool, note: Option<String>) {
        let Some(end) = self.ends.get_mut(at) else { return };
        thing(end, blob).removal = Removal::Confirming;
        if let Some(note) = note {
            end.note(note);
        }
        let phase = end.phase.clone();
        end.turn(phase);
    }

    pub(super) fn on_confirm(&mut self, at: usize, answer: &CommandOutcome, now: Timestamp) {
        let doing = "looking whether the capture is gone";
        let Some(name) = self.ends.get(at).map(|end| end.name.to_string()) else { return };
        let seen = printed(answer, doing).and_then(|text| read::<Vec<ListedCapture>>(text, doing));
        let there = seen.map(|all| all.iter().any(|listed| listed.name.eq_ignore_ascii_case(&name)));
        self.confirmed(at, false, there, now);
    }

    pub(super) fn on_confirm_blob(&mut self, at: usize, answer: &CommandOutcome, now: Timestamp) {
        let doing = "looking whether the file is gone";
        let there =
            printed(answer, doing).and_then(|text| read::<Exists>(text, doing)).map(|seen| seen.exists);
        self.confirmed(at, true, there, now);
    }

    fn confirmed(&mut self, at: usize, blob: bool, there: Result<bool, CommandError>, now: Timestamp) {
        let unseen = self.discard || self.wish == RequestedState::Cancel;
        let Some(end) = self.ends.get_mut(at) else { return };
        let machine = end.machine.clone();
        if !begun(thing(end, blob)) {
            return;
        }
        let setback = match there {
            Ok(false) => {
                let gone = thing(end, blob);
                (gone.left, gone.removal) = (Left::Gone, Removal::No);
                // One whose end nobody saw may have written its file when it was removed, after the file had been looked for.
                if !blob && unseen && end.blob.left == Left::Gone {
                    end.blob = CloudObject { left: Left::Perhaps, removal: Removal::No };
                }
                let phase = end.phase.clone();
                end.turn(phase);
                return;
            }
            Ok(true) => {
                thing(end, blob).left = Left::There;
                let what = if blob { "file" } else { "capture" };
                let text = format!("the {what} of {machine} is still there");
                // The platform may list it for another moment.
                CommandError { class: Some(FailureClass::Service), trouble: Issue::new(text) }
            }
            Err(setback) => setback,
        };
        if end.patience.tries() < 3
            && let Some(pause) = end.patience.again(&setback)
        {
            end.wait(now.plus(Duration::from_secs(pause)));
            return;
        }
        thing(end, blob).removal = Removal::Held(setback.trouble);
        let phase = end.phase.clone();
        end.turn(phase);
    }

    /// Takes what the analysis brought.
    pub fn analyzed(&mut self, analysis: super::Analysis) {
        if self.ends.iter().all(CaptureTarget::settled) && self.analysis.is_none() {
            self.analysis = Some(analysis);
        }
    }
}
