//! Walks a payload along the schema and collects what does not fit.

use serde_json::{Map, Value};

use crate::block::shape::{Kind, Rule, Shape};
use crate::block::shape::{MAX_PROBLEMS, Problem};
use crate::block::text;

/// Where the walk is, and what it found.
#[derive(Debug)]
pub(super) struct Walk {
    path: String,
    found: Vec<Problem>,
}

impl Walk {
    /// Starts at a place, for instance `/blocks`.
    pub(super) fn at(path: &str) -> Self {
        Self { path: path.to_owned(), found: Vec::new() }
    }

    /// Ends the walk.
    pub(super) fn end(self) -> Result<(), Vec<Problem>> {
        if self.found.is_empty() { Ok(()) } else { Err(self.found) }
    }

    /// Tells whether nothing was found so far.
    pub(super) fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// Notes a problem here.
    pub(super) fn note(&mut self, message: impl Into<String>) {
        if self.found.len() < MAX_PROBLEMS {
            self.found.push(Problem { pointer: self.path.clone(), message: message.into() });
        }
    }

    /// Notes a problem here, before everything else.
    pub(super) fn note_first(&mut self, message: &str) {
        self.found.insert(0, Problem { pointer: self.path.clone(), message: message.to_owned() });
        self.found.truncate(MAX_PROBLEMS);
    }

    /// Notes a problem at a member of this place.
    pub(super) fn note_in(&mut self, name: &str, message: impl Into<String>) {
        let message = message.into();
        self.step(name, |walk| walk.note(message));
    }

    /// Goes one step down, and comes back.
    pub(super) fn step(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push('/');
        for char in name.chars() {
            match char {
                '~' => self.path.push_str("~0"),
                '/' => self.path.push_str("~1"),
                char => self.path.push(char),
            }
        }
        inside(self);
        self.path.truncate(length);
    }

    /// Holds a value against a rule.
    pub(super) fn check(&mut self, rule: &'static Rule, value: &Value) {
        match rule {
            Rule::Any => {}
            Rule::Bool if value.is_boolean() => {}
            Rule::Bool => self.note("must be a boolean"),
            Rule::Int(least, most) => self.int(*least, *most, value),
            Rule::Number if value.is_number() => {}
            Rule::Number => self.note("must provide a number"),
            Rule::Str(least, most) => self.string(*least, *most, value),
            Rule::Word(words) => self.word(words, value),
            Rule::Text(formats, most) => text::check(self, formats, *most, value),
            Rule::List(least, most, item) => self.list(*least, *most, item, value),
            Rule::Object(shape) => match value.as_object() {
                Some(object) => self.object(shape, object, false),
                None => self.note("must provide an object"),
            },
            Rule::Typed(kinds) => self.typed(kinds, value),
            Rule::Is(rule) => self.check(rule, value),
            Rule::OrNull(_) if value.is_null() => {}
            Rule::OrNull(rule) => self.check(rule, value),
        }
    }

    fn int(&mut self, least: i64, most: i64, value: &Value) {
        match value.as_i64() {
            None => self.note("must provide an integer"),
            Some(number) if number < least => self.note(format!("must be greater than {least}")),
            Some(number) if number > most => self.note(format!("must be less than {most}")),
            Some(_) => {}
        }
    }

    fn string(&mut self, least: usize, most: usize, value: &Value) {
        let Some(string) = value.as_str() else {
            self.note("must provide a string");
            return;
        };
        let length = string.chars().count();
        if length < least {
            self.note(format!("must be more than {} characters", least.saturating_sub(1)));
        } else if length > most {
            self.note(format!("must be less than {} characters", most.saturating_add(1)));
        }
    }

    fn word(&mut self, words: &[&str], value: &Value) {
        match value.as_str() {
            None => self.note("must provide a string"),
            Some(word) if words.contains(&word) => {}
            Some(_) => self.note("must be a valid enum value"),
        }
    }

    fn list(&mut self, least: usize, most: usize, item: &'static Rule, value: &Value) {
        let Some(items) = value.as_array() else {
            self.note("must provide an array");
            return;
        };
        if items.len() < least {
            self.note(format!("must provide at least {least} items"));
        } else if items.len() > most {
            // What is beyond the limit is not looked at: the answer would be the same.
            self.note(format!("no more than {most} items allowed"));
            return;
        }
        for (at, value) in items.iter().enumerate() {
            if self.found.len() >= MAX_PROBLEMS {
                return;
            }
            self.step(&at.to_string(), |walk| walk.check(item, value));
        }
    }

    fn typed(&mut self, kinds: &'static [&'static [Kind]], value: &Value) {
        let Some(object) = value.as_object() else {
            self.note("must provide an object");
            return;
        };
        let Some(named) = object.get("type") else {
            self.note("missing required field: type");
            return;
        };
        let Some(named) = named.as_str() else {
            self.note_in("type", "must provide a string");
            return;
        };
        match kinds.iter().copied().flatten().find(|kind| kind.0 == named) {
            Some(kind) => self.object(kind.1, object, true),
            None => self.note_in("type", format!("unsupported type: {}", clipped(named))),
        }
    }

    fn object(&mut self, shape: &'static Shape, object: &Map<String, Value>, typed: bool) {
        for field in shape.fields {
            match object.get(field.name) {
                Some(value) => self.step(field.name, |walk| walk.check(&field.rule, value)),
                None if field.required => self.note(format!("missing required field: {}", field.name)),
                None => {}
            }
        }
        for name in object.keys() {
            let known = (typed && name == "type") || shape.fields.iter().any(|field| field.name == name);
            if !known {
                self.note(format!("invalid additional property: {}", clipped(name)));
            }
        }
        for check in shape.checks {
            check(object, self);
        }
    }
}

/// A name that came from outside is repeated, but not a megabyte of it.
fn clipped(name: &str) -> String {
    name.chars().take(100).collect()
}
