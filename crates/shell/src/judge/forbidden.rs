//! Everything in a text that could run, held against tier 0.

use std::borrow::Cow;
use std::collections::HashMap;

use super::address::{Url, is_metadata};
use super::path::{PathContext, base, clean, from_place};
use super::unwrap::{Inner, inner};
use super::{cloud, credential, curl, harm, path};
use crate::policy::{Policy, Wrapper, shorten};
use crate::text::{self, Command, Link, RedirectKind, Script};

/// Why a text never runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Forbidden {
    pub(super) rule: Cow<'static, str>,
    /// What the command does.
    pub(super) reason: String,
}

/// Searches for the first part of a text that never runs.
///
/// Every look costs a step, and there are about as many as the text is long: whoever nests deeper than that is not asking
/// for anything that a human could review.
pub(super) fn find_forbidden(policy: &Policy, script: &Script, length: usize) -> Option<Forbidden> {
    let mut hunter =
        ForbiddenSearch { policy, texts: Vec::new(), place: String::new(), steps: 4096 + 64 * length };
    if let Some(found) = hunter.script(script, false) {
        return Some(found);
    }
    while let Some((text, deleting, place)) = hunter.texts.pop() {
        hunter.place = place;
        if !hunter.pay(text.len()) {
            return Some(too_deep());
        }
        if let Some(found) = hunter.script(&text::read(&text), deleting) {
            return Some(found);
        }
    }
    None
}

fn too_deep() -> Forbidden {
    Forbidden {
        rule: "block.nested".into(),
        reason: "commands are nested deeper than anybody could review".to_owned(),
    }
}

struct ForbiddenSearch<'p> {
    policy: &'p Policy,
    /// Texts that are still to be read; the flag tells that a `find` from a protected path runs them, and then where they
    /// start.
    texts: Vec<(String, bool, String)>,
    /// The folder to which the text that is being read went, empty where it stayed.
    place: String,
    steps: usize,
}

