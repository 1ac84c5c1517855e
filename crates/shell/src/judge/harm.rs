//! What a program would harm, for the rules of tier 0 that a list of words cannot express.

use super::cluster;
use super::path::{PathContext, is_device, is_protected};
use crate::policy::{CommandPattern, Harm, Rule, Step};

/// Returns true if a rule's words and its check hold for a program, given by its last path part in lower case, and its arguments.
pub(super) fn applies(rule: &Rule, program: &str, arguments: &[&str], context: PathContext<'_>) -> bool {
    rule.commands.iter().any(|command| is_named(command, program) && is_given(command, arguments))
        && rule.check.is_none_or(|check| harms(check, arguments, context))
}

fn is_named(command: &CommandPattern, program: &str) -> bool {
    command.programs.iter().any(|name| match name.strip_suffix('*') {
        Some(stem) => program.starts_with(stem),
        None => name == program,
    })
}

fn is_given(command: &CommandPattern, arguments: &[&str]) -> bool {
    let holds = |texts: &Vec<String>| {
        let folded = arguments.iter().map(|word| word.to_ascii_lowercase()).collect::<Vec<_>>();
        texts.iter().any(|text| folded.iter().any(|word| word.contains(text.as_str())))
    };
    command.options.iter().all(|options| has_option(arguments, options))
        && leads(&command.steps, arguments)
        && command.texts.iter().all(holds)
}

/// Returns true if the steps lead the operands. Behind an option a word may be its value or an operand, so both readings are tried.
fn leads(steps: &[Step], arguments: &[&str]) -> bool {
    // Bit `n` is set when the first `n` steps can be matched so far.
    let mut reached = 1_u64;
    let mut is_value = false;
    for &word in arguments {
        if word.len() > 1 && word.starts_with('-') {
            is_value = word != "--" && !word.contains('=');
            continue;
        }
        let mut next = 0;
        for (at, step) in steps.iter().enumerate().filter(|(at, _)| reached & (1 << at) != 0) {
            if is_value || step.gap {
                next |= 1 << at;
            }
            if step.words.is_empty() || step.words.iter().any(|known| fits(known, word)) {
                next |= 1 << (at + 1);
            }
        }
        reached = next | (reached & (1 << steps.len()));
        is_value = false;
    }
    reached & (1 << steps.len()) != 0
}

fn fits(pattern: &str, word: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(stem) => word.get(..stem.len()).is_some_and(|front| front.eq_ignore_ascii_case(stem)),
        // Verbs such as `luksFormat` are matched in any case, single letters and digits exactly.
        None if pattern.len() > 1 => pattern.eq_ignore_ascii_case(word),
        None => pattern == word,
    }
}

/// Lists the words that may be the first so many operands: behind an option a word may be its value or an operand.
pub(super) fn leading<'w>(arguments: &[&'w str], most: usize) -> Vec<&'w str> {
    let mut found = Vec::new();
    let (mut certain, mut open) = (0, false);
    for &word in arguments {
        if word.len() > 1 && word.starts_with('-') {
            open = word != "--" && !word.contains('=');
            continue;
        }
        found.push(word);
        certain += usize::from(!open);
        open = false;
        if certain >= most {
            break;
        }
    }
    found
}

