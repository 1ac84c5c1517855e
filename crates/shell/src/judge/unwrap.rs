//! Finding the command inside a command.

use super::path::base;
use crate::policy::{Policy, Wrapper};

/// What a wrapper runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inner<'a, 'w> {
    /// These words.
    Words(&'a [&'w str]),
    /// A text that a shell reads.
    Text(String),
    /// Options of which more readings exist than are judged.
    Unclear,
}

/// How many readings of one command's options are judged. Nobody who means well comes near.
const MAX_READINGS: usize = 32;

/// Lists everything that a command might run in turn. Where its options leave two readings, both are listed.
pub(super) fn inner<'a, 'w>(policy: &Policy, words: &'a [&'w str]) -> Vec<Inner<'a, 'w>> {
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let name = base(program).to_ascii_lowercase();
    let mut found = Vec::new();
    for wrapper in policy.wrappers().iter().filter(|wrapper| wrapper.names.contains(&name)) {
        if !wrapper.exec_options.is_empty() {
            exec_clauses(wrapper, arguments, &mut found);
            continue;
        }
        let start = match wrapper.after.is_empty() {
            true => Some(0),
            false => arguments
                .iter()
                .position(|word| wrapper.after.iter().any(|verb| verb == word))
                .map(|at| at + 1),
        };
        if let Some(rest) = start.and_then(|start| arguments.get(start..)) {
            let before = arguments.len() - rest.len();
            let whole_network =
                name == "ip" && arguments.iter().take(before).any(|word| matches!(*word, "-a" | "-all"));
            let skip = if whole_network { 0 } else { wrapper.skip };
            walk(wrapper, rest, skip, &mut found);
        }
    }
    found
}

fn exec_clauses<'a, 'w>(wrapper: &Wrapper, arguments: &'a [&'w str], found: &mut Vec<Inner<'a, 'w>>) {
    let mut rest = arguments;
    while let Some(at) = rest.iter().position(|word| wrapper.exec_options.iter().any(|option| option == word))
    {
        rest = rest.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|word| matches!(*word, ";" | "+")).unwrap_or(rest.len());
        found.push(Inner::Words(rest.get(..end).unwrap_or_default()));
        rest = rest.get(end..).unwrap_or_default();
    }
}

fn walk<'a, 'w>(
    wrapper: &Wrapper,
    arguments: &'a [&'w str],
    mut skip: usize,
    found: &mut Vec<Inner<'a, 'w>>,
) {
    let mut at = 0;
    let mut script = false;
    while let Some(&word) = arguments.get(at) {
        if found.len() > MAX_READINGS {
            found.push(Inner::Unclear);
            return;
        }
        let next = arguments.get(at + 1).copied();
        let (name, attached) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if word == "--" {
            at += 1;
            if !wrapper.after.is_empty() {
                // `kubectl exec pod -- COMMAND`: the name stood before.
                skip = 0;
            }
            if let Some(rest) = arguments.get(at + skip..) {
                push(wrapper, rest, script, found);
            }
            return;
        }
        let is_option =
            word.len() > 1 && (word.starts_with('-') || (word.starts_with('+') && wrapper.text_is_operand));
        if !is_option {
            if wrapper.duration && word.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
                at += 1;
                continue;
            }
            if skip > 0 {
                skip -= 1;
                at += 1;
                continue;
            }
            push(wrapper, arguments.get(at..).unwrap_or_default(), script, found);
            return;
        }
        at += 1;
        if wrapper.text.iter().any(|option| is_given(option, name)) {
            if wrapper.text_is_operand {
                script = true;
            } else if let Some(text) = attached.or_else(|| attached_to_letter(wrapper, word)).or(next) {
                found.push(Inner::Text(text.to_owned()));
                at += usize::from(Some(text) == next && attached.is_none());
            }
        } else if wrapper.text_after_equals.iter().any(|option| word.starts_with(option.as_str())) {
            let value = word.get(2..).filter(|rest| !rest.is_empty()).or(next).unwrap_or_default();
            found.extend(value.split_once(['=', ' ']).map(|(_, text)| Inner::Text(text.to_owned())));
            at += usize::from(word.len() == 2);
        } else if wrapper.maybe.iter().any(|option| option == word) {
            // With and without a value: the second reading is judged here, the first goes on.
            if let Some(rest) = arguments.get(at + skip..) {
                push(wrapper, rest, script, found);
            }
            at += 1;
        } else if wrapper.values.iter().any(|option| option == word)
            || (attached.is_none() && takes_next(wrapper, word))
        {
            at += 1;
        } else if attached.is_none() && word.starts_with("--") && !wrapper.values.is_empty() {
            // An unknown long option may or may not take the next word.
            if let Some(rest) =
                arguments.get(at + 1 + skip..).filter(|_| next.is_some_and(|next| !next.starts_with('-')))
            {
                push(wrapper, rest, script, found);
            }
        }
    }
}

