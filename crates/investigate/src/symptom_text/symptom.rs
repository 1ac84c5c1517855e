//! What is wrong, by the words that people use for it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A class of symptoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Symptom {
    /// Nothing arrives.
    Unreachable,
    /// Connections hang or time out.
    Hanging,
    /// Connections are refused or reset.
    Refused,
    /// It works, too slowly.
    Slow,
    /// Packets are lost or damaged, now and then.
    Lossy,
    /// One protocol or port fails where another works.
    OneProtocol,
    /// Nothing outside is reached.
    InternetLost,
    /// A storage account is not reached.
    StorageUnreachable,
    /// Somebody says that nothing changed, or asks whether anything did.
    NothingChanged,
    /// A change is said to be undone.
    RolledBack,
    /// What is open to whom.
    Exposure,
    /// Containers cannot talk.
    Containers,
    /// Names are not resolved.
    Names,
}

impl Symptom {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Unreachable,
        Self::Hanging,
        Self::Refused,
        Self::Slow,
        Self::Lossy,
        Self::OneProtocol,
        Self::InternetLost,
        Self::StorageUnreachable,
        Self::NothingChanged,
        Self::RolledBack,
        Self::Exposure,
        Self::Containers,
        Self::Names,
    ];

    /// Returns what it is, in words.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Hanging => "hangs or times out",
            Self::Refused => "refused or reset",
            Self::Slow => "slow",
            Self::Lossy => "loses or damages packets",
            Self::OneProtocol => "one protocol only",
            Self::InternetLost => "internet lost",
            Self::StorageUnreachable => "storage unreachable",
            Self::NothingChanged => "\"nothing changed\"",
            Self::RolledBack => "\"rolled back\"",
            Self::Exposure => "compliance audit",
            Self::Containers => "containers cut off",
            Self::Names => "names not resolved",
        }
    }

    /// Returns the words that speak of it, in lower case.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Unreachable => &[
                "unreachable",
                "not reach",
                "cannot reach",
                "can't reach",
                "cant reach",
                "unable to reach",
                "cannot connect",
                "can't connect",
                "not connect",
                "does not answer",
                "no answer",
                "no response",
                "not respond",
                "is dead",
                "dead?",
                "is down",
                "broken",
                "failing",
                " fail",
                "cannot open",
                "can't open",
                "lost connect",
                "blocked",
                "no longer works",
                "stopped working",
                "nicht erreichbar",
                "erreicht nicht",
                "keine verbindung",
                "inaccesible",
                "no alcanza",
                "no puede conectar",
                "no responde",
                "injoignable",
                "inaccessible",
                "ne répond",
                "irraggiungibile",
                "non raggiunge",
                "inacessível",
                "onbereikbaar",
                "нет связи",
                "недоступ",
                "接続できない",
                "つながらない",
                "无法连接",
                "cannot be reached",
                "not reachable",
                "kaputt",
                "cut off",
            ],
            Self::Hanging => &[
                "hang",
                "time out",
                "timeout",
                "times out",
                "timed out",
                "timing out",
                "silence",
                "silent",
                "hängt",
                "läuft ins leere",
                "zeitüberschreitung",
                "cuelga",
                "expira",
                "délai",
                "scade",
                "タイムアウト",
                "超时",
                "таймаут",
                "stuck",
                "stall",
                "freez",
                "never arrive",
                "not arrive",
                "kommt nicht an",
                "kommen nicht an",
            ],
            Self::Refused => &[
                "refus",
                "reject",
                "connection reset",
                "with resets",
                "rst",
                "abgelehnt",
                "abgewiesen",
                "rechaz",
                "rifiut",
                "recus",
                "拒否",
                "拒绝",
                "fail at once",
                "fails at once",
            ],
            Self::Slow => &[
                "slow",
                "crawl",
                "latency",
                "sluggish",
                "throughput",
                "bandwidth",
                "take ages",
                "takes ages",
                "too long",
                "as long as",
                "langsam",
                "durchsatz",
                "latenz",
                "lento",
                "lenta",
                "latencia",
                "lent ",
                "lenteur",
                "latenza",
                "lentidão",
                "traag",
                "медлен",
                "遅い",
                "慢",
                "near a gigabit",
                "speed",
                "performance",
                "delayed",
                "takes seconds",
            ],
            Self::Lossy => &[
                "packet loss",
                "losing",
                "lossy",
                "lose packets",
                "lost packets",
                "dropped packets",
                "drops packets",
                "dropping packets",
                "corrupt",
                "retransmi",
                "at random",
                "intermittent",
                "now and then",
                "sporadic",
                "flaky",
                "sometimes",
                "changing packets",
                "altered",
                "paketverlust",
                "verliert pakete",
                "pérdida",
                "perte de paquets",
                "perdita",
                "perda de pacotes",
                "потер",
                "パケットロス",
                "丢包",
                "some calls",
                "at times",
                "wrong place",
                "wrong machine",
                "duplicate address",
                "duplicate ip",
                "address conflict",
                "ip conflict",
                "doppelte adresse",
                "break off",
                "breaks off",
            ],
            Self::OneProtocol => &[
                "ping works",
                "ping is fine",
                "ping fine",
                "pings are fine",
                "ping fails",
                "ping geht",
                "ping funktioniert",
                "ping funciona",
                "https works",
                "http works",
                "only port",
                "other ports work",
                "small requests pass",
                "everything else works",
            ],
            Self::InternetLost => &[
                "internet",
                "package updates",
                "outside world",
                "egress",
                "outbound calls",
                "apt ",
                "calls outside",
                "external api",
                "public site",
                "reach anything outside",
                "paketquellen",
                "saída",
            ],
            Self::StorageUnreachable => &[
                "storage account",
                "blob",
                "storage",
                "speicherkonto",
                "cuenta de almacenamiento",
                "compte de stockage",
            ],
            Self::NothingChanged => &[
                "nothing changed",
                "nothing was changed",
                "nothing has changed",
                "no changes",
                "did it change",
                "what changed",
                "change anything",
                "anything change",
                "scripts change",
                "baseline",
                "nichts geändert",
                "nada cambió",
                "rien n'a changé",
                "sign-off",
                "drift",
            ],
            Self::RolledBack => &[
                "rolled back",
                "rollback",
                "roll back",
                "rolled-back",
                "zurückgerollt",
                "revertid",
                "reverted",
            ],
            Self::Exposure => &[
                "exposed",
                "exposure",
                "compliance",
                "attack surface",
                "open to the internet",
                "open to the world",
                "angriffsfläche",
                "who can reach",
                "expuest",
                "exposé",
                "publicly reachable",
                "audit",
                "permissive",
                "whole world can",
                "open to everybody",
                "open to anybody",
            ],
            Self::Containers => {
                &["container", "docker", "kubernetes", "podman", " pods", "contenedor", "conteneur"]
            }
            Self::Names => &[
                " dns",
                "(dns",
                "not resolve",
                "cannot resolve",
                "can't resolve",
                "don't resolve",
                "failed to resolve",
                "resolving",
                "name resolution",
                "nslookup",
                "lookups",
                "name server",
                "nameserver",
                "host not found",
                "nxdomain",
                "servfail",
                "namensauflösung",
                "auflösung von namen",
                "resolución de nombres",
                "résolution de noms",
                "risoluzione dei nomi",
                "名前解決",
            ],
        }
    }
}

