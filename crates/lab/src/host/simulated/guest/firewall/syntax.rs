//! The language of `nft`, as far as people write it by hand: tables, chains, rules of matches and verdicts.

use serde_json::{Map, Value, json};

use crate::host::simulated::world::set;

/// A command: the verb, the kind of object, the object.
pub(super) type NftCommand = (String, String, Map<String, Value>);

/// Reads commands; what is not understood is reported.
pub(super) fn read(text: &str) -> Result<Vec<NftCommand>, String> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens, at: 0, orders: Vec::new() };
    reader.all()?;
    Ok(reader.orders)
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    Sign(char),
    End,
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' | ';' => out.push(Token::End),
            ' ' | '\t' | '\r' => {}
            '\\' if chars.peek() == Some(&'\n') => drop(chars.next()),
            '#' => {
                while chars.peek().is_some_and(|char| *char != '\n') {
                    chars.next();
                }
            }
            '{' | '}' | ',' => out.push(Token::Sign(char)),
            '"' => {
                let mut text = String::new();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some(char) => text.push(char),
                        None => return Err("syntax error, unexpected end of file".to_owned()),
                    }
                }
                out.push(Token::Text(text));
            }
            char => {
                let mut word = char.to_string();
                while let Some(char) =
                    chars.peek().filter(|char| !char.is_whitespace() && !"{},;\"".contains(**char))
                {
                    word.push(*char);
                    chars.next();
                }
                out.push(Token::Word(word));
            }
        }
    }
    Ok(out)
}

/// Reads the tokens one after the other.
pub(super) struct Reader {
    tokens: Vec<Token>,
    at: usize,
    orders: Vec<NftCommand>,
}

