//! The end of a word and of a command.

use super::reader::{Document, Frame, Reader, Target};
use crate::text::brace::written_out;
use crate::text::mark::{Header, is_keyword, is_name};
use crate::text::script::{Command, Keyword, Link, Need, Redirect, RedirectKind, Word, WordFill};

/// Returns true if a keyword can stand behind the words that a command has so far.
fn may_open(frame: &Frame, keyword: &str) -> bool {
    let words: Vec<&str> = frame.command.words.iter().map(|word| word.text.as_str()).collect();
    let bare = frame.command.words.iter().all(|word| !word.quoted);
    let opens = matches!(keyword, "{" | "[[" | "if" | "while" | "until" | "for" | "select" | "case" | "!");
    match words.as_slice() {
        [] => true,
        ["time", rest @ ..] => bare && opens && rest.iter().all(|word| matches!(*word, "time" | "-p" | "--")),
        // zsh: `repeat 3 { … }`.
        ["repeat", _] => bare && opens,
        [_name] => frame.names_coprocess && opens,
        _ => false,
    }
}

/// Finds the one `*` of a pattern that the gate may expand: in the last part of an absolute path, beside ordinary
/// characters.
fn pattern(word: &Word) -> Option<WordFill> {
    if word.stars != 1
        || !word.text.starts_with('/')
        || word.text.contains(['?', '[', ']', '{', '}', '\\', '\0'])
    {
        return None;
    }
    let (folder, last) = word.text.rsplit_once('/')?;
    let is_single = last.matches('*').count() == 1 && !folder.contains('*') && !last.starts_with('.');
    is_single.then(|| WordFill::Pattern(word.text.replace('*', "\0")))
}