/// Returns what is wrong.
pub(super) fn read(text: &str) -> BTreeSet<Symptom> {
    // Some words begin with the space before them.
    let lower = format!(" {}", text.to_lowercase());
    let spoken = |word: &str| {
        let fine = |at: usize| is_denied(lower.get(..at)) || is_fine(lower.get(at + word.len()..));
        lower.match_indices(word).any(|(at, _)| !fine(at))
    };
    let mut found: BTreeSet<Symptom> =
        Symptom::ALL.into_iter().filter(|symptom| symptom.words().iter().any(|word| spoken(word))).collect();
    // Complaints know more words; `open to the internet` is about who is let in, and about nobody who wants to go out.
    let (said, _) = crate::complaint::said(text);
    if said.contains(&Symptom::Exposure) && !said.contains(&Symptom::InternetLost) {
        found.remove(&Symptom::InternetLost);
    }
    found.extend(said);
    found
}

/// Tells whether somebody says that there is nothing wrong with it: `DNS works`.
fn is_fine(behind: Option<&str>) -> bool {
    let behind = behind.unwrap_or_default().trim_start();
    let words = [
        "works",
        "is fine",
        "is ok",
        "seems fine",
        "looks fine",
        "geht",
        "funktioniert",
        "funciona",
        "fonctionne",
    ];
    // `geht nicht`, `fonctionne pas`: the word that follows takes it back.
    let back = ["nicht", "not", "only", "kaum", "pas", "no", "keine"];
    words.iter().find_map(|word| behind.strip_prefix(word)).is_some_and(|rest| {
        let next = rest.split(|char: char| !char.is_alphanumeric()).find(|word| !word.is_empty());
        !next.is_some_and(|next| back.contains(&next))
    })
}

/// Tells whether somebody says that it is not so: `nothing is broken`.
fn is_denied(before: Option<&str>) -> bool {
    let before = before.unwrap_or_default().trim_end();
    ["nothing is", "nothing was", "nothing seems", "is not", "isn't", "are not", "aren't", "nichts ist"]
        .iter()
        .any(|word| before.ends_with(word))
}

/// Tells whether somebody wants to see packets.
pub(super) fn wants_capture(lower: &str) -> bool {
    [
        "capture",
        "pcap",
        "the wire",
        "tcpdump",
        "packet trace",
        "sniff",
        "mitschnitt",
        "mitschneiden",
        "captura",
        "wireshark",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Tells whether somebody wants them from both ends.
pub(super) fn both_ends(lower: &str) -> bool {
    [
        "on both",
        "both sides",
        "both ends",
        "both machines",
        "both vms",
        "beiden",
        "ambos",
        "ambas",
        "les deux",
        "entrambi",
        "each end",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_to_be_fine_is_no_symptom_unless_the_next_word_takes_it_back() {
        for text in ["DNS works", "DNS is fine on web-1", "DNS geht"] {
            assert!(!read(text).contains(&Symptom::Names), "{text}");
        }
        for text in
            ["DNS geht nicht", "DNS works only at times", "le DNS ne fonctionne pas", "(DNS is broken)"]
        {
            assert!(read(text).contains(&Symptom::Names), "{text}");
        }
        assert!(!read("This is an audit, nothing is broken.").contains(&Symptom::Unreachable));
    }
}
