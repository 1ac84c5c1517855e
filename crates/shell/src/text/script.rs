//! What was read: commands, their words, and what only a shell could do with them.

use std::ops::Range;

/// A construct that an argument vector cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Need {
    /// `;`, `&&`, `||` or a line end.
    Chain,
    /// `|`.
    Pipe,
    /// `&`.
    Background,
    /// `<`, `>` and their relatives.
    Redirect,
    /// `( … )`.
    Group,
    /// `$( … )`, backticks, `>( … )`.
    Substitution,
    /// `<( … )`: the gate makes the pipe.
    Output,
    /// `$x`, `${x}`, `$'x'`.
    Variable,
    /// `*`.
    Glob,
    /// `{a,b}`, `{1..3}`.
    Brace,
    /// A word that starts with `~`.
    Tilde,
    /// A `#` with nothing behind it; a comment with text is no part of the command.
    Comment,
    /// `NAME=value` in front of a command.
    Assignment,
    /// `if`, `while`, `!` and their relatives.
    Keyword,
    /// A function definition.
    Function,
    /// `?` and `[x]`: literal here, because no shell runs, but not in a script for a guest.
    Pattern,
}

/// What joins and redirects plain commands.
pub(super) const OF_A_LIST: [Need; 3] = [Need::Chain, Need::Pipe, Need::Redirect];

/// What the gate itself puts in the place of a word. Another shell that reads the text would do it otherwise.
pub(super) const OF_THE_GATE: [Need; 2] = [Need::Glob, Need::Output];

/// The constructs of a text, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Needs(u32);

impl Needs {
    const NAMES: [(Need, &'static str, &'static str); 15] = [
        (Need::Substitution, "text.substitution", "command substitution"),
        (Need::Output, "text.substitution", "process substitution"),
        (Need::Function, "text.function", "a function definition"),
        (Need::Background, "text.background", "`&`"),
        (Need::Redirect, "text.redirect", "a redirection"),
        (Need::Pipe, "text.pipe", "a pipe"),
        (Need::Chain, "text.chain", "a chain of commands"),
        (Need::Group, "text.group", "a group in parentheses"),
        (Need::Keyword, "text.keyword", "a shell keyword"),
        (Need::Assignment, "text.assignment", "`NAME=value` in front of the command"),
        (Need::Variable, "text.variable", "a variable"),
        (Need::Brace, "text.brace", "a brace expansion"),
        (Need::Glob, "text.glob", "`*`"),
        (Need::Tilde, "text.tilde", "a word that starts with `~`"),
        (Need::Comment, "text.comment", "a comment"),
    ];

    pub(crate) fn add(&mut self, need: Need) {
        self.0 |= 1 << need as u8;
    }

    pub(super) fn remove(&mut self, need: Need) {
        self.0 &= !(1 << need as u8);
    }

    pub(crate) fn has(self, need: Need) -> bool {
        self.0 & (1 << need as u8) != 0
    }

    /// Returns the rule and the words for the most telling construct that needs a shell.
    pub(crate) fn shell(self) -> Option<(&'static str, &'static str)> {
        // What a list may hold is named last: it is why a shell is needed only where nothing else is.
        let found = |of_a_list: bool| {
            Self::NAMES.iter().find(|(need, ..)| self.has(*need) && of_a_list == OF_A_LIST.contains(need))
        };
        found(false).or_else(|| found(true)).map(|&(_, rule, what)| (rule, what))
    }

    /// Tells whether nothing but these constructs occurs.
    pub(crate) fn only(self, allowed: &[Need]) -> bool {
        let mut rest = self;
        allowed.iter().for_each(|need| rest.0 &= !(1 << *need as u8));
        rest.0 == 0
    }
}

/// One word after quotes and escapes were removed. Expansions stand in it as they were written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Word {
    /// The text of the word.
    pub(crate) text: String,
    /// Some part of it was quoted or escaped, so that it is no keyword.
    pub(crate) quoted: bool,
    /// A backtick stands in it that was read as JMESPath.
    pub(crate) backtick: bool,
    /// The places of `$name` and `${name}` in the text.
    pub(crate) variables: Vec<Range<usize>>,
    /// What the gate puts in its place.
    pub(crate) fill: Option<WordFill>,
    /// How many `*` in it are not quoted.
    pub(crate) stars: usize,
}

