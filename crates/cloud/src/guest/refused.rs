//! What ssh says where it does not get there.

use crate::{Class, Failure};

/// Words of ssh and of sudo, and what they mean; the first that is there.
const WORDS: &[(&str, Class)] = &[
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", Class::Stranger),
    ("Host key verification failed", Class::Stranger),
    ("Permission denied (", Class::Unwelcome),
    ("Too many authentication failures", Class::Unwelcome),
    ("sudo: ", Class::NoRoot),
    ("Could not resolve hostname", Class::Unreachable),
    ("Connection refused", Class::Unreachable),
    ("Connection timed out", Class::Unreachable),
    ("No route to host", Class::Unreachable),
    ("Network is unreachable", Class::Unreachable),
    ("stdio forwarding failed", Class::Unreachable),
    ("Connection closed by", Class::Unreachable),
    ("Connection reset by", Class::Unreachable),
    ("Timeout, server", Class::Unreachable),
];

/// Says what it means that ssh ended with 255, its own code for a failure, or that sudo gave up; `None` where it is neither.
pub(crate) fn refused(exit: Option<i32>, stderr: &str) -> Option<Failure> {
    let sudo = exit == Some(1) && stderr.trim_start().starts_with("sudo: ");
    if exit != Some(255) && !sudo {
        return None;
    }
    let found = WORDS.iter().find(|(words, _)| stderr.contains(words));
    let class = found.map_or(Class::Unreachable, |(_, class)| *class);
    // A changed key is told in a frame of many lines, of which the first says nothing.
    let line = found.and_then(|(words, _)| stderr.lines().find(|line| line.contains(words)));
    let line = line.or_else(|| stderr.lines().find(|line| !line.trim().is_empty()));
    let message = line.unwrap_or("ssh failed and said nothing").trim_matches(['@', ' ']);
    Some(Failure { class, code: None, message: message.chars().take(300).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_says_has_a_class() {
        let class = |exit, text: &str| refused(Some(exit), text).map(|failure| failure.class);
        let changed = "@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@@@\nHost key verification failed.";
        assert_eq!(class(255, changed), Some(Class::Stranger));
        assert_eq!(class(255, "u@h: Permission denied (publickey)."), Some(Class::Unwelcome));
        assert_eq!(
            class(255, "ssh: connect to host h port 22: Connection refused"),
            Some(Class::Unreachable)
        );
        assert_eq!(class(255, ""), Some(Class::Unreachable));
        assert_eq!(class(1, "sudo: a password is required"), Some(Class::NoRoot));
        assert_eq!(class(1, "ERROR: (NotFound) x"), None);
        assert_eq!(class(3, "x"), None);
    }
}
