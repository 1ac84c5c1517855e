//! The allow list: words against the entries of their program.

use super::cost::{self, Cost};
use super::path::base;
use super::{cloud, cluster, curl, filter};
use crate::policy::{Check, Entry, Given, Kind, Policy, Refusal, carries_data, shorten, thousandths};
use crate::{Profile, Socket};

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
    /// What it takes of time and of connections.
    pub(super) cost: Cost,
    /// The output of other commands may stand in the place of its files.
    pub(super) outputs: bool,
}

impl Allowed {
    /// Allows an `az` command.
    pub(super) fn cloud(rule: &str, why: &str) -> Self {
        Self {
            rule: rule.to_owned(),
            why: why.to_owned(),
            cloud: true,
            cost: Cost::of_parts(1),
            ..Self::default()
        }
    }

    /// Adds what the programs before the command need.
    fn behind(self, front: UnwrappedCommand<'_, '_>) -> Result<Self, Refusal> {
        let mut profile = self.profile;
        if front.namespace {
            // What it takes to enter a namespace, and to look into any process or into the cloud, is too much together.
            if self.cloud || profile.processes {
                let what = "it would look into processes or the cloud from a network namespace";
                return Err(Refusal::new("namespace", what));
            }
            profile.namespace = true;
        }
        if front.sockets.iter().any(|socket| !profile.sockets.contains(socket)) {
            profile.sockets = profile.sockets.iter().copied().chain(front.sockets).collect();
        }
        Ok(Self { programs: front.programs, profile, ..self })
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

/// Where a command stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CommandContext<'a, 'w> {
    /// The words of the command whose output it reads, where it stands behind `|`.
    pub(super) behind: Option<&'a [&'w str]>,
    /// It runs in a guest, where no deadline ends it.
    pub(super) guest: bool,
}

/// What keeps a command from going on for ever.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    /// The milliseconds after which `timeout` ends it.
    pub(super) bound: Option<u64>,
    /// It runs in a guest, where no other deadline ends it.
    pub(super) guest: bool,
}

/// A command without the programs before it that only run it.
#[derive(Debug)]
pub(super) struct UnwrappedCommand<'a, 'w> {
    /// The words of the command itself.
    pub(super) words: &'a [&'w str],
    /// The programs before it, then its own.
    programs: Vec<String>,
    /// The milliseconds after which `timeout` ends it.
    bound: Option<u64>,
    /// One of them enters a network namespace.
    namespace: bool,
    /// The sockets that they need themselves.
    sockets: Vec<Socket>,
}

impl UnwrappedCommand<'_, '_> {
    /// Tells whether the command is one of `az`, from a folder for programs.
    pub(super) fn is_az(&self) -> bool {
        self.programs.last().is_some_and(|name| name == "az")
    }
}

/// Drops the word at the head of a command that asks for rights: it runs with the rights that there are.
pub(super) fn without_sudo<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
    let rest = match words {
        [program, "-n", rest @ ..] | [program, rest @ ..] if trusted(program) == Some("sudo") => rest,
        _ => return words,
    };
    // Behind any other option, and before `NAME=value`, it is more than that word.
    let runs = rest
        .first()
        .is_some_and(|first| !first.is_empty() && !first.starts_with('-') && !first.contains('='));
    if runs { rest } else { words }
}

