//! The commands, as data: their words, their options, what they ask for, the table form of their answers.

use serde_json::Value;

use super::failure::Failure;
use super::line::Line;
use super::session::Session;
use super::{account, group, monitor, network, rest, storage, vm, watcher};

/// What a command prints; nothing where it prints nothing.
pub(super) type CommandResult = Result<Option<Value>, Failure>;

/// How a row of a table is made from an entry.
pub(super) type Row = fn(&Value) -> Vec<(&'static str, Value)>;

/// When a missing part of an identifier is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    /// While the line is read.
    Early,
    /// When the command begins.
    Late,
}

/// What a command does.
#[derive(Clone, Copy)]
pub(super) enum Call {
    /// Lists what a path holds.
    List,
    /// Shows what a path names.
    Show,
    /// Removes what a path names.
    Delete,
    /// Something of its own.
    Own(fn(&mut Session<'_>, &Line) -> CommandResult),
}

#[derive(Clone, Copy)]
pub(super) struct Command {
    /// Its words.
    pub(super) name: &'static str,
    /// Its options, as `option` reads them.
    pub(super) options: &'static str,
    /// What it asks for, below the group: `{--name}` is the value of an option.
    pub(super) path: &'static str,
    /// The version of the interface that the real one asks for.
    pub(super) version: &'static str,
    /// What it does.
    pub(super) call: Call,
    /// When a missing part of an identifier is noticed.
    pub(super) ids: Ids,
    /// The columns of a table of its answers, where they do not follow from the answers.
    pub(super) row: Option<Row>,
    /// Where the rows of the table are, where they are not the answer itself.
    pub(super) rows: &'static str,
}

impl Command {
    const fn new(
        name: &'static str,
        options: &'static str,
        path: &'static str,
        version: &'static str,
        call: Call,
    ) -> Self {
        Self { name, options, path, version, call, ids: Ids::Late, row: None, rows: "" }
    }

    /// A command that lists.
    pub(super) const fn list(
        name: &'static str,
        options: &'static str,
        path: &'static str,
        version: &'static str,
    ) -> Self {
        Self::new(name, options, path, version, Call::List)
    }

    /// A command that shows.
    pub(super) const fn show(
        name: &'static str,
        options: &'static str,
        path: &'static str,
        version: &'static str,
    ) -> Self {
        Self::new(name, options, path, version, Call::Show)
    }

    /// A command that removes.
    pub(super) const fn delete(
        name: &'static str,
        options: &'static str,
        path: &'static str,
        version: &'static str,
    ) -> Self {
        Self::new(name, options, path, version, Call::Delete)
    }

    /// A command with code of its own.
    pub(super) const fn own(
        name: &'static str,
        options: &'static str,
        call: fn(&mut Session<'_>, &Line) -> CommandResult,
    ) -> Self {
        Self::new(name, options, "", "", Call::Own(call))
    }

    /// With what it asks for.
    pub(super) const fn at(mut self, path: &'static str, version: &'static str) -> Self {
        self.path = path;
        self.version = version;
        self
    }

    /// With rows of its own.
    pub(super) const fn rows(mut self, row: Row) -> Self {
        self.row = Some(row);
        self
    }

    /// With rows of its own that lie in a field.
    pub(super) const fn rows_in(mut self, field: &'static str, row: Row) -> Self {
        self.rows = field;
        self.row = Some(row);
        self
    }

    /// Notices early that a part of an identifier is missing.
    pub(super) const fn early(mut self) -> Self {
        self.ids = Ids::Early;
        self
    }
}

/// Returns all commands, area by area.
pub(super) fn all() -> impl Iterator<Item = &'static Command> {
    let areas: [&'static [Command]; 14] = [
        account::COMMANDS,
        group::COMMANDS,
        monitor::COMMANDS,
        network::effective::COMMANDS,
        network::kind::COMMANDS,
        network::route::COMMANDS,
        network::rule::COMMANDS,
        network::subnet::COMMANDS,
        rest::COMMANDS,
        storage::account::COMMANDS,
        storage::blob::COMMANDS,
        vm::COMMANDS,
        watcher::capture::COMMANDS,
        watcher::probe::COMMANDS,
    ];
    areas.into_iter().flatten()
}

/// What the words of a line name.
pub(super) enum CommandMatch {
    /// A command, and how many words it has.
    Command(&'static Command, usize),
    /// A group of commands.
    Group(String),
    /// Neither; the word that is wrong.
    Unknown(String),
}

/// Finds what the words of a line name; what follows them are options.
pub(super) fn find(words: &[String]) -> CommandMatch {
    let mut name = String::new();
    for (at, word) in words.iter().enumerate() {
        if word.starts_with('-') {
            break;
        }
        let longer = if name.is_empty() { word.clone() } else { format!("{name} {word}") };
        if let Some(command) = all().find(|command| command.name == longer) {
            return CommandMatch::Command(command, at + 1);
        }
        let group = format!("{longer} ");
        if !all().any(|command| command.name.starts_with(&group)) {
            return CommandMatch::Unknown(word.clone());
        }
        name = longer;
    }
    CommandMatch::Group(name)
}
