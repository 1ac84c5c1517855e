//! A command line, taken apart.

use super::failure::Failure;

/// The words of a command, and its options.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Words {
    /// The words before the first option: `network nsg rule create`.
    pub(super) command: String,
    options: Vec<(String, Vec<String>)>,
}

impl Words {
    /// Takes words apart.
    pub(super) fn read(words: &[String]) -> Self {
        let mut read = Self::default();
        let mut command = Vec::new();
        for word in words {
            let option = word
                .strip_prefix('-')
                .is_some_and(|rest| rest.starts_with(|first: char| first == '-' || first.is_alphabetic()));
            if option {
                match word.split_once('=').filter(|_| word.starts_with("--")) {
                    Some((name, value)) => read.options.push((name.to_owned(), vec![value.to_owned()])),
                    None => read.options.push((word.clone(), Vec::new())),
                }
            } else if let Some((_, values)) = read.options.last_mut() {
                values.push(word.clone());
            } else {
                command.push(word.as_str());
            }
        }
        read.command = command.join(" ");
        read
    }

    /// Returns the values of an option, by any of its names.
    pub(super) fn many(&self, names: &[&str]) -> Option<&[String]> {
        let found = self.options.iter().rev().find(|(name, _)| names.contains(&name.as_str()));
        found.map(|(_, values)| values.as_slice())
    }

    /// Returns the one value of an option.
    pub(super) fn one(&self, names: &[&str]) -> Option<&str> {
        self.many(names)?.first().map(String::as_str)
    }

    /// Returns a value that has to be there.
    pub(super) fn need(&self, names: &[&str]) -> Result<&str, Failure> {
        self.one(names).ok_or_else(|| Failure::required(&names.join("/")))
    }

    /// Says whether an option is there.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.many(names).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_and_its_options() {
        let line = "network nsg rule create -g rg --destination-port-ranges 80 443 --name=r --no-wait";
        let words = Words::read(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(words.command, "network nsg rule create");
        assert_eq!(words.many(&["--destination-port-ranges"]).unwrap(), ["80", "443"]);
        assert_eq!((words.one(&["-g"]), words.one(&["--name", "-n"])), (Some("rg"), Some("r")));
        assert!(words.has(&["--no-wait"]) && words.need(&["--vm"]).is_err());
    }
}
