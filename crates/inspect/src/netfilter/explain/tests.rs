//! What is said about rules, and that it holds.

use proptest::prelude::*;

use super::{Explanation, explain, explain_change};
use crate::netfilter::host::Document;
use crate::netfilter::{Packet, State, Verdict, open, walk};

fn save(rules: &str) -> String {
    format!("*filter\n:INPUT DROP [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n{rules}\nCOMMIT\n")
}

fn read(text: &str) -> Document {
    open(text).unwrap()
}

fn explained(rules: &str) -> Explanation {
    explain(&read(&save(rules)))
}

/// Checks that a line stands in the text.
#[track_caller]
fn says(all: &Explanation, line: &str) {
    let text = all.to_string();
    assert!(text.lines().any(|own| own.trim_start_matches("- ") == line), "no line {line:?} in\n{text}");
}

#[test]
fn who_reaches_which_port_is_reported_with_the_rule_that_lets_them() {
    let all = explained(
        "-A INPUT -s 10.0.0.0/8 -p tcp -m tcp --dport 22 -j ACCEPT\n-A INPUT -p tcp -m multiport --dports 80,443 -j ACCEPT",
    );
    says(&all, "tcp/22 from 10.0.0.0/8: ACCEPT by filter/INPUT rule 1");
    says(&all, "tcp/80,443: ACCEPT by filter/INPUT rule 2");
    says(&all, "everything else: DROP by the policy of filter/INPUT");
}

#[test]
fn what_an_earlier_rule_takes_away_is_reported_as_an_exception() {
    let all = explained(
        "-A INPUT -s 10.1.2.3/32 -j DROP\n-A INPUT -s 10.0.0.0/8 -p tcp -m tcp --dport 22 -j ACCEPT",
    );
    says(&all, "everything from 10.1.2.3: DROP by filter/INPUT rule 1");
    says(&all, "tcp/22 from 10.0.0.0/8 but 10.1.2.3: ACCEPT by filter/INPUT rule 2");
}

#[test]
fn what_only_logs_or_counts_splits_nothing() {
    let plain = explained("-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT");
    let logged = explained(
        ":L - [0:0]\n-A INPUT -m limit --limit 3/min -j L\n-A INPUT -s 10.0.0.0/9 -j L\n-A L -m limit --limit 1/s -j LOG --log-prefix \"x \"\n-A L -j RETURN\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT",
    );
    let packets = |all: &Explanation| -> Vec<(String, Verdict)> {
        all.backends[0].hooks[0]
            .new
            .iter()
            .map(|outcome| (outcome.packets.clone(), outcome.verdict))
            .collect()
    };
    assert_eq!(packets(&plain), packets(&logged));
    assert_eq!(logged.backends[0].loggers[0].prefix.as_deref(), Some("x "));
    assert_eq!(logged.backends[0].dead, []);
}

#[test]
fn a_rate_is_reported_as_a_condition() {
    let all = explained("-A INPUT -p tcp -m tcp --dport 22 -m limit --limit 3/min -j ACCEPT");
    says(&all, "tcp/22, if limit --limit 3/min in filter: ACCEPT by filter/INPUT rule 1");
}

#[test]
fn replies_that_do_not_pass_are_reported() {
    says(&explained("-A INPUT -i lo -j ACCEPT"), "Packets of established connections that do not pass:");
    let all = explained("-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT");
    says(&all, "Established connections pass by filter/INPUT rule 1.");
}

/// Checks which rules no packet meets, and what takes their packets.
#[track_caller]
fn dead(rules: &str, expected: &[(&str, &str, bool)]) {
    let all = explained(rules);
    let found: Vec<(&str, String, bool)> = all.backends[0]
        .dead
        .iter()
        .map(|dead| (dead.at.as_str(), dead.by.join(", "), dead.redundant))
        .collect();
    let found: Vec<(&str, &str, bool)> =
        found.iter().map(|(at, by, same)| (*at, by.as_str(), *same)).collect();
    assert_eq!(found, expected, "{all}");
}

