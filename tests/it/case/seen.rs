//! Every case, on the guests that are a model: seen with what a person would use, and gone without a trace.

use std::path::Path;
use std::sync::Arc;

use ghost_base::{ManualClock, Timestamp};
use ghost_capture_files::account;
use ghost_lab::LabClock;
use ghost_lab::case::{CASES, Case, CheckResult, LabAccess as _, check, inject, reset};
use ghost_lab::control::Lab;
use ghost_lab::host::{Script, ScriptTransport, Simulated};

use super::plan::{FAULTS, case};
use super::stage::usual;

fn lab() -> Arc<Lab> {
    let now: Timestamp = "2025-06-02T09:31:00.000Z".parse().unwrap();
    let clock = LabClock::new(Arc::new(ManualClock::new(now)));
    let cloud = usual();
    let host = Arc::new(Simulated::new(cloud.fabric(), 1, clock.clone()));
    Lab::new(cloud, host, clock, Vec::new()).unwrap()
}

/// What both machines are like inside.
async fn inside(lab: &Arc<Lab>) -> String {
    let mut reported = String::new();
    for vm in ["tf-source-vm", "tf-dest-vm"] {
        for command in [
            "iptables-save",
            "ip6tables-save",
            "nft list ruleset",
            "tc qdisc show",
            "ip link",
            "ip route",
            "ss -tuln",
        ] {
            let text = command.to_owned();
            let script = Script {
                text,
                arguments: Vec::new(),
                variables: Vec::new(),
                transport: ScriptTransport::Ssh,
            };
            let ran = Lab::host(lab).run(vm, &script).await.unwrap();
            let stable = ran.out.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
            reported.push_str(&format!("{vm}$ {command}\n{stable}{}\n", ran.err));
        }
    }
    reported
}

fn wrong(case: &str, when: &str, checked: &[CheckResult]) -> Vec<String> {
    let wrong = checked.iter().filter(|checked| checked.seen != checked.expected);
    wrong
        .map(|checked| {
            let found: String = checked.found.chars().take(600).collect();
            format!(
                "{case} {when}: {} should{} show {}\n{found}",
                checked.command,
                if checked.expected { "" } else { " not" },
                checked.shows
            )
        })
        .collect()
}

async fn play(name: &str, text: &str, data: &Path) -> Vec<String> {
    let lab = lab();
    let case = Case::read(text).unwrap();
    let mut found = wrong(name, "before", &check(&lab, &case, 0, account).await);
    let estate = serde_json::to_string(&lab.documents()).unwrap();
    let guests = inside(&lab).await;
    for phase in 1..=case.phases.len() {
        if let Err(error) = inject(&lab, data, text, None, phase).await {
            found.push(format!("{name}/{phase}: {error}"));
            return found;
        }
        found.extend(wrong(name, &format!("phase {phase}"), &check(&lab, &case, phase, account).await));
    }
    reset(&lab, data).await.unwrap();
    found.extend(wrong(name, "after", &check(&lab, &case, 0, account).await));
    if serde_json::to_string(&lab.documents()).unwrap() != estate {
        found.push(format!("{name}: the estate is not as it was"));
    }
    let after = inside(&lab).await;
    if after != guests {
        found.push(format!("{name}: the guests are not as they were\n{guests}\n---\n{after}"));
    }
    found
}

#[tokio::test]
async fn every_case_is_seen_with_what_a_person_would_use_and_gone_after_a_reset() {
    let data = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for (name, text) in CASES {
        found.extend(play(name, text, data.path()).await);
    }
    assert!(found.is_empty(), "{}", found.join("\n\n"));
    assert!(std::fs::read_dir(data.path()).unwrap().all(|entry| entry.unwrap().path().is_dir()));
}

/// Leaves out what a packet filter keeps of tables that were used once: chains of the kernel without a rule that let all pass.
fn filled(inside: &str) -> Vec<&str> {
    let empty = |line: &&str| {
        let line = line.trim();
        let saved =
            line.is_empty() || line.starts_with('*') || line == "COMMIT" || line.contains(" ACCEPT [");
        let base = ["INPUT", "FORWARD", "OUTPUT", "PREROUTING", "POSTROUTING"]
            .map(|name| format!("chain {name} {{"));
        let listed = line.starts_with("table ") || line == "}" || line.ends_with("policy accept;");
        !(saved || listed || base.iter().any(|chain| chain == line))
    };
    inside.lines().filter(empty).collect()
}

/// Injects faults, takes them away one by one as a later phase does, and resets; returns what is left each time.
async fn taken_back(faults: &[usize], data: &Path) -> Vec<String> {
    let lab = lab();
    let before = inside(&lab).await;
    let fixes: Vec<String> = faults.iter().map(|at| format!("\"f{at}\"")).collect();
    let later =
        format!("[phase.2]\nprompt = \"y\"\noutcome = [\"CONFIRMED\"]\nfixes = [{}]\n", fixes.join(", "));
    let text = format!("{}\n{later}", case(faults));
    let mut left = Vec::new();
    for phase in [1, 2] {
        if let Err(error) = inject(&lab, data, &text, None, phase).await {
            return vec![format!("{faults:?} phase {phase}: {error}")];
        }
        let there = inside(&lab).await;
        // What a machine is like inside says nothing of the cloud's faults and of those on the path.
        if phase == 2 && filled(&there) != filled(&before) {
            left.push(format!(
                "{faults:?} is not taken back\n{:#?}\n---\n{:#?}",
                filled(&before),
                filled(&there)
            ));
        }
    }
    reset(&lab, data).await.unwrap();
    let after = inside(&lab).await;
    if after != before {
        left.push(format!("{faults:?} is not reset\n{before}\n---\n{after}"));
    }
    left
}

#[tokio::test]
async fn every_fault_alone_and_all_together_can_be_taken_back() {
    let data = tempfile::tempdir().unwrap();
    let mut left = Vec::new();
    for at in 0..FAULTS.len() {
        left.extend(taken_back(&[at], data.path()).await);
    }
    left.extend(taken_back(&(0..FAULTS.len()).collect::<Vec<_>>(), data.path()).await);
    assert!(left.is_empty(), "{}", left.join("\n\n"));
}
