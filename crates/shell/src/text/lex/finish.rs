//! The end of a word and of a command.

use super::reader::{Reader, Target};
use crate::text::brace::written_out;
use crate::text::mark::{Header, is_keyword, is_name};
use crate::text::script::{Command, Keyword, Link, Need, Redirect, Word, WordFill};

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
        if !word.quoted && frame.command.words.is_empty() && is_keyword(&word.text) {
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

    pub(super) fn keyword(&mut self, word: &str) {
        self.need(Need::Keyword);
        let commands = self.script.commands.len();
        let frame = self.frame();
        if frame.header.is_none() {
            let before = frame.command.before;
            let ended = frame.loop_ended;
            frame.loop_ended = word == "done";
            self.script.dangling |= ended;
            self.script.keywords.push(Keyword {
                text: word.to_owned(),
                commands,
                before,
                header: Vec::new(),
            });
        }
        match word {
            "{" => self.open_body(),
            "}" => self.close_body(),
            "function" => self.frame().names_function = true,
            "in" if self.frame().header == Some(Header::Case) => self.frame().header = None,
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
