//! The ends that a clause names, each with the part that the words around it give it.

use std::net::IpAddr;

use super::clause::{Clause, is_end_like, is_group};
use super::port::{PortMention, ports};
use super::scope::{Estate, parts, role_of_part};
use super::stranger;
use super::token::{Kind, Token, tokens};
use super::vocabulary::WORDS;
use crate::symptom_text::Symptom;

/// An end that is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// Where it begins in the clause, in bytes.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) what: What,
    pub(super) mark: Mark,
    /// It goes on from the one before: `A and B`.
    pub(super) is_joined: bool,
    /// The port that is glued to it.
    pub(super) port: Option<u16>,
    /// A port stands right behind it: `at "10.0.0.5", port 5432`.
    pub(super) has_port_behind: bool,
    /// It was moved, restarted, changed: `after the reboot of A`. Where others are named, it is no end.
    pub(super) is_changed: bool,
}

impl Mention {
    pub(super) fn new(start: usize, end: usize, what: What) -> Self {
        Self {
            start,
            end,
            what,
            mark: Mark::Open,
            is_joined: false,
            port: None,
            has_port_behind: false,
            is_changed: false,
        }
    }
}

/// What is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// Machines, by their places in the inventory, and the address where the words have one.
    Machines(Vec<usize>, Option<IpAddr>),
    /// A name that leads to addresses, by its place in the inventory.
    Name(usize),
    /// Every machine of a role, or the one with this number.
    Role(&'static str, Option<u64>),
    /// An address on the Internet that is nobody's here.
    Outside(IpAddr),
    Internet,
    /// An address inside that nobody has.
    NoOwner(IpAddr),
    /// A name that nothing here has.
    Unknown(String),
}

/// The part that the words give to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// Nothing is said.
    Open,
    /// `on`: most of the time who is called.
    At,
    /// `of`, `von`, `de`: from, or of.
    Of,
    /// `with`, `z`, `с`: from, or with.
    With,
    /// `between`.
    Between,
    /// Who is called.
    To,
    /// Who calls.
    From,
    /// Called by the one before it, and calls the one behind it: `A -> B -> C`.
    Hop,
    /// On the path only.
    Via,
}

/// What a clause names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) mentions: Vec<Mention>,
    pub(super) ports: Vec<PortMention>,
    /// The machines of the applications that are named.
    pub(super) scope: Vec<usize>,
}

/// Reads what a clause names. `proxied`: the text is a log of a proxy, whose `client` is not who complains.
pub(super) fn read(clause: &Clause, estate: &Estate<'_>, skipped: &[String], proxied: bool) -> Named {
    let text = clause.folded.as_str();
    let all = tokens(text);
    let mut ports = ports(text, &all);
    let mut mentions: Vec<Mention> = Vec::new();
    let mut scope: Vec<usize> = Vec::new();
    for token in &all {
        if skipped.iter().any(|word| word == token.text)
            || is_group(token.text)
            || (proxied && is_field(text, token))
        {
            continue;
        }
        let (what, port) = match &token.kind {
            Kind::Address(address, port) => (of_address(*address, estate), *port),
            Kind::Host(name, port) => (of_host(name, estate), *port),
            Kind::Word if estate.is_container(token.text) && !is_machine(token.text, estate) => continue,
            Kind::Word => {
                let what = of_word(token, estate);
                if what.is_none() {
                    scope.extend(estate.of_application(token.text));
                }
                (what, None)
            }
            Kind::Number(_)
            | Kind::Range(..)
            | Kind::Other
            | Kind::Port(..)
            | Kind::Arrow
            | Kind::BackArrow => {
                continue;
            }
        };
        if let Some(what) = what {
            mentions.push(Mention { port, ..Mention::new(token.start, token.end, what) });
        }
    }
    roles(text, &all, &mut mentions);
    bare_roles(text, &all, &mut mentions);
    outside(text, &mut mentions);
    mentions.sort_by_key(|mention| (mention.start, std::cmp::Reverse(mention.end)));
    each_its_port(text, &mut mentions, &mut ports);
    mark(text, &all, &mut mentions, &ports);
    stranger::add(clause, &all, &ports, (estate, skipped), &mut mentions);
    mentions.retain(|mention| !is_contrasted(text, mention.start));
    drop_appositions(text, &mut mentions);
    // The port of who calls is none that anybody serves.
    let callers: Vec<(usize, usize)> = mentions
        .iter()
        .filter(|mention| mention.mark == Mark::From && mention.port.is_some())
        .map(|mention| (mention.start, mention.end))
        .collect();
    let is_own = callers.iter().any(|(start, _)| is_local(text, *start));
    if ports.len() > callers.len() || is_own {
        ports.retain(|port| !(port.is_bound && callers.contains(&(port.start, port.end))));
    }
    scope.sort_unstable();
    scope.dedup();
    Named { mentions, ports, scope }
}

