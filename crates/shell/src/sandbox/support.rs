//! What this machine offers to confine a command with.

use std::sync::OnceLock;

use serde::Serialize;

use crate::sandbox::limits::PidsGroup;
use crate::sandbox::syscalls::{self, CallRules};
use crate::sandbox::{files, privileges};

/// The Landlock interface that has everything we ask for.
const COMPLETE: i32 = 6;

/// What `ghost config check` reports of the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Support {
    /// The Landlock interface, where there is one.
    pub landlock: Option<i32>,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// Whether the number of processes can be bounded.
    pub processes: bool,
    /// Whether `ping` must run outside of the sandbox to work.
    pub ping_unconfined: bool,
}

/// Tries out what this machine offers. It starts threads that restrict themselves, and blocks for some milliseconds.
#[must_use]
pub fn support() -> Support {
    let filters =
        || syscalls::filters(&CallRules::default()).and_then(|filters| syscalls::restrict(&filters));
    let seccomp = std::thread::spawn(move || filters().is_ok_and(|answer| answer == "on"));
    Support {
        landlock: files::abi(),
        seccomp: seccomp.join().unwrap_or(false),
        processes: PidsGroup::create(1).is_some(),
        ping_unconfined: privileges::ping_needs_privileges(),
    }
}

/// Returns what this machine offers, tried out once: the kernel does not change while this process lives.
pub(crate) fn offered() -> &'static Support {
    static OFFERED: OnceLock<Support> = OnceLock::new();
    OFFERED.get_or_init(support)
}

impl Support {
    /// Names what a SAFE command cannot be confined without, where it is missing.
    #[must_use]
    pub fn missing(&self) -> Option<&'static str> {
        match (self.landlock, self.seccomp) {
            (Some(_), true) => None,
            (None, true) => Some("Landlock"),
            (Some(_), false) => Some("seccomp"),
            (None, false) => Some("Landlock and seccomp"),
        }
    }

    /// Says in sentences what is weak beside what [`Support::missing`] names; nothing where all is there.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let partial = self.landlock.filter(|found| *found < COMPLETE).map(|found| {
            format!(
                "Landlock ABI {found} is partial (ABI {COMPLETE} is complete): the audit says so for every command"
            )
        });
        let rest = [
            (!self.processes, "no pids control group can be made here: the number of processes is unbounded"),
            (
                self.ping_unconfined,
                "ping needs privileges of its file: it runs with limits, but without a sandbox",
            ),
        ];
        let rest = rest.into_iter().filter(|(missing, _)| *missing).map(|(_, text)| text.to_owned());
        partial.into_iter().chain(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complete_machine_warns_of_nothing() {
        let complete = Support { landlock: Some(7), seccomp: true, processes: true, ping_unconfined: false };
        assert_eq!((complete.warnings(), complete.missing()), (Vec::<String>::new(), None));
    }

    #[test]
    fn everything_that_is_missing_is_said() {
        let bare = Support { landlock: None, seccomp: false, processes: false, ping_unconfined: true };
        assert_eq!((bare.warnings().len(), bare.missing()), (2, Some("Landlock and seccomp")));
        let half = Support { landlock: Some(1), ..bare };
        assert_eq!((half.warnings().len(), half.missing()), (3, Some("seccomp")));
    }

    #[test]
    fn trying_leaves_this_process_as_it_was() {
        let found = support();
        assert_eq!(support(), found);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x"), "still writable").unwrap();
    }
}