#[test]
fn a_shadowed_rule_is_reported_with_what_shadows_it() {
    dead(
        "-A INPUT -s 10.0.0.0/8 -j ACCEPT\n-A INPUT -s 10.1.0.0/16 -j DROP",
        &[("filter/INPUT rule 2", "rule 1", false)],
    );
    dead(
        "-A INPUT -s 10.0.0.0/8 -j DROP\n-A INPUT -s 10.1.0.0/16 -j DROP",
        &[("filter/INPUT rule 2", "rule 1", true)],
    );
    dead("-A INPUT -s 10.0.0.0/8 -m limit --limit 1/s -j DROP\n-A INPUT -s 10.1.0.0/16 -j ACCEPT", &[]);
}

#[test]
fn two_rules_together_can_leave_nothing_for_a_third() {
    dead(
        "-A INPUT -p tcp -m tcp --dport 0:1023 -j DROP\n-A INPUT -p tcp -m tcp --dport 1024:65535 -j ACCEPT\n-A INPUT -p tcp -m tcp --dport 1000:2000 -j ACCEPT",
        &[("filter/INPUT rule 3", "filter/INPUT rule 2, filter/INPUT rule 1", false)],
    );
}

#[test]
fn a_new_connection_without_a_syn_is_a_packet_too() {
    dead(
        "-A INPUT -p tcp -m tcp ! --syn -m conntrack --ctstate NEW -j DROP\n-A INPUT -p tcp -m tcp --tcp-flags ALL NONE -j DROP",
        &[],
    );
}

#[test]
fn conditions_that_exclude_each_other_are_reported() {
    dead(
        "-A INPUT -s 10.0.0.0/8 -m iprange --src-range 11.0.0.0-11.0.0.9 -j ACCEPT",
        &[("filter/INPUT rule 1", "nobody: no packet of its hooks fits it", false)],
    );
}

#[test]
fn a_chain_into_which_nothing_leads_is_reported_unless_a_program_keeps_it() {
    let all = explained(":MINE - [0:0]\n:DOCKER-USER - [0:0]\n-A MINE -j DROP\n-A DOCKER-USER -j RETURN");
    assert_eq!(all.backends[0].unused, ["filter/MINE"]);
}

#[test]
fn jails_and_redirections_are_reported() {
    let text = "*nat\n:PREROUTING ACCEPT [0:0]\n:DOCKER - [0:0]\n-A PREROUTING -j DOCKER\n-A DOCKER ! -i docker0 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 172.17.0.2:80\nCOMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:f2b-sshd - [0:0]\n-A INPUT -p tcp -m multiport --dports 22 -j f2b-sshd\n-A f2b-sshd -s 203.0.113.9/32 -j REJECT --reject-with icmp-port-unreachable\n-A f2b-sshd -j RETURN\nCOMMIT\n";
    let all = explain(&read(text));
    says(&all, "fail2ban filter/f2b-sshd: 203.0.113.9/32");
    says(
        &all,
        "prerouting: tcp/8080 in by any device but docker0: DNAT --to-destination 172.17.0.2:80 by nat/DOCKER rule 1",
    );
    assert_eq!(all.layouts.iter().map(|layout| layout.name).collect::<Vec<_>>(), ["docker", "fail2ban"]);
}

#[test]
fn an_unconditional_drop_in_an_isolation_stage_is_remarked() {
    let all = explained(
        ":DOCKER-ISOLATION-STAGE-1 - [0:0]\n:DOCKER-ISOLATION-STAGE-2 - [0:0]\n-A FORWARD -j DOCKER-ISOLATION-STAGE-1\n-A DOCKER-ISOLATION-STAGE-1 -i docker0 ! -o docker0 -j DOCKER-ISOLATION-STAGE-2\n-A DOCKER-ISOLATION-STAGE-2 -o docker0 -j DROP\n-A DOCKER-ISOLATION-STAGE-2 -j DROP\n-A DOCKER-ISOLATION-STAGE-2 -j RETURN",
    );
    assert!(all.layouts[0].remarks[0].starts_with("DOCKER-ISOLATION-STAGE-2 rule 2 drops"), "{all}");
}

