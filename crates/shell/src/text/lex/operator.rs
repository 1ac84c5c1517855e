//! Operators between commands, redirections and parentheses.

use super::reader::{Body, Frame, Mode, Reader, Target};
use crate::text::mark::{Header, is_name};
use crate::text::script::{Link, Need, RedirectKind, Word, WordFill};

impl Reader<'_> {
    pub(super) fn ampersand(&mut self) {
        self.end_clause();
        match self.ahead(1) {
            Some(b'&') => {
                self.need(Need::Chain);
                self.end_command(Link::And);
                self.at += 2;
            }
            Some(b'>') => {
                self.end_word();
                self.at += 1;
                self.angle(b'>');
                if let Some(Target::Redirect((_, bare), _)) = &mut self.frame().target {
                    *bare = false;
                }
            }
            _ => {
                self.need(Need::Background);
                self.end_command(Link::Background);
                self.at += 1;
            }
        }
    }

    pub(super) fn bar(&mut self) {
        self.end_clause();
        let (need, link, length) = match self.ahead(1) {
            Some(b'|') => (Need::Chain, Link::Or, 2),
            // It feeds the errors in too, which is more than a pipe.
            Some(b'&') => (Need::Background, Link::Pipe, 2),
            _ => (Need::Pipe, Link::Pipe, 1),
        };
        self.need(need);
        self.end_command(link);
        self.at += length;
    }

    /// Behind `;;`, `;&` and, in zsh, `;|` a pattern of `case` comes next.
    fn end_clause(&mut self) {
        let before = self.at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at));
        let frame = self.frame();
        frame.pattern |= frame.cases > 0 && before == Some(&b';');
    }

    pub(super) fn semicolon(&mut self) {
        self.end_clause();
        self.need(Need::Chain);
        let frame = self.frame();
        let nothing =
            frame.word.is_none() && frame.command.words.is_empty() && frame.command.redirects.is_empty();
        // `do ;` is no loop to a shell.
        let opens = frame.word.as_ref().is_some_and(|word| !word.quoted && word.text == "do");
        let opens = opens && frame.command.words.is_empty() && frame.header.is_none();
        let behind = frame.group.is_some() || frame.header.is_some() || frame.loop_ended;
        if opens || (nothing && !behind) {
            self.script.dangling = true;
        }
        self.end_command(Link::Then);
        self.at += 1;
    }

    pub(super) fn angle(&mut self, first: u8) {
        if self.ahead(1) == Some(b'(') {
            // `<(` alone in an operand: in any other place only a shell knows what becomes of it.
            let frame = self.frame();
            let alone = frame.word.is_none() && frame.target.is_none() && frame.header.is_none();
            let is_output = first == b'<' && alone && !frame.command.words.is_empty();
            self.need(if is_output { Need::Output } else { Need::Substitution });
            self.word();
            self.at += 2;
            self.nest();
            self.bodies.last_mut().into_iter().for_each(|body| body.is_output = is_output);
            return;
        }
        self.need(Need::Redirect);
        let numbered = |word: &Word| {
            !word.quoted && !word.text.is_empty() && word.text.bytes().all(|b| b.is_ascii_digit())
        };
        if self.frame().word.as_ref().is_some_and(|word| word.text.ends_with('}')) {
            self.need(Need::Variable);
        }
        // bash keeps the descriptor in a variable: `{name}>`.
        let kept = |word: &Word| {
            let name = word.text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            !word.quoted && name.is_some_and(is_name)
        };
        let descriptor = if self.frame().word.as_ref().is_some_and(|word| numbered(word) || kept(word)) {
            self.frame().word.take().map(|word| word.text).unwrap_or_default()
        } else {
            self.end_word();
            String::new()
        };
        self.frame().strips_tabs = self.rest().starts_with("<<-");
        let (kind, length) = match (first, self.ahead(1), self.ahead(2)) {
            (b'<', Some(b'<'), Some(b'<')) => (RedirectKind::Text, 3),
            (b'<', Some(b'<'), Some(b'-')) => (RedirectKind::Document, 3),
            (b'<', Some(b'<'), _) => (RedirectKind::Document, 2),
            (b'<', Some(b'>'), _) | (b'>', Some(b'>' | b'|'), _) => (RedirectKind::Write, 2),
            (_, Some(b'&'), Some(b'0'..=b'9' | b'-')) => (RedirectKind::Duplicate, 2),
            (b'<', Some(b'&'), _) => (RedirectKind::Read, 2),
            (b'>', Some(b'&'), _) => (RedirectKind::Write, 2),
            (b'<', ..) => (RedirectKind::Read, 1),
            _ => (RedirectKind::Write, 1),
        };
        self.at += length;
        let bare = length == 1 || (kind == RedirectKind::Duplicate && first == b'>');
        let frame = self.frame();
        let without_target = frame.target.is_some();
        frame.target = Some(Target::Redirect((kind, bare), descriptor));
        self.script.dangling |= without_target;
    }

    pub(super) fn open(&mut self) {
        if self.defines_function() {
            return;
        }
        self.need(Need::Group);
        // A parenthesis may open a pattern of `case`.
        if self.frame().pattern && self.frame().word.is_none() {
            self.at += 1;
            return;
        }
        self.end_word();
        self.at += 1;
        // `for (( … )) {` and, in zsh, `for x (a b) COMMAND`: what stands behind it is a command.
        let frame = self.frame();
        frame.header = frame.header.filter(|header| *header != Header::Loop);
        self.nest();
    }

    /// Reads `name ( )`: the word before is the name of a function, not a command.
    pub(super) fn defines_function(&mut self) -> bool {
        let inside = self.rest().get(1..).unwrap_or_default();
        let blanks = inside.len() - inside.trim_start_matches([' ', '\t']).len();
        if inside.as_bytes().get(blanks) != Some(&b')') {
            return false;
        }
        self.end_word();
        let frame = self.frame();
        if frame.command.words.len() != 1 {
            return false;
        }
        let name = frame.command.words.pop().map(|word| word.text).unwrap_or_default();
        self.name_function(name);
        self.at += blanks + 2;
        true
    }

    pub(super) fn name_function(&mut self, name: String) {
        self.need(Need::Function);
        self.named = Some(self.script.functions.len());
        self.script.functions.push(name);
    }

    pub(super) fn close(&mut self) {
        // A parenthesis that nothing opened ends a pattern of `case`: what follows is a command.
        let nested = self.frames.len() > 1 && matches!(self.modes.last(), Some(Mode::Bare));
        self.at += 1;
        if !nested || self.frame().pattern {
            self.frame().pattern = false;
            self.need(Need::Group);
            self.end_command(Link::Then);
            return;
        }
        self.end_command(Link::Edge);
        self.frames.pop();
        self.modes.pop();
        let output = self.bodies.last().filter(|body| body.is_output).map(|body| body.first_command);
        self.close_body();
        if let Some(first) = output {
            let commands = first..self.script.commands.len();
            self.word().fill = Some(WordFill::Output(commands));
        }
    }

    pub(super) fn nest(&mut self) {
        self.modes.push(Mode::Bare);
        self.frames.push(Frame::default());
        self.open_body();
    }

    pub(super) fn open_body(&mut self) {
        let function = self.named.take().or_else(|| self.bodies.last().and_then(|body| body.function));
        self.bodies.push(Body { function, first_command: self.script.commands.len(), is_output: false });
    }

    /// Closes a group. If it goes on in the background, so does every command in it.
    pub(super) fn close_body(&mut self) {
        let first = self.bodies.pop().map(|body| body.first_command);
        self.frame().group = first;
    }
}
