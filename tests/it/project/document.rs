//! The documents of the repository, and the commands that they show. The unit tests of the command line read it, too (`src/cli/documented.rs`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Folders whose Markdown files are documents.
const FOLDERS: [&str; 5] = [".github", "benches", "demo", "deploy", "docs"];

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every Markdown document of the repository, by its path from the top.
pub(crate) fn documents() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> = FOLDERS.iter().map(|folder| root().join(folder)).collect();
    let mut keep = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            found.insert(name, std::fs::read_to_string(path).unwrap());
        }
    };
    let entries = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries(root()).filter(|path| path.is_file()).for_each(&mut keep);
    while let Some(folder) = open.pop() {
        for path in entries(folder) {
            if path.is_dir() { open.push(path) } else { keep(path) }
        }
    }
    found
}

#[track_caller]
pub(crate) fn none(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Returns the code of a page that stands in fences for a shell.
pub(crate) fn fences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match (event, &mut open) {
            (Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))), _) if *kind == *"sh" => {
                open = Some(String::new());
            }
            (Event::Text(part), Some(code)) => code.push_str(&part),
            (Event::End(TagEnd::CodeBlock), _) => found.extend(open.take()),
            _ => {}
        }
    }
    found
}

/// Returns the commands of a shell's text as words: enough of a shell for examples, without expansions.
pub(crate) fn commands(text: &str) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' if chars.peek() == Some(&'\n') => drop(chars.next()),
            '\'' | '"' => {
                let quoted: String = chars.by_ref().take_while(|next| *next != char).collect();
                word.get_or_insert_default().push_str(&quoted);
            }
            '#' if word.is_none() => while chars.next_if(|next| *next != '\n').is_some() {},
            ' ' | '\n' | '|' | '&' | ';' | '(' | ')' | '>' | '<' => {
                found.last_mut().unwrap().extend(word.take());
                // What stands behind a redirection is a file; the words before it are complete.
                if char != ' ' {
                    found.push(if matches!(char, '<' | '>') { vec![char.to_string()] } else { Vec::new() });
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    found.last_mut().unwrap().extend(word);
    found
}

/// Returns the words behind `ghost` where a command is one of this program, however it is started.
pub(crate) fn of_ghost(command: &[String]) -> Option<&[String]> {
    let is_ghost = |word: &String| word == "ghost" || word.ends_with("/ghost");
    match command {
        [cargo, run, rest @ ..] if cargo == "cargo" && run == "run" => {
            rest.get(rest.iter().position(|word| word == "--")? + 1..)
        }
        [first, rest @ ..] if is_ghost(first) => Some(rest),
        [docker, rest @ ..] if docker == "docker" => {
            let inside = rest.iter().position(|word| word.starts_with('/') && is_ghost(word))?;
            rest.get(inside + 1..)
        }
        [kubectl, rest @ ..] if kubectl == "kubectl" => {
            of_ghost(rest.get(rest.iter().position(|word| word == "--")? + 1..)?)
        }
        _ => None,
    }
}
