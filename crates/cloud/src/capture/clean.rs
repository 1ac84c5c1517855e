//! Removing what is in the cloud, and making sure that it is gone.

use std::time::Duration;

use super::document::{Exists, Listed, read};
use super::end::{End, Left, Removal, Thing};
use super::task::{Task, Wish};
use crate::Class;
use crate::errand::Answer;
use crate::errand::{Setback, Trouble, printed};
use ghost_base::Timestamp;

fn thing(end: &mut End, blob: bool) -> &mut Thing {
    if blob { &mut end.blob } else { &mut end.capture }
}

fn begun(thing: &Thing) -> bool {
    matches!(thing.removal, Removal::Executing | Removal::Confirming)
}

impl Task {
    pub(super) fn heard_delete(&mut self, at: usize, blob: bool, answer: &Answer) {
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
            Err(Setback { class: None, trouble }) => trouble,
            // Whether it is gone is what the read says that follows, whatever this command said.
            Ok(_) => return self.confirm(at, blob, None),
            Err(setback) => return self.confirm(at, blob, Some(setback.trouble.text)),
        };
        thing(end, blob).removal = Removal::Held(held.clone());
        if matches!(answer, Answer::Denied { all: true, .. }) {
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

    pub(super) fn heard_confirm(&mut self, at: usize, answer: &Answer, now: Timestamp) {
        let doing = "looking whether the capture is gone";
        let Some(name) = self.ends.get(at).map(|end| end.name.to_string()) else { return };
        let seen = printed(answer, doing).and_then(|text| read::<Vec<Listed>>(text, doing));
        let there = seen.map(|all| all.iter().any(|listed| listed.name.eq_ignore_ascii_case(&name)));
        self.confirmed(at, false, there, now);
    }

    pub(super) fn heard_confirm_blob(&mut self, at: usize, answer: &Answer, now: Timestamp) {
        let doing = "looking whether the file is gone";
        let there =
            printed(answer, doing).and_then(|text| read::<Exists>(text, doing)).map(|seen| seen.exists);
        self.confirmed(at, true, there, now);
    }

    fn confirmed(&mut self, at: usize, blob: bool, there: Result<bool, Setback>, now: Timestamp) {
        let unseen = self.discard || self.wish == Wish::Cancel;
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
                    end.blob = Thing { left: Left::Perhaps, removal: Removal::No };
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
                Setback { class: Some(Class::Service), trouble: Trouble::new(text) }
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
        if self.ends.iter().all(End::settled) && self.analysis.is_none() {
            self.analysis = Some(analysis);
        }
    }
}
