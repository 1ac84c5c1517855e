//! Plain commands in a row, which run without a shell: each a process of its own, in a sandbox of its own.

use std::collections::BTreeMap;
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
    /// What the gate puts in the place of words, by their index.
    pub fills: BTreeMap<usize, Fill>,
}

/// What the gate puts in the place of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fill {
    /// The files that match the word. While the gate has not looked, and if none matches, it is the word itself.
    Pattern,
    /// The end of a pipe with the output of these commands: `<( … )`.
    Output(List),
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

impl List {
    /// Returns every stage in the order of the text, those in `<( … )` before the stage that reads them.
    #[must_use]
    pub fn stages(&self) -> Vec<&Stage> {
        let mut found = Vec::new();
        for stage in self.pipelines.iter().flat_map(|pipeline| &pipeline.stages) {
            found.extend(stage.outputs().flat_map(|(_, output)| output.stages()));
            found.push(stage);
        }
        found
    }

    /// Returns the stages that read no other one, those in `<( … )` too.
    #[must_use]
    pub fn heads(&self) -> Vec<&Stage> {
        let first = self.pipelines.iter().filter_map(|pipeline| pipeline.stages.first());
        let outputs = self.pipelines.iter().flat_map(|pipeline| &pipeline.stages).flat_map(Stage::outputs);
        first.chain(outputs.flat_map(|(_, output)| output.heads())).collect()
    }

    /// Returns the words and the needs of every stage, in the order of [`List::stages`].
    pub(crate) fn profiles_mut(&mut self) -> Vec<(&[String], &mut Profile)> {
        let mut found = Vec::new();
        for stage in self.pipelines.iter_mut().flat_map(|pipeline| &mut pipeline.stages) {
            let Stage { argv, profile, fills, .. } = stage;
            for fill in fills.values_mut() {
                if let Fill::Output(output) = fill {
                    found.extend(output.profiles_mut());
                }
            }
            found.push((argv.as_slice(), profile));
        }
        found
    }
}

impl Stage {
    /// Returns the lists whose output it reads through a pipe, by the index of the word.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = (usize, &List)> {
        self.fills.iter().filter_map(|(at, fill)| match fill {
            Fill::Output(list) => Some((*at, list)),
            Fill::Pattern => None,
        })
    }
}

impl Fill {
    /// Writes the word down as a shell would read it.
    pub(crate) fn written(&self, word: &str) -> String {
        match self {
            Self::Output(list) => format!("<({list})"),
            Self::Pattern => {
                let quoted = |part: &str| if part.is_empty() { String::new() } else { quote(part) };
                word.split('*').map(quoted).collect::<Vec<_>>().join("*")
            }
        }
    }
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
            let written = self.fills.get(&at).map_or_else(|| quote(word), |fill| fill.written(word));
            write!(out, "{}{written}", if at == 0 { "" } else { " " })?;
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
