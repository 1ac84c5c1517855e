//! Packet filters: what they read from files, and the programs that they would start.

use super::table::refused;

/// Options of `nft` without operands.
const NFT: [&str; 18] = [
    "-j",
    "--json",
    "-a",
    "--handle",
    "-n",
    "--numeric",
    "-nn",
    "-nnn",
    "-s",
    "--stateless",
    "-S",
    "--service",
    "-y",
    "-p",
    "-t",
    "--terse",
    "-c",
    "--check",
];

/// Checks words for `nft`.
pub(super) fn nft(words: &[String], input: &str) -> Result<(), String> {
    let mut rest = words.iter();
    let mut command = Vec::new();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-f" | "--file" if rest.next().is_some_and(|file| file == "-" || file == "/dev/stdin") => {}
            known if NFT.contains(&known) => {}
            "-e" | "--echo" | "-v" | "-h" => {}
            // What follows the first word of a command belongs to it: priorities may be negative.
            option if option.starts_with('-') && command.is_empty() => return Err(refused(option)),
            other => command.push(other),
        }
    }
    let includes = |text: &str| {
        let mut parts = text.split(['\n', ';', '{', '}']);
        parts.any(|part| part.trim_start().starts_with("include"))
    };
    if includes(&command.join(" ")) || includes(input) { Err(refused("include")) } else { Ok(()) }
}

/// Checks words for `iptables` and those of its name.
pub(super) fn iptables(name: &str, words: &[String], input: &str) -> Result<(), String> {
    if name.ends_with("-save") {
        return flags(words, &["-c", "--counters", "-t", "--table"]);
    }
    if name.ends_with("-restore") {
        flags(
            words,
            &["-c", "--counters", "-n", "--noflush", "-t", "--test", "-v", "--verbose", "-w", "-T"],
        )?;
        let split = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        return input.lines().filter(|line| line.starts_with('-')).try_for_each(|line| rule(&split(line)));
    }
    rule(words)
}

/// Lets some options pass, and operands that are bare names.
fn flags(words: &[String], known: &[&str]) -> Result<(), String> {
    let bare = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    match words.iter().find(|word| !known.contains(&word.as_str()) && !bare(word)) {
        Some(word) => Err(refused(word)),
        None => bare_operands(words),
    }
}

/// The only operands are the names of tables, after the option for them.
fn bare_operands(words: &[String]) -> Result<(), String> {
    let mut before = "";
    for word in words {
        if !word.starts_with('-') && !matches!(before, "-t" | "--table" | "-T" | "-w") {
            return Err(refused(word));
        }
        before = word;
    }
    Ok(())
}

fn rule(words: &[String]) -> Result<(), String> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if matches!(word.as_str(), "--comment" | "--string" | "--log-prefix") {
            rest.next();
            continue;
        }
        // Short options may share a dash, and long ones be cut off; the mode of a statistic is no program.
        let loads = (word.starts_with('-') && !word.starts_with("--") && word.contains('M'))
            || (word.starts_with("--mod") && word != "--mode");
        if loads || word.starts_with("--object") {
            return Err(refused(word));
        }
    }
    Ok(())
}