impl ForbiddenSearch<'_> {
    fn pay(&mut self, steps: usize) -> bool {
        let enough = self.steps >= steps;
        self.steps = self.steps.saturating_sub(steps);
        enough
    }

    fn script(&mut self, script: &Script, deleting: bool) -> Option<Forbidden> {
        if let Some(name) = fork_bomb(script) {
            return Some(Forbidden {
                rule: "block.fork-bomb".into(),
                reason: format!("`{}` starts itself without end", shorten(name)),
            });
        }
        self.texts.extend(script.inner.iter().map(|text| (text.clone(), deleting, self.place.clone())));
        let mut fed = 0;
        for (at, command) in script.commands.iter().enumerate() {
            let words = texts_of(command);
            if let Some(found) = self.redirects(command).or_else(|| self.command(&words, deleting)) {
                return Some(found);
            }
            if self.reads_a_script(&words) {
                if let Some(found) = self.feed(script, fed, at) {
                    return Some(found);
                }
                fed = at;
            }
        }
        None
    }

    /// Goes where `cd` goes, so that the relative words behind it are known.
    fn follow(&mut self, words: &[&str]) {
        let ["cd" | "pushd", arguments @ ..] = words else { return };
        match harm::operands(arguments).next() {
            Some("-") => {}
            Some(place) => self.place = clean(&from_place(place, &self.place)),
            None => self.place = "~".to_owned(),
        }
    }

    fn context(&self) -> PathContext<'_> {
        PathContext { block: &self.policy.block, place: &self.place }
    }

    fn queue(&mut self, text: String, deleting: bool) {
        // Whether a shell of its own went there or this one is not worth telling apart.
        self.follow(&text.split_ascii_whitespace().take(3).collect::<Vec<_>>());
        self.texts.push((text, deleting, self.place.clone()));
    }

    /// Returns true if a command may read a script from its input: if a shell is named anywhere in it, or if it is, or wraps, the client
    /// of a database.
    fn reads_a_script(&self, words: &[&str]) -> bool {
        let wrappers = self.policy.wrappers();
        let is = |wrapper: &Wrapper, word: &&str| {
            wrapper.names.iter().any(|name| name.eq_ignore_ascii_case(base(word)))
        };
        let named = |wrapper: &Wrapper| words.iter().any(|word| is(wrapper, word));
        let wraps = || words.first().is_some_and(|first| wrappers.iter().any(|wrapper| is(wrapper, first)));
        wrappers.iter().any(|wrapper| wrapper.shell && named(wrapper))
            || (wraps() && wrappers.iter().any(|wrapper| wrapper.statements && named(wrapper)))
    }

    /// Queues what is fed into a shell: `echo TEXT | sh`, through other programs too, and `sh <<< TEXT`. What stands
    /// before `fed` was queued for an earlier shell.
    fn feed(&mut self, script: &Script, fed: usize, at: usize) -> Option<Forbidden> {
        let (earlier, rest) = script.commands.split_at_checked(at)?;
        let reader = rest.first()?;
        for redirect in reader.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Text) {
            self.queue(redirect.target.clone(), false);
        }
        let mut link = reader.before;
        for source in earlier.iter().skip(fed).rev() {
            if link != Link::Pipe {
                break;
            }
            link = source.before;
            let found = self.printed(&texts_of(source));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Queues what a command may print, whoever starts it and wherever: what stands behind a program.
    fn printed(&mut self, words: &[&str]) -> Option<Forbidden> {
        let mut open = vec![words];
        while let Some(words) = open.pop() {
            if !self.pay(words.len()) {
                return Some(too_deep());
            }
            let words = without_assignments(words);
            self.queue(words.get(1..).unwrap_or_default().join(" "), false);
            if words.first().is_some_and(|program| base(program).eq_ignore_ascii_case("az")) {
                for script in cloud::scripts(words, &self.policy.cloud) {
                    let found = self.printed(&script.split_ascii_whitespace().collect::<Vec<_>>());
                    if found.is_some() {
                        return found;
                    }
                }
            }
            open.extend(inner(self.policy, words).into_iter().filter_map(|inside| match inside {
                Inner::Words(words) => Some(words),
                Inner::Text(_) | Inner::Unclear => None,
            }));
        }
        None
    }

    fn redirects(&self, command: &Command) -> Option<Forbidden> {
        let block = &self.policy.block;
        for redirect in &command.redirects {
            if redirect.kind == RedirectKind::Write && path::is_device(&redirect.target, self.context()) {
                return Some(Forbidden {
                    rule: "block.device.redirect".into(),
                    reason: format!("writes onto `{}`", shorten(&redirect.target)),
                });
            }
            if credential::names_one(&from_place(&redirect.target, &self.place), &block.credentials) {
                return Some(is_credential(&redirect.target));
            }
        }
        None
    }

    fn command(&mut self, words: &[&str], deleting: bool) -> Option<Forbidden> {
        let block = &self.policy.block;
        let mut credentials = credential::find(words, &block.credentials, &self.place);
        if let Some(found) = asks_metadata(words, self.policy) {
            return Some(found);
        }
        let mut open: Vec<(&[&str], bool)> = vec![(words, deleting)];
        // Where the text stays, whatever place a wrapper gives to what it runs.
        let mut stays = None;
        while let Some((words, deleting)) = open.pop() {
            let words = without_assignments(words);
            let Some((program, arguments)) = words.split_first() else { continue };
            if !self.pay(words.len()) {
                return Some(too_deep());
            }
            let name = base(program.trim_start_matches('=')).to_ascii_lowercase();
            self.follow(words);
            if let Some(place) = self.starts_at(&name, arguments) {
                stays.get_or_insert_with(|| self.place.clone());
                self.place = place;
            }
            if let Some(found) = self.judge(&name, words, arguments, deleting) {
                return Some(found);
            }
            let from_protected = name == "find" && harm::finds_from_protected(arguments, self.context());
            // `command -v NAME` runs nothing.
            let only_tells =
                name == "command" && arguments.first().is_some_and(|word| matches!(*word, "-v" | "-V"));
            let inside = if only_tells { Vec::new() } else { inner(self.policy, words) };
            if !credentials.is_empty() {
                let foreign = inside.iter().map(|inside| match inside {
                    Inner::Words(words) => words.len(),
                    Inner::Text(_) | Inner::Unclear => 0,
                });
                let own = arguments.len().saturating_sub(foreign.max().unwrap_or(0));
                let own = arguments.get(..own).unwrap_or_default();
                credential::drop_identities(&mut credentials, &name, own);
            }
            for inside in inside {
                match inside {
                    Inner::Words(inside) => open.push((inside, deleting || from_protected)),
                    Inner::Text(text) => self.queue(text, deleting || from_protected),
                    Inner::Unclear => return Some(too_deep()),
                }
            }
            if name == "az" {
                for text in cloud::scripts(words, &self.policy.cloud) {
                    self.queue(text, false);
                }
            }
        }
        if let Some(place) = stays {
            self.place = place;
        }
        credentials.first().map(|word| is_credential(word))
    }

    /// Returns the folder where a wrapper starts what it runs, if it names one (`env -C DIR`, `sudo --chdir=DIR`).
    fn starts_at(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let mut wrappers =
            self.policy.wrappers().iter().filter(|wrapper| wrapper.names.iter().any(|known| known == name));
        let place = wrappers.find_map(|wrapper| match wrapper.place.as_slice() {
            [short, long] => harm::option_values(arguments, short, long).into_iter().next(),
            _ => None,
        })?;
        Some(clean(&from_place(place, &self.place)))
    }

    fn judge(&self, name: &str, words: &[&str], arguments: &[&str], deleting: bool) -> Option<Forbidden> {
        let block = &self.policy.block;
        if deleting && matches!(name, "rm" | "shred" | "dd" | "unlink") {
            return Some(Forbidden {
                rule: "block.erase.find".into(),
                reason: "deletes what it finds below a system or home tree".to_owned(),
            });
        }
        if let Some(rule) =
            block.rules.iter().find(|rule| harm::applies(rule, name, arguments, self.context()))
        {
            return Some(Forbidden {
                rule: format!("block.{}", rule.id).into(),
                reason: format!("`{}` {}", shorten(name), rule.why),
            });
        }
        if name == "az"
            && let Some((rule, reason)) = cloud::forbidden(words, &self.policy.cloud)
        {
            return Some(Forbidden { rule: rule.into(), reason });
        }
        let tightened =
            self.policy.tightened().iter().find(|rule| rule.is_blocked() && rule.matches(name, words))?;
        Some(Forbidden { rule: "site.block".into(), reason: tightened.reason.clone() })
    }
}

