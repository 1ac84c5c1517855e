//! Why nothing was injected.

use std::io;
use std::path::PathBuf;

use crate::case::problem::Problems;

/// Why nothing was injected.
#[derive(Debug, thiserror::Error)]
pub enum InjectError {
    /// The case does not fit.
    #[error("the case does not fit: {0}")]
    Case(Problems),
    /// It has no such phase.
    #[error("the case has {has} phase(s), and no phase {phase}")]
    Phase {
        /// The phase that was asked for.
        phase: usize,
        /// How many it has.
        has: usize,
    },
    /// A baseline of this name is there already.
    #[error("there is a baseline {0} already, and it is not the lab's")]
    Baseline(PathBuf),
    /// A step failed; everything is as it was before.
    #[error("{step}: {why}; everything is as it was before")]
    Step { step: String, why: String },
    /// A step failed, and so did undoing the steps before it.
    #[error("{step}: {why}; and it could not be taken back: {back}")]
    Stuck {
        step: String,
        why: String,
        /// What went wrong while undoing.
        back: String,
    },
    /// The lab could not be made as it was.
    #[error("the lab could not be made as it was: {0}")]
    Reset(String),
    /// The disk does not do it.
    #[error("the journal in {0}: {1}")]
    Disk(PathBuf, #[source] io::Error),
}

impl InjectError {
    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Case(problems) => problems.hint().to_owned(),
            Self::Phase { has, .. } => format!("phases are counted from 1 to {has}"),
            Self::Baseline(path) => format!("move {} away, or name the baseline otherwise", path.display()),
            // The kernel's own words, where guests are namespaces of it.
            Self::Step { why, .. } if why.contains("qdisc kind is unknown") => {
                "this machine's kernel has no such discipline; the guests of `ghost lab up --hosts simulated` have all".to_owned()
            }
            Self::Step { .. } => {
                "`ghost lab reset` is not needed; repair the case, and inject it again".to_owned()
            }
            Self::Stuck { .. } | Self::Reset(_) => {
                "`ghost lab down` and `ghost lab up` begin anew".to_owned()
            }
            Self::Disk(..) => "name a folder that can be written with --data-dir".to_owned(),
        }
    }
}
