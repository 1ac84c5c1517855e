//! The options of every match and target that this `iptables` has, as it prints them: whose they are, and that they are
//! printed again as they stood.

use std::collections::BTreeSet;

use ghost_inspect::netfilter::{Body, Rule, Ruleset, print, read};

use super::place::{alone, ask, tried};
use super::skipped;
use crate::random::{Random, is_long, seed};

/// Matches that can stand in any rule of the table `mangle`.
const MATCHES: &str = "
-m addrtype --dst-type LOCAL
-m addrtype ! --src-type UNICAST --limit-iface-in
-m bpf --bytecode \"1,6 0 0 1\"
-m cgroup ! --cgroup 1
-m cgroup --path a/b
-m cluster --cluster-total-nodes 2 --cluster-local-node 2 --cluster-hash-seed 7
-m comment --comment \"--proto esp ! -j DROP\"
-m connbytes ! --connbytes 0:1000 --connbytes-mode avgpkt --connbytes-dir both
-m connlabel ! --label 40 --set
-m connlimit --connlimit-upto 3 --connlimit-mask 16 --connlimit-daddr
-m connmark ! --mark 0x1/0xff
-m conntrack --ctproto 6 --ctorigsrc 10.0.0.0/8 ! --ctorigdstport 1:9 --ctstatus CONFIRMED --ctdir ORIGINAL
-m cpu ! --cpu 1
-m devgroup --src-group 1
-m dscp ! --dscp 0x0a
-m hashlimit --hashlimit-above 5/sec --hashlimit-mode srcip,dstport --hashlimit-srcmask 24 --hashlimit-name own
-m helper --helper ftp
-m iprange ! --src-range 10.0.0.1-10.0.0.9 --dst-range 10.1.0.1-10.1.0.2
-m length ! --length 5:900
-m limit --limit 3/min --limit-burst 9
-m mac ! --mac-source 02:00:00:00:00:01
-m mark --mark 0x2/0x2
-m owner --uid-owner 0-9
-m physdev ! --physdev-is-bridged
-m pkttype ! --pkt-type multicast
-m policy --dir out --pol ipsec --proto esp
-m policy --dir out --pol ipsec --strict --reqid 1 --spi 0x5 --proto ah --mode tunnel --tunnel-dst 10.0.0.0/8 --tunnel-src 10.1.0.0/16 --next ! --reqid 2 --proto ipcomp
-m quota ! --quota 9
-m rateest --rateest own --rateest-lt --rateest-bps 8bit
-m rateest --rateest-delta --rateest own --rateest-bps1 8bit --rateest-eq --rateest-bps2 16bit
-m rateest --rateest-delta --rateest1 own --rateest-pps1 0 ! --rateest-lt --rateest-pps2 42 --rateest2 other
-m rateest --rateest1 own --rateest-gt --rateest-bps --rateest2 other
-m realm ! --realm 0x1/0x2
-m recent --update --seconds 9 --reap --hitcount 3 --rttl --name own --mask 255.255.255.0 --rdest
-m rpfilter --loose --invert
-m socket --transparent --nowildcard
-m state ! --state NEW
-m statistic --mode nth ! --every 5 --packet 2
-m statistic --mode random --probability 0.5
-m string ! --hex-string \"|0a|a b\" --algo bm --from 5 --to 90 --icase
-m time --timestart 01:02:03 --timestop 04:05:06 --monthdays 1,2 ! --weekdays Mon,Sun --kerneltz
-m tos ! --tos 0x10/0x3f
-m ttl ! --ttl-eq 5
-m hl --hl-lt 9
-m u32 ! --u32 \"0x0&0xff=0x1:0x5\"
-m dst ! --dst-len 42
-m eui64
-m frag ! --fragid 1 --fragres --fragmore
-m hbh --hbh-len 8
-m ipv6header --header hop-by-hop --soft
-m rt ! --rt-type 1 --rt-segsleft 1:2 --rt-len 42
-m srh ! --srh-next-hdr 17 --srh-hdr-len-gt 8 --srh-segs-left-lt 3 --srh-last-entry-eq 4 --srh-tag 5 --srh-psid fd00::/64
";

/// Matches of a protocol, which stands before them.
const PROTOCOLS: &str = "
-p ah -m ah ! --ahspi 5
-p dccp -m dccp --sport 5:9 ! --dport 1 --dccp-types REQUEST,DATA
-p esp -m esp ! --espspi 4:9
-p icmp -m icmp --icmp-type 3/1
-p ipv6-icmp -m icmp6 ! --icmpv6-type 1/0
-p ipcomp -m ipcomp ! --ipcompspi 18
-p mobility-header -m mh ! --mh-type 4
-p sctp -m sctp ! --sport 5 --chunk-types any DATA,INIT
-p tcp -m ecn ! --ecn-tcp-cwr --ecn-tcp-ece
-p tcp -m multiport ! --dports 1,5:9
-p tcp -m osf --genre linux --ttl 0 --log 0
-p tcp -m tcp ! --sport 5:9 --dport 8 --tcp-flags SYN,ACK SYN --tcp-option 8
-p tcp -m tcpmss ! --mss 5:9
-p udp -m udp ! --dport 1:9
-p udplite -m multiport --ports 5
";

