//! What lies under a path, as commands.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{atomic, gtfobins, lines, tldr};
use crate::config::read_small;

/// One command of a corpus.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The file that it stands in: its path below the corpus, without the ending.
    pub page: String,
    /// Which one of that file, from 1.
    pub number: usize,
    pub text: String,
}

/// All the commands under a path.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    /// The path, as it was given.
    pub name: String,
    /// How many files were read.
    pub files: usize,
    /// The files that have none of the formats.
    pub skipped: Vec<String>,
    /// The commands, in the order of the files' names.
    pub commands: Vec<Command>,
}

/// Reads a file, or every file below a folder. Links are not followed, and what begins with a dot is passed over.
pub(super) fn read(path: &Path) -> anyhow::Result<Corpus> {
    let named = || format!("reading {}", path.display());
    let mut corpus = Corpus { name: path.display().to_string(), ..Corpus::default() };
    let files = if fs::metadata(path).with_context(named)?.is_dir() {
        below(path).with_context(named)?
    } else {
        vec![path.to_owned()]
    };
    for file in files {
        let name = file.strip_prefix(path).ok().filter(|name| !name.as_os_str().is_empty());
        let page = name.unwrap_or(&file).with_extension("").display().to_string();
        let text = read_small(&file).ok();
        let of_lines = name.is_none() || file.extension().is_some_and(|ending| ending == "txt");
        let Some(found) = text.and_then(|text| commands(&text, of_lines)) else {
            corpus.skipped.push(page);
            continue;
        };
        corpus.files += 1;
        let numbered = found.into_iter().zip(1..);
        corpus.commands.extend(numbered.map(|(text, number)| Command { page: page.clone(), number, text }));
    }
    Ok(corpus)
}

fn below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the commands of a file, by its form. Anything may be a file of lines, so that one has to be named, or end in `.txt`.
fn commands(text: &str, of_lines: bool) -> Option<Vec<String>> {
    if atomic::is_list(text) {
        atomic::read(text)
    } else if gtfobins::is_page(text) {
        gtfobins::read(text)
    } else if tldr::is_page(text) {
        Some(tldr::read(text))
    } else {
        of_lines.then(|| lines::read(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognized_by_what_they_hold() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("spin", "functions:\n  shell:\n  - code: spin -x\n");
        write("turn.md", "# turn\n\n- Turn:\n\n`turn {{file}}`\n\n`turn -q`\n");
        write("lines.txt", "ss -s\n");
        write(
            "T0.yaml",
            "atomic_tests:\n- supported_platforms: [linux]\n  executor: {name: sh, command: probe}\n",
        );
        write("readme", "Some prose.\n");
        write(".hidden.txt", "ss -t\n");
        let corpus = read(folder.path()).unwrap();
        let recognized: Vec<_> =
            corpus.commands.iter().map(|one| (one.page.as_str(), one.number, one.text.as_str())).collect();
        let expected = [
            ("T0", 1, "probe"),
            ("lines", 1, "ss -s"),
            ("spin", 1, "spin -x"),
            ("turn", 1, "turn file"),
            ("turn", 2, "turn -q"),
        ];
        assert_eq!((recognized.as_slice(), corpus.files), (expected.as_slice(), 4));
        assert_eq!(corpus.skipped, ["readme"]);
    }

    #[test]
    fn a_file_that_is_named_is_one_of_lines_whatever_its_ending() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "ss -s\nss -t\n").unwrap();
        assert_eq!(read(file.path()).unwrap().commands.len(), 2);
    }
}
