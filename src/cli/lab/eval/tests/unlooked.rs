//! Facts about what nobody looked at: ends that are not known in a cloud, and what a limit cut off. Neither is healthy.

use super::stage::{FinishedSession, Scene, investigate};
use crate::cli::lab::eval::consent::Consent;
use ghost_base::Limit;
use ghost_investigate::Outcome;
use ghost_investigate::playbook::Playbook;
use ghost_investigate::report::headline;
use std::sync::Arc;

/// Two machines of which one serves two ports, and nothing is wrong.
fn two_machines(prompt: &str) -> String {
    format!(
        r#"
id = "unlooked"
title = "nothing is wrong"
prompt = {prompt:?}
outcome = ["NO_FAULT_FOUND", "INCONCLUSIVE"]
notes = ""

[[service]]
vm = "tf-dest-vm"
port = 5432
program = "postgres"

[[service]]
vm = "tf-dest-vm"
port = 8080
program = "nginx"
"#
    )
}

fn run(case: String) -> FinishedSession {
    let scene = Scene { case, planted: None, quotes: Vec::new(), consent: Consent::All, limits: None };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(investigate(scene, Arc::new(Playbook)))
}

fn outcome(ended: &FinishedSession) -> Outcome {
    assert_eq!(ended.trouble, None);
    ended.state.concluded.as_ref().unwrap().1.outcome
}

#[test]
fn ends_that_a_cloud_does_not_know_are_said_and_nobody_is_asked() {
    for (prompt, names) in [
        ("moodle2 cannot reach redis1 on port 6379", ["moodle2", "redis1"]),
        ("kis-web07 kann lis-db03 auf Port 5432 nicht erreichen", ["kis-web07", "lis-db03"]),
        ("10.61.30.31 cannot reach 10.61.30.32 on 5432", ["10.61.30.31", "10.61.30.32"]),
        ("web-1から db-1の5432番ポートに接続できません", ["web-1", "db-1"]),
    ] {
        let ended = run(two_machines(prompt));
        assert_eq!(outcome(&ended), Outcome::Inconclusive, "{prompt}");
        let first = headline(&ended.state);
        assert!(names.iter().all(|name| first.contains(name)) && first.contains("not known here"), "{first}");
        assert_eq!(ended.state.approvals.len(), 0, "{prompt}");
        let steps: Vec<&str> = ended.state.steps.iter().map(|step| step.current()).collect();
        let is_list = |step: &&&str| !step.contains("run-command") && !step.contains("effective");
        assert_eq!(steps.iter().filter(|step| !is_list(step)).count(), 0, "{prompt}: {steps:?}");
    }
}

#[test]
fn an_end_that_is_known_is_not_judged_with_another_one_than_was_named() {
    let ended = run(two_machines("tf-source-vm cannot reach redis1 on port 5432"));
    assert_eq!(outcome(&ended), Outcome::Inconclusive);
    assert!(headline(&ended.state).contains("redis1 is not known here"), "{}", headline(&ended.state));
}

#[test]
fn where_a_limit_cuts_something_off_nobody_says_that_all_is_well() {
    for (limit, case) in [
        ("path.flows", two_machines("tf-source-vm cannot reach tf-dest-vm on 5432 and on 8080")),
        ("path.ports", two_machines("tf-source-vm cannot reach tf-dest-vm")),
        ("path.machines", two_machines("connections on 5432 time out")),
        ("path.rounds", two_machines("tf-source-vm cannot reach tf-dest-vm on 5432")),
        ("path.resolvers", two_machines("names do not resolve on tf-source-vm and on tf-dest-vm")),
        ("path.spoken", two_machines("tf-source-vm cannot reach a.b.example.com and c.d.example.com on 443")),
    ] {
        let ended = Limit::lowered(limit, || run(case));
        assert_ne!(outcome(&ended), Outcome::NoFaultFound, "{limit}");
        let report = ghost_investigate::report::rca(&ended.state);
        assert!(report.contains("not judged"), "{limit}: {report}");
    }
}