impl Reader {
    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    pub(super) fn word(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(Token::Word(word) | Token::Text(word)) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            other => Err(format!("syntax error, unexpected {}", token_text(other))),
        }
    }

    pub(super) fn is(&self, wanted: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if word == wanted)
    }

    pub(super) fn take(&mut self, wanted: &str) -> bool {
        let found = self.is(wanted);
        self.at += usize::from(found);
        found
    }

    pub(super) fn sign(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(wanted));
        self.at += usize::from(found);
        found
    }

    pub(super) fn ends(&mut self) {
        while self.peek() == Some(&Token::End) {
            self.at += 1;
        }
    }

    fn over(&self) -> bool {
        matches!(self.peek(), None | Some(Token::End | Token::Sign('}')))
    }

    fn family(&mut self) -> String {
        for family in ["inet", "ip", "ip6", "arp", "bridge", "netdev"] {
            if self.take(family) {
                return family.to_owned();
            }
        }
        "ip".to_owned()
    }

    fn order(&mut self, verb: &str, kind: &str, object: Value) {
        if let Value::Object(object) = object {
            self.orders.push((verb.to_owned(), kind.to_owned(), object));
        }
    }

    fn all(&mut self) -> Result<(), String> {
        loop {
            self.ends();
            if self.peek().is_none() {
                return Ok(());
            }
            let verbs = ["add", "insert", "delete", "flush", "create", "replace", "destroy"];
            let verb = verbs.into_iter().find(|verb| self.take(verb)).unwrap_or("add");
            let kind = self.word()?;
            match kind.as_str() {
                "ruleset" if verb == "flush" => self.order(verb, "ruleset", json!({})),
                "table" => self.table(verb)?,
                "chain" => {
                    let (family, table) = (self.family(), self.word()?);
                    let name = self.word()?;
                    self.chain(verb, &family, &table, &name)?;
                }
                "rule" => {
                    let (family, table) = (self.family(), self.word()?);
                    let chain = self.word()?;
                    self.rule(verb, &family, &table, &chain)?;
                }
                "set" | "map" | "element" if verb != "insert" => {
                    let (family, table) = (self.family(), self.word()?);
                    let name = self.word()?;
                    self.set(verb, &kind, &family, &table, &name)?;
                }
                other => return Err(format!("syntax error, unexpected {other}")),
            }
            if !self.over() {
                return Err(format!("syntax error, unexpected {}", token_text(self.peek())));
            }
        }
    }

    fn table(&mut self, verb: &str) -> Result<(), String> {
        let (family, name) = (self.family(), self.word()?);
        self.order(verb, "table", json!({"family": family, "name": name}));
        if !self.sign('{') {
            return Ok(());
        }
        loop {
            self.ends();
            if self.sign('}') {
                return Ok(());
            }
            let kind = self.word()?;
            let inner = self.word()?;
            match kind.as_str() {
                "chain" => self.chain("add", &family, &name, &inner)?,
                "set" | "map" => self.set("add", &kind, &family, &name, &inner)?,
                other => return Err(format!("syntax error, unexpected {other}")),
            }
        }
    }

    fn chain(&mut self, verb: &str, family: &str, table: &str, name: &str) -> Result<(), String> {
        let mut object = json!({"family": family, "table": table, "name": name});
        let at = self.orders.len();
        self.order(verb, "chain", object.clone());
        if !self.sign('{') {
            return Ok(());
        }
        loop {
            self.ends();
            if self.sign('}') {
                break;
            }
            if self.take("type") {
                let kind = self.word()?;
                if !self.take("hook") {
                    return Err("syntax error, hook is expected".to_owned());
                }
                let hook = self.word()?;
                set(&mut object, "type", json!(kind));
                set(&mut object, "hook", json!(hook));
                if self.take("device") {
                    set(&mut object, "dev", json!(self.word()?));
                }
                if !self.take("priority") {
                    return Err("syntax error, priority is expected".to_owned());
                }
                set(&mut object, "prio", json!(self.priority()?));
            } else if self.take("policy") {
                set(&mut object, "policy", json!(self.word()?));
            } else if self.take("comment") {
                set(&mut object, "comment", json!(self.word()?));
            } else {
                self.rule("add", family, table, name)?;
            }
        }
        if let (Value::Object(object), Some(order)) = (object, self.orders.get_mut(at)) {
            order.2 = object;
        }
        Ok(())
    }

    fn priority(&mut self) -> Result<i64, String> {
        let mut text = self.word()?;
        if text == "-" {
            text.push_str(&self.word()?);
        }
        let known = [
            ("raw", -300),
            ("mangle", -150),
            ("dstnat", -100),
            ("filter", 0),
            ("security", 50),
            ("srcnat", 100),
        ];
        let base = known.iter().find(|(name, _)| *name == text).map(|(_, number)| *number);
        let mut number = base.or_else(|| text.parse().ok()).ok_or(format!("`{text}' is no priority"))?;
        for (sign, factor) in [("+", 1), ("-", -1)] {
            if self.take(sign) {
                let more: i64 = self.word()?.parse().map_err(|_| "a number is expected".to_owned())?;
                number += factor * more.clamp(-100_000, 100_000);
            }
        }
        Ok(number)
    }

    fn set(&mut self, verb: &str, kind: &str, family: &str, table: &str, name: &str) -> Result<(), String> {
        let mut object = json!({"family": family, "table": table, "name": name});
        if self.sign('{') {
            if kind == "element" {
                let mut elements = Vec::new();
                while !self.sign('}') {
                    self.ends();
                    elements.push(self.value(0)?);
                    self.sign(',');
                    self.ends();
                }
                set(&mut object, "elem", json!(elements));
            } else {
                loop {
                    self.ends();
                    if self.sign('}') {
                        break;
                    }
                    let key = self.word()?;
                    match key.as_str() {
                        "type" => set(&mut object, "type", json!(self.word()?)),
                        "flags" => {
                            let mut flags = vec![self.word()?];
                            while self.sign(',') {
                                flags.push(self.word()?);
                            }
                            set(&mut object, "flags", json!(flags));
                        }
                        "elements" if self.take("=") => set(
                            &mut object,
                            "elem",
                            match self.value(0)? {
                                Value::Object(mut elements) => elements.remove("set").unwrap_or(json!([])),
                                Value::Null
                                | Value::Bool(_)
                                | Value::Number(_)
                                | Value::String(_)
                                | Value::Array(_) => json!([]),
                            },
                        ),
                        other => return Err(format!("syntax error, unexpected {other}")),
                    }
                }
            }
        }
        self.order(verb, kind, object);
        Ok(())
    }

    fn rule(&mut self, verb: &str, family: &str, table: &str, chain: &str) -> Result<(), String> {
        let mut object = json!({"family": family, "table": table, "chain": chain});
        if self.take("handle") || self.take("position") {
            let handle: u64 = self.word()?.parse().map_err(|_| "a handle is expected".to_owned())?;
            set(&mut object, "handle", json!(handle));
        }
        if verb != "delete" {
            let mut expressions = Vec::new();
            while !self.over() {
                if self.take("comment") {
                    set(&mut object, "comment", json!(self.word()?));
                } else {
                    self.expression(&mut expressions)?;
                }
            }
            set(&mut object, "expr", json!(expressions));
        }
        self.order(verb, "rule", object);
        Ok(())
    }
}

fn token_text(token: Option<&Token>) -> String {
    match token {
        None => "end of file".to_owned(),
        Some(Token::End) => "newline".to_owned(),
        Some(Token::Word(word)) => word.clone(),
        Some(Token::Text(_)) => "quoted string".to_owned(),
        Some(Token::Sign(sign)) => format!("'{sign}'"),
    }
}
