//! Loops over literal words, written out: `for h in a b; do ping -c 1 $h; done` is `ping -c 1 a; ping -c 1 b`.
//!
//! Goes in: everything that was read from a text. Comes out: the same, with each loop that needs no shell replaced by its commands, once
//! for each word; or the text as it was. Never: a loop whose words, name or body a shell could read differently.

use std::ops::Range;

use super::mark::is_name;
use super::script::{Command, Keyword, Link, Need, Script, Word, WordFill};

/// The most commands that loops are written out to: more than a text may have without a question, so that the question can say the
/// number.
const MAX_COMMANDS: usize = 1_024;

/// Lower-case names with a meaning of their own, mostly to zsh: `path` is `PATH` there. Names in upper case and those of proxies are in
/// no loop either: they may be in the environment of what runs.
const SPECIAL_NAMES: [&str; 37] = [
    "aliases",
    "argv",
    "builtins",
    "cdpath",
    "commands",
    "dirstack",
    "errnos",
    "fignore",
    "fpath",
    "funcstack",
    "functions",
    "galiases",
    "histchars",
    "history",
    "hostname",
    "jobdirs",
    "jobstates",
    "jobtexts",
    "keymaps",
    "langinfo",
    "mailpath",
    "manpath",
    "mapfile",
    "modules",
    "options",
    "parameters",
    "path",
    "pipestatus",
    "prompt",
    "psvar",
    "reswords",
    "saliases",
    "signals",
    "status",
    "termcap",
    "terminfo",
    "watch",
];

/// One loop: its variable, its words, and which commands it repeats.
struct Loop {
    name: String,
    words: Vec<String>,
    body: Range<usize>,
}

/// Writes out the loops of a text; a text with any other need for a shell stays as it is.
pub(super) fn unroll(mut script: Script) -> Script {
    if script.keywords.is_empty() || script.dangling || script.broken.is_some() {
        return script;
    }
    // A `<( … )` counts commands, which writing out would move, and what a `*` may match depends on the whole word.
    let depends = |word: &Word| match &word.fill {
        Some(WordFill::Output(_)) => true,
        Some(WordFill::Pattern(_)) => !word.variables.is_empty(),
        None => word.stars > 0 && !word.variables.is_empty(),
    };
    if script.commands.iter().flat_map(|command| &command.words).any(depends) {
        return script;
    }
    let Some(loops) = loops(&script.keywords, &script.commands) else { return script };
    let bodies =
        loops.iter().map(|found| (found, script.commands.get(found.body.clone()).unwrap_or_default()));
    let mut variables = 0;
    let mut written_out = script.commands.len();
    for (found, body) in bodies {
        for word in body.iter().flat_map(|command| &command.words) {
            let known = word.variables.iter().filter(|place| is_variable(word, place, &found.name));
            variables += known.count();
        }
        // A variable in the place of a program would choose what runs.
        let names_program =
            |command: &Command| command.words.first().is_some_and(|word| !word.variables.is_empty());
        if body.iter().any(|command| command.words.is_empty() || names_program(command)) {
            return script;
        }
        written_out = written_out.saturating_add(body.len().saturating_mul(found.words.len()));
    }
    // Every other variable needs a shell, wherever it is.
    if variables != script.variables || written_out > MAX_COMMANDS {
        return script;
    }
    let mut commands = Vec::new();
    let mut rest = std::mem::take(&mut script.commands).into_iter().enumerate().peekable();
    for found in &loops {
        while let Some((_, command)) = rest.next_if(|(at, _)| *at < found.body.start) {
            commands.push(command);
        }
        let mut body = Vec::new();
        while let Some((_, command)) = rest.next_if(|(at, _)| *at < found.body.end) {
            body.push(command);
        }
        for (round, word) in found.words.iter().enumerate() {
            commands.extend(body.iter().enumerate().map(|(at, command)| {
                let before = if round > 0 && at == 0 { Link::Then } else { command.before };
                let words = command.words.iter().map(|text| in_place(text, word)).collect();
                Command { words, before, repeated: true, ..command.clone() }
            }));
        }
    }
    commands.extend(rest.map(|(_, command)| command));
    script.commands = commands;
    script.needs.remove(Need::Keyword);
    script.needs.remove(Need::Variable);
    script
}

/// Finds the loops in the keywords of a text; `None` if they are anything but plain loops, one behind the other.
fn loops(keywords: &[Keyword], commands: &[Command]) -> Option<Vec<Loop>> {
    let stands_alone = |link: Link| matches!(link, Link::Edge | Link::Then);
    let mut found = Vec::new();
    for three in keywords.chunks(3) {
        let [start, opens, ends] = three else { return None };
        let shape = start.text == "for" && opens.text == "do" && ends.text == "done";
        let body = opens.commands..ends.commands;
        let [name, inside, words @ ..] = start.header.as_slice() else { return None };
        let first = commands.get(body.start)?;
        let last = commands.get(body.end.checked_sub(1)?)?;
        // Behind `&&` or a pipe a loop is one command, which its commands in a row are not.
        let alone = stands_alone(start.before) && stands_alone(first.before) && last.after == Link::Then;
        let plain = !name.quoted && is_loop_name(&name.text) && !inside.quoted && inside.text == "in";
        if !shape || start.commands != body.start || body.is_empty() || !alone || !plain {
            return None;
        }
        if words.is_empty() || !words.iter().all(is_plain) {
            return None;
        }
        let words = words.iter().map(|word| word.text.clone()).collect();
        found.push(Loop { name: name.text.clone(), words, body });
    }
    Some(found)
}

fn is_loop_name(name: &str) -> bool {
    let lower = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    lower && is_name(name) && !name.ends_with("_proxy") && !SPECIAL_NAMES.contains(&name)
}

/// True for a word that every shell takes as it is, also where it replaces a variable without quotes.
fn is_plain(word: &Word) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/@%+,-".contains(&byte);
    !word.text.is_empty() && word.text.bytes().all(plain)
}

fn is_variable(word: &Word, place: &Range<usize>, name: &str) -> bool {
    let variable = word.text.get(place.clone()).and_then(|text| text.strip_prefix('$')).unwrap_or_default();
    variable == name || variable.strip_prefix('{').and_then(|inside| inside.strip_suffix('}')) == Some(name)
}

/// Replaces the variables of a word.
fn in_place(word: &Word, value: &str) -> Word {
    let mut text = String::with_capacity(word.text.len() + value.len());
    let mut from = 0;
    for place in &word.variables {
        text.push_str(word.text.get(from..place.start).unwrap_or_default());
        text.push_str(value);
        from = place.end;
    }
    text.push_str(word.text.get(from..).unwrap_or_default());
    Word { text, variables: Vec::new(), ..word.clone() }
}
