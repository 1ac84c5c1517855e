//! The options that are known by name, and how many words stand behind each.

/// How many words stand behind an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behind {
    /// How many.
    Words(usize),
    /// One, unless an option follows.
    Perhaps,
}

/// The options of a module: its name, then those with one word, with none, with two.
type Module = (&'static str, &'static str, &'static str, &'static str);

/// Options behind which a word may stand or not.
const PERHAPS: [(&str, &str); 6] = [
    ("rateest", "--rateest-bps"),
    ("rateest", "--rateest-pps"),
    ("rateest", "--rateest-bps1"),
    ("rateest", "--rateest-bps2"),
    ("rateest", "--rateest-pps1"),
    ("rateest", "--rateest-pps2"),
];

/// The long options that every rule may have, their short forms and how many words stand behind.
const BASE: [(&str, &str, usize); 11] = [
    ("--protocol", "-p", 1),
    ("--source", "-s", 1),
    ("--src", "-s", 1),
    ("--destination", "-d", 1),
    ("--dst", "-d", 1),
    ("--in-interface", "-i", 1),
    ("--out-interface", "-o", 1),
    ("--match", "-m", 1),
    ("--jump", "-j", 1),
    ("--goto", "-g", 1),
    ("--fragments", "-f", 0),
];

/// Abbreviations of them that are common in rules that people write.
const SHORTENED: [(&str, &str, usize); 2] = [("--proto", "-p", 1), ("--fragment", "-f", 0)];

/// Returns the short form of an option that every rule may have; a module cannot take its name.
pub(super) fn base(option: &str) -> Option<(&'static str, usize)> {
    BASE.iter()
        .find(|(long, short, _)| *long == option || *short == option)
        .map(|(_, short, count)| (*short, *count))
}

/// Returns the option that every rule may have of which this is an abbreviation: a module may have one of that very name,
/// as `policy` has `--proto`, and then it is the module's.
pub(super) fn shortened(option: &str) -> Option<(&'static str, usize)> {
    SHORTENED.iter().find(|(name, ..)| *name == option).map(|(_, short, count)| (*short, *count))
}

