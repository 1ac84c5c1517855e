//! A guest's packet filters, gathered by the declared script on a real kernel, window by window.

#![expect(clippy::disallowed_methods, reason = "the script runs as it would on a guest")]

use std::process::Command;

use ghost_cloud::probe::firewall::{SCRIPT, bundle};
use ghost_cloud::probe::payload::{WindowResult, WindowedPayload};
use ghost_inspect::netfilter::open;
use ghost_shell::Policy;

/// OpenShell as guests have them.
const SHELLS: [&str; 2] = ["dash", "bash"];

/// Can network namespaces be made here?
fn able() -> bool {
    let made = Command::new("unshare").args(["-n", "true"]).output();
    let tools = ["iptables-nft-save", "iptables-legacy-save", "nft", "gzip", "base64"];
    let there = |tool: &&str| {
        Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output()
            .is_ok_and(|out| out.status.success())
    };
    made.is_ok_and(|out| out.status.success()) && tools.iter().all(there)
}

/// Runs lines in a fresh namespace, then the script once for each window, all of them in that namespace.
fn gathered(shell: &str, lines: &str, counters: &str, windows: usize) -> Vec<String> {
    let policy = Policy::builtin().unwrap();
    let script = policy.script(SCRIPT).unwrap();
    let mut all = format!("{lines}\n");
    for window in 0..windows {
        let from = (window * ghost_cloud::probe::payload::WINDOW).to_string();
        let filled = script.fill(&[("counters", counters), ("from", &from)]).unwrap();
        all.push_str(&format!("({})\nprintf '\\001'\n", filled.text()));
    }
    let out = Command::new("unshare").args(["-n", shell, "-c", &all]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let printed = String::from_utf8(out.stdout).unwrap();
    printed.split('\u{1}').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn whole(printed: &[String]) -> String {
    let mut payload = WindowedPayload::default();
    for chunk in printed {
        if let WindowResult::Whole(text) = payload.add(chunk).unwrap() {
            return text;
        }
    }
    panic!("more windows are needed than {}", printed.len());
}

#[test]
fn what_the_script_gathers_is_a_bundle_of_all_backends() {
    if !able() {
        return;
    }
    let rules = "iptables-nft -A INPUT -p tcp --dport 5001 -j DROP; iptables-legacy -P FORWARD DROP; nft add table inet t; nft 'add chain inet t c { type filter hook input priority 5; policy accept; }'";
    for shell in SHELLS {
        for counters in ["yes", "no"] {
            let bundle = bundle(&whole(&gathered(shell, rules, counters, 1))).unwrap();
            assert!(
                bundle.text("iptables-nft").unwrap().contains("--dport 5001 -j DROP"),
                "{shell} {counters}"
            );
            assert!(bundle.text("iptables-legacy").unwrap().contains(":FORWARD DROP"), "{shell} {counters}");
            assert!(bundle.text("nft").unwrap().contains("\"inet\""), "{shell} {counters}");
            assert_eq!(bundle.error("ip6tables-nft"), None);
            open(&serde_json::to_string(&bundle).unwrap()).unwrap();
        }
    }
}

#[test]
fn a_large_ruleset_comes_over_in_windows_while_packets_are_counted() {
    if !able() {
        return;
    }
    // Addresses that do not pack well; the ping counts between the windows.
    let rules = "ip link set lo up; (echo '*filter'; echo ':INPUT ACCEPT [0:0]'; for a in $(seq 1 900); do echo \"-A INPUT -s 10.$((a * 7 % 251)).$((a * 31 % 241)).$((a * 57 % 239)) -p tcp --dport $((a * 37 + 11)) -j DROP\"; done; echo COMMIT) | iptables-nft-restore; (for i in 1 2 3 4 5 6 7 8 9; do ping -c 1 -W 1 127.0.0.1; done) >/dev/null 2>&1 &";
    let bundle = bundle(&whole(&gathered("dash", rules, "no", 40))).unwrap();
    assert_eq!(bundle.text("iptables-nft").unwrap().matches("-j DROP").count(), 900);
}
