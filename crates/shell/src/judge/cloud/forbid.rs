//! What `az` never does here: print a secret, destroy whole resources.

use super::line::{Given, Line, is_below};
use super::read::is_help;
use crate::policy::{Cloud, DestroyOption, SecretOption, shorten};

/// The rule that forbids a command, and why.
pub(in crate::judge) type Forbids = (&'static str, String);

/// Says why a command never runs, if it does not.
pub(in crate::judge) fn forbidden(words: &[&str], table: &Cloud) -> Option<Forbids> {
    if is_help(words) {
        return None;
    }
    Line::readings(words, table).iter().find_map(|line| {
        let path = line.folded();
        let options = Given::all(line.rest);
        let named = || shorten(&path.join(" "));
        if destroys(&path, &options, table) {
            return Some(("block.destroy.cloud", format!("`az {}` destroys whole resources", named())));
        }
        let secret = path_prints(&path, table)
            || option_prints(&path, words, table)
            || address_prints(&path, &options, line.rest, table);
        secret.then(|| ("block.secret.cloud", format!("`az {}` prints a secret", named())))
    })
}

fn has(list: &[String], word: &str) -> bool {
    list.iter().any(|known| known == word)
}

fn destroys(path: &[String], options: &[Given<'_>], table: &Cloud) -> bool {
    let table = &table.destroy;
    let whole = |at: usize| {
        let group = path.get(..at).unwrap_or_default();
        let is = |known: &String| group.iter().map(String::as_str).eq(known.split(' '));
        let thing =
            || group.last().is_some_and(|word| has(&table.things, word)) && !table.parts.iter().any(is);
        path.get(at).is_some_and(|verb| has(&table.verbs, verb)) && (thing() || table.groups.iter().any(is))
    };
    let below = |group: &String| is_below(path, group) && path.iter().any(|word| has(&table.verbs, word));
    let holds = |word: &String| path.contains(word);
    let with = |option: &DestroyOption| {
        let gives = |given: &&Given<'_>| {
            given.may_be(&option.option) || option.short.as_deref().is_some_and(|short| short == given.name)
        };
        let destroys =
            |value: &str| option.values.iter().any(|known| value.trim().eq_ignore_ascii_case(known));
        option.words.iter().all(holds)
            && options
                .iter()
                .filter(gives)
                .any(|given| option.values.is_empty() || given.values().any(destroys))
    };
    (0..path.len()).any(whole)
        || table.below.iter().any(below)
        || table.commands.iter().any(|command| is_below(path, command))
        || table.with.iter().any(with)
}

/// Tells whether the path names a command whose output is a secret. Further words may stand behind it to hide it.
fn path_prints(path: &[String], table: &Cloud) -> bool {
    let table = &table.secret;
    let verb = |word: &String| {
        let begins = table.verb_begins.iter().filter_map(|begin| word.strip_prefix(begin.as_str()));
        has(&table.verbs, word)
            || table.verb_prefixes.iter().any(|prefix| word.starts_with(prefix.as_str()))
            || begins.into_iter().any(|rest| table.verb_ends.iter().any(|end| rest.ends_with(end.as_str())))
    };
    let in_group = |pair: &[String]| matches!(pair, [group, verb] if has(&table.groups, group) && has(&table.group_verbs, verb));
    path.iter().any(verb)
        || (!is_below(path, &table.but) && path.windows(2).any(in_group))
        || table.commands.iter().any(|command| is_below(path, command))
}

/// Tells whether an option makes the command print a secret, shortened or not.
fn option_prints(path: &[String], words: &[&str], table: &Cloud) -> bool {
    const SHORTEST: usize = "--sdk".len();
    let options = Given::all(words.get(1..).unwrap_or_default());
    let own = |given: &Given<'_>| {
        let narrow = table.narrow.iter().find(|narrow| narrow.option == given.name);
        narrow.map_or_else(
            || has(&table.options, given.name),
            |narrow| narrow.below.iter().any(|command| is_below(path, command)),
        )
    };
    let shortened = |given: &Given<'_>, option: &str| {
        option == given.name.to_ascii_lowercase()
            || (given.name.len() >= SHORTEST && given.may_be(option) && !own(given))
    };
    let by_letter = |given: &Given<'_>, only: &SecretOption| {
        let letters = given.word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| {
            letters.trim_start_matches(|letter| only.flags.contains(letter)).starts_with(only.short)
        })
    };
    options.iter().any(|given| {
        table.secret.options.iter().any(|option| shortened(given, option))
            || table.secret.only.iter().any(|only| {
                is_below(path, &only.command) && (given.may_be(&only.option) || by_letter(given, only))
            })
    })
}

/// Tells whether a command asks the management API itself for a secret.
fn address_prints(path: &[String], options: &[Given<'_>], rest: &[&str], table: &Cloud) -> bool {
    let table_of = &table.secret;
    let acts = |word: &str| {
        let action = last_part(word);
        has(&table_of.actions, &action)
            || table_of.action_begins.iter().any(|begin| {
                action
                    .strip_prefix(begin.as_str())
                    .is_some_and(|rest| table_of.action_holds.iter().any(|part| rest.contains(part.as_str())))
            })
    };
    let is_kind = |value: &str| {
        let last = last_part(value);
        table_of.types.iter().any(|kind| last.ends_with(kind.as_str()))
    };
    if is_below(path, "rest") {
        return rest.iter().any(|word| acts(word) || word.split('=').any(acts))
            || options
                .iter()
                .filter(|given| !given.name.starts_with("--"))
                .any(|given| given.values().any(acts));
    }
    if is_below(path, "resource invoke-action") {
        return options.iter().any(|given| given.may_be("--action") && given.values().any(acts));
    }
    is_below(path, "resource show")
        && options.iter().any(|given| {
            (given.may_be("--ids") || given.may_be("--resource-type")) && given.values().any(is_kind)
        })
}

/// Returns the last part of a URL's path, decoded and in lower case.
fn last_part(word: &str) -> String {
    let mut text = word.to_owned();
    loop {
        let decoded = decode(&text);
        if decoded == text {
            break;
        }
        text = decoded;
    }
    let path = text.split(['?', '#', ';']).next().unwrap_or_default().to_ascii_lowercase();
    let mut parts = path.rsplit(['/', '\\']).map(str::trim);
    parts.find(|part| !matches!(*part, "" | ".")).unwrap_or_default().to_owned()
}

fn decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (byte == b'%').then(|| (digit(ahead.next()), digit(ahead.next()))) {
            Some((Some(high), Some(low))) => {
                out.extend(u8::try_from(high * 16 + low));
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