/// Targets, each with the table in which it may stand.
const TARGETS: &str = "
filter AUDIT --type drop
filter CONNSECMARK --save
mangle CHECKSUM --checksum-fill
mangle CLASSIFY --set-class 0001:ffff
mangle CONNMARK --set-xmark 0x1/0x3
mangle CONNMARK --save-mark --nfmask 0x1 --ctmask 0x3
raw CT --notrack
raw CT --ctevents new,destroy --zone 5
mangle DSCP --set-dscp 0x0a
mangle HL --hl-dec 1
mangle HMARK --hmark-src-prefix 32 --hmark-dst-prefix 32 --hmark-spi-mask 0x4 --hmark-proto-mask 0xff --hmark-rnd 0x4 --hmark-mod 42 --hmark-offset 1 --hmark-tuple ct
mangle HMARK --hmark-tuple src,dst,sport,dport --hmark-sport 0x5 --hmark-dport 0x6 --hmark-rnd 0x4 --hmark-mod 42
mangle HMARK --hmark-tuple spi --hmark-spi 0x5 --hmark-rnd 0x4 --hmark-mod 42
filter IDLETIMER --timeout 42 --label own --alarm
filter LOG --log-prefix \"a b: \" --log-level 7 --log-tcp-sequence --log-ip-options --log-uid
mangle MARK --set-xmark 0x1/0x3
filter NFLOG --nflog-group 1 --nflog-prefix own --nflog-size 9 --nflog-threshold 2
filter NFQUEUE --queue-balance 0:4 --queue-bypass --queue-cpu-fanout
mangle RATEEST --rateest-name third --rateest-interval 250.0ms --rateest-ewmalog 500.0ms
filter REJECT
mangle TEE --gateway 10.0.0.9 --oif lo
mangle TEE --gateway fd00::9
mangle TOS --set-tos 0x10/0x3f
mangle TTL --ttl-set 5
nat DNAT --to-destination 10.0.0.1 --random --persistent
nat MASQUERADE --random-fully
nat NETMAP --to 10.0.0.0/24
nat REDIRECT --random
nat SNAT --to-source 10.0.0.1 --random-fully --persistent
raw TRACE
";

/// What other rules have to have made.
const MADE: &str =
    "*mangle\n-A OUTPUT -j RATEEST --rateest-name own --rateest-interval 250ms --rateest-ewmalog 500ms
-A OUTPUT -j RATEEST --rateest-name other --rateest-interval 250ms --rateest-ewmalog 500ms\nCOMMIT\n";

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty())
}

/// The chain that is asked in a table.
fn chain(table: &str) -> &'static str {
    if table == "nat" { "POSTROUTING" } else { "OUTPUT" }
}

fn rules(ruleset: &Ruleset) -> impl Iterator<Item = &Rule> {
    ruleset.tables.iter().flat_map(|table| &table.chains).flat_map(|chain| &chain.rules)
}

/// The options of matches and targets in a saved text, where each stands behind its own `-m` or `-j`.
fn owners(line: &str) -> Vec<(String, String)> {
    let (mut owner, mut found) = (String::new(), Vec::new());
    let mut quoted = false;
    let mut words = line.split(' ');
    while let Some(word) = words.next() {
        let inside = quoted;
        quoted ^= word.replace("\\\"", "").matches('"').count() % 2 == 1;
        if inside {
            continue;
        }
        if matches!(word, "-m" | "-j") {
            words.next().unwrap_or_default().clone_into(&mut owner);
        } else if word.starts_with("--") {
            found.push((owner.clone(), word.to_owned()));
        }
    }
    found
}

/// Holds what is read of a saved text against it; returns the options that were seen.
fn hold(saved: &str) -> BTreeSet<(String, String)> {
    let ruleset = read(saved).unwrap();
    let body = |text: &str| text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    assert_eq!(body(&print(&ruleset)), body(saved));
    let mut seen = BTreeSet::new();
    for rule in rules(&ruleset) {
        assert_eq!(rule.opaque, Vec::<String>::new(), "{}", rule.raw);
        let Body::Save(parts) = &rule.body else { panic!("{}", rule.raw) };
        let own = parts
            .iter()
            .filter(|part| part.name.starts_with("--"))
            .map(|part| (part.module.as_deref().unwrap_or("none").to_owned(), part.name.to_string()));
        let own: Vec<_> = own.collect();
        assert_eq!(own, owners(&rule.raw), "{}", rule.raw);
        seen.extend(own);
    }
    seen
}

