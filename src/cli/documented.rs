//! Every command of `ghost` that documents and help show is one that the program takes, and every tool has its page.

use std::collections::BTreeSet;
use std::path::Path;

use super::document::{commands, documents, fences, none, of_ghost};
use super::root::command;

/// Says why the program would not take a command.
fn refusal(words: &[String]) -> Option<String> {
    // A digest of which only the beginning is shown is a whole one to the program.
    let whole = |word: &String| match word.strip_suffix('…') {
        Some(start) if start.chars().all(|char| char.is_ascii_hexdigit()) => format!("{start:0<64}"),
        Some(_) | None => word.clone(),
    };
    let all = std::iter::once("ghost".to_owned()).chain(words.iter().map(whole));
    let error = command().try_get_matches_from(all).err()?;
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
    let all = command();
    let never = all.get_subcommands().map(|inner| inner.get_name()).filter(|name| !shown.contains(*name));
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
    walk(&command(), &mut problems);
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

#[test]
fn every_tool_has_a_page() {
    let page = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/tools/{name}.md"));
        std::fs::read_to_string(path).is_ok_and(|text| text.starts_with(&format!("# ghost {name}")))
    };
    // The guide describes these, and `replay` beside `sessions`.
    let elsewhere = ["bot", "completions", "demo", "help", "investigate", "man", "playbook", "replay"];
    let all = command();
    let names = all.get_subcommands().map(|inner| inner.get_name());
    none(names.filter(|name| !elsewhere.contains(name) && !page(name)).map(str::to_owned).collect());
}
