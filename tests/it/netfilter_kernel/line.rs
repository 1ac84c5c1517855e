//! Lines of `nft` as a forecast carries them out, beside what the kernel has after the real `nft` ran them.

use std::collections::BTreeMap;

use ghost_inspect::forecast::{Edit, applied, undo, undo_read};
use ghost_inspect::netfilter::{self, Ruleset};
use ghost_inspect::path::{Bundle, Guest, Reading};

use super::place::{alone, ask, skipped};

const BEFORE: &str = "
table inet f {
  chain other { tcp dport 9 accept; }
  chain input {
    type filter hook input priority 0; policy accept;
    tcp dport 22 accept
    ip saddr 10.0.0.0/8 tcp dport { 80, 443 } counter accept
    ct state established,related accept
  }
}
table ip g { chain x { udp dport 53 drop; }; }
";

/// Rules, as somebody types them.
const RULES: [&str; 23] = [
    "ip saddr 10.0.0.5/8 drop",
    "tcp dport 5432 drop",
    "tcp dport 1000-2000 drop",
    "tcp dport { 22, 80, 1000-2000 } accept",
    "tcp dport != 22 drop",
    "tcp sport 1024-65535 tcp dport 5432 counter drop",
    "udp dport 53 counter accept",
    "ip saddr 10.0.0.5 drop",
    "ip saddr 10.0.0.5/32 drop",
    "ip saddr 10.1.0.0/16 ip daddr 10.2.0.7 tcp dport 443 accept",
    "ip saddr { 10.1.0.0/16, 10.9.0.1 } drop",
    "ip saddr 10.0.0.1-10.0.0.9 drop",
    "ip6 saddr fd00::/8 drop",
    "ip protocol icmp drop",
    "meta l4proto udp drop",
    "meta l4proto { tcp, udp } accept",
    "iifname \"lo\" accept",
    "iifname eth0 tcp dport 22 drop",
    "ct state invalid drop",
    "ct state established,related accept",
    "ct state { invalid, new } drop",
    "icmp type echo-request drop",
    "jump other",
];

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// What the kernel has.
fn kernel() -> String {
    ask("nft", &["-j", "list", "ruleset"], "")
}

/// The rules of each chain in words, in order.
fn rules(text: &str) -> BTreeMap<String, Vec<String>> {
    let ruleset = netfilter::read(text).and_then(Ruleset::whole).unwrap();
    let mut found = BTreeMap::new();
    for table in &ruleset.tables {
        for chain in &table.chains {
            // What was counted is no part of a rule.
            let own = |raw: &String| raw.replace(" packets 0 bytes 0", "").replace(" bytes 0 packets 0", "");
            let own = chain.rules.iter().map(|rule| own(&rule.raw)).collect();
            found.insert(format!("{} {}", table.name, chain.name), own);
        }
    }
    found
}

fn bundle(text: &str) -> Bundle {
    let filters = BTreeMap::from([("nft".to_owned(), Reading::Text(text.to_owned()))]);
    let guests = BTreeMap::from([("db".to_owned(), Guest { filters, ..Guest::default() })]);
    Bundle { guests, ..Bundle::default() }
}

/// Returns what the forecast says the rules are after a line.
fn foreseen(before: &str, line: &str) -> BTreeMap<String, Vec<String>> {
    let edit = Edit::Filter { machine: "db".to_owned(), words: words(line) };
    let (after, unknown) = applied(&bundle(before), &[edit]);
    assert!(unknown.is_empty(), "{line}: {unknown:?}");
    let Some(Reading::Text(text)) = after.guests["db"].filters.get("nft") else { panic!("{line}") };
    rules(text)
}

/// Runs a line in the kernel.
fn run(line: &str) {
    ask("nft", &["-f", "-"], &format!("{}\n", line.trim_start_matches("nft ")));
}

