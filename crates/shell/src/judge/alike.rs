//! The strict reader: only what bash, zsh, dash, ksh, busybox sh and fish read alike, with any of their options.

use crate::policy::{Callers, shorten};

/// Splits a text into the words of its commands, or says where a shell of the six could read something else.
pub(super) fn read(text: &str, callers: &Callers) -> Result<Vec<Vec<String>>, String> {
    if text.contains('\t') {
        return Err("at a prompt a tab completes the word before it".to_owned());
    }
    let mut reader = Reader {
        rest: text,
        whole: text,
        callers,
        word: None,
        start: 0,
        command: Command::default(),
        commands: Vec::new(),
        behind_pipe: false,
    };
    while let Some(char) = reader.rest.chars().next() {
        reader.step(char)?;
    }
    reader.end_command(false)?;
    Ok(reader.commands)
}

/// A command that is being read.
#[derive(Default)]
struct Command {
    words: Vec<String>,
    /// Which of the three standard descriptors it redirects.
    redirects: [bool; 3],
}

struct Reader<'t, 'c> {
    rest: &'t str,
    whole: &'t str,
    callers: &'c Callers,
    word: Option<String>,
    /// The byte at which the current word starts.
    start: usize,
    command: Command,
    commands: Vec<Vec<String>>,
    behind_pipe: bool,
}

impl<'t> Reader<'t, '_> {
    fn step(&mut self, char: char) -> Result<(), String> {
        match char {
            ' ' => {
                self.end_word();
                self.skip(1);
            }
            '\n' | ';' => self.operator(1, false)?,
            '&' if self.rest.starts_with("&&") => self.operator(2, false)?,
            '|' if self.rest.starts_with("||") => self.operator(2, false)?,
            '|' => self.operator(1, true)?,
            '<' | '>' => self.redirect(char)?,
            '\'' => self.single()?,
            '"' => self.double()?,
            '\\' => self.escape()?,
            _ => self.plain(char)?,
        }
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn word(&mut self) -> &mut String {
        if self.word.is_none() {
            self.start = self.whole.len() - self.rest.len();
        }
        self.word.get_or_insert_default()
    }

    /// Returns the current word as it is written, for a reason.
    fn written(&mut self) -> String {
        self.word();
        let written = self.whole.get(self.start..).unwrap_or_default();
        shorten(written.split([' ', '\n']).next().unwrap_or_default()).to_string()
    }

    fn end_word(&mut self) {
        self.command.words.extend(self.word.take());
    }

    fn operator(&mut self, length: usize, pipes: bool) -> Result<(), String> {
        self.end_command(pipes)?;
        self.skip(length);
        Ok(())
    }

    fn end_command(&mut self, pipes: bool) -> Result<(), String> {
        self.end_word();
        let command = std::mem::take(&mut self.command);
        let [input, output, _] = command.redirects;
        if (input && self.behind_pipe) || (output && pipes) {
            return Err("zsh connects both the pipe and the redirection".to_owned());
        }
        // A line end may follow an operator.
        if !command.words.is_empty() {
            self.commands.push(command.words);
            self.behind_pipe = pipes;
        }
        Ok(())
    }

    /// Takes `>/dev/null`, `2>/dev/null`, `2>&1` and `</dev/null` behind the words of a command.
    fn redirect(&mut self, sign: char) -> Result<(), String> {
        const OTHERWISE: &str = "not every shell takes this redirection";
        let descriptor = match (self.word.take().as_deref(), sign) {
            (None, '<') => 0,
            (None, _) => 1,
            (Some("2"), '>') if self.is_written_as("2") => 2,
            _ => return Err(OTHERWISE.to_owned()),
        };
        if self.command.words.is_empty() {
            return Err("fish takes no redirection in front of a command".to_owned());
        }
        self.skip(1);
        let target = self.rest.trim_start_matches(' ');
        let rest = match (self.rest.strip_prefix("&1"), target.strip_prefix("/dev/null")) {
            (Some(rest), _) if descriptor == 2 => rest,
            (_, Some(rest)) => rest,
            _ => return Err(OTHERWISE.to_owned()),
        };
        let again =
            self.command.redirects.get_mut(descriptor).is_none_or(|seen| std::mem::replace(seen, true));
        if again || !(rest.is_empty() || rest.starts_with([' ', '\n', ';', '|', '&'])) {
            return Err(OTHERWISE.to_owned());
        }
        self.rest = rest;
        Ok(())
    }

    /// True if the word up to here has no quotes.
    fn is_written_as(&self, word: &str) -> bool {
        self.whole.get(self.start..self.whole.len() - self.rest.len()) == Some(word)
    }

    fn single(&mut self) -> Result<(), String> {
        let inside = self.rest.get(1..).and_then(|rest| rest.split('\'').next()).unwrap_or_default();
        let behind = self.rest.get(inside.len() + 1..).and_then(|rest| rest.strip_prefix('\''));
        let Some(behind) = behind else { return Err("a quote is not closed".to_owned()) };
        if inside.ends_with('\\') || inside.contains(r"\\") {
            return Err(format!("fish reads `\\` inside the quotes of `{}` as an escape", self.written()));
        }
        if behind.starts_with('\'') {
            return Err(format!("zsh with rc_quotes reads `''` in `{}` as one quote", self.written()));
        }
        self.word().push_str(inside);
        self.rest = behind;
        Ok(())
    }

    fn double(&mut self) -> Result<(), String> {
        self.word();
        self.skip(1);
        loop {
            let mut rest = self.rest.chars();
            let (char, next) = (rest.next(), rest.next());
            let taken = match (char, next) {
                (None, _) => return Err("a quote is not closed".to_owned()),
                (Some('"'), _) => {
                    self.skip(1);
                    return Ok(());
                }
                (Some('$' | '`'), _) => {
                    return Err(format!(
                        "a shell reads `$` and backticks inside the quotes of `{}`",
                        self.written()
                    ));
                }
                (Some('\\'), Some('`' | '\n' | '!')) => {
                    return Err(format!("the shells do not read the escape in `{}` alike", self.written()));
                }
                (Some('\\'), Some(next @ ('\\' | '"' | '$'))) => {
                    self.skip(1);
                    next
                }
                (Some('!'), Some(' ' | '=')) => '!',
                (Some('!'), _) => {
                    return Err(format!(
                        "at a prompt a shell replaces `!` inside the double quotes of `{}`",
                        self.written()
                    ));
                }
                (Some(char), _) => char,
            };
            self.word().push(taken);
            self.skip(taken.len_utf8());
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.rest.chars().nth(1) {
            // A line end behind a backslash joins the lines.
            Some('\n') => self.skip(2),
            Some(next) if next.is_ascii_punctuation() || next == ' ' => {
                self.word().push(next);
                self.skip(2);
            }
            _ => {
                return Err(format!(
                    "fish reads `\\` and a letter in `{}` as a control character",
                    self.written()
                ));
            }
        }
        Ok(())
    }

    fn plain(&mut self, char: char) -> Result<(), String> {
        // Behind empty quotes zsh still takes a character for the first one.
        let before = self.word.as_ref().and_then(|word| word.chars().last());
        let callers = self.callers;
        if let Some(does) = callers.replaces(char, before) {
            let word = self.written();
            return Err(does.replace("{word}", &word));
        }
        self.word().push(char);
        self.skip(char.len_utf8());
        Ok(())
    }
}
