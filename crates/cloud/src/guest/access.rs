//! One guest, and how it is reached.

use std::fmt;

use super::ssh::Ssh;
use crate::line::{self, Line};
use crate::operation::CommandRequest;
use crate::{Name, ResourceGroup};
use ghost_shell::quote;

/// How a guest is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuestAccess {
    /// By the platform, which runs scripts as root, one at a time, and keeps the last 4,096 bytes of what they print.
    Platform {
        /// Where the machine is.
        place: ResourceGroup,
        machine: Name,
    },
    Ssh(Box<Ssh>),
}

impl GuestAccess {
    /// Returns the words before a script's text. Over ssh the policy has to know them: see [`ghost_shell::Policy::carried_by`].
    #[must_use]
    pub fn carrier(&self) -> Line {
        match self {
            Self::Platform { place, machine } => line::scripts_carrier(place, machine),
            Self::Ssh(ssh) => Line::carrying(before(ssh), false),
        }
    }

    /// Returns the words that the policy has to know, where it does not know them by itself.
    #[must_use]
    pub fn known(&self) -> Option<Vec<String>> {
        matches!(self, Self::Ssh(_)).then(|| self.carrier().words().to_vec())
    }

    /// Orders a declared script. It runs as root, without a click where the policy says that it only reads.
    #[must_use]
    pub fn script(
        &self,
        script: &'static str,
        variables: Vec<(&'static str, String)>,
        why: impl Into<String>,
    ) -> CommandRequest {
        CommandRequest::script(self.carrier(), script, variables, why)
    }

    /// Orders lines that change something. They run as root, and a human is asked. The platform does not tell how they ended:
    /// whoever needs to know lets them print it.
    #[must_use]
    pub fn lines(&self, lines: &[String], why: impl Into<String>) -> CommandRequest {
        let line = match self {
            Self::Platform { place, machine } => line::run_script(place, machine, lines),
            Self::Ssh(ssh) => {
                let mut words = before(ssh);
                // The guest's shell takes one layer of quotes off.
                words.push(quote(&lines.join("\n")));
                Line::carrying(words, true)
            }
        };
        CommandRequest::line(line, why)
    }
}

/// Returns the words before the quoted text of a script: what the guest runs is a shell as root.
fn before(ssh: &Ssh) -> Vec<String> {
    let root = ssh.target().is_root();
    let runs: &[&str] = if root { &["sh", "-c"] } else { &["sudo", "-n", "sh", "-c"] };
    ssh.words().into_iter().chain(runs.iter().map(|word| (*word).to_owned())).collect()
}

impl fmt::Display for GuestAccess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Platform { machine, .. } => write!(out, "{machine}"),
            Self::Ssh(ssh) => write!(out, "{}", ssh.target()),
        }
    }
}
