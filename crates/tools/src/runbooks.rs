//! The Markdown files of `[site] runbooks`.
//!
//! Goes in: a folder. Comes out: the sections of its files, and what could not be read. Never: a file below another folder or behind a
//! link, or more of it than somebody wrote by hand.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::config::read_small;
use ghost_investigate::runbook::{Note, notes};

/// So many files are read; the first by name.
const MAX_FILES: usize = 500;

/// What stands in the folder.
#[derive(Debug, Default)]
pub struct Runbooks {
    pub notes: Vec<Note>,
    /// Why a file could not be read. The others count all the same.
    pub unread: Vec<String>,
}

/// Reads the folder as it is now: what somebody mends there holds at once.
///
/// # Errors
/// Fails where the folder cannot be read.
pub fn read(folder: &Path) -> anyhow::Result<Runbooks> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("reading {}", folder.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && Path::new(&name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md")) {
            files.push((name, entry.path()));
        }
    }
    files.sort();
    let mut found = Runbooks::default();
    for (name, path) in files.into_iter().take(MAX_FILES) {
        match read_small(&path) {
            Ok(text) => found.notes.extend(notes(&name, &text)),
            Err(error) => found.unread.push(format!("{}: {error}", path.display())),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markdown_files_of_the_folder_itself_are_read_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("b.md"), "# Two\ntext\n").unwrap();
        fs::write(at("a.MD"), "only text\n").unwrap();
        fs::write(at("notes.txt"), "# no\n").unwrap();
        fs::create_dir(at("below.md")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", at("link.md")).unwrap();
        // One that is no text keeps the others back from nobody.
        fs::write(at("c.md"), [0xff, 0xfe]).unwrap();
        let Runbooks { notes: found, unread } = read(folder.path()).unwrap();
        assert!(unread.len() == 1 && unread[0].contains("c.md"), "{unread:?}");
        let headings: Vec<&str> = found.iter().map(|note| note.heading.as_str()).collect();
        assert_eq!(headings, ["a.MD", "Two"]);
        assert!(read(&at("nowhere")).is_err());
    }
}