/// Takes `timeout`, `nice` and `stdbuf` away from what they run.
pub(super) fn peel<'a, 'w>(
    policy: &Policy,
    words: &'a [&'w str],
) -> Result<UnwrappedCommand<'a, 'w>, Refusal> {
    let tightened =
        |name: &str, words: &[&str]| match policy.tightened().iter().find(|rule| rule.matches(name, words)) {
            Some(rule) => Err(Refusal::new("site", rule.reason.clone())),
            None => Ok(()),
        };
    let mut peeled = UnwrappedCommand {
        words: without_sudo(words),
        programs: Vec::new(),
        bound: None,
        namespace: false,
        sockets: Vec::new(),
    };
    if peeled.words.len() < words.len() {
        tightened("sudo", words)?;
    }
    let mut kills = false;
    loop {
        let Some((program, arguments)) = peeled.words.split_first() else {
            return Err(Refusal::missing("a command"));
        };
        let Some(name) = trusted(program) else {
            return Err(Refusal::new(
                "unknown",
                format!("`{}` is not in a folder for programs", shorten(program)),
            ));
        };
        peeled.programs.push(name.to_owned());
        tightened(name, peeled.words)?;
        let Some(entry) = policy.transparent(name, arguments) else { return Ok(peeled) };
        let given =
            entry.grammar.read(arguments, &policy.files).map_err(|refusal| in_program(refusal, entry))?;
        if name == "timeout" {
            // An outer `timeout` that kills an inner one leaves the command of the inner one running.
            if kills {
                peeled.bound = None;
            }
            peeled.bound = peeled.bound.max(ends_after(&given).filter(|_| !kills));
            kills |= !matches!(signal(&given), "TERM" | "INT" | "15" | "2");
        }
        peeled.namespace |= !entry.namespace.is_empty();
        peeled.sockets.extend(entry.profile.sockets.iter());
        peeled.words = arguments.get(given.inner..).unwrap_or_default();
    }
}

/// Returns after how many milliseconds `timeout` ends its command. `None`: the signal does not end it, or the time is zero or longer
/// than a day.
fn ends_after(given: &Given<'_>) -> Option<u64> {
    const DAY: u64 = 86_400_000;
    let time = |text: &str| {
        let number = text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(text);
        let seconds = match text.strip_prefix(number) {
            Some("m") => 60,
            Some("h") => 3_600,
            Some("d") => 86_400,
            _ => 1,
        };
        thousandths(number)
            .map(|value| value.saturating_mul(seconds))
            .filter(|millis| (1..=DAY).contains(millis))
    };
    let kill = given.last_value(&["-k", "--kill-after"]);
    let killed = kill.and_then(time);
    let ends = matches!(signal(given), "TERM" | "KILL" | "INT" | "15" | "9" | "2");
    let duration = given.operands.first().and_then(|duration| time(duration))?;
    match kill {
        None => ends.then_some(duration),
        Some(_) => (ends || killed.is_some()).then(|| duration.saturating_add(killed.unwrap_or(0))),
    }
}

/// Returns the signal that `timeout` sends first.
fn signal<'g>(given: &'g Given<'_>) -> &'g str {
    let signal = given.last_value(&["-s", "--signal"]).unwrap_or("TERM");
    signal.strip_prefix("SIG").unwrap_or(signal)
}

/// Judges words: SAFE with what they need, or the reason why not.
pub(super) fn judge(
    policy: &Policy,
    words: &[&str],
    place: CommandContext<'_, '_>,
) -> Result<Allowed, Refusal> {
    let all = words;
    let wrapped = peel(policy, words)?;
    let words = wrapped.words;
    let time = Time { bound: wrapped.bound, guest: place.guest };
    let name = wrapped.programs.last().cloned();
    let Some((name, (_, arguments))) = name.as_deref().zip(words.split_first()) else {
        return Err(Refusal::missing("a command"));
    };
    let mut refused = None;
    if let (Some(entry), Some(_)) = (policy.filter(name), place.behind) {
        match fits(policy, entry, name, arguments, time) {
            Ok(allowed) => return allowed.behind(wrapped),
            Err(refusal) => refused = Some(refusal),
        }
    }
    if let Some(before) = place.behind {
        check_input(name, arguments, before)?;
    }
    let allowed = match cloud::is_az(name) {
        true if place.guest => {
            return Err(Refusal::new("script", "`az` has no place in a script for a guest"));
        }
        true => cloud::judge(policy, words)?,
        false => first_fit(policy, name, arguments, time).map_err(|refusal| refused.unwrap_or(refusal))?,
    };
    if place.guest && allowed.profile.no_folders {
        let what = "it reads the files of a folder too, and in a guest the gate cannot check for folders";
        return Err(Refusal::new("script", what));
    }
    if let Some(word) = all.iter().find(|word| !allowed.cloud && carries_data(word)) {
        return Err(Refusal::new("name", format!("`{}` is long enough to carry data out", shorten(word))));
    }
    allowed.behind(wrapped)
}

