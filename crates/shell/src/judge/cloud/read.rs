//! What an `az` command may be to run at once: a path that only reads, with options that only select and print.

use super::line::{Given, Line, is_below};
use super::{address, flow_log, guest, nameless, rest};
use crate::judge::allow::Allowed;
use crate::policy::{Cloud, Policy, Refusal, shorten};

/// Judges an `az` command against the tables.
pub(in crate::judge) fn judge(policy: &Policy, words: &[&str]) -> Result<Allowed, Refusal> {
    let table = &policy.cloud;
    if matches!(words, [_, "--version"]) {
        return Ok(Allowed::cloud("cloud.version", "shows versions"));
    }
    if is_help(words) {
        return Ok(Allowed::cloud("cloud.help", "explains a command"));
    }
    let line = Line::read(words, table);
    if line.path.is_empty() {
        return Err(Refusal::new("path", "an az command is missing"));
    }
    if let Some(carrier) = table.scripts.iter().find(|carrier| line.path == carrier.path) {
        return guest::judge(policy, carrier, &line);
    }
    if line.path == ["storage", "blob", "download"] {
        if flow_log::is_meant(&policy.cloud, &line) {
            return flow_log::judge(&policy.cloud, &line);
        }
        return judge_download(policy, &line);
    }
    if line.path == ["rest"] {
        return rest::judge(table, &line);
    }
    let path = line.path.join(" ");
    let core = table.may_read(&line.path) && table.core.has(&line.path);
    if !core && !table.extensions.has(&line.path) {
        let what = format!("`az {}` is not on the list of commands that only read", shorten(&path));
        return Err(Refusal::new("verb", what));
    }
    if let Some(why) = table.asks_although.get(&path) {
        return Err(Refusal::new("verb", format!("`az {}` {why}", shorten(&path))));
    }
    let mut options = Given::all(line.front);
    options.extend(Given::all(line.rest));
    options.iter().try_for_each(|given| check_option(given, &line, table))?;
    // With a value it may say the opposite.
    let lacks =
        |option: &str| !options.iter().any(|given| given.name == option && given.values().next().is_none());
    if let Some((_, beside)) =
        table.asks_without.iter().find(|(option, own)| own.commands.contains(&path) && lacks(option))
    {
        return Err(Refusal::new("verb", format!("`az {}` {}", shorten(&path), beside.why)));
    }
    check_resource(&line, &options, table)?;
    nameless::check(&line, &options, table)?;
    address::check(&line, &options, table)?;
    address::check_query(&line, &options, table)?;
    Ok(Allowed::cloud("cloud.read", "reads the state of the cloud"))
}

/// Tells whether a command is asked for its help and for nothing else.
pub(super) fn is_help(words: &[&str]) -> bool {
    let Some((last, before)) = words.split_last() else { return false };
    let plain = |word: &&str| {
        word.starts_with(|first: char| first.is_ascii_lowercase())
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_'))
    };
    matches!(*last, "--help" | "-h") && !before.is_empty() && before.iter().skip(1).all(plain)
}

/// Refuses an option that is not known to select and print alone, and a value that `az` takes from a file.
fn check_option(given: &Given<'_>, line: &Line<'_, '_>, table: &Cloud) -> Result<(), Refusal> {
    let narrow = table.narrow.iter().find(|narrow| narrow.option == given.name);
    let open = narrow.map_or_else(
        || table.options.iter().any(|option| option == given.name),
        |narrow| narrow.below.iter().any(|command| is_below(&line.path, command)),
    );
    let long = given.name.starts_with("--");
    let attached =
        long || given.attached.is_none() || table.attached.iter().any(|option| option == given.name);
    if !open || !attached {
        return Err(Refusal::option(given.word));
    }
    check_values(given)
}

/// Refuses what `az` reads from a file, wherever it stands in an argument.
pub(super) fn check_values(given: &Given<'_>) -> Result<(), Refusal> {
    let from_file = |word: &str| word.starts_with('@') || word.contains("=@");
    if from_file(given.word) || given.values().any(from_file) {
        let word = given.values().find(|value| from_file(value)).unwrap_or(given.word);
        return Err(Refusal::new("file", format!("`{}` reads a local file", shorten(word))));
    }
    if given.word.contains('\n') || given.values().any(|value| value.contains('\n')) {
        return Err(Refusal::new("value", "a value goes over more than one line"));
    }
    Ok(())
}

/// Refuses a look at one resource of a kind that is a secret; where the kind itself ends the id, it never runs.
fn check_resource(line: &Line<'_, '_>, options: &[Given<'_>], table: &Cloud) -> Result<(), Refusal> {
    if line.path != ["resource", "show"] {
        return Ok(());
    }
    let is_secret = |value: &&str| {
        value.to_ascii_lowercase().split('/').any(|part| table.secret.types.iter().any(|kind| kind == part))
    };
    let ids = options.iter().filter(|given| matches!(given.name, "--ids" | "--resource-type" | "--parent"));
    ids.flat_map(Given::values)
        .find(is_secret)
        .map_or(Ok(()), |value| Err(Refusal::value("resource show", value)))
}

fn judge_download(policy: &Policy, line: &Line<'_, '_>) -> Result<Allowed, Refusal> {
    let table = &policy.cloud;
    let options = Given::all(line.rest);
    let (mut file, mut login) = (false, false);
    for given in &options {
        let attached = given.name.starts_with("--") || given.attached.is_none();
        if !attached || !table.download_options.iter().any(|option| option == given.name) {
            return Err(Refusal::option(given.word));
        }
        check_values(given)?;
        let values: Vec<&str> = given.values().collect();
        match given.name {
            // The last one counts for az, so all of them have to be right.
            "--auth-mode" => match values.as_slice() {
                ["login"] => login = true,
                _ => return Err(Refusal::value(given.name, given.word)),
            },
            "--file" | "-f" => match values.as_slice() {
                [value] if policy.files.is_capture(value) => file = true,
                _ => {
                    return Err(Refusal::value(given.name, values.first().copied().unwrap_or_default()));
                }
            },
            _ => {}
        }
    }
    address::check(line, &options, table)?;
    match (file, login) {
        (true, true) => Ok(Allowed {
            captures: true,
            ..Allowed::cloud("cloud.download", "downloads a capture into the captures folder")
        }),
        (false, _) => Err(Refusal::missing("--file")),
        (true, false) => Err(Refusal::missing("--auth-mode login")),
    }
}
