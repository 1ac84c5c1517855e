//! A packet through every backend of a host.

use serde::Serialize;

use super::view::Host;
use crate::netfilter::ruleset::Format;
use crate::netfilter::walk::{Answer, Packet, PacketError, Verdict, walk};

/// What becomes of a packet on a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostAnswer {
    /// What becomes of it.
    pub verdict: Verdict,
    /// The source that decided; absent where none stops it, or where that is open.
    pub source: Option<&'static str>,
    /// What each backend makes of it, alone.
    pub answers: Vec<BackendAnswer>,
    /// What would change the answer.
    pub undecided: Vec<String>,
}

/// What one backend makes of a packet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackendAnswer {
    /// The source whose rules gave the answer, such as `nft`.
    pub source: &'static str,
    /// What this backend does with the packet.
    #[serde(flatten)]
    pub answer: Answer,
}

/// Says what becomes of a packet: every backend has to let it pass.
///
/// # Errors
/// Fails where no backend understands the description of the packet.
pub fn walk_host(host: &Host, packet: &Packet) -> Result<HostAnswer, PacketError> {
    let six = packet.src.is_ipv6();
    let mut answers = Vec::new();
    for (source, ruleset) in host.rulesets() {
        if ruleset.format == Format::Save && (ruleset.family == "ipv6") != six {
            continue;
        }
        answers.push(BackendAnswer { source, answer: walk(ruleset, packet)? });
    }
    let mut undecided: Vec<String> = Vec::new();
    let stops: Vec<&BackendAnswer> =
        answers.iter().filter(|own| matches!(own.answer.verdict, Verdict::Drop | Verdict::Reject)).collect();
    let open = answers.iter().filter(|own| own.answer.verdict == Verdict::Indeterminate);
    let first = stops.first().map(|own| (own.answer.verdict, own.source));
    let verdict = match first {
        Some((verdict, _)) if stops.iter().all(|own| own.answer.verdict == verdict) => {
            // Another backend may refuse it with a word, or swallow it first.
            verdict
        }
        Some(_) => {
            undecided.push("which backend is asked first: one drops it, another rejects it".to_owned());
            Verdict::Indeterminate
        }
        None => {
            for own in open {
                undecided.extend(own.answer.undecided.iter().map(|what| format!("{}: {what}", own.source)));
            }
            let other = if six { "iptables" } else { "ip6tables" };
            let unread =
                host.unread.iter().filter(|warning| !warning.place.starts_with(&format!("{other}-")));
            undecided.extend(unread.map(|warning| format!("{}: {}", warning.place, warning.what)));
            let absent = host.absent.iter().filter(|source| !source.starts_with(&format!("{other}-")));
            let reason = absent.filter(|source| !host.unread.iter().any(|warning| warning.place == **source));
            let silent: Vec<String> = reason.map(|source| format!("{source}: was not gathered")).collect();
            undecided.extend(silent);
            if undecided.is_empty() { Verdict::Accept } else { Verdict::Indeterminate }
        }
    };
    let source = first.filter(|_| verdict != Verdict::Indeterminate).map(|(_, source)| source);
    Ok(HostAnswer { verdict, source, answers, undecided })
}
