//! Words of a command line.

use std::collections::BTreeMap;

/// The most words that are read.
const MAX_WORDS: usize = 512;

/// Words, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Options {
    /// Options with their last value; without one it is empty.
    given: BTreeMap<String, Vec<String>>,
    /// The other words.
    pub(super) rest: Vec<String>,
    /// The first option that nobody knows.
    pub(super) unknown: Option<String>,
    /// The first option whose value is missing.
    pub(super) incomplete: Option<String>,
}

impl Options {
    /// Takes words apart. Names of options with a value end in `=`; short ones are one letter.
    pub(super) fn read(argv: &[String], known: &[&str]) -> Self {
        let takes = |name: &str| {
            known.iter().find_map(|known| {
                let plain = known.trim_end_matches('=');
                (plain == name).then(|| known.ends_with('='))
            })
        };
        let mut options = Self::default();
        let mut words = argv.iter().skip(1).take(MAX_WORDS);
        while let Some(word) = words.next() {
            if word == "--" {
                options.rest.extend(words.by_ref().cloned());
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (long, None),
                };
                match takes(name) {
                    Some(true) => {
                        let value = value.or_else(|| words.next().cloned());
                        options.put(name, value);
                    }
                    Some(false) => options.put(name, Some(String::new())),
                    None => options.unknown(name),
                }
            } else if let Some(short) = word.strip_prefix('-').filter(|short| !short.is_empty()) {
                for (at, letter) in short.char_indices() {
                    let name = letter.to_string();
                    match takes(&name) {
                        Some(true) => {
                            let attached =
                                short.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty());
                            let value = attached.map(str::to_owned).or_else(|| words.next().cloned());
                            options.put(&name, value);
                            break;
                        }
                        Some(false) => options.put(&name, Some(String::new())),
                        None => options.unknown(&name),
                    }
                }
            } else {
                options.rest.push(word.clone());
            }
        }
        options
    }

    fn put(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => self.given.entry(name.to_owned()).or_default().push(value),
            None => self.incomplete = self.incomplete.take().or_else(|| Some(name.to_owned())),
        }
    }

    fn unknown(&mut self, name: &str) {
        self.unknown = self.unknown.take().or_else(|| Some(name.to_owned()));
    }

    /// Whether an option is there, by any of its names.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.given.contains_key(*name))
    }

    /// Returns the last value of an option.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.given.get(*name)?.last()).map(String::as_str)
    }

    /// Returns all values of an option.
    pub(super) fn all(&self, name: &str) -> &[String] {
        self.given.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns a number, if it is one.
    pub(super) fn number<T: std::str::FromStr>(&self, names: &[&str]) -> Option<T> {
        self.text(names)?.parse().ok()
    }

    /// Returns a time in seconds as nanoseconds.
    pub(super) fn seconds(&self, names: &[&str]) -> Option<u64> {
        seconds(self.text(names)?)
    }
}

/// Reads seconds, as in `0.2`, as nanoseconds; at most a day.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between 0 and a day")]
pub(super) fn seconds(text: &str) -> Option<u64> {
    let seconds: f64 = text.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds.min(86_400.0) * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, known: &[&str]) -> Options {
        let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::read(&argv, known)
    }

    #[test]
    fn values_stand_apart_or_attached() {
        let options = read("nc -zvw2 -p 80 host 7000", &["z", "v", "w=", "p="]);
        assert!(options.has(&["z"]) && options.has(&["v"]));
        assert_eq!(options.number::<u32>(&["w"]), Some(2));
        assert_eq!(options.text(&["p"]), Some("80"));
        assert_eq!(options.rest, ["host", "7000"]);
    }

    #[test]
    fn what_nobody_knows_is_reported() {
        assert_eq!(read("nc -Q host", &["z"]).unknown.as_deref(), Some("Q"));
        assert_eq!(read("nc -w", &["w="]).incomplete.as_deref(), Some("w"));
        assert_eq!(seconds("-1"), None);
        assert_eq!(seconds("nan"), None);
        assert_eq!(seconds("0.2"), Some(200_000_000));
    }
}