fn texts_of(command: &Command) -> Vec<&str> {
    command.words.iter().map(|word| word.text.as_str()).collect()
}

/// Skips what is no program: `FOO=1` in `sudo FOO=1 reboot`, and a variable that may be empty in `$x reboot`. zsh runs `=reboot`.
fn without_assignments<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
    let runs =
        |word: &&str| !word.starts_with('$') && (!word.contains('=') || word.starts_with(['-', '/', '=']));
    let start = words.iter().position(runs);
    words.get(start.unwrap_or(0)..).unwrap_or_default()
}

fn is_credential(word: &str) -> Forbidden {
    Forbidden { rule: "block.credential".into(), reason: format!("`{}` holds a credential", shorten(word)) }
}

/// Finds a request to a metadata service whose answer is a credential, whatever program makes it.
fn asks_metadata(words: &[&str], policy: &Policy) -> Option<Forbidden> {
    let requests =
        words.iter().any(|word| matches!(base(word), "curl" | "wget" | "http" | "https" | "xh" | "httpie"));
    if !requests && !words.iter().any(|word| word.contains(":/")) {
        return None;
    }
    let block = &policy.block;
    let addresses = || {
        words.iter().filter_map(|word| {
            let start = word.find(":/").map(|at| {
                word.get(..at)
                    .unwrap_or_default()
                    .rfind(|char: char| !char.is_ascii_alphabetic())
                    .map_or(0, |at| at + 1)
            });
            match start {
                Some(start) => word.get(start..).map(Url::parse),
                None if requests && !word.starts_with('-') => Some(Url::parse(word)),
                None => None,
            }
        })
    };
    // `--resolve NAME:PORT:ADDRESS` and `--connect-to` lead a harmless name to the service.
    let routed = requests && words.iter().any(|word| curl::leads_to_metadata(policy, word));
    let found = addresses().any(|url| {
        url.asks_for_credential(block)
            && (routed || is_metadata(&url.host, block) || url.is_metadata_page(block))
    });
    found.then(|| Forbidden {
        rule: "block.metadata".into(),
        reason: "asks a cloud metadata service for a credential".to_owned(),
    })
}

/// Finds a function that starts itself in the background or pipes into itself, directly or through others.
fn fork_bomb(script: &Script) -> Option<&str> {
    if script.functions.is_empty() {
        return None;
    }
    // A function that is defined twice counts under its last definition.
    let index: HashMap<&str, usize> =
        script.functions.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let called = |command: &Command| index.get(command.words.first()?.text.as_str()).copied();
    let mut spawns: Vec<(usize, usize)> = Vec::new();
    for (at, command) in script.commands.iter().enumerate() {
        let Some(caller) = command.function.and_then(|at| script.functions.get(at)) else { continue };
        let Some(caller) = index.get(caller.as_str()).copied() else { continue };
        let Some(callee) = called(command) else { continue };
        let piped = command.after == Link::Pipe
            && script.commands.get(at + 1).is_some_and(|next| called(next).is_some());
        if command.detached || piped {
            spawns.push((caller, callee));
        }
    }
    endless(&spawns, script.functions.len()).and_then(|at| script.functions.get(at)).map(String::as_str)
}

/// Finds one that starts another without end. What starts nothing that starts something again comes to an end.
fn endless(spawns: &[(usize, usize)], count: usize) -> Option<usize> {
    let mut starts = vec![0_usize; count];
    let mut starters: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(caller, callee) in spawns {
        starts.get_mut(caller).into_iter().for_each(|open| *open += 1);
        starters.get_mut(callee).into_iter().for_each(|callers| callers.push(caller));
    }
    let mut ended: Vec<usize> = (0..count).filter(|at| starts.get(*at) == Some(&0)).collect();
    while let Some(callee) = ended.pop() {
        for caller in starters.get_mut(callee).map(std::mem::take).unwrap_or_default() {
            let Some(open) = starts.get_mut(caller) else { continue };
            *open -= 1;
            if *open == 0 {
                ended.push(caller);
            }
        }
    }
    starts.iter().position(|open| *open > 0)
}
