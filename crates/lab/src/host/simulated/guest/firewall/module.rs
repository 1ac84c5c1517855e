//! Which options the modules have, in the order in which they are printed.

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// None: the option stands alone.
    Flag,
    Word,
    /// A text, quoted where it has to be.
    Text,
    Port,
    Ports,
    States,
    Mark,
    Rate,
    Burst,
    IcmpType,
    Chance,
    Number,
    /// TCP flags: two words.
    Flags,
    Syn,
    /// `--set-mark` of the target, and its relatives.
    SetMark,
    Upper,
    User,
    RejectWith,
    LogLevel,
    /// Two words, as for `--match-set`.
    Two,
}

/// An option: how it is written, how it is printed, what it takes.
pub(super) type Row = (&'static str, &'static str, Kind);

const PORTS: [Row; 6] = [
    ("--sport", "--sport", Kind::Port),
    ("--source-port", "--sport", Kind::Port),
    ("--dport", "--dport", Kind::Port),
    ("--destination-port", "--dport", Kind::Port),
    ("--tcp-flags", "--tcp-flags", Kind::Flags),
    ("--syn", "--tcp-flags", Kind::Syn),
];

/// Returns the options of a match.
pub(super) fn matching(module: &str) -> Option<&'static [Row]> {
    Some(match module {
        "tcp" => &PORTS,
        "udp" | "sctp" | "dccp" | "udplite" => PORTS.split_at_checked(4)?.0,
        "multiport" => &[
            ("--sports", "--sports", Kind::Ports),
            ("--source-ports", "--sports", Kind::Ports),
            ("--dports", "--dports", Kind::Ports),
            ("--destination-ports", "--dports", Kind::Ports),
            ("--ports", "--ports", Kind::Ports),
        ],
        "conntrack" => &[
            ("--ctstate", "--ctstate", Kind::States),
            ("--ctproto", "--ctproto", Kind::Word),
            ("--ctdir", "--ctdir", Kind::Upper),
        ],
        "state" => &[("--state", "--state", Kind::States)],
        "comment" => &[("--comment", "--comment", Kind::Text)],
        "limit" => &[("--limit", "--limit", Kind::Rate), ("--limit-burst", "--limit-burst", Kind::Burst)],
        "icmp" => &[("--icmp-type", "--icmp-type", Kind::IcmpType)],
        "icmp6" => &[("--icmpv6-type", "--icmpv6-type", Kind::IcmpType)],
        "owner" => &[("--uid-owner", "--uid-owner", Kind::User), ("--gid-owner", "--gid-owner", Kind::User)],
        "mark" => &[("--mark", "--mark", Kind::Mark)],
        "connmark" => &[("--mark", "--mark", Kind::Mark)],
        "addrtype" => &[("--src-type", "--src-type", Kind::Upper), ("--dst-type", "--dst-type", Kind::Upper)],
        "iprange" => {
            &[("--src-range", "--src-range", Kind::Word), ("--dst-range", "--dst-range", Kind::Word)]
        }
        "length" => &[("--length", "--length", Kind::Word)],
        "statistic" => &[
            ("--mode", "--mode", Kind::Word),
            ("--probability", "--probability", Kind::Chance),
            ("--every", "--every", Kind::Number),
            ("--packet", "--packet", Kind::Number),
        ],
        "mac" => &[("--mac-source", "--mac-source", Kind::Upper)],
        "pkttype" => &[("--pkt-type", "--pkt-type", Kind::Word)],
        "set" => &[("--match-set", "--match-set", Kind::Two)],
        _ => return None,
    })
}

/// Returns the options of a target.
pub(super) fn doing(target: &str) -> Option<&'static [Row]> {
    Some(match target {
        "ACCEPT" | "DROP" | "RETURN" | "TRACE" | "NOTRACK" => &[],
        "REJECT" => &[("--reject-with", "--reject-with", Kind::RejectWith)],
        "LOG" => &[
            ("--log-prefix", "--log-prefix", Kind::Text),
            ("--log-level", "--log-level", Kind::LogLevel),
            ("--log-tcp-sequence", "--log-tcp-sequence", Kind::Flag),
            ("--log-tcp-options", "--log-tcp-options", Kind::Flag),
            ("--log-ip-options", "--log-ip-options", Kind::Flag),
            ("--log-uid", "--log-uid", Kind::Flag),
        ],
        "NFLOG" => &[
            ("--nflog-prefix", "--nflog-prefix", Kind::Text),
            ("--nflog-group", "--nflog-group", Kind::Number),
        ],
        "SNAT" => &[("--to-source", "--to-source", Kind::Word)],
        "DNAT" => &[("--to-destination", "--to-destination", Kind::Word)],
        "MASQUERADE" => &[("--to-ports", "--to-ports", Kind::Word), ("--random", "--random", Kind::Flag)],
        "REDIRECT" => &[("--to-ports", "--to-ports", Kind::Word)],
        "MARK" => &[
            ("--set-mark", "--set-xmark", Kind::SetMark),
            ("--set-xmark", "--set-xmark", Kind::SetMark),
            ("--or-mark", "--set-xmark", Kind::SetMark),
            ("--and-mark", "--set-xmark", Kind::SetMark),
            ("--xor-mark", "--set-xmark", Kind::SetMark),
        ],
        "TCPMSS" => &[
            ("--set-mss", "--set-mss", Kind::Number),
            ("--clamp-mss-to-pmtu", "--clamp-mss-to-pmtu", Kind::Flag),
        ],
        "NFQUEUE" => {
            &[("--queue-num", "--queue-num", Kind::Number), ("--queue-bypass", "--queue-bypass", Kind::Flag)]
        }
        "CT" => &[("--notrack", "--notrack", Kind::Flag)],
        _ => return None,
    })
}