impl Reader<'_> {
    pub(super) fn equals(&mut self) {
        let frame = self.frame();
        let first = frame.command.words.is_empty() && frame.target.is_none() && frame.header.is_none();
        let named = frame.word.as_ref().is_some_and(|word| !word.quoted && is_name(&word.text));
        if first && named {
            // The value is read as a word of its own and then dropped, so that what is nested in it is still found.
            frame.target = Some(Target::Assignment);
            frame.word = Some(Word::default());
            self.need(Need::Assignment);
            self.at += 1;
            return;
        }
        self.take();
    }

    pub(super) fn end_word(&mut self) {
        let frame = self.frame();
        frame.brace = (false, false);
        let (spreads, bare) = (std::mem::take(&mut frame.spreads), std::mem::take(&mut frame.bare_braces));
        let Some(mut word) = frame.word.take() else { return };
        match frame.target.take() {
            Some(Target::Redirect(kind, descriptor)) => {
                let (kind, bare) = kind;
                if kind == RedirectKind::Document {
                    let strips_tabs = frame.strips_tabs;
                    self.documents.push(Document { end: word.text.clone(), strips_tabs });
                }
                let frame = self.frame();
                frame.command.redirects.push(Redirect { kind, descriptor, target: word.text, bare });
                return;
            }
            Some(Target::Assignment) => return,
            None => {}
        }
        if frame.names_function {
            frame.names_function = false;
            self.name_function(word.text);
            return;
        }
        if frame.header == Some(Header::Loop)
            && let Some(keyword) = self.script.keywords.last_mut()
        {
            keyword.header.push(word.clone());
        }
        let frame = self.frame();
        if !word.quoted && is_keyword(&word.text) && may_open(frame, &word.text) {
            // What stands before it is part of the syntax, too: `time for …` is no plain loop.
            for before in std::mem::take(&mut frame.command.words) {
                self.note_keyword(&before.text);
            }
            self.keyword(&word.text);
            return;
        }
        if frame.header.is_some() {
            return;
        }
        self.script.dangling |= self.frame().loop_ended;
        match &word.fill {
            // `<(a)b` and `<(a)<(b)` are other words than a pipe.
            Some(_) if !word.text.is_empty() || word.quoted => self.need(Need::Substitution),
            Some(_) => {}
            None => word.fill = pattern(&word),
        }
        // Nothing hides in braces: what is judged are the words that they become.
        let words = if spreads { self.written_out(word, &bare) } else { vec![word] };
        self.frame().command.words.extend(words);
    }

    fn written_out(&mut self, word: Word, bare: &[usize]) -> Vec<Word> {
        let written = written_out(&word.text, bare, self.room);
        self.room = self.room.saturating_sub(written.len());
        let part = |text| Word { text, quoted: true, variables: Vec::new(), fill: None, ..word };
        written.into_iter().map(part).collect()
    }

    /// Remembers a keyword for the search for loops.
    fn note_keyword(&mut self, word: &str) {
        let commands = self.script.commands.len();
        let before = self.frame().command.before;
        let text = word.to_owned();
        self.script.keywords.push(Keyword { text, commands, before, header: Vec::new() });
    }

    pub(super) fn keyword(&mut self, word: &str) {
        self.need(Need::Keyword);
        if self.frame().header.is_none() {
            let ended = self.frame().loop_ended;
            self.script.dangling |= ended;
            self.note_keyword(word);
            self.frame().loop_ended = word == "done";
        }
        let frame = self.frame();
        // zsh writes `case x { … }`; `do` and a brace end what a loop goes through.
        match (word, frame.header) {
            ("in" | "{", Some(Header::Case)) => {
                frame.header = None;
                frame.cases += 1;
                frame.pattern = true;
                return;
            }
            ("do" | "{", Some(Header::Loop)) => frame.header = None,
            _ => {}
        }
        match word {
            "{" => self.open_body(),
            "}" => self.close_body(),
            "function" => self.frame().names_function = true,
            "coproc" => self.frame().names_coprocess = true,
            "esac" => {
                frame.cases = frame.cases.saturating_sub(1);
                frame.pattern = false;
            }
            _ if self.frame().header.is_none() => self.frame().header = Header::of(word),
            _ => {}
        }
    }

    pub(super) fn end_command(&mut self, after: Link) {
        self.end_word();
        let function = self.bodies.last().and_then(|body| body.function);
        let frame = self.frame();
        if let Some(Target::Redirect(kind, descriptor)) = frame.target.take() {
            let (kind, bare) = kind;
            frame.command.redirects.push(Redirect { kind, descriptor, target: String::new(), bare });
            self.script.dangling = true;
        }
        let frame = self.frame();
        frame.header = None;
        frame.names_function = false;
        frame.loop_ended = false;
        frame.names_coprocess = false;
        let group = frame.group.take();
        if frame.command.words.is_empty() && frame.command.redirects.is_empty() {
            let joins = |link| matches!(link, Link::Pipe | Link::And | Link::Or);
            let before = frame.command.before;
            // A line end may follow an operator, and nothing may follow `;` or a line end; all else is an operator alone.
            let alone = joins(after) || after == Link::Background || (joins(before) && after == Link::Edge);
            if alone && group.is_none() {
                self.script.dangling = true;
            }
            let frame = self.frame();
            // Nothing stands here. Behind an operator a line end changes nothing; an operator behind a group does.
            if !matches!(after, Link::Then | Link::Edge) {
                frame.command.before = after;
            }
            if let Some(first) = group.filter(|_| after == Link::Background) {
                self.detached.push((first, self.script.commands.len()));
            }
            return;
        }
        let next = Command { before: after, ..Command::default() };
        let command = std::mem::replace(&mut frame.command, next);
        let detached = after == Link::Background;
        self.script.commands.push(Command { after, function, detached, ..command });
    }

    /// Takes the lines of the here-documents that the last line began. A shell may read them, so they are read as a text of their own;
    /// a quote in them opens nothing behind them.
    pub(super) fn read_documents(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let rest = self.rest();
            let mut length = 0;
            for line in rest.split_inclusive('\n') {
                let text = line.strip_suffix('\n').unwrap_or(line);
                let text = if document.strips_tabs { text.trim_start_matches('\t') } else { text };
                if text == document.end {
                    self.at += line.len();
                    break;
                }
                length += line.len();
            }
            self.at += length;
            self.script.inner.extend(rest.get(..length).map(str::to_owned));
        }
    }

    /// Marks the commands of background groups, in one sweep however deep the groups nest.
    pub(super) fn mark_detached(&mut self) {
        if self.detached.is_empty() {
            return;
        }
        let mut change = vec![0_i64; self.script.commands.len() + 1];
        for &(first, end) in &self.detached {
            change.get_mut(first).into_iter().for_each(|step| *step += 1);
            change.get_mut(end).into_iter().for_each(|step| *step -= 1);
        }
        let mut open = 0;
        for (command, step) in self.script.commands.iter_mut().zip(change) {
            open += step;
            command.detached |= open > 0;
        }
    }
}