/// Refuses a program that sends what it reads to a host, unless it reads an empty line.
fn check_input(name: &str, arguments: &[&str], before: &[&str]) -> Result<(), Refusal> {
    let sends = name == "openssl" && arguments.first() == Some(&"s_client");
    if sends && before != ["echo"] {
        let what = "`openssl s_client` would send what it is given; only a bare `echo` may stand before it";
        return Err(Refusal::new("input", what));
    }
    Ok(())
}

/// Tries every form that a program has; the refusal of the first one is reported.
fn first_fit(policy: &Policy, name: &str, arguments: &[&str], time: Time) -> Result<Allowed, Refusal> {
    let mut refused = None;
    for entry in policy.remote(name).filter(|_| time.guest).into_iter().chain(policy.entries(name)) {
        match fits(policy, entry, name, arguments, time) {
            Ok(allowed) => return Ok(allowed),
            // That it would fit, but for its end, says more than that another form does not.
            Err(refusal) if refusal.part == "endless" => return Err(refusal),
            Err(refusal) => refused = refused.or(Some(refusal)),
        }
    }
    Err(refused.unwrap_or_else(|| {
        Refusal::new("unknown", format!("`{}` is not on the list of read-only programs", shorten(base(name))))
    }))
}

/// Holds the words behind a program against one entry.
pub(super) fn fits(
    policy: &Policy,
    entry: &Entry,
    name: &str,
    arguments: &[&str],
    time: Time,
) -> Result<Allowed, Refusal> {
    let refuse = |refusal| in_program(refusal, entry);
    let given = entry.grammar.read(arguments, &policy.files).map_err(refuse)?;
    if !entry.needs.is_empty() && !entry.needs.iter().any(|option| given.has(option)) {
        return Err(refuse(Refusal::missing(&format!("one of `{}`", entry.needs.join("`, `")))));
    }
    if let Some(option) = before_verb(entry, arguments) {
        return Err(refuse(Refusal::option(option)));
    }
    if let Some(option) = entry.all.iter().find(|option| !given.has(option)) {
        return Err(refuse(Refusal::missing(&format!("the option `{option}`"))));
    }
    if entry.single && given.options.len() != 1 {
        return Err(refuse(Refusal::new("option", "exactly one option is allowed")));
    }
    let cost = cost::of_command(entry, &given, time).map_err(refuse)?;
    check(policy, entry, &given, time).map_err(refuse)?;
    let namespace = entry.namespace.iter().any(|option| given.has(option));
    let any = |options: &[String]| options.iter().any(|option| option == "*" || given.has(option));
    let (processes, net_admin) = (any(&entry.processes), any(&entry.net_admin));
    let socket_owners = any(&entry.socket_owners);
    let table = table(entry, name, &given);
    if let Some((_, table)) = table.as_ref().filter(|_| time.guest && name.contains("legacy")) {
        let what = format!("it may register the table `{}` in the kernel", shorten(table));
        return Err(refuse(Refusal::new("option", what)));
    }
    Ok(Allowed {
        rule: entry.id.clone(),
        why: entry.why.clone(),
        programs: vec![name.to_owned()],
        profile: Profile {
            namespace,
            processes,
            socket_owners,
            net_admin,
            table,
            captured: owned(&entry.grammar.of_kind(&Kind::Capture, &given, &policy.files)),
            read: owned(&read(policy, entry, &given)),
            redirected: entry.check == Some(Check::Curl) && curl::is_redirected(&given),
            ..entry.profile.clone()
        },
        cost,
        outputs: entry.outputs,
        ..Allowed::default()
    })
}

/// Returns the first option that stands before the last verb and may not.
fn before_verb<'w>(entry: &Entry, arguments: &[&'w str]) -> Option<&'w str> {
    let mut verbs = if entry.verb_first { entry.grammar.verbs() } else { 0 };
    let mut words = arguments.iter();
    while verbs > 0 {
        let word = *words.next()?;
        if !word.starts_with('-') {
            verbs -= 1;
            continue;
        }
        let name = match word.split_once('=') {
            Some((name, _)) if word.starts_with("--") => name,
            _ if word.starts_with("--") => word,
            _ => word.get(..2).unwrap_or(word),
        };
        if !entry.globals.iter().any(|global| global == name) {
            return Some(word);
        }
        if name == word {
            words.next();
        }
    }
    None
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Returns the files that a command reads because they are meant to be read.
fn read<'w>(policy: &Policy, entry: &Entry, given: &Given<'w>) -> Vec<&'w str> {
    match entry.check {
        Some(Check::PatternAndFiles) => behind_pattern(given).to_vec(),
        _ => {
            let files =
                [Kind::Readable, Kind::Packed].map(|kind| entry.grammar.of_kind(&kind, given, &policy.files));
            files.concat()
        }
    }
}