fn harms(check: Harm, arguments: &[&str], context: PathContext<'_>) -> bool {
    let protected = |word: &&str| is_protected(word, context);
    let device = |word: &&str| is_device(word, context);
    match check {
        Harm::RemoveTree => {
            has_option(arguments, &["-r", "-R", "--recursive"])
                && operands(arguments).any(|word| protected(&word))
        }
        Harm::ChangeTree => {
            has_option(arguments, &["-R", "--recursive"]) && operands(arguments).any(|word| protected(&word))
        }
        Harm::FindDelete => finds_from_protected(arguments, context) && arguments.contains(&"-delete"),
        Harm::MoveTree => {
            let targeted = has_option(arguments, &["-t", "--target-directory"]);
            let all: Vec<&str> = operands(arguments).collect();
            let sources = if targeted {
                all.as_slice()
            } else {
                all.split_last().map_or(&[][..], |(_, sources)| sources)
            };
            sources.iter().any(protected)
        }
        Harm::WriteTree => operands(arguments).last().is_some_and(|path| is_protected(path, context)),
        Harm::WriteOf => {
            arguments.iter().filter_map(|word| word.strip_prefix("of=")).any(|path| is_device(path, context))
        }
        Harm::WriteLast => {
            let target =
                option_value(arguments, "-t", "--target-directory").or_else(|| operands(arguments).last());
            target.is_some_and(|path| is_device(path, context))
        }
        Harm::WriteAny => operands(arguments).any(|word| device(&word)),
        Harm::KillAll => kills_all(arguments),
        Harm::EnvAlone => env_alone(arguments),
        Harm::ProcessEnvironment => shows_environment(arguments),
        Harm::PowerUnit => operands(arguments).any(|word| is_power_unit(word, context)),
        Harm::SecretShown => cluster::shows_secret(arguments),
        Harm::ClusterDeleted => cluster::deletes_whole(arguments),
    }
}

/// Tells whether a unit turns the machine off, restarts it, or takes it down to one user: `systemd-NAME.service`, `NAME.target`.
fn is_power_unit(unit: &str, context: PathContext<'_>) -> bool {
    let unit = unit.to_ascii_lowercase();
    let name = [".service", ".target"].iter().find_map(|ending| unit.strip_suffix(ending)).unwrap_or(&unit);
    let name = name.strip_prefix("systemd-").unwrap_or(name);
    context.block.power_units.iter().any(|power| power == name)
}

/// Tells whether `ps` shows the environment of processes: an `e` among the letters that stand without a dash.
fn shows_environment(arguments: &[&str]) -> bool {
    const VALUED: [&str; 19] = [
        "-C",
        "-G",
        "-g",
        "-o",
        "-O",
        "-p",
        "-q",
        "-s",
        "-t",
        "-u",
        "-U",
        "-k",
        "-n",
        "-N",
        "--cols",
        "--columns",
        "--rows",
        "--lines",
        "--width",
    ];
    const VALUED_LONG: [&str; 11] = [
        "--format",
        "--sort",
        "--pid",
        "--ppid",
        "--quick-pid",
        "--user",
        "--User",
        "--group",
        "--Group",
        "--tty",
        "--sid",
    ];
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        if VALUED_LONG.contains(&word) || (VALUED.contains(&word) && word != "-N") {
            words.next();
        } else if word.starts_with("--") {
        } else if let Some(letters) = word.strip_prefix('-') {
            // `-aux` is read as `aux` where nobody is called `x`.
            let old = letters.bytes().all(|letter| b"aAcefhjlmrsSTuvwxXZ".contains(&letter));
            let user = letters.find('u').and_then(|at| letters.get(at..)).unwrap_or_default();
            if old && user.contains('e') {
                return true;
            }
            if letters.len() > 1 && letters.ends_with(['C', 'o', 'O', 'p', 'q', 's', 't', 'U', 'g', 'G', 'k'])
            {
                words.next();
            }
        } else {
            let flags = word.find(['o', 'O', 'p', 'q', 't', 'U', 'k']);
            if word.get(..flags.unwrap_or(word.len())).is_some_and(|flags| flags.contains('e')) {
                return !word.starts_with(|first: char| first.is_ascii_digit());
            }
            if flags.is_some_and(|at| at + 1 == word.len()) {
                words.next();
            }
        }
    }
    false
}

/// Tells whether `find` starts at a protected path.
pub(super) fn finds_from_protected(arguments: &[&str], context: PathContext<'_>) -> bool {
    let mut rest = arguments;
    loop {
        rest = match rest {
            ["-D", _, behind @ ..] | ["-H" | "-L" | "-P" | "--", behind @ ..] => behind,
            [level, behind @ ..] if level.starts_with("-O") => behind,
            _ => break,
        };
    }
    let mut from = rest.iter().take_while(|word| !word.starts_with(['-', '(', '!'])).peekable();
    // Without a place it starts where it is.
    let here = from.peek().is_none() && !context.place.is_empty();
    (here && is_protected(".", context)) || from.any(|word| is_protected(word, context))
}