fn push<'a, 'w>(wrapper: &Wrapper, rest: &'a [&'w str], script: bool, found: &mut Vec<Inner<'a, 'w>>) {
    let Some(first) = rest.first() else { return };
    if wrapper.text_is_operand {
        // Without `-c` the first operand of a shell is a file.
        found.extend(script.then(|| Inner::Text((*first).to_owned())));
    } else if wrapper.first_is_text {
        found.push(Inner::Text((*first).to_owned()));
    } else if wrapper.joined {
        found.push(Inner::Words(rest));
        if rest.iter().any(|word| {
            word.contains(|char: char| char.is_whitespace() || "$`;&|<>(){}\"'\\#".contains(char))
        }) {
            found.push(Inner::Text(rest.join(" ")));
        }
    } else {
        found.push(Inner::Words(rest));
        if wrapper.text.is_empty() {
            return;
        }
        // `flock FILE -c TEXT`, `su - root -c TEXT`: the script option may stand behind the operands.
        let behind = rest.windows(2).filter_map(|pair| match pair {
            [option, text] if wrapper.text.iter().any(|script| script == option) => {
                Some(Inner::Text((*text).to_owned()))
            }
            _ => None,
        });
        found.extend(behind);
    }
}

/// Tells whether an option is given: exactly, shortened, or as the last letter of a bundle.
fn is_given(option: &str, name: &str) -> bool {
    match (option.strip_prefix("--"), name.strip_prefix("--")) {
        (Some(option), Some(name)) => !name.is_empty() && option.starts_with(name),
        (None, None) => option
            .strip_prefix('-')
            .is_some_and(|letter| name.get(1..).is_some_and(|bundle| bundle.contains(letter))),
        _ => false,
    }
}

fn attached_to_letter<'w>(wrapper: &Wrapper, word: &'w str) -> Option<&'w str> {
    let letter =
        wrapper.text.iter().filter_map(|option| option.strip_prefix('-')).find(|letter| letter.len() == 1)?;
    let bundle = word.strip_prefix('-').filter(|bundle| !bundle.starts_with('-'))?;
    bundle.split_once(letter).map(|(_, rest)| rest).filter(|rest| !rest.is_empty())
}

/// Tells whether the last letter of a bundle takes the next word (`sudo -nu root`).
fn takes_next(wrapper: &Wrapper, word: &str) -> bool {
    let Some(bundle) = word.strip_prefix('-').filter(|bundle| bundle.len() > 1 && !bundle.starts_with('-'))
    else {
        return false;
    };
    // A value attached to an earlier letter would swallow the last one: then nothing more is taken.
    let takes = |letter: char| {
        wrapper
            .values
            .iter()
            .any(|option| option.strip_prefix('-').is_some_and(|o| o.len() == 1 && o.starts_with(letter)))
    };
    let mut letters = bundle.chars();
    let last = letters.next_back();
    !letters.any(takes) && last.is_some_and(takes)
}
