//! Reads JSON where it stands, in place and leniently: in the middle of a log line, one document behind another, or
//! with its tail cut off.

use std::ops::Range;

use crate::redact::decode::Decoded;
use crate::redact::member::{self, Context, Leaf, Member};
use crate::redact::scan;
use crate::redact::span::Span;

/// How deep values may stand in each other before the rest is read as text.
const MAX_DEPTH: usize = 200;

/// Finds the secrets of every JSON value in a text; returns where the complete ones stand.
pub(super) fn find(text: &str, depth: u32, found: &mut Vec<Span>) -> Vec<Range<usize>> {
    let mut islands = Vec::new();
    let mut at = 0;
    while let Some(start) = next_opening(text, at) {
        let mut walk = JsonWalk { text, at: start, depth, level: 0, found };
        if walk.value(Context::default()).is_some() {
            islands.push(start..walk.at);
        }
        at = walk.at.max(start + 1);
    }
    islands
}

/// Finds the next bracket that may open a document. Most brackets of a log do not.
fn next_opening(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| matches!(byte, b'{' | b'['))?;
        let inside = bytes.get(at + 1..)?;
        let blank = inside.iter().take(4096).take_while(|byte| byte.is_ascii_whitespace()).count();
        match (bytes.get(at), inside.get(blank)) {
            (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'"' | b'{' | b'[')) => return Some(at),
            (_, None) => return None,
            _ => at += 1,
        }
    }
}

/// One walk over one value.
struct JsonWalk<'a, 'b> {
    text: &'a str,
    at: usize,
    depth: u32,
    level: usize,
    found: &'b mut Vec<Span>,
}

impl<'a> JsonWalk<'a, '_> {
    /// Reads a value. `None` where it is not JSON, or not all of it; the place stays where the reading stopped.
    fn value(&mut self, context: Context) -> Option<Leaf<'a>> {
        self.blank();
        let start = self.at;
        match self.peek()? {
            b'{' => self.within(|walk| walk.object(context)),
            b'[' => self.within(|walk| walk.array(context)),
            b'"' => {
                let range = self.string()?;
                Some(Leaf::Text(self.text.get(range.clone())?, range))
            }
            b'-' | b'0'..=b'9' => {
                let length = self
                    .rest()
                    .iter()
                    .take_while(|byte| b"+-.eE".contains(byte) || byte.is_ascii_digit())
                    .count();
                self.at += length;
                Some(Leaf::Number(self.text.get(start..self.at)?, start..self.at))
            }
            b't' | b'f' | b'n' => {
                let word = ["true", "false", "null"]
                    .into_iter()
                    .find(|word| self.rest().starts_with(word.as_bytes()))?;
                self.at += word.len();
                Some(Leaf::Other)
            }
            _ => None,
        }
    }

    /// Goes one level deeper, unless it is one too many.
    fn within(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) -> Option<Leaf<'a>> {
        if self.level >= MAX_DEPTH {
            return None;
        }
        self.level += 1;
        self.at += 1;
        let read = read(self);
        self.level -= 1;
        read.map(|()| Leaf::Other)
    }

    /// Reads the members of an object, then judges them together.
    fn object(&mut self, context: Context) -> Option<()> {
        let mut members = Vec::new();
        let complete = self.members(context, &mut members);
        member::judge(&members, context, self.found);
        self.strings(members.iter().map(|member| &member.value));
        complete
    }

    /// Reads the members of an object up to its closing bracket.
    fn members(&mut self, context: Context, members: &mut Vec<Member<'a>>) -> Option<()> {
        self.blank();
        if self.take(b'}') {
            return Some(());
        }
        loop {
            self.blank();
            if self.peek()? != b'"' {
                return None;
            }
            let key = self.string()?;
            let raw = self.text.get(key.clone())?;
            self.read(raw, key);
            self.blank();
            if !self.take(b':') {
                return None;
            }
            let name = Decoded::of(raw).text;
            let inner = member::context(&name, context);
            let value = self.value(inner)?;
            members.push(Member { name, value });
            self.blank();
            if self.take(b'}') {
                return Some(());
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    /// Reads the items of an array: arguments of a command, or several secrets under one name.
    fn array(&mut self, context: Context) -> Option<()> {
        let mut items: Vec<Leaf<'a>> = Vec::new();
        let complete = self.items(context, &mut items);
        member::judge_items(&items, context, self.found);
        self.strings(items.iter());
        complete
    }

    /// Reads the items of an array up to its closing bracket.
    fn items(&mut self, context: Context, items: &mut Vec<Leaf<'a>>) -> Option<()> {
        self.blank();
        if self.take(b']') {
            return Some(());
        }
        loop {
            items.push(self.value(context)?);
            self.blank();
            if self.take(b']') {
                return Some(());
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    /// Examines strings by the rules for text.
    fn strings<'l>(&mut self, leaves: impl Iterator<Item = &'l Leaf<'a>>)
    where
        'a: 'l,
    {
        for leaf in leaves {
            if let Leaf::Text(raw, range) = leaf {
                self.read(raw, range.clone());
            }
        }
    }

    /// Examines one string by the rules for text, and JSON again.
    fn read(&mut self, raw: &str, range: Range<usize>) {
        if raw.len() < 6 {
            return;
        }
        let decoded = Decoded::of(raw);
        let mut inside = Vec::new();
        scan::nested(&decoded.text, self.depth + 1, &mut inside);
        self.found.extend(inside.into_iter().map(|span| decoded.raw(span).shifted(range.start)));
    }

    /// Reads a string and returns what stands between its marks.
    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at + 1;
        let mut at = start;
        loop {
            let rest = self.text.as_bytes().get(at..)?;
            let Some(next) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | b'\n')) else {
                self.at = self.text.len();
                return None;
            };
            at += next;
            match self.text.as_bytes().get(at)? {
                b'"' => {
                    self.at = at + 1;
                    return Some(start..at);
                }
                b'\\' => at += 2,
                // A line break inside means that this was no JSON.
                _ => {
                    self.at = at;
                    return None;
                }
            }
        }
    }

    /// Skips white space.
    fn blank(&mut self) {
        self.at += self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    /// Takes one byte if it is the next.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Returns the next byte.
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the bytes not read yet.
    fn rest(&self) -> &[u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}
