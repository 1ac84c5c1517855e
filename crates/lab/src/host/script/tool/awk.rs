//! `awk`: fields of chosen lines. Variables, loops and functions are not known here.

use regex::bytes::Regex;

use super::grep::compile;
use super::options::{Options, texts};
use crate::host::script::run::{Io, Shell};

/// When something is done.
enum When {
    Always,
    Begin,
    End,
    Match(Regex, bool),
    Compare(Value, String, Value),
    Each(Vec<When>),
}

/// A value that is printed or compared.
#[derive(Clone)]
enum Value {
    Text(String),
    Number(f64),
    Field(usize),
    LastField,
    Fields,
    Line,
}

/// What is printed.
enum Action {
    Print(Vec<Vec<Value>>),
    Printf(Vec<Value>),
    Next,
    Exit,
}

pub(super) fn awk(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = match Options::read(arguments, "", "Fv", &[]) {
        Ok(options) => options,
        Err(what) => return shell.complain(io, &format!("awk: {what}"), 2),
    };
    let Some((program, files)) = options.rest.split_first() else {
        return shell.complain(io, "usage: awk [-F fs][-v var=value][prog | -f progfile][file ...]", 2);
    };
    let given: Vec<(String, String)> = options
        .values
        .iter()
        .filter(|(name, _)| name == "v")
        .filter_map(|(_, value)| value.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut reader = Reader { text: program.chars().collect(), at: 0, given };
    let Some(rules) = reader.rules() else {
        return shell.complain(io, &format!("awk: not known here: {program}"), 2);
    };
    let separator = match options.value("F") {
        None | Some(" ") => None,
        Some("\\t" | "t") => Some("\t".to_owned()),
        Some(text) if text.len() == 1 => Some(regex::escape(text)),
        Some(text) => Some(text.to_owned()),
    };
    let splitter = match separator.map(|pattern| Regex::new(&pattern)) {
        None => None,
        Some(Ok(regex)) => Some(regex),
        Some(Err(_)) => return shell.complain(io, "awk: the field separator is no regular expression", 2),
    };
    let (content, code) = shell.input("awk", files, io);
    let mut out = String::new();
    let lines = texts(&content);
    let total = lines.len();
    let nothing = Record { line: String::new(), fields: Vec::new(), number: 0 };
    run(&rules, &nothing, &mut out, &|when| matches!(when, When::Begin));
    let mut last = nothing;
    for (at, line) in lines.into_iter().enumerate() {
        let fields = match &splitter {
            None => line.split_whitespace().map(str::to_owned).collect(),
            Some(regex) => regex
                .split(line.as_bytes())
                .map(|field| String::from_utf8_lossy(field).into_owned())
                .collect(),
        };
        last = Record { line, fields, number: at + 1 };
        let record = &last;
        if !run(&rules, record, &mut out, &|when| record.chosen(when)) {
            break;
        }
    }
    last.number = last.number.max(total);
    run(&rules, &last, &mut out, &|when| matches!(when, When::End));
    shell.put(io, 1, out.as_bytes());
    if code == 0 { 0 } else { 2 }
}

/// A line with its fields.
struct Record {
    line: String,
    fields: Vec<String>,
    number: usize,
}

/// Does what is to be done; false where it is the end.
fn run(
    rules: &[(When, Vec<Action>)],
    record: &Record,
    out: &mut String,
    chosen: &dyn Fn(&When) -> bool,
) -> bool {
    for (when, actions) in rules {
        if !chosen(when) {
            continue;
        }
        for action in actions {
            match action {
                Action::Print(values) => {
                    let joined: Vec<String> = values
                        .iter()
                        .map(|parts| parts.iter().map(|part| record.value(part)).collect())
                        .collect();
                    out.push_str(&joined.join(" "));
                    out.push('\n');
                }
                Action::Printf(values) => {
                    let texts: Vec<String> = values.iter().map(|value| record.value(value)).collect();
                    out.push_str(&formatted(&texts));
                }
                Action::Next => return true,
                Action::Exit => return false,
            }
        }
    }
    true
}

/// Puts values into a format: `%s`, `%d`, `%f` and their widths.
fn formatted(texts: &[String]) -> String {
    let Some((format, values)) = texts.split_first() else { return String::new() };
    let mut values = values.iter();
    let mut out = String::new();
    let mut rest = format.as_str();
    while let Some((before, behind)) = rest.split_once('%') {
        out.push_str(before);
        let end = behind.find(|char: char| char.is_ascii_alphabetic() || char == '%').unwrap_or(behind.len());
        let (flags, kind) = behind.split_at(end);
        let value = || values.as_slice().first().cloned().unwrap_or_default();
        let number = || value().trim().parse::<f64>().unwrap_or(0.0);
        let precision =
            flags.split_once('.').and_then(|(_, digits)| digits.parse::<usize>().ok()).unwrap_or(6).min(40);
        let text = match kind.chars().next() {
            Some('%') => "%".to_owned(),
            Some('d' | 'i') => format!("{:.0}", number().trunc()),
            Some('f' | 'g' | 'e') => format!("{:.*}", precision, number()),
            _ => value(),
        };
        if !kind.starts_with('%') {
            values.next();
        }
        let width: usize =
            flags.trim_start_matches('-').split('.').next().unwrap_or_default().parse().unwrap_or(0);
        let missing = " ".repeat(width.min(500).saturating_sub(text.chars().count()));
        if flags.starts_with('-') {
            out.push_str(&text);
            out.push_str(&missing);
        } else {
            out.push_str(&missing);
            out.push_str(&text);
        }
        rest = kind.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

impl Record {
    fn value(&self, value: &Value) -> String {
        match value {
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Field(0) => self.line.clone(),
            Value::Field(number) => self.fields.get(number - 1).cloned().unwrap_or_default(),
            Value::LastField => self.fields.last().cloned().unwrap_or_default(),
            Value::Fields => self.fields.len().to_string(),
            Value::Line => self.number.to_string(),
        }
    }

    fn chosen(&self, when: &When) -> bool {
        match when {
            When::Always => true,
            When::Begin | When::End => false,
            When::Match(regex, wanted) => regex.is_match(self.line.as_bytes()) == *wanted,
            When::Each(all) => all.iter().all(|when| self.chosen(when)),
            When::Compare(left, operator, right) => {
                let (left, right) = (self.value(left), self.value(right));
                if operator == "~" || operator == "!~" {
                    let hit = compile(&right, false).is_some_and(|regex| regex.is_match(left.as_bytes()));
                    return hit == (operator == "~");
                }
                let order = match (left.trim().parse::<f64>(), right.trim().parse::<f64>()) {
                    (Ok(left), Ok(right)) => left.total_cmp(&right),
                    _ => left.cmp(&right),
                };
                match operator.as_str() {
                    "==" => order.is_eq(),
                    "!=" => order.is_ne(),
                    "<" => order.is_lt(),
                    "<=" => order.is_le(),
                    ">" => order.is_gt(),
                    _ => order.is_ge(),
                }
            }
        }
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
    given: Vec<(String, String)>,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|char| char == ' ' || char == '\t' || char == '\n' || char == ';') {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: &str) -> bool {
        while self.peek().is_some_and(|char| char == ' ' || char == '\t') {
            self.at += 1;
        }
        let found = wanted.chars().enumerate().all(|(at, char)| self.text.get(self.at + at) == Some(&char));
        if found {
            self.at += wanted.chars().count();
        }
        found
    }

    fn rules(&mut self) -> Option<Vec<(When, Vec<Action>)>> {
        let mut rules = Vec::new();
        loop {
            self.blanks();
            if self.peek().is_none() {
                return Some(rules);
            }
            let when = self.when()?;
            let actions = if self.take("{") {
                self.actions()?
            } else {
                vec![Action::Print(vec![vec![Value::Field(0)]])]
            };
            rules.push((when, actions));
        }
    }

    fn when(&mut self) -> Option<When> {
        if self.peek() == Some('{') {
            return Some(When::Always);
        }
        if self.take("BEGIN") {
            return Some(When::Begin);
        }
        if self.take("END") {
            return Some(When::End);
        }
        let mut all = vec![self.condition()?];
        while self.take("&&") {
            all.push(self.condition()?);
        }
        Some(When::Each(all))
    }

    fn condition(&mut self) -> Option<When> {
        let wanted = !self.take("!");
        if self.take("/") {
            return Some(When::Match(compile(&self.slashed()?, false)?, wanted));
        }
        let left = self.value()?;
        let operator =
            ["==", "!=", "<=", ">=", "!~", "~", "<", ">"].into_iter().find(|operator| self.take(operator));
        let Some(operator) = operator else {
            return wanted.then_some(When::Compare(left, "!=".to_owned(), Value::Text(String::new())));
        };
        let right = if self.take("/") { Value::Text(self.slashed()?) } else { self.value()? };
        Some(When::Compare(left, operator.to_owned(), right))
    }

    fn slashed(&mut self) -> Option<String> {
        let mut pattern = String::new();
        loop {
            let char = self.peek()?;
            self.at += 1;
            match char {
                '/' => return Some(pattern),
                '\\' if self.peek() == Some('/') => {
                    self.at += 1;
                    pattern.push('/');
                }
                char => pattern.push(char),
            }
        }
    }

    fn actions(&mut self) -> Option<Vec<Action>> {
        let mut actions = Vec::new();
        loop {
            self.blanks();
            if self.take("}") {
                return Some(actions);
            }
            if self.take("next") {
                actions.push(Action::Next);
            } else if self.take("exit") {
                actions.push(Action::Exit);
            } else if self.take("printf") {
                let bracket = self.take("(");
                let mut values = vec![self.value()?];
                while self.take(",") {
                    values.push(self.value()?);
                }
                if bracket && !self.take(")") {
                    return None;
                }
                actions.push(Action::Printf(values));
            } else if self.take("print") {
                let mut values = Vec::new();
                loop {
                    let mut parts = Vec::new();
                    while let Some(part) = self.value() {
                        parts.push(part);
                    }
                    if parts.is_empty() {
                        break;
                    }
                    values.push(parts);
                    if !self.take(",") {
                        break;
                    }
                }
                if values.is_empty() {
                    values.push(vec![Value::Field(0)]);
                }
                actions.push(Action::Print(values));
            } else {
                return None;
            }
            while self.peek().is_some_and(|char| char == ' ' || char == '\t') {
                self.at += 1;
            }
            if !matches!(self.peek(), Some(';' | '}' | '\n')) {
                return None;
            }
        }
    }

    fn value(&mut self) -> Option<Value> {
        if self.take("$NF") {
            return Some(Value::LastField);
        }
        if self.take("$") {
            return self.digits().map(Value::Field);
        }
        if self.take("\"") {
            let mut text = String::new();
            loop {
                let char = self.peek()?;
                self.at += 1;
                match char {
                    '"' => return Some(Value::Text(text)),
                    '\\' => {
                        let next = self.peek()?;
                        self.at += 1;
                        text.push(match next {
                            'n' => '\n',
                            't' => '\t',
                            other => other,
                        });
                    }
                    char => text.push(char),
                }
            }
        }
        while self.peek() == Some(' ') {
            self.at += 1;
        }
        if self.peek().is_some_and(|char| char.is_ascii_digit()) {
            let text: String = self
                .text
                .iter()
                .skip(self.at)
                .take_while(|char| char.is_ascii_digit() || **char == '.')
                .collect();
            self.at += text.len();
            return text.parse().ok().map(Value::Number);
        }
        let name: String = self
            .text
            .iter()
            .skip(self.at)
            .take_while(|char| char.is_ascii_alphanumeric() || **char == '_')
            .collect();
        let value = match name.as_str() {
            "NF" => Value::Fields,
            "NR" | "FNR" => Value::Line,
            _ => Value::Text(self.given.iter().find(|(own, _)| *own == name)?.1.clone()),
        };
        self.at += name.len();
        Some(value)
    }

    fn digits(&mut self) -> Option<usize> {
        let digits: String =
            self.text.iter().skip(self.at).take_while(|char| char.is_ascii_digit()).collect();
        self.at += digits.len();
        digits.parse().ok()
    }
}
