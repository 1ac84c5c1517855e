//! The allow list: words against the entries of their program.

use super::path::base;
use super::{cloud, cluster, curl, object};
use crate::shell::policy::{Check, Entry, Given, Policy, Refusal, brief, carries_data, ports};
use crate::shell::{Profile, Socket};

/// A command that may run, and what it needs.
#[derive(Debug, Clone, Default)]
pub(super) struct Allowed {
    /// The rule that allows it.
    pub(super) rule: String,
    /// What the command does.
    pub(super) why: String,
    /// The programs of the command, the wrapper in front first.
    pub(super) programs: Vec<String>,
    /// What it needs from the sandbox.
    pub(super) profile: Profile,
    /// It is an `az` command.
    pub(super) cloud: bool,
    /// It writes into the captures folder.
    pub(super) captures: bool,
    /// It goes on until it is stopped.
    pub(super) follows: bool,
}

impl Allowed {
    /// Allows an `az` command.
    pub(super) fn cloud(rule: &str, why: &str) -> Self {
        Self { rule: rule.to_owned(), why: why.to_owned(), cloud: true, ..Self::default() }
    }

    /// Returns the profile with everything in it.
    pub(super) fn into_profile(self) -> Profile {
        const CLOUD: &[Socket] = &[Socket::Stream, Socket::Datagram, Socket::Netlink];
        let sockets = if self.cloud { CLOUD.into() } else { self.profile.sockets };
        Profile {
            sockets,
            programs: self.programs,
            cloud: self.cloud,
            captures: self.captures,
            ..self.profile
        }
    }
}

/// Where trusted programs lie, beside being named bare.
const TRUSTED: [&str; 6] =
    ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];

/// Returns the name of a trusted program, `None` for a path elsewhere.
pub(super) fn trusted(program: &str) -> Option<&str> {
    let name = TRUSTED.iter().find_map(|folder| program.strip_prefix(folder)).unwrap_or(program);
    (!name.is_empty() && !name.contains('/')).then_some(name)
}

/// Judges words: SAFE with what they need, or the reason why not.
pub(super) fn judge(policy: &Policy, words: &[&str]) -> Result<Allowed, Refusal> {
    let mut programs = Vec::new();
    let all = words;
    let mut words = words;
    let mut bounded = false;
    loop {
        let Some((program, arguments)) = words.split_first() else {
            return Err(Refusal::missing("a command"));
        };
        let Some(name) = trusted(program) else {
            return Err(Refusal::new(
                "unknown",
                format!("`{}` is not in a folder for programs", brief(program)),
            ));
        };
        programs.push(name.to_owned());
        if let Some(tightened) = policy.tightened().iter().find(|rule| rule.matches(name, words)) {
            return Err(Refusal::new("site", tightened.reason.clone()));
        }
        if let Some(entry) = policy.transparent(name) {
            let given =
                entry.grammar.read(arguments, &policy.files).map_err(|refusal| in_program(refusal, entry))?;
            words = arguments.get(given.inner..).unwrap_or_default();
            bounded |= entry.bounds && given.operands.first().is_some_and(|time| is_some_time(time));
            continue;
        }
        let mut allowed = if cloud::is_az(name) {
            cloud::judge(policy, words)?
        } else {
            first_fit(policy, name, arguments)?
        };
        if let Some(word) = all.iter().find(|word| !allowed.cloud && carries_data(word)) {
            return Err(Refusal::new("name", format!("`{}` is long enough to carry data out", brief(word))));
        }
        if allowed.follows && !bounded {
            return Err(Refusal::new("follows", "it goes on until it is stopped: `timeout` has to stop it"));
        }
        allowed.programs = programs;
        return Ok(allowed);
    }
}

/// Returns the words behind the programs whose verdict is that of what they run.
pub(super) fn unwrap<'a, 'w>(policy: &Policy, words: &'a [&'w str]) -> Option<&'a [&'w str]> {
    let mut words = words;
    loop {
        let (program, arguments) = words.split_first()?;
        let Some(entry) = policy.transparent(trusted(program)?) else { return Some(words) };
        let given = entry.grammar.read(arguments, &policy.files).ok()?;
        words = arguments.get(given.inner..).unwrap_or_default();
    }
}

