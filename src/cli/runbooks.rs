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

/// Reads the folder as it is now: what somebody mends there holds at once.
///
/// # Errors
/// Fails where the folder or a file cannot be read.
pub(in crate::cli) fn read(folder: &Path) -> anyhow::Result<Vec<Note>> {
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
    let mut found = Vec::new();
    for (name, path) in files.into_iter().take(MAX_FILES) {
        let text = read_small(&path).with_context(|| format!("reading {}", path.display()))?;
        found.extend(notes(&name, &text));
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
        let found = read(folder.path()).unwrap();
        let headings: Vec<&str> = found.iter().map(|note| note.heading.as_str()).collect();
        assert_eq!(headings, ["a.MD", "Two"]);
        assert!(read(&at("nowhere")).is_err());
    }
}
