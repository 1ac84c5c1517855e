//! Tools for devices, routes, sockets and measurements.

use super::table::{only, refused};

/// Objects of `ip` that are about the namespace itself.
const IP: [&str; 23] = [
    "a",
    "ad",
    "addr",
    "address",
    "l",
    "li",
    "link",
    "r",
    "ro",
    "route",
    "ru",
    "rule",
    "n",
    "nei",
    "neigh",
    "neighbor",
    "neighbour",
    "m",
    "maddr",
    "maddress",
    "mroute",
    "ntable",
    "ntbl",
];
/// Objects of `tc`.
const TC: [&str; 10] = ["q", "qd", "qdisc", "c", "cl", "class", "f", "filter", "chain", "action"];
/// Words that lead to another namespace, or load a program into the kernel.
const DENIED_WORDS: [&str; 16] = [
    "netns",
    "link-netns",
    "link-netnsid",
    "nsid",
    "xdp",
    "xdpgeneric",
    "xdpdrv",
    "xdpoffload",
    "bpf",
    "obj",
    "object",
    "object-file",
    "object-pinned",
    "pinned",
    "bytecode-file",
    "exec",
];

/// Skips the options before the object; only those without operands are let in.
fn after<'a>(words: &'a [String], known: &[&str]) -> Result<&'a [String], String> {
    let at = words.iter().position(|word| !word.starts_with('-')).unwrap_or(words.len());
    let (options, rest) = words.split_at_checked(at).unwrap_or((words, &[]));
    let strange = options.iter().find(|word| !known.contains(&word.as_str()));
    strange.map_or(Ok(rest), |word| Err(refused(word)))
}

fn object(rest: &[String], objects: &[&str]) -> Result<(), String> {
    if let Some(first) = rest.first().filter(|first| !objects.contains(&first.as_str())) {
        return Err(refused(first));
    }
    let leads = |word: &&String| {
        DENIED_WORDS.contains(&word.as_str()) || word.contains("..") || word.starts_with('/')
    };
    rest.iter().find(leads).map_or(Ok(()), |word| Err(refused(word)))
}

pub(super) fn ip(words: &[String]) -> Result<(), String> {
    let known = [
        "-4",
        "-6",
        "-0",
        "-j",
        "-json",
        "--json",
        "-p",
        "-pretty",
        "-d",
        "-details",
        "-s",
        "-stats",
        "-statistics",
        "-o",
        "-oneline",
        "-br",
        "-brief",
        "-c",
        "-color",
        "-c=never",
        "-color=never",
        "-N",
        "-h",
        "-human",
        "-V",
    ];
    object(after(words, &known)?, &IP)
}

pub(super) fn tc(words: &[String]) -> Result<(), String> {
    let known = [
        "-s",
        "-stats",
        "-statistics",
        "-d",
        "-details",
        "-r",
        "-raw",
        "-j",
        "-json",
        "-p",
        "-pretty",
        "-g",
        "-iec",
        "-N",
        "-o",
        "-oneline",
        "-V",
        "-c=never",
    ];
    object(after(words, &known)?, &TC)
}

/// Checks short options that share a dash, and refuses long ones by their beginning.
fn dashes(words: &[String], short: &str, long: &[&str]) -> Result<(), String> {
    let bad = |word: &&String| match word.strip_prefix("--") {
        Some(name) => long.iter().any(|long| {
            let name = name.split('=').next().unwrap_or_default();
            !name.is_empty() && (long.starts_with(name) || name.starts_with(long))
        }),
        None => word.strip_prefix('-').is_some_and(|letters| {
            letters.chars().take_while(char::is_ascii_alphabetic).any(|letter| short.contains(letter))
        }),
    };
    words.iter().find(bad).map_or(Ok(()), |word| Err(refused(word)))
}

pub(super) fn ss(words: &[String]) -> Result<(), String> {
    dashes(words, "KDFN", &["kill", "diag", "filter", "net"])
}

pub(super) fn sysctl(words: &[String]) -> Result<(), String> {
    words.iter().try_for_each(|word| match word.as_str() {
        "-w" | "-n" | "-e" | "-q" | "-N" | "-b" | "-r" => Ok(()),
        name => {
            let key = name.split('=').next().unwrap_or_default();
            let fits = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte));
            let own = key.starts_with("net.") || key.starts_with("net/");
            if own && fits && !key.contains("..") { Ok(()) } else { Err(refused(name)) }
        }
    })
}

pub(super) fn qperf(words: &[String]) -> Result<(), String> {
    only(words, &["--file", "-f"])
}

pub(super) fn iperf(words: &[String]) -> Result<(), String> {
    dashes(words, "FIo", &["fileinput", "stdin", "output"])
}

pub(super) fn tcpdump(words: &[String]) -> Result<(), String> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "-w" && rest.as_slice().first().is_some_and(|file| file == "-") {
            rest.next();
            continue;
        }
        dashes(std::slice::from_ref(word), "wzrFZGCVM", &["print", "relinquish-privileges"])?;
    }
    Ok(())
}

pub(super) fn ethtool(words: &[String]) -> Result<(), String> {
    let known = [
        "-i",
        "-k",
        "-S",
        "-g",
        "-l",
        "-a",
        "-c",
        "-K",
        "-P",
        "-T",
        "--show-offload",
        "--driver",
        "--statistics",
    ];
    match words.iter().find(|word| word.starts_with('-') && !known.contains(&word.as_str())) {
        Some(word) => Err(refused(word)),
        None => Ok(()),
    }
}

pub(super) fn conntrack(words: &[String]) -> Result<(), String> {
    match words.first().map(String::as_str) {
        Some("-L" | "-F" | "-C" | "-S" | "-D" | "-G" | "--dump" | "--flush" | "--count" | "--stats")
        | None => Ok(()),
        Some(other) => Err(refused(other)),
    }
}

pub(super) fn nc(words: &[String]) -> Result<(), String> {
    dashes(words, "UFec", &["exec", "sh-exec", "lua-exec"])
}

pub(super) fn curl(words: &[String]) -> Result<(), String> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-m" | "--max-time" | "--connect-timeout" | "--noproxy" | "-X" | "--request" | "--interface" => {
                rest.next();
            }
            "-w" | "--write-out" | "-H" | "--header"
                if rest.next().is_some_and(|next| !next.starts_with('@')) => {}
            "-o" | "--output" if rest.next().is_some_and(|file| file == "/dev/null" || file == "-") => {}
            "--silent" | "--show-error" | "--head" | "--insecure" | "--location" | "--fail" | "--verbose" => {
            }
            short
                if short
                    .strip_prefix('-')
                    .is_some_and(|rest| rest.chars().all(|one| "sSvkILif46gq".contains(one))) => {}
            address if address.starts_with("http://") || address.starts_with("https://") => {}
            bare if !bare.starts_with('-') && !bare.contains("://") => {}
            other => return Err(refused(other)),
        }
    }
    Ok(())
}
