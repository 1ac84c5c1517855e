//! What something looked at, in words: commands by what they are for, and not by their length.

use crate::event::Observed;
use crate::report::markdown::{code, text};
use crate::report::plain;
use crate::state::{State, Step};
use crate::tool::FileTask;

/// A longer command is cut; the audit holds all of it.
const MAX_COMMAND_CHARS: usize = 200;

/// What something looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::report) enum Looked {
    /// In words of ours.
    Words(String),
    /// A command that nobody explained.
    Command(String),
}

impl Looked {
    /// Returns what an observation looked at.
    pub(in crate::report) fn at(state: &State, observed: &Observed) -> Self {
        match observed.step.and_then(|id| state.step(id)) {
            Some(step) => Self::by(step, &observed.what),
            None => file_task(&observed.what),
        }
    }

    /// Returns what a command is for. A command that a model or a person wrote says that best itself.
    pub(in crate::report) fn by(step: &Step, what: &str) -> Self {
        if step.tool == "run_shell_cmd" || step.scripted().is_none() && step.rounds.len() > 1 {
            return Self::Command(cut(what));
        }
        let purpose = step.reasoning.trim();
        let verbs = ["look at ", "list ", "find ", "read ", "see "];
        let bare = verbs.iter().find_map(|verb| purpose.strip_prefix(verb)).unwrap_or(purpose);
        if bare.is_empty() { Self::Command(cut(what)) } else { Self::Words(cut(bare)) }
    }

    /// Writes it as Markdown.
    pub(in crate::report) fn markdown(&self) -> String {
        match self {
            Self::Words(words) => text(words),
            Self::Command(command) => code(command),
        }
    }

    /// Writes it as plain text.
    pub(in crate::report) fn plain(&self) -> String {
        match self {
            Self::Words(words) | Self::Command(words) => plain(words),
        }
    }
}

fn file_task(what: &str) -> Looked {
    match serde_json::from_str(what) {
        Ok(FileTask::Verify { file, .. }) => Looked::Words(format!("the fetched capture {}", cut(&file))),
        Ok(FileTask::Store { file, .. }) => Looked::Words(format!("the recorded packets {}", cut(&file))),
        Ok(FileTask::Analyze { .. }) => Looked::Words("the analysis of the captured packets".to_owned()),
        Ok(FileTask::Recall { session, .. }) => {
            Looked::Words(format!("what was kept earlier as {}", cut(&session)))
        }
        Ok(FileTask::Keep { session, .. }) => {
            Looked::Words(format!("what is kept for later as {}", cut(&session)))
        }
        Err(_) => Looked::Command(cut(what)),
    }
}

fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() > MAX_COMMAND_CHARS || line.len() < text.trim_end().len() {
        return line.chars().take(MAX_COMMAND_CHARS).collect::<String>() + " …";
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_files_is_put_in_words_and_never_as_it_is_written() {
        let tasks = [
            FileTask::Verify { file: "ghost-x-1.cap".to_owned(), bytes: 1 },
            FileTask::Analyze { work: vec![] },
            FileTask::Recall { kind: "effective".to_owned(), session: "before".to_owned() },
            FileTask::Keep { kind: "meter".to_owned(), session: "x".to_owned(), text: "{}".to_owned() },
        ];
        for task in tasks {
            let worded = file_task(&serde_json::to_string(&task).unwrap());
            assert!(matches!(&worded, Looked::Words(words) if !words.contains(['{', '"'])), "{worded:?}");
        }
        assert_eq!(file_task("ip a"), Looked::Command("ip a".to_owned()));
    }
}
