//! What a shell would put something else in the place of.

use super::reader::{Mode, Reader};
use crate::text::mark::{decode_ansi, is_name, starts_variable};
use crate::text::script::Need;

/// Returns what stands before the brace that closes one that is open.
fn inside_braces(text: &str) -> &str {
    let mut open = 1_usize;
    let end = text.bytes().position(|byte| {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        open == 0
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

impl Reader<'_> {
    pub(super) fn dollar(&mut self, quoted: bool) {
        // A shell drops an escaped line end before it examines what follows the `$`.
        let ends = self.rest().get(1..).unwrap_or_default();
        let behind = ends.trim_start_matches("\\\n");
        if behind.len() < ends.len() {
            self.need(Need::Variable);
            self.at += ends.len() - behind.len();
        }
        match self.ahead(1) {
            Some(b'(') => {
                self.need(Need::Substitution);
                self.word();
                self.at += 2;
                self.nest();
            }
            Some(b'{') => {
                self.need(Need::Variable);
                // bash 5.3 and ksh run `${ COMMAND; }`.
                if matches!(self.ahead(2), Some(b' ' | b'\t' | b'\n' | b'|')) {
                    self.need(Need::Substitution);
                    let inside = inside_braces(self.rest().get(3..).unwrap_or_default());
                    self.script.inner.push(inside.to_owned());
                }
                self.word().text.push_str("${");
                self.modes.push(Mode::Parameter);
                self.at += 2;
            }
            Some(b'\'') if !quoted => self.ansi(),
            Some(b'"') if !quoted => {
                self.need(Need::Variable);
                self.at += 1;
            }
            // Old arithmetic, which bash still knows: what is nested in it is read like any other text.
            Some(b'[') => {
                self.need(Need::Variable);
                self.sign();
            }
            Some(byte) if starts_variable(byte) => {
                self.need(Need::Variable);
                self.variable(quoted);
            }
            _ => self.sign(),
        }
    }

    /// Takes a `$` that stands for itself.
    fn sign(&mut self) {
        self.word().text.push('$');
        self.at += 1;
    }

    /// Takes `$name`. An unquoted `$IFS` is a blank to whoever uses it, so it parts words here too.
    pub(super) fn variable(&mut self, quoted: bool) {
        let rest = self.rest();
        let name = rest.get(1..).unwrap_or_default();
        let length = name
            .bytes()
            .position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')
            .unwrap_or(name.len())
            .max(1);
        if !quoted && name.get(..length) == Some("IFS") {
            self.end_word();
        } else {
            let run = name.get(..length).unwrap_or_default();
            let behind = name.get(length..).unwrap_or_default().as_bytes();
            // zsh reads `$x[1]` and `$x:h` as more than the variable.
            let more = matches!(behind, [b'[', ..])
                || matches!(behind, [b':', next, ..] if next.is_ascii_alphabetic() || *next == b'&');
            let word = self.word();
            let start = word.text.len();
            word.text.push('$');
            word.text.push_str(run);
            if !more {
                word.variables.push(start..start + 1 + length);
            }
        }
        self.at += 1 + length;
    }

    /// Notes `${name}` that was just read, if the text holds exactly that.
    fn braced_variable(&mut self) {
        let read = self.text.get(..self.at).unwrap_or_default();
        let word = self.word();
        let Some(start) = word.text.rfind("${") else { return };
        let variable = word.text.get(start..).unwrap_or_default();
        let name = variable.get(2..variable.len() - 1).unwrap_or_default();
        if is_name(name) && !name.ends_with('+') && read.ends_with(variable) {
            let end = word.text.len();
            word.variables.push(start..end);
        }
    }

    pub(super) fn ansi(&mut self) {
        self.need(Need::Variable);
        let rest = self.rest().get(2..).unwrap_or_default();
        let mut escaped = false;
        let end = rest.bytes().position(|byte| {
            let closes = byte == b'\'' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        });
        if end.is_none() {
            self.script.broken.get_or_insert("a single quote");
        }
        let inside = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.quoted_text(&decode_ansi(inside));
        self.at += 2 + inside.len() + usize::from(end.is_some());
    }

    pub(super) fn parameter(&mut self, next: u8) {
        match next {
            b'}' => {
                self.take();
                self.modes.pop();
                self.braced_variable();
                let unquoted = matches!(self.modes.last(), Some(Mode::Bare));
                let word = self.word();
                if unquoted && (word.text.ends_with("${IFS}") || word.text.ends_with("${IFS%??}")) {
                    let kept = word.text.rfind("${IFS").unwrap_or(0);
                    word.text.truncate(kept);
                    self.end_word();
                }
            }
            b'\\' => {
                self.take();
                self.take();
            }
            b'$' => self.dollar(false),
            b'`' => self.backtick(),
            b'\'' | b'"' => self.at += 1,
            _ => self.take(),
        }
    }

    pub(super) fn brace(&mut self, next: u8) {
        let dots = next == b'.' && self.ahead(1) == Some(b'.');
        let frame = self.frame();
        match next {
            b'{' => frame.brace.0 = true,
            b',' => {
                frame.brace.1 |= frame.brace.0;
            }
            b'.' => frame.brace.1 |= frame.brace.0 && dots,
            _ => {}
        }
        let expands = next == b'}' && frame.brace.1;
        if next != b'.' {
            let at = frame.word.as_ref().map_or(0, |word| word.text.len());
            frame.bare_braces.push(at);
        }
        self.take();
        if expands {
            self.need(Need::Brace);
            let frame = self.frame();
            frame.brace = (false, false);
            frame.spreads = true;
        }
    }
}
