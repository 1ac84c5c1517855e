//! The meaning of `iptables` options.

use std::collections::HashSet;

use super::address;
use super::name::{icmp_type, mark, port, protocol_number, state, tcp_flag};
use super::program::{CodeRule, ProgramStep};
use super::scope::{Scope, Updates};
use super::span::Spans;
use super::target::target;
use super::test::{Field, Test};
use crate::netfilter::ruleset::{Body, Part, Table};
use crate::netfilter::save::{canonical, is_extension_target};
use crate::netfilter::text::Text;

/// Collects the devices that the rules of a table name; `eth+` is every name that begins so.
pub(super) fn devices(table: &Table, found: &mut Vec<(String, bool)>) {
    for rule in table.chains.iter().flat_map(|chain| &chain.rules) {
        let Body::Save(parts) = &rule.body else { continue };
        let named = parts.iter().filter(|part| matches!(part.name.as_str(), "-i" | "-o"));
        found.extend(named.filter_map(|part| part.values.first()).map(|name| pattern(name)));
    }
}

fn pattern(name: &str) -> (String, bool) {
    match name.strip_suffix('+') {
        Some(start) => (start.to_owned(), true),
        None => (name.to_owned(), false),
    }
}

/// Compiles a rule.
pub(super) fn rule(scope: &mut Scope<'_>, parts: &[Part]) -> CodeRule {
    let mut code = CodeRule::default();
    let mut moody: Vec<(usize, String)> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        match part.name.as_str() {
            "-j" | "-g" => {
                let steps = target(scope, part, parts);
                code.steps.extend(steps.into_iter().map(|step| (at, step)));
            }
            // Options of a target say how; those behind a verdict belong to nothing that is known.
            _ if part
                .module
                .as_deref()
                .is_some_and(|module| is_target(module) && is_extension_target(module)) => {}
            "-m" if part.values.first().is_some_and(|module| bare_and_moody(module, parts)) => {
                moody.push((at, words(part)));
            }
            _ if part.module.as_deref().is_some_and(is_moody) => {
                // The options of such a match answer together.
                let text = words(part);
                match moody.last_mut() {
                    Some((_, before)) => *before = format!("{before} {text}"),
                    None => {
                        let module = part.module.as_deref().unwrap_or_default();
                        moody.push((at, format!("{module} {text}")));
                    }
                }
            }
            _ => {
                if let Some(test) = condition(scope, part, parts) {
                    code.steps.push((at, ProgramStep::Match(test)));
                }
            }
        }
    }
    for (at, text) in moody {
        let test = scope.moody(&text);
        code.steps.push((at, ProgramStep::Match(test)));
    }
    // Conditions come before what is done, in whatever order they were written.
    code.steps.sort_by_key(|(_, step)| !matches!(step, ProgramStep::Match(_)));
    code.steps.shrink_to_fit();
    code
}

