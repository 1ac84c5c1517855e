//! A Linux machine whose network is read: this one, or one that takes ssh.

use std::fmt;

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
}

impl fmt::Display for HostAccess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here => out.write_str("this machine"),
            Self::Ssh(ssh) => write!(out, "{}", ssh.target()),
        }
    }
}
