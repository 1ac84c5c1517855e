//! The same on guests that are namespaces of this machine, and with the real `az`.

use std::path::PathBuf;

use ghost_lab::case::CASES;

use super::live::missed;
use super::stage::{DEST, GROUP, Lab, SOURCE};
use crate::random::{is_long, setting};

/// Tells why nothing can be run here.
#[expect(clippy::print_stdout, reason = "whoever runs it should see what was skipped")]
pub(super) fn skipped(what: &str) -> bool {
    let without = setting("GHOST_TEST_WITHOUT").split(',').any(|word| word.trim() == what);
    let reason = if without {
        format!("GHOST_TEST_WITHOUT names {what}")
    } else if what == "netns" && !rustix::process::geteuid().is_root() {
        "network namespaces need root".to_owned()
    } else {
        return false;
    };
    println!("skipped: {reason}");
    true
}

/// The program that `tests/az` installs.
fn real() -> PathBuf {
    let cache = setting("XDG_CACHE_HOME");
    let cache = if cache.is_empty() { PathBuf::from(setting("HOME")).join(".cache") } else { cache.into() };
    let program = cache.join("ghost-tests/az-2.91.0/bin/az");
    assert!(
        program.is_file(),
        "{program:?} is missing: tests/az installs it, GHOST_TEST_WITHOUT=az runs without"
    );
    program
}

#[test]
fn on_a_real_kernel_the_faults_are_seen_as_well() {
    if skipped("netns") {
        return;
    }
    let lab = Lab::up("netns", None);
    let seen = |words: &[&str], vm: &str| lab.vm(&[words, &["inspect"]].concat(), vm).to_string();
    // What each case leaves in the guest that it is about.
    let cases: [(&str, &str, &str, &str); 7] = [
        ("k", SOURCE, "qdisc", "\"discipline\":\"tbf\""),
        ("k", DEST, "netfilter", "icmp"),
        ("m", DEST, "netfilter", "203.0.113.47"),
        ("n", DEST, "netfilter", "DROP"),
        ("o", DEST, "netfilter", "DOCKER-ISOLATION-STAGE-2"),
        // In the place of j, whose netem not every kernel has.
        ("p", DEST, "netfilter", "5001"),
        ("u", DEST, "qdisc", "\"impaired\":false"),
    ];
    let mut standing = "";
    for (case, vm, what, text) in cases {
        if case != standing {
            if !standing.is_empty() {
                lab.order(&["reset"]);
            }
            lab.order(&["inject", case]);
            standing = case;
        }
        let reported = seen(&[what], vm);
        assert!(reported.contains(text), "{case} {vm}: {reported}");
    }
}

#[test]
fn on_a_real_kernel_every_inspector_shows_what_is_wrong_in_every_case() {
    if !is_long() || skipped("netns") {
        return;
    }
    let lab = Lab::up("netns", None);
    let mut wrong = Vec::new();
    for (name, _) in CASES {
        match lab.ordered(&["inject", name]) {
            Ok(()) => wrong.extend(missed(&lab, name)),
            // Nothing stands in for what delays, loses and damages.
            Err(why) => {
                assert!(why.contains("netem"), "{name}: {why}");
                println!("{name} left out: {why}");
                continue;
            }
        }
        lab.order(&["reset"]);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_real_az_leads_to_the_same() {
    if skipped("az") {
        return;
    }
    let lab = Lab::up("simulated", Some(real()));
    lab.order(&["inject", "j"]);
    assert!(lab.vm(&["netfilter", "inspect"], DEST).to_string().contains("5001"));
    assert_eq!(lab.vm(&["qdisc", "inspect"], SOURCE)["impaired"], true);
    let verdict = ["nsg", "verdict", "--direction", "inbound", "--protocol", "tcp", "--src", "10.0.1.4"];
    assert_eq!(lab.vm(&[&verdict[..], &["--dst-port", "5001"]].concat(), DEST)["verdict"], "ALLOW");
    let kept = lab.json(&["effective", "snapshot", "--vm", DEST, "-g", GROUP]);
    assert_eq!((&kept["nics"], kept["nic_errors"].as_array().map(Vec::len)), (&1.into(), Some(0)));
}