fn check(policy: &Policy, entry: &Entry, given: &Given<'_>, time: Time) -> Result<(), Refusal> {
    let operands = given.operands.as_slice();
    match entry.check {
        None => Ok(()),
        Some(Check::Objects) => objects(entry, &given.operands),
        Some(Check::Curl) => curl::check(policy, given, curl::Query::Asks),
        Some(Check::NoSecrets) => cluster::check(given),
        Some(Check::IntervalAndCount) => interval_and_count(&given.operands),
        Some(Check::PatternAndFiles) => pattern_and_files(policy, given),
        Some(Check::Nft) => list_only(&given.operands),
        Some(Check::Awk) => filter::awk(given, time.bound.is_some() || !time.guest),
        Some(Check::Sed) => filter::sed(given),
        Some(Check::Jq) => filter::jq(given, time.bound.is_some() || !time.guest),
        Some(Check::OnePattern) => {
            let given = given.options.iter().any(|(name, _)| matches!(name.as_str(), "-e" | "--regexp"));
            match (given, operands) {
                (true, []) | (false, [_]) => Ok(()),
                (false, []) => Err(Refusal::missing("a pattern")),
                (true, [file, ..]) | (false, [_, file, ..]) => Err(Refusal::operand(file)),
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

/// Returns the program and the table of the packet filter that it reads.
fn table(entry: &Entry, name: &str, given: &Given<'_>) -> Option<(String, String)> {
    let tables = entry.tables.as_ref()?;
    let named = given.options.iter().rev().find(|(option, _)| tables.options.contains(option));
    let table = named.and_then(|(_, value)| *value).or(tables.default.as_deref())?;
    Some((name.to_owned(), table.to_owned()))
}

/// Accepts no number at all, or two at the end, neither of them zero. An interval alone goes on without an end.
fn interval_and_count(operands: &[&str]) -> Result<(), Refusal> {
    let number = |word: &&str| {
        word.len() <= 6
            && word.bytes().all(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte != b'0')
    };
    let named = |word: &&str| word.starts_with(|first: char| first.is_ascii_alphabetic());
    match operands {
        [.., interval, count] if number(interval) && number(count) => Ok(()),
        _ if operands.iter().all(named) => Ok(()),
        _ => Err(Refusal::missing("an interval and a count")),
    }
}

/// Accepts a pattern, unless options held some, and then files that are meant to be read.
fn pattern_and_files(policy: &Policy, given: &Given<'_>) -> Result<(), Refusal> {
    let files = behind_pattern(given);
    if files.is_empty() {
        return Err(Refusal::missing("a file"));
    }
    let other = files.iter().find(|file| !policy.files.allows(file));
    other.map_or(Ok(()), |file| Err(Refusal::operand(file)))
}

/// Returns the operands behind the pattern, which is none of them where options held some.
fn behind_pattern<'g, 'w>(given: &'g Given<'w>) -> &'g [&'w str] {
    let patterns = usize::from(!given.has("-e") && !given.has("--regexp"));
    given.operands.get(patterns..).unwrap_or_default()
}

fn in_program(refusal: Refusal, entry: &Entry) -> Refusal {
    Refusal { what: format!("{} ({})", refusal.what, entry.id), ..refusal }
}

/// Accepts an object of `ip`, `bridge` or `tc` that may be shown, shortened as the program itself allows, and nothing, `show` or `get` behind it.
fn objects(entry: &Entry, operands: &[&str]) -> Result<(), Refusal> {
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
        Some("show" | "list" | "lst" | "list-id") => Ok(()),
        Some("get") if entry.gets.contains(&name) => Ok(()),
        _ => Err(Refusal::operand(word)),
    }
}