const MODULES: &[Module] = &[
    ("addrtype", "--dst-type --src-type", "--limit-iface-in --limit-iface-out", ""),
    ("ah", "--ahspi --ahlen", "--ahres", ""),
    ("bpf", "--bytecode --object-pinned", "", ""),
    ("cgroup", "--cgroup --path", "", ""),
    (
        "cluster",
        "--cluster-total-nodes --cluster-local-node --cluster-local-nodemask --cluster-hash-seed",
        "",
        "",
    ),
    ("comment", "--comment", "", ""),
    ("connbytes", "--connbytes --connbytes-dir --connbytes-mode", "", ""),
    ("connlabel", "--label", "--set", ""),
    (
        "connlimit",
        "--connlimit-above --connlimit-upto --connlimit-mask",
        "--connlimit-saddr --connlimit-daddr",
        "",
    ),
    ("connmark", "--mark", "", ""),
    (
        "conntrack",
        "--ctstate --ctproto --ctorigsrc --ctorigdst --ctreplsrc --ctrepldst --ctorigsrcport --ctorigdstport --ctreplsrcport --ctrepldstport --ctstatus --ctexpire --ctdir",
        "",
        "",
    ),
    ("cpu", "--cpu", "", ""),
    ("dccp", "--sport --dport --source-port --destination-port --dccp-types --dccp-option", "", ""),
    ("devgroup", "--src-group --dst-group", "", ""),
    ("dscp", "--dscp --dscp-class", "", ""),
    ("dst", "--dst-len --dst-opts", "", ""),
    ("ecn", "--ecn-ip-ect", "--ecn-tcp-cwr --ecn-tcp-ece", ""),
    ("esp", "--espspi", "", ""),
    ("eui64", "", "", ""),
    ("frag", "--fragid --fraglen", "--fragres --fragfirst --fragmore --fraglast", ""),
    (
        "hashlimit",
        "--hashlimit --hashlimit-upto --hashlimit-above --hashlimit-burst --hashlimit-mode --hashlimit-srcmask --hashlimit-dstmask --hashlimit-name --hashlimit-htable-size --hashlimit-htable-max --hashlimit-htable-expire --hashlimit-htable-gcinterval --hashlimit-rate-interval",
        "--hashlimit-rate-match",
        "",
    ),
    ("hbh", "--hbh-len --hbh-opts", "", ""),
    ("helper", "--helper", "", ""),
    ("hl", "--hl --hl-eq --hl-lt --hl-gt", "", ""),
    ("icmp", "--icmp-type", "", ""),
    ("icmp6", "--icmpv6-type", "", ""),
    ("ipcomp", "--ipcompspi", "--compres", ""),
    ("iprange", "--src-range --dst-range", "", ""),
    ("ipv4options", "--flags", "--any", ""),
    ("ipv6header", "--header", "--soft", ""),
    ("ipvs", "--vproto --vaddr --vport --vdir --vmethod --vportctl", "--ipvs", ""),
    ("length", "--length", "", ""),
    ("limit", "--limit --limit-burst", "", ""),
    ("mac", "--mac-source", "", ""),
    ("mark", "--mark", "", ""),
    ("mh", "--mh-type", "", ""),
    ("multiport", "--sports --dports --ports --source-ports --destination-ports", "", ""),
    ("nfacct", "--nfacct-name", "", ""),
    ("osf", "--genre --ttl --log", "", ""),
    (
        "owner",
        "--uid-owner --gid-owner --pid-owner --sid-owner --cmd-owner",
        "--socket-exists --suppl-groups",
        "",
    ),
    ("physdev", "--physdev-in --physdev-out", "--physdev-is-in --physdev-is-out --physdev-is-bridged", ""),
    ("pkttype", "--pkt-type", "", ""),
    ("policy", "--dir --pol --reqid --spi --proto --mode --tunnel-src --tunnel-dst", "--strict --next", ""),
    ("quota", "--quota", "", ""),
    (
        "rateest",
        "--rateest --rateest1 --rateest2",
        "--rateest-delta --rateest-lt --rateest-gt --rateest-eq",
        "",
    ),
    ("realm", "--realm", "", ""),
    (
        "recent",
        "--seconds --hitcount --name --mask",
        "--set --rcheck --update --remove --rsource --rdest --reap --rttl",
        "",
    ),
    ("rpfilter", "", "--loose --validmark --accept-local --invert", ""),
    ("rt", "--rt-type --rt-segsleft --rt-len --rt-0-addrs", "--rt-0-res --rt-0-not-strict", ""),
    ("sctp", "--sport --dport --source-port --destination-port", "", "--chunk-types"),
    (
        "set",
        "--packets-eq --packets-lt --packets-gt --bytes-eq --bytes-lt --bytes-gt",
        "--return-nomatch --update-counters --update-subcounters",
        "--match-set --set",
    ),
    ("socket", "", "--transparent --nowildcard --restore-skmark", ""),
    (
        "srh",
        "--srh-next-hdr --srh-hdr-len-eq --srh-hdr-len-gt --srh-hdr-len-lt --srh-segs-left-eq --srh-segs-left-gt --srh-segs-left-lt --srh-last-entry-eq --srh-last-entry-gt --srh-last-entry-lt --srh-tag --srh-psid --srh-nsid --srh-lsid",
        "",
        "",
    ),
    ("state", "--state", "", ""),
    ("statistic", "--mode --probability --every --packet", "", ""),
    ("string", "--algo --from --to --string --hex-string", "--icase", ""),
    ("tcp", "--sport --dport --source-port --destination-port --tcp-option", "--syn", "--tcp-flags"),
    ("tcpmss", "--mss", "", ""),
    (
        "time",
        "--timestart --timestop --datestart --datestop --weekdays --monthdays",
        "--kerneltz --utc --localtz --contiguous",
        "",
    ),
    ("tos", "--tos", "", ""),
    ("ttl", "--ttl --ttl-eq --ttl-lt --ttl-gt", "", ""),
    ("u32", "--u32", "", ""),
    ("udp", "--sport --dport --source-port --destination-port", "", ""),
    ("udplite", "--sport --dport --source-port --destination-port", "", ""),
    // Targets.
    ("AUDIT", "--type", "", ""),
    ("CHECKSUM", "", "--checksum-fill", ""),
    ("CLASSIFY", "--set-class", "", ""),
    ("CLUSTERIP", "--hashmode --clustermac --total-nodes --local-node --hash-init", "--new", ""),
    (
        "CONNMARK",
        "--set-xmark --set-mark --and-mark --or-mark --xor-mark --nfmask --ctmask --mask --left-shift-mark --right-shift-mark",
        "--save-mark --restore-mark",
        "",
    ),
    ("CONNSECMARK", "", "--save --restore", ""),
    ("CT", "--helper --ctevents --expevents --zone --zone-orig --zone-reply --timeout", "--notrack", ""),
    ("DNAT", "--to-destination", "--random --random-fully --persistent", ""),
    ("DNPT", "--src-pfx --dst-pfx", "", ""),
    ("DSCP", "--set-dscp --set-dscp-class", "", ""),
    ("ECN", "--ecn-tcp-cwr --ecn-tcp-ece --ecn-ip-ect", "--ecn-tcp-remove", ""),
    ("HL", "--hl-set --hl-dec --hl-inc", "", ""),
    (
        "HMARK",
        "--hmark-tuple --hmark-mod --hmark-offset --hmark-src-prefix --hmark-dst-prefix --hmark-sport-mask --hmark-dport-mask --hmark-spi-mask --hmark-sport --hmark-dport --hmark-spi --hmark-proto-mask --hmark-rnd",
        "",
        "",
    ),
    ("IDLETIMER", "--timeout --label", "--alarm", ""),
    ("LED", "--led-trigger-id --led-delay", "--led-always-blink", ""),
    (
        "LOG",
        "--log-level --log-prefix",
        "--log-tcp-sequence --log-tcp-options --log-ip-options --log-uid --log-macdecode",
        "",
    ),
    ("MARK", "--set-xmark --set-mark --and-mark --or-mark --xor-mark", "", ""),
    ("MASQUERADE", "--to-ports", "--random --random-fully", ""),
    ("NETMAP", "--to", "", ""),
    ("NFLOG", "--nflog-group --nflog-prefix --nflog-range --nflog-size --nflog-threshold", "", ""),
    ("NFQUEUE", "--queue-num --queue-balance", "--queue-bypass --queue-cpu-fanout", ""),
    ("NOTRACK", "", "", ""),
    ("RATEEST", "--rateest-name --rateest-interval --rateest-ewmalog", "", ""),
    ("REDIRECT", "--to-ports", "--random", ""),
    ("REJECT", "--reject-with", "", ""),
    ("SECMARK", "--selctx", "", ""),
    ("SET", "--timeout", "--exist --map-mark --map-prio --map-queue", "--add-set --del-set --map-set"),
    ("SNAT", "--to-source", "--random --random-fully --persistent", ""),
    ("SNPT", "--src-pfx --dst-pfx", "", ""),
    ("SYNPROXY", "--mss --wscale", "--sack-perm --timestamp --ecn", ""),
    ("TCPMSS", "--set-mss", "--clamp-mss-to-pmtu", ""),
    ("TCPOPTSTRIP", "--strip-options", "", ""),
    ("TEE", "--gateway --oif", "", ""),
    ("TOS", "--set-tos --and-tos --or-tos --xor-tos", "", ""),
    ("TPROXY", "--on-port --on-ip --tproxy-mark", "", ""),
    ("TRACE", "", "", ""),
    ("TTL", "--ttl-set --ttl-dec --ttl-inc", "", ""),
    ("ULOG", "--ulog-nlgroup --ulog-prefix --ulog-cprange --ulog-qthreshold", "", ""),
];

/// Says how many words stand behind an option of a module; nothing where it is not known.
pub(super) fn words(module: &str, option: &str) -> Option<Behind> {
    if PERHAPS.contains(&(canonical(module), option)) {
        return Some(Behind::Perhaps);
    }
    let (_, one, none, two) = MODULES.iter().find(|(name, ..)| *name == canonical(module))?;
    let within = |list: &str| list.split(' ').any(|name| name == option);
    if within(one) {
        Some(Behind::Words(1))
    } else if within(none) {
        Some(Behind::Words(0))
    } else if within(two) {
        Some(Behind::Words(2))
    } else {
        None
    }
}

/// Returns the name under which a module's options stand.
pub(in crate::netfilter) fn canonical(module: &str) -> &str {
    match module {
        "icmpv6" | "ipv6-icmp" => "icmp6",
        other => other,
    }
}

/// Whether a match or a target is known by name.
pub(super) fn is_module(name: &str) -> bool {
    MODULES.iter().any(|(known, ..)| *known == canonical(name))
}

/// Whether a target is an extension, not a chain.
pub(in crate::netfilter) fn is_extension_target(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase()) && is_module(name)
}
