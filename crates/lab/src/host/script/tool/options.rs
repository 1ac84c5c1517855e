//! Options of tools, and their inputs.

use crate::host::script::run::{Io, Shell};

/// What stands behind a tool's name.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) flags: Vec<String>,
    pub(super) values: Vec<(String, String)>,
    pub(super) rest: Vec<String>,
}

impl Options {
    /// Reads options: letters alone, letters with a value, long names, long names with a value.
    pub(super) fn read(
        arguments: &[String],
        alone: &str,
        valued: &str,
        long: &[&str],
    ) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                options.rest.extend(words.cloned());
                break;
            }
            if let Some(name) = word.strip_prefix("--") {
                let (name, value) =
                    name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
                if !long.contains(&name) {
                    return Err(format!("unrecognized option '--{name}'"));
                }
                match value {
                    Some(value) => options.values.push((name.to_owned(), value.to_owned())),
                    None => options.flags.push(name.to_owned()),
                }
                continue;
            }
            let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty());
            let Some(letters) = letters else {
                options.rest.push(word.clone());
                continue;
            };
            for (at, letter) in letters.char_indices() {
                if valued.contains(letter) {
                    let inside = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                    let value =
                        if inside.is_empty() { words.next().cloned() } else { Some(inside.to_owned()) };
                    let Some(value) = value else {
                        return Err(format!("option requires an argument -- '{letter}'"));
                    };
                    options.values.push((letter.to_string(), value));
                    break;
                }
                if !alone.contains(letter) {
                    return Err(format!("invalid option -- '{letter}'"));
                }
                options.flags.push(letter.to_string());
            }
        }
        Ok(options)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl Shell<'_> {
    /// Returns what the named files hold, the input where none is named; those that cannot be read are reported.
    pub(super) fn inputs(&mut self, tool: &str, files: &[String], io: &Io) -> (Vec<(String, Vec<u8>)>, u8) {
        if files.is_empty() {
            return (vec![("-".to_owned(), io.input.borrow_mut().rest())], 0);
        }
        let (mut inputs, mut code) = (Vec::new(), 0);
        for file in files {
            if file == "-" || file == "/dev/stdin" {
                inputs.push(("-".to_owned(), io.input.borrow_mut().rest()));
                continue;
            }
            match self.content(file) {
                Ok(content) => inputs.push((file.clone(), content)),
                Err(why) => code = self.complain(io, &format!("{tool}: {file}: {why}"), 1),
            }
        }
        (inputs, code)
    }

    /// Returns one text of all inputs.
    pub(super) fn input(&mut self, tool: &str, files: &[String], io: &Io) -> (Vec<u8>, u8) {
        let (inputs, code) = self.inputs(tool, files, io);
        (inputs.into_iter().flat_map(|(_, content)| content).collect(), code)
    }
}

/// Splits into lines, each without its end.
pub(super) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if bytes.is_empty() { Vec::new() } else { bytes.split(|byte| *byte == b'\n').collect() }
}

/// Splits a text that may hold empty lines alone.
pub(super) fn texts(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::to_owned).collect()
}
