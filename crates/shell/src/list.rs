//! Plain commands in a row, which run without a shell: each a process of its own, in a sandbox of its own.

use std::fmt;

use crate::Profile;
use crate::policy::quote;

/// Pipelines in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct List {
    /// The pipelines; never empty.
    pub pipelines: Vec<Pipeline>,
}

/// Commands joined by `|`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// When it runs, after what stands before it.
    pub when: When,
    /// The commands; never empty.
    pub stages: Vec<Stage>,
}

/// When a pipeline runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Whatever came before: it is the first, or stands behind `;` or a line end.
    Always,
    /// The last one that ran ended with 0: it stands behind `&&`.
    Succeeded,
    /// The last one that ran did not: it stands behind `||`.
    Failed,
}

/// One command of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// The words.
    pub argv: Vec<String>,
    /// What it needs from the sandbox.
    pub profile: Profile,
    /// Where its standard output goes.
    pub stdout: Stdout,
    /// Where its standard error goes.
    pub stderr: Stderr,
}

/// Where the standard output of a stage goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdout {
    /// To the next stage, or to the output of the list.
    Next,
    /// Nowhere: `>/dev/null`.
    Null,
}

/// Where the standard error of a stage goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stderr {
    /// To the errors of the list.
    Errors,
    /// Where the standard output of the stage goes: to the next stage, or to the output of the list.
    Next,
    /// Nowhere: `2>/dev/null`.
    Null,
}

impl fmt::Display for List {
    /// Writes the list as a shell would read it, each word quoted where it has to be.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, pipeline) in self.pipelines.iter().enumerate() {
            match pipeline.when {
                When::Always if at == 0 => {}
                When::Always => out.write_str("; ")?,
                When::Succeeded => out.write_str(" && ")?,
                When::Failed => out.write_str(" || ")?,
            }
            for (at, stage) in pipeline.stages.iter().enumerate() {
                write!(out, "{}{stage}", if at == 0 { "" } else { " | " })?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.argv.iter().enumerate() {
            write!(out, "{}{}", if at == 0 { "" } else { " " }, quote(word))?;
        }
        // In this order `2>&1` is where the output went before `>` led it elsewhere.
        match self.stderr {
            Stderr::Errors => {}
            Stderr::Next => out.write_str(" 2>&1")?,
            Stderr::Null => out.write_str(" 2>/dev/null")?,
        }
        match self.stdout {
            Stdout::Next => Ok(()),
            Stdout::Null => out.write_str(" >/dev/null"),
        }
    }
}