#[test]
fn a_change_is_reported_with_the_packets_that_meet_another_verdict() {
    let before = read(&save("-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT"));
    let after =
        read(&save("-A INPUT -s 203.0.113.0/24 -j REJECT\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT"));
    let all = explain_change(&before, &after).unwrap();
    says(
        &all,
        "iptables input, new: tcp/22 from 203.0.113.0/24: ACCEPT by filter/INPUT rule 1 → REJECT by filter/INPUT rule 1",
    );
    let same = explain_change(&after, &after).unwrap();
    says(&same, "# What changed: no drift");
    assert!(same.change.unwrap().traffic.is_empty());
}

#[test]
fn a_policy_and_an_order_change_traffic_too() {
    let outcomes =
        |a: &str, b: &str| explain_change(&read(a), &read(b)).unwrap().change.unwrap().traffic.len();
    let open = save("").replace("INPUT DROP", "INPUT ACCEPT");
    assert!(outcomes(&open, &save("")) > 0);
    let (a, b) = ("-A INPUT -s 10.0.0.0/8 -j ACCEPT", "-A INPUT -j DROP");
    assert!(outcomes(&save(&format!("{a}\n{b}")), &save(&format!("{b}\n{a}"))) > 0);
    assert_eq!(outcomes(&save(&format!("{a}\n{a}")), &save(a)), 0);
}

#[test]
fn a_comment_cannot_write_a_line_of_its_own() {
    let all = explained(
        "-A INPUT -m comment --comment \"a\u{1b}[2J\rADMIN: all is well\" -m frob --x 1 -j DROP\n-A INPUT -j LOG --log-prefix \"\u{1b}]0;x\u{7}\"",
    );
    assert!(!all.to_string().chars().any(|char| char.is_control() && char != '\n'), "{all}");
}

#[test]
fn more_combinations_than_are_followed_are_reported() {
    let rules: Vec<String> = (0..14)
        .map(|at| format!("-A INPUT -m limit --limit {}/min -m string --string s{at} --algo bm -p {} -j ACCEPT\n-A INPUT -s 10.{at}.0.0/17 -m mac --mac-source 00:00:00:00:00:{at:02} -j MARK --set-xmark 0x{at}/0x{at}", at + 1, if at % 2 == 0 { "tcp" } else { "udp" }))
        .collect();
    let all = explained(&rules.join("\n"));
    assert!(!all.backends[0].limits.is_empty(), "{all}");
}