fn is_target(module: &str) -> bool {
    module.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Whether it is a match of counts or chance that says nothing about how: `-m limit` is three an hour.
fn bare_and_moody(module: &str, parts: &[Part]) -> bool {
    is_moody(module) && !parts.iter().any(|part| part.module.as_deref() == Some(module))
}

/// Whether `-m` alone demands nothing: either the match demands nothing by itself, or its options say what.
fn demands_nothing(part: &Part, parts: &[Part]) -> bool {
    let module = part.values.first().map_or("", |module| canonical(module));
    // What belongs to the protocol that it is for demands no more than the protocol.
    let silent = matches!(module, "comment" | "tcp" | "udp" | "udplite" | "sctp" | "dccp" | "icmp" | "icmp6");
    let says = |own: &Part| {
        own.module.as_deref().is_some_and(|own| canonical(own) == module) && !is_remark(module, &own.name)
    };
    !part.negated && (silent || parts.iter().any(says))
}

/// Whether an option only says how the others of its match are meant.
fn is_remark(module: &str, option: &str) -> bool {
    matches!(
        (module, option),
        ("ipv6header", "--soft") | ("set", "--return-nomatch" | "--update-counters" | "--update-subcounters")
    )
}

/// Collects what a rule writes besides marks, addresses and ports, by the matches that ask for it.
pub(super) fn writes(parts: &[Part], found: &mut HashSet<String>) {
    let Some(target) = parts.iter().find(|part| part.name == "-j").and_then(|part| part.values.first())
    else {
        return;
    };
    let modules: &[&str] = match target.as_str() {
        "CONNMARK" => &["connmark"],
        "DSCP" | "TOS" | "ECN" => &["dscp", "tos", "ecn", "u32", "bpf"],
        "TTL" => &["ttl", "u32", "bpf"],
        "HL" => &["hl", "u32", "bpf"],
        "TCPMSS" | "TCPOPTSTRIP" => &["tcpmss", "tcp", "length", "u32", "bpf"],
        "CT" => &["helper", "conntrack"],
        "CLASSIFY" | "SECMARK" | "CONNSECMARK" => &["bpf"],
        _ if parts.iter().any(|part| part.module.as_deref() == Some("connlabel") && part.name == "--set") => {
            &["connlabel"]
        }
        _ => return,
    };
    found.extend(modules.iter().map(|module| (*module).to_owned()));
}

fn is_moody(module: &str) -> bool {
    matches!(
        module,
        "limit" | "hashlimit" | "recent" | "connlimit" | "statistic" | "quota" | "connbytes" | "rateest"
    )
}

fn words(part: &Part) -> String {
    let negated = if part.negated { "! " } else { "" };
    format!("{negated}{} {}", part.name, part.values.join(" ")).trim_end().to_owned()
}

/// Returns what an option demands; nothing where it demands nothing.
fn condition(scope: &mut Scope<'_>, part: &Part, parts: &[Part]) -> Option<Test> {
    let value = part.values.first().map_or("", Text::as_str);
    let test = match (part.module.as_deref(), part.name.as_str()) {
        (None, "-p") => protocol(value),
        (None, "-s") => addresses(Field::Source, value),
        (None, "-d") => addresses(Field::Destination, value),
        (None, "-i") => Some(device(scope, Field::In, value)),
        (None, "-o") => Some(device(scope, Field::Out, value)),
        // The packet is whole.
        (None, "-f") => Some(Test::Never),
        (None, "-m") if part.known && demands_nothing(part, parts) => return None,
        (Some("comment"), "--comment") => return None,
        (Some("tcp" | "udp" | "sctp" | "dccp" | "udplite"), "--sport" | "--source-port") => {
            ports(Field::Sport, value)
        }
        (Some("tcp" | "udp" | "sctp" | "dccp" | "udplite"), "--dport" | "--destination-port") => {
            ports(Field::Dport, value)
        }
        (Some("tcp"), "--syn") => Some(Test::masked(Field::TcpFlags, 1 | 2 | 4 | 16, Spans::one(2))),
        (Some("tcp"), "--tcp-flags") => flags(value, part.values.get(1).map_or("", Text::as_str)),
        (Some("multiport"), "--sports" | "--source-ports") => list(Field::Sport, value),
        (Some("multiport"), "--dports" | "--destination-ports") => list(Field::Dport, value),
        (Some("multiport"), "--ports") => {
            let (from, to) = (list(Field::Sport, value), list(Field::Dport, value));
            from.zip(to).map(|(from, to)| Test::Any(vec![from, to]))
        }
        (Some("icmp" | "icmp6"), "--icmp-type" | "--icmpv6-type") => {
            icmp(value, part.module.as_deref() == Some("icmp6"))
        }
        (Some("conntrack"), "--ctstate") | (Some("state"), "--state") => Some(states(scope, value)),
        (Some("mark"), "--mark") => marks(value),
        (Some("iprange"), "--src-range") => range(Field::Source, value),
        (Some("iprange"), "--dst-range") => range(Field::Destination, value),
        // Of one device alone it is another question.
        (Some("addrtype"), _) if parts.iter().any(|part| part.name.starts_with("--limit-iface")) => None,
        (Some("addrtype"), "--dst-type") => Some(address_type(scope, Field::Destination, value)),
        (Some("addrtype"), "--src-type") => Some(address_type(scope, Field::Source, value)),
        // Without the transport header of a fragment nothing about it holds, and no negation of it either.
        (Some("frag"), _) if part.known => return Some(Test::Never),
        (Some("set"), "--match-set") => member(scope, part, parts),
        (Some(module), option) if is_remark(module, option) => return None,
        _ => None,
    };
    Some(match test {
        Some(test) => test.negated(part.negated),
        None => {
            let text = match (part.module.as_deref(), part.name.as_str()) {
                (_, "-m") | (None, _) => words(part),
                (Some("set"), _) => format!("the set in {}", words(part).trim_start_matches("! ")),
                (Some(module), _) => format!("{module} {}", together(parts, module)),
            };
            let joined = part.module.as_deref().is_some_and(|module| module != "set");
            // A match of several options is one unknown; its own exclamation marks are in the text.
            let about = part.module.as_deref().unwrap_or_default();
            scope.about(about, &text).negated(part.negated && !joined && part.name != "-m")
        }
    })
}

/// Whether a packet is in a set that was given beside the rules.
fn member(scope: &mut Scope<'_>, part: &Part, parts: &[Part]) -> Option<Test> {
    let [name, flags] = &*part.values else { return None };
    let exceptions = parts.iter().any(|part| part.name == "--return-nomatch");
    let listed = scope.member(name, flags, exceptions)?;
    let (adds, deletes) = (scope.fills(name, Updates::Add), scope.fills(name, Updates::Delete));
    Some(scope.updated(listed, name, adds, deletes))
}

/// Returns all options of a module in one text.
fn together(parts: &[Part], module: &str) -> String {
    let own = parts.iter().filter(|part| part.module.as_deref() == Some(module));
    own.map(words).collect::<Vec<_>>().join(" ")
}

fn protocol(value: &str) -> Option<Test> {
    if value == "all" || value == "0" || value == "ip" {
        return Some(Test::Always);
    }
    Some(Test::one(Field::Protocol, protocol_number(value)?))
}

fn addresses(field: Field, value: &str) -> Option<Test> {
    let tests: Option<Vec<Test>> =
        value.split(',').map(|one| address::test(field, one).map(|(test, _)| test)).collect();
    let mut tests = tests?;
    if tests.len() == 1 { tests.pop() } else { Some(Test::Any(tests)) }
}

fn device(scope: &Scope<'_>, field: Field, value: &str) -> Test {
    let (name, open) = pattern(value);
    Test::Is(field, scope.names.matching(&name, open))
}

fn ports(field: Field, value: &str) -> Option<Test> {
    let (from, to) = match value.split_once(':') {
        Some((from, to)) => {
            (if from.is_empty() { 0 } else { port(from)? }, if to.is_empty() { 65_535 } else { port(to)? })
        }
        None => (port(value)?, port(value)?),
    };
    Some(Test::Is(field, Spans::run(from, to)))
}

fn list(field: Field, value: &str) -> Option<Test> {
    let mut runs = Vec::new();
    for one in value.split(',') {
        let Test::Is(_, spans) = ports(field, one)? else { return None };
        runs.extend(spans.runs().iter().copied());
    }
    Some(Test::Is(field, Spans::of(runs)))
}

fn flags(mask: &str, set: &str) -> Option<Test> {
    let bits = |text: &str| text.split(',').try_fold(0, |bits, flag| Some(bits | tcp_flag(flag)?));
    Some(Test::masked(Field::TcpFlags, bits(mask)?, Spans::one(bits(set)?)))
}

fn icmp(value: &str, six: bool) -> Option<Test> {
    if value == "any" || value == "255" && !six {
        return Some(Test::Always);
    }
    let (kind, code) = match value.split_once('/') {
        Some((kind, code)) => (kind, Some(code)),
        None => (value, None),
    };
    let kind = Test::one(Field::IcmpType, icmp_type(kind, six)?);
    match code {
        None => Some(kind),
        Some(code) => {
            let (from, to) = code.split_once(':').unwrap_or((code, code));
            let code = Spans::run(from.parse::<u8>().ok()?.into(), to.parse::<u8>().ok()?.into());
            Some(kind.and(Test::Is(Field::IcmpCode, code)))
        }
    }
}

fn states(scope: &mut Scope<'_>, value: &str) -> Test {
    let mut spans = Vec::new();
    let mut rest = Vec::new();
    for word in value.split(',') {
        match state(word) {
            Some(number) => spans.push((number, number)),
            // No source reports SNAT and DNAT.
            None => rest.push(scope.atom(&format!("the connection's state {word}"))),
        }
    }
    let known = Test::Is(Field::State, Spans::of(spans));
    if rest.is_empty() {
        return known;
    }
    rest.insert(0, known);
    Test::Any(rest)
}

fn marks(value: &str) -> Option<Test> {
    match value.split_once('/') {
        None => Some(Test::one(Field::Mark, mark(value)?)),
        Some((set, mask)) => {
            let (set, mask) = (mark(set)?, mark(mask)?);
            if mask == u128::from(u32::MAX) {
                return Some(Test::one(Field::Mark, set));
            }
            Some(Test::masked(Field::Mark, mask, Spans::one(set)))
        }
    }
}

fn range(field: Field, value: &str) -> Option<Test> {
    let (from, to) = value.split_once('-').unwrap_or((value, value));
    let (from, family) = address::number(from.parse().ok()?);
    let (to, other) = address::number(to.parse().ok()?);
    (family == other).then(|| Test::Is(field, Spans::run(from, to)))
}

/// What kind of address it is depends on the host's own; only some are known from the address alone.
fn address_type(scope: &mut Scope<'_>, field: Field, value: &str) -> Test {
    let tests = value.split(',').map(|word| super::operand::address_kind(scope, field, word)).collect();
    Test::Any(tests)
}
