//! The state of the reader and its main loop.

use crate::text::mark::Header;
use crate::text::repeat::unroll;
use crate::text::script::{Command, Link, Need, RedirectKind, Script, Word};

/// So many words are made of those with braces in one text, so that reading stays linear in it.
const MAX_WRITTEN_OUT: usize = 16_384;

/// Reads a text as a shell would. Whatever it holds, every command in it is found.
pub(crate) fn read(text: &str) -> Script {
    let mut reader = Reader::new(text, false);
    reader.run();
    unroll(reader.script)
}

/// Reads a text that no shell will see: a backtick in a value of `--query` is JMESPath. Whose `--query` it is remains to
/// be asked.
pub(crate) fn read_without_shell(text: &str) -> Script {
    let mut reader = Reader::new(text, true);
    reader.run();
    unroll(reader.script)
}

/// What the innermost open thing is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Commands: the top of the text, or the inside of parentheses.
    Bare,
    /// Inside `"…"`.
    Double,
    /// Inside `${…}`.
    Parameter,
}

/// A command that is being read.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) command: Command,
    pub(super) word: Option<Word>,
    /// What the current word is the target of: a redirection and its descriptor, or an assignment.
    pub(super) target: Option<Target>,
    /// The words up to the next separator are no command: they stand behind `for` or `case`.
    pub(super) header: Option<Header>,
    /// The next word names a function.
    pub(super) names_function: bool,
    /// The next word but one may open a compound command: `coproc NAME {`.
    pub(super) names_coprocess: bool,
    /// How many `case` are open.
    pub(super) cases: usize,
    /// A pattern of `case` comes next; the parenthesis behind it closes nothing.
    pub(super) pattern: bool,
    /// The current redirection is written with `<<-`.
    pub(super) strips_tabs: bool,
    /// Where the commands of the group begin that was closed last.
    pub(super) group: Option<usize>,
    /// `done` stands before, and only a separator may follow.
    pub(super) loop_ended: bool,
    /// Progress of a brace expansion in the current word: opened, and with a comma or two dots in it.
    pub(super) brace: (bool, bool),
    /// The current word has a brace expansion.
    pub(super) spreads: bool,
    /// Where the braces and commas of the current word stand that are not quoted.
    pub(super) bare_braces: Vec<usize>,
}

/// A here-document whose lines begin behind the next line end.
pub(super) struct Document {
    pub(super) end: String,
    pub(super) strips_tabs: bool,
}

pub(super) enum Target {
    /// The kind, whether it is written with `<`, `>` or `>&`, and the descriptor.
    Redirect((RedirectKind, bool), String),
    Assignment,
}

/// A function body, a group or a substitution that is open.
pub(super) struct Body {
    pub(super) function: Option<usize>,
    pub(super) first_command: usize,
    /// It is `<( … )`.
    pub(super) is_output: bool,
}

pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) jmespath: bool,
    pub(super) script: Script,
    /// How many words more may be made of those with braces.
    pub(super) room: usize,
    pub(super) frames: Vec<Frame>,
    pub(super) modes: Vec<Mode>,
    /// A function was named and its body has not begun.
    pub(super) named: Option<usize>,
    /// The groups that went on in the background, as ranges of commands.
    pub(super) detached: Vec<(usize, usize)>,
    /// One entry for every open brace or parenthesis.
    pub(super) bodies: Vec<Body>,
    /// The here-documents of the line that is being read.
    pub(super) documents: Vec<Document>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, jmespath: bool) -> Self {
        Self {
            text,
            at: 0,
            jmespath,
            script: Script::default(),
            room: MAX_WRITTEN_OUT,
            frames: vec![Frame::default()],
            modes: vec![Mode::Bare],
            named: None,
            detached: Vec::new(),
            bodies: Vec::new(),
            documents: Vec::new(),
        }
    }

    fn run(&mut self) {
        while let Some(next) = self.peek() {
            match self.modes.last() {
                Some(Mode::Double) => self.double(next),
                Some(Mode::Parameter) => self.parameter(next),
                Some(Mode::Bare) | None => self.bare(next),
            }
        }
        if self.modes.len() > 1 {
            let opened = match self.modes.last() {
                Some(Mode::Double) => "a double quote",
                Some(Mode::Parameter) => "`${`",
                Some(Mode::Bare) | None => "a parenthesis",
            };
            self.script.broken.get_or_insert(opened);
        }
        self.end_command(Link::Edge);
        while self.frames.len() > 1 {
            self.frames.pop();
            self.end_command(Link::Edge);
        }
        self.mark_detached();
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn ahead(&self, by: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + by).copied()
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the stack of frames is never empty here")]
        &mut self.frames[last]
    }

    pub(super) fn word(&mut self) -> &mut Word {
        self.frame().word.get_or_insert_default()
    }

    pub(super) fn need(&mut self, need: Need) {
        self.script.needs.add(need);
        self.script.variables += usize::from(need == Need::Variable);
    }

    /// Takes one whole character into the word.
    pub(super) fn take(&mut self) {
        if let Some(next) = self.rest().chars().next() {
            self.word().text.push(next);
            self.at += next.len_utf8();
        }
    }

    pub(super) fn bare(&mut self, next: u8) {
        match next {
            b' ' | b'\t' => {
                self.end_word();
                self.at += 1;
            }
            b'\n' | b'\r' => {
                self.need(Need::Chain);
                self.end_command(Link::Then);
                self.at += 1;
                if next == b'\n' {
                    self.read_documents();
                }
            }
            b'\\' => self.escape(),
            b'\'' => self.single(),
            b'"' => {
                self.word().quoted = true;
                self.modes.push(Mode::Double);
                self.at += 1;
            }
            b'$' => self.dollar(false),
            b'`' => self.backtick(),
            b';' => self.semicolon(),
            b'&' => self.ampersand(),
            b'|' => self.bar(),
            b'<' | b'>' => self.angle(next),
            b'(' => self.open(),
            b')' => self.close(),
            b'#' if self.frame().word.is_none() => self.comment(),
            b'~' if self.at_tilde() => {
                self.need(Need::Tilde);
                self.take();
            }
            b'*' => {
                self.need(Need::Glob);
                self.word().stars += 1;
                self.take();
            }
            b'?' | b'[' => {
                self.need(Need::Pattern);
                self.take();
            }
            b'{' | b'}' | b',' | b'.' => self.brace(next),
            b'=' => self.equals(),
            _ => self.plain(),
        }
    }

    /// Takes a run of characters that mean nothing to a shell.
    pub(super) fn plain(&mut self) {
        let rest = self.rest();
        let end = rest
            .bytes()
            .position(|byte| {
                matches!(
                    byte,
                    b' ' | b'\t'
                        | b'\n'
                        | b'\r'
                        | b'\\'
                        | b'\''
                        | b'"'
                        | b'$'
                        | b'`'
                        | b';'
                        | b'&'
                        | b'|'
                        | b'<'
                        | b'>'
                        | b'('
                        | b')'
                        | b'*'
                        | b'?'
                        | b'['
                        | b'{'
                        | b'}'
                        | b','
                        | b'.'
                        | b'='
                )
            })
            .unwrap_or(rest.len());
        if end == 0 {
            self.take();
            return;
        }
        self.word().text.push_str(rest.get(..end).unwrap_or_default());
        self.at += end;
    }

    /// Tells whether a `~` here stands for a home: at the start of a word and, to bash, behind `=` and `:` in it.
    fn at_tilde(&mut self) -> bool {
        self.frame().word.as_ref().is_none_or(|word| word.text.ends_with(['=', ':']))
    }

    pub(super) fn comment(&mut self) {
        let rest = self.rest();
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        if rest.get(..end).is_some_and(|comment| comment.trim_matches(['#', ' ', '\t']).is_empty()) {
            self.need(Need::Comment);
        }
        self.at += end;
    }
}
