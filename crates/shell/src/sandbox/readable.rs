//! What a command may read: everything but programs that are not its own.
//!
//! A loader has to be executable, because the kernel executes it on behalf of a program; but it can be started by itself,
//! with any program as its argument, and then it merely reads that one. So what may not be executed may not be read either.

use std::fs;
use std::path::{Path, PathBuf};

use crate::resolve::FOLDERS;

/// Folders that hold folders for programs beside others.
const DIVIDED: [&str; 3] = ["/", "/usr", "/usr/local"];

/// Lists what lies beside the folders for programs.
pub(super) fn beside_programs() -> Vec<PathBuf> {
    let entries = DIVIDED.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    // What a link leads to lies in another one of these folders.
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    let hidden = |path: &Path| DIVIDED.iter().chain(FOLDERS.iter()).any(|folder| Path::new(folder) == path);
    real.map(|entry| entry.path()).filter(|path| !hidden(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_listed_but_the_folders_for_programs() {
        let found = beside_programs();
        let has = |path: &str| found.iter().any(|found| found == Path::new(path));
        for path in ["/etc", "/proc", "/usr/lib", "/usr/share"] {
            assert!(has(path), "{path}: {found:?}");
        }
        for path in ["/", "/usr", "/usr/local", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin"] {
            assert!(!has(path), "{path}: {found:?}");
        }
    }
}
