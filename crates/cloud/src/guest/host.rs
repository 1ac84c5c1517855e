//! A Linux machine whose network is read: this one, or one that takes ssh.

use std::fmt;

use std::path::{Path, PathBuf};

use super::ssh::Ssh;
use crate::line::Line;

/// How a machine is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostAccess {
    /// It is this one.
    Here,
    /// By ssh, as whoever signs in: what takes more rights the script itself asks `sudo -n` for, read by read.
    Ssh(Box<Ssh>),
}

impl HostAccess {
    /// Returns the words before a script's text. The policy has to know them: see [`ghost_shell::Policy::carried_by`] and
    /// [`ghost_shell::Policy::carried_here`].
    #[must_use]
    pub fn carrier(&self) -> Line {
        let shell = ["sh", "-c"].map(str::to_owned);
        match self {
            Self::Here => Line::carrying(shell.to_vec(), false),
            Self::Ssh(ssh) => Line::carrying(ssh.words().into_iter().chain(shell).collect(), false),
        }
    }

    /// Reads how a machine is reached from the words that carry a script there; nothing where they are not exactly ours.
    #[must_use]
    pub fn of_carrier(words: &[String]) -> Option<Self> {
        if Self::Here.carrier().words() == words {
            return Some(Self::Here);
        }
        let before = words.strip_suffix(["sh".to_owned(), "-c".to_owned()].as_slice())?;
        Some(Self::Ssh(Box::new(Ssh::of_words(before)?)))
    }

    /// Returns a file that it takes and that is not there: a key, the socket of an agent, the known host keys.
    #[must_use]
    pub fn missing_file(&self) -> Option<PathBuf> {
        match self {
            Self::Here => None,
            Self::Ssh(ssh) => ssh.files().find(|file| !file.exists()).map(Path::to_owned),
        }
    }
}

impl fmt::Display for HostAccess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here => out.write_str("this machine"),
            Self::Ssh(ssh) => write!(out, "{}", ssh.target()),
        }
    }
}
