//! `sed`: substitutions, prints, deletions.

use regex::bytes::Regex;

use super::grep::{compile, translate};
use super::options::{Options, texts};
use crate::host::script::run::{Io, Shell};

/// A command of sed, and the lines for which it is.
struct Command {
    from: Option<Address>,
    to: Option<Address>,
    inverted: bool,
    action: Action,
    open: bool,
}

enum Address {
    Line(usize),
    Last,
    Match(Regex),
}

enum Action {
    Print,
    Delete,
    Quit,
    Number,
    Substitute { pattern: Regex, with: String, all: bool, print: bool },
}

pub(super) fn sed(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let mut options = match Options::read(arguments, "nEr", "e", &["quiet", "expression", "regexp-extended"])
    {
        Ok(options) => options,
        Err(what) => return shell.complain(io, &format!("sed: {what}"), 1),
    };
    let language =
        if options.has("E") || options.has("r") || options.has("regexp-extended") { 'E' } else { 'G' };
    let mut scripts: Vec<String> = options
        .values
        .iter()
        .filter(|(name, _)| name == "e" || name == "expression")
        .map(|(_, value)| value.clone())
        .collect();
    if scripts.is_empty() {
        if options.rest.is_empty() {
            return shell.complain(
                io,
                "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...",
                1,
            );
        }
        scripts.push(options.rest.remove(0));
    }
    let script = scripts.join("\n");
    let Some(mut commands) = Reader { text: script.chars().collect(), at: 0, language }.commands() else {
        return shell.complain(io, &format!("sed: -e expression #1: not known here: `{script}'"), 1);
    };
    let quiet = options.has("n") || options.has("quiet");
    let (content, code) = shell.input("sed", &options.rest, io);
    let edited = edit(&mut commands, &content, quiet);
    shell.put(io, 1, &edited);
    if code == 0 { 0 } else { 2 }
}

fn edit(commands: &mut [Command], content: &[u8], quiet: bool) -> Vec<u8> {
    let lines = texts(content);
    let total = lines.len();
    let mut out = Vec::new();
    let put = |out: &mut Vec<u8>, line: &[u8]| {
        out.extend_from_slice(line);
        out.push(b'\n');
    };
    for (at, line) in lines.into_iter().enumerate() {
        let number = at + 1;
        let mut line = line.into_bytes();
        let (mut deleted, mut quit) = (false, false);
        for command in commands.iter_mut() {
            if !command.chooses(number, number == total, &line) {
                continue;
            }
            match &command.action {
                Action::Print => put(&mut out, &line),
                Action::Delete => {
                    deleted = true;
                    break;
                }
                Action::Quit => {
                    quit = true;
                    break;
                }
                Action::Number => put(&mut out, number.to_string().as_bytes()),
                Action::Substitute { pattern, with, all, print } => {
                    let hit = pattern.is_match(&line);
                    line = pattern.replacen(&line, usize::from(!all), with.as_bytes()).into_owned();
                    if hit && *print {
                        put(&mut out, &line);
                    }
                }
            }
        }
        if !quiet && !deleted {
            put(&mut out, &line);
        }
        if quit || out.len() > 32 << 20 {
            break;
        }
    }
    out
}

impl Command {
    fn chooses(&mut self, number: usize, last: bool, line: &[u8]) -> bool {
        let hits = |address: &Address| match address {
            Address::Line(wanted) => number == *wanted,
            Address::Last => last,
            Address::Match(regex) => regex.is_match(line),
        };
        let chosen = match (&self.from, &self.to) {
            (None, _) => true,
            (Some(from), None) => hits(from),
            (Some(from), Some(to)) => {
                if self.open {
                    self.open = !hits(to);
                    true
                } else {
                    let begins = hits(from);
                    let over = matches!(to, Address::Line(end) if *end <= number);
                    self.open = begins && !over;
                    begins
                }
            }
        };
        chosen != self.inverted
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
    language: char,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn commands(&mut self) -> Option<Vec<Command>> {
        let mut commands = Vec::new();
        loop {
            while self.peek().is_some_and(|char| char.is_whitespace() || char == ';') {
                self.at += 1;
            }
            if self.peek().is_none() {
                return Some(commands);
            }
            let from = self.address()?;
            let to = if from.is_some() && self.take(',') { Some(self.address()??) } else { None };
            while self.take(' ') {}
            let inverted = self.take('!');
            let action = match self.peek()? {
                'p' => Action::Print,
                'd' => Action::Delete,
                'q' => Action::Quit,
                '=' => Action::Number,
                's' => {
                    self.at += 1;
                    let action = self.substitution()?;
                    commands.push(Command { from, to, inverted, action, open: false });
                    continue;
                }
                _ => return None,
            };
            self.at += 1;
            while self.take(' ') {}
            if !matches!(self.peek(), None | Some(';' | '\n')) {
                return None;
            }
            commands.push(Command { from, to, inverted, action, open: false });
        }
    }

    /// Reads a line's number, `$` or `/…/`: nothing inside where there is none, nothing at all where it is broken.
    fn address(&mut self) -> Option<Option<Address>> {
        match self.peek() {
            Some('$') => {
                self.at += 1;
                Some(Some(Address::Last))
            }
            Some('/') => {
                self.at += 1;
                let pattern = self.until('/')?;
                Some(Some(Address::Match(compile(&translate(&pattern, self.language), false)?)))
            }
            Some(char) if char.is_ascii_digit() => {
                let mut digits = String::new();
                while let Some(char) = self.peek().filter(char::is_ascii_digit) {
                    self.at += 1;
                    digits.push(char);
                }
                Some(Some(Address::Line(digits.parse().ok()?)))
            }
            _ => Some(None),
        }
    }

    fn until(&mut self, end: char) -> Option<String> {
        let mut text = String::new();
        loop {
            let char = self.peek()?;
            self.at += 1;
            if char == end {
                return Some(text);
            }
            if char == '\\' {
                let next = self.peek()?;
                self.at += 1;
                if next != end {
                    text.push('\\');
                }
                text.push(next);
            } else {
                text.push(char);
            }
        }
    }

    fn substitution(&mut self) -> Option<Action> {
        let end = self.peek()?;
        self.at += 1;
        let pattern = self.until(end)?;
        let with = self.until(end)?;
        let (mut all, mut print, mut blind) = (false, false, false);
        while let Some(flag) = self.peek().filter(char::is_ascii_alphabetic) {
            self.at += 1;
            match flag {
                'g' => all = true,
                'p' => print = true,
                'i' | 'I' => blind = true,
                _ => return None,
            }
        }
        let pattern = compile(&translate(&pattern, self.language), blind)?;
        Some(Action::Substitute { pattern, with: replacement(&with), all, print })
    }
}

/// Writes `&` and `\1` in the language of the one who replaces.
fn replacement(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '&' => out.push_str("${0}"),
            '$' => out.push_str("$$"),
            '\\' => match chars.next() {
                Some(digit) if digit.is_ascii_digit() => out.push_str(&format!("${{{digit}}}")),
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(char) => out.push(char),
                None => {}
            },
            char => out.push(char),
        }
    }
    out
}