/// `A on 5432 and B on 6379`: where each end has a port behind it, it is that of this end alone.
fn each_its_port(text: &str, mentions: &mut [Mention], ports: &mut [PortMention]) {
    let is_number = |port: &PortMention| !port.is_word && !port.is_bound;
    let words = |text: &str| {
        let plain = text.trim_matches(|char: char| char.is_whitespace() || "(:,\"'".contains(char));
        let known = |word: &str| {
            WORDS.direction.at.hold(word)
                || WORDS.direction.filler.hold(word)
                || WORDS.number.port_before.hold(word)
        };
        plain.split_whitespace().all(known)
    };
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (at, port) in ports.iter().enumerate().filter(|(_, port)| is_number(port)) {
        let Some(end) = mentions.iter().rposition(|mention| mention.end <= port.start) else { return };
        let Some(mention) = mentions.get(end) else { return };
        let is_taken = pairs.last().is_some_and(|(known, _)| *known == end);
        let is_beside = text.get(mention.end..port.start).is_some_and(words);
        if is_taken || mention.port.is_some() || !is_beside {
            return;
        }
        pairs.push((end, at));
    }
    let is_list = pairs.len() > 1;
    for (end, at) in pairs {
        if let (Some(mention), Some(port)) = (mentions.get_mut(end), ports.get_mut(at)) {
            mention.has_port_behind = true;
            // `at "10.0.0.5", port 5432` is what a program prints.
            let is_printed =
                text.get(mention.end..port.start).is_some_and(|between| between.contains(['"', '\'']));
            if is_list || is_printed {
                mention.port = Some(port.port);
                port.is_bound = true;
            }
        }
    }
}

/// `client: 10.0.0.9, server: _, host: "shop"` of a proxy's log.
fn is_field(text: &str, token: &Token<'_>) -> bool {
    let before = text.get(..token.start).unwrap_or_default().trim_end_matches([' ', '"']);
    ["client:", "server:", "host:", "referrer:"].iter().any(|field| before.ends_with(field))
}

fn is_machine(word: &str, estate: &Estate<'_>) -> bool {
    !estate.named(|name| name == word).is_empty()
}

fn of_address(address: IpAddr, estate: &Estate<'_>) -> Option<What> {
    let owner = estate.inventory.machines.iter().position(|machine| machine.owns(address));
    if let Some(owner) = owner {
        return Some(What::Machines(vec![owner], Some(address)));
    }
    if let Some(name) = estate.inventory.names.iter().position(|name| name.addresses.contains(&address)) {
        return Some(What::Name(name));
    }
    if estate.inventory.elsewhere.contains(&address) {
        return Some(What::Outside(address));
    }
    match address {
        IpAddr::V4(v4) => {
            // Addresses of the platform, of the machine itself, of everybody.
            let platform = v4.is_link_local() || v4.octets() == [168, 63, 129, 16];
            if platform || v4.is_loopback() || v4.is_unspecified() || v4.is_multicast() || v4.is_broadcast() {
                None
            } else if v4.is_private()
                || (v4.octets().first() == Some(&100)
                    && v4.octets().get(1).is_some_and(|octet| (64..128).contains(octet)))
            {
                Some(What::NoOwner(address))
            } else {
                Some(What::Outside(address))
            }
        }
        IpAddr::V6(v6) if v6.is_loopback() || v6.is_unspecified() || v6.is_multicast() => None,
        IpAddr::V6(v6) if v6.is_unique_local() || v6.is_unicast_link_local() => Some(What::NoOwner(address)),
        IpAddr::V6(_) => Some(What::Outside(address)),
    }
}