/// What the gate puts in the place of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WordFill {
    /// The files that match. The text is a match that no command can name, for the judge: a NUL stands where `*` does.
    Pattern(String),
    /// A pipe with the output of these commands of the script: `<( … )` and nothing else in the word.
    Output(Range<usize>),
}

/// The file that the judge sees in the place of `<( … )`. No command can name it.
pub(crate) const OUTPUT_FILE: &str = "/dev/fd/\0";

impl Word {
    /// Returns the word as the judge sees it: with a match in the place of a pattern, a file in the place of a pipe.
    pub(crate) fn judged(&self) -> &str {
        match &self.fill {
            None => &self.text,
            Some(WordFill::Pattern(sample)) => sample,
            Some(WordFill::Output(_)) => OUTPUT_FILE,
        }
    }
}

/// What a redirection does with its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    /// Reads a file.
    Read,
    /// Writes a file.
    Write,
    /// Duplicates or closes a descriptor (`2>&1`).
    Duplicate,
    /// Starts a document whose lines follow; the target is its end mark.
    Document,
    /// Feeds the target itself as input.
    Text,
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    /// What happens to the target.
    pub(crate) kind: RedirectKind,
    /// The descriptor in front, empty where none stood there.
    pub(crate) descriptor: String,
    /// The file, the descriptor or the text.
    pub(crate) target: String,
    /// It is written with `<`, `>` or `>&`, not with a relative of them.
    pub(crate) bare: bool,
}

/// How two neighbouring commands hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Link {
    /// The text begins or ends here.
    #[default]
    Edge,
    /// One after the other: `;` or a line end.
    Then,
    /// The second where the first succeeded: `&&`.
    And,
    /// The second where the first failed: `||`.
    Or,
    /// The output of the first is the input of the second.
    Pipe,
    /// The first goes on in the background.
    Background,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Command {
    /// The words, assignments in front not included.
    pub(crate) words: Vec<Word>,
    /// The redirections, in order.
    pub(crate) redirects: Vec<Redirect>,
    /// What stands before it.
    pub(crate) before: Link,
    /// What stands behind it.
    pub(crate) after: Link,
    /// It goes on in the background, alone or with the group around it.
    pub(crate) detached: bool,
    /// The function in whose body it stands, as an index into [`Script::functions`].
    pub(crate) function: Option<usize>,
    /// It stands in a loop, with one of the words of the loop in place.
    pub(crate) repeated: bool,
}

/// A keyword, and what a loop needs to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keyword {
    pub(crate) text: String,
    /// How many commands stand before it.
    pub(crate) commands: usize,
    /// What stands before it.
    pub(crate) before: Link,
    /// Behind `for`: the words up to the next separator.
    pub(crate) header: Vec<Word>,
}

/// Everything that was read from one text.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// Every simple command, nested ones too, in the order in which they end.
    pub(crate) commands: Vec<Command>,
    /// Texts that a shell would run in turn: the inside of backticks.
    pub(crate) inner: Vec<String>,
    /// The names of the functions that the text defines.
    pub(crate) functions: Vec<String>,
    /// What the text needs a shell for.
    pub(crate) needs: Needs,
    /// What was opened and never closed.
    pub(crate) broken: Option<&'static str>,
    /// A line end stands inside quotes.
    pub(crate) quoted_line_end: bool,
    /// An operator lacks the command or the file beside it, so that no shell takes the text.
    pub(crate) dangling: bool,
    /// The keywords in the order of the text.
    pub(crate) keywords: Vec<Keyword>,
    /// How often the text needs a shell because of a variable, a loop's included.
    pub(crate) variables: usize,
}

impl Script {
    /// Counts the commands; those of a loop count once for each of its words.
    pub(crate) fn parts(&self) -> u64 {
        u64::try_from(self.commands.len()).unwrap_or(u64::MAX)
    }

    /// Tells whether the words of the one command are all there is.
    pub(crate) fn is_plain(&self) -> bool {
        self.broken.is_none() && self.needs.shell().is_none()
    }
}
