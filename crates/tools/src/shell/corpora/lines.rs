//! A file of lines: one command a line.

use std::collections::BTreeSet;

use ghost_shell::{Policy, Verdict, plain_commands};

/// Returns the commands, without empty lines and comments.
pub(super) fn read(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// Programs that may run, whatever their arguments are.
#[derive(Debug)]
pub(super) struct FirstWords(BTreeSet<String>);

impl FirstWords {
    /// Reads a list: a word a line, `#` begins a comment.
    pub(super) fn parse(text: &str) -> Self {
        Self(super::lines::read(text).into_iter().collect())
    }

    /// The list that somebody would write who knows which programs Ghost runs unasked, and checks nothing else.
    pub(super) fn of(policy: &Policy) -> Self {
        let safe = policy.rules().filter(|rule| rule.verdict == Verdict::Safe);
        Self(safe.flat_map(|rule| rule.programs).collect())
    }

    /// How many words it has.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether every command of a text begins with such a word. What needs a shell asks.
    pub(super) fn allows(&self, text: &str) -> bool {
        let listed = |words: &Vec<String>| words.first().is_some_and(|word| self.0.contains(word));
        plain_commands(text).is_some_and(|commands| commands.iter().all(listed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_no_commands() {
        assert_eq!(read("# reads\n\n  ss -s\nip a # all\n"), ["ss -s", "ip a # all"]);
    }

    #[test]
    fn only_the_first_word_of_each_command_counts() {
        let words = FirstWords::parse("# reads\nip\nss\n");
        assert_eq!(words.len(), 2);
        assert!(words.allows("ip link set eth0 down && ss -K"));
        for text in ["ip a | tee x", "ip a > x", "ip $(rm x)", "", "./ip a"] {
            assert!(!words.allows(text), "{text}");
        }
    }

    #[test]
    fn the_built_in_list_has_what_the_policy_runs_unasked() {
        let policy = Policy::builtin().unwrap();
        let words = FirstWords::of(policy);
        assert!(words.allows("ip a") && words.allows("az vm delete -n x"));
        assert!(!words.allows("rm x") && !words.allows("bash -c id") && !words.allows("reboot"));
    }
}