fn of_host(name: &str, estate: &Estate<'_>) -> Option<What> {
    if ["localhost", "listen", "at"].contains(&name) {
        return None;
    }
    if let Some(found) = of_name(name, estate) {
        return Some(found);
    }
    match role_of_part(name) {
        Some(role) => Some(What::Role(role, None)),
        None if estate.of_application(name).is_empty() => Some(What::Unknown(name.to_owned())),
        None => Some(What::Machines(estate.of_application(name), None)),
    }
}

/// Finds a name: whole, by its first label, without its signs, with an ending of some language, as a part of a longer one.
fn of_name(word: &str, estate: &Estate<'_>) -> Option<What> {
    let label = word.split('.').next().unwrap_or(word);
    let one = |machines: Vec<usize>| (!machines.is_empty()).then_some(What::Machines(machines, None));
    let plain = |text: &str| text.chars().filter(|char| char.is_alphanumeric()).collect::<String>();
    if let Some(found) = one(estate.named(|name| name == word)) {
        return Some(found);
    }
    let is_name = |name: &super::Name| {
        let name = super::fold::fold(&name.name);
        name == word || name.split('.').next() == Some(label)
    };
    if let Some(name) = estate.inventory.names.iter().position(is_name) {
        return Some(What::Name(name));
    }
    if let Some(found) = one(estate.named(|name| name == label)) {
        return Some(found);
    }
    if label.len() > 3
        && label.bytes().any(|byte| byte.is_ascii_digit() || byte == b'-')
        && let Some(found) = one(estate.named(|name| plain(name) == plain(label)))
    {
        return Some(found);
    }
    if let Some((stem, ending)) = label.rsplit_once('-')
        && WORDS.direction.endings.hold(ending)
        && let Some(found) = one(estate.named(|name| name == stem))
    {
        return Some(found);
    }
    let is_part = |name: &str| {
        name.match_indices(label).any(|(at, _)| {
            let before = name.get(..at).and_then(|text| text.chars().next_back());
            let behind = name.get(at + label.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(char::is_alphanumeric) && !behind.is_some_and(char::is_alphanumeric)
        })
    };
    if label.len() > 3 && label.contains(['-', '_']) { one(estate.named(is_part)) } else { None }
}

fn of_word(token: &Token<'_>, estate: &Estate<'_>) -> Option<What> {
    let word = token.text;
    if let Some(found) = of_name(word, estate) {
        return Some(found);
    }
    // A name that nothing has: its form is that of a name, and it shares something with those that are here.
    let label = word.split('.').next().unwrap_or(word);
    let own = parts(label);
    let has_number = label.bytes().any(|byte| byte.is_ascii_digit());
    let kind = own
        .iter()
        .any(|part| role_of_part(part).is_some() || ["vm", "srv", "host", "node"].contains(&part.as_str()));
    let known = own.iter().any(|part| !estate.of_application(part).is_empty());
    let is_spoken = WORDS.role.values().any(|role| role.words.hold(word)) || WORDS.guess.subjects.hold(word);
    let is_file =
        word.contains('/') || word.contains("exception") || word.contains("error") || word.contains('_');
    let ends_in_role = own.last().is_some_and(|last| role_of_part(last).is_some() || last == "vm");
    let fits = label.contains('-')
        && own.len() > 1
        && (has_number && (kind || known) || ends_in_role || (known && kind));
    let near = label.contains('-') && has_number && !estate.nearest(label).is_empty();
    (is_end_like(token) && !is_spoken && !is_file && (fits || near)).then(|| What::Unknown(word.to_owned()))
}

/// Adds the roles that are spoken of: `the app servers`, `the cache`, `app server 2`.
fn roles(text: &str, all: &[Token<'_>], mentions: &mut Vec<Mention>) {
    let mut found: Vec<(usize, usize, &'static str)> = Vec::new();
    for (name, role) in &WORDS.role {
        for place in role.words.find_all(text) {
            let within = all.iter().any(|token| {
                let own = token.start <= place.start && place.end <= token.end && token.text.is_ascii();
                let before = text.get(token.start..place.start).unwrap_or_default();
                let behind = text.get(place.end..token.end).unwrap_or_default();
                own && (!before.is_empty() || behind.contains(['-', '.', '_', ':', '/']))
            });
            if !within {
                found.push((place.start, place.end, name));
            }
        }
    }
    // Of roles that overlap, the longest words are meant.
    found.sort_by_key(|(start, end, _)| (std::cmp::Reverse(end - start), *start));
    for (start, end, role) in found {
        let overlaps = mentions.iter().any(|mention| mention.start < end && start < mention.end);
        let follows_number = all.iter().find(|token| token.start >= end).and_then(|token| {
            let Kind::Number(number) = token.kind else { return None };
            let is_beside = text.get(end..token.start).is_some_and(|gap| gap == " ");
            (number < 100 && is_beside).then_some((number, token.end))
        });
        if !overlaps {
            let (number, end) = follows_number.map_or((None, end), |(number, end)| (Some(number), end));
            mentions.push(Mention::new(start, end, What::Role(role, number)));
        }
    }
}

/// `app -> db`, `web can't reach app`: parts of names stand for a role where they have a part in a flow.
fn bare_roles(text: &str, all: &[Token<'_>], mentions: &mut Vec<Mention>) {
    for (at, token) in all.iter().enumerate() {
        let Some(role) = role_of_part(token.text).filter(|_| token.kind == Kind::Word) else { continue };
        let is_arrow = |at: Option<usize>| {
            at.and_then(|at| all.get(at))
                .is_some_and(|token| matches!(token.kind, Kind::Arrow | Kind::BackArrow))
        };
        let before = text.get(..token.start).unwrap_or_default().trim_end();
        let behind = text.get(token.end..).unwrap_or_default().trim_start();
        let calls = WORDS.direction.cannot.begin(behind);
        let called = ["to", "reach", "->"].iter().any(|word| before.ends_with(&format!(" {word}")));
        let overlaps = mentions.iter().any(|mention| mention.start < token.end && token.start < mention.end);
        if !overlaps && (is_arrow(at.checked_sub(1)) || is_arrow(Some(at + 1)) || calls || called) {
            mentions.push(Mention::new(token.start, token.end, What::Role(role, None)));
        }
    }
}

fn outside(text: &str, mentions: &mut Vec<Mention>) {
    for place in WORDS.outside.words.find_all(text) {
        let overlaps = mentions.iter().any(|mention| mention.start < place.end && place.start < mention.end);
        if !overlaps {
            mentions.push(Mention::new(place.start, place.end, What::Internet));
        }
    }
}

/// Gives each end its part, by arrows, the words before it and the words behind it.
pub(super) fn mark(text: &str, all: &[Token<'_>], mentions: &mut [Mention], ports: &[PortMention]) {
    let roman = WORDS.direction.roman_gate.are_in(text);
    for at in 0..mentions.len() {
        let Some(mention) = mentions.get(at).cloned() else { continue };
        let earlier = at.checked_sub(1).and_then(|before| mentions.get(before)).cloned();
        let from = earlier.as_ref().map_or(0, |before| before.end);
        let to = mentions.get(at + 1).map_or(text.len(), |next| next.start);
        let before = text.get(from..mention.start).unwrap_or_default();
        let behind = text.get(mention.end..to).unwrap_or_default();
        // `A and B:5432`: the port is that of B alone.
        let joined = earlier.as_ref().is_some_and(|earlier| mention.port.is_none() || earlier.port.is_some())
            && is_joint(before);
        let arrow = |from: usize, to: usize| {
            all.iter().find(|token| {
                token.start >= from && token.end <= to && matches!(token.kind, Kind::Arrow | Kind::BackArrow)
            })
        };
        let left = arrow(from, mention.start).map(|token| token.kind == Kind::Arrow);
        // An arrow that leads to no end and to no port shows what came of it: `ping B -> 100% packet loss`.
        let leads = |arrow: &&Token<'_>| {
            mentions.len() > at + 1
                || arrow.kind == Kind::BackArrow
                || ports.iter().any(|port| port.start >= arrow.end)
        };
        let right = arrow(mention.end, to).filter(leads).map(|token| token.kind == Kind::Arrow);
        let port_between = ports
            .iter()
            .rev()
            .find(|port| !port.is_bound && !port.is_word && port.start >= from && port.end <= mention.start);
        // Words before a port speak of the port, unless it only follows them: `on 8443 to B`.
        let before =
            port_between.map_or(before, |port| text.get(port.end..mention.start).unwrap_or_default());
        let listed = first_calls(Some(&mention), mentions.get(at + 1), text)
            .or_else(|| first_calls(earlier.as_ref(), Some(&mention), text).map(|calls| !calls));
        let mark = match (left, right) {
            (None, None) if listed == Some(true) => Mark::From,
            (None, None) if listed == Some(false) => Mark::To,
            (Some(true), None | Some(false)) | (None, Some(false)) => Mark::To,
            (Some(false), _) | (None, Some(true)) => Mark::From,
            (Some(true), Some(true)) => Mark::Hop,
            (None, None) => word_mark(text, mention.start, before, behind, roman),
        };
        // `port 5432 of B`: B has the port.
        let has_port = port_between.is_some() && before.split_whitespace().count() < 3;
        let mark = if mark == Mark::Of && has_port { Mark::At } else { mark };
        let mark = match (mark, &earlier) {
            (Mark::Open | Mark::At, Some(earlier)) if joined && mark == Mark::Open => earlier.mark,
            (Mark::Open | Mark::At | Mark::Of | Mark::With, _) if mention.port.is_some() => Mark::To,
            _ => mark,
        };
        if let Some(mention) = mentions.get_mut(at) {
            let is_and = WORDS.boundary.and.hold(before.trim());
            let changed = earlier.as_ref().is_some_and(|earlier| earlier.is_changed);
            // `A -> B, B -> C` is no list, and `we moved A, B cannot …` neither.
            let is_list = joined && left.is_none() && right.is_none() && (is_and || !changed);
            (mention.mark, mention.is_joined) = (mark, is_list);
            mention.is_changed = is_changed(before, behind) || (is_list && changed);
        }
    }
}

/// `after the reboot of A`, `since A was moved`.
fn is_changed(before: &str, behind: &str) -> bool {
    let mut rest = before.trim_end();
    for _ in 0..3 {
        if WORDS.change.before.end(rest) {
            return true;
        }
        let last = rest.split_whitespace().next_back().unwrap_or_default();
        let passes = WORDS.direction.filler.hold(last) || WORDS.direction.at.hold(last);
        if last.is_empty() || !passes {
            break;
        }
        rest = rest.strip_suffix(last).unwrap_or_default().trim_end();
    }
    WORDS.change.behind.begin(behind.trim_start())
}

/// `unlike A`: A is what the others are compared with.
fn is_contrasted(text: &str, start: usize) -> bool {
    WORDS.direction.unlike.end(text.get(..start).unwrap_or_default().trim_end())
}

/// Ports from which callers call.
const EPHEMERAL: u16 = 32_768;

/// `10.0.0.4:43512 10.0.0.5:5432`, as sockets are listed: tells whether the first of the two calls.
fn first_calls(one: Option<&Mention>, next: Option<&Mention>, text: &str) -> Option<bool> {
    let (one, next) = (one?, next?);
    let has_address = |mention: &Mention| {
        matches!(mention.what, What::Machines(_, Some(_)) | What::Outside(_) | What::NoOwner(_))
    };
    let is_beside = text.get(one.end..next.start).is_some_and(|between| between.trim().is_empty());
    let (own, other) = (one.port?, next.port?);
    (is_beside && has_address(one) && has_address(next)).then_some(own >= EPHEMERAL || other < EPHEMERAL)
}

/// `A and B`, `A, B`; `A / B` are rather the two ends of one flow.
fn is_joint(between: &str) -> bool {
    if between.trim().is_empty() || between.contains('/') {
        return false;
    }
    let sign = |char: char| ",&+、".contains(char);
    let has_sign = between.contains(sign);
    let between = between.trim_matches(|char: char| char.is_whitespace() || sign(char));
    let words: Vec<&str> =
        between.split_whitespace().filter(|word| !WORDS.direction.filler.hold(word)).collect();
    match words.as_slice() {
        // A word that only fills makes no list: `A den B` is `from A, B` elsewhere.
        [] => has_sign,
        [word] => WORDS.boundary.and.hold(word) || WORDS.boundary.or.hold(word),
        _ => false,
    }
}

fn word_mark(text: &str, start: usize, before: &str, behind: &str, roman: bool) -> Mark {
    let direction = &WORDS.direction;
    let next = behind.trim_start();
    let glued = if behind.starts_with(')') { behind.trim_start_matches(')').trim_start() } else { next };
    if direction.via_behind.begin(glued) {
        return Mark::Via;
    }
    if direction.from_behind.begin(glued) || (roman && direction.roman_from_behind.begin(glued)) {
        return Mark::From;
    }
    if direction.to_behind.begin(glued) || (roman && direction.roman_to_behind.begin(glued)) {
        return Mark::To;
    }
    let mut rest = before.trim_end_matches(|char: char| char.is_whitespace() || "(\"'[<=".contains(char));
    // `for the vm A`: what fills is passed over.
    for _ in 0..4 {
        if ends_clause(before, rest) {
            return Mark::Open;
        }
        let last = rest
            .split(|char: char| !char.is_alphanumeric() && char != '\'' && char != '-')
            .next_back()
            .unwrap_or_default();
        if let Some(mark) = mark_of(text, start, rest) {
            return mark;
        }
        if last.is_empty() || !direction.filler.hold(last) {
            break;
        }
        rest = rest.strip_suffix(last).unwrap_or_default().trim_end();
    }
    // `B gets no syslog from A`: B takes what A sends.
    let takes = direction.pushed.are_in(behind) && direction.from.end(behind.trim_end());
    match (direction.says.begin(next), takes) {
        (true, true) => Mark::To,
        (true, false) => Mark::From,
        (false, _) => Mark::Open,
    }
}

/// A clause that ended says nothing about what follows.
fn ends_clause(before: &str, rest: &str) -> bool {
    rest.ends_with([',', ';', '.', '?', '!']) || (rest.ends_with(':') && before.len() > rest.len())
}

/// `connect EHOSTUNREACH 10.0.0.5:5432 - Local (10.0.0.4:43512)`
fn is_local(text: &str, start: usize) -> bool {
    text.get(..start).is_some_and(|before| before.ends_with("local ("))
}

/// `A wird von B abgewiesen`: tells whether the clause goes on to say that somebody refuses.
fn is_refused(text: &str, start: usize) -> bool {
    let behind = text.get(start..).unwrap_or_default();
    let clause = behind.split([',', ';', '!', '?', '\n']).next().unwrap_or_default();
    let words = WORDS.symptom.get(&Symptom::Refused).into_iter().flat_map(|languages| languages.values());
    words.into_iter().any(|words| words.are_in(clause))
}

fn mark_of(text: &str, start: usize, rest: &str) -> Option<Mark> {
    let direction = &WORDS.direction;
    if is_local(text, start) {
        return Some(Mark::From);
    }
    if direction.refused_by.end(rest) || (direction.passive_by.end(rest) && is_refused(text, start)) {
        return Some(Mark::To);
    }
    if direction.via.end(rest) {
        return Some(Mark::Via);
    }
    if direction.kept_out.end(rest) || direction.awaits.end(rest) {
        return Some(Mark::To);
    }
    if direction.from.end(rest) {
        // `no syslog from A`: A sends it. `no time from A`: A is asked for it.
        let said = rest.trim_end_matches(char::is_alphanumeric).trim_end();
        if direction.pushed.end(said) {
            return Some(Mark::From);
        }
        if direction.pulled.end(said) {
            return Some(Mark::To);
        }
        // `answers from B to A`: B serves.
        let answers = direction.answers.find_all(text.get(..start).unwrap_or_default());
        let is_answer = answers.last().is_some_and(|place| {
            text.get(place.end..start).is_some_and(|between| between.split_whitespace().count() <= 2)
        });
        // `A gets nothing from B` receives, `nothing gets through from A to B` does not.
        let is_received = direction.receives.are_in(rest) && !direction.via.end(said);
        // `503 from B`: B says so, and serves.
        let last: Vec<&str> = rest.split_whitespace().rev().skip(1).take(3).collect();
        let is_for = rest.ends_with("for") || rest.ends_with("fur");
        if !is_for && last.iter().any(|word| word.parse().is_ok_and(|code: u16| (400..600).contains(&code))) {
            return Some(Mark::At);
        }
        return Some(if is_answer || is_received { Mark::To } else { Mark::From });
    }
    if direction.at.end(rest) || direction.of.end(rest) {
        let words: Vec<&str> =
            rest.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let observer = words
            .len()
            .checked_sub(2)
            .and_then(|at| words.get(at))
            .is_some_and(|word| direction.observer.hold(word));
        if observer {
            return Some(Mark::From);
        }
    }
    if direction.between.end(rest) {
        return Some(Mark::Between);
    }
    if direction.of.end(rest) {
        return Some(Mark::Of);
    }
    if direction.with.end(rest) {
        return Some(Mark::With);
    }
    if direction.to.end(rest) {
        let answers =
            direction.answers.are_in(text.get(..start).unwrap_or_default()) && rest.ends_with("reach");
        return Some(if answers { Mark::From } else { Mark::To });
    }
    direction.at.end(rest).then_some(Mark::At)
}

/// `crm-app (10.0.0.4)` is one end, `the api on db-1` another.
fn drop_appositions(text: &str, mentions: &mut Vec<Mention>) {
    let mut at = 0;
    while at + 1 < mentions.len() {
        let (Some(one), Some(next)) = (mentions.get(at).cloned(), mentions.get(at + 1).cloned()) else {
            break;
        };
        let between = text.get(one.end..next.start).unwrap_or_default();
        let beside = between.trim().chars().all(|char| "(=\"'".contains(char))
            || ["aka", "ip", "(ip"].contains(&between.trim());
        let is_role = matches!(one.what, What::Role(..) | What::Internet);
        let is_named = matches!(
            next.what,
            What::Machines(..) | What::Name(_) | What::Outside(_) | What::Unknown(_) | What::NoOwner(_)
        );
        let bare = between.trim_matches(|char: char| !char.is_alphanumeric());
        let names = bare.split_whitespace().all(|word| {
            WORDS.direction.filler.hold(word)
                || WORDS.direction.at.hold(word)
                || WORDS.direction.of.hold(word)
        }) && !between.contains([',', ';', '>', ':', '/']);
        if is_role && is_named && names {
            // The mark of the role holds for the name: `to the database db-1`.
            let mark = if matches!(next.mark, Mark::Open | Mark::At | Mark::Of) && one.mark != Mark::Open {
                one.mark
            } else {
                next.mark
            };
            if let Some(next) = mentions.get_mut(at + 1) {
                next.mark = mark;
            }
            mentions.remove(at);
            continue;
        }
        let same = match (&one.what, &next.what) {
            (What::Machines(one, _), What::Machines(next, Some(_))) => beside || one == next,
            (What::Machines(..), What::NoOwner(_) | What::Outside(_)) => beside && between.contains('('),
            (What::Machines(..) | What::Name(_), What::Role(..)) => {
                between.trim().is_empty() || between.trim() == "("
            }
            (one, next) => one == next,
        };
        // `A -> B, B -> C` names B twice.
        let is_twice = one.mark == Mark::To && next.mark == Mark::From;
        // Two addresses with ports are two ends.
        let same = same && !is_twice && (one.port.is_none() || next.port.is_none() || one.what == next.what);
        if same && (beside || between.trim().is_empty() || one.what == next.what) {
            let kept = mentions.remove(at + 1);
            if let Some(one) = mentions.get_mut(at) {
                one.end = kept.end.max(one.end);
                one.port = one.port.or(kept.port);
                if let (What::Machines(_, address @ None), What::Machines(_, Some(known))) =
                    (&mut one.what, &kept.what)
                {
                    *address = Some(*known);
                }
                if one.mark == Mark::Open || (one.mark == Mark::At && kept.mark > Mark::At) {
                    one.mark = kept.mark;
                }
            }
            continue;
        }
        if matches!(one.what, What::Unknown(_))
            && beside
            && between.contains('(')
            && matches!(next.what, What::Machines(..) | What::Outside(_))
        {
            if let Some(next) = mentions.get_mut(at + 1) {
                next.mark = if next.mark == Mark::Open { one.mark } else { next.mark };
            }
            mentions.remove(at);
            continue;
        }
        at += 1;
    }
}
