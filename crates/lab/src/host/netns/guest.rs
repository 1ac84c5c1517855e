//! A machine: its namespace, its files, and what was done to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::background::Background;
use super::inside::NamespaceThread;
use super::name::Namespace;
use super::program::must;
use crate::host::exec::{ProcessRequest, Running};
use crate::host::port::HostError;
use crate::host::script::Files;

/// A machine that runs.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) name: String,
    pub(super) space: Namespace,
    /// The file by which `iptables` keeps its other calls out.
    pub(super) lock: PathBuf,
    inside: Mutex<Option<NamespaceThread>>,
    memory: Mutex<Memory>,
}

/// What a machine remembers.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) files: Files,
    /// What was done to it, in order: done again on a new one, it is as this one.
    pub(super) steps: Vec<ChangeCommand>,
    /// What runs in the background.
    pub(super) background: Vec<Background>,
    /// Measuring tools that listen here because the stage says so.
    pub(super) services: Vec<Running>,
    /// Whose listeners of this process are, by port.
    pub(super) listeners: BTreeMap<u16, String>,
}

/// A command that changed something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangeCommand {
    /// Its words.
    pub(super) argv: Vec<String>,
    /// What it read.
    pub(super) input: String,
    /// Whether it was left running.
    pub(super) runs: bool,
}

impl Guest {
    /// Moves into a namespace that is wired.
    pub(super) fn new(name: &str, space: Namespace, lock: PathBuf, files: Files) -> Result<Self, HostError> {
        let inside = Mutex::new(Some(NamespaceThread::enter(&space)?));
        let memory = Mutex::new(Memory { files, ..Memory::default() });
        Ok(Self { name: name.to_owned(), space, lock, inside, memory })
    }

    /// Returns what it remembers.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something inside, if it is still there.
    pub(super) fn inside<T>(&self, what: impl FnOnce(&NamespaceThread) -> T) -> Option<T> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(what)
    }

    /// Leaves the namespace, so that it can be removed.
    pub(super) fn leave(&self) {
        drop(self.inside.lock().unwrap_or_else(PoisonError::into_inner).take());
        let mut memory = self.memory();
        memory.background.clear();
        memory.services.clear();
    }

    /// Orders a program in it.
    pub(super) fn order(&self, argv: &[String], input: &str) -> Result<ProcessRequest, HostError> {
        Ok(ProcessRequest::guest(argv, input)?.within(&self.space).locking(self.lock.clone()))
    }

    /// Does steps of another machine here.
    pub(super) fn repeat(&self, steps: &[ChangeCommand]) -> Result<(), HostError> {
        for step in steps {
            if step.runs {
                self.leave_running(&step.argv);
            } else {
                must(&step.argv.join(" "), self.order(&step.argv, &step.input)?)?;
            }
        }
        self.memory().steps = steps.to_vec();
        Ok(())
    }

    /// Describes everything about it that scripts can change in the kernel; counters apart.
    pub(super) fn print(&self) -> Result<String, HostError> {
        let shows: [(&'static str, &[&str]); 12] = [
            ("iptables-save", &[]),
            ("ip6tables-save", &[]),
            ("iptables-legacy-save", &[]),
            ("nft", &["-s", "list", "ruleset"]),
            ("tc", &["qdisc", "show"]),
            ("tc", &["class", "show", "dev", "eth0"]),
            ("tc", &["filter", "show", "dev", "eth0"]),
            ("ip", &["-o", "addr", "show"]),
            ("ip", &["-4", "route", "show", "table", "all"]),
            ("ip", &["-6", "route", "show", "table", "all"]),
            ("ip", &["rule", "show"]),
            (
                "sysctl",
                &["-e", "net.ipv4.ip_forward", "net.ipv4.tcp_mtu_probing", "net.ipv4.ip_no_pmtu_disc"],
            ),
        ];
        let mut text = String::new();
        for (name, words) in shows {
            // A packet filter of the older kind may not be installed.
            let Ok(output) = ProcessRequest::own(name, words)?.within(&self.space).run() else { continue };
            for line in output.out.lines().filter(|line| !line.starts_with('#')) {
                text.push_str(&even(line));
                text.push('\n');
            }
        }
        Ok(text)
    }
}

/// Evens out what the kernel numbers as it comes: counters, handles, devices.
fn even(line: &str) -> String {
    let uneven = |word: &&str| {
        let is_counter = word.starts_with('[') && word.ends_with(']');
        let is_device =
            word.ends_with(':') && word.trim_end_matches(':').bytes().all(|byte| byte.is_ascii_digit());
        let handle = word.strip_suffix(':').filter(|handle| handle.len() == 4 && handle.starts_with('8'));
        !is_counter && !is_device && handle.is_none()
    };
    let words: Vec<&str> = line.split_whitespace().filter(uneven).collect();
    words.join(" ")
}