/// Loads rules, each by itself where this kernel has it, and then several matches in one rule; returns what was seen.
fn family(six: bool, random: &mut Random) -> BTreeSet<(String, String)> {
    let program = |what: &str| format!("{}-{what}", if six { "ip6tables" } else { "iptables" });
    ask(&program("restore"), &["-n"], MADE);
    let has = |table: &str, words: &str| {
        let text = format!("*{table}\n-A {} {words}\nCOMMIT\n", chain(table));
        tried(&program("restore"), &["-n"], &text)
    };
    let matches: Vec<&str> = lines(MATCHES).filter(|words| has("mangle", words)).collect();
    let protocols: Vec<&str> = lines(PROTOCOLS).filter(|words| has("mangle", words)).collect();
    let targets: Vec<(&str, &str)> = lines(TARGETS)
        .filter_map(|line| line.split_once(' '))
        .filter(|(table, words)| has(table, &format!("-j {words}")))
        .collect();
    assert!(matches.iter().any(|words| words.contains("--proto")), "this kernel has no match for policies");
    // Each by itself, whatever is drawn below.
    let alone = matches.iter().map(|words| format!("*mangle\n-A {} {words}\nCOMMIT\n", chain("mangle")));
    let mut text: String = alone.collect();
    for _ in 0..if is_long() { 2_000 } else { 200 } {
        let (table, target) = random.pick(&targets);
        let mut words = vec![format!("-A {}", chain(table))];
        if random.below(2) == 0 {
            words.push((*random.pick(&protocols)).to_owned());
        }
        for _ in 0..random.below(4) {
            words.push((*random.pick(&matches)).to_owned());
        }
        words.push(format!("-j {target}"));
        let text_of_rule = format!("*{table}\n{}\nCOMMIT\n", words.join(" "));
        // What does not go together is left to `iptables`.
        if tried(&program("restore"), &["-n", "--test"], &text_of_rule) {
            text.push_str(&text_of_rule);
        }
    }
    ask(&program("restore"), &["-n"], &text);
    hold(&ask(&program("save"), &[], ""))
}

#[test]
fn every_option_is_read_as_its_own_match_has_it_and_printed_as_it_stood() {
    if let Some(reason) = skipped() {
        return super::say(&reason);
    }
    let seed = seed("options");
    let seen = alone(move || {
        let mut random = Random::new(seed);
        let four = family(false, &mut random);
        four.union(&family(true, &mut random)).cloned().collect::<BTreeSet<_>>()
    });
    assert!(seen.contains(&("policy".to_owned(), "--proto".to_owned())));
    assert!(seen.len() > 90, "{seen:?}");
}

/// Matches and targets that are installed and have no options, or whose help names words that are none.
const WITHOUT: [&str; 7] = ["standard", "NOTRACK", "TRACE", "eui64", "NAT", "unclean", "MIRROR"];

/// What the help of another name calls its own.
fn reported(six: bool, name: &str) -> String {
    let program = if six { "ip6tables" } else { "iptables" };
    let how = if name.starts_with(|first: char| first.is_ascii_uppercase()) { "-j" } else { "-m" };
    let all = ask(program, &[how, name, "--help"], "");
    // The help of the program itself stands first.
    all.split_once("--version").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

#[test]
fn no_option_that_the_help_of_this_iptables_names_is_unknown() {
    if let Some(reason) = skipped() {
        return super::say(&reason);
    }
    let folders = [
        "/usr/lib/x86_64-linux-gnu/xtables",
        "/usr/lib/aarch64-linux-gnu/xtables",
        "/usr/lib64/xtables",
        "/usr/lib/xtables",
    ];
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let names: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let (mut asked, mut unknown) = (0, Vec::new());
    for file in &names {
        let Some((kind, name)) = file.trim_end_matches(".so").split_once('_') else { continue };
        if !matches!(kind, "libxt" | "libipt" | "libip6t") || WITHOUT.contains(&name) {
            continue;
        }
        let help = reported(kind == "libip6t", name);
        let options: BTreeSet<&str> = help
            .split(|char: char| !char.is_ascii_alphanumeric() && char != '-')
            .filter(|word| word.starts_with("--") && word.len() > 3)
            .collect();
        for option in options {
            let how = if name.starts_with(|first: char| first.is_ascii_uppercase()) { "-j" } else { "-m" };
            let text = format!("*filter\n:INPUT ACCEPT\n-A INPUT {how} {name} {option} 1 1\nCOMMIT\n");
            let ruleset = read(&text).unwrap();
            asked += 1;
            unknown.extend(
                rules(&ruleset)
                    .flat_map(|rule| &rule.opaque)
                    .filter(|part| part.starts_with("--"))
                    .map(|part| format!("{name} {part}")),
            );
        }
    }
    assert!(asked > 150, "{asked} options in {names:?}");
    assert_eq!(unknown, Vec::<String>::new());
}