fn rules() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(vec![
        "-s 10.0.0.0/8",
        "! -s 10.0.0.2/32",
        "-p tcp -m tcp --dport 22",
        "-p tcp -m tcp --dport 1:100",
        "-p udp",
        "-i eth0",
        "! -i lo",
        "-m conntrack --ctstate NEW",
    ]);
    let target = proptest::sample::select(vec!["ACCEPT", "DROP", "REJECT", "RETURN", "X", "LOG"]);
    let chain = proptest::sample::select(vec!["INPUT", "INPUT", "X"]);
    let rule = (chain, proptest::collection::vec(part, 0..3), target).prop_filter_map(
        "no loop",
        |(chain, parts, target)| {
            let protocols = parts.iter().filter(|part| part.starts_with("-p")).count();
            (protocols < 2 && (chain, target) != ("X", "X"))
                .then(|| format!("-A {chain} {} -j {target}", parts.join(" ")))
        },
    );
    proptest::collection::vec(rule, 0..7).prop_map(|rules| save(&format!(":X - [0:0]\n{}", rules.join("\n"))))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A rule that is said to be dead decides about no packet.
    #[test]
    fn a_dead_rule_can_be_taken_away(text in rules(), port in 0_u16..120, last in 1_u8..4) {
        let document = read(&text);
        let all = explain(&document);
        let Document::Ruleset(ruleset) = document else { return Ok(()) };
        for source in [format!("10.0.0.{last}"), format!("11.0.0.{last}")] {
            for device in ["eth0", "lo", "eth1"] {
                let mut packet = Packet::parse("input", "tcp", &source, "10.0.0.1").unwrap().dport(port).state(State::New);
                packet.sport = Some(4000);
                let answer = walk(&ruleset, &packet.input(device)).unwrap();
                if let Some(rule) = answer.rule {
                    let at = format!("{}/{} rule {}", rule.table, rule.chain, rule.position);
                    prop_assert!(!all.backends[0].dead.iter().any(|dead| dead.at == at), "{} decides\n{}", at, all);
                    let explained = &all.backends[0].hooks[0].new;
                    prop_assert!(explained.iter().any(|outcome| outcome.by == at && outcome.verdict == answer.verdict), "{} {}", at, all);
                }
            }
        }
    }

    /// What two rulesets do differently is reported.
    #[test]
    fn a_packet_with_another_verdict_is_in_the_list(a in rules(), b in rules(), port in 0_u16..120) {
        let (x, y) = (read(&a), read(&b));
        let all = explain_change(&x, &y).unwrap().change.unwrap();
        let packet = || Packet::parse("input", "tcp", "10.0.0.2", "10.0.0.1").unwrap().dport(port).state(State::New).input("eth0");
        let (Document::Ruleset(x), Document::Ruleset(y)) = (x, y) else { return Ok(()) };
        let (before, after) = (walk(&x, &packet()).unwrap().verdict, walk(&y, &packet()).unwrap().verdict);
        if before != after {
            let explained = all.traffic.iter().any(|outcome| !outcome.established && (outcome.before, outcome.after) == (before, after));
            prop_assert!(explained, "{} → {}\n{:?}", before, after, all.traffic);
        }
    }

    #[test]
    fn no_document_makes_it_panic(text in "\\PC{0,200}", rules in rules()) {
        for text in [text.clone(), format!("*filter\n:INPUT ACCEPT [0:0]\n{text}"), format!("{{\"iptables-nft\":{text:?}}}"), rules] {
            if let Ok(document) = open(&text) {
                drop(explain(&document).to_string());
            }
        }
    }
}

#[test]
fn of_more_rules_than_are_followed_the_first_are_reported_and_that_it_is_not_all() {
    let rules: Vec<String> = (0..12_000)
        .map(|at| {
            format!(
                "-A INPUT -s 10.{}.{}.0/24 -p tcp -m tcp --dport {} -j ACCEPT",
                at / 250,
                at % 250,
                at + 1
            )
        })
        .collect();
    let all = explained(&rules.join("\n"));
    let text = all.to_string();
    assert!(text.contains("- tcp/1 from 10.0.0.0/24: ACCEPT by filter/INPUT rule 1"), "{text}");
    assert!(!text.contains("connections pass."), "{text}");
    assert!(all.backends[0].limits.iter().any(|limit| limit.starts_with("input: there are more")));
}

#[test]
fn what_a_comparison_says_of_traffic_is_what_the_explanation_says() {
    let (before, after) = (read(&save("-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT")), read(&save("")));
    let super::Comparison { traffic, limits, .. } = super::compare(&before, &after).unwrap();
    assert_eq!(
        Some(&traffic),
        explain_change(&before, &after).unwrap().change.map(|change| change.traffic).as_ref()
    );
    assert_eq!((traffic[0].before, traffic[0].after, limits.len()), (Verdict::Accept, Verdict::Drop, 0));
}
