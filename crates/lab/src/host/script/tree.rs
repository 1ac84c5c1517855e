//! What a script is made of.

use std::cell::OnceCell;
use std::rc::Rc;

/// Commands, one after the other.
pub(super) type List = Vec<Item>;

/// A chain of pipelines; in the background or not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Link, Pipeline)>,
    pub(super) background: bool,
}

/// What stands between two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    And,
    Or,
}

/// Commands whose outputs are inputs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pipeline {
    pub(super) negated: bool,
    pub(super) parts: Vec<Command>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Command {
    pub(super) kind: Kind,
    pub(super) redirects: Vec<Redirect>,
    pub(super) line: usize,
}

/// What kind of command it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Simple {
        assigns: Vec<(String, Word)>,
        words: Vec<Word>,
    },
    /// `[[ … ]]`, with its words.
    Test(Vec<Word>),
    If {
        arms: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: List,
    },
    While {
        until: bool,
        condition: List,
        body: List,
    },
    Case {
        word: Word,
        arms: Vec<(Vec<Word>, List)>,
    },
    Function {
        name: String,
        body: Box<Command>,
    },
    Group(List),
    Subshell(List),
}

/// Where an input comes from or an output goes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Redirect {
    pub(super) descriptor: Option<u32>,
    pub(super) kind: RedirectKind,
    pub(super) target: Word,
    /// The text of a here-document, which comes after the line.
    pub(super) document: Option<Rc<OnceCell<Word>>>,
}

/// What kind of redirection it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirectKind {
    Read,
    Write,
    Append,
    /// `2>&1`.
    Duplicate,
    /// `&> file`.
    Both,
    /// A here-document or a here-string: the target is the text.
    Text,
}

/// A word before anything in it is put in its place.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<WordPart>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum WordPart {
    /// Text as it is; what is quoted is neither split nor a pattern.
    Text(String, bool),
    /// A variable, and whether it stands in quotes.
    Variable(Variable, bool),
    /// What commands print.
    Output(List, bool),
    /// A number that is worked out.
    Number(Word, bool),
}

/// `$x`, `${x:-y}` and their relatives.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) change: Change,
}

/// What happens to the value of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    None,
    /// `${#x}`.
    Length,
    /// `-`, `=`, `?` or `+`; the flag tells whether an empty value counts as none.
    Instead(char, bool, Word),
    /// `#`, `##`, `%`, `%%`.
    Cut {
        end: bool,
        longest: bool,
        pattern: Word,
    },
    /// `${x/a/b}`, `${x//a/b}`.
    Replace {
        all: bool,
        pattern: Word,
        with: Word,
    },
    /// `${x:1:2}`.
    Part(Word, Option<Word>),
}

impl Word {
    /// Returns the text, if the word is nothing but text without quotes.
    pub(super) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [WordPart::Text(text, false)] => Some(text),
            _ => None,
        }
    }

    /// Returns the text without looking at quotes, if nothing in the word has to be put in its place.
    pub(super) fn literal(&self) -> Option<(String, bool)> {
        let mut text = String::new();
        let mut any = false;
        for word_part in &self.parts {
            let WordPart::Text(part, quoted) = word_part else { return None };
            text.push_str(part);
            any |= quoted;
        }
        Some((text, any))
    }
}
