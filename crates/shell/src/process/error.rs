//! Why a command did not run at all.

use std::io;

use crate::ProgramError;

/// Why a command did not start, or why nothing is known of it. A command that failed by itself is an [`super::Output`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The program cannot run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// There are no words to run.
    #[error("the command is empty")]
    Empty,
    /// A word that no process can be given.
    #[error("the command contains a NUL character")]
    NulCharacter,
    /// The command's own folder could not be made.
    #[error("cannot prepare a folder for the command")]
    Scratch {
        /// What the system said.
        source: io::Error,
    },
    /// The sandbox failed on a kernel that has one, so that nothing was started.
    #[error("cannot confine the command")]
    Confine {
        /// What failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The system refused to start the program.
    #[error("cannot start `{program}`")]
    Start {
        /// The file that was to run.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// This process has no more threads or file descriptors.
    #[error("no resources left to watch a command")]
    Resources {
        /// What the system said.
        source: io::Error,
    },
    /// The watching thread ended without an answer; what it watched was killed.
    #[error("the command was lost")]
    Lost,
}

impl ExecError {
    /// Returns the exit code with which a shell reports the same, where it has one.
    #[must_use]
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Program(error) => Some(error.exit_code()),
            Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => Some(127),
            Self::Start { .. } => Some(126),
            Self::Empty
            | Self::NulCharacter
            | Self::Scratch { .. }
            | Self::Confine { .. }
            | Self::Resources { .. }
            | Self::Lost => None,
        }
    }

    /// Returns what a human could do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Program(error) => Some(error.hint()),
            Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("the program's interpreter is missing, or the working folder is".to_owned())
            }
            Self::Scratch { .. } => Some("check that the data folder exists and has space".to_owned()),
            Self::Confine { .. } => Some("`ghost config check` shows what this kernel offers".to_owned()),
            Self::Empty | Self::NulCharacter | Self::Start { .. } | Self::Resources { .. } | Self::Lost => {
                None
            }
        }
    }
}
