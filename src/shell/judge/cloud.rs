//! The `az` command line: the command path from the left, then the options.

use super::allow::Allowed;
use super::path::base;
use super::remote;
use crate::shell::policy::{Carrier, Cloud, Policy, Refusal, brief};

/// The words of one `az` command, sorted.
struct Line<'a, 'w> {
    /// The command path: the words before the first option, global options in front left out.
    path: Vec<&'w str>,
    /// Everything behind the path.
    rest: &'a [&'w str],
}

impl<'a, 'w> Line<'a, 'w> {
    fn read(words: &'a [&'w str], table: &Cloud) -> Self {
        let mut at = 1;
        while let Some(&word) = words.get(at) {
            let name = word.split('=').next().unwrap_or(word);
            if table.globals.iter().any(|option| option == name) {
                at += if word.contains('=') { 1 } else { 2 };
            } else if table.global_flags.iter().any(|option| option == name) {
                at += 1;
            } else {
                break;
            }
        }
        let rest = words.get(at..).unwrap_or_default();
        let length = rest.iter().position(|word| word.starts_with('-')).unwrap_or(rest.len());
        let (path, rest) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        Self { path: path.to_vec(), rest }
    }

    /// Returns the path as `az` reads it, which is not particular about case.
    fn folded(&self) -> Vec<String> {
        self.path.iter().map(|word| word.to_ascii_lowercase()).collect()
    }
}

/// Says why the output of a command is a secret, if it is one.
pub(super) fn prints_secret(words: &[&str], table: &Cloud) -> Option<String> {
    let line = Line::read(words, table);
    let path = line.folded();
    let last = path.last()?;
    let group = path.iter().rev().nth(1);
    let reason = || Some(format!("`az {}` prints a secret", brief(&path.join(" "))));
    let in_vault = path.first().is_some_and(|first| first == "keyvault");
    if table.secret_verbs.contains(last) {
        return reason();
    }
    if !in_vault
        && table.secret_group_verbs.contains(last)
        && group.is_some_and(|group| table.secret_groups.contains(group))
    {
        return reason();
    }
    if table.secret_commands.iter().any(|command| path.ends_with(command)) {
        return reason();
    }
    // The verb may stand before further words that are meant to hide it.
    let hidden = path.iter().any(|word| table.secret_verbs.contains(word))
        || table.secret_commands.iter().any(|command| path.starts_with(command));
    if hidden {
        return reason();
    }
    if path.first().is_some_and(|first| first == "acr")
        && line.rest.iter().any(|word| is_short_for(word, "--expose-token"))
    {
        return reason();
    }
    let keys = |word: &&str| {
        let url =
            word.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/').to_ascii_lowercase();
        let url = url.rsplit('/').next().unwrap_or_default().replace("%6c", "l").replace("%6b", "k");
        table.secret_urls.contains(&url)
    };
    (path.first().is_some_and(|first| first == "rest")
        && words.iter().any(|word| keys(word) || word.split('=').any(|part| keys(&part))))
    .then(|| "`az rest` to an address that lists keys prints a secret".to_owned())
}

/// Tells whether an option is another one, shortened or not.
fn is_short_for(word: &str, option: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    name.len() > 2 && option.starts_with(name)
}

/// Returns every script that a command would run elsewhere, for the hunt.
pub(super) fn scripts(words: &[&str], table: &Cloud) -> Vec<String> {
    let line = Line::read(words, table);
    let path = line.folded();
    let mut found = Vec::new();
    if path.first().is_some_and(|first| first == "ssh") {
        let behind = line.rest.iter().position(|word| *word == "--").and_then(|at| line.rest.get(at + 1..));
        found.extend(behind.map(|words| words.join(" ")));
    }
    for carrier in table.scripts.iter().filter(|carrier| path.starts_with(&carrier.path)) {
        found.push(values(carrier, line.rest).join("\n"));
    }
    found
}

fn values<'w>(carrier: &Carrier, rest: &[&'w str]) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut taking = false;
    for &word in rest {
        if let Some(short) =
            carrier.short.as_deref().filter(|short| word.starts_with(short) && !word.starts_with("--"))
        {
            taking = true;
            found.extend(word.strip_prefix(short).filter(|attached| !attached.is_empty()));
        } else if word.starts_with("--") && word.len() > 2 && is_short_for(word, &carrier.option) {
            taking = true;
            found.extend(word.split_once('=').map(|(_, attached)| attached));
        } else if taking && word.starts_with('-') && !word.contains(' ') {
            taking = false;
        } else if taking {
            found.push(word);
        }
    }
    found
}

/// Judges an `az` command against the tables.
pub(super) fn judge(policy: &Policy, words: &[&str]) -> Result<Allowed, Refusal> {
    let table = &policy.cloud;
    if matches!(words, [_, "--version"]) {
        return Ok(Allowed::cloud("cloud.version", "shows versions"));
    }
    let line = Line::read(words, table);
    let Some((last, before)) = line.path.split_last() else {
        return Err(Refusal::new("path", "an az command is missing"));
    };
    let carrier = table.scripts.iter().find(|carrier| line.path == carrier.path);
    if let Some(carrier) = carrier {
        return judge_script(policy, carrier, &line);
    }
    let says = |word: &str, exact: &[String], prefixes: &[String]| {
        exact.iter().any(|verb| verb == word)
            || prefixes.iter().any(|prefix| word.starts_with(prefix.as_str()) && word.len() > prefix.len())
    };
    if line.path == ["storage", "blob", "download"] {
        return judge_download(policy, &line);
    }
    let query = *last == "query"
        && before.first().is_some_and(|first| table.queries.iter().any(|group| group == first));
    if !query && !says(last, &table.verbs, &table.verb_prefixes) {
        return Err(Refusal::new("verb", format!("`{}` is not a verb that only reads", brief(last))));
    }
    if let Some(verb) = before.iter().find(|word| says(word, &table.any_verb, &table.any_verb_prefixes)) {
        return Err(Refusal::new(
            "verb",
            format!("`{}` is a verb, so the words behind it are not the command", brief(verb)),
        ));
    }
    if last.split('-').any(|part| table.telling_words.iter().any(|word| word == part)) {
        return Err(Refusal::new("verb", format!("`{}` sounds as if it printed a secret", brief(last))));
    }
    if let Some(word) = line.path.iter().find(|word| !is_plain(word)) {
        return Err(Refusal::new("path", format!("`{}` is no word of an az command", brief(word))));
    }
    check_options(words, table)?;
    Ok(Allowed::cloud("cloud.read", "reads the state of the cloud"))
}

fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Refuses what touches a local file, carries a secret, or sends a token elsewhere.
fn check_options(words: &[&str], table: &Cloud) -> Result<(), Refusal> {
    let harmful = || table.file_options.iter().chain(&table.secret_options).chain(&table.other_options);
    for word in words.iter().skip(1) {
        if word.contains('\n') {
            return Err(Refusal::new("value", "a value goes over more than one line"));
        }
        let value =
            word.strip_prefix('-').and_then(|_| word.split_once('=')).map_or(*word, |(_, value)| value);
        if word.starts_with('@') || value.starts_with('@') || word.contains("=@") {
            return Err(Refusal::new("file", format!("`{}` reads a local file", brief(word))));
        }
        if !word.starts_with('-') {
            continue;
        }
        let name = word.split('=').next().unwrap_or(word);
        if name.starts_with("--") {
            // `--output` begins `--output-file`, but it is a global option of its own.
            let shortened = |option: &String| {
                option.starts_with(name)
                    && name.len() > 2
                    && !table.globals.iter().any(|global| global == name)
            };
            if harmful().any(shortened)
                || table.file_suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
            {
                return Err(Refusal::option(word));
            }
        } else if harmful().filter(|option| option.len() == 2).any(|option| name.starts_with(option.as_str()))
        {
            return Err(Refusal::option(word));
        }
    }
    Ok(())
}

fn judge_download(policy: &Policy, line: &Line<'_, '_>) -> Result<Allowed, Refusal> {
    let table = &policy.cloud;
    let mut words = line.rest.iter().copied();
    let (mut file, mut login) = (None, false);
    while let Some(word) = words.next() {
        let (name, attached) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if !table.download_options.iter().any(|option| option == name) {
            return Err(Refusal::option(word));
        }
        if matches!(name, "--only-show-errors" | "--verbose" | "--no-progress") {
            continue;
        }
        let value = attached.or_else(|| words.next()).unwrap_or_default();
        if value.starts_with('@') || value.contains("=@") || value.contains('\n') {
            return Err(Refusal::value(name, value));
        }
        match name {
            "--auth-mode" => login = value == "login",
            // The last one counts for az, so all of them have to be right.
            "--file" | "-f" if policy.files.is_capture(value) => file = Some(value),
            "--file" | "-f" => return Err(Refusal::value(name, value)),
            _ => {}
        }
    }
    match (file, login) {
        (Some(_), true) => Ok(Allowed {
            captures: true,
            ..Allowed::cloud("cloud.download", "downloads a capture into the captures folder")
        }),
        (None, _) => Err(Refusal::missing("--file")),
        (_, false) => Err(Refusal::missing("--auth-mode login")),
    }
}

fn judge_script(policy: &Policy, carrier: &Carrier, line: &Line<'_, '_>) -> Result<Allowed, Refusal> {
    if !carrier.remote {
        return Err(Refusal::new("script", "it runs a script elsewhere and keeps it there"));
    }
    let table = &policy.cloud;
    let mut option = "";
    let mut lines: Vec<&str> = Vec::new();
    let mut shell = false;
    for &word in line.rest {
        let names_option = word.starts_with('-') && !(option == "--scripts" && word.contains(' '));
        let (name, value) = match names_option {
            true => word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value))),
            false => (option, Some(word)),
        };
        if !table.remote_options.iter().any(|known| known == name) {
            return Err(Refusal::option(word));
        }
        option = name;
        let Some(value) = value else { continue };
        match name {
            "--scripts" if value.starts_with('@') => {
                return Err(Refusal::new("file", format!("`{}` reads a local file", brief(value))));
            }
            "--scripts" => lines.push(value),
            "--command-id" if value == "RunShellScript" => shell = true,
            "--command-id" => return Err(Refusal::value(name, value)),
            _ if value.starts_with('@') || value.contains("=@") || value.contains('\n') => {
                return Err(Refusal::value(name, value));
            }
            _ => {}
        }
    }
    if !shell {
        return Err(Refusal::missing("--command-id RunShellScript"));
    }
    if lines.is_empty() {
        return Err(Refusal::missing("--scripts"));
    }
    remote::judge(policy, &lines.join("\n"))?;
    Ok(Allowed::cloud("cloud.guest", "reads the state of a guest"))
}

/// Returns the accounts and hosts that a command would have `az` speak to.
pub(super) fn destinations(words: &[&str], _table: &Cloud) -> Vec<String> {
    const NAMING: [&str; 3] = ["--account-name", "--vault-name", "--dest-address"];
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        if name.len() > 3 && NAMING.iter().any(|option| option.starts_with(name)) {
            found.extend(value.or_else(|| words.next().copied()).map(str::to_owned));
        }
    }
    found
}

/// Tells whether a program is `az`.
pub(super) fn is_az(program: &str) -> bool {
    base(program) == "az"
}