/// Tells whether a duration is more than nought, which would be no bound.
fn is_some_time(duration: &str) -> bool {
    duration.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// Tries every form that a program has; the refusal of the first one is told.
fn first_fit(policy: &Policy, name: &str, arguments: &[&str]) -> Result<Allowed, Refusal> {
    let mut refused = None;
    for entry in policy.entries(name) {
        match fits(policy, entry, name, arguments) {
            Ok(allowed) => return Ok(allowed),
            Err(refusal) => refused = refused.or(Some(refusal)),
        }
    }
    Err(refused.unwrap_or_else(|| {
        Refusal::new("unknown", format!("`{}` is not on the list of read-only programs", brief(base(name))))
    }))
}

/// Holds the words behind a program against one entry.
pub(super) fn fits(
    policy: &Policy,
    entry: &Entry,
    name: &str,
    arguments: &[&str],
) -> Result<Allowed, Refusal> {
    let refuse = |refusal| in_program(refusal, entry);
    let given = entry.grammar.read(arguments, &policy.files).map_err(refuse)?;
    if !entry.needs.is_empty() && !entry.needs.iter().any(|option| given.has(option)) {
        return Err(refuse(Refusal::missing(&format!("one of `{}`", entry.needs.join("`, `")))));
    }
    if let Some(option) = arguments.first().filter(|word| entry.verb_first && word.starts_with('-')) {
        return Err(refuse(Refusal::option(option)));
    }
    if let Some(option) = entry.all.iter().find(|option| !given.has(option)) {
        return Err(refuse(Refusal::missing(&format!("the option `{option}`"))));
    }
    if entry.single && given.options.len() != 1 {
        return Err(refuse(Refusal::new("option", "exactly one option is allowed")));
    }
    check(policy, entry, &given, arguments).map_err(refuse)?;
    let namespace = entry.namespace.iter().any(|option| given.has(option));
    let processes = entry.processes.iter().any(|option| option == "*" || given.has(option));
    Ok(Allowed {
        rule: entry.id.clone(),
        why: entry.why.clone(),
        follows: entry.follows.iter().any(|option| given.has(option)),
        programs: vec![name.to_owned()],
        profile: Profile { namespace, processes, ..entry.profile.clone() },
        ..Allowed::default()
    })
}

fn check(policy: &Policy, entry: &Entry, given: &Given<'_>, arguments: &[&str]) -> Result<(), Refusal> {
    match entry.check {
        None => Ok(()),
        Some(Check::Objects) => object::check(entry, &given.operands),
        Some(Check::Curl) => curl::check(policy, given, curl::Query::Asks),
        Some(Check::NoSecrets) => cluster::check(given),
        Some(Check::FewPorts) => few_ports(&given.operands),
        Some(Check::IntervalAndCount) => interval_and_count(&given.operands),
        Some(Check::PatternAndFiles) => pattern_and_files(policy, given),
        Some(Check::Nft) => list_only(&given.operands),
        Some(Check::Networksetup) => match arguments.split_first() {
            Some((first, rest)) if first.starts_with("-list") || first.starts_with("-get") => rest
                .iter()
                .find(|word| word.starts_with('-'))
                .map_or(Ok(()), |word| Err(Refusal::option(word))),
            _ => Err(Refusal::missing("`-list…` or `-get…`")),
        },
        Some(Check::OnePattern) => {
            let patterns = given.operands.len()
                + given.options.iter().filter(|(name, _)| matches!(name.as_str(), "-e" | "--regexp")).count();
            if patterns == 1 {
                Ok(())
            } else {
                Err(Refusal::new("operand", "exactly one pattern is allowed"))
            }
        }
    }
}

/// Accepts one `list` or `describe`; nft joins its words, so they are judged joined.
fn list_only(operands: &[&str]) -> Result<(), Refusal> {
    if let Some(word) = operands.iter().find(|word| word.contains([';', '{', '}', '\n', '\r'])) {
        return Err(Refusal::operand(word));
    }
    let first = operands.iter().flat_map(|word| word.split_whitespace()).next().unwrap_or_default();
    if matches!(first, "list" | "describe") { Ok(()) } else { Err(Refusal::operand(first)) }
}

/// Accepts at most a hundred ports behind the host.
fn few_ports(operands: &[&str]) -> Result<(), Refusal> {
    const MOST: usize = 100;
    let count: usize = operands.iter().skip(1).filter_map(|word| ports(word)).sum();
    if count <= MOST { Ok(()) } else { Err(Refusal::new("operand", format!("{count} ports are a scan"))) }
}

/// Accepts two numbers at the end, neither of them nought.
fn interval_and_count(operands: &[&str]) -> Result<(), Refusal> {
    let number =
        |word: &&str| word.len() <= 6 && word.bytes().all(|byte| byte.is_ascii_digit()) && is_some_time(word);
    match operands {
        [.., interval, count] if number(interval) && number(count) => Ok(()),
        _ => Err(Refusal::missing("an interval and a count")),
    }
}

/// Accepts a pattern, unless options held some, and then files that are meant to be read.
fn pattern_and_files(policy: &Policy, given: &Given<'_>) -> Result<(), Refusal> {
    let patterns = usize::from(!given.has("-e") && !given.has("--regexp"));
    let files = given.operands.get(patterns..).unwrap_or_default();
    if files.is_empty() {
        return Err(Refusal::missing("a file"));
    }
    let other = files.iter().find(|file| !policy.files.allows(file));
    other.map_or(Ok(()), |file| Err(Refusal::operand(file)))
}

fn in_program(refusal: Refusal, entry: &Entry) -> Refusal {
    Refusal { what: format!("{} ({})", refusal.what, entry.id), ..refusal }
}
