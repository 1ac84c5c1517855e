//! Every command of `ghost` that documents and help show is one that the program takes.

use std::collections::BTreeSet;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::project::{documents, none};

/// Returns the code of a page that stands in fences for a shell.
pub(super) fn fences(text: &str) -> Vec<String> {
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
pub(super) fn commands(text: &str) -> Vec<Vec<String>> {
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
pub(super) fn of_ghost(command: &[String]) -> Option<&[String]> {
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

/// Says why the program would not take a command.
fn refusal(words: &[String]) -> Option<String> {
    // A digest of which only the beginning is shown is a whole one to the program.
    let whole = |word: &String| match word.strip_suffix('…') {
        Some(start) if start.chars().all(|char| char.is_ascii_hexdigit()) => format!("{start:0<64}"),
        Some(_) | None => word.clone(),
    };
    let all = std::iter::once("ghost".to_owned()).chain(words.iter().map(whole));
    let error = ghost_agent::cli::command().try_get_matches_from(all).err()?;
    // Help and version are errors to clap, and none to whoever asked for them.
    error.use_stderr().then(|| error.to_string().lines().next().unwrap_or_default().to_owned())
}

/// Checks every command of a text, and returns the subcommands that it showed.
fn check(place: &str, text: &str, problems: &mut Vec<String>) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    for command in commands(text) {
        let Some(words) = of_ghost(&command) else { continue };
        shown.extend(words.first().cloned());
        problems.extend(refusal(words).map(|why| format!("{place}: ghost {}: {why}", words.join(" "))));
    }
    shown
}

#[test]
fn every_command_in_a_document_is_one_that_the_program_takes() {
    let mut problems = Vec::new();
    let mut shown = BTreeSet::new();
    for (page, text) in documents() {
        for code in fences(&text) {
            shown.extend(check(&page, &code, &mut problems));
        }
    }
    let command = ghost_agent::cli::command();
    let never = command.get_subcommands().map(|inner| inner.get_name()).filter(|name| !shown.contains(*name));
    problems.extend(never.map(|name| format!("no document shows `ghost {name}`")));
    none(problems);
}

#[test]
fn every_example_of_the_help_is_one_that_the_program_takes() {
    fn walk(command: &clap::Command, problems: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().filter_map(|line| line.strip_prefix("  ")) {
            check(command.get_name(), line, problems);
        }
        command.get_subcommands().for_each(|inner| walk(inner, problems));
    }
    let mut problems = Vec::new();
    walk(&ghost_agent::cli::command(), &mut problems);
    none(problems);
}

#[test]
fn a_wrong_example_is_found() {
    let wrong = |text: &str| {
        let mut problems = Vec::new();
        check("x", text, &mut problems);
        problems.len()
    };
    assert_eq!(wrong("az x | ghost route select --table - --to 10.0.0.1 > out.json # ghost nothing"), 0);
    assert_eq!(
        wrong("ghost investigate 'a | ghost b' && ghost shell classify \"x; ghost y\" \\\n  --json"),
        0
    );
    assert_eq!(wrong("ghost shel demo; (cargo run -- demo --cse K) & docker exec bot /bin/ghost bott"), 3);
    assert_eq!(
        wrong("kubectl -n ghost rollout status deployment/ghost; kubectl -n ghost exec x -- ghost nothing"),
        1
    );
    assert_eq!(wrong("ghost route select --help"), 0);
    assert_eq!(fences("```sh\nghost a\n```\n```text\nghost b\n```\n"), ["ghost a\n"]);
}
