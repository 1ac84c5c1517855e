//! `ip`, `bridge` and `tc`: an object, then what to do with it.

use crate::policy::{Entry, Refusal};

/// Accepts an object that may be shown, shortened as the program itself allows, and nothing, `show` or `get` behind it.
pub(super) fn check(entry: &Entry, operands: &[&str]) -> Result<(), Refusal> {
    let Some((object, rest)) = operands.split_first() else { return Err(Refusal::missing("an object")) };
    // The first object that begins like the word is the one that the program takes.
    let plain = |name: &String| match name.strip_prefix('!') {
        Some(name) => (name.to_owned(), false),
        None => (name.clone(), true),
    };
    let found =
        entry.objects.iter().map(plain).find(|(name, _)| !object.is_empty() && name.starts_with(object));
    let Some((name, true)) = found else { return Err(Refusal::operand(object)) };
    if let Some(word) = rest.iter().find(|word| word.starts_with('-')) {
        return Err(Refusal::option(word));
    }
    let Some(&word) = rest.first() else { return Ok(()) };
    let verbs = entry.verbs.get(&name).map_or(&[][..], Vec::as_slice);
    match verbs.iter().find(|verb| !word.is_empty() && verb.starts_with(word)).map(String::as_str) {
        Some("show" | "list" | "lst") => Ok(()),
        Some("get") if entry.gets.contains(&name) => Ok(()),
        _ => Err(Refusal::operand(word)),
    }
}