#[test]
fn a_line_of_nft_does_in_the_kernel_what_is_foreseen() {
    if skipped().is_some() {
        return;
    }
    alone(|| {
        let at = |verb: &str, place: &str, rule: &str| format!("nft {verb} rule inet f input {place}{rule}");
        let mut lines: Vec<String> = RULES.iter().map(|rule| at("add", "", rule)).collect();
        lines.extend(RULES.iter().map(|rule| at("insert", "", rule)));
        for place in ["index 0 ", "index 2 "] {
            lines.push(at("add", place, RULES[0]));
            lines.push(at("insert", place, RULES[0]));
        }
        lines.extend(
            ["nft flush chain inet f input", "nft add rule ip g x tcp dport 7 reject with tcp reset"]
                .map(str::to_owned),
        );
        lines.push("nft add rule g x udp dport 7 drop".to_owned());
        for line in lines {
            ask("nft", &["-f", "-"], &format!("flush ruleset\n{BEFORE}"));
            let expected = foreseen(&kernel(), &line);
            run(&line);
            assert_eq!(rules(&kernel()), expected, "{line}");
        }
    });
}

/// A script as it is sent into a machine.
fn sent(script: &str) -> Vec<String> {
    let mut all = words("az vm run-command invoke -g rg -n db --command-id RunShellScript --scripts");
    all.push(script.to_owned());
    all
}

/// Runs the script of a command as the machine would.
fn shell(command: &[String]) {
    ask("sh", &["-c", command.last().unwrap()], "");
}

#[test]
fn what_a_line_of_nft_puts_in_or_empties_is_taken_back_in_the_kernel() {
    if skipped().is_some() {
        return;
    }
    alone(|| {
        for verb in ["add", "insert"] {
            for rule in RULES {
                ask("nft", &["-f", "-"], &format!("flush ruleset\n{BEFORE}"));
                let before = kernel();
                let typed = sent(&format!("nft {verb} rule inet f input '{rule}'"));
                shell(&typed);
                let back = undo_read(&typed, &bundle(&before), &bundle(&kernel()));
                shell(&back.unwrap_or_else(|| panic!("{verb} {rule}")));
                assert_eq!(rules(&kernel()), rules(&before), "{verb} {rule}");
            }
        }
        // What is emptied holds every one of them.
        ask("nft", &["-f", "-"], &format!("flush ruleset\n{BEFORE}"));
        for rule in RULES {
            shell(&sent(&format!("nft add rule inet f input '{rule}'")));
        }
        let before = kernel();
        let typed = sent("nft flush chain inet f input");
        let back = undo(&typed, &bundle(&before)).unwrap();
        shell(&typed);
        assert_eq!(rules(&kernel())["inet f input"], [""; 0]);
        shell(&back);
        assert_eq!(rules(&kernel()), rules(&before));
    });
}

#[test]
fn what_a_line_of_nft_deletes_is_put_back_in_the_kernel() {
    if skipped().is_some() {
        return;
    }
    alone(|| {
        ask("nft", &["-f", "-"], BEFORE);
        let before = kernel();
        let ruleset = netfilter::read(&before).and_then(Ruleset::whole).unwrap();
        let handles: Vec<u64> = ruleset
            .tables
            .iter()
            .flat_map(|table| &table.chains)
            .filter(|chain| chain.name == "input")
            .flat_map(|chain| chain.rules.iter().filter_map(|rule| rule.handle))
            .collect();
        assert_eq!(handles.len(), 3);
        for number in 0..handles.len() {
            ask("nft", &["-f", "-"], &format!("flush ruleset\n{BEFORE}"));
            let now = kernel();
            let ruleset = netfilter::read(&now).and_then(Ruleset::whole).unwrap();
            let chain =
                ruleset.tables.iter().flat_map(|table| &table.chains).find(|chain| chain.name == "input");
            let handle = chain.unwrap().rules[number].handle.unwrap();
            let line = format!("nft delete rule inet f input handle {handle}");
            let typed = sent(&line);
            assert_eq!(foreseen(&now, &line)["inet f input"].len(), 2);
            let back = undo(&typed, &bundle(&now)).unwrap();
            run(&line);
            shell(&back);
            assert_eq!(rules(&kernel()), rules(&now), "{back:?}");
        }
    });
}
