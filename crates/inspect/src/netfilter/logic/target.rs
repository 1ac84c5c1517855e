//! What the targets of `iptables` do.

use super::name::mark;
use super::program::{Change, Code, ProgramStep};
use super::scope::Scope;
use super::test::Field;
use crate::netfilter::ruleset::Part;
use crate::netfilter::text::Text;

/// Returns what a target does.
pub(super) fn target(scope: &mut Scope<'_>, part: &Part, parts: &[Part]) -> Vec<ProgramStep> {
    let name = part.values.first().map_or("", Text::as_str);
    if part.name == "-g" {
        return vec![ProgramStep::Do(scope.chain(name, true))];
    }
    let option = |wanted: &str| {
        let own = parts.iter().find(|part| part.name == wanted && part.module.as_deref() == Some(name));
        own.map(|part| part.values.first().map_or("", Text::as_str))
    };
    match name {
        _ if scope.has_chain(name) => vec![ProgramStep::Do(scope.chain(name, false))],
        "ACCEPT" => vec![ProgramStep::Do(Code::Accept)],
        "DROP" => vec![ProgramStep::Do(Code::Drop)],
        "RETURN" => vec![ProgramStep::Do(Code::Return)],
        "REJECT" => vec![ProgramStep::Do(Code::Reject)],
        "MARK" => vec![ProgramStep::Change(set_mark(option).unwrap_or(Change::MarkUnknown))],
        "CONNMARK" if option("--restore-mark").is_some() => vec![ProgramStep::Change(Change::MarkUnknown)],
        "CT" if option("--notrack").is_some() => vec![ProgramStep::Change(Change::Untrack)],
        "CT" if ["--zone", "--zone-orig", "--zone-reply"].iter().any(|zone| option(zone).is_some()) => {
            vec![ProgramStep::Change(Change::Zone)]
        }
        "NOTRACK" => vec![ProgramStep::Change(Change::Untrack)],
        "HMARK" => vec![ProgramStep::Change(Change::MarkUnknown)],
        // What translates prefixes goes on to the next rule.
        "DNPT" => vec![ProgramStep::Change(Change::Set(Field::Destination, None))],
        "SNPT" => vec![ProgramStep::Change(Change::Set(Field::Source, None))],
        "DNAT" | "REDIRECT" | "NETMAP" => vec![
            ProgramStep::Change(Change::Set(Field::Destination, None)),
            ProgramStep::Change(Change::Set(Field::Dport, None)),
            ProgramStep::Do(Code::Accept),
        ],
        "SNAT" | "MASQUERADE" => vec![
            ProgramStep::Change(Change::Set(Field::Source, None)),
            ProgramStep::Change(Change::Set(Field::Sport, None)),
            ProgramStep::Do(Code::Accept),
        ],
        // Who takes the packet may mark it.
        "TPROXY" | "NFQUEUE" | "QUEUE" => vec![
            ProgramStep::Change(Change::MarkUnknown),
            ProgramStep::Do(scope.unknown(&format!("what {name} makes of the packet"))),
        ],
        // What these do not take goes on to the next rule.
        "SYNPROXY" | "CLUSTERIP" => {
            vec![
                ProgramStep::Match(scope.moody(&format!("whether {name} takes the packet"))),
                ProgramStep::Do(scope.unknown(&format!("what {name} makes of the packet"))),
            ]
        }
        "" => Vec::new(),
        _ if crate::netfilter::save::is_extension_target(name) => Vec::new(),
        _ => vec![ProgramStep::Do(scope.chain(name, false))],
    }
}

/// `--set-xmark value/mask` clears the bits of the mask and turns over those of the value.
fn set_mark<'a>(option: impl Fn(&str) -> Option<&'a str>) -> Option<Change> {
    let number = |text: &str| mark(text).and_then(|mark| u32::try_from(mark).ok());
    let pair = |text: &str| match text.split_once('/') {
        Some((value, mask)) => Some((number(value)?, number(mask)?)),
        None => Some((number(text)?, u32::MAX)),
    };
    let (clear, flip) = if let Some(text) = option("--set-xmark") {
        let (value, mask) = pair(text)?;
        (mask, value)
    } else if let Some(text) = option("--set-mark") {
        let (value, mask) = pair(text)?;
        (mask | value, value)
    } else if let Some(text) = option("--and-mark") {
        (!number(text)?, 0)
    } else if let Some(text) = option("--or-mark") {
        (number(text)?, number(text)?)
    } else {
        (0, number(option("--xor-mark")?)?)
    };
    Some(Change::Mark { clear, flip })
}
