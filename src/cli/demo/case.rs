//! The cases that can be told.

use std::time::Duration;

use clap::ValueEnum;

use crate::agent::model::{ScriptedError, Told};
use crate::shell::{Recorded, RecordingError};

/// A recording answers after at most so long: it should be seen to work, and nobody should wait for the past.
const LONGEST: Duration = Duration::from_millis(900);

/// A case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Case {
    /// The Shadow Firewall: `iperf` does not connect since the hardening run, and every security rule allows it.
    J,
}

impl Case {
    /// Returns what to write to the bot first.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::J => {
                "iperf from tf-source-vm (10.0.1.4) to tf-dest-vm (10.0.1.5) does not connect since the hardening scripts ran \
                 on tf-dest-vm last night. The NSG allows 5001 inbound, both VMs are healthy. nw-forensics-rg."
            }
        }
    }

    /// Returns who tells it.
    pub(super) fn story(self) -> Result<Told, ScriptedError> {
        match self {
            Self::J => Told::parse(
                "case J, from recordings, whatever is asked",
                include_str!("../../../demo/told/j/story.jsonl"),
            ),
        }
    }

    /// Returns what was recorded.
    pub(super) fn recordings(self) -> Result<Recorded, RecordingError> {
        match self {
            Self::J => Recorded::parse(include_str!("../../../demo/told/j/recordings.jsonl"), LONGEST),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_be_told_and_says_where_its_recordings_come_from() {
        for case in Case::value_variants() {
            case.story().unwrap();
            assert!(case.recordings().unwrap().recordings().all(|recording| recording.origin.len() > 10));
        }
    }
}