/// Lists the words that are no options.
pub(super) fn operands<'w>(arguments: &[&'w str]) -> impl Iterator<Item = &'w str> {
    let mut ended = false;
    arguments.iter().copied().filter(move |word| {
        let ends = !ended && *word == "--";
        ended |= ends;
        !ends && (ended || !word.starts_with('-') || *word == "-")
    })
}

/// Tells whether one of some options is given: alone, in a bundle, with a value, or shortened.
pub(super) fn has_option<S: AsRef<str>>(arguments: &[&str], options: &[S]) -> bool {
    let given = arguments
        .iter()
        .take_while(|word| **word != "--")
        .filter(|word| word.len() > 1 && word.starts_with('-'));
    given.into_iter().any(|word| {
        let name = word.split('=').next().unwrap_or(word);
        options.iter().map(AsRef::as_ref).any(|option| {
            match (option.strip_prefix("--"), name.strip_prefix("--")) {
                (Some(option), Some(name)) => match option.strip_suffix('*') {
                    Some(stem) => !name.is_empty() && (name.starts_with(stem) || stem.starts_with(name)),
                    None => !name.is_empty() && option.starts_with(name),
                },
                (None, None) => option
                    .strip_prefix('-')
                    .is_some_and(|letter| word.get(1..).is_some_and(|bundle| bundle.contains(letter))),
                _ => false,
            }
        })
    })
}

/// Lists the values of an option, attached or in the next word, also at the end of a bundle.
pub(super) fn option_values<'w>(arguments: &[&'w str], short: &str, long: &str) -> Vec<&'w str> {
    let letter = short.trim_start_matches('-');
    let mut found = Vec::new();
    let mut words = arguments.iter().copied().peekable();
    while let Some(word) = words.next() {
        if let Some(rest) = word.strip_prefix(long) {
            found
                .extend(rest.strip_prefix('=').or_else(|| words.peek().copied().filter(|_| rest.is_empty())));
        } else if let Some(bundle) = word.strip_prefix('-').filter(|bundle| !bundle.starts_with('-'))
            && let Some((_, value)) = bundle.split_once(letter)
        {
            found.extend(if value.is_empty() { words.peek().copied() } else { Some(value) });
        }
    }
    found
}

fn option_value<'w>(arguments: &[&'w str], short: &str, long: &str) -> Option<&'w str> {
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        if word == short || word == long {
            return words.next();
        }
        let attached = word
            .strip_prefix(long)
            .and_then(|rest| rest.strip_prefix('='))
            .or_else(|| word.strip_prefix(short));
        if attached.is_some_and(|value| !value.is_empty() && !value.starts_with('-')) {
            return attached;
        }
    }
    None
}

/// Tells whether `kill` reaches process 1 or every process. The first word with a dash is the signal.
fn kills_all(arguments: &[&str]) -> bool {
    let mut words = arguments.iter().copied().peekable();
    match words.peek().copied() {
        Some("--") => {}
        Some("-s" | "-n" | "--signal") => {
            words.next();
            words.next();
        }
        Some("-l" | "-L" | "--list" | "--table") => return false,
        Some(first) if first.starts_with('-') => {
            words.next();
        }
        _ => {}
    }
    words
        .filter(|word| *word != "--")
        .any(|word| word.parse::<i64>().is_ok_and(|process| matches!(process, 1 | -1)))
}

/// Tells whether `env` has nothing to run and so prints everything.
fn env_alone(arguments: &[&str]) -> bool {
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--" | "-" | "-i" | "--ignore-environment" | "-0" | "--null" | "-v" | "--debug" => {}
            "-u" | "--unset" | "-C" | "--chdir" | "-a" | "--argv0" => {
                words.next();
            }
            "-S" | "--split-string" => return false,
            word if word.starts_with("-S") || word.starts_with("--split-string") => return false,
            word if word.starts_with('-') || word.split_once('=').is_some() => {}
            _ => return false,
        }
    }
    true
}
