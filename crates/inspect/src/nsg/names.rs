//! Names of what nobody resolved: one for each thing, so that two things are never taken for one.

use std::collections::{HashMap, HashSet};

/// The names that are given.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// What was named, and how.
    known: HashMap<String, String>,
    /// The names in small letters.
    used: HashSet<String>,
}

impl Names {
    /// Names something that several rules may mean: the same text of the same kind, in any letters.
    pub(super) fn shared(&mut self, kind: &str, text: &str, name: String) -> String {
        self.name(format!("{kind} {}", text.to_ascii_lowercase()), name)
    }

    /// Names something that only one rule means.
    pub(super) fn own(&mut self, place: &str, name: String) -> String {
        self.name(format!("own {place}"), name)
    }

    fn name(&mut self, identity: String, name: String) -> String {
        if let Some(known) = self.known.get(&identity) {
            return known.clone();
        }
        let mut reported = name.clone();
        // What is called the same and is something else gets the next number that is free.
        let mut number = self.known.len();
        while !self.used.insert(reported.to_ascii_lowercase()) {
            number += 1;
            reported = format!("{name} #{number}");
        }
        self.known.insert(identity, reported.clone());
        reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_one_name_and_two_things_have_two() {
        let mut names = Names::default();
        let web = names.shared("group", "/dev/web", "web".into());
        assert_eq!((web.as_str(), &names.shared("group", "/DEV/web", "WEB".into())), ("web", &web));
        let others = [
            names.shared("group", "/prod/web", "web".into()),
            names.shared("tag", "web", "web".into()),
            names.own("1 source", "Web".into()),
            names.own("2 source", "web".into()),
        ];
        let all: HashSet<String> =
            others.iter().chain([&web]).map(|name| name.to_ascii_lowercase()).collect();
        assert_eq!(all.len(), 5);
    }
}
