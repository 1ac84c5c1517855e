//! What a lab holds of this machine, written down before it is made, so that whoever comes later can put it away.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::name::{FOLDER, Namespace, Prefix};
use ghost_base::{private_dir, write_private};

/// How the names of journals begin and end.
const BEGINS: &str = "netns-";
const ENDS: &str = ".json";

/// Who owns the namespaces of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::host) struct Journal {
    /// The lab's own number.
    pub(super) lab: String,
    /// The process that owns it.
    pub(super) owner: u32,
    /// When that process was started, in the kernel's ticks: numbers of processes are used again.
    started: u64,
    /// Which start of this machine that was.
    boot: String,
}

impl Journal {
    /// Writes down that this process owns a lab, and returns what its names begin with.
    pub(in crate::host) fn begin(folder: &Path) -> std::io::Result<(Self, Prefix)> {
        let owner = std::process::id();
        let mut bytes = [0_u8; 4];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        let lab = format!("{:08x}", u32::from_ne_bytes(bytes));
        let lost = || std::io::Error::other("/proc does not tell when this process was started");
        let prefix = Prefix::new(&lab, owner).ok_or_else(lost)?;
        let journal = Self { lab, owner, started: started(owner).ok_or_else(lost)?, boot: boot() };
        private_dir(&journal.scratch(folder))?;
        write_private(&journal.path(folder), serde_json::to_string(&journal)?.as_bytes())?;
        Ok((journal, prefix))
    }

    /// Reads all journals of a folder; what is none is left alone.
    pub(super) fn all(folder: &Path) -> Vec<(Self, Prefix)> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let journals = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let lab = name.strip_prefix(BEGINS)?.strip_suffix(ENDS)?;
            let journal: Self = serde_json::from_slice(&fs::read(entry.path()).ok()?).ok()?;
            let prefix = Prefix::new(&journal.lab, journal.owner)?;
            (journal.lab == lab).then_some((journal, prefix))
        });
        journals.collect()
    }

    /// Tells whether its owner still runs.
    pub(super) fn is_alive(&self) -> bool {
        self.boot == boot() && started(self.owner) == Some(self.started)
    }

    /// Returns the folder for what the lab writes while it runs.
    pub(in crate::host) fn scratch(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{BEGINS}{}", self.lab))
    }

    /// Removes all that it left in the folder.
    pub(in crate::host) fn end(&self, folder: &Path) {
        // What is gone already needs no removing.
        drop(fs::remove_dir_all(self.scratch(folder)));
        drop(fs::remove_file(self.path(folder)));
    }

    fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{BEGINS}{}{ENDS}", self.lab))
    }
}

/// Returns the namespaces of a lab that are there.
pub(super) fn spaces(prefix: &Prefix) -> Vec<Namespace> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| Namespace::of(prefix, &name)).collect()
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// When a process was started; a dead one that nobody collected counts as gone.
fn started(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name stands in parentheses and may hold anything.
    let (_, fields) = status.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_of_this_process_is_alive_and_an_older_one_of_its_number_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (journal, prefix) = Journal::begin(folder.path()).unwrap();
        assert_eq!(Journal::all(folder.path()), [(journal.clone(), prefix)]);
        assert!(journal.is_alive());
        assert!(!Journal { started: journal.started.wrapping_sub(1), ..journal.clone() }.is_alive());
        assert!(!Journal { boot: "another".to_owned(), ..journal.clone() }.is_alive());
        journal.end(folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_journal_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("netns-00000000.json", "{"),
            ("netns-00000001.json", r#"{"lab":"00000002","owner":1,"started":1,"boot":""}"#),
            ("netns-x.json", r#"{"lab":"x","owner":1,"started":1,"boot":""}"#),
            ("other.json", "{}"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(Journal::all(folder.path()), []);
    }
}
